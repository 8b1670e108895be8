"""The conditional random field: maximum likelihood of the outputs given the inputs."""

from __future__ import annotations

from typing import Any

from .model import StructuredModel, store_parameters

__all__ = ["CRF"]


class CRF(StructuredModel):
    """Minimise ½‖w‖² + l1·‖w‖₁ + C·Σ_n [log Z(x_n) − s(x_n, y_n)].

    The preset margin 0, temperature 1 of :class:`StructuredModel`, which describes the parameters
    and attributes that are not below; other margins and temperatures give the rest of the family.
    With order 0 it is multinomial logistic regression.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the likelihood; CRFsuite's c2 is 1/(2C).
    l1 : float, default=0.0
        Weight of ‖w‖₁: many weights become exactly 0.
    solver : {"auto", "dual", "lbfgs", "sag", "projected", "sgd"}, default="auto"
        "dual" is dual coordinate ascent (:mod:`structlearn.learners.dual_ascent`): some ten passes
        where C·λ is small, λ the largest eigenvalue of an example's products of features, and slow
        where it is large; no l1. "auto" takes it where ``tol`` is at least 1e-6 and C·λ at most 50
        times the temperature, as with features of words, but not for long sequences of few dense
        features, nor with unknown labels; otherwise "lbfgs", or "sgd" at temperature 0. "sag":
        stochastic average gradient, as sure as "lbfgs" and about as fast. "projected": spectral
        projected gradients, for ``submodular=True``.
    temperature : float, default=1.0
        ε; towards 0 the loss becomes the perceptron's, or the hinge where there is a margin.
    margin : float, default=0.0
        γ; 1 is the softmax-margin loss.
    likelihood : {"auto", "exact", "pseudo", "loopy"}, default="auto"
        Of grids and graphs, whose sums over labellings are exact only where the treewidth is small.
        "exact" refuses other examples; "auto" warns and takes "loopy" for them. Both others are
        approximations, and ``approximate_`` says so. "pseudo": each label given the gold labels of
        its neighbours (J. Besag 1975); quick, convex and consistent, but with few smooth images
        it trusts neighbours too much, and best labellings may come out all of one label
        (``predict_marginals`` suffers less; an SVM does not); ``objective_`` and
        ``duality_gap_`` are those of the pseudo-likelihood, which bound nothing about the
        likelihood. "loopy": sums by loopy message passing, Bethe's approximation; not convex,
        ``duality_gap_`` is None. Solvers: "lbfgs", "projected", "sgd".
    tol : float, default=1e-3
        Stop where the proven gap is at most ``tol`` times the objective.
    max_iter : int, default=1000
        Iterations of L-BFGS; passes of the others.

    References
    ----------
    J. Lafferty, A. McCallum & F. Pereira (2001), Conditional random fields; K. Gimpel & N. Smith
    (2010), Softmax-margin CRFs.
    """

    def __init__(
        self,
        structure: Any = "chain",
        *,
        C: float = 1.0,
        l1: float = 0.0,
        solver: str = "auto",
        temperature: float = 1.0,
        margin: float = 0.0,
        cost: Any = "hamming",
        tol: float = 1e-3,
        max_iter: int = 1000,
        step: str = "decaying",
        average: bool = True,
        shuffle: bool = True,
        min_count: int = 0,
        all_possible_states: bool = False,
        all_possible_transitions: bool = True,
        boundaries: bool = True,
        hierarchy: Any = None,
        forbid: Any = None,
        constraints: Any = None,
        class_weight: Any = None,
        latent: str = "auto",
        submodular: bool = False,
        likelihood: str = "auto",
        warm_start: bool = False,
        checkpoint: Any = None,
        callbacks: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    _solvers = ("auto", "dual", "lbfgs", "sag", "projected", "sgd")
