// The workbench: its labs, their state in the address, and the server behind them.

import { el, copy } from "./dom.js";
import { mountLab } from "./shell.js";
import { sequenceLab } from "./sequence.js";
import { parseLab } from "./parse.js";
import { messagesLab } from "./messages.js";
import { imageLab } from "./image.js";
import { learningLab } from "./learning.js";
import { constraintsLab } from "./constraints.js";
import { textLab } from "./text.js";

const LABS = [sequenceLab, parseLab, messagesLab, imageLab, learningLab, constraintsLab, textLab];
const token = new URLSearchParams(location.search).get("token") || "";

const source = {
  async ask(lab, state) {
    const response = await fetch(`/api/${lab}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Structlearn-Token": token },
      body: JSON.stringify(state),
    });
    return response.json();
  },
  async upload(file) {
    const response = await fetch(`/api/upload?name=${encodeURIComponent(file.name)}`, {
      method: "POST", headers: { "X-Structlearn-Token": token }, body: file,
    });
    return response.json();
  },
};

let mounted = null;

// #lab:step:state, the state without what the example has already.
function read() {
  const found = /^#([a-z]+)(?::(\d+))?(?::(.*))?$/s.exec(location.hash) || [];
  const lab = LABS.find((l) => l.name === found[1]) || LABS[0];
  let given = {};
  try { given = found[3] ? JSON.parse(decodeURIComponent(found[3])) : {}; } catch { given = {}; }
  const preset = given.preset in lab.presets ? given.preset : Object.keys(lab.presets)[0];
  const state = { ...copy(lab.presets[preset].state), ...given, preset };
  return { lab, state, step: found[2] === undefined ? 0 : Number(found[2]) };
}

function write(lab, state, step) {
  const base = lab.presets[state.preset].state, own = {};
  for (const [name, value] of Object.entries(state)) {
    if (name === "preset" ? state.preset !== Object.keys(lab.presets)[0] : JSON.stringify(base[name]) !== JSON.stringify(value)) own[name] = value;
  }
  const text = Object.keys(own).length ? ":" + encodeURIComponent(JSON.stringify(own)) : "";
  history.replaceState(null, "", `${location.pathname}${location.search}#${lab.name}:${step}${text}`);
}

function open() {
  if (mounted) mounted.stop();
  const { lab, state, step } = read();
  document.getElementById("tabs").replaceChildren(...LABS.map((l) =>
    el("a", { href: `#${l.name}`, "aria-current": l === lab ? "page" : null }, l.title)));
  document.title = `${lab.title} · structlearn workbench`;
  mounted = mountLab(document.getElementById("lab"), lab.bind ? lab.bind(source) : lab, source, { state, step }, (s, at) => write(lab, s, at));
}

addEventListener("hashchange", open);
open();
