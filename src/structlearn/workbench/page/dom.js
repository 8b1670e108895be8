// Elements, numbers, and what every lab writes the same way.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "selected") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(9)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// A number of an answer: JSON has no infinities.
export function real(x) {
  return x === "-inf" ? -Infinity : x === "inf" ? Infinity : x === null ? NaN : Number(x);
}

// A number as a reader writes it.
export function num(x, digits = 2) {
  const value = real(x);
  if (value === -Infinity) return "−∞";
  if (value === Infinity) return "∞";
  if (Number.isNaN(value)) return "–";
  let text = value.toFixed(digits);
  if (text.includes(".")) text = text.replace(/0+$/, "").replace(/\.$/, "");
  if (text === "-0") text = "0";
  return text.replace("-", "−");
}

export function percent(x) {
  const value = real(x);
  if (Number.isNaN(value)) return "–";
  return value > 0 && value < 0.0005 ? "<0.1 %" : num(100 * value, 1) + " %";
}

// A probability in percent, and the one that enumeration gives if it reads otherwise.
export function checked(p, enumerated) {
  const [shown, other] = [p, enumerated].map((x) => num(100 * real(x), 1));
  return enumerated === undefined || shown === other ? shown : `${shown} · ${other}`;
}

// What a field holds: a number, "-inf", or null where it is neither.
export function parseScore(text) {
  const clean = text.trim().replace("−", "-").replace(",", ".");
  if (/^-(inf|∞)/i.test(clean)) return "-inf";
  const value = Number(clean);
  return clean !== "" && Number.isFinite(value) ? value : null;
}

export function copy(value) {
  return JSON.parse(JSON.stringify(value));
}

// Resizes a table, keeping what is there.
export function resized(table, rows, columns, blank = 0) {
  return Array.from({ length: rows }, (_, i) =>
    Array.from({ length: columns }, (_, j) => (table && table[i] && table[i][j] !== undefined ? table[i][j] : blank)));
}

export function table(caption, head, rows, marked, kind = "") {
  return el("div", { class: "tabled" }, el("p", { class: "caption", "aria-hidden": "true" }, caption), el("div", { class: "scroll" },
    el("table", { class: kind, "aria-label": caption },
      el("thead", {}, el("tr", {}, head.map((h) => el("th", { scope: "col" }, h)))),
      el("tbody", {}, rows.map((row, i) =>
        el("tr", { class: marked && marked(i) }, row.map((cell, j) =>
          j ? el("td", {}, cell) : el("th", { scope: "row" }, cell))))))));
}
