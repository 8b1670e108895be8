"""Learning of a pipeline, stage by stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...fitting.jackknife import numbered
from ...fitting.split_corpus import SplitCorpus, by_part, in_parts, joined
from ...io.container import Tensor, read_container, write_container
from ...meter import say
from ...text.corpus import Corpus
from ...text.dependency_treebank import check_trees, read_treebank
from ...text.sources import not_empty
from ...text.surface import raw_paragraphs
from ...threads import n_threads
from ..dependencies.model import ParserModel
from ..dependencies.parser import DependencyParser
from ..tagging.model import TaggerModel
from ..tagging.tagger import Tagger
from .confidence import calibrate_heads, calibrate_lemmas, calibrate_tags, calibrate_tokens
from .corpora import put_tags
from .entities import read_entities, train_entities
from .kept_stages import KeptStages, corpora_digest
from .model import PipelineModel
from .tags import TAG_COLUMNS, AgreeingTagger, jackknifed_tags, seen_combinations, train_tagger
from .tokeniser import Tokeniser, labelled_characters, train_tokeniser
from .words import LemmaLabels, Lemmatiser, train_lemmatiser, train_splitter

#: Where the tags that the parser learns from are kept.
_TAGS = "tags"
#: Of the sentences with entities one in so many calibrates.
_PARTS = 5

#: What suits the stages better than the defaults of their tasks.
_SETTINGS: dict[str, dict[str, Any]] = {
    # The log loss; many of its weights are next to nothing.
    "tokeniser": {"learner": "adagrad", "temperature": 1.0, "max_iter": 5, "prune": 0.12},
    "words": {"tags": False},
    "splitter": {"max_iter": 8},
    "tags": {},
    "lemmas": {"max_iter": 8, "n_models": 4, "prune": 0.5},
    "parser": {},
    "entities": {},
}


class PipelineFitting:
    """One run of learning.

    Parameters
    ----------
    pipeline : Pipeline
        Whose parameters count.
    X, dev, entities : path, Corpus or list of sentences
    """

    def __init__(self, pipeline: Any, X: Any, dev: Any, entities: Any = None) -> None:
        self.pipeline = pipeline
        self.corpus = SplitCorpus(in_parts(X, _read, bool(pipeline.parser)))
        self.dev = None if dev is None else not_empty(read_treebank(dev), "the dev corpus")
        self.entities = None if entities is None else read_entities(entities)
        self.threads = n_threads(pipeline.n_jobs)
        self.parts: dict[str, Any] = {}
        if pipeline.tokeniser:  # what is wrong is said before any stage takes its time
            language, seed = pipeline.variants, int(pipeline.random_state)
            self._characters = self.corpus.parts.then(labelled_characters, language, seed)
            self._dev_texts = [] if self.dev is None else list(raw_paragraphs(self.dev))
        self.kept = KeptStages(pipeline.checkpoint, self._identity)

    def run(self) -> PipelineModel:
        """Learn; return the model."""
        p, corpus = self.pipeline, self.corpus
        combinations: list[tuple[str, str, str]] = []
        lexicon: list[tuple[str, str, str]] = []
        if p.tokeniser:
            self._stage(
                "tokeniser",
                lambda: train_tokeniser(self._characters, **self._settings("tokeniser")),
            )
            if self._dev_texts:
                tokeniser = Tokeniser(self.parts["tokeniser"])
                calibrate_tokens(tokeniser, self._dev_texts, self.threads)
            self._learn_words()
        if p.splitter:
            self._stage("splitter", lambda: train_splitter(corpus, **self._settings("splitter")))
        tagged, dev_tagged = corpus, self.dev
        if p.tags:
            combinations = seen_combinations(corpus)
            for column in TAG_COLUMNS:
                self._stage(
                    column,
                    lambda column=column: train_tagger(  # type: ignore[misc]
                        corpus, column, **self._settings("tags")
                    ),
                )
            tagger = AgreeingTagger([self.parts[c] for c in TAG_COLUMNS], combinations)
            if self.dev is not None:
                for column in TAG_COLUMNS:
                    calibrate_tags(self.parts[column], self.dev, column, self.threads)
                dev_tagged = _copy(self.dev)
                put_tags(dev_tagged, tagger.numbers(self.dev, self.threads), combinations)
                for column in TAG_COLUMNS:
                    model = self.parts[column]
                    calibrate_tags(model, self.dev, column, self.threads, dev_tagged)
            if p.parser:
                tagged = self._jackknifed(tagger)
        if p.lemmas:
            # On predicted tags it would learn to distrust them: it was 0.3 % worse.
            labels = LemmaLabels(corpus)
            lexicon = labels.lexicon
            self._stage("lemmas", lambda: train_lemmatiser(labels, **self._settings("lemmas")))
            if dev_tagged is not None and "lemmas" in self.parts:
                lemmatiser = Lemmatiser(self.parts["lemmas"], lexicon)
                calibrate_lemmas(lemmatiser, dev_tagged, self.threads)
        if p.parser:
            self._stage("parser", lambda: self._parser(tagged, dev_tagged), ParserModel)
            if p.tags and dev_tagged is not None:
                calibrate_heads(self.parts["parser"], dev_tagged, self.threads)
        if (entities := self.entities) is not None:
            settings = self._settings("entities")
            self._stage("entities", lambda: train_entities(entities, **settings))
            if self.dev is not None:
                self._calibrate_entities(entities, settings)
        self.kept.close()
        training = {
            "sentences": len(corpus),
            "words": corpus.n_tokens,
            "parameters": p._stored(),
        }
        return PipelineModel(self.parts, combinations, training, lexicon)

    def _learn_words(self) -> None:
        """Learn what cuts sentences into words, if the language needs that."""
        from ..words.lattice import LatticeSegmenter
        from ..words.segmenter import WordSegmenter
        from .cut_sentences import cut_sentences, needs_words

        wanted = self.pipeline.words
        cuts = joined(self.corpus.parts.each(cut_sentences))
        if wanted == "none" or (wanted == "auto" and not needs_words(cuts)):
            return
        kind = LatticeSegmenter if wanted == "lattice" else WordSegmenter
        dev = None if self.dev is None else cut_sentences(self.dev)
        settings = self._settings("words")
        self._stage("words", lambda: kind(**settings).fit(cuts, dev=dev).model_, kind._model_kind)

    def _calibrate_entities(self, corpus: Corpus, settings: dict[str, Any]) -> None:
        """Calibrate entities on a fifth of their sentences, by a tagger that has not seen them.

        The treebank of the dev set has no entities. The scale of the scores is that of the same
        learning from four fifths.
        """
        if len(corpus) < _PARTS:
            return
        held_out = range(0, len(corpus), _PARTS)
        rest = [s for s in range(len(corpus)) if s % _PARTS]
        model = train_entities(corpus.subset(rest), **{**settings, "verbose": 0})
        tagger = Tagger.from_model(model).calibrate(corpus.subset(held_out))
        self.parts["entities"].calibration = tagger.calibration_

    def _identity(self) -> dict[str, Any]:
        """Return what decides how the training ends."""
        own = self.corpus.parts.each(corpora_digest)
        data = " ".join([*filter(None, own), corpora_digest(self.dev, self.entities)])
        return {**self.pipeline._stored(), "data": data}

    def _settings(self, stage: str) -> dict[str, Any]:
        """Return the parameters of a stage's task."""
        p = self.pipeline
        given = getattr(p, stage, None)
        common = {"n_jobs": p.n_jobs, "random_state": p.random_state, "verbose": p.verbose}
        return {**common, **_SETTINGS[stage], **(given if isinstance(given, dict) else {})}

    def _stage(self, name: str, learn: Callable[[], Any], kind: type[Any] = TaggerModel) -> None:
        """Learn a stage, or take it from the folder of an earlier run."""
        if self.pipeline.verbose:
            say(f"stage: {name}")
        model: Any = self.kept.take(f"{name}.model", kind.load)
        if model is None:
            learned = learn()
            if learned is None:
                return
            self.kept.keep(f"{name}.model", lambda path: learned.save(path, "float32"))
            model = learned
        self.parts[name] = model

    def _jackknifed(self, tagger: AgreeingTagger) -> SplitCorpus:
        """Return the treebank with the tags that taggers give which have not seen them."""
        p, parts = self.pipeline, self.corpus.parts
        if p.verbose:
            say(f"stage: tags of the treebank, in {p.folds} folds")
        kept = self.kept.take(_TAGS, _read_tags)
        if kept is not None:
            lengths = [n or 0 for n in parts.each(_n_tokens)]
            return SplitCorpus(parts.then(_put_numbers, kept[1], own=by_part(kept[0], lengths)))
        settings = {**self._settings("tags"), "n_models": 1, "verbose": 0}
        found = jackknifed_tags(parts, p.folds, tagger, self.threads, **settings)
        if self.kept.keeps:
            numbers, names = numbered(joined(found.each(_rows)))
            self.kept.keep(_TAGS, lambda path: _write_tags(path, numbers, names))
        return SplitCorpus(found.then(_put_rows))

    def _parser(self, tagged: SplitCorpus, dev: Corpus | None) -> ParserModel:
        """Return the parser, learned on predicted tags, which it finds in the columns."""
        settings = self._settings("parser")
        if self.pipeline.tags:
            settings = {"gold_tags": True, **settings}
        settings = {"checkpoint": self.kept.checkpoint("parser.checkpoint"), **settings}
        model: ParserModel = DependencyParser(**settings).fit(tagged, dev=dev).model_
        return model


