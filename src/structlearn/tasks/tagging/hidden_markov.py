"""The hidden Markov model as a tagger: words are scored by a function instead of features."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

from ... import _core
from ...exceptions import FileError
from ...io.container import Tensor
from ...text.corpus import Corpus
from ...text.templates import Attribute, FeatureTemplates, Template
from .calibration import calibrate
from .learned import LearnedWeights
from .model import TaggerModel

__all__ = ["fit_hmm_tagger", "load_emissions"]

_OPTIONS = ("alpha", "word_alpha", "suffix_length", "rare")


def fit_hmm_tagger(tagger: Any, corpus: Corpus, dev: Corpus | None = None) -> TaggerModel:
    """Count labelled sentences; return the model.

    Its one feature is a vector, log P(word | label) for each label, and label k has weight 1 on the
    k-th number: so the hidden Markov model is a linear model like the others.
    """
    import numpy as np

    from ...estimators import HMM
    from .fitting import Fitting

    unused = {"features": "auto", "hash_bits": 0, "prune": 0.0, "min_count": 0}
    unused.update(n_models=None, all_states=None, checkpoint=None)
    for name, usual in unused.items():
        if getattr(tagger, name) != usual:
            raise ValueError(f"a hidden Markov model reads words only: {name} does not go with it")
    run = Fitting(tagger, corpus)
    tagger = run.tagger
    word = 1 if corpus.format == "conllu" else 0
    if word == run.target:
        raise ValueError("the words are the target: there is nothing to learn from")
    labels = run.corpus.column(run.target)
    gold = [[None if k == tagger.unknown else k for k in sentence] for sentence in labels]
    if all(k is None for sentence in gold for k in sentence):
        raise FileError(
            corpus.path or "the corpus", f"no token has a label: all are {tagger.unknown!r}"
        )
    hmm = HMM(order=tagger.order).fit(run.corpus.column(word), gold)
    names = [str(k) for k in hmm.classes_]
    attribute = Attribute("vector", corpus.columns[word], (("emission", None),))
    template = Template(((attribute, 0),))
    templates = FeatureTemplates([template])
    templates.emission = (_scores(hmm.emissions_), len(names))
    n = len(names)
    blocks = hmm._blocks
    tables = [blocks.get(f"transition{m}") for m in range(1, tagger.order)]
    run.templates, run.labels = templates, names
    learned = LearnedWeights(
        row_ptr=np.arange(n + 1, dtype=np.uint32),
        column=np.arange(n, dtype=np.uint32),
        state=np.ones(n),
        start=np.ascontiguousarray(blocks["start"], dtype=np.float64),
        end=np.ascontiguousarray(blocks["end"], dtype=np.float64),
        transitions=[
            np.zeros(n ** (m + 1)) if t is None else np.ascontiguousarray(t, dtype=np.float64)
            for m, t in enumerate([*tables, blocks["transition"]], 1)
        ],
    )
    arrays, _ = TaggerModel.pack(
        _core.vector_keys(template.text(), n), b"", learned.with_masks(run.masks()), n
    )
    record = {
        "learner": "hmm",
        "sentences": len(corpus),
        "tokens": corpus.n_tokens,
        "features": n,
        "passes": 1,
        "scheme": tagger.scheme,
        "unknown": tagger.unknown,
    }
    model = TaggerModel(
        templates,
        corpus.format,
        corpus.n_columns,
        run.target,
        names,
        run.shown(),
        tagger.order,
        False,
        arrays,
        temperature=1.0,
        training=record,
        emissions=_tensors(hmm),
    )
    if dev is not None:
        model.temperature = calibrate(model, run.in_scheme(dev))
    return model


def _scores(emissions: Any) -> Callable[[str], Any]:
    import numpy as np

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
    import numpy as np

    from ...estimators.emissions import CategoricalEmissions, WordCounts

    words = bytes(tensors["emission.words"].data).decode().split("\n")
    table = np.frombuffer(tensors["emission.counts"].data, dtype="<f8")
    table = table.reshape(len(words), -1)
    if len(set(words)) != len(words) or not np.isfinite(table).all() or (table < 0).any():
        raise ValueError("the counts of words make no sense")
    index = {word: i for i, word in enumerate(words)}
    chosen = {name: options[name] for name in _OPTIONS}
    return _scores(CategoricalEmissions(WordCounts(index, table.copy()), **chosen))
