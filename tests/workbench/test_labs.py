"""The labs' answers against the library's, and what they refuse."""

import contextlib
import io
import itertools
import json
import re
from importlib.resources import files

import numpy as np
import pytest

from structlearn.structures import Arborescence, Chain, Grid
from structlearn.traces.trace import plain
from structlearn.workbench.formulas import added, equals, number
from structlearn.workbench.labs import ask, image
from structlearn.workbench.labs.constraints import read_constraint
from structlearn.workbench.models import Models
from structlearn.workbench.requests import Refused

from .examples import (
    ATTACHED,
    EXAMPLES,
    FISH,
    FLIGHT,
    JOHN,
    MONSTERS,
    PICTURE,
    POINTS,
    POSTS,
    RING,
)

MODELS = Models()


def asked(lab, values):
    return ask(lab, values, MODELS)


def chain_scores(values, augmented=False):
    scores = {
        k: np.array(values[k], float) for k in ("label", "transition", "start") if k in values
    }
    if augmented:
        scores["label"] = scores["label"] + 1 - np.eye(len(values["labels"]))[values["gold"]]
    return scores


@pytest.mark.parametrize(("lab", "values"), EXAMPLES)
def test_answers_are_json_with_steps_that_say_something(lab, values):
    found = json.loads(json.dumps(plain(asked(lab, values)), allow_nan=False))
    assert found["steps"]
    for step in found["steps"]:
        assert step["formula"]
        assert all(isinstance(line, str) and line for line in step["formula"])
        assert step["say"].endswith(".")
    assert found["algorithm"]


@pytest.mark.parametrize(("lab", "values"), EXAMPLES)
@pytest.mark.filterwarnings("ignore::structlearn.exceptions.ConvergenceWarning")
def test_the_python_to_copy_runs(lab, values):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(asked(lab, values)["python"], lab, "exec"), {})
    assert out.getvalue()


@pytest.mark.parametrize("augmented", [False, True])
@pytest.mark.parametrize("values", [FISH, MONSTERS])
def test_sequence_answers_are_those_of_the_chain(values, augmented):
    found = asked("sequence", {**values, "augmented": augmented})
    scores = chain_scores(values, augmented)
    (_, best), (_, second) = Chain().kbest(2, **scores)
    assert found["best"]["labels"] == best.tolist()
    assert found["runner_up"]["labels"] == second.tolist()
    assert found["gold"]["score"] == Chain().score(np.array(values["gold"]), **chain_scores(values))
    rows = found["outputs"]
    K, L = len(values["labels"]), len(values["words"])
    assert len(rows) == min(64, K**L)
    for row in rows:
        assert row["total"] == pytest.approx(Chain().score(np.array(row["labels"]), **scores))
    top = max(
        itertools.product(range(K), repeat=L), key=lambda y: Chain().score(np.array(y), **scores)
    )
    assert rows[0]["labels"] == list(top)


def test_the_chapter_s_number_is_in_a_formula():
    """Eq. 17.38-40, with the scores that give α at "eat" as the chapter has it."""
    steps = asked("sequence", MONSTERS)["steps"]
    known = {tuple(s["at"]): s["value"] for s in steps if s["kind"] == "fill"}
    assert [known[1, k] for k in range(3)] == pytest.approx([2, 9, -1])
    step = next(s for s in steps if s["kind"] == "fill" and s["at"] == [2, 2])
    assert "= max{ 2 + 1.2 − 5,  9 + 1.2 + 2.5,  −1 + 1.2 + 2.2 }" in step["formula"]
    assert step["formula"][-1] == "= max{ −1.8,  12.7,  2.4 } = 12.7"


def test_loss_augmentation_changes_the_path_where_gold_leads_by_too_little():
    values = {
        **FISH, "label": [[1, 0.5], [0.5, 0.5]], "transition": [[-0.5, 0.5], [0.5, -0.5]],
        "start": [0.2, 0],
    }  # fmt: skip
    plain_, augmented = (asked("sequence", {**values, "augmented": a}) for a in (False, True))
    assert plain_["best"]["named"] == ["N", "V"]
    assert augmented["best"]["named"] == ["V", "N"]


