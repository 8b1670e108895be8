"""The spaCy component that runs one of our models."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc as SpacyDoc

from ..exceptions import FileError
from ..io.container import parse_container
from ..loading import from_container, load
from ..tasks.pipeline.entities import labeller_corpus
from .conversion import put_arcs, read_doc, sentence_starts, spacy_spans

_FILE = "model"


class Component:
    """Annotates spaCy documents with one of our models.

    A pipeline sets tags, lemmas, morphology, heads and entities, if it predicts them; a dependency
    parser sets heads; a segment tagger, or a tagger with labels such as ``B-PER`` and ``I-PER``,
    sets entities (or spans, see below), other taggers ``token.tag_``; a constituency parser sets
    ``doc._.brackets``, a tree for each sentence.

    Sentences are those of the document or, if it has none, those found by our pipeline.

    Parameters
    ----------
    model : Pipeline, Tagger, SegmentTagger, DependencyParser, ConstituencyParser, str or path
        A trained model, its file, or the name of one of our packages ("english").
    name : str
        The component's name.
    spans_key : str, optional
        Write spans to ``doc.spans[spans_key]`` instead of ``doc.ents``.

    Attributes
    ----------
    model : object or None
        The model; None if its file is missing, until spaCy reads it from its folder.

    Examples
    --------
    ``nlp.add_pipe("structlearn", config={"model": "names.model"})``
    """

    def __init__(self, model: Any, name: str = "structlearn", spans_key: str | None = None) -> None:
        self.name, self.spans_key = name, spans_key
        self._missing: FileError | None = None
        # spaCy reads the attributes of components when it adds them: none may raise.
        self.model: Any = model
        if isinstance(model, (str, Path)):
            try:
                self.model = load(model)
            except FileError as error:  # spaCy creates a component before it reads its folder
                self.model, self._missing = None, error
        if not SpacyDoc.has_extension("brackets"):
            SpacyDoc.set_extension("brackets", default=None)

    def _fitted(self) -> Any:
        """Return the model; ValueError if there is none."""
        if self.model is None:
            raise self._missing or ValueError(f"the component {self.name!r} has no model")
        return self.model

    def __call__(self, doc: Any) -> Any:
        """Annotate a document, and return it."""
        model = self._fitted()
        own, places = read_doc(doc, sentence_starts(doc, model))
        if not places:
            return doc
        sentences = [s.tokens for s in own.sentences]
        kind = type(model).__name__
        if kind == "Pipeline":
            model._annotate_tokens(sentences, model.stages, 1)
            self._put_pipeline(doc, own, places)
        elif kind == "DependencyParser":
            trees = model.predict([[token.text for token in tokens] for tokens in sentences])
            _put_trees(own, trees)
            self._put_heads(doc, own, places)
        elif kind == "ConstituencyParser":
            doc._.brackets = model.predict([[t.text for t in tokens] for tokens in sentences])
        elif kind in ("Tagger", "SegmentTagger"):
            corpus = labeller_corpus(model.model_, sentences)
            rows = model.model_.label_corpus(corpus, 1)
            labels = [label for row in rows for label in row]
            if kind == "SegmentTagger" or any(k[:2] in ("B-", "I-") for k in model.classes_):
                for token, label in zip(own, labels, strict=True):
                    token.entity = label
                self._put_spans(doc, places, own.entities)
            else:
                for place, label in zip(places, labels, strict=True):
                    doc[place].tag_ = label
        else:
            raise TypeError(f"the component cannot use a {kind}: it is not a model of tokens")
        return doc

    def pipe(self, stream: Iterable[Any], batch_size: int = 128) -> Iterable[Any]:
        """Annotate a stream of documents."""
        for doc in stream:
            yield self(doc)

    def _put_pipeline(self, doc: Any, own: Any, places: list[int]) -> None:
        stages = self.model.stages
        if "parser" in stages:
            self._put_heads(doc, own, places)
        elif not doc.has_annotation("SENT_START"):
            _put_starts(doc, own, places)
        for token, place in zip(own, places, strict=True):
            other = doc[place]
            if "tags" in stages:
                other.pos_ = token.upos if token.upos != "_" else ""
                other.tag_ = token.xpos if token.xpos != "_" else ""
                other.set_morph(None if token.feats == "_" else token.feats)
            if "lemmas" in stages:
                other.lemma_ = token.lemma
        for name in self.model.model_.labellers:
            if name == "entities":
                self._put_spans(doc, places, own.entities)
            else:
                doc.spans[name] = spacy_spans(doc, places, own.spans(name))

    def _put_heads(self, doc: Any, own: Any, places: list[int]) -> None:
        heads = [token.head.i for token in own]
        put_arcs(doc, places, heads, [token.relation for token in own])

    def _put_spans(self, doc: Any, places: list[int], spans: Any) -> None:
        entities = spacy_spans(doc, places, spans)
        if self.spans_key is None:
            doc.set_ents(entities)
        else:
            doc.spans[self.spans_key] = entities

    # -- files of spaCy -------------------------------------------------------------------------

    def to_bytes(self, **unused: Any) -> bytes:
        """Return the model file."""
        content: bytes = self._fitted().to_bytes()
        return content

    def from_bytes(self, data: bytes, **unused: Any) -> Component:
        """Take the model from :meth:`to_bytes`."""
        self.model = from_container(self.name, *parse_container(self.name, memoryview(data)))
        return self

    def to_disk(self, path: Any, **unused: Any) -> None:
        """Write the model file into a folder."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        self._fitted().save(folder / _FILE)

    def from_disk(self, path: Any, **unused: Any) -> Component:
        """Take the model from the folder that :meth:`to_disk` has written."""
        self.model = load(Path(path) / _FILE)
        return self


@Language.factory("structlearn", default_config={"model": "english", "spans_key": None})
def make_component(nlp: Language, name: str, model: str, spans_key: str | None) -> Component:
    """Return the component that ``nlp.add_pipe("structlearn", config={"model": …})`` adds."""
    return Component(model, name, spans_key)


def _put_trees(own: Any, trees: Any) -> None:
    for sentence, tree in zip(own.sentences, trees, strict=True):
        for token, (head, relation) in zip(sentence, tree, strict=True):
            token.head_id, token.relation = head, relation


def _put_starts(doc: Any, own: Any, places: list[int]) -> None:
    firsts = {places[sentence.first] for sentence in own.sentences[1:]}
    for token in doc:
        token.is_sent_start = token.i == 0 or token.i in firsts
