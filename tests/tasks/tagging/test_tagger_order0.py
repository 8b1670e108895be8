"""Taggers without transitions, and with several lexica."""

import pytest

from structlearn.datasets import make_treebank
from structlearn.tasks import Tagger
from structlearn.text import FeatureTemplates

BANK = [
    list(zip(s.words, s.tags, s.chunks, strict=True)) for s in make_treebank(60, random_state=0)
]
TEMPLATES = "seen(lower(word))\nseen(pos)\nlower(word)\nsuffix(word, 2)\nbias"


@pytest.mark.parametrize("learner", ["perceptron", "crf", "adagrad"])
def test_each_token_is_labelled_by_itself(learner):
    templates = FeatureTemplates.parse("lower(word)\nsuffix(word, 2)")  # nothing of the neighbours
    rows = [[(word, tag) for word, tag, _ in s] for s in BANK]
    tagger = Tagger(templates, learner, order=0, max_iter=3).fit(rows)
    words = [word for s in rows for word, _ in s][:60]
    # The first and the last token have weights of their own; the others can change places.
    swapped = [words[0], *words[-2:0:-1], words[-1]]
    (one,), (other,) = (tagger.predict([[(word,) for word in row]]) for row in (words, swapped))
    assert len(set(one)) > 3
    assert one[1:-1] == other[-2:0:-1]
    (p,) = tagger.predict_marginals([[(word,) for word in words[:5]]])
    assert sum(p[2].values()) == pytest.approx(1.0)


def test_several_lexica_are_read_as_they_were_written(tmp_path):
    tagger = Tagger(FeatureTemplates.parse(TEMPLATES), n_models=1, max_iter=3).fit(BANK)
    assert len(tagger.model_.templates.lexica) == 2
    tagger.save(tmp_path / "t")
    again = Tagger.load(tmp_path / "t")
    assert again.predict(BANK) == tagger.predict(BANK)
    for name, lexicon in tagger.model_.templates.lexica.items():
        assert bytes(again.model_.templates.lexica[name].words) == bytes(lexicon.words)
