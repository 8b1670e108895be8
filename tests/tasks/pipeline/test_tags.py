"""Tags that agree: the native choice against the formula."""

import pickle
from array import array

import numpy as np
import pytest

from structlearn import _core
from structlearn.exceptions import FileError, LineError
from structlearn.models.calibration import Calibration
from structlearn.tasks.pipeline.tags import (
    TAG_COLUMNS,
    AgreeingTagger,
    seen_combinations,
    train_tagger,
)
from structlearn.text.corpus import Corpus
from tests.tasks.pipeline.small_treebank import treebank

TRAIN, TEST = treebank(40), treebank(60, random_state=1)


@pytest.fixture(scope="module")
def models():
    short = {"n_models": 1, "max_iter": 2}
    return [train_tagger(TRAIN, column, **short) for column in TAG_COLUMNS]


def chosen_by_formula(models, combinations, temperatures):
    """Return the argmax of log P(u) + log P(x) + log P(f), word by word, and all the sums."""
    columns = [
        [model.shown.index(combination[c]) for combination in combinations]
        for c, model in enumerate(models)
    ]
    sums = []
    for s in range(len(TEST)):
        total = 0.0
        for model, column, temperature in zip(models, columns, temperatures, strict=True):
            p = np.full((TEST.core.length(s), len(model.labels)), 1e-300)
            for token, _, k, share in model.inputs(TEST.subset([s])).marginals(temperature)[0]:
                p[token, k] = max(share, 1e-300)
            total = total + np.log(p)[:, column]
        sums.append(total)
    sums = np.concatenate(sums)
    return sums.argmax(axis=1).tolist(), sums


@pytest.mark.parametrize("temperature", [None, 0.02, 1.0, 50.0])
def test_the_most_probable_combination(models, temperature):
    for model, factor in zip(models, (1, 2, 3), strict=True):
        model.calibration = temperature and Calibration(temperature * factor, 100, 0.0)
    combinations = seen_combinations(TRAIN)
    # Not all words may have what their taggers like best.
    for some in (combinations, combinations[::2], combinations[:1]):
        tagger = AgreeingTagger(models, some)
        temperatures = [model.temperature or 1.0 for model in models]
        expected, sums = chosen_by_formula(models, some, temperatures)
        for threads in (1, 2, 5):
            assert tagger.numbers(TEST, threads).tolist() == expected
        assert tagger(TEST, 2) == [some[k] for k in expected]
        if temperature == 0.02 and some is not combinations:  # the least probability decides
            assert (sums.min(axis=1) <= np.log(1e-300)).any()


def agreeing(models, combinations, temperature, exact):
    """Return the taggers that agree of the core."""
    columns = []
    for column, model in zip(zip(*combinations, strict=True), models, strict=True):
        columns.append(array("I", map(model.shown.index, column)))
    cores, names = [model.core for model in models], list(map("\t".join, combinations))
    return _core.AgreeingTags(cores, [temperature] * 3, columns, names, exact)


@pytest.mark.parametrize(("temperature", "equal"), [(0.05, 0.95), (2.0, 1), (50.0, 1)])
def test_sums_over_likely_labels(models, temperature, equal):
    """Where probabilities are not extreme, what is left out of the sums changes no choice."""
    combinations = seen_combinations(TRAIN)
    exact, likely = (agreeing(models, combinations, temperature, n) for n in (64, 0))
    one, other = (array("I", tags.choose(TEST.core, 1)) for tags in (exact, likely))
    assert sum(a == b for a, b in zip(one, other, strict=True)) >= equal * len(one)
    assert likely.choose(TEST.core, 3) == likely.choose(TEST.core, 1)


def test_one_sentence_in_one_call(models):
    tagger = AgreeingTagger(models, seen_combinations(TRAIN))
    rows = iter(tagger(TEST))
    for forms in TEST.column("form"):
        assert tagger.single(forms) == [next(rows) for _ in forms]
    models[0].calibration = Calibration(3.0, 100, 0.0)  # another temperature, which is taken up
    again = [tag for forms in TEST.column("form") for tag in tagger.single(forms)]
    assert again == tagger(TEST)
    assert pickle.loads(pickle.dumps(tagger))(TEST) == again
    models[0].calibration = None


def test_of_equal_combinations_the_first(models):
    combinations = seen_combinations(TRAIN)
    once = AgreeingTagger(models, combinations).numbers(TEST)
    assert len(set(once)) > 5
    assert AgreeingTagger(models, combinations * 2).numbers(TEST) == once


def test_what_cannot_be_tagged(models):
    with pytest.raises(ValueError, match="no combinations"):
        AgreeingTagger(models, [])
    with pytest.raises(KeyError, match="NONE"):
        AgreeingTagger(models, [("NONE", "NN", "_")])
    few = Corpus.from_sentences([[("word",)]])
    with pytest.raises((FileError, LineError), match="the features read column 2"):
        AgreeingTagger(models, seen_combinations(TRAIN)).numbers(few)
    assert not AgreeingTagger(models, seen_combinations(TRAIN)).numbers(TEST.subset([]))
