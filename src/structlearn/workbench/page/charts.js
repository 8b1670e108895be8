// Lines over a number line.

import { svg, num } from "./dom.js";

const WIDE = 560, HIGH = 260, PAD = 44;

// series: [{x, y, kind, name}]; points of a series may be few and marked.
export function chart(series, { x, y, label, least, most, whole = false, points = [] }) {
  const xs = series.flatMap((s) => s.x), ys = series.flatMap((s) => s.y).filter(Number.isFinite);
  const x0 = Math.min(...xs), x1 = Math.max(...xs);
  const y0 = least ?? Math.min(0, ...ys), y1 = most ?? Math.max(...ys, y0 + 1e-9) * 1.05;
  const px = (v) => PAD + ((v - x0) / (x1 - x0 || 1)) * (WIDE - PAD - 12);
  const py = (v) => HIGH - PAD + 12 - ((Math.min(Math.max(v, y0), y1) - y0) / (y1 - y0 || 1)) * (HIGH - PAD - 8);
  const ticks = (a, b) => [a, (a + b) / 2, b];
  return svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH + 14}`, width: WIDE, role: "img", "aria-label": label, class: "drawing chart" },
    svg("path", { class: "axis", d: `M${PAD} 8V${py(y0)}H${WIDE - 10}` }),
    (whole ? Array.from({ length: Math.floor(x1) - Math.ceil(x0) + 1 }, (_, i) => Math.ceil(x0) + i) : ticks(x0, x1)).map((v) =>
      svg("text", { x: px(v), y: py(y0) + 16, class: "small" }, num(v))),
    ticks(y0, y1).map((v) => svg("text", { x: PAD - 6, y: py(v) + 4, class: "row small" }, num(v))),
    svg("text", { x: WIDE / 2, y: HIGH + 10, class: "small" }, x), svg("text", { x: PAD + 4, y: 16, class: "left small" }, y),
    series.map((s) => {
      const drawn = s.x.map((v, i) => [v, s.y[i]]).filter(([, w]) => Number.isFinite(w)).map(([v, w]) => `${px(v)} ${py(w)}`);
      const d = drawn.length ? "M" + drawn.join("L") : null;
      return svg("g", { class: "series " + s.kind }, svg("path", { d }),
        s.marked ? s.x.map((v, i) => Number.isFinite(s.y[i]) && svg("circle", { cx: px(v), cy: py(s.y[i]), r: 4 })) : null);
    }),
    series.filter((s) => s.name).map((s, i) => svg("g", { class: "series " + s.kind },
      svg("path", { d: `M${WIDE - 226} ${20 + 17 * i}h34` }), svg("text", { x: WIDE - 184, y: 24 + 17 * i, class: "left small" }, s.name))),
    points.map(([v, w, kind]) => svg("circle", { cx: px(v), cy: py(w), r: 6, class: "point " + kind })));
}
