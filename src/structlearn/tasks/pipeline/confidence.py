"""Probabilities of what a pipeline found, at every level."""

from __future__ import annotations

from array import array
from typing import Any

from ... import _core
from ...exceptions import CapabilityError
from .doc import Doc
from .pipeline import tagged_corpus
from .tokeniser import paragraphs

__all__ = ["add_confidence"]

#: Of stages that no dev set has calibrated: averaged perceptrons are far too sure at 1, and 10 is
#: about what calibration gives them.
_USUAL_TEMPERATURE = 10.0


def add_confidence(pipeline: Any, docs: list[Doc]) -> None:
    """Set the confidence of the tokens and words of documents."""
    parts, stages = pipeline.model_.parts, pipeline.stages
    if "tokeniser" in stages and pipeline._own_tokeniser is None:
        for doc in docs:
            _add_tokens(parts["tokeniser"], doc)
    sentences = [sentence.words for doc in docs for sentence in doc.sentences]
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
    if "parser" in stages:
        try:
            for words, sums in zip(
                sentences, parts["parser"].sums((corpus, [None] * 3)), strict=True
            ):
                tree = [(word.head, word.relation) for word in words]
                for word, p in zip(words, sums.certainties(tree), strict=True):
                    word.confidence["head"] = p
        except CapabilityError:
            pass  # sums over trees need a parser of order 1


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
    places = list(paragraphs(doc.text))
    for begin, end in places:
        core.add_characters(doc.text[begin:end].encode())
    n = len(model.labels)
    begins = [k for k, label in enumerate(model.labels) if label.startswith("B-")]
    reader = _core.TaggerReader(model.core, core)
    tokens = {token.begin: token for token in doc.tokens}
    for s, (begin, end) in enumerate(places):
        p = array("d", reader.marginals(s, model.temperature or _USUAL_TEMPERATURE))
        for at in range(begin, end):
            if at in tokens:
                base = (at - begin) * n
                tokens[at].confidence = min(1.0, sum(p[base + k] for k in begins))
