"""Constituent trees: nested labelled spans, free or derived by a grammar."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...array_types import Integers
from ..batches import holds_interpreter, takes_batches
from ..hypergraph import Hyperedges
from ..native import NativeStructure
from ..parts import Block, Parts, part_of
from ..score_arrays import as_scores, rank_of
from .grammar import Grammar
from .grammar_trees import GrammarTrees
from .span_trees import SpanTrees
from .spans import LabelledSpan, read_spans


class Constituency(NativeStructure):
    """Constituent trees over n words, decoded by CKY.

    **Labelled spans** (no grammar). An output is a list of nested spans (begin, end, label), end
    exclusive, outer before inner and left before right, labels 1..R − 1; nodes have any number of
    children. Label 0 means unlabelled and is not in the output. The chart is binary, and a tree has
    *one* derivation in it: a node's children c₁ c₂ … c_m are c₁ beside an unlabelled span that
    holds c₂ … c_m, and so on to the right. The parts of a tree are the 2n − 1 spans of that binary
    tree: its labelled ones, and with label 0 those rests of children, the words without a label,
    and the whole if no span covers it. So ``span[i, j, 0] = 0`` everywhere scores labelled
    spans alone; ``−∞`` for all wider than a word leaves binary trees alone.

    Accordingly sums count: with one label, every word bare and the whole labelled, n-ary trees
    without unary nodes (the little Schröder numbers 1, 1, 3, 11, 45, …; twice that, the large ones,
    if the whole may be unlabelled); with label 0 forbidden, binary trees (the Catalan numbers 1, 1,
    2, 5, 14, …).

    **A grammar** (``grammar=Grammar(...)``). An output lists the spans of a parse tree, one label
    per symbol, including words' own symbols and every symbol of a unary chain, the outer one first.
    Its score is Σ binary[rule] + Σ unary[rule] + Σ word[i, symbol of word i] + root[outermost
    symbol] + Σ span[begin, end, symbol].

    CKY costs O(n² R + n³) for spans — the best label of a span first, then splits — and O(n³ ·
    rules) for a grammar; inside–outside likewise. Ties: argmax chooses, top down, the first label,
    then the first split.

    Score blocks
    ------------
    span : (n, n + 1, R)
        ``span[i, j, r]`` scores label r over the words i..j − 1. Entries with j ≤ i are never read
        (they may be NaN); their marginals are 0. One example's may also come flat, (n · (n + 1),
        R); those of a batch may not, because a list of n matrices is one example too. With a
        grammar it may be left out.
    word : (n, R), grammar only
        Scores of the symbols of a single word; −∞ for those that are impossible.
    binary, unary : (B,), (U,), grammar only
        One score per rule. May be left out.
    root : (R,), grammar only
        Scores of the outermost symbol. May be left out.

    Parameters
    ----------
    grammar : Grammar, optional
        The rules that derive trees.

    References
    ----------
    D. H. Younger (1967), Recognition and parsing of context-free languages in time n³. J. K. Baker
    (1979), Trainable grammars for speech recognition. L. Huang & D. Chiang (2005), Better k-best
    parsing. D. Hall, G. Durrett & D. Klein (2014), Less grammar, more features.

    Examples
    --------
    Three words, label 1 over the last two, label 2 over all:

    >>> import numpy as np
    >>> span = np.zeros((3, 4, 3))
    >>> span[1, 3, 1] = 1.0
    >>> span[0, 3, 2] = 2.0
    >>> Constituency().argmax(span=span)
    [(0, 3, 2), (1, 3, 1)]
    >>> span[..., 0] = -np.inf
    >>> Constituency().count(span=span)  # 2 binary trees with a choice of 2 for each of 5 labels
    64
    """

    method = "CKY"
    label_block = "span"
    _label_rank = 3

    def __init__(self, grammar: Grammar | None = None) -> None:
        if grammar is not None and not isinstance(grammar, Grammar):
            raise ValueError(f"grammar must be a Grammar or None, got {type(grammar).__name__}")
        self.grammar = grammar
        self._trees: SpanTrees | GrammarTrees
        if grammar is None:
            self._trees = SpanTrees()
            self._core = _core.constituency()
        else:
            self._trees = GrammarTrees(grammar)
            self._core = _core.grammar_trees(**grammar.specification())
            self.has_labels = False
            self.label_block = "word"
            self._label_rank = 2

    def __getstate__(self) -> dict[str, Any]:
        return {"grammar": self.grammar}

    def __repr__(self) -> str:
        return f"Constituency({'' if self.grammar is None else f'grammar={self.grammar!r}'})"

    def blocks(self, n_labels: int) -> dict[str, Block]:
        """Return the blocks in the order of the core."""
        return self._trees.blocks(n_labels)

    # -- outputs and parts ----------------------------------------------------------------------

    @takes_batches
    def argmax(self, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return the best tree; a list of them for a batch."""
        if getattr(scores.get("span"), "ndim", 3) == 3:
            return super().argmax(n_jobs=n_jobs, **scores)
        _, theta, _ = self._convert(scores)
        return self._core.argmax(theta)

    def _convert(self, scores: Mapping[str, Any]) -> tuple[bool, dict[str, Any], int]:
        spans = scores.get("span")
        if isinstance(spans, (list, tuple)) and spans and rank_of(spans[0]) == 2:
            words, width = len(spans), len(spans[0])
            if width != words + 1:
                raise ValueError(
                    f"span is a list of {words} matrices, the first with {width} rows: those of "
                    f"one example of {words} words have {words + 1}; a batch is a list of "
                    "(n, n + 1, R) arrays, flat arrays must be reshaped to that"
                )
        batch, theta, n = super()._convert(scores)
        span = theta.get("span")
        if isinstance(span, list):
            theta["span"] = [_unfold(s) for s in span]
        elif span is not None:
            theta["span"] = _unfold(span)
        return batch, theta, n

    def _read(self, flat: Any, ptr: Any) -> list[list[LabelledSpan]]:
        return _core.spans(self._core, flat, ptr)

    def _read_samples(self, rows: Integers) -> list[list[LabelledSpan]]:
        return _core.spans(self._core, rows.ravel(), np.arange(len(rows) + 1) * rows.shape[1])

    def _stack(self, outputs: list[Any]) -> list[Any]:
        return outputs

    def _gold_rows(
        self, outputs: Sequence[Any], labels: Integers, ptr: Integers
    ) -> tuple[Integers, Integers]:
        rows: list[Integers] = []
        for i, y in enumerate(outputs):
            if self.grammar is None and ptr[i] == ptr[i + 1]:  # partly labelled
                rows.append(np.empty(0, dtype=np.int64))
                continue
            try:
                rows.append(self._trees.row(read_spans(y)))
            except ValueError as error:
                raise ValueError(f"example {i}: {error}") from None
        sizes = np.array([len(row) for row in rows], dtype=np.int64)
        return np.concatenate(rows), np.concatenate(([0], np.cumsum(sizes)))

    def labels_of(self, y: Any) -> list[Any]:
        """Return the label of every place (i, j), row by row; 0, or "", if there is no span.

        The number of words is the end of the last span: a training tree must label the whole
        sentence, or its last word.
        """
        spans = read_spans(y)
        n = max((end for _, end, _ in spans), default=0)
        nothing: Any = "" if any(isinstance(k, str) for _, _, k in spans) else 0
        labels = [nothing] * (n * (n + 1))
        for begin, end, label in spans:
            place = begin * (n + 1) + end
            if labels[place] != nothing:
                raise ValueError(
                    f"two spans cover {begin}..{end}: {labels[place]!r} and {label!r}; join the "
                    "labels of a unary chain to one"
                )
            if label == nothing:
                raise ValueError(f"the span {(begin, end, label)!r} has the label of no span")
            labels[place] = label
        return labels

    def places(self, y: Any, **scores: Any) -> tuple[Integers, ...]:
        """Return begins, ends and labels of the labelled spans."""
        spans = np.array(read_spans(y), dtype=np.int64).reshape(-1, 3)
        return tuple(spans.T)

    def relabel(self, y: Any, labels: Any) -> list[LabelledSpan]:
        """Return the spans with the labels of their places."""
        spans = read_spans(y)
        m = max((end for _, end, _ in spans), default=0) + 1
        named = labels.tolist() if isinstance(labels, np.ndarray) else labels
        return [(begin, end, named[begin * m + end]) for begin, end, _ in spans]

    def agreement(self, gold: Any, predicted: Any) -> tuple[float, float]:
        """Return (2 · common labelled spans, spans of both): their quotient is bracket F1."""
        a, b = set(read_spans(gold)), set(read_spans(predicted))
        return 2.0 * len(a & b), float(len(a) + len(b))

    def _positions(self, name: str, theta: Mapping[str, Any]) -> tuple[int, ...]:
        shape: tuple[int, ...] = theta[name].shape
        return shape

    def _encode(self, y: Any, theta: Mapping[str, Any], by_position: bool) -> Parts:
        parts = {name: np.zeros(a.shape) for name, a in theta.items()}
        for name, places in self._trees.places(read_spans(y), theta).items():
            if name in parts:
                np.add.at(parts[name], places, 1.0)
        return parts

    def decode(self, parts: Any) -> Any:
        """Return the tree with these parts; a list for a list."""
        part_of(parts, "span" if self.grammar is None else "word")
        arrays = {name: np.asarray(a, dtype=np.float64) for name, a in parts.items()}
        if "span" in arrays:
            arrays["span"] = _unfold(arrays["span"])
        y = self._trees.decode(arrays)
        again = self._encode(y, arrays, by_position=False) if y is not None else {}
        if y is None or any(not np.array_equal(again[name], a) for name, a in arrays.items()):
            raise ValueError("these parts are not a tree: its spans are nested and count 1 each")
        return y

    def score(self, y: Any, **scores: Any) -> Any:
        """Return the score of y, −∞ if a part of it is forbidden; a list for a batch."""
        theta = self._one(scores)
        places = self._trees.places(read_spans(y), theta)
        return float(sum(table[places[name]].sum() for name, table in theta.items()))

    def outputs(self, **scores: Any) -> Iterator[list[LabelledSpan]]:
        """Iterate over all trees."""
        return self._trees.outputs(self._one(scores))

    def infer_others(
        self, y: Any, *, temperature: float = 1.0, **scores: Any
    ) -> tuple[float, Parts]:
        """Return (ε log Σ exp(score/ε), its gradient by block) over all trees but y, ε > 0."""
        theta = self._scores(scores)
        if self.grammar is None or "span" in theta:
            return super().infer_others(y, temperature=temperature, **theta)
        # Without spans, several trees may have the same parts.
        n = len(theta["word"])
        span = np.zeros((n, n + 1, self.grammar.n_symbols))
        value, p = super().infer_others(y, temperature=temperature, span=span, **theta)
        return value, {name: a for name, a in p.items() if name != "span"}

    def edges(self, **scores: Any) -> Hyperedges:
        """Return the chart as hyperedges: for the reference engine, and for integer programs."""
        return self._trees.edges(scores)

    @holds_interpreter
    def count(self, **scores: Any) -> Any:
        """Return the number of trees with a finite score, as an exact integer."""
        theta = self._one(scores)
        return self._trees.count(theta)

    def _scores(self, scores: Mapping[str, Any]) -> Parts:
        """Return the scores as arrays, 0 in entries that are never read."""
        span = scores.get("span")
        if span is not None:
            span = _unfold(as_scores("span", span).copy())
            if span.ndim == 3:
                n, m = span.shape[:2]
                span[np.arange(m)[np.newaxis, :] <= np.arange(n)[:, np.newaxis]] = 0.0
            scores = {**scores, "span": span}
        return super()._scores(scores)


def _unfold(span: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return (n · (n + 1), R) as (n, n + 1, R); anything else unchanged."""
    if span.ndim != 2:
        return span
    n = int(np.sqrt(len(span)))
    return span.reshape(n, n + 1, -1) if n * (n + 1) == len(span) > 0 else span
