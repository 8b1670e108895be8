"""Texts cut into words: from lists and files, by words and boundaries, in any notation."""

from __future__ import annotations

import io
import math
from functools import cache
from typing import Any

import numpy as np

from fuzz.memory_file import memory_file
from fuzz.metamorphic.answers import demand_same
from fuzz.metamorphic.model_files import demand_same_file, stored
from fuzz.metamorphic.relation import relation
from structlearn.tasks import LatticeSegmenter, WordSegmenter

__all__: list[str] = []

Rng = np.random.Generator
CUTTERS = {"chain": WordSegmenter, "lattice": LatticeSegmenter}
_WORDS = (
    "東京", "京都", "都", "日本", "日本海", "海", "は", "の", "走る", "カナ", "カ", "ab", "é", "11",
    "1.5", "3月", "、", "😀", "ก็",
)  # fmt: skip
_LETTERS = "".join(_WORDS) + " \u3000/|-\\\u0301"


def _sentences(rng: Rng) -> list[list[str]]:
    return [list(map(str, rng.choice(_WORDS, rng.integers(1, 9)))) for _ in range(30)]


@cache
def _model(kind: Any, seed: int) -> Any:
    model = kind(n_models=1, whole=bool(seed % 2), max_iter=4)
    return model.fit(_sentences(np.random.default_rng(seed)))


def _text(rng: Rng, most: int) -> str:
    return "".join(map(str, rng.choice(list(_LETTERS), rng.integers(0, most))))


@relation(
    "words of a list = words of a file", CUTTERS, claim="bit for bit; the structure's to 1e-9"
)
def words_of_files(kind: Any, rng: Rng) -> None:
    """Lines that are cut one by one, by the structure, and in a file on threads, are cut alike."""
    model = _model(kind, int(rng.integers(4)))
    lines = [_text(rng, 60) for _ in range(int(rng.integers(1, 30)))]
    rows = model.predict(lines)
    model.n_jobs = int(rng.integers(1, 4))
    written = io.BytesIO()
    model.label_file(memory_file("\n".join(lines).encode(), ".txt"), written)
    demand_same("file", [" ".join(row) for row in rows], written.getvalue().decode().split("\n"))
    full = [(line, row) for line, row in zip(lines, rows, strict=True) if row]
    if full:
        texts = [line for line, _ in full]
        best = super(WordSegmenter, model).predict(texts)  # of equal scores it may take another
        asked = [
            model.predict_proba(texts, cuts, temperature=100.0)
            for cuts in (best, [row for _, row in full])
        ]
        demand_same("structure", *asked, 1e-9)


@relation("words, boundaries and cuts have one distribution", CUTTERS, claim="to 1e-9")
def one_distribution(kind: Any, rng: Rng) -> None:
    """The probabilities of words and of boundaries are sums over all cuts."""
    model, text = _model(kind, int(rng.integers(4))), _text(rng, 7).replace(" ", "")
    if not text.strip():
        return
    at = float(rng.choice([1.0, 5.0, 50.0]))
    cuts = model.predict_kbest([text], 64)[0]
    chances = model.predict_proba([text] * len(cuts), [cut for _, cut in cuts], temperature=at)
    words: dict[tuple[int, int], float] = {}
    for (_, cut), p in zip(cuts, chances, strict=True):
        begin = 0
        for word in cut:
            begin = text.index(word, begin)
            place = (begin, begin + len(word))
            words[place] = words.get(place, 0.0) + p
            begin += len(word)
    found = model.likely_words([text], 0.0, most=64, temperature=at)[0]
    if len(cuts) < 64:
        demand_same("all cuts", 1.0, math.fsum(chances), 1e-9)
        likely = {(a, b): p for a, b, p in found if p > 1e-12}
        demand_same("words", {k: p for k, p in words.items() if p > 1e-12}, likely, 1e-9)
    begins = [math.fsum(p for a, _, p in found if a == i) for i in range(len(text))]
    demand_same("boundaries", model.boundaries([text], temperature=at)[0], begins, 1e-9)


@relation("notations of cut text train one model", CUTTERS, cost="fit")
def notations(kind: Any, rng: Rng) -> None:
    """Words with blanks between them, in columns, and with a sign between characters."""
    rows = _sentences(rng)
    signs = "\n".join("|".join("-".join(word) for word in row) for row in rows)
    files = {
        "cut": "\n".join(map(" ".join, rows)),
        "columns": "\n\n".join(map("\n".join, rows)),
        "partial": signs.replace("\\", "\\\\"),
    }
    parameters = {"n_models": 1, "max_iter": 2, "random_state": int(rng.integers(100))}
    first = stored(kind(**parameters).fit(rows))
    for format, text in files.items():
        file = memory_file((text + "\n").encode(), f"-{format}")
        demand_same_file(format, first, stored(kind(**parameters).fit(file, format=format)))
