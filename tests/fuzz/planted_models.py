"""Planted bugs in fitted models: batches, probabilities, evaluation, images, running text."""

import numpy as np

from .planting import Bug, after

MODEL = "structlearn.models.model:Model."
TAGGER = "structlearn.tasks.tagging.tagger:Tagger."
CRF = ("estimator, crf",)
CONVEX = ("tagger, convex",)


def _of_several(change):
    """Make a bug that changes the answers if there are several."""
    return after(lambda found: change(found) if len(found) > 1 else found)


def _next(found):
    return [*found[1:], *found[:1]]


def _doubtful(row):
    return [{k: 0.99 * p for k, p in token.items()} for token in row]


def _confident(right):
    def add(pipeline, docs, threads):
        right(pipeline, docs, threads)
        for doc in docs:
            for word in doc:
                word.confidence = {k: p**2 for k, p in word.confidence.items()}

    return add


MODELS = (
    Bug("one by one = batch", "structlearn.estimators.array_model:ArrayModel._ask",
        _of_several(_next), 20, CRF),
    Bug("empty inputs put in", "structlearn.tasks.base:without_empty",
        lambda right: lambda X: ([x for x in X if len(x)], []), 20, CONVEX),
    Bug("one thread = several", TAGGER + "predict",
        lambda right: lambda self, *a, **o: right(self, *a, **o)[:: 1 if self.n_threads == 1
                                                                else -1], 40, CONVEX),
    Bug("marginals: sums", TAGGER + "predict_marginals",
        after(lambda rows: list(map(_doubtful, rows))), 5, CONVEX),
    Bug("k-best: order", MODEL + "predict_kbest", after(lambda found: [r[::-1] for r in found]),
        20, CONVEX),
    Bug("k-best: probabilities", MODEL + "_at",
        lambda right: lambda self, temperature: 1.0, 20, CRF),
    Bug("all outputs", MODEL + "entropy", lambda right: lambda self, X, **o: right(
        self, X, temperature=1.0), 20, CRF),
    Bug("all trees of a pipeline", "structlearn.tasks.pipeline.confidence:add_confidence",
        _confident, 10),
    Bug("samples", MODEL + "sample", lambda right: lambda self, X, n, **o: right(
        self, X, n, temperature=3.0, **o), 20, CRF),
    Bug("labels: marginals", "structlearn.estimators.multilabel:MultiLabelClassifier.predict_proba",
        after(lambda p: p[:, ::-1]), 10, ("estimator, labels sparse",)),
    Bug("confidence in documents", "structlearn.tasks.pipeline.confidence:add_confidence",
        _confident, 5),
    Bug("confidence in the workbench", "structlearn.workbench.labs.readings:likeliest",
        after(lambda row: [(k, p / 2) for k, p in row]), 5, ("tagger, convex, calibrated",)),
    Bug("confidence in the workbench: pipelines",
        "structlearn.workbench.labs.pipelines:likeliest",
        after(lambda row: [(k, p / 2) for k, p in row]), 5),
    Bug("confidence in files", "structlearn.tasks.tagging.files:temperature_of",
        lambda right: lambda temperature: 1.0, 10, ("tagger, convex, calibrated",)),
    Bug("confidence in explanations", "structlearn.tasks.tagging.tagger:Tagger._decisions",
        after(lambda rows: [[{**d, "probability": 0.0} for d in row] for row in rows]), 5,
        ("tagger, convex, calibrated",)),
    Bug("confidence of trees", "structlearn.models.inputs:NativeInputs.certainties",
        after(lambda rows: [_next(row) for row in rows]), 10, ("parser, order 1, calibrated",)),
    Bug("evaluate", "structlearn.metrics.accuracy:_right",
        after(lambda found: (found[0], found[1] + 1)), 10, CONVEX),
    Bug("evaluate: unknown labels", "structlearn.tasks.tagging.model:TaggerModel.gold",
        after(lambda rows: [["_" if k is None else k for k in row] for row in rows]), 10, CONVEX),
    Bug("score of estimators", "structlearn.estimators.array_model:check_sample_weight",
        after(np.ones_like), 20, CRF),
    Bug("evaluate: command line", "structlearn.cli.commands.tasks:put_json",
        lambda right: lambda found: right({**found, "accuracy": round(found["accuracy"], 2)}),
        10, CONVEX),
    Bug("evaluate: pipelines", "structlearn.metrics.alignment:word_alignment",
        after(lambda pairs: pairs[:-1]), 5),
    Bug("images: order", "structlearn.tasks.images.segmenter:ImageSegmenter.predict",
        _of_several(lambda found: [found[0]] * len(found)), 20),
    Bug("images: files", "structlearn.io.images:read_image", after(lambda image: image[::-1]), 20),
    Bug("images: scores", "structlearn.tasks.images.segmenter:compare",
        lambda right: lambda gold, found, n: right([np.maximum(g, 0) for g in gold], found, n), 10),
    Bug("images: command line", "structlearn.io.images:read_image",
        after(lambda image: image[::-1]), 10),
    Bug("images: superpixels", "structlearn.tasks.images.sites:Sites.spread",
        after(lambda mask: np.roll(mask, 1, axis=1)), 30),
    Bug("images: strips", "structlearn.features.pixels:PixelFeatures.rows",
        lambda right: lambda self, image, begin, end: right(self, image[:end], begin, end), 10),
    Bug("images: masks", "structlearn.io.masks:MaskCoding._numbers",
        lambda right: lambda self, values: np.minimum(values, len(self.values) - 1),
        3, ("other values",)),
    Bug("line ends of running text", "structlearn.tasks.pipeline.tokeniser:paragraphs",
        lambda right: lambda text: right(text.replace("\r", " ")), 40),
    Bug("texts one by one, together, in files", "structlearn.tasks.pipeline.files:_shifted",
        lambda right: lambda row, offset: right(row, 0), 60),
)  # fmt: skip
