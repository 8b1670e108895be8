"""Lattices of words: every query by enumeration, every learner, dictionaries, files."""

from __future__ import annotations

import io
import itertools
import math
import pickle
import random
from pathlib import Path

import numpy as np
import pytest

from structlearn import load
from structlearn.cli import run
from structlearn.exceptions import CapabilityError, FileError
from structlearn.structures import Lattice
from structlearn.tasks import LatticeSegmenter
from structlearn.tasks.words.cut_text import Cut, parse_cut, read_cut
from structlearn.tasks.words.dictionary import read_entries
from structlearn.tasks.words.lattice_fitting import LatticeFitting
from structlearn.testing import check_scorer

Sentence = list[tuple[str, str]]

NOUNS = ["東京", "京都", "都", "日本", "日本海", "海", "カナ", "ab", "11", "本"]
LETTERS = "東京都日本海はのカナab1"


def sentences(n: int = 80, seed: int = 0) -> list[Sentence]:
    rng = random.Random(seed)
    rows = []
    for _ in range(n):
        row = []
        for noun in rng.choices(NOUNS, k=rng.randint(1, 4)):
            row += [(noun, "N"), (rng.choice("はの"), "P")]
        rows.append(row)
    return rows


@pytest.fixture(scope="module")
def words() -> LatticeSegmenter:
    return LatticeSegmenter(n_models=1, whole=False).fit(sentences())


def random_text(rng: random.Random, n: int) -> str:
    return "".join(rng.choices(LETTERS, k=n))


def paths(candidates: list[tuple[int, int, int]], n: int) -> list[list[int]]:
    """Return all rows of candidates that cover a text of n characters."""
    complete: list[list[int]] = []
    open_rows: list[tuple[int, list[int]]] = [(0, [])]
    while open_rows:
        at, row = open_rows.pop()
        if at == n:
            complete.append(row)
            continue
        open_rows += [(b, [*row, a, b, tag]) for a, b, tag in candidates if a == at]
    return complete


def test_learns(words: LatticeSegmenter) -> None:
    scores = words.evaluate(sentences(40, 1))
    assert scores["f1"] > 0.95
    assert scores["tag_f1"] > 0.95
    assert words.predict_tags(["日本海は海", "", " "]) == [
        [("日本海", "N"), ("は", "P"), ("海", "N")],
        [],
        [],
    ]


def test_every_query_is_that_of_all_paths(words: LatticeSegmenter) -> None:
    rng = random.Random(3)
    for _ in range(40):
        text, at = random_text(rng, rng.randint(1, 5)), rng.choice([0.7, 1.0, 20.0])
        inputs = words._inputs([text])
        parts = inputs.marginals(at, 0.0)[0]
        rows = paths([part[:3] for part in parts], len(text))
        scores = [inputs.score([row])[0] for row in rows]
        best = max(scores)
        assert inputs.score([list(inputs.solve().outputs[0])])[0] == pytest.approx(best, abs=1e-9)
        total = best + at * math.log(sum(math.exp((s - best) / at) for s in scores))
        assert inputs.log_partition(at)[0] == pytest.approx(total, abs=1e-9)
        chances = [math.exp((s - total) / at) for s in scores]
        for *place, probability in parts:
            mass = sum(
                p
                for p, row in zip(chances, rows, strict=True)
                if place in [row[i : i + 3] for i in range(0, len(row), 3)]
            )
            assert probability == pytest.approx(mass, abs=1e-9)
        ranked = inputs.kbest(4)[0]
        assert [s for s, _ in ranked] == pytest.approx(sorted(scores)[::-1][:4], abs=1e-9)
        assert len({tuple(y) for _, y in ranked}) == len(ranked)
        entropy = -sum(p * math.log(p) for p in chances if p > 0)
        assert inputs.entropy(at)[0] == pytest.approx(entropy, abs=1e-8)
        assert all(row in rows for row in inputs.sample(5, at, 0)[0])
        words_only: dict[tuple[str, ...], float] = {}
        for p, row in zip(chances, rows, strict=True):
            cut = tuple(text[a:b] for a, b in zip(row[::3], row[1::3], strict=True))
            words_only[cut] = words_only.get(cut, 0.0) + p
        cut = max(words_only, key=lambda c: words_only[c])
        found = words.predict_proba([text], [list(cut)], temperature=at)[0]
        assert found == pytest.approx(words_only[cut], abs=1e-9)


