"""Models as bytes: what files hold is what is pickled."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from ..io.container import Tensor, container_pieces, parse_container, write_container

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

__all__ = ["StoredModel"]


class StoredModel:
    """A model with a file format: a subclass says what a file holds, and reads it again.

    It gives ``_content()`` and the class method ``from_container(name, description, tensors)``,
    which takes functions too where templates may call them.
    """

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return what a file holds: the description and the arrays."""
        raise AssertionError

    def _functions(self) -> Mapping[str, Callable[[str], Any]] | None:
        """Return functions that are not stored; None: the model has no place for any."""
        return None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file."""
        write_container(path, *self._content())

    def __reduce__(self) -> Any:
        # As in a file: native objects are made again. Functions go along as they are.
        content = b"".join(bytes(piece) for piece in container_pieces(*self._content()))
        return _unpickle, (type(self), content, self._functions())


def _unpickle(kind: Any, content: bytes, functions: Any) -> Any:
    name = "the pickled model"
    more = () if functions is None else (functions,)
    return kind.from_container(name, *parse_container(name, memoryview(content)), *more)
