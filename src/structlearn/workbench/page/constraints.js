// Constraints: write one, see the answer change, and its price.

import { el, num } from "./dom.js";
import { toggle, area } from "./controls.js";
import { SEQUENCES, answerList, dragScore, drawTrellis, pathLine, sequenceInputs } from "./sequence.js";
const base = SEQUENCES.monsters.state;

export const constraintsLab = {
  name: "constraints",
  title: "Constraints",
  about: "Say what an answer must be like, and see the best one that is, and what that costs in score.",
  edit: "Words and scores",
  presets: {
    one: { title: "at most 1 noun", state: { ...base, constraints: "at most 1 noun" } },
    verbs: { title: "two verbs, no verb first", state: { ...base, constraints: "at least 2 verb\nforbid verb at 1" } },
    fish: { title: "Fish Sleep: no noun before a verb", state: { ...SEQUENCES.fish.state, constraints: "forbid N then V" } },
    none: { title: "impossible", state: { ...base, constraints: "at most 1 noun\nrequire noun at 1\nrequire noun at 4" } },
  },
  controls(state, set) {
    return [
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
    if (answer.free) lines.push(pathLine(answer.free.labels, "second", -7));
    if (step.path) lines.push(pathLine(step.path, step.ok ? "best" : "broken", 0));
    const mark = (t, k) => [step.path && step.path[t] === k ? (step.ok ? "on" : "out") : "", answer.gold && answer.gold.labels[t] === k ? "golden" : ""].join(" ");
    return drawTrellis(state, { lines, mark, drag: dragScore(state, set), cost: answer.cost, label: step.say });
  },
  answers(answer, at, state) {
    const free = answer.free;
    const found = [answerList({ ...answer, runner_up: answer.best && answer.best.named.join() === free.named.join() ? null : free }, { best: "best that keeps to it", second: "best without constraints" })];
    if (answer.best) {
      found.push(el("p", { class: "hint" }, answer.price > 1e-9 ? `Price: ${num(free.score, 3)} − ${num(answer.best.score, 3)} = ${num(answer.price, 3)}.` : "The best answer keeps to it anyway: the price is 0."));
    } else found.push(el("p", { class: "hint" }, "No sequence is left."));
    if (answer.how) found.push(el("details", {}, el("summary", {}, "How it is searched"), el("pre", {}, answer.how)));
    return found;
  },
};
