// Messages: labels on a tree, and on a graph with cycles; every node tells its neighbours what it knows.

import { el, svg, num, percent, copy, resized, table, checked } from "./dom.js";
import { select, toggle, scoreTable, line, area } from "./controls.js";
import { answerList, dragging, golds, outputTable, whyAugmented } from "./sequence.js";

const W = 132, ROW = 22, HEAD = 26, ACROSS = 176, DOWN = 64;

// Places of the nodes: a tree from its root downwards, leaves side by side; anything else on a circle.
function layout(answer, n, height) {
  if (!answer.parents) {
    const radius = Math.max(130, 34 * n);
    return Array.from({ length: n }, (_, v) => {
      const a = (2 * Math.PI * v) / n - Math.PI / 2 - (n % 2 ? 0 : Math.PI / n);
      return [radius * 1.25 * Math.cos(a), radius * 0.85 * Math.sin(a)];
    });
  }
  const places = [], below = (v) => answer.parents.flatMap((p, u) => (p === v ? [u] : []));
  let next = 0;
  const place = (v, depth) => {
    const children = below(v);
    children.forEach((u) => place(u, depth + 1));
    const x = children.length ? (places[children[0]][0] + places[children.at(-1)][0]) / 2 : ACROSS * next++;
    places[v] = [x, depth * (height + DOWN)];
  };
  place(answer.parents.indexOf(-1), 0);
  return places;
}

// Where a line from one box to another leaves the first.
function border([x, y], [a, b], height) {
  const dx = a - x, dy = b - y;
  const share = Math.min((W / 2 + 3) / Math.abs(dx || 1e-9), (height / 2 + 3) / Math.abs(dy || 1e-9));
  return [x + dx * share, y + dy * share];
}

function drawMessages(answer, at, state, set) {
  const steps = answer.steps, step = steps[at], n = state.nodes.length, K = state.labels.length, height = HEAD + K * ROW;
  const places = layout(answer, n, height), told = new Map(), labels = step.labels || (at === steps.length - 1 ? answer.found.labels : null);
  const sum = state.mode === "sum";
  for (const s of steps.slice(0, at + 1)) {
    if (s.kind === "sweep") s.beliefs.forEach((row, v) => told.set(v, row));
    else if (s.kind === "message") { if (!told.has(s.node)) told.set(s.node, s.belief); } else if (s.values) told.set(s.node, s.values);
  }
  const known = new Set(steps.slice(0, at + 1).filter((s) => s.kind === "outside").map((s) => s.node));
  const xs = places.map((p) => p[0]), ys = places.map((p) => p[1]);
  const left = Math.min(...xs) - W / 2 - 10, top = Math.min(...ys) - height / 2 - 10;
  const width = Math.max(...xs) + W / 2 + 10 - left, tall = Math.max(...ys) + height / 2 + 10 - top;
  const lines = state.edges.map(([u, v]) => {
    const now = step.kind === "message" && ((step.node === u && step.to === v) || (step.node === v && step.to === u));
    if (!now) return svg("path", { class: step.kind === "sweep" ? "option" : "branch", d: `M${border(places[u], places[v], height).join(" ")}L${border(places[v], places[u], height).join(" ")}` });
    const from = border(places[step.node], places[step.to], height), to = border(places[step.to], places[step.node], height);
    return svg("g", {}, svg("path", { class: "chosen", d: `M${from.join(" ")}L${to.join(" ")}`, "marker-end": "url(#tip)" }),
      svg("text", { x: (from[0] + to[0]) / 2, y: (from[1] + to[1]) / 2 + 4, class: "small on" }, step.values.map((x) => num(x)).join(" | ")));
  });
  const boxes = state.nodes.map((name, v) => {
    const [x, y] = places[v], ups = y - height / 2, gold = answer.gold && answer.gold.labels[v];
    const rows = state.labels.map((label, k) => {
      const base = ups + HEAD + k * ROW, row = told.get(v), chosen = labels && labels[v] === k;
      const cost = answer.cost && answer.cost[v][k] ? svg("tspan", { class: "cost" }, " +1") : null;
      const share = row && (known.has(v) || (sum && step.kind === "sweep"));
      const cell = svg("g", { class: `cell ${chosen ? "on" : ""} ${set ? "drag" : ""} ${share ? "p" + Math.round(10 * row[k]) : ""}` },
        svg("rect", { x: x - W / 2 + 4, y: base, width: W - 8, height: ROW - 3, rx: 5 }),
        svg("text", { x: x - W / 2 + 10, y: base + 14, class: "left small" }, `${label} ${num(state.label[v][k])}`, cost),
        row ? svg("text", { x: x + W / 2 - 10, y: base + 14, class: "right small" }, share ? percent(row[k]) : `b ${num(row[k])}`) : null,
        gold === k ? svg("circle", { cx: x - W / 2 + 4, cy: base, r: 4, class: "goldmark" }) : null,
        svg("title", {}, `${name} as ${label}: score ${num(state.label[v][k])}`));
      if (set) dragging(cell, state.label[v][k], (value) => {
        const next = copy(state.label);
        next[v][k] = value;
        set({ label: next }, { rebuild: true });
      });
      return cell;
    });
    return svg("g", {}, svg("g", { class: "cell " + (step.node === v ? "now" : "") }, svg("rect", { x: x - W / 2, y: ups, width: W, height, rx: 9 })),
      svg("text", { x, y: ups + 18, class: "word" }, name), rows);
  });
  return svg("svg", { viewBox: `${left} ${top} ${width} ${tall}`, width, role: "img", "aria-label": step.say, class: "drawing" },
    svg("defs", {}, svg("marker", { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 12, markerHeight: 12, markerUnits: "userSpaceOnUse", orient: "auto" },
      svg("path", { d: "M0 0L8 4L0 8Z", class: "tip" }))), lines, boxes);
}

