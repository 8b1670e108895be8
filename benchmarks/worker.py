"""One training in a separate process, so that its memory can be measured: JSON in, JSON out.

Started by :mod:`benchmarks.rows.training` as ``python -m benchmarks.worker JOB``.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from . import environment, memory

environment.one_thread()  # before NumPy is imported

__all__ = ["JOBS", "main"]


class Span:
    """Seconds between entering and leaving: by the clock, and of processor time."""

    wall = cpu = 0.0

    def __enter__(self) -> Span:
        self.wall, self.cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *error: object) -> None:
        self.wall, self.cpu = time.perf_counter() - self.wall, time.process_time() - self.cpu

    def __sub__(self, other: Span) -> Span:
        left = Span()
        left.wall, left.cpu = self.wall - other.wall, self.cpu - other.cpu
        return left

    def __add__(self, other: Span) -> Span:
        both = Span()
        both.wall, both.cpu = self.wall + other.wall, self.cpu + other.cpu
        return both

    def as_pair(self) -> list[float]:
        """Return [wall, cpu]."""
        return [self.wall, self.cpu]


@contextmanager
def timed_calls(owner: Any, name: str) -> Iterator[list[Span]]:
    """Record the time of every call of a method while the block runs."""
    spans: list[Span] = []
    original = getattr(owner, name)

    def wrapper(*arguments: Any, **options: Any) -> Any:
        with Span() as span:
            result = original(*arguments, **options)
        spans.append(span)
        return result

    setattr(owner, name, wrapper)
    try:
        yield spans
    finally:
        setattr(owner, name, original)


def load(job: dict[str, Any]) -> Any:
    """Return the job's data."""
    from .data import conll2000, synthetic_tagging

    make = {"synthetic": synthetic_tagging, "conll2000": conll2000}[job["data"]]
    return make(job["share"])


def names_of(X: list[Any]) -> list[Any]:
    """Return sparse matrices as lists of feature names; lists as they are."""
    if isinstance(X[0], list):
        return X
    names = [str(j) for j in range(X[0].shape[1])]
    sentences = []
    for matrix in X:
        columns = [names[j] for j in matrix.indices.tolist()]
        bounds = matrix.indptr.tolist()
        sentences.append([columns[a:b] for a, b in pairwise(bounds)])
    return sentences


def quality(problem: Any, found: Any) -> dict[str, float]:
    """Return token accuracy and, for chunks, F1."""
    from .data import chunk_f1, token_accuracy

    scores = {"accuracy": token_accuracy(problem.y_test, found)}
    if problem.chunks:
        scores["f1"] = chunk_f1(problem.y_test, found)
    return scores


@contextmanager
def watched_memory(report: dict[str, Any]) -> Iterator[None]:
    """Note the memory before the block, and the peak during it."""
    memory.tidy()
    report["memory_before"] = memory.current()
    report["peak_from_here"] = memory.reset_peak()
    yield
    report["memory_peak"] = memory.peak()


def _as_dictionary(token: list[str]) -> dict[str, Any]:
    """Return the features of a token, ``name=value`` each, as a dictionary."""
    pairs = (feature.partition("=") for feature in token)
    return {name: value if equals else True for name, equals, value in pairs}


def train_structlearn(job: dict[str, Any]) -> dict[str, Any]:
    """Fit one of structlearn's estimators."""
    from structlearn import CRF, StructuredPerceptron
    from structlearn.exceptions import ConvergenceWarning
    from structlearn.features.encoder import ExampleEncoder
    from structlearn.learners.lbfgs import LBFGS
    from structlearn.learners.online import Online
    from structlearn.problem import Problem

    warnings.simplefilter("ignore", ConvergenceWarning)
    estimator = {"perceptron": StructuredPerceptron, "crf": CRF}[job["estimator"]]
    model = estimator(**job["parameters"])
    problem = load(job)
    if job.get("dictionaries"):
        problem.X = [[_as_dictionary(token) for token in sentence] for sentence in problem.X]
    report: dict[str, Any] = {}
    with (
        timed_calls(ExampleEncoder, "fit_transform") as encoding,
        timed_calls(LBFGS if job["estimator"] == "crf" else Online, "run") as loops,
        timed_calls(Problem, "total_cost") as gradients,
        watched_memory(report),
        Span() as fit,
    ):
        model.fit(problem.X, problem.y)
    encoded = encoding[0] if encoding else Span()
    report.update(
        fit=fit.as_pair(),
        encode=encoded.as_pair(),
        train=(fit - encoded).as_pair(),
        loop=sum(loops, Span()).as_pair(),
        iterations=model.n_iter_,
        evaluations=len(gradients),
        gradient=sum(gradients, Span()).as_pair(),
        objective=model.objective_,
        gap=getattr(model, "duality_gap_", None),
    )
    with Span() as predicting:
        predictions = model.predict(problem.X_test)
    report["predict"] = predicting.as_pair()
    report.update(quality(problem, predictions))
    return report


