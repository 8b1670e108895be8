"""Feature templates in model files, with the phrases, vectors and lexica that belong to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from .. import _core
from ..exceptions import FileError, MissingFunctionError
from ..io.container import Tensor
from ..text.templates import FeatureTemplates

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any, TypeVar

    Templates = TypeVar("Templates", bound=FeatureTemplates)

__all__ = ["check_dtype", "read_templates", "refused_as_file", "stored_templates"]


def stored_templates(templates: FeatureTemplates) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return what a model file says of its templates: entries of the description, and tensors."""
    tensors: dict[str, Tensor] = {}
    for number, (words, values, width) in enumerate(templates.vectors.values()):
        tensors[f"vectors.{number}"] = Tensor("F32", values, (len(words), width))
    for number, lexicon in enumerate(templates.lexica.values()):
        tensors[f"lexicon{number}.words"] = Tensor("U64", lexicon.words)
        tensors[f"lexicon{number}.value"] = Tensor("U32", lexicon.value)
    description = {
        "templates": templates.to_json(),
        "phrases": templates.phrases,
        "vectors": {name: words for name, (words, _, _) in templates.vectors.items()},
        "lexica": {name: x.names for name, x in templates.lexica.items()},
    }
    return description, tensors


def read_templates(
    kind: type[Templates],
    d: dict[str, Any],
    tensors: dict[str, Tensor],
    functions: Mapping[str, Callable[[str], Any]] | None,
) -> Templates:
    """Return the templates of a model file; what is wrong with them raises."""
    templates: Any = kind.from_json(d["templates"])
    templates.functions = dict(functions or {})
    templates.phrases = {
        name: [(list(words), str(label)) for words, label in phrases]
        for name, phrases in d["phrases"].items()
    }
    for number, (name, values) in enumerate(d["lexica"].items()):
        parts = [tensors[f"lexicon{number}.{part}"] for part in ("words", "value")]
        check_dtype(name, parts[0], "U64")
        check_dtype(name, parts[1], "U32")
        templates.lexica[name] = _core.Lexicon(parts[0].data, parts[1].data, list(map(str, values)))
    for number, (name, words) in enumerate(d["vectors"].items()):
        tensor = tensors[f"vectors.{number}"]
        assert tensor.shape is not None
        check_dtype(f"vectors.{number}", tensor, "F32")
        templates.vectors[name] = (list(words), tensor.data, tensor.shape[1])
    made: Templates = templates
    return made


@contextmanager
def refused_as_file(name: str) -> Iterator[None]:
    """Turn whatever the content of a model file makes go wrong into an error that names it."""
    try:
        yield
    except MissingFunctionError:
        raise  # the user's to mend, not the file's
    except ValueError as error:
        raise FileError(name, f"the model cannot be used: {error}") from None
    except (KeyError, TypeError, IndexError, AttributeError, OverflowError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise FileError(name, f"the model cannot be used: {reason}") from None


def check_dtype(name: str, tensor: Tensor, expected: str) -> None:
    """Refuse an array of another type than the core reads it as."""
    if tensor.dtype != expected:
        raise ValueError(f"the array {name!r} is {tensor.dtype}, not {expected}")
