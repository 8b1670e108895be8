"""Models in files: what is the same for every task."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from ..exceptions import FileError
from .container import (
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

    Model = TypeVar("Model", bound="StoredModel")

__all__ = ["RoundedModel", "StoredModel", "stored_temperature"]


class StoredModel:
    """A model with a file format: a subclass says what a file holds, and builds itself from it.

    It gives ``_content()`` and the class method ``_build()``. What files hold is what is pickled.
    """

    #: The task, as files name it,
    task: str
    #: what a model of it is called in messages,
    called: str
    #: and whether its templates may call functions, which are not stored.
    calls_functions = False

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return what a file holds: the description, with its "task", and the arrays."""
        raise AssertionError

    @classmethod
    def _build(
        cls: type[Model],
        name: str,
        d: dict[str, Any],
        tensors: dict[str, Tensor],
        functions: Mapping[str, Callable[[str], Any]] | None,
    ) -> Model:
        """Return the model of a file's content; what is wrong with it raises anything."""
        raise AssertionError

    def _functions(self) -> Mapping[str, Callable[[str], Any]] | None:
        """Return the functions that the templates call, which are not stored."""
        return None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file."""
        write_container(path, *self._content())

    @classmethod
    def load(
        cls: type[Model],
        path: str | os.PathLike[str],
        functions: Mapping[str, Callable[[str], Any]] | None = None,
    ) -> Model:
        """Map a model file and check it.

        Parameters
        ----------
        functions : dict of str to callable, optional
            What ``call(…)`` in the templates names: functions are not stored.
        """
        return cls.from_container(os.fspath(path), *read_container(path), functions)

    @classmethod
    def from_container(
        cls: type[Model],
        name: str,
        description: dict[str, Any],
        tensors: dict[str, Tensor],
        functions: Mapping[str, Callable[[str], Any]] | None = None,
    ) -> Model:
        """Return the model of a file that has been read already; ``name`` is for messages."""
        if description.get("task") != cls.task:
            raise FileError(name, f"{kind_of_file(description)}, not {cls.called}")
        if functions is not None and not cls.calls_functions:
            raise ValueError(f"{name}: {cls.called} calls no functions; load it without any")
        with refused_as_file(name):
            return cls._build(name, description, tensors, functions)

    def __reduce__(self) -> Any:
        # As in a file: native objects are made again. Functions go along as they are.
        content = b"".join(bytes(piece) for piece in container_pieces(*self._content()))
        return _unpickle, (type(self), content, self._functions())


class RoundedModel(StoredModel):
    """A model whose weights files hold in 32, 16 or 8 bits.

    Attributes
    ----------
    precision : {"float32", "float16", "int8"}
        Of the file that it was read from; of a trained model what suits its kind.
    """

    precision = "float32"

    def save(self, path: str | os.PathLike[str], precision: str | None = None) -> None:
        """Write the model file.

        Parameters
        ----------
        precision : {"float32", "float16", "int8"}, optional
            Of the weights; by default :attr:`precision`. A model that was read from a file is
            written as it came, byte for byte; "float32" loses nothing of any model.
        """
        write_container(path, *self._content(self.precision if precision is None else precision))

    def _content(self, precision: str = "float32") -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return what a file holds; without rounding by default."""
        raise AssertionError

    def __reduce__(self) -> Any:
        return (*super().__reduce__(), {"precision": self.precision})


def _unpickle(kind: type[Model], content: bytes, functions: Any) -> Model:
    name = "the pickled model"
    return kind.from_container(name, *parse_container(name, memoryview(content)), functions)


def stored_temperature(training: dict[str, Any]) -> float | None:
    """Return the temperature of a model's probabilities by what is told of its training.

    That of a dev set, else 1 where a log loss was minimised; None: they are not calibrated.
    """
    found = training.get("temperature")
    if found is None:
        smooth = (training.get("learner_parameters") or {}).get("temperature")
        return 1.0 if training.get("learner") == "crf" or smooth else None
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise ValueError(f"a temperature of {found!r}")
    if not 0 < found < float("inf"):
        raise ValueError(f"a temperature of {found!r}")
    return float(found)
