"""Pipelines: from running text to trees."""

from __future__ import annotations

import copy
import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence

from ... import _core
from ...estimators.declared import DeclaredParameters, check_whole
from ...io.container import Tensor, read_container, refused_as_file
from ...text.corpus import Corpus
from .doc import Doc
from .model import STAGES, PipelineModel
from .tokeniser import Tokeniser, check_text

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import IO, Any

    Places = list[list[tuple[int, int]]]

__all__ = ["Pipeline"]

#: Texts are annotated together up to this many characters.
_BATCH = 200_000


class _Learned:
    """What fitting sets."""

    model_: PipelineModel


class Pipeline(_Learned, DeclaredParameters):
    """Annotates running text: sentences, tokens, words, tags, lemmas, trees.

    Each stage is a task of the library, learned from one treebank in CoNLL-U: tokens and sentences
    are chunks of characters, found by a chain over them; the words of multiword tokens and lemmas
    are edit scripts, classified; tags are combinations of UPOS, XPOS and features that the treebank
    has; trees are those of :class:`~structlearn.tasks.DependencyParser`, which learns on tags
    predicted by jack-knifing.

    Parameters
    ----------
    tokeniser, splitter, tags, lemmas, parser : bool or dict, default=True
        Whether to learn a stage; a dictionary has parameters of its task, which are those of
        :class:`~structlearn.tasks.Tagger` and, for the parser, of
        :class:`~structlearn.tasks.DependencyParser`. The tokeniser needs the comments ``# text``
        of the treebank.
    folds : int, default=5
        Of jack-knifing.
    checkpoint : str or path, optional
        A folder in which finished stages are kept: ``fit`` goes on from there after an
        interruption.
    n_jobs : int or None, default=1
        Threads. The result does not depend on it.
    random_state : int, default=0
        Seed.
    verbose : int, default=0
        Above 0: progress on standard error.

    Attributes
    ----------
    model_ : PipelineModel
        What was learned.

    Examples
    --------
    >>> from structlearn.datasets import make_treebank
    >>> from structlearn.tasks import Pipeline
    >>> bank = [list(zip(s.words, s.tags, s.heads, s.deprels)) for s in make_treebank(150)]
    >>> small = {"n_models": 1, "max_iter": 3}
    >>> nlp = Pipeline(
    ...     tokeniser=False, lemmas=False, tags=small, parser={"hash_bits": 16, **small}, folds=2
    ... ).fit(bank)
    >>> doc = nlp.annotate([[word for word, *_ in bank[0]]])
    >>> len(doc.sentences[0].tree) == len(bank[0])
    True
    """

    tokeniser: Any = True
    splitter: Any = True
    tags: Any = True
    lemmas: Any = True
    parser: Any = True
    folds: int = 5
    checkpoint: Any = None
    n_jobs: int | None = 1
    random_state: int = 0
    verbose: int = 0

    #: A function of your own from a text to the places of its tokens, by sentence.
    _own_tokeniser: Callable[[str], Places] | None = None
    _left_out: tuple[str, ...] = ()

    # -- learning -------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, dev: Any = None) -> Pipeline:
        """Learn all stages from a treebank.

        Parameters
        ----------
        X : path, Corpus of CoNLL-U, or list of sentences
        y : None
            For scikit-learn's sake.
        dev : as ``X``, optional
            Calibrates probabilities, and chooses the best pass of the parser.
        """
        from .fitting import PipelineFitting

        if self.folds is not None:
            check_whole("folds", self.folds, 2, 1000)
        self.model_ = PipelineFitting(self._plain(), X, dev).run()
        self._prepare()
        return self

    # -- the model ------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], precision: str = "float16") -> None:
        """Write all stages to one file.

        Parameters
        ----------
        precision : {"float32", "float16", "int8"}
            Of the weights.
        """
        self._fitted().save(path, precision)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Pipeline:
        """Read a pipeline from a file."""
        return cls.from_container(os.fspath(path), *read_container(path))

    @classmethod
    def from_container(
        cls, name: str, description: dict[str, Any], tensors: dict[str, Tensor]
    ) -> Pipeline:
        """Return the pipeline of a model file that has been read already."""
        pipeline = cls()
        pipeline.model_ = PipelineModel.from_container(name, description, tensors)
        with refused_as_file(name):
            pipeline._restore(pipeline.model_.training)
            pipeline._prepare()
        return pipeline

    def _prepare(self) -> None:
        """Make what annotating needs of the models."""
        from .words import Lemmatiser, Splitter

        parts = self._fitted().parts
        self._tokeniser = Tokeniser(parts["tokeniser"]) if "tokeniser" in parts else None
        self._splitter = Splitter(parts["splitter"]) if "splitter" in parts else None
        self._lemmatiser = Lemmatiser(parts["lemmas"]) if "lemmas" in parts else None
        self._tagger: Any = None
        if "upos" in parts:
            from .tags import TAG_COLUMNS, AgreeingTagger

            models = [parts[name] for name in TAG_COLUMNS]
            self._tagger = AgreeingTagger(models, self.model_.combinations)

    def __getstate__(self) -> dict[str, Any]:
        made = ("_tokeniser", "_splitter", "_lemmatiser", "_tagger")
        return {name: value for name, value in vars(self).items() if name not in made}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if "model_" in state:
            self._prepare()

    def _fitted(self) -> PipelineModel:
        if not hasattr(self, "model_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(
                "this Pipeline has not learned anything yet: call fit, or load a model"
            )
        return self.model_

    @property
    def n_threads(self) -> int:
        """Threads that ``n_jobs`` stands for; None is one."""
        return 1 if self.n_jobs is None else check_whole("n_jobs", self.n_jobs, 1)

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages that are run, in their order."""
        own = ("tokeniser",) if self._own_tokeniser is not None else ()
        has = {*self._fitted().stages, *own} - set(self._left_out)
        return tuple(stage for stage in STAGES if stage in has)

    def without(self, *stages: str) -> Pipeline:
        """Return the same pipeline with some stages left out; the models are shared.

        >>> Pipeline().without("parser")
        Traceback (most recent call last):
            ...
        sklearn.exceptions.NotFittedError: this Pipeline has not learned anything yet: call fit, \
