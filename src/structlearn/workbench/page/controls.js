// Fields that change the state of a lab.

import { el, num, parseScore } from "./dom.js";

export function select(label, options, value, change) {
  return el("label", { class: "field" }, el("span", {}, label),
    el("select", { onchange: (e) => change(e.target.value) },
      options.map(([key, text]) => el("option", { value: key, selected: key === value }, text))));
}

export function toggle(label, value, change, disabled = false) {
  return el("label", { class: "field toggle" },
    el("input", { type: "checkbox", checked: value, disabled, onchange: (e) => change(e.target.checked) }),
    el("span", {}, label));
}

export function slider(label, value, least, most, step, change) {
  const shown = el("span", { class: "number" }, num(value));  // an output element would take the label away from the slider
  return el("label", { class: "field" }, el("span", {}, label, " ", shown),
    el("input", {
      type: "range", min: least, max: most, step, value,
      oninput: (e) => { shown.textContent = num(e.target.value); change(Number(e.target.value)); },
    }));
}

// A score: a number, or −∞. A field that holds neither is marked and changes nothing.
export function score(label, value, change) {
  return el("input", {
    type: "text", inputmode: "decimal", class: "score", "aria-label": label, value: value === "-inf" ? "−∞" : num(value, 6),
    oninput: (e) => {
      const found = parseScore(e.target.value);
      e.target.setAttribute("aria-invalid", found === null);
      if (found !== null) change(found);
    },
    onkeydown: (e) => {
      if (e.key !== "ArrowUp" && e.key !== "ArrowDown") return;
      const found = parseScore(e.target.value);
      if (typeof found !== "number") return;
      e.preventDefault();
      const next = Math.round((found + (e.key === "ArrowUp" ? 0.1 : -0.1)) * 1e6) / 1e6;
      e.target.value = num(next, 6);
      change(next);
    },
  });
}

// A table of scores to write in. change(row, column, value).
export function scoreTable(caption, rows, columns, values, change, closed) {
  return el("div", { class: "tabled" }, el("p", { class: "caption", "aria-hidden": "true" }, caption), el("div", { class: "scroll" },
    el("table", { class: "scores", "aria-label": caption },
      el("thead", {}, el("tr", {}, el("td", {}), columns.map((c) => el("th", { scope: "col" }, c)))),
      el("tbody", {}, rows.map((r, i) => el("tr", {}, el("th", { scope: "row" }, r),
        columns.map((c, j) => el("td", {}, closed && closed(i, j) ? "" :
          score(`${caption}: ${r}, ${c}`, values[i][j], (v) => change(i, j, v))))))))));
}

// A line of text that counts when it is finished: Enter, or leaving it.
export function line(label, value, change) {
  return el("label", { class: "field wide" }, el("span", {}, label),
    el("input", { type: "text", value, spellcheck: "false", onchange: (e) => change(e.target.value) }));
}

export function area(label, value, rows, change) {
  return el("label", { class: "field wide" }, el("span", {}, label),
    el("textarea", { rows, spellcheck: "false", value, oninput: (e) => change(e.target.value) }));
}

export function button(label, press, attributes = {}) {
  return el("button", { type: "button", onclick: press, ...attributes }, label);
}
