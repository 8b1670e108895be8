"""Objects of the library that are stored by the name of a class and its arguments.

They are built again by calling the class, so that whatever it refuses is refused in a file too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from itertools import accumulate, pairwise
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from ..constraints.accepted import Accepted
from ..constraints.automaton import Automaton
from ..constraints.constrained import Constrained
from ..constraints.counting import Count, EachAtMostOnce, IfThen
from ..constraints.ordering import Contiguous, Matches, NotAdjacent, Precedes
from ..constraints.selections import Chunk, Label, Part, Selection
from ..io.arrays import checked_array
from ..learners.cutting_planes import Round
from ..learners.dual_ascent import AscentState
from ..learners.hinge_dual import DualState
from ..learners.joint_constraints import JointConstraints
from ..learners.sag import SAGState
from ..losses.costs import Hamming, LabelCost, ZeroOne
from ..problem.online_state import OnlineState
from ..structures.base import Structure
from ..structures.chains.automata import automata_row, read_row
from ..structures.chains.chain import Chain
from ..structures.chains.constrained import ConstrainedChain, ConstrainedSemiMarkov
from ..structures.chains.semimarkov import SemiMarkov
from ..structures.exhaustive import Exhaustive, _Listed
from ..structures.graphs.graph import Graph
from ..structures.graphs.grid import Grid
from ..structures.graphs.matching import Matching
from ..structures.lattice import Lattice
from ..structures.multiclass import Multiclass
from ..structures.programs.program import Program
from ..structures.trees.arborescence import Arborescence
from ..structures.trees.constituency import Constituency
from ..structures.trees.grammar import Grammar
from ..structures.trees.spanning import SpanningTree
from ..structures.trees.tree import Tree

#: More symbols than any grammar has; each takes memory before its rules are looked at.
_MOST_SYMBOLS = 1 << 20


class Unstorable(TypeError):
    """A file cannot hold this; the message says what it is."""


class Kind(NamedTuple):
    """How objects of one class are stored.

    Attributes
    ----------
    arguments : callable
        Gives the arguments that make the same object again, by name.
    make : callable
        Takes them.
    """

    arguments: Callable[[Any], dict[str, Any]]
    make: Callable[..., Any]


def by_attributes(kind: Callable[..., Any], *names: str) -> Kind:
    """Return the kind whose arguments are attributes of the same names."""
    return Kind(lambda one: {name: getattr(one, name) for name in names}, kind)


class Names(list[str]):
    """Many strings that differ, which files hold as two arrays."""


def _joined(names: Names) -> dict[str, Any]:
    text = "".join(names).encode("utf-8", "surrogatepass")
    ends = np.fromiter(accumulate(map(len, names)), np.uint64, count=len(names))
    return {"text": np.frombuffer(text, dtype=np.uint8), "ends": ends}


def _split(text: Any, ends: Any) -> Names:
    letters = checked_array(text, "the text of names", np.uint8, (-1,))
    whole = letters.tobytes().decode("utf-8", "surrogatepass")
    bounds = [0, *checked_array(ends, "the ends of names", np.uint64, (-1,)).tolist()]
    if bounds != sorted(bounds) or bounds[-1] != len(whole):
        raise ValueError("strings that do not fit together")
    names = Names(whole[a:b] for a, b in pairwise(bounds))
    if len(set(names)) != len(names):
        raise ValueError("a name appears twice")
    return names


# -- constraints ----------------------------------------------------------------------------------


def _selections(parts: Any) -> tuple[Selection, ...]:
    if not isinstance(parts, tuple) or not parts:
        raise ValueError("a constraint without parts")
    if not all(isinstance(part, (Label, Chunk, Part)) for part in parts):
        raise ValueError(f"a constraint on {parts!r}, which are not parts")
    return parts


def _count(parts: Any, lower: Any, upper: Any) -> Count:
    for bound in (lower, upper):
        if isinstance(bound, bool) or not isinstance(bound, (int, float)) or bound != bound:
            raise ValueError(f"a constraint with the bound {bound!r}")
    return Count(_selections(parts), lower, upper)


def _if_then(condition: Any, consequence: Any) -> IfThen:
    return IfThen(_selections(condition), _selections(consequence))


def _of_labels(kind: Callable[[Any], Any]) -> Kind:
    """Return the kind of a constraint on labels and chunks, or on all of them."""

    def make(labels: Any) -> Any:
        if labels is not None and not isinstance(labels, tuple):
            raise ValueError(f"a constraint on {labels!r}, which are not labels")
        return kind(labels)

    return by_attributes(make, "labels")


def _precedes(first: Any, second: Any) -> Precedes:
    return Precedes(_selections(first), _selections(second))


def _not_adjacent(first: Any, second: Any) -> NotAdjacent:
    return NotAdjacent(*_selections((first, second)))


def _constrained(structure: Any, constraints: Any, classes: Any, time_limit: Any) -> Constrained:
    if not isinstance(structure, Structure):
        raise ValueError(f"constraints on {structure!r}, which is not a structure")
    return Constrained(structure, constraints, classes, time_limit)


def _accepted(by: Any) -> Accepted:
    if not isinstance(by, Automaton):
        raise ValueError(f"a constraint by {by!r}, which is not an automaton")
    return Accepted(by)


# -- structures -----------------------------------------------------------------------------------


def _grammar(n_symbols: Any, binary: Any, unary: Any, max_chain: Any) -> Grammar:
    if type(n_symbols) is not int or n_symbols > _MOST_SYMBOLS:
        raise ValueError(f"a grammar of {n_symbols!r} symbols")
    return Grammar(n_symbols, binary, unary, max_chain=max_chain)


def _under_automata(kind: Any, *names: str) -> Kind:
    """Return the kind of a structure under automata, which are one row of whole numbers."""

    def arguments(one: Any) -> dict[str, Any]:
        given = {name: getattr(one, name) for name in (*names, "max_states", "tolerance")}
        return {"automata": automata_row(one.automata), **given}

    def make(automata: Any, **rest: Any) -> Any:
        row = checked_array(automata, "automata", np.int64, (-1,))
        found = read_row(row)
        if not np.array_equal(automata_row(found), row):
            raise ValueError("a row that is no automata")
        return kind(found, **rest)

    return Kind(arguments, make)


def _listed(one: Exhaustive) -> dict[str, Any]:
    outputs = one._outputs
    if isinstance(outputs, _Listed):
        return {"outputs": outputs.outputs, "structure": one.structure}
    of = getattr(outputs, "__self__", None)
    if not isinstance(of, Structure) or outputs != of.outputs:
        raise Unstorable("an Exhaustive whose outputs come from a function")
    return {"outputs": of, "structure": one.structure}


def _exhaustive(outputs: Any, structure: Any) -> Exhaustive:
    if not isinstance(structure, Structure) or not isinstance(outputs, (list, Structure)):
        raise ValueError("an Exhaustive of neither outputs nor a structure")
    return Exhaustive(outputs, structure)


def _program_arguments(one: Program) -> dict[str, Any]:
    if one.structure is not None or one.given or one.given_topology or list(one.shapes) != ["part"]:
        raise Unstorable("the Program of another structure")
    rows = one.rows
    return {
        "indptr": np.asarray(rows.matrix.indptr, dtype=np.int64),
        "indices": np.asarray(rows.matrix.indices, dtype=np.int64),
        "values": rows.matrix.data,
        "lower": rows.lower,
        "upper": rows.upper,
        "n_parts": one.n_parts,
        "integer": rows.integer,
        "column_lower": rows.column_lower,
        "column_upper": rows.column_upper,
        "names": None if rows._names is None else [str(name) for name in rows._names],
        "solver": one.solver,
        "time_limit": one.time_limit,
    }


def _program(
    indptr: Any, indices: Any, values: Any, lower: Any, upper: Any, **rest: Any
) -> Program:
    from scipy import sparse

    shape = (len(lower), len(rest["column_lower"]))
    if (np.diff(indptr) < 0).any():  # SciPy's check looks no further where the last one is negative
        raise ValueError("rows that end before they begin")
    matrix = sparse.csr_array((values, indices, indptr), shape=shape)
    matrix.check_format(full_check=True)
    return Program(matrix, lower, upper, **rest)


def _graph_arguments(one: Graph) -> dict[str, Any]:
    names = ("method", "damping", "tolerance")
    return {"edges": one._ends, **{name: getattr(one, name) for name in names}}


# -- where learners stand ------------------------------------------------------------------------

#: Type that a state declares -> what a value of it must be; all others are arrays.
_DECLARED: dict[str, Any] = {"int": Integral, "float": Real, "dict": dict, "list": list}


def _state(kind: type[Any]) -> Kind:
    """Return the kind of a data class whose values must be what it declares."""
    declared = {
        field.name: _DECLARED.get(str(field.type).partition("[")[0], np.ndarray)
        for field in fields(kind)
    }

    def make(**values: Any) -> Any:
        for name, value in values.items():
            if not isinstance(value, declared[name]):
                raise ValueError(f"{name} of a {kind.__name__} is a {type(value).__name__}")
        return kind(**values)

    return by_attributes(make, *declared)  # not dataclasses.asdict, which would copy all arrays


#: Class -> how its objects are stored. Subclasses are not these classes: they are their authors'.
KINDS: Mapping[type, Kind] = {
    Multiclass: by_attributes(Multiclass),
    Chain: by_attributes(Chain, "order"),
    ConstrainedChain: _under_automata(ConstrainedChain, "order"),
    ConstrainedSemiMarkov: _under_automata(ConstrainedSemiMarkov, "max_length"),
    SemiMarkov: by_attributes(SemiMarkov, "max_length"),
    Tree: by_attributes(Tree, "parents"),
    Arborescence: by_attributes(Arborescence, "projective", "single_root", "labelled"),
    SpanningTree: Kind(lambda one: {"edges": one._ends}, SpanningTree),
    Matching: by_attributes(Matching),
    Constituency: by_attributes(Constituency, "grammar"),
    Grammar: by_attributes(_grammar, "n_symbols", "binary", "unary", "max_chain"),
    Grid: by_attributes(Grid, "method", "damping"),
    Graph: Kind(_graph_arguments, Graph),
    Lattice: Kind(
        lambda one: {"edges": one.table, "source": one.source, "target": one.target}, Lattice
    ),
    Exhaustive: Kind(_listed, _exhaustive),
    Program: Kind(_program_arguments, _program),
    Constrained: by_attributes(_constrained, "structure", "constraints", "classes", "time_limit"),
    Label: by_attributes(Label, "label", "at"),
    Chunk: by_attributes(Chunk, "type"),
    Part: by_attributes(
        lambda block, outcome, at: Part(block, *outcome, at=at), "block", "outcome", "at"
    ),
    Count: by_attributes(_count, "parts", "lower", "upper"),
    IfThen: by_attributes(_if_then, "condition", "consequence"),
    EachAtMostOnce: _of_labels(EachAtMostOnce),
    Contiguous: _of_labels(Contiguous),
    Precedes: by_attributes(_precedes, "first", "second"),
    NotAdjacent: by_attributes(_not_adjacent, "first", "second"),
    Matches: by_attributes(Matches, "pattern"),
    Accepted: by_attributes(_accepted, "by"),
    Automaton: by_attributes(Automaton, "next", "start", "accepting"),
    Hamming: by_attributes(Hamming, "normalize", "weights"),
    LabelCost: by_attributes(LabelCost, "table", "normalize", "weights"),
    ZeroOne: by_attributes(ZeroOne),
    Names: Kind(_joined, _split),
    **{
        state: _state(state)
        for state in (AscentState, DualState, JointConstraints, OnlineState, Round, SAGState)
    },
}
