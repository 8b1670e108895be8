"""Trellises, grids, solutions and estimators draw themselves."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from structlearn import CRF, StructuredPerceptron
from structlearn.drawing.grids import draw_grid
from structlearn.drawing.trellis import draw_trellis
from structlearn.structures import Chain, Grid, SpanningTree, trellis

SVG = "{http://www.w3.org/2000/svg}"
SCORES = {
    "label": np.array([[2.0, 1.0], [1.0, 0.0]]),
    "start": np.array([1.0, -1.0]),
    "transition": np.array([[-2.0, 1.0], [2.0, -2.0]]),
}


def kinds(root, tag, kind):
    return [e for e in root.iter(SVG + tag) if kind in e.get("class", "").split()]


def texts(root):
    return [e.text for e in root.iter(SVG + "text")]


def test_trellis_shows_alpha_and_the_best_path():
    table = trellis(**SCORES)
    root = ET.fromstring(table.draw(words=["Fish", "sleep"], labels=["N", "V"]).svg)
    assert {"Fish", "sleep", "N", "V"} <= set(texts(root))
    # α: 3 and 0 at the first word; max(3 − 2, 0 + 2) + 1 = 3 and max(3 + 1, 0 − 2) + 0 = 4.
    assert texts(root).count("3") == 2
    assert "4" in texts(root)
    assert len(kinds(root, "line", "best")) == 1
    assert len(kinds(root, "rect", "best")) == 2
    assert not kinds(root, "line", "other")
    assert table._repr_svg_().startswith("<svg")


def test_second_path_is_drawn_beside_the_best():
    root = ET.fromstring(trellis(**SCORES).draw(other=[1, 0], names=("a<b", "gold")).svg)
    assert len(kinds(root, "rect", "other")) == 2
    assert len(kinds(root, "line", "other")) == 1
    assert "━ a<b" in texts(root)


def test_forbidden_states_have_no_way_into_them():
    scores = dict(SCORES, label=np.array([[2.0, 1.0], [1.0, -np.inf]]))
    root = ET.fromstring(trellis(**scores).draw().svg)
    assert "−∞" in texts(root)
    assert len(kinds(root, "line", "best")) == 1
    assert len(list(root.iter(SVG + "line"))) == 2  # the back-pointer of N, and the path over it


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"words": ["a"]}, "words has 1 entries, the trellis 2"),
        ({"labels": ["a"]}, "labels has 1"),
        ({"other": [0]}, "other has 1"),
        ({"other": [0, 2]}, "from 0 to 1"),
    ],
)
def test_what_does_not_fit_the_trellis(arguments, message):
    with pytest.raises(ValueError, match=message):
        draw_trellis(trellis(**SCORES), **arguments)


def test_long_trellises_are_cut_and_say_so():
    table = trellis(label=np.zeros((900, 3)))
    root = ET.fromstring(table.draw().svg)
    assert "… 700 more" in texts(root)


def test_grid_frames_what_differs_from_gold():
    labels, gold = np.array([[0, 0, 1], [0, 1, 1]]), np.array([[0, 0, 1], [0, 0, 1]])
    root = ET.fromstring(draw_grid(labels, gold, names=["sky", "sea"]).svg)
    (frame,) = kinds(root, "rect", "wrong")
    squares = [e for e in root.iter(SVG + "rect") if e.get("height") != "12" and e is not frame]
    assert len(squares) == 4  # a rectangle a run of one label
    side = float(frame.get("width")) + 1.4
    assert float(frame.get("x")) == pytest.approx(side + 0.7)
    assert float(frame.get("y")) == pytest.approx(side + 0.7)
    assert texts(root) == ["sky", "sea"]


def test_large_grids_are_thinned_out():
    picture = draw_grid(np.indices((300, 200)).sum(axis=0) % 2)
    assert "one square in 3 × 3 is shown" in str(picture)
    assert len(picture.svg) < 1_000_000


def test_grids_of_other_sizes():
    with pytest.raises(ValueError, match="labels are 1 × 2, gold is 2 × 1"):
        draw_grid([[0, 1]], [[0], [1]])
    with pytest.raises(ValueError, match="empty grid"):
        draw_grid(np.zeros((0, 3), dtype=int))


def test_pictures_go_to_files(tmp_path):
    draw_grid([[0, 1]]).save(tmp_path / "grid.svg")
    ET.parse(tmp_path / "grid.svg")


def test_solutions_tell_what_is_proven():
    rng = np.random.default_rng(0)
    exact = Grid().solve(label=rng.normal(size=(4, 5, 2)), potts_right=0.5, potts_down=0.5)
    assert "the best there is" in exact._repr_html_()
    assert "<svg" in exact._repr_html_()
    hard = exact._replace(exact=False, bound=12.5)
    assert "not proven the best; none is above 12.5" in hard._repr_html_()
    assert "<svg" not in Chain().solve(**SCORES)._repr_html_()
    edges = SpanningTree().solve(edge=np.ones((4, 4)))
    assert "<svg" not in edges._repr_html_()


def test_estimators_show_what_they_have_learned():
    X = [[["w=<b>"], ["w=sleep"]], [["w=dogs"], ["w=eat"]]]
    y = [["N", "V"], ["N", "V"]]
    model = CRF(C=1.0)
    assert "sl-summary" not in model._repr_mimebundle_()["text/html"]
    html = model.fit(X, y)._repr_mimebundle_()["text/html"]
    assert "w=&lt;b&gt;" in html
    assert "w=<b>" not in html.split("sl-summary", 1)[1]
    assert "proven within" in html
    assert "transitions, from row to column" in html
    assert "sl-summary" in model._repr_html_()


def test_summary_of_other_structures():
    X, y = np.eye(3), ["a", "b", "c"]
    model = StructuredPerceptron("multiclass", random_state=0).fit(X, y)
    assert "Multiclass()" in model._repr_html_()
