// Image: paint scores on a grid, and watch the cut grow.

import { el, svg, num, percent, table, checked } from "./dom.js";
import { select, toggle, slider, scoreTable } from "./controls.js";
import { answerList, whyAugmented } from "./sequence.js";

const SIDE = 46;
// Pixels that branch and bound takes, as in labs/image.py.
const MOST_BRANCHED = 16;

function noisy(height, width, inside, noise) {
  let seed = 7;
  const random = () => { seed = (seed * 16807) % 2147483647; return seed / 2147483647; };
  const gold = [], paint = [];
  for (let i = 0; i < height; i++) {
    paint.push([]);
    for (let j = 0; j < width; j++) {
      const on = inside(i, j);
      gold.push(on ? 1 : 0);
      paint[i].push(Math.round(10 * ((on ? 1 : -1) + noise * (random() * 2 - 1) * 1.6)) / 10);
    }
  }
  return { height, width, paint, gold };
}

const COMMON = { strength: 1, augmented: false, mode: "max", algorithm: "cut", brush: 2 };

function drawGrid(answer, at, state, set) {
  const step = answer.steps[at], { height, width } = state;
  const labels = step.labels || (at === answer.steps.length - 1 ? answer.best.labels.flat() : null);
  const full = new Set((step.full || []).map(([p, q]) => `${Math.min(p, q)},${Math.max(p, q)}`));
  const cells = [], edges = [];
  const centre = (v) => [SIDE * (v % width) + SIDE / 2 + 4, SIDE * Math.floor(v / width) + SIDE / 2 + 4];
  for (let v = 0; v < height * width; v++) {
    const i = Math.floor(v / width), j = v % width, [x, y] = centre(v);
    const side = step.states ? ["", "source", "sink"][step.states[v]] : "";
    const label = labels ? (labels[v] === 1 ? "object" : labels[v] === 0 ? "ground" : "open") : side;
    const shade = step.shade ? "p" + Math.round(10 * step.shade[v]) : "";
    const cell = svg("g", { class: `pixel ${label} ${shade} ${(step.path || []).includes(v) ? "now" : ""}` },
      svg("rect", { x: x - SIDE / 2 + 1.5, y: y - SIDE / 2 + 1.5, width: SIDE - 3, height: SIDE - 3, rx: 5 }),
      svg("text", { x, y: y + 4, class: "small" }, step.shade && state.mode === "sum" ? num(step.shade[v], 2) : num(state.paint[i][j], 1)),
      svg("title", {}, `row ${i + 1}, column ${j + 1}: score ${num(state.paint[i][j])}`));
    if (set) {
      const paint = () => {
        if (state.paint[i][j] === state.brush) return;
        const next = state.paint.map((r) => [...r]);
        next[i][j] = state.brush;
        state = { ...state, paint: next };
        set({ paint: next });
      };
      cell.addEventListener("pointerdown", (e) => { e.preventDefault(); cell.releasePointerCapture?.(e.pointerId); paint(); });
      cell.addEventListener("pointerenter", (e) => { if (e.buttons === 1) paint(); });
    }
    cells.push(cell);
    for (const [q, ok] of [[v + 1, j + 1 < width], [v + width, i + 1 < height]]) {
      if (!ok) continue;
      const [a, b] = centre(q), apart = labels && labels[v] >= 0 && labels[q] >= 0 && labels[v] !== labels[q];
      const kind = apart ? "cut" : full.has(`${v},${q}`) ? "full" : null;
      if (kind) {
        const mx = (x + a) / 2, my = (y + b) / 2, dx = (b - y) / 2, dy = (a - x) / 2;
        edges.push(svg("path", { class: kind, d: `M${mx - dx} ${my - dy}L${mx + dx} ${my + dy}` }));
      }
    }
  }
  const path = step.path && step.path.length ? svg("path", { class: "flow", d: "M" + step.path.map((v) => centre(v).join(" ")).join("L") }) : null;
  return svg("svg", { viewBox: `0 0 ${SIDE * width + 8} ${SIDE * height + 8}`, width: SIDE * width + 8, role: "img", "aria-label": step.say, class: "drawing grid" }, cells, edges, path);
}

