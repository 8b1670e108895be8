"""Prediction, for every estimator that can score an input: outputs, marginals, k-best, score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..features.encoder import is_empty
from ..losses.loss import rule_out
from ..problem.gold import GoldOutputs
from ..structures.base import Structure
from ..structures.chains.chain import Chain
from ..structures.chains.semimarkov import SemiMarkov
from ..structures.checks import check_count
from ..structures.open_labels import is_open
from .columns import Columns, read_labels
from .outputs import check_sample_weight, read_outputs, reread
from .stored.files import StoredEstimator

__all__ = ["Predictor", "as_columns", "chunks"]

#: Examples whose scores are held at the same time.
_CHUNK = 1024


class Predictor(StoredEstimator, BaseEstimator):  # type: ignore[misc]
    """What a fitted estimator can be asked. A subclass gives ``_score_chunks``."""

    structure_: Structure
    classes_: npt.NDArray[Any]
    n_jobs: int | None
    #: Names of the columns of each block whose features came with names.
    _columns: Columns

    @property
    def _is_multiclass(self) -> bool:
        """Whether each example is one site with one label, by the parameters."""
        structure = getattr(self, "structure", None)
        if isinstance(structure, str):
            return structure == "multiclass"
        return isinstance(structure, Structure) and structure.single_site

    def _hold_columns(self, columns: Columns, label: str, n_features: int | None) -> None:
        """Keep what is known of the columns of X: their names, and the number of the labels'."""
        for name in (
            "feature_names_in_",
            "n_features_in_",
            "temperature_",
        ):  # those of the fit before
            self.__dict__.pop(name, None)
        self._columns = columns
        if label in columns:
            self.feature_names_in_ = columns[label]
        if n_features is not None:
            self.n_features_in_ = n_features

    def _read(self, X: Any) -> Any:
        """Return X as the methods below hand it on: checked against what fit has seen."""
        raise AssertionError

    def _score_chunks(self, X: Any) -> Iterator[list[dict[str, Any]]]:
        """Yield the scores of the examples, as the structure's arguments, chunk by chunk."""
        raise AssertionError

    def _sites(self, X: Any) -> list[int]:
        """Return the number of labelled sites of each example."""
        raise AssertionError

    @property
    def _default_temperature(self) -> float:
        return 1.0

    def _asked_temperature(self, temperature: float | None) -> float:
        """Return the temperature of probabilities that were asked for."""
        return self._default_temperature if temperature is None else temperature

    # -- outputs --------------------------------------------------------------------------------

    def predict(self, X: Any) -> Any:
        """Return the best output of each example.

        Returns
        -------
        list of outputs
            With labels as in ``classes_``; an array for multiclass. No outputs for no examples,
            and an empty one for a sequence without positions.
        """
        check_is_fitted(self)
        rest, gaps = self._without_empty(X)
        found = [] if is_empty(rest) else self._predict_indices(self._read(rest))
        outputs = self._name_all(found)
        for i in gaps:
            outputs.insert(i, self._no_output())
        return outputs

    @property
    def _bare_structure(self) -> Structure:
        """The structure without constraints."""
        bare: Structure = getattr(self.structure_, "structure", self.structure_)
        return bare

    def _no_output(self) -> Any:
        """Return the output of a sequence without positions."""
        return [] if isinstance(self._bare_structure, SemiMarkov) else self.classes_[:0]

    def _without_empty(self, X: Any) -> tuple[Any, list[int]]:
        """Return X without sequences that have no positions, and the places of those."""
        X = reread(X)
        sequences = isinstance(self._bare_structure, (Chain, SemiMarkov))
        if not sequences or not isinstance(X, (list, tuple)):
            return X, []
        block = self.structure_.label_block
        gaps = [i for i, x in enumerate(X) if _has_no_rows(x, block)]
        left_out = set(gaps)
        return [x for i, x in enumerate(X) if i not in left_out] if gaps else X, gaps

    def _ask_all(
        self, X: Any, answer: Callable[[Any], list[Any]], empty: Callable[[], Any]
    ) -> list[Any]:
        """Return the answers for all examples.

        Parameters
        ----------
        answer : callable
            Examples as :meth:`_read` returns them -> an answer for each.
        empty : callable
            Returns the answer for a sequence without positions.
        """
        check_is_fitted(self)
        rest, gaps = self._without_empty(X)
        found = [] if is_empty(rest) else answer(self._read(rest))
        for i in gaps:
            found.insert(i, empty())
        return found

    def _ask_each(
        self,
        X: Any,
        ask: Callable[[list[dict[str, Any]]], Iterable[Any]],
        empty: Callable[[], Any],
    ) -> list[Any]:
        """Return the answers for all examples, which are asked about chunk by chunk.

        Parameters
        ----------
        ask : callable
            The scores of examples -> an answer for each.
        empty : callable
            Returns the answer for a sequence without positions.
        """
        return self._ask_all(
            X, lambda read: [a for chunk in self._score_chunks(read) for a in ask(chunk)], empty
        )

    def predict_kbest(self, X: Any, n: int = 5) -> list[list[tuple[float, Any]]]:
        """Return for each example its n best outputs as (score, output), best first."""
        check_count(n)

        def ask(chunk: list[dict[str, Any]]) -> Iterator[list[tuple[float, Any]]]:
            for best in self.structure_.kbest(n, n_jobs=self.n_jobs, **as_columns(chunk)):
                yield [(value, self._name(y)) for value, y in best]

        return self._ask_each(X, ask, lambda: [(0.0, self._no_output())])

    def sample(
        self, X: Any, n: int = 1, *, temperature: float | None = None, random_state: Any = None
    ) -> list[list[Any]]:
        """Return for each example n outputs drawn from the model's distribution.

        Parameters
        ----------
        temperature : float, optional
            As for :meth:`predict_marginals`.
        """
        check_count(n)
        seeds = np.random.SeedSequence(random_state)

        check_is_fitted(self)
        eps = 1.0 if is_empty(X) else self._asked_temperature(temperature)

        def ask(chunk: list[dict[str, Any]]) -> Iterator[list[Any]]:
            for scores in chunk:
                seed = int(seeds.spawn(1)[0].generate_state(1)[0])
                drawn = self.structure_.sample(n, temperature=eps, random_state=seed, **scores)
                yield [self._name(y) for y in drawn]

        return self._ask_each(X, ask, lambda: [self._no_output() for _ in range(n)])

    # -- probabilities --------------------------------------------------------------------------

    def predict_marginals(
        self, X: Any, *, temperature: float | None = None, block: str | None = "label"
    ) -> list[Any]:
        """Return the probability of each part of each example.

        Parameters
        ----------
        temperature : float, optional
            Default: the one that ``calibrate`` found, else the one the model was trained with.
            Learners without a log loss (perceptrons, support vector machines) are trained at 0:
            their probabilities are those at 1, and a warning says that they are not calibrated.
        block : str or None, default="label"
            The block to return, "label" for the one that scores labels: arrays of shape (L, K) for
            a chain, (L, max_length, K) for the segments of a segmentation, the last axis as in
            ``classes_``. None: a dictionary of all blocks.
        """
        check_is_fitted(self)
        name = self.structure_.label_block if block == "label" else block
        eps = 1.0 if is_empty(X) else self._asked_temperature(temperature)

        def ask(chunk: list[dict[str, Any]]) -> Any:
            found = self.structure_.marginals(
                temperature=eps, n_jobs=self.n_jobs, **as_columns(chunk)
            )
            return found if name is None else [p[name] for p in found]

        def nothing() -> Any:
            blocks = self.structure_.blocks(len(self.classes_))
            names = [self.structure_.label_block] if name is None else [name]
            p = {k: np.empty((0, *blocks[k].inner, *blocks[k].outcomes)) for k in names}
            return p if name is None else p[name]

        return self._ask_each(X, ask, nothing)

    def entropy(self, X: Any, *, temperature: float | None = None) -> npt.NDArray[np.float64]:
        """Return the entropy of each example's distribution over outputs, in nats.

        0 where the model is certain; the log of the number of outputs where it knows nothing.

        Parameters
        ----------
        temperature : float, optional
            As for :meth:`predict_marginals`.
        """
        check_is_fitted(self)
        eps = 1.0 if is_empty(X) else self._asked_temperature(temperature)

        def ask(chunk: list[dict[str, Any]]) -> Any:
            return self.structure_.entropy(temperature=eps, n_jobs=self.n_jobs, **as_columns(chunk))

        return np.array(self._ask_each(X, ask, float), dtype=np.float64)

    def predict_proba(self, X: Any, y: Any = None, *, temperature: float | None = None) -> Any:
        """Return the probability of an output.

        Parameters
        ----------
        y : list of outputs, optional
            The outputs asked about; default the predicted ones. Where labels are None or sets, the
            probability is that of all outputs which they allow.

        Returns
        -------
        array of shape (n,)
            exp((score(y) − log Z)/ε). For multiclass without ``y``: the (n, K) probabilities.
        """
        check_is_fitted(self)
        X = reread(X)
        rest, gaps = self._without_empty(X)
        if gaps:  # what has no positions has one output, which is empty
            left_out = set(gaps)
            kept = None if y is None else [one for i, one in enumerate(y) if i not in left_out]
            found = self.predict_proba(rest, kept, temperature=temperature)
            return np.insert(found, np.array(gaps) - np.arange(len(gaps)), 1.0)
        if is_empty(X) and (y is None or is_empty(y)):
            singly = self.structure_.single_site and y is None
            return np.empty((0, len(self.classes_)) if singly else 0)
        if self.structure_.single_site and y is None:
            return np.array(self.predict_marginals(X, temperature=temperature))
        eps = self._asked_temperature(temperature)
        X = self._read(X)
        given = None
        if y is not None:
            given = self._read_outputs(X, y).outputs
        result: list[float] = []
        for chunk in self._score_chunks(X):
            columns = as_columns(chunk)
            values = self.structure_.log_partition(temperature=eps, n_jobs=self.n_jobs, **columns)
            if given is None:
                outputs = self.structure_.argmax(n_jobs=self.n_jobs, **columns)
            else:
                outputs = given[len(result) : len(result) + len(chunk)]
            for scores, output, value in zip(chunk, outputs, values, strict=True):
                score = self._score_of(output, scores, eps)
                result.append(min(1.0, float(np.exp((score - value) / eps))))
        return np.array(result)

    def _score_of(self, y: Any, scores: dict[str, Any], temperature: float) -> float:
        """Return the score of an output; where it leaves a choice, ε log Σ exp(score/ε) over it."""
        structure = self.structure_
        if structure.has_labels and any(map(is_open, structure.labels_of(y))):
            allowed = rule_out(structure, y, scores)
            return float(structure.log_partition(temperature=temperature, **allowed))
        return float(structure.score(y, **scores))

    # -- scoring --------------------------------------------------------------------------------

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of labels that are predicted right.

        For dependency trees the share of arcs (UAS, LAS), for constituents bracket F1.

        Unknown labels, None, are left out; where y has a set of labels, any of them is right. A
        label that was not seen in training is never predicted, so it counts as wrong.
        """
        check_is_fitted(self)
        X = self._read(X)
        gold = self._read_outputs(X, y, unseen=True)
        predicted = self._predict_indices(X)
        given = check_sample_weight(sample_weight, len(predicted))
        weights = np.ones(len(predicted)) if given is None else given
        right = total = 0.0
        for i, output in enumerate(predicted):
            counted = self.structure_.agreement(gold.outputs[i], output)
            if counted is not None:
                right += weights[i] * counted[0]
                total += weights[i] * counted[1]
                continue
            if not self.structure_.has_labels:
                right += weights[i] * float(np.array_equal(output, gold.outputs[i]))
                total += weights[i]
                continue
            known = gold.labels[gold.ptr[i] : gold.ptr[i + 1]] != -1
            found = np.asarray(self.structure_.labels_of(output))
            right += weights[i] * float((gold.permits(i, found) & known).sum())
            total += weights[i] * float(known.sum())
        if total == 0:
            raise ValueError("score needs at least one known label in y")
        return float(right / total)

    def _read_outputs(self, X: Any, y: Any, *, unseen: bool = False) -> GoldOutputs:
        if self.structure_.single_site:
            y = read_labels(self, y)
        return read_outputs(self.structure_, y, self.classes_, self._sites(X), unseen=unseen)

    def _predict_indices(self, X: Any) -> list[Any]:
        return [
            y
            for chunk in self._score_chunks(X)
            for y in self.structure_.argmax(**as_columns(chunk), n_jobs=self.n_jobs)
        ]

    # -- names ----------------------------------------------------------------------------------

    def _name(self, output: Any) -> Any:
        """Return an output with the labels' own names."""
        if not self.structure_.has_labels:
            return output
        structure = self.structure_
        return structure.relabel(output, self.classes_[structure.labels_of(output)])

    def _name_all(self, outputs: list[Any]) -> Any:
        if self.structure_.single_site:
            return self.classes_[np.array(outputs, dtype=np.int64)]
        return [self._name(y) for y in outputs]

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        # A classifier only where y is one label an example: splitters then stratify by it.
        if self._is_multiclass:
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags()
        else:
            tags.input_tags.two_d_array = False  # a list of examples, each with rows of its own
        return tags


def _has_no_rows(example: Any, block: str) -> bool:
    """Tell whether an example has no positions; where it has blocks, that of the labels tells."""
    if isinstance(example, Mapping) and not hasattr(example, "shape"):  # some matrices are mappings
        example = example.get(block)
    if isinstance(example, (list, tuple)):
        return not example
    shape: tuple[int, ...] = getattr(example, "shape", None) or ()
    return len(shape) in (2, 3) and shape[0] == 0  # three axes: segments by start and length


def chunks(n: int) -> Iterator[range]:
    """Yield ranges that cover 0..n−1."""
    for begin in range(0, n, _CHUNK):
        yield range(begin, min(n, begin + _CHUNK))


def as_columns(chunk: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return a batch of the structure: one list per block."""
    return {name: [scores[name] for scores in chunk] for name in chunk[0]}
