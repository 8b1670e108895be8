"""Scores on the command line, and those of pipelines from text."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import structlearn
from fuzz.metamorphic.answers import Different, demand_same
from fuzz.metamorphic.evaluation_models import POOL, TASKS, examples_of
from fuzz.metamorphic.oracles.ud_scores import ud_scores
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.subjects import PIPELINES, Subject
from structlearn.cli import run
from structlearn.tasks import ConstituencyParser, DependencyParser
from structlearn.text.surface import raw_text

__all__: list[str] = []

Rng = np.random.Generator


@functools.cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="structlearn-scores-"))


@functools.cache
def _stored(subject: Subject, number: int) -> tuple[Path, Any]:
    """Return a model file, and the model in it."""
    path = _folder() / f"{len(list(_folder().iterdir()))}.model"
    subject.drawn(number).fit().save(path)
    return path, structlearn.load(path)


def _gold_text(model: Any, examples: list[Any]) -> str:
    if isinstance(model, ConstituencyParser):
        return "".join(f"{tree}\n" for tree in examples)
    if isinstance(model, DependencyParser):
        rows = [
            [f"{i}\t{w}\t_\t_\t{t}\t_\t{h}\t{r}\t_\t_" for i, (w, t, h, r) in enumerate(x, 1)]
            for x in examples
        ]
    else:
        rows = [["\t".join(token) for token in x] for x in examples]
    return "".join("\n".join(lines) + "\n\n" for lines in rows)


@relation("evaluate: command line", TASKS, cost="fit")
def command_line(subject: Subject, rng: Rng) -> None:
    """`structlearn evaluate --json` prints what `evaluate` and `calibration` give."""
    path, model = _stored(subject, int(rng.integers(3)))
    examples = examples_of(subject, rng)
    gold = _folder() / ("gold.conllu" if isinstance(model, DependencyParser) else "gold.txt")
    gold.write_text(_gold_text(model, examples), encoding="utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()) as errors:
        code = run(["evaluate", str(path), str(gold), "--json"])
    if code:
        raise Different(f"exit code {code}: {errors.getvalue()[:300]}")
    figures = json.loads(printed.getvalue())
    expected = model.evaluate(gold)
    expected = {name: x for name, x in expected.items() if not name.endswith("per_second")}
    demand_same("evaluate --json", json.loads(json.dumps(expected)),
                {name: figures.get(name) for name in expected})  # fmt: skip
    certainty = model.calibration(gold)
    if certainty is not None:
        demand_same("calibration", certainty.error, figures["expected_calibration_error"])


# -- pipelines ----------------------------------------------------------------------------------


def _read_conllu(text: str) -> list[Any]:
    """Return sentences of tokens, each with its words, of CoNLL-U."""
    sentences = []
    for block in text.strip("\n").split("\n\n"):
        tokens: list[Any] = []
        last = 0
        for line in block.split("\n"):
            if line.startswith("#"):
                continue
            cells = line.split("\t")
            if "-" in cells[0]:
                last = int(cells[0].split("-")[1])
                tokens.append((cells[1], []))
            elif int(cells[0]) <= last:
                tokens[-1][1].append(cells)
            else:
                tokens.append((cells[1], [cells]))
        sentences.append(tokens)
    return sentences


@relation("evaluate: pipelines", PIPELINES, claim="to 1e-9", cost="fit")
def pipelines(subject: Subject, rng: Rng) -> None:
    """Scores from text are those of the CoNLL 2018 task, written apart."""
    from tests.tasks.pipeline.small_treebank import conllu, treebank

    model = subject.fitted(rng, POOL)
    n, seed = int(rng.integers(1, 4)), int(rng.integers(200))
    corpus, gold = treebank(n, random_state=seed), _read_conllu(conllu(n, random_state=seed))
    doc = model(raw_text(corpus))
    figures = model.evaluate(corpus)
    for name, counts in ud_scores(gold, _read_conllu(doc.to_conllu())).items():
        numbers = [figures[name][key] for key in ("correct", "gold", "predicted")]
        demand_same(name, list(counts), numbers)
    demand_same("score", figures["las"]["f1"], model.score(corpus))
