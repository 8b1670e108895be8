"""Storage: a header and arrays in one file, for estimators, tasks and their models alike.

A model inside a model is an entry of the header, and a prefix of the names of its arrays.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from ..exceptions import FileError
from ..io.container import (
    Tensor,
    container_pieces,
    kind_of_file,
    parse_container,
    read_container,
    refused_as_file,
    write_container,
)

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any, TypeVar

    Kind = TypeVar("Kind", bound="Stored")
    Model = TypeVar("Model", bound="StoredModel")
    Task = TypeVar("Task", bound="StoredTask")
    Content = tuple[dict[str, Any], dict[str, Tensor]]


class Stored:
    """Something with a file format: a subclass says what a file holds, and is built from that.

    It gives ``_content()`` and the class method ``_build()``.
    """

    #: The task, as files name it,
    task: str
    #: what messages call something of this kind,
    called: str
    #: and what files do not hold but ``load`` takes: "functions" or "structure".
    takes: tuple[str, ...] = ()

    def _content(self) -> Content:
        """Return what a file holds: the description, with its "task", and the arrays."""
        raise AssertionError

    @classmethod
    def _build(
        cls: type[Kind],
        name: str,
        d: dict[str, Any],
        tensors: dict[str, Tensor],
        given: dict[str, Any],
    ) -> Kind:
        """Return what a file describes; what is wrong with it raises anything.

        ``tensors`` is a dictionary that may be changed, ``given`` has what was given of ``takes``.
        """
        raise AssertionError

    @classmethod
    def _check_kind(cls, name: str, description: dict[str, Any]) -> None:
        """Refuse the file of something else."""
        if description.get("task") != cls.task:
            raise FileError(name, f"{kind_of_file(description)}, not {cls.called}")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file; one that is there is replaced once the new one is whole."""
        write_container(path, *self._content())

    def to_bytes(self) -> bytes:
        """Return the content of a file, without rounding."""
        return b"".join(bytes(piece) for piece in container_pieces(*self._content()))

    @classmethod
    def load(
        cls: type[Kind],
        path: str | os.PathLike[str],
        *,
        functions: Mapping[str, Callable[[str], Any]] | None = None,
        structure: Any = None,
    ) -> Kind:
        """Read what ``save`` has written; it predicts as what was saved.

        Parameters
        ----------
        functions : dict of str to callable, optional
            What ``call(…)`` in the feature templates of a tagger names: functions are not stored.
        structure : Structure, optional
            Of an estimator that was fitted with a structure of your own: that structure, which is
            not stored.

        Raises
        ------
        FileError
            Where the file is missing, damaged, or of another kind.
        """
        content = read_container(path)
        return cls.from_container(
            os.fspath(path), *content, functions=functions, structure=structure
        )

    @classmethod
    def from_container(
        cls: type[Kind],
        name: str,
        description: dict[str, Any],
        tensors: dict[str, Tensor],
        **given: Any,
    ) -> Kind:
        """Return what a file describes that has been read already.

        Parameters
        ----------
        name : str
            Of the file, for messages.
        given : dict
            As ``load`` takes it.
        """
        cls._check_kind(name, description)
        given = {key: value for key, value in given.items() if value is not None}
        unused = [key for key in given if key not in cls.takes]
        if unused:
            raise ValueError(
                f"{name}: {kind_of_file(description)} takes no {unused[0]}; load it without"
            )
        with refused_as_file(name):
            return cls._build(name, description, dict(tensors), given)


