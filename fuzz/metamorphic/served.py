"""Relations on served models: a server's answers are the library's."""

from __future__ import annotations

import asyncio
import json
import math
import tempfile
import warnings
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import starlette  # noqa: F401 - the relation is left out where it is not installed

from fuzz.metamorphic.answers import Different, demand_same
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.subjects import PIPELINES, TEXT_TASKS, Subject
from structlearn.exceptions import CapabilityError
from structlearn.serve import Settings, make_app
from structlearn.serve.answers import plain
from structlearn.text.answers import as_json

__all__: list[str] = []

Rng = np.random.Generator
NAME = "asked"


@asynccontextmanager
async def _served(app: Any) -> Any:
    """Start and end an application like a server."""
    events: asyncio.Queue[Any] = asyncio.Queue()
    replies: asyncio.Queue[Any] = asyncio.Queue()
    running = asyncio.create_task(app({"type": "lifespan"}, events.get, replies.put))
    for step in ("startup", "shutdown"):
        await events.put({"type": f"lifespan.{step}"})
        answer = await replies.get()
        if answer["type"] != f"lifespan.{step}.complete":
            raise Different(f"{step}: {answer}")
        if step == "startup":
            yield
    await running


async def _post(app: Any, path: str, body: Any, size: int) -> tuple[int, Any]:
    """Return the status and content of the response to a request with its body in pieces."""
    content = json.dumps(body).encode()
    pieces = [content[i : i + size] for i in range(0, len(content), size)]
    head, parts = 0, b""

    async def receive() -> Any:
        piece = pieces.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    async def send(message: Any) -> None:
        nonlocal head, parts
        head = message.get("status", head)
        parts += message.get("body", b"")

    headers = {"host": "localhost", "content-type": "application/json",
               "content-length": str(len(content))}  # fmt: skip
    scope = {
        "type": "http", "method": "POST", "path": path, "query_string": b"", "root_path": "",
        "headers": [(k.encode(), v.encode()) for k, v in headers.items()],
        "client": ("127.0.0.1", 1), "scheme": "http", "http_version": "1.1",
    }  # fmt: skip
    await app(scope, receive, send)
    return head, json.loads(parts)


async def _answers(path: Path, questions: list[tuple[str, Any]], size: int) -> list[Any]:
    """Ask all questions at the same time."""
    app = make_app(Settings({NAME: str(path)}, queue=len(questions), threads=2, access_log=False))
    async with _served(app):
        requests = (_post(app, where, body, size) for where, body in questions)
        return list(await asyncio.gather(*requests))


def _expected(model: Any, X: list[Any], confidence: bool, kbest: int) -> dict[str, Any]:
    """Return the library's answers as JSON values."""
    response: dict[str, Any] = {"outputs": [plain(y) for y in model.predict(X)]}
    if confidence:
        response["confidence"] = [[as_json(float(p)) for p in row] for row in model.confidence(X)]
    if kbest:
        response["kbest"] = [
            [{"score": s if math.isfinite(s) else None, "output": plain(y)} for s, y in ranked]
            for ranked in model.predict_kbest(X, kbest)
        ]
    parsed: dict[str, Any] = json.loads(json.dumps(response))
    return parsed


@relation("server", {**TEXT_TASKS, **PIPELINES})
def server(subject: Subject, rng: Rng) -> None:
    """A server's answers to simultaneous requests are those of its model."""
    import structlearn

    is_pipeline = subject.name in PIPELINES
    questions: list[tuple[str, Any]] = []
    expected: list[Any] = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, "asked.model")
        subject.fitted(rng).save(path)
        model = structlearn.load(path)
        for _ in range(int(rng.integers(1, 5))):
            X = [list(x) for x in subject.inputs(rng, int(rng.integers(0, 4)))]
            confidence = not is_pipeline and rng.random() < 0.5
            kbest = int(rng.choice((0, 0, 1, 3)))
            try:
                expected.append(_expected(model, X, confidence, kbest))
            except (CapabilityError, ValueError):
                continue  # refused by the library too
            body = {"inputs": X, "confidence": confidence, "kbest": kbest}
            questions.append(("/v1/predict", body))
            if is_pipeline:
                texts = [" ".join(words) for words in X]
                questions.append(("/v1/annotate", {"texts": texts}))
                docs = [model(text).to_dict() for text in texts]
                expected.append(json.loads(json.dumps({"docs": docs})))
        if not questions:
            return
        size = int(rng.choice((7, 100, 1 << 16)))
        answers = asyncio.run(_answers(path, questions, size))
    for (where, body), wanted, (status, response) in zip(questions, expected, answers, strict=True):
        if status != 200:
            raise Different(f"{where} {body}: {status}, {response}")
        demand_same(f"{where} {body}", wanted, {name: response.get(name) for name in wanted})
