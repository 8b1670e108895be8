"""Entity labels on the subwords of a transformer, with a CRF over the words.

    python examples/torch/subwords.py

A small transformer with random weights stands in for a pretrained one, and names and places are
made up, so that it runs anywhere in seconds. The two lines that change for a real one are marked;
its hidden size, ``word_ids`` and attention mask then come from the model and its tokenizer.

A word has several subwords and one label, that of its first subword: the others have −100 in ``y``.
There are two ways to say so. With a mask they are left out, and the CRF is one over words. Without
it they are positions whose label is unknown, over which the loss sums.
"""

from __future__ import annotations

import random

import torch
from structlearn.torch import ChainCRF
from torch import nn

LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
PEOPLE = ["anna", "boris", "chandra", "dmitri", "esteban"]
FAMILIES = ["kowalski", "lindqvist", "marquez", "nakamura"]
PLACES = ["york", "delhi", "orleans", "haven"]


def sentences(count: int, seed: int) -> list[tuple[list[str], list[int]]]:
    """Return words and labels: "anna lindqvist went to new york"."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        person = [rng.choice(PEOPLE)] + [rng.choice(FAMILIES)] * rng.randint(0, 1)
        place = ["new"] * rng.randint(0, 1) + [rng.choice(PLACES)]
        verb = rng.choice([["went", "to"], ["saw", "a", "new", "film", "in"], ["left"]])
        words = person + verb + place
        labels = [1] + [2] * (len(person) - 1) + [0] * len(verb) + [3] + [4] * (len(place) - 1)
        found.append((words, labels))
    return found


class Tokenizer:
    """Cuts words into pieces of three letters: what the tokenizers of transformers do, roughly."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {"[PAD]": 0}

    def __call__(self, batch: list[list[str]]) -> tuple[torch.Tensor, list[list[int | None]]]:
        """Return piece numbers (B, L), and the word of each piece as ``word_ids()`` gives it."""
        rows, owners = [], []
        for words in batch:
            pieces = [(w[i : i + 3], n) for n, w in enumerate(words) for i in range(0, len(w), 3)]
            rows.append([self.numbers.setdefault(p, len(self.numbers)) for p, _ in pieces])
            owners.append([n for _, n in pieces])
        longest = max(map(len, rows))
        ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
        return ids, [own + [None] * (longest - len(own)) for own in owners]


class Encoder(nn.Module):
    """A transformer of two layers with random weights."""

    def __init__(self, size: int = 64) -> None:
        super().__init__()
        self.pieces, self.places = nn.Embedding(500, size), nn.Embedding(100, size)
        layer = nn.TransformerEncoderLayer(size, 4, 128, 0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.size = size

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.pieces(ids) + self.places(torch.arange(ids.shape[1]))
        return self.layers(x, src_key_padding_mask=ids == 0)


class EntityTagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        # A real one: AutoModel.from_pretrained("bert-base-cased"), and its last_hidden_state.
        self.encoder = Encoder()
        self.scores = nn.Linear(self.encoder.size, len(LABELS))
        self.crf = ChainCRF(len(LABELS), labels=LABELS, scheme="iob")

    def forward(self, ids: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        # First subwords alone: the chain is one over words.
        return self.crf(self.scores(self.encoder(ids)), y, mask=y != -100)

    def labels(self, ids: torch.Tensor, first: torch.Tensor) -> torch.Tensor:
        return self.crf.argmax(self.scores(self.encoder(ids)), mask=first)


def main() -> None:
    torch.manual_seed(0)
    # A real one: AutoTokenizer.from_pretrained(...)(words, is_split_into_words=True).
    tokenizer = Tokenizer()

    def ready(data: list[tuple[list[str], list[int]]]) -> tuple[torch.Tensor, torch.Tensor]:
        ids, owners = tokenizer([words for words, _ in data])
        y = torch.full(ids.shape, -100)
        for b, (_, labels) in enumerate(data):
            for i, word in enumerate(owners[b]):
                if word is not None and (i == 0 or owners[b][i - 1] != word):
                    y[b, i] = labels[word]
        return ids, y

    ids, y = ready(sentences(200, seed=0))
    test_ids, test_y = ready(sentences(100, seed=1))
    model = EntityTagger()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(1, 16):
        for rows in torch.randperm(len(ids)).split(25):
            loss = model(ids[rows], y[rows]).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch % 5 == 0:
            with torch.no_grad():
                found = model.labels(test_ids, test_y != -100)
            right = (found == test_y)[test_y != -100].float().mean()
            print(f"epoch {epoch}: loss {loss:.3f}, {right:.3f} of the words right")


if __name__ == "__main__":
    main()
