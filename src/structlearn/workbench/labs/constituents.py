"""The Parse lab for constituents: CKY with the user's grammar."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from ... import traces
from ...structures import Constituency, Grammar
from ..formulas import added, braces, equals, number, plural
from ..requests import LARGEST, Refused, Request

MOST_WORDS, MOST_SYMBOLS, MOST_RULES, MOST_TREES = 10, 30, 80, 500


class Written:
    """A grammar as text, one rule per line, ``S -> NP VP 0.5``; the score may be omitted.

    A right-hand side that is not a left-hand side is a word.
    """

    def __init__(self, text: str) -> None:
        rules: list[tuple[str, list[str], float]] = []
        for number_, line in enumerate(text.splitlines(), 1):
            if line.strip():
                rules.append(_rule(line.replace("→", "->"), number_))
        if not rules:
            raise Refused("the grammar has no rules; write one a line, as S -> NP VP 0.5")
        if len(rules) > MOST_RULES:
            raise Refused(f"the grammar has {len(rules)} rules; the limit is {MOST_RULES}")
        self.symbols = list(dict.fromkeys(parent for parent, _, _ in rules))
        if len(self.symbols) > MOST_SYMBOLS:
            raise Refused(
                f"the grammar has {len(self.symbols)} symbols; the limit is {MOST_SYMBOLS}"
            )
        at = {symbol: i for i, symbol in enumerate(self.symbols)}
        self.words: dict[str, list[tuple[int, float]]] = {}
        binary: dict[tuple[int, int, int], float] = {}
        unary: dict[tuple[int, int], float] = {}
        for parent, right, score in rules:
            if len(right) == 2:
                missing = [s for s in right if s not in at]
                if missing:
                    raise Refused(f"{missing[0]} in {parent} -> {' '.join(right)} has no rule")
                binary[at[parent], at[right[0]], at[right[1]]] = score
            elif right[0] in at:
                if right[0] == parent:
                    raise Refused(f"{parent} -> {parent} leads nowhere")
                unary[at[parent], at[right[0]]] = score
            else:
                self.words.setdefault(right[0].lower(), []).append((at[parent], score))
        if not binary:
            raise Refused("the grammar has no rule with two symbols on the right, as S -> NP VP")
        self.binary, self.unary = list(binary), list(unary)
        self.grammar = Grammar(len(self.symbols), self.binary, self.unary)
        self.rule_scores = {"binary": np.array(list(binary.values()))}
        if unary:
            self.rule_scores["unary"] = np.array(list(unary.values()))

    def scores(self, words: list[str]) -> dict[str, Any]:
        """Return the score blocks of a sentence; the root is the first rule's left-hand side."""
        word = np.full((len(words), len(self.symbols)), -np.inf)
        for t, w in enumerate(words):
            if w.lower() not in self.words:
                raise Refused(f"no rule has the word {w!r}; add one, as Noun -> {w}")
            for symbol, score in self.words[w.lower()]:
                word[t, symbol] = score
        root = np.full(len(self.symbols), -np.inf)
        root[0] = 0.0
        return {"word": word, "root": root, **self.rule_scores}


def _rule(line: str, number_: int) -> tuple[str, list[str], float]:
    left, arrow, right = line.partition("->")
    symbols = right.split()
    score = 0.0
    if symbols and len(symbols) > 1:
        try:
            score = float(symbols[-1].replace("−", "-"))
            symbols.pop()
        except ValueError:
            pass
    if not arrow or len(left.split()) != 1 or len(symbols) not in (1, 2):
        raise Refused(f"line {number_} is no rule: {line.strip()!r}; write S -> NP VP 0.5")
    if not abs(score) <= LARGEST:
        raise Refused(f"line {number_}: scores are between -1,000,000 and 1,000,000")
    return left.strip(), symbols, score


class Judged:
    """A gold tree in brackets, and its cost for loss augmentation: 1 for each span not in it."""

    def __init__(self, request: Request, written: Written, words: list[str]) -> None:
        text = request.text("gold") if request.has("gold") else ""
        self.spans = _read_brackets(text, written.symbols, words) if text.strip() else None
        self.augmented = request.flag("augmented") and self.spans is not None
        self.cost = np.zeros((len(words), len(words) + 1, len(written.symbols)))
        if self.spans is not None:
            self.cost += 1.0
            for i, j, a in self.spans:
                self.cost[i, j, a] = 0.0

    def of(self, spans: Any) -> float:
        """Return the cost of a tree."""
        return float(sum(self.cost[i, j, a] for i, j, a in spans))


