"""What requests ask, read from JSON: every value checked, every size bounded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .refusals import Refused
from .registry import Held, Registry

#: Of annotated text.
FORMATS = ("json", "conllu", "html", "text")
#: Inputs of a request, and outputs of each.
MOST_INPUTS, MOST_BEST = 10_000, 100
#: Words of a sentence: the time that trees take grows faster than sentences do.
MOST_WORDS = {"parser": 1000, "pipeline": 1000, "constituency": 250}
#: Keys of a request, by what it asks for.
_KEYS = {
    "predict": ("model", "input", "inputs", "confidence", "kbest"),
    "annotate": ("model", "text", "texts", "confidence", "kbest", "format"),
}


@dataclass(frozen=True)
class Query:
    """A question about some inputs, to one version of a model.

    Attributes
    ----------
    held : Held
        The model.
    kind : {"predict", "annotate"}
    inputs : list
        Sentences of tokens, or texts.
    confidence : bool
        Whether probabilities are asked for.
    kbest : int
        Outputs of each input, best first; 0: the best one alone.
    format : str
        Of annotated text.
    """

    held: Held
    kind: str
    inputs: list[Any]
    confidence: bool = False
    kbest: int = 0
    format: str = "json"

    @property
    def question(self) -> tuple[Any, ...]:
        """What it asks; queries with the same question can be answered together."""
        texts = bool(self.inputs) and type(self.inputs[0]) is str
        return self.held, self.kind, self.confidence, self.kbest, self.format, texts

    @property
    def size(self) -> int:
        """Tokens or characters, about."""
        return sum(map(len, self.inputs)) + len(self.inputs)


def read_query(kind: str, body: bytes, registry: Registry) -> Query:
    """Return the query in the body of a request."""
    values = _object(body)
    for key in values:
        if key not in _KEYS[kind]:
            raise Refused(422, f"there is no {key!r:.80}; there are {', '.join(_KEYS[kind])}")
    name = values.get("model")
    if name is not None and not isinstance(name, str):
        raise Refused(422, "model must be the name of a model")
    held = registry.get(name)
    if kind == "annotate" and held.task != "pipeline":
        raise Refused(
            422,
            f"{held.name} is a {type(held.model).__name__}, which annotates no running text: POST "
            "/v1/predict takes sentences of tokens",
        )
    one, many = ("input", "inputs") if kind == "predict" else ("text", "texts")
    check = _check_sentence if kind == "predict" else _check_text
    query = Query(
        held,
        kind,
        _inputs(values, one, many),
        _flag(values, "confidence"),
        _whole(values, "kbest", MOST_BEST),
        _choice(values, "format", FORMATS),
    )
    for number, given in enumerate(query.inputs):
        check(f"{one} {number}", given, held)
    if len({type(given) is str for given in query.inputs}) > 1:
        raise Refused(422, "the inputs are all texts, or all lists of tokens")
    if query.kbest and any(type(given) is str for given in query.inputs) and kind == "predict":
        raise Refused(422, "the best spans alone are found in texts: leave out kbest")
    if query.format != "json" and query.kbest:
        raise Refused(422, "the n best trees are given as JSON alone: leave out format, or kbest")
    if query.confidence and held.task == "pipeline" and kind == "predict":
        raise Refused(422, "POST /v1/annotate gives the confidences of a pipeline")
    return query


def _object(body: bytes) -> dict[str, Any]:
    """Return the object that a body holds."""
    try:
        values = json.loads(body.decode(), parse_constant=_no_number)
    except UnicodeDecodeError:
        raise Refused(400, "the body is not in UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"the body is not JSON: {error}") from None
    if not isinstance(values, dict):
        raise Refused(422, "the body must be a JSON object")
    return values


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _inputs(values: dict[str, Any], one: str, many: str) -> list[Any]:
    if (one in values) == (many in values):
        raise Refused(422, f"the body must have either {one} or {many}")
    if one in values:
        return [values[one]]
    inputs = values[many]
    if not isinstance(inputs, list):
        raise Refused(422, f"{many} must be a list")
    if len(inputs) > MOST_INPUTS:
        raise Refused(422, f"there are {len(inputs):,} {many}; the limit is {MOST_INPUTS:,}")
    return inputs


def _flag(values: dict[str, Any], key: str) -> bool:
    value = values.get(key, False)
    if not isinstance(value, bool):
        raise Refused(422, f"{key} must be true or false")
    return value


def _whole(values: dict[str, Any], key: str, most: int) -> int:
    value = values.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise Refused(422, f"{key} must be a whole number from 0 to {most}")
    return value


def _choice(values: dict[str, Any], key: str, known: Sequence[str]) -> str:
    value = values.get(key, known[0])
    if value not in known:
        raise Refused(422, f"{key} must be one of {', '.join(known)}")
    return str(value)


def _check_text(where: str, text: Any, held: Held) -> None:
    if not isinstance(text, str):
        raise Refused(422, f"{where} must be a text")


def _check_sentence(where: str, sentence: Any, held: Held) -> None:
    """Refuse what is not a sentence of tokens; estimators check their tokens themselves.

    Taggers take texts, too: their answers are spans.
    """
    if isinstance(sentence, str) and held.task in ("tagger", "segments"):
        return
    if not isinstance(sentence, list):
        raise Refused(422, f"{where} must be a list of tokens")
    most = MOST_WORDS.get(held.task)
    if most is not None and len(sentence) > most:
        raise Refused(
            422, f"{where} has {len(sentence):,} tokens; the limit of this model is {most:,}"
        )
    if held.task == "estimator":
        return
    for token in sentence:
        cells = token if isinstance(token, list) else [token]
        if not cells or not all(isinstance(cell, str) for cell in cells):
            raise Refused(422, f"{where}: a token is a string, or a list of strings: its columns")
