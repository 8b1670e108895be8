"""Words of texts without blanks: learning, best cuts by enumeration, dictionaries, files."""

from __future__ import annotations

import io
import itertools
import json
import math
import pickle
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from structlearn import _core, load
from structlearn.cli import run
from structlearn.exceptions import CapabilityError, FileError
from structlearn.tasks import LatticeSegmenter, Tagger, WordSegmenter
from structlearn.tasks.words.cut_text import read_cut
from structlearn.tasks.words.fitting import WordFitting

LETTERS = "東京都日本海はのカナab1"
WORDS = ["東京", "京都", "都", "日本", "日本海", "海", "は", "の", "カナ", "ab", "11", "本"]


def sentences(n: int = 80, seed: int = 0) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(2, 9))) for _ in range(n)]


@pytest.fixture(scope="module")
def words() -> WordSegmenter:
    return WordSegmenter(n_models=1, whole=False).fit(sentences())


def random_text(rng: random.Random, n: int) -> str:
    return "".join(rng.choices(LETTERS, k=n))


def test_learns(words: WordSegmenter) -> None:
    assert words.evaluate(sentences(40, 1))["f1"] > 0.95
    assert words.predict(["日本海は海", "", " "]) == [["日本海", "は", "海"], [], []]


def test_scores_are_those_of_the_learner() -> None:
    # Without words of the dictionary there are no folds: learner and model see the same features.
    task = WordSegmenter(min_words=10**6, min_count=0, whole=False)
    cut = read_cut(sentences(30))
    run = WordFitting(task, cut, [])
    problem = run.problem()
    w = np.random.default_rng(0).normal(size=problem.n_weights)
    model = run.model(problem, w)
    inputs = model.core.inputs([one.text for one in cut])
    outputs = [list(one.marks) for one in cut]
    got = np.array(inputs.score(outputs, 1))
    label, pair = problem.layout.blocks["label"], problem.layout.blocks["transition"]
    assert label is not None
    assert pair is not None
    both = w[label.offset : label.offset + label.size].reshape(-1, 2)
    speaks = both[:, 0] - both[:, 1]
    rows = problem.examples.blocks["label"]
    assert rows.indptr is not None
    assert rows.indices is not None
    table = w[pair.offset : pair.offset + 4].reshape(2, 2)
    for i, y in enumerate(outputs):
        first = rows.site_ptr[i]
        wanted = sum(table[a, b] for a, b in itertools.pairwise(y))
        for t, mark in enumerate(y):
            features = rows.indices[rows.indptr[first + t] : rows.indptr[first + t + 1]]
            wanted += speaks[features].sum() if mark == 0 else 0.0
        assert got[i] == pytest.approx(wanted, abs=0.02)


def test_weights_of_sentences_are_repetitions() -> None:
    # Without words of the dictionary, whose folds are of sentences.
    task = WordSegmenter(min_words=10**6, min_count=0, whole=False)
    cut = read_cut(sentences(12))
    weighted = WordFitting(task, cut, [], weights=np.array([3.0, 2.0] + [1.0] * 10)).problem()
    repeated = WordFitting(task, [*cut, cut[0], cut[0], cut[1]], []).problem()
    w = np.random.default_rng(1).normal(size=weighted.n_weights)
    one, other = (p.total_loss(w, 0.0, 1.0) for p in (weighted, repeated))
    assert one[0] == pytest.approx(other[0], rel=1e-12)
    np.testing.assert_allclose(one[1], other[1], rtol=1e-9, atol=1e-9)


def test_sentences_of_weight_zero_are_not_there() -> None:
    task = WordSegmenter(n_models=1, max_iter=2)
    odd = sentences(5, 3)
    one = task.fit(sentences(20) + odd, sample_weight=[1.0] * 20 + [0.0] * 5).to_bytes()
    assert task.fit(sentences(20)).to_bytes() == one
    with pytest.raises(ValueError, match="every example has weight 0"):
        task.fit(odd, sample_weight=[0.0] * 5)
    with pytest.raises(ValueError, match="sample_weight"):
        task.fit(odd, sample_weight=[1.0])


def all_cuts(n: int) -> list[list[int]]:
    return [[0, *tail] for tail in itertools.product((0, 1), repeat=n - 1)]


def spans(y: list[int]) -> list[tuple[int, int]]:
    begins = [i for i, mark in enumerate(y) if mark == 0]
    return list(zip(begins, [*begins[1:], len(y)], strict=True))


