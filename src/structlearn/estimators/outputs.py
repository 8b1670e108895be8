"""Outputs as users write them, and as learners read them: label indices."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from numbers import Real
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .. import _core
from ..array_types import Integers, Vector
from ..features.arrays import as_floats
from ..features.encoder import is_empty, len_or_rows
from ..fitting.example_weights import check_sample_weight, refuse_no_weight
from ..problem.gold import GoldOutputs
from ..structures.base import Structure

Made = TypeVar("Made")


def reread(given: Any) -> Any:
    """Return X or y in a form that can be read several times, unlike an iterator."""
    return list(given) if hasattr(given, "__next__") else given


def as_outputs(y: Any, n: int | None = None) -> list[Any]:
    """Return y as a list of n outputs; refuse anything else."""
    if y is None:
        raise ValueError("y is needed: one output for each example of X")
    if isinstance(y, (str, bytes, Mapping, set, frozenset)):
        raise ValueError(f"y must be a list of outputs, got {type(y).__name__}")
    try:
        outputs = (
            y.tolist()
            if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype != object
            else list(y)
        )
    except TypeError:
        raise ValueError(f"y must be a list of outputs, got {type(y).__name__}") from None
    if n is not None and len(outputs) != n:
        raise ValueError(f"X has {n} examples, y has {len(outputs)} outputs")
    return outputs


def _plain(labels: Any) -> list[Any]:
    return labels.tolist() if isinstance(labels, np.ndarray) else list(labels)


def labels_by_example(structure: Structure, outputs: list[Any]) -> list[list[Any]]:
    """Return each output's labels, as plain Python objects."""
    rows = []
    for i, y in enumerate(outputs):
        if isinstance(y, (str, bytes)) and not _is_scalar_output(structure):
            raise ValueError(f"example {i}: the output {y!r} is a string, not a sequence of labels")
        if isinstance(y, (set, frozenset)) and not _is_scalar_output(structure):
            raise ValueError(
                f"example {i}: the output {y!r} is a set, not a sequence of labels; a position of "
                "the sequence may be a set of labels"
            )
        try:
            rows.append(_plain(structure.labels_of(y)))
        except TypeError:
            raise ValueError(f"example {i}: the output {y!r} is not a sequence of labels") from None
        except ValueError as error:
            raise ValueError(f"example {i}: {error}") from None
    return rows


def _is_scalar_output(structure: Structure) -> bool:
    try:
        return structure.labels_of("xy") == ["xy"]
    except ValueError:
        return False


def find_classes(structure: Structure, y: Any) -> npt.NDArray[Any]:
    """Return the sorted labels of y, also those in sets; None, an unknown label, is not one."""
    labels: set[Any] = set()
    for i, row in enumerate(labels_by_example(structure, as_outputs(y))):
        try:
            if any(isinstance(k, set) for k in row):
                row = [frozenset(k) if isinstance(k, set) else k for k in row]
            labels.update(row)
        except TypeError:
            raise ValueError(
                f"example {i}: a label is a string or a number, not a list{_no_labels(structure)}"
            ) from None
    if any(isinstance(k, tuple) for k in labels):
        raise ValueError(
            "a label is a string or a number, not a tuple; join its parts into a string"
            + _no_labels(structure)
        )
    sets = {k for k in labels if isinstance(k, frozenset)}
    return sort_classes((labels - sets).union(*sets) - {None})


def _no_labels(structure: Structure) -> str:
    """Return a hint for authors of structures; "" for the library's own."""
    if type(structure).__module__.startswith("structlearn."):
        return ""
    name = type(structure).__name__
    return f". If the outputs of {name} are not labels, set has_labels = False in the class"


def sort_classes(found: Iterable[Any]) -> npt.NDArray[Any]:
    """Return the labels as a sorted array; refuse NaN, mixed types and other objects."""
    # NumPy would convert members of a string enumeration to their names, cut short.
    plain = (str.__str__(k) if isinstance(k, str) else k for k in found)
    labels = list(dict.fromkeys(plain))
    if not labels:
        raise ValueError("y has no labels: every one of them is unknown (None)")
    if any(isinstance(k, float) and k != k for k in labels):
        raise ValueError("y contains NaN; write None for an unknown label")
    if any(isinstance(k, float) and math.isinf(k) for k in labels):
        raise ValueError("y contains infinity; a label is a string or a finite number")
    if cut := [k for k in labels if isinstance(k, str) and k.endswith("\0")]:
        raise ValueError(
            f"the label {cut[0]!r:.60} ends in NUL, which NumPy's strings lose: choose another name"
        )
    if any(isinstance(k, complex) for k in labels):
        raise ValueError("Complex data not supported: y has complex numbers")
    if any(isinstance(k, tuple) for k in labels):
        raise ValueError(
            "a label is a string or a number, not a tuple; join its parts into a string"
        )
    kinds = sorted({type(k).__name__ for k in labels})
    wrong = ValueError(f"a label is a string or a number, not of the type {kinds[0]}")
    try:
        classes = np.array(sorted(labels))
    except TypeError:
        if len(kinds) > 1:
            wrong = ValueError(f"the labels of y are of different types: {kinds}")
        raise wrong from None
    if classes.ndim != 1 or classes.dtype.kind not in "USOfiub":
        raise wrong
    return classes