def test_marginals_stand_beside_enumeration():
    found = asked("sequence", {**MONSTERS, "mode": "sum", "temperature": 0.7})
    np.testing.assert_allclose(found["marginals"], found["enumerated"], atol=1e-9)
    found = asked("parse", {**JOHN, "mode": "sum"})
    np.testing.assert_allclose(found["marginals"], found["enumerated"], atol=1e-9)
    found = asked("image", {**PICTURE, "mode": "sum"})
    np.testing.assert_allclose(found["marginals"], found["enumerated"], atol=1e-9)
    found = asked("messages", {**POSTS, "mode": "sum", "augmented": True})
    np.testing.assert_allclose(found["marginals"], found["enumerated"], atol=1e-9)
    loopy = asked("messages", {**RING, "mode": "sum"})
    np.testing.assert_allclose(loopy["marginals"], loopy["enumerated"], atol=0.1)
    assert np.abs(loopy["marginals"] - loopy["enumerated"]).max() > 1e-3  # and they are not exact
    masked = {**MONSTERS, "constraints": "forbid noun then verb", "mode": "sum"}
    found = asked("constraints", masked)
    np.testing.assert_allclose(found["marginals"], found["enumerated"], atol=1e-9)
    assert all("noun verb" not in " ".join(o["named"]) for o in found["outputs"])
    for row in asked("parse", {**FLIGHT, "mode": "sum"})["span_marginals"]:
        assert row["p"] == pytest.approx(row["enumerated"], abs=1e-9)


def test_trees_are_those_of_the_library():
    for algorithm, projective in (("edmonds", False), ("eisner", True)):
        found = asked("parse", {**JOHN, "algorithm": algorithm})
        arc = np.array(JOHN["arc"], float)
        assert (
            found["best"]["heads"] == Arborescence(projective=projective).argmax(arc=arc).tolist()
        )
        last = found["steps"][-1]
        assert sorted(map(tuple, last["arcs"])) == sorted(
            (h, m) for m, h in enumerate(found["best"]["heads"], 1)
        )
    two = asked("parse", FLIGHT)
    assert two["count"] == 2  # "from Boston" belongs to the flight, or to the booking
    assert two["best"]["score"] >= two["runner_up"]["score"]


def test_sums_over_trees_are_those_of_the_library():
    arc = np.array(JOHN["arc"], float) / 10
    values = {**JOHN, "arc": arc.tolist(), "mode": "sum"}
    found = asked("parse", values)
    # The determinant that the page shows, with what was taken out of it.
    shown = next(s for s in found["steps"] if s["kind"] == "determinant")["formula"][1]
    determinant, out, log_z = (
        float(x) for x in re.fullmatch(r"= log ([\d.]+) \+ ([\d.]+) = ([\d.]+)", shown).groups()
    )
    assert np.log(determinant) + out == pytest.approx(
        Arborescence().log_partition(arc=arc), abs=1e-3
    )
    assert log_z == pytest.approx(Arborescence().log_partition(arc=arc), abs=1e-3)
    for m in range(1, 4):
        step = found["steps"][2 + m]
        (best,) = step["formula"][0].split(":  ")[1].split(",")[:1]
        assert float(best.split()[-1]) == pytest.approx(found["marginals"][:, m].max(), abs=1e-3)
    eisner = asked("parse", {**values, "algorithm": "eisner"})
    shares = {tuple(s["arcs"][0]): s for s in eisner["steps"] if s["kind"] == "share"}
    for (h, m), step in shares.items():
        expected = eisner["marginals"][h][m]
        assert float(step["formula"][-1].split(" = ")[-1]) == pytest.approx(expected, abs=1e-3)
    assert len(shares) == 9


