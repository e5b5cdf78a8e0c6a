"use strict";

// Names are always written as text, never as HTML. `data` is that of charts.js.

const INITIAL_ROWS = 25;
const MORE_ROWS = 100;
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

// A table whose rows can be searched, filtered and sorted; it shows some rows first.

class SortableTable {
  constructor(id, rows, { matches, value, draw, noun }) {
    Object.assign(this, { rows, matches, value, draw, noun, limit: INITIAL_ROWS });
    this.table = document.getElementById(`${id}-table`);
    this.body = this.table.tBodies[0];
    this.status = document.getElementById(`${id}-status`);
    this.more = document.getElementById(`${id}-more`);
    this.all = document.getElementById(`${id}-all`);
    this.controls = document.getElementById(`${id}-controls`);
    this.controls.addEventListener("submit", (event) => event.preventDefault());
    this.controls.addEventListener("input", () => this.show(INITIAL_ROWS));
    this.more.addEventListener("click", () => this.show(this.limit + MORE_ROWS));
    this.all.addEventListener("click", () => this.show(Infinity));
    for (const heading of this.table.tHead.querySelectorAll("th[data-key]")) {
      heading.querySelector("button").addEventListener("click", () => this.sort(heading));
    }
    this.show(INITIAL_ROWS);
  }

  sort(heading) {
    const opposite = { ascending: "descending", descending: "ascending" };
    const current = heading.getAttribute("aria-sort");
    for (const one of this.table.tHead.querySelectorAll("th")) one.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", opposite[current] ?? heading.dataset.first);
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
    const filters = new FormData(this.controls);
    const search = filters.get("search").trim().toLowerCase();
    const found = this.sorted(this.rows.filter((row) => this.matches(row, search, filters)));
    this.body.replaceChildren(...found.slice(0, limit).map(this.draw));
    const shown = Math.min(limit, found.length);
    const count = (n) => n.toLocaleString("en");
    this.status.textContent = found.length
      ? `${count(shown)} of ${count(found.length)} ${this.noun} shown`
      : `No ${this.noun} match.`;
    this.more.hidden = found.length <= shown + MORE_ROWS;
    this.all.hidden = found.length <= shown;
    this.all.textContent = `Show all ${count(found.length)}`;
  }
}

// Annotators

function interval(row) {
  const bar = make("span", { class: row.flagged ? "interval flagged" : "interval", "aria-hidden": "true" });
  for (const [name, value] of [["--low", row.accuracy_low], ["--high", row.accuracy_high], ["--at", row.accuracy]]) {
    bar.style.setProperty(name, value);
  }
  const text = make("span", { class: "hidden" }, `${percent(row.accuracy_low)} to ${percent(row.accuracy_high)}`);
  return make("span", { title: text.textContent }, bar, text);
}

function drawAnnotator(row) {
  const name = make("button", { type: "button", class: "name", "aria-haspopup": "dialog" }, isolated(row.name));
  const worst = [isolated(row.worst_class), " → ", isolated(row.confused_with)];
  const element = make("tr", { role: "row" },
    cell("", "title", name),
    cell("Responses", "number", row.responses.toLocaleString("en")),
    cell("Accuracy", "number", percent(row.accuracy)),
    cell("", "block", interval(row)),
    cell("Worst class", "block", ...worst),
    cell("", "block remark", row.remark),
  );
  element.addEventListener("click", () => openAnnotator(row));
  return element;
}

new SortableTable("annotator", data.annotators, {
  noun: "annotators",
  draw: drawAnnotator,
  value: (row, key) => row[key],
  matches: (row, search, filters) =>
    row.name.toLowerCase().includes(search) && (!filters.get("remarks") || row.flagged),
});

// Details of one annotator, in a dialog

const dialog = document.getElementById("annotator-dialog");
document.getElementById("dialog-close").addEventListener("click", () => dialog.close());
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});

