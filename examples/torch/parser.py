"""A dependency parser: biaffine scores of labelled arcs, and a CRF over trees.

    python examples/torch/parser.py FOLDER [--epochs 30] [--json FILE]

FOLDER has train, dev and test.conllu.gz of a Universal Dependencies treebank. Runs on a GPU where
there is one. Trained over all trees, crossing ones included, by the matrix-tree theorem; decoded
without crossing arcs, which the GPU does itself. Sees words and letters, no tags; they are learned
beside the arcs, as a second task.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from words import (
    Batch,
    Sentence,
    Vocabulary,
    WordEncoder,
    batches,
    make_batch,
    read_conllu,
    to_device,
    train,
)

import torch
from structlearn.torch import DependencyCRF
from torch import nn


class Biaffine(nn.Module):
    """Scores (B, N, N, R) of each head, modifier and relation."""

    def __init__(self, size: int, relations: int, arc: int = 400, relation: int = 100) -> None:
        super().__init__()
        self.to_head, self.to_modifier, self.of_head, self.of_modifier = (
            nn.Sequential(nn.Linear(size, n), nn.LeakyReLU(0.1), nn.Dropout(0.33))
            for n in (arc, arc, relation, relation)
        )
        self.arc = nn.Parameter(torch.zeros(arc + 1, arc))
        self.relation = nn.Parameter(torch.zeros(relations, relation + 1, relation + 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def one(v: torch.Tensor) -> torch.Tensor:
            return torch.cat([v, torch.ones_like(v[..., :1])], dim=-1)

        arcs = one(self.to_head(x)) @ self.arc @ self.to_modifier(x).transpose(1, 2)
        heads, modifiers = one(self.of_head(x)), one(self.of_modifier(x))
        relations = torch.einsum("bhi,rij,bmj->bhmr", heads, self.relation, modifiers)
        return arcs[..., None] + relations


class Parser(nn.Module):
    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.encoder = WordEncoder(vocabulary, hidden=400, layers=3)
        self.biaffine = Biaffine(self.encoder.size, len(vocabulary.relations))
        self.tags = nn.Linear(self.encoder.size, len(vocabulary.tags))
        self.crf = DependencyCRF(labelled=True)
        self.projective = DependencyCRF(labelled=True, projective=True)

    def loss(self, batch: Batch) -> torch.Tensor:
        x = self.encoder(batch)
        gold = (batch.heads, batch.relations)
        trees = self.crf(self.biaffine(x), gold, lengths=batch.lengths)
        tags = nn.functional.cross_entropy(
            self.tags(x[:, 1:]).flatten(0, 1), batch.tags.flatten(), reduction="sum"
        )
        return (trees.sum() + tags) / batch.lengths.sum()

    def trees(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        return self.projective.argmax(self.biaffine(self.encoder(batch)), lengths=batch.lengths)


def attachment(
    model: Parser, ready: list[Batch], sentences: list[Sentence], names: list[str]
) -> tuple[float, float]:
    """Return the shares of words with the right head, and with the right relation to it (LAS)."""
    heads_right = both_right = words = 0
    for batch in ready:
        heads, relations = (t.cpu().tolist() for t in model.trees(batch))
        for b, number in enumerate(batch.numbers):
            gold = sentences[number]
            for i, (head, relation) in enumerate(zip(gold.heads, gold.relations, strict=True)):
                right = heads[b][i] == head
                heads_right += right
                both_right += right and names[relations[b][i]] == relation
                words += 1
    return heads_right / words, both_right / words


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--size", type=int, default=32)
    parser.add_argument("--limit", type=int, help="how many sentences of each file to use")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    files = {
        name: read_conllu(options.folder / f"{name}.conllu.gz")[: options.limit]
        for name in ("train", "dev", "test")
    }
    vocabulary = Vocabulary(files["train"])
    ready = {
        name: [
            to_device(make_batch(sentences, numbers, vocabulary, root=True), device)
            for numbers in batches(
                sentences, options.size, options.seed if name == "train" else None, cells=1500
            )
        ]
        for name, sentences in files.items()
    }
    model = Parser(vocabulary).to(device)

    def evaluate(name: str = "dev") -> dict[str, float]:
        heads, both = attachment(model, ready[name], files[name], vocabulary.relations)
        return {f"{name} UAS": heads, f"{name} LAS": both}

    begin = time.monotonic()
    history = train(model, ready["train"], options.epochs, options.rate, evaluate, options.seed)
    seconds = time.monotonic() - begin
    with torch.no_grad():
        found = evaluate("test")
    print(", ".join(f"{k} {v:.4f}" for k, v in found.items()), f"; {seconds:.0f} s")
    if options.json:
        record = {
            **found, "seconds": seconds, "seed": options.seed,
            "device": torch.cuda.get_device_name() if device == "cuda" else "cpu",
            "epochs": history,
        }  # fmt: skip
        options.json.write_text(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
