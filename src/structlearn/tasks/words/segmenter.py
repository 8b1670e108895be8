"""The segmenter of texts without blanks: from cut sentences to words, their tags, offsets."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ...exceptions import CapabilityError, FileError, LineError
from ...fitting.learner_registry import LEARNERS, check_learner
from ...fitting.parameters import Choice, Number, Switch, Whole, parameter
from ...fitting.task_parameters import LearnerParameters
from ...models.inputs import NativeInputs
from ...text.files import open_bytes, written_text
from ...text.sources import named_file
from ...text.tokens import NO_TEXT, is_text
from ..base import FileTask
from .cut_text import BEGINS, GOES_ON, UNKNOWN, Cut, read_cut
from .dictionary import read_dictionary
from .model import WordModel

if TYPE_CHECKING:
    from typing import IO, Any

    from ..doubts import Pool, Seen

#: Bytes that are read at a time.
_PIECE = 1 << 20
SEPARATORS = " \t\r\f\v\n"
#: Cuts of a long word that are looked at for its parts.
_CUTS_OF_A_WORD = 16
_OUTPUTS = ("text", "tagged", "json")


class WordSegmenter(LearnerParameters, FileTask):
    """Cuts texts of languages without blanks into words; learns from cut texts.

    Parameters
    ----------
    learner : {"perceptron", "svm", "crf", "passive-aggressive", "arow", "adagrad"}
        The estimator that learns the weights.
    dictionary : path or list, optional
        Words to look for, besides those of the training texts: a word on each line. What a word of
        the dictionary tells is learned, so that other words can be added later.
    tags : bool, default=True
        Learn the tags of words too, if the training file has any.
    tag : str or int, optional
        The column of the tags, of column files (a number from 1; default: the last one) and of
        CoNLL-U (default: upos).
    min_count, min_words : int, default=1
        Leave out features, and words of the training texts, that are there fewer times than this.
    whole : bool, default=True
        Runs of Latin letters and of digits stay whole, if the training texts hardly ever cut them.
    prune : float, default=0.0
        Leave weights of at most this absolute value out of the model.
    {learning}

    Attributes
    ----------
    model_ : WordModel
        What was learned.
    history_ : list of dict
        A record for each pass.

    Examples
    --------
    >>> from structlearn.tasks import WordSegmenter
    >>> cut = ["東京 は 日本 の 首都", "日本 の 東 は 海", "京都 は 日本 の 都"] * 5
    >>> words = WordSegmenter().fit(cut)
    >>> words.predict(["東京は日本の都"])
    [['東京', 'は', '日本', 'の', '都']]
    """

    learner: str = parameter(
        default="perceptron", kw_only=False, check=Choice(*LEARNERS), help="learning algorithm"
    )
    dictionary: Any = parameter(default=None, stored=False)
    tags: bool = parameter(default=True, check=Switch(), help="do not learn the tags of words")
    tag: str | int | None = parameter(
        default=None,
        help="column of the tags: a number from 1, or xpos of CoNLL-U (default: the last; upos)",
        metavar="COLUMN",
    )
    min_count: int = parameter(
        default=1, check=Whole(0), help="drop features seen fewer times than this"
    )
    min_words: int = parameter(
        default=1, check=Whole(0), help="drop words of the training texts seen fewer times"
    )
    whole: bool = parameter(
        default=True, check=Switch(), help="cut runs of Latin letters and of digits like others"
    )
    prune: float = parameter(
        default=0.0, check=Number(), help="drop weights of at most this absolute value"
    )

    task = "words"
    _model_kind: type[Any] = WordModel
    _title = "Word segmenter"
    _unit = "words"
    _measure = "f1"

    def __repr__(self) -> str:
        state = "" if hasattr(self, "model_") else ", not trained"
        return f"WordSegmenter(learner={self.learner!r}{state})"

    # -- learning -------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        dev: Any = None,
        sample_weight: Any = None,
        format: str | None = None,
    ) -> WordSegmenter:
        """Learn from cut sentences.

        Parameters
        ----------
        X : path, or list of sentences
            As :func:`~structlearn.tasks.words.cut_text.read_cut` takes them: a file of any of its
            formats; a sentence of a list is a string of words with blanks between them, or a list
            of words, or of (word, tag).
        dev : as ``X``, optional
            Scored after each pass (F1 of words); the best pass is kept, and probabilities are
            calibrated on it.
        sample_weight : array of shape (n_sentences,), optional
            Weights of the sentences, at least 0; one of weight 0 counts as if it were not there.
        format : {"cut", "tagged", "partial", "columns", "conllu"}, optional
            Of the file; by default it is told from its content.
        """
        from ...fitting.example_weights import check_sample_weight, refuse_no_weight  # NumPy

        check_learner(self)
        if y is not None:
            raise ValueError("cut sentences have their words: leave out y")
        sentences = read_cut(X, format, self.tag)
        if not sentences:
            raise ValueError("there are no sentences to learn from")
        sentences = self._without_tags(sentences)
        weights = check_sample_weight(sample_weight, len(sentences))
        if weights is not None:
            refuse_no_weight(weights)
            sentences = [cut for cut, weight in zip(sentences, weights, strict=True) if weight]
            weights = weights[weights > 0]
        held_out = None if dev is None else _whole(read_cut(dev, format, self.tag), "the dev set")
        words = [] if self.dictionary is None else self._listed_words()
        fitting = self._fitting
        task: Any = self._plain()
        if task.n_models is None and task.learner == "perceptron":
            task.n_models = 5
        run = fitting(task, sentences, words, weights=weights)

        def score(model: Any) -> float:
            from .scores import word_f1

            assert held_out is not None
            return word_f1(held_out, _places(model, held_out))

        judge = None if held_out is None else score
        model, learned = run.run(judge)
        if not all(cut.whole for cut in sentences):
            # Few words are known whole: the dictionary is made of what the first model finds.
            guesses = _guesses(model, sentences)
            model, learned = fitting(task, sentences, words, guesses, weights).run(judge)
        model.training["known"] = sorted({word for cut in sentences for word in _known_words(cut)})
        self._learn_tags(model, sentences, weights)
        return self._keep(model, learned, held_out)

    @property
    def _fitting(self) -> Any:
        """What learns from sentences."""
        from .fitting import WordFitting

        return WordFitting

    def _without_tags(self, sentences: list[Cut]) -> list[Cut]:
        """Return the sentences as they are learned from: without tags that nobody wants."""
        return sentences

    def _listed_words(self) -> Any:
        """Return the words of the dictionary to look for."""
        return list(read_dictionary(self.dictionary, True))

    def _learn_tags(self, model: Any, sentences: list[Cut], weights: Any) -> None:
        """Add what gives words their tags to a model, if they have any."""
        if self.tags and any(cut.tags is not None for cut in sentences):
            model.tagger = self._tagger(sentences, weights)

    def _tagger(self, sentences: list[Cut], weights: Any) -> Any:
        """Return what gives words their tags, learned from those that are known whole."""
        from ..tagging.tagger import Tagger

        tagged = [i for i, cut in enumerate(sentences) if cut.tags and cut.whole and all(cut.tags)]
        rows = [
            list(zip(sentences[i].words(), sentences[i].tags or (), strict=True)) for i in tagged
        ]
        if not rows:
            return None
        tagger = Tagger(
            features="pos", names=False, n_jobs=self.n_jobs, random_state=self.random_state
        )
        return tagger.fit(rows, sample_weight=None if weights is None else weights[tagged]).model_

    @staticmethod
    def _held_by(model: Any) -> dict[str, Any]:
        return {}

    # -- cutting --------------------------------------------------------------------------------

    def predict(  # type: ignore[override]
        self, X: Any, *, dictionary: Any = None
    ) -> list[list[str]]:
        """Return the words of each text.

        Parameters
        ----------
        X : list of str
        dictionary : path, mapping or list, optional
            Words of your own: always words where they stand, or with a weight, which is added to
            the score of a cut that has them. A file has a word on each line, and after a tab or a
            comma its weight if it has one. The cut is the best one of all, given these.
        """
        texts = self._texts(X)
        rows = self.places(texts, dictionary=dictionary)
        return [[text[a:b] for a, b in row] for text, row in zip(texts, rows, strict=True)]

    def places(self, X: Any, *, dictionary: Any = None) -> list[list[tuple[int, int]]]:
        """Return the words of each text as (begin, end), counted in characters."""
        cutter = self._cutter(dictionary)
        return [self._found(cutter, text) for text in self._texts(X)]

    def _found(self, cutter: Any, text: str) -> list[tuple[int, int]]:
        """Return the words of a text as places."""
        places: list[tuple[int, int]] = cutter.places(text)
        return places

    def _found_with_tags(self, cutter: Any, texts: list[str]) -> list[list[tuple[int, int, str]]]:
        """Return the words of texts as places with tags."""
        rows = [self._found(cutter, text) for text in texts]
        words = [[text[a:b] for a, b in row] for text, row in zip(texts, rows, strict=True) if row]
        tagged = iter(self._word_tagger.predict(words) if words else [])
        return [
            [(a, b, tag) for (a, b), tag in zip(row, next(tagged), strict=True)] if row else []
            for row in rows
        ]

    def predict_tags(self, X: Any, *, dictionary: Any = None) -> list[list[tuple[str, str]]]:
        """Return the words of each text with their tags."""
        texts = self._texts(X)
        self._check_tags()
        rows = self._found_with_tags(self._cutter(dictionary), texts)
        return [
            [(text[a:b], tag) for a, b, tag in row] for text, row in zip(texts, rows, strict=True)
        ]

    def _check_tags(self) -> None:
        """Refuse a model that knows no tags."""
        if not self._fitted().has_tags:
            raise CapabilityError("the model has no tags: train it on words with tags")

    def boundaries(self, X: Any, *, temperature: float | None = None) -> list[list[float]]:
        """Return for each character of each text the probability that a word begins there.

        Blanks that separate words have none: 0.
        """
        self._fitted()
        at = self._at(temperature)
        texts, rows = self._texts(X), []
        for text in texts:
            row = [0.0] * len(text)
            if text.strip(SEPARATORS):
                inputs = self._inputs([text])
                places = self._characters(text)
                for begin, _, label, p in inputs.marginals(at)[0]:
                    if label == BEGINS:
                        row[places[begin]] = p
            rows.append(row)
        return rows

    def likely_words(
        self, X: Any, least: float = 0.1, *, most: int = 16, temperature: float | None = None
    ) -> list[list[tuple[int, int, float]]]:
        """Return (begin, end, probability) of all words that are likely in each text, for search.

        Parameters
        ----------
        least : float
            Words of at least this probability.
        most : int
            Characters of the longest word.
        temperature : float, optional
            As for :meth:`predict_marginals`.
        """
        core, at = self._fitted().core, self._at(temperature)
        return [core.likely(text, at, least, most) for text in self._texts(X)]

    def search_words(self, X: Any, longest: int = 2) -> list[list[tuple[int, int]]]:
        """Return (begin, end) of the words of each text, each followed by its parts, for search.

        Parts are those of the best cut of the word alone whose words were all seen in training.

        Parameters
        ----------
        longest : int
            Longer words are cut into parts.
        """
        texts, known = self._texts(X), set(self._fitted().training.get("known", ()))
        rows = []
        for text, words in zip(texts, self.places(texts), strict=True):
            row: list[tuple[int, int]] = []
            for begin, end in words:
                row.append((begin, end))
                parts = self._shorter_words(text[begin:end], known) if end - begin > longest else []
                for part in parts:
                    row.append((begin, begin + len(part)))
                    begin += len(part)
            rows.append(row)
        return rows

    def _shorter_words(self, word: str, known: set[str]) -> list[str]:
        """Return the words that a word is made of; none if it is one by itself."""
        for _, cut in self.predict_kbest([word], _CUTS_OF_A_WORD)[0]:
            if len(cut) > 1 and known.issuperset(cut):
                return list(cut)
        return []

    def _texts(self, X: Any) -> list[str]:
        """Check texts."""
        if isinstance(X, (str, os.PathLike)):
            raise TypeError("texts are a list of strings; label_file cuts a file")
        if not isinstance(X, Iterable):
            raise TypeError(f"texts are a list of strings, got {X!r:.60}")
        texts = list(X)
        for number, text in enumerate(texts):
            if not isinstance(text, str):
                raise TypeError(f"text {number} is not a string, got {text!r:.60}")
            if not is_text(text):
                raise ValueError(f"text {number}: {NO_TEXT}")
        return texts

    def _cutter(self, dictionary: Any = None) -> Any:
        model = self._fitted()
        words = None
        if dictionary is not None:
            words = model.user_words(read_dictionary(dictionary, model.blanks))
        return model.cutter(words)

    @cached_property
    def _word_tagger(self) -> Any:
        from ..tagging.tagger import Tagger

        self._check_tags()
        return Tagger.from_model(self._fitted().tagger)

    # -- files ----------------------------------------------------------------------------------

    def label_file(
        self,
        source: str | os.PathLike[str],
        output: str | os.PathLike[str] | IO[bytes],
        *,
        to: str | None = None,
        dictionary: Any = None,
        confidence: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Cut a file of text, line by line; return the number of words.

        Parameters
        ----------
        source : path
            Text of any size; lines may have any length.
        output : path or binary file
            A path is replaced only when the new file is complete.
        to : {"text", "tagged", "json"}, optional
            text: words with a blank between them (the default); tagged: ``word/tag``; json: an
            object for each line, ``{"text": ..., "words": [{"start": 0, "end": 2, "word": ...}]}``.
        dictionary : as :meth:`predict` takes it
        confidence : bool
            In JSON: the probability of each word that both its ends are right, at most.
        progress : callable, optional
            Called with the number of words so far.
        """
        kind = to or "text"
        if kind not in _OUTPUTS:
            raise ValueError(f"to must be one of {', '.join(_OUTPUTS)}, got {kind!r:.60}")
        if confidence and kind != "json":
            raise ValueError("confidence is written in JSON: to='json' (--to json)")
        if kind == "tagged":
            self._check_tags()
        name = named_file(source)
        cutter, n_words = self._cutter(dictionary), 0
        with open_bytes(name) as file, written_text(output) as written:
            try:
                if kind == "text":
                    for block, last in _blocks(file):
                        written.write(cutter.cut(block, last, self.n_threads))
                        if progress is not None:
                            progress(cutter.n_words)
                    return int(cutter.n_words)
                for text in _lines(file, name):
                    row, words = self._written(text, cutter, kind, confidence)
                    written.write(row.encode())
                    n_words += words
                    if progress is not None:
                        progress(n_words)
            except LineError as error:
                raise error.in_file(name) from None
        return n_words

    def _written(self, text: str, cutter: Any, kind: str, confidence: bool) -> tuple[str, int]:
        """Return a line as it is written, and how many words it has."""
        if kind == "tagged":
            words = self._found_with_tags(cutter, [text])[0]
            return " ".join(f"{_escaped(text[a:b])}/{t}" for a, b, t in words) + "\n", len(words)
        entries: list[dict[str, Any]]
        if self._fitted().has_tags:
            entries = [
                {"start": a, "end": b, "word": text[a:b], "tag": tag}
                for a, b, tag in self._found_with_tags(cutter, [text])[0]
            ]
        else:
            entries = [
                {"start": a, "end": b, "word": text[a:b]} for a, b in self._found(cutter, text)
            ]
        if confidence and entries:
            chances = [*self.boundaries([text])[0], 1.0]
            for entry in entries:
                behind = chances[entry["end"]] or 1.0
                entry["confidence"] = round(min(chances[entry["start"]], behind), 4)
        line = json.dumps({"text": text, "words": entries}, ensure_ascii=False)
        return line + "\n", len(entries)

    # -- judging --------------------------------------------------------------------------------

    def evaluate(
        self, X: Any, y: Any = None, *, format: str | None = None, intervals: bool = False
    ) -> dict[str, Any]:
        """Compare words with gold ones.

        Returns
        -------
        dict
            precision, recall and f1 of words; recall of words that were not seen in training,
            ``unseen_f1`` of words that are unseen; ``tag_f1``: words with the right tags too;
            boundary_accuracy; sentence_accuracy; words, sentences, characters_per_second.
        """
        from .scores import evaluation

        return evaluation(self, self._gold(X, format), intervals)

    def report(
        self, X: Any, y: Any = None, *, format: str | None = None, intervals: bool = False
    ) -> str:
        """Return a table of scores."""
        from .scores import report

        return report(self.evaluate(X, format=format, intervals=intervals))

    def _gold(self, X: Any, format: str | None = None) -> list[Cut]:
        self._fitted()
        return _whole(read_cut(X, format, self.tag), "the gold standard")

    # -- hooks of a model -----------------------------------------------------------------------

    def _inputs(self, X: Any, **reading: Any) -> NativeInputs:
        texts = [cut.text for cut in X] if X and isinstance(X[0], Cut) else self._texts(X)
        core = self._fitted().core.inputs(texts)
        return NativeInputs(core, texts)

    def _without_empty(self, X: Any) -> tuple[Any, list[int]]:
        texts = self._texts(X)
        gaps = [i for i, text in enumerate(texts) if not text.strip(SEPARATORS)]
        return [text for text in texts if text.strip(SEPARATORS)], gaps

    def _is_nothing(self, X: Any) -> bool:
        return len(X) == 0

    def _characters(self, text: str) -> Sequence[int]:
        """Return the places of the characters that are labelled."""
        if self._fitted().blanks:
            return range(len(text))
        return [i for i, char in enumerate(text) if char not in SEPARATORS]

    def _named(self, inputs: Any, i: int, output: Any) -> list[str]:
        text = inputs.source[i]
        return [text[a:b] for a, b in self._word_places(text, output)]

    def _word_places(self, text: str, output: Any) -> list[tuple[int, int]]:
        """Return where the words of an output begin and end."""
        places = self._characters(text)
        words: list[tuple[int, int]] = []
        fresh = False
        for label, at in zip(output, places, strict=True):
            fresh = fresh or label == BEGINS
            if text[at] in SEPARATORS:
                continue
            begin = at if fresh else words[-1][0]
            if not fresh:
                words.pop()
            words.append((begin, at + 1))
            fresh = False
        return words

    def _all_named(self, inputs: Any, outputs: list[Any]) -> Any:
        return [self._named(inputs, i, output) for i, output in enumerate(outputs)]

    _parts = "words"

    def _pool(self, X: Any, format: str | None = None) -> Pool:
        from ..doubts import Pool

        if format is not None:
            raise ValueError("a file to cut has a text on each line: it has no other format")
        if isinstance(X, (str, os.PathLike)):
            name = named_file(X)
            with open_bytes(name) as file:
                X = list(_lines(file, name))
        texts = self._texts(X)
        kept = [n for n, text in enumerate(texts) if text.strip(SEPARATORS)]
        return Pool(
            len(kept),
            lambda numbers: self._inputs([texts[kept[n]] for n in numbers]),
            lambda n: kept[n] + 1,
        )

    def _seen(self, inputs: Any, i: int, output: Any, sure: list[float]) -> Seen:
        from ..doubts import Seen

        text = inputs.source[i]
        places, marked = self._word_places(text, output), self._characters(text)
        words = [text[a:b] for a, b in places]
        at = {place: n for n, place in enumerate(marked)}
        # A word is right if all of its characters are, and the one that ends it.
        sure = [min(sure[at[begin] : at[end - 1] + 2]) for begin, end in places]
        return Seen(words, words, sure, lambda k: f"{words[k]!r} is a word")

    def _scores_of(self, inputs: Any, outputs: list[Any], temperature: float) -> list[float]:
        marks = [self._marks(text, y) for text, y in zip(inputs.source, outputs, strict=True)]
        scores: list[float] = inputs.score(marks, self.n_threads)
        return scores

    def _marks(self, text: str, output: Any) -> list[int]:
        """Return the labels of a cut, which is given as places or as words."""
        places, at = [], 0
        for one in output:
            if isinstance(one, str):
                begin = text.find(one, at)
                at = begin + len(one)
                places.append((begin, at))
            else:
                places.append((int(one[0]), int(one[1])))
        covered = [i for begin, end in places for i in range(begin, end)]
        if covered != [i for i, char in enumerate(text) if i in covered or char not in SEPARATORS]:
            raise ValueError(f"these are not the words of {text!r:.60}: {output!r:.60}")
        begins = {begin for begin, _ in places}
        inside = set(covered)
        return [
            BEGINS if at in begins or at not in inside else GOES_ON for at in self._characters(text)
        ]

    def _named_parts(self, inputs: Any, i: int, parts: Any) -> Any:
        places = self._characters(inputs.source[i])
        return {places[begin]: p for begin, _, label, p in parts if label == BEGINS}

    def _with_gold(self, X: Any, y: Any, format: str | None = None) -> tuple[NativeInputs, Any]:
        cuts = [cut for cut in read_cut(X, format, self.tag) if cut.text.strip(SEPARATORS)]
        return self._inputs(cuts), cuts

    def _right(self, inputs: Any, outputs: list[Any], gold: Any) -> list[list[bool | None]]:
        right: list[list[bool | None]] = []
        for output, cut in zip(outputs, gold, strict=True):
            marks = [cut.marks[at] for at in self._characters(cut.text)]
            right.append(
                [None if m == UNKNOWN else m == k for m, k in zip(marks, output, strict=True)]
            )
        return right

    def _own_facts(self) -> list[tuple[str, str]]:
        model = self._fitted()
        return [("words known", f"{model.n_words:,}"), ("weights", f"{model.n_weights:,}")]

    def _names_of_features(self) -> Sequence[str]:
        return ["B", "I"]

    def _to_show(self, X: Any, most: int) -> Any:
        raise CapabilityError(
            "decisions about words are not explained; what works: boundaries(texts), the "
            "probability of each boundary, and predict_kbest"
        )

    def _comparison(self, inputs: Any) -> Any:
        return self._to_show(inputs, 0)

    def _pairs(self) -> Iterable[tuple[str, str, float]]:
        model = self._fitted()
        names = [(a, b) for a in ("begins", "goes on") for b in ("begins", "goes on")]
        return [(*pair, score * model.unit) for pair, score in zip(names, model.pairs, strict=True)]

    def _heaviest(self, n: int) -> dict[Any, list[tuple[str, float]]]:
        raise CapabilityError("a model of words keeps no names of its features")


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace("/", "\\/")


