"""The reader of X, which decides at fit what kind of X it is."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from numbers import Complex
from typing import Any

import numpy as np

from ..array_types import Integers
from ..structures.base import Structure
from .arrays import DenseEncoder, SparseEncoder, as_floats, is_sparse
from .rows import Examples, FeatureRows, Where
from .tokens import TokenEncoder

BlockEncoder = DenseEncoder | SparseEncoder | TokenEncoder


class ExampleEncoder:
    """Reads X into :class:`Examples`, block by block.

    For a structure whose examples are single sites (multiclass), X is an (n, d) array or sparse
    matrix, or a list of n tokens. Otherwise X is a list with, for each example, the features of the
    label block — an array, a sparse matrix, a list of tokens — or a dictionary of block names
    to features (and what the structure's topology needs).

    Parameters
    ----------
    structure : Structure
        The structure that defines the blocks.
    single_site : bool
        Whether each example is one site.
    min_count : int
        The cut-off for named features.
    """

    def __init__(self, structure: Structure, *, single_site: bool, min_count: int = 0) -> None:
        self.structure = structure
        self.single_site = single_site
        self.min_count = min_count
        self.encoders: dict[str, BlockEncoder] = {}

    def fit_transform(self, X: Any, copies: Integers | None = None) -> Examples:
        """Decide the kind of each block, learn vocabularies, and return the rows.

        Parameters
        ----------
        copies : array of shape (n,), optional
            The number of times that each example counts.
        """
        return self._read(X, learn=True, copies=copies)

    def transform(self, X: Any) -> Examples:
        """Return the rows, without extending the vocabularies."""
        return self._read(X, learn=False)

    def _read(self, X: Any, *, learn: bool, copies: Any = None) -> Examples:
        if isinstance(X, Examples):
            return X  # already feature rows
        if self.single_site:
            examples: list[dict[str, Any]] = [{"label": single_sites(X)}]
            topology: list[dict[str, Any]] = []
        else:
            examples, topology = self._split(as_list(X))
        columns = _columns(examples)
        expected = set(columns) if learn and not self.encoders else set(self.encoders)
        if set(columns) != expected:
            raise ValueError(
                f"the examples have features for {sorted(columns)}, expected {sorted(expected)}"
            )
        blocks: dict[str, FeatureRows] = {}
        for name, values in columns.items():
            encoder = self.encoders.get(name)
            if encoder is None:
                encoder = self.encoders[name] = self._new_encoder(values)
            values = [_prepare(encoder, v, i, name) for i, v in enumerate(values)]
            where = Where(name, self.single_site)
            if learn:
                blocks[name] = encoder.fit_transform(values, where, copies)
            else:
                blocks[name] = encoder.transform(values, where)
        if self.single_site:
            rows = blocks["label"]
            rows.site_ptr = np.arange(int(rows.site_ptr[-1]) + 1, dtype=np.int64)
            return Examples(rows.n_examples, blocks, single_site=True)
        self._check_sites(blocks)
        return Examples(len(examples), blocks, topology)

    def _split(self, examples: list[Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return each example as block → features, and its topology."""
        topology_names = set(self.structure.topology)
        blocks = self.structure.checked_blocks(1)
        allowed = set(blocks) | topology_names
        required = {name for name, block in blocks.items() if not (block.shared or block.optional)}
        split: list[dict[str, Any]] = []
        topology: list[dict[str, Any]] = []
        for i, example in enumerate(examples):
            if not isinstance(example, Mapping):
                example = {self.structure.label_block: example}
            unknown = set(example) - allowed
            if unknown and all(isinstance(e, Mapping) and not set(e) & allowed for e in examples):
                raise ValueError(
                    f"example {i} is one token, {_shown(example)}: pass a list of sentences, each "
                    "a list of tokens, [sentence] if there is only one. (An example may be a "
                    f"dictionary of blocks, {sorted(allowed)}.)"
                )
            if unknown:
                named = ", ".join(map(repr, sorted(map(str, unknown))))
                raise ValueError(
                    f"example {i}: {self.structure!r} has no block {named}; its blocks are "
                    f"{', '.join(map(repr, sorted(allowed)))}: an example is a dictionary of these"
                )
            split.append({k: v for k, v in example.items() if k not in topology_names})
            topology.append({k: v for k, v in example.items() if k in topology_names})
            if not required <= set(split[-1]):
                missing = sorted(required - set(split[-1]))
                raise ValueError(f"example {i} has no features for the block {missing[0]!r}")
            if set(split[-1]) != set(split[0]):
                raise ValueError(
                    f"example {i} has features for {sorted(split[-1])}, "
                    f"example 0 for {sorted(split[0])}"
                )
        return split, topology

    def _new_encoder(self, values: list[Any]) -> BlockEncoder:
        first = next((v for v in values if len_or_rows(v) > 0), values[0])
        if is_sparse(first):
            return SparseEncoder()
        if is_numeric(first):
            return DenseEncoder()
        return TokenEncoder(self.min_count)

    def _check_sites(self, blocks: dict[str, FeatureRows]) -> None:
        for name, rows in blocks.items():
            empty = np.flatnonzero(np.diff(rows.site_ptr) == 0)
            if name == self.structure.label_block and len(empty):
                raise ValueError(f"example {empty[0]} is empty: it has no positions")
            _lay_out(self.structure, name, rows)
            inner = self.structure.blocks(1)[name].inner
            if inner:
                _check_inner(name, rows, inner)
                rows.inner, rows.site_shapes = inner, None


def _lay_out(structure: Structure, name: str, rows: FeatureRows) -> None:
    """Give the sites of each example the shape that the structure requires, if any."""
    shapes: list[tuple[int, ...]] = []
    for i, n_sites in enumerate(np.diff(rows.site_ptr).tolist()):
        try:
            shape = structure.site_shape(name, n_sites)
        except ValueError as error:
            raise ValueError(f"example {i}: {error}") from None
        if shape is None:
            return
        actual = rows.sites(i)
        if len(actual) > 1 and actual != shape:
            raise ValueError(f"example {i}: {name} has sites of shape {actual}, expected {shape}")
        shapes.append(shape)
    rows.site_shapes = shapes


def _check_inner(name: str, rows: FeatureRows, inner: tuple[int, ...]) -> None:
    """Refuse sites that do not form groups of the shape ``inner``, one per position."""
    for i in range(rows.n_examples):
        sites = rows.sites(i)
        if len(sites) > 1 and sites[1:] != inner:
            raise ValueError(
                f"example {i}: {name} has sites of shape {sites}, expected (positions, "
                f"{', '.join(map(str, inner))})"
            )
        if prod(sites) % prod(inner):
            raise ValueError(
                f"example {i}: {name} has {prod(sites)} rows of features, not a multiple of the "
                f"{prod(inner)} per position"
            )


def len_or_rows(value: Any) -> int:
    """Return the number of sites in a block's features."""
    if not hasattr(value, "shape") and hasattr(value, "__array__"):
        value = np.asarray(value)
    shape = getattr(value, "shape", None)
    if shape:
        return int(shape[0])
    return len(value) if shape is None and hasattr(value, "__len__") else 0


def is_empty(X: Any) -> bool:
    """Tell whether X, a list, an array or a sparse matrix, has no examples."""
    if hasattr(X, "shape"):
        return bool(X.shape) and X.shape[0] == 0
    return isinstance(X, (list, tuple)) and not X


def as_list(X: Any) -> list[Any]:
    """Return X as a list of examples; refuse anything else."""
    if isinstance(X, (str, bytes, Mapping)) or is_sparse(X):
        raise ValueError(
            "X must be a list of examples, one array, sparse matrix or list of tokens each; "
            f"got {type(X).__name__}. Pass a list of sentences, [sentence] if there is only one"
        )
    try:
        examples = list(X)
    except TypeError:
        raise ValueError(f"X must be a list of examples, got {type(X).__name__}") from None
    if not examples:
        raise ValueError("X is empty: at least one example is needed")
    return examples


def single_sites(X: Any) -> Any:
    """Return X as a sparse matrix, an (n, d) array or a list of n tokens; refuse anything else."""
    sites: Any = X
    if not is_sparse(X) and hasattr(X, "__array__"):
        sites = np.asarray(X)
    elif hasattr(X, "to_numpy"):  # a data frame that is not an array-like
        sites = X.to_numpy()
    elif not is_sparse(X):
        sites = as_list(X)
        if is_numeric(sites[0]):
            sites = _stack(sites)
    shape = (len(sites),) if isinstance(sites, list) else sites.shape
    if shape and shape[0] == 0:
        raise ValueError("X is empty: at least one example is needed")
    if not isinstance(sites, list) and len(shape) != 2:
        raise ValueError(
            f"X must have two dimensions (examples, features), got shape {shape}. Reshape your "
            "data: X.reshape(1, -1) is one example, X.reshape(-1, 1) has one feature"
        )
    return sites


def _stack(rows: list[Any]) -> Any:
    """Return rows of numbers as one array; the error names a row of another length."""
    try:
        return as_floats(rows, "X")
    except ValueError:
        sizes = [np.size(row) for row in rows]
        for i, size in enumerate(sizes):
            if size != sizes[0]:
                message = f"example {i} has {size} features, example 0 has {sizes[0]}"
                raise ValueError(message) from None
        raise


def _columns(examples: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [e[name] for e in examples] for name in examples[0]}


def is_numeric(value: Any) -> bool:
    """Tell whether a value is an array or nested list of numbers, not a list of tokens."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "O" and value.size:
        value = value.flat[0]
    while isinstance(value, (list, tuple)) and len(value):
        value = value[0]
    if hasattr(value, "__array__"):
        return bool(np.asarray(value).dtype.kind in "biufc")
    return isinstance(value, Complex)


def _prepare(encoder: BlockEncoder, value: Any, i: int, name: str) -> Any:
    """Convert one example's features to the form that its encoder reads."""
    if isinstance(encoder, SparseEncoder):
        if is_sparse(value) or (isinstance(value, np.ndarray) and value.ndim == 2):
            return value  # dense arrays are converted
        raise ValueError(f"example {i}: {name} is not a sparse matrix like the others")
    if isinstance(encoder, DenseEncoder):
        dense = value.toarray() if is_sparse(value) else value
        array = as_floats(dense, f"example {i}: {name}")
        if array.size == 0 and array.ndim < 2:
            raise ValueError(f"example {i} is empty: it has no positions")
        if array.ndim < 2:
            raise ValueError(
                f"example {i}: {name} has shape {array.shape}, expected (positions, features)"
            )
        return array
    return value  # the core reads tokens


def _shown(example: Mapping[Any, Any]) -> str:
    """Return the beginning of a dictionary, for messages."""
    names = ", ".join(f"{name!r}: …" for name in list(example)[:2])
    return f"{{{names}{', …' if len(example) > 2 else ''}}}"
