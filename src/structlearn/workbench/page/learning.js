// Learning: steps in the plane, cutting planes, the loss family, dual ascent.

import { el, svg, num, real, percent, copy, table } from "./dom.js";
import { select, toggle, slider, button, area } from "./controls.js";
import { chart } from "./charts.js";
import { answerList, sequenceInputs } from "./sequence.js";

const NAMES = "ABCD";
const POINTS = [[-1.5, 1, 0], [-0.6, 1.7, 0], [0.3, 1.6, 0], [-1.2, 0.1, 0], [1.2, -0.4, 1], [0.4, -1.2, 1], [1.7, 0.5, 1], [-0.2, -0.7, 1]];
const FISH = { words: ["Fish", "Sleep"], labels: ["N", "V"], label: [[2, 1], [1, 0]], transition: [[-2, 1], [2, -2]], start: [1, -1], gold: [0, 1] };
const SCALE = 90, ACROSS = 540, DOWN = 400;

const px = (x) => ACROSS / 2 + x * SCALE, py = (y) => DOWN / 2 - y * SCALE;

function shape(k, x, y, kind) {
  const r = 8;
  const d = [`M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`, `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}Z`,
    `M${x} ${y - r - 1}L${x + r + 1} ${y + r}H${x - r - 1}Z`, `M${x} ${y - r - 2}L${x + r + 2} ${y}L${x} ${y + r + 2}L${x - r - 2} ${y}Z`][k];
  return svg("path", { d, class: `dot class${k} ${kind}` });
}

function drawPlane(answer, at, state, set) {
  const step = answer.steps[at], w = step.after;
  const flat = w.every((row) => row.every((v) => Math.abs(v) < 1e-12));
  // The region of a class: the picture, cut along the line of a tie with each other class.
  const regions = flat ? [] : w.map((row, k) => {
    let corners = [[-ACROSS, -DOWN], [ACROSS, -DOWN], [ACROSS, DOWN], [-ACROSS, DOWN]].map(([x, y]) => [x / 2 / SCALE, y / 2 / SCALE]);
    w.forEach((other, j) => {
      const lead = ([x, y]) => (row[0] - other[0]) * x + (row[1] - other[1]) * y + row[2] - other[2];
      if (j !== k) corners = corners.flatMap((a, i) => {
        const b = corners[(i + 1) % corners.length], p = lead(a), q = lead(b), s = p / (p - q);
        return [...(p >= 0 ? [a] : []), ...((p > 0 && q < 0) || (p < 0 && q > 0) ? [[a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])]] : [])];
      });
    });
    return svg("polygon", { points: corners.map(([x, y]) => `${px(x)},${py(y)}`).join(" "), class: `region class${answer.classes[k]}` });
  });
  const border = (v, kind) => {
    const lines = [];
    for (let a = 0; a < v.length; a++) for (let b = a + 1; b < v.length; b++) {
      const [p, q, c] = [0, 1, 2].map((i) => v[a][i] - v[b][i]);
      if (v.length > 2 || Math.hypot(p, q) < 1e-12) continue;
      const far = 10, n = Math.hypot(p, q), x0 = (-c * p) / (n * n), y0 = (-c * q) / (n * n);
      lines.push(svg("path", { class: kind, d: `M${px(x0 - (far * q) / n)} ${py(y0 + (far * p) / n)}L${px(x0 + (far * q) / n)} ${py(y0 - (far * p) / n)}` }));
      if (kind === "border") lines.push(svg("path", { class: "normal", d: `M${px(x0)} ${py(y0)}L${px(x0 + (0.6 * p) / n)} ${py(y0 + (0.6 * q) / n)}`, "marker-end": "url(#tip)" }));
    }
    return lines;
  };
  const dots = state.points.map(([x, y, k], i) => {
    const now = i === step.example;
    const dot = svg("g", {}, now ? svg("circle", { cx: px(x), cy: py(y), r: 15, class: step.wrong ? "halo wrong" : "halo" }) : null, shape(k, px(x), py(y), ""),
      svg("title", {}, `point ${i + 1}, class ${NAMES[k]}`));
    if (set) dot.addEventListener("pointerdown", (e) => {
      e.preventDefault();
      e.stopPropagation();
      const box = dot.ownerSVGElement.getBoundingClientRect();
      const move = (m) => {
        const points = copy(state.points);
        points[i][0] = Math.round((((m.clientX - box.left) / box.width) * ACROSS - ACROSS / 2) / SCALE * 20) / 20;
        points[i][1] = Math.round((DOWN / 2 - ((m.clientY - box.top) / box.height) * DOWN) / SCALE * 20) / 20;
        set({ points }, { rebuild: true });
      };
      const up = () => { removeEventListener("pointermove", move); removeEventListener("pointerup", up); };
      addEventListener("pointermove", move);
      addEventListener("pointerup", up);
    });
    return dot;
  });
  const picture = svg("svg", { viewBox: `0 0 ${ACROSS} ${DOWN}`, width: ACROSS, role: "img", "aria-label": step.say, class: "drawing plane" },
    svg("defs", {}, svg("marker", { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 10, markerHeight: 10, markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { d: "M0 0L8 4L0 8Z", class: "tip" }))),
    regions, svg("path", { class: "axis", d: `M0 ${DOWN / 2}H${ACROSS}M${ACROSS / 2} 0V${DOWN}` }),
    [-2, -1, 1, 2].flatMap((v) => [svg("text", { x: px(v), y: py(0) + 15, class: "under" }, num(v)), svg("text", { x: px(0) - 6, y: py(v) + 4, class: "under right" }, num(v))]),
    answer.classes.map((k, i) => svg("g", {}, shape(k, 18, 20 + 22 * i, ""), svg("text", { x: 34, y: 25 + 22 * i, class: "left" }, NAMES[k]))),
    step.wrong || state.algorithm !== "perceptron" ? border(step.before, "before") : [], border(w, "border"), dots);
  if (set) picture.addEventListener("dblclick", (e) => {
    const box = picture.getBoundingClientRect();
    const x = (((e.clientX - box.left) / box.width) * ACROSS - ACROSS / 2) / SCALE, y = (DOWN / 2 - ((e.clientY - box.top) / box.height) * DOWN) / SCALE;
    set({ points: [...state.points, [Math.round(x * 20) / 20, Math.round(y * 20) / 20, state.brush]] }, { rebuild: true });
  });
  return picture;
}

