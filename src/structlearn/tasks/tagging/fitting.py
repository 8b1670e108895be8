"""One training run of a tagger: what taggers of tokens and of segments have in common."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from ...exceptions import FileError
from ...fitting.example_weights import settled_class_weight
from ...fitting.presets import preset_of
from ...fitting.split_corpus import SplitCorpus
from ...fitting.task_learning import Learned, learn_task
from ...meter import say
from ...text.corpus import Corpus, find_column
from ...text.presets import PRESETS, load_templates
from ...text.templates import FeatureTemplates
from ...text.tokenisers import kept_name
from .model import LabelModel
from .targets import templates_for
from .training_data import data_notes, refuse_joined, warn_of_rare_labels

TYPE_CHECKING = False  # importing NumPy costs more than many a training
if TYPE_CHECKING:
    from ...array_types import Array
    from ...problem import Problem

    Vector = Array

AnyCorpus = TypeVar("AnyCorpus", Corpus, SplitCorpus)


def sentence_weights(corpus: Corpus) -> Vector | None:
    """Return the weights of the sentences; None: all 1."""
    weights = corpus.weights
    if not weights:
        return None
    import numpy as np

    return np.array(weights)


class Fitting:
    """One training run of a tagger of tokens or of segments.

    Parameters
    ----------
    tagger : Tagger or SegmentTagger
        Read only: its parameters.
    corpus : SplitCorpus
        Labelled sentences, with their weights.
    """

    #: What a dev set is judged by.
    measure = "f1"
    #: Whether features are of segments, not of tokens.
    of_segments = False
    #: What learners other than the perceptron have in the place of a preset's settings.
    other_learners: Mapping[str, Any]

    tagger: Any
    corpus: SplitCorpus
    target: int
    #: Columns with further parts of the labels.
    further: Sequence[int] = ()
    labels: list[str]
    n_features: int
    #: The preset has features of tags, and no column has tags.
    leaves_out_tags = False
    #: What outputs keep to, as text, and how many sentences of the corpus do not.
    constraints: Sequence[str] = ()
    n_illegal = 0

    def problem(self) -> Problem:
        """Return the problem to be solved; ``n_features`` is known then."""
        raise AssertionError

    def model(self, w: Vector, *, names: bool = False) -> LabelModel:
        """Return a model with these weights; with the names of its features if it can."""
        raise AssertionError

    @property
    def targets(self) -> list[int]:
        """The columns that the labels are in."""
        return [self.target, *self.further]

    @property
    def unknown(self) -> str:
        """The label of files that means unknown; "" if none does."""
        return ""

    def with_labels(self, corpus: AnyCorpus) -> AnyCorpus:
        """Return a corpus with whole labels in the target column."""
        return corpus.joined(self.targets, self.unknown) if self.further else corpus

    def held_out(self, dev: Corpus) -> Corpus:
        """Return a dev corpus with whole labels in the target column, some of them known."""
        whole = self.with_labels(dev)
        whole.known_labels(self.target, self.unknown)
        return whole

    def class_weight(self) -> Any:
        """Return the weights of the labels; balanced ones are counted in all parts."""
        return settled_class_weight(self.tagger.class_weight, self.label_totals)

    def label_totals(self) -> Mapping[str, float]:
        """Return how much the tokens of each label weigh."""
        totals = self.corpus.totals(self.target)
        return {label: totals.get(label, 0.0) for label in self.labels}

    def starting_weights(self, problem: Any) -> Vector | None:
        """Return where to begin; None: at zero."""
        return None

    def more(self) -> dict[str, Any]:
        """Return what the model file tells of the training besides."""
        return {}

    def lawful(
        self,
        corpus: SplitCorpus,
        sequences: Any,
        labels: list[str],
        reads: Any,
        earlier: Sequence[str] = (),
    ) -> SplitCorpus:
        """Return the sentences that break no constraint; refuse others, or leave them out.

        ``sequences``: from the labels to what constraints speak of, if there are any. ``earlier``:
        the constraints of the model that training starts from, which hold if none are given.
        """
        if self.tagger.constraints is None and not earlier:
            return corpus
        from ...constraints.text import stored
        from .lawful import lawful

        given = self.tagger.constraints
        self.constraints = list(earlier) if given is None else stored(given)
        drop = self.tagger.illegal == "drop"
        corpus, self.n_illegal = lawful(corpus, self.constraints, sequences(labels), reads, drop)
        return corpus

    # -- what both do ---------------------------------------------------------------------------

    def settle(self, tagger: Any, features: Any, before: Any = (), **settings: Any) -> Any:
        """Return the tagger's parameters with what they leave to the preset settled.

        Parameters
        ----------
        before : mapping
            What an earlier model has settled.
        """
        settings = {"all_possible_states": False, "n_models": 1, **settings}
        if isinstance(features, str) and features in PRESETS:
            settings.update(PRESETS[features][1])
        settings.update(before)
        if tagger.learner != "perceptron":
            settings.update(self.other_learners)
        settled = copy.copy(tagger)
        for name, value in settings.items():
            if getattr(settled, name, "") is None:
                setattr(settled, name, value)
        return settled

    def read_templates(self, features: Any) -> FeatureTemplates:
        """Return the templates of a preset, a file, or as they are given."""
        tagger = self.tagger
        if isinstance(features, FeatureTemplates):
            templates = features.copy()
            templates.functions.update(tagger.functions or {})
        else:
            templates = templates_for(features, tagger.functions, self.corpus, self.targets)
            self.leaves_out_tags = features in PRESETS and len(templates.templates) < len(
                load_templates(features, tagger.functions).templates
            )
        if templates.of_segments != self.of_segments:
            other = "Tagger" if self.of_segments else "SegmentTagger"
            shown = f"the preset {features!r} is" if features in PRESETS else "these templates are"
            raise ValueError(
                f"{shown} for a {other}: templates of segments, and no others, have places such "
                "as begin(word)"
            )
        return templates

    def check_templates(self, templates: FeatureTemplates) -> FeatureTemplates:
        """Return templates that do not read the labels."""
        corpus = self.corpus
        if not templates.templates:
            raise ValueError("there are no feature templates")
        refuse_joined(corpus, self.target)
        if self.tagger.target is None:
            warn_of_rare_labels(corpus, self.target)
        for name in templates.columns():
            if find_column(name, corpus.format, corpus.n_columns) not in self.targets:
                continue
            if corpus.n_columns == 1:
                told = (
                    "there is one column only: a line needs a word and, last, its label, separated "
                    "by blanks or tabs. A CSV file (--format csv) has commas or semicolons, and "
                    "names of columns in its first line"
                )
            else:
                told = (
                    f"the features read the column {name!r}, which is the target; name another "
                    "target, or other features"
                )
            raise FileError(corpus.path or "the corpus", told)
        return templates

    def say(self, line: str) -> None:
        """Write a line of progress."""
        if self.tagger.verbose:
            say(line)

    def say_new_labels(self, earlier: Sequence[str]) -> None:
        """Say which labels the model that training starts from does not have."""
        new = [k for k in self.labels if k not in set(earlier)]
        if new:
            begin = "begins" if len(new) == 1 else "begin"
            told = f"new label{'s' if len(new) > 1 else ''} {', '.join(new)}"
            self.say(f"{told}, which {begin} at zero")

    def describe_data(self) -> None:
        """Say what the data are, once the labels are known."""
        for line in data_notes(self):
            self.say(line)

    def shown(self) -> list[str]:
        """Return how the labels are written: as the training file has them."""
        raise AssertionError

    def run(self, dev: Corpus | None) -> tuple[Any, Learned]:
        """Learn; return the model and the record of the training."""
        tagger, problem = self.tagger, self.problem()
        gold: Any = None if dev is None else dev.labels(self.target, self.unknown)

        def score(w: Vector) -> float:
            from ...metrics import chunk_f1, token_accuracy

            judge = chunk_f1 if self.measure == "f1" else token_accuracy
            return judge(gold, self.model(w).label_corpus(dev, tagger.n_threads))  # type: ignore

        found = learn_task(
            tagger,
            problem,
            preset=preset_of("tagger", tagger.learner),
            score=None if dev is None else score,
            measure=self.measure,
            side_by_side=True,
            start=self.starting_weights(problem),
        )
        del problem  # the model takes memory, too
        model = self.model(found.weights, names=True)
        model.training.update(found.record(tagger.learner))
        return model, found

    def _table(self) -> dict[str, Any]:
        """Return the names that the file gives its columns, those of the labels among them."""
        table = self.corpus.table
        targets = [table["names"][c] for c in self.targets]
        rest = {name: value for name, value in table.items() if name != "numbers"}
        numbers = set(targets) <= set(table.get("numbers", ()))
        return {**rest, "targets": targets, **({"numbers": True} if numbers else {})}

    def common(self) -> dict[str, Any]:
        """Return what models of both kinds are made of."""
        tagger, corpus = self.tagger, self.corpus
        between = corpus.separator if corpus.format == "columns" else ""
        cut_by = tagger.tokens or corpus.cut_by
        return {
            "format": corpus.format,
            "n_columns": corpus.n_columns,
            "target": self.target,
            "labels": self.labels,
            "constraints": self.constraints,
            "training": {
                "learner": tagger.learner,
                "sentences": len(corpus),
                "tokens": corpus.n_tokens,
                "features": self.n_features,
                "random_state": tagger.random_state,
                **({"separator": between} if between else {}),
                **({"tokeniser": kept_name(cut_by)} if cut_by else {}),
                **({"table": self._table()} if corpus.table else {}),
                **({"illegal": self.n_illegal} if self.n_illegal else {}),
                **self.more(),
            },
        }
