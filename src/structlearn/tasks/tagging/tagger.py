"""Taggers, chunkers, entity recognisers: from a file of labelled sentences to labels."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from ...fitting.learner_registry import LEARNERS
from ...fitting.parameters import Choice, Switch, Whole, parameter
from ...models.temperature import certainty_fact, temperature_of
from ...models.token_labels import TokenLabels
from ...text.corpus import Corpus
from .base import LabelTagger
from .model import TaggerModel

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from ...fitting.split_corpus import SplitCorpus
    from ...metrics.calibration import Reliability
    from ...models.inputs import NativeInputs
    from ...models.string_chain import StringChain
    from ..doubts import Seen


class Tagger(TokenLabels, LabelTagger):
    """Labels the tokens of sentences; learns from a column file or a CoNLL-U file.

    Parameters
    ----------
    features : {"auto", "pos", "chunk", "ner", "none"}, path or FeatureTemplates, default="auto"
        What it looks at (:mod:`structlearn.text.templates`). "auto": the labels decide.
    learner : {"auto", "perceptron", "svm", "crf", "hmm", "passive-aggressive", "arow", "adagrad"}
        The estimator that learns the weights. "auto" is "crf" if there is no dev set, fewer than
        50,000 tokens and at most 64 labels, with C = 20,000 / tokens, but at least 0.5 and at most
        10; and "perceptron" (:class:`~structlearn.estimators.StructuredPerceptron`) otherwise, or
        if ``start``, ``max_iter``, ``n_models``, ``average`` or ``shuffle`` is given. "svm" and
        "crf" minimise ½‖w‖² + C·Σ loss to a proven gap. "hmm" counts words and labels.
    order : int, optional
        Of the chain: 0 labels each token by itself, 2 scores label triples too, with the pairs
        beside them. None: as the preset of the features has it, else 1.
    target : str, int or list of them, optional
        The column of the labels: its name, or its number from 1. By default the last column of a
        column file, ``upos`` of CoNLL-U. Several columns, ``["upos", "feats"]`` or
        ``"upos,feats"``, are learned as one label, their cells joined by "|"; files are labelled in
        each of these columns. Only cells of the last one may have "|" in them.
    scheme : {None, "none", "bio", "iobes", "beginnings"}, default=None
        "iobes": chunk labels are learned as IOBES and written in the scheme of the training file
        (IOB1 as IOB2). "beginnings": BIO where I-X may follow any B-. All three make only legal
        sequences of labels possible, in training and in prediction. None: as the preset of the
        features has it, else "none".
    all_possible_states : bool or int, optional
        Weights for every feature with every label; otherwise for the pairs seen in training. A
        number n: for features seen with at least n labels. None: as the preset has it for the
        perceptron, else False; with more than 64 labels features have weights for the likely
        labels of their tokens in the place of all.
    candidates : int, optional
        How many labels are considered at each token: the best ones of a first pass, which labels
        each token by itself. Memory and time then grow with what was seen and not with the number
        of labels. 0: all labels are considered, and labelling is exact. None: if there are more
        than 128 labels (64 from order 2 on) 12 to 48, a 24th of them; all otherwise. All too with
        unknown labels, ``start`` or order 0, and for chains of order 1 with a scheme.
    min_count : int, default=0
        Leave out features seen fewer times than this in training.
    hash_bits : int, default=0
        Above 0: features are folded to 2^bits and their names are not kept.
    prune : float, default=0.0
        Leave weights of at most this absolute value out of the model; with more than 256 labels,
        of features with one weight, up to four times as large ones.
    names : bool, default=True
        Keep the names of the features in the model, for ``inspect``.
    {learning}

    Attributes
    ----------
    model_ : TaggerModel
        What was learned.
    classes_ : list of str
        The labels as they are written.
    history_ : list of dict
        A record for each pass.

    Examples
    --------
    >>> from structlearn.datasets import make_treebank
    >>> from structlearn.tasks import Tagger
    >>> sentences = [list(zip(s.words, s.tags)) for s in make_treebank(300, random_state=0)]
    >>> tagger = Tagger(features="pos").fit(sentences[:250])
    >>> round(tagger.evaluate(sentences[250:])["accuracy"], 1)
    1.0
    """

    features: Any = parameter(default="auto", kw_only=False)
    learner: str = parameter(
        default="auto",
        kw_only=False,
        check=Choice("auto", *LEARNERS, "hmm"),
        help="learning algorithm; auto: crf if there is no dev set and the training file is small, "
        "else perceptron",
    )
    order: int | None = parameter(
        default=None,
        check=Whole(0, 4),
        help="order of the chain; 0: each token by itself (default: 1; ner: 2)",
    )
    scheme: str | None = parameter(
        default=None,
        check=Choice("none", "bio", "iobes", "beginnings"),
        help="predict legal label sequences only; iobes: use S- and E- labels internally",
    )
    candidates: int | None = parameter(
        default=None,
        check=Whole(0, 255),
        help="labels considered at each token, chosen by a first pass; 0: all (default: all up to "
        "128 labels, up to 64 from order 2 on, else 12 to 48)",
    )
    hash_bits: int = parameter(
        default=0,
        check=Whole(0, 30),
        help="hash features to 2^B indices (default: 0, no hashing)",
        metavar="B",
    )
    names: bool = parameter(
        default=True,
        check=Switch(),
        help="leave out feature names: a smaller model that cannot be inspected",
    )

    _model_kind = TaggerModel
    _title = "Tagger"

    # -- learning -------------------------------------------------------------------------------

    def _fitting(self, corpus: SplitCorpus, start: Any, dev: bool = False) -> Any:
        if self.learner == "hmm":
            from .hidden_markov import CountedFitting

            if start is not None:
                raise ValueError(
                    "start: a hidden Markov model is counted, it cannot continue from a model"
                )
            return CountedFitting(self, corpus)
        from .token_fitting import TokenFitting

        earlier = None if start is None else start._fitted()
        return TokenFitting(self, corpus, earlier, has_dev=dev)

    # -- the model ------------------------------------------------------------------------------

    @property
    def classes_(self) -> list[str]:
        """The labels as they are written."""
        return list(self._fitted().core.names)

    def to_chain(self) -> StringChain:
        """Return a chain over strings that labels as the tagger does.

        Its tokens are those of :meth:`attributes`. :func:`~structlearn.io.write_crfsuite` writes
        such a chain for CRFsuite.
        """
        from .chains import as_chain

        return as_chain(self._fitted())

    def attributes(self, X: Any) -> list[list[list[str]]]:
        """Return the names of the features of each token of each sentence.

        Parameters
        ----------
        X : path, Corpus or list of sentences
            With or without the column of labels.
        """
        from .chains import attributes_of

        return attributes_of(self._fitted(), self._read_input(X))

    # -- labelling ------------------------------------------------------------------------------

    def _inputs(
        self,
        X: Any,
        known: Sequence[Sequence[str | None]] | None = None,
        constraints: Any = None,
    ) -> NativeInputs:
        """Return the sentences of X.

        Parameters
        ----------
        X : path, Corpus or list of sentences
            With or without the column of labels.
        known : list of lists, optional
            Labels known beforehand, None elsewhere: everything is asked given these.
        constraints : list of Constraint, or str, optional
            Hard constraints on the labels as they are written, beside those of the model.
        """
        model: TaggerModel = self._fitted()
        corpus = self._read_input(X)
        numbers = b"" if known is None else self._known(corpus, known)
        return model.inputs(corpus, numbers, constraints=constraints)

    def _ask(self, X: Any, answer: Any, empty: Any, reading: dict[str, Any]) -> list[Any]:
        known = reading.get("known")
        if known is None:
            return super()._ask(X, answer, empty, reading)
        found = super()._ask(X, answer, lambda: None, reading)
        if [one is None for one in found] != [len(labels) == 0 for labels in known]:
            raise ValueError("known must have one entry for each token")
        return [empty() if one is None else one for one in found]

    def _known(
        self, corpus: Corpus, known: Sequence[Sequence[str | None]], foreign: int | None = None
    ) -> array[int]:
        """Return the numbers of the names of known labels, −1 where a label is open.

        ``foreign`` is the number of labels that the model does not have; by default an error.
        """
        index = {name: i for i, name in enumerate(self.classes_)}
        number = index.__getitem__ if foreign is None else lambda k: index.get(k, foreign)
        numbers = array("i")
        given = [labels for labels in known if len(labels)]
        if list(map(len, given)) != corpus.core.lengths():
            raise ValueError("known must have one entry for each token")
        for s, labels in enumerate(given):
            try:
                numbers.extend(-1 if k is None else number(k) for k in labels)
            except KeyError as error:
                raise ValueError(f"sentence {s}: the model has no label {error}") from None
        return numbers

    def _single_marginals(self, x: Any, temperature: float, least: float) -> Any:
        model = self._fitted()
        if model.constraints or (model.tokens and type(x) is str):
            return None
        return model.calls.probabilities(x, self.classes_, temperature, least)

    @property
    def _shown(self) -> list[str]:
        shown: list[str] = self._fitted().shown
        return shown

    def _length(self, inputs: Any, i: int) -> int:
        return int(inputs.source.core.length(i))

    def _scores_of(self, inputs: Any, outputs: list[Any], temperature: float) -> list[float]:
        known = self._known(inputs.source, outputs, foreign=-2)
        given = self._fitted().inputs(
            inputs.source, known, chooses=False, constraints=inputs.constraints
        )
        sums: list[float] = given.log_partition(temperature, self.n_threads)
        return sums

    def _with_gold(
        self, X: Any, y: Any, format: str | None = None, constraints: Any = None
    ) -> tuple[NativeInputs, Any]:
        model: TaggerModel = self._fitted()
        corpus = self._gold_corpus(X, y, format)
        return model.inputs(corpus, constraints=constraints), model.gold(corpus, some=True)

    def _seen(self, inputs: Any, i: int, output: Any, sure: list[float]) -> Seen:
        seen = super()._seen(inputs, i, output, sure)

        def others(t: int, marginals: Any) -> Any:
            return ((label, p) for label, p in marginals[t].items() if label != seen.labels[t])

        return seen._replace(others=others)

    # -- the confidence of spans ----------------------------------------------------------------

    def calibrate(self, X: Any, y: Any = None, **reading: Any) -> Any:
        """Learn from held-out sentences how far probabilities can be trusted; return self.

        As of every model, and of spans besides: their confidence passes through a curve of its
        own, fitted to the spans that the tagger finds in these sentences.

        Parameters
        ----------
        X, y : as ``fit`` takes them
        """
        corpus = self._gold_corpus(X, y, reading.pop("format", None))
        super().calibrate(corpus, **reading)
        training = self._fitted().training
        training.pop("span_calibration", None)
        if self._chunk_boundaries()[0]:
            from ...models.calibration import calibrated_on
            from .spans import judged_spans

            sure, right = judged_spans(self, corpus, **reading, curved=False)
            found = calibrated_on(lambda _: sure, right, temperature_of(self.temperature_))
            if found is not None:
                training["span_calibration"] = found.as_dict()
        return self

    def span_calibration(self, X: Any, y: Any = None, **reading: Any) -> Reliability | None:
        """Compare the confidence of the spans that are found with how often they are right.

        Parameters
        ----------
        X, y : as ``score`` takes them
            With gold labels; spans with or beside unknown ones are left out.

        Returns
        -------
        structlearn.metrics.calibration.Reliability or None
            None if no span is found, or the labels are not those of chunks.
        """
        from ...metrics.calibration import reliability
        from .spans import judged_spans

        corpus = self._gold_corpus(X, y, reading.pop("format", None))
        if not self._chunk_boundaries()[0]:
            return None
        pairs = [
            pair
            for rows in zip(*judged_spans(self, corpus, **reading), strict=True)
            for pair in zip(*rows, strict=True)
            if pair[1] is not None
        ]
        if not pairs:
            return None
        return reliability((p for p, _ in pairs), (bool(ok) for _, ok in pairs))

    @property
    def _certainty(self) -> str:
        own, model = super()._certainty, self._fitted()
        if "span_calibration" not in model.training:
            return own
        return f"{own}; of spans: {certainty_fact(None, model.span_calibration)}"

    def _comparison(self, inputs: Any) -> Any:
        from .decisions import comparison

        return comparison(self._fitted(), inputs.source)

    def _said(
        self, inputs: Any, i: int, decision: dict[str, Any], gold: Any
    ) -> tuple[str, str, str | None, str]:
        at, label, rival = (decision[k] for k in ("position", "label", "runner_up"))
        return self._word(inputs, i, at), label, gold and gold[at], rival or ""

    def _labels_in_files(self) -> list[str]:
        return self.classes_

    def _chunk_boundaries(self) -> tuple[list[int], list[int]]:
        from ...metrics.boundaries import boundary_table
        from ...text.spans import UNKNOWN, are_chunks

        names = self.classes_
        if not are_chunks(names):
            return [], []
        return boundary_table([None if name == UNKNOWN else name for name in names])

    def _written_labels(self) -> list[str]:
        labels: list[str] = self._fitted().labels
        return labels

    def _as_written(self, gold: list[list[str | None]]) -> list[list[str | None]]:
        return gold
