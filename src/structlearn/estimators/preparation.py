"""The learning problem made from X, y and an estimator's parameters; the estimator is unchanged."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..array_types import Array, Integers
from ..features.encoder import ExampleEncoder
from ..features.hierarchy import ClassHierarchy
from ..features.rows import Examples
from ..losses.costs import as_cost
from ..problem.array_problem import ArrayProblem
from ..problem.gold import GoldOutputs
from ..problem.gold_parts import gold_parts
from ..scoring.layout import WeightBlock, WeightLayout, observed_outcomes
from ..structures.base import Structure
from ..structures.chains.chain import Chain
from ..structures.chains.semimarkov import SemiMarkov
from ..structures.graphs.graph import Graph
from ..structures.graphs.grid import Grid
from ..structures.graphs.matching import Matching
from ..structures.multiclass import Multiclass
from ..structures.parts import Block
from ..structures.trees.arborescence import Arborescence
from ..structures.trees.constituency import Constituency
from ..structures.trees.spanning import SpanningTree
from ..structures.trees.tree import Tree
from .approximation import choose_likelihood, make_cone, without_tables
from .constraints import constrain, split_constraints
from .forbidding import put_masks
from .legality import check_legal
from .outputs import class_totals, class_weights, find_classes, read_outputs, whole_copies

STRUCTURES: dict[str, type[Structure]] = {
    "multiclass": Multiclass,
    "chain": Chain,
    "semimarkov": SemiMarkov,
    "arborescence": Arborescence,
    "spanning-tree": SpanningTree,
    "constituency": Constituency,
    "tree": Tree,
    "graph": Graph,
    "grid": Grid,
    "matching": Matching,
}


class Before(NamedTuple):
    """The state that an earlier call of fit left."""

    encoder: ExampleEncoder
    layout: WeightLayout
    classes: npt.NDArray[Any]


@dataclass
class Frame:
    """All of a fitted model except its weights."""

    encoder: ExampleEncoder
    structure: Structure
    classes: npt.NDArray[Any]
    layout: WeightLayout
    #: The column names of each block, if its features came with names.
    columns: dict[str, npt.NDArray[Any]] = field(default_factory=dict, kw_only=True)


@dataclass
class Prepared(Frame):
    """Everything that fit computes before it learns; none of it is stored on the estimator yet."""

    problem: ArrayProblem
    #: The frequency of each label, examples counted by their weights.
    class_count: Array


def prepare(
    options: Any,
    X: Any,
    y: Any,
    sample_weight: Array | None = None,
    *,
    classes: Any = None,
    before: Before | None = None,
    known: Frame | None = None,
) -> Prepared:
    """Read X and y by the estimator's parameters, and set up the problem.

    Parameters
    ----------
    options : StructuredModel or Parameters
        Its parameters are read only.
    sample_weight : array of shape (n,), optional
        Above 0: a weight multiplies the loss of its example, which counts as that many copies when
        features and classes are counted.
    classes : array or None
        The labels, if known beforehand; otherwise those of y.
    before : Before or None
        The model of an earlier call, to be extended: its vocabulary and its weights stay.
    known : Frame or None
        Everything common to all shards, if X and y are one of them. Its layout may be None: the
        prepared one is then that of this shard.
    """
    structure = make_structure(options.structure, X, y)
    if known is not None:
        structure, encoder, classes = known.structure, known.encoder, known.classes
    elif before is not None:
        encoder = copy.deepcopy(before.encoder)  # a failure must not leave half a vocabulary
    else:
        encoder = make_encoder(options, structure)
    if known is None:
        copies = None if sample_weight is None else whole_copies(sample_weight)
        examples = encoder.fit_transform(X, copies)
    else:
        examples = encoder.transform(X)
    if classes is None and structure.has_labels:
        classes = find_classes(structure, y)
        if before is not None:
            if set(classes.tolist()) != set(before.classes.tolist()):
                raise ValueError(
                    "warm_start needs the same classes as before: "
                    f"{before.classes.tolist()}, got {classes.tolist()}"
                )
            classes = before.classes  # a model read from a file has its own order
    if classes is None:
        classes = np.empty(0, dtype=np.int64)
    if known is None:
        structure = constrain(structure, options, classes)
    gold = read_outputs(structure, y, classes, label_sites(structure, examples))

    def bare() -> ArrayProblem:
        n_features = {name: rows.n_features for name, rows in examples.blocks.items()}
        blocks = make_blocks(options, structure, n_features, classes)
        return ArrayProblem(structure, examples, WeightLayout(blocks))

    check_legal(structure, gold, options, classes, bare)
    weights = sample_weight
    by_class = class_weights(options.class_weight, classes, gold, sample_weight)
    if by_class is not None:
        weights = by_class if weights is None else weights * by_class
    if known is None or known.layout is None:
        layout, known_parts = _make_layout(options, structure, examples, gold, classes)
    else:
        layout, known_parts = known.layout, None
    if before is not None:
        layout = before.layout.grown(layout)
    cone = make_cone(options, structure, examples, layout, len(classes))
    likelihood = choose_likelihood(options, structure, examples, layout, gold)
    problem = ArrayProblem(
        structure,
        examples,
        layout,
        gold,
        as_cost(options.cost) if options.margin else None,
        weights,
        classes,
        cone,
        likelihood,
        known_parts,
    )
    counts = class_totals(gold, len(classes), sample_weight)
    return Prepared(encoder, structure, classes, layout, problem, counts)


def make_structure(structure: Any, X: Any = None, y: Any = None) -> Structure:
    """Return the structure for a name or an object; a named one is sized to X and y."""
    kind = kind_of_structure(structure)
    if isinstance(kind, type):
        made: Structure = kind.from_examples(X, y)
    else:
        made = kind if y is None else kind.for_examples(X, y)
    return made


def kind_of_structure(structure: Any) -> Structure | type[Structure]:
    """Return the class for a name, or the given structure."""
    if isinstance(structure, Structure):
        return structure
    if isinstance(structure, str) and structure in STRUCTURES:
        return STRUCTURES[structure]
    raise ValueError(
        f"structure must be one of {sorted(STRUCTURES)} or a Structure, got {structure!r}"
    )


def make_encoder(options: Any, structure: Structure) -> ExampleEncoder:
    """Return the reader of X set up by an estimator's parameters, still without encoders."""
    return ExampleEncoder(
        structure,
        single_site=structure.single_site,
        min_count=int(options.min_count),
    )


