"""The answers of a server are those of the library, for every model of text."""

import functools
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

import structlearn
from structlearn import CRF
from structlearn.serve import Settings
from structlearn.serve.answers import plain
from structlearn.tasks.pipeline.files import written_doc
from structlearn.text.answers import as_json
from tests.serve.running import in_thread
from tests.tasks.test_matrix import TASKS
from tests.tasks.trainings import TRAININGS

pytestmark = pytest.mark.filterwarnings(
    "ignore::structlearn.exceptions.InexactInferenceWarning",
    "ignore::structlearn.exceptions.ConvergenceWarning",
)
CASES = {
    "tagger": ("tagger", "perceptron"),
    "crf": ("tagger", "crf"),
    "segments": ("segments", "crf"),
    "parser": ("parser", "perceptron"),
    "constituency": ("constituency", "perceptron"),
    "pipeline": ("pipeline", "perceptron"),
}
TEXTS = ["They don't! The cat sees a dog.\n\nDon't they swim?\n", "The old man sleeps.", "", " \n"]


@functools.cache
def estimator():
    X = [[{"w": "fish", "n": 1.0}, {"w": "sleep"}], [{"w": "sleep"}, {"w": "fish"}]]
    return CRF().fit(X, [["N", "V"], ["V", "N"]])


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server of a model of each kind, and these models as the library loads them."""
    folder = tmp_path_factory.mktemp("models")
    paths = {}
    for name, (task, learner) in CASES.items():
        paths[name] = str(folder / f"{name}.model")
        TRAININGS[task].fit(learner).save(paths[name])
    paths["estimator"] = str(folder / "estimator.model")
    estimator().save(paths["estimator"])
    with in_thread(Settings(paths, threads=2)) as client:
        client.models = {name: structlearn.load(path) for name, path in paths.items()}
        yield client


def inputs_of(name):
    if name == "estimator":
        return [[{"w": "fish"}, {"w": "sleep", "n": 0.5}], [{"w": "sleep"}]]
    given = TASKS["tagger"].inputs if name == "pipeline" else TRAININGS[CASES[name][0]].inputs
    return [[list(t) if isinstance(t, tuple) else t for t in sentence] for sentence in given]


@pytest.mark.parametrize("name", [*CASES, "estimator"])
def test_outputs(name, served):
    model, X = served.models[name], inputs_of(name)
    expected = json.loads(json.dumps([plain(y) for y in model.predict(X)]))
    answer = served.predict(model=name, inputs=X)
    assert answer.status == 200, answer.content
    assert answer.json["outputs"] == expected
    assert answer.json["model"] == name
    one = served.predict(model=name, input=X[0])
    assert one.json["outputs"] == expected[:1]


@pytest.mark.parametrize("name", [*CASES, "estimator"])
def test_best_outputs_with_their_scores(name, served):
    model, X = served.models[name], inputs_of(name)[:3]
    expected = [
        [{"score": score, "output": plain(y)} for score, y in ranked]
        for ranked in model.predict_kbest(X, 3)
    ]
    found = served.predict(model=name, inputs=X, kbest=3).json["kbest"]
    assert found == json.loads(json.dumps(expected))
    assert any(len(row) > 1 for row in found)


@pytest.mark.parametrize("name", [n for n in [*CASES, "estimator"] if n != "pipeline"])
def test_confidence(name, served):
    model, X = served.models[name], inputs_of(name)[:3]
    with nullcontext() if model.calibrated_ else pytest.warns(UserWarning, match="calibrated"):
        expected = [[as_json(float(p)) for p in row] for row in model.confidence(X)]
    answer = served.predict(model=name, inputs=X, confidence=True).json
    assert answer["confidence"] == expected
    assert answer["calibrated"] == model.calibrated_


@pytest.mark.filterwarnings("ignore:the probabilities of this")
@pytest.mark.parametrize("confidence", [False, True])
def test_annotated_texts(confidence, served):
    nlp = served.models["pipeline"]
    docs = [nlp(text, confidence=confidence) for text in TEXTS]
    asked = {"model": "pipeline", "texts": TEXTS, "confidence": confidence}
    assert served.annotate(**asked).json["docs"] == [doc.to_dict() for doc in docs]
    for format in ("conllu", "html", "text"):
        found = served.annotate(**asked, format=format).json["docs"]
        assert found == [written_doc(doc, format, confidence) for doc in docs]
    one = served.annotate(model="pipeline", text=TEXTS[0]).json["docs"]
    assert one == [nlp(TEXTS[0]).to_dict()]


def test_best_trees_of_texts(served):
    nlp = served.models["pipeline"]
    found = served.annotate(model="pipeline", texts=TEXTS, kbest=2).json["kbest"]
    expected = [
        [[{"score": s, "output": plain(t)} for s, t in ranked] for ranked in nlp.rank_trees(doc, 2)]
        for doc in map(nlp, TEXTS)
    ]
    assert found == json.loads(json.dumps(expected))
    assert len(found[0][1]) == 2


@pytest.mark.parametrize("name", CASES)
def test_no_inputs_and_empty_ones(name, served):
    assert served.predict(model=name, inputs=[]).json["outputs"] == []
    asked = {"confidence": name != "pipeline", "kbest": 2}
    found = served.predict(model=name, inputs=[], **asked).json
    assert [found.get(key) for key in ("outputs", "kbest")] == [[], []]
    assert found.get("confidence", []) == []
    expected = json.loads(json.dumps(plain(served.models[name].predict([[]])[0])))
    assert served.predict(model=name, inputs=[[]]).json["outputs"] == [expected]


def test_characters_of_any_kind(served):
    words = ["naïve", "日本", "😀", "\u2028", "'", '"', "\\", "a\u0301"]
    answer = served.predict(model="tagger", input=words)
    assert answer.json["outputs"] == served.models["tagger"].predict([words])


def test_queries_together_are_answered_as_alone(served):
    """Requests that wait together go to the model together; one that is wrong fails alone."""
    X = inputs_of("tagger")
    asked = [[x] if i % 5 else [x, ["\ud800"]] for i, x in enumerate(X * 6)]
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda some: served.predict(model="tagger", inputs=some), asked))
    for some, answer in zip(asked, answers, strict=True):
        if len(some) == 2:
            assert answer.status == 422
        else:
            assert answer.json["outputs"] == served.models["tagger"].predict(some)
