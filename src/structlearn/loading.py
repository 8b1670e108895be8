"""Any model file: which class reads it, found by what its header says."""

from __future__ import annotations

import os
from importlib import import_module

from .exceptions import FileError
from .io.container import Tensor, kind_of_file, read_container

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

#: Task, as model files name it -> module and name of its class, imported when first needed.
TASKS = {
    "tagger": ("tasks.tagging.tagger", "Tagger"),
    "segments": ("tasks.segments.tagger", "SegmentTagger"),
    "parser": ("tasks.dependencies.parser", "DependencyParser"),
    "constituency": ("tasks.constituents.parser", "ConstituencyParser"),
    "words": ("tasks.words.segmenter", "WordSegmenter"),
    "word lattice": ("tasks.words.lattice", "LatticeSegmenter"),
    "pipeline": ("tasks.pipeline.pipeline", "Pipeline"),
    "segmenter": ("tasks.images.segmenter", "ImageSegmenter"),
    "chain": ("models.string_chain", "StringChain"),
    "estimator": ("estimators.stored.files", "StoredEstimator"),
}


def load(
    path: str | os.PathLike[str],
    *,
    functions: Mapping[str, Callable[[str], Any]] | None = None,
    structure: Any = None,
) -> Any:
    """Read any model file.

    Parameters
    ----------
    path : str or path
        What ``save`` of an estimator, a tagger, a parser or a segmenter has written; or the name of
        a package of ours that holds a model: "english" is ``english.model`` of
        ``structlearn_english``.
    functions : dict of str to callable, optional
        What ``call(…)`` in the feature templates of a tagger names: functions are not stored.
    structure : Structure, optional
        The structure of an estimator that was fitted with one of your own, which is not stored.

    Returns
    -------
    object
        Of the class that was saved, ready to predict: :class:`~structlearn.estimators.CRF`,
        :class:`~structlearn.tasks.Tagger`, …

    Raises
    ------
    FileError
        Where the file is missing, damaged, or not a model.

    Examples
    --------
    >>> import os, tempfile
    >>> from structlearn import CRF, load
    >>> crf = CRF().fit([[["w=fish"], ["w=sleep"]]], [["N", "V"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "tags.model")
    ...     crf.save(path)
    ...     load(path).predict([[["w=fish"], ["w=sleep"]]])
    [array(['N', 'V'], dtype='<U1')]
    """
    name = model_file(path)
    return from_container(name, *read_container(name), functions=functions, structure=structure)


def model_file(path: str | os.PathLike[str]) -> str:
    """Return the file that a path, or the name of an installed package of ours, stands for."""
    name = os.fspath(path)
    if not isinstance(path, str) or not name.isidentifier() or os.path.exists(name):
        return name
    from importlib.util import find_spec

    spec = find_spec(f"structlearn_{name}")
    if spec is None or not spec.submodule_search_locations:
        advice = (
            "the English one is in the source of structlearn: pip install ./models/english"
            if name == "english"
            else "train one: structlearn train pipeline, from a treebank of the language"
        )
        raise FileError(
            name,
            f"there is no such file, and no package structlearn_{name} is installed ({advice})",
        )
    return os.path.join(spec.submodule_search_locations[0], f"{name}.model")


def from_container(
    name: str, description: dict[str, Any], tensors: dict[str, Tensor], **given: Any
) -> Any:
    """Return the object of a model file that has been read already.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    given : dict
        What files do not hold: ``functions`` of tasks, ``structure`` of estimators.
    """
    task = description.get("task")
    if not isinstance(task, str) or task not in TASKS:
        raise FileError(
            name, f"{kind_of_file(description)}, which this version of structlearn cannot load"
        )
    try:
        home = class_of(task)
    except ModuleNotFoundError as error:
        if task != "estimator":
            raise
        raise ModuleNotFoundError(
            f"{name} is {kind_of_file(description)}, an estimator, which needs {error.name}: pip "
            "install structlearn. A chain over strings or dictionaries can do without: there, save "
            "model.to_chain() instead",
            name=error.name,
        ) from None
    return home.from_container(name, description, tensors, **given)


def class_of(task: str) -> Any:
    """Return the class of a task."""
    module, kind = TASKS[task]
    return getattr(import_module(f".{module}", __package__), kind)
