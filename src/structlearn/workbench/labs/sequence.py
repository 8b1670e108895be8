"""The Sequence lab: Viterbi, forward–backward, k-best and beam search on a trellis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import traces
from ...structures import Chain
from ..enumeration import MOST_OUTPUTS, Enumeration
from ..formulas import added, braces, equals, number, subscript
from ..requests import Array, Refused, Request

MOST_WORDS, MOST_LABELS, MOST_CELLS = 40, 12, 240


class Sequence:
    """Words, labels and scores of a chain, with its gold labels and the cost of augmentation."""

    def __init__(self, request: Request) -> None:
        self.words = request.words("words", MOST_WORDS)
        self.labels = request.words("labels", MOST_LABELS)
        L, K = len(self.words), len(self.labels)
        if L * K > MOST_CELLS:
            raise Refused(f"a trellis has at most {MOST_CELLS} cells, this one {L} × {K}")
        self.given: dict[str, Any] = {"label": request.scores("label", (L, K))}
        self.given["transition"] = request.scores("transition", (K, K))
        for name in ("start", "end"):
            if request.has(name):
                self.given[name] = request.scores(name, (K,))
        self.gold = request.labels("gold", L, K)
        self.augmented = request.flag("augmented") and self.gold is not None
        self.cost = np.zeros((L, K))
        if self.gold is not None:
            self.cost = 1.0 - np.eye(K)[self.gold]

    @property
    def scores(self) -> dict[str, Any]:
        """The scores to be searched, with costs added if they are switched on."""
        if not self.augmented:
            return self.given
        return {**self.given, "label": self.given["label"] + self.cost}

    def factors(self) -> tuple[Array, list[tuple[int, int, Array]]]:
        """Return the scores of labels, those of the ends included, and of pairs."""
        scores = self.scores
        label = scores["label"].copy()
        for name, at in (("start", 0), ("end", -1)):
            if name in scores:
                label[at] += scores[name]
        return label, [(t, t + 1, scores["transition"]) for t in range(len(label) - 1)]

    def named(self, y: Any) -> list[str]:
        """Return the names of labels."""
        return [self.labels[k] for k in y]

    def described(self, y: Any) -> dict[str, Any]:
        """Return an output with its score, and its cost if there is a gold output."""
        value = Chain().score(np.array(y), **self.given)
        cost = float(self.cost[np.arange(len(y)), list(y)].sum())
        return {"labels": [int(k) for k in y], "named": self.named(y), "score": value, "cost": cost}


def answer(request: Request) -> dict[str, Any]:
    """Return the content of the lab."""
    sequence = Sequence(request)
    mode = request.choice("mode", ("max", "sum", "kbest", "beam"))
    temperature = request.number("temperature", 1.0, 0.05, 20.0)
    n, width = request.whole("n", 5, 1, 20), request.whole("width", 1, 1, 20)
    scores = sequence.scores
    steps: list[dict[str, Any]]
    if mode == "sum":
        trace = traces.forward_backward(temperature=temperature, **scores)
        steps = _sum_steps(trace, sequence, temperature)
    elif mode == "kbest":
        trace = traces.chain_kbest(n, **scores)
        steps = _rank_steps(trace, sequence)
    elif mode == "beam":
        trace = traces.beam_search(width, **scores)
        steps = _beam_steps(trace, sequence)
    else:
        trace = traces.viterbi(**scores)
        steps = _max_steps(trace, sequence)
    ranked = Chain().kbest(2, **scores)
    best = sequence.described(ranked[0][1].tolist())
    response: dict[str, Any] = {
        "algorithm": trace.algorithm,
        "steps": steps,
        "value": trace.value,
        "best": best,
        "runner_up": sequence.described(ranked[1][1].tolist()) if len(ranked) > 1 else None,
        "gold": None if sequence.gold is None else sequence.described(sequence.gold),
        "free": _without_costs(sequence),
        "found": sequence.described(trace.answer),
        "shown": scores["label"],
        "cost": sequence.cost if sequence.augmented else None,
        "count": Chain().count(**scores),
        **_enumerated(sequence, temperature),
        "python": python_of(sequence, mode, temperature, n, width),
    }
    if mode == "sum":
        response["marginals"] = Chain().marginals(temperature=temperature, **scores)["label"]
    return response


def _without_costs(sequence: Sequence) -> dict[str, Any] | None:
    """Return the best output by the scores alone, if costs are added to the search."""
    if not sequence.augmented:
        return None
    return sequence.described(Chain().argmax(**sequence.given).tolist())


def _enumerated(sequence: Sequence, temperature: float) -> dict[str, Any]:
    """Return every output, best first, and the marginals by summing over them."""
    L, K = len(sequence.words), len(sequence.labels)
    if K**L > MOST_OUTPUTS:
        return {"outputs": None, "enumerated": None}
    table = Enumeration(*sequence.factors(), temperature)
    return {"outputs": table.rows(sequence.described), "enumerated": table.marginals}


# -- steps --------------------------------------------------------------------------------------


def _parts(option: dict[str, Any], sequence: Sequence) -> list[float]:
    """Return the scores of an option's parts; a label's cost is a separate number."""
    numbers = []
    for part in option["parts"]:
        if part["block"] == "label" and sequence.augmented:
            t, k = part["at"]
            numbers.append(float(sequence.given["label"][t, k]))
            if sequence.cost[t, k]:
                numbers.append(float(sequence.cost[t, k]))
        else:
            numbers.append(part["score"])
    return numbers


def _cell(letter: str, t: int, label: str, sequence: Sequence) -> str:
    symbol = "ᾶ" if sequence.augmented and letter == "α" else letter  # the chapter's α̃
    return f"{symbol}{subscript(t + 1)}({label})"


def _fill(step: dict[str, Any], sequence: Sequence, temperature: float) -> dict[str, Any]:
    """Return a step of the forward recursion with its formula."""
    _, t, k = step["node"]
    label, word = sequence.labels[k], sequence.words[t]
    name = _cell("α", t, label, sequence)
    function = "max" if temperature == 0 else "log Σ exp"
    cost = bool(sequence.augmented and sequence.cost[t, k])
    extra = " + 1 (not gold)" if cost else ""
    options = step["options"]
    if t == 0:
        start = " + start(" + label + ")" if "start" in sequence.given else ""
        lines = [
            f"{name} = score({word}, {label}){extra}{start}",
            equals(added(_parts(options[0], sequence)), number(step["value"])),
        ]
        return {"formula": lines, "say": f"{word} as {label}: {number(step['value'])}."}
    before = [sequence.labels[o["tails"][0][2]] for o in options]
    symbols = [
        f"{_cell('α', t - 1, j, sequence)} + score({word}, {label}){extra} + {j}→{label}"
        for j in before
    ]
    sums = [added([o["tail_values"][0], *_parts(o, sequence)]) for o in options]
    values = [number(o["value"]) for o in options]
    scale = "" if temperature in (0, 1) else f" at temperature {number(temperature)}"
    lines = [
        f"{name} = {braces(function, symbols)}{scale}",
        f"= {braces(function, sums)}",
        equals(braces(function, values), number(step["value"])),
    ]
    if temperature == 0:
        winner = before[step["best"]]
        say = f"{word} as {label}: {number(step['value'])}, best reached from {winner}."
    else:
        say = f"{word} as {label}: forward sum {number(step['value'])}."
    return {"formula": lines, "say": say}


def _max_steps(trace: traces.Trace, sequence: Sequence) -> list[dict[str, Any]]:
    steps = []
    for step in trace.steps:
        node = step["node"]
        if step["kind"] == "fill" and node[0] == "alpha":
            cell = _fill(step, sequence, 0.0)
            options = [
                {"from": o["tails"][0][2] if o["tails"] else None, "value": o["value"]}
                for o in step["options"]
            ]
            steps.append(
                {"kind": "fill", "at": node[1:], "value": step["value"], "options": options,
                 "back": options[step["best"]]["from"], **cell}
            )  # fmt: skip
        elif step["kind"] == "fill":
            ends = [sequence.labels[o["tails"][0][2]] for o in step["options"]]
            last = len(sequence.words)
            end = "end" in sequence.given
            symbols = [
                _cell("α", last - 1, k, sequence) + (f" + end({k})" if end else "") for k in ends
            ]
            values = [number(o["value"]) for o in step["options"]]
            lines = [f"best score = {braces('max', symbols)}"]
            lines.append(equals(braces("max", values), number(step["value"])))
            say = (
                f"The best score is {number(step['value'])}, with {ends[step['best']]} at the end."
            )
            steps.append(
                {"kind": "end", "at": [last - 1, step["best"]], "formula": lines, "say": say}
            )
        elif node[0] == "alpha":
            t, k = node[1:]
            word, label = sequence.words[t], sequence.labels[k]
            lines = [f"y{subscript(t + 1)} = {label}"]
            say = f"Back: {word} is {label}"
            if step["to"]:
                j = sequence.labels[step["to"][0][2]]
                lines = [f"y{subscript(t + 1)} = {label},  ζ{subscript(t + 1)}({label}) = {j}"]
                say += f", and the note says that it came from {j}"
            steps.append({"kind": "back", "at": [t, k], "formula": lines, "say": say + "."})
    return steps


def _sum_steps(trace: traces.Trace, sequence: Sequence, temperature: float) -> list[dict[str, Any]]:
    steps = []
    alpha = {}
    for step in trace.steps:
        node = step["node"]
        if step["kind"] == "fill" and node[0] == "alpha":
            cell = _fill(step, sequence, temperature)
            alpha[node[1], node[2]] = step["value"]
            steps.append({"kind": "fill", "at": node[1:], "value": step["value"], **cell})
        elif step["kind"] == "fill":
            values = [number(o["value"]) for o in step["options"]]
            lines = [f"log Z = {braces('log Σ exp', values)} = {number(step['value'])}"]
            say = f"The log of the sum over all sequences is {number(step['value'])}."
            steps.append({"kind": "end", "at": None, "formula": lines, "say": say})
        elif node[0] == "alpha":
            t, k = node[1:]
            label, word = sequence.labels[k], sequence.words[t]
            name = f"β{subscript(t + 1)}({label})"
            if t + 1 < len(sequence.words):
                after = [sequence.labels[o["head"][2]] for o in step["options"]]
                extra = " + cost" if sequence.augmented else ""
                symbols = [
                    f"β{subscript(t + 2)}({j}) + score({sequence.words[t + 1]}, {j}){extra} + "
                    f"{label}→{j}"
                    for j in after
                ]
                sums = [added([o["head_value"], *_parts(o, sequence)]) for o in step["options"]]
                lines = [
                    f"{name} = {braces('log Σ exp', symbols)}",
                    equals(braces("log Σ exp", sums), number(step["value"])),
                ]
            else:
                end = f"end({label})" if "end" in sequence.given else "nothing follows"
                lines = [f"{name} = {number(step['value'])}  ({end})"]
            p, before = step["mass"], alpha[t, k]
            total = f"{number(before)} + {number(step['value'])} − {number(trace.value)}"
            scale = "" if temperature == 1 else f" / {number(temperature)}"
            exponent = f"({total}){scale}" if scale else total
            lines.append(
                f"P({word} is {label}) = exp(α + β − log Z) = exp({exponent}) = {number(p)}"
            )
            say = f"{word} is {label} with probability {number(p)}."
            steps.append(
                {"kind": "outside", "at": [t, k], "value": step["value"], "p": p,
                 "formula": lines, "say": say}
            )  # fmt: skip
    return steps


def _rank_steps(trace: traces.Trace, sequence: Sequence) -> list[dict[str, Any]]:
    steps = []
    top = trace.value
    for step in trace.steps:
        y = step["answer"]
        named = " ".join(sequence.named(y))
        at = sorted({n[1] for n in step["differs_at"] if n[0] == "alpha"})
        places = ", ".join(sequence.words[t] for t in at)
        lines = [f"{step['rank']}. {named}: {number(step['value'])}"]
        if step["rank"] > 1:
            lines.append(
                f"{number(top - step['value'])} below the best; differs at {places or 'the end'}"
            )
        say = f"Number {step['rank']}: {named}, score {number(step['value'])}."
        steps.append(
            {"kind": "rank", "path": y, "value": step["value"], "formula": lines, "say": say}
        )
    return steps


def _beam_steps(trace: traces.Trace, sequence: Sequence) -> list[dict[str, Any]]:
    steps = []
    for t, step in enumerate(trace.steps):
        survivors, gone = step["kept"], step["dropped"]
        name = lambda item: f"{' '.join(sequence.named(item['prefix']))} ({number(item['value'])})"  # noqa: E731
        lines = ["kept: " + ",  ".join(map(name, survivors))]
        if gone:
            lines.append("dropped: " + ",  ".join(map(name, gone)))
        say = f"After {sequence.words[t]}: {len(survivors)} kept, {len(gone)} dropped."
        steps.append(
            {"kind": "beam", "kept": [i["prefix"] for i in survivors],
             "dropped": [i["prefix"] for i in gone], "formula": lines, "say": say}
        )  # fmt: skip
    return steps


# -- Python -------------------------------------------------------------------------------------


def literal(a: Array) -> str:
    """Return an array as Python code."""

    def entry(x: Any) -> str:
        if isinstance(x, list):
            return "[" + ", ".join(map(entry, x)) + "]"
        return "-np.inf" if x == -math.inf else f"{x:g}"

    return f"np.array({entry(a.tolist())})"


def python_of(sequence: Sequence, mode: str, temperature: float, n: int, width: int) -> str:
    """Return Python code that computes the same."""
    lines = [
        "import numpy as np",
        "from structlearn import traces",
        "from structlearn.structures import Chain",
        "",
        f"words, labels = {sequence.words!r}, {sequence.labels!r}",
        "scores = dict(",
    ]
    lines += [f"    {name}={literal(a)}," for name, a in sequence.given.items()]
    lines.append(")")
    if sequence.augmented:
        lines += [
            f"gold = {sequence.gold!r}",
            "scores['label'] = scores['label'] + (1 - np.eye(len(labels))[gold])  # Hamming cost",
        ]
    temperatures = "" if temperature == 1 else f"temperature={temperature:g}, "
    lines += {
        "max": [
            "y = Chain().argmax(**scores)",
            "print([labels[k] for k in y], Chain().score(y, **scores))",
            "trace = traces.viterbi(**scores)  # the steps",
        ],
        "sum": [
            f"print(Chain().log_partition({temperatures}**scores))",
            f"print(Chain().marginals({temperatures}**scores)['label'])",
            f"trace = traces.forward_backward({temperatures}**scores)  # the steps",
        ],
        "kbest": [
            f"for value, y in Chain().kbest({n}, **scores):",
            "    print(value, [labels[k] for k in y])",
        ],
        "beam": [
            f"found = Chain().beam({width}, **scores)",
            "print([labels[k] for k in found.output], found.value, found.exact)",
        ],
    }[mode]
    return "\n".join(lines) + "\n"
