// The page of labels: a text, its proposal, keys and buttons; each answer is saved before the next text comes.

import { el, percent } from "./dom.js";
import { button, select } from "./controls.js";
import { ask } from "./server.js";
import { filled, inPart, labelled, spansOf, stretched } from "./labels.js";
import { makeText } from "./text.js";
import { makeList } from "./list.js";
import { showProgress } from "./progress.js";
import { showSettings } from "./settings.js";

const sent = new Map();  // what was on the page when a text was answered: undo brings it back
const at = (id) => document.getElementById(id);
let state = null, given = null, labels = [], looked = [], order = null, busy = false, wait = 0, answered = 0, version = 0, filter = "";
const text = makeText(at("text"), showHere);
const list = makeList(at("list"), (n) => act(() => open(n)), wrong);

const ANSWERS = [
  ["Accept", "Enter", () => answer("accept")],
  ["In part", "p", () => answer("part")],
  ["Reject", "r", () => answer("reject")],
  ["Skip", "s", () => answer("skip")],
  ["Undo", "u", undo],
];
const KEYS = [
  ["← →", "a token on or back; with Shift more of them"], ["↑ ↓", "to the next or the last token in doubt, or span"],
  ["1 … 9", "give the tokens this label"], ["0 or Backspace", "no label"], ["o", "looked at: it is right as it is"],
  ["Enter", "accept: all of the text was looked at"], ["p", "answer in part: only what you marked, the rest stays unknown"],
  ["r", "reject the text"], ["s", "skip it"], ["u", "undo the last answer"], ["v", "the next version, in a review"],
  ["l", "any label, by the beginning of its name"], ["n", "a new label"], ["/", "search"],
];

function wrong(message) {
  at("wrong").textContent = message;
  at("wrong").hidden = !message;
}

// One thing at a time: a second key waits for nothing and does nothing.
async function act(work) {
  if (busy) return;
  busy = true;
  at("text").setAttribute("aria-busy", "true");
  try { await work(); wrong(""); } catch (error) { wrong(error.message); }
  busy = false;
  at("text").setAttribute("aria-busy", "false");
  document.body.dataset.answered = ++answered;
}

async function next() {
  const found = await ask("next", { order, wait, query: filter });
  if (found.done) { given = null; finished(); } else take(found);
  state = await ask("state");
  showState();
}

function take(found) {
  given = found;
  labels = filled(state.kind, found.labels, found.proposal.labels);
  looked = found.labels.map((label) => found.verdict === "accept" && label !== null);
  version = 0;
  show();
  at("text").focus({ preventScroll: true });
}

async function open(number) { take(await ask("text", { number })); }

function finished() {
  at("text").replaceChildren(el("p", {}, filter ? "No text that fits the search is left." : "All texts are answered."));
  at("here").textContent = "";
  at("versions").replaceChildren();
}

async function answer(verdict) {
  if (!given) return;
  const marked = { labels, looked };
  const told = verdict === "part" ? inPart(state.kind, labels, looked) : labels;
  const learned = given.proposal.confidence !== null;
  const saved = await ask("answer", {
    number: given.number, revision: given.revision, verdict: verdict === "part" ? "accept" : verdict,
    labels: told, proposed: learned && verdict === "accept" ? given.proposal.labels : null,
  });
  if (saved.conflict) {
    await open(given.number);
    throw new Error(saved.conflict);
  }
  at("said").textContent = { accept: "Saved", part: "Saved in part", reject: "Rejected", skip: "Skipped" }[verdict];
  sent.set(given.number, marked);
  wait = saved.wait;
  await next();
  list.load(true, false);
}

async function undo() {
  const found = await ask("undo"), before = sent.get(found.number);
  take(found);
  if (found.verdict === null && before) {
    ({ labels, looked } = before);
    show();
  }
  at("said").textContent = "Taken back";
  state = await ask("state");
  showState();
  list.load(true, false);
}

