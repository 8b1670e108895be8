"""``save`` and ``load`` of every estimator over arrays."""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from typing import Any, TypeVar

from sklearn.utils.validation import check_is_fitted

from ...exceptions import FileError
from ...fitting.kinds import KINDS, Unstorable
from ...fitting.values import Reader, Writer
from ...io.container import Tensor, kind_of_file, write_container
from ...models.storage import Stored
from .frames import FRAME_KINDS

Estimator = TypeVar("Estimator", bound="StoredEstimator")

_KINDS = {**KINDS, **FRAME_KINDS}
#: Parameters that affect how a model is trained, not the result: equal models make equal files.
_PASSING = ("n_jobs", "checkpoint", "verbose")


class StoredEstimator(Stored):
    """An estimator in a file: a subclass writes and restores its learned state.

    It defines ``_learned(writer)`` and ``_relearn(description, reader)``.
    """

    task = "estimator"
    takes = ("structure",)

    def _learned(self, writer: Writer) -> dict[str, Any]:
        """Return the learned state, as entries of the description."""
        raise AssertionError

    def _relearn(self, d: dict[str, Any], reader: Reader) -> None:
        """Restore the state from :meth:`_learned`, all of it or nothing."""
        raise AssertionError

    def _check_parameters(self) -> None:
        """Refuse invalid parameters."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file: one safetensors file, without pickle.

        It holds the parameters and what was learned: labels, structure, vocabularies, weights,
        history, and the state of an online learner, so that ``partial_fit`` continues bit for bit.
        Two equal fits give the same bytes; therefore times (``seconds`` of ``history_``) are left
        out. So are the working states of other solvers: after loading, ``warm_start`` begins at the
        weights, and there is no ``rounds_``.

        Parameters that a file cannot hold (callbacks, your own solvers and costs, functions, random
        generators) are left out, with a warning, and have their defaults after loading. Your own
        structure is not stored either: pass it to ``load``.

        Parameters
        ----------
        path : str or path
            The file; an existing one is replaced once the new one is complete.
        """
        writer = Writer(_KINDS)
        description = self._described(writer)
        if writer.left_out:
            left_out = ", ".join(dict.fromkeys(writer.left_out))
            warnings.warn(
                f"{os.fspath(path)}: files cannot store {left_out}; left out",
                UserWarning,
                stacklevel=2,
            )
        write_container(path, description, writer.tensors)

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        writer = Writer(_KINDS)
        return self._described(writer), writer.tensors

    def _described(self, writer: Writer) -> dict[str, Any]:
        """Return the description of a fitted estimator; its arrays go to the writer."""
        check_is_fitted(self)
        self._check_parameters()
        parameters = _parameters(self, writer)
        try:
            learned = self._learned(writer)
        except Unstorable as error:
            kind = type(self).__name__
            raise ValueError(f"this {kind} cannot be saved: files cannot store {error}") from None
        named = {"task": self.task, "class": type(self).__name__, "parameters": parameters}
        return {**named, **learned}

    @classmethod
    def _check_kind(cls, name: str, description: dict[str, Any]) -> None:
        stored, wanted = kind_of_file(description), cls.__name__
        if description.get("task") != cls.task:
            raise FileError(name, f"{stored}, not of {wanted!r}")
        if cls is not StoredEstimator and description.get("class") != wanted:
            raise FileError(name, f"{stored}, not of {wanted!r}; structlearn.load reads both")

    @classmethod
    def _build(
        cls: type[Estimator],
        name: str,
        d: dict[str, Any],
        tensors: dict[str, Tensor],
        given: dict[str, Any],
    ) -> Estimator:
        reader = Reader(name, tensors, given.get("structure"), _KINDS)
        kind = None if cls is StoredEstimator else cls
        estimator: Estimator = _unfitted(d, reader, kind)
        estimator._relearn(d, reader)
        reader.finish()
        return estimator


# -- parameters -----------------------------------------------------------------------------------


def _parameters(estimator: Any, writer: Writer, inside: str = "") -> dict[str, Any]:
    """Return the parameters that a file can hold; ``inside`` is the prefix of nested names."""
    stored: dict[str, Any] = {}
    for name, value in sorted(estimator.get_params(deep=False).items()):
        if name not in _PASSING:
            with writer.or_left_out(inside + name):
                if isinstance(value, StoredEstimator):
                    stored[name] = {
                        "$": "estimator",
                        "class": library_name(value),
                        "parameters": _parameters(value, writer, f"{inside}{name}__"),
                    }
                else:
                    stored[name] = writer.value(value)
    return stored


def library_name(estimator: StoredEstimator) -> str:
    """Return the name of a library class; other classes could not be found again by name."""
    kind = type(estimator)
    if getattr(import_module("structlearn.estimators"), kind.__name__, None) is not kind:
        raise Unstorable(f"a {kind.__name__}")
    return str(kind.__name__)


def _unfitted(d: dict[str, Any], reader: Reader, kind: type[Any] | None = None) -> Any:
    """Return an unfitted estimator; parameters not stored have their defaults."""
    if kind is None:
        kind = _library_class(reader.name, d["class"])
    parameters = {}
    for name, value in d["parameters"].items():
        nested = isinstance(value, dict) and value.get("$") == "estimator"
        parameters[name] = _unfitted(value, reader) if nested else reader.value(value)
    estimator = kind(**parameters)
    estimator._check_parameters()
    return estimator


def _library_class(name: str, stored: Any) -> type[Any]:
    home = import_module("structlearn.estimators")
    exists = isinstance(stored, str) and stored in home.__all__
    kind = getattr(home, stored) if exists else None
    if not (isinstance(kind, type) and issubclass(kind, StoredEstimator)):
        raise FileError(
            name,
            f"the model of {stored!r}, a class unknown to structlearn; if it is yours, "
            "load of that class reads the file",
        )
    return kind
