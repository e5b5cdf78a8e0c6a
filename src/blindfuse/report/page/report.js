"use strict";

// Everything that names hold is written as text, never as HTML.

const data = JSON.parse(document.getElementById("data").textContent);
const ROWS = 25;
const collator = new Intl.Collator(undefined, { numeric: true });

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const isolated = (text) => make("bdi", {}, text);
const percent = (share) => `${(100 * share).toFixed(1)}\u00a0%`;
const soft = (text) => make("span", { class: "soft" }, text);
const className = (code) => data.classes[code];

function cell(label, classes, ...children) {
  const attributes = { role: "cell" };
  if (label) attributes["data-label"] = label;
  if (classes) attributes.class = classes;
  return make("td", attributes, ...children);
}

// A listing: rows that are searched and filtered by controls, sorted by headings, shown in part.

class Listing {
  constructor(id, rows, { keep, value, draw, what }) {
    Object.assign(this, { rows, keep, value, draw, what, limit: ROWS });
    this.table = document.getElementById(`${id}-table`);
    this.body = this.table.tBodies[0];
    this.status = document.getElementById(`${id}-status`);
    this.more = document.getElementById(`${id}-more`);
    this.all = document.getElementById(`${id}-all`);
    this.controls = document.getElementById(`${id}-controls`);
    this.controls.addEventListener("submit", (event) => event.preventDefault());
    this.controls.addEventListener("input", () => this.show(ROWS));
    this.more.addEventListener("click", () => this.show(this.limit + 4 * ROWS));
    this.all.addEventListener("click", () => this.show(Infinity));
    for (const heading of this.table.tHead.querySelectorAll("th[data-key]")) {
      heading.querySelector("button").addEventListener("click", () => this.sort(heading));
    }
    this.show(ROWS);
  }

  sort(heading) {
    const other = { ascending: "descending", descending: "ascending" };
    const now = heading.getAttribute("aria-sort");
    for (const one of this.table.tHead.querySelectorAll("th")) one.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", other[now] ?? heading.dataset.first);
    this.show(this.limit);
  }

  sorted(rows) {
    const heading = this.table.tHead.querySelector("th[aria-sort]");
    const sign = heading.getAttribute("aria-sort") === "ascending" ? 1 : -1;
    const keyed = rows.map((row) => [this.value(row, heading.dataset.key), row]);
    const compare = ([a], [b]) => (typeof a === "number" ? a - b : collator.compare(a, b));
    return keyed.sort((a, b) => sign * compare(a, b)).map(([, row]) => row);
  }

  show(limit) {
    this.limit = limit;
    const asked = new FormData(this.controls);
    const words = asked.get("search").trim().toLowerCase();
    const found = this.sorted(this.rows.filter((row) => this.keep(row, words, asked)));
    this.body.replaceChildren(...found.slice(0, limit).map(this.draw));
    const shown = Math.min(limit, found.length);
    const count = (n) => n.toLocaleString("en");
    this.status.textContent = found.length
      ? `${count(shown)} of ${count(found.length)} ${this.what} shown`
      : `No ${this.what} match.`;
    this.more.hidden = found.length <= shown + 4 * ROWS;
    this.all.hidden = found.length <= shown;
    this.all.textContent = `Show all ${count(found.length)}`;
  }
}

// Annotators

function interval(row) {
  const bar = make("span", { class: row.remarks.length ? "interval look" : "interval", "aria-hidden": "true" });
  for (const [name, value] of [["--low", row.low], ["--high", row.high], ["--at", row.accuracy]]) {
    bar.style.setProperty(name, value);
  }
  const words = make("span", { class: "hidden" }, `${percent(row.low)} to ${percent(row.high)}`);
  return make("span", { title: words.textContent }, bar, words);
}

function drawAnnotator(row) {
  const name = make("button", { type: "button", class: "name", "aria-haspopup": "dialog" }, isolated(row.name));
  const mixes = [isolated(className(row.worst)), " → ", isolated(className(row.taken_for))];
  const drawn = make("tr", { role: "row" },
    cell("", "title", name),
    cell("Labels", "number", row.labels.toLocaleString("en")),
    cell("Accuracy", "number", percent(row.accuracy)),
    cell("", "block", interval(row)),
    cell("Worst", "block", ...mixes),
    cell("", "block", ...row.remarks.map((remark) => make("span", { class: "remark" }, remark))),
  );
  drawn.addEventListener("click", () => openAnnotator(row));
  return drawn;
}

const annotatorValues = {
  worst: (row) => className(row.worst),
  remarks: (row) => row.remarks.length,
};

new Listing("annotator", data.annotators, {
  what: "annotators",
  draw: drawAnnotator,
  value: (row, key) => (annotatorValues[key] ? annotatorValues[key](row) : row[key]),
  keep: (row, words, asked) =>
    row.name.toLowerCase().includes(words) && (!asked.get("remarks") || row.remarks.length > 0),
});

// One annotator, in a dialog

const dialog = document.getElementById("annotator-dialog");
document.getElementById("dialog-close").addEventListener("click", () => dialog.close());
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});

