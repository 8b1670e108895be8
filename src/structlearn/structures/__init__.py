"""Part scores in, structures out. Nothing here is learned; scores may come from anywhere."""

from .base import Structure
from .beam import BeamSearch
from .chains.chain import Chain
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

__all__ = [
    "Arborescence",
    "BeamSearch",
    "Block",
    "Chain",
    "Constituency",
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
