"""Dependency parsers on made data: learning, files, threads, errors."""

from __future__ import annotations

import io
import json
import pickle
import warnings
from typing import Any

import pytest

from structlearn.cli import run
from structlearn.datasets import make_treebank
from structlearn.exceptions import FileError, InexactInferenceWarning
from structlearn.fitting.learner_registry import LEARNERS
from structlearn.structures.trees.heads import is_projective
from structlearn.tasks import DependencyParser, Tagger
from structlearn.tasks.inspection import inspect_task
from structlearn.text import read_corpus


def _trees(n: int, seed: int = 0) -> list[list[tuple[str, str, int, str]]]:
    return [
        list(zip(s.words, s.tags, s.heads, s.deprels, strict=True))
        for s in make_treebank(n, random_state=seed)
    ]


def _conllu(trees: list[list[tuple[str, str, int, str]]]) -> str:
    blocks = []
    for number, tree in enumerate(trees, 1):
        lines = [f"# sent_id = {number}"]
        lines += [
            "\t".join((str(i), word, "_", tag, tag, "_", str(head), label, "_", "_"))
            for i, (word, tag, head, label) in enumerate(tree, 1)
        ]
        blocks.append("\n".join(lines) + "\n\n")
    return "".join(blocks)


TRAIN, TEST = _trees(250), _trees(60, seed=1)
SMALL = {"hash_bits": 18, "max_iter": 4}


@pytest.fixture(scope="module")
def fitted() -> DependencyParser:
    return DependencyParser(folds=2, **SMALL).fit(TRAIN)


def _las(parser: DependencyParser, **options: bool) -> float:
    return float(parser.evaluate(TEST, **options)["las"])


def _is_tree(heads: list[int]) -> bool:
    for word in range(1, len(heads) + 1):
        seen, at = set(), word
        while at:
            if at in seen:
                return False
            seen.add(at)
            at = heads[at - 1]
    return heads.count(0) == 1


def _crosses(heads: list[int]) -> bool:
    arcs = [(min(h, m), max(h, m)) for m, h in enumerate(heads, 1)]
    return any(a < c < b < d for a, b in arcs for c, d in arcs)


def test_learns(fitted: DependencyParser) -> None:
    found = fitted.evaluate(TEST)
    assert found["las"] > 0.7
    assert found["uas"] >= found["las"]
    assert found["proven"] > 0.7
    assert found["by_label"]["root"]["gold"] == len(TEST)
    for tree in fitted.predict(TEST):
        assert _is_tree([head for head, _ in tree])


@pytest.mark.parametrize(
    ("learner", "order"),
    [(name, 1) for name in LEARNERS] + [(name, 2) for name in LEARNERS if name != "crf"],
)
def test_learners(learner: str, order: int) -> None:
    passes = 20 if learner in ("svm", "crf") else 4
    parser = DependencyParser(order, learner, gold_tags=True, hash_bits=18, max_iter=passes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InexactInferenceWarning)
        parser.fit(TRAIN)
    assert _las(parser, gold_tags=True) > 0.7


def test_projective_trees_do_not_cross() -> None:
    parser = DependencyParser(gold_tags=True, projective=True, hash_bits=18, max_iter=2).fit(TRAIN)
    scrambled = [[(w, t) for w, t, _, _ in tree[::2] + tree[1::2]] for tree in TEST]
    trees = parser.predict(scrambled)
    assert not any(_crosses([head for head, _ in tree]) for tree in trees)


def test_projective_trees_of_order_two_are_proven() -> None:
    parser = DependencyParser(
        gold_tags=True, projective=True, order=2, hash_bits=18, max_iter=2
    ).fit(TRAIN)
    assert parser.evaluate(TEST)["proven"] == 1.0
    assert not any("inexact" in r for r in parser.history_)
    for tree in parser.predict([[cells[:2] for cells in s] for s in TEST]):
        assert is_projective([head for head, _ in tree])


@pytest.mark.parametrize("projective", [False, True])
def test_the_relation_root_is_that_of_the_root(projective: bool) -> None:
    """Tags never seen leave no choice to the sets of labels, but the root's stays its own."""
    parser = DependencyParser(gold_tags=True, projective=projective, hash_bits=14, max_iter=1)
    parser.fit(TRAIN[:20])
    strange = [[(f"w{i}", f"T{i % 3}") for i in range(n)] for n in (1, 2, 5, 9, 14, 3, 8, 7)]
    for tree in parser.predict(strange):
        assert [label == "root" for _, label in tree] == [head == 0 for head, _ in tree]


def test_same_seed_same_weights() -> None:
    options = {"gold_tags": True, "hash_bits": 16, "max_iter": 1}
    first, second = (DependencyParser(**options).fit(TRAIN[:60]) for _ in range(2))
    other = DependencyParser(random_state=3, **options).fit(TRAIN[:60])
    assert first.model_.arrays["weights"] == second.model_.arrays["weights"]
    assert first.model_.arrays["weights"] != other.model_.arrays["weights"]


