"""Feature templates in model files, with their phrases, vectors and lexica."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .. import _core
from ..text.templates import FeatureTemplates
from .container import Tensor

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
    templates.lexica = _core.stored_lexica(d["lexica"], tensors)
    vectors = _core.stored_vectors(d["vectors"], tensors)
    templates.vectors = {
        name: (words, tensors[key].data, width) for name, (words, key, width) in vectors.items()
    }
    return templates