function matrix(row) {
  const names = data.matrix_classes;
  const digits = names.length > 10 ? 0 : 1;
  const caption = make("caption", {},
    `Confusion matrix in percent: for each true class (row), how often the annotator reports each ${data.is_plain ? "class" : "symbol"} (column).`);
  if (names.length < data.classes.length) {
    caption.append(` The ${names.length} most common of ${data.classes.length} classes.`);
  }
  const head = make("tr", {}, make("th", { scope: "col" }, "true ↓ reported →"),
    ...data.matrix_symbols.map((name) => make("th", { scope: "col" }, isolated(name))));
  const body = row.matrix.map((shares, at) =>
    make("tr", {}, make("th", { scope: "row" }, isolated(names[at])),
      ...shares.map((share, reported) => {
        const box = make("td", reported === at && data.is_plain ? { class: "correct" } : {}, (share / 10).toFixed(digits));
        box.style.setProperty("--p", share / 1000);
        return box;
      })));
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Confusion matrix" },
    make("table", { class: "matrix" }, caption, make("thead", {}, head), make("tbody", {}, ...body)));
}

function details(row) {
  const entries = [
    ["Responses", [row.responses.toLocaleString("en")]],
    ["Accuracy", [`${percent(row.accuracy)} (95 % interval ${percent(row.accuracy_low)} to ${percent(row.accuracy_high)})`]],
    ["Worst class", [isolated(row.worst_class), ", most often confused with ", isolated(row.confused_with)]],
  ];
  entries.push(["Coverage", [`${percent(row.coverage)} of the items; ${percent(row.overlap)} with others, ${percent(row.conflict)} in conflict with others`]]);
  if (row.remark) entries.push(["Remarks", [row.remark]]);
  return make("dl", { class: "paragraphs" }, ...entries.map(([term, content]) =>
    make("div", {}, make("dt", {}, term), make("dd", {}, ...content))));
}

function openAnnotator(row) {
  document.getElementById("dialog-title").replaceChildren(isolated(row.name));
  const shown = row.matrix
    ? matrix(row)
    : make("p", { class: "soft" }, "This page has no space for the confusion matrix.");
  document.getElementById("dialog-body").replaceChildren(details(row), shown);
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
  const voters = make("dl", {}, ...row.votes.flatMap((vote) => {
    const names = vote.voters.flatMap((at, place) => [place ? ", " : "", isolated(data.voters[at])]);
    const left = vote.count - vote.voters.length;
    if (left) names.push(`${vote.voters.length ? " and " : ""}${left.toLocaleString("en")} more`);
    return [make("dt", {}, isolated(className(vote.label))), make("dd", {}, ...names)];
  }));
  return make("details", { class: "votes" }, summary, voters);
}

function drawItem(row) {
  const label = [isolated(className(row.label))];
  if (row.outvoted) label.push(" ", make("span", { class: "remark" }, "against the vote"));
  return make("tr", { role: "row" },
    cell("", "title", itemName(row.name)),
    cell("Label", "", ...label),
    cell("Confidence", "number", percent(row.confidence)),
    cell("Gain", `number${row.needs_another_label ? " remark" : ""}`, percent(row.gain)),
    cell("Second class", "block", isolated(className(row.second)), soft(` (${percent(row.second_posterior)})`)),
    cell("", "block", drawVotes(row)),
  );
}

const itemValues = {
  label: (row) => className(row.label),
  second: (row) => className(row.second),
  votes: (row) => row.votes.reduce((sum, vote) => sum + vote.count, 0),
};

const labels = new Set(data.items.map((row) => row.label));
document.querySelector("#item-controls select").append(
  ...[...labels].sort((a, b) => a - b).map((code) => make("option", { value: code }, className(code))));

new SortableTable("item", data.items, {
  noun: "items",
  draw: drawItem,
  value: (row, key) => (itemValues[key] ? itemValues[key](row) : row[key]),
  matches: (row, search, filters) =>
    row.name.toLowerCase().includes(search) &&
    (!filters.get("label") || row.label === Number(filters.get("label"))) &&
    (!filters.get("needs_another_label") || row.needs_another_label) &&
    (!filters.get("outvoted") || row.outvoted),
});