def test_a_gold_tree_changes_the_parse_when_costs_are_added():
    found = asked("parse", {**FLIGHT, "gold": ATTACHED})
    assert found["best"]["named"] == found["gold"]["named"] == [ATTACHED]
    assert found["gold"]["cost"] == 0
    augmented = asked("parse", {**FLIGHT, "gold": ATTACHED, "augmented": True})
    # Spans of the other tree that gold lacks: NP over "a flight from Boston", Nominal likewise.
    assert augmented["best"]["cost"] == 2
    assert augmented["best"]["score"] == found["runner_up"]["score"]
    assert augmented["value"] == augmented["best"]["score"] + 2


@pytest.mark.parametrize("root", range(5))
def test_messages_on_a_tree_find_its_best_from_any_root(root):
    for augmented in (False, True):
        found = asked("messages", {**POSTS, "root": root, "augmented": augmented})
        label, table = np.array(POSTS["label"], float), np.array(POSTS["edge"], float)
        if augmented:
            label = label + 1 - np.eye(2)[POSTS["gold"]]
        scored = [
            (sum(label[v, k] for v, k in enumerate(y))
             + sum(table[y[u], y[v]] for u, v in POSTS["edges"]), y)
            for y in itertools.product(range(2), repeat=5)
        ]  # fmt: skip
        (top, best), (_, second) = sorted(scored, reverse=True)[:2]
        assert found["best"]["labels"] == found["found"]["labels"] == list(best)
        assert found["runner_up"]["labels"] == list(second)
        assert found["value"] == pytest.approx(top)
        assert found["steps"][-1]["labels"] == list(best)


def test_pictures_are_those_of_the_library():
    label = np.stack([np.zeros((3, 3)), np.array(PICTURE["paint"])], axis=-1)
    best = Grid().argmax(label=label, potts_right=0.7, potts_down=0.7)
    for algorithm in ("cut", "branching"):
        found = asked("image", {**PICTURE, "algorithm": algorithm})
        assert found["best"]["labels"].tolist() == best.tolist()
        assert np.reshape(found["steps"][-1]["labels"], (3, 3)).tolist() == best.tolist()


def test_constraints_change_the_answer_at_a_price():
    found = asked("constraints", {**MONSTERS, "constraints": "at most 1 noun"})
    assert found["free"]["named"].count("noun") == 2
    assert found["best"]["named"].count("noun") <= 1
    assert found["price"] == pytest.approx(found["free"]["score"] - found["best"]["score"])
    # The first in the order of scores that keeps to it is the answer.
    assert found["steps"][-1]["path"] == found["best"]["labels"]
    assert [s["ok"] for s in found["steps"]] == [False] * (len(found["steps"]) - 1) + [True]
    # The runner-up keeps to it too.
    assert found["runner_up"]["named"].count("noun") <= 1
    assert found["runner_up"]["score"] < found["best"]["score"]
    nothing = asked("constraints", {**FISH, "constraints": "require N at 1\nforbid N"})
    assert nothing["best"] is None


@pytest.mark.parametrize(
    ("line", "python"),
    [
        ("forbid noun", "forbid(Label('noun'))"),
        ("forbid verb at 2", "forbid(Label('verb', at=1))"),
        ("forbid noun then verb", "forbid(Part(\"transition\", 'noun', 'verb'))"),
        ("require  adj at 3", "require(Label('adj', at=2))"),
        ("at most 1 noun", "at_most(1, Label('noun'))"),
        ("exactly 2 verb", "exactly(2, Label('verb'))"),
        ("if noun at 1 then verb at 2", "if_then(Label('noun', at=0), Label('verb', at=1))"),
    ],
)
def test_constraints_are_read(line, python):
    assert read_constraint(line, ["noun", "verb", "adj"], 4).python == python


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("forbid everything", "What works"),
        ("at most one noun", "What works"),
        ("__import__('os')", "'__import__' is not a constraint; constraints are at_least"),
    ],
)
def test_other_lines_are_refused_with_what_works(line, message):
    with pytest.raises(Refused, match=message):
        read_constraint(line, ["noun", "verb"], 4)


