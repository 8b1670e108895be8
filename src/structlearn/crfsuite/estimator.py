"""sklearn-crfsuite's estimator."""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from ..printing import put
from .metrics import flat_accuracy_score
from .model_dump import ParsedDump
from .tagger import Tagger
from .trainer import Trainer

#: Estimator parameter to trainer parameter, if the names differ.
_NAMES = {
    "min_freq": "feature.minfreq",
    "all_possible_states": "feature.possible_states",
    "all_possible_transitions": "feature.possible_transitions",
    "pa_type": "type",
    **{
        f"calibration_{what}": f"calibration.{what}"
        for what in ("eta", "rate", "samples", "candidates", "max_trials")
    },
}
_OTHERS = ("algorithm", "verbose", "model_filename", "keep_tempfiles", "trainer_cls")


class CRF(BaseEstimator):  # type: ignore[misc]
    """A trainer and a tagger as one estimator.

    Parameters that are None take the algorithm's default. This estimator is for programs written
    for sklearn-crfsuite; :class:`structlearn.estimators.CRF` proves how close it is to the optimum,
    and takes more kinds of structures and features.

    Parameters
    ----------
    algorithm : {"lbfgs", "l2sgd", "ap", "pa", "arow"}, default="lbfgs"
        See :meth:`Trainer.select`.
    min_freq : float, optional
        Leave out features that occur less often; an attribute counts once per label.
    all_possible_states, all_possible_transitions : bool, optional
        Also make features of unseen pairs of attribute and label, or of label and label.
    c1, c2 : float, optional
        Weights of ‖w‖₁ and ‖w‖².
    max_iterations : int, optional
        The maximum number of iterations.
    num_memories, epsilon, period, delta, linesearch, max_linesearch : optional
    calibration_eta, calibration_rate, calibration_samples : optional
    calibration_candidates, calibration_max_trials : optional
    pa_type, c, error_sensitive, averaging, variance, gamma : optional
        Parameters of the algorithms; :meth:`Trainer.help` describes each.
    verbose : bool, default=False
        Print a line for each iteration.
    model_filename : path, optional
        The path of the model, written by ``fit``. By default the model stays in memory.
    keep_tempfiles : bool, default=False
        Keep the file created by ``modelfile.name``.
    trainer_cls : class, optional
        Replaces ``LinePerIterationTrainer``.

    Attributes
    ----------
    tagger_ : Tagger or None
        The tagger of the model; None before ``fit``.
    training_log_ : TrainLogParser or None
        The log of training.
    classes_, attributes_ : list of str or None
        The labels, and the attributes with weights.
    state_features_ : dict or None
        (attribute, label) to weight.
    transition_features_ : dict or None
        (label, next label) to weight.
    size_, num_attributes_ : int or None
        Bytes of the model, and the number of attributes.
    """

    def __init__(
        self,
        algorithm: str | None = None,
        min_freq: float | None = None,
        all_possible_states: bool | None = None,
        all_possible_transitions: bool | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        num_memories: int | None = None,
        epsilon: float | None = None,
        period: int | None = None,
        delta: float | None = None,
        linesearch: str | None = None,
        max_linesearch: int | None = None,
        calibration_eta: float | None = None,
        calibration_rate: float | None = None,
        calibration_samples: int | None = None,
        calibration_candidates: int | None = None,
        calibration_max_trials: int | None = None,
        pa_type: int | None = None,
        c: float | None = None,
        error_sensitive: bool | None = None,
        averaging: bool | None = None,
        variance: float | None = None,
        gamma: float | None = None,
        verbose: bool = False,
        model_filename: str | os.PathLike[str] | None = None,
        keep_tempfiles: bool = False,
        trainer_cls: Any = None,
    ) -> None:
        self.algorithm = algorithm
        self.min_freq = min_freq
        self.all_possible_states = all_possible_states
        self.all_possible_transitions = all_possible_transitions
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.num_memories = num_memories
        self.epsilon = epsilon
        self.period = period
        self.delta = delta
        self.linesearch = linesearch
        self.max_linesearch = max_linesearch
        self.calibration_eta = calibration_eta
        self.calibration_rate = calibration_rate
        self.calibration_samples = calibration_samples
        self.calibration_candidates = calibration_candidates
        self.calibration_max_trials = calibration_max_trials
        self.pa_type = pa_type
        self.c = c
        self.error_sensitive = error_sensitive
        self.averaging = averaging
        self.variance = variance
        self.gamma = gamma
        self.verbose = verbose
        self.model_filename = model_filename
        self.keep_tempfiles = keep_tempfiles
        self.trainer_cls = trainer_cls

    # -- learning -------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, X_dev: Any = None, y_dev: Any = None) -> CRF:
        """Learn from labelled sequences.

        Parameters
        ----------
        X : list of sequences
            Each a list of items, see :class:`ItemSequence`.
        y : list of lists of str
            The label of each item.
        X_dev, y_dev : optional
            Held-out sequences, labelled after every iteration.
        """
        if (X_dev is None) != (y_dev is None):
            raise ValueError("Pass both X_dev and y_dev to use the holdout data")
        trainer = self._trainer()
        for group, sequences, labels in ((0, X, y), (1, X_dev, y_dev)):
            if sequences is not None:
                for xseq, yseq in zip(sequences, labels, strict=True):
                    trainer.append(xseq, yseq, group)
        with tempfile.TemporaryDirectory() as folder:
            path = self.model_filename or os.path.join(folder, "model.crfsuite")
            trainer.train(path, holdout=-1 if X_dev is None else 1)
            with open(path, "rb") as file:
                model = file.read()
        self._clear()
        self._model = model
        self.training_log_ = trainer.logparser
        return self

    def _trainer(self) -> Any:
        values = self.get_params(deep=False)
        parameters = {
            _NAMES.get(name, name): value
            for name, value in values.items()
            if name not in _OTHERS and value is not None
        }
        kind = self.trainer_cls or LinePerIterationTrainer
        return kind(algorithm=self.algorithm, params=parameters, verbose=self.verbose)

    def _clear(self) -> None:
        for name in ("_model", "_tagger", "_info", "_file"):
            self.__dict__.pop(name, None)

    # -- labelling ------------------------------------------------------------------------------

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the best labels of each sequence, an array of lists."""
        return np.array([self.predict_single(x) for x in X], dtype=object)

    def predict_single(self, xseq: Any) -> list[str]:
        """Return the best labels of one sequence."""
        return self._fitted().tag(xseq)

    def predict_marginals(self, X: Any) -> npt.NDArray[Any]:
        """Return :meth:`predict_marginals_single` for each sequence."""
        return np.array([self.predict_marginals_single(x) for x in X], dtype=object)

    def predict_marginals_single(self, xseq: Any) -> list[dict[str, float]]:
        """Return for each item of a sequence the probability of each label."""
        tagger = self._fitted()
        tagger.set(xseq)
        labels = tagger.labels()
        return [{k: tagger.marginal(k, t) for k in labels} for t in range(len(xseq))]

    def score(self, X: Any, y: Any) -> float:
        """Return the share of labels that are predicted correctly."""
        return flat_accuracy_score(y, self.predict(X))

    def _fitted(self) -> Tagger:
        tagger = self.tagger_
        if tagger is None:
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(
                "this CRF has no model yet: call fit, or set model_filename to a model's file"
            )
        return tagger

    # -- what was learned -----------------------------------------------------------------------

    training_log_: Any = None

    @property
    def tagger_(self) -> Tagger | None:
        """The tagger of the model; None before ``fit``."""
        if "_tagger" not in self.__dict__:
            tagger = Tagger()
            if "_model" in self.__dict__:
                tagger.open_inmemory(self._model)
            elif self.model_filename is not None:
                tagger.open(self.model_filename)
            else:
                return None
            self._tagger = tagger
        return self._tagger

    def _content(self) -> ParsedDump | None:
        """Return the content of the model; None before ``fit``."""
        if "_info" not in self.__dict__:
            if self.tagger_ is None:
                return None
            self._info = self.tagger_.info()
        return self._info

    @property
    def classes_(self) -> list[str] | None:
        """The labels."""
        return None if self.tagger_ is None else self.tagger_.labels()

    @property
    def attributes_(self) -> list[str] | None:
        """The attributes with weights."""
        content = self._content()
        return None if content is None else list(content.attributes)

    @property
    def state_features_(self) -> dict[tuple[str, str], float] | None:
        """(attribute, label) to weight."""
        content = self._content()
        return None if content is None else content.state_features

    @property
    def transition_features_(self) -> dict[tuple[str, str], float] | None:
        """(label, next label) to weight."""
        content = self._content()
        return None if content is None else content.transitions

    @property
    def size_(self) -> int | None:
        """Bytes of the model."""
        content = self._content()
        return None if content is None else int(content.header["size"])

    @property
    def num_attributes_(self) -> int | None:
        """Number of attributes with weights."""
        content = self._content()
        return None if content is None else int(content.header["num_attrs"])

    @property
    def modelfile(self) -> ModelFile:
        """The model as a file: its ``name`` is ``model_filename``, or that of a temporary file."""
        if "_file" not in self.__dict__:
            self._file = ModelFile(
                self.model_filename, self.__dict__.get("_model"), bool(self.keep_tempfiles)
            )
        return self._file

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if self.tagger_ is not None:
            state["_model"] = self.tagger_._data
        for name in ("_tagger", "_info", "_file"):
            state.pop(name, None)
        return state


class ModelFile:
    """A model file, written when its name is first read.

    Parameters
    ----------
    filename : path or None
        The path of an existing model file.
    model : bytes or None
        The model, to be written to a temporary file; None if there is no model.
    kept : bool
        Whether to keep the temporary file.
    """

    def __init__(
        self, filename: str | os.PathLike[str] | None, model: bytes | None, kept: bool
    ) -> None:
        self._name = None if filename is None else os.fspath(filename)
        self._model = model if filename is None else None
        self._kept = kept
        self._made = False

    @property
    def name(self) -> str | None:
        """The path of the file; None if there is no model."""
        if self._name is None and self._model is not None:
            number, self._name = tempfile.mkstemp(".crfsuite", "model")
            self._made = True
            with os.fdopen(number, "wb") as file:
                file.write(self._model)
        return self._name

    def __del__(self) -> None:
        if self._made and not self._kept:
            with contextlib.suppress(OSError):
                os.unlink(str(self._name))


class LinePerIterationTrainer(Trainer):
    """A trainer that prints a line for each iteration, and the scores of held-out sequences."""

    def on_iteration(self, log: str, info: dict[str, Any]) -> None:
        """Print the facts of an iteration."""
        words = ["Iter {num:<3}  time={time:<5.2f}  loss={loss:<8.2f}".format(**info)]
        if "active_features" in info:
            words.append(f"active={info['active_features']:<5}")
        if "avg_precision" in info:
            words += [
                f"precision={info['avg_precision']:0.3f}",
                f"recall={info['avg_recall']:0.3f}",
                f"F1={info['avg_f1']:0.3f}",
                f"Acc(item/seq)={info['item_accuracy_float']:0.3f}",
                f"{info['instance_accuracy_float']:0.3f}",
            ]
        if "feature_norm" in info:
            words.append(f"feature_norm={info['feature_norm']:<8.2f}")
        put("  ".join(words).rstrip())

    def on_optimization_end(self, log: str) -> None:
        """Print the scores of the last iteration by label."""
        scores = (self.logparser.last_iteration or {}).get("scores")
        if scores:
            width = max(len("Label"), *map(len, scores))
            put(f"{'Label':<{width}}  Precision  Recall     F1  Support")
            for label, row in sorted(scores.items()):
                numbers = [0.0 if x is None else x for x in (row.precision, row.recall, row.f1)]
                columns = "{:>9.3f}  {:>6.3f}  {:>5.3f}".format(*numbers)
                put(f"{label:<{width}}  {columns}  {row.ref:>7}")
        super().on_optimization_end(log)
