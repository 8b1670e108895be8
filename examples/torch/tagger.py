"""A part-of-speech tagger: a BiLSTM over words and their letters, and a CRF over its tags.

    python examples/torch/tagger.py FOLDER [--epochs 16] [--loss crf|hinge|softmax] [--networks 3]

FOLDER has train, dev and test.conllu.gz of a Universal Dependencies treebank. Runs on a GPU where
there is one. Several networks differ in their seeds alone; together they decode with the means of
their scores and transitions. ``--json`` writes the curve of each.
"""

from __future__ import annotations

import argparse
import copy
import json
import time
from pathlib import Path
from typing import Any

from words import Batch, Vocabulary, WordEncoder, batches, make_batch, read_conllu, to_device, train

import torch
from structlearn.torch import ChainCRF
from torch import nn


class Tagger(nn.Module):
    def __init__(self, vocabulary: Vocabulary, loss: str, **options: Any) -> None:
        super().__init__()
        self.encoder = WordEncoder(vocabulary, **options)
        K = len(vocabulary.tags)
        self.scores = nn.Linear(self.encoder.size, K)
        # The same scores, three losses: of whole sequences, with a margin, of each word alone.
        margin, temperature = (1.0, 0.0) if loss == "hinge" else (0.0, 1.0)
        self.crf = (
            None if loss == "softmax" else ChainCRF(K, margin=margin, temperature=temperature)
        )
        # A second task from the same states: the treebank's fine tags.
        self.fine_scores = nn.Linear(self.encoder.size, len(vocabulary.fine_tags))

    def loss(self, batch: Batch) -> torch.Tensor:
        states = self.encoder(batch)
        fine = nn.functional.cross_entropy(
            self.fine_scores(states).flatten(0, 1), batch.fine_tags.flatten()
        )
        scores = self.scores(states)
        if self.crf is None:
            return nn.functional.cross_entropy(scores.flatten(0, 1), batch.tags.flatten()) + fine
        losses = self.crf(scores, batch.tags, lengths=batch.lengths)
        return losses.sum() / batch.lengths.sum() + fine


class Tags:
    """The best tags by the means of some networks' scores."""

    def __init__(self, models: list[Tagger]) -> None:
        self.models = models
        self.crf = copy.deepcopy(models[0].crf)
        if self.crf is not None:
            with torch.no_grad():
                for mean, *each in zip(
                    self.crf.parameters(), *(m.crf.parameters() for m in models), strict=True
                ):
                    mean.copy_(torch.stack(each).mean(dim=0))

    @torch.no_grad()
    def __call__(self, batch: Batch) -> torch.Tensor:
        scores = torch.stack([m.scores(m.encoder(batch)) for m in self.models]).mean(dim=0)
        if self.crf is None:
            return scores.argmax(dim=2)
        return self.crf.argmax(scores, lengths=batch.lengths)


def accuracy(tags: Tags, ready: list[Batch]) -> tuple[float, float]:
    """Return the share of words with the right tag, and of sentences with all of them right."""
    right = words = whole = sentences = 0
    for batch in ready:
        inside = (
            torch.arange(batch.tags.shape[1], device=batch.tags.device) < batch.lengths[:, None]
        )
        same = (tags(batch) == batch.tags) & inside
        right += int(same.sum())
        words += int(inside.sum())
        whole += int((same | ~inside).all(dim=1).sum())
        sentences += len(batch.numbers)
    return right / words, whole / sentences


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--epochs", type=int, default=16)
    parser.add_argument("--networks", type=int, default=1)
    parser.add_argument("--loss", choices=["crf", "hinge", "softmax"], default="crf")
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--size", type=int, default=32)
    parser.add_argument("--hidden", type=int, default=400)
    parser.add_argument("--dropout", type=float, default=0.4)
    parser.add_argument("--forget", type=float, default=0.1, help="share of words seen by letters")
    parser.add_argument("--limit", type=int, help="how many sentences of each file to use")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    files = {
        name: read_conllu(options.folder / f"{name}.conllu.gz")[: options.limit]
        for name in ("train", "dev", "test")
    }
    vocabulary = Vocabulary(files["train"])
    ready = {
        name: [
            to_device(make_batch(sentences, numbers, vocabulary), device)
            for numbers in batches(
                sentences, options.size, options.seed if name == "train" else None
            )
        ]
        for name, sentences in files.items()
    }
    models: list[Tagger] = []
    histories = []
    begin = time.monotonic()
    for seed in range(options.seed, options.seed + options.networks):
        torch.manual_seed(seed)
        model = Tagger(
            vocabulary, options.loss,
            hidden=options.hidden, dropout=options.dropout, forget=options.forget,
        ).to(device)  # fmt: skip

        def evaluate(model: Tagger = model) -> dict[str, float]:
            words, whole = accuracy(Tags([model]), ready["dev"])
            return {"dev": words, "dev sentences": whole}

        histories.append(train(model, ready["train"], options.epochs, options.rate, evaluate, seed))
        models.append(model)
    seconds = time.monotonic() - begin
    record = {
        "loss": options.loss, "seconds": seconds, "seed": options.seed, "networks": histories,
        "device": torch.cuda.get_device_name() if device == "cuda" else "cpu",
    }  # fmt: skip
    for name in ("dev", "test"):
        words, whole = accuracy(Tags(models), ready[name])
        record |= {name: words, f"{name} sentences": whole}
        print(f"{options.loss}: {name} {words:.4f} of words, {whole:.4f} of sentences", flush=True)
    print(f"{seconds:.0f} s")
    if options.json:
        options.json.write_text(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
