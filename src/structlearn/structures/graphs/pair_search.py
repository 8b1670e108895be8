"""Searches for a best labelling of a grid or a graph, and the choice among them."""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

import numpy as np

from ...array_types import Integers
from ...exceptions import CapabilityError, InfeasibleError, NotSubmodularError
from ..checks import nothing_legal
from .pair_model import PairModel
from .standard_model import StandardModel

#: The most sweeps of tree-reweighted messages for a bound.
_BOUND_ROUNDS = 50
#: They stop when one closes no more than this share of the gap between bound and value.
_LEAST_GAIN = 1e-3

#: The search methods. Those that are not programs are the core's.
METHODS = (
    "auto",
    "elimination",
    "cut",
    "expansion",
    "swap",
    "max-product",
    "trws",
    "qpbo",
    "lp",
    "ilp",
)
_PROGRAMS = ("lp", "ilp")
#: The methods that support groups of nodes.
_WITH_CLIQUES = ("auto", "cut", "expansion", "swap", "lp", "ilp")


class Found(NamedTuple):
    """A labelling with its value, bound and method."""

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
        Whether to compute a bound that costs extra.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {sorted(METHODS)}, got {method!r}")
    if method in _PROGRAMS:
        _check_labels(model)
        standard = StandardModel(model)
        rounded = _by_program(standard, integer=method == "ilp")
        if method == "lp" and rounded.value == -math.inf < rounded.bound:
            rounded = _by_program(standard, integer=True)  # rounding missed the few legal ones
        return _given(rounded, model)
    *result, refusal, place = model.native.search(method, bound)
    if refusal:
        raise _refused(model, method, refusal, place)
    if result[1] == -math.inf:  # a search may miss the few legal ones
        return _given(_by_program(StandardModel(model), integer=True), model)
    return Found(*result)


def _given(found: Found, model: PairModel) -> Found:
    """Return a result of the standard model in the units of the given one."""
    if found.value == -math.inf:
        raise nothing_legal()
    value = model.native.score(found.labels)
    bound = model.native.given_bound(found.value, found.bound, value)
    return found._replace(value=value, bound=bound)


def _check_labels(model: PairModel) -> None:
    dead = np.flatnonzero(~np.isfinite(model.label).any(axis=1))
    if len(dead):  # no search and no program could give it a label
        raise _no_label(model, int(dead[0]))


def _no_label(model: PairModel, node: int) -> InfeasibleError:
    return InfeasibleError(
        f"no legal output is left: every label of {model.place(node)} scores -inf"
    )


def _refused(model: PairModel, method: str, refusal: str, place: int) -> ValueError:
    """Return the error that explains why a method of the core refuses a model."""
    if refusal == "no label":
        return _no_label(model, place)
    if refusal == "cliques":
        return CapabilityError(f"{method} does not take cliques. What works: {_WITH_CLIQUES}")
    if refusal == "negative clique":
        c, k = divmod(place, model.n_labels)
        return CapabilityError(
            f"clique {c} loses by agreeing on label {k}; cuts need scores >= 0. What works: "
            'method="ilp"'
        )
    if refusal == "too wide":
        return CapabilityError(
            "elimination needs a graph of small treewidth, and this one's tables would be too "
            'large. What works: method="auto", "expansion", "trws", "lp", "ilp"'
        )
    if refusal == "not submodular":
        p, q = model.edges[place].tolist()
        return NotSubmodularError(
            f"edge {place}, between {model.place(p)} and {model.place(q)}, is not submodular: "
            f"s[0, 0] + s[1, 1] < s[0, 1] + s[1, 0] with s = {model.tables[place].tolist()}, "
            'which no cut can represent; method="qpbo", "auto" or "ilp" take it'
        )
    if method == "qpbo":
        return CapabilityError(
            f"roof duality (qpbo) is for two labels, not {model.n_labels}. What works: "
            'method="trws", "lp", "ilp"'
        )
    return CapabilityError(
        f"one cut finds the best of two labels, not {model.n_labels}. What works: "
        'method="expansion" or "swap", whose every move is a cut'
    )


# -- programs -----------------------------------------------------------------------------------


def _bounded(model: StandardModel, found: Found) -> Found:
    bound = model.native.messages(0.0, True, 0.0, _BOUND_ROUNDS, _LEAST_GAIN, False)[6]
    if model.cliques is not None:  # messages ignore them, so each counts at its maximum
        bound += float(np.maximum(model.cliques[1].max(axis=1), 0.0).sum())
    return found._replace(bound=max(found.value, bound))


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
        quick = _quickly(model)
        if quick.value == -math.inf:
            raise
        return _bounded(model, quick)._replace(method=f"{quick.method}, time for a program is out")


def _solved(model: StandardModel, program: Any, time_limit: float | None) -> Found:
    solution = program.solve(time_limit=time_limit)
    value = model.native.score(solution.output)
    if solution.exact:
        return Found(solution.output, value, value, solution.method)
    result = Found(solution.output, value, max(value, solution.bound), solution.method)
    other = _quickly(model)
    if other.value > result.value:  # branch and bound had hardly begun
        result = other._replace(bound=max(result.bound, other.value))
    return result._replace(bound=min(result.bound, _bounded(model, result).bound))


def _relaxed(model: StandardModel, program: Any, time_limit: float | None) -> Found:
    relaxed = program.relax(time_limit=time_limit)
    if relaxed.output is not None:
        value = model.native.score(relaxed.output)
        return Found(relaxed.output, value, max(value, relaxed.value), "linear program (highs)")
    start: Integers = relaxed.parts["label"].argmax(axis=1)
    if _loses_by_agreeing(model):
        value = model.native.score(start)
        return Found(start, value, max(value, relaxed.value), "linear program, rounded")
    labels, value, _, _ = model.native.climb(start, False, 1000)
    return Found(
        labels, value, max(value, relaxed.value), "linear program, rounded and improved by cuts"
    )


def _quickly(model: StandardModel) -> Found:
    """Return a labelling without a program, if time has run out."""
    start: Integers = model.label.argmax(axis=1)
    if _loses_by_agreeing(model):
        return Found(start, model.native.score(start), math.inf, "maximum of each label")
    labels, value, _, _ = model.native.climb(start, False, 1000)
    expanded = Found(labels, value, math.inf, "alpha-expansion")
    if model.cliques is None:
        other = Found(*model.native.search("trws", True)[:4])
        if other.value > expanded.value:
            return other
    return expanded


def _loses_by_agreeing(model: StandardModel) -> bool:
    return model.cliques is not None and bool((model.cliques[1] < 0).any())


def partial_labels(model: PairModel) -> Any:
    """Return the labels that roof duality proves, −1 for the others, and an upper bound."""
    if model.n_labels != 2 or model.cliques is not None:
        raise CapabilityError(f"roof duality is for two labels and pairs, not {model.n_labels}")
    return model.native.partial_labels()
