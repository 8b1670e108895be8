"""Feature encoders and weight layouts in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ...array_types import Vector
from ...constraints.constrained import Constrained
from ...constraints.readings import alphabet_of
from ...features.arrays import DenseEncoder, SparseEncoder
from ...features.encoder import BlockEncoder, ExampleEncoder
from ...features.hierarchy import ClassHierarchy
from ...features.tokens import TokenEncoder
from ...features.vocabulary import Vocabulary
from ...fitting.kinds import Kind, Names, Unstorable, by_attributes
from ...fitting.values import Reader, Writer
from ...io.arrays import checked_array, checked_numbers
from ...scoring.layout import WeightBlock, WeightLayout
from ...scoring.rows import SparseWeights
from ...structures.base import Structure
from ...structures.parts import Block
from ..columns import Columns
from ..preparation import Frame


def whole_number(value: Any, what: str, most: int = 2**31 - 1) -> int:
    """Return a whole number from 0 to ``most``."""
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"{what} is {value!r}")
    return value


def write_frame(frame: Frame, weights: Vector, writer: Writer) -> dict[str, Any]:
    """Return a fitted model and its weights, as entries of a file's description."""
    encoder = frame.encoder
    learned = {
        "structure": frame.structure,
        "features": {
            "min_count": encoder.min_count,
            "blocks": encoder.encoders,
            "columns": frame.columns,
        },
        "weights": {"blocks": frame.layout.blocks, "values": weights},
    }
    return {"labels": write_classes(frame.classes, writer), **writer.value(learned)}


def read_frame(d: dict[str, Any], reader: Reader) -> tuple[Frame, Vector]:
    """Return the arguments of :func:`write_frame`; sizes, pointers and numbers are all checked."""
    structure = reader.value(d["structure"])
    if not isinstance(structure, Structure):
        raise ValueError(f"{structure!r} is not a structure")
    classes = read_classes(d["labels"], reader, structure.has_labels)
    inner = structure
    if isinstance(structure, Constrained):
        inner = structure.structure
        _check_constraints(structure, classes)
    for automaton in getattr(structure, "automata", ()):
        if automaton.next.shape[-1] != len(classes):
            raise ValueError(
                f"automata over {automaton.next.shape[-1]} labels instead of {len(classes)}"
            )
    features, weights = reader.value(d["features"]), reader.value(d["weights"])
    encoder = ExampleEncoder(
        inner,
        single_site=inner.single_site,
        min_count=whole_number(features["min_count"], "min_count"),
    )
    encoder.encoders.update(features["blocks"])
    if not all(isinstance(e, BlockEncoder) for e in encoder.encoders.values()):
        raise ValueError("features of an unknown encoder")
    expected, blocks = structure.blocks(len(classes)), weights["blocks"]
    if set(blocks) != set(expected) or not set(encoder.encoders) <= set(expected):
        raise ValueError(f"blocks {sorted(blocks)}; {structure!r} has {sorted(expected)}")
    values = checked_numbers(weights["values"], "the weights", (-1,))
    at = 0
    for name, spec in expected.items():
        block = blocks[name]
        _check_block(block, name, spec, encoder.encoders.get(name))
        if block is not None:
            if block.size > len(values) - at:
                raise ValueError(f"fewer weights than {name!r} needs")
            _check_rows(block, name, values[at : at + block.size])
            if block.hierarchy and len(block.hierarchy.member_ptr) != len(classes) + 1:
                raise ValueError("a hierarchy of other classes")
            at += block.size
    if at != len(values):
        raise ValueError(f"{len(values)} weights, but the blocks have {at}")
    widths = {name: e.n_features for name, e in encoder.encoders.items()}
    columns = checked_columns(features["columns"], widths)
    layout = WeightLayout({name: blocks[name] for name in expected})
    return Frame(encoder, structure, classes, layout, columns=columns), values


def write_classes(classes: npt.NDArray[Any], writer: Writer) -> Any:
    """Return the labels; refuse types that learners accept but files cannot store."""
    try:
        return writer.value(classes)
    except Unstorable:
        of = {type(k).__name__ for k in classes.tolist()}
        kind = " and ".join(sorted(of)) if classes.dtype == object else classes.dtype.name
        raise Unstorable(
            f"labels of the type {kind}; fit with strings, bytes or plain numbers as labels"
        ) from None


def read_classes(stored: Any, reader: Reader, has_labels: bool) -> npt.NDArray[Any]:
    """Return the labels, which must be distinct."""
    classes = reader.value(stored)
    if not isinstance(classes, np.ndarray) or classes.ndim != 1:
        raise ValueError("the labels are not a list")
    if has_labels and len(classes) == 0:
        raise ValueError("there are no labels")
    names = classes.tolist()
    if len(set(names)) != len(names) or any(name != name for name in names):
        raise ValueError("a label appears twice, or is not a number")
    return classes


def _check_constraints(structure: Constrained, classes: npt.NDArray[Any]) -> None:
    """Refuse constraints on unknown labels."""
    names = list(range(len(classes)))
    if structure.classes is not None:
        names = structure.classes
        if names != classes.tolist():
            raise ValueError("constraints on other labels")
    alphabet = alphabet_of(structure.structure, names)
    for constraint in structure.constraints:
        constraint.check(alphabet)


# -- features -------------------------------------------------------------------------------------