function matrix(row) {
  const codes = data.matrixClasses;
  const digits = codes.length > 10 ? 0 : 1;
  const caption = make("caption", {},
    "In percent: where the class is that of the row, how often the annotator says that of the column.");
  if (codes.length < data.classes.length) {
    caption.append(` The ${codes.length} most common of ${data.classes.length} classes.`);
  }
  const head = make("tr", {}, make("th", { scope: "col" }, "is ↓ says →"),
    ...codes.map((code) => make("th", { scope: "col" }, isolated(className(code)))));
  const body = row.matrix.map((shares, at) =>
    make("tr", {}, make("th", { scope: "row" }, isolated(className(codes[at]))),
      ...shares.map((share, said) => {
        const box = make("td", said === at ? { class: "right" } : {}, (share / 10).toFixed(digits));
        box.style.setProperty("--p", share / 1000);
        return box;
      })));
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Confusion matrix" },
    make("table", { class: "matrix" }, caption, make("thead", {}, head), make("tbody", {}, ...body)));
}

function facts(row) {
  const about = [
    ["Labels", [row.labels.toLocaleString("en")]],
    ["Accuracy", [`${percent(row.accuracy)}, between ${percent(row.low)} and ${percent(row.high)}`]],
    ["Worst class", [isolated(className(row.worst)), ", most often taken for ", isolated(className(row.taken_for))]],
  ];
  if (row.leans !== null) {
    about.push(["Leans to", [isolated(className(row.leans)), `, reported in ${percent(row.lean)} of its labels too many`]]);
  }
  if (row.misfit !== null) about.push(["Misfit", [`${row.misfit} times noise`]]);
  if (row.remarks.length) about.push(["Remarks", [row.remarks.join(", ")]]);
  if (row.partners.length) {
    about.push(["Errs with", row.partners.flatMap((name, at) => [at ? ", " : "", isolated(name)])]);
  }
  return make("dl", { class: "said" }, ...about.map(([term, words]) =>
    make("div", {}, make("dt", {}, term), make("dd", {}, ...words))));
}

function openAnnotator(row) {
  document.getElementById("dialog-title").replaceChildren(isolated(row.name));
  const shown = row.matrix
    ? matrix(row)
    : make("p", { class: "soft" }, "There is no room on this page for the confusion matrix.");
  document.getElementById("dialog-body").replaceChildren(facts(row), shown);
  dialog.showModal();
  dialog.scrollTop = 0;
}

// Items

function itemName(name) {
  const link = /^https?:\/\/[^\s…]+$/i.test(name);
  return link
    ? make("a", { href: name, rel: "noopener noreferrer nofollow", target: "_blank" }, isolated(name))
    : isolated(name);
}

function drawVotes(row) {
  if (!row.votes.length) return soft("none");
  const summary = make("summary", {}, ...row.votes.slice(0, 4).flatMap((vote, at) =>
    [at ? ", " : "", isolated(className(vote.label)), soft(`\u00a0(${vote.count})`)]));
  if (row.votes.length > 4) summary.append(", …");
  const who = make("dl", {}, ...row.votes.flatMap((vote) => {
    const names = vote.voters.flatMap((at, place) => [place ? ", " : "", isolated(data.voters[at])]);
    const left = vote.count - vote.voters.length;
    if (left) names.push(`${vote.voters.length ? " and " : ""}${left.toLocaleString("en")} more`);
    return [make("dt", {}, isolated(className(vote.label))), make("dd", {}, ...names)];
  }));
  return make("details", { class: "votes" }, summary, who);
}

function drawItem(row) {
  const label = [isolated(className(row.label))];
  if (row.outvoted) label.push(" ", make("span", { class: "remark" }, "against the vote"));
  return make("tr", { role: "row" },
    cell("", "title", itemName(row.name)),
    cell("Label", "", ...label),
    cell("Sure", `number${row.needs ? " remark" : ""}`, percent(row.sure)),
    cell("Or", "block", isolated(className(row.next)), soft(` (${percent(row.next_sure)})`)),
    cell("", "block", drawVotes(row)),
  );
}

const itemValues = {
  label: (row) => className(row.label),
  next: (row) => className(row.next),
  votes: (row) => row.votes.reduce((sum, vote) => sum + vote.count, 0),
};

const labels = new Set(data.items.map((row) => row.label));
document.querySelector("#item-controls select").append(
  ...[...labels].sort((a, b) => a - b).map((code) => make("option", { value: code }, className(code))));

new Listing("item", data.items, {
  what: "items",
  draw: drawItem,
  value: (row, key) => (itemValues[key] ? itemValues[key](row) : row[key]),
  keep: (row, words, asked) =>
    row.name.toLowerCase().includes(words) &&
    (!asked.get("label") || row.label === Number(asked.get("label"))) &&
    (!asked.get("needs") || row.needs) &&
    (!asked.get("outvoted") || row.outvoted),
});

// Pictures: expressions are interpreted, since the page's policy allows no eval.

// Vega names the element that it draws into for itself, so it gets one inside the page's own.

for (const [name, spec] of Object.entries(data.pictures)) {
  const inside = make("div", { class: "drawn" });
  document.getElementById(`picture-${name}`).append(inside);
  vegaEmbed(inside, spec, {
    mode: "vega-lite",
    renderer: "svg",
    ast: true,
    actions: false,
    defaultStyle: false,
    tooltip: { disableDefaultStyle: true, theme: "page" },
    formatLocale: { decimal: ".", thousands: ",", grouping: [3], currency: ["", ""], percent: "\u00a0%" },
  }).catch((error) => console.error(name, error));
}
