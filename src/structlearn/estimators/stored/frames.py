"""What reads X, and which weights there are: vocabularies and layouts in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ...constraints import Label
from ...constraints.constrained import Constrained
from ...features.arrays import DenseEncoder, SparseEncoder
from ...features.encoder import BlockEncoder, ExampleEncoder
from ...features.hierarchy import ClassHierarchy
from ...features.tokens import TokenEncoder
from ...features.vocabulary import Vocabulary
from ...scoring.layout import WeightBlock, WeightLayout
from ...scoring.rows import SparseWeights
from ...structures.base import Structure
from ...structures.parts import Block
from ..columns import Columns
from ..preparation import Frame
from .kinds import Unstorable
from .values import Reader, Writer

__all__ = [
    "read_classes",
    "read_columns",
    "read_frame",
    "whole_number",
    "write_classes",
    "write_columns",
    "write_frame",
]

Vector = npt.NDArray[np.float64]

_KINDS: dict[str, type[DenseEncoder | SparseEncoder]] = {
    "dense": DenseEncoder,
    "sparse": SparseEncoder,
}


def whole_number(value: Any, what: str, most: int = 2**31 - 1) -> int:
    """Return a whole number from 0 to ``most``."""
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"{what} is {value!r}")
    return value


def write_frame(frame: Frame, weights: Vector, writer: Writer) -> dict[str, Any]:
    """Return all of a fitted model and its weights, as entries of a file's description."""
    encoder = frame.encoder
    return {
        "structure": writer.value(frame.structure),
        "labels": write_classes(frame.classes, writer),
        "features": {
            "min_count": encoder.min_count,
            "blocks": {n: _write_encoder(e, writer) for n, e in encoder.encoders.items()},
            "columns": write_columns(frame.columns, writer),
        },
        "weights": {
            "blocks": {n: _write_block(b, writer) for n, b in frame.layout.blocks.items()},
            "values": writer.array(weights),
        },
    }


def read_frame(d: dict[str, Any], reader: Reader) -> tuple[Frame, Vector]:
    """Return what :func:`write_frame` was given; sizes, pointers and numbers are all checked."""
    structure = reader.value(d["structure"])
    if not isinstance(structure, Structure):
        raise ValueError(f"{structure!r} is not a structure")
    classes = read_classes(d["labels"], reader, structure.has_labels)
    inner = structure
    if isinstance(structure, Constrained):
        inner = structure.structure
        _check_constraints(structure, classes)
    encoder = ExampleEncoder(
        inner,
        single_site=inner.single_site,
        min_count=whole_number(d["features"]["min_count"], "min_count"),
    )
    for name, stored in d["features"]["blocks"].items():
        encoder.encoders[name] = _read_encoder(stored, reader)
    expected = structure.blocks(len(classes))
    stored_blocks = d["weights"]["blocks"]
    unknown = (set(stored_blocks) | set(encoder.encoders)) - set(expected)
    if unknown or set(stored_blocks) != set(expected):
        raise ValueError(f"blocks {sorted(stored_blocks)}; {structure!r} has {sorted(expected)}")
    weights = reader.numbers(d["weights"]["values"], (-1,))
    blocks: dict[str, WeightBlock | None] = {}
    at = 0
    for name, spec in expected.items():
        features = encoder.encoders.get(name)
        block = _read_block(stored_blocks[name], name, spec, features, reader)
        if block is not None:
            if block.size > len(weights) - at:
                raise ValueError(f"there are not as many weights as {name!r} needs")
            _check_rows(block, name, weights[at : at + block.size])
            if block.hierarchy and len(block.hierarchy.member_ptr) != len(classes) + 1:
                raise ValueError("a hierarchy of other classes")
            at += block.size
        blocks[name] = block
    if at != len(weights):
        raise ValueError(f"{len(weights)} weights, where the blocks have {at}")
    widths = {name: one.n_features for name, one in encoder.encoders.items()}
    columns = read_columns(d["features"]["columns"], widths, reader)
    return Frame(encoder, structure, classes, WeightLayout(blocks), columns=columns), weights


def write_classes(classes: npt.NDArray[Any], writer: Writer) -> Any:
    """Return the labels; some that learners take are of types that files have not."""
    try:
        return writer.value(classes)
    except Unstorable:
        of = {type(k).__name__ for k in classes.tolist()}
        kind = " and ".join(sorted(of)) if classes.dtype == object else classes.dtype.name
        raise Unstorable(
            f"labels of the type {kind}; fit with strings, bytes or plain numbers as labels"
        ) from None


def read_classes(stored: Any, reader: Reader, has_labels: bool) -> npt.NDArray[Any]:
    """Return the labels, which must differ."""
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
    """Refuse constraints on labels that there are not."""
    names = list(range(len(classes)))
    if structure.classes is not None:
        names = structure.classes
        if names != classes.tolist():
            raise ValueError("constraints on other labels")
    for constraint in structure.constraints:
        for part in constraint.selections():
            if isinstance(part, Label) and part.label not in names:
                raise ValueError(f"a constraint on the label {part.label!r}, which does not exist")


# -- features -------------------------------------------------------------------------------------


