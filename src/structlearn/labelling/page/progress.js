// Where one is: counts, quality with its interval, the learning curve.

import { el, svg, percent } from "./dom.js";

export function showProgress(root, state) {
  const done = state.texts - state.left, q = state.quality;
  const rows = [
    ["answered", `${state.answered.toLocaleString("en")}, ${state.left.toLocaleString("en")} left`],
    ["skipped, rejected", `${state.skipped}, ${state.rejected}`],
  ];
  if (state.recent.n) rows.push([`last ${state.recent.n} proposals`, `right in ${percent(state.recent.right / state.recent.n)}`]);
  if (q) {
    const last = q.points[q.points.length - 1];
    rows.push([`${q.metric}, cross-validated`, `${percent(last.value)} (${percent(last.low)} to ${percent(last.high)}), ${q.answers} answers`]);
  }
  root.replaceChildren(
    el("h2", {}, "Where you are"),
    el("progress", { max: state.texts || 1, value: done, "aria-label": "Texts done" }),
    el("dl", { class: "facts" }, rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
    q ? curve(q) : el("p", { class: "hint" }, state.review ? "" : "Quality is estimated from 10 answers on."),
    q ? el("p", { class: q.pays ? "advice" : "advice enough" }, q.said) : "",
    state.learning.error ? el("p", { class: "wrong" }, `Learning: ${state.learning.error}`) : "",
  );
}

function curve(q) {
  const wide = 320, high = 150, left = 48, bottom = 24, most = Math.max(...q.points.map((p) => p.labels));
  const x = (n) => left + (n / most) * (wide - left - 12), y = (v) => 8 + (1 - v) * (high - bottom - 8);
  const line = q.points.map((p, i) => `${i ? "L" : "M"}${x(p.labels).toFixed(1)} ${y(p.value).toFixed(1)}`).join("");
  const said = `Learning curve: ${q.points.map((p) => `${percent(p.value)} with ${p.labels} labels`).join(", ")}`;
  return svg("svg", { class: "drawing curve", width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": said },
    [0, 0.5, 1].map((v) => [
      svg("path", { class: "edge", d: `M${left} ${y(v)}H${wide - 8}` }),
      svg("text", { class: "small right", x: left - 5, y: y(v) + 4 }, `${100 * v} %`)]),
    q.points.map((p) => svg("path", { class: "whisker", d: `M${x(p.labels)} ${y(p.low)}V${y(p.high)}` })),
    svg("path", { class: "line", d: line }),
    q.points.map((p) => svg("circle", { class: "dot", cx: x(p.labels), cy: y(p.value), r: 4 })),
    q.points.map((p) => svg("text", { class: "small", x: x(p.labels), y: high - 6 }, String(p.labels))));
}