def test_learning_shows_what_was_learned():
    found = asked("learning", POINTS)
    assert found["wrong"] == 0
    assert [s["wrong"] for s in found["steps"]].count(True) == found["updates"]
    rounds = asked("learning", {"topic": "planes"})["steps"]
    assert [[r["named"] for r in s["rows"] if r["added"]] for s in rounds] == [
        ["V, N"],
        ["N, N"],
        [],
    ]
    family = asked("learning", {"topic": "family", "margin": 1, "temperature": 0, **FISH})
    assert family["loss"] == 1.0  # the slide's slack for these scores
    for curve in ("perceptron", "SVM", "CRF"):
        assert len(family["curves"][curve]) == len(family["curves"]["d"])


TOO_MUCH = [
    ("sequence", {**FISH, "words": ["w"] * 10_000, "label": [[0, 0]] * 10_000, "gold": None},
     "the limit is 40"),
    ("sequence", {**FISH, "label": [[1e9, 0], [0, 0]]}, "between"),
    ("sequence", {**FISH, "label": [[0, 0]]}, "shape"),
    ("sequence", {**FISH, "label": [["x", 0], [0, 0]]}, "numbers"),
    ("sequence", {**FISH, "label": [[True, 0], [0, 0]]}, "numbers"),
    ("sequence", {**FISH, "gold": [0, 7]}, "whole numbers"),
    ("sequence", {**FISH, "mode": "all"}, "one of"),
    ("sequence", {**FISH, "mode": "kbest", "n": 10**9}, "between 1 and 20"),
    ("sequence", {**FISH, "augmented": "yes"}, "true or false"),
    ("sequence", [1, 2], "JSON object"),
    ("sequence", {}, "words"),
    ("parse", {**JOHN, "words": ["w"] * 500}, "the limit is 12"),
    ("parse", {**JOHN, "gold": [2, 1, 2]}, "cycle"),
    ("parse", {**FLIGHT, "grammar": "S -> A B\n" * 200}, "the limit is 80"),
    ("parse", {**FLIGHT, "grammar": "S -> A B"}, "has no rule"),
    ("parse", {**FLIGHT, "grammar": "nonsense"}, "no rule"),
    ("parse", {**FLIGHT, "grammar": "x" * 5000}, "the limit is 4,000"),
    ("parse", {**FLIGHT, "words": ["you"]}, "no rule has the word"),
    ("parse", {**FLIGHT, "gold": "(S (NP I)"}, "not closed"),
    ("parse", {**FLIGHT, "gold": "(S (XP I))"}, "no symbol 'XP'"),
    ("parse", {**FLIGHT, "gold": "(S you)"}, "words of the gold tree"),
    ("parse", {**FLIGHT, "gold": "(S I book a flight from Boston)"}, "does not derive"),
    ("messages", {**POSTS, "edges": [[0, 9]]}, "between two of the 5"),
    ("messages", {**POSTS, "edges": [[0, 1], [1, 0]]}, "one edge at most"),
    ("messages", {**POSTS, "edges": [[0, 1]] * 1000}, "at most 24"),
    ("messages", {**POSTS, "label": [["-inf", 0]] * 5}, "finite"),
    ("messages", {**POSTS, "root": 5}, "between 0 and 4"),
    ("image", {**PICTURE, "height": 1000}, "between 1 and 16"),
    ("image", {**PICTURE, "paint": [["-inf"] * 3] * 3}, "finite"),
    ("image", {"height": 16, "width": 16, "paint": [[0] * 16] * 16, "algorithm": "branching"},
     "at most 16 pixels"),
    ("learning", {"topic": "plane", "points": [[0, 0, 0]] * 1000}, "2 to 40"),
    ("learning", {"topic": "plane", "points": [[0, 0, 0], [1, 1, 0]]}, "two classes"),
    ("learning", {"topic": "plane", "points": [[0, 0, 0], [1, 1, 9]]}, "whole number"),
    ("learning", {**POINTS, "passes": 10**6}, "between 1 and 20"),
    ("constraints", {**FISH, "constraints": "forbid N\n" * 20}, "the limit is 8"),
    ("text", {"text": "word " * 100, "model": "demo tagger"}, "the limit is 60"),
    ("text", {"text": "x" * 5000}, "the limit is 2,000"),
    ("text", {"text": "fish", "model": "/etc/passwd"}, "no model"),
    ("nothing", {}, "no lab"),
]  # fmt: skip