def _read_brackets(text: str, symbols: list[str], words: list[str]) -> list[tuple[int, int, int]]:
    """Return the spans of a tree such as (S (NP fish) (VP sleep)), outer ones first."""
    spans: list[tuple[int, int, int]] = []
    open_: list[tuple[int, int]] = []  # place in found, begin
    leaves: list[str] = []
    expected = False
    for token in re.findall(r"[()]|[^\s()]+", text):
        if token == ")":
            if not open_ or expected:
                raise Refused("the gold tree has a bracket too many, or an empty one")
            place, begin = open_.pop()
            spans[place] = (begin, len(leaves), spans[place][2])
        elif token == "(":
            expected = True
        elif expected:
            if token not in symbols:
                raise Refused(f"the grammar has no symbol {token!r} of the gold tree")
            open_.append((len(spans), len(leaves)))
            spans.append((len(leaves), 0, symbols.index(token)))
            expected = False
        else:
            leaves.append(token)
    if open_ or not spans:
        raise Refused("the gold tree is not closed: write it as (S (NP fish) (VP sleep))")
    if [w.lower() for w in leaves] != [w.lower() for w in words]:
        raise Refused(f"the words of the gold tree are {' '.join(leaves)!r}, not the sentence's")
    return spans


def answer(request: Request) -> dict[str, Any]:
    """Return the content of the lab."""
    written = Written(request.text("grammar"))
    words = request.words("words", MOST_WORDS)
    mode = request.choice("mode", ("max", "sum"))
    judged = Judged(request, written, words)
    structure = Constituency(written.grammar)
    own_scores = written.scores(words)
    scores = {**own_scores, "span": judged.cost} if judged.augmented else own_scores
    trace = traces.cky(written.grammar, temperature=float(mode == "sum"), **scores)
    count = structure.count(**scores)
    ranked = structure.kbest(min(MOST_TREES, max(2, count)), **scores)
    log_z = structure.log_partition(**scores)

    def described(tree: Any) -> dict[str, Any]:
        try:
            value = structure.score(tree, **own_scores)
        except ValueError as error:
            raise Refused(f"the grammar does not derive the gold tree: {error}") from None
        if value == -math.inf:
            raise Refused("the grammar does not derive the gold tree: a word has another symbol")
        named = [_bracketed(written, words, tree)]
        return {"spans": tree, "named": named, "score": value, "cost": judged.of(tree)}

    rows = [
        {**described(tree), "total": value, "p": math.exp(value - log_z)}
        for value, tree in ranked[:40]
    ]
    marginals = None
    if mode == "sum":
        marginals = _span_marginals(written, words, structure, scores, ranked, count, log_z)
    return {
        "algorithm": trace.algorithm,
        "symbols": written.symbols,
        "steps": _steps(trace, written, words, mode == "sum"),
        "value": trace.value,
        "best": described(ranked[0][1]),
        "runner_up": None if len(ranked) < 2 else described(ranked[1][1]),
        "gold": None if judged.spans is None else described(judged.spans),
        "count": count,
        "log_partition": log_z if mode == "sum" else None,
        "outputs": rows,
        "span_marginals": marginals,
        "python": _python(written, words, mode, judged),
    }


def _span_marginals(
    written: Written, words: list[str], structure: Any, scores: Any, ranked: Any, count: int,
    log_z: float,
) -> list[dict[str, Any]]:  # fmt: skip
    """Return the probability of each labelled span, by inside–outside and by enumeration."""
    n, K = len(words), len(written.symbols)
    p = structure.marginals(**{"span": np.zeros((n, n + 1, K)), **scores})["span"]
    every = np.zeros((n, n + 1, K))
    for value, tree in ranked if count <= MOST_TREES else ():
        for i, j, a in tree:
            every[i, j, a] += math.exp(value - log_z)
    rows = []
    for i, j, a in np.argwhere(p > 5e-4).tolist():
        row = {"span": " ".join(words[i:j]), "symbol": written.symbols[a], "p": float(p[i, j, a])}
        rows.append({**row, "enumerated": float(every[i, j, a]) if count <= MOST_TREES else None})
    return sorted(rows, key=lambda row: -float(row["p"]))


def _bracketed(written: Written, words: list[str], spans: Any) -> str:
    """Return a tree in brackets; spans are sorted outer first."""
    at = 0
    rows = [tuple(s) for s in spans]

    def read() -> str:
        nonlocal at
        i, j, a = rows[at]
        at += 1
        inside = []
        while at < len(rows) and i <= rows[at][0] and rows[at][1] <= j:
            inside.append(read())
        return f"({written.symbols[a]} {' '.join(inside) or words[i]})"

    return read()


