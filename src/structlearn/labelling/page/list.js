// The list of all texts: only the rows in sight are there, so ten thousand scroll as ten do.

import { el } from "./dom.js";
import { ask } from "./server.js";

const HIGH = 34, MARGIN = 10;
const SIGNS = { accept: "✓", reject: "✗", ignore: "–" };

export function makeList(root, open, wrong) {
  let total = 0, offset = -1, rows = [], timer = 0, count = 0;
  const query = el("input", { type: "search", id: "search", placeholder: "search", "aria-label": "Search in the texts", oninput: later });
  const which = el("select", { "aria-label": "Which texts", onchange: () => load(true) },
    [["all", "all"], ["left", "not answered"], ["accept", "answered"], ["ignore", "skipped"], ["reject", "rejected"]]
      .map(([value, name]) => el("option", { value }, name)));
  const said = el("p", { class: "hint", "aria-live": "polite" });
  const space = el("ul", { class: "rows" });
  const box = el("div", { class: "window", tabindex: "0", role: "region", "aria-label": "Texts", onscroll: () => load(false) }, space);
  root.replaceChildren(el("h2", {}, "All texts"), el("div", { class: "row" }, query, which), said, box);

  function later() {
    clearTimeout(timer);
    timer = setTimeout(() => load(true), 150);
  }

  // fresh: something has changed; top: other texts are listed, so begin with the first.
  async function load(fresh, top = fresh) {
    if (top) box.scrollTop = 0;
    const first = Math.max(0, Math.floor(box.scrollTop / HIGH) - MARGIN);
    const needed = Math.ceil(box.clientHeight / HIGH) + 2 * MARGIN;
    if (!fresh && first >= offset && first + needed - MARGIN <= offset + rows.length) return;
    count += 1;
    const mine = count;
    try {
      const found = await ask("find", { query: query.value, which: which.value, offset: Math.max(0, first - needed), count: Math.min(200, 3 * needed) });
      if (mine !== count) return;
      ({ total, offset, rows } = found);
      said.textContent = `${total.toLocaleString("en")} texts`;
      space.style.height = total * HIGH + "px";
      space.replaceChildren(...rows.map((row, i) => {
        const line = el("li", {}, el("button", { type: "button", onclick: () => open(row.number) },
          el("span", { class: "sign", "aria-label": row.verdict || "not answered" }, SIGNS[row.verdict] || "·"), " ", row.text));
        line.style.top = (offset + i) * HIGH + "px";
        return line;
      }));
    } catch (error) { wrong(error.message); }
  }
  return { load, query: () => query.value, focus: () => query.focus() };
}
