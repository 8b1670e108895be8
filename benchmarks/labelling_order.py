"""``python -m benchmarks.labelling_order NAME``: which sentences to label first.

The gold labels of a corpus answer for a person. A tagger begins with a few sentences chosen by
chance, and asks for more in rounds: those that ``structlearn label`` would ask for, or any. After
each round it is learned from scratch and judged on the test file. Written is the F1 against the
*tokens* labelled, for each seed, as JSON in ``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

import numpy as np

from structlearn.labelling.order import doubts
from structlearn.labelling.variety import Variety
from structlearn.tasks import Tagger

from .data import data_folder
from .labelling_corpora import CORPORA, Sentence, read

RESULTS = Path(__file__).parent / "results"


#: Tokens with a lower probability are in doubt, as the page marks them.
DOUBT = 0.9


def simulate(
    train: list[Sentence], test: list[Sentence], order: str, seed: int, limit: int, growth: float,
    iterations: int,
) -> list[tuple[int, int, float]]:  # fmt: skip
    """Return (sentences, tokens, F1) after each round."""
    rng = random.Random(seed)
    words = [[word for word, _ in sentence] for sentence in train]
    variety, chosen, told = Variety(words), rng.sample(range(len(train)), 20), []
    for number in chosen:
        variety.add(number)
    while True:
        tagger = Tagger("pos", learner="crf", max_iter=iterations, tol=1e-2, n_jobs=1)
        tagger.fit([train[i] for i in chosen])
        n_tokens = sum(len(train[i]) for i in chosen)
        told.append((len(chosen), n_tokens, tagger.evaluate(test)["f1"]))
        if n_tokens >= limit:
            return told
        wanted, left = int(n_tokens * growth), sorted({*range(len(train))} - {*chosen})
        if order == "random":
            rng.shuffle(left)
            asked = left
        else:
            worth = np.zeros(len(train))
            worth[left] = doubts(tagger, [words[i] for i in left], order)
            asked = variety.chosen(worth, left, 400)
        for number in asked:
            if n_tokens >= wanted:
                break
            chosen.append(number)
            variety.add(number)
            n_tokens += len(train[number])


def simulate_parts(
    train: list[Sentence], test: list[Sentence], seed: int, limit: int, growth: float,
    iterations: int,
) -> list[tuple[int, int, float]]:  # fmt: skip
    """Return the same where only tokens in doubt are looked at: the others stay unknown."""
    rng = random.Random(seed)
    words = [[word for word, _ in sentence] for sentence in train]
    known = {i: set(range(len(words[i]))) for i in rng.sample(range(len(train)), 20)}
    told: list[tuple[int, int, float]] = []
    while True:
        tagger = Tagger("pos", learner="crf", max_iter=iterations, tol=1e-2, n_jobs=1)
        tagger.fit(
            [
                [
                    (word, label if t in known[i] else "_")
                    for t, (word, label) in enumerate(train[i])
                ]
                for i in known
            ]
        )
        n_tokens = sum(map(len, known.values()))
        told.append((len(known), n_tokens, tagger.evaluate(test)["f1"]))
        if n_tokens >= limit:
            return told
        wanted, variety = int(n_tokens * growth), Variety(words)
        worth = doubts(tagger, words, "tokens")
        asked = variety.chosen(worth, range(len(train)), 500)
        shares = tagger.predict_marginals([words[i] for i in asked], temperature=1.0)
        for number, tokens in zip(asked, shares, strict=True):
            if n_tokens >= wanted:
                break
            sure = [max(one.values()) for one in tokens]
            before = known.setdefault(number, set())
            new = {t for t, p in enumerate(sure) if p < DOUBT} - before
            n_tokens += len(new)
            before |= new
        known = {i: some for i, some in known.items() if some}


def main() -> None:
    """Simulate each order with each seed, and write what came of it."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.labelling_order", description=__doc__
    )
    parser.add_argument("corpus", choices=tuple(CORPORA))
    parser.add_argument("--orders", default="random,tokens,parts")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--sentences", type=int, default=4000, help="to choose from")
    parser.add_argument("--test", type=int, default=1000, help="sentences to judge by")
    parser.add_argument("--tokens", type=int, default=16000, help="labelled at the end")
    parser.add_argument("--growth", type=float, default=1.35, help="of the tokens, a round")
    parser.add_argument("--iterations", type=int, default=40)
    o = parser.parse_args()
    data = data_folder()
    if data is None:
        raise SystemExit("set STRUCTLEARN_DATA to the folder of the corpora")
    train, test = read(data, o.corpus)
    path = RESULTS / f"labelling_order_{o.corpus}.json"
    RESULTS.mkdir(exist_ok=True)
    for seed in range(o.first_seed, o.first_seed + o.seeds):
        pool = random.Random(seed).sample(train, min(o.sentences, len(train)))
        for order in o.orders.split(","):
            settings = {"sentences": len(pool), "test": min(o.test, len(test))}
            limit = o.tokens * (2 if order == "random" else 1)
            common = (seed, limit, o.growth, o.iterations)
            if order == "parts":
                told = simulate_parts(pool, test[: o.test], *common)
            else:
                told = simulate(pool, test[: o.test], order, *common)
            print(o.corpus, order, seed, [(n, round(f, 4)) for _, n, f in told], flush=True)
            found = json.loads(path.read_text()) if path.exists() else {}
            found |= {"corpus": o.corpus, "settings": settings | {"iterations": o.iterations}}
            found.setdefault("curves", {}).setdefault(order, {})[str(seed)] = told
            path.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
