// Symbols of formulas, explained beside every picture that has them.

import { el } from "./dom.js";

const SYMBOLS = [
  ["α", "score of the best way from the first word to a cell; with sums, of all ways together"],
  ["ᾶ", "α where wrong labels have their cost on top"],
  ["β", "the same from a cell to the last word: all ways together"],
  ["log Z", "the scores of all outputs together, log Σ exp(score): what probabilities are divided by"],
  ["Σ", "sum"],
  ["exp(", "e to the power of"],
  ["log Σ exp{", "a soft maximum: the log of the sum of e to the power of each"],
  ["b(", "belief: what a node knows of a label, from itself and from the messages that have come"],
  ["m(", "message: what a node tells its neighbour of each of the neighbour's labels"],
  ["w(h, m)", "weight of the arc from head h to word m"],
  ["det L", "determinant of the matrix L of the arcs' weights"],
  ["∂", "how fast one thing changes with another: a derivative"],
  ["φ(x, k)", "features of the point x, counted for class k"],
  ["w·φ", "score: each feature times its weight, added up"],
  ["1[", "1 if what stands in the brackets is so, else 0"],
  ["ξ", "slack: by how much a demand on the weights is missed"],
  ["½‖w‖²", "half the squared length of the weights: small weights are preferred"],
  ["γ", "margin: how much each wrong label counts on top of its score"],
  ["ε", "temperature: at 0 the best output stands alone; at 1 probabilities are those of a CRF"],
  ["μ(", "which parts an output has, or how probable each part is"],
  ["ŷ", "the output that the search finds"],
  ["∇", "gradient: the direction in which the loss grows"],
  ["F(y", "score of an output"],
  ["y′", "any other output than gold"],
  ["log₁₀ C", "C says how much errors count against small weights; 0 is C = 1, 2 is C = 100"],
];
const TOLERANCE = ["ε", "tolerance: violations up to it are let go"];

// The symbols that these parts of a lab show, with what they mean.
export function symbols(parts, state) {
  const text = parts.map((part) => part.textContent).join("\n");
  const known = state.topic === "planes" ? [TOLERANCE, ...SYMBOLS.filter(([name]) => name !== "ε")] : SYMBOLS;
  const shown = known.filter(([name]) => text.includes(name));
  return shown.length ? [el("summary", {}, "Symbols"), el("dl", {}, shown.map(([name, meaning]) => [el("dt", {}, name.replace(/\{$/, "{…}").replace(/\($/, "(…)").replace(/\[$/, "[…]").replace(/y$/, "y)")), el("dd", {}, meaning)]))] : [];
}
