// Sequence: a trellis whose scores can be dragged.

import { el, svg, num, real, percent, copy, resized, table, checked } from "./dom.js";
import { select, toggle, slider, scoreTable, line, score } from "./controls.js";

export const SEQUENCES = {
  monsters: {
    title: "monsters eat tasty bunnies",
    state: {
      words: ["monsters", "eat", "tasty", "bunnies"], labels: ["noun", "verb", "adj"],
      label: [[3, -1, 0], [0, 2.5, -3.2], [-1, 0, 1.2], [3.5, 0.5, 0]],
      transition: [[-1, 3.5, -5], [1.5, -3, 2.5], [2, -2, 2.2]],
      gold: [0, 1, 2, 0], augmented: false, mode: "max", temperature: 1, n: 5, width: 1,
    },
  },
  fish: {
    title: "Fish Sleep",
    state: {
      words: ["Fish", "Sleep"], labels: ["N", "V"],
      label: [[2, 1], [1, 0]], transition: [[-2, 1], [2, -2]], start: [1, -1],
      gold: [0, 1], augmented: false, mode: "max", temperature: 1, n: 5, width: 1,
    },
  },
  tokyo: {
    title: "東京都: where do words begin?",
    state: {
      words: ["東", "京", "都", "は", "海"], labels: ["begins", "goes on"],
      label: [[4, -9], [0, 0], [0.3, 0], [4, 0], [1.8, 0]],
      transition: [[-0.8, 0.6], [0.7, -0.5]],
      gold: [0, 1, 0, 0, 0], augmented: false, mode: "max", temperature: 1, n: 5, width: 1,
    },
  },
  chapter: {
    title: "eq. 17.38: α at “eat” given",
    state: {
      words: ["eat", "tasty"], labels: ["noun", "verb", "adj"],
      label: [[2, 9, -1], ["-inf", "-inf", 1.2]],
      transition: [[0, 0, -5], [0, 0, 2.5], [0, 0, 2.2]],
      gold: [1, 2], augmented: false, mode: "max", temperature: 1, n: 5, width: 1,
    },
  },
  margin: {
    title: "right, but by too little",
    state: {
      words: ["Fish", "Sleep"], labels: ["N", "V"],
      label: [[1, 0.5], [0.5, 0.5]], transition: [[-0.5, 0.5], [0.5, -0.5]], start: [0.2, 0],
      gold: [0, 1], augmented: true, mode: "max", temperature: 1, n: 5, width: 1,
    },
  },
  quiz: {
    title: "Q U I Z: four letters",
    state: {
      words: ["Q?", "V?", "I?", "Z?"], labels: ["Q", "U", "V", "I", "Z"],
      label: [[3, 0, 0, 0, 0.5], [0, 1.5, 2, 0, 0], [0, 0, 0, 2, 0.5], [0, 0, 0, 0.5, 2.5]],
      transition: [[-2, 3, -2, -2, -2], [0, -1, 0, 1, 0], [0, 0, -1, 1, 0], [0, 0, 0, -1, 1], [0, 0, 0, 0, 0]],
      gold: [0, 1, 3, 4], augmented: false, mode: "max", temperature: 1, n: 5, width: 1,
    },
  },
};

const LEFT = 84, TOP = 34, COLUMN = 130, ROW = 74, W = 74, H = 46;

function middle(t, k) {
  return [LEFT + t * COLUMN + W / 2, TOP + k * ROW + H / 2];
}

function link(a, b, kind, shift = 0) {
  const [x1, y1] = middle(...a), [x2, y2] = middle(...b);
  return svg("path", { class: kind, d: `M${x1 + W / 2} ${y1 + shift}L${x2 - W / 2} ${y2 + shift}` });
}

export function pathLine(labels, kind, shift) {
  return labels.slice(1).map((k, i) => link([i, labels[i]], [i + 1, k], kind, shift));
}

