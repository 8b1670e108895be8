"""Probabilities of what a pipeline found, at every level."""

from __future__ import annotations

import math
from array import array
from typing import Any

from ... import _core
from .corpora import tagged_corpus
from .doc import Doc
from .entities import forms_corpus
from .tokeniser import paragraphs

__all__ = ["add_confidence", "lemma_temperature", "parser_temperature", "tree_sums"]

#: Of stages that no dev set has calibrated: averaged perceptrons are far too sure at 1, and 10 is
#: about what calibration gives them.
_USUAL_TEMPERATURE = 10.0
#: Sentences of a dev set that lemmas and arcs are calibrated on, and the least probability that one
#: has there: gold trees have arcs that the pruner leaves out, and some lemmas no script gives.
_CALIBRATED, _LEAST = 100, 1e-6


def add_confidence(pipeline: Any, docs: list[Doc]) -> None:
    """Set the confidence of the tokens and words of documents."""
    parts, stages = pipeline.model_.parts, pipeline.stages
    if "tokeniser" in stages and pipeline._own_tokeniser is None:
        for doc in docs:
            _add_tokens(parts["tokeniser"], doc)
    sentences = [sentence.words for doc in docs for sentence in doc if sentence.words]
    if not sentences:
        return
    corpus = tagged_corpus(sentences)
    if "tags" in stages:
        for name in ("upos", "xpos", "feats"):
            index = {label: k for k, label in enumerate(parts[name].shown)}
            for word, p in _marginals(parts[name], corpus, sentences):
                word.confidence[name] = p[index[getattr(word, name)]]
    if "lemmas" in stages:
        shown, lemma_of = parts["lemmas"].shown, pipeline._lemmatiser.lemma
        for word, p in _marginals(parts["lemmas"], corpus, sentences):
            found = (q for label, q in zip(shown, p, strict=True) if q > 1e-6
                     and lemma_of(label, word.form, word.xpos) == word.lemma)  # fmt: skip
            word.confidence["lemma"] = min(1.0, sum(found))
    if "entities" in stages:
        shown = parts["entities"].shown
        for word, p in _marginals(parts["entities"], forms_corpus(sentences), sentences):
            found = (q for label, q in zip(shown, p, strict=True) if label == word.entity)
            word.confidence["entity"] = min(1.0, sum(found))
    if "parser" in stages:
        for words, sums in zip(sentences, tree_sums(parts["parser"], corpus), strict=True):
            tree = [(word.head, word.relation) for word in words]
            for word, p in zip(words, sums.certainties(tree), strict=True):
                word.confidence["head"] = p


def tree_sums(parser: Any, corpus: Any) -> Any:
    """Yield the sums over the trees of each sentence.

    Pairs of arcs, which a parser of order 2 scores, can be summed over projective trees alone.
    """
    return parser.sums((corpus, [None] * 3), projective=not parser.has_temperature)


def lemma_temperature(lemmatiser: Any, dev: Any) -> float:
    """Return the temperature at which the lemmas of a dev set are most probable.

    Several scripts may give one lemma (*time* is *time* both kept and in lower case): what counts
    is the sum of their probabilities, as in the confidence of a lemma.
    """
    from ...estimators.calibration import best_temperature
    from ...metrics.alignment import has_lemma

    model = lemmatiser.model
    dev = dev.subset(range(min(len(dev), _CALIBRATED)))
    reader, n = model.reader(dev), len(model.labels)
    gold = []
    for s in range(len(dev)):
        columns = (dev.cells(s, name) for name in ("form", "lemma", "xpos"))
        gold.append([
            [k for k, x in enumerate(model.shown) if lemmatiser.lemma(x, form, xpos) == lemma]
            if has_lemma(form, lemma) else None
            for form, lemma, xpos in zip(*columns, strict=True)
        ])  # fmt: skip

    def log_loss(temperature: float) -> float:
        total = 0.0
        for s, words in enumerate(gold):
            p = array("d", reader.marginals(s, temperature))
            for t, scripts in enumerate(words):
                if scripts is None:
                    continue
                total -= math.log(max(sum(p[t * n + k] for k in scripts), _LEAST))
        return total

    return best_temperature(log_loss)


def parser_temperature(parser: Any, dev: Any) -> float:
    """Return the temperature at which the arcs of a dev set are most probable."""
    from ...estimators.calibration import best_temperature
    from ...text.dependency_treebank import gold_trees

    dev = dev.subset(range(min(len(dev), _CALIBRATED)))
    trees, sums = gold_trees(dev), list(tree_sums(parser, dev))

    def log_loss(temperature: float) -> float:
        total = 0.0
        for one, tree in zip(sums, trees, strict=True):
            one.temperature = temperature
            total -= sum(math.log(max(p, _LEAST)) for p in one.certainties(tree))
        return total

    return best_temperature(log_loss)


def _marginals(model: Any, corpus: Any, sentences: Any) -> Any:
    """Yield each word with the probabilities of the labels."""
    reader, n = model.reader(corpus), len(model.labels)
    for s, words in enumerate(sentences):
        p = array("d", reader.marginals(s, model.temperature or _USUAL_TEMPERATURE))
        for t, word in enumerate(words):
            yield word, p[t * n : (t + 1) * n]


def _add_tokens(model: Any, doc: Doc) -> None:
    """Set the probabilities that tokens begin where they do."""
    core = _core.Corpus("columns")
    read = list(paragraphs(doc.text))
    for characters, _ in read:
        core.add_characters(characters.encode())
    n = len(model.labels)
    begins = [k for k, label in enumerate(model.labels) if label.startswith("B-")]
    reader = _core.TaggerReader(model.core, core)
    tokens = {token.begin: token for token in doc.tokens}
    for s, (_, places) in enumerate(read):
        p = array("d", reader.marginals(s, model.temperature or _USUAL_TEMPERATURE))
        for number, at in enumerate(places):
            if at in tokens:
                base = number * n
                tokens[at].confidence = min(1.0, sum(p[base + k] for k in begins))