@pytest.mark.parametrize("seed", range(12))
def test_best_cut_against_enumeration(words: WordSegmenter, seed: int) -> None:
    rng = random.Random(seed)
    text = random_text(rng, rng.randint(1, 9))
    own = {random_text(rng, rng.randint(1, 4)): rng.choice([-3.0, 0.5, 8.0]) for _ in range(4)}
    inputs = words.model_.core.inputs([text])
    cuts = all_cuts(len(text))
    scores = {tuple(spans(y)): inputs.score([y], 1)[0] for y in cuts}
    unit = words.model_.unit
    assert scores[tuple(words.places([text])[0])] == pytest.approx(max(scores.values()))
    with_own = {
        cut: score + sum(round(own.get(text[a:b], 0.0) / unit) * unit for a, b in cut)
        for cut, score in scores.items()
    }
    got = with_own[tuple(words.places([text], dictionary=own)[0])]
    assert got == pytest.approx(max(with_own.values()), abs=1e-6)


def test_queries_against_enumeration(words: WordSegmenter) -> None:
    text = "東京都の本"
    inputs = words.model_.core.inputs([text])
    cuts = all_cuts(len(text))
    scores = np.array([inputs.score([y], 1)[0] for y in cuts])
    ranked = words.predict_kbest([text], 4)[0]
    order = np.argsort(-scores)
    assert [score for score, _ in ranked] == pytest.approx(scores[order[:4]].tolist())
    assert ranked[0][1] == words.predict([text])[0]
    assert words.places([text])[0] == spans(cuts[order[0]])
    p = np.exp((scores - scores.max()) / 50)
    p /= p.sum()
    wanted = [sum(q for q, y in zip(p, cuts, strict=True) if y[t] == 0) for t in range(len(text))]
    assert words.boundaries([text], temperature=50.0)[0] == pytest.approx(wanted)


def test_probabilities_of_cuts(words: WordSegmenter) -> None:
    text = "東京 都の"
    cuts = [[(0, 2), (3, 4), (4, 5)], [(0, 1), (1, 2), (3, 5)]]
    cuts += [[(0, 2), (3, 5)], [(0, 1), (1, 2), (3, 4), (4, 5)]]
    p = [words.predict_proba([text], [cut], temperature=50.0)[0] for cut in cuts]
    assert sum(p) == pytest.approx(1.0)
    with_words = words.predict_proba([text], [["東京", "都", "の"]], temperature=50.0)
    assert with_words[0] == pytest.approx(p[0])
    assert words.log_loss([text], [cuts[0]]) >= 0.0
    with pytest.raises(ValueError, match="not the words of"):
        words.predict_proba([text], [["東京", "の"]])
    assert len(words.transitions()) == 4


def test_likely_words_against_enumeration(words: WordSegmenter) -> None:
    text = "東京 都の本"  # a blank is a boundary
    inputs = words.model_.core.inputs([text])
    cuts = [y for y in all_cuts(5) if y[2] == 0]
    scores = np.array([inputs.score([y], 1)[0] for y in cuts])
    p = np.exp((scores - scores.max()) / 40)
    p /= p.sum()
    place = [0, 1, 3, 4, 5]
    wanted: dict[tuple[int, int], float] = {}
    for q, y in zip(p, cuts, strict=True):
        for a, b in spans(y):
            key = place[a], place[b - 1] + 1
            wanted[key] = wanted.get(key, 0.0) + q
    got = {(a, b): q for a, b, q in words.likely_words([text], 0.0, temperature=40.0)[0] if q}
    assert got == pytest.approx(wanted)


def test_always_and_nothing_else(words: WordSegmenter) -> None:
    assert words.predict(["日本海の海"], dictionary=["本海", "の海"]) == [["日", "本海", "の海"]]
    # The longest of those that overlap.
    assert words.predict(["日本海の"], dictionary=["日本", "本海の"]) == [["日", "本海の"]]
    texts = [line.replace(" ", "") for line in sentences(30, 2)]
    assert words.predict(texts, dictionary=["犬猫"]) == words.predict(texts)


@pytest.mark.parametrize("size", [1, 2, 5, 64])
@pytest.mark.parametrize("own", [None, ["本海", "のカ"]])
def test_pieces_of_any_size(words: WordSegmenter, size: int, own: list[str] | None) -> None:
    text = "".join(s.replace(" ", "") + "\n" for s in sentences(20, 3)) + " 東京 都\r\n\nは"
    cutter = words._cutter(own)
    data = text.encode()
    parts = [data[i : i + size] for i in range(0, len(data), size)]
    out = b"".join(cutter.cut(part, i == len(parts) - 1) for i, part in enumerate(parts)).decode()
    lines = [" ".join(row) for row in words.predict(text.split("\n"), dictionary=own)]
    assert out.split("\n") == lines