// The trellis of a chain. `extra(t, k)` gives what stands under a score; `marks` the classes of cells.
export function drawTrellis(state, { lines = [], under = () => null, mark = () => "", drag = null, cost = null, label }) {
  const L = state.words.length, K = state.labels.length;
  const width = LEFT + L * COLUMN - (COLUMN - W) + 16, height = TOP + K * ROW - (ROW - H) + 16;
  const grey = [];
  for (let t = 1; t < L; t++) for (let j = 0; j < K; j++) for (let k = 0; k < K; k++) grey.push(link([t - 1, j], [t, k], "edge"));
  const cells = [];
  for (let t = 0; t < L; t++) for (let k = 0; k < K; k++) {
    const [x, y] = middle(t, k);
    const added = cost && real(cost[t][k]) ? " +1" : "";
    const below = under(t, k);
    const text = svg("text", { x, y: below === null ? y + 5 : y - 4, class: "value" }, num(state.label[t][k]), added ? svg("tspan", { class: "cost" }, added) : null);
    const cell = svg("g", { class: `cell ${mark(t, k)} ${drag ? "drag" : ""}` },
      svg("rect", { x: x - W / 2, y: y - H / 2, width: W, height: H, rx: 8 }), text,
      svg("text", { x, y: y + 15, class: "under" }, below),
      mark(t, k).includes("golden") ? svg("circle", { cx: x - W / 2 + 9, cy: y - H / 2 + 9, r: 4, class: "goldmark" }) : null,
      svg("title", {}, `${state.words[t]} as ${state.labels[k]}: score ${num(state.label[t][k])}`));
    if (drag) dragging(cell, state.label[t][k], (v) => drag(t, k, v));
    cells.push(cell);
  }
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, role: "img", "aria-label": label, class: "drawing" },
    state.words.map((w, t) => svg("text", { x: middle(t, 0)[0], y: 20, class: "word" }, w)),
    state.labels.map((l, k) => svg("text", { x: LEFT - 12, y: middle(0, k)[1] + 4, class: "row" }, l)),
    grey, lines, cells);
}

// What a dragged cell does to the state.
export function dragScore(state, set) {
  return set && ((t, k, v) => {
    const label = copy(state.label);
    label[t][k] = v;
    set({ label }, { rebuild: true });
  });
}

// Up and down changes a score.
export function dragging(node, value, change) {
  if (value === "-inf") return;
  node.addEventListener("pointerdown", (down) => {
    down.preventDefault();
    let last = value;
    const move = (e) => {
      const next = Math.round((value + (down.clientY - e.clientY) / 20) * 10) / 10;
      if (next !== last) { last = next; change(next); }
    };
    const up = () => { removeEventListener("pointermove", move); removeEventListener("pointerup", up); removeEventListener("pointercancel", up); };
    addEventListener("pointermove", move);
    addEventListener("pointerup", up);
    addEventListener("pointercancel", up);
  });
}

// The score of a pair of labels, on its line.
function pairScore(state, from, [t, k]) {
  const [x1, y1] = middle(t - 1, from), [x2, y2] = middle(t, k), at = 0.36;
  const a = x1 + W / 2, b = x2 - W / 2;
  return svg("text", { x: a + at * (b - a), y: y1 + at * (y2 - y1) + 4, class: "small on" }, num(state.transition[from][k]));
}

function describe(answer) {
  return `Trellis. Best: ${answer.best.named.join(" ")}, score ${num(answer.best.score)}.`;
}

export function drawSequence(answer, at, state, set) {
  const steps = answer.steps, step = steps[at], known = new Map(), beta = new Map(), lines = [];
  for (const s of steps.slice(0, at + 1)) {
    if (s.kind === "fill") known.set(String(s.at), s.value);
    if (s.kind === "outside") beta.set(String(s.at), s.p);
  }
  const back = steps.slice(0, at + 1).filter((s) => s.kind === "back").map((s) => s.at);
  const done = state.mode !== "max" || at === steps.length - 1;
  const gold = answer.gold && answer.gold.labels;
  if (gold) lines.push(pathLine(gold, "gold", 7));
  if (done && answer.free) lines.push(pathLine(answer.free.labels, "option", -3));
  if (done && answer.runner_up && state.mode !== "beam") lines.push(pathLine(answer.runner_up.labels, "second", -7));
  if (step.kind === "fill" && step.options) for (const o of step.options) {
    if (o.from !== null && real(o.value) > -Infinity) {
      lines.push(link([step.at[0] - 1, o.from], step.at, o.from === step.back ? "chosen" : "option"), pairScore(state, o.from, step.at));
    }
  }
  if (step.kind === "fill" && !step.options && step.at[0]) {
    for (let j = 0; j < state.labels.length; j++) lines.push(link([step.at[0] - 1, j], step.at, "option"));
  }
  for (let i = 1; i < back.length; i++) lines.push(link(back[i], back[i - 1], "best"));
  if (step.kind === "rank") lines.push(pathLine(step.path, "best", 0));
  if (step.kind === "beam") {
    for (const p of step.dropped) lines.push(pathLine(p, "option", 0));
    for (const p of step.kept) lines.push(pathLine(p, "best", 0));
  }
  if (state.mode === "sum" && at === steps.length - 1) lines.push(pathLine(answer.best.labels, "best", 0));
  const under = (t, k) => {
    const key = String([t, k]);
    if (beta.has(key)) return percent(beta.get(key));
    return known.has(key) ? `${answer.cost ? "ᾶ" : "α"} ${num(known.get(key))}` : "";
  };
  const on = (t, k) => back.some(([a, b]) => a === t && b === k) ||
    (step.kind === "rank" && step.path[t] === k) || (step.kind === "beam" && step.kept.some((p) => p[t] === k));
  const mark = (t, k) => [
    step.at && step.at[0] === t && step.at[1] === k ? "now" : "", on(t, k) ? "on" : "",
    gold && gold[t] === k ? "golden" : "", state.mode === "sum" && beta.has(String([t, k])) ? "p" + Math.round(10 * beta.get(String([t, k]))) : "",
  ].join(" ");
  return drawTrellis(state, { lines, under, mark, drag: dragScore(state, set), cost: answer.cost, label: describe(answer) });
}

