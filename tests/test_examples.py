"""Every example draws its picture, warnings being errors, and prints what it says it would."""

import ast
import re
import runpy
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: For the shell, no pages: see tests/torch and tests/library.
PROGRAMS = [ROOT / "examples" / name for name in ("torch", "library")]
EXAMPLES = sorted(p for p in (ROOT / "examples").rglob("*.py") if p.parent not in PROGRAMS)

#: What an example must print. Others need a picture alone.
PRINTS = {
    "beam_against_exact": (r"beam 256: the best output (9\d|100)%", r"False with bound inf"),
    "best_labels_or_best_sequence": (r"best sequence  \[0 0 0\]", r"best labels    \[2 1 1\]"),
    "calibration": (r"digits: 0\.88\d right, expected 0\.8[78]", r"among the 10 best: 0\.[89]"),
    "cky_chart": (r"-6\.2 .*'VP: saw monsters'", r"-6\.7 .*'NP: monsters with telescopes'"),
    "class_hierarchy": (r" 20 documents: flat 0\.2\d+ hierarchy 0\.2\d+",),
    "constraint_changes_answer": (
        r"no rule .*'verb', 'verb'\] 10\.0",
        r"exactly one verb .*'verb', 'noun'\] 9\.8",
        r"at the end .*'noun', 'verb'\] 8\.6",
    ),
    "cutting_plane_rounds": (r"one-slack +ε=0\.2: \d+ .*ε=0\.001: \d\d\n",),
    "cutting_planes_geometry": (
        r"round 1: constraints 0, .* adds \[\('V N', 2\.0\)\]",
        r"round 2: constraints 1, .* adds \[\('N N', 0\.25\)\]",
        r"round 3: constraints 2, .* adds \[\]",
    ),
    "dependency_arcs": (r"heads right 0\.[89]\d+",),
    "error_analysis": (r"HMM token_accuracy 0\.9", r"CRF token_accuracy 0\.9", r"p = 0\.0"),
    "grid_cut_flow": (r"score 8, minimum cut, proven best: True", r"minus the flow 32 = 8"),
    "hidden_states": (r"letters alone: +0\.[45]", r"hidden states: +1\.00"),
    "image_segmentation": (
        r"shapes: .*(\n.*){2}\n  neighbours add [1-9]",
        r"china: .*(\n.*){2}\n  neighbours add [1-9]",
        r"flower: .*(\n.*){2}\n  neighbours add 0\.[1-9]",
    ),
    "labels_in_one_run": (
        r"no rule +Number Street Type Street Type City",
        r"contiguous\(\) +Number Street Type Type Type City",
    ),
    "learning_curves": (r"n-slack .* gap \d\.\de-0[4-9]", r"lbfgs .* gap \d\.\de-0[7-9]"),
    "loopy_marginals": (r"coupling 0\.5: off by 0\.00", r"coupling 2\.0: off by 0\.0[3-9]"),
    "loss_family": (r"hinge 1\.0000, log loss 0\.4093, softmax-margin 1\.4093",),
    "own_cost": (r"m = 0\.25: 0\.[56]\d of ill days missed", r"m = 8 +: 0\.[01]\d of ill"),
    "own_learner": (r"CRF +objective +\d+", r"StructuredSVM +objective +\d+.* accuracy 0\.[89]"),
    "own_structure": (
        r"argmax: right \d+ times",
        r"CRF +0\.7",
        r"CRF on a chain +0\.7",
        r"position alone +0\.6",
    ),
    "perceptron_averaging": (r"average=False: 0\.1", r"average=True: 0\.0"),
    "multi_label": (r"independent +0\.3\d+ ", r"all pairs +0\.4\d+ "),
    "reading_checksums": (r"digit alone.* 0\.1\d+ of the numbers", r"300 of 300 numbers .* same"),
    "reading_words": (r"each alone 0\.7\d+ .* 0\.1\d+ of", r"jointly    0\.8\d+ .* 0\.5\d+ of"),
    "relaxation": (
        r"row: relaxation 1, best 1, whole: True",
        r"ring: relaxation 1, best 0, .*False",
    ),
    "sampling": (r"1\.0 \[0\.664 0\.244 0\.09  0\.002\]",),
    "trellis_paths": (
        r"best path: \['N', 'V'\] scores 4\.0",
        r"most dangerous: \['V', 'N'\] scores 5\.0",
        r"ahead by: 1\.0",
    ),
    "viterbi_table": (r"α of adj at tasty: 12\.7 from verb", r"\['noun', 'verb', 'adj', 'noun'\]"),
    "warm_starts": (r"warm_start=True: 1\d\d passes", r"warm_start=False: [2-9]\d\d passes"),
    "weights_inspected": (r"\[1 4 7 0 3 6 9 2 5 8\] as made: \[1 4 7 0 3 6 9 2 5 8\]",),
    "words_without_blanks": (r"→ six stories feel", r"F1 of words 0\.9\d\d", r"si xsto ries"),
    "word_segments": (r"0\.9\d\d of the words", r"NP    the month"),
}


@pytest.fixture
def pyplot(monkeypatch, tmp_path):
    """Pyplot without a screen, in a folder of its own, its settings and figures put back."""
    mpl = pytest.importorskip("matplotlib")
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)  # pictures land there
    monkeypatch.setattr(plt, "show", lambda: None)
    with mpl.rc_context():
        yield plt
    plt.close("all")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, pyplot, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", [str(path)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runpy.run_path(str(path), run_name="__main__")
        figures = [pyplot.figure(n) for n in pyplot.get_fignums()]
        for figure in figures:
            figure.canvas.draw()  # a layout that cannot be kept is a warning
    printed = capsys.readouterr().out
    assert printed.strip()
    for pattern in PRINTS.get(path.stem, ()):
        assert re.search(pattern, printed), f"no {pattern!r} in\n{printed}"
    assert figures or list(tmp_path.glob("*.png"))
    for figure in figures:
        assert any(ax.has_data() for ax in figure.get_axes())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_is_a_page(path):
    """A title with its line, text in cells: what the gallery makes a page of."""
    source = path.read_text(encoding="utf-8")
    title, line, *_ = ast.get_docstring(ast.parse(source)).splitlines()
    assert line == "=" * len(line)
    assert len(line) >= len(title) > 0
    assert "\n# %%\n" in source


def test_what_is_expected_of_examples_is_of_examples():
    assert set(PRINTS) <= {path.stem for path in EXAMPLES}


def test_gallery_is_large_enough():
    assert len(EXAMPLES) >= 15
