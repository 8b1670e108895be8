"""Small training runs of every kind, and what they have learned."""

from __future__ import annotations

import os

from structlearn.datasets import make_shapes, make_treebank
from structlearn.tasks import (
    ConstituencyParser,
    DependencyParser,
    ImageSegmenter,
    Pipeline,
    SegmentTagger,
    Tagger,
)

SENTENCES = make_treebank(90, random_state=3)


def write_columns(path: str, begin: int = 0, end: int | None = None) -> str:
    """Write words and tags."""
    rows = ["\n".join(map("\t".join, zip(s.words, s.tags, strict=True))) for s in SENTENCES]
    with open(path, "w") as file:
        file.write("\n\n".join(rows[begin:end]) + "\n\n")
    return path


def write_chunks(path: str) -> str:
    """Write words, tags and chunks."""
    columns = [(s.words, s.tags, s.chunks) for s in SENTENCES]
    rows = ["\n".join(map("\t".join, zip(*cells, strict=True))) for cells in columns]
    with open(path, "w") as file:
        file.write("\n\n".join(rows) + "\n\n")
    return path


def write_arcs(path: str) -> str:
    """Write a treebank in CoNLL-U."""
    with open(path, "w") as file:
        for s in SENTENCES:
            cells = zip(s.words, s.tags, s.heads, s.deprels, strict=True)
            for i, (word, tag, head, relation) in enumerate(cells, 1):
                file.write(f"{i}\t{word}\t_\t{tag}\t{tag}\t_\t{head}\t{relation}\t_\t_\n")
            file.write("\n")
    return path


def write_trees(path: str, begin: int = 0, end: int | None = None) -> str:
    """Write bracketed trees."""
    with open(path, "w") as file:
        file.writelines(f"{s.brackets}\n" for s in SENTENCES[begin:end])
    return path


def write_images(path: str) -> str:
    """Write a folder of images and masks."""
    from PIL import Image

    shapes = make_shapes(10, size=24, random_state=0)
    for kind in ("images", "masks"):
        os.makedirs(os.path.join(path, kind))
        for k, pixels in enumerate(getattr(shapes, kind)):
            Image.fromarray(pixels).save(os.path.join(path, kind, f"{k}.png"))
    return path


#: A model, what writes its training file, and the size of a shard.
RUNS = {
    "tagger perceptron": (
        lambda: Tagger("pos", n_models=1, max_iter=4, patience=0),
        write_columns,
        1500,
    ),
    "tagger crf": (lambda: Tagger("pos", learner="crf", max_iter=6), write_columns, 1500),
    "tagger svm": (lambda: Tagger("pos", learner="svm", max_iter=6), write_columns, 1500),
    "segments": (lambda: SegmentTagger(max_iter=3, n_models=1), write_chunks, 3000),
    "parser": (
        lambda: DependencyParser(gold_tags=True, hash_bits=12, max_iter=3, n_models=1),
        write_arcs,
        5000,
    ),
    "constituency": (
        lambda: ConstituencyParser(gold_tags=True, max_iter=3, n_models=1),
        write_trees,
        3000,
    ),
    "segmenter": (lambda: ImageSegmenter(max_iter=2), write_images, 1500),
}

_SMALL = {"n_models": 1, "max_iter": 2}
#: More of them, which are asked for their bits alone.
MORE = {
    **{
        f"tagger {learner}": (
            lambda learner=learner: Tagger("pos", learner=learner, **_SMALL),
            write_columns,
            1500,
        )
        for learner in ("passive-aggressive", "arow", "adagrad")
    },
    "hmm": (lambda: Tagger(learner="hmm"), write_columns, 1500),
    "candidates": (lambda: Tagger("pos", candidates=3, **_SMALL), write_columns, 1500),
    "pcfg": (lambda: ConstituencyParser("pcfg", gold_tags=True), write_trees, 3000),
    "parser with taggers": (
        lambda: DependencyParser(hash_bits=12, folds=2, **_SMALL),
        write_arcs,
        9000,
    ),
    "pipeline": (
        lambda: Pipeline(tokeniser=False, tags=_SMALL, parser={"hash_bits": 12, **_SMALL}, folds=2),
        write_arcs,
        9000,
    ),
}

#: Those that go through every kind of fault.
REQUIRED = [name for name in RUNS if name not in ("segments", "segmenter")]


def stored(model: object, folder: str) -> bytes:
    """Return the model file's content, which is the same for the same model."""
    path = os.path.join(folder, "stored.model")
    model.save(path)  # type: ignore[attr-defined]
    with open(path, "rb") as file:
        return file.read()
