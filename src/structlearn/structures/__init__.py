"""Part scores in, structures out. Nothing here is learned; scores may come from anywhere."""

from .arborescence import Arborescence
from .base import Block, Solution, Structure
from .beam import BeamSearch
from .chain import Chain
from .constituency import Constituency
from .exhaustive import Exhaustive
from .grammar import Grammar
from .graph import Graph
from .grid import Grid
from .hypergraph import Hyperedges
from .lattice import Lattice
from .matching import Matching
from .multiclass import Multiclass
from .program import Program, Relaxation
from .rows import ProgramRows, RowBuilder
from .semimarkov import SemiMarkov
from .spanning import SpanningTree
from .tree import Tree
from .trellis import Trellis, trellis

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
    "ProgramRows",
    "Relaxation",
    "RowBuilder",
    "SemiMarkov",
    "Solution",
    "SpanningTree",
    "Structure",
    "Tree",
    "Trellis",
    "trellis",
]
