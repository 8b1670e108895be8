"""python-crfsuite's trainer."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..exceptions import FileError
from ..printing import put
from ..text.files import replaced
from .items import as_integer, as_text
from .log_parser import TrainLogParser
from .parameters import ALGORITHMS, checked_value, full_name

if TYPE_CHECKING:
    from ..scoring.layout import WeightLayout
    from .training_data import TrainingData


class CRFSuiteError(Exception):
    """Training ended with a CRFsuite error; kept for programs that catch it."""

    def __init__(self, code: int) -> None:
        self.code = code
        super().__init__(f"error {code}")


class BaseTrainer:
    """Collects labelled sequences, trains on them, and writes CRFsuite's model files.

    Parameters
    ----------
    algorithm : {"lbfgs", "l2sgd", "ap", "pa", "arow"}, default="lbfgs"
        See :meth:`select`.
    params : dict, optional
        Values of the algorithm's parameters, see :meth:`set`.
    verbose : bool, default=True
        Whether training prints its log.
    random_state : int, default=0
        Seed of the order of the examples.
    n_jobs : int, default=1
        Number of threads of "lbfgs"; the result does not depend on it.
    """

    _algorithm = "lbfgs"
    verbose: Any = True
    random_state = 0
    n_jobs: int | None = 1

    def __init__(
        self,
        algorithm: str | None = None,
        params: Mapping[str, Any] | None = None,
        verbose: Any = True,
        *,
        random_state: int = 0,
        n_jobs: int | None = 1,
    ) -> None:
        if algorithm is not None:
            self.select(algorithm)
        if params is not None:
            self.set_params(params)
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    # Subclasses need not call __init__, as with python-crfsuite.
    @property
    def _data(self) -> TrainingData:
        data: TrainingData | None = self.__dict__.get("_sequences")
        if data is None:
            try:
                from .training_data import TrainingData
            except ModuleNotFoundError as error:
                raise ImportError(
                    f"training needs {error.name}, which is not installed: pip install structlearn "
                    "(structlearn-core alone loads models and labels with them)"
                ) from None
            data = self.__dict__["_sequences"] = TrainingData()
        return data

    @property
    def _values(self) -> dict[str, Any]:
        """The values of all parameters of the algorithm."""
        parameters = ALGORITHMS[self._algorithm]
        values: dict[str, Any] = self.__dict__.setdefault("_given", {})
        return {name: values.get(name, parameter.default) for name, parameter in parameters.items()}

    # -- data -----------------------------------------------------------------------------------

    def append(self, xseq: Any, yseq: Iterable[Any], group: int = 0) -> None:
        """Add a labelled sequence.

        Parameters
        ----------
        xseq : ItemSequence or iterable of items
            See :class:`ItemSequence`.
        yseq : iterable of str
            The label of each item.
        group : int, default=0
            The sequences of one group can be held out in training.
        """
        self._data.append(xseq, yseq, group)

    def clear(self) -> None:
        """Forget all sequences."""
        self.__dict__.pop("_sequences", None)

    # -- parameters -----------------------------------------------------------------------------

    def select(self, algorithm: str, type: str = "crf1d") -> None:
        """Choose the algorithm; its parameters have their default values again.

        Parameters
        ----------
        algorithm : {"lbfgs", "l2sgd", "ap", "pa", "arow"}
            L-BFGS, or OWL-QN if c1 is above 0; stochastic gradient descent; averaged perceptron;
            passive-aggressive; AROW. "averaged-perceptron" and "passive-aggressive" are "ap" and
            "pa".
        type : {"crf1d"}
            The kind of model.
        """
        self._algorithm = full_name(algorithm, type)
        self.__dict__["_given"] = {}

    def params(self) -> list[str]:
        """Return the names of the algorithm's parameters."""
        return list(ALGORITHMS[self._algorithm])

    def set(self, name: str | bytes, value: Any) -> None:
        """Set a parameter of the algorithm."""
        name = as_text(name, "the name of a parameter")
        parameter = ALGORITHMS[self._algorithm].get(name)
        if parameter is None:
            raise ValueError(f"Parameter not found: {name} = {value}; {self._algorithm} has "
                             f"{', '.join(self.params())}")  # fmt: skip
        self.__dict__.setdefault("_given", {})[name] = checked_value(name, parameter, value)

    def set_params(self, params: Mapping[Any, Any]) -> None:
        """Set several parameters."""
        for name, value in params.items():
            self.set(name, value)

    def get(self, name: str | bytes) -> Any:
        """Return the value of a parameter."""
        return self._values[self._known(name)]

    def get_params(self) -> dict[str, Any]:
        """Return the values of all parameters."""
        return dict(self._values)

    def help(self, name: str | bytes) -> str:
        """Return the description of a parameter."""
        return ALGORITHMS[self._algorithm][self._known(name)].help

    def _known(self, name: str | bytes) -> str:
        name = as_text(name, "the name of a parameter")
        if name not in ALGORITHMS[self._algorithm]:
            raise ValueError(f"Parameter not found: {name}")
        return name

    # -- training -------------------------------------------------------------------------------

    def message(self, message: str) -> None:
        """Handle a line of the training log; override it to read the log."""
        if self.verbose:
            put(message, end="")

    def _before_train(self) -> None:
        pass

    def train(self, model: str | bytes | os.PathLike[str], holdout: int = -1) -> None:
        """Train on the sequences and write the model.

        Parameters
        ----------
        model : path
            The file, written completely at the end. If empty, nothing is written.
        holdout : int, default=-1
            The group held out from training; every iteration is evaluated on it.
        """
        self._before_train()
        from .algorithms import Log, cost_of, run_algorithm

        data, values = self._data, self._values
        path, holdout = os.fsdecode(model), as_integer(holdout, "holdout")
        train, held = data.groups(holdout)
        if holdout >= 0:
            self.message(f"Holdout group: {holdout + 1}\n")
            self.message("\n")
        layout = self._make_features(train, values)
        evaluate = self._evaluation(held, layout) if holdout >= 0 else None
        w = run_algorithm(
            self._algorithm,
            data.problem(train, layout, cost_of(self._algorithm)),
            values,
            Log(self.message, evaluate),
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        if path:
            self._store(path, layout, w)

    def _make_features(self, train: Any, values: dict[str, Any]) -> WeightLayout:
        self.message("Feature generation\n")
        self.message("type: CRF1d\n")
        least = values["feature.minfreq"]
        states, pairs = (values[f"feature.possible_{what}"] for what in ("states", "transitions"))
        self.message(f"feature.minfreq: {least:f}\n")
        self.message(f"feature.possible_states: {states:d}\n")
        self.message(f"feature.possible_transitions: {pairs:d}\n")
        begun = time.process_time()
        features = self._data.features(train, least=least, all_states=states, all_transitions=pairs)
        for percent in range(0, 101, 2):
            self.message("." if percent % 10 else str(percent // 10))
        self.message("\n")
        self.message(f"Number of features: {features.n_features}\n")
        self.message(f"Seconds required: {time.process_time() - begun:.3f}\n")
        self.message("\n")
        return features.layout()

    def _evaluation(self, held: Any, layout: WeightLayout) -> Callable[[Any], None]:
        from .evaluation import write_evaluation

        problem = self._data.problem(held, layout)
        assert problem.gold is not None
        gold, labels = problem.gold.outputs, self._data.labels

        def evaluate(w: Any) -> None:
            predicted = problem.argmax_all(w, self.n_jobs) if len(gold) else []
            write_evaluation(labels, gold, predicted, self.message)

        return evaluate

    def _store(self, path: str, layout: WeightLayout, w: Any) -> None:
        self.message("Storing the model\n")
        begun = time.process_time()
        data = self._data
        n = len(data.labels)
        n_weights = sum(block.n_weights for block in layout.present().values())
        n_attributes = data.n_active_attributes(layout, w)
        self.message(f"Number of active features: {(w != 0).sum()} ({n_weights})\n")
        self.message(f"Number of active attributes: {n_attributes} ({data.n_attributes})\n")
        self.message(f"Number of active labels: {n} ({n})\n")
        for what in ("labels", "attributes", "feature references for transitions",
                     "feature references for attributes"):  # fmt: skip
            self.message(f"Writing {what}\n")
        content = data.file(layout, w)
        try:
            with replaced(path) as file:
                file.write(content)
        except FileError as error:  # python-crfsuite raises the system's error
            if not isinstance(error.__cause__, OSError):
                raise
            raise OSError(error.__cause__.errno, error.__cause__.strerror, path) from None
        self.message(f"Seconds required: {time.process_time() - begun:.3f}\n")
        self.message("\n")


class Trainer(BaseTrainer):
    """A trainer that parses its own log.

    Attributes
    ----------
    logparser : TrainLogParser
        The parsed log of the last training; its ``iterations`` have the loss and, with held-out
        sequences, the scores of each.
    """

    logparser: Any = None

    def _before_train(self) -> None:
        self.logparser = TrainLogParser()

    def message(self, message: str) -> None:
        """Parse a line of the log; print it by the method of the event that it completes."""
        event = self.logparser.feed(message)
        if event is None or not self.verbose:
            return
        log = self.logparser.last_log
        if event == "featgen_progress":
            self.on_featgen_progress(log, self.logparser.featgen_percent)
        elif event == "iteration":
            self.on_iteration(log, self.logparser.last_iteration)
        else:
            getattr(self, f"on_{event}")(log)

    def on_start(self, log: str) -> None:
        """Print the beginning of the log."""
        put(log, end="")

    def on_featgen_progress(self, log: str, percent: int) -> None:
        """Print the progress of feature generation."""
        put(log, end="")

    def on_featgen_end(self, log: str) -> None:
        """Print the number of features."""
        put(log, end="")

    def on_prepared(self, log: str) -> None:
        """Print the algorithm's parameters."""
        put(log, end="")

    def on_prepare_error(self, log: str) -> None:
        """Print why nothing can be trained."""
        put(log, end="")

    def on_iteration(self, log: str, info: dict[str, Any]) -> None:
        """Print the facts of an iteration."""
        put(log, end="")

    def on_optimization_end(self, log: str) -> None:
        """Print how the iterations ended."""
        put(log, end="")

    def on_end(self, log: str) -> None:
        """Print how the model was stored."""
        put(log, end="")
