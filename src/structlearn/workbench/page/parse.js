// Parse: dependencies by Chu-Liu/Edmonds or Eisner, constituents by CKY.

import { el, svg, num, percent, copy, resized, table, checked } from "./dom.js";
import { select, toggle, scoreTable, line, area } from "./controls.js";
import { answerList, outputTable, whyAugmented } from "./sequence.js";

const FLIGHT = `S -> NP VP
NP -> Pronoun
NP -> Det Nominal
NP -> ProperNoun
Nominal -> Noun
Nominal -> Nominal Noun 0.5
Nominal -> Nominal PP
VP -> Verb
VP -> Verb NP 1
VP -> VP PP 0.2
PP -> Preposition NP
Pronoun -> I
Verb -> want
Verb -> book
Noun -> book -1
Det -> a
Noun -> morning
Noun -> flight
Preposition -> from
ProperNoun -> Boston`;

const WORD = 72, BASE = 26;

// How high each arc goes: above all arcs that share a stretch of the words with it, so that no labels meet.
export function levels(arcs) {
  const known = new Map(), done = [];
  for (const [h, m] of [...arcs].sort((p, q) => Math.abs(p[0] - p[1]) - Math.abs(q[0] - q[1]))) {
    const key = `${h},${m}`, low = Math.min(h, m), high = Math.max(h, m);
    if (known.has(key)) continue;
    known.set(key, 1 + Math.max(0, ...done.filter((d) => d.low < high && low < d.high).map((d) => d.level)));
    done.push({ low, high, level: known.get(key) });
  }
  return known;
}

export function arcPath(h, m, place, level) {
  const a = place(h), b = place(m), height = 24 + 20 * level;
  return { d: `M${a} ${-BASE}C${a} ${-BASE - height},${b} ${-BASE - height},${b} ${-BASE - 2}`, top: -BASE - 0.75 * height, middle: (a + b) / 2 };
}

// Words in a row with arcs above; `arcs` are [head, word, class, text]; `under(i)` gives lines of text.
export function drawArcs(words, arcs, { boxes = [], label, under = () => [] }) {
  const names = ["root", ...words], places = [], rise = levels(arcs);
  const labels = names.map((_, i) => Math.max(0, ...arcs.filter(([h, m]) => Math.abs(h - m) === 1 && (h === i || m === i)).map(([, , , text]) => 7 * (text || "").length + 10)));
  names.reduce((x, name, i) => {
    const half = Math.max(WORD, 9.5 * name.length + 14, labels[i], ...(i ? under(i - 1) : []).map((line) => 6.6 * line.length + 12)) / 2;
    places[i] = x + half;
    return x + 2 * half;
  }, 4);
  const place = (i) => places[i];
  const top = 60 + 20 * Math.max(1, ...rise.values()), width = places.at(-1) + 52, lines = Math.max(1, ...words.map((_, i) => under(i).length)), height = top + (boxes.length ? 56 : 20 + 14 * lines);
  return svg("svg", { viewBox: `0 ${-top} ${width} ${height}`, width, role: "img", "aria-label": label, class: "drawing spelled" },
    svg("defs", {}, svg("marker", { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 10, markerHeight: 10, markerUnits: "userSpaceOnUse", orient: "auto" },
      svg("path", { d: "M0 0L8 4L0 8Z", class: "tip" }))),
    boxes.map(([some, text]) => {
      const low = Math.min(...some), high = Math.max(...some);
      return svg("g", { class: "bubble" },
        svg("rect", { x: place(low) - 44, y: -20, width: place(high) - place(low) + 88, height: 52, rx: 14 }),
        svg("text", { x: (place(low) + place(high)) / 2, y: 48, class: "under" }, text));
    }),
    arcs.map(([h, m, kind, text]) => {
      const { d, top: y, middle } = arcPath(h, m, place, rise.get(`${h},${m}`));
      return svg("g", { class: "arc " + kind }, svg("path", { d, "marker-end": kind === "gold" ? null : "url(#tip)" }),
        text ? svg("text", { x: middle, y: y - 3, class: "arctext" }, text) : null);
    }),
    names.map((w, i) => svg("g", {}, svg("text", { x: place(i), y: 4, class: i ? "word" : "word root" }, w), (i ? under(i - 1) : []).map((line, k) => svg("text", { x: place(i), y: 22 + 14 * k, class: "under" }, line)))));
}