export function answerList(answer, names = {}) {
  const rows = [];
  const add = (kind, title, o) => o && rows.push(el("div", { class: "answer " + kind },
    el("dt", {}, title),
    el("dd", {}, o.named.join(" "), el("span", { class: "points" }, `score ${num(o.score, 3)}`, o.cost !== undefined && answer.gold ? `, cost ${num(o.cost)}` : ""))));
  add("best", names.best || "best", answer.best);
  add("second", names.second || "runner-up", answer.runner_up);
  add("gold", "gold: the right answer", answer.gold);
  if (names.free) add("free", names.free, answer.free);
  return el("dl", { class: "list" }, rows);
}

export function outputTable(answer, augmented, title = "Every output, by enumeration") {
  if (!answer.outputs) return el("p", { class: "hint" }, answer.count ? `${typeof answer.count === "number" ? answer.count.toLocaleString("en") : answer.count} outputs: too many to list.` : "");
  const head = ["output", "score", ...(answer.gold ? ["cost"] : []), ...(augmented ? ["score + cost"] : []), "probability"];
  const most = 12, rest = answer.count - most;
  const is = (o, other) => other && o.named.join(" ") === other.named.join(" ");
  return [
    table(title, head, answer.outputs.slice(0, most).map((o) =>
      [o.named.join(" "), num(o.score === undefined ? o.total : o.score, 3), ...(answer.gold ? [num(o.cost)] : []), ...(augmented ? [num(o.total, 3)] : []), percent(o.p)]),
    (i) => (is(answer.outputs[i], answer.best) ? "best" : is(answer.outputs[i], answer.runner_up) ? "second" : is(answer.outputs[i], answer.gold) ? "gold" : "")),
    rest > 0 ? el("p", { class: "hint" }, `and ${rest.toLocaleString("en")} more.`) : [],
  ];
}

// The right label of each place, to choose.
export function golds(names, state, set) {
  return state.gold && el("fieldset", {}, el("legend", {}, "Gold labels"), names.map((name, t) =>
    select(name, state.labels.map((l, k) => [String(k), l]), String(state.gold[t]), (v) => {
      const gold = [...state.gold]; gold[t] = Number(v); set({ gold }); state = { ...state, gold };
    })));
}

export function sequenceInputs(state, set, inPicture = true) {
  const L = state.words.length, K = state.labels.length;
  const put = (name, i, j, v) => { const t = copy(state[name]); t[i][j] = v; set({ [name]: t }); state = { ...state, [name]: t }; };
  const resize = (words, labels) => {
    const n = words.length, k = labels.length;
    const gold = state.gold && Array.from({ length: n }, (_, t) => Math.min(state.gold[t] ?? 0, k - 1));
    const more = state.start ? { start: resized([state.start], 1, k)[0] } : {};
    set({ words, labels, label: resized(state.label, n, k), transition: resized(state.transition, k, k), gold, ...more }, { rebuild: true, step: 0 });
  };
  const split = (text) => text.trim().split(/\s+/).filter(Boolean);
  const tables = [
    scoreTable("Scores of labels", state.words, state.labels, state.label, (i, j, v) => put("label", i, j, v)),
    scoreTable("Scores of pairs: row, then column", state.labels, state.labels, state.transition, (i, j, v) => put("transition", i, j, v)),
  ];
  if (state.start) {
    tables.push(scoreTable("Scores of the first label", ["start"], state.labels, [state.start], (i, j, v) => {
      const start = [...state.start]; start[j] = v; set({ start }); state = { ...state, start };
    }));
  }
  return [
    el("div", { class: "row" },
      line("Words", state.words.join(" "), (v) => split(v).length && resize(split(v), state.labels)),
      line("Labels", state.labels.join(" "), (v) => split(v).length && resize(state.words, split(v)))),
    el("p", { class: "hint" }, "Write a number, or -inf to forbid. Arrow up and down change it by 0.1" + (inPicture ? "; in the picture, drag a cell up or down." : ".")),
    el("div", { class: "row tables" }, tables), golds(state.words, state, set),
  ];
}

