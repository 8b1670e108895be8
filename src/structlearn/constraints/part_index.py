"""The parts that a selection stands for, as numbers in one vector over all blocks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from ..array_types import Integers
from ..structures.base import Structure
from .readings import alphabet_of
from .selections import Chunk, Label, Part, Selection


class PartIndex:
    """The parts of a structure for scores of given shapes, numbered block by block.

    Parameters
    ----------
    structure : Structure
        The structure that has the parts.
    theta : dict of arrays
        Scores and topology; only the shapes of the scores are read.
    classes : sequence of K labels, optional
        The labels by number; 0..K−1 by default.
    """

    def __init__(
        self, structure: Structure, theta: Mapping[str, Any], classes: Sequence[Any] | None
    ) -> None:
        self.structure = structure
        self.theta = theta
        shapes = structure.position_shapes(dict(theta))
        self.shapes = {k: shape for k, shape in shapes.items() if k not in structure.topology}
        self.first: dict[str, int] = {}
        at = 0
        for name, shape in self.shapes.items():
            self.first[name] = at
            at += math.prod(shape)
        self.n_parts = at
        label = structure.label_block
        if structure.has_labels and label not in self.shapes:
            raise ValueError(f"constraints on labels need {label} scores")
        self.n_labels = self.shapes[label][-1] if label in self.shapes else 0
        self.alphabet = alphabet_of(structure, classes or range(self.n_labels))

    def select(self, selections: Sequence[Selection]) -> Integers:
        """Return the parts of any of the selections; a chunk stands for its labels."""
        parts: list[Integers] = []
        for selection in selections:
            if isinstance(selection, Chunk):
                parts += map(self._everywhere, sorted(self.alphabet.chunk(selection.type)))
            elif isinstance(selection, Label):
                parts += self._label(selection)
            else:
                parts.append(self._part(selection))
        return np.unique(np.concatenate(parts))

    def numbers(self, label: Any) -> list[int]:
        """Return the indices of a label."""
        return sorted(self.alphabet.numbers(label))

    def place(self, place: Any) -> Any:
        """Return a place, checked and counted from the beginning."""
        positions = self._positions()
        self._check_place(place, positions, self.structure.label_block)
        if not isinstance(place, tuple):
            return int(place) % positions[0]
        return tuple(int(i) % n for i, n in zip(place, positions, strict=True))

    def at(self, place: Any, label: int | None = None) -> Integers:
        """Return the parts that give this place a label: the given one, or any."""
        block = self.structure.label_block
        positions = self._positions()
        costs = np.zeros((*positions, self.n_labels))
        self._check_place(place, positions, block)
        costs[place] = label is None
        if label is not None:
            costs[place][..., label] = 1.0
        spread = self.structure.label_costs(costs.reshape(-1, self.n_labels), **self.theta)
        return self.first[block] + np.flatnonzero(np.asarray(spread[block]).ravel() > 0)

    def pairs(self, place: Any, label: int, other: Any, labels: set[int]) -> Integers | None:
        """Return the parts that join ``label`` at a place with any of ``labels`` at another one.

        None if no block joins just these two places.
        """
        joined = self.structure.joined(place, other, **self.theta)
        if joined is None or joined[0] not in self.shapes:
            return None
        block, position, turned = joined
        shape = self.shapes[block]
        table = np.arange(math.prod(shape)).reshape(shape)[position]
        parts: Integers = (table.T if turned else table)[label, sorted(labels)]
        return self.first[block] + parts

    def _positions(self) -> tuple[int, ...]:
        block = self.structure.label_block
        shape = self.shapes[block]
        inner = len(self.structure.blocks(1)[block].inner)
        return shape[: len(shape) - 1 - inner]

    def _label(self, selection: Label) -> list[Integers]:
        numbers = self.numbers(selection.label)
        if selection.at is None:
            return list(map(self._everywhere, numbers))
        return [self.at(place, k) for place in selection.places for k in numbers]

    def _everywhere(self, k: int) -> Integers:
        block = self.structure.label_block
        numbers = np.arange(math.prod(self.shapes[block])).reshape(-1, self.n_labels)
        return self.first[block] + numbers[:, k]

    def _check_place(self, place: Any, positions: tuple[int, ...], block: str) -> None:
        axes = place if isinstance(place, tuple) else (place,)
        whole = all(isinstance(i, (int, np.integer)) for i in axes)
        fits = (
            len(axes) == len(positions)
            and all(-n <= i < n for i, n in zip(axes, positions, strict=True))
            if whole
            else False
        )
        if not fits:
            raise ValueError(
                f"a constraint names the position {place!r}; {block} has positions of shape "
                f"{positions}"
            )

    def _part(self, selection: Part) -> Integers:
        name = selection.block
        if name not in self.shapes:
            raise ValueError(
                f"a constraint names the block {name!r}; blocks are {list(self.shapes)}"
            )
        block, shape = self.structure.blocks(self.n_labels)[name], self.shapes[name]
        n_labels = len(block.outcomes)
        numbers = np.arange(math.prod(shape)).reshape(shape)
        outcome = list(selection.outcome)
        n_inner = len(block.inner) if len(outcome) == n_labels + len(block.inner) else 0
        if len(outcome) != n_labels + n_inner:
            raise ValueError(
                f"{selection} has {len(outcome)} labels; a part of {name} has {n_labels}"
            )
        sites, labels = outcome[:n_inner], [self.numbers(k) for k in outcome[n_inner:]]
        for site, n in zip(sites, block.inner, strict=False):
            if site not in range(1, n + 1):
                raise ValueError(f"{selection}: sites are numbered from 1 to {n}")
        front = shape[: len(shape) - n_labels - len(block.inner)]
        places: list[Any] = [(slice(None),) * len(front)]
        if selection.at is not None:
            for place in selection.places:
                self._check_place(place, front, name)
            places = [place if isinstance(place, tuple) else (place,) for place in selection.places]
        middle = tuple(i - 1 for i in sites) or (slice(None),) * len(block.inner)
        indices: list[Any] = [(*place, *middle, *k) for place in places for k in product(*labels)]
        parts = [np.ravel(numbers[index]) for index in indices]
        return self.first[name] + np.concatenate(parts)
