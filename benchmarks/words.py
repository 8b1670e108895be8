"""Segmentation of Japanese into words: our F1, training time and speed against others'.

``python -m benchmarks.words [RIVAL ...]`` trains on Japanese Wikipedia (``ja_wiki``),
and prints a row of JSON for each: ours, CRFsuite on the same features (python-crfsuite), pkuseg
(spacy-pkuseg), MeCab with its own dictionary (fugashi, unidic-lite; only speed: its rules for words
differ). Rivals that are not installed are named and left out.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import data_folder
from structlearn import _core
from structlearn.tasks import LatticeSegmenter, WordSegmenter
from structlearn.tasks.words.cut_text import BEGINS, UNKNOWN, Cut, read_cut

Row = dict[str, object]
#: The number of times texts are segmented; the best time counts.
_TIMES = 3
#: Passes of pkuseg: with its default of 20 it takes a quarter of an hour.
_PKUSEG_ITERATIONS = 10


def _f1(gold: list[Cut], rows: list[list[str]]) -> float:
    """Return the F1 of words."""
    right = total = 0
    for cut, words in zip(gold, rows, strict=True):
        ends = np.cumsum([0, *map(len, words)]).tolist()
        spans = set(itertools.pairwise(ends))
        right += len(spans & set(cut.spans()))
        total += len(spans) + len(cut.spans())
    return round(200 * right / total, 2)


def _speed(cut: Callable[[], object], characters: int) -> int:
    """Return characters per second on one thread, the best of several runs."""
    times = []
    for _ in range(_TIMES):
        begin = time.perf_counter()
        cut()
        times.append(time.perf_counter() - begin)
    return round(characters / min(times))


def _ours(train: list[Cut], test: list[Cut], seeds: int) -> Row:
    return _measured(WordSegmenter, "structlearn", train, test, seeds, tags=False)


def _chain_crf(train: list[Cut], test: list[Cut], seeds: int) -> Row:
    return _measured(WordSegmenter, "structlearn, crf", train, test, 1, tags=False, learner="crf")


def _lattice(train: list[Cut], test: list[Cut], seeds: int) -> Row:
    return _measured(LatticeSegmenter, "structlearn, lattice", train, test, seeds)


def _lattice_crf(train: list[Cut], test: list[Cut], seeds: int) -> Row:
    name = "structlearn, lattice, crf"
    return _measured(LatticeSegmenter, name, train, test, 1, learner="crf")


def _lattice_unidic(train: list[Cut], test: list[Cut], seeds: int) -> Row:
    """A lattice with the words of MeCab's dictionary, without their tags."""
    name, listed = "structlearn, lattice, crf, words of unidic-lite", _unidic_words()
    return _measured(LatticeSegmenter, name, train, test, 1, learner="crf", dictionary=listed)


def _chain_unidic(train: list[Cut], test: list[Cut], seeds: int) -> Row:
    name, listed = "structlearn, words of unidic-lite", _unidic_words()
    return _measured(WordSegmenter, name, train, test, 1, tags=False, dictionary=listed)


def _unidic_words() -> list[str]:
    """Return the words of unidic-lite, read from its compiled dictionary."""
    import unidic_lite

    data = Path(unidic_lite.DICDIR, "sys.dic").read_bytes()
    # Ten numbers, the name of the encoding, a double array, tokens, features as text.
    sizes = np.frombuffer(data, np.uint32, 10)
    features = data[72 + int(sizes[6]) + int(sizes[7]) :]
    words = set()
    for row in features.split(b"\0"):
        cells = row.decode().split(",")
        if len(cells) > 8 and cells[8] not in ("", "*"):
            words.add(cells[8])  # as it is written
    return sorted(word for word in words if len(word) <= 64 and word.strip())


def _measured(
    kind: type[WordSegmenter],
    name: str,
    train: list[Cut],
    test: list[Cut],
    seeds: int,
    **parameters: Any,
) -> Row:
    scores, texts = [], [cut.text for cut in test]
    for seed in range(seeds):
        begin = time.perf_counter()
        model = kind(random_state=100 * seed, **parameters).fit(train)
        seconds = time.perf_counter() - begin
        scores.append(_f1(test, model.predict(texts)))
    text = "\n".join(cut.text for cut in train)
    data = text.encode()
    speed = _speed(lambda: model._cutter().cut(data, True, 1), len(text))
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "m")
        size = os.path.getsize(Path(folder) / "m")
    return {
        "name": name,
        "f1": round(sum(scores) / seeds, 2),
        "f1_of_seeds": scores,
        "training_seconds": round(seconds, 1),
        "characters_per_second": speed,
        "bytes": size,
    }