export const imageLab = {
  name: "image",
  title: "Image",
  about: "Object or background at every pixel: its own score, less a strength for each pair of unequal neighbours. One minimum cut finds the best of all pictures, 2 to the number of pixels (§17.6 of the chapter).",
  edit: "Scores of pixels",
  presets: {
    disc: { title: "a noisy disc", state: { ...COMMON, ...noisy(6, 8, (i, j) => (i - 2.5) ** 2 + (j - 3.5) ** 2 < 6, 1) } },
    small: { title: "3 × 4 pixels, all pictures listed", state: { ...COMMON, ...noisy(3, 4, (i, j) => j > 0 && j < 3, 1), strength: 0.7 } },
    bar: { title: "a bar with a hole", state: { ...COMMON, ...noisy(5, 9, (i) => i > 0 && i < 4, 0.3), paint: noisy(5, 9, (i, j) => i > 0 && i < 4 && !(i === 2 && j === 4), 0.3).paint, strength: 0.5 } },
    blank: { title: "blank: paint it", state: { ...COMMON, height: 6, width: 8, paint: Array.from({ length: 6 }, () => Array(8).fill(-0.5)), gold: null } },
  },
  controls(state, set) {
    const ways = [["cut", "minimum cut"], ["messages", "messages (loopy)"]];
    if (state.height * state.width <= MOST_BRANCHED) ways.push(["branching", "branch and bound"]);
    const brushes = [["2", "object, strongly"], ["0.5", "object, a little"], ["-0.5", "background, a little"], ["-2", "background, strongly"]];
    return [
      state.mode === "max" ? select("Algorithm", ways, state.algorithm, (algorithm) => set({ algorithm }, { step: 0 })) : [],
      select("Search", [["max", "max: the best picture"], ["sum", "sum: probabilities"]], state.mode, (mode) => set({ mode }, { rebuild: true, step: 0 })),
      slider("Strength of neighbours", state.strength, 0, 4, 0.1, (strength) => set({ strength })),
      select("Brush", brushes, String(state.brush), (v) => set({ brush: Number(v) })),
      toggle("Loss augmentation (+1 per wrong pixel)", state.augmented, (augmented) => set({ augmented }), !state.gold),
    ];
  },
  inputs: (state, set) => scoreTable("Score of “object”", state.paint.map((_, i) => `row ${i + 1}`), state.paint[0].map((_, j) => `${j + 1}`), state.paint, (i, j, v) => {
    if (v === "-inf") return;
    const paint = state.paint.map((r) => [...r]);
    paint[i][j] = v;
    set({ paint });
    state = { ...state, paint };
  }),
  draw: drawGrid,
  answers(answer, at, state) {
    const found = [answerList(answer, state.augmented ? { best: "best, costs added" } : {})];
    if (state.augmented && answer.gold) found.push(whyAugmented(answer));
    if (state.algorithm === "cut" && state.mode === "max") {
      found.push(el("p", { class: "hint" }, "Each step pushes flow along one path from the source (pixels that want to be background) to the sink (pixels that want to be object). A path is limited by its weakest edge; dashed edges are full. Light orange can still be reached from the source, light blue still reaches the sink. When no path is left, the full edges separate the two: the thick line is the cut, its cost is the flow, and so no other picture costs less."));
    }
    if (answer.marginals && answer.enumerated) {
      found.push(table("Probability of “object” in %, by exact sums; adding up all pictures gives the same", ["row", ...answer.marginals[0].map((_, j) => String(j + 1))],
        answer.marginals.map((row, i) => [String(i + 1), ...row.map((p, j) => checked(p, answer.enumerated[i][j]))])));
    } else if (answer.marginals) {
      found.push(table("Probability of “object” in %, by exact sums", ["row", ...answer.marginals[0].map((_, j) => String(j + 1))],
        answer.marginals.map((row, i) => [String(i + 1), ...row.map((p) => num(100 * p, 1))])));
    }
    if (answer.outputs) {
      found.push(table("The best pictures, by enumeration", ["picture", "score", "probability"], answer.outputs.slice(0, 8).map((o) =>
        [o.labels.map((r) => r.map((k) => (k ? "■" : "□")).join("")).join(" "), num(o.total, 3), percent(o.p)])));
    }
    return found;
  },
};
