"""Several machines: training and labelling on a Ray cluster.

:func:`fit` trains every task and estimator on shards of a corpus, :func:`predict` labels files or a
Ray Dataset. Both need the extra ``structlearn[ray]``.
"""

from .labelling import Labelled, predict
from .training import fit

__all__ = ["Labelled", "fit", "predict"]
