"""Text with labels filled in: every byte but the labels' stays."""

from __future__ import annotations

import pytest

from structlearn import _core
from structlearn.tasks import Tagger
from structlearn.text import FeatureTemplates, read_corpus


def labelled(model, text, target, **options):
    options = {"nbest": 1, "confidence": False, "marginals": False, **options}
    labeller = _core.Labeller(
        model.core, model.format, [target], model.n_columns, options["nbest"],
        options["confidence"], options["marginals"], False, 1.0, [], "_",
    )  # fmt: skip
    return labeller.label(text.encode(), 0, 1).decode()


def test_labels_in_the_last_column_of_conllu_take_what_else_there_is(tmp_path):
    path = tmp_path / "x.conllu"
    rows = [("fish", "LONG_LABEL"), ("sleep", "V")]
    text = "".join(f"{i}\t{w}" + "\t_" * 7 + f"\t{y}\n" for i, (w, y) in enumerate(rows, 1)) + "\n"
    path.write_text(text)
    tagger = Tagger(features=FeatureTemplates.parse("form"), target="misc", max_iter=5)
    model = tagger.fit(read_corpus(path)).model_
    blank = text.replace("LONG_LABEL", "_").replace("\tV", "\t_")
    assert labelled(model, blank, 9) == text
    cells = [line.split("\t") for line in labelled(model, blank, 9, nbest=2).splitlines() if line]
    assert [len(row) for row in cells] == [10, 10]
    assert [row[9].partition("|")[0] for row in cells] == ["LONG_LABEL", "V"]
    assert all(row[9].partition("|")[2].startswith("NBest2=") for row in cells)


@pytest.mark.parametrize("order", ["te", "et", "tet", "eet"])
def test_a_sentence_of_an_empty_node_alone_stays_as_it_is(order, tmp_path):
    """A model of column files labels CoNLL-U; such a sentence has no token to be labelled."""
    tagger = Tagger(features=FeatureTemplates.parse("word\npos"), max_iter=2)
    tagger.fit([[("fish", "N", "B-NP"), ("sleep", "V", "O")]])
    token, empty = "1\tfish\t_\tN" + "\t_" * 6, "1.1\te" + "\t_" * 8
    source, target = tmp_path / "in.conllu", tmp_path / "out.conllu"
    given = [token if c == "t" else empty for c in order]
    source.write_text("\n\n".join(given) + "\n")  # no blank line at the end: read by itself
    assert tagger.label_file(source, target) == order.count("t")
    found = target.read_text().rstrip("\n").split("\n\n")
    assert [line == empty for line in found] == [line == empty for line in given]
    assert all(line not in (token, empty) for line, c in zip(found, order, strict=True) if c == "t")
