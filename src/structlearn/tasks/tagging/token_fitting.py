"""From a labelled corpus and a tagger's parameters to its model."""

from __future__ import annotations

from functools import partial

from ...exceptions import FileError
from ...fitting.split_corpus import SplitCorpus
from ...metrics.schemes import are_chunk_labels, file_scheme, legal_transitions, written
from ...models.label_constraints import token_sequences
from ...text.templates import FeatureTemplates
from .candidate_counts import MANY_LABELS, n_candidates
from .choice import with_learner
from .fitting import AnyCorpus, Fitting, sentence_weights
from .inventory import FeatureCounts, Inventory, Names, count_features, name_features
from .model import TaggerModel
from .targets import check_legal, check_start, find_targets, templates_for, usual_features
from .token_problem import TokenProblem
from .training_data import warn_of_partial_labels
from .weights import TokenWeights

TYPE_CHECKING = False  # importing NumPy costs more than many a training
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ...array_types import Array
    from ...problem import Problem
    from ...scoring.layout import SeenOutcomes
    from ...text.corpus import Corpus
    from .candidates import CandidateWeights, Chosen
    from .first_pass import FirstPass

    Vector = Array

#: Columns of CoNLL-U in which "_" is a value like others.
_BLANK_IS_A_VALUE = ("feats", "deps", "misc")


