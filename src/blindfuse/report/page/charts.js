"use strict";

// Charts. Vega interprets expressions (ast), since the page's policy forbids eval. It sets the role
// and label of the element that it draws into, so it gets an element inside the page's own.

const data = JSON.parse(document.getElementById("data").textContent);
for (const [name, spec] of Object.entries(data.charts)) {
  const canvas = document.createElement("div");
  canvas.className = "canvas";
  document.getElementById(`chart-${name}`).append(canvas);
  vegaEmbed(canvas, spec, {
    mode: "vega-lite",
    renderer: "svg",
    ast: true,
    actions: false,
    defaultStyle: false,
    tooltip: { disableDefaultStyle: true, theme: "page" },
    config: {
      background: "transparent",
      font: "system-ui, sans-serif",
      aria: false,
      view: { stroke: null },
      axis: {
        labelColor: "var(--ink)", labelFontSize: 12, labelLimit: 160, labelPadding: 6,
        titleColor: "var(--soft)", titleFontSize: 12, titleFontWeight: "normal", titlePadding: 10,
        gridColor: "var(--line)", domain: false, ticks: false,
      },
    },
    formatLocale: { decimal: ".", thousands: ",", grouping: [3], currency: ["", ""], percent: "\u00a0%" },
  }).catch((error) => console.error(name, error));
}