def make_blocks(
    options: Any, structure: Structure, n_features: Mapping[str, int], classes: npt.NDArray[Any]
) -> dict[str, WeightBlock | None]:
    """Return the blocks of weights set up by an estimator's parameters, all with dense rows.

    Parameters
    ----------
    n_features : mapping of str to int
        Number of features of each block that has them.
    """
    forbidden, _ = split_constraints(options, structure, classes)
    left_out = without_tables(options, structure, len(classes))
    blocks: dict[str, WeightBlock | None] = {}
    for name, spec in structure.blocks(len(classes)).items():
        masked = name in forbidden
        if name not in left_out:
            blocks[name] = _make_block(options, name, spec, n_features.get(name), masked)
        else:
            blocks[name] = None
    if options.hierarchy is not None:
        label = blocks[structure.label_block]
        assert label is not None
        label.hierarchy = ClassHierarchy(options.hierarchy, classes)
    inner = {name: spec.inner for name, spec in structure.blocks(len(classes)).items()}
    put_masks(forbidden, blocks, inner, classes)
    return blocks


def _make_layout(
    options: Any,
    structure: Structure,
    examples: Examples,
    gold: GoldOutputs,
    classes: npt.NDArray[Any],
) -> tuple[WeightLayout, dict[str, Any] | None]:
    """Return the layout of the weights, with the gold parts if these were computed for it."""
    n_features = {name: rows.n_features for name, rows in examples.blocks.items()}
    blocks = make_blocks(options, structure, n_features, classes)
    dense = WeightLayout(blocks)
    boundaries = {n for n, spec in structure.blocks(len(classes)).items() if spec.boundary}
    sparse = [
        name
        for name, block in dense.present().items()
        if name not in boundaries and _only_observed(options, block, name, examples)
    ]
    known_parts = None
    if sparse:
        outcomes, known_parts = _gold_outcomes(structure, examples, dense, gold, sparse)
        for name in sparse:
            block = blocks[name]
            assert block is not None
            rows = None if block.shared else examples.blocks[name]
            block.row_ptr, block.column, block.real = observed_outcomes(
                rows, block.n_columns, *outcomes[name]
            )
    return WeightLayout(blocks), known_parts