def _whole(sentences: list[Cut], name: str) -> list[Cut]:
    """Refuse sentences with boundaries that nobody knows, where words are judged."""
    if any(not cut.whole for cut in sentences):
        raise ValueError(f"{name} has boundaries that are not known: words cannot be judged there")
    return [cut for cut in sentences if cut.text.strip(SEPARATORS)]


def _places(model: Any, cuts: list[Cut]) -> list[list[tuple[int, int]]]:
    cutter = model.cutter(None)
    return [[(a, b) for a, b, *_ in cutter.places(cut.text)] for cut in cuts]


def _guesses(model: Any, sentences: list[Cut]) -> list[bytes]:
    """Return what is known of the characters, and what a model says where nothing is."""
    guesses = []
    for cut, places in zip(sentences, _places(model, sentences), strict=True):
        begins = {begin for begin, _ in places}
        guesses.append(
            bytes(
                mark if mark != UNKNOWN else (BEGINS if i in begins else GOES_ON)
                for i, mark in enumerate(cut.marks)
            )
        )
    return guesses


def _known_words(cut: Cut) -> Iterator[str]:
    """Yield the words whose two ends are known."""
    begin: int | None = None
    for i, mark in enumerate([*cut.marks, BEGINS]):
        if mark == BEGINS:
            if begin is not None and cut.text[begin:i].strip(SEPARATORS):
                yield cut.text[begin:i]
            begin = i
        elif mark == UNKNOWN:
            begin = None


def _blocks(file: Any) -> Iterator[tuple[bytes, bool]]:
    """Yield a file block by block, and whether it is the last one."""
    block, first = file.read(_PIECE), True
    while True:
        if first:
            block, first = block.removeprefix(b"\xef\xbb\xbf"), False
        following = file.read(_PIECE)
        yield block, not following
        if not following:
            return
        block = following


def _lines(file: Any, name: str) -> Iterator[str]:
    for number, line in enumerate(file, 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            raise FileError(
                name, "not valid UTF-8: convert the file to UTF-8 first", number
            ) from None
