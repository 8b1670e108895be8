"""Built-in data: an authored treebank, words of handwritten digits, images with masks.

Nothing here reads a file or the network at import time, and scikit-learn is imported only by the
functions that need its digits and photographs.
"""

from structlearn.datasets.digits import digit_transitions, load_digit_words
from structlearn.datasets.files import write_treebank
from structlearn.datasets.photographs import load_photograph
from structlearn.datasets.shapes import make_shapes
from structlearn.datasets.treebank import make_treebank

__all__ = [
    "digit_transitions",
    "load_digit_words",
    "load_photograph",
    "make_shapes",
    "make_treebank",
    "write_treebank",
]
