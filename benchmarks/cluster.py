"""What an iteration over shards costs beyond its work, and how many bytes it moves.

    python -m benchmarks.cluster TRAIN.txt [--times 8] [--workers 2]

A tagger's CRF on a column file, repeated; a gradient in one process, shard by shard, and on a local
Ray cluster. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from typing import Any

import numpy as np

from structlearn.distributed import training
from structlearn.distributed.cluster import connected, make_crew
from structlearn.distributed.corpora import read_corpora
from structlearn.distributed.shards import file_shards
from structlearn.distributed.tagging import ShardedTokenFitting
from structlearn.tasks import Tagger


def measure(path: str, cluster: str | None, workers: int, repeats: int) -> dict[str, Any]:
    """Return seconds of an evaluation of loss and gradient, the least of several."""
    with connected(cluster, workers) as n:
        shards = file_shards([path], "columns")
        with make_crew(shards, cluster, n) as crew:
            corpus = read_corpora(crew, training.read_tokens, "columns")
            tagger = Tagger("chunk", learner="crf")
            problem = ShardedTokenFitting(tagger._plain(), corpus).problem()
            w, out = np.zeros(problem.n_weights), np.empty(problem.n_weights)
            times = []
            for _ in range(repeats):
                begin = time.perf_counter()
                problem.total_cost(w, 0.0, 1.0, out=out)
                times.append(time.perf_counter() - begin)
            return {
                "seconds": min(times),
                "all": times,
                "tokens": corpus.n_tokens,
                "weights": problem.n_weights,
                "shards": len(shards),
                "bytes_out": getattr(crew, "bytes_out", 0),
                "bytes_back": getattr(crew, "bytes_back", 0),
                "bits": out.tobytes(),
            }


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("train")
    parser.add_argument("--times", type=int, default=8)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    o = parser.parse_args()
    with open(o.train, "rb") as file:
        text = file.read()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "train.txt")
        with open(path, "wb") as file:
            file.write(text * o.times)
        alone = measure(path, None, 1, o.repeats)
        spread = measure(path, "local", o.workers, o.repeats)
    assert alone.pop("bits") == spread.pop("bits")
    ideal = alone["seconds"] / o.workers
    print(
        json.dumps(
            {
                "one_process": alone,
                "cluster": spread,
                "workers": o.workers,
                "microseconds_per_token": 1e6 * alone["seconds"] / alone["tokens"],
                "overhead": spread["seconds"] / ideal - 1.0,
            }
        )
    )


if __name__ == "__main__":
    main()