def test_the_structure_is_the_library_s_lattice() -> None:
    # An example of the problem: its loss at (0, 1) less the clamp is log Z of Lattice.
    run = LatticeFitting(LatticeSegmenter(whole=False), read_cut(sentences(12)), [])
    problem = run.problem()
    w = np.random.default_rng(0).normal(size=problem.n_weights) * 0.3
    for i in range(problem.n_examples):
        theta = problem.theta(i, w)
        edges = run.lattices.edges(i)
        lattice = Lattice([tuple(edge) for edge in edges])
        value, p = lattice.infer(edge=theta, temperature=1.0)
        mine, parts = problem.infer(i, w, 0.0, 1.0)
        assert mine == pytest.approx(value, abs=1e-9)
        assert parts.dense(len(edges)) == pytest.approx(p["edge"], abs=1e-9)
        value = lattice.solve(edge=theta).value
        assert problem.infer(i, w, 0.0, 0.0)[0] == pytest.approx(value, abs=1e-9)


def test_operator_and_gradients() -> None:
    task = LatticeSegmenter("svm", whole=False)
    open_marks = "東-京|は 日-本|の|海"
    for given in (read_cut(sentences(12)), read_cut_partial(open_marks)):
        check_scorer(LatticeFitting(task, given, []).problem())


def read_cut_partial(line: str) -> list:
    return parse_cut("partial", (line + "\n").encode() * 3, "partial")


@pytest.mark.filterwarnings("ignore:the learner stopped")
@pytest.mark.parametrize(
    "learner", ["perceptron", "svm", "crf", "passive-aggressive", "arow", "adagrad"]
)
def test_every_learner_learns(learner: str) -> None:
    task = LatticeSegmenter(learner, n_models=1, whole=False).fit(sentences(60))
    assert task.evaluate(sentences(30, 5))["f1"] > 0.9


def test_the_fast_way_finds_what_the_structure_finds(words: LatticeSegmenter) -> None:
    rng = random.Random(8)
    texts = [random_text(rng, rng.randint(1, 60)) for _ in range(60)]
    texts += ["東京 日本", "x" * 70 + "海", "é\u3042\U00020000🙂", "の" * 100]
    inputs = words._inputs(texts)
    for i, output in enumerate(inputs.solve().outputs):
        slow = [tuple(output[k : k + 2]) for k in range(0, len(output), 3)]
        where = words._characters(texts[i])
        assert words.places([texts[i]])[0] == [(where[a], where[b - 1] + 1) for a, b in slow]


def test_partial_annotation() -> None:
    rng = random.Random(2)
    cut = [
        Cut(one.text, bytes(2 if i and rng.random() < 0.4 else m for i, m in enumerate(one.marks)))
        for one in read_cut(sentences())
    ]
    for learner in ("perceptron", "crf"):
        task = LatticeSegmenter(learner, n_models=1).fit(cut)
        assert (
            task.evaluate([Cut(one.text, one.marks) for one in read_cut(sentences(30, 1))])["f1"]
            > 0.9
        )
    with pytest.raises(CapabilityError, match="partial annotation"):
        LatticeSegmenter("svm").fit(cut)


def test_the_model_does_not_depend_on_threads() -> None:
    rows = sentences(40)
    one, two = (LatticeSegmenter(n_models=2, n_jobs=n).fit(rows) for n in (1, 2))
    assert one.model_.to_bytes() == two.model_.to_bytes()


def test_weights_of_sentences() -> None:
    rows = sentences(40)
    weighted = LatticeSegmenter(n_models=1).fit(rows, sample_weight=[1.0] * 30 + [0.0] * 10)
    fewer = LatticeSegmenter(n_models=1).fit(rows[:30])
    assert weighted.model_.to_bytes() == fewer.model_.to_bytes()


def test_a_dictionary_in_training(tmp_path: Path) -> None:
    file = tmp_path / "more.csv"
    file.write_text("大井川,1,1,100,N,x\n,,1,1,5,P\n静岡\tN\n浜松\n# no word\n", encoding="utf-8")
    assert read_entries(file) == [("大井川", "N"), (",", "P"), ("静岡", "N"), ("浜松", None)]
    listed = [*{word: 1 for row in sentences() for word, _ in row}, "大井川"]
    task = LatticeSegmenter(n_models=1, dictionary=listed).fit(sentences())
    assert task.predict(["大井川の海"]) == [["大井川", "の", "海"]]
    with pytest.raises(FileError, match="characters"):
        LatticeSegmenter(dictionary=["あ" * 65]).fit(sentences())


def test_words_of_a_user(words: LatticeSegmenter) -> None:
    assert words.predict(["東京都の海"], dictionary=["京都の"]) == [["東", "京都の", "海"]]
    assert words.predict(["東京都の海"], dictionary={"京都の": 1e-9}) == words.predict(
        ["東京都の海"]
    )
    longest = words.predict(["東京都の海"], dictionary=["京都", "東京都の"])
    assert longest == [["東京都の", "海"]]


