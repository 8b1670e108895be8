"""Structures: from part scores to outputs. Nothing is learned here; any scores will do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .base import Structure
    from .beam import BeamSearch
    from .chains.chain import Chain
    from .chains.constrained import CertifiedSum, ConstrainedChain, ConstrainedSemiMarkov
    from .chains.semimarkov import SemiMarkov
    from .chains.trellis import trellis
    from .exhaustive import Exhaustive
    from .graphs.graph import Graph
    from .graphs.grid import Grid
    from .graphs.matching import Matching
    from .hypergraph import Hyperedges
    from .lattice import Lattice
    from .multiclass import Multiclass
    from .parts import Block
    from .programs.program import Program
    from .solution import Solution
    from .trees.arborescence import Arborescence
    from .trees.constituency import Constituency
    from .trees.grammar import Grammar
    from .trees.spanning import SpanningTree
    from .trees.tree import Tree

_HOMES = {
    "Arborescence": "trees.arborescence",
    "BeamSearch": "beam",
    "Block": "parts",
    "CertifiedSum": "chains.constrained",
    "Chain": "chains.chain",
    "Constituency": "trees.constituency",
    "ConstrainedChain": "chains.constrained",
    "ConstrainedSemiMarkov": "chains.constrained",
    "Exhaustive": "exhaustive",
    "Grammar": "trees.grammar",
    "Graph": "graphs.graph",
    "Grid": "graphs.grid",
    "Hyperedges": "hypergraph",
    "Lattice": "lattice",
    "Matching": "graphs.matching",
    "Multiclass": "multiclass",
    "Program": "programs.program",
    "SemiMarkov": "chains.semimarkov",
    "Solution": "solution",
    "SpanningTree": "trees.spanning",
    "Structure": "base",
    "Tree": "trees.tree",
    "trellis": "chains.trellis",
}

__all__ = [
    "Arborescence",
    "BeamSearch",
    "Block",
    "CertifiedSum",
    "Chain",
    "Constituency",
    "ConstrainedChain",
    "ConstrainedSemiMarkov",
    "Exhaustive",
    "Grammar",
    "Graph",
    "Grid",
    "Hyperedges",
    "Lattice",
    "Matching",
    "Multiclass",
    "Program",
    "SemiMarkov",
    "Solution",
    "SpanningTree",
    "Structure",
    "Tree",
    "trellis",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
