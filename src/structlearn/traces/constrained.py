"""Searches under constraints: automata join the product as answers break them."""

from __future__ import annotations

from typing import Any

from ..constraints.constrained import Constrained
from ..constraints.readings import product_of, symbols_of
from ..exceptions import CapabilityError
from .trace import Trace


def constrained_search(structure: Constrained, **scores: Any) -> Trace:
    """Return the trace of a search among the outputs that keep to constraints.

    The search begins without automata. Those that reject its answer join the product, until an
    answer is accepted. What is best among more outputs, and accepted, is best.

    Parameters
    ----------
    structure : Constrained
        A chain or a segmentation under constraints that are masks and automata.
    **scores : arrays
        One example.

    Returns
    -------
    Trace
        Steps of kind "search": the numbers of the ``automata`` in the product, its ``states``, the
        best ``output`` in it with its ``value``, and the automata that are ``rejecting`` it. The
        constraints of the automata are in ``about``.

    Examples
    --------
    >>> import numpy as np
    >>> from structlearn.constraints import each_at_most_once, with_constraints
    >>> from structlearn.structures import Chain
    >>> once = with_constraints(Chain(), [each_at_most_once()])
    >>> trace = constrained_search(once, label=np.array([[3., 1., 0.], [2., 1., 0.], [4., 0., 2.]]))
    >>> for step in trace.steps:
    ...     print(step["output"], step["states"], step["rejecting"])
    [0, 0, 0] 1 [0]
    [1, 1, 0] 2 [1]
    [2, 1, 0] 4 []
    """
    theta, topology, compiled = structure._compiled(scores)
    if compiled.report.needs_program:
        raise CapabilityError(
            "a search without automata has no trace: these constraints need an integer program. "
            "What works: constraints on labels of chains and segmentations"
        )
    masked = {**compiled.mask(theta), **topology}
    automata, members = compiled.automata, set[int]()
    steps: list[dict[str, Any]] = []
    while True:
        joined = [automata[c] for c in sorted(members)]
        inner = product_of(structure.structure, joined) if joined else structure.structure
        found = inner.solve(**masked)
        symbols = symbols_of(structure.structure, found.output)
        rejecting = [c for c, one in enumerate(automata) if not one.accepts(symbols)]
        output = getattr(found.output, "tolist", lambda y=found.output: y)()
        steps.append({
            "kind": "search",
            "automata": sorted(members),
            "states": found.states or 1,
            "output": output,
            "value": found.value,
            "rejecting": rejecting,
        })  # fmt: skip
        if not rejecting:
            about = {"constraints": [str(one) for one, _ in compiled.every_automaton]}
            return Trace("constrained search", steps, output, found.value, about)
        members.update(rejecting)
