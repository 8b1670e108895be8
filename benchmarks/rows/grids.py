"""Labels on grids: one cut, expansions, loopy message passing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter

from structlearn.structures import Grid

from .. import rivals
from ..registry import Context, Result, Row, benchmark
from ..timing import interleave

__all__ = ["grid_cut", "grid_expansion", "grid_messages"]

Array = npt.NDArray[np.float64]


def random_energy(n: int, rng: np.random.Generator) -> dict[str, Array]:
    """Return independent random pixels and strengths."""
    return {
        "label": rng.normal(size=(n, n, 2)),
        "potts_right": rng.random((n, n - 1)),
        "potts_down": rng.random((n - 1, n)),
    }


def image_energy(n: int, rng: np.random.Generator) -> dict[str, Array]:
    """Return a noisy image of smooth regions whose borders follow its contrast."""
    smooth = gaussian_filter(rng.normal(size=(n, n)), 8)
    image = smooth / smooth.std() + rng.normal(size=(n, n))
    return {
        "label": np.stack((-image, image), axis=-1),
        "potts_right": 2 * np.exp(-np.abs(np.diff(image, axis=1)) / 2),
        "potts_down": 2 * np.exp(-np.abs(np.diff(image, axis=0)) / 2),
    }


CUTS: dict[str, Callable[[int, np.random.Generator], dict[str, Array]]] = {
    "random": random_energy,
    "image-like": image_energy,
}


@benchmark
def grid_cut(context: Context) -> Result:
    """The best of two labels on an n x n grid with four neighbours, the graph built each time."""
    result = Result()
    rival = rivals.load("pymaxflow_grid", result.skipped)
    for n in (64, 128) if context.quick else (256, 512, 1024):
        for kind, make in CUTS.items():
            scores = make(n, np.random.default_rng(n))
            calls: dict[str, Callable[[], Any]] = {"ours": partial(Grid().argmax, **scores)}
            if rival:
                calls["PyMaxflow"] = partial(rival.argmax, **scores)
                ours, theirs = (Grid().score(call(), **scores) for call in calls.values())
                if ours < theirs - 1e-9 * abs(theirs):
                    raise AssertionError(f"PyMaxflow finds {theirs}, structlearn {ours}")
            timings = interleave(calls, repeats=context.times(5, 2))
            case = f"{n} x {n}, {kind}"
            result.details[case] = {name: t.summary() for name, t in timings.items()}
            if rival:
                pair = timings["ours"], timings["PyMaxflow"]
                target = 2.5 if n >= 512 else 1.5
                result.rows.append(Row.times(case, "PyMaxflow", *pair, at_least=target))
    return result


@benchmark
def grid_expansion(context: Context) -> Result:
    """Alpha-expansion until no move helps: 8 labels, Potts, energies in whole numbers."""
    result = Result()
    rival = rivals.load("gco_grid", result.skipped)
    n, n_labels = (64 if context.quick else 512), 8
    rng = np.random.default_rng(0)
    smooth = gaussian_filter(rng.normal(size=(n, n)), 8)
    image = n_labels * (smooth - smooth.min()) / np.ptp(smooth) + rng.normal(size=(n, n))
    squares = (image[..., np.newaxis] - np.arange(n_labels) - 0.5) ** 2
    cases = {
        "image-like": (-np.round(10 * squares), 20.0),
        "random": (-np.round(100 * rng.random((n, n, n_labels))), 15.0),
    }
    for kind, (label, strength) in cases.items():
        scores: dict[str, Any] = {"label": label, "potts_right": strength, "potts_down": strength}
        calls: dict[str, Callable[[], Any]] = {
            "ours": partial(Grid(method="expansion").argmax, **scores)
        }
        if rival:
            calls["gco"] = partial(rival.argmax, label, strength)
        values = {name: Grid().score(call(), **scores) for name, call in calls.items()}
        timings = interleave(calls, repeats=context.times(3, 1))
        case = f"{n} x {n}, {n_labels} labels, {kind}"
        result.details[case] = {
            "scores": values,
            **{name: t.summary() for name, t in timings.items()},
        }
        if rival:
            pair = timings["ours"], timings["gco"]
            result.rows.append(Row.times(case, "gco-wrapper", *pair, at_least=1.0))
            result.notes.append(f"{case}: score {values['ours']:.0f}, gco's {values['gco']:.0f}")
    return result


@benchmark
def grid_messages(context: Context) -> Result:
    """Loopy sum-product on a grid of 8 labels, to the same tolerance; and a round of it."""
    result = Result()
    numpy_rival = rivals.load("numpy_beliefs", result.skipped)
    n, n_labels, tolerance = (30 if context.quick else 100), 8, 1e-6
    rng = np.random.default_rng(0)
    label = rng.normal(size=(n, n, n_labels))
    table = 0.5 * np.eye(n_labels) + 0.1 * rng.normal(size=(n_labels, n_labels))
    grid = Grid()
    model = grid._model(grid._read({"label": label, "right": table, "down": table}))

    def ours(max_rounds: int) -> Any:
        return model.native.messages(1.0, False, 0.0, max_rounds, tolerance, False)

    messages = ours(1000)
    theirs, rounds = numpy_rival.beliefs(label, table, 1000, tolerance)
    if not np.allclose(messages[2].reshape(label.shape), theirs, atol=1e-4):
        raise AssertionError("NumPy's beliefs differ from structlearn's")
    timings = interleave(
        {
            "ours": partial(ours, 1000),
            "NumPy": partial(numpy_rival.beliefs, label, table, 1000, tolerance),
            "ours, 10 rounds": partial(ours, 10),
            "NumPy, 10 rounds": partial(numpy_rival.beliefs, label, table, 10, 0.0),
            "ours, Grid().marginals": partial(grid.marginals, label=label, right=table, down=table),
        },
        repeats=context.times(5, 2),
    )
    case = f"{n} x {n}, {n_labels} labels"
    for name in ("", ", 10 rounds"):
        pair = timings["ours" + name], timings["NumPy" + name]
        result.rows.append(Row.times(case + (name or ", until 1e-6"), "NumPy", *pair, at_least=5.0))
    # The whole call, including reading the scores and the pair marginals by position.
    pair = timings["ours, Grid().marginals"], timings["NumPy"]
    result.rows.append(Row.times(f"{case}, Grid().marginals", "NumPy", *pair, at_least=5.0))
    result.details[case] = {
        "rounds": {"ours": messages[5], "NumPy": rounds},
        **{name: t.summary() for name, t in timings.items()},
    }
    _against_pgmpy(result, label, table)
    return result


def _against_pgmpy(result: Result, label: Array, table: Array) -> None:
    """Add the row of the largest grid that pgmpy's exact propagation handles quickly."""
    pgmpy = rivals.load("pgmpy_beliefs", result.skipped)
    if not pgmpy:
        return
    small = label[:3, :6, :3].copy()
    pairs = table[:3, :3].copy()
    model = pgmpy.prepare(small, pairs)
    scores = {"label": small, "right": pairs, "down": pairs}
    p = Grid().marginals(**scores)["label"].reshape(-1, 3)
    if not np.allclose(p, pgmpy.beliefs(model), atol=1e-6):
        raise AssertionError("pgmpy's marginals differ from structlearn's")
    timings = interleave(
        {"ours": partial(Grid().marginals, **scores), "pgmpy": partial(pgmpy.beliefs, model)},
        repeats=2,
    )
    case = "3 x 6, 3 labels, exact marginals of both"
    result.rows.append(Row.times(case, "pgmpy", timings["ours"], timings["pgmpy"], at_least=50.0))
    result.details[case] = {name: t.summary() for name, t in timings.items()}
    result.notes.append("pgmpy has no loopy propagation: a grid small enough for its exact one")
