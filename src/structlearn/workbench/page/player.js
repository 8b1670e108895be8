// Steps: first, back, play, forward, last, and a slider.

import { el } from "./dom.js";
import { button } from "./controls.js";

export function makePlayer(show) {
  let steps = 0, at = 0, timer = null;
  const where = el("output", { class: "where" });
  const range = el("input", { type: "range", min: 0, max: 0, step: 1, value: 0, "aria-label": "Step", oninput: (e) => { stop(); go(Number(e.target.value)); } });
  const play = button("▶ Play", () => (timer ? stop() : start()), { class: "play", "aria-pressed": "false" });

  function go(step) {
    at = Math.max(0, Math.min(steps - 1, step));
    range.value = at;
    range.setAttribute("aria-valuetext", `step ${at + 1} of ${steps}`);
    where.textContent = steps ? `step ${at + 1} of ${steps}` : "no steps";
    show(at);
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "▶ Play";
    play.setAttribute("aria-pressed", "false");
  }
  function start() {
    if (at >= steps - 1) go(0);
    play.textContent = "⏸ Pause";
    play.setAttribute("aria-pressed", "true");
    timer = setInterval(() => (at >= steps - 1 ? stop() : go(at + 1)), 900);
  }
  const bar = el("div", { class: "player", role: "group", "aria-label": "Steps" },
    button("|◀", () => { stop(); go(0); }, { "aria-label": "First step" }),
    button("◀", () => { stop(); go(at - 1); }, { "aria-label": "Step back" }),
    play,
    button("▶", () => { stop(); go(at + 1); }, { "aria-label": "Step forward" }),
    button("▶|", () => { stop(); go(steps - 1); }, { "aria-label": "Last step" }),
    range, where);

  return {
    bar,
    get at() { return at; },
    // New steps: the same one is shown where there is one. At the end stays at the end.
    reset(count, step) {
      steps = count;
      range.max = Math.max(0, count - 1);
      go(Math.min(step, count - 1));
    },
    go,
    stop,
    key(event) {
      const moves = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: steps - 1 };
      if (event.key in moves) { stop(); go(moves[event.key]); }
      else if (event.key === " ") timer ? stop() : start();
      else return;
      event.preventDefault();
    },
  };
}