class StoredModel(Stored):
    """The model of a task. What files hold is what is pickled, without rounding.

    Attributes
    ----------
    precision : {"float32", "float16", "int8"} or None
        Of the weights in files: that of the file it was read from, and what suits its kind if it
        was trained. None: the kind has no choice.
    """

    precision: str | None = None

    def _content(self, precision: str = "float32") -> Content:
        """Return what a file holds; without rounding by default."""
        raise AssertionError

    def _given(self) -> dict[str, Any]:
        """Return what ``load`` takes beside the file."""
        return {}

    def save(self, path: str | os.PathLike[str], precision: str | None = None) -> None:
        """Write the model file.

        Parameters
        ----------
        precision : {"float32", "float16", "int8"}, optional
            Of the weights; by default :attr:`precision`. A model that was read from a file is
            written as it came, byte for byte; "float32" loses nothing of any model.
        """
        if precision is None:
            precision = self.precision
        elif self.precision is None:
            raise ValueError(
                f"models of the task {self.task!r} have weights of one precision; save them "
                "without precision"
            )
        write_container(path, *(self._content() if precision is None else self._content(precision)))

    def __reduce__(self) -> Any:
        # As in a file: native objects are made again. Functions go along as they are.
        arguments = (type(self), self.to_bytes(), self._given())
        return _unpickle, arguments, {"precision": self.precision}


def _unpickle(kind: type[Model], content: bytes, given: dict[str, Any]) -> Model:
    name = "the pickled model"
    return kind.from_container(name, *parse_container(name, memoryview(content)), **given)


class StoredTask(Stored):
    """A task, which is stored as its model is; the class method ``from_model()`` makes it again.

    Attributes
    ----------
    model_ : StoredModel
        What was learned.
    """

    model_: Any
    #: The class of ``model_``.
    _model_kind: type[StoredModel]

    @classmethod
    def from_model(cls: type[Task], model: Any) -> Task:
        """Return a task with this model; of its parameters those that the model file has."""
        raise AssertionError

    def _fitted(self) -> Any:
        """Return the model."""
        if not hasattr(self, "model_"):
            from ..exceptions import NotFittedError  # slow to import if it is scikit-learn's

            raise NotFittedError(
                f"this {type(self).__name__} has not learned anything yet: call fit, or load a "
                "model"
            )
        return self.model_

    def _content(self) -> Content:
        content: Content = self._fitted()._content()
        return content

    def save(self, path: str | os.PathLike[str], precision: str | None = None) -> None:
        """Write the model, all that it needs included, to one file.

        The same model gives the same bytes.

        Parameters
        ----------
        precision : {"float32", "float16", "int8"}, optional
            Of the weights of taggers, dependency parsers and pipelines: fewer bits make smaller
            files that take a little longer to load. By default "float32" for taggers, "float16"
            for the others, and for what was loaded the precision of its file: it is written as it
            came.
        """
        self._fitted().save(path, precision)

    @classmethod
    def from_container(
        cls: type[Task],
        name: str,
        description: dict[str, Any],
        tensors: dict[str, Tensor],
        **given: Any,
    ) -> Task:
        """Return the task of a model file that has been read already."""
        model = cls._model_kind.from_container(name, description, tensors, **given)
        with refused_as_file(name):
            task = cls.from_model(model)
        for key in model.takes:
            setattr(task, key, given.get(key))
        return task


# -- models inside models -------------------------------------------------------------------------


def put_inside(tensors: dict[str, Tensor], prefix: str, content: Content) -> dict[str, Any]:
    """Add what a file of a model would hold to the arrays of the model that it is a part of.

    Returns
    -------
    dict
        The description of the inner model, an entry of that of the outer one.
    """
    description, parts = content
    tensors.update({f"{prefix}.{name}": part for name, part in parts.items()})
    return description


def taken_out(
    tensors: dict[str, Tensor], prefix: str, name: str, description: Any, kind: type[Kind]
) -> Kind:
    """Return the model that :func:`put_inside` has put there; its arrays are taken away.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    description : dict
        What :func:`put_inside` returned.
    kind : class
        Of the inner model.
    """
    start = f"{prefix}."
    names = [key for key in tensors if key.startswith(start)]
    parts = {key.removeprefix(start): tensors.pop(key) for key in names}
    return kind.from_container(name, dict(description), parts)
