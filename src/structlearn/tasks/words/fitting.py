"""From cut texts to a model of words."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...features.rows import FeatureRows
from ...fitting.presets import preset_of
from ...fitting.task_learning import Learned, learn_task
from ...meter import say
from ...problem.gold import GoldOutputs
from ...scoring.layout import WeightBlock, WeightLayout
from ...structures.chains.chain import Chain
from ..tagging.problem import LabelProblem
from .cut_text import BEGINS, GOES_ON, UNKNOWN, Cut
from .model import WIDTHS, WordModel

Vector = npt.NDArray[np.float64]

_LABELS = ["B", "I"]
_SEPARATORS = " \t\r\f\v\n"
#: Places between letters, or digits, that are cut at most where such runs stay whole.
_FEW = 0.001
_MOST_TAGS = 62


class WordFitting:
    """One training run.

    Parameters
    ----------
    task : WordSegmenter
        Read only: its parameters.
    sentences : list of Cut
    words : list of str
        Of another dictionary.
    guesses : list of bytes, optional
        Of sentences with unknown boundaries: marks for all of their characters. Words of the
        dictionary are taken from them; what is learned is what is known.
    weights : array of shape (n_sentences,), optional
    """

    def __init__(
        self,
        task: Any,
        sentences: list[Cut],
        words: list[str],
        guesses: list[bytes] | None = None,
        weights: Vector | None = None,
    ) -> None:
        self.task = task
        self.blanks = any(
            mark == GOES_ON and char in _SEPARATORS
            for cut in sentences
            for char, mark in zip(cut.text, cut.marks, strict=True)
        )
        counts = Counter(tag for cut in sentences for tag in cut.tags or () if tag)
        #: The most frequent tags have numbers of their own.
        self.tags = {tag: i for i, (tag, _) in enumerate(counts.most_common(_MOST_TAGS - 1), 1)}
        self.training = _core.WordTraining()
        self.sentences = sentences
        self.marks: list[bytes] = []
        #: Of each run of characters, that of its sentence.
        self.weights: list[float] | None = None if weights is None else []
        for number, cut in enumerate(sentences):
            seen = cut.marks if guesses is None else guesses[number]
            for begin, end in runs_of(cut.text, self.blanks):
                self._add(cut, seen, begin, end)
                if self.weights is not None and weights is not None:
                    self.weights.append(float(weights[number]))
        if not self.marks:
            raise ValueError("there are no words in the sentences")
        if not any(mark != UNKNOWN for marks in self.marks for mark in marks[1:]):
            raise ValueError("no boundary inside a sentence is known: there is nothing to learn")
        self._add_words(words)
        self.whole = 3 & _whole_runs(sentences) if task.whole else 0

    def _add(self, cut: Cut, seen: bytes, begin: int, end: int) -> None:
        tags = self._tags_of(cut, begin, end)
        self.training.add(cut.text[begin:end], bytes([BEGINS]) + seen[begin + 1 : end], tags)
        self.marks.append(bytes([BEGINS]) + cut.marks[begin + 1 : end])

    def _tags_of(self, cut: Cut, begin: int, end: int) -> bytes:
        """Return the number of the tag of each character's word; nothing if there are no tags."""
        if cut.tags is None:
            return b""
        numbers = bytearray(end - begin)
        before = cut.marks[:begin].count(BEGINS)
        # Blanks between words are words without tags.
        at = before - _blank_words(cut, begin) - 1
        for i in range(begin, end):
            if cut.marks[i] == BEGINS and cut.text[i] not in _SEPARATORS:
                at += 1
            if 0 <= at < len(cut.tags):
                numbers[i - begin] = self.tags.get(cut.tags[at], 0)
        return bytes(numbers)

    def _add_words(self, words: Any) -> None:
        """Add the words of another dictionary."""
        for word in words:
            self.training.add_word(word)

    def problem(self) -> Any:
        """Return the problem to be solved."""
        training = self.training
        training.finish(int(self.task.min_count), int(self.task.min_words))
        site = np.frombuffer(training.site_ptr(), np.int64)
        rows = FeatureRows(
            site,
            training.n_features,
            None,
            np.frombuffer(training.indptr(), np.int64),
            np.frombuffer(training.indices(), np.int32),
        )
        chain = Chain()
        blocks: dict[str, WeightBlock | None] = {}
        for name, spec in chain.blocks(2).items():
            if name == "label":
                blocks[name] = WeightBlock(spec.outcomes, training.n_features, shared=False)
            elif name == "transition":
                blocks[name] = WeightBlock(spec.outcomes, 1, shared=True)
            else:
                blocks[name] = None
        labels = np.frombuffer(b"".join(self.marks), np.uint8).astype(np.int64)
        labels[labels == UNKNOWN] = -1
        outputs = [
            [None if k == UNKNOWN else k for k in marks] if UNKNOWN in marks else list(marks)
            for marks in self.marks
        ]
        gold = GoldOutputs(outputs, labels, site)
        return LabelProblem(
            chain,
            _LABELS,
            WeightLayout(blocks),
            {"label": rows},
            gold,
            sample_weight=None if self.weights is None else np.array(self.weights),
        )

    def run(self, score: Any = None) -> tuple[Any, Learned]:
        """Learn; return the model and the record of the training.

        Parameters
        ----------
        score : callable, optional
            Gives the dev score of a model.
        """
        problem, task = self.problem(), self.task
        self._say(
            f"{len(self.marks):,} runs of {sum(map(len, self.marks)):,} characters, "
            f"{self.training.n_features:,} features"
        )
        learned = learn_task(
            task,
            problem,
            preset=preset_of("words", task.learner),
            score=None if score is None else lambda w: score(self.model(problem, w)),
            measure="f1",
            side_by_side=True,
        )
        model = self.model(problem, learned.weights)
        model.training.update(learned.record(task.learner))
        return model, learned

    def _say(self, line: str) -> None:
        if self.task.verbose:
            say(line)

    def model(self, problem: Any, w: Vector) -> Any:
        """Return a model with these weights."""
        layout = problem.layout
        label, pair = layout.blocks["label"], layout.blocks["transition"]
        assert label is not None
        assert pair is not None
        both = w[label.offset : label.offset + label.size].reshape(-1, 2)
        return self.place_model(both[:, 0] - both[:, 1], w[pair.offset : pair.offset + pair.size])

    def place_model(self, weights: Vector, pairs: Vector) -> WordModel:
        """Return a model of places with the weights of its features, and of pairs of labels."""
        training = self.training
        weights[np.abs(weights) <= self.task.prune] = 0.0
        unit = float(max(np.abs(weights).max(initial=0.0), 1e-9)) / 32767
        unit = max(unit, float(np.abs(pairs).max(initial=0.0)) / (1 << 24))
        rounded = np.round(weights / unit).astype(np.int16)
        keys = np.frombuffer(training.keys(), np.uint64)
        first = np.frombuffer(training.first(), np.uint32).astype(np.int64)
        widths = np.diff(np.append(first, training.n_features))
        arrays: dict[str, Any] = {}
        for n, width in enumerate(WIDTHS):
            at = np.flatnonzero(widths == width)
            table = rounded[first[at][:, None] + np.arange(width)]
            rows = np.flatnonzero(table.any(axis=1))
            arrays[f"keys{n}"] = keys[at[rows]].tobytes()
            arrays[f"weights{n}"] = np.ascontiguousarray(table[rows]).tobytes()
        arrays["words"] = training.words()
        arrays["tags"] = training.tags_of_words()
        scores = [round(float(x) / unit) for x in pairs]
        return WordModel(arrays, scores, unit, self.whole, self.blanks, {})


