"""From a labelled corpus and a tagger's parameters to its model."""

from __future__ import annotations

from ... import _core
from ...exceptions import FileError, LineError
from ...metrics.schemes import are_chunk_labels, file_scheme, legal_transitions, written
from ...text.templates import FeatureTemplates
from .candidate_counts import MANY_LABELS, n_candidates
from .fitting import Fitting, sentence_weights
from .model import TaggerModel, joined_names, split_names
from .targets import check_legal, check_start, find_targets, templates_for, usual_features
from .token_problem import TokenProblem

TYPE_CHECKING = False  # importing NumPy costs more than many a training
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from ...text.corpus import Corpus
    from .candidates import CandidateProblem

    Vector = npt.NDArray[np.float64]

__all__ = ["TokenFitting"]

#: Columns of CoNLL-U in which "_" is a value like others.
_BLANK_IS_A_VALUE = ("feats", "deps", "misc")


class TokenFitting(Fitting):
    """One training run of a tagger of tokens.

    Parameters
    ----------
    start : TaggerModel, optional
        The model to continue from.
    """

    #: How many labels are considered at each token; 0: all.
    candidates = 0
    #: Whether features have weights for likely labels in the place of all.
    has_likely_pairs = False
    # They learn what a pair that was not seen is worth from the regulariser.
    other_learners: Mapping[str, Any] = {"n_models": 1, "all_possible_states": False}

    def __init__(
        self,
        tagger: Any,
        corpus: Corpus,
        start: TaggerModel | None = None,
    ) -> None:
        self.start = start
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
        corpus = self.with_labels(corpus)
        self.scheme_of_file = file_scheme(list(corpus.counts(self.target)))
        if start is not None:
            check_start(start, tagger)
        self.corpus = self.in_scheme(corpus)
        self.templates = self._choose_templates(preset)
        if start is None:
            self.templates.learn_lexica(self.corpus, self.target, tagger.unknown)
        self.features = self.templates.compile(corpus.format, corpus.n_columns)
        self.preset = preset if isinstance(preset, str) else ""

    # -- labels and features --------------------------------------------------------------------

    @property
    def unknown(self) -> str:
        """The label of files that means unknown; "" if none does."""
        return str(self.tagger.unknown)

    def in_scheme(self, corpus: Corpus) -> Corpus:
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

    def new_vocabulary(self) -> _core.Vocabulary:
        """Return a vocabulary with nothing in it but what an earlier model had."""
        tagger = self.tagger
        width = 1 << tagger.hash_bits if tagger.hash_bits else 0
        vocabulary = _core.Vocabulary(self.features, self.target, width, tagger.unknown)
        if self.start is not None:
            for label in self.start.labels:
                vocabulary.add_label(label)
            if not self.start.hashed:
                vocabulary.add_features(*self.start.core.unpack("state")[:3])
        return vocabulary

    def freeze(self, vocabulary: _core.Vocabulary, rows: _core.TokenRows | None) -> None:
        """End the counting: the labels are known."""
        fill = 0 if self.has_likely_pairs else int(self.tagger.all_possible_states)
        vocabulary.freeze(self.tagger.min_count, fill, rows)
        labels = list(vocabulary.labels)
        self.vocabulary, self.n_features = vocabulary, vocabulary.size
        if not labels:
            raise FileError(
                self.corpus.path or "the corpus",
                f"no token has a label: all are {self.tagger.unknown!r}",
            )
        if self.start is not None and labels != self.start.labels:
            new = sorted(set(labels) - set(self.start.labels))
            raise ValueError(f"the model to continue from does not have the labels {new}")
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
        features = f"features {self.preset}, " if self.preset else ""
        target = f"target {','.join(self.corpus.columns[c] for c in self.targets)}"
        self.say(f"{features}{target}, scheme {self.tagger.scheme or 'none'}")

    def problem(self) -> TokenProblem | CandidateProblem:
        """Return the problem to be solved."""
        corpus, rows, tagger = self.corpus, _core.TokenRows(), self.tagger
        strings = set(corpus.core.strings(self.target))
        self.has_unknown = tagger.unknown in strings
        self.n_labels = len(strings) - self.has_unknown
        self.candidates = n_candidates(self)
        # Weights for all pairs are too many where labels are, unless they are asked for.
        fills = bool(tagger.all_possible_states) and not self.chose_states and self.start is None
        self.has_likely_pairs = bool(self.candidates) or (fills and self.n_labels > MANY_LABELS)
        vocabulary = self.new_vocabulary()
        try:
            # An earlier model's lexica were made from other sentences.
            self.extractor = _core.Extractor(self.features, corpus.core, self.start is None)
            vocabulary.add(self.extractor, corpus.core, rows)
        except LineError as error:
            raise error.in_file(corpus.path or "the corpus") from None
        self.freeze(vocabulary, rows)
        check_legal(corpus, self.target, self.forbid(), tagger.scheme)
        self.announce()
        self._problem: TokenProblem | CandidateProblem
        self._problem = self._problem_of(vocabulary, rows)
        return self._problem

    def _problem_of(
        self, vocabulary: _core.Vocabulary, rows: _core.TokenRows
    ) -> TokenProblem | CandidateProblem:
        tagger, forbid = self.tagger, self.forbid()
        weights = tagger.class_weight, sentence_weights(self.corpus)
        if not self.has_likely_pairs:
            return TokenProblem(vocabulary, rows, tagger.order, forbid, *weights)
        from .candidates import CandidateProblem
        from .first_pass import FirstPass, forbidden_bits
        from .problem import seen_labels

        seen = seen_labels(vocabulary)
        alone = TokenProblem(vocabulary, rows, 0, {}, *weights, observed=seen)
        forbidden = forbidden_bits(forbid, self.labels)
        first = FirstPass(alone, forbidden, tagger.random_state, tagger.n_threads)
        observed = first.likely_pairs(seen, int(tagger.all_possible_states))
        if not self.candidates:
            del first
            return TokenProblem(vocabulary, rows, tagger.order, forbid, *weights, observed=observed)
        self.say(f"{self.candidates} candidate labels for each token; --candidates 0: all")
        pairs = alone.arrays if vocabulary.pair_size else None
        return CandidateProblem(first, observed, tagger.order, self.candidates, pairs)

    def starting_weights(self, problem: Any) -> Vector | None:
        """Return the weights of the earlier model; None without one."""
        return None if self.start is None else problem.weights_of(self.start)

    # -- the model ------------------------------------------------------------------------------

    def model(self, w: Vector, *, names: bool = False) -> TaggerModel:
        """Return a model with these weights; with the names of its features if it can."""
        tagger, vocabulary = self.tagger, self.vocabulary
        keys = b"" if tagger.hash_bits else vocabulary.keys()
        arrays, kept = self._problem.model_arrays(keys, vocabulary.pair_keys(), w, tagger.prune)
        known = {}
        if names and tagger.names and not tagger.hash_bits:
            known = self.names_of(keys, kept)
        return self.made(arrays, names=known)

    def names_of(self, keys: Any, kept: dict[str, Any]) -> dict[str, Any]:
        """Return the names of the features that have weights, by table."""
        n = len(self.corpus)
        known = {
            table: self.vocabulary.names(self.extractor, table == "pair", numbers, 0, n)
            for table, numbers in kept.items()
        }
        if self.start is not None:
            # Those that only the earlier model knows, by their keys.
            earlier = dict(zip(self.start.unpacked()[0], self.start.feature_names(), strict=False))
            by_number = memoryview(keys).cast("Q")
            ordered = sorted(by_number[f] for f in memoryview(kept["state"]).cast("I"))
            names = zip(ordered, split_names(*known["state"]), strict=True)
            merged = [name or earlier.get(key, "").encode() for key, name in names]
            known["state"] = joined_names(merged)
        return known

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
        return {"scheme": self.tagger.scheme, "unknown": self.tagger.unknown}
