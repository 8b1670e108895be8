"""Model files and checkpoints forged with a correct checksum; all targets that are not texts."""

from __future__ import annotations

import contextlib
import functools
import os
import random
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple
from unittest import mock

from fuzz import binaries, labelled
from fuzz.forging import forge_arrays, forge_description
from fuzz.memory_file import memory_file
from fuzz.mutation import mutated
from fuzz.readers import Target, seeds_of
from structlearn.exceptions import CapabilityError, FileError, InfeasibleError
from structlearn.fitting import checkpoint
from structlearn.io import read_crfpp, read_wapiti
from structlearn.io.container import Tensor, container_pieces, parse_container
from structlearn.io.masks import read_names
from structlearn.loading import from_container


class Forged(NamedTuple):
    """A description and arrays for a file, and their origin."""

    origin: str
    description: dict[str, Any]
    tensors: dict[str, Tensor]


Content = tuple[dict[str, Any], dict[str, Tensor]]


def _content(path: str) -> Content:
    """Return the content of a file."""
    with open(path, "rb") as file:
        description, tensors = parse_container("seed", memoryview(file.read()))
    return description, {k: Tensor(t.dtype, bytes(t.data), t.shape) for k, t in tensors.items()}


def _forge(rng: random.Random, name: str, content: Content) -> Forged:
    description, tensors = dict(content[0]), dict(content[1])
    for _ in range(rng.choice((1, 1, 2, 3))):
        if tensors and rng.random() < 0.4:
            forge_arrays(rng, tensors)
        elif description:
            forge_description(rng, description)
    return Forged(name, description, tensors)


@functools.cache
def _estimators() -> dict[str, tuple[Content, Any]]:
    from tests.io.saved_cases import CASES, fitted

    models = {}
    for name in CASES:
        model, X, _ = fitted(name)
        path = memory_file(b"")
        model.save(path)
        models[name] = _content(path), X[:2]
    return models


@functools.cache
def _tasks() -> dict[str, tuple[Content, Any]]:
    from tests.tasks.test_matrix import TASKS

    from structlearn.tasks import Tagger
    from structlearn.text.templates import FeatureTemplates

    models: dict[str, tuple[Content, Any]] = {}
    segments = FeatureTemplates.parse("begin(word)\nwhole(lower(word)) length")
    small: dict[str, dict[str, Any]] = {
        "segments arow": {"features": segments},
        "constituency arow": {"gold_tags": True},
    }
    for name, task in TASKS.items():
        for learner in task.learners[-1:] if name != "constituency" else task.learners[-2:]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = task.make(learner, **small.get(f"{name} {learner}", {}))
                model.fit(task.examples[:5])
            path = memory_file(b"")
            model.save(path)
            models[f"{name} {learner}"] = _content(path), task.inputs[:2]
    chunks = TASKS["segments"]
    templates = FeatureTemplates.parse("word[0]\nword[-1]")
    candidates = Tagger(templates, scheme="iobes", order=2, candidates=3, max_iter=2)
    path = memory_file(b"")
    candidates.fit(chunks.examples[:5]).save(path)
    models["tagger candidates"] = _content(path), chunks.inputs[:2]
    path = memory_file(b"")
    labelled.pipeline().save(path)
    models["pipeline"] = _content(path), "Fish don't sleep. Eels eat."
    return models


@functools.cache
def _checkpoints() -> dict[str, tuple[Content, Any]]:
    """Return checkpoints of estimators with different states, each after one or two iterations."""
    from tests.estimators.estimator_data import sequences

    from structlearn import CRF, AdaGrad, StructuredPerceptron, StructuredSVM

    X, y = sequences(3, d=2)
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
    checkpoints: dict[str, tuple[Content, Any]] = {}
    every = checkpoint.EVERY, checkpoint.SHARE
    checkpoint.EVERY, checkpoint.SHARE = 0.0, 1e9
    try:
        for name, kind in kinds.items():
            path = memory_file(b"", ".checkpoint")

            def stop(record: Any) -> None:
                if record["iteration"] == 2:
                    raise _Stop

            os.unlink(path)
            model = kind.set_params(checkpoint=path, callbacks=[stop], max_iter=4)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with contextlib.suppress(_Stop):
                    model.fit(X, y)
            checkpoints[name] = _content(path), (kind, X, y)
    finally:
        checkpoint.EVERY, checkpoint.SHARE = every
    return checkpoints


