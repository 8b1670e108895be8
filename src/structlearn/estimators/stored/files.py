"""``save`` and ``load`` of every estimator over arrays."""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from typing import Any, TypeVar

from sklearn.utils.validation import check_is_fitted

from ...exceptions import FileError
from ...io.container import (
    Tensor,
    kind_of_file,
    read_container,
    refused_as_file,
    write_container,
)
from .kinds import Unstorable
from .values import Reader, Writer

__all__ = ["StoredEstimator"]

Estimator = TypeVar("Estimator", bound="StoredEstimator")


class StoredEstimator:
    """An estimator with a file format: a subclass says what it has learned, and takes it back.

    It gives ``_learned(writer)`` and ``_relearn(description, reader)``.
    """

    def _learned(self, writer: Writer) -> tuple[dict[str, Any], list[str]]:
        """Return what was learned, as entries of the description, and what was left out."""
        raise AssertionError

    def _relearn(self, description: dict[str, Any], reader: Reader) -> None:
        """Take back what :meth:`_learned` has given, all of it or nothing."""
        raise AssertionError

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file: one safetensors file, without pickle.

        It holds the parameters and what was learned: labels, structure, vocabularies, weights,
        history, and where an online learner stopped, so that ``partial_fit`` goes on bit for bit.
        Two equal fits give the same bytes; therefore times (``seconds`` of ``history_``) are not in
        it. Not in it either are the working states of other solvers: after loading, ``warm_start``
        begins at the weights, and there is no ``rounds_``.

        Parameters that a file cannot hold (callbacks, solvers and costs of your own, functions,
        random generators) are left out, with a warning, and are their defaults after loading. A
        structure of your own is not stored either: ``load`` takes it.

        Parameters
        ----------
        path : str or path
            The file; one that is there is replaced once the new one is whole.
        """
        check_is_fitted(self)
        description, tensors, left_out = self._content()
        if left_out:
            warnings.warn(
                f"{os.fspath(path)}: files cannot store {', '.join(left_out)}; left out",
                UserWarning,
                stacklevel=2,
            )
        write_container(path, description, tensors)

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor], list[str]]:
        """Return the description, the arrays, and what was left out."""
        self._check_parameters()
        writer = Writer()
        parameters, left_out = write_parameters(self, writer)
        try:
            learned, more = self._learned(writer)
        except Unstorable as error:
            kind = type(self).__name__
            raise ValueError(f"this {kind} cannot be saved: files cannot store {error}") from None
        description = {
            "task": "estimator",
            "class": type(self).__name__,
            "parameters": parameters,
            **learned,
        }
        return description, writer.tensors, [*left_out, *more]

    @classmethod
    def load(
        cls: type[Estimator], path: str | os.PathLike[str], *, structure: Any = None
    ) -> Estimator:
        """Read a model that :meth:`save` has written; it predicts as the one that was saved.

        Parameters
        ----------
        structure : Structure, optional
            Of a model that was fitted with a structure of your own: that structure, which is not
            stored.

        Raises
        ------
        FileError
            Where the file is missing, damaged, or of another class.
        """
        return cls.from_container(os.fspath(path), *read_container(path), structure)

    @classmethod
    def from_container(
        cls: type[Estimator],
        name: str,
        description: dict[str, Any],
        tensors: dict[str, Tensor],
        structure: Any = None,
    ) -> Estimator:
        """Return the estimator of a file that has been read already; ``name`` is for messages."""
        wanted = cls.__name__
        stored = description.get("class")
        if description.get("task") != "estimator":
            raise FileError(name, f"{kind_of_file(description)}, not of {wanted!r}")
        if cls is not StoredEstimator and stored != wanted:
            raise FileError(
                name, f"{kind_of_file(description)}, not of {wanted!r}; structlearn.load reads both"
            )
        reader = Reader(name, tensors, structure)
        with refused_as_file(name):
            kind = None if cls is StoredEstimator else cls
            estimator: Estimator = read_estimator(description, reader, kind)
            estimator._relearn(description, reader)
            reader.finish()
        return estimator


# -- parameters -----------------------------------------------------------------------------------


#: Parameters that say how a model is made, not what it becomes: equal models are equal files.
_PASSING = ("n_jobs", "checkpoint", "verbose")


def write_estimator(estimator: Any, writer: Writer) -> tuple[dict[str, Any], list[str]]:
    """Return class and parameters of an estimator of the library, and what was left out."""
    kind = type(estimator)
    if getattr(import_module("structlearn.estimators"), kind.__name__, None) is not kind:
        raise Unstorable(f"a {kind.__name__}")
    parameters, left_out = write_parameters(estimator, writer)
    return {"$": "estimator", "class": kind.__name__, "parameters": parameters}, left_out


def write_parameters(estimator: Any, writer: Writer) -> tuple[dict[str, Any], list[str]]:
    """Return the parameters that a file can hold, and what the others are."""
    found: dict[str, Any] = {}
    left_out: list[str] = []
    for name, value in sorted(estimator.get_params(deep=False).items()):
        if name in _PASSING:
            continue
        try:
            with writer.whole_or_nothing():
                if isinstance(value, StoredEstimator):
                    found[name], more = write_estimator(value, writer)
                    left_out += [f"{name}__{one}" for one in more]
                else:
                    found[name] = writer.value(value)
        except Unstorable as error:
            left_out.append(f"{name} ({error})")
    return found, left_out


def read_estimator(d: dict[str, Any], reader: Reader, kind: type[Any] | None = None) -> Any:
    """Return an estimator that has learned nothing; parameters left out have their defaults.

    Parameters
    ----------
    d : dict
        With its class and its parameters.
    kind : class, optional
        Instead of the class of that name in the library.
    """
    if kind is None:
        kind = _library_class(reader.name, d["class"])
    parameters = {}
    for name, value in d["parameters"].items():
        nested = isinstance(value, dict) and value.get("$") == "estimator"
        parameters[name] = read_estimator(value, reader) if nested else reader.value(value)
    estimator = kind(**parameters)
    estimator._check_parameters()
    return estimator


def _library_class(name: str, stored: Any) -> type[Any]:
    home = import_module("structlearn.estimators")
    known = isinstance(stored, str) and stored in home.__all__
    kind = getattr(home, stored) if known else None
    if not (isinstance(kind, type) and issubclass(kind, StoredEstimator)):
        raise FileError(
            name,
            f"the model of {stored!r}, a class that structlearn does not have; if it is yours, "
            "load of that class reads the file",
        )
    return kind
