"""From cut texts to a lattice of words."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...exceptions import CapabilityError
from ...problem import Problem
from .cut_text import BEGINS, UNKNOWN, Cut
from .fitting import WordFitting
from .lattice_model import LatticeModel

Vector = npt.NDArray[np.float64]

#: A word of a dictionary whose tag nobody says.
_ANY_TAG = 255
#: An entry that is there so often is a class of its own, of which pairs have weights.
_OFTEN = 40
#: Learners that look at no costs, unless a margin is asked for.
_WITHOUT_MARGIN = ("perceptron", "crf")


class LatticeProblem(Problem):
    """Cut texts as lattices: paths of words, with the weights of words and of pairs of words.

    Parameters
    ----------
    fitting : LatticeFitting
    costs : bool
        Wrong words cost 1, for learners with a margin.
    """

    name = "a lattice of words"

    def __init__(self, fitting: LatticeFitting, costs: bool) -> None:
        task = fitting.task
        weights = None if fitting.weights is None else np.array(fitting.weights)
        native = fitting.lattices.problem(
            fitting.training,
            len(fitting.tags) + 1,
            int(task.min_words),
            _OFTEN,
            fitting.whole,
            costs,
            weights,
        )
        super().__init__(native, sample_weight=weights)
        digest = hashlib.blake2b(digest_size=16)
        for cut, marks in zip(fitting.runs, fitting.marks, strict=True):
            digest.update(cut.encode() + b"\0" + marks)
        self._texts = digest.hexdigest()
        self._partial = np.array([UNKNOWN in marks for marks in fitting.marks])

    @property
    def partial(self) -> npt.NDArray[np.bool_]:
        """Which texts have boundaries that nobody knows."""
        return self._partial

    def completed(self, w: Vector, temperature: float, **more: Any) -> Problem:
        """Refuse: unknown boundaries are summed over, not filled in."""
        raise CapabilityError(
            "an svm of lattices needs every boundary; partial annotation: another learner, such as "
            "crf or perceptron"
        )

    def specification(self) -> dict[str, Any]:
        """Return what the objective depends on."""
        return {**super().specification(), "texts": self._texts}


class LatticeFitting(WordFitting):
    """One training run; parameters as of :class:`WordFitting`, ``words`` with a tag or None."""

    words: list[tuple[str, str | None]]

    def __init__(self, *given: Any, **named: Any) -> None:
        self.lattices = _core.LatticeTraining()
        self.runs: list[str] = []
        super().__init__(*given, **named)

    def _add(self, cut: Cut, seen: bytes, begin: int, end: int) -> None:
        super()._add(cut, seen, begin, end)
        self.runs.append(cut.text[begin:end])
        marks = bytes([BEGINS]) + cut.marks[begin + 1 : end]
        self.lattices.add(self.runs[-1], marks, self._tags_of(cut, begin, end))

    def _add_words(self, words: Any) -> None:
        for word, tag in words:
            self.training.add_word(word)
            self.lattices.add_word(word, _ANY_TAG if tag is None else self.tags.get(tag, _ANY_TAG))

    def problem(self) -> Any:
        """Return the problem to be solved."""
        self.training.finish(int(self.task.min_count), int(self.task.min_words))
        costs = self.task.learner not in _WITHOUT_MARGIN or bool(self.task.margin)
        return LatticeProblem(self, costs)

    def model(self, problem: Any, w: Vector) -> Any:
        """Return a model with these weights."""
        n = self.training.n_features
        places = self.place_model(w[:n].astype(np.float64), np.zeros(4))
        rest = w[n:].astype(np.float64)
        unit = float(max(np.abs(rest).max(initial=0.0), 1e-9)) / 32767
        arrays = self.lattices.rules()
        arrays["weights"] = np.round(rest / unit).astype(np.int16).tobytes()
        tags = ["", *self.tags]
        return LatticeModel(places, arrays, self.lattices.unknown, tags, unit, {})
