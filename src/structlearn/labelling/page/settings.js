// The set of labels and the constraints.

import { el } from "./dom.js";
import { area, button, line } from "./controls.js";

export function showSettings(root, state, change) {
  let labels = state.labels.join(", "), constraints = state.constraints;
  root.replaceChildren(
    line("Labels, in the order of their keys", labels, (v) => { labels = v; }),
    area("Constraints, such as at_most(1, Chunk(PER))", constraints, 3, (v) => { constraints = v; }),
    el("div", { class: "buttons" }, button("Use these", () => change(labels.split(",").map((l) => l.trim()).filter(Boolean), constraints))));
}
