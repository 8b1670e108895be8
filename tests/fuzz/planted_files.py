"""Planted bugs in saving and loading models, reading and writing sentences, and names."""

import numpy as np

from structlearn.models.calibration import Calibration

from .planting import Bug, after, given

CRF = ("estimator, crf",)
CONVEX = ("tagger, convex",)
LOAD = "structlearn:load"
FIT = "structlearn.tasks.tagging.base:LabelTagger.fit"
LABEL = "structlearn.tasks.tagging.base:LabelTagger.label_file"
READ = "structlearn.text.corpus:read_bytes"
#: Imported where a model is saved.
PACK = "structlearn.io.weight_tables:compact_tensors"


def _changed(model, **values):
    vars(model).update(values)
    return model


def _rounded(model):
    return _changed(model, _weights=np.round(model._weights, 6))


def _warmer(pipeline):
    """Change the temperature of one of a pipeline's models."""
    pipeline.model_.parts["upos"].calibration = Calibration(2.0, 100, 0.0)
    return pipeline


def _one_more(name):
    return after(lambda model: _changed(model, **{name: (getattr(model, name) or 0) + 1}))


def _at_other_scale(right):
    """Store rounded weights with a scale that is 10 % too large."""

    def pack(*args, **options):
        tensors, kept = right(*args, **options)
        for name, tensor in tensors.items():
            if name.endswith(".scale"):
                tensors[name] = tensor._replace(data=1.1 * np.asarray(tensor.data))
        return tensors, kept

    return pack


def _other_pieces(change):
    """Make a bug that changes the pieces of a file before they are labelled."""

    def wrong(right):
        def label(*args, **options):
            *rest, read = args
            return right(*rest, change(list(read)), **options)

        return label

    return wrong


def _plain(value):
    """Replace non-ASCII characters in nested lists of strings."""
    if isinstance(value, str):
        return value.encode("ascii", "replace").decode()
    return [_plain(one) for one in value]


def _without_first_label(model):
    weights = model._weights.copy()
    weights[0] = 0.0
    return _changed(model, _weights=weights)