// A tree from spans [i, j, symbol], outer ones first.
export function drawTree(words, spans, label) {
  const place = (x) => 20 + x * 92, nodes = [], stack = [];
  for (const [i, j, symbol] of spans) {
    while (stack.length && !(stack.at(-1).i <= i && j <= stack.at(-1).j)) stack.pop();
    const node = { i, j, symbol, above: stack.at(-1) || null, depth: stack.length };
    nodes.push(node);
    stack.push(node);
  }
  const deepest = Math.max(0, ...nodes.map((n) => n.depth));
  const x = (n) => place((n.i + n.j) / 2), y = (n) => 18 + 44 * n.depth;
  const bottom = 18 + 44 * (deepest + 1), width = 40 + words.length * 92;
  const leaf = (t) => nodes.filter((n) => n.i <= t && t < n.j).at(-1);
  return svg("svg", { viewBox: `0 0 ${width} ${bottom + 22}`, width, role: "img", "aria-label": label, class: "drawing spelled" },
    nodes.filter((n) => n.above).map((n) => svg("path", { class: "branch", d: `M${x(n.above)} ${y(n.above) + 7}L${x(n)} ${y(n) - 12}` })),
    words.map((w, t) => leaf(t) && svg("path", { class: "branch leaf", d: `M${x(leaf(t))} ${y(leaf(t)) + 7}L${place(t + 0.5)} ${bottom - 14}` })),
    nodes.map((n) => svg("text", { x: x(n), y: y(n), class: "word" }, n.symbol)),
    words.map((w, t) => svg("text", { x: place(t + 0.5), y: bottom, class: "row leafword" }, w)));
}

function drawDependencies(answer, at, state) {
  const step = answer.steps[at], shown = answer.shown, last = at === answer.steps.length - 1;
  const text = ([h, m]) => num(shown[h][m]);
  const n = state.words.length;
  const real = (list) => list.filter(([h, m]) => m <= n && h <= n);
  const arcs = [];
  if (answer.gold && last) answer.gold.heads.forEach((h, m) => arcs.push([h, m + 1, "gold", ""]));
  real(step.arcs).forEach((a) => arcs.push([...a, "best", text(a)]));
  real(step.inside).forEach((a) => arcs.push([...a, "cyclic", text(a)]));
  const boxes = step.cycles.map(([c, words]) => [words, `C${c - n}`]);
  if (step.span && step.kind !== "goal") boxes.push([[...step.span], ""]);
  return drawArcs(state.words, arcs, { boxes, label: step.say });
}

function drawChart(answer, at, state) {
  const n = state.words.length, size = 94, step = answer.steps[at], cells = new Map();
  for (const s of answer.steps.slice(0, at + 1)) {
    const key = String(s.cell), entry = cells.get(key) || new Map();
    if (s.kind !== "done") entry.set(s.symbol, s.value);
    cells.set(key, entry);
  }
  const shapes = [];
  for (let i = 0; i < n; i++) for (let j = i + 1; j <= n; j++) {
    const x = 6 + (j - 1) * size, y = 26 + i * 66, here = String([i, j]) === String(step.cell);
    const rows = [...(cells.get(String([i, j])) || new Map())];
    shapes.push(svg("g", { class: "cell " + (here ? "now" : "") },
      svg("rect", { x, y, width: size - 4, height: 62, rx: 6 }),
      rows.slice(0, 3).map(([symbol, value], r) => svg("text", { x: x + size / 2 - 2, y: y + 17 + 17 * r, class: "small" }, `${symbol} ${num(value)}`)),
      rows.length > 3 ? svg("text", { x: x + size - 10, y: y + 58, class: "small" }, "…") : null,
      svg("title", {}, `${state.words.slice(i, j).join(" ")}: ${rows.map(([s, v]) => `${s} ${num(v)}`).join(", ") || "nothing yet"}`)));
  }
  const chart = svg("g", {}, state.words.map((w, t) => svg("text", { x: 6 + t * size + size / 2, y: 16, class: "word" }, w)), shapes);
  const tree = drawTree(state.words, step.spans.map(([i, j, a]) => [i, j, answer.symbols[a]]), "");
  const [, , w, h] = tree.getAttribute("viewBox").split(" ").map(Number);
  const top = 34 + n * 66, width = Math.max(12 + n * size, w);
  const inner = svg("g", { transform: `translate(0 ${top})` }, [...tree.childNodes]);
  return svg("svg", { viewBox: `0 0 ${width} ${top + h}`, width, role: "img", "aria-label": step.say, class: "drawing" }, chart, inner);
}

const MATRIX = { mode: "max", augmented: false, kind: "dependencies", algorithm: "edmonds" };

