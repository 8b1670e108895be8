"""Outputs without some parts: the best of all outputs, looked through."""

import pytest

from structlearn.datasets import make_treebank
from structlearn.tasks import ConstituencyParser, DependencyParser, SegmentTagger, Tagger

BANK = make_treebank(80, random_state=0)
WORDS = ["The", "old", "fish", "eat"]
#: More outputs than any of these models has for so few words.
ALL = 200_000


def tagger():
    model = Tagger("pos", max_iter=2, n_models=1)
    model.fit([list(zip(s.words, s.tags, strict=True)) for s in BANK])
    return model, WORDS, lambda y: set(enumerate(y))


def segments():
    model = SegmentTagger(max_iter=2, n_models=1, max_length=2)
    model.fit([list(zip(s.words, s.chunks, strict=True)) for s in BANK])

    def parts(labels):
        starts = [t for t, label in enumerate(labels) if not label.startswith("I-")]
        ends = [*starts[1:], len(labels)]
        return {(a, b, labels[a].removeprefix("B-")) for a, b in zip(starts, ends, strict=True)}

    return model, WORDS, parts


def arcs(**options):
    model = DependencyParser(gold_tags=True, hash_bits=12, n_models=1, max_iter=2, **options)
    rows = (zip(s.words, s.tags, s.heads, s.deprels, strict=True) for s in BANK)
    model.fit(list(map(list, rows)))
    words = list(zip(WORDS, ["DT", "JJ", "NN", "VBP"], strict=True))
    return model, words, lambda tree: {(head, m) for m, (head, _) in enumerate(tree, 1)}


def trees(**options):
    model = ConstituencyParser(gold_tags=True, **options).fit([s.brackets for s in BANK])
    # A counted grammar derives the tags of its sentences, some of them in several ways.
    short = sorted(BANK, key=lambda s: len(s.words))
    sentences = (list(zip(s.words, s.tags, strict=True)) for s in short)
    words = next(s for s in sentences if len(model.predict_kbest([s], 9)[0]) > 8)
    return model, words, lambda tree: {span for span in tree.spans() if span[2]}


MAKERS = {
    "tagger": tagger,
    "segments": segments,
    "arcs": lambda: arcs(order=1),
    "pairs of arcs": lambda: arcs(order=2),
    "spans": lambda: trees(max_iter=2),
    "rules": lambda: trees(learner="pcfg"),
}


@pytest.mark.parametrize("name", MAKERS)
def test_the_best_without_a_part_is_the_best_of_all_that_have_none(name):
    model, sentence, parts = MAKERS[name]()
    ranked = model.predict_kbest([sentence], ALL)[0]
    assert 1 < len(ranked) < ALL
    tried = 0
    for part in sorted(parts(ranked[0][1])):
        left = [value for value, output in ranked if part not in parts(output)]
        if not left:
            continue
        some = model.predict_kbest([sentence], 3, forbidden=[[part]])[0]
        assert [value for value, _ in some] == pytest.approx(left[:3], abs=1e-9)
        assert all(part not in parts(output) for _, output in some)
        tried += 1
    assert tried


def test_parts_that_do_not_exist_are_refused():
    model, sentence, _ = tagger()
    with pytest.raises(ValueError, match="no label 'QQ' at position 0"):
        model.predict_kbest([sentence], 1, forbidden=[[(0, "QQ")]])
    with pytest.raises(ValueError, match="at position 9"):
        model.predict_kbest([sentence], 1, forbidden=[[(9, "NN")]])
    with pytest.raises(ValueError, match="a list of forbidden parts for each input"):
        model.predict_kbest([sentence, sentence], 1, forbidden=[[]])
