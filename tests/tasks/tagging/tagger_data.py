"""Sentences, features and enumeration that the tests of taggers share."""

from __future__ import annotations

import itertools
import os
import pathlib
from types import SimpleNamespace

import numpy as np
import pytest

from structlearn.datasets import make_treebank

#: What ``features_of`` computes in plain Python.
TEMPLATES = """
word[-1..1]
word[-1] word[0]
suffix(word, 2..3)
lower(word)
first
last
bias
"""


def tagged(n, seed=0):
    """Sentences of (word, tag)."""
    return [list(zip(s.words, s.tags, strict=True)) for s in make_treebank(n, random_state=seed)]


def chunked(n, seed=0):
    """Sentences of (word, tag, chunk label)."""
    return [
        list(zip(s.words, s.tags, s.chunks, strict=True))
        for s in make_treebank(n, random_state=seed)
    ]


def labels_of(sentences):
    return [[token[-1] for token in sentence] for sentence in sentences]


def unlabelled(sentences):
    return [[token[:-1] for token in sentence] for sentence in sentences]


def features_of(words):
    """The features that TEMPLATES stands for, named as the library names them."""
    rows = []
    for t, word in enumerate(words):
        row = []
        if t > 0:
            row.append(f"word[-1]={words[t - 1]}")
        row.append(f"word[0]={word}")
        if t + 1 < len(words):
            row.append(f"word[1]={words[t + 1]}")
        if t > 0:
            row.append(f"word[-1] word[0]={words[t - 1]} {word}")
        row += [f"suffix(word[0], {n})={word[-n:]}" for n in (2, 3) if len(word) >= n]
        row.append(f"lower(word[0])={word.lower()}")
        if t == 0:
            row.append("first=1")
        if t == len(words) - 1:
            row.append("last=1")
        rows.append([*row, "bias"])
    return rows


def feature_lists(sentences):
    return [features_of([token[0] for token in sentence]) for sentence in sentences]


def column_text(sentences, separator=" "):
    return "".join(
        "".join(separator.join(token) + "\n" for token in sentence) + "\n" for sentence in sentences
    )


def conllu_text(sentences):
    """Sentences of (word, tag) as CoNLL-U, with comments."""
    blocks = []
    for number, sentence in enumerate(sentences, 1):
        lines = [f"# sent_id = {number}"]
        for i, (word, tag) in enumerate(sentence, 1):
            lines.append("\t".join([str(i), word, "_", tag, "_", "_", "0", "_", "_", "_"]))
        blocks.append("\n".join(lines) + "\n\n")
    return "".join(blocks)


def weights_by_name(model, table="state"):
    """{(feature name, label): weight} of a model; label pairs for the table of pairs."""
    names = model.feature_names(table)
    _, row_ptr, column, weights = model.unpacked(table)
    n = len(model.labels)
    assert len(names) == len(row_ptr) - 1
    found = {}
    for f, name in enumerate(names):
        for q in range(row_ptr[f], row_ptr[f + 1]):
            k = column[q]
            outcome = model.labels[k] if table == "state" else (k // n, k % n)
            assert (name, outcome) not in found
            found[name, outcome] = weights[q]
    return found


def table_of(model, name):
    """A table of a model as an array: start, end, transition1, ..."""
    flat = np.frombuffer(bytes(memoryview(model.arrays[name]).cast("B")), dtype=np.float64)
    n = len(model.labels)
    rank = round(np.log(len(flat)) / np.log(n)) if n > 1 else 1
    return flat.reshape((n,) * rank)


def score_blocks(model, rows):
    """The score blocks of one sentence, added up by names from the model's weights.

    ``rows`` holds the names of each token's features, or dictionaries of name to value.
    """
    weights = weights_by_name(model)
    label = np.zeros((len(rows), len(model.labels)))
    for t, row in enumerate(rows):
        values = row if isinstance(row, dict) else dict.fromkeys(row, 0)
        if not isinstance(row, dict):
            for name in row:
                values[name] += 1
        for name, x in values.items():
            for k, outcome in enumerate(model.labels):
                label[t, k] += x * weights.get((name, outcome), 0.0)
    blocks = {"label": label}
    for name in ("start", "end"):
        if len(memoryview(model.arrays[name]).cast("B")):
            blocks[name] = table_of(model, name)
    for m in range(1, model.order + 1):
        key = "transition" if m == model.order else f"transition{m}"
        blocks[key] = table_of(model, f"transition{m}")
    return blocks


def sequence_score(blocks, y, order=1):
    """The score of a label sequence by the definition of a chain."""
    total = sum(blocks["label"][t, k] for t, k in enumerate(y))
    if "start" in blocks:
        total += blocks["start"][y[0]]
    if "end" in blocks:
        total += blocks["end"][y[-1]]
    for m in range(1, order + 1):
        table = blocks["transition" if m == order else f"transition{m}"]
        for t in range(m, len(y)):
            window = tuple(y[t - m : t + 1])
            total += table[t - 1][window] if table.ndim == m + 2 else table[window]
    return float(total)


def enumerated(blocks, order=1):
    """Every label sequence with its score, the best first."""
    length, n = blocks["label"].shape
    outputs = itertools.product(range(n), repeat=length)
    scored = [(sequence_score(blocks, y, order), y) for y in outputs]
    return sorted(scored, key=lambda entry: (-entry[0], entry[1]))


def enumerated_marginals(blocks, order=1, temperature=1.0):
    scored = enumerated(blocks, order)
    values = np.array([score for score, _ in scored]) / temperature
    p = np.exp(values - values.max())
    p /= p.sum()
    length, n = blocks["label"].shape
    out = np.zeros((length, n))
    for weight, (_, y) in zip(p, scored, strict=True):
        for t, k in enumerate(y):
            out[t, k] += weight
    return out


def label_numbers(model, corpus):
    """The numbers of the labels of each sentence."""
    return [output.tolist() for output in model.inputs(corpus).solve().outputs]


def label_marginals(model, corpus, temperature=1.0):
    """P(label) of each token of each sentence, over the model's own labels."""
    tables = []
    for s, parts in enumerate(model.inputs(corpus).marginals(temperature, merged=False)):
        p = np.zeros((corpus.core.length(s), len(model.labels)))
        for token, end, k, probability in parts:
            assert end == token + 1
            p[token, k] += probability
        tables.append(p)
    return tables


def explained_decisions(tagger, sentences):
    """What ``explain`` says, with attributes for keys."""
    return [[SimpleNamespace(**d) for d in row] for row in tagger.explain(sentences)]


def same_model(a, b):
    """Whether two models have the same weights and labels, bit for bit."""
    return a.labels == b.labels and all(
        bytes(memoryview(a.arrays[name]).cast("B")) == bytes(memoryview(b.arrays[name]).cast("B"))
        for name in {*a.arrays, *b.arrays}
    )


def corpus_folder(name):
    """The folder of a real corpus; skips, by name, where it is absent."""
    root = os.environ.get("STRUCTLEARN_DATA")
    folder = pathlib.Path(root or "-") / name
    if not folder.is_dir():
        pytest.skip(f"{name} is not there: STRUCTLEARN_DATA names no folder that has it")
    return folder
