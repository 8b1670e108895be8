// Your text: a sentence through a model; what decided; what comes next when a part is forbidden.

import { el, svg, num, percent, table } from "./dom.js";
import { select, toggle, area, button } from "./controls.js";
import { drawArcs, drawTree } from "./parse.js";
import { answerList, whyAugmented } from "./sequence.js";

function drawTags(words, shown, label) {
  const widths = words.map((w, i) => Math.max(64, 9 * Math.max(w.length, shown.tags[i].length) + 18)), places = [];
  widths.reduce((x, w, i) => { places[i] = x; return x + w + 8; }, 12);
  const width = places.at(-1) + widths.at(-1) + 12;
  return svg("svg", { viewBox: `0 0 ${width} 96`, width, role: "img", "aria-label": label, class: "drawing" },
    words.map((w, i) => {
      const p = shown.tag_probabilities[i], middle = places[i] + widths[i] / 2;
      return svg("g", { class: "cell" + (p === null || p === undefined ? "" : " p" + Math.round(10 * p)) },
        svg("rect", { x: places[i], y: 34, width: widths[i], height: 46, rx: 8 }),
        svg("text", { x: middle, y: 22, class: "word" }, w),
        svg("text", { x: middle, y: 54, class: "value" }, shown.tags[i]),
        svg("text", { x: middle, y: 72, class: "under" }, p === null || p === undefined ? "" : percent(p)));
    }));
}

const SENTENCE = { text: "The old fish eat tasty bunnies .", sentence: 0, forbidden: [], gold: null, augmented: false };

export const textLab = {
  name: "text",
  title: "Your text",
  about: "Your sentence through your model (structlearn workbench MODEL), through the English pipeline where it is installed, or through small models that are learned from the library's own sentences when first asked for.",
  edit: "Your own model",
  needsAnswer: true,
  presets: {
    own: { title: "your model, or the first there is", state: { ...SENTENCE, model: "", text: "I want a morning flight from Boston." } },
    tagger: { title: "tags", state: { ...SENTENCE, model: "demo tagger" } },
    parser: { title: "dependencies", state: { ...SENTENCE, model: "demo parser" } },
    constituency: { title: "constituents", state: { ...SENTENCE, model: "demo constituency" } },
  },
  bind(source) {
    return { ...textLab, source };
  },
  controls(state, set, answer) {
    const models = answer ? answer.models : [state.model || "…"], chosen = state.model || (answer ? answer.model : "…");
    const fresh = { forbidden: [], gold: null, augmented: false, sentence: 0 };
    return [
      select("Model", [...new Set([...models, chosen])].map((m) => [m, m]), chosen, (model) => set({ model, ...fresh }, { rebuild: true, step: 0 })),
      area("Text", state.text, 2, (text) => set({ text, ...fresh }, { step: 0 })),
      toggle("Loss augmentation (+1 for each part that gold lacks)", state.augmented, (augmented) => set({ augmented }, { step: 0 }), !state.gold),
    ];
  },
  inputs(state, set) {
    const note = el("span", { class: "note", role: "status" });
    return [
      el("p", { class: "hint" }, "A file that structlearn has saved: a tagger, a parser or a pipeline. It is read by this machine, as structlearn.load reads it, and leaves it no more than your text does."),
      el("label", { class: "field" }, el("span", {}, "Open a model file"), el("input", {
        type: "file", onchange: async (e) => {
          if (!e.target.files.length || !this.source) return;
          note.textContent = "reading…";
          try {
            const found = await this.source.upload(e.target.files[0]);
            note.textContent = found.error || `${found.name} is open`;
            if (!found.error) set({ model: found.name, forbidden: [], gold: null, augmented: false, sentence: 0 }, { step: 0, rebuild: true });
          } catch (error) { note.textContent = `the file could not be sent: ${error.message}`; }
        },
      })), note,
    ];
  },
  draw(answer, at, state, set) {
    this.latest = set;
    const shown = answer.steps[at].shown, say = answer.steps[at].say;
    if (shown.arcs) {
      const arcs = shown.arcs.map(([h, m, r]) => [h, m, "best", r]);
      const under = (i) => [shown.tags[i], shown.arc_probabilities && `arc ${percent(shown.arc_probabilities[i])}`].filter(Boolean);
      return drawArcs(answer.words, arcs, { label: say, under });
    }
    return shown.spans ? drawTree(answer.words, shown.spans, say) : drawTags(answer.words, shown, say);
  },
  answers(answer, at, state) {
    const set = this.latest, shown = answer.steps[at].shown, found = [];
    if (answer.sentences && answer.sentences.length > 1) {
      found.push(select("Sentence", answer.sentences.map((s, i) => [String(i), `${i + 1}. ${s.length > 60 ? s.slice(0, 57) + "…" : s}`]), String(Math.min(state.sentence, answer.sentences.length - 1)),
        (i) => set({ sentence: Number(i), forbidden: [], gold: null, augmented: false }, { step: 0, rebuild: true })));
    }
    found.push(answerList(answer, state.augmented ? { best: "best, costs added" } : {}));
    if (state.augmented && answer.gold) found.push(whyAugmented(answer));
    if (answer.price > 1e-9) found.push(el("p", { class: "hint" }, `Forbidding costs ${num(answer.price, 3)} of the score.`));
    if (set) {
      found.push(el("div", { class: "chips" },
        state.gold ? button("No gold", () => set({ gold: null, augmented: false }, { rebuild: true })) : button("The answer shown is gold", () => set({ gold: shown.marks }, { rebuild: true })),
        state.forbidden.length ? button("Allow all parts again", () => set({ forbidden: [] }, { step: 0 })) : []));
      if (shown.parts.length) found.push(el("details", { class: "box", open: state.forbidden.length > 0 }, el("summary", {}, "Forbid a part, and see what comes next"),
        el("div", { class: "chips" }, shown.parts.map(([part, text]) => button("✕ " + text, () => set({ forbidden: [...state.forbidden, part] }, { step: 0 }), { "aria-label": `forbid ${text}` })))));
    }
    if (answer.probabilities) {
      found.push(table("Probabilities", ["", "the likeliest"], answer.probabilities.map(([what, row]) => [what, row.map(([k, p]) => `${k} ${percent(p)}`.trim()).join(", ")]), null, "words"));
    }
    if (answer.note) found.push(el("p", { class: "hint" }, answer.note));
    if (answer.why.length) {
      found.push(el("details", { class: "box" }, el("summary", {}, "What decided"),
        el("p", { class: "hint" }, "Each decision, the runner-up it beat, by how much, and the features that made most of the difference."),
        answer.why.map((d) => el("div", { class: "why" }, el("p", {}, el("strong", {}, d.about), `: ${d.label}` + (d.runner_up ? `, before ${d.runner_up} by ${num(d.margin, 3)}` : "")),
          el("p", { class: "hint" }, d.contributions.map(([n, v]) => `${n} ${num(v, 3)}`).join(" · "))))));
    }
    return found;
  },
};