FILES = (
    Bug("load, then save = the file", LOAD, after(_rounded), 3, CRF),
    Bug("loaded = saved", LOAD, after(_rounded), 3, CRF),
    Bug("copied = original", "structlearn.estimators.model:StructuredModel.__getstate__",
        after(lambda state: {**state, "_weights": np.round(state.get("_weights", 0), 6)}), 3, CRF),
    Bug("fitted again = fitted", LOAD, _one_more("max_iter"), 3, CONVEX),
    Bug("weights are rounded once", PACK, _at_other_scale, 3, CONVEX),
    Bug("pipeline: load, then save = the file", LOAD, after(_warmer), 1),
    Bug("pipeline: loaded = saved", LOAD, _one_more("random_state"), 1),
    Bug("pipeline: copied = original", "structlearn.tasks.pipeline.pipeline:Pipeline.__getstate__",
        after(lambda state: {**state, "random_state": 1001}), 1),
    Bug("pipeline: fitted again = fitted", LOAD, _one_more("random_state"), 1),
    Bug("another process", "structlearn.estimators.model:StructuredModel.fit", after(_rounded),
        2, CRF),
    Bug("loaded goes on", LOAD, after(_rounded), 5, ("estimator, perceptron",)),
    Bug("resumed = uninterrupted", "structlearn.learners.base:Progress.resume",
        lambda right: lambda self, state, records, seconds: right(
            self, state, records[:-1], seconds), 10, ("estimator, perceptron",)),
    Bug("lists = files", READ, after(bytes.lower), 20, CONVEX),
    Bug("labelled file = predict", LABEL, after(lambda n: n + 1), 3, CONVEX),
    Bug("parsed file = predict", "structlearn.tasks.tree_parser:TreeParser.label_file",
        after(lambda n: n + 1), 3, ("parser, order 1",)),
    Bug("known labels = predict given them", "structlearn.tasks.tagging.tagger:Tagger._labeller",
        given(known=False), 20, CONVEX),
    Bug("labels renamed in order", "structlearn.tasks.tagging.tagger:Tagger._named",
        after(_plain), 5, CONVEX),
    Bug("classes renamed in order", "structlearn.estimators.outputs:sort_classes",
        after(lambda found: np.array(sorted(found.tolist(), key=str))), 10, CRF),
    Bug("classes in another order, convex", "structlearn.estimators.model:StructuredModel.fit",
        after(_without_first_label), 5, ("crf",)),
    Bug("labels apart = labels within", "structlearn.tasks.tagging.base:with_labels",
        lambda right: lambda X, y: right(X, [row[::-1] for row in y]), 10, CONVEX),
    Bug("trained on a file = on a list", "structlearn.text.sources:read_bytes",
        after(bytes.lower), 5, CONVEX),
    Bug("pipeline: weights are rounded once", PACK, _at_other_scale, 1),
    Bug("pipeline: another process", "structlearn.tasks.pipeline.pipeline:Pipeline.fit",
        after(_warmer), 1),
    Bug("pipeline: resumed = uninterrupted", "structlearn.learners.base:Progress.resume",
        lambda right: lambda self, state, records, seconds: right(
            self, state, records[:-1], seconds), 6),
    Bug("pieces, threads, gzip, pipes", "structlearn.tasks.tagging.files:label_pieces",
        _other_pieces(lambda found: found[:1]), 80, CONVEX),
    Bug("carriage returns", "structlearn.tasks.tagging.files:pieces",
        lambda right: lambda *where: iter([
            (text[: text.rstrip().rfind(b"\r") + 1] or text, n) for text, n in right(*where)]),
        40, CONVEX),
    Bug("command line = label_file", "structlearn.cli.commands.tasks:label_options",
        after(lambda options: {**options, "confidence": False}), 10, CONVEX),
    Bug("distributed labelling = label_file", "structlearn.distributed.labelling:_targets",
        lambda right: lambda files, folder: dict(
            zip(files, [*right(files, folder).values()][::-1], strict=True)), 20, CONVEX),
    Bug("classes in another order, counted", "structlearn.estimators.hmm:HMM._hold",
        lambda right: lambda self, classes, labels, scores, *rest: right(
            self, classes, labels, ({**scores[0], "start": np.sort(scores[0]["start"])},
                                    scores[1]), *rest), 10, ("estimator, hmm",)),
    Bug("odd labels are written as they are", "structlearn.tasks.tagging.files:check_labels",
        lambda right: lambda *args: None, 60, ("tagger",)),
    Bug("span formats train one model", "structlearn.text.formats.span_lines:_spans_of",
        after(lambda spans: spans[:-1]), 10),
    Bug("words of a list = words of a file",
        "structlearn.tasks.words.segmenter:WordSegmenter.predict",
        after(lambda rows: [row[:-1] for row in rows]), 5),
    Bug("words, boundaries and cuts have one distribution",
        "structlearn.tasks.words.segmenter:WordSegmenter.boundaries",
        after(lambda rows: [[p * p for p in row] for row in rows]), 10, ("chain",)),
    Bug("words, boundaries and cuts have one distribution",
        "structlearn.tasks.words.lattice:LatticeSegmenter._summed_words",
        after(lambda words: words[1:]), 10, ("lattice",)),
    Bug("notations of cut text train one model", "structlearn.tasks.words.cut_text:_of_rows",
        lambda right: lambda rows, column: right(rows[:-1] or rows, column), 5),
    Bug("odd words are read as they are", READ, after(bytes.lower), 40, CONVEX),
    Bug("odd relations are written as they are",
        "structlearn.tasks.dependencies.parser:check_labels", lambda right: lambda *args: None, 40),
    Bug("stream in file order = fit in file order",
        "structlearn.text.stream:pieces", after(lambda found: iter(list(found)[:1])), 20,
        ("tags",)),
    Bug("words renamed", "structlearn.text.tokens:split_sentence",
        lambda right: lambda sentence: [
            (_plain(token[0]), *token[1:]) if isinstance(token, tuple) else _plain(token)
            for token in right(sentence)], 5, ("crf",)),
    Bug("features renamed", "structlearn.features.vocabulary:Vocabulary.read",
        lambda right: lambda self, examples, *args, **options: right(
            self, _plain(examples), *args, **options), 5, ("estimator, strings",)),
    Bug("server", "structlearn.serve.answers:_ranked", after(lambda ranked: ranked[:1])),
    Bug("unused columns in another order", FIT,
        lambda right: lambda self, X, **options: right(
            self, sorted(X, key=lambda x: [token[::-1] for token in x]), **options),
        20, ("tagger",)),
    Bug("named columns in another order", "structlearn.text.sources:read_bytes",
        after(bytes.lower), 10),
    Bug("columns of CoNLL-U that are not read",
        "structlearn.tasks.dependencies.parser:_read_part",
        after(lambda bank: bank.subset([i for i, s in enumerate(bank) if s[0][9] == "_" or i])),
        3, ("parser, order 1",)),
)  # fmt: skip
