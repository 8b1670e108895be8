"""``python -m benchmarks.labelling_order NAME``: which sentences to label first.

The gold labels of a corpus stand in for a person. A tagger begins with a few random sentences, and
asks for more in rounds: those that ``structlearn label`` would ask for, or random ones. After each
round it is trained from scratch and scored on the test file. The F1 against the number of labelled
*tokens* is written for each seed, as JSON in ``benchmarks/results``.
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


#: Tokens with a lower probability are in doubt, as on the page.
DOUBT = 0.9


def simulate(
    train: list[Sentence], test: list[Sentence], order: str, seed: int, limit: int, growth: float,
    iterations: int,
) -> list[tuple[int, int, float]]:  # fmt: skip
    """Return (sentences, tokens, F1) after each round."""
    rng = random.Random(seed)
    words = [[word for word, _ in sentence] for sentence in train]
    variety, labelled, curve = Variety(words), rng.sample(range(len(train)), 20), []
    for number in labelled:
        variety.add(number)
    while True:
        tagger = Tagger("pos", learner="crf", max_iter=iterations, tol=1e-2, n_jobs=1)
        tagger.fit([train[i] for i in labelled])
        n_tokens = sum(len(train[i]) for i in labelled)
        curve.append((len(labelled), n_tokens, tagger.evaluate(test)["f1"]))
        if n_tokens >= limit:
            return curve
        wanted, left = int(n_tokens * growth), sorted({*range(len(train))} - {*labelled})
        if order == "random":
            rng.shuffle(left)
            candidates = left
        else:
            worth = np.zeros(len(train))
            worth[left] = doubts(tagger, [words[i] for i in left], order)
            candidates = variety.chosen(worth, left, 400)
        for number in candidates:
            if n_tokens >= wanted:
                break
            labelled.append(number)
            variety.add(number)
            n_tokens += len(train[number])


def simulate_parts(
    train: list[Sentence], test: list[Sentence], seed: int, limit: int, growth: float,
    iterations: int,
) -> list[tuple[int, int, float]]:  # fmt: skip
    """Return the same if only tokens in doubt are labelled, and the others stay unknown."""
    rng = random.Random(seed)
    words = [[word for word, _ in sentence] for sentence in train]
    labelled = {i: set(range(len(words[i]))) for i in rng.sample(range(len(train)), 20)}
    curve: list[tuple[int, int, float]] = []
    while True:
        tagger = Tagger("pos", learner="crf", max_iter=iterations, tol=1e-2, n_jobs=1)
        tagger.fit(
            [
                [
                    (word, label if t in labelled[i] else "_")
                    for t, (word, label) in enumerate(train[i])
                ]
                for i in labelled
            ]
        )
        n_tokens = sum(map(len, labelled.values()))
        curve.append((len(labelled), n_tokens, tagger.evaluate(test)["f1"]))
        if n_tokens >= limit:
            return curve
        wanted, variety = int(n_tokens * growth), Variety(words)
        worth = doubts(tagger, words, "tokens")
        candidates = variety.chosen(worth, range(len(train)), 500)
        shares = tagger.predict_marginals([words[i] for i in candidates], temperature=1.0)
        for number, tokens in zip(candidates, shares, strict=True):
            if n_tokens >= wanted:
                break
            sure = [max(row.values()) for row in tokens]
            before = labelled.setdefault(number, set())
            new = {t for t, p in enumerate(sure) if p < DOUBT} - before
            n_tokens += len(new)
            before |= new
        labelled = {i: places for i, places in labelled.items() if places}


def main() -> None:
    """Simulate each order with each seed, and write the results."""
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
                curve = simulate_parts(pool, test[: o.test], *common)
            else:
                curve = simulate(pool, test[: o.test], order, *common)
            print(o.corpus, order, seed, [(n, round(f, 4)) for _, n, f in curve], flush=True)
            record = json.loads(path.read_text()) if path.exists() else {}
            record |= {"corpus": o.corpus, "settings": settings | {"iterations": o.iterations}}
            record.setdefault("curves", {}).setdefault(order, {})[str(seed)] = curve
            path.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