def test_files(words: LatticeSegmenter, tmp_path: Path) -> None:
    path = tmp_path / "w.model"
    words.save(path)
    again = load(path)
    assert isinstance(again, LatticeSegmenter)
    text = ["日本海は海", "東京の11"]
    assert again.predict_tags(text) == words.predict_tags(text)
    again.save(tmp_path / "again.model")
    assert path.read_bytes() == (tmp_path / "again.model").read_bytes()
    assert pickle.loads(pickle.dumps(words)).predict(text) == words.predict(text)
    data = bytearray(path.read_bytes())
    for at in range(len(data) - 4000, len(data), 97):
        broken = bytes([*data[:at], data[at] ^ 1, *data[at + 1 :]])
        (tmp_path / "broken.model").write_bytes(broken)
        with pytest.raises(FileError):
            load(tmp_path / "broken.model")


def cut_by_blocks(words: LatticeSegmenter, data: bytes, size: int, threads: int = 1) -> bytes:
    cutter = words._cutter()
    blocks = [data[at : at + size] for at in range(0, len(data), size)] or [b""]
    pairs = itertools.pairwise([*blocks, None])
    return b"".join(cutter.cut(block, after is None, threads) for block, after in pairs)


def test_raw_text(words: LatticeSegmenter, tmp_path: Path) -> None:
    rng = random.Random(5)
    lines = [random_text(rng, rng.randint(0, 40)) for _ in range(3000)]
    data = "\n".join(lines).encode()
    expected = "\n".join(" ".join(row) for row in words.predict(lines)).encode()
    for size, threads in ((1 << 20, 1), (7, 1), (1000, 1), (1 << 20, 3)):
        assert cut_by_blocks(words, data, size, threads) == expected
    source = tmp_path / "raw.txt"
    source.write_bytes("日本の海\n\n".encode())
    written = io.BytesIO()
    assert words.label_file(source, written, to="tagged") == 3
    assert written.getvalue().decode() == "日本/N の/P 海/N\n\n"
    source.write_bytes("日本\n".encode() + b"\xe6\x97")
    with pytest.raises(FileError, match="line 2"):
        words.label_file(source, io.BytesIO())


def test_long_lines(words: LatticeSegmenter) -> None:
    long = "日本海は海の" * 60_000
    cut = cut_by_blocks(words, long.encode(), 1 << 16).decode()
    assert cut == " ".join(["日本海", "は", "海", "の"] * 60_000)
    assert len(words.predict([long])[0]) == 240_000
    torn = cut_by_blocks(words, ("b" * 10**6).encode(), 999)
    assert torn.replace(b" ", b"") == b"b" * 10**6


def test_words_with_blanks() -> None:
    rows = [["học sinh", "đi học"], ["đi học", "nhà"], ["học sinh", "nhà"]] * 10
    task = LatticeSegmenter(n_models=1).fit(rows)
    assert task.predict(["nhà học sinh đi học"]) == [["nhà", "học sinh", "đi học"]]
    cut = cut_by_blocks(task, "nhà học sinh\n".encode(), 100).decode()
    assert cut == "nhà học_sinh\n"


def test_search(words: LatticeSegmenter) -> None:
    found = words.likely_words(["日本海は海"], 1e-4, temperature=20.0)[0]
    assert {(0, 3), (0, 2), (2, 3)} <= {(a, b) for a, b, _ in found}
    for text in ("日本海は海", "東京都は"):
        at = words.boundaries([text], temperature=20.0)[0]
        sums = [0.0] * len(text)
        for begin, _, p in words.likely_words([text], 0.0, temperature=20.0)[0]:
            sums[begin] += p
        assert at == pytest.approx(sums)
    ranked = words.predict_kbest(["日本海は海"], 4)[0]
    assert len({tuple(row) for _, row in ranked}) == 4


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus, model = tmp_path / "cut.txt", tmp_path / "w.model"
    corpus.write_text(
        "".join(" ".join(f"{w}/{t}" for w, t in row) + "\n" for row in sentences()), "utf-8"
    )
    assert run(["train", "words", str(corpus), "--lattice", "--model", str(model), "--quiet"]) == 0
    assert run(["evaluate", str(model), str(corpus), "--json"]) == 0
    assert '"tag_f1"' in capsys.readouterr().out
    raw = tmp_path / "raw.txt"
    raw.write_text("日本海は海\n", "utf-8")
    assert run(["predict", str(model), str(raw), "--to", "tagged"]) == 0
    assert capsys.readouterr().out == "日本海/N は/P 海/N\n"
    assert run(["inspect", str(model)]) == 0
