"""The hidden Markov model as a tagger: words are scored by a function instead of features."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import _core
from ...exceptions import FileError
from ...io.container import Tensor
from ...text.corpus import Corpus
from ...text.templates import Attribute, FeatureTemplates, Template
from ..learning import Learned
from ..parameters import LearnerParameters
from .calibration import best_temperature
from .fitting import TokenFitting
from .model import TaggerModel
from .problem import scheme_masks

__all__ = ["CountedFitting", "load_emissions"]

_OPTIONS = ("alpha", "word_alpha", "suffix_length", "rare")
#: Parameters of taggers that counting has no use for, besides those of learners,
_UNUSED = ("features", "hash_bits", "prune", "min_count", "all_possible_states")
#: and those of learners that do not matter to it, or that it has a use for.
_USED = ("average", "shuffle", "patience", "n_jobs", "random_state", "verbose", "max_iter")


class CountedFitting(TokenFitting):
    """Counts labelled sentences.

    Its one feature is a vector, log P(word | label) for each label, and label k has weight 1 on the
    k-th number: so the hidden Markov model is a linear model like the others.
    """

    def __init__(
        self, tagger: Any, corpus: Corpus, start: None = None, sample_weight: Any = None
    ) -> None:
        for name in (*_UNUSED, *vars(LearnerParameters)):
            usual = getattr(type(tagger), name)
            if name in tagger.get_params() and name not in _USED and getattr(tagger, name) != usual:
                raise ValueError(
                    f"a hidden Markov model reads words only: {name} does not go with it"
                )
        super().__init__(tagger, corpus, None, sample_weight)

    def run(self, dev: Corpus | None) -> tuple[TaggerModel, Learned]:
        """Count; return the model."""
        from ...estimators import HMM

        corpus, unknown = self.corpus, self.tagger.unknown
        word = 1 if corpus.format == "conllu" else 0
        if word == self.target:
            raise ValueError("the words are the target: there is nothing to learn from")
        labels = corpus.column(self.target)
        gold = [[None if k == unknown else k for k in sentence] for sentence in labels]
        if all(k is None for sentence in gold for k in sentence):
            raise FileError(
                corpus.path or "the corpus", f"no token has a label: all are {unknown!r}"
            )
        order = self.tagger.order
        hmm = HMM(order=order).fit(corpus.column(word), gold, sample_weight=self.sample_weight)
        self.labels = [str(k) for k in hmm.classes_]
        self.n_features = n = len(self.labels)
        template = Template(
            ((Attribute("vector", corpus.columns[word], (("emission", None),)), 0),)
        )
        self.templates = FeatureTemplates([template])
        self.templates.emission = (_scores(hmm.emissions_), n)
        numbers = np.arange(n + 1, dtype=np.uint32)
        keys = _core.vector_keys(template.text(), n)
        packed = _core.pack_weights(keys, numbers, numbers[:-1], np.ones(n), n, 0.0)
        arrays: dict[str, Any] = dict(
            zip(("state.slots", "state.weight", "state.outcome"), packed[:3], strict=True)
        )
        masks = scheme_masks(self.labels, self.tagger.scheme)
        names = {m: f"transition{m}" for m in range(1, order)} | {order: "transition"}
        tables = {"start": "start", "end": "end"}
        tables |= {f"transition{m}": block for m, block in names.items()}
        for name, block in tables.items():
            counted = hmm._blocks.get(block)
            size = (n,) * (1 if name in ("start", "end") else int(name[-1]) + 1)
            table = np.zeros(size) if counted is None else np.asarray(counted, dtype=np.float64)
            arrays[name] = np.ascontiguousarray(table + masks.get(name, 0.0)).ravel()
        model = self.made(arrays, emissions=_tensors(hmm))
        model.training["passes"] = 1
        if dev is not None:
            model.temperature = best_temperature(self.log_loss(model, dev))
        return model, Learned(np.zeros(0), 1)


def _scores(emissions: Any) -> Callable[[str], Any]:
    def scores(word: str) -> Any:
        return np.ascontiguousarray(emissions.scores([word])[0], dtype=np.float32)

    return scores


def _tensors(hmm: Any) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return what a model file needs to make the emissions again: options and arrays."""
    counts = hmm._emission_counts
    text = "\n".join(counts.index).encode()
    table = counts.table.astype("<f8")
    options = {name: getattr(hmm, name) for name in _OPTIONS}
    return options, {
        "emission.words": Tensor("U8", text),
        "emission.counts": Tensor("F64", array("d", table.tobytes()), table.shape),
    }


def load_emissions(options: dict[str, Any], tensors: dict[str, Tensor]) -> Callable[[str], Any]:
    """Return the function that scores a word, from a model file."""
    from ...estimators.emissions import CategoricalEmissions, WordCounts

    words = bytes(tensors["emission.words"].data).decode().split("\n")
    table = np.frombuffer(tensors["emission.counts"].data, dtype="<f8")
    table = table.reshape(len(words), -1)
    if len(set(words)) != len(words) or not np.isfinite(table).all() or (table < 0).any():
        raise ValueError("the counts of words make no sense")
    index = {word: i for i, word in enumerate(words)}
    chosen = {name: options[name] for name in _OPTIONS}
    return _scores(CategoricalEmissions(WordCounts(index, table.copy()), **chosen))
