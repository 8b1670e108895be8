"""Relations on routes of scores: batches, threads and memory layouts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz.metamorphic.answers import Refusal, demand_same, plain
from fuzz.metamorphic.instances import STRUCTURES, Instance, attempt, draw_scores
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.twins import TEMPERATURES, demand_close, queries_of

__all__: list[str] = []

Rng = np.random.Generator
Subject = Callable[[Rng], Instance]
Parts = dict[str, Any]


def _question(rng: Rng, it: Instance) -> tuple[str, Callable[..., Any]]:
    """Return the name of a query and a function of scores and n_jobs."""
    names = queries_of(it.structure, it.scores)
    name = names[int(rng.integers(len(names)))]
    options: Parts = {}
    if name not in ("argmax", "solve", "kbest", "count"):
        options["temperature"] = float(rng.choice((0.0, *TEMPERATURES)))
        if name == "entropy":
            options["temperature"] = float(rng.choice(TEMPERATURES))
    arguments = (int(rng.integers(1, 6)),) if name == "kbest" else ()
    method = getattr(it.structure, name)

    def ask(scores: Parts, **jobs: Any) -> Any:
        return attempt(lambda: method(*arguments, **options, **jobs, **scores))

    return name, ask


def _plain(answer: Any) -> Any:
    """Return an answer as plain values; all fields of a solution."""
    if isinstance(answer, Refusal):
        return str(answer)
    if isinstance(answer, list) and answer and hasattr(answer[0], "bound"):
        return [_plain(item) for item in answer]
    if hasattr(answer, "bound"):
        return plain([answer.output, answer.value, answer.exact, answer.bound, answer.method])
    return plain(answer)


@relation("one example = a batch of structures", STRUCTURES)
def batches(subject: Subject, rng: Rng) -> None:
    """Several examples at once, on threads, and each by itself."""
    it = subject(rng)
    assert it.case is not None
    blocks = list(it.case.shapes)
    shared = {name for name in blocks[1:] if rng.random() < 0.5}
    examples = [it.scores]
    for _ in range(int(rng.integers(0, 4))):
        drawn = draw_scores(rng, it.case.shapes, symmetric=it.case.symmetric)
        examples.append({**it.scores, **drawn, **{name: it.scores[name] for name in shared}})
    name, ask = _question(rng, it)
    alone = [ask(example) for example in examples]
    together = {
        block: it.scores[block] if block in shared else [example[block] for example in examples]
        for block in it.scores
    }
    jobs = rng.choice((0, 1, 2, 3))
    batched = ask(together, **({"n_jobs": int(jobs)} if jobs else {}))
    refused = [answer for answer in alone if isinstance(answer, Refusal)]
    expected = str(refused[0]) if refused else [_plain(answer) for answer in alone]
    demand_same(name, expected, _plain(batched))


def _laid_out(rng: Rng, block: Any) -> Any:
    """Return the same numbers in another memory layout or type."""
    kind = int(rng.integers(7))
    if kind == 0:
        return np.asfortranarray(block)
    if kind == 1:
        wide = np.full(tuple(2 * n for n in block.shape), np.nan)
        view = wide[tuple(slice(None, None, 2) for _ in block.shape)]
        view[...] = block
        return view
    if kind == 2:
        back = tuple(slice(None, None, -1) for _ in block.shape)
        return np.ascontiguousarray(block[back])[back]
    if kind == 3:
        fixed = block.copy()
        fixed.setflags(write=False)
        return fixed
    if kind == 4:
        return block.astype(">f8")
    if kind == 5:
        return block.astype(np.float32)
    return block.astype(np.longdouble)


@relation("any layout of memory", STRUCTURES)
def layouts(subject: Subject, rng: Rng) -> None:
    """Strides, byte order and width of numbers change nothing, and arrays are not modified."""
    it = subject(rng)
    with np.errstate(over="ignore"):
        scores = {k: v.astype(np.float32).astype(np.float64) for k, v in it.scores.items()}
    other = {name: _laid_out(rng, block) for name, block in scores.items()}
    name, ask = _question(rng, it)
    demand_same(name, _plain(ask(scores)), _plain(ask(other)))
    for block, array in other.items():
        demand_same(f"{block} afterwards", plain(scores[block]), plain(array.astype(np.float64)))


@relation("the k best = the first of more", STRUCTURES, claim="to rounding; outputs up to ties")
def prefixes(subject: Subject, rng: Rng) -> None:
    """A shorter list is the beginning of a longer one."""
    it = subject(rng)
    few = int(rng.integers(1, 6))
    longer = few + int(rng.integers(1, 6))
    short = attempt(lambda: it.structure.kbest(few, **it.scores))
    long = attempt(lambda: it.structure.kbest(longer, **it.scores))
    if isinstance(short, Refusal) or isinstance(long, Refusal):
        demand_same("kbest", _plain(short), _plain(long))
        return
    demand_same("kbest: outputs", len(short), min(few, len(long)))
    values = [value for value, _ in long]
    for i, ((value, y), (right, z)) in enumerate(zip(short, long, strict=False)):
        demand_close(f"kbest {i}", value, right, it.slack)
        near = [*values[max(i - 1, 0) : i], *values[i + 1 : i + 2]]
        if len(long) > len(short) and min(abs(v - right) for v in near) > 2 * it.slack:
            demand_same(f"kbest {i}", plain(y), plain(z))