def _steps(
    trace: traces.Trace, written: Written, words: list[str], sums: bool
) -> list[dict[str, Any]]:
    function = "log Σ exp" if sums else "max"
    filled = {tuple(s["node"]): s for s in trace.steps if s["kind"] == "fill"}
    rules = {("binary", k): r for k, r in enumerate(written.binary)}

    def tree_of(node: tuple[Any, ...]) -> list[list[int]]:
        spans, waiting = [], [node]
        while waiting:
            at = waiting.pop()
            step = filled[at]
            option = step["options"][step["best"]]
            if at[0] == "word or rule" or option["tails"][0][3:] != list(at[3:]):
                spans.append([*at[1:]])
            waiting += [tuple(t) for t in option["tails"]]
        return sorted(spans, key=lambda s: (s[0], -s[1]))

    steps = []
    for step in trace.steps:
        node = tuple(step["node"])
        if step["kind"] != "fill" or step["value"] == -math.inf or node[0] == "goal":
            continue
        i, j, a = node[1:]
        options = [o for o in step["options"] if o["value"] > -math.inf]
        if node[0] == "symbol" and len(options) == 1 and options[0]["tails"][0][3] == a:
            continue  # no unary rule above it, so no step
        text, symbol = " ".join(words[i:j]), written.symbols[a]
        terms, ways, splits = [], [], []
        for o in options:
            parts = [p["score"] for p in o["parts"] if p["block"] != "span" or p["score"]]
            terms.append(added([*o["tail_values"], *parts]))
            if node[0] == "symbol":
                low = written.symbols[o["tails"][0][3]]
                ways.append(f"{symbol} → {low}" if low != symbol else symbol)
            elif j == i + 1:
                ways.append(f"{symbol} → {words[i]}")
            else:
                rule = next(p["at"][0] for p in o["parts"] if p["block"] == "binary")
                _, b, c = rules["binary", rule]
                k = o["tails"][0][2]
                splits.append(k)
                left, right = " ".join(words[i:k]), " ".join(words[k:j])
                ways.append(f"{written.symbols[b]}({left}) {written.symbols[c]}({right})")
        lines = [f"{symbol}[{text}] = {braces(function, ways)}"]
        lines.append(equals(braces(function, terms), number(step["value"])))
        what = f"sum of {plural(len(terms), 'way')}" if sums else f"best of {len(terms)}"
        say = f"{symbol} over “{text}”: {what}, {number(step['value'])}."
        steps.append(
            {"kind": node[0], "cell": [i, j], "symbol": symbol, "value": step["value"],
             "splits": splits, "spans": tree_of(node), "formula": lines, "say": say}
        )  # fmt: skip
    say = f"The best tree scores {number(trace.value)}."
    lines = [f"best tree: {_bracketed(written, words, trace.answer)}"]
    lines.append(f"score = {number(trace.value)}")
    if sums:
        say = f"The log of the sum over all trees is {number(trace.value)}."
        lines = [f"log Z = {written.symbols[0]}[{' '.join(words)}] = {number(trace.value)}"]
        lines.append("P(tree) = exp(score − log Z); a span's probability adds up its trees'")
    steps.append(
        {"kind": "done", "cell": [0, len(words)], "symbol": written.symbols[0],
         "value": trace.value, "splits": [], "spans": trace.answer, "formula": lines,
         "say": say}
    )  # fmt: skip
    return steps


def _python(written: Written, words: list[str], mode: str, judged: Judged) -> str:
    lexicon = {
        w: symbols for w, symbols in written.words.items() if w in {x.lower() for x in words}
    }
    lines = [
        "import numpy as np",
        "from structlearn import traces",
        "from structlearn.structures import Constituency, Grammar",
        "",
        f"symbols = {written.symbols!r}",
        f"binary = {written.binary!r}  # parent, left, right",
        f"unary = {written.unary!r}",
        f"words = {words!r}",
        f"lexicon = {lexicon!r}",
        "grammar = Grammar(len(symbols), binary, unary)",
        "word = np.full((len(words), len(symbols)), -np.inf)",
        "for t, w in enumerate(words):",
        "    for symbol, score in lexicon[w.lower()]:",
        "        word[t, symbol] = score",
        "root = np.full(len(symbols), -np.inf)",
        "root[0] = 0.0",
        "scores = dict(word=word, root=root,",
        f"              binary=np.array({written.rule_scores['binary'].tolist()!r})",
    ]
    if "unary" in written.rule_scores:
        lines[-1] += f",\n              unary=np.array({written.rule_scores['unary'].tolist()!r})"
    lines[-1] += ")"
    if judged.augmented:
        lines += [
            f"gold = {judged.spans!r}  # begin, end, symbol",
            "cost = np.ones((len(words), len(words) + 1, len(symbols)))",
            "cost[tuple(np.array(gold).T)] = 0",
            "scores['span'] = cost  # 1 for every span that gold lacks",
        ]
    lines += [
        "trees = Constituency(grammar)",
        "print([(i, j, symbols[a]) for i, j, a in trees.argmax(**scores)])",
    ]
    if mode == "sum":
        lines.append("print(trees.log_partition(**scores))")
    temperature = "temperature=1, " if mode == "sum" else ""
    lines.append(f"trace = traces.cky(grammar, {temperature}**scores)  # the steps")
    return "\n".join(lines) + "\n"
