"""Pipelines: from running text to trees."""

from __future__ import annotations

import copy
from collections.abc import Callable

from ...fitting.parameters import Choice, DeclaredParameters, parameter, same_as
from ...models.storage import StoredTask
from ...threads import n_threads
from ..tree_parser import TreeParser
from .annotating import Annotating
from .model import STAGES, PipelineModel

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    Places = list[list[tuple[int, int]]]


class Pipeline(StoredTask, Annotating, DeclaredParameters):
    """Annotates running text: sentences, tokens, words, tags, lemmas, trees.

    Each stage is a task of the library, learned from one treebank in CoNLL-U: tokens and sentences
    are chunks of characters, found by a chain over them, or in languages without blanks by a model
    of words; the words of multiword tokens and lemmas
    are edit scripts, classified; tags are combinations of UPOS, XPOS and features that the treebank
    has; trees are those of :class:`~structlearn.tasks.DependencyParser`, which learns on tags
    predicted by jack-knifing.

    Parameters
    ----------
    tokeniser, splitter, tags, lemmas, parser : bool or dict, default=True
        Whether to learn a stage; a dictionary has parameters of its task, which are those of
        :class:`~structlearn.tasks.Tagger` and, for the parser, of
        :class:`~structlearn.tasks.DependencyParser`. The tokeniser needs the comments ``# text``
        of the treebank and of the dev set.
    words : {"auto", "chain", "lattice", "none"}, default="auto"
        Cut sentences into words by a model of words, which goes with the tokeniser: a
        :class:`~structlearn.tasks.WordSegmenter` ("chain") or a
        :class:`~structlearn.tasks.LatticeSegmenter`. "auto": a chain if most words of the treebank
        have no blank between them, or words have blanks inside.
    variants : {"none", "english"}, default="none"
        A language: the tokeniser learns from variants of the treebank's texts too, made with
        abbreviations of that language, hashtags, names of users, addresses and markup, of which
        treebanks have few.
    folds : int, default=5
        Of jack-knifing.
    checkpoint : str or path, optional
        A folder in which finished stages are kept: the same ``fit`` goes on from there after an
        interruption, another one is refused. The folder stays when the training has ended.
    n_jobs : int, optional
        Threads; None is one, -1 all cores. The result does not depend on it.
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
    >>> len(doc.sentences[0].tree) == len(doc) == len(bank[0])
    True
    """

    tokeniser: Any = True
    splitter: Any = True
    tags: Any = True
    lemmas: Any = True
    parser: Any = True
    words: str = parameter(
        default="auto",
        check=Choice("auto", "chain", "lattice", "none"),
        help="a stage that cuts sentences into words, of languages without blanks; auto: a chain "
        "if the treebank is of such a language",
    )
    variants: str = parameter(
        default="none",
        check=Choice("none", "english"),
        help="language of abbreviations that the tokeniser sees in variants of the texts, with "
        "hashtags, addresses and markup",
    )
    folds: int = same_as(TreeParser, "folds", default=5)
    checkpoint: Any = same_as(TreeParser, "checkpoint", default=None)
    n_jobs: int | None = same_as(TreeParser, "n_jobs", default=None)
    random_state: int = same_as(TreeParser, "random_state", default=0)
    verbose: int = same_as(TreeParser, "verbose", default=0)

    # -- learning -------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, dev: Any = None, entities: Any = None) -> Pipeline:
        """Learn all stages from a treebank.

        Parameters
        ----------
        X : path, Corpus of CoNLL-U, or list of sentences
        y : None
            For scikit-learn's sake.
        dev : as ``X``, optional
            Calibrates probabilities, and chooses the best pass of the parser. Those of entities are
            calibrated on a fifth of ``entities``, by a tagger that learns from the rest.
        entities : path, Corpus or list of sentences, optional
            Words with labels such as ``B-PER`` in the last column: a layer of its own.
        """
        from .fitting import PipelineFitting

        self._check_declared()
        self.model_ = PipelineFitting(self._plain(), X, dev, entities).run()
        self._prepare()
        return self

    # -- the model ------------------------------------------------------------------------------

    _model_kind = PipelineModel
    _unit = "words"

    @classmethod
    def from_model(cls, model: PipelineModel) -> Pipeline:
        """Return the pipeline of these models."""
        pipeline = cls()
        pipeline.model_ = model
        pipeline._restore(model.training)
        pipeline._prepare()
        return pipeline

    def __getstate__(self) -> dict[str, Any]:
        made = ("_tokeniser", "_splitter", "_lemmatiser", "_tagger")
        return {name: value for name, value in vars(self).items() if name not in made}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if "model_" in state:
            self._prepare()

    @property
    def n_threads(self) -> int:
        """Threads that ``n_jobs`` stands for; None is one, −1 all cores."""
        return n_threads(self.n_jobs)

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages that are run, in their order."""
        own = ("tokeniser",) if self._own_tokeniser is not None else ()
        model = self._fitted()
        has = {*model.stages, *own} - set(self._left_out)
        return tuple(s for s in dict.fromkeys((*STAGES[:-1], *model.labellers)) if s in has)

    def without(self, *stages: str) -> Pipeline:
        """Return the same pipeline with some stages left out; the models are shared.

        >>> Pipeline().without("parser")
        Traceback (most recent call last):
            ...
        sklearn.exceptions.NotFittedError: this Pipeline has not learned anything yet: call fit, \
