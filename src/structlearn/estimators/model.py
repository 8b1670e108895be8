"""The one estimator; all convex and online learners are presets of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..array_types import Vector
from ..exceptions import INTERRUPTED
from ..features.arrays import DenseEncoder, SparseEncoder
from ..fitting.learner_registry import LearningParameters
from ..fitting.learning import Kept, learn, warn_unless_converged
from ..fitting.parameters import Choice, Number, Switch, Whole, parameter
from ..learners.base import Training
from ..learners.solvers import SOLVERS
from ..models.string_chain import StringChain
from ..problem.array_problem import ArrayProblem
from .approximation import APPROXIMATE
from .array_model import ArrayModel, Contributions
from .columns import Columns, read_labels, read_sites, read_tables
from .constraints import describe_constraints, under
from .curve import LossCurve
from .legality import without_illegal
from .outputs import lacks_examples, reread, sort_classes, with_present
from .preparation import Before, Frame, Prepared, kind_of_structure, make_structure, prepare
from .problem_inputs import ProblemInputs
from .rounds import CuttingPlaneRound, read_rounds
from .stored.models import read_model, write_model
from .string_chains import ChainInputs, HeldChain, are_token_lists, from_chain, to_chain
from .summary import summary_html
from .weights import label_weights, pair_weights, weight_contributions


def _learns_online(estimator: Any) -> bool:
    if not estimator._online_solver():
        raise AttributeError(
            f"partial_fit needs an online learner; {estimator.solver!r} goes over all the data "
            "again and again. Use solver='sgd'"
        )
    return True


class StructuredModel(LearningParameters, ArrayModel):
    """A linear model of joint scores: features → part scores → structure, learned by one loss.

    Minimises ½‖w‖² + l1·‖w‖₁ + C·Σ_n loss_n over the loss family of margin γ and temperature ε
    (:mod:`structlearn.losses`), or runs an online learner over it.

    Parameters
    ----------
    structure : {"chain", "multiclass", "semimarkov", "arborescence", "spanning-tree"} or \
            Structure, default="chain"
        "semimarkov" takes ``max_length`` from the examples: their number of feature rows per
        position.
    cost : {"hamming", "hamming-mean", "zero-one"}, (K, K) array or Cost, default="hamming"
        Δ(gold, predicted); used if the margin is not 0.
    margin : float, default=1.0
        γ.
    temperature : float, default=0.0
        ε. With the zero-one cost it must be 0 or at least a twelfth of the margin; values in
        between would lose precision.
    C : float, default=1.0
        Weight of the losses relative to the regulariser.
    l1 : float, default=0.0
        Weight of ‖w‖₁. Only solver "lbfgs" supports it, by OWL-QN.
    solver : str or object, default="auto"
        "perceptron" (γ = ε = 0); "sgd"; "passive-aggressive", "adagrad" and "arow" (the solvers of
        :class:`PassiveAggressive`, :class:`AdaGrad` and :class:`AROW`); "frank-wolfe", "n-slack",
        "one-slack" and "annealing" for the hinge loss (γ > 0, ε = 0); "lbfgs", "dual", "sag" and
        "projected" for smooth losses (ε > 0). "auto" chooses the fastest one that supports the
        problem (:func:`structlearn.learners.solvers.best_solver`). It can also be a learner of
        your own, an object with a ``run`` method: see :class:`~structlearn.learners.OwnLearner`.
    violation_tol : float, optional
        For "n-slack" and "one-slack": see :class:`StructuredSVM`.
    step : {"decaying", "constant"}, default="decaying"
        Step size of "sgd"; "constant" is Algorithm 41 of the chapter as printed.
    eta0, delta : float, default=1.0
        "adagrad": the first step of a weight is eta0·g / (delta + abs(g)), see :class:`AdaGrad`.
    r : float, default=10.0
        "arow": see :class:`AROW`.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        "passive-aggressive": see :class:`PassiveAggressive`.
    beam : int, optional
    update_at : {"early", "max-violation", "end"}, default="early"
        Learners that move after a mistake: see :class:`StructuredPerceptron`.
    max_iter : int, default=100
        Maximum number of passes over the data, or of iterations.
    tol : float, default=1e-3
        Stop when the proven gap is at most ``tol`` times the objective.
    average : bool, default=True
        Whether to average the weights over the steps (online learners).
    shuffle : bool, default=True
        Whether to shuffle the examples before each pass (online learners).
    min_count : int, default=0
        Drop named features that were seen fewer times than this.
    all_possible_states : bool, default=False
        Whether every feature has a weight for every label; otherwise only the pairs seen in
        training have one. Dense arrays always have all weights.
    all_possible_transitions : bool, default=True
        Whether every label pair has a weight; otherwise only those seen in training.
    boundaries : bool, default=True
        Whether there are weights for the first and the last label of a sequence.
    hierarchy : nested sequence or mapping, optional
        A tree over the classes; classes share weights along their paths.
    forbid : dict, optional
        Hard constraints for training and prediction: maps a block name to a list of forbidden
        outcomes, ``{"transition": [("O", "I-PER")], "start": ["I-PER"], "label": [...]}``; for
        segmentations also ``{"segment": [(2, "O")]}``, a length with a label. A short form of
        ``constraints``.
    constraints : list of Constraint, or str, optional
        Hard constraints for training and prediction (:mod:`structlearn.constraints`), in terms of
        the labels of y: ``[at_most(1, "B"), contiguous()]``, or as text, ``"contiguous()"``. What
        is forbidden everywhere becomes a mask of weights. On chains and segmentations the others
        become automata, so that every loss, query and probability is exact; on other structures
        masks of scores, or rows of an integer program, which is solved if the best output violates
        them. ``constraints_`` says which.
    illegal : {"error", "drop"}, default="error"
        What to do with outputs of y that break a constraint: refuse them, naming the examples, or
        leave these examples out, with a warning that counts them.
    time_limit : float, optional
        Seconds for the search for one output under ``constraints``, in training and in prediction.
        When they are over, the best output so far counts; if none satisfies the constraints,
        ``TimeoutError`` is raised.
    class_weight : dict or "balanced", optional
        Multiplies the loss of an example by the mean weight of its labels.
    latent : {"auto", "direct", "cccp"}, default="auto"
        How to deal with unknown labels. "direct": the solver minimises the loss itself, which is
        not convex. "cccp": it solves a sequence of convex problems with the labels filled in
        (:mod:`structlearn.learners.cccp`); ``history_`` then has one record per round,
        ``inner_gap`` is the gap of each round, and ``max_iter`` and ``tol`` apply to rounds and
        solver alike. "auto": "cccp" for solvers that need all labels. In both cases the result is
        a local optimum, and ``duality_gap_`` is None.
    submodular : bool, default=False
        For grids and graphs: constrain the weights so that minimum cuts find the best outputs.
        Potts strengths get weights ≥ 0; with two labels, pairs get
        θ(0,0) + θ(1,1) ≥ θ(0,1) + θ(1,0) for every feature. Edge features must be ≥ 0. With more
        than two labels, only Potts terms are available for pairs. Supported by the solvers
        "perceptron", "sgd", "passive-aggressive", "frank-wolfe", "n-slack" and "one-slack", and by
        "projected" for temperature > 0; their gaps remain valid.
    likelihood : {"auto", "exact", "pseudo", "loopy"}, default="auto"
        How the losses at a temperature > 0 are computed, see :class:`CRF`.
    warm_start : bool, default=False
        Start from the weights of the last call of ``fit``. If data, structure, cost, C, margin and
        temperature are unchanged, "frank-wolfe", "n-slack", "one-slack", "dual" and "sag" continue
        from their full state. "dual" cannot start from weights alone: with other data it starts
        from scratch, and "auto" uses "lbfgs" instead.
    checkpoint : str or path, optional
        A file for the state of ``fit``, written about every half minute, never left incomplete, and
        removed at the end. If it exists when ``fit`` begins, training resumes from it and ends with
        the weights, objective and history of an uninterrupted run, bit for bit, for any
        ``n_jobs``; the data and all other parameters must be unchanged. Fits that run at the same
        time need different files.
    callbacks : callable or list of callable, optional
        Called with a record (dict) after each iteration; returning True stops the training. The
        entry ``weights`` of the record is a function that returns the weights reached so far. If a
        callback has a method ``dump()``, its result (numbers, strings, arrays, lists and
        dictionaries of them) becomes part of the checkpoints, and is passed to its ``load`` when
        training resumes.
    n_jobs : int, optional
        Number of threads; None is one, -1 all cores. The result does not depend on it. Online
        learners process one example after another and use threads only for certificates and
        predictions. A structure written in Python runs on one thread, with a warning, unless it
        sets ``runs_on_threads``.
    random_state : int, Generator or RandomState, optional
        Determines the order of the examples and, if labels are sets, the initial weights.
    verbose : int, default=0
        If above 0, print one line per iteration to standard error.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels.
    n_features_in_ : int
        Number of columns of X, if the features are arrays; for examples with several blocks, the
        number of columns of the block that scores labels.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns, if X was a data frame or a list of data frames. The same columns in
        the same order are required for prediction.
    coef_ : dict of arrays, or array of shape (K, d) for multiclass
        Weights by block, outcomes first: ``coef_["label"]`` (K, d), ``coef_["transition"]`` (K, K).
    n_iter_ : int
        Number of iterations.
    loss_curve_ : LossCurve, a list of float
        Sum of the losses of each iteration; its attributes ``seconds``, ``oracle_calls``,
        ``objective`` and ``gap`` are lists of the same length.
    history_ : list of dict
        One dictionary per iteration with everything that was recorded. Always: ``iteration``, from
        1; ``seconds`` since the start; ``loss``, the sum of the losses, accumulated during the
        pass if no objective is given; ``oracle_calls``, the number of examples for which inference
        was called. If computed: ``objective``, and the proven ``gap``. Solvers with a dual:
        ``dual``, a lower bound of the optimum; "frank-wolfe", "dual" and "sag" also report
        ``estimated_gap`` in every pass, which is not a proof. Cutting planes: ``violation``, the
        largest one found, and the number of ``constraints``. "annealing": ``temperature``. Online
        learners: ``updates``, the number of examples that changed the weights, and with a beam
        ``invalid_updates``. With "cccp": ``inner_objective``, ``inner_gap`` and
        ``inner_iterations`` of each round.
    objective_ : float or None
        The objective at ``coef_``.
    duality_gap_ : float or None
        An upper bound of the difference between ``objective_`` and the optimum; None if there is
        no proof.
    solver_ : str
        The solver that was used.
    approximate_ : str or None
        The approximation that replaces exact sums in the losses and in ``objective_``; None if the
        sums are exact.
    rounds_ : list of CuttingPlaneRound
        For "n-slack" and "one-slack": a record of each round. With "cccp", the rounds of the fit
        that found the weights, with the labels that were filled in.
    """

    structure: Any = parameter(default="chain", kw_only=False)
    min_count: int = parameter(default=0, check=Whole(0))
    all_possible_states: bool = parameter(default=False, check=Switch())
    all_possible_transitions: bool = parameter(default=True, check=Switch())
    boundaries: bool = parameter(default=True, check=Switch())
    hierarchy: Any = None
    forbid: Any = None
    constraints: Any = None
    illegal: str = parameter(default="error", check=Choice("error", "drop"))
    time_limit: float | None = parameter(default=None, check=Number())
    class_weight: Any = None
    submodular: bool = parameter(
        default=False, check=Switch(), learners=("perceptron", "svm", "crf", "passive-aggressive")
    )
    likelihood: str = parameter(default="auto", learners=("crf",))
    # -- learning -------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn from examples and their outputs.

        Parameters
        ----------
        X : list of examples
            For a chain: an (L, d) array, data frame or sparse matrix, or a list of tokens (strings,
            lists of strings, dictionaries) each; or a dictionary of block name to features. For
            multiclass: (n, d) array, data frame, sparse matrix, or a list of n tokens. The columns
            of data frames are known by name: all frames of a block must have the same ones in the
            same order, at prediction too. For a segmentation:
            features of the segments by start and length, an (L, max_length, d) array, or a sparse
            matrix or list of tokens with L · max_length rows, start by start; rows of segments
            that would run beyond the end are not read.
        y : list of outputs
            Labels may be strings; None is an unknown label, and a set of labels means one of them:
            a wrong label then costs the least that it does against any of the set, and features get
            weights with each of them. A segmentation is a list of (start, end, label), end
            exclusive. Hidden states are sets as well: if y is "N", write {"N/0", "N/1"}.
        sample_weight : array of shape (n,), optional
            Multiplies each example's loss; ≥ 0. An example of weight k counts as k copies of it in
            ``min_count`` and ``class_weight="balanced"`` too (fractions are rounded in
            ``min_count``, to 1 at least), one of weight 0 as absent: the optimum is that of the
            data with these copies. Online learners make one step for k times the loss instead of k
            steps.

        Returns
        -------
        self
        """
        self._check_parameters()
        again = self.warm_start and hasattr(self, "_weights")
        prepared = self._prepare(X, y, sample_weight, before=self._before() if again else None)
        start: dict[str, Any] = {}
        if again:
            before = getattr(self, "_online", None)
            move = partial(self._layout.move, target=prepared.layout)
            start = {
                "weights": move(self._weights),
                "kept": getattr(self, "_kept", None),
                "before": before.moved(move) if before else None,
            }
        training = learn(self, prepared.problem, **start)
        self._accept(prepared, training)
        return self

    @available_if(_learns_online)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Make one pass over the examples, in order, continuing from the last call.

        k calls on the same data equal ``fit(max_iter=k, shuffle=False)``, bit for bit. Only online
        learners have this method; solvers that need several passes over all the data do not.

        Parameters
        ----------
        classes : list of labels
            All labels that will ever occur; required at the first call, except for structures whose
            outputs have no labels.
        sample_weight : array of shape (n,), optional
            As for :meth:`fit`. A batch without examples, or with weights of 0 alone, has no effect.
        """
        self._check_parameters()
        X, y = reread(X), reread(y)
        if lacks_examples(X, y, sample_weight):
            return self
        first = not hasattr(self, "_online")
        labelled = make_structure(self.structure, X, y).has_labels
        if not labelled:
            classes = None
        if first and labelled and (classes is None or not len(classes)):
            raise ValueError("the first call of partial_fit needs classes, the list of all labels")
        if not first and classes is not None and set(classes) != set(self.classes_.tolist()):
            raise ValueError("classes must be the same in every call of partial_fit")
        all_classes = sort_classes(classes) if first and labelled else None
        if not first:
            all_classes = self.classes_
        prepared = self._prepare(
            X, y, sample_weight, classes=all_classes, before=None if first else self._before()
        )
        state = None
        if not first:
            state = self._online.moved(lambda w: self._layout.move(w, prepared.layout))
        training = learn(self, prepared.problem, state=state, max_iter=1, shuffle=False)
        training.converged = True  # one pass was requested
        self._accept(prepared, training, continued=not first)
        return self

    def _accept(self, prepared: Prepared, training: Training, continued: bool = False) -> None:
        """Store the result on the estimator, all at once."""
        history = [*self.history_, *training.history] if continued else training.history
        counts = prepared.class_count + (getattr(self, "class_count_", 0.0) if continued else 0.0)
        self._hold(prepared, training.weights, history, training.objective, training.gap)
        self.class_count_ = counts
        self.solver_: str = training.solver
        self.approximate_ = APPROXIMATE[prepared.problem.likelihood]
        solver = SOLVERS.get(training.solver)
        if solver is not None and solver.online:
            self._online = training.state
        if training.key:
            self._kept = Kept(training.solver, training.key, training.state)
        if training.rounds and not prepared.problem.sharded:
            of = prepared.problem if training.filled is None else training.filled
            self.rounds_: list[CuttingPlaneRound] = read_rounds(of, training, self._name)
        if training.interrupted:
            raise KeyboardInterrupt(INTERRUPTED)
        warn_unless_converged(type(self).__name__, training, self.tol, stacklevel=3)

    def _hold(
        self,
        frame: Frame,
        weights: Vector,
        history: list[dict[str, Any]],
        objective: float | None = None,
        gap: float | None = None,
    ) -> None:
        """Become fitted: the one place that sets the learned state of the estimator."""
        self._encoder = frame.encoder
        self._layout = frame.layout
        self._weights = weights
        self._chain = HeldChain()
        # Those of the previous weights.
        for name in ("_online", "_kept", "rounds_", "approximate_", "class_count_"):
            self.__dict__.pop(name, None)
        self.structure_ = frame.structure
        self.classes_ = frame.classes
        block = frame.structure.label_block
        label = frame.encoder.encoders.get(block)
        n_features = None
        if isinstance(label, (DenseEncoder, SparseEncoder)):
            n_features = label.n_features
        self._hold_columns(frame.columns, block, n_features)
        self.history_: list[dict[str, Any]] = history
        self.loss_curve_ = LossCurve(history)
        self.n_iter_ = len(history)
        self.objective_ = objective
        self.duality_gap_ = gap

    # -- files ----------------------------------------------------------------------------------

    def _learned(self, writer: Any) -> dict[str, Any]:
        return write_model(self, writer)

    def _relearn(self, d: dict[str, Any], reader: Any) -> None:
        read_model(self, d, reader)

    # -- preparing ------------------------------------------------------------------------------

    def problem(self, X: Any, y: Any, sample_weight: Any = None) -> ArrayProblem:
        """Return the learning problem that ``fit`` would solve, to inspect losses and gradients.

        ``problem.objective(w, C=..., margin=..., temperature=...)`` gives value and gradient.
        """
        self._check_parameters()
        problem = self._prepare(X, y, sample_weight).problem
        _ = problem.native  # checks outputs and costs now, not at the first query
        return problem

    def _prepare(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        classes: Any = None,
        before: Before | None = None,
        known: Frame | None = None,
    ) -> Prepared:
        def read(X: Any, y: Any, weights: Vector | None) -> Prepared:
            structure = kind_of_structure(self.structure)
            X, columns = self._read_columns(X, structure, None if before is None else self._columns)
            if self._is_multiclass:
                y = read_labels(self, y)
            prepared = prepare(self, X, y, weights, classes=classes, before=before, known=known)
            prepared.columns = columns
            return prepared

        result: Prepared = without_illegal(
            partial(with_present, read),
            reread(X),
            reread(y),
            sample_weight,
            drop=self.illegal == "drop",
        )
        return result

    def _read_columns(self, X: Any, structure: Any, known: Columns | None) -> tuple[Any, Columns]:
        """Return X without data frames, and the names of its columns; ``known``: those of fit."""
        if structure.single_site:
            return read_sites(self, X, known)
        block, topology = structure.label_block, structure.topology
        return read_tables(self, X, known, label=block, topology=topology)

    def _before(self) -> Before:
        return Before(self._encoder, self._layout, self.classes_)

    # -- parameters -----------------------------------------------------------------------------

    def _online_solver(self) -> bool:
        if self.solver == "auto":
            return self.margin == 0 and self.temperature == 0
        if not isinstance(self.solver, str):
            return False
        return self.solver not in SOLVERS or SOLVERS[self.solver].online

    # -- what was learned -----------------------------------------------------------------------

    @property
    def constraints_(self) -> list[tuple[Any, str]]:
        """Each constraint with how it is enforced: by which masks, or by an integer program."""
        check_is_fitted(self)
        return describe_constraints(self, self.structure_, self.classes_)

    @property
    def coef_(self) -> Any:
        """The weights: arrays by block, outcomes first; for multiclass the (K, d) array."""
        if not hasattr(self, "_weights"):
            raise AttributeError(f"{type(self).__name__} has no coef_ before fit")
        coef = self._layout.coef(self._weights)
        return coef["label"] if self.structure_.single_site else coef

    @property
    def feature_names_(self) -> dict[str, list[str]]:
        """Names of the features by block, if given as strings, dictionaries or columns."""
        check_is_fitted(self)
        names = {name: columns.tolist() for name, columns in self._columns.items()}
        for name, encoder in self._encoder.encoders.items():
            if hasattr(encoder, "vocabulary"):
                names[name] = encoder.vocabulary.names()
        return names

    def _label_weights(self) -> tuple[Vector, Sequence[str]]:
        return label_weights(self)

    def _pair_weights(self) -> dict[str, Vector]:
        return pair_weights(self)

    def _contributions(self, inputs: Any) -> Contributions:
        return weight_contributions(self, inputs.problem)

    def _html_repr(self) -> str:
        """The HTML for notebooks: scikit-learn's diagram, and below it what was learned."""
        diagram = str(super()._html_repr())
        return diagram + summary_html(self) if hasattr(self, "_weights") else diagram

    # -- prediction -----------------------------------------------------------------------------

    @property
    def _loss_temperature(self) -> float | None:
        return float(self.temperature) or None

    def _inputs(self, X: Any, constraints: Any = None, **reading: Any) -> ProblemInputs:
        structure = under(self.structure_, constraints, self.classes_)
        if isinstance(X, (tuple, Iterator)) or (isinstance(X, np.ndarray) and X.dtype == object):
            X = list(X)  # any container of sequences is read the same way

        def make() -> ArrayProblem:
            columns = self._columns
            examples = self._encoder.transform(self._read_columns(X, self.structure_, columns)[0])
            return ArrayProblem(structure, examples, self._layout)

        chain = self._chain.of(self) if structure is self.structure_ else None
        if chain is None or not are_token_lists(X):
            return ProblemInputs(make(), self._weights, self.beam)
        return ChainInputs(chain, X, self.structure_, make, self._weights)

    def _sites(self, inputs: Any) -> list[int]:
        sites: list[int] = inputs.sites()
        return sites

    # -- without NumPy --------------------------------------------------------------------------

    def to_chain(self) -> StringChain:
        """Return the model as a chain that needs Python and the core alone.

        It labels as this estimator does, and its files can be read without NumPy and scikit-learn.
        Only for chains over strings and dictionaries whose labels are strings; others raise
        CapabilityError.
        """
        check_is_fitted(self)
        return to_chain(self)

    @classmethod
    def from_chain(cls, chain: StringChain, **parameters: Any) -> Any:
        """Return an estimator with the labels, features and weights of a chain, to train further.

        Parameters
        ----------
        chain : StringChain
            For example the result of :func:`~structlearn.io.read_crfsuite`.
        parameters
            Of the estimator, such as ``warm_start=True``. By default it has weights for the ends of
            sequences if the chain has them.
        """
        return from_chain(cls, chain, parameters)