@pytest.mark.parametrize("own", [None, ["本海", "のカ"]])
def test_long_line_is_cut_as_a_whole(words: WordSegmenter, own: list[str] | None) -> None:
    rng = random.Random(5)
    text = "".join(rng.choice(WORDS) for _ in range(60_000))
    whole = " ".join(words.predict([text], dictionary=own)[0])
    cutter = words._cutter(own)
    data = text.encode()
    parts = [cutter.cut(data[i : i + 10_001], False) for i in range(0, len(data), 10_001)]
    assert len(parts[0]) < 10_001  # something is held
    assert b"".join([*parts, cutter.cut(b"", True)]).decode() == whole


def test_threads_change_nothing(words: WordSegmenter) -> None:
    data = "".join(s.replace(" ", "") + "\n" for s in sentences(3000, 4)).encode() + "日本".encode()
    whole = words._cutter().cut(data, True, 1)
    assert words._cutter().cut(data, True, 3) == whole
    cutter = words._cutter()
    assert cutter.cut(data[:70_001], False, 3) + cutter.cut(data[70_001:], True, 3) == whole
    assert cutter.n_words == len(whole.split())


def test_without_a_boundary_work_is_bounded(words: WordSegmenter, tmp_path: Path) -> None:
    latin = WordSegmenter(n_models=1).fit(["日本 は abc", "def の 海"] * 30)
    assert latin.model_.whole & 1
    (tmp_path / "in").write_text("x" * 1_000_000)
    assert latin.label_file(tmp_path / "in", tmp_path / "out") == 1
    assert (tmp_path / "out").read_text() == "x" * 1_000_000


def test_odd_texts(words: WordSegmenter) -> None:
    for text in [
        "👩‍👩‍👧は東京",
        "東京　都",
        "ＡＢは",
        "\u200bの",
        "가나다",
        "ไทย",
        "\ufeff東京",
        "á",
    ]:
        got = words.places([text])[0]
        assert "".join(text[a:b] for a, b in got) == text
    with pytest.raises(ValueError, match="text 1: it holds half a character"):
        words.predict(["の", "\ud800"])
    with pytest.raises(TypeError, match="text 0 is not a string"):
        words.predict([3])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="list of strings"):
        words.predict("東京")  # type: ignore[arg-type]


def test_tags(tmp_path: Path) -> None:
    tag = {"は": "P", "の": "P"}
    rows = [[(w, tag.get(w, "N")) for w in line.split()] for line in sentences()]
    tagged = WordSegmenter(n_models=1).fit(rows)
    assert tagged.predict_tags(["日本の海", ""])[0] == [("日本", "N"), ("の", "P"), ("海", "N")]
    assert tagged.evaluate(rows)["tag_f1"] > 0.9
    (tmp_path / "in").write_text("日本の海\n\nは\n")
    tagged.label_file(tmp_path / "in", tmp_path / "out", to="tagged")
    assert (tmp_path / "out").read_text() == "日本/N の/P 海/N\n\nは/P\n"
    again = read_cut(tmp_path / "out")
    assert again[0].words() == ["日本", "の", "海"]
    assert again[0].tags == ["N", "P", "N"]
    with pytest.raises(CapabilityError, match="no tags"):
        WordSegmenter(n_models=1).fit(sentences()).predict_tags(["日本"])


def test_readers(tmp_path: Path) -> None:
    files = {
        "cut": "日本 の　海\n\n京都\n",
        "tagged": "日本/N の\\/x/P\n",
        "partial": "日-本|の 海\n京/N|都\n",
        "columns": "日本\tN\nの　\tP\n\n海\tN\n",
    }
    got = {}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        got[name] = read_cut(tmp_path / name)
    assert [one.words() for one in got["cut"]] == [["日本", "の　海"], ["京都"]]
    assert got["tagged"][0].words() == ["日本", "の/x"]
    assert got["tagged"][0].tags == ["N", "P"]
    assert got["partial"][0].text == "日本の海"
    assert got["partial"][0].marks == bytes([0, 1, 0, 2])
    assert got["partial"][1].tags == ["N", ""]
    assert [one.words() for one in got["columns"]] == [["日本", "の　"], ["海"]]
    row = "{}\t{}\t_\t{}\t_\t_\t_\t_\t_\t{}\n"
    text = (
        "# text = học sinh đi\n"
        + row.format(1, "học sinh", "N", "_")
        + row.format(2, "đi", "V", "SpaceAfter=No")
    )
    (tmp_path / "vi.conllu").write_text(text)
    cut = read_cut(tmp_path / "vi.conllu")[0]
    assert cut.text == "học sinh đi"
    assert cut.words() == ["học sinh", "đi"]
    assert cut.tags == ["N", "V"]


