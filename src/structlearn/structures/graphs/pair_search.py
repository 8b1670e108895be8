"""Ways to a best labelling of a grid or a graph, and which one to take."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...exceptions import CapabilityError, InfeasibleError, NotSubmodularError
from ..base import nothing_legal
from .pair_model import PairModel
from .standard_model import StandardModel

__all__ = ["METHODS", "Found", "search"]

Integers = npt.NDArray[np.int64]

#: Sweeps of tree-reweighted messages for a bound.
_BOUND_ROUNDS = 50
#: They end where one takes no more than this share off what is between bound and value.
_LEAST_GAIN = 1e-3


class Found(NamedTuple):
    """A labelling with what is known about it."""

    labels: Integers
    value: float
    bound: float
    method: str

    @property
    def exact(self) -> bool:
        """Whether it is proven to be the best."""
        return self.bound <= self.value


def search(model: PairModel, method: str, *, bound: bool = True) -> Found:
    """Return a labelling by a method of :data:`METHODS`.

    Parameters
    ----------
    bound : bool
        Whether a bound is wanted where it costs extra.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {sorted(METHODS)}, got {method!r}")
    dead = np.flatnonzero(~np.isfinite(model.label).any(axis=1))
    if len(dead):  # no search, and no program, could find a label there
        raise InfeasibleError(
            f"no legal output is left: every label of {model.place(dead[0])} scores -inf"
        )
    if model.cliques is not None:
        _check_cliques(model, method)
    standard = StandardModel(model)
    found = METHODS[method](standard, bound)
    if found.value == -math.inf and method != "ilp":
        found = _by_program(standard, integer=True)  # a search may miss the few that are legal
    if found.value == -math.inf:
        raise nothing_legal()
    if math.isnan(found.value):  # a cut whose value nobody asked for
        return found
    value = model.native.score(found.labels)
    return found._replace(value=value, bound=standard.given_bound(found.value, found.bound, value))


#: What can take groups of nodes.
_WITH_CLIQUES = ("auto", "cut", "expansion", "swap", "lp", "ilp")


def _check_cliques(model: PairModel, method: str) -> None:
    assert model.cliques is not None
    if method not in _WITH_CLIQUES:
        raise CapabilityError(f"{method} does not take cliques. What works: {_WITH_CLIQUES}")
    negative = np.argwhere(model.cliques[1] < 0)
    if len(negative) and method not in ("lp", "ilp"):
        c, k = negative[0].tolist()
        raise CapabilityError(
            f"clique {c} loses by agreeing on label {k}; cuts need scores >= 0. What works: "
            'method="ilp"'
        )


def _auto(model: StandardModel, bound: bool) -> Found:
    if not model.has_pairs or model.n_labels == 1:
        return _independent(model)
    if model.n_labels == 2:
        labels, value, refused = model.native.cut(with_value=bound)
        if refused < 0:
            return Found(labels, value, value, "minimum cut")
    if model.elimination is not None:
        return _eliminate(model, bound)
    if model.n_labels == 2 and model.cliques is None:
        return _roof_dual(model, bound)
    found, truncated = _moves(model, swap=False)
    if (model.cliques is None and truncated) or found.value == -math.inf:
        other = _reweighted(model, bound)
        if other.value > found.value:
            found = found._replace(labels=other.labels, value=other.value, method=other.method)
        return found._replace(bound=other.bound)
    return _bounded(model, found) if bound else found


def _independent(model: StandardModel) -> Found:
    labels: Integers = model.label.argmax(axis=1)
    value = model.native.score(labels)
    return Found(labels, value, value, "maximum of each label")


def _eliminate(model: StandardModel, bound: bool) -> Found:
    if model.elimination is None:
        raise CapabilityError(
            "elimination needs a graph of small treewidth, and this one's tables would be too "
            'large. What works: method="auto", "expansion", "trws", "lp", "ilp"'
        )
    value, labels = model.elimination.best(model.label, model.tables)
    if value > -math.inf:
        value = model.native.score(labels)
    return Found(labels, value, value, "elimination")


def _cut(model: StandardModel, bound: bool) -> Found:
    if model.n_labels == 1:
        return _independent(model)
    if model.n_labels != 2:
        raise CapabilityError(
            f"one cut finds the best of two labels, here are {model.n_labels}. What works: "
            'method="expansion" or "swap", whose every move is a cut'
        )
    labels, value, refused = model.native.cut(with_value=bound)
    if refused >= 0:
        p, q = model.edges[refused].tolist()
        table = model.given.tables[refused].tolist()
        raise NotSubmodularError(
            f"edge {refused}, between {model.place(p)} and {model.place(q)}, is not submodular: "
            f"s[0, 0] + s[1, 1] < s[0, 1] + s[1, 0] with s = {table}, "
            'which no cut can represent; method="qpbo", "auto" or "ilp" take it'
        )
    return Found(labels, value, value, "minimum cut")


def _moves(
    model: StandardModel, *, swap: bool, start: Integers | None = None
) -> tuple[Found, bool]:
    if start is None:
        start = model.label.argmax(axis=1)
    labels, value, _, truncated = model.native.climb(start, swap, 1000)
    name = "alpha-beta-swap" if swap else "alpha-expansion"
    return Found(labels, value, math.inf, name), truncated


def _bounded(model: StandardModel, found: Found) -> Found:
    bound = model.native.messages(0.0, True, 0.0, _BOUND_ROUNDS, _LEAST_GAIN, False)[6]
    if model.cliques is not None:  # messages do not see them: each earns its most
        bound += float(np.maximum(model.cliques[1].max(axis=1), 0.0).sum())
    return found._replace(bound=max(found.value, bound))


