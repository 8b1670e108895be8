"""Pictures show the numbers they were given, and name them."""

import subprocess
import sys

import numpy as np
import pytest

from structlearn import CRF, StructuredSVM, plotting

mpl = pytest.importorskip("matplotlib", reason="pictures need matplotlib")
mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def history(n=4, scale=1.0, every=1):
    """Return records of which every ``every``-th has an objective and a gap."""
    records = []
    for k in range(1, n + 1):
        record = {"iteration": k, "seconds": 0.5 * k, "oracle_calls": 10 * k, "loss": 3.0 / k}
        if k % every == 0:
            record.update(objective=2.0 + scale / k, gap=scale / k)
        records.append(record)
    return records


def lines(ax):
    return {line.get_label(): line.get_xydata() for line in ax.get_lines()}


@pytest.mark.parametrize("x", ["seconds", "iteration", "oracle_calls"])
@pytest.mark.parametrize("y", ["gap", "objective", "loss", "relative gap"])
def test_convergence_draws_the_records(x, y):
    given = {"a": history(), "b": history(3, 2.0)}
    ax = plotting.plot_convergence(given, x=x, y=y)
    drawn = lines(ax)
    assert list(drawn) == ["a", "b"]
    for name, records in given.items():
        values = [r["gap"] / r["objective"] if y == "relative gap" else r[y] for r in records]
        np.testing.assert_allclose(drawn[name], np.column_stack([[r[x] for r in records], values]))
    assert ax.get_yscale() == ("log" if "gap" in y else "linear")
    assert ax.get_xscale() == "linear"
    assert y.split()[-1] in ax.get_ylabel()
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["a", "b"]


def test_records_without_a_value_are_left_out():
    drawn = lines(plotting.plot_convergence({"lazy": history(6, every=3)}))
    np.testing.assert_allclose(drawn["lazy"], [[1.5, 1 / 3], [3.0, 1 / 6]])


def test_what_is_estimated_between_two_looks():
    records = history(4, every=2)
    for record in records:
        record.update(dual=2.0 - 1 / record["iteration"], estimated_gap=9.0)
    drawn = lines(plotting.plot_convergence({"lazy": records}, y="estimated gap"))
    np.testing.assert_allclose(drawn["lazy"][:, 1], [9.0, 0.5, 9.0, 0.25])
    ax = plotting.plot_convergence({"lazy": records}, y="dual")
    np.testing.assert_allclose(lines(ax)["lazy"][:, 1], [1.0, 1.5, 5 / 3, 1.75])
    assert "lower bound" in ax.get_ylabel()


def test_scales():
    wide = [{"seconds": 10.0**k, "gap": 0.0 if k == 2 else 1.0, "loss": 10.0**-k} for k in range(3)]
    ax = plotting.plot_convergence([wide])
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    ax.figure.canvas.draw()  # a gap of zero has no place on it, and no warning either
    assert plotting.plot_convergence([wide], y="loss").get_yscale() == "log"
    none = [{"seconds": 1.0, "gap": 0.0}]
    assert plotting.plot_convergence([none]).get_yscale() == "linear"


def small_problem():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(4, 3)) for _ in range(12)]
    return X, [[int(k) for k in np.argmax(x, axis=1)] for x in X]


def test_fitted_estimators_side_by_side():
    X, y = small_problem()
    models = [CRF(solver=s, random_state=0).fit(X, y) for s in ("dual", "lbfgs")]
    ax = plotting.plot_convergence(models, x="iteration", y="objective")
    drawn = lines(ax)
    assert list(drawn) == ["CRF, dual", "CRF, lbfgs"]
    assert drawn["CRF, lbfgs"][-1, 1] == models[1].objective_
    same = plotting.plot_convergence(models[1], x="iteration", ax=ax, labels=["again"])
    assert same is ax
    assert lines(ax)["again"][-1, 1] == models[1].duality_gap_
    looks = {(li.get_color(), li.get_linestyle(), li.get_marker()) for li in ax.get_lines()}
    assert len(looks) == 3


def test_what_cannot_be_drawn_is_said():
    with pytest.raises(ValueError, match="'gap'"):
        plotting.plot_convergence({"a": history()}, y="Gap")
    with pytest.raises(ValueError, match="one of 'seconds'"):
        plotting.plot_convergence({"a": history()}, x="time")
    with pytest.raises(ValueError, match=r"no record of a has seconds and gap; .* loss"):
        plotting.plot_convergence({"a": history(2, every=3)})
    with pytest.raises(ValueError, match="1 labels for 2"):
        plotting.plot_convergence([history(), history()], labels=["a"])
    with pytest.raises(ValueError, match="same label"):
        plotting.plot_convergence([history(), history()], labels=["a", "a"])
    with pytest.raises(ValueError, match="nothing to draw"):
        plotting.plot_convergence([])
    with pytest.raises(ValueError, match="fitted"):
        plotting.plot_convergence({"a": CRF()})
    with pytest.raises(ValueError, match="n-slack"):
        plotting.plot_rounds(CRF())


@pytest.mark.parametrize("solver", ["n-slack", "one-slack"])
def test_rounds(solver):
    model = StructuredSVM(solver=solver).fit(*small_problem())
    upper, lower = plotting.plot_rounds(model)
    at = [r.iteration for r in model.rounds_]
    for ax, name in ((upper, "primal"), (upper, "dual"), (lower, "violation")):
        values = [getattr(r, name) for r in model.rounds_]
        np.testing.assert_allclose(lines(ax)[name], np.column_stack([at, values]))
    upper.figure.canvas.draw()
    _, axes = plt.subplots(2)
    assert plotting.plot_rounds(model, axes)[1] is axes[1]


def test_growth_fits_a_power():
    sizes = np.array([10, 20, 40, 80])
    seconds = 0.3 * sizes**1.5
    assert plotting.growth_slope(sizes, seconds) == pytest.approx((1.5, 0.3))
    ax = plotting.plot_growth(sizes, seconds, label="ours", xlabel="examples")
    plotting.plot_growth(sizes, 2 * seconds, ax=ax, label="theirs", xlabel="examples")
    named = [t.get_text() for t in ax.get_legend().get_texts()]
    assert named == ["ours: slope 1.50", "theirs: slope 1.50"]
    points, fit, _, _ = (line.get_xydata() for line in ax.get_lines())
    np.testing.assert_allclose(points, np.column_stack([sizes, seconds]))
    np.testing.assert_allclose(fit, points[[0, -1]])
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_xlabel()) == ("log", "log", "examples")
    assert ax.get_lines()[0].get_color() == ax.get_lines()[1].get_color()
    assert ax.get_lines()[0].get_color() != ax.get_lines()[2].get_color()
    ax.figure.canvas.draw()
    assert [t.get_text() for t in ax.get_xticklabels()] == ["10", "20", "40", "80"]


def test_growth_needs_sizes():
    with pytest.raises(ValueError, match="two sizes"):
        plotting.growth_slope([3, 3], [1, 2])
    with pytest.raises(ValueError, match="the same length"):
        plotting.growth_slope([3, 4], [1])


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"structlearn\[plot\]"):
        plotting.plot_convergence({"a": history()})
    with pytest.raises(ImportError, match=r"structlearn\[plot\]"):
        plotting.plot_growth([1, 2], [1, 2])


def test_importing_costs_no_matplotlib():
    code = "import sys, structlearn.plotting; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
