"""Training over shards: any number of workers gives the same bits, and convex ones the optimum."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import clone

from fuzz.metamorphic.answers import Different, demand_same, plain
from fuzz.metamorphic.examples import EXAMPLES, Examples, weights_of
from fuzz.metamorphic.model_files import demand_same_file, precisions, stored
from fuzz.metamorphic.passes import COUNTING, PLAIN, draw_learner
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.subjects import ESTIMATORS, TASKS, Drawn, Subject
from structlearn import distributed
from structlearn.distributed import crew as crews
from structlearn.distributed import training
from structlearn.estimators import CRF
from structlearn.exceptions import CapabilityError
from structlearn.fitting.tree_sums import cover
from structlearn.tasks import ConstituencyParser, DependencyParser, SegmentTagger, Tagger

__all__: list[str] = []

Rng = np.random.Generator


class _Workers(crews.Crew):
    """Several workers in one process, to whom everything is sent as pickles, and who forget."""

    def __init__(self, shards: Any, threads: int, rng: Rng, n: int) -> None:
        super().__init__(shards, threads)
        self._rng = rng
        self._holders = [crews.Holder(pickle.loads) for _ in range(n)]

    def store(self, args: tuple[Any, ...]) -> Any:
        return pickle.dumps(args)

    def run(self, job: Any, args: tuple[Any, ...]) -> Any:
        n, results = len(self.shards), {}
        cuts = sorted(int(c) for c in self._rng.integers(n + 1, size=len(self._holders) - 1))
        for low, high, holder in zip([0, *cuts], [*cuts, n], self._holders, strict=True):
            if self._rng.random() < 0.2:
                holder.keep(())  # a worker that was lost, and is replaced
            for node in cover(n, low, high):
                arguments = pickle.loads(pickle.dumps(args))
                result = holder.compute(self.shards[node[0] : node[1]], node[0], job, arguments)
                if isinstance(result, crews.Failure):
                    raise result.error
                results[node] = pickle.loads(pickle.dumps(result))
        return results


@contextmanager
def _workers(rng: Rng, n: int) -> Iterator[None]:
    before: Callable[..., Any] = training.make_crew

    def make(shards: Any, cluster: Any, workers: int, threads: int = 1, **_: Any) -> Any:
        return _Workers(shards, threads, rng, n)

    training.make_crew = make
    try:
        yield
    finally:
        training.make_crew = before


def _fit(drawn: Drawn, **options: Any) -> Any:
    data = (drawn.X,) if drawn.y is None else (drawn.X, drawn.y)
    return distributed.fit(clone(drawn.estimator), *data, cluster=None, **options)


NOT_SHARDED = {
    "pipeline": "asked in tests/distributed",
    "hmm, multi-label": "not trained over shards",
}
SHARDED = {name: s for name, s in TASKS.items() if name not in NOT_SHARDED}
SHARDED |= {
    name: s
    for name, s in ESTIMATORS.items()
    if hasattr(s.drawn(0).estimator, "solver") or hasattr(s.drawn(0).estimator, "partial_fit")
    if "hmm" not in name
}


@relation("any number of workers", SHARDED, cost="fit", not_claimed=NOT_SHARDED)
def any_number_of_workers(subject: Subject, rng: Rng) -> None:
    """The model has the same bits for one worker and for several, some of which are lost."""
    drawn = subject.draw(rng)
    n_shards = int(rng.integers(1, 7))
    try:
        expected = _fit(drawn, n_shards=n_shards)
    except (CapabilityError, ValueError) as error:
        if "shards" in str(error) or isinstance(error, CapabilityError):
            return  # this learner is refused
        raise
    with _workers(rng, int(rng.integers(1, 5))):
        model = _fit(drawn, n_shards=n_shards, threads=int(rng.integers(1, 4)))
    exact = precisions(expected)[0]
    demand_same_file(f"{n_shards} shards", stored(expected, exact), stored(model, exact))


# -- one machine ----------------------------------------------------------------------------------


#: The gap that is asked for, as a share of the objective; cutting planes end late.
CLOSE, LOOSE = 1e-6, 0.02


def _convex(kind: Any, source: str, **options: Any) -> Subject:
    sentences = TASKS[source]

    def draw(rng: Rng) -> Drawn:
        drawn = sentences.draw(rng)
        learner = str(rng.choice(("crf", "svm")))
        tol = CLOSE if learner == "crf" else LOOSE
        estimator = kind(learner=learner, C=0.1, max_iter=1000, tol=tol, **options)
        # Cutting planes add one plane a round, and need more rounds for more sentences.
        return Drawn(estimator, drawn.X[: 6 if learner == "crf" else 3])

    return Subject(source, draw, sentences.inputs, ())


def _estimator(name: str) -> Subject:
    source = ESTIMATORS[name]

    def draw(rng: Rng) -> Drawn:
        drawn = source.draw(rng)
        tol = CLOSE if isinstance(drawn.estimator, CRF) else LOOSE
        estimator = clone(drawn.estimator).set_params(
            C=float(rng.choice((0.1, 1.0))), max_iter=1000, tol=tol
        )
        return Drawn(estimator, drawn.X, drawn.y)

    return Subject(name, draw, source.inputs, ())


#: Of the estimators those with a convex objective and exact inference.
_CASES = ("crf", "svm", "strings", "order 2", "semimarkov", "balanced", "table", "multiclass names")


CONVEX: Mapping[str, Subject] = {
    "tagger": _convex(Tagger, "tagger, convex", features="pos"),
    "segments": _convex(SegmentTagger, "segments"),
    # Pruners of shards are their own: with room for all heads they leave out none.
    "parser": _convex(DependencyParser, "parser, order 1", order=1, gold_tags=True, hash_bits=10,
                      most_heads=64, least_share=1e-12),
    "constituency": _convex(ConstituencyParser, "constituency", gold_tags=True, min_count=1),
    **{case: _estimator(f"estimator, {case}") for case in _CASES},
}  # fmt: skip


def _objective(model: Any) -> tuple[float, float]:
    """Return the objective and the proven gap."""
    if hasattr(model, "objective_"):
        return model.objective_, model.duality_gap_
    training = model.model_.training
    return training["objective"], training["gap"]


@relation(
    "shards = one machine",
    CONVEX,
    claim="to the proven gaps",
    cost="fit",
    not_claimed={
        "online learners": "shards make passes of their own, and the next one begins at the mean"
    },
)
def convex_over_shards(subject: Subject, rng: Rng) -> None:
    """Over shards and on one machine the objectives are both within their gaps of the optimum."""
    drawn = subject.draw(rng)
    n = len(drawn.X)
    options: dict[str, Any] = {}
    if rng.random() < 0.3:
        options["sample_weight"] = rng.integers(0, 3, size=n).astype(float)
        options["sample_weight"][int(rng.integers(n))] = 1.0
    data = (drawn.X,) if drawn.y is None else (drawn.X, drawn.y)
    alone = clone(drawn.estimator).fit(*data, **options)
    sharded = _fit(drawn, n_shards=int(rng.integers(1, n + 1)), **options)
    (objective, gap), (other, other_gap) = _objective(alone), _objective(sharded)
    slack = 1e-9 * max(objective, other)  # the objectives are sums in two orders
    if not (objective - gap <= other + slack and other - other_gap <= objective + slack):
        raise Different(
            f"objectives: {objective} with a gap of {gap}, {other} with one of {other_gap}"
        )
    if max(gap / objective, other_gap / other) > 1.001 * drawn.estimator.tol:
        raise Different(f"gaps: {gap} of {objective}, {other_gap} of {other}: not the tolerance")


@relation("copies in shards = one machine", EXAMPLES, claim="to 1e-9", cost="fit")
def copies_in_shards(subject: Callable[[Rng], Examples], rng: Rng) -> None:
    """Shards of the same examples make the same steps: their mean is what one machine learns.

    Steps that go by the number of the examples do so by C times it.
    """
    it = subject(rng)
    number = int(rng.integers(len(PLAIN) + len(COUNTING)))
    among = (*PLAIN, *COUNTING)[number : number + 1]
    make, options = draw_learner(rng, it, among, max_iter=int(rng.integers(1, 5)))
    n_shards = int(rng.integers(1, 5))
    several = it.rows(list(range(len(it))) * n_shards)
    first, other = make(**options), make(**options)
    if number >= len(PLAIN):
        other.set_params(C=other.C / n_shards)
    sharded = _fit(Drawn(other, several.X, several.y), n_shards=n_shards)
    expected = plain(weights_of(it.fit(first)))
    demand_same(f"{make.__name__}: weights", expected, plain(weights_of(sharded)), 1e-9)


IN_ORDER = {
    name: s for name, s in TASKS.items() if name in ("tagger, online", "tagger, chunks", "segments")
}
#: Learners whose averages are added up in another order over shards.
_AVERAGED = ("passive-aggressive", "arow", "adagrad")


@relation("one shard in order = one machine", IN_ORDER, claim="bit for bit; means to 1e-6",
          cost="fit", not_claimed={
    "shuffled": "each shard has an order of its own",
    "constituency": "averages of floats of 32 bits are added up pass by pass",
    "parser": "the pruner is the shard's",
})  # fmt: skip
def one_shard(subject: Subject, rng: Rng) -> None:
    """One shard, in the order of the list, makes the model of one machine."""
    drawn, X = subject.draw(rng), subject.inputs(rng, 2)
    learner = str(rng.choice(("perceptron", "crf", *_AVERAGED)))
    estimator = clone(drawn.estimator).set_params(learner=learner, shuffle=False)
    alone = clone(estimator)
    if learner == "crf":
        alone.set_params(solver="lbfgs")
    expected, sharded = alone.fit(drawn.X), _fit(Drawn(estimator, drawn.X), n_shards=1)
    if learner in _AVERAGED:  # weights are stored in 32 bits
        scores = [[s for s, _ in plain(m.predict_kbest(X, n=1))[0]] for m in (expected, sharded)]
        demand_same(f"{learner}, scores", *scores, tolerance=1e-6)
        return
    for name, array in expected.model_.arrays.items():
        if bytes(sharded.model_.arrays[name]) != bytes(array):
            raise Different(f"{learner}: {name}")
