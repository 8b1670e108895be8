"""The hidden Markov model as a tagger: words are scored by a function instead of features."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _core
from ...estimators.hmm import HMM
from ...estimators.observations import TokenReader
from ...estimators.stored.word_emissions import emission_tensors
from ...exceptions import FileError
from ...fitting.split_corpus import SplitCorpus
from ...fitting.task_learning import Learned
from ...fitting.task_parameters import refuse_unused
from ...io.weight_tables import packed_table
from ...text.corpus import Corpus
from ...text.templates import Attribute, FeatureTemplates, Template
from .fitting import sentence_weights
from .model import TaggerModel
from .token_fitting import TokenFitting


class CountedFitting(TokenFitting):
    """Counts labelled sentences.

    Its one feature is a vector, log P(word | label) for each label, and label k has weight 1 on the
    k-th number: so the hidden Markov model is a linear model like the others.
    """

    def __init__(self, tagger: Any, corpus: Corpus | SplitCorpus) -> None:
        unused = "features", "hash_bits", "prune", "min_count", "all_possible_states", "candidates"
        refuse_unused(tagger, *unused)
        if tagger.sets:
            raise ValueError(
                "sets: a hidden Markov model counts single labels; use another learner, such as "
                "crf, or leave the sets open (unknown)"
            )
        super().__init__(tagger, corpus)

    def run(self, dev: Corpus | None) -> tuple[TaggerModel, Learned]:
        """Count; return the model."""
        corpus = self.corpus
        word = 1 if corpus.format == "conllu" else 0
        if word in self.targets:
            raise ValueError("the words are the target: there is nothing to learn from")
        self.labels = sorted(set(corpus.counts(self.target)) - {self.unknown})
        if not self.labels:
            raise FileError(
                corpus.path or "the corpus", f"no token has a label: all are {self.unknown!r}"
            )
        order, classes = self.tagger.order, np.array(self.labels)
        labels, words = corpus.parts.sum(_count, word, self.target, self.unknown, classes, order)
        hmm = HMM(order=order)
        hmm._accept(TokenReader(None), classes, labels, words, {})
        self.n_features = n = len(self.labels)
        self.leaves_out_tags = False  # it has no features to leave out
        self.describe_data()
        template = Template(
            ((Attribute("vector", corpus.columns[word], (("emission", None),)), 0),)
        )
        self.templates = FeatureTemplates([template])
        self.templates.emission = (hmm.emissions_.vector, n)
        numbers = np.arange(n + 1, dtype=np.uint32)
        keys = _core.vector_keys(template.text(), n)
        arrays, _ = packed_table("state", keys, numbers, numbers[:-1], np.ones(n), n, 0.0)
        forbid, index = self.forbid(), {label: i for i, label in enumerate(self.labels)}
        names = {m: f"transition{m}" for m in range(1, order)} | {order: "transition"}
        tables = {"start": "start", "end": "end"}
        tables |= {f"transition{m}": block for m, block in names.items()}
        for name, block in tables.items():
            counted = hmm._blocks.get(block)
            size = (n,) * (1 if name in ("start", "end") else int(name[-1]) + 1)
            table = np.zeros(size) if counted is None else np.array(counted, dtype=np.float64)
            for entry in forbid.get("transition" if name == "transition1" else name, ()):
                labels_of = entry if isinstance(entry, tuple) else (entry,)
                table[tuple(index[k] for k in labels_of)] = -np.inf
            arrays[name] = np.ascontiguousarray(table).ravel()
        model = self.made(arrays, emissions=emission_tensors(hmm.emissions_))
        return model, Learned(np.zeros(0), 1)


def _count(
    corpus: Corpus, word: int, target: int, unknown: str, classes: Any, order: int
) -> tuple[Any, Any]:
    """Return how often labels follow each other in a part, and go with which words."""
    words = corpus.column(word)
    ptr = np.cumsum([0, *map(len, words)])
    gold, weights = corpus.labels(target, unknown), sentence_weights(corpus)
    observed = [one for row in words for one in row]
    counts: tuple[Any, Any] = HMM(order=order)._count(observed, ptr, gold, classes, weights)
    return counts
