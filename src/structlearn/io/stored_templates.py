"""Feature templates in model files, with their phrases, vectors and lexica."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .. import _core
from ..text.templates import FeatureTemplates
from .container import Tensor, check_dtype

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any


def stored_templates(templates: FeatureTemplates) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return the entries and tensors of a model file for its templates."""
    tensors: dict[str, Tensor] = {}
    # Sorted by name, as they will be read: descriptions are stored in the order of their keys.
    for number, (_, (words, values, width)) in enumerate(sorted(templates.vectors.items())):
        tensors[f"vectors.{number}"] = Tensor("F32", values, (len(words), width))
    for number, (_, lexicon) in enumerate(sorted(templates.lexica.items())):
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
    d: dict[str, Any],
    tensors: dict[str, Tensor],
    functions: Mapping[str, Callable[[str], Any]] | None,
) -> FeatureTemplates:
    """Return the templates of a model file; raise if anything is wrong with them."""
    templates = FeatureTemplates.from_json(d["templates"])
    templates.functions = dict(functions or {})
    templates.phrases = {
        name: [(list(words), str(label)) for words, label in phrases]
        for name, phrases in d["phrases"].items()
    }
    for number, (name, values) in enumerate(sorted(d["lexica"].items())):
        parts = [tensors[f"lexicon{number}.{part}"] for part in ("words", "value")]
        check_dtype(name, parts[0], "U64")
        check_dtype(name, parts[1], "U32")
        templates.lexica[name] = _core.Lexicon(parts[0].data, parts[1].data, list(map(str, values)))
    for number, (name, words) in enumerate(sorted(d["vectors"].items())):
        tensor = tensors[f"vectors.{number}"]
        assert tensor.shape is not None
        check_dtype(f"vectors.{number}", tensor, "F32")
        templates.vectors[name] = (list(words), tensor.data, tensor.shape[1])
    return templates