class TokenFitting(Fitting):
    """One training run of a tagger of tokens.

    Parameters
    ----------
    start : TaggerModel, optional
        The model to continue from.
    has_dev : bool
        Whether a dev set will choose the best pass.
    """

    #: How many labels are considered at each token; 0: all.
    candidates = 0
    #: Labels in sets of which one is right.
    members: Sequence[str] = ()
    #: Whether features have weights for likely labels in the place of all.
    has_likely_pairs = False
    #: Those that there are; known with the problem.
    weights: TokenWeights | CandidateWeights
    # They learn what a pair that was not seen is worth from the regulariser.
    other_learners: Mapping[str, Any] = {"n_models": 1, "all_possible_states": False}

    def __init__(
        self,
        tagger: Any,
        corpus: Corpus | SplitCorpus,
        start: TaggerModel | None = None,
        *,
        has_dev: bool = False,
    ) -> None:
        self.start = start
        corpus = SplitCorpus.of(corpus)
        if start is not None and tagger.target is None:
            self.target, *self.further = (corpus.find_column(c + 1) for c in start.targets)
        else:
            self.target, *self.further = find_targets(tagger, corpus)
        preset = tagger.features
        if start is not None and preset != "auto":
            named = preset
            if not isinstance(preset, FeatureTemplates):
                named = templates_for(preset, tagger.functions, corpus, self.targets)
            if named.to_json() != start.templates.to_json():
                raise ValueError("start: the features are those of the earlier model, not others")
        if isinstance(preset, str) and preset == "auto":
            preset = usual_features(corpus, self.targets, tagger.unknown)
        before = {}
        if start is not None:
            before = {"scheme": start.training.get("scheme") or "none", "order": start.order}
        elif self.further or tagger.order == 0:
            before = {"scheme": "none"}  # whatever the preset has
        n_labels = max(len(corpus.counts(c)) for c in self.targets)
        tagger, self.reason = with_learner(
            tagger, corpus, n_labels, dev=has_dev, start=start is not None
        )
        self.chose_states = tagger.all_possible_states is not None
        self.tagger = tagger = self.settle(tagger, preset, before, order=1, scheme="none")
        if tagger.scheme == "none":
            tagger.scheme = None
        elif self.further and tagger.scheme is not None:
            raise ValueError(
                f"scheme {tagger.scheme!r} is for labels of one column, and there are "
                f"{len(self.targets)} targets: leave out the scheme, or name one target"
            )
        elif tagger.order == 0 and tagger.scheme is not None:
            raise ValueError(
                f"scheme {tagger.scheme!r} does not go with order 0, which labels each token by "
                "itself: leave out the scheme, or use order 1"
            )
        blank = all(corpus.columns[c] in _BLANK_IS_A_VALUE for c in self.targets)
        if blank and tagger.unknown == "_":
            tagger.unknown = ""
        if tagger.sets and self.further:
            raise ValueError("sets of labels are for one target, and there are several")
        if not self.further:
            warn_of_partial_labels(corpus, self.target, tagger.unknown, tagger.sets)
        corpus = self.with_labels(corpus)
        earlier_labels = start.shown if start else ()
        if tagger.sets:
            self.members = list(corpus.labels_of_sets())
        names = [*corpus.counts(self.target), *self.members, *earlier_labels]
        labels = list(dict.fromkeys(names))
        labels = [label for label in labels if label != tagger.unknown]
        reads = partial(_label_numbers, self.target, {label: k for k, label in enumerate(labels)})
        earlier = start.constraints if start else ()
        corpus = self.lawful(corpus, token_sequences, labels, reads, earlier)
        self.scheme_of_file = file_scheme(list(corpus.counts(self.target)))
        if start is not None:
            check_start(start, tagger)
        self.corpus = self.in_scheme(corpus)
        self.templates = self._choose_templates(preset)
        if start is None:
            self.templates.learn_lexica(self.corpus, self.target, tagger.unknown)
        width = 1 << tagger.hash_bits if tagger.hash_bits else 0
        # An earlier model's lexica were made from other sentences.
        self.inventory = Inventory(
            self.templates,
            corpus,
            self.target,
            unknown=tagger.unknown,
            width=width,
            trains=start is None,
        )
        self.preset = preset if isinstance(preset, str) else ""

    # -- labels and features --------------------------------------------------------------------

    @property
    def unknown(self) -> str:
        """The label of files that means unknown; "" if none does."""
        return str(self.tagger.unknown)

    def with_labels(self, corpus: AnyCorpus) -> AnyCorpus:
        """Return a corpus with whole labels in the target column, and sets of them as sets."""
        whole = super().with_labels(corpus)
        if not self.tagger.sets:
            return whole
        return whole.with_sets(self.target, self.tagger.sets, self.unknown)

    def in_scheme(self, corpus: SplitCorpus) -> SplitCorpus:
        """Return the corpus with labels of the scheme that the model is to learn."""
        if self.tagger.scheme != "iobes":
            return corpus
        return corpus.in_iobes(self.target, self.tagger.unknown)

    def _choose_templates(self, features: Any) -> FeatureTemplates:
        tagger = self.tagger
        templates = self.read_templates(features) if self.start is None else self.start.templates
        if tagger.order > 1 and any(t.transition for t in templates.templates):
            raise ValueError("features of label pairs need order 1")
        return self.check_templates(templates)

    def freeze(self, counts: FeatureCounts) -> None:
        """End the counting: features and labels are known."""
        tagger, start = self.tagger, self.start
        if start is not None:  # what an earlier model had comes first
            before = FeatureCounts(self.inventory.new_vocabulary(), self.inventory.width)
            for label in start.labels:
                before.vocabulary.add_label(label)
            if not start.hashed:
                before.vocabulary.add_features(*start.core.unpack("state")[:3])
            counts = before + counts
        fill = 0 if self.has_likely_pairs else int(tagger.all_possible_states)
        self.inventory.freeze(counts, tagger.min_count, fill)
        labels = list(self.inventory.vocabulary.labels)
        self.n_features = self.inventory.vocabulary.size
        if not labels:
            raise FileError(
                self.corpus.path or "the corpus",
                f"no token has a label: all are {tagger.unknown!r}",
            )
        if start is not None and [k for k in labels if k in set(start.labels)] != start.labels:
            raise ValueError(
                "a model that another tool has trained cannot be continued: its labels are in an "
                "order of their own"
            )
        self.labels = labels
        chunks = not self.further and are_chunk_labels(labels)
        self.measure = "f1" if chunks else "accuracy"

    def forbid(self) -> dict[str, Any]:
        """Return what the scheme of the labels forbids; nothing without one."""
        scheme = self.tagger.scheme
        return dict(legal_transitions(self.labels, scheme)) if scheme else {}

    # -- learning -------------------------------------------------------------------------------

    def announce(self) -> None:
        """Say what the data are, and what was chosen where the parameters left it open."""
        self.describe_data()
        if self.start is not None:
            self.say_new_labels(self.start.labels)
        if self.reason:
            self.say(f"learner {self.tagger.learner}: {self.reason}")
        features = f"features {self.preset}, " if self.preset else ""
        columns = self.corpus.names or self.corpus.columns
        target = f"target {','.join(columns[c] for c in self.targets)}"
        self.say(f"{features}{target}, scheme {self.tagger.scheme or 'none'}")

    def problem(self) -> Problem:
        """Return the problem to be solved."""
        corpus, tagger, parts = self.corpus, self.tagger, self.corpus.parts
        strings = {*corpus.counts(self.target), *self.members}
        self.has_unknown = tagger.unknown in strings
        self.n_labels = len(strings) - self.has_unknown
        self.candidates = n_candidates(self)
        # Weights for all pairs are too many where labels are, unless they are asked for.
        fills = bool(tagger.all_possible_states) and not self.chose_states and self.start is None
        self.has_likely_pairs = bool(self.candidates) or (fills and self.n_labels > MANY_LABELS)
        self.freeze(parts.sum(count_features, self.inventory, parts.whole))
        if forbid := self.forbid():
            parts.each(check_legal, self.target, forbid, tagger.scheme)
        self.announce()
        return self._likely_problem() if self.has_likely_pairs else self._problem()

    def _problem(self, observed: SeenOutcomes | None = None) -> Problem:
        """Return the problem of chains over all labels."""
        order, vocabulary, pairs = self.tagger.order, self.inventory.vocabulary, None
        if vocabulary.pair_size and order > 0:
            pairs = self.corpus.parts.sum(_seen_pairs, self.inventory)
        self.weights = TokenWeights(
            self.inventory, order, self.forbid(), observed, pairs, self.constraints, self.shown()
        )
        corpus, weights = self.corpus, (self.weights, self.class_weight())
        return corpus.parts.problem(_token_problem, *weights, n_tokens=corpus.n_tokens)

    def _likely_problem(self) -> Problem:
        """Return a problem whose weights, or whose labels, a first pass has chosen."""
        from .candidates import CandidateProblem, CandidateWeights
        from .first_pass import FirstPass, forbidden_bits
        from .label_layout import seen_labels

        tagger, inventory, corpus = self.tagger, self.inventory, self.corpus
        alone = TokenWeights(inventory, 0, {}, seen_labels(inventory.vocabulary))
        tokens = corpus.parts.then(_tokens, alone, self.class_weight())
        forbidden, threads = forbidden_bits(self.forbid(), self.labels), tagger.n_threads
        problem = tokens.problem(_first_problem, n_tokens=corpus.n_tokens)
        first = FirstPass(problem, alone, forbidden, tagger.random_state, threads)
        observed = tokens.sum(_likely_pairs, first, int(tagger.all_possible_states))
        if not self.candidates:
            del first, problem, tokens
            return self._problem(observed)
        self.say(f"{self.candidates} candidate labels for each token; --candidates 0: all")
        chosen = tokens.then(_choose, first, self.candidates)
        under = self.constraints, self.shown()
        size = tagger.order, self.candidates
        weights = CandidateWeights(inventory, first, observed, *size, *under)
        weights.find_windows(chosen)
        self.weights = weights
        return chosen.problem(CandidateProblem, weights, n_tokens=corpus.n_tokens)

    def starting_weights(self, problem: Any) -> Vector | None:
        """Return the weights of the earlier model; None without one."""
        if self.start is None or not isinstance(self.weights, TokenWeights):
            return None
        return self.weights.of_model(self.start)

    # -- the model ------------------------------------------------------------------------------

    def model(self, w: Vector, *, names: bool = False) -> TaggerModel:
        """Return a model with these weights; with the names of its features if it can."""
        arrays, kept = self.weights.model_arrays(w, self.tagger.prune)
        known = {}
        if names and self.tagger.names and not self.tagger.hash_bits:
            known = self.names_of(kept)
        return self.made(arrays, names=known)

    def names_of(self, kept: dict[str, Any]) -> dict[str, Any]:
        """Return the names of the features that have weights, by table."""
        found: dict[str, Names] = self.corpus.parts.sum(name_features, self.inventory, kept)
        if self.start is not None:
            # Those that only the earlier model knows, by their keys.
            import numpy as np

            names = zip(self.start.unpacked()[0], self.start.feature_names(), strict=False)
            keys = np.frombuffer(self.inventory.keys, np.uint64)
            wanted = keys[np.frombuffer(kept["state"], np.uint32)].tolist()
            known = {**dict.fromkeys(wanted, b""), **found["state"].by_key()}
            for key, name in names:
                if known.get(key) == b"":
                    known[key] = name.encode()
            found["state"] = Names.of(known)
        return {table: (names.text, names.ends) for table, names in found.items()}

    def made(self, arrays: dict[str, Any], **more: Any) -> TaggerModel:
        """Return a model of these arrays."""
        return TaggerModel(
            **self.common(),
            templates=self.templates,
            shown=self.shown(),
            order=self.tagger.order,
            hashed=bool(self.tagger.hash_bits),
            candidates=self.candidates,
            further=self.further,
            arrays=arrays,
            **more,
        )

    def shown(self) -> list[str]:
        """Return how the labels are written: as the training file has them."""
        if self.tagger.scheme != "iobes":
            return self.labels
        return [written(label, self.scheme_of_file) for label in self.labels]

    def more(self) -> dict[str, Any]:
        """Return the scheme, and the sign of a label that is not known."""
        settings = {"scheme": self.tagger.scheme, "unknown": self.tagger.unknown}
        return {**settings, "sets": self.tagger.sets} if self.tagger.sets else settings