or load a model
        """
        self._fitted()
        for stage in stages:
            if stage not in STAGES:
                raise ValueError(f"there is no stage {stage!r}; there are {', '.join(STAGES)}")
        other = copy.copy(self)
        other._left_out = (*self._left_out, *stages)
        other._prepare()
        return other

    def with_tokeniser(self, function: Callable[[str], Places]) -> Pipeline:
        """Return the same pipeline with a tokeniser of your own.

        Parameters
        ----------
        function : callable
            From a text to a list of sentences, each a list of (begin, end): ``text[begin:end]`` is
            a token.
        """
        self._fitted()
        other = copy.copy(self)
        other._own_tokeniser = function
        other._prepare()
        return other

    # -- annotating -----------------------------------------------------------------------------

    def __call__(self, text: str, *, confidence: bool = False) -> Doc:
        """Annotate a text.

        Parameters
        ----------
        confidence : bool, default=False
            Set the probabilities of tokens, tags and lemmas too, and of heads where the parser is
            of order 1.

        Returns
        -------
        Doc
        """
        return self._annotated([text], self.n_threads, confidence)[0]

    def pipe(
        self, texts: Iterable[str], n_jobs: int | None = None, *, confidence: bool = False
    ) -> Iterator[Doc]:
        """Annotate many texts, several together, and yield them in their order.

        Parameters
        ----------
        texts : iterable of str
            Read as they are needed.
        n_jobs : int, optional
            Threads; by default those of the pipeline. The result does not depend on it.
        """
        threads = self.n_threads if n_jobs is None else check_whole("n_jobs", n_jobs, 1)
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
        split : bool, default=False
            Look for multiword tokens among them.

        Returns
        -------
        Doc
            Its text has the tokens separated by blanks, a line for each sentence.
        """
        lines: list[str] = []
        places: Places = []
        at = 0
        for number, tokens in enumerate(sentences):
            if isinstance(tokens, str):
                raise TypeError(
                    f"sentence {number} is a string: give a list of tokens, or call the pipeline "
                    "with the text"
                )
            row = []
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
            self._add_confidence(docs)
        return docs[0]

    def predict(self, X: Iterable[Sequence[str]]) -> list[Any]:
        """Return the trees of sentences whose tokens are known."""
        return [sentence.tree for sentence in self.annotate(X)]

    def predict_kbest(
        self, X: Iterable[Sequence[str]], n: int = 5
    ) -> list[list[tuple[float, Any]]]:
        """Return the n best trees of sentences whose tokens are known, as (score, tree).

        Best first, given the tags that were found. The parser must be of order 1.
        """
        words = [sentence.words for sentence in self.annotate(X).sentences]
        parser = self.model_.parts["parser"]
        number = check_whole("n", n, 1)
        return [sums.kbest(number) for sums in parser.sums((tagged_corpus(words), [None] * 3))]

    def _annotated(self, texts: Sequence[str], threads: int, confidence: bool = False) -> list[Doc]:
        if self._own_tokeniser is not None:
            found = [_checked(text, self._own_tokeniser(text)) for text in texts]
        elif self._tokeniser is None or "tokeniser" in self._left_out:
            raise ValueError(
                "the pipeline has no tokeniser: give sentences of tokens to annotate(), or a "
                "tokeniser of your own to with_tokeniser()"
            )
        else:
            found = self._tokeniser(texts, threads)
        docs = self._finished(texts, found, threads, True)
        if confidence:
            self._add_confidence(docs)
        return docs

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
            ]
            rows = iter(self._splitter(forms, threads))
            splits = [[next(rows) for _ in sentences] for sentences in places]
        docs = [
            Doc.from_places(text, sentences, rows)
            for text, sentences, rows in zip(texts, places, splits, strict=True)
        ]
        words = [sentence.words for doc in docs for sentence in doc.sentences]
        if words:
            self._annotate_words(words, stages, threads)
        return docs

    def _annotate_words(self, sentences: list[Any], stages: Sequence[str], threads: int) -> None:
        """Set tags, lemmas and trees of words."""
        corpus = words_corpus([[word.form for word in words] for words in sentences])
        flat = [word for words in sentences for word in words]
        if "tags" in stages:
            numbers, _ = self._tagger.numbers(corpus, threads)
            combinations = self.model_.combinations
            put_tags(corpus, numbers, combinations)
            for word, k in zip(flat, numbers.tolist(), strict=True):
                word.upos, word.xpos, word.feats = combinations[k]
        if "lemmas" in stages and self._lemmatiser is not None:
            lemmas = self._lemmatiser(corpus, threads)
            for word, lemma in zip(flat, (one for row in lemmas for one in row), strict=True):
                word.lemma = lemma
        if "parser" in stages:
            parser = self.model_.parts["parser"]
            if parser.lemmas:
                names = sorted({word.lemma for word in flat})
                place = {name: k for k, name in enumerate(names)}
                cells = array("I", (place[word.lemma] for word in flat))
                corpus.core.set_column(2, cells, names)
            trees, _ = parser.parse_corpus(corpus, [None] * 3, threads)
            arcs = (arc for tree in trees for arc in tree)
            for word, (head, relation) in zip(flat, arcs, strict=True):
                word.head, word.relation = head, relation

    def _add_confidence(self, docs: list[Doc]) -> None:
        from .confidence import add_confidence

        add_confidence(self, docs)

    # -- files ----------------------------------------------------------------------------------

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

        if isinstance(output, (str, os.PathLike)):
            with written_text(output) as file:
                return write_annotated(self, source, file, format, confidence, progress)
        return write_annotated(self, source, output, format, confidence, progress)

    # -- judging --------------------------------------------------------------------------------

    def evaluate(self, X: Any, *, gold_tokens: bool = False) -> dict[str, Any]:
        """Annotate the text of a treebank, and compare with the treebank.

        Parameters
        ----------
        X : path, Corpus of CoNLL-U, or list of sentences
        gold_tokens : bool, default=False
            Give the words of the treebank; by default its text, paragraphs as blank lines.

        Returns
        -------
        dict
            By name (tokens, sentences, words, upos, xpos, ufeats, alltags, lemmas, uas, las):
            precision, recall, f1, as in the CoNLL 2018 shared task; words_per_second, n_words.
        """
        from .scores import evaluate_pipeline

        return evaluate_pipeline(self, X, gold_tokens)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the F1 of labelled attachment, from the text of a treebank."""
        return float(self.evaluate(X)["las"]["f1"])

    def __repr__(self) -> str:
        state = ", ".join(self.stages) if hasattr(self, "model_") else "not trained"
        return f"Pipeline({state})"


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        check_text(text)
        batch.append(text)
        size += len(text)
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _checked(text: str, places: Places) -> Places:
    """Refuse tokens of somebody's tokeniser that do not lie one behind the other in the text."""
    check_text(text)
    at = 0
    for sentence in places:
        for begin, end in sentence:
            if not at <= begin < end <= len(text) or text[begin:end].strip() != text[begin:end]:
                raise ValueError(
                    f"the tokeniser gave the token {begin}:{end}, {text[begin:end]!r:.40}: tokens "
                    "lie one behind the other, and have no blanks at their ends"
                )
            at = end
    return [sentence for sentence in places if sentence]


def words_corpus(sentences: Sequence[Sequence[str]]) -> Corpus:
    """Return words as a corpus of CoNLL-U with nothing else in it."""
    core = _core.Corpus("conllu")
    for forms in sentences:
        n = len(forms)
        ids, blank = list(map(str, range(1, n + 1))), ["_"] * n
        core.add_sentence([ids, list(forms), *[blank] * 8])
    return Corpus(core, "conllu")


def tagged_corpus(sentences: Sequence[Sequence[Any]]) -> Corpus:
    """Return words that have their tags as a corpus of CoNLL-U."""
    corpus = words_corpus([[word.form for word in words] for words in sentences])
    rows = [(word.upos, word.xpos, word.feats) for words in sentences for word in words]
    names = sorted(set(rows))
    place = {row: k for k, row in enumerate(names)}
    put_tags(corpus, map(place.__getitem__, rows), names)
    return corpus


def put_tags(corpus: Corpus, numbers: Iterable[int], combinations: Sequence[Any]) -> None:
    """Set the three columns of tags, given by the numbers of their combinations."""
    cells = array("I", numbers)
    for column in range(3):
        corpus.core.set_column(3 + column, cells, [row[column] for row in combinations])
