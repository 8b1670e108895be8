// What every lab has: its controls, a picture, steps with their formula, answers, Python, files to save.

import { el, copy } from "./dom.js";
import { button, select } from "./controls.js";
import { makePlayer } from "./player.js";
import { saveSvg, savePng } from "./saving.js";
import { symbols } from "./symbols.js";

// `source.ask(lab, state)` gives an answer; `changed(state, step)` is told of every change.
// A recorded lab (`source.recorded`) offers the states that were recorded, and nothing to write in.
export function mountLab(root, lab, source, begin, changed) {
  let state = begin.state, answer = null, waiting = false, again = false, wanted = begin.step;
  const asked = { count: 0 };
  const controls = el("div", { class: "controls" });
  const picture = el("figure", { class: "picture" });
  const formula = el("div", { class: "formula", tabindex: "0", role: "region", "aria-label": "This step" });
  const said = el("p", { class: "said", "aria-live": "polite" });
  const wrong = el("p", { class: "wrong", role: "alert", hidden: true });
  const answers = el("div", { class: "answers" });
  const editing = el("div", { class: "editing" });
  const python = el("pre", { tabindex: "0" }, el("code", {}));
  const legend = el("details", { class: "symbols", open: true });
  const player = makePlayer(show);
  const columns = el("div", { class: "columns" }, el("div", { class: "stage" }, picture, player.bar, said, formula, legend), answers);
  const code = el("details", { class: "box" }, el("summary", {}, "The same in Python"), button("Copy", () => copied(python.textContent, "Python")), python);

  function set(patch, options = {}) {
    state = { ...state, ...patch };
    if (options.rebuild) rebuild();
    ask(options.step);
  }

  function rebuild() {
    const held = document.activeElement && root.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
    controls.replaceChildren(...(source.recorded ? [recordings()] : [presets(), ...lab.controls(state, set, answer)].flat()));
    if (!source.recorded) editing.replaceChildren(...[lab.inputs ? lab.inputs(state, set, answer) : []].flat());
    if (held) [...root.querySelectorAll("[aria-label]")].find((n) => n.getAttribute("aria-label") === held)?.focus();
  }

  function presets() {
    const known = Object.entries(lab.presets);
    const options = known.map(([key, p]) => [key, p.title]);
    return select("Example", options, state.preset, (key) => {
      state = { ...copy(lab.presets[key].state), preset: key };
      rebuild();
      ask(0);
    });
  }

  function recordings() {
    const options = source.recorded.map((r, i) => [String(i), r.title]);
    const at = source.recorded.findIndex((r) => JSON.stringify(r.state) === JSON.stringify(state));
    return options.length < 2 ? [] : select("Show", options, String(Math.max(0, at)), (i) => {
      state = source.recorded[Number(i)].state;
      ask(0);
    });
  }

  async function ask(step) {
    if (step !== undefined) wanted = step;
    if (waiting) { again = true; return; }
    waiting = true;
    const given = state;
    try {
      const found = await source.ask(lab.name, given);
      refuse(found.error);
      if (!found.error) {
        const end = answer && answer.steps.length > 1 && player.at === answer.steps.length - 1;
        const first = answer === null;
        answer = found;
        const last = answer.steps.length - 1;
        const to = wanted !== null && wanted !== undefined ? (wanted < 0 ? last : wanted) : end ? last : player.at;
        wanted = null;
        if (first && lab.needsAnswer) rebuild();
        player.reset(answer.steps.length, to);
        python.firstChild.textContent = answer.python || "";
      }
    } catch (error) {
      refuse("The server does not answer: is structlearn workbench still running? " + error.message);
    }
    waiting = false;
    asked.count += 1;
    root.dataset.answered = asked.count;
    if (again) { again = false; ask(); }
  }

  // An error stands alone: the answer to an earlier question would pass for the answer to this one.
  function refuse(error) {
    wrong.textContent = error || "";
    wrong.hidden = !error;
    columns.hidden = code.hidden = Boolean(error);
    if (error) player.stop();
  }

  function show(at) {
    if (!answer || !answer.steps.length) return;
    const step = answer.steps[at];
    const drawing = lab.draw(answer, at, state, source.recorded ? null : set);
    const least = drawing.matches(".chart, .plane") ? 0.6 : drawing.matches(".spelled") ? 0.8 : 0.64;  // narrower than that, it scrolls
    drawing.style.minWidth = least * Number(drawing.getAttribute("width")) + "px";
    picture.replaceChildren(drawing);
    const now = picture.querySelector(".now");
    if (now && picture.scrollWidth > picture.clientWidth) {  // narrow: keep the step in sight
      picture.scrollLeft += now.getBoundingClientRect().left - picture.getBoundingClientRect().left - picture.clientWidth / 2;
    }
    formula.replaceChildren(...(step.formula || []).map((text) => el("div", {}, text)));
    said.textContent = step.say || "";
    answers.replaceChildren(...[lab.answers(answer, at, state)].flat(9));
    legend.replaceChildren(...symbols([controls, picture, said, formula, answers], state).flat());
    legend.hidden = !legend.firstChild;
    changed(state, at);
  }

  const name = () => `structlearn-${lab.name}`;
  const drawn = () => picture.querySelector("svg");
  const note = el("span", { class: "note", "aria-live": "polite" });
  const copied = async (text, what) => {
    try { await navigator.clipboard.writeText(text); note.textContent = what + " copied"; }
    catch { note.textContent = "copying is not allowed here"; }
    setTimeout(() => { note.textContent = ""; }, 2500);
  };
  root.replaceChildren(el("section", { class: "lab", "aria-label": lab.title },
    source.recorded ? [] : el("div", { class: "head" }, el("h2", {}, lab.title), el("p", { class: "about" }, lab.about)),
    controls, wrong,
    columns,
    source.recorded ? [] : el("details", { class: "box", open: true }, el("summary", {}, lab.edit || "Change it"), editing),
    code,
    el("div", { class: "saves" },
      button("Save SVG", () => saveSvg(drawn(), name())),
      button("Save PNG", () => savePng(drawn(), name())),
      source.recorded ? [] : button("Copy link", () => copied(location.href, "Link")), note)));
  root.onkeydown = (event) => {
    if (event.target.closest("input, select, textarea, button, summary, [data-keys]") && event.target.type !== "range") return;
    if (event.target.type === "range" && !event.target.closest(".player")) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    player.key(event);
  };
  rebuild();
  ask(begin.step);
  return { stop: player.stop, get state() { return state; } };
}
