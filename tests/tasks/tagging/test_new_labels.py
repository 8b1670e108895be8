"""Training that continues from a model without some of the labels."""

import numpy as np
import pytest

from structlearn.cli import run
from structlearn.datasets import make_treebank
from structlearn.tasks import Tagger

BANK = [list(zip(s.words, s.tags, strict=True)) for s in make_treebank(200, random_state=0)]
#: Without determiners, and with them.
OLD = [[(w, k if k != "DT" else "NN") for w, k in row] for row in BANK[:100]]
NEW = BANK[:150]


def weights(model):
    """Return the weights of features by (key, label), and of the ends and pairs by label."""
    keys, row_ptr, column, values = (np.asarray(x) for x in model.unpacked())
    rows = np.repeat(np.arange(len(keys)), np.diff(row_ptr))
    of_features = {(int(keys[r]), model.labels[k]): v
                   for r, k, v in zip(rows, column, values, strict=True) if v}  # fmt: skip
    tables = {}
    for name in ("start", "end", *(f"transition{m}" for m in range(1, model.order + 1))):
        table = np.frombuffer(bytes(model.arrays[name]))
        axes = 1 if name in ("start", "end") else int(name[-1]) + 1
        for place, value in np.ndenumerate(table.reshape((len(model.labels),) * axes)):
            if value:
                tables[(name, *(model.labels[k] for k in place))] = value
    return of_features, tables


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("learner", ["perceptron", "crf"])
def test_old_weights_stay_and_the_new_label_begins_at_zero(learner, order):
    options = {"order": order, "max_iter": 3 if learner == "perceptron" else 40, "random_state": 0}
    first = Tagger("pos", learner, **options).fit(OLD)
    assert "DT" not in first.classes_
    again = Tagger("pos", learner, **options)
    fitting = again._plain()._fitting(_split(NEW), first)
    problem = fitting.problem()
    model = fitting.model(fitting.starting_weights(problem))
    assert "DT" in model.labels
    assert weights(model) == weights(first.model_)
    # It is learned, and the labels that were known are known still.
    again.fit(NEW, start=first)
    assert again.classes_ == sorted({*first.classes_, "DT"})
    scores = again.evaluate(BANK[150:])
    assert scores["accuracy"] > 0.85


def test_hashed_features_go_on_too():
    options = {"max_iter": 3, "hash_bits": 12}
    first = Tagger("pos", **options).fit(OLD)
    again = Tagger("pos", **options).fit(NEW, start=first)
    assert again.evaluate(BANK[150:])["accuracy"] > 0.85


def test_the_command(tmp_path, capfd):
    for name, rows in (("old", OLD), ("new", NEW)):
        lines = "".join("".join(f"{w} {k}\n" for w, k in row) + "\n" for row in rows)
        (tmp_path / name).write_text(lines)
    common = ["--max-iter", "2", "--n-models", "1", "--model"]
    assert run(["train", "pos", str(tmp_path / "old"), *common, str(tmp_path / "a")]) == 0
    given = ["--start", str(tmp_path / "a")]
    assert run(["train", "pos", str(tmp_path / "new"), *common, str(tmp_path / "b"), *given]) == 0
    assert "new label DT" in capfd.readouterr().err


def _split(rows):
    from structlearn.fitting.split_corpus import SplitCorpus
    from structlearn.text import Corpus

    return SplitCorpus.of(Corpus.from_sentences(rows))