// Above: the objective and what the working set knows of it. Below: each output's demand, a straight line: a plane.
function drawPlanes(answer, at) {
  const { x, objective, models, names, demands } = answer.slice, step = answer.steps[at];
  const series = [{ x, y: objective, kind: "true", name: "the objective: all constraints" }];
  if (at > 0) series.push({ x, y: models[at - 1], kind: "old", name: "what was known before" });
  series.push({ x, y: models[at], kind: "model", name: "what the working set W knows" });
  const ruler = "weights along the way: at 1 those of round 1, at 2 those of round 2, …";
  const above = chart(series, {
    x: ruler, y: "½‖w‖² + C·slack", least: 0, most: Math.max(...objective) * 1.25, whole: true, label: "", points: [[at + 1, step.dual, "model"], [at + 1, step.primal, "true"]],
  });
  const worst = step.rows.reduce((a, b) => (b.violation > a.violation ? b : a)), gold = step.rows.find((r) => r.loss === 0);
  const lines = step.rows.filter((r) => r !== gold).map((r) => ({
    x, y: demands[names.indexOf(r.named)], kind: r.added ? "wanted" : r.in_set ? "model" : "reference c1", name: `(${r.named})` + (r.in_set ? " in W" : r.added ? " joins W: the new plane" : ""),
  }));
  const top = Math.max(...lines.flatMap((l) => l.y), 0.5);
  const below = chart(lines, {
    x: ruler, y: "slack that each output demands: loss − lead", least: 0, most: top * 1.45, whole: true, label: "",
    points: [[at + 1, step.slack, "model"], ...(worst.violation > 1e-9 ? [[at + 1, step.slack + worst.violation, "wanted"]] : [])],
  });
  const [, , width, height] = above.getAttribute("viewBox").split(" ").map(Number);
  return svg("svg", { viewBox: `0 0 ${width} ${2 * height + 8}`, width, role: "img", "aria-label": step.say, class: "drawing chart" },
    [...above.childNodes], svg("g", { transform: `translate(0 ${height + 8})` }, [...below.childNodes]));
}

function drawFamily(answer) {
  const { d, ...curves } = answer.curves;
  const kinds = { perceptron: "c1", SVM: "c2", CRF: "c3", "softmax-margin": "c4" };
  const series = Object.entries(kinds).map(([name, kind]) => ({ x: d, y: curves[name].map(real), kind: "reference " + kind, name }));
  series.push({ x: d, y: curves.now.map(real), kind: "now", name: "as the sliders stand" });
  return chart(series, { x: "how far gold leads its only rival", y: "loss", label: `${answer.algorithm}: the loss against the lead of gold`, least: 0, most: 5 });
}

