"""Training of segments that goes on from a model: its weights stay, new labels begin at zero."""

import warnings

import pytest

from structlearn import cli, load
from structlearn.datasets import make_treebank
from structlearn.tasks import SegmentTagger, Tagger
from structlearn.tasks.segments.fitting import SegmentFitting
from structlearn.text import Corpus, FeatureTemplates

BANK = make_treebank(60, random_state=0)
ROWS = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in BANK]


def without(kind, rows=ROWS):
    """Return sentences without the chunks of a kind."""
    return [[(w, t, "O" if k.endswith(kind) else k) for w, t, k in s] for s in rows]


@pytest.fixture(scope="module")
def first():
    return SegmentTagger(learner="crf", max_iter=8).fit(without("-VP"))


@pytest.mark.parametrize("longest", [None, 9])
def test_the_weights_are_those_of_the_model(first, longest):
    """Every segmentation that the model has keeps its score, whatever is new."""
    tagger = SegmentTagger(learner="crf", max_length=longest)
    run = SegmentFitting(tagger, Corpus.from_sentences(ROWS[:20]), first.model_)
    problem = run.problem()
    model = run.model(run.starting_weights(problem))
    assert set(model.labels) - set(first.classes_) == {"VP"}
    assert model.max_length >= first.model_.max_length
    again = SegmentTagger()
    again.model_ = model
    X = [[token[:2] for token in s] for s in ROWS[30:36]]
    best = first.predict(X)
    (given,) = [again._scores_of(again._inputs(X), best, 1.0)]
    assert given == pytest.approx(first._scores_of(first._inputs(X), best, 1.0), abs=1e-5)


def test_the_optimum_is_the_same_and_nearer():
    """Of features without lexica, which an earlier model has made from other sentences."""
    features = FeatureTemplates.parse("begin(word)\nend(pos)\nbegin(word[-1])")
    parameters = {"features": features, "learner": "crf", "max_iter": 300, "tol": 1e-6}
    first = SegmentTagger(**{**parameters, "max_iter": 8}).fit(without("-VP"))
    cold = SegmentTagger(**parameters).fit(without("-VP"))
    warm = SegmentTagger(**parameters).fit(without("-VP"), start=first)
    objectives = [one.history_[-1]["objective"] for one in (cold, warm)]
    assert objectives[1] == pytest.approx(objectives[0], rel=1e-4)
    losses = [one.history_[0]["loss"] for one in (cold, warm)]
    assert losses[1] < 0.5 * losses[0]


def test_new_labels_are_learned(first, tmp_path):
    for learner in ("perceptron", "crf"):
        tagger = SegmentTagger(learner=learner, max_iter=20).fit(ROWS, start=first)
        assert "VP" in tagger.classes_
        assert tagger.evaluate(ROWS)["by_type"]["VP"] > 0.95
        tagger.save(tmp_path / "m.model")
        assert load(tmp_path / "m.model").predict(ROWS[:3]) == tagger.predict(ROWS[:3])


def test_other_features_are_refused_and_constraints_stay(first):
    with pytest.raises(ValueError, match="the features are those of the earlier model"):
        SegmentTagger(FeatureTemplates.parse("begin(word)")).fit(ROWS, start=first)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bound = SegmentTagger(max_iter=2, constraints="at_most(6, 'NP')", illegal="drop").fit(ROWS)
        again = SegmentTagger(max_iter=2, illegal="drop").fit(ROWS, start=bound)
    assert again.model_.constraints == bound.model_.constraints != []


def test_commands(tmp_path, capfd):
    texts = [
        f'{{"text": "Ann saw Rome.", "spans": [{{"start": 0, "end": 3, "label": "PER"}}{more}]}}\n'
        for more in ("", ', {"start": 8, "end": 12, "label": "LOC"}')
    ]
    for name, text in zip("ab", texts, strict=True):
        (tmp_path / f"{name}.jsonl").write_text(text * 20)
    a, b = (str(tmp_path / f"{name}.jsonl") for name in "ab")
    for kind, class_ in (("ner", Tagger), ("segments", SegmentTagger)):
        model = str(tmp_path / f"{kind}.model")
        assert cli.run(["train", kind, a, "--model", model, "-q"]) == 0
        assert cli.run(["train", kind, b, "--start", model, "--model", model]) == 0
        assert "which begin" in capfd.readouterr().err
        tagger = class_.load(model)
        assert [s.label for s in tagger.predict_spans(["Ann saw Rome."])[0]] == ["PER", "LOC"]
    wrong = ["train", "segments", b, "--start", str(tmp_path / "ner.model"), "--model", model]
    assert cli.run(wrong) == 1
    assert "ner.model" in capfd.readouterr().err
    with pytest.raises(SystemExit):
        cli.run(["train", "parser", b, "--start", model, "--model", model])
    assert "there is no option --start" in capfd.readouterr().err
