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
    formatLocale: { decimal: ".", thousands: ",", grouping: [3], currency: ["", ""], percent: "\u00a0%" },
  }).catch((error) => console.error(name, error));
}