function drawDual(answer, at) {
  const steps = answer.steps.slice(0, at + 1), x = steps.map((_, i) => i + 1);
  const all = answer.steps.flatMap((s) => [s.dual, s.primal]).filter((v) => v !== null && v !== undefined).map(real);
  return chart([
    { x: answer.steps.map((_, i) => i + 1), y: answer.steps.map(() => real(answer.objective)), kind: "old" },
    { x, y: steps.map((s) => real(s.dual)), kind: "model", name: "dual: a bound from below", marked: true },
    { x, y: steps.map((s) => (s.primal === null ? NaN : real(s.primal))), kind: "true", name: "primal", marked: true },
  ], { x: "pass", y: "dual (below), primal (above)", label: answer.steps[at].say, least: Math.min(...all) * 0.98, most: Math.max(...all) + 0.3 * (Math.max(...all) - Math.min(...all)) });
}

// What a cutting plane is, with the numbers of this round.
function whatIsCut(step, state) {
  const added = step.rows.find((r) => r.added), held = step.rows.filter((r) => r.in_set).map((r) => `(${r.named})`).join(", ");
  return [
    "Every output y′ makes one demand: gold leads it by its loss, or the rest is paid as slack, slack ≥ loss − lead. Below, a demand is a straight line; over all weights it is a plane. There is one for each of Kᴸ outputs: too many to solve with.",
    `So W holds a few of them (now ${held || "none"}), and the solver sees no other: it stands at the orange dots, the lowest point of the dashed curve, and pays the slack ${num(step.slack, 3)}.`,
    added
      ? `But at these weights (${added.named}) demands ${num(added.loss)} − ${num(added.lead, 3)} = ${num(step.slack + added.violation, 3)}, which is ${num(added.violation, 3)} too little: its line runs above the dot. Added to W, it forbids everything below the line, the dot too: that point is cut off, hence “cutting plane”. The search for it is Viterbi with loss augmentation.`
      : `No line runs more than ε = ${num(state.tolerance)} above the dot: what the other outputs demand is paid already, so solving with W alone is as good as solving with all of them.`,
    "On the slides the same outputs come in the same order; the numbers here are those of the exact solution for this C.",
  ];
}

