"""Planted bugs in training: weights, order of examples, passes, solvers, shards."""

import numpy as np

from .planting import Bug, after, given

MODEL = "structlearn.estimators.model:StructuredModel."
WEIGHTS = "structlearn.estimators.outputs:check_sample_weight"
TASK_WEIGHTS = "structlearn.fitting.split_corpus:check_sample_weight"
DENSE = ("sequences",)


def _fit(change):
    """Make a bug in `fit`: ``change`` maps (estimator, X, y, weights) to (X, y, weights)."""

    def wrong(right):
        def fit(self, X, y=None, sample_weight=None, **options):
            X, y, weights = change(self, X, y, sample_weight)
            given = (X,) if y is None else (X, y)
            return right(self, *given, sample_weight=weights, **options)

        return fit

    return wrong


def _weights(change):
    return after(lambda weights: None if weights is None else change(weights))


def _unweighted(self, X, y, weights):
    return X, y, None


def _first_twice(self, X, y, weights):
    weights = np.ones(len(X)) if weights is None else np.array(weights, dtype=float)
    weights[0] *= 2
    return X, y, weights


def _without_last(self, X, y, weights):
    return X[:-1], None if y is None else y[:-1], None if weights is None else weights[:-1]


def _turned_on_threads(self, X, y, weights):
    """Reverse the examples if there are several threads."""
    step = -1 if (self.n_jobs or 1) > 1 else 1
    return X[::step], None if y is None else y[::step], weights


def _with(**options):
    """Make a bug in `fit`: it runs with other parameters."""

    def wrong(right):
        def fit(self, *args, **others):
            before = {name: getattr(self, name) for name in options}
            vars(self).update(options)
            try:
                return right(self, *args, **others)
            finally:
                vars(self).update(before)

        return fit

    return wrong


def _filled(self, X, y, weights):
    """Replace unknown labels by the first known one."""
    known = next(k for row in y for k in row if k is not None)
    return X, [[known if k is None else k for k in row] for row in y], weights


def _cold(right):
    def fit(self, X, y, sample_weight=None):
        return right(self, X, y, sample_weight=None if hasattr(self, "_weights") else sample_weight)

    return fit


FITS = (
    Bug("rows in another order", MODEL + "fit", _fit(_first_twice), 10, DENSE),
    Bug("whole weights = copies", WEIGHTS, _weights(np.sqrt), 10, DENSE),
    Bug("weight 0 = removed", WEIGHTS, _weights(lambda w: np.maximum(w, 1e-3)), 10, DENSE),
    Bug("weights scaled = C scaled", WEIGHTS, _weights(lambda w: w / w.mean()), 10, DENSE),
    Bug("class weights = sample weights", "structlearn.estimators.preparation:class_weights",
        _weights(np.square), 10, DENSE),
    Bug("partial_fit k times = fit of k passes", MODEL + "partial_fit",
        lambda right: lambda self, X, y, classes=None, sample_weight=None: right(
            self, X, y, classes=classes), 10, DENSE),
    Bug("copies in order = passes", MODEL + "fit", _with(shuffle=True), 10, DENSE),
    Bug("batches in order = one pass", MODEL + "partial_fit",
        lambda right: lambda self, X, y, **o: right(self, X[::-1], y[::-1], **o), 10, DENSE),
    Bug("weight 0 = removed, online", WEIGHTS, _weights(lambda w: np.maximum(w, 1e-3)), 10, DENSE),
    Bug("weights scaled, online", WEIGHTS, _weights(lambda w: np.minimum(w, 2.0)), 10, DENSE),
    Bug("warm start = more passes", MODEL + "fit", _with(warm_start=False), 10, DENSE),
    Bug("examples without a known label, online", MODEL + "fit", _fit(_filled), 10, DENSE),
    Bug("solvers of one objective", "structlearn.learners.lbfgs:LBFGS.run",
        after(lambda t: vars(t).update(weights=1.1 * t.weights) or t), 20, DENSE),
    Bug("objective = losses added up", MODEL + "fit", _fit(_unweighted), 10, DENSE),
    Bug("threads of a training", MODEL + "fit", _fit(_turned_on_threads), 10, DENSE),
    Bug("warm start = cold start", MODEL + "fit", _cold, 10, DENSE),
    Bug("examples without a known label", MODEL + "fit", _fit(_filled), 10, DENSE),
    Bug("whole weights = copies of what is counted", "structlearn.estimators.hmm:HMM.fit",
        _fit(_unweighted), 10, ("hmm, words",)),
    Bug("parts of the data = the whole, counted", "structlearn.estimators.hmm:HMM.partial_fit",
        lambda right: lambda self, X, y, **o: right(
            self, X[1:] or X, y[1:] or y, **{**o, "sample_weight": None}), 10, ("hmm, words",)),
    Bug("sentences in another order", "structlearn.tasks.tagging.base:LabelTagger.fit",
        _fit(_without_last), 10, ("tagger, order 0",)),
    Bug("whole weights of sentences = copies", "structlearn.tasks.tagging.base:LabelTagger.fit",
        _fit(_unweighted), 10, ("tagger, order 0",)),
    Bug("weight 0 of a sentence = removed", TASK_WEIGHTS, _weights(lambda w: np.maximum(w, 1e-3)),
        10, ("tagger, convex",)),
    Bug("weights of sentences scaled = C scaled", TASK_WEIGHTS, _weights(lambda w: w / w.mean()),
        10, ("tagger, order 0",)),
    Bug("threads of a task's training", "structlearn.tasks.tagging.base:LabelTagger.fit",
        _fit(_turned_on_threads), 10, ("tagger, convex",)),
    Bug("any number of workers", "structlearn.distributed.crew:Holder.compute",
        lambda right: lambda self, shards, first, job, args: right(self, shards, 0, job, args),
        10, ("estimator, crf",)),
    Bug("shards = one machine", "structlearn.distributed:fit", given(sample_weight=None),
        20, ("crf",)),
    Bug("copies in shards = one machine", "structlearn.fitting.split_problem:_pass_of",
        after(lambda found: {**found, "w": 2 * found["w"]}), 10, DENSE),
    Bug("one shard in order = one machine",
        "structlearn.fitting.split_problem:SplitProblem.pass_order",
        lambda right: lambda self, rng, shuffle: right(self, rng, True), 10, ("tagger, online",)),
)  # fmt: skip
