"""What the examples share: a treebank's sentences as tensors, and an encoder of words."""

from __future__ import annotations

import gzip
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

PAD, UNKNOWN, ROOT = 0, 1, 2


@dataclass
class Sentence:
    words: list[str]
    tags: list[str]
    fine_tags: list[str]
    heads: list[int]
    relations: list[str]


def read_conllu(path: str | Path) -> list[Sentence]:
    """Return the sentences of a CoNLL-U file, which may be compressed."""
    text = Path(path).read_bytes()
    if str(path).endswith(".gz"):
        text = gzip.decompress(text)
    blocks = text.decode("utf-8").strip().split("\n\n")
    sentences = []
    for block in blocks:
        rows = [line.split("\t") for line in block.splitlines() if not line.startswith("#")]
        rows = [row for row in rows if row[0].isdigit()]
        words, tags, fine, heads, relations = (
            [row[column] for row in rows] for column in (1, 3, 4, 6, 7)
        )
        sentences.append(Sentence(words, tags, fine, [int(h) for h in heads], relations))
    return sentences


def ending(word: str) -> str:
    return word[-3:].lower()


class Vocabulary:
    """Numbers of words, characters and labels, as the training sentences have them."""

    def __init__(self, sentences: list[Sentence]) -> None:
        words = Counter(w.lower() for s in sentences for w in s.words)
        letters = Counter(c for s in sentences for w in s.words for c in w)
        self.words = {w: i for i, w in enumerate((w for w in words if words[w] > 1), start=3)}
        self.letters = {c: i for i, c in enumerate((c for c in letters if letters[c] > 2), start=3)}
        endings = Counter(ending(w) for s in sentences for w in s.words)
        self.endings = {e: i for i, e in enumerate((e for e in endings if endings[e] > 2), start=3)}
        self.tags = sorted({t for s in sentences for t in s.tags})
        self.fine_tags = sorted({t for s in sentences for t in s.fine_tags})
        self.relations = sorted({r for s in sentences for r in s.relations})

    def word_numbers(self, sentence: Sentence) -> list[int]:
        return [self.words.get(w.lower(), UNKNOWN) for w in sentence.words]

    def letter_numbers(self, word: str, longest: int = 24) -> list[int]:
        found = [self.letters.get(c, UNKNOWN) for c in word]
        # Of a long word both ends tell more than its middle.
        if len(found) > longest:
            found = found[: longest // 2] + found[-longest // 2 :]
        return found


@dataclass
class Batch:
    words: torch.Tensor  # (B, L)
    letters: torch.Tensor  # (B, L, C)
    endings: torch.Tensor  # (B, L)
    lengths: torch.Tensor  # (B,)
    sizes: torch.Tensor  # the same with the root, on the CPU
    tags: torch.Tensor  # (B, L), −100 where there is none
    fine_tags: torch.Tensor
    heads: torch.Tensor
    relations: torch.Tensor
    numbers: list[int]  # which sentences these are


def make_batch(
    sentences: list[Sentence], numbers: list[int], vocabulary: Vocabulary, root: bool = False
) -> Batch:
    """Pad sentences; with ``root`` a word that stands for it comes first."""
    chosen = [sentences[i] for i in numbers]
    first = int(root)
    longest = max(len(s.words) for s in chosen)
    letters = [[vocabulary.letter_numbers(w) for w in s.words] for s in chosen]
    widest = max(len(c) for row in letters for c in row)
    shape = (len(chosen), longest)
    words = torch.full((shape[0], longest + first), PAD)
    spelled = torch.full((shape[0], longest + first, max(widest, 5)), PAD)
    ends = torch.full((shape[0], longest + first), PAD)
    tags, fine, heads, relations = (torch.full(shape, -100) for _ in range(4))
    tag_of = {t: i for i, t in enumerate(vocabulary.tags)}
    fine_of = {t: i for i, t in enumerate(vocabulary.fine_tags)}
    relation_of = {r: i for i, r in enumerate(vocabulary.relations)}
    for b, (sentence, spelling) in enumerate(zip(chosen, letters, strict=True)):
        n = len(sentence.words)
        if root:
            words[b, 0] = ROOT
            spelled[b, 0, 0] = ROOT
        words[b, first : first + n] = torch.tensor(vocabulary.word_numbers(sentence))
        ends[b, first : first + n] = torch.tensor(
            [vocabulary.endings.get(ending(w), UNKNOWN) for w in sentence.words]
        )
        for i, c in enumerate(spelling):
            spelled[b, first + i, : len(c)] = torch.tensor(c)
        tags[b, :n] = torch.tensor([tag_of.get(t, -100) for t in sentence.tags])
        fine[b, :n] = torch.tensor([fine_of.get(t, -100) for t in sentence.fine_tags])
        heads[b, :n] = torch.tensor(sentence.heads)
        relations[b, :n] = torch.tensor([relation_of.get(r, -100) for r in sentence.relations])
    lengths = torch.tensor([len(s.words) for s in chosen])
    return Batch(
        words, spelled, ends, lengths, lengths + first, tags, fine, heads, relations, numbers
    )


def batches(
    sentences: list[Sentence], size: int, seed: int | None = None, cells: int = 4000
) -> Iterator[list[int]]:
    """Yield numbers of sentences of about one length: at most ``size``, and ``cells`` words.

    Without a seed from short to long.
    """
    rng = random.Random(seed)
    noise = [0.0 if seed is None else rng.uniform(-1.5, 1.5) for _ in sentences]
    order = sorted(range(len(sentences)), key=lambda i: len(sentences[i].words) + noise[i])
    groups: list[list[int]] = [[]]
    for i in order:
        if len(groups[-1]) == size or len(sentences[i].words) * len(groups[-1]) > cells:
            groups.append([])
        groups[-1].append(i)
    if seed is not None:
        rng.shuffle(groups)
    yield from groups


def to_device(batch: Batch, device: str) -> Batch:
    tensors = {k: v.to(device) for k, v in vars(batch).items() if k not in ("sizes", "numbers")}
    return Batch(sizes=batch.sizes, numbers=batch.numbers, **tensors)


class WordEncoder(nn.Module):
    """Words by embeddings, of their endings too, and letters by convolutions, read by a BiLSTM."""

    def __init__(
        self, vocabulary: Vocabulary, width: int = 100, hidden: int = 400, layers: int = 2,
        dropout: float = 0.4, forget: float = 0.1,
    ) -> None:  # fmt: skip
        super().__init__()
        self.words = nn.Embedding(len(vocabulary.words) + 3, width, padding_idx=PAD)
        self.letters = nn.Embedding(len(vocabulary.letters) + 3, 40, padding_idx=PAD)
        self.endings = nn.Embedding(len(vocabulary.endings) + 3, 50, padding_idx=PAD)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(40, 75, size, padding=size // 2) for size in (3, 5)
        )
        self.lstm = nn.LSTM(
            width + 200, hidden, layers, batch_first=True, bidirectional=True, dropout=dropout
        )
        self.dropout = nn.Dropout(dropout)
        self.forget = forget
        self.size = 2 * hidden

    def forward(self, batch: Batch) -> torch.Tensor:
        words = batch.words
        if self.training:  # some words are known by their letters alone
            gone = (torch.rand(words.shape, device=words.device) < self.forget) & (words > ROOT)
            words = torch.where(gone, UNKNOWN, words)
        B, L, C = batch.letters.shape
        letters = self.letters(batch.letters.view(B * L, C)).transpose(1, 2)
        spelled = [c(letters).relu().amax(dim=2) for c in self.convolutions]
        letters = torch.cat(spelled, dim=1).view(B, L, -1)
        x = torch.cat([self.words(words), letters, self.endings(batch.endings)], dim=2)
        x = self.dropout(x)
        packed = nn.utils.rnn.pack_padded_sequence(
            x, batch.sizes, batch_first=True, enforce_sorted=False
        )
        read, _ = self.lstm(packed)
        found, _ = nn.utils.rnn.pad_packed_sequence(read, batch_first=True, total_length=L)
        return self.dropout(found)


def train(
    model: nn.Module, ready: list[Batch], epochs: int, rate: float, evaluate: object, seed: int = 0
) -> list[dict[str, float]]:
    """Adam with a rate that rises for one epoch and falls to 0; one record for each epoch.

    What is evaluated, and left in the model at the end, are running means of the weights.
    """
    optimizer = torch.optim.AdamW(
        model.parameters(),
        lr=rate,
        betas=(0.9, 0.95),
        weight_decay=1e-2,
        fused=torch.cuda.is_available(),
    )
    steps = epochs * len(ready)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda t: min((t + 1) / len(ready), (steps - t) / (steps - len(ready) + 1))
    )
    rng = random.Random(seed)
    history = []
    weights = [p.data for p in model.parameters()]
    means = [p.clone() for p in weights]
    done = 0
    for epoch in range(1, epochs + 1):
        model.train()
        rng.shuffle(ready)
        total = torch.zeros((), device=ready[0].words.device)
        for batch in ready:
            loss = model.loss(batch)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            schedule.step()
            done += 1
            torch._foreach_lerp_(means, weights, max(0.002, 9 / (10 + done)))
            total += loss.detach()
        model.eval()
        latest = [p.clone() for p in weights]
        torch._foreach_copy_(weights, means)
        with torch.no_grad():
            record = {"epoch": epoch, "loss": float(total) / len(ready), **evaluate()}  # type: ignore[operator]
        if epoch < epochs:
            torch._foreach_copy_(weights, latest)
        history.append(record)
        print(", ".join(f"{k} {v:.4g}" for k, v in record.items()), flush=True)
    return history