or load a model
        """
        known = dict.fromkeys((*STAGES, *self._fitted().stages))
        for stage in stages:
            if stage not in known:
                raise ValueError(f"there is no stage {stage!r}; there are {', '.join(known)}")
        other = copy.copy(self)
        other._left_out = (*self._left_out, *stages)
        other._prepare()
        return other

    def with_labels(self, model: Any, name: str = "entities") -> Pipeline:
        """Return the same pipeline with a trained tagger as a stage more, saved with the others.

        ``pipeline + model`` is the same with the name "entities".

        Parameters
        ----------
        model : Tagger or SegmentTagger
            It reads the tokens of the pipeline; in features that look at tags or lemmas, ``pos`` is
            the pipeline's UPOS.
        name : str, default="entities"
            Labels of "entities" are ``token.entity`` and ``doc.entities``, those of other names
            ``token.labels[name]`` and ``doc.spans(name)``. A stage of the same name is replaced.
        """
        from .entities import check_labeller

        added = model._fitted() if isinstance(model, StoredTask) else model
        if getattr(added, "task", None) not in ("tagger", "segments"):
            raise TypeError(
                f"a stage is a trained Tagger or SegmentTagger, got {type(model).__name__}"
            )
        check_labeller(name, added)
        own = self._fitted()
        if name in (*own.fixed, *STAGES[:-1]) or not name.isidentifier():
            raise ValueError(f"a pipeline has no stage {name!r} that gives labels")
        other = copy.copy(self)
        other.model_ = PipelineModel(
            {**own.parts, name: added}, own.combinations, own.training, own.lexicon
        )
        other.model_.precision = own.precision
        other._left_out = tuple(stage for stage in self._left_out if stage != name)
        other._prepare()
        return other

    def __add__(self, model: Any) -> Pipeline:
        return self.with_labels(model)

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

    # -- judging --------------------------------------------------------------------------------

    def evaluate(self, X: Any, *, gold_tokens: bool | None = None) -> dict[str, Any]:
        """Annotate the text of a treebank, and compare with the treebank.

        Parameters
        ----------
        X : path, Corpus of CoNLL-U, or list of sentences
        gold_tokens : bool, optional
            Give the words of the treebank (True), or its text, paragraphs as blank lines (False);
            by default the text, and the words where the pipeline has no tokeniser.

        Returns
        -------
        dict
            By name (tokens, sentences, words, upos, xpos, ufeats, alltags, lemmas, uas, las):
            precision, recall, f1, as in the CoNLL 2018 shared task; words_per_second, n_words.
            Words whose gold cell is unknown, ``_``, are left out of a score, and a score that no
            word is left for does not appear (:func:`structlearn.metrics.alignment.aligned_scores`).
        """
        from .scores import evaluate_pipeline

        given = "tokeniser" not in self.stages if gold_tokens is None else gold_tokens
        return evaluate_pipeline(self, X, given)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the F1 of labelled attachment that :meth:`evaluate` gives for a treebank."""
        scores = self.evaluate(X)
        if "las" not in scores:
            raise ValueError("score needs a treebank in which words have heads and relations")
        return float(scores["las"]["f1"])

    def __repr__(self) -> str:
        state = ", ".join(self.stages) if hasattr(self, "model_") else "not trained"
        return f"Pipeline({state})"