@pytest.mark.parametrize(("lab", "values", "why"), TOO_MUCH)
def test_what_is_too_much_or_wrong_is_refused_by_name(lab, values, why):
    with pytest.raises(Refused, match=why):
        asked(lab, values)


def largest():
    """Yield requests at the limits of the labs."""
    rng = np.random.default_rng(0)

    def chain(L, K, **more):
        return {
            "words": [f"w{t}" for t in range(L)], "labels": [f"l{k}" for k in range(K)],
            "label": rng.normal(size=(L, K)).tolist(), "gold": rng.integers(0, K, L).tolist(),
            "transition": rng.normal(size=(K, K)).tolist(), **more,
        }  # fmt: skip

    yield "sequence", chain(20, 12, mode="sum")
    yield "sequence", chain(40, 6, mode="kbest", n=20)
    words = {"words": ["w"] * 12, "gold": list(range(12)), "mode": "sum"}
    arc = rng.normal(size=(13, 13)).tolist()
    yield "parse", {**words, "kind": "dependencies", "algorithm": "eisner", "arc": arc}
    rules = ["S -> S S", *(f"S -> A{i} A{j}" for i in range(5) for j in range(5))]
    rules += [f"A{i} -> A{j} A{(i + j) % 5}" for i in range(5) for j in range(5)]
    grammar = "\n".join([*rules, *(f"A{i} -> w {i / 10}" for i in range(5))])
    yield "parse", {"kind": "constituents", "words": ["w"] * 10, "grammar": grammar, "mode": "sum"}
    edges = [list(e) for e in itertools.combinations(range(12), 2)][:24]
    yield "messages", {
        "nodes": [f"n{v}" for v in range(12)], "labels": list("abcd"), "edges": edges,
        "label": rng.normal(size=(12, 4)).tolist(), "edge": rng.normal(size=(4, 4)).tolist(),
    }  # fmt: skip
    paint = rng.normal(size=(16, 16)).tolist()
    for more in ({}, {"algorithm": "messages"}, {"mode": "sum"}):
        yield "image", {"height": 16, "width": 16, "paint": paint, "gold": [0] * 256, **more}
    points = [[float(a), float(b), i % 4] for i, (a, b) in enumerate(rng.normal(size=(40, 2)))]
    yield "learning", {"topic": "plane", "points": points, "passes": 20}
    lines = ["at most 3 l0", "at least 9 l1", "exactly 7 l2", "forbid l3 then l4"]
    lines += ["require l5 at 1", "if l1 at 2 then l2 at 3", "at most 5 l4", "at least 2 l5"]
    yield "constraints", chain(40, 6, constraints="\n".join(lines), mode="sum")
    yield "text", {"text": "the old fish eats " * 15, "model": "demo parser"}


def test_what_is_as_large_as_it_may_be_is_answered():
    for lab, values in largest():
        found = json.dumps(plain(asked(lab, values)), allow_nan=False)
        assert len(found) < 1_500_000, lab


def test_numbers_are_written_as_readers_write_them():
    assert [number(x) for x in (12.7, -5.0, 1 / 3, 0.0, float("-inf"))] == [
        "12.7", "−5", "0.333", "0", "−∞",
    ]  # fmt: skip
    assert added([9, 1.2, -5]) == "9 + 1.2 − 5"


def test_the_page_offers_branch_and_bound_where_it_is_answered():
    page = files("structlearn.workbench").joinpath("page").joinpath("image.js").read_text()
    assert f"const MOST_BRANCHED = {image.MOST_BRANCHED};" in page


def test_sides_of_a_formula_that_read_the_same_stand_once():
    assert equals(added([3.0]), number(3.0)) == "= 3"
    assert equals(added([3.0, 1.0]), number(4.0)) == "= 3 + 1 = 4"
