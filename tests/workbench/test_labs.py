"""The labs' answers against the library's, and what they refuse."""

import contextlib
import io
import itertools
import json
from types import SimpleNamespace

import numpy as np
import pytest

from structlearn.structures import Arborescence, Chain, Grid
from structlearn.traces.trace import plain
from structlearn.workbench.formulas import added, number
from structlearn.workbench.labs import ask
from structlearn.workbench.labs.constraints import read_constraint
from structlearn.workbench.models import Models
from structlearn.workbench.requests import Refused

from .examples import EXAMPLES, FISH, FLIGHT, JOHN, MONSTERS, PICTURE, POINTS

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
    nothing = asked("constraints", {**FISH, "constraints": "require N at 1\nforbid N"})
    assert nothing["best"] is None


@pytest.mark.parametrize(
    ("line", "python"),
    [
        ("forbid noun", "forbid(Label(0))"),
        ("forbid verb at 2", "forbid(Label(1, at=1))"),
        ("forbid noun then verb", 'forbid(Part("transition", 0, 1))'),
        ("require  adj at 3", "require(Label(2, at=2))"),
        ("at most 1 noun", "at_most(1, Label(0))"),
        ("exactly 2 verb", "exactly(2, Label(1))"),
        ("if noun at 1 then verb at 2", "if_then(Label(0, at=0), Label(1, at=1))"),
    ],
)
def test_constraints_are_read(line, python):
    assert read_constraint(line, ["noun", "verb", "adj"], 4).python == python


@pytest.mark.parametrize("line", ["forbid everything", "at most one noun", "__import__('os')"])
def test_other_lines_are_refused_with_what_works(line):
    with pytest.raises(Refused, match="What works"):
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


def test_numbers_are_written_as_readers_write_them():
    assert [number(x) for x in (12.7, -5.0, 1 / 3, 0.0, float("-inf"))] == [
        "12.7", "−5", "0.333", "0", "−∞",
    ]  # fmt: skip
    assert added([9, 1.2, -5]) == "9 + 1.2 − 5"


@pytest.mark.parametrize("model", ["demo tagger", "demo parser", "demo constituency"])
def test_text_goes_through_models(model):
    values = {"model": model, "text": "The old fish eat tasty bunnies."}
    found = json.loads(json.dumps(plain(asked("text", values)), allow_nan=False))
    assert found["words"] == ["The", "old", "fish", "eat", "tasty", "bunnies", "."]
    learned = MODELS.get(model)
    if model == "demo tagger":
        assert found["tags"] == learned.predict([[(w,) for w in found["words"]]])[0]
        part = [3, found["tags"][3]]
    elif model == "demo parser":
        assert len(found["arcs"]) == 7
        part = found["arcs"][0][:2]
    else:
        assert found["spans"][0][:2] == [0, 7]
        part = next(s for s in found["spans"] if s[1] - s[0] == 2)
    other = asked("text", {**values, "forbidden": [part]})
    shown = {"demo tagger": lambda o: list(enumerate(o["tags"])),
             "demo parser": lambda o: [tuple(a[:2]) for a in o["arcs"]],
             "demo constituency": lambda o: [tuple(s) for s in o["spans"]]}[model]  # fmt: skip
    assert tuple(part) in shown(found)
    assert tuple(part) not in shown(other)
    assert other["price"] > 0


def test_a_pipeline_has_a_step_for_each_sentence():
    """As a model file of raw text is read: an object of that name that annotates a text."""

    def word(number, form, upos, head, relation):
        sure = {"upos": 0.9, "head": 0.8}
        return SimpleNamespace(id=number, form=form, lemma=form.lower(), upos=upos, head=head,
                               relation=relation, confidence=sure)  # fmt: skip

    class Pipeline:
        def __call__(self, text, confidence):
            assert confidence
            first = [word(1, "Fish", "NOUN", 2, "nsubj"), word(2, "sleep", "VERB", 0, "root")]
            second = [word(1, "They", "PRON", 2, "nsubj"), word(2, "dream", "VERB", 0, "root")]
            return SimpleNamespace(sentences=[SimpleNamespace(words=w) for w in (first, second)])

    models = Models()
    models._models["en.model"] = Pipeline()
    values = {"text": "Fish sleep. They dream.", "model": "en.model"}
    found = json.loads(json.dumps(plain(ask("text", values, models)), allow_nan=False))
    assert len(found["steps"]) == 2
    assert found["sentences"][1]["arcs"] == [[2, 1, "nsubj"], [0, 2, "root"]]
    assert found["sentences"][0]["tags"] == ["NOUN", "VERB"]
    assert found["sentences"][0]["arc_probabilities"] == [0.8, 0.8]