def test_seeds_are_averaged_and_the_best_pass_is_kept() -> None:
    parser = DependencyParser(1, gold_tags=True, hash_bits=16, max_iter=3, n_models=2, patience=1)
    parser.fit(TRAIN[:80], dev=TEST[:20])
    records = parser.history_
    assert {r["run"] for r in records} == {1, 2}
    assert all(0 <= r["dev_las"] <= 1 for r in records)
    assert parser.model_.training["n_models"] == 2
    shown = [line for line in inspect_task(parser).splitlines() if "dev LAS" in line]
    assert len(shown) == len(records)
    assert shown[0] == f"run 1, pass 1 dev LAS {100 * records[0]['dev_las']:.2f}"


def test_file_to_file(fitted: DependencyParser, tmp_path, capsysbinary) -> None:
    model, gold = tmp_path / "m", tmp_path / "gold.conllu"
    fitted.save(model)
    text = _conllu(TEST)
    # What is between the words stays where it is.
    text = text.replace("# sent_id = 2\n1\t", "# sent_id = 2\n1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n1\t")
    gold.write_text(text)
    outputs = []
    for threads in ("1", "3"):
        assert run(["predict", str(model), str(gold), "--threads", threads]) == 0
        outputs.append(capsysbinary.readouterr().out.decode())
    assert outputs[0] == outputs[1]
    lines, source = outputs[0].splitlines(), text.splitlines()
    assert len(lines) == len(source)
    for line, before in zip(lines, source, strict=True):
        if "\t" in before and "-" not in before.split("\t")[0]:
            assert line.split("\t")[:3] == before.split("\t")[:3]
        else:
            assert line == before
    written = tmp_path / "out.conllu"
    written.write_text(outputs[0])
    corpus = read_corpus(written)
    found = [
        [(int(h), label) for h, label in zip(*pair, strict=True)]
        for pair in zip(corpus.column("head"), corpus.column("deprel"), strict=True)
    ]
    assert found == fitted.predict(TEST) == DependencyParser.load(model).predict(TEST)

    assert run(["evaluate", str(model), str(gold), "--json", "--intervals"]) == 0
    scores = json.loads(capsysbinary.readouterr().out)
    assert scores["las"] == _las(fitted)
    low, high = scores["intervals"]["las"]
    assert low <= scores["las"] <= high
    assert run(["evaluate", str(model), str(gold), "--gold-tags", "--confusions", "2"]) == 0
    assert b"UAS" in capsysbinary.readouterr().out


def test_pickles(fitted: DependencyParser) -> None:
    assert pickle.loads(pickle.dumps(fitted)).predict(TEST) == fitted.predict(TEST)


def test_missing_tags_and_trees_are_named(fitted: DependencyParser) -> None:
    with pytest.raises(ValueError, match="no word has a tag"):
        fitted.predict([["a", "dog"]], gold_tags=True)
    with pytest.raises(ValueError, match="sentence 1 has no tree of its own"):
        fitted.draw([["a", "dog"]], gold=True)


def test_only_like_is_compared_with_like(fitted: DependencyParser, tmp_path, capsys) -> None:
    model, tagger, gold = tmp_path / "m", tmp_path / "t", tmp_path / "gold.conllu"
    fitted.save(model)
    gold.write_text(_conllu(TEST))
    Tagger("pos", max_iter=1).fit(gold).save(tagger)
    for one, other in [(model, tagger), (tagger, model)]:
        assert run(["evaluate", str(one), str(gold), "--against", str(other)]) == 1
        err = capsys.readouterr().err
        assert f"{other}: " in err
        assert "cannot be compared with a model of another task" in err


