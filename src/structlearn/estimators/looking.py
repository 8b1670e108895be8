"""What an estimator has learned and what decided its predictions, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from ..exceptions import CapabilityError, InfeasibleError
from ..models.frames import as_records, contributions_frame
from ..structures.checks import check_count
from .predictor import Predictor

__all__ = ["Explained"]

Vector = npt.NDArray[np.float64]
#: From the number of an example, its scores and the difference of two outputs' parts to what each
#: named thing adds to the difference of their scores.
Contributions = Callable[[int, dict[str, Any], dict[str, Vector]], dict[str, float]]


class Explained(Predictor):
    """An estimator that one can look inside. A subclass gives the three methods below."""

    #: Whether negative weights speak against a label; logarithms of probabilities do not.
    _two_sided = True

    def _label_weights(self) -> tuple[Vector, Sequence[str]]:
        """Return the (K, d) weights of features for labels, and the names of the features."""
        raise AssertionError

    def _pair_weights(self) -> dict[str, Vector]:
        """Return the weights of "start", "end" and "transition" (pairs), those that there are."""
        raise AssertionError

    def _contributions(self, X: Any) -> Contributions:
        """Return what takes the difference of two outputs apart; of ``X`` as :meth:`_read` has it.

        Here by part: the score of a label at a position, of a pair of labels.
        """
        names = list(map(str, self.classes_))
        blocks = self.structure_.blocks(len(names))

        def contributions(i: int, scores: dict[str, Any], parts: dict[str, Vector]) -> Any:
            found: dict[str, float] = {}
            for block, difference in parts.items():
                for place in map(tuple, np.argwhere(difference)):
                    sites = difference.ndim - len(blocks[block].outcomes)
                    labels = " ".join(names[k] for k in place[sites:])
                    where = "".join(f" at {t}" for t in place[:sites])
                    score = float(np.asarray(scores[block])[place] * difference[place])
                    found[f"{block} {labels}{where}"] = score
            return found

        return contributions

    # -- what was learned -----------------------------------------------------------------------

    def top_features(self, label: Any = None, n: int = 10, *, as_frame: bool = False) -> Any:
        """Return the features with the largest weights of a label, for it and against it.

        Parameters
        ----------
        label : label, optional
            One of ``classes_``; by default all of them.
        n : int, default=10
            Features of each label.
        as_frame : bool, default=False
            A pandas DataFrame instead of a list.

        Returns
        -------
        list of dict
            label, feature, weight; by label, the largest weight (by its absolute value) first.
        """
        check_is_fitted(self)
        check_count(n)
        weights, names = self._label_weights()
        labels = self.classes_.tolist() if self.structure_.has_labels else [None]
        if label is not None and label not in labels:
            raise ValueError(f"the model has no label {label!r}; it has {labels}")
        rows = []
        for k, one in enumerate(labels):
            if label is not None and one != label:
                continue
            row = np.where(np.isfinite(weights[k]), weights[k], 0.0)
            size = np.abs(row) if self._two_sided else np.asarray(weights[k])
            for j in np.argsort(-size, kind="stable")[:n].tolist():
                if row[j]:
                    rows.append({"label": one, "feature": names[j], "weight": float(row[j])})
        return as_records(rows, ("label", "feature", "weight"), as_frame)

    def transitions(self, *, as_frame: bool = False) -> Any:
        """Return the weights of pairs of neighbouring labels.

        Parameters
        ----------
        as_frame : bool, default=False
            A pandas DataFrame instead of a list: a row for each label before, a column for each
            label after.

        Returns
        -------
        list of dict
            before, after, weight. "(start)" is before the first label, "(end)" after the last; in a
            chain of order 0 these are all. Weights of three labels and more, which chains of higher
            orders have beside them, are in the model's arrays.
        """
        check_is_fitted(self)
        blocks = self._pair_weights()
        if not blocks:
            raise CapabilityError(
                f"{self.structure_!r} has no transitions. What works: top_features, explain"
            )
        labels = self.classes_.tolist()
        rows = []
        for k, after in enumerate(labels if "start" in blocks else ()):
            rows.append(("(start)", after, float(blocks["start"][k])))
        for j, before in enumerate(labels):
            for k, after in enumerate(labels if "transition" in blocks else ()):
                rows.append((before, after, float(blocks["transition"][j, k])))
        for k, before in enumerate(labels if "end" in blocks else ()):
            rows.append((before, "(end)", float(blocks["end"][k])))
        columns = ("before", "after", "weight")
        records = [dict(zip(columns, row, strict=True)) for row in rows]
        return as_records(records, columns, as_frame, wide=True)

    def explain(self, X: Any, *, as_frame: bool = False) -> Any:
        """Return what decided the predictions, against their runners-up.

        Where an output is a label for each position, the runner-up of a position is the best output
        with another label there; for other outputs it is the second best one. The margin is the
        difference of their scores, and the contributions add up to it.

        Parameters
        ----------
        X : as ``predict`` takes it
        as_frame : bool, default=False
            A pandas DataFrame instead of a list, with a row for each contribution.

        Returns
        -------
        list of list of dict
            By example: position, label, runner_up, margin, contributions: (name, value), the
            largest (by its absolute value) first. Where there are no positions, position is None,
            and label and runner_up are whole outputs.
        """

        def answer(read: Any) -> list[list[dict[str, Any]]]:
            contributions = self._contributions(read)
            scores = (one for chunk in self._score_chunks(read) for one in chunk)
            return [list(self._decisions(i, one, contributions)) for i, one in enumerate(scores)]

        found = self._ask_all(X, answer, list)
        return contributions_frame(found) if as_frame else found

    def _decisions(
        self, i: int, scores: dict[str, Any], contributions: Contributions
    ) -> Iterator[dict[str, Any]]:
        structure = self.structure_
        best = structure.argmax(**scores)
        mine = structure.encode(best, **scores)
        for position, rival in self._rivals(best, scores):
            theirs = structure.encode(rival, **scores)
            parts = {name: np.asarray(mine[name] - theirs[name], float) for name in mine}
            named = contributions(i, scores, parts)
            ranked = sorted(named.items(), key=lambda part: (-abs(part[1]), part[0]))
            label, runner_up = self._name(best), self._name(rival)
            if position is not None:
                at = 0 if structure.single_site else position
                label, runner_up = (
                    self.classes_[structure.labels_of(y)].tolist()[at] for y in (best, rival)
                )
            yield {
                "position": position,
                "label": label,
                "runner_up": runner_up,
                "margin": float(structure.score(best, **scores) - structure.score(rival, **scores)),
                "contributions": [part for part in ranked if part[1]],
            }

    def _rivals(self, best: Any, scores: dict[str, Any]) -> Iterator[tuple[int | None, Any]]:
        """Yield the runner-up at each position; of the whole where there are no positions."""
        structure, block = self.structure_, self.structure_.label_block
        labels = structure.labels_of(best) if structure.has_labels else ()
        table = np.asarray(scores.get(block, ()), dtype=float)
        rows = table.reshape(-1, table.shape[-1]) if table.ndim else table
        if structure.has_labels and rows.shape == (len(labels), len(self.classes_)):
            for t, k in enumerate(labels):
                other = rows.copy()
                other[t, k] = -np.inf
                try:
                    yield t, structure.argmax(**{**scores, block: other.reshape(table.shape)})
                except InfeasibleError:
                    continue  # no other label is possible here
            return
        ranked = structure.kbest(2, **scores)
        if len(ranked) > 1:
            yield None, ranked[1][1]