def train_crfsuite(job: dict[str, Any]) -> dict[str, Any]:
    """Append the data to a CRFsuite trainer and train."""
    from .rivals import crfsuite

    problem = load(job)
    X, X_test = names_of(problem.X), names_of(problem.X_test)
    problem.X = problem.X_test = []
    report: dict[str, Any] = {}
    with crfsuite.model_file() as folder:
        model = Path(folder) / "model"
        with watched_memory(report):
            with Span() as append:
                training = crfsuite.Training(X, problem.y, job["algorithm"], **job["parameters"])
            report["memory_appended"] = memory.current()
            with Span() as train:
                log = crfsuite.train(training, model)
        predictions, seconds = crfsuite.tag(model, X_test)
    # The log's seconds are processor time.
    loop = sum(r["seconds"] for r in log["iterations"])
    report.update(
        append=append.as_pair(),
        train=train.as_pair(),
        fit=(append + train).as_pair(),
        loop=[loop, loop],
        iterations=len(log["iterations"]),
        evaluations=1 + sum(r["evaluations"] or 0 for r in log["iterations"]),
        objective=log["iterations"][-1]["loss"],
        curve=[[r["seconds"], r["loss"]] for r in log["iterations"]],
        n_weights=log["n_weights"],
        feature_generation=log["feature_generation"],
        storing=log["storing"],
        predict=[seconds, None],
    )
    report.update(quality(problem, predictions))
    return report


def descend(job: dict[str, Any]) -> dict[str, Any]:
    """Fit a CRF until its objective is at most ``target``; processor time against objective.

    The clock starts with the solver; evaluations of the objective for the benchmark alone are not
    counted.
    """
    from structlearn import CRF
    from structlearn.exceptions import ConvergenceWarning
    from structlearn.learners.dual_ascent import DualAscent
    from structlearn.learners.lbfgs import LBFGS

    warnings.simplefilter("ignore", ConvergenceWarning)
    learner = {"dual": DualAscent, "lbfgs": LBFGS}[job["parameters"]["solver"]]
    data = load(job)
    curve: list[list[float]] = []
    begin, original, problems = [0.0], learner.run, []
    C = job["parameters"]["C"]

    def run(self: Any, problem: Any, **options: Any) -> Any:
        problems.append(problem)
        begin[0] = time.process_time()
        return original(self, problem, **options)

    def look(record: dict[str, Any]) -> bool:
        now = time.process_time()
        objective = record.get("objective")
        if objective is None:
            w = record["weights"]()
            loss, _ = problems[0].total_loss(w, 0.0, 1.0, gradient=False)
            objective = 0.5 * float(w @ w) + C * loss
        curve.append([now - begin[0], objective])
        begin[0] += time.process_time() - now
        return bool(objective <= job["target"])

    learner.run = run  # type: ignore[method-assign]
    model = CRF(**job["parameters"], callbacks=look)
    model.fit(data.X, data.y)
    report = {"curve": curve, "reached": curve[-1][1] <= job["target"]}
    report.update(quality(data, model.predict(data.X_test)))
    return report


def describe_data(job: dict[str, Any]) -> dict[str, Any]:
    """Return the sizes of the data, and the number of weights its features touch."""
    problem = load(job)
    sizes = problem.sizes()
    sites = [
        (token, label)
        for tokens, labels in zip(names_of(problem.X), problem.y, strict=True)
        for token, label in zip(tokens, labels, strict=True)
    ]
    labels_of: dict[str, set[str]] = {}
    for token, label in sites:
        for name in token:
            labels_of.setdefault(name, set()).add(label)
    sizes["test_tokens"] = sum(map(len, problem.y_test))
    sizes["weights"] = sum(map(len, labels_of.values()))
    # One pass reads the weights of every occurrence's observed labels.
    sizes["weights_read"] = sum(len(labels_of[name]) for token, _ in sites for name in token)
    return sizes


JOBS = {
    "structlearn": train_structlearn,
    "crfsuite": train_crfsuite,
    "descend": descend,
    "sizes": describe_data,
}


def main() -> None:
    """Do the job given as JSON in the first argument; print the report as JSON."""
    job = json.loads(sys.argv[1])
    environment.pin(job["cores"])
    print(json.dumps(JOBS[job["job"]](job), default=float))


if __name__ == "__main__":
    main()