// -- changing labels ----------------------------------------------------------------------------

function give(name) {
  if (!given) return;
  const [begin, end] = stretched(state.kind, labels, ...text.range());
  labels = labelled(state.kind, labels, begin, end, name);
  for (let t = begin; t < end; t++) looked[t] = true;
  show();
  if (state.kind === "tags") text.move(text.at + 1, false);
}

function confirm() {
  if (!given) return;
  const [begin, end] = stretched(state.kind, labels, ...text.range());
  for (let t = begin; t < end; t++) looked[t] = true;
  show();
}

function jump(way) {
  const sure = given?.proposal.confidence;
  const spans = state.kind === "spans" ? spansOf(labels) : [];
  const stops = labels.map((_, t) => spans.some((s) => s.begin === t) || (sure && sure[t] < 0.9));
  for (let t = text.at + way; t >= 0 && t < labels.length; t += way) if (stops[t]) return text.move(t, false);
}

function nextVersion() {
  if (!given?.versions.length) return;
  version = (version + 1) % given.versions.length;
  useVersion(version);
}

function useVersion(i) {
  version = i;
  labels = given.versions[i].labels.slice();
  show();
}

// -- what is shown ------------------------------------------------------------------------------

function show() {
  const colours = new Map(state.labels.map((name, i) => [name, i % 8]));
  text.show(given, { labels, looked, colours, kind: state.kind });
  at("versions").replaceChildren(...(given.versions.length ? [el("span", { class: "hint" }, "Versions:"),
    given.versions.map((v, i) => button(v.who, () => useVersion(i), { "aria-pressed": i === version }))].flat() : []));
  showNames();
}

const named = (label) => (state.kind !== "spans" ? label : label === "O" ? "no label" : label.replace(/^[BI]-/, ""));

function showHere() {
  if (!given) return;
  const t = text.at, sure = given.proposal.confidence, rival = given.proposal.rivals?.[t];
  const parts = [`“${text.words()}”`];
  if (state.kind === "classes") parts[0] = "this text";
  parts.push(labels[t] === null ? "not looked at" : named(labels[t]));
  if (sure && labels[t] === given.proposal.labels[t]) parts.push(`the model is ${percent(sure[t])} sure` + (rival ? `, else ${named(rival[0])} ${percent(rival[1])}` : ""));
  else if (sure) parts.push(`the model says ${named(given.proposal.labels[t])}`);
  at("here").textContent = parts.join(": ").replace(": ", " – ");
}

function showNames() {
  at("names").replaceChildren(
    ...state.labels.map((name, i) => button([el("span", { class: `swatch c${i % 8}` }), name, i < 9 ? el("kbd", {}, i + 1) : ""], () => give(name))),
    state.kind === "spans" ? button(["no label", el("kbd", {}, "0")], () => give("")) : "",
    state.labels.length > 9 ? button(["by name", el("kbd", {}, "l")], pickLabel) : "",
    button(["new label", el("kbd", {}, "n")], newLabel));
}

function showState() {
  at("counts").textContent = `${state.answered.toLocaleString("en")} of ${state.texts.toLocaleString("en")} answered · ${state.data}`;
  showProgress(at("progress"), state);
  showNames();
}

function showAsk() {
  const kinds = { tokens: "most doubt for each token", margin: "closest two outputs", whole: "least likely as a whole", plain: state.review ? "surest contradiction" : "as in the file", random: "any" };
  at("ask").replaceChildren(
    select("Next text", Object.keys(state.orders).map((k) => [k, kinds[k]]), order, (v) => { order = v; act(next); }),
    button("Only what the search finds", () => { filter = list.query(); at("said").textContent = filter ? `Only texts with “${filter}”` : "All texts"; act(next); }),
    button("Write the model", () => act(async () => {
      at("said").textContent = "Learning from all answers…";
      const done = await ask("finish");
      at("said").textContent = `Written: ${done.model}, in ${done.seconds} s. The same model: ${done.command}`;
    })));
  at("verdicts").replaceChildren(...ANSWERS.map(([name, key, press]) => button([name, el("kbd", {}, key)], () => act(press))));
  at("keys").replaceChildren(el("dl", {}, KEYS.map(([key, what]) => el("div", {}, el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)))));
  showSettings(at("settings"), state, change);
}

