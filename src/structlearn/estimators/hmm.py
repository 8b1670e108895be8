"""The hidden Markov model, learned from labelled sequences by counting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..array_types import Array, Integers
from ..exceptions import CapabilityError
from ..fitting.learner_registry import LearningParameters
from ..fitting.parameters import Choice, Declared, Number, Whole, parameter, same_as
from ..models.scored_inputs import ScoredInputs
from ..structures.chains.chain import Chain
from .array_model import ArrayModel
from .columns import Columns, read_tables
from .constraints import under
from .emissions import GaussianEmissions, Moments
from .observations import Reader, TokenReader, VectorReader, has_vectors
from .outputs import (
    as_outputs,
    find_classes,
    lacks_examples,
    read_outputs,
    reread,
    sort_classes,
    with_present,
)
from .word_emissions import CategoricalEmissions, WordCounts

#: Keeps logarithms finite if a product of tiny probabilities underflows.
_SMALLEST = 1e-300


def _check_share(name: str, value: Any) -> None:
    """Refuse a value outside of 0 to 1."""
    Number()(name, value)
    if value > 1:
        raise ValueError(f"{name} must be between 0 and 1, got {value!r}")


class HMM(Declared, ArrayModel):
    """The generative baseline: a Markov chain of labels, each of which emits an observation.

        P(x, y) = P(y_1 | Start) · Π_{t>1} P(y_t | y_{t−m}, …, y_{t−1}) · P(End | y_L)
                  · Π_t P(x_t | y_t)

    Everything is counted in one pass, and the scores of the chain are log probabilities, so
    ``predict_marginals`` and ``predict_proba`` are P(· | x). Every distribution is smoothed by α
    pseudo-observations from the next simpler one, which has more data:

        P(y | h) = (c(h, y) + α·P(y | h without its oldest label)) / (c(h) + α),

    down to the frequencies of the labels and then to equal shares; P(y_1 | Start) and the other
    first labels fall back on the labels that follow anywhere. P(End | y_L) falls back on the
    overall rate of endings; continuing and ending have probability one together: ``transition_``
    contains the factor 1 − P(End | y_{t−1}).

    Unknown labels (None) are not counted, nor are the emissions at their position and the
    transitions over it.

    Parameters
    ----------
    order : int, default=1
        m ≥ 1: the number of previous labels that the next one depends on. 2 is the trigram tagger,
        more accurate and K times the work.
    alpha : float, default=3.0
        α > 0; towards 0: maximum likelihood.
    emission : {"auto", "categorical", "gaussian"}, default="auto"
        The type of observations: strings, or vectors. "auto" looks at X.
    word_alpha : float, default=0.3
        Pseudo-observations for each word. For this parameter and the next two see
        :class:`~structlearn.estimators.word_emissions.CategoricalEmissions`.
    suffix_length : int, default=8
        Unknown words are judged by capitalisation and up to this many last letters. 0: strings are
        mere symbols, whose case and spelling are ignored.
    rare : float, default=10
        Spelling is learned from words seen at most this often.
    shrinkage : float, default=0.2
        From 0 to 1: how far covariances are shrunk towards a shared diagonal one
        (:class:`~structlearn.estimators.emissions.GaussianEmissions`).
    observation : int or str, optional
        Which string is emitted if a token has several: the index in a list or tuple (default the
        first), the key in a dictionary (default its first key).
    n_jobs : int, optional
        Number of threads for prediction; None is one, -1 all cores.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels.
    start_ : array of shape (K,)
        log P(y_1 | Start).
    transition_ : array of shape (K,) * (order + 1)
        log P(y_t | y_{t−m}, …, y_{t−1}), oldest label first.
    end_ : array of shape (K,)
        log P(End | y_L).
    emissions_ : CategoricalEmissions or GaussianEmissions
        Its ``scores(tokens)`` are log P(x_t | y_t).
    n_iter_ : int
        1.
    n_features_in_ : int
        Number of columns of each example, if these are arrays or data frames.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns, if the examples were data frames; prediction needs the same columns in
        the same order.

    References
    ----------
    L. Rabiner (1989), A tutorial on hidden Markov models; T. Brants (2000), TnT: a statistical
    part-of-speech tagger.

    Examples
    --------
    >>> from structlearn.estimators import HMM
    >>> X = [["fish", "sleep"], ["dogs", "eat", "fish"], ["dogs", "sleep"]]
    >>> y = [["N", "V"], ["N", "V", "N"], ["N", "V"]]
    >>> HMM().fit(X, y).predict([["fish", "eat", "fish"]])
    [array(['N', 'V', 'N'], dtype='<U1')]
    """

    order: int = parameter(default=1, check=Whole(1))
    alpha: float = parameter(default=3.0, check=Number(above=True))
    emission: str = parameter(default="auto", check=Choice("auto", "categorical", "gaussian"))
    word_alpha: float = parameter(default=0.3, check=Number(above=True))
    suffix_length: int = parameter(default=8, check=Whole(0))
    rare: float = parameter(default=10, check=Number())
    shrinkage: float = parameter(default=0.2, check=_check_share)
    observation: Any = None
    n_jobs: int | None = same_as(LearningParameters, "n_jobs", default=None)

    # -- learning -------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> HMM:
        """Count labelled sequences.

        Parameters
        ----------
        X : list of sequences
            Each an (L, d) array or data frame of numbers, or a list of tokens: strings, lists of
            strings, or dictionaries (see ``observation``).
        y : list of label sequences
            None is an unknown label.
        sample_weight : array of shape (n,), optional
            Weight 2 counts the example twice, weight 0 leaves it out.

        Returns
        -------
        self
        """
        self._check_parameters()

        def count(X: Any, y: Any, weights: Array | None) -> Any:
            X, columns = read_tables(self, X, None)
            reader = self._new_reader(X)
            observed, ptr = reader.read(X)
            outputs = as_outputs(y, len(ptr) - 1)
            classes = find_classes(Chain(), outputs)
            return reader, classes, *self._count(observed, ptr, outputs, classes, weights), columns

        self._accept(*with_present(count, reread(X), reread(y), sample_weight))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> HMM:
        """Count further sequences; calls on parts of a data set equal ``fit`` on the whole.

        Parameters
        ----------
        classes : list of labels
            All labels that will ever occur; needed at the first call.
        sample_weight : array of shape (n,), optional
            As for :meth:`fit`. A batch without examples, or with weights of 0 alone, has no effect.
        """
        self._check_parameters()
        X, y = reread(X), reread(y)
        if lacks_examples(X, y, sample_weight):
            return self
        first = not hasattr(self, "_label_counts")
        if first and classes is None:
            raise ValueError("the first call of partial_fit needs classes, the list of all labels")
        if not first and classes is not None and set(classes) != set(self.classes_.tolist()):
            raise ValueError("classes must be the same in every call of partial_fit")
        if not first and self.order != len(self._label_counts.initial):
            raise ValueError(
                f"order was {len(self._label_counts.initial)} at the first call of partial_fit, "
                f"and is now {self.order}"
            )
        all_classes = sort_classes(set(classes)) if first else self.classes_

        def count(X: Any, y: Any, weights: Array | None) -> Any:
            X, columns = read_tables(self, X, None if first else self._columns)
            reader = self._new_reader(X) if first else self._reader
            observed, ptr = reader.read(X)
            return reader, *self._count(observed, ptr, y, all_classes, weights), columns

        reader, labels, emitted, columns = with_present(count, X, y, sample_weight)
        if not first:
            labels, emitted = self._label_counts + labels, self._emission_counts + emitted
        self._accept(reader, all_classes, labels, emitted, columns)
        return self

    def _count(
        self, observed: Any, ptr: Integers, y: Any, classes: npt.NDArray[Any], weights: Array | None
    ) -> tuple[_LabelCounts, Any]:
        gold = read_outputs(Chain(), y, classes, np.diff(ptr).tolist()).labels
        if weights is None:
            weights = np.ones(len(ptr) - 1)
        each = np.repeat(weights, np.diff(ptr))
        counts = _LabelCounts.of(gold, ptr, each, len(classes), int(self.order))
        labelled = np.flatnonzero(gold >= 0)
        seen = (gold[labelled], each[labelled], len(classes))
        if isinstance(observed, list):
            return counts, WordCounts.of([observed[i] for i in labelled], *seen)
        return counts, Moments.of(observed[labelled], *seen)

    def _accept(
        self,
        reader: Reader,
        classes: npt.NDArray[Any],
        labels: _LabelCounts,
        emitted: Any,
        columns: Columns,
    ) -> None:
        """Turn counts into probabilities, and store all of them on the estimator at once."""
        if not labels.windows[0].any():
            raise ValueError("nothing can be counted: every label is unknown (None)")
        emissions: Any
        if isinstance(emitted, WordCounts):
            emissions = CategoricalEmissions(
                emitted,
                alpha=float(self.alpha),
                word_alpha=float(self.word_alpha),
                suffix_length=int(self.suffix_length),
                rare=float(self.rare),
            )
        else:
            emissions = GaussianEmissions(emitted, shrinkage=float(self.shrinkage))
        scores = labels.scores(float(self.alpha))
        self._hold(classes, labels, scores, columns, reader, emitted, emissions)

    def _hold(
        self,
        classes: npt.NDArray[Any],
        labels: _LabelCounts,
        scores: tuple[dict[str, Array], Array],
        columns: Columns,
        reader: Reader,
        emitted: Any,
        emissions: Any,
    ) -> None:
        """Become fitted: the one place that sets the learned state of the estimator."""
        blocks, transition = scores
        self._reader, self._blocks = reader, blocks
        self._label_counts, self._emission_counts = labels, emitted
        self.structure_ = Chain(len(labels.initial))
        self.classes_, self.emissions_ = classes, emissions
        self.start_, self.end_, self.transition_ = blocks["start"], blocks["end"], transition
        self.n_iter_ = 1
        vectors = isinstance(emitted, Moments)
        self._hold_columns(columns, "label", emitted.mean.shape[1] if vectors else None)

    # -- files ----------------------------------------------------------------------------------

    def _learned(self, writer: Any) -> dict[str, Any]:
        from .stored.hidden_markov import write_hmm

        return write_hmm(self, writer)

    def _relearn(self, d: dict[str, Any], reader: Any) -> None:
        from .stored.hidden_markov import read_emissions, read_labels
        from .stored.models import read_calibration

        stored = read_labels(d, reader)
        counts = _LabelCounts(stored["windows"], stored["initial"], stored["last"])
        scores = (stored["blocks"], stored["transition"])
        emissions = read_emissions(reader.value(d["emissions"]), len(stored["classes"]))
        calibration = read_calibration(reader.value(d["calibration"]))
        self._hold(stored["classes"], counts, scores, *emissions)
        self._keep_calibration(calibration)

    def _new_reader(self, X: Any) -> Reader:
        vectors = self.emission == "gaussian" or (self.emission == "auto" and has_vectors(X))
        return VectorReader() if vectors else TokenReader(self.observation)

    def _check_parameters(self) -> None:
        self._check_declared()

    # -- prediction -----------------------------------------------------------------------------

    #: Scores are logarithms of probabilities.
    _loss_temperature = 1.0

    def _inputs(self, X: Any, constraints: Any = None, **reading: Any) -> ScoredInputs:
        observed, ptr = self._reader.read(read_tables(self, X, self._columns)[0])
        bounds = ptr.tolist()

        def score(part: range) -> list[dict[str, Any]]:
            begin = bounds[part.start]
            label = self.emissions_.scores(observed[begin : bounds[part.stop]])
            return [
                {"label": label[bounds[i] - begin : bounds[i + 1] - begin], **self._blocks}
                for i in part
            ]

        structure = under(self.structure_, constraints, self.classes_)
        return ScoredInputs(structure, score, len(bounds) - 1, ptr)

    # -- what was learned -----------------------------------------------------------------------

    _two_sided = False

    def _label_weights(self) -> tuple[Array, Sequence[str]]:
        """Return log P(word | label), and the words."""
        if not isinstance(self.emissions_, CategoricalEmissions):
            raise CapabilityError(
                "the emissions are densities of vectors, without features: look at emissions_"
            )
        words = list(self.emissions_.words)
        return np.ascontiguousarray(self.emissions_.scores(words).T), words

    def _pair_weights(self) -> dict[str, Array]:
        pairs = self._blocks.get("transition1", self.transition_)
        return {"start": self.start_, "end": self.end_, "transition": pairs}

    def _sites(self, inputs: ScoredInputs) -> list[int]:
        sizes: list[int] = np.diff(inputs.source).tolist()
        return sizes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


@dataclass
class _LabelCounts:
    """Counts of consecutive labels; ``+`` joins the counts of two parts of the data.

    Attributes
    ----------
    windows : list of arrays
        ``windows[j]``, shape (K,) * (j + 1): windows of j + 1 labels, anywhere; j up to the order.
    initial : list of arrays
        ``initial[j]``, the same at the beginning of a sequence; j below the order.
    last : array of shape (K,)
        Last labels.
    """

    windows: list[Array]
    initial: list[Array]
    last: Array

    @classmethod
    def of(
        cls, labels: Integers, ptr: Integers, weights: Array, n_labels: int, order: int
    ) -> _LabelCounts:
        """Count labels, −1 if unknown, of concatenated sequences."""
        place = np.arange(len(labels)) - np.repeat(ptr[:-1], np.diff(ptr))

        def tally(which: Any, codes: Integers, rank: int) -> Array:
            sums = np.bincount(codes[which], weights[which], minlength=n_labels**rank)
            return sums.astype(np.float64, copy=False).reshape((n_labels,) * rank)

        windows, initial = [], []
        codes = np.zeros_like(labels)
        complete = np.ones(len(labels), dtype=bool)
        for j in range(order + 1):
            back = np.roll(labels, j)  # wraps around only if place < j
            codes = codes + n_labels**j * back
            complete = complete & (back >= 0) & (place >= j)
            windows.append(tally(complete, codes, j + 1))
            if j < order:
                initial.append(tally(complete & (place == j), codes, j + 1))
        final = ptr[1:] - 1
        return cls(windows, initial, tally(final[labels[final] >= 0], labels, 1))

    def __add__(self, other: _LabelCounts) -> _LabelCounts:
        return _LabelCounts(
            [a + b for a, b in zip(self.windows, other.windows, strict=True)],
            [a + b for a, b in zip(self.initial, other.initial, strict=True)],
            self.last + other.last,
        )

    def scores(self, alpha: float) -> tuple[dict[str, Array], Array]:
        """Return the score blocks of the chain, and log P(label | previous labels)."""
        n_labels = len(self.last)
        anywhere = [_smooth(self.windows[0], np.full(n_labels, 1.0 / n_labels), alpha)]
        for counts in self.windows[1:]:
            anywhere.append(_smooth(counts, anywhere[-1], alpha))
        first = [
            _smooth(counts, coarser, alpha)
            for counts, coarser in zip(self.initial, anywhere, strict=False)
        ]
        # Continuing and ending: two outcomes of each label.
        leaving = np.stack([self.windows[0] - self.last, self.last], axis=-1)
        shares = np.array([n_labels, 1.0]) / (n_labels + 1.0)
        leave = _smooth(leaving, _smooth(leaving.sum(axis=0), shares, alpha), alpha)
        go_on = _log(leave[:, :1])
        transition = go_on + _log(anywhere[-1])
        blocks = {"start": _log(first[0]), "end": _log(leave[:, 1])}
        # A chain adds up its tables of all orders, so each holds the difference from the lower one.
        below: Any = 0.0
        for j, table in enumerate(first[1:], start=1):
            blocks[f"transition{j}"] = go_on + _log(table) - below
            below = go_on + _log(table)
        blocks["transition"] = transition - below
        return blocks, transition


def _log(p: Array) -> Array:
    """Return log p, finite for p = 0."""
    result: Array = np.log(np.maximum(p, _SMALLEST))
    return result


def _smooth(counts: Array, coarser: Array, strength: float) -> Array:
    """Return (c + α·coarser) / (Σ c + α) along the last axis."""
    total = counts.sum(axis=-1, keepdims=True)
    result: Array = (counts + strength * coarser) / (total + strength)
    return result