class _Stop(Exception):
    """Ends a training from a callback."""


def _no_limits(**limits: object) -> contextlib.AbstractContextManager[None]:
    return contextlib.nullcontext()


def _unlimited() -> contextlib.AbstractContextManager[Any]:
    """Leave BLAS its threads: searching for its libraries takes longer than the models."""
    return mock.patch("threadpoolctl.threadpool_limits", _no_limits)


def _load(seeds: Callable[[], dict[str, tuple[Content, Any]]]) -> Callable[[Forged], None]:
    def read(forged: Forged) -> None:
        """Load a file, and predict if it loads; both may be refused."""
        with _unlimited(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = from_container("input", forged.description, forged.tensors)
            inputs = seeds()[forged.origin][1]
            with contextlib.suppress(ValueError, TimeoutError):  # a limit may be forged
                model(inputs) if isinstance(inputs, str) else model.predict(inputs)

    return read


def _checkpoint(forged: Forged) -> None:
    whole = b"".join(bytes(p) for p in container_pieces(forged.description, forged.tensors))
    path = memory_file(whole, ".checkpoint")
    checkpoint._read(path)  # like training, which would read the examples first
    kind, X, y = _checkpoints()[forged.origin][1]
    with _unlimited(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            kind.set_params(checkpoint=path, callbacks=None).fit(X, y)
        except InfeasibleError:
            pass
        except ValueError as error:  # forged weights may be enormous
            if "the loss became" not in str(error):
                raise


def file_targets() -> dict[str, Callable[[], Target]]:
    """Return the readers of binary files by name; seeds are made on demand."""

    def forged(name: str, seeds: Any, read: Any) -> Target:
        contents = seeds()
        # A pipeline consists of models that are targets themselves, and takes as long as all of
        # them.
        names = [name for name in sorted(contents) for _ in range(1 if name == "pipeline" else 4)]

        def make(rng: random.Random) -> Forged:
            origin = rng.choice(names)
            return _forge(rng, origin, contents[origin][0])

        return Target(name, make, read)

    def mutation(name: str, seeds: list[bytes], read: Any, *more: type[Exception]) -> Target:
        every = [*seeds, *seeds_of(name)]
        return Target(name, lambda rng: mutated(rng, every), read, (FileError, *more))

    def foreign(name: str, make: Callable[[random.Random], bytes], read: Any) -> Target:
        refusals = FileError, ValueError, CapabilityError
        return Target(name, make, binaries.read_foreign(read), refusals)

    names_seeds = seeds_of("class_names")
    return {
        "labelled": lambda: mutation("labelled", labelled.seeds(), labelled.label),
        "annotated": lambda: Target(
            "annotated", lambda rng: mutated(rng, labelled.RUNNING, 600), labelled.annotate
        ),
        "containers": lambda: Target(
            "containers",
            binaries.with_checksum(binaries.small_containers()),
            binaries.read_container,
        ),
        "estimators": lambda: forged("estimators", _estimators, _load(_estimators)),
        "task_models": lambda: forged("task_models", _tasks, _load(_tasks)),
        "checkpoints": lambda: forged("checkpoints", _checkpoints, _checkpoint),
        "crfsuite": lambda: Target(
            "crfsuite",
            binaries.changed_words(binaries.crfsuite_seeds()),
            binaries.read_crfsuite_model,
            (FileError, ValueError),
        ),
        "wapiti": lambda: foreign(
            "wapiti", binaries.wapiti_models(binaries.wapiti_seeds()), read_wapiti
        ),
        "crfpp_text": lambda: foreign(
            "crfpp_text", binaries.crfpp_models("text", binaries.crfpp_seeds("text")), read_crfpp
        ),
        "crfpp_binary": lambda: foreign(
            "crfpp_binary",
            binaries.crfpp_models("binary", binaries.crfpp_seeds("binary")),
            read_crfpp,
        ),
        "masks": lambda: Target(
            "masks", binaries.with_crc(binaries.pictures()), binaries.read_mask_file
        ),
        "images": lambda: Target(
            "images", binaries.with_crc(binaries.pictures()), binaries.read_picture
        ),
        "class_names": lambda: mutation(
            "class_names", names_seeds, lambda data: read_names(memory_file(data))
        ),
    }
