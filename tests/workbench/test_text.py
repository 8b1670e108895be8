"""The lab of one's own text: models, what decided, forbidden parts, gold."""

import contextlib
import io
import json
import pathlib
import re
import sys

import pytest

from structlearn.tasks import Pipeline, Tagger
from structlearn.tasks.pipeline.corpora import tagged_corpus
from structlearn.traces.trace import plain
from structlearn.workbench.labs import ask
from structlearn.workbench.labs.readings import calibration_note
from structlearn.workbench.models import Models
from structlearn.workbench.requests import Refused
from tests.tasks.pipeline.small_treebank import treebank

DEMOS = ["demo tagger", "demo parser", "demo constituency"]
FISH = "The old fish eat tasty bunnies."
BOSTON = "I want a morning flight from Boston. It leaves late."
PACKAGE = pathlib.Path(__file__).parents[2] / "models" / "english" / "src"


@pytest.fixture(scope="module")
def models():
    if not (PACKAGE / "structlearn_english" / "english.model").exists():
        pytest.skip("the English model is not at hand")
    sys.path.insert(0, str(PACKAGE))
    yield Models()
    sys.path.remove(str(PACKAGE))


@pytest.fixture(scope="module")
def demos():
    return Models()


def asked(models, **values):
    return json.loads(json.dumps(plain(ask("text", values, models)), allow_nan=False))


def parts(found, step=0):
    return [tuple(part) for part, _ in found["steps"][step]["shown"]["parts"]]


@pytest.mark.parametrize("model", DEMOS)
def test_text_goes_through_models(demos, model):
    found = asked(demos, model=model, text=FISH)
    assert found["words"] == ["The", "old", "fish", "eat", "tasty", "bunnies", "."]
    learned, shown = demos.get(model), found["steps"][0]["shown"]
    if model == "demo tagger":
        assert shown["tags"] == learned.predict([[(w,) for w in found["words"]]])[0]
    elif model == "demo parser":
        tree = learned.predict(["The old fish eat tasty bunnies ."])[0]
        assert [[h, r] for h, _, r in shown["arcs"]] == [list(arc) for arc in tree]
        p = learned.predict_marginals(["The old fish eat tasty bunnies ."], least=0)[0]
        expected = [p[m].get(tuple(arc), 0) for m, arc in enumerate(tree)]
        assert shown["arc_probabilities"] == pytest.approx(expected, abs=1e-3)
    else:
        assert shown["spans"][0][:2] == [0, 7]
    assert found["why"]
    assert found["probabilities"]
    assert found["note"] == calibration_note(learned)
    scores = [
        float(s["formula"][0].split()[2].rstrip(",").replace("−", "-")) for s in found["steps"]
    ]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("model", DEMOS)
def test_a_forbidden_part_is_gone_at_a_price(demos, model):
    found = asked(demos, model=model, text=FISH)
    part = parts(found)[{"demo constituency": -1}.get(model, 1)]
    other = asked(demos, model=model, text=FISH, forbidden=[list(part)])
    for step in range(len(other["steps"])):
        assert part not in parts(other, step)
    assert other["price"] == pytest.approx(found["best"]["score"] - other["best"]["score"])
    assert other["price"] > 0


@pytest.mark.parametrize("model", DEMOS)
def test_gold_has_a_cost_and_costs_can_be_added(demos, model):
    found = asked(demos, model=model, text=FISH)
    second = found["steps"][1]["shown"]["marks"]
    judged = asked(demos, model=model, text=FISH, gold=second)
    assert (judged["gold"]["cost"], judged["runner_up"]["cost"]) == (0, 0)
    if model != "demo constituency":  # there the second adds a span over one word
        assert judged["gold"]["named"] == found["runner_up"]["named"]
        assert judged["best"]["cost"] >= 1
    added = asked(demos, model=model, text=FISH, gold=second, augmented=True)
    totals = [c["score"] + c["cost"] for c in (added["best"], added["runner_up"])]
    assert totals[0] >= totals[1]
    assert totals[0] >= judged["best"]["score"] + judged["best"]["cost"]


@pytest.mark.parametrize("model", DEMOS)
def test_the_python_to_copy_makes_the_same_model(demos, model):
    found = asked(demos, model=model, text=FISH)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(found["python"], model, "exec"), {})
    first = out.getvalue().splitlines()[0]
    if model == "demo tagger":
        assert first == str(found["steps"][0]["shown"]["tags"])
    elif model == "demo constituency":
        assert found["best"]["named"][0] in first
    else:
        assert all(relation in first for _, _, relation in found["steps"][0]["shown"]["arcs"])


def test_tags_without_forbidden_ones_are_the_best_of_those(demos):
    """Against the list of the best taggings, looked through."""
    words = ["The", "old", "fish", "eat"]
    ranked = demos.get("demo tagger").predict_kbest([[(w,) for w in words]], 20_000)[0]
    for part in enumerate(ranked[0][1]):
        found = asked(demos, model="demo tagger", text=" ".join(words), forbidden=[list(part)])
        value, tags = next((v, y) for v, y in ranked if y[part[0]] != part[1])
        assert found["steps"][0]["shown"]["tags"] == list(tags)
        assert found["best"]["score"] == pytest.approx(value)


def test_the_python_names_the_file_of_the_command_line(tmp_path):
    path = tmp_path / "tags.model"
    Tagger(max_iter=2).fit([[("fish",), ("sleep",)]], [["N", "V"]]).save(path)
    found = asked(Models([str(path)]), text="fish sleep")
    assert found["model"] == "tags.model"
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(found["python"], "tags", "exec"), {})
    assert out.getvalue().startswith("['N', 'V']")