# -- what is done where the parts are -------------------------------------------------------------


def _label_numbers(
    target: int, number: dict[str, int], corpus: Corpus
) -> list[tuple[list[int], range]]:
    """Return the numbers of the labels of each sentence, −1 where they are unknown."""
    return [
        ([number.get(label, -1) for label in row], range(len(row))) for row in corpus.column(target)
    ]


def _seen_pairs(corpus: Corpus, inventory: Inventory) -> SeenOutcomes:
    from .problem import seen_pairs

    vocabulary = inventory.vocabulary
    return seen_pairs(inventory.rows(corpus).arrays(), vocabulary.pair_size, len(vocabulary.labels))


def _token_problem(corpus: Corpus, weights: TokenWeights, class_weight: Any) -> TokenProblem:
    inventory = weights.inventory
    rows = inventory.rows(corpus, last=True)
    again = partial(inventory.rows, corpus)
    return TokenProblem(weights, rows, class_weight, sentence_weights(corpus), again)


def _tokens(
    corpus: Corpus, weights: TokenWeights, class_weight: Any
) -> tuple[TokenProblem, dict[str, Any]]:
    problem = _token_problem(corpus, weights, class_weight)
    return problem, problem.arrays


def _first_problem(tokens: tuple[TokenProblem, Any]) -> TokenProblem:
    return tokens[0]


def _likely_pairs(tokens: tuple[TokenProblem, Any], first: FirstPass, fill: int) -> SeenOutcomes:
    return first.likely_pairs(tokens[0], fill)


def _choose(tokens: tuple[TokenProblem, Any], first: FirstPass, width: int) -> Chosen:
    from .candidates import Chosen

    return Chosen(tokens[0], first.best(tokens[0], width), tokens[1])