export const sequenceLab = {
  name: "sequence",
  title: "Sequence",
  about: "Which labels go together best? For L words and K labels there are Kᴸ sequences; Viterbi looks at L·K² sums (§17.3, §17.7 of the chapter). A cell shows the score of a label; α, the score of the best way to it.",
  edit: "Words, labels, scores",
  presets: SEQUENCES,
  controls(state, set) {
    const modes = [["max", "max: Viterbi"], ["sum", "sum: forward–backward"], ["kbest", "the k best"], ["beam", "beam search"]];
    return [
      select("Search", modes, state.mode, (mode) => set({ mode }, { rebuild: true, step: 0 })),
      toggle("Loss augmentation (+1 where not gold)", state.augmented, (augmented) => set({ augmented })),
      state.mode === "sum" ? slider("Temperature ε", state.temperature, 0.1, 4, 0.1, (temperature) => set({ temperature })) : [],
      state.mode === "kbest" ? slider("How many", state.n, 1, 12, 1, (n) => set({ n })) : [],
      state.mode === "beam" ? slider("Width", state.width, 1, 6, 1, (width) => set({ width })) : [],
    ];
  },
  inputs: (state, set) => sequenceInputs(state, set),
  draw: drawSequence,
  answers(answer, at, state) {
    const names = state.augmented ? { best: "best, costs added", second: "runner-up, costs added", free: "best without costs" } : {};
    const found = [answerList(answer, names)];
    if (state.augmented && answer.gold) found.push(whyAugmented(answer));
    if (state.mode === "beam") {
      const missed = answer.found.named.join(" ") !== answer.best.named.join(" ");
      found.push(el("p", { class: "hint" }, missed ? `The beam found ${answer.found.named.join(" ")} (${num(answer.found.score)}) and missed the best.` : "The beam found the best."));
    }
    if (answer.marginals) {
      found.push(el("p", { class: "hint" }, `log Z = ${num(answer.value, 4)}`));
      found.push(table("Probability of each label in %, by forward–backward; adding up all outputs gives the same", ["", ...state.words],
        state.labels.map((l, k) => [l, ...state.words.map((w, t) => checked(answer.marginals[t][k], answer.enumerated?.[t][k]))])));
    }
    found.push(outputTable(answer, state.augmented));
    if (answer.gold && answer.outputs) found.push(el("p", { class: "hint" }, "Cost: how many labels differ from gold (Hamming loss)."));
    return found;
  },
};

// Why costs change what the search finds, with the numbers of this answer.
export function whyAugmented(answer) {
  const b = answer.best, g = answer.gold, second = answer.runner_up;
  const total = (o) => real(o.score) + real(o.cost);
  const loss = total(b) - total(g), same = b.named.join() === g.named.join();
  const demand = "Learning asks that gold leads every rival by the rival's cost. So each wrong part gets its cost on top before the search (red +1); gold gets none.";
  if (same && second) {
    return el("p", { class: "hint" }, demand + ` Here gold wins all the same: ${num(total(g))} against ${num(second.score)} + ${num(second.cost)} = ${num(total(second))} of ${second.named.join(" ")}. ` +
      `It leads every rival by enough, the hinge loss is 0, and nothing is learned. Take more than ${num(total(g) - total(second))} off gold's scores, and the answer changes.`);
  }
  const before = real(g.score) > real(b.score)
    ? `Without costs gold would beat it, ${num(g.score)} to ${num(b.score)}, and a perceptron would learn nothing. `
    : "It beats gold even without costs. ";
  return el("p", { class: "hint" }, demand + ` ${b.named.join(" ")} is ${num(b.cost)} away from gold: ${num(b.score)} + ${num(b.cost)} = ${num(total(b))}, more than gold's ${num(g.score)}. That is why the search ends there. ` +
    before + `It breaks the demand most, by ${num(total(b))} − ${num(g.score)} = ${num(loss)}: the hinge loss, which the SVM's next step makes smaller.`);
}
