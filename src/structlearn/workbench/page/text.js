// Your text: a sentence through a model; what decided; what comes next when a part is forbidden.

import { el, svg, num, percent, table } from "./dom.js";
import { select, area, button } from "./controls.js";
import { drawArcs, drawTree } from "./parse.js";
import { answerList } from "./sequence.js";

function drawTags(answer) {
  const words = answer.words, place = (i) => 12 + i * 96;
  const width = 24 + words.length * 96;
  return svg("svg", { viewBox: `0 0 ${width} 96`, width, role: "img", "aria-label": answer.tags.join(" "), class: "drawing" },
    words.map((w, i) => {
      const p = answer.probabilities[i][0] ? answer.probabilities[i].find(([k]) => k === answer.tags[i]) : null;
      return svg("g", { class: "cell" + (p ? " p" + Math.round(10 * p[1]) : "") },
        svg("rect", { x: place(i), y: 34, width: 88, height: 46, rx: 8 }),
        svg("text", { x: place(i) + 44, y: 22, class: "word" }, w),
        svg("text", { x: place(i) + 44, y: 54, class: "value" }, answer.tags[i]),
        svg("text", { x: place(i) + 44, y: 72, class: "under" }, p ? percent(p[1]) : ""));
    }));
}

function parts(answer) {
  const w = ["root", ...answer.words];
  if (answer.sentences) return [];
  if (answer.kind === "Tagger") return answer.tags.map((t, i) => [[i, t], `${answer.words[i]} is ${t}`]);
  if (answer.arcs) return answer.arcs.map(([h, m, r]) => [[h, m], `${w[h]} → ${w[m]} (${r})`]);
  return (answer.spans || []).filter(([i, j]) => j > i + 1).map(([i, j, s]) => [[i, j, s], `${s} over “${answer.words.slice(i, j).join(" ")}”`]);
}

export const textLab = {
  name: "text",
  title: "Your text",
  about: "Your sentence through your model (structlearn workbench MODEL), or through small ones that are learned from the library's own sentences when first asked for.",
  edit: "Models",
  needsAnswer: true,
  presets: {
    tagger: { title: "tags", state: { model: "", text: "The old fish eat tasty bunnies .", forbidden: [] } },
    parser: { title: "dependencies", state: { model: "demo parser", text: "The old fish eat tasty bunnies .", forbidden: [] } },
    constituency: { title: "constituents", state: { model: "demo constituency", text: "The old fish eat tasty bunnies .", forbidden: [] } },
  },
  bind(source) {
    return { ...textLab, source };
  },
  controls(state, set) {
    return [area("Text", state.text, 2, (text) => set({ text, forbidden: [] }))];
  },
  inputs(state, set, answer) {
    const models = answer ? answer.models : [state.model];
    const chosen = answer ? answer.model : state.model;
    const note = el("span", { class: "note", role: "status" });
    return [
      select("Model", models.map((m) => [m, m]), chosen, (model) => set({ model, forbidden: [] }, { step: 0 })),
      el("label", { class: "field" }, el("span", {}, "Or open a model file"), el("input", {
        type: "file", onchange: async (e) => {
          if (!e.target.files.length || !this.source) return;
          note.textContent = "reading…";
          const found = await this.source.upload(e.target.files[0]);
          note.textContent = found.error || `${found.name} is open`;
          if (!found.error) set({ model: found.name, forbidden: [] }, { step: 0 });
        },
      })), note,
    ];
  },
  draw(answer, at, state, set) {
    this.latest = set;
    const seen = answer.sentences ? answer.sentences[at] : answer;  // a pipeline has a step for each sentence
    if (seen.arcs) {
      const arcs = seen.arcs.map(([h, m, r]) => [h, m, "best", r]);
      const under = (i) => [answer.sentences ? seen.tags[i] : "", seen.arc_probabilities ? percent(seen.arc_probabilities[i]) : ""].join(" ").trim() || seen.tags[i] || "";
      return drawArcs(seen.words, arcs, { label: answer.steps[at].say, under });
    }
    return seen.spans ? drawTree(seen.words, seen.spans, answer.steps[at].say) : drawTags(seen);
  },
  answers(answer, at, state) {
    const set = this.latest, found = answer.sentences ? [] : [answerList(answer)];
    const seen = answer.sentences ? answer.sentences[at] : answer;
    if (answer.arc_probabilities) found.push(el("p", { class: "hint" }, "Under each word: the probability of its arc, at the model's own scale unless a development set has calibrated it."));
    if (answer.price > 1e-9) found.push(el("p", { class: "hint" }, `Forbidding costs ${num(answer.price, 3)} of the score.`));
    if (set && parts(answer).length) {
      found.push(el("details", { class: "box", open: state.forbidden.length > 0 }, el("summary", {}, "Forbid a part, and see what comes next"),
        el("div", { class: "chips" }, parts(answer).map(([part, text]) => button("✕ " + text, () => set({ forbidden: [...state.forbidden, part] })))),
        state.forbidden.length ? el("p", {}, "Forbidden: ", state.forbidden.map((p) => p.join(" ")).join("; "), " ", button("Allow all again", () => set({ forbidden: [] }))) : null));
    }
    if (seen.probabilities) {
      found.push(table("Probabilities" + (answer.calibrated ? "" : ", not calibrated"), ["word", "tags"],
        seen.words.map((w, i) => [w, seen.probabilities[i].map(([k, p]) => `${k} ${percent(p)}`).join(", ")]), null, "words"));
    }
    if (answer.why.length) {
      found.push(el("details", {}, el("summary", {}, "What decided"), answer.why.filter((d) => d.position !== null).map((d) =>
        el("div", { class: "why" }, el("p", {}, el("strong", {}, answer.words[d.position]), `: ${d.label}, before ${d.runner_up || "–"} by ${num(d.margin, 3)}`),
          el("p", { class: "hint" }, d.contributions.map(([n, v]) => `${n} ${num(v, 3)}`).join(" · "))))));
    }
    return found;
  },
};