def runs_of(text: str, blanks: bool) -> list[tuple[int, int]]:
    """Return the places of what blanks separate; all of it where words have blanks in them."""
    if blanks:
        return [(0, len(text))] if text else []
    places, begin = [], None
    for i, char in enumerate(text):
        if char in _SEPARATORS:
            if begin is not None:
                places.append((begin, i))
            begin = None
        elif begin is None:
            begin = i
    if begin is not None:
        places.append((begin, len(text)))
    return places


def _blank_words(cut: Cut, end: int) -> int:
    """Return how many words before a place are blanks."""
    return sum(
        mark == BEGINS and char in _SEPARATORS
        for char, mark in zip(cut.text[:end], cut.marks[:end], strict=True)
    )


def _whole_runs(sentences: list[Cut]) -> int:
    """Return which runs are hardly ever cut: 1 those of Latin letters, 2 those of digits."""
    seen, cut_there = [0, 0], [0, 0]
    for cut in sentences:
        text, marks = cut.text, cut.marks
        for i in range(1, len(text)):
            if not text[i].isalnum() or marks[i] == UNKNOWN:
                continue
            for kind, test in enumerate((_is_latin, _is_digit)):
                if test(text[i]) and test(text[i - 1]):
                    seen[kind] += 1
                    cut_there[kind] += marks[i] == BEGINS
    return sum(
        1 << kind
        for kind, (n, m) in enumerate(zip(seen, cut_there, strict=True))
        if n >= 20 and m <= _FEW * n
    )


def _is_latin(char: str) -> bool:
    return ("a" <= char <= "z") or ("A" <= char <= "Z") or ("\uff21" <= char <= "\uff5a")


def _is_digit(char: str) -> bool:
    return ("0" <= char <= "9") or ("\uff10" <= char <= "\uff19")