export const learningLab = {
  name: "learning",
  title: "Learning",
  about: "From mistakes to weights: perceptron and SVM in the plane, cutting planes round by round, the loss family of margin γ and temperature ε, dual ascent.",
  edit: "Data",
  presets: {
    plane: { title: "perceptron and SVM in the plane", state: { topic: "plane", algorithm: "perceptron", points: POINTS, passes: 4, C: 1, average: false, brush: 0 } },
    three: { title: "three classes in the plane", state: { topic: "plane", algorithm: "perceptron", points: [...POINTS, [-1.6, -1.5, 2], [-1, -1.1, 2], [-2, -0.8, 2]], passes: 6, C: 1, average: false, brush: 2 } },
    planes: { title: "cutting planes: Fish Sleep", state: { topic: "planes", C: 1, tolerance: 0.1, gold: [0, 1] } },
    family: { title: "the loss family, two sliders", state: { topic: "family", margin: 1, temperature: 0, ...FISH } },
    dual: { title: "dual ascent on three sentences", state: { topic: "dual", C: 1, passes: 12 } },
  },
  controls(state, set) {
    if (state.topic === "plane") return [
      select("Learner", [["perceptron", "perceptron (Algorithm 39)"], ["subgradient", "SVM, subgradient steps"], ["crf", "CRF, gradient steps (sum)"]], state.algorithm, (algorithm) => set({ algorithm }, { rebuild: true, step: 0 })),
      slider("Passes", state.passes, 1, 15, 1, (passes) => set({ passes })),
      state.algorithm === "perceptron" ? [] : slider("log₁₀ C", Math.log10(state.C), -2, 2, 0.25, (v) => set({ C: 10 ** v })),
      select("Class of new points", [...NAMES].map((n, k) => [String(k), n]), String(state.brush), (v) => set({ brush: Number(v) })),
    ];
    if (state.topic === "planes") return [
      slider("log₁₀ C", Math.log10(state.C), -2, 1, 0.25, (v) => set({ C: 10 ** v })),
      slider("Tolerance ε", state.tolerance, 0, 1, 0.05, (tolerance) => set({ tolerance })),
      select("Gold", [["0", "N, V"], ["1", "V, N"]], String(state.gold[0]), (v) => set({ gold: v === "0" ? [0, 1] : [1, 0] })),
    ];
    if (state.topic === "dual") return [
      slider("log₁₀ C", Math.log10(state.C), -2, 1, 0.25, (v) => set({ C: 10 ** v })),
      slider("Passes", state.passes, 1, 20, 1, (passes) => set({ passes })),
    ];
    const known = [["perceptron", 0, 0], ["SVM", 1, 0], ["CRF", 0, 1], ["softmax-margin", 1, 1]];
    return [
      slider("Margin γ", state.margin, 0, 2, 0.1, (margin) => set({ margin })),
      slider("Temperature ε", state.temperature, 0, 2, 0.05, (temperature) => set({ temperature })),
      el("span", { class: "buttons" }, known.map(([name, margin, temperature]) => button(name, () => set({ margin, temperature }, { rebuild: true })))),
    ];
  },
  inputs(state, set) {
    if (state.topic === "plane") {
      return [
        el("p", { class: "hint" }, "Drag points in the picture; double-click adds one. Or write them, one point per line: x, y and a class from A to D."),
        area("Points", state.points.map(([x, y, k]) => `${x} ${y} ${NAMES[k]}`).join("\n"), 10, (text) => {
          const points = text.split("\n").filter((l) => l.trim()).map((l) => l.trim().replace("−", "-").split(/[\s,]+/));
          const read = points.map(([x, y, k]) => [Number(x), Number(y), NAMES.indexOf((k || "").toUpperCase())]);
          if (read.length > 1 && read.every((p) => p.every(Number.isFinite) && p[2] >= 0)) set({ points: read });
        }),
      ];
    }
    if (state.topic === "family") return sequenceInputs(state, set, false);
    return el("p", { class: "hint" }, state.topic === "planes"
      ? "One sentence, “Fish Sleep”, with the features of the lectures: words with labels, pairs of labels, and the first label."
      : "Three sentences: Fish Sleep; Monsters eat Fish; Sleep tasty Fish.");
  },
  draw(answer, at, state, set) {
    return { plane: drawPlane, planes: drawPlanes, family: drawFamily, dual: drawDual }[answer.topic](answer, at, state, set);
  },
  answers(answer, at, state) {
    const step = answer.steps[at];
    if (answer.topic === "plane") {
      const rows = step.after.map((row, k) => [NAMES[answer.classes[k]], ...row.map((v, i) => num(v) + (Math.abs(v - step.before[k][i]) > 1e-9 ? ` (was ${num(step.before[k][i])})` : ""))]);
      return [
        table("Weights after this step", ["class", "x", "y", "1"], rows),
        el("p", { class: "hint" }, `${answer.updates} mistakes in all passes; the model at the end has ${answer.wrong} of ${state.points.length} points wrong.` +
          {
            perceptron: " The perceptron stops learning once every point is on the right side, however close; the SVM goes on until the margin is wide.",
            subgradient: " A guess has 1 added to every class but gold: points on the right side but near the border still count as mistakes, until the margin is wide.",
            crf: " Every point moves the weights, by as much probability as the other classes have; a mistake is a point whose likeliest class is wrong.",
          }[state.algorithm]),
      ];
    }
    if (answer.topic === "planes") {
      const mark = (r) => (r.violation > state.tolerance + 1e-9 ? "✗" : "✓");
      return [
        table(`Constraints: slack ξ = ${num(step.slack, 3)}, ε = ${num(state.tolerance)}`, ["y′", "F(y′)", "lead F(y) − F(y′)", "loss", "violation", ""],
          step.rows.map((r) => [`(${r.named.replace(" ", "\u00a0")})`, num(r.score, 3), num(r.lead, 3), num(r.loss), num(r.violation, 3), mark(r) + (r.in_set ? " in W" : "") + (r.added ? " added" : "")]),
          (i) => (step.rows[i].added ? "second" : step.rows[i].in_set ? "best" : "")),
        el("p", { class: "hint" }, `Dual ${num(step.dual, 4)} ≤ optimum ≤ primal ${num(step.primal, 4)}.`),
        el("div", { class: "hint" }, whatIsCut(step, state).map((text) => el("p", {}, text))),
      ];
    }
    if (answer.topic === "family") {
      return [
        el("p", { class: "loss" }, el("strong", {}, answer.algorithm), `: loss ${num(answer.loss, 4)}`),
        table("Outputs", ["output", "score", "cost", "score + γ·cost", "p"], answer.outputs.map((o) => [o.named.join(" "), num(o.score), num(o.cost), num(o.total), percent(o.p)]), (i) => (i === 0 ? "best" : "")),
        table("Gradient over the labels: p − gold", ["", ...state.words], state.labels.map((l, k) => [l, ...state.words.map((w, t) => num(answer.gradient[t][k], 3))])),
        answerList(answer, { best: "most violated" }),
        el("p", { class: "hint" }, "ε = 0: one output, the worst rival, takes all the blame. ε > 0: every output takes its share p. γ > 0: wrong outputs count as if they scored more, so gold has to lead by a margin."),
      ];
    }
    return [
      el("p", { class: "hint" }, `At the end: objective ${num(answer.objective, 5)}, proven to be within ${real(answer.gap).toExponential(1).replace("-", "−")} of the optimum.`),
      el("p", { class: "hint" }, "Each visit makes one sentence's distribution the best it can be while the others stay. The dual never falls; where the primal meets it, both are the optimum."),
    ];
  },
};
