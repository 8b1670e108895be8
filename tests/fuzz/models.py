"""Model files, checkpoints and pictures: seeds are made here, and forged with a right checksum."""

from __future__ import annotations

import contextlib
import copy
import functools
import io
import os
import random
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from structlearn.estimators import checkpoint
from structlearn.exceptions import FileError
from structlearn.io import read_crfsuite
from structlearn.io.container import Tensor, container_pieces, parse_container
from structlearn.io.images import png_bytes, read_image
from structlearn.io.masks import MaskCoding, read_mask, read_names
from structlearn.loading import from_container
from structlearn.text.corpus import corpus_of
from tests.fuzz.forging import forge_arrays, forge_description
from tests.fuzz.memory_file import memory_file
from tests.fuzz.mutation import mutated
from tests.fuzz.readers import Target, seeds_of

__all__ = ["file_targets"]


class Forged(NamedTuple):
    """A description and arrays that a file could hold, and where they are from."""

    origin: str
    description: dict[str, Any]
    tensors: dict[str, Tensor]


Content = tuple[dict[str, Any], dict[str, Tensor]]


def _content(path: str) -> Content:
    """Return what a file holds."""
    with open(path, "rb") as file:
        description, tensors = parse_container("seed", memoryview(file.read()))
    return description, {k: Tensor(t.dtype, bytes(t.data), t.shape) for k, t in tensors.items()}


def _forge(rng: random.Random, name: str, content: Content) -> Forged:
    description, tensors = copy.deepcopy(content[0]), dict(content[1])
    for _ in range(rng.choice((1, 1, 2, 3))):
        if tensors and rng.random() < 0.4:
            forge_arrays(rng, tensors)
        elif description:
            forge_description(rng, description)
    return Forged(name, description, tensors)


@functools.cache
def _estimators() -> dict[str, tuple[Content, Any]]:
    from tests.io.saved_cases import CASES, fitted

    found = {}
    for name in CASES:
        model, X, _ = fitted(name)
        path = memory_file(b"")
        model.save(path)
        found[name] = _content(path), X[:2]
    return found


@functools.cache
def _tasks() -> dict[str, tuple[Content, Any]]:
    from structlearn.tasks import Pipeline
    from tests.tasks.pipeline.small_treebank import treebank
    from tests.tasks.test_matrix import TASKS

    found: dict[str, tuple[Content, Any]] = {}
    for name, task in TASKS.items():
        for learner in task.learners[-1:] if name != "constituency" else task.learners[-2:]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = task.make(learner).fit(task.examples)
            path = memory_file(b"")
            model.save(path)
            found[f"{name} {learner}"] = _content(path), task.inputs[:2]
    small = {"max_iter": 2}
    stages: dict[str, Any] = dict.fromkeys(("tokeniser", "splitter", "tags", "lemmas"), small)
    stages["parser"] = {"hash_bits": 12, **small}
    path = memory_file(b"")
    Pipeline(**stages, folds=2).fit(treebank(20)).save(path)
    found["pipeline"] = _content(path), "Fish don't sleep. Eels eat."
    return found


@functools.cache
def _checkpoints() -> dict[str, tuple[Content, Any]]:
    """Return checkpoints of estimators whose states differ, each after an iteration or two."""
    from structlearn import CRF, AdaGrad, StructuredPerceptron, StructuredSVM
    from tests.estimators.estimator_data import sequences

    X, y = sequences(6)
    kinds = {
        "lbfgs": CRF(solver="lbfgs"),
        "sag": CRF(solver="sag", random_state=0),
        "dual": CRF(solver="dual", random_state=0),
        "frank-wolfe": StructuredSVM(random_state=0),
        "one-slack": StructuredSVM(solver="one-slack"),
        "n-slack": StructuredSVM(solver="n-slack"),
        "perceptron": StructuredPerceptron(random_state=0),
        "adagrad": AdaGrad(random_state=0),
    }
    found: dict[str, tuple[Content, Any]] = {}
    every = checkpoint.EVERY, checkpoint.SHARE
    checkpoint.EVERY, checkpoint.SHARE = 0.0, 1e9
    try:
        for name, kind in kinds.items():
            path = memory_file(b"", ".checkpoint")

            def stop(record: Any) -> None:
                if record["iteration"] == 2:
                    raise _Stop

            os.unlink(path)
            model = kind.set_params(checkpoint=path, callbacks=[stop], max_iter=5)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with contextlib.suppress(_Stop):
                    model.fit(X, y)
            found[name] = _content(path), (kind, X, y)
    finally:
        checkpoint.EVERY, checkpoint.SHARE = every
    return found