def read_outputs(
    structure: Structure,
    y: Any,
    classes: npt.NDArray[Any],
    sites: list[int],
    *,
    check_sites: bool = True,
    unseen: bool = False,
) -> GoldOutputs:
    """Return the outputs as label indices; None is unknown, a set is one of its labels.

    A set of one label is that label, a set of all of them is None.

    Parameters
    ----------
    sites : list of int
        The number of labelled sites of each example, to compare lengths with.
    unseen : bool
        Give unknown labels the index K, which no prediction has; otherwise they are refused.
    """
    outputs = as_outputs(y, len(sites))
    if not structure.has_labels:
        for i, output in enumerate(outputs if structure.judges_outputs and check_sites else []):
            if np.ndim(output) == 0 or len(output) != sites[i]:
                raise ValueError(f"example {i}: y is {output!r}, X has {sites[i]} places for it")
        return GoldOutputs(
            outputs, np.empty(0, dtype=np.int64), np.zeros(len(outputs) + 1, dtype=np.int64)
        )
    rows = labels_by_example(structure, outputs)
    index = _LabelIndex(classes, unseen)
    for i, row in enumerate(rows):
        if check_sites and len(row) != sites[i]:
            raise ValueError(
                f"example {i}: y has {len(row)} labels, X has {sites[i]} positions"
                + _no_labels(structure)
            )
        for t, label in enumerate(row):
            if type(label) is str and label in index:  # nearly always
                continue
            if isinstance(label, (set, frozenset)):
                row[t] = label = frozenset(label)
            if label not in index:
                index.add(label, f"example {i}, position {t}")
    ptr = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=ptr[1:])
    labels = np.fromiter(
        (index[k] for k in chain.from_iterable(rows)), dtype=np.int64, count=int(ptr[-1])
    )
    bounds = ptr.tolist()
    indexed = [
        structure.relabel(y, index.with_sets(labels[a:b]))
        for y, a, b in zip(outputs, bounds[:-1], bounds[1:], strict=True)
    ]
    return GoldOutputs(indexed, labels, ptr, index.table())


class _LabelIndex(dict[Any, int]):
    """A mapping from labels, None and sets of labels to the codes of :class:`GoldOutputs`."""

    def __init__(self, classes: npt.NDArray[Any], unseen: bool = False) -> None:
        super().__init__((k, i) for i, k in enumerate(classes.tolist()))
        self.classes = classes
        self.unseen = unseen
        self.sets: list[frozenset[int]] = []
        self[None] = -1

    def add(self, label: Any, place: str) -> None:
        """Assign a code to a new set of labels, and to an unseen label if allowed."""
        if not isinstance(label, frozenset):
            if not self._may_be_unseen(label):
                raise ValueError(
                    f"{place}: label {label!r} is not among the classes {_some(self.classes)}"
                )
            self[label] = len(self.classes)
            return
        if not label:
            raise ValueError(
                f"{place}: the set of allowed labels is empty; None allows all of them"
            )
        for k in label:
            if k is None or (k not in self and not self._may_be_unseen(k)):
                raise ValueError(
                    f"{place}: label {k!r} of a set is not among the classes {_some(self.classes)}"
                )
        # Unseen members of a set are never predicted.
        members = frozenset(self[k] for k in label if k in self) - {len(self.classes)}
        if len(members) <= 1:
            self[label] = min(members, default=len(self.classes))
        elif len(members) == len(self.classes):
            self[label] = -1
        else:
            self[label] = -2 - len(self.sets)
            self.sets.append(members)

    def _may_be_unseen(self, label: Any) -> bool:
        """Tell whether a label that is not a class has their type, and such labels are allowed."""
        if not self.unseen:
            return False
        of = {"U": str, "S": bytes}.get(self.classes.dtype.kind)
        if of is not None:
            return isinstance(label, of)
        return isinstance(label, Real) and math.isfinite(label)

    def with_sets(self, codes: Integers) -> npt.NDArray[Any]:
        """Return the labels of an output, with sets in place of their codes."""
        if not self.sets or codes.min(initial=0) >= -1:
            return codes
        labels = codes.astype(object)
        for t in np.flatnonzero(codes <= -2):
            labels[t] = self.sets[-2 - codes[t]]
        return labels

    def table(self) -> npt.NDArray[np.bool_]:
        """Return the sets as rows over the labels."""
        table = np.zeros((len(self.sets), len(self.classes)), dtype=bool)
        for row, members in zip(table, self.sets, strict=True):
            row[list(members)] = True
        return table