@pytest.mark.parametrize(
    ("format", "text", "told"),
    [
        ("partial", "日-本|\n", "2: |1: the line ends with the sign"),
        ("partial", "日本\n", "between characters there is"),
        ("tagged", "日本/N の\n", "is not a word, a slash and its tag"),
        ("columns", "日本\tN\nの\n", "1 columns where the lines before have 2"),
        ("conllu", "1\t日本\n", "a CoNLL-U line has 10 columns"),
        ("conllu", "1" * 5000 + "\t日本" + "\t_" * 8 + "\n", "is not the number of a token"),
        ("cut", "\n \n", "there are no sentences"),
        ("cut", "日\0本\n", "a NUL character"),
    ],
)
def test_bad_files(tmp_path: Path, format: str, text: str, told: str) -> None:
    (tmp_path / "bad").write_text(text)
    with pytest.raises(FileError, match=told):
        read_cut(tmp_path / "bad", format)


def test_readers_never_crash(tmp_path: Path) -> None:
    rng = random.Random(0)
    signs = "日本の|- /\\\t\n　#a1_\r\x0b"
    for _ in range(2000):
        text = "".join(rng.choices(signs, k=rng.randint(0, 24)))
        (tmp_path / "any").write_text(text, newline="")
        for format in ("cut", "tagged", "partial", "columns", "conllu", None):
            try:
                got = read_cut(tmp_path / "any", format)
            except FileError:
                continue
            for one in got:
                assert len(one.text) == len(one.marks)
                assert "".join(one.words()) or one.text.strip() == ""


def test_partial_annotation(tmp_path: Path) -> None:
    rng = random.Random(1)
    lines = []
    for cut in read_cut(sentences(200)):
        signs = [rng.choice("|  " if mark == 0 else "-  ") for mark in cut.marks[1:]]
        lines.append(cut.text[0] + "".join(s + c for s, c in zip(signs, cut.text[1:], strict=True)))
    (tmp_path / "part").write_text("\n".join(lines) + "\n")
    partly = WordSegmenter(n_models=1).fit(tmp_path / "part", format="partial")
    assert partly.evaluate(sentences(40, 1))["f1"] > 0.9
    with pytest.raises(ValueError, match="not known"):
        partly.evaluate(tmp_path / "part", format="partial")
    with pytest.raises(ValueError, match="nothing to learn"):
        WordSegmenter().fit(list(read_cut(tmp_path / "part", "partial"))[:0] or ["日"])


def test_words_with_blanks(tmp_path: Path) -> None:
    rows = [["học sinh", "đi", "học"], ["sinh viên", "đi"], ["học sinh", "học"]] * 20
    task = WordSegmenter(n_models=1).fit(rows)
    assert task.model_.blanks
    assert task.predict(["sinh viên đi học"]) == [["sinh viên", "đi", "học"]]
    (tmp_path / "in").write_text("học sinh  đi\n")
    task.label_file(tmp_path / "in", tmp_path / "out")
    assert (tmp_path / "out").read_text() == "học_sinh đi\n"


def test_files(words: WordSegmenter, tmp_path: Path) -> None:
    words.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert isinstance(again, WordSegmenter)
    again.save(tmp_path / "again")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "again").read_bytes()
    assert again.predict(["日本海は海"]) == words.predict(["日本海は海"])
    assert pickle.loads(pickle.dumps(again)).predict(["の海"]) == words.predict(["の海"])
    same = WordSegmenter(n_models=1, whole=False, n_jobs=2).fit(sentences())
    same.save(tmp_path / "same")
    assert load(tmp_path / "same").model_.arrays.keys() == words.model_.arrays.keys()
    assert all(bytes(same.model_.arrays[k]) == bytes(v) for k, v in words.model_.arrays.items())