def _expansion(model: StandardModel, bound: bool) -> Found:
    found, _ = _moves(model, swap=False)
    return _bounded(model, found) if bound else found


def _swap(model: StandardModel, bound: bool) -> Found:
    found, _ = _moves(model, swap=True)
    return _bounded(model, found) if bound else found


def _reweighted(model: StandardModel, bound: bool) -> Found:
    labels, value, _, _, _, _, limit = model.native.messages(
        0.0, True, 0.0, 200, _LEAST_GAIN / 10, False
    )
    return Found(labels, value, max(value, limit), "tree-reweighted messages")


def _max_product(model: StandardModel, bound: bool) -> Found:
    sizes = np.abs(model.label[np.isfinite(model.label) & (model.label < 0)])
    rest = 1e-6 * float(np.median(sizes)) if len(sizes) else 1e-6  # beside most scores
    labels, value, *_ = model.native.messages(0.0, False, 0.3, 200, rest, False)
    found = Found(labels, value, math.inf, "loopy max-product")
    return _bounded(model, found) if bound else found


def _roof_dual(model: StandardModel, bound: bool) -> Found:
    if model.n_labels != 2:
        raise CapabilityError(
            f"roof duality (qpbo) is for two labels, here are {model.n_labels}. What works: "
            'method="trws", "lp", "ilp"'
        )
    labels, limit = model.native.roof_dual()
    open_ones = labels < 0
    if not open_ones.any():
        value = model.native.score(labels)
        return Found(labels, value, value, "roof duality")
    # What is known stays; the rest is searched.
    guess, _, *_ = model.native.messages(0.0, True, 0.0, 100, _LEAST_GAIN, False)
    start = np.where(open_ones, guess, labels)
    found, _ = _moves(model, swap=False, start=start)
    return found._replace(
        bound=max(found.value, limit), method="roof duality, the open labels by expansion"
    )


def _by_program(model: StandardModel, *, integer: bool) -> Found:
    from .graph import Graph

    began = time.perf_counter()
    groups: dict[str, Any] = {}
    if model.cliques is not None:
        groups = {"clique": model.cliques[1], "cliques": model.cliques[0]}
    program = Graph(model.edges).as_program(label=model.label, edge=model.tables, **groups)
    left = None
    if model.time_limit is not None:
        left = max(model.time_limit - (time.perf_counter() - began), 0.0)
    try:
        return _solved(model, program, left) if integer else _relaxed(model, program, left)
    except TimeoutError:
        found = _quickly(model)
        if found.value == -math.inf:
            raise
        return _bounded(model, found)._replace(method=f"{found.method}, time for a program is out")


def _solved(model: StandardModel, program: Any, time_limit: float | None) -> Found:
    solution = program.solve(time_limit=time_limit)
    value = model.native.score(solution.output)
    if solution.exact:
        return Found(solution.output, value, value, solution.method)
    found = Found(solution.output, value, max(value, solution.bound), solution.method)
    other = _quickly(model)
    if other.value > found.value:  # branch and bound had hardly begun
        found = other._replace(bound=max(found.bound, other.value))
    return found._replace(bound=min(found.bound, _bounded(model, found).bound))


def _relaxed(model: StandardModel, program: Any, time_limit: float | None) -> Found:
    relaxed = program.relax(time_limit=time_limit)
    if relaxed.output is not None:
        value = model.native.score(relaxed.output)
        return Found(relaxed.output, value, max(value, relaxed.value), "linear program (highs)")
    start: Integers = relaxed.parts["label"].argmax(axis=1)
    if _loses_by_agreeing(model):
        value = model.native.score(start)
        return Found(start, value, max(value, relaxed.value), "linear program, rounded")
    found, _ = _moves(model, swap=False, start=start)
    return found._replace(
        bound=max(found.value, relaxed.value), method="linear program, rounded and improved by cuts"
    )


def _quickly(model: StandardModel) -> Found:
    """Return a labelling that takes no program, for those that are out of time."""
    if _loses_by_agreeing(model):
        return _independent(model)._replace(bound=math.inf)
    found = _moves(model, swap=False)[0]
    if model.cliques is None:
        other = _reweighted(model, bound=True)
        if other.value > found.value:
            return other
    return found


def _loses_by_agreeing(model: StandardModel) -> bool:
    return model.cliques is not None and bool((model.cliques[1] < 0).any())


def _integer_program(model: StandardModel, bound: bool) -> Found:
    return _by_program(model, integer=True)


def _linear_program(model: StandardModel, bound: bool) -> Found:
    return _by_program(model, integer=False)


METHODS: dict[str, Callable[[StandardModel, bool], Found]] = {
    "auto": _auto,
    "elimination": _eliminate,
    "cut": _cut,
    "expansion": _expansion,
    "swap": _swap,
    "max-product": _max_product,
    "trws": _reweighted,
    "qpbo": _roof_dual,
    "lp": _linear_program,
    "ilp": _integer_program,
}


def partial_labels(model: PairModel) -> Any:
    """Return the labels that roof duality proves, −1 for the others, and an upper bound."""
    if model.n_labels != 2 or model.cliques is not None:
        raise CapabilityError(
            f"roof duality is for two labels and pairs, here are {model.n_labels}"
        )
    standard = StandardModel(model)
    labels, bound = standard.native.roof_dual()
    return labels, standard.offset + bound / standard.scale
