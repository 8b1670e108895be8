"""A tagger gives the same probabilities alone, inside of a pipeline, and in the workbench."""

import json

import pytest

from structlearn.tasks import Pipeline, Tagger
from structlearn.tasks.pipeline.corpora import tagged_corpus
from structlearn.workbench.labs.pipelines import sentence_of
from tests.tasks.pipeline.small_treebank import treebank

pytestmark = pytest.mark.filterwarnings("ignore:.*not calibrated")

SHORT = {"max_iter": 2, "n_models": 1}


def one_sentence(text):
    """Cut a text at its blanks."""
    places, at = [], 0
    for word in text.split():
        begin = text.index(word, at)
        places.append((begin, at := begin + len(word)))
    return [places]


@pytest.fixture(scope="module", params=[False, True], ids=["as fitted", "calibrated"])
def pipeline(request):
    parser = {"hash_bits": 10, "order": 1, **SHORT}
    nlp = Pipeline(
        tokeniser=False, splitter=False, lemmas=False, tags=SHORT, parser=parser, folds=2
    )
    dev = treebank(40, random_state=1) if request.param else None
    return nlp.fit(treebank(30), dev=dev).with_tokeniser(one_sentence)


@pytest.fixture(scope="module")
def alone(pipeline, tmp_path_factory):
    path = tmp_path_factory.mktemp("stage") / "upos.model"
    pipeline.stage("upos").save(path)
    return Tagger.load(path)


def test_one_tagger_on_every_surface(pipeline, alone):
    for sentence in treebank(8, random_state=5):
        text = " ".join(row[1] for row in sentence)
        doc = pipeline(text, confidence=True)
        corpus = tagged_corpus([doc.tokens])
        (own,) = alone.predict_marginals(corpus)
        (inside,) = pipeline.stage("upos").predict_marginals(corpus)
        reading, _ = sentence_of(pipeline, text, 0, [], 60)
        (row,) = json.loads(doc.to_json())["sentences"]
        printed = row["tokens"]
        calibration = alone.calibration_
        for t, word in enumerate(doc):
            assert own[t] == pytest.approx(inside[t], abs=1e-12)
            for tag, p in reading.probabilities[t][1]:
                assert p == pytest.approx(own[t][tag], abs=1e-12)
            p = min(1.0, own[t][word.upos])
            wanted = p if calibration is None else calibration.confidence(p)
            assert word.confidence["upos"] == pytest.approx(wanted, abs=1e-12)
            assert printed[t]["confidence"]["upos"] == round(word.confidence["upos"], 4)


def test_readings_of_tags_alone():
    nlp = Pipeline(
        tokeniser=False, splitter=False, lemmas=False, tags=SHORT, parser=False, folds=2
    ).fit(treebank(30), dev=treebank(40, random_state=1))
    nlp = nlp.with_tokeniser(one_sentence)
    text = " ".join(row[1] for row in treebank(1, random_state=5)[0])
    reading, _ = sentence_of(nlp, text, 0, [], 60)
    tagger, doc = nlp.stage("upos"), nlp(text)
    (marginals,) = tagger.predict_marginals(tagged_corpus([doc.tokens]))
    drawn = reading.drawn(reading.ranked[0][1])
    assert drawn["tags"] == [word.upos for word in doc]
    wanted = [p[word.upos] for p, word in zip(marginals, doc, strict=True)]
    assert drawn["tag_probabilities"] == pytest.approx(wanted, abs=1e-12)
    assert (reading.note == "") is tagger.calibrated_