def test_the_english_pipeline_comes_first_and_is_read_whole(models):
    assert models.names()[0] == "english"
    found = asked(models, text=BOSTON)
    assert (found["model"], found["kind"]) == ("english", "Pipeline")
    assert found["sentences"] == ["I want a morning flight from Boston.", "It leaves late."]
    doc = models.get("english")(BOSTON, confidence=True)
    words = doc.sentences[0].tokens
    shown = found["steps"][0]["shown"]
    assert shown["tags"] == [w.upos for w in words]
    assert [[h, r] for h, _, r in shown["arcs"]] == [[w.head_id, w.relation] for w in words]
    english = models.get("english")
    tags = dict(found["probabilities"][: len(words)])
    calibration = english.stage("upos").calibration_
    for word in words:
        p = dict(tags[word.text])[word.upos]
        assert calibration.confidence(p) == pytest.approx(word.confidence["upos"], abs=1e-12)
    (p,) = english.stage("parser").predict_marginals(tagged_corpus([words]), least=0.0)
    expected = [row[word.head_id, word.relation] for row, word in zip(p, words, strict=True)]
    assert shown["arc_probabilities"] == pytest.approx(expected, abs=1e-12)
    assert min(word.confidence["head"] for word in words) > 0.3
    assert {d["about"] for d in found["why"]} >= {"Boston (tag)", "Boston (head)"}
    second = asked(models, text=BOSTON, sentence=1)
    assert second["words"] == ["It", "leaves", "late", "."]


def test_a_forbidden_arc_of_the_english_pipeline_moves_boston(models):
    found = asked(models, text=BOSTON)
    flight, boston = found["words"].index("flight") + 1, found["words"].index("Boston") + 1
    assert [flight, boston] in [a[:2] for a in found["steps"][0]["shown"]["arcs"]]
    other = asked(models, text=BOSTON, forbidden=[[flight, boston]])
    want = found["words"].index("want") + 1
    assert [want, boston] in [a[:2] for a in other["steps"][0]["shown"]["arcs"]]
    assert other["price"] == pytest.approx(found["best"]["score"] - other["best"]["score"])
    # The runner-up may have the arc.
    assert other["price"] >= found["best"]["score"] - found["runner_up"]["score"] - 1e-9


def test_a_forbidden_tag_of_the_english_pipeline_gives_another_tree(models):
    found = asked(models, text=BOSTON)
    other = asked(models, text=BOSTON, forbidden=[[1, "VERB"]])
    assert found["steps"][0]["shown"]["tags"][1] == "VERB"
    assert other["steps"][0]["shown"]["tags"][1] != "VERB"
    assert (1, "VERB") not in parts(other)
    assert other["steps"][0]["shown"]["arcs"] != found["steps"][0]["shown"]["arcs"]


def test_stages_of_the_pipeline_may_be_missing(models):
    own = Models()
    own._models["tags"] = models.get("english").without("parser")
    found = asked(own, model="tags", text=BOSTON)
    assert "arcs" not in found["steps"][0]["shown"]
    assert found["steps"][0]["shown"]["tags"][:2] == ["PRON", "VERB"]
    assert (0, "PRON") in parts(found)


def test_the_python_of_the_english_pipeline_runs(models):
    found = asked(models, text="Fish sleep.")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(found["python"], "english", "exec"), {})
    assert "sleep" in out.getvalue()


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"forbidden": [[0, 0, 0, 0]]}, "a part is a list"),
        ({"forbidden": [[0.5, 1]]}, "whole numbers and names"),
        ({"forbidden": [[0, "N"]] * 21}, "at most 20"),
        ({"forbidden": "x"}, "at most 20"),
        ({"model": "demo parser", "forbidden": [[99, 1]]}, "pair: head, word"),
        ({"sentence": -1, "model": "demo tagger", "augmented": "x"}, "true or false"),
    ],
)
def test_what_is_wrong_is_refused_by_name(demos, values, why):
    with pytest.raises(Refused, match=why):
        ask("text", {"text": FISH, "model": "demo tagger", **values}, demos)


def test_arcs_of_a_pipeline_are_as_probable_as_its_parser_says(tmp_path):
    """Order 2 sums over trees without crossing arcs, among the arcs that its parser considers."""
    short = {"max_iter": 1, "n_models": 1}
    bank = treebank(10, random_state=1)
    nlp = Pipeline(
        tokeniser=False, splitter=False, lemmas=False, tags=short, folds=2,
        parser={"hash_bits": 10, "order": 2, "most_heads": 3, **short},
    ).fit(bank, dev=bank)  # fmt: skip
    nlp.save(tmp_path / "nlp.model")
    models = Models([str(tmp_path / "nlp.model")])
    own = models.get("nlp.model")
    models._models["nlp.model"] = own.with_tokeniser(one_sentence)
    for sentence in bank:
        text = " ".join(row[1] for row in sentence)
        doc = own.with_tokeniser(one_sentence)(text, confidence=True)
        shown = asked(models, text=text)["steps"][0]["shown"]
        # Less than a two-thousandth is not shown.
        given = tagged_corpus([doc.tokens])
        (rows,) = own.stage("parser").predict_marginals(given, least=5e-4)
        expected = [
            row.get((word.head_id, word.relation), 0.0) for row, word in zip(rows, doc, strict=True)
        ]
        assert shown["arc_probabilities"] == pytest.approx(expected, abs=1e-12)


def one_sentence(text):
    """Cut a text at its blanks."""
    return [[match.span() for match in re.finditer(r"\S+", text)]]