def write_columns(columns: Columns, writer: Writer) -> dict[str, Any]:
    """Return the names of the columns of data frames, block by block."""
    return {name: writer.value(names) for name, names in columns.items()}


def read_columns(d: dict[str, Any], widths: Mapping[str, int], reader: Reader) -> Columns:
    """Return names of columns; of a block as many as it has, ``widths[block]``."""
    columns = {name: reader.value(names) for name, names in d.items()}
    for name, names in columns.items():
        if not isinstance(names, np.ndarray) or names.shape != (widths[name],):
            raise ValueError(f"not as many names of columns as {name!r} has columns")
        if not all(isinstance(one, str) for one in names.tolist()):
            raise ValueError(f"the columns of {name!r} have names that are not strings")
    return columns


def _write_encoder(encoder: BlockEncoder, writer: Writer) -> dict[str, Any]:
    if isinstance(encoder, TokenEncoder):
        return {
            "kind": "names",
            "min_count": encoder.min_count,
            "separator": encoder.separator,
            "names": writer.strings(encoder.vocabulary.names()),
        }
    kind = next(name for name, one in _KINDS.items() if isinstance(encoder, one))
    return {"kind": kind, "columns": encoder.n_features}


def _read_encoder(d: dict[str, Any], reader: Reader) -> BlockEncoder:
    if d["kind"] == "names":
        if not isinstance(d["separator"], str):
            raise ValueError("a separator that is not a string")
        return TokenEncoder(
            whole_number(d["min_count"], "min_count"),
            separator=d["separator"],
            vocabulary=Vocabulary(reader.strings(d["names"])),
        )
    encoder = _KINDS[d["kind"]]()
    encoder.n_features = whole_number(d["columns"], "the number of columns")
    return encoder


# -- weights --------------------------------------------------------------------------------------


def _write_block(block: WeightBlock | None, writer: Writer) -> dict[str, Any] | None:
    if block is None:
        return None
    found: dict[str, Any] = {"features": block.n_features, "shared": block.shared}
    for name in ("row_ptr", "column", "real", "mask"):
        array = getattr(block, name)
        found[name] = None if array is None else writer.array(array)
    tree = block.hierarchy
    if tree is not None:
        found["hierarchy"] = {
            "nodes": tree.nodes,
            "member_ptr": writer.array(tree.member_ptr),
            "member": writer.array(tree.member),
        }
    return found


def _read_block(
    d: Any, name: str, spec: Block, encoder: BlockEncoder | None, reader: Reader
) -> WeightBlock | None:
    """Return a block whose arrays agree with the structure and with the features."""
    if d is None:
        if encoder is not None or not (spec.shared or spec.optional):
            raise ValueError(f"the block {name!r} has no weights")
        return None
    shared = d["shared"]
    n_features = whole_number(d["features"], f"the number of features of {name!r}")
    has = 1 if encoder is None else encoder.n_features
    if shared is not (encoder is None) or n_features != has or (shared and not spec.shared):
        raise ValueError(f"the weights of {name!r} are not those of its features")
    block = WeightBlock(spec.outcomes, n_features, shared=shared)
    if d.get("hierarchy") is not None:
        block.hierarchy = _read_hierarchy(d["hierarchy"], spec, reader)
    if d["mask"] is not None:
        block.mask = reader.array(d["mask"], "F64", (*spec.inner, *spec.outcomes))
        if not ((block.mask == 0) | (block.mask == -np.inf)).all():
            raise ValueError(f"the mask of {name!r} has other numbers than 0 and -inf")
    if (d["row_ptr"] is None) is not (d["column"] is None):
        raise ValueError(f"half of the rows of {name!r}")
    if d["row_ptr"] is not None:
        block.row_ptr = reader.array(d["row_ptr"], "U32", (n_features + 1,))
        block.column = reader.array(d["column"], "U32", (-1,))
    if d["real"] is not None:
        block.real = reader.array(d["real"], "U8", (block.size,))
    return block


def _check_rows(block: WeightBlock, name: str, weights: Vector) -> None:
    """Refuse pointers, outcomes and fillings that the core must not see."""
    if block.row_ptr is not None and block.column is not None:
        SparseWeights(block.row_ptr, block.column, weights, block.real).place(block, name)
    elif block.real is not None:
        raise ValueError(f"{name!r} has rows that are filled up, and none that are not")
    if block.real is not None and (weights[block.real == 0] != 0).any():
        raise ValueError(f"{name!r} has weights where there are none")
    if block.real is not None and block.real.max(initial=0) > 1:
        raise ValueError(f"{name!r} has marks other than 0 and 1")


def _read_hierarchy(d: dict[str, Any], spec: Block, reader: Reader) -> ClassHierarchy:
    nodes = d["nodes"]
    if not isinstance(nodes, list) or not all(isinstance(node, str) for node in nodes):
        raise ValueError("a hierarchy whose nodes have no names")
    tree = ClassHierarchy.__new__(ClassHierarchy)  # its tree is a parameter, and may have changed
    tree.nodes = nodes
    tree.member_ptr = reader.array(d["member_ptr"], "U32", (-1,))
    tree.member = reader.array(d["member"], "U32", (-1,))
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
    return tree