def test_forged_models(words: WordSegmenter) -> None:
    model = words.model_
    keys = [model.arrays[f"keys{n}"] for n in range(4)]
    weights = [model.arrays[f"weights{n}"] for n in range(4)]
    tables = (model.arrays["words"], model.arrays["tags"], 1.0, 0, False)
    with pytest.raises(ValueError, match="a row of weights"):
        _core.WordModel(keys, [weights[0][:-2], *weights[1:]], [0] * 4, *tables)
    with pytest.raises(ValueError, match="a word twice"):
        _core.WordModel(keys, weights, [0] * 4, tables[0], tables[1][:-2], *tables[2:])
    with pytest.raises(ValueError, match="unit"):
        _core.WordModel(keys, weights, [0] * 4, *tables[:2], math.inf, 0, False)


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train, model, text = (str(tmp_path / name) for name in ("train", "m", "text"))
    Path(train).write_text("\n".join(sentences()) + "\n")
    Path(text).write_text("日本海は海\n東京 都\n")
    assert run(["train", "words", train, "--model", model, "--n-models", "1", "--quiet"]) == 0
    assert run(["predict", model, text, "-o", text + ".out"]) == 0
    assert Path(text + ".out").read_text() == "日本海 は 海\n東京 都\n"
    Path(tmp_path / "own").write_text("# mine\n本海\n")
    own = ["--dictionary", str(tmp_path / "own")]
    assert run(["predict", model, text, "-o", text + ".out", *own, "--to", "json"]) == 0
    first = json.loads(Path(text + ".out").read_text().split("\n")[0])
    assert [w["word"] for w in first["words"]] == ["日", "本海", "は", "海"]
    assert first["words"][1]["start"] == 1
    assert first["words"][1]["end"] == 3
    capsys.readouterr()
    assert run(["evaluate", model, train]) == 0
    assert "F1 of words" in capsys.readouterr().out
    assert run(["evaluate", model, train, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["f1"] > 0.9
    Path(tmp_path / "own").write_text("本 海\n")
    assert run(["predict", model, text, *own]) != 0
    assert "has a blank in it" in capsys.readouterr().err


def test_label_file_refuses_what_is_no_text(words: WordSegmenter, tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes("東京\nは".encode() + b"\xff\n")
    out = io.BytesIO()
    with pytest.raises(FileError, match="line 2"):
        words.label_file(tmp_path / "bad", out)


def test_a_tagger_keeps_the_model_that_cuts_its_texts(tmp_path: Path) -> None:
    texts = [
        {"text": "日本海は海", "spans": [{"start": 0, "end": 3, "label": "LOC"}]},
        {"text": "京都は都", "spans": [{"start": 0, "end": 2, "label": "LOC"}]},
    ] * 10
    file = tmp_path / "texts.jsonl"
    file.write_text("".join(json.dumps(t, ensure_ascii=False) + "\n" for t in texts), "utf-8")
    for kind in (WordSegmenter, LatticeSegmenter):
        cutter = tmp_path / "cut.model"
        kind(n_models=1).fit(sentences()).save(cutter)
        tagger = Tagger("none", tokens=str(cutter), n_models=1).fit(file)
        path = tmp_path / f"{kind.__name__}.model"
        tagger.save(path)
        cutter.unlink()
        code = (
            "import json, structlearn\n"
            f"m = structlearn.load({str(path)!r})\n"
            "print(json.dumps(m.predict_spans(['日本海は京都'])))\n"
            f"m.save({str(tmp_path / 'again.model')!r})\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        spans = json.loads(done.stdout)
        assert spans == json.loads(json.dumps(tagger.predict_spans(["日本海は京都"])))
        assert path.read_bytes() == (tmp_path / "again.model").read_bytes()
        assert pickle.loads(pickle.dumps(tagger)).model_.tokens == tagger.model_.tokens


@pytest.mark.parametrize("kind", [WordSegmenter, LatticeSegmenter])
def test_parts_of_long_words(kind: type[WordSegmenter]) -> None:
    rows = [*sentences(60), *(f"{a} 東京日本海 {b}" for a in WORDS for b in "はの")]
    model = kind(n_models=1).fit(rows)
    text = "カナ東京日本海は東京"
    assert model.places([text])[0] == [(0, 2), (2, 7), (7, 8), (8, 10)]
    first, whole, *parts, last, end = model.search_words([text])[0]
    assert [first, whole, last, end] == model.places([text])[0]
    assert parts in ([(2, 4), (4, 7)], [(2, 4), (4, 6), (6, 7)])
    assert model.search_words([text], longest=5) == model.places([text])