export const parseLab = {
  name: "parse",
  title: "Parse",
  about: "Trees over words: every word takes its best head, cycles are contracted (Chu-Liu/Edmonds); or the best split of every span (Eisner, CKY).",
  edit: "Words and scores",
  presets: {
    cycle: {
      title: "dependencies with a cycle",
      state: {
        ...MATRIX, words: ["John", "saw", "Mary"], gold: [2, 0, 2],
        arc: [[0, 9, 10, 9], [0, 0, 20, 3], [0, 30, 0, 30], [0, 11, 0, 0]],
      },
    },
    flight: {
      title: "dependencies: I want a morning flight",
      state: {
        ...MATRIX, words: ["I", "want", "a", "morning", "flight"], gold: [2, 0, 5, 5, 2],
        arc: [[0, 1, 6, 0, 1, 3], [0, 0, 2, 0, 0, 1], [0, 5, 0, 1, 3, 6], [0, 0, 0, 0, 1, 1], [0, 0, 1, 2, 0, 4], [0, 0, 3, 4, 5, 0]],
      },
    },
    constituents: {
      title: "constituents: I want a morning flight",
      state: { kind: "constituents", mode: "max", augmented: false, words: ["I", "want", "a", "morning", "flight"], grammar: FLIGHT, gold: "(S (NP (Pronoun I)) (VP (Verb want) (NP (Det a) (Nominal (Nominal (Noun morning)) (Noun flight)))))" },
    },
    attachment: {
      title: "constituents, ambiguous: from Boston",
      state: { kind: "constituents", mode: "max", augmented: false, words: ["I", "book", "a", "flight", "from", "Boston"], grammar: FLIGHT, gold: "(S (NP (Pronoun I)) (VP (VP (Verb book) (NP (Det a) (Nominal (Noun flight)))) (PP (Preposition from) (NP (ProperNoun Boston)))))" },
    },
  },
  controls(state, set) {
    const dependencies = state.kind === "dependencies";
    return [
      dependencies ? select("Algorithm", [["edmonds", "Chu-Liu/Edmonds: any tree"], ["eisner", "Eisner: no arcs cross"]], state.algorithm,
        (algorithm) => set({ algorithm }, { step: 0 })) : [],
      select("Search", [["max", "max: the best tree"], ["sum", "sum: probabilities too"]], state.mode, (mode) => set({ mode }, { step: 0 })),
      toggle(`Loss augmentation (+1 for a wrong ${dependencies ? "head" : "span"})`, state.augmented, (augmented) => set({ augmented }), !state.gold),
    ];
  },
  inputs(state, set) {
    const split = (v) => v.trim().split(/\s+/).filter(Boolean);
    if (state.kind === "constituents") {
      return [
        line("Words", state.words.join(" "), (v) => split(v).length && set({ words: split(v), gold: null, augmented: false }, { rebuild: true, step: 0 })),
        line("Gold tree, in brackets", state.gold || "", (v) => set({ gold: v.trim() || null, augmented: state.augmented && Boolean(v.trim()) }, { rebuild: true })),
        area("Grammar: one rule per line, with its score; the first rule's left side is the root", state.grammar, 12, (grammar) => set({ grammar })),
      ];
    }
    const names = ["root", ...state.words];
    const golden = state.gold && el("fieldset", {}, el("legend", {}, "Gold heads"), state.words.map((w, m) =>
      select(w, names.map((h, i) => [String(i), h]).filter(([i]) => i !== String(m + 1)), String(state.gold[m]), (v) => {
        const gold = [...state.gold]; gold[m] = Number(v); set({ gold }); state = { ...state, gold };
      })));
    return [
      line("Words", state.words.join(" "), (v) => {
        const words = split(v), n = words.length;
        if (n) set({ words, arc: resized(state.arc, n + 1, n + 1), gold: words.map((_, m) => m) }, { rebuild: true, step: 0 });
      }),
      el("p", { class: "hint" }, "The row is the head, the column the word. -inf forbids an arc."),
      scoreTable("Scores of arcs", names, names.slice(1), state.arc.map((row) => row.slice(1)), (i, j, v) => {
        const arc = copy(state.arc); arc[i][j + 1] = v; set({ arc }); state = { ...state, arc };
      }, (i, j) => i === j + 1), golden,
    ];
  },
  draw: (answer, at, state) => (answer.symbols ? drawChart : drawDependencies)(answer, at, state),
  answers(answer, at, state) {
    const found = [answerList(answer, state.augmented ? { best: "best, costs added" } : {})];
    if (state.augmented && answer.gold) found.push(whyAugmented(answer));
    found.push(el("p", { class: "hint" }, `${answer.count.toLocaleString("en")} ${answer.count === 1 ? "tree" : "trees"}` + (answer.log_partition !== null ? `, log Z = ${num(answer.log_partition, 3)}` : "")));
    if (answer.marginals) {
      const names = ["root", ...state.words];
      found.push(table("Probability of each arc in %, by sums; adding up all trees gives the same", ["head", ...state.words], names.map((h, i) =>
        [h, ...state.words.map((w, j) => (i === j + 1 ? "" : checked(answer.marginals[i][j + 1], answer.enumerated?.[i][j + 1])))])));
    }
    if (answer.span_marginals) {
      found.push(table("Probability of each span: by inside–outside, and by adding up all trees", ["span", "symbol", "probability", "enumerated"],
        answer.span_marginals.slice(0, 30).map((r) => [r.span, r.symbol, percent(r.p), percent(r.enumerated)])));
    }
    found.push(outputTable(answer, state.augmented, "The trees, best first"));
    return found;
  },
};