def test_bare_words_become_conllu(fitted: DependencyParser, tmp_path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("The\ndog\nsleeps\n.\n\nFish\nsleep\n.\n")
    out = io.BytesIO()
    assert fitted.label_file(words, out) == 7
    rows = [line.split("\t") for line in out.getvalue().decode().splitlines() if line]
    assert [row[0] for row in rows] == ["1", "2", "3", "4", "1", "2", "3"]
    assert all(len(row) == 10 and row[3] != "_" and row[7] != "_" for row in rows)
    sentences = [["The", "dog", "sleeps", "."], ["Fish", "sleep", "."]]
    flat = [pair for tree in fitted.predict(sentences) for pair in tree]
    assert flat == [(int(row[6]), row[7]) for row in rows]


def test_long_sentence_and_single_word(fitted: DependencyParser) -> None:
    words = [word for tree in TEST for word, _, _, _ in tree][:400]
    tree, single = fitted.predict([words, ["Fish"]])
    assert _is_tree([head for head, _ in tree])
    assert single[0][0] == 0


@pytest.mark.parametrize(
    ("heads", "line", "reason"),
    [
        ("2 1 0", 2, "lead back"),
        ("2 0 0", 4, "second root"),
        ("2 0 7", 4, "has 3 words"),
        ("2 0 x", 4, "not a number"),
        ("2 0 -1", 4, "not a number"),
        ("2 0 _", 4, "no head"),
        ("2 0 3", 4, "lead back"),
    ],
)
def test_bad_trees_are_named(tmp_path, heads: str, line: int, reason: str) -> None:
    rows = [f"{i}\tw\t_\tX\tX\t_\t{head}\tdep\t_\t_" for i, head in enumerate(heads.split(), 1)]
    path = tmp_path / "bad.conllu"
    path.write_text("# a comment\n" + "\n".join(rows) + "\n\n")
    with pytest.raises(FileError) as error:
        DependencyParser(gold_tags=True).fit(path)
    message = str(error.value)
    assert "bad.conllu" in message
    assert f"{line}" in message
    assert "sentence 1" in message
    assert reason in message


def test_refusals(tmp_path, fitted: DependencyParser) -> None:
    with pytest.raises(ValueError, match="needs order=1 or projective=True"):
        DependencyParser(2, "crf").fit(TRAIN)
    with pytest.raises(ValueError, match="most_heads"):
        DependencyParser(most_heads=0).fit(TRAIN)
    with pytest.raises(ValueError, match="3 cells"):
        fitted.predict([[("a", "b", "c")]])
    assert fitted.predict([[]]) == [[]]
    columns = tmp_path / "train.txt"
    columns.write_text("a N\nb V\n")
    with pytest.raises(FileError, match="CoNLL-U"):
        DependencyParser().fit(columns)
    with pytest.raises(ValueError, match="not learned"):
        DependencyParser().predict(TEST)


def test_damaged_model_is_refused(fitted: DependencyParser, tmp_path) -> None:
    path = tmp_path / "m"
    fitted.save(path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(FileError, match="damaged"):
        DependencyParser.load(path)


def test_inspection_says_what_decided(fitted: DependencyParser, tmp_path, capsys) -> None:
    model = tmp_path / "m"
    fitted.save(model)
    assert run(["inspect", str(model)]) == 0
    assert "relations" in capsys.readouterr().out
    assert run(["inspect", str(model), "--sentence", "The dog sleeps .", "--top", "3"]) == 0
    text = capsys.readouterr().out
    assert "ROOT" in text
    assert "head tag" in text
    page = tmp_path / "page.html"
    assert run(["inspect", str(model), "--sentence", "Fish sleep .", "--html", str(page)]) == 0
    assert "<svg" in page.read_text()


def test_reasons_add_up_to_the_scores(fitted: DependencyParser) -> None:
    from structlearn.text.dependency_treebank import as_conllu

    model, inputs = fitted.model_, fitted._inputs(as_conllu(TEST[:5]))
    solved = inputs.solve()
    for s, (output, score) in enumerate(zip(solved.outputs, solved.values, strict=True)):
        n = len(output) // 2
        given = (inputs.source.corpus.core, inputs.source.tags, model.lemmas, s, list(output[:n]))
        reasons = model.core.reasons(*given, list(output[n:]))
        pairs = [pair for kind in model.core.pairs(*given) for pair in kind]
        total = sum(w for row in reasons for _, w in row) + sum(w for *_, w in pairs)
        assert total == pytest.approx(score, abs=1e-3)
        assert bool(pairs) == (model.order == 2)


def test_drawing(fitted: DependencyParser) -> None:
    assert "<svg" in fitted.draw(TEST[:3], 1, gold=True)._repr_svg_()


def test_lemmas_are_read_where_asked_for() -> None:
    rows = [
        [
            (str(i), word, word.lower(), tag, tag, "_", str(head), label, "_", "_")
            for i, (word, tag, head, label) in enumerate(tree, 1)
        ]
        for tree in TRAIN[:80]
    ]
    options = {"gold_tags": True, "hash_bits": 16, "max_iter": 1}
    with_lemmas = DependencyParser(1, lemmas=True, **options).fit(rows)
    without = DependencyParser(1, **options).fit(rows)
    assert with_lemmas.model_.lemmas
    assert with_lemmas.model_.arrays["weights"] != without.model_.arrays["weights"]


def test_endless_sentence_is_refused(fitted: DependencyParser, tmp_path) -> None:
    path = tmp_path / "endless.txt"
    path.write_text("fish\n" * 5000)
    with pytest.raises(FileError, match=r"endless\.txt.*5000 words"):
        fitted.label_file(path, io.BytesIO())


def test_an_interrupt_keeps_what_there_is() -> None:
    def interrupted(record: dict[str, Any]) -> None:
        if record["iteration"] == 2:
            raise KeyboardInterrupt

    parser = DependencyParser(1, gold_tags=True, hash_bits=16, max_iter=50, callbacks=interrupted)
    with pytest.raises(KeyboardInterrupt, match="reached so far"):
        parser.fit(TRAIN[:80])
    assert len(parser.history_) == 2
    assert _las(parser, gold_tags=True) > 0.4
