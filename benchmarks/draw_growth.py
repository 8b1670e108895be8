"""Draw the stored slopes of the benchmark ``growth``: python -m benchmarks.draw_growth FOLDER."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def draw(details: dict[str, Any], path: Path) -> None:
    """Draw time against n, K, L and d into one picture."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from structlearn.plotting import plot_growth

    from .rows.growth import NAMES

    figure, axes = plt.subplots(2, 2, figsize=(10, 7.5), layout="constrained")
    for ax, (quantity, name) in zip(axes.flat, NAMES.items(), strict=True):
        growth = details[quantity]
        for solver, seconds in growth["seconds"].items():
            plot_growth(growth["sizes"], seconds, ax=ax, label=solver, xlabel=name)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main() -> None:
    """Read the stored result and draw it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.draw_growth", description=__doc__)
    parser.add_argument("folder", type=Path, help="where growth.png goes")
    parser.add_argument(
        "--result", type=Path, default=RESULTS / "growth.json", help="what the benchmark stored"
    )
    options = parser.parse_args()
    if not options.result.exists():
        raise SystemExit(f"{options.result} is not there: python -m benchmarks growth writes it")
    draw(json.loads(options.result.read_text())["details"], options.folder / "growth.png")
    print(options.folder / "growth.png")


if __name__ == "__main__":
    main()
