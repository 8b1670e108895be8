// Constraints: write one, see the answer change, and its price.

import { el, num, table, checked } from "./dom.js";
import { select, toggle, area } from "./controls.js";
import { SEQUENCES, answerList, dragScore, drawTrellis, outputTable, pathLine, sequenceInputs } from "./sequence.js";

const base = SEQUENCES.monsters.state;

export const constraintsLab = {
  name: "constraints",
  title: "Constraints",
  about: "Say what an answer must be like, and see the best one that is, and what that costs in score.",
  edit: "Words and scores",
  presets: {
    one: { title: "at most 1 noun", state: { ...base, constraints: "at most 1 noun" } },
    verbs: { title: "two verbs, no verb first", state: { ...base, constraints: "at least 2 verb\nforbid verb at 1" } },
    runs: { title: "each label in one run", state: { ...base, constraints: "contiguous()\nat most 2 noun" } },
    fish: { title: "Fish Sleep: no noun before a verb", state: { ...SEQUENCES.fish.state, constraints: "forbid N then V" } },
    none: { title: "impossible", state: { ...base, constraints: "at most 1 noun\nrequire noun at 1\nrequire noun at 4" } },
  },
  controls(state, set) {
    return [
      select("Search", [["max", "max: the best"], ["sum", "sum: probabilities too"]], state.mode, (mode) => set({ mode })),
      area("Constraints, one per line", state.constraints, 3, (constraints) => set({ constraints }, { step: -1 })),
      toggle("Loss augmentation (+1 where not gold)", state.augmented, (augmented) => set({ augmented })),
    ];
  },
  inputs: (state, set, answer) => [
    el("p", { class: "hint" }, "What can be written, positions from 1: ", answer ? answer.help : "forbid, require, at most, at least, exactly, if … then …"),
    ...sequenceInputs(state, set),
  ],
  needsAnswer: true,
  draw(answer, at, state, set) {
    const step = answer.steps[at], lines = [];
    if (answer.free) lines.push(pathLine(answer.free.labels, "option", -7));
    if (step.path) lines.push(pathLine(step.path, step.ok ? "best" : "broken", 0));
    const mark = (t, k) => [step.path && step.path[t] === k ? (step.ok ? "on" : "out") : "", answer.gold && answer.gold.labels[t] === k ? "golden" : ""].join(" ");
    return drawTrellis(state, { lines, mark, drag: dragScore(state, set), cost: answer.cost, label: step.say });
  },
  answers(answer, at, state) {
    const free = answer.free, total = (o) => o.score + (state.augmented ? o.cost : 0);
    const step = answer.steps[at], found = [];
    if (step.drawn) {
      found.push(el("figure", {}, el("img", { class: "automaton", src: "data:image/svg+xml," + encodeURIComponent(step.drawn), alt: `The automaton of this search, ${step.states} states` }),
        el("figcaption", { class: "hint" }, "What the labels are read by: a label leads from state to state, and a missing way breaks a rule. States are added as answers break rules.")));
    }
    found.push(answerList(answer, { best: "best that keeps to it", second: "runner-up that keeps to it", free: "best without constraints" }));
    if (answer.best) {
      found.push(el("p", { class: "hint" }, answer.price > 1e-9 ? `Price: ${num(total(free), 3)} − ${num(total(answer.best), 3)} = ${num(answer.price, 3)}.` : "The best answer keeps to it anyway: the price is 0."));
    } else found.push(el("p", { class: "hint" }, "No sequence is left."));
    if (state.mode === "sum" && answer.best) {
      const both = answer.marginals && answer.enumerated, p = answer.marginals || answer.enumerated;
      if (p) found.push(table("Probability of each label in % among the sequences that keep to it: " + (both ? "by the dynamic program; adding them up gives the same" : answer.marginals ? "by the dynamic program" : "by adding them up; counts have no dynamic program here"),
        ["", ...state.words], state.labels.map((l, k) => [l, ...state.words.map((w, t) => checked(p[t][k], both ? answer.enumerated[t][k] : undefined))])));
      found.push(outputTable(answer, state.augmented, "The sequences that keep to it"));
    }
    if (answer.how) found.push(el("details", {}, el("summary", {}, "How it is searched"), el("pre", {}, answer.how)));
    return found;
  },
};