const TREE = {
  nodes: ["post", "reply", "doubt", "proof", "thanks"], labels: ["for", "against"], edges: [[0, 1], [0, 2], [2, 3], [2, 4]],
  label: [[0.4, 0], [1, 0], [0, 1.1], [0, 1.1], [1.2, 0]], edge: [[1, 0], [0, 1]], gold: [0, 0, 1, 1, 0], root: 0, mode: "max", augmented: false,
};

const split = (text) => text.trim().split(/\s+/).filter(Boolean);

export const messagesLab = {
  name: "messages",
  title: "Messages",
  about: "Labels on a tree (§17.7 of the chapter: any graph without cycles): every node sums up its side for its neighbour, so that no label is looked at twice. On a graph with cycles the same messages go round, and may be wrong.",
  edit: "Nodes, edges, scores",
  presets: {
    tree: { title: "a tree: who agrees?", state: TREE },
    three: {
      title: "a tree with three labels",
      state: {
        ...TREE, nodes: ["eat", "monsters", "bunnies", "tasty"], labels: ["noun", "verb", "adj"], edges: [[0, 1], [0, 2], [2, 3]],
        label: [[0, 2.5, -3.2], [3, -1, 0], [3.5, 0.5, 0], [-1, 0, 1.2]], edge: [[-1, 0.5, 2.5], [3, -3, -1], [0.5, -2, 0]], gold: [1, 0, 0, 2],
      },
    },
    ring: { title: "a ring: messages meet again", state: { ...TREE, nodes: ["A", "B", "C", "D"], edges: [[0, 1], [1, 2], [2, 3], [3, 0]], label: [[0.5, 0], [0.3, 0], [0, 0.9], [0.2, 0]], gold: [0, 0, 0, 0] } },
    triangle: {
      title: "a triangle whose corners all want to differ",
      state: { ...TREE, nodes: ["A", "B", "C"], labels: ["0", "1"], edges: [[0, 1], [1, 2], [2, 0]], label: [[0.2, 0], [0, 0.1], [0, 0]], edge: [[0, 1], [1, 0]], gold: [0, 1, 1], mode: "sum" },
    },
  },
  controls(state, set) {
    return [
      select("Search", [["max", "max: the best labels"], ["sum", "sum: probabilities"]], state.mode, (mode) => set({ mode }, { step: 0 })),
      select("Root", state.nodes.map((v, i) => [String(i), v]), String(state.root), (v) => set({ root: Number(v) }, { step: 0 })),
      toggle("Loss augmentation (+1 where not gold)", state.augmented, (augmented) => set({ augmented }), !state.gold),
    ];
  },
  inputs(state, set) {
    const put = (name, i, j, v) => { const t = copy(state[name]); t[i][j] = v; set({ [name]: t }); state = { ...state, [name]: t }; };
    const resize = (nodes, labels) => {
      const n = nodes.length, k = labels.length;
      set({
        nodes, labels, label: resized(state.label, n, k), edge: resized(state.edge, k, k), root: Math.min(state.root, n - 1),
        edges: state.edges.filter(([u, v]) => u < n && v < n), gold: state.gold && Array.from({ length: n }, (_, v) => Math.min(state.gold[v] ?? 0, k - 1)),
      }, { rebuild: true, step: 0 });
    };
    return [
      el("div", { class: "row" },
        line("Nodes", state.nodes.join(" "), (v) => split(v).length && resize(split(v), state.labels)),
        line("Labels", state.labels.join(" "), (v) => split(v).length && resize(state.nodes, split(v)))),
      area("Edges, one per line: two nodes", state.edges.map(([u, v]) => `${state.nodes[u]} ${state.nodes[v]}`).join("\n"), 4, (text) => {
        const edges = text.split("\n").filter((l) => l.trim()).map((l) => split(l).map((name) => state.nodes.indexOf(name)));
        if (edges.every((e) => e.length === 2 && e[0] >= 0 && e[1] >= 0)) set({ edges }, { step: 0 });
      }),
      el("p", { class: "hint" }, "Write a number. Arrow up and down change it by 0.1; in the picture, drag a label up or down."),
      el("div", { class: "row tables" },
        scoreTable("Scores of labels", state.nodes, state.labels, state.label, (i, j, v) => v !== "-inf" && put("label", i, j, v)),
        scoreTable("Scores of pairs: first node of the edge, then second", state.labels, state.labels, state.edge, (i, j, v) => v !== "-inf" && put("edge", i, j, v))),
      golds(state.nodes, state, set),
    ];
  },
  draw: drawMessages,
  answers(answer, at, state) {
    const found = [answerList(answer, state.augmented ? { best: "best, costs added" } : {})];
    if (state.augmented && answer.gold) found.push(whyAugmented(answer));
    if (!answer.parents) {
      const missed = answer.found.named.join(" ") !== answer.best.named.join(" ");
      found.push(el("p", { class: "hint" }, "This graph has a cycle: what a node says comes back to it as if others had said it. Messages are passed until they stop changing; the answer is often good, and has no guarantee. " +
        (state.mode === "sum" ? "" : missed ? `Here they end at ${answer.found.named.join(" ")} (${num(answer.found.score)}) and miss the best.` : "Here they find the best.") +
        (answer.converged ? "" : " They did not settle.")));
    } else {
      found.push(el("p", { class: "hint" }, "b: a label's own score and what the messages have added to it so far. On a message's line stands one number for each label of the receiver."));
    }
    if (answer.marginals) {
      found.push(table("Probability of each label in %, by messages; adding up all outputs gives the same, or what stands second", ["", ...state.labels],
        state.nodes.map((name, v) => [name, ...state.labels.map((l, k) => checked(answer.marginals[v][k], answer.enumerated?.[v][k]))])));
    }
    found.push(outputTable(answer, state.augmented));
    return found;
  },
};
