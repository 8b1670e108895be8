"""The conditional random field: maximum likelihood of the outputs given the inputs."""

from __future__ import annotations

from ..fitting.learner_registry import CRFParameters
from .model import StructuredModel


class CRF(CRFParameters, StructuredModel):
    """Conditional random field: probabilities of the joint labels of a sequence, tree, ….

    The first choice for sequences if you need confidences. It makes the right outputs as probable
    as it can: it minimises ½‖w‖² + l1·‖w‖₁ + C·Σ_n [log Z(x_n) − s(x_n, y_n)], where s is the score
    of an output and log Z the sum over all outputs.

    :class:`StructuredModel` with margin 0 and temperature 1. Parameters and attributes that are not
    listed here are described there. Other margins and temperatures give the rest of the loss
    family. On chains of order 0 it is multinomial logistic regression.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the likelihood; CRFsuite's c2 is 1/(2C).
    l1 : float, default=0.0
        Weight of ‖w‖₁: many weights become exactly 0.
    solver : {"auto", "dual", "lbfgs", "sag", "projected", "sgd"}, default="auto"
        "dual": dual coordinate ascent (:mod:`structlearn.learners.dual_ascent`), without l1. It
        needs about ten passes if C·λ is small, where λ is the largest eigenvalue of the Gram matrix
        of an example's features, and is slow if C·λ is large. "auto" chooses it if ``tol`` is at
        least 1e-6 and C·λ at most 50 times the temperature, as is usual for features of words, but
        not for long sequences with few dense features or with unknown labels; otherwise "lbfgs", or
        "sgd" at temperature 0. "sag": stochastic average gradient, as reliable as "lbfgs" and about
        as fast. "projected": spectral projected gradients, for ``submodular=True``.
    temperature : float, default=1.0
        ε; as it goes to 0, the loss becomes that of the perceptron, or the hinge if the margin is
        above 0.
    margin : float, default=0.0
        γ; 1 is the softmax-margin loss.
    likelihood : {"auto", "exact", "pseudo", "loopy"}, default="auto"
        For grids and graphs, whose sums over labellings are exact only if the treewidth is small.
        "exact" raises an error for other examples; "auto" warns and uses "loopy" for them. The
        other two are approximations, as ``approximate_`` records. "pseudo": the probability of each
        label given the gold labels of its neighbours (J. Besag 1975). It is fast, convex and
        consistent, but trained on few smooth images it overrates neighbours, and the best labelling
        may consist of a single label (``predict_marginals`` suffers less; an SVM does not);
        ``objective_`` and ``duality_gap_`` are those of the pseudo-likelihood and do not bound the
        likelihood. "loopy": sums by loopy message passing (the Bethe approximation), which is not
        convex; ``duality_gap_`` is None. Supported by "lbfgs", "projected" and "sgd".
    tol : float, default=1e-3
        Stop when the proven gap is at most ``tol`` times the objective.
    max_iter : int, default=1000
        Maximum number of iterations of L-BFGS, or of passes of the other solvers.

    References
    ----------
    J. Lafferty, A. McCallum & F. Pereira (2001), Conditional random fields; K. Gimpel & N. Smith
    (2010), Softmax-margin CRFs.
    """
