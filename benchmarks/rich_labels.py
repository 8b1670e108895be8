"""A pipeline whose words have more than a thousand features of morphology, as Turkish has.

    python -m benchmarks.rich_labels FOLDER [--models N] [--prune X] [--threads N]

UPOS, XPOS and FEATS of the English treebank are joined, and each of the joined labels is split at
random into four, which take the place of FEATS: 1,159 of them in all. Taggers learn from that, and
take the place of those of the English package: its tokeniser, lemmatiser and parser stay. Printed
are the words that the pipeline annotates in a second of the processor, from raw text to trees, the
size of its file, and how often it is right: with the split labels, of which a quarter is the most
that can be, and with the labels before the split. The same of taggers with all their weights in 32
bits, and by sums over all sequences of labels, stands beside it.

What was learned is kept in the folder.
"""

from __future__ import annotations

import argparse
import gzip
import random
import time
from pathlib import Path
from typing import Any

import structlearn
from structlearn import _core
from structlearn.models.temperature import temperature_of
from structlearn.tasks import Pipeline
from structlearn.tasks.pipeline.model import PipelineModel
from structlearn.tasks.pipeline.tags import (
    TAG_COLUMNS,
    AgreeingTagger,
    seen_combinations,
    train_tagger,
)
from structlearn.tasks.tagging.model import TaggerModel
from structlearn.text.dependency_treebank import read_treebank

from .data import data_folder
from .rows.running_text import ENGLISH

#: Labels that one is split into.
PARTS = 4


def split_labels(source: Path, numbers: dict[str, int], seed: int) -> str:
    """Return a treebank with joined labels, split at random, in the place of FEATS.

    ``numbers`` has the joined labels that are known, and takes others up.
    """
    draw, lines = random.Random(seed), []
    with gzip.open(source, "rt", encoding="utf-8") as file:
        for line in file:
            cells = line.rstrip("\n").split("\t")
            if len(cells) > 5 and cells[0].isdigit():
                number = numbers.setdefault("\t".join(cells[3:6]), len(numbers))
                cells[5] = f"Label={number}|Part={draw.randrange(PARTS)}"
                line = "\t".join(cells) + "\n"
            lines.append(line)
    return "".join(lines)


def right(gold: list[list[str]], tags: list[tuple[str, str, str]]) -> tuple[float, float]:
    """Return the share of split labels that are right, and of labels before the split."""
    pairs = list(zip([cell for row in gold for cell in row], [f for *_, f in tags], strict=True))
    whole = sum(a.split("|")[0] == b.split("|")[0] for a, b in pairs)
    return 100 * sum(a == b for a, b in pairs) / len(pairs), 100 * whole / len(pairs)


def taggers(
    o: argparse.Namespace, files: dict[str, Path], prune: float
) -> tuple[list[TaggerModel], float]:
    """Return the taggers of the three columns, and the seconds of the processor that they took."""
    corpus, models = read_treebank(files["train"]), []
    begin = time.process_time()
    for column in TAG_COLUMNS:
        path = o.folder / f"{column}-{o.models}-{prune:g}.model"
        if not path.exists():
            settings = {"n_models": o.models, "prune": prune, "n_jobs": o.threads}
            train_tagger(corpus, column, random_state=0, **settings).save(path)
        models.append(TaggerModel.load(path))
    return models, time.process_time() - begin


def all_sums(tagger: AgreeingTagger, corpus: Any, threads: int) -> list[tuple[str, str, str]]:
    """Return the tags by sums over all sequences of labels, instead of the likely ones."""
    temperatures = [temperature_of(model.temperature) for model in tagger.models]
    cores = [model.core for model in tagger.models]
    names = list(map("\t".join, tagger.combinations))
    core = _core.AgreeingTags(cores, temperatures, tagger._labels, names, exact=1 << 20)
    chosen = memoryview(core.choose(corpus.core, threads)).cast("B").cast("I")
    return [tagger.combinations[k] for k in chosen]


def texts(path: Path) -> str:
    """Return the sentences of a treebank as they were written, a paragraph each."""
    mark = "# text = "
    lines = path.read_text(encoding="utf-8").splitlines()
    return "\n\n".join(line[len(mark) :] for line in lines if line.startswith(mark))


def main() -> None:
    """Train what is not trained yet, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", type=int, default=4)
    parser.add_argument("--prune", type=float, default=1.3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="all weights, and all sums, beside it")
    o = parser.parse_args()
    data = data_folder()
    if data is None:
        raise SystemExit("there are no corpora: set STRUCTLEARN_DATA")
    o.folder.mkdir(parents=True, exist_ok=True)
    numbers: dict[str, int] = {}
    files = {name: o.folder / f"{name}.conllu" for name in ("train", "dev", "test")}
    for seed, (name, path) in enumerate(files.items()):
        source = data / "ud_en_ewt" / f"{name}.conllu.gz"
        path.write_text(split_labels(source, numbers, seed), encoding="utf-8")
    test = read_treebank(files["test"])
    gold, combinations = test.column("feats"), seen_combinations(read_treebank(files["train"]))
    models, seconds = taggers(o, files, o.prune)
    print(f"trained in {seconds:.0f} s of the processor (0: read)")
    english = structlearn.load(ENGLISH).model_
    parts = {**english.parts, **dict(zip(TAG_COLUMNS, models, strict=True))}
    path = o.folder / "rich.model"
    Pipeline.from_model(PipelineModel(parts, combinations, english.training, english.lexicon)).save(
        path, "int8"
    )
    nlp = structlearn.load(path)
    print(f"{len(models[-1].labels)} labels, {path.stat().st_size / 1e6:.2f} MB")
    tagger = AgreeingTagger([nlp.model_.parts[c] for c in TAG_COLUMNS], combinations)
    said = [("as stored", tagger(test, o.threads))]
    if o.all:
        whole = AgreeingTagger(taggers(o, files, 0.0)[0], combinations)
        said.append(("all weights", whole(test, o.threads)))
        said.append(("all weights, all sums", all_sums(whole, test, o.threads)))
    for name, tags in said:
        split, joined = right(gold, tags)
        print(f"{name}: {split:.2f} % of split labels right, {joined:.2f} % before the split")
    text = texts(files["test"])
    nlp(text[:1000])
    begin, wall = time.process_time(), time.perf_counter()
    doc = nlp(text)
    took, wall = time.process_time() - begin, time.perf_counter() - wall
    print(
        f"{len(doc) / took:.0f} words a second of the processor, {len(doc) / wall:.0f} by the "
        f"clock: {', '.join(nlp.stages)}"
    )


if __name__ == "__main__":
    main()