def checked_columns(columns: Any, widths: Mapping[str, int]) -> Columns:
    """Return the column names by block; a block has ``widths[block]`` of them."""
    for name, names in columns.items():
        if not isinstance(names, np.ndarray) or names.shape != (widths[name],):
            raise ValueError(f"the names of columns of {name!r} are not as many as its columns")
        if not all(isinstance(n, str) for n in names.tolist()):
            raise ValueError(f"the columns of {name!r} have names that are not strings")
    checked: Columns = columns
    return checked


def _array_encoder(kind: type[DenseEncoder | SparseEncoder]) -> Kind:
    def make(n_features: Any) -> DenseEncoder | SparseEncoder:
        encoder = kind()
        encoder.n_features = whole_number(n_features, "the number of columns")
        return encoder

    return by_attributes(make, "n_features")


def _token_encoder(min_count: Any, separator: Any, names: Any) -> TokenEncoder:
    if not isinstance(separator, str):
        raise ValueError("a separator that is not a string")
    if not isinstance(names, Names):
        raise ValueError("features without names")
    count = whole_number(min_count, "min_count")
    return TokenEncoder(count, separator=separator, vocabulary=Vocabulary(names))


def _token_arguments(encoder: TokenEncoder) -> dict[str, Any]:
    names = Names(encoder.vocabulary.names())
    return {"min_count": encoder.min_count, "separator": encoder.separator, "names": names}


# -- weights --------------------------------------------------------------------------------------


def _check_block(block: Any, name: str, spec: Block, encoder: BlockEncoder | None) -> None:
    """Refuse a block whose arrays contradict the structure or the features."""
    if block is None:
        if encoder is not None or not (spec.shared or spec.optional):
            raise ValueError(f"the block {name!r} has no weights")
        return
    if not isinstance(block, WeightBlock) or block.outcomes != tuple(spec.outcomes):
        raise ValueError(f"the weights of {name!r} are not those of its outcomes")
    n_features = 1 if encoder is None else encoder.n_features
    shared = encoder is None
    if block.shared is not shared or block.n_features != n_features or (shared and not spec.shared):
        raise ValueError(f"the weights of {name!r} are not those of its features")
    if block.hierarchy is not None:
        _check_hierarchy(block.hierarchy, spec)
    if block.mask is not None:
        mask = checked_array(
            block.mask, f"the mask of {name!r}", np.float64, (*spec.inner, *spec.outcomes)
        )
        if not ((mask == 0) | (mask == -np.inf)).all():
            raise ValueError(f"the mask of {name!r} has other numbers than 0 and -inf")
    if (block.row_ptr is None) is not (block.column is None):
        raise ValueError(f"half of the rows of {name!r}")
    if block.row_ptr is not None:
        checked_array(block.row_ptr, f"row_ptr of {name!r}", np.uint32, (n_features + 1,))
        checked_array(block.column, f"column of {name!r}", np.uint32, (-1,))
    if block.real is not None:
        checked_array(block.real, f"real of {name!r}", np.uint8, (block.size,))


def _check_rows(block: WeightBlock, name: str, weights: Vector) -> None:
    """Refuse pointers, outcomes and fillings that would crash the core."""
    if block.row_ptr is not None and block.column is not None:
        SparseWeights(block.row_ptr, block.column, weights, block.real).place(block, name)
    elif block.real is not None:
        raise ValueError(f"{name!r} has rows that are filled up, and none that are not")
    if block.real is not None and (weights[block.real == 0] != 0).any():
        raise ValueError(f"{name!r} has nonzero fillers")
    if block.real is not None and block.real.max(initial=0) > 1:
        raise ValueError(f"{name!r} has marks other than 0 and 1")


def _hierarchy(nodes: Any, member_ptr: Any, member: Any) -> ClassHierarchy:
    tree = ClassHierarchy.__new__(ClassHierarchy)  # its tree is a parameter, and may have changed
    tree.nodes = nodes
    tree.member_ptr = checked_array(member_ptr, "member_ptr", np.uint32, (-1,))
    tree.member = checked_array(member, "member", np.uint32, (-1,))
    return tree


def _check_hierarchy(tree: Any, spec: Block) -> None:
    """Refuse a hierarchy that would crash the core."""
    if not isinstance(tree, ClassHierarchy):
        raise ValueError("not a hierarchy")
    nodes = tree.nodes
    if not isinstance(nodes, list) or not all(isinstance(node, str) for node in nodes):
        raise ValueError("a hierarchy whose nodes have no names")
    bounds = tree.member_ptr.astype(np.int64)
    if (
        len(spec.outcomes) != 1
        or len(bounds) != spec.outcomes[0] + 1
        or len(nodes) < len(bounds) - 1
    ):
        raise ValueError("a hierarchy of other classes")
    if bounds[0] != 0 or bounds[-1] != len(tree.member) or (np.diff(bounds) < 1).any():
        raise ValueError("a hierarchy whose paths do not fit together")
    if tree.member.max(initial=0) >= len(nodes):
        raise ValueError("a hierarchy with a node that does not exist")


#: Class -> how its objects are stored: the parts of a fitted model besides its structure.
FRAME_KINDS: Mapping[type, Kind] = {
    DenseEncoder: _array_encoder(DenseEncoder),
    SparseEncoder: _array_encoder(SparseEncoder),
    TokenEncoder: Kind(_token_arguments, _token_encoder),
    ClassHierarchy: by_attributes(_hierarchy, "nodes", "member_ptr", "member"),
    WeightBlock: by_attributes(
        WeightBlock,
        *("outcomes", "n_features", "shared"),
        *("row_ptr", "column", "real", "mask", "hierarchy"),
    ),
}
