"""Segments of a real corpus; skipped where it is absent."""

import os
import pathlib

import pytest

from structlearn.tasks import SegmentTagger
from structlearn.text import Corpus, read_corpus

FOLDER = pathlib.Path(os.environ.get("STRUCTLEARN_DATA", "no folder")) / "conll2002_es"


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"there is no {FOLDER}: STRUCTLEARN_DATA names it")
def test_spanish_entities():
    train, dev = (read_corpus(FOLDER / f"{name}.txt.gz") for name in ("train", "testa"))
    part = Corpus.from_sentences(list(sentence) for sentence in train[:1500])
    held_out = Corpus.from_sentences(list(sentence) for sentence in dev[:400])
    tagger = SegmentTagger(max_length=6, max_iter=4, n_models=1).fit(part)
    result = tagger.evaluate(held_out)
    assert result["f1"] > 0.5
    assert result["by_type"]["PER"] > 0.5
    assert tagger.n_cut_ > 0
    assert tagger.classes_ == ["O", "LOC", "MISC", "ORG", "PER"]
