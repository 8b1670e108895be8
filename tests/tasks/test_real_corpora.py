"""Taggers on corpora that people wrote; skipped where they are absent."""

import gzip

from structlearn.cli import run
from structlearn.tasks import ConstituencyParser, Tagger
from structlearn.text.bracket_treebank import read_trees
from tests.tasks.tagging.tagger_data import corpus_folder


def test_chunks_of_conll2000():
    folder = corpus_folder("conll2000")
    tagger = Tagger("chunk", max_iter=10).fit(folder / "train.txt.gz")
    assert tagger.evaluate(folder / "test.txt.gz")["f1"] >= 0.932


def test_only_the_tags_of_ewt_change(tmp_path):
    folder = corpus_folder("ud_en_ewt")
    model, out = str(tmp_path / "model"), tmp_path / "out.conllu"
    source = str(folder / "test.conllu.gz")
    train = ["train", "tagger", str(folder / "dev.conllu.gz"), "--model", model]
    assert run([*train, "--max-iter", "2", "--quiet"]) == 0
    assert run(["predict", model, source, "--output", str(out), "--threads", "2"]) == 0
    before = gzip.decompress((folder / "test.conllu.gz").read_bytes()).decode().split("\n")
    after = out.read_text().split("\n")
    assert len(before) == len(after)
    right = tokens = 0
    for old, new in zip(before, after, strict=True):
        if not old.split("\t")[0].isdigit():
            assert new == old
            continue
        cells, found = old.split("\t"), new.split("\t")
        right += cells[3] == found[3]
        tokens += 1
        cells[3] = found[3]
        assert found == cells
    assert 0.8 < right / tokens < 1
    assert tokens > 20_000


def test_constituents_of_the_penn_sample():
    folder = corpus_folder("ptb_sample")
    trees = [tree for tree, _ in read_trees(folder / "train.mrg.gz")][:500]
    parser = ConstituencyParser(max_iter=2, gold_tags=True).fit(trees)
    test = [tree for tree, _ in read_trees(folder / "test.mrg.gz")][:100]
    assert parser.evaluate(test)["f1"] > 0.75