class _Stop(Exception):
    """Ends a training from a callback."""


def _load(seeds: Callable[[], dict[str, tuple[Content, Any]]]) -> Callable[[Forged], None]:
    def read(forged: Forged) -> None:
        """Load, and predict with what loads all the same: that may refuse its input too."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = from_container("input", forged.description, forged.tensors)
            inputs = seeds()[forged.origin][1]
            with contextlib.suppress(ValueError):
                model(inputs) if isinstance(inputs, str) else model.predict(inputs)

    return read


def _checkpoint(forged: Forged) -> None:
    whole = b"".join(bytes(p) for p in container_pieces(forged.description, forged.tensors))
    path = memory_file(whole, ".checkpoint")
    checkpoint._read(path)
    kind, X, y = _checkpoints()[forged.origin][1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            kind.set_params(checkpoint=path, callbacks=None).fit(X, y)
        except ValueError as error:  # weights that were forged may be enormous
            if "the loss became" not in str(error):
                raise


@functools.cache
def _taggers() -> list[Any]:
    """Return taggers of files in columns: of words alone, and of words with tags."""
    from structlearn.tasks import Tagger
    from structlearn.text import FeatureTemplates

    rows = [
        [("fish", "N", "B-NP"), ("sleep", "V", "O")],
        [("the", "D", "B-NP"), ("eels", "N", "I-NP")],
    ]
    words = FeatureTemplates.parse("word[-1..1]")
    both = FeatureTemplates.parse("word\npos")
    return [
        Tagger(features=words, max_iter=2).fit([[t[:2] for t in row] for row in rows]),
        Tagger(features=both, max_iter=2).fit(rows),
    ]


_FORMATS = ("columns", "conllu", "csv", "jsonl", "text")


def _labelled(data: bytes) -> None:
    """Label a file of any format: tokens are neither lost nor made, and the rest stays."""
    if not data:
        return
    tagger = _taggers()[data[0] % 2]
    format = (*_FORMATS, None)[data[0] // 2 % 6]
    path, out = memory_file(data[1:]), io.BytesIO()
    n = tagger.label_file(path, out, format=format, confidence=data[0] % 7 == 0)
    if format in ("csv", "jsonl", "columns", "conllu"):
        before, after = (corpus_of("input", text, format) for text in (data[1:], out.getvalue()))
        assert before.n_tokens == after.n_tokens == n
        assert before.column(0) == after.column(0), "other words"


def _labelled_seeds() -> list[bytes]:
    texts = [*seeds_of("columns"), *seeds_of("csv"), *seeds_of("jsonl"), *seeds_of("conllu")]
    texts += [b"fish N\nsleep V\n", b"fish sleep .\nthe eels\n"]
    return [bytes([first]) + text for first in range(0, 42, 3) for text in texts]


def _container(data: bytes) -> None:
    parse_container("input", memoryview(data))


def _raw(seeds: list[bytes]) -> Callable[[random.Random], bytes]:
    """Make containers whose header was changed, half of them with the checksum of the change."""
    from structlearn import _core

    def make(rng: random.Random) -> bytes:
        data = mutated(rng, seeds)
        if rng.random() < 0.5 or len(data) < 8:
            return data
        at = data.find(b'"checksum":"')
        length = int.from_bytes(data[:8], "little")
        if at < 0 or at + 28 > 8 + length or length > len(data) - 8:
            length = rng.randrange(len(data))
            data = length.to_bytes(8, "little") + data[8:]
            at = data.find(b'"checksum":"')
        if at < 0 or at + 28 > len(data):
            return data
        blank = data[: at + 12] + b"0" * 16 + data[at + 28 :]
        pieces = [blank[:8], blank[8 : 8 + length], blank[8 + length :]]
        return data[: at + 12] + f"{_core.checksum(pieces):016x}".encode() + data[at + 28 :]

    return make


def _small_containers() -> list[bytes]:
    tensors = {"a": Tensor("F64", np.arange(3.0).tobytes()), "b": Tensor("U8", b"xy", (2, 1))}
    contents = [({"task": "x"}, {}), ({"task": "tagger", "n": 1}, tensors)]
    return [b"".join(bytes(p) for p in container_pieces(*content)) for content in contents]


def _pictures() -> list[bytes]:
    from PIL import Image

    values = np.arange(48, dtype=np.uint8).reshape(6, 8) % 3
    found = [png_bytes(Image.fromarray(values))]
    found.append(png_bytes(np.stack([values * 80] * 3, axis=-1)))
    palette = Image.fromarray(values)
    palette.putpalette([0, 0, 0, 255, 0, 0, 0, 255, 0])
    found.append(png_bytes(palette))
    found.append(png_bytes(Image.fromarray(values * 85).convert("1")))
    found.append(png_bytes(Image.fromarray(values).convert("LA")))
    for format in ("BMP", "GIF", "TIFF", "JPEG"):
        buffer = io.BytesIO()
        Image.fromarray(values * 80).save(buffer, format=format)
        found.append(buffer.getvalue())
    return found


def _mask(data: bytes) -> None:
    path = memory_file(data, ".png")
    mask = read_mask(path)
    coding = MaskCoding.fit([mask], None, "auto")
    labels = coding.encode(mask)
    assert labels.shape == mask.values.shape
    coding.png(np.maximum(labels, 0))


def _crfsuite(data: bytes) -> None:
    model = read_crfsuite(memory_file(data))
    model.predict([[["x", "y"], ["z"]]])


def _crfsuite_seeds() -> list[bytes]:
    from tests.io.crfsuite_files import model_bytes, small_model

    return [small_model(), model_bytes(["A"], ["x"], [(0, 0, 1.0)])]


def file_targets() -> dict[str, Callable[[], Target]]:
    """Return the readers of binary files by name; seeds are made when a target is asked for."""

    def forged(name: str, seeds: Any, read: Any) -> Target:
        contents = seeds()
        names = sorted(contents)

        def make(rng: random.Random) -> Forged:
            origin = rng.choice(names)
            return _forge(rng, origin, contents[origin][0])

        return Target(name, make, read)

    def mutation(name: str, seeds: list[bytes], read: Any, *more: type[Exception]) -> Target:
        every = [*seeds, *seeds_of(name)]
        return Target(name, lambda rng: mutated(rng, every), read, (FileError, *more))

    names_seeds = seeds_of("class_names")
    return {
        "labelled": lambda: mutation("labelled", _labelled_seeds(), _labelled),
        "containers": lambda: Target("containers", _raw(_small_containers()), _container),
        "estimators": lambda: forged("estimators", _estimators, _load(_estimators)),
        "task_models": lambda: forged("task_models", _tasks, _load(_tasks)),
        "checkpoints": lambda: forged("checkpoints", _checkpoints, _checkpoint),
        "crfsuite": lambda: mutation("crfsuite", _crfsuite_seeds(), _crfsuite, ValueError),
        "masks": lambda: mutation("masks", _pictures(), _mask),
        "images": lambda: mutation(
            "images", _pictures(), lambda data: read_image(memory_file(data, ".png"))
        ),
        "class_names": lambda: mutation(
            "class_names", names_seeds, lambda data: read_names(memory_file(data))
        ),
    }
