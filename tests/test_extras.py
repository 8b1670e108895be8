"""Optional packages, absent and present: what they add works, or says what to install."""

import sys
from pathlib import Path

import numpy as np
import pytest

import structlearn
from structlearn.datasets import load_photograph
from structlearn.exceptions import CapabilityError
from structlearn.structures import Program
from structlearn.tasks import ImageSegmenter

PROJECT = Path(structlearn.__file__).parents[2] / "packaging" / "structlearn" / "pyproject.toml"

#: Extras for those who work on structlearn itself.
OURS = {"test", "lint", "docs", "bench", "neighbours"}


def draw(folder):
    from structlearn.plotting import plot_growth

    plot_growth([1, 2, 4], [1.0, 2.0, 4.0])


def read_pictures(folder):
    ImageSegmenter("crf", max_iter=1).fit(folder)


def look_at_a_photograph(folder):
    load_photograph("flower")


def cut_superpixels(folder):
    image = np.random.default_rng(0).integers(0, 255, (32, 32, 3), dtype=np.uint8)
    mask = np.tile(np.arange(32) > 15, (32, 1)).astype(np.uint8)
    ImageSegmenter("crf", superpixels=16, max_iter=1).fit([(image, mask)])


def solve(folder):
    program = Program(np.ones((1, 2)), [1], [1], solver="gurobi")
    assert program.argmax(part=[1.0, 2.0]).tolist() == [0, 1]


def go_to_several_machines(folder):
    from structlearn.distributed.cluster import import_ray

    import_ray()


def make_a_layer(folder):
    from structlearn.torch import ChainCRF

    assert ChainCRF(2).transition.shape == (2, 2)


@pytest.fixture
def folder(tmp_path):
    """A folder with a picture and its mask."""
    image = pytest.importorskip("PIL.Image")
    pixels = np.zeros((8, 8, 3), dtype=np.uint8)
    pixels[:, 4:] = 255
    for name, values in (("images", pixels), ("masks", pixels[..., 0] // 255)):
        (tmp_path / name).mkdir()
        image.fromarray(values).save(tmp_path / name / "a.png")
    return tmp_path


def serve(folder):
    from structlearn.serve import Settings, make_app

    make_app(Settings({"english": "english.model"}))


def go_to_spacy(folder):
    from structlearn.tasks.pipeline.doc import Doc

    assert Doc.from_places("a b", [[(0, 1), (2, 3)]]).to_spacy().text == "a b"


#: Extra, package, what needs it.
USES = [
    ("plot", "matplotlib", draw),
    ("images", "PIL", read_pictures),
    ("images", "PIL", look_at_a_photograph),
    ("images", "skimage", cut_superpixels),
    ("gurobi", "gurobipy", solve),
    ("ray", "ray", go_to_several_machines),
    ("torch", "torch", make_a_layer),
    ("serve", "starlette", serve),
    ("spacy", "spacy", go_to_spacy),
]


@pytest.mark.parametrize(("extra", "package", "use"), USES)
def test_present(extra, package, use, folder, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    pytest.importorskip(package)
    use(folder)


@pytest.mark.parametrize(("extra", "package", "use"), USES)
def test_absent(extra, package, use, folder, monkeypatch):
    for name in [m for m in sys.modules if m.split(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises((ImportError, CapabilityError), match=rf"structlearn\[{extra}\]"):
        use(folder)


def test_every_extra_is_tried():
    tomllib = pytest.importorskip("tomllib")
    if not PROJECT.exists():
        pytest.skip("installed without the source tree")
    extras = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]
    assert set(extras) - OURS == {extra for extra, _, _ in USES}
