"""Draw the pictures of the README from the examples: ``python tools/draw_images.py``.

Needs matplotlib. Each picture is the first figure of an example, in ``docs/images``.
"""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
WIDTH = 1000  # pixels
PICTURES = ("trellis_paths", "dependency_arcs", "grid_cut_flow", "weights_inspected")


def draw(name: str, folder: Path) -> Path:
    """Run an example and keep its first figure."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plt.close("all")
    plt.show = lambda: None
    with contextlib.redirect_stdout(io.StringIO()):
        runpy.run_path(str(next((ROOT / "examples").rglob(f"{name}.py"))), run_name="__main__")
    figure = plt.figure(plt.get_fignums()[0])
    path = folder / f"{name}.png"
    # The version of matplotlib is left out, so that nothing changes but the picture.
    figure.savefig(path, dpi=WIDTH / figure.get_figwidth(), metadata={"Software": None})
    return path


def main() -> None:
    folder = ROOT / "docs" / "images"
    folder.mkdir(exist_ok=True)
    for name in sys.argv[1:] or PICTURES:
        path = draw(name, folder)
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
