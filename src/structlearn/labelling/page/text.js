// The text: tokens that are chosen by mouse or by arrow keys, their labels, and how sure the model is.

import { el, percent } from "./dom.js";
import { spansOf } from "./labels.js";

// changed() is called when the selection has moved.
export function makeText(root, changed) {
  let given = null, labels = [], looked = [], colours = new Map(), kind = "spans";
  let anchor = 0, at = 0, dragging = false, tokens = [];

  function show(text, state) {
    ({ labels, looked, colours, kind } = state);
    if (text !== given) { given = text; anchor = at = firstDoubt(); }
    const sure = given.proposal.confidence, proposed = given.proposal.labels;
    const spans = kind === "spans" ? spansOf(labels) : [];
    const rows = [];
    let line = [], t = 0;
    tokens = [];
    const token = () => {
      const n = t;
      const [before, word] = given.pieces[n];
      const same = sure && labels[n] === proposed[n];
      const node = el("span", {
        class: ["token", looked[n] && "looked", labels[n] === null && "unknown", same && sure[n] < 0.9 && "doubt"].filter(Boolean).join(" "),
        title: same ? `${labels[n]}, ${percent(sure[n])}` : labels[n] || "not looked at",
        "data-n": n,
      }, word);
      tokens[n] = node;
      t += 1;
      return [gap(before), node];
    };
    const gap = (before) => el("span", { class: "gap" }, before || "");
    while (t < given.pieces.length) {
      const span = spans.find((s) => s.begin === t);
      if (span) {
        const first = given.pieces[t][0];
        const held = [];
        while (t < span.end) held.push(token());
        held[0][0].textContent = "";
        line.push(gap(first), el("mark", { class: `span c${colours.get(span.name) ?? 0}` }, held, el("span", { class: "name" }, span.name, sureness(span, given.proposal.chunks, proposed))));
      } else if (kind === "tags") {
        const n = t, [before, node] = token();
        line.push(before, el("span", { class: `tagged c${colours.get(labels[n]) ?? 0}` }, node, el("span", { class: "name" }, labels[n] || "?")));
      } else line.push(token());
    }
    rows.push(line);
    root.replaceChildren(...rows.flat(9));
    mark();
  }

  function sureness(span, sure, proposed) {
    if (!sure || span.begin >= sure.length) return "";
    for (let t = span.begin; t < span.end; t++) if (labels[t] !== proposed[t]) return "";
    return " " + percent(sure[span.begin]);
  }

  // The token that the model is least sure of is where work begins.
  function firstDoubt() {
    const sure = given.proposal.confidence;
    return sure && sure.length ? sure.indexOf(Math.min(...sure)) : 0;
  }

  function mark() {
    const [begin, end] = range();
    tokens.forEach((node, t) => {
      node.classList.toggle("chosen", begin <= t && t < end);
      node.classList.toggle("at", t === at);
    });
    tokens[at]?.scrollIntoView({ block: "nearest" });
    changed();
  }

  const range = () => [Math.min(anchor, at), Math.max(anchor, at) + 1];

  function move(to, extend) {
    at = Math.max(0, Math.min(tokens.length - 1, to));
    if (!extend) anchor = at;
    mark();
  }

  const numberOf = (target) => {
    const node = target?.closest?.(".token");
    return node ? Number(node.dataset.n) : null;
  };
  root.addEventListener("pointerdown", (e) => {
    const n = numberOf(e.target);
    if (n === null) return;
    dragging = true;
    move(n, e.shiftKey);
  });
  root.addEventListener("pointermove", (e) => {
    if (!dragging) return;
    const n = numberOf(document.elementFromPoint(e.clientX, e.clientY));
    if (n !== null && n !== at) move(n, true);
  });
  addEventListener("pointerup", () => { dragging = false; });

  return {
    show, move, range,
    choose(begin, end) { anchor = begin; at = end - 1; mark(); },
    get at() { return at; },
    get anchor() { return anchor; },
    words: () => given.pieces.slice(...range()).map(([, w]) => w).join(" "),
  };
}