function change(names, constraints) {
  return act(async () => {
    state = await ask("change", { labels: names, constraints });
    at("said").textContent = "Labels and constraints changed";
    showState();
    showSettings(at("settings"), state, change);
    if (given) show();
  });
}

// Asks for a name behind the labels; Escape leaves it.
function askName(title, verb, use, shown = () => "") {
  const field = el("input", { type: "text", "aria-label": title, maxlength: 60, spellcheck: "false" });
  const hint = el("span", { class: "hint", role: "status" });
  const form = el("form", { class: "newlabel", onsubmit: (e) => {
    e.preventDefault();
    if (field.value.trim()) use(field.value.trim());
  } }, field, hint, el("button", { type: "submit" }, verb));
  field.addEventListener("input", () => { hint.textContent = shown(field.value.trim()); });
  field.addEventListener("keydown", (e) => { if (e.key === "Escape") { showNames(); at("text").focus(); } });
  at("names").append(form);
  field.focus();
}

function newLabel() {
  askName("Name of the new label", "add", (name) => change([...state.labels, name], state.constraints).then(() => at("text").focus()));
}

function pickLabel() {
  const found = (typed) => {
    const names = typed ? state.labels.filter((name) => name.toLowerCase().includes(typed.toLowerCase())) : [];
    return names.find((name) => name.toLowerCase().startsWith(typed.toLowerCase())) ?? names[0] ?? "";
  };
  askName("Beginning of the label's name", "give", (typed) => {
    const name = found(typed);
    if (!name) return wrong(`No label has “${typed}” in its name`);
    wrong("");
    give(name);
    showNames();
    at("text").focus();
  }, found);
}

// -- keys ---------------------------------------------------------------------------------------

addEventListener("keydown", (e) => {
  if (!state) return;
  const tag = e.target.tagName;
  if (e.ctrlKey || e.metaKey || e.altKey || tag === "INPUT" || tag === "TEXTAREA" || tag === "SELECT") return;
  if ((tag === "BUTTON" || tag === "SUMMARY") && (e.key === "Enter" || e.key === " ")) return;
  if (e.target.closest(".window") && e.key.startsWith("Arrow")) return;
  const digit = /^[1-9]$/.test(e.key) ? state.labels[Number(e.key) - 1] : null;
  const way = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
  if (way) text.move(text.at + way, e.shiftKey);
  else if (e.key === "ArrowDown" || e.key === "ArrowUp") jump(e.key === "ArrowDown" ? 1 : -1);
  else if (e.key === "Home") text.move(0, e.shiftKey);
  else if (e.key === "End") text.move(labels.length - 1, e.shiftKey);
  else if (digit) give(digit);
  else if (e.key === "0" || e.key === "Backspace" || e.key === "Delete") give("");
  else if (e.key === "o") confirm();
  else if (e.key === "v") nextVersion();
  else if (e.key === "l" && state.labels.length) pickLabel();
  else if (e.key === "n") newLabel();
  else if (e.key === "/") list.focus();
  else {
    const found = ANSWERS.find(([, key]) => key === e.key);
    if (!found) return;
    act(found[2]);
  }
  e.preventDefault();
});

// -- the beginning ------------------------------------------------------------------------------

act(async () => {
  state = await ask("state");
  order = state.order;
  showAsk();
  await next();
  await list.load(true);
});
setInterval(async () => {  // quality is estimated in the background
  if (busy || document.hidden || !state) return;
  try { state = await ask("state"); if (!busy && !document.querySelector(".newlabel")) showState(); } catch (error) { wrong(error.message); }
}, 4000);
