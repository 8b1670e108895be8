// Labels of tokens and what they stand for: spans (B-, I-, O), tags, one class. null: nobody has looked.

export function spansOf(labels) {
  const found = [];
  labels.forEach((label, t) => {
    const last = found[found.length - 1];
    if (label && label.startsWith("B-")) found.push({ begin: t, end: t + 1, name: label.slice(2) });
    else if (label && label.startsWith("I-") && last && last.end === t && last.name === label.slice(2)) last.end = t + 1;
  });
  return found;
}

// Gives tokens begin..end a label, or "" for none. What is left of a span that this cuts stays a span.
export function labelled(kind, labels, begin, end, name) {
  if (kind === "classes") return labels.map(() => name || null);
  const made = labels.slice();
  for (let t = begin; t < end; t++) {
    if (kind === "tags") made[t] = name || null;
    else made[t] = name ? (t === begin ? "B-" : "I-") + name : "O";
  }
  if (kind === "spans" && made[end] && made[end].startsWith("I-")) made[end] = "B-" + made[end].slice(2);
  return made;
}

// Where the selection stands in a span, the span; otherwise the selection.
export function stretched(kind, labels, begin, end) {
  if (kind === "classes") return [0, labels.length];
  if (kind !== "spans" || end - begin > 1) return [begin, end];
  const span = spansOf(labels).find((s) => s.begin <= begin && begin < s.end);
  return span ? [span.begin, span.end] : [begin, end];
}

// What was looked at earlier, and what is proposed elsewhere; proposed spans that reach into the earlier part go.
export function filled(kind, known, proposed) {
  if (kind !== "spans") return known.map((label, t) => label ?? proposed[t]);
  const made = known.map((label, t) => label ?? (proposed[t] && "O"));
  for (const { begin, end } of spansOf(proposed))
    if (known.slice(begin, end).every((label) => label === null)) made.splice(begin, end - begin, ...proposed.slice(begin, end));
  return made;
}

// What is known if only some tokens were looked at.
export function inPart(kind, labels, looked) {
  const known = looked.slice();
  if (kind === "spans") {
    for (const s of spansOf(labels)) {
      const any = known.slice(s.begin, s.end).some(Boolean);
      for (let t = s.begin; t < s.end; t++) known[t] = any;
    }
  }
  return labels.map((label, t) => (known[t] ? label : null));
}
