"""Built-in data: an authored treebank and words of handwritten digits.

Nothing here reads a file or the network at import time, and scikit-learn is imported only by the
function that needs its digits.
"""

from structlearn.datasets.digits import digit_transitions, load_digit_words
from structlearn.datasets.grammar import DEPRELS
from structlearn.datasets.lexicon import TAGS
from structlearn.datasets.sentence import Sentence
from structlearn.datasets.treebank import make_treebank

__all__ = [
    "DEPRELS",
    "TAGS",
    "Sentence",
    "digit_transitions",
    "load_digit_words",
    "make_treebank",
]