def _make_block(
    options: Any, name: str, spec: Block, n_features: int | None, masked: bool
) -> WeightBlock | None:
    if n_features is not None:
        return WeightBlock(spec.outcomes, n_features, shared=False)
    if not spec.shared:
        if spec.optional:
            return None
        raise ValueError(f"the examples have no features for the block {name!r}")
    if spec.boundary and not options.boundaries:
        if not masked:
            return None
        # A mask without weights.
        none = np.empty(0, dtype=np.uint32)
        return WeightBlock(
            spec.outcomes, 1, shared=True, row_ptr=np.zeros(2, dtype=np.uint32), column=none
        )
    return WeightBlock(spec.outcomes, 1, shared=True)


def _only_observed(options: Any, block: WeightBlock, name: str, examples: Examples) -> bool:
    if block.hierarchy is not None:
        return False
    if block.shared:
        return not options.all_possible_transitions
    if block.outcomes == ():  # one weight per feature: nothing to save
        return False
    return not (options.all_possible_states or examples.blocks[name].is_dense)


def label_sites(structure: Structure, examples: Examples) -> list[int]:
    """Return the number of labelled positions of each example."""
    rows = examples.blocks.get(structure.label_block)
    if rows is None:
        return [0] * examples.n
    if rows.site_shapes is not None:
        return [structure.n_places_of(rows.sites(i)) for i in range(rows.n_examples)]
    sizes: list[int] = rows.positions().tolist()
    return [structure.n_places(n) for n in sizes]


def _known_parts(structure: Structure, y: Any, shape: tuple[int, ...]) -> Integers:
    """Return the parts of the label block that a partial output names: labels and sets."""
    allowed = structure.allowed(y, shape).reshape(-1, shape[-1])
    sizes = allowed.sum(axis=1)
    return np.flatnonzero(allowed & ((sizes == 1) | (sizes < shape[-1]))[:, np.newaxis])


def _gold_outcomes(
    structure: Structure,
    examples: Examples,
    layout: WeightLayout,
    gold: GoldOutputs,
    names: list[str],
) -> tuple[dict[str, tuple[Any, Any]], dict[str, Any] | None]:
    """Return the gold parts of each named block as (row, outcome) pairs; all parts if computed."""
    pairs_by_block: dict[str, tuple[Any, Any]] = {}
    remaining = list(names)
    label = structure.label_block
    by_site = structure.has_labels and not structure.judges_outputs
    if label in remaining and by_site and not examples.blocks[label].inner:
        # Those of partly labelled examples count too; of a set, all members.
        single = np.flatnonzero(gold.labels >= 0)
        among = np.flatnonzero(gold.labels <= -2)
        place, member = np.nonzero(gold.sets[-2 - gold.labels[among]])
        pairs_by_block[label] = (
            np.concatenate([single, among[place]]),
            np.concatenate([gold.labels[single], member]),
        )
        remaining.remove(label)
    if not remaining:
        return pairs_by_block, None
    # Parts do not depend on which weights exist, so the final problem reuses them.
    problem = ArrayProblem(structure, examples, layout)
    spec = gold_parts(problem, problem.native, gold)
    pairs: dict[str, tuple[list[Any], list[Any]]] = {name: ([], []) for name in remaining}
    partial = gold.partial
    for i in range(examples.n):
        parts = spec["part"][spec["ptr"][i] : spec["ptr"][i + 1]].astype(np.int64)
        at = 0
        for name, shape in problem.shapes(i).items():
            size = prod(shape)
            block = layout.blocks[name]
            assert block is not None
            if name in pairs:
                if name == label and partial[i]:
                    named = _known_parts(structure, gold.outputs[i], shape)
                    parts = np.concatenate((parts, at + named))
                local = parts[(parts >= at) & (parts < at + size)] - at
                n_outcomes = prod(block.outcomes)
                first = 0 if block.shared else int(examples.blocks[name].site_ptr[i])
                pairs[name][0].append(first + local // n_outcomes)
                pairs[name][1].append(local % n_outcomes)
            at += size
    for name, (rows, outcomes) in pairs.items():
        pairs_by_block[name] = (np.concatenate(rows), np.concatenate(outcomes))
    return pairs_by_block, spec