def _some(classes: npt.NDArray[Any]) -> str:
    names = [repr(k) for k in classes[:8].tolist()]
    return ", ".join(names) + (f", … ({len(classes)} in all)" if len(classes) > 8 else "")


def with_present(
    prepare: Callable[[Any, Any, Vector | None], Made], X: Any, y: Any, sample_weight: Any
) -> Made:
    """Return ``prepare(X, y, weights)`` for the examples of weight above 0: others are absent."""
    if sample_weight is None:
        return prepare(X, y, None)
    weights = check_sample_weight(sample_weight, len_or_rows(X))
    refuse_no_weight(weights)
    assert weights is not None
    if weights.all():
        return prepare(X, y, weights)
    from sklearn.utils import _safe_indexing

    at = np.flatnonzero(weights)
    try:
        return prepare(_safe_indexing(X, at), _safe_indexing(y, at), weights[at])
    except Exception:
        prepare(X, y, weights)  # reports a bad example by its number in X
        raise


def lacks_examples(X: Any, y: Any, sample_weight: Any) -> bool:
    """Tell whether a batch has no examples, or none of weight above 0."""
    if is_empty(X) and is_empty(y):
        return True
    weights = check_sample_weight(sample_weight, len_or_rows(X))
    return weights is not None and not weights.any()


def whole_copies(sample_weight: Vector) -> Integers:
    """Return the number of copies that an example counts as when occurrences are counted.

    Weights rounded to whole numbers, at least 1, so that small weights drop no example.
    """
    return np.array(_core.copies_of(sample_weight.tolist()), dtype=np.int64)


def class_totals(gold: GoldOutputs, n_classes: int, sample_weight: Vector | None = None) -> Vector:
    """Return the weight of all labels of each class; a set counts as an equal share of each."""
    shares, rows = gold.shares(n_classes)
    each = None if sample_weight is None else np.repeat(sample_weight, np.diff(gold.ptr))
    is_known = rows >= 0
    weights = None if each is None else each[is_known]
    totals: Vector = np.bincount(rows[is_known], weights, minlength=len(shares)) @ shares
    return totals


def class_weights(
    class_weight: Any,
    classes: npt.NDArray[Any],
    gold: GoldOutputs,
    sample_weight: Vector | None = None,
) -> Vector | None:
    """Return the mean class weight of each example's labels; for one label, its weight.

    A set of labels weighs as much as its members on average; unknown labels are left out.
    """
    if class_weight is None:
        return None
    table = class_weight_table(
        class_weight, classes, class_totals(gold, len(classes), sample_weight)
    )
    assert table is not None
    shares, rows = gold.shares(len(classes))
    means = np.ones(len(gold.ptr) - 1)
    weights = shares @ table
    for i in range(len(means)):
        labels = rows[gold.ptr[i] : gold.ptr[i + 1]]
        if (labels >= 0).any():
            means[i] = weights[labels[labels >= 0]].mean()
    return means


def class_weight_table(
    class_weight: Any, classes: npt.NDArray[Any], counts: npt.NDArray[Any]
) -> Vector | None:
    """Return the weight of each class, or None; ``counts``: the total weight of each class."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(
                f"class_weight must be None, 'balanced' or a dict, got {class_weight!r}"
            )
        balanced: Vector = counts.sum() / (len(classes) * np.where(counts > 0, counts, 1.0))
        return balanced
    if not isinstance(class_weight, Mapping):
        raise ValueError(f"class_weight must be None, 'balanced' or a dict, got {class_weight!r}")
    unknown = set(class_weight) - set(classes.tolist())
    if unknown:
        raise ValueError(f"class_weight names {sorted(map(str, unknown))}, which are not classes")
    table = as_floats([class_weight.get(k, 1.0) for k in classes.tolist()], "class_weight")
    if not (np.isfinite(table) & (table >= 0)).all():
        raise ValueError("class weights must be finite and >= 0")
    return table