def _crfsuite(train: list[Cut], test: list[Cut], seeds: int) -> Row:
    import pycrfsuite

    features = _core.WordTraining()
    for cut in train:
        features.add(cut.text, cut.marks, b"")
    for cut in test:  # not used for learning
        features.add(cut.text, bytes([UNKNOWN] * len(cut.text)), b"")
    features.finish(1, 1)
    site = np.frombuffer(features.site_ptr(), np.int64)
    begin = np.frombuffer(features.indptr(), np.int64)
    index = np.frombuffer(features.indices(), np.int32)

    def sequence(i: int) -> pycrfsuite.ItemSequence:
        places = range(site[i], site[i + 1])
        rows = [[str(k) for k in index[begin[s] : begin[s + 1]].tolist()] for s in places]
        return pycrfsuite.ItemSequence(rows)

    trainer = pycrfsuite.Trainer(algorithm="ap", params={"max_iterations": 10}, verbose=False)
    for i, cut in enumerate(train):
        trainer.append(sequence(i), ["BI"[mark] for mark in cut.marks])
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        trainer.train(f"{folder}/m")
        seconds = time.perf_counter() - started
        tagger = pycrfsuite.Tagger()
        tagger.open(f"{folder}/m")
        rows = []
        for i, cut in enumerate(test, len(train)):
            marks = [BEGINS if label == "B" else 1 for label in tagger.tag(sequence(i))]
            rows.append(Cut(cut.text, bytes([BEGINS, *marks[1:]])).words())
    return {
        "name": "python-crfsuite, averaged perceptron, the same features",
        "f1": _f1(test, rows),
        "training_seconds": round(seconds, 1),
    }


def _pkuseg(train: list[Cut], test: list[Cut], seeds: int) -> Row:
    import spacy_pkuseg

    with tempfile.TemporaryDirectory() as folder:
        for name, cuts in (("train", train), ("test", test)):
            lines = (" ".join(cut.words()) + "\n" for cut in cuts)
            Path(folder, name).write_text("".join(lines), encoding="utf-8")
        started = time.perf_counter()
        spacy_pkuseg.train(
            f"{folder}/train", f"{folder}/test", f"{folder}/m", train_iter=_PKUSEG_ITERATIONS
        )
        seconds = time.perf_counter() - started
        model = spacy_pkuseg.pkuseg(f"{folder}/m")
        texts = [cut.text for cut in test]
        rows = [model.cut(text) for text in texts]
        speed = _speed(lambda: [model.cut(text) for text in texts], sum(map(len, texts)))
    return {
        "name": f"spacy-pkuseg, {_PKUSEG_ITERATIONS} iterations",
        "f1": _f1(test, rows),
        "training_seconds": round(seconds, 1),
        "characters_per_second": speed,
    }


def _mecab(train: list[Cut], test: list[Cut], seeds: int) -> Row:
    import fugashi

    tagger = fugashi.Tagger("-Owakati")
    lines = [cut.text for cut in train]
    speed = _speed(lambda: [tagger.parse(line) for line in lines], sum(map(len, lines)))
    return {"name": "MeCab (fugashi, unidic-lite)", "characters_per_second": speed}


RIVALS = {
    "ours": _ours,
    "ours_crf": _chain_crf,
    "lattice": _lattice,
    "lattice_crf": _lattice_crf,
    "ours_unidic": _chain_unidic,
    "lattice_unidic": _lattice_unidic,
    "crfsuite": _crfsuite,
    "pkuseg": _pkuseg,
    "mecab": _mecab,
}


def rows(names: list[str], seeds: int = 3) -> Iterator[Row]:
    """Yield the figures of each program."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("no data found: set STRUCTLEARN_DATA to its folder")
    train = read_cut(folder / "ja_wiki" / "train.txt.gz")
    test = read_cut(folder / "ja_wiki" / "test.txt.gz")
    for name in names or RIVALS:
        try:
            yield RIVALS[name](train, test, seeds)
        except ImportError as error:
            yield {"name": name, "not_measured": str(error)}


if __name__ == "__main__":
    for row in rows(sys.argv[1:]):
        print(json.dumps(row, ensure_ascii=False), flush=True)
