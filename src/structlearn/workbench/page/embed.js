// Recorded labs in pages of the documentation: the same pictures and steps, no server.

import { mountLab } from "./shell.js";
import { sequenceLab } from "./sequence.js";
import { parseLab } from "./parse.js";
import { messagesLab } from "./messages.js";
import { imageLab } from "./image.js";
import { learningLab } from "./learning.js";
import { constraintsLab } from "./constraints.js";

const RECORDED = [sequenceLab, parseLab, messagesLab, imageLab, learningLab, constraintsLab];

// An element with data-lab holds its recordings as JSON: [{title, state, answer}].
export function mountRecorded(root) {
  const recorded = JSON.parse(root.querySelector("script").textContent);
  const lab = RECORDED.find((l) => l.name === root.dataset.lab);
  const source = {
    recorded,
    ask: async (name, state) => recorded.find((r) => JSON.stringify(r.state) === JSON.stringify(state)).answer,
  };
  mountLab(root, lab, source, { state: recorded[0].state, step: 0 }, () => {});
}

for (const root of document.querySelectorAll(".workbench[data-lab]")) mountRecorded(root);