# -- what is done where the parts are -------------------------------------------------------------


def _read(source: Any, with_trees: bool) -> Corpus:
    corpus = not_empty(read_treebank(source))
    if with_trees:  # bad ones are refused before any stage takes its time
        check_trees(corpus)
    return corpus


def _n_tokens(corpus: Corpus) -> int:
    return corpus.n_tokens


def _rows(tagged: tuple[Corpus, list[Any]]) -> list[Any]:
    return tagged[1]


def _put_rows(tagged: tuple[Corpus, list[Any]]) -> Corpus:
    return _put_numbers(tagged[0], *numbered(tagged[1]))


def _put_numbers(corpus: Corpus, numbers: Any, names: Sequence[Any]) -> Corpus:
    tagged = _copy(corpus)
    put_tags(tagged, numbers, names)
    return tagged


# -- the tags that are kept -----------------------------------------------------------------------


def _write_tags(path: str, numbers: Any, names: Sequence[Any]) -> None:
    tensors = {"numbers": Tensor("U32", numbers)}
    write_container(path, {"kind": "tags", "combinations": list(map(list, names))}, tensors)


def _read_tags(path: str) -> tuple[Any, list[tuple[str, ...]]]:
    told, tensors = read_container(path, "tags")
    return memoryview(tensors["numbers"].data).cast("B").cast("I"), list(
        map(tuple, told["combinations"])
    )


def _copy(corpus: Corpus) -> Corpus:
    return Corpus(corpus.core.copy(), corpus.format, corpus.path)
