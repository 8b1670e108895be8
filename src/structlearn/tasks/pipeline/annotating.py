"""What trained pipelines do with text: stage after stage, text by text."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence

from ...checks import check_whole
from ...exceptions import CapabilityError
from ...text.corpus import Corpus
from ...threads import n_threads
from .corpora import put_lemmas, put_tags, sentence_corpus, tagged_corpus, words_corpus
from .doc import Doc
from .model import PipelineModel
from .tokeniser import Tokeniser, check_text

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import IO, Any

    Places = list[list[tuple[int, int]]]

#: Texts are annotated together up to this many characters.
_BATCH = 200_000
#: Words of texts whose sentences are tagged one by one, by what is kept for single calls.
_FEW = 200
#: Sentences of more tokens are cut: texts such as tables of numbers have no sentences, and parsers
#: take 4,000 words.
_LONGEST = 400


class Annotating:
    """Annotates texts, files and sentences of tokens.

    The models are those of ``model_``; :class:`~structlearn.tasks.Pipeline` learns them or reads
    them from a file.
    """

    model_: PipelineModel
    #: A function of your own from a text to the places of its tokens, by sentence.
    _own_tokeniser: Callable[[str], Places] | None = None
    _left_out: tuple[str, ...] = ()
    _tokeniser: Tokeniser | None

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages that are run, in their order."""
        raise AssertionError

    @property
    def n_threads(self) -> int:
        """Threads."""
        raise AssertionError

    def _prepare(self) -> None:
        """Make what annotating needs of the models."""
        from .words import Lemmatiser, Splitter

        parts = self.model_.parts
        self._tokeniser = None
        if "tokeniser" in parts:
            cut = "words" in parts and "words" not in self._left_out
            self._tokeniser = Tokeniser(parts["tokeniser"], self.stage("words") if cut else None)
        self._splitter = Splitter(parts["splitter"]) if "splitter" in parts else None
        self._lemmatiser: Any = None
        if "lemmas" in parts:
            self._lemmatiser = Lemmatiser(parts["lemmas"], self.model_.lexicon)
        self._tagger: Any = None
        if "upos" in parts:
            from .tags import TAG_COLUMNS, AgreeingTagger

            models = [parts[name] for name in TAG_COLUMNS]
            self._tagger = AgreeingTagger(models, self.model_.combinations)

    def __call__(self, text: str, *, confidence: bool = False) -> Doc:
        """Annotate a text.

        Parameters
        ----------
        confidence : bool, default=False
            Set the probabilities of tokens, tags, lemmas and arcs too. Those of arcs are sums over
            projective trees where the parser is of order 2. A warning names the stages whose
            probabilities are not calibrated.

        Returns
        -------
        Doc
        """
        if confidence:
            self._warn_if_uncalibrated()
        return self._annotated([text], self.n_threads, confidence)[0]

    def places(self, text: str) -> Places:
        """Return where the tokens of a text are, (begin, end), by sentence."""
        if self._own_tokeniser is not None:
            return self._own_tokeniser(text)
        if self._tokeniser is None:
            raise ValueError("the pipeline has no tokeniser")
        return self._tokeniser([text], self.n_threads)[0]

    def pipe(
        self, texts: Iterable[str], n_jobs: int | None = None, *, confidence: bool = False
    ) -> Iterator[Doc]:
        """Annotate many texts, several together, and yield them in their order.

        Parameters
        ----------
        texts : iterable of str
            Read as they are needed.
        n_jobs : int, optional
            Threads, -1 for all cores; by default those of the pipeline. The result does not depend
            on it.
        """
        if isinstance(texts, str):
            raise TypeError("texts is one string: give a list of texts, or call the pipeline")
        if confidence:
            self._warn_if_uncalibrated()
        threads = self.n_threads if n_jobs is None else n_threads(n_jobs)
        batches = _batches(texts)
        if threads == 1:
            for batch in batches:
                yield from self._annotated(batch, 1, confidence)
            return
        from collections import deque
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(threads) as pool:
            waiting: deque[Any] = deque()
            for batch in batches:
                waiting.append(pool.submit(self._annotated, batch, 1, confidence))
                if len(waiting) > threads:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()

    def annotate(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        split: bool = False,
        confidence: bool = False,
    ) -> Doc:
        """Annotate sentences whose tokens are known.

        Parameters
        ----------
        sentences : iterable of lists of str
            Strings are refused, an empty one too: to annotate text, call the pipeline.
        split : bool, default=False
            Look for multiword tokens among them.

        Returns
        -------
        Doc
            With as many sentences as were given, those without tokens among them. Its text has
            the tokens separated by blanks, a line for each sentence that has some.
        """
        if isinstance(sentences, str):
            raise TypeError(
                "sentences is a string: give a list of sentences, each a list of tokens, or call "
                "the pipeline with the text"
            )
        lines: list[str] = []
        places: Places = []
        at = 0
        for number, given in enumerate(sentences):
            if isinstance(given, str):
                raise TypeError(
                    f"sentence {number} is a string: give a list of tokens, or call the pipeline "
                    "with the text"
                )
            row, tokens = [], list(given)
            for token in tokens:
                check_text(token)
                if not token or token != " ".join(token.split()):
                    raise ValueError(
                        f"sentence {number}: the token {token!r} is empty or has blanks at its "
                        "ends, or more than one space inside"
                    )
                row.append((at, at + len(token)))
                at += len(token) + 1
            if row:
                lines.append(" ".join(tokens))
            places.append(row)
        docs = self._finished(["\n".join(lines)], [places], self.n_threads, split)
        if confidence:
            self._warn_if_uncalibrated()
            self._add_confidence(docs, self.n_threads)
        return docs[0]

    def predict(self, X: Iterable[Sequence[str]]) -> list[Any]:
        """Return the trees of sentences whose tokens are known; an empty one has an empty tree."""
        return [sentence.tree for sentence in self.annotate(X).sentences]

    def predict_kbest(
        self, X: Iterable[Sequence[str]], n: int = 5
    ) -> list[list[tuple[float, Any]]]:
        """Return the n best trees of sentences whose tokens are known, as (score, tree).

        Best first, given the tags that were found; projective trees where the parser is of order 2.
        """
        return self.rank_trees(self.annotate(X), n)

    def rank_trees(self, doc: Doc, n: int = 5) -> list[list[tuple[float, Any]]]:
        """Return the n best trees of each sentence of an annotated text, as (score, tree).

        As :meth:`predict_kbest`, given the words and the tags that the document has.
        """
        number = check_whole("n", n, 1)
        if "parser" not in self.stages:
            raise CapabilityError("the pipeline has no parser, so there are no trees")
        tokens = [list(sentence) for sentence in doc.sentences if sentence.tokens]
        trees: Any = ()
        if tokens:
            trees = self.stage("parser").predict_kbest(tagged_corpus(tokens), number)
        ranked = iter(trees)
        return [next(ranked) if s.tokens else [(0.0, s.tree)] for s in doc.sentences]

    def stage(self, name: str) -> Any:
        """Return the model of a stage, of which everything can be asked that its task answers.

        Parameters
        ----------
        name : str
            tokeniser, words, splitter, upos, xpos, feats, lemmas, parser or entities, or that of a
            stage that was added.

        Returns
        -------
        Tagger, WordSegmenter, LatticeSegmenter, SegmentTagger or DependencyParser
            The parser reads the tags of its input: those that the stages before it have given.
        """
        parts = self.model_.parts
        if name not in parts:
            raise ValueError(f"the pipeline has no stage {name!r}; it has {', '.join(parts)}")
        from .. import DependencyParser, LatticeSegmenter, SegmentTagger, Tagger, WordSegmenter

        kinds: Any = (Tagger, WordSegmenter, LatticeSegmenter, SegmentTagger, DependencyParser)
        kind = next(kind for kind in kinds if kind._model_kind is type(parts[name]))
        model = kind.from_model(parts[name])
        model.n_jobs = self.n_threads
        return model

    def _places(self, texts: Sequence[str], threads: int) -> list[Places]:
        """Return where the tokens of each text lie, by sentence."""
        if self._own_tokeniser is not None:
            return [_checked(text, self._own_tokeniser(text)) for text in texts]
        if self._tokeniser is None or "tokeniser" in self._left_out:
            raise ValueError(
                "the pipeline has no tokeniser: give sentences of tokens to annotate(), or a "
                "tokeniser of your own to with_tokeniser()"
            )
        return [
            [
                sentence[at : at + _LONGEST]
                for sentence in sentences
                for at in range(0, len(sentence), _LONGEST)
            ]
            for sentences in self._tokeniser(texts, threads)
        ]

    def _annotated(self, texts: Sequence[str], threads: int, confidence: bool = False) -> list[Doc]:
        if len(texts) == 1 and len(texts[0]) > _BATCH and self._own_tokeniser is None:
            return [self._annotated_long(texts[0], threads, confidence)]
        return self._annotated_together(texts, threads, confidence)

    def _annotated_together(
        self, texts: Sequence[str], threads: int, confidence: bool
    ) -> list[Doc]:
        docs = self._finished(texts, self._places(texts, threads), threads, True)
        if confidence:
            self._add_confidence(docs, threads)
        return docs

    def _annotated_long(self, text: str, threads: int, confidence: bool) -> Doc:
        """Annotate a text in pieces: what the stages need does not grow with it."""
        from .files import cut_text

        check_text(text)
        doc = Doc("")
        blocks = (text[at : at + _BATCH // 2] for at in range(0, len(text), _BATCH // 2))
        for piece in cut_text(blocks, _BATCH // 2):
            doc.append(self._annotated_together([piece], threads, confidence)[0])
        return doc

    def _finished(
        self, texts: Sequence[str], places: list[Places], threads: int, split: bool
    ) -> list[Doc]:
        """Return the documents of texts whose tokens are known."""
        stages = self.stages
        splits: list[Any] = [None] * len(texts)
        if split and self._splitter is not None and "splitter" in stages:
            forms = [
                [text[begin:end] for begin, end in sentence]
                for text, sentences in zip(texts, places, strict=True)
                for sentence in sentences
                if sentence
            ]
            rows = iter(self._splitter(forms, threads))
            splits = [[next(rows) if s else [] for s in sentences] for sentences in places]
        docs = [
            Doc.from_places(text, sentences, rows)
            for text, sentences, rows in zip(texts, places, splits, strict=True)
        ]
        sentences = [s.tokens for doc in docs for s in doc.sentences if s.tokens]
        if sentences:
            self._annotate_tokens(sentences, stages, threads)
        return docs

    def _few_tagged(self, sentences: list[Any], stages: Sequence[str]) -> Corpus | None:
        """Set tags and lemmas of few tokens, a call for each sentence; return them as a corpus.

        None: what the models read is not so plain.
        """
        lemmatises = "lemmas" in stages and self._lemmatiser is not None
        if "tags" not in stages or sum(map(len, sentences)) > _FEW:
            return None
        found = []
        for tokens in sentences:
            forms = [token.text for token in tokens]
            tags = self._tagger.single(forms)
            lemmas = ["_"] * len(forms)
            if tags is not None and lemmatises:
                lemmas = self._lemmatiser.single(forms, tags)
            if tags is None or lemmas is None:
                return None
            found.append((forms, lemmas, tags))
        for tokens, (_, lemmas, tags) in zip(sentences, found, strict=True):
            for token, lemma, tag in zip(tokens, lemmas, tags, strict=True):
                token.lemma = lemma
                token.upos, token.xpos, token.feats = tag
        return sentence_corpus(found)

    def _annotate_tokens(self, sentences: list[Any], stages: Sequence[str], threads: int) -> None:
        """Set tags, lemmas, trees and labels of tokens."""
        flat = [token for tokens in sentences for token in tokens]
        corpus = self._few_tagged(sentences, stages)
        if corpus is None:
            corpus = self._tagged(sentences, flat, stages, threads)
        if "parser" in stages:
            trees, _ = self.model_.parts["parser"].parse_corpus(corpus, [None] * 3, threads)
            arcs = (arc for tree in trees for arc in tree)
            for token, (head, relation) in zip(flat, arcs, strict=True):
                token.head_id, token.relation = head, relation
        for name in self.model_.labellers:
            if name in stages:
                self._put_labels(name, sentences, threads)

    def _put_labels(self, name: str, sentences: list[Any], threads: int) -> None:
        from .entities import labeller_corpus

        model = self.model_.parts[name]
        rows = model.label_corpus(labeller_corpus(model, sentences), threads)
        for tokens, row in zip(sentences, rows, strict=True):
            for token, label in zip(tokens, row, strict=True):
                if name == "entities":
                    token.entity = label
                else:
                    token.labels[name] = label

    def _tagged(
        self, sentences: list[Any], flat: list[Any], stages: Sequence[str], threads: int
    ) -> Corpus:
        """Set tags and lemmas of many tokens; return them as a corpus."""
        corpus = words_corpus([[token.text for token in tokens] for tokens in sentences])
        if "tags" in stages:
            numbers = self._tagger.numbers(corpus, threads)
            combinations = self.model_.combinations
            put_tags(corpus, numbers, combinations)
            for token, k in zip(flat, numbers, strict=True):
                token.upos, token.xpos, token.feats = combinations[k]
        if "lemmas" in stages and self._lemmatiser is not None:
            lemmas = self._lemmatiser(corpus, threads)
            for token, lemma in zip(flat, (one for row in lemmas for one in row), strict=True):
                token.lemma = lemma
            put_lemmas(corpus, [token.lemma for token in flat])
        return corpus

    @property
    def calibrated_(self) -> bool:
        """Whether the confidence of every stage can be trusted."""
        return not any(self._doubts().values())

    def _doubts(self) -> dict[str, str]:
        from ...models.temperature import doubt
        from .confidence import stage_calibrations

        return {name: doubt(*certainty) for name, certainty in stage_calibrations(self).items()}

    def _warn_if_uncalibrated(self) -> None:
        from ...models.temperature import warn_of

        warn_of("Pipeline", self._doubts())

    def _add_confidence(self, docs: list[Doc], threads: int) -> None:
        from .confidence import add_confidence

        add_confidence(self, docs, threads)

    def label_file(
        self,
        source: str | os.PathLike[str],
        output: str | os.PathLike[str] | IO[bytes],
        *,
        format: str = "conllu",
        confidence: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Annotate a file of text piece by piece, whatever its size; return the number of words.

        Parameters
        ----------
        source : path
            UTF-8; ``-`` is standard input, gzip is undone.
        output : path or binary file
        format : {"conllu", "json", "html", "text"}
            "json": an object for each sentence, on a line of its own. "html": a page with the
            trees as arcs. "text": the tokens separated by blanks, a sentence on each line.
        confidence : bool
            Write probabilities too (conllu, json).
        progress : callable, optional
            Called with the number of words so far.
        """
        from ...text.files import written_text
        from .files import write_annotated

        with written_text(output) as file:
            return write_annotated(self, source, file, format, confidence, progress)


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    """Yield texts several together; one that is longer than a batch alone."""
    batch: list[str] = []
    size = 0
    for text in texts:
        check_text(text)
        if batch and size + len(text) > _BATCH:
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def _checked(text: str, places: Places) -> Places:
    """Refuse tokens of somebody's tokeniser that do not lie one behind the other in the text."""
    check_text(text)
    at = 0
    for sentence in places:
        for place in sentence:
            if isinstance(place, str) or len(place) != 2:
                raise TypeError(
                    f"the tokeniser gave {place!r:.40}: a token is its place in the text, "
                    "(begin, end), and a sentence a list of them"
                )
            begin, end = place
            if not at <= begin < end <= len(text) or text[begin:end].strip() != text[begin:end]:
                raise ValueError(
                    f"the tokeniser gave the token {begin}:{end}, {text[begin:end]!r:.40}: tokens "
                    "lie one behind the other, and have no blanks at their ends"
                )
            at = end
    return [sentence for sentence in places if sentence]
