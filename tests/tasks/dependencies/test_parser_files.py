"""Parsers in files: what is not zero, in 32, 16 or 8 bits; damage and forgery are refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from structlearn.cli import run
from structlearn.datasets import make_treebank
from structlearn.exceptions import FileError
from structlearn.io.container import Tensor, read_container, write_container
from structlearn.tasks import DependencyParser
from structlearn.tasks.dependencies.model import ParserModel

TREES = [
    list(zip(s.words, s.tags, s.heads, s.deprels, strict=True))
    for s in make_treebank(80, random_state=0)
]
TRAIN, TEST = TREES[:60], TREES[60:]
TABLES = ("weights", "pruner")


@pytest.fixture(scope="module")
def parser():
    return DependencyParser(hash_bits=15, max_iter=2, folds=2).fit(TRAIN)


@pytest.fixture
def saved(parser, tmp_path):
    paths = {p: tmp_path / p for p in ("float32", "float16", "int8")}
    for precision, path in paths.items():
        parser.save(path, precision)
    return paths


def table(model, name):
    return np.frombuffer(model.arrays[name], np.float32)


@pytest.mark.parametrize("name", TABLES)
def test_weights_after_loading(parser, saved, name):
    """Against rounding by NumPy."""
    w = table(parser.model_, name)
    assert 0 < np.count_nonzero(w) < len(w)
    loaded = {precision: table(ParserModel.load(path), name) for precision, path in saved.items()}
    np.testing.assert_array_equal(loaded["float32"], w)
    np.testing.assert_array_equal(loaded["float16"], w.astype(np.float16).astype(np.float32))
    size = np.abs(w)
    codes = (np.arange(128) / 127) ** 2 * size.max()
    root = np.sqrt(size / size.max())  # codes are nearest by their roots
    nearest = codes[np.abs(root[:, np.newaxis] - np.arange(128) / 127).argmin(axis=1)]
    np.testing.assert_allclose(loaded["int8"], np.copysign(nearest, w), rtol=1e-5)


@pytest.mark.parametrize("name", TABLES)
def test_pruning_is_an_act_of_training(parser, name):
    """Weights below the mean are left out once, of the weights that training has found."""
    pruned = DependencyParser(hash_bits=15, max_iter=2, folds=2, prune=True).fit(TRAIN)
    w, kept = table(parser.model_, name), table(pruned.model_, name)
    size = np.abs(w)
    mean = size[size > 0].mean(dtype=np.float64)
    assert not kept[size < mean * (1 - 1e-6)].any()
    large = size > mean * (1 + 1e-6)
    np.testing.assert_array_equal(kept[large], w[large])
    assert abs(pruned.score(TEST) - parser.score(TEST)) < 0.05


def test_seven_generations_of_int8_parse_alike(parser, tmp_path):
    """Each is saved from the one before; scores, trees and bytes stay."""
    path = tmp_path / "0"
    parser.save(path, "int8")
    first = DependencyParser.load(path)
    assert abs(first.score(TEST) - parser.score(TEST)) < 0.01
    last = first
    for generation in range(1, 8):
        again = tmp_path / str(generation)
        last.save(again, "int8")
        assert again.read_bytes() == path.read_bytes()
        last = DependencyParser.load(again)
    assert last.evaluate(TEST)["las"] == first.evaluate(TEST)["las"]
    assert last.predict(TEST) == first.predict(TEST)


def test_files_hold_what_is_not_zero(parser, saved):
    stored = sum(np.count_nonzero(table(parser.model_, name)) for name in TABLES)
    bits = sum(len(table(parser.model_, name)) for name in TABLES)
    sizes = {}
    for precision, path in saved.items():
        tensors = read_container(path)[1]
        sizes[precision] = sum(
            len(t.data) for name, t in tensors.items() if name.split(".")[0] in TABLES
        )
    assert sizes["float32"] == 4 * stored + bits // 8
    assert sizes["float16"] <= 2 * stored + bits // 8
    assert sizes["int8"] <= stored + bits // 8 + len(TABLES) * 1024  # the codes


@pytest.mark.parametrize(
    ("precision", "prune", "most"),
    [("float16", False, 2.5), ("int8", False, 1.5), ("float16", True, 1.4), ("int8", True, 0.8)],
)
def test_bytes_of_a_file_for_each_weight_that_is_not_zero(tmp_path, precision, prune, most):
    """Names, facts and the bits that say which weights exist included; pruning keeps a third."""
    trees = [
        list(zip(s.words, s.tags, s.heads, s.deprels, strict=True))
        for s in make_treebank(200, random_state=0)
    ]
    parser = DependencyParser(hash_bits=17, max_iter=1, gold_tags=True).fit(trees)
    stored = sum(np.count_nonzero(table(parser.model_, name)) for name in TABLES)
    assert stored > 150_000
    if prune:
        parser.set_params(prune=True).fit(trees)
    parser.save(tmp_path / "m", precision)
    assert (tmp_path / "m").stat().st_size < most * stored


@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
def test_a_loaded_parser_parses_and_is_saved_again(parser, saved, tmp_path, precision):
    words = [[(form, tag) for form, tag, _, _ in tree] for tree in TEST]
    loaded = DependencyParser.load(saved[precision])
    assert loaded.model_.core.weights() == ParserModel.load(saved[precision]).core.weights()
    if precision == "float32":
        assert loaded.predict(words) == parser.predict(words)
    assert abs(loaded.score(TEST) - parser.score(TEST)) < 0.05
    loaded.save(tmp_path / "again", "float32")  # rounded weights are kept as they are
    again = ParserModel.load(tmp_path / "again")
    assert again.arrays["weights"] == loaded.model_.arrays["weights"]


def test_pickles_round_nothing(parser):
    again = pickle.loads(pickle.dumps(parser.model_))
    assert again.arrays == parser.model_.arrays


@pytest.mark.parametrize("prune", [1.05, "mean", None])
def test_pruning_is_by_the_mean_or_not_at_all(prune):
    with pytest.raises(ValueError, match=f"prune must be True or False, got {prune!r}"):
        DependencyParser(prune=prune).fit(TRAIN)


def damaged(tensor, kind, at, value):
    items = np.frombuffer(bytes(tensor.data), kind).copy()
    items[at] = value
    return Tensor(tensor.dtype, items)


@pytest.mark.parametrize("name", TABLES)
def test_forged_tables(saved, tmp_path, name):
    def refused(precision, changes, described=()):
        description, tensors = read_container(saved[precision])
        made = {k: t for k, t in {**tensors, **changes}.items() if t is not None}
        write_container(tmp_path / "forged", description | dict(described), made)
        with pytest.raises(FileError) as caught:
            ParserModel.load(tmp_path / "forged")
        return str(caught.value)

    files = {precision: read_container(path)[1] for precision, path in saved.items()}
    for precision, tensors in files.items():
        present, values = tensors[f"{name}.present"], tensors[f"{name}.values"]
        bits = np.frombuffer(present.data, np.uint8)
        for at in (0, len(bits) - 1):
            change = {f"{name}.present": damaged(present, "u1", at, bits[at] ^ 1)}
            assert "do not fit together" in refused(precision, change)
        short = {f"{name}.present": Tensor("U8", bits[: len(bits) // 2 + 1].copy())}
        assert "power of two" in refused(precision, short)
        wrong = {f"{name}.values": Tensor("I8", bytes(values.data))}
        assert f"'{name}.values' is I8" in refused(precision, wrong)
        for part in ("present", "values"):
            assert refused(precision, {f"{name}.{part}": None})
    for precision, kind in (("float32", "<f4"), ("float16", "<f2")):
        values = files[precision][f"{name}.values"]
        for value in (np.nan, np.inf, -np.inf):
            change = {f"{name}.values": damaged(values, kind, -1, value)}
            assert "not a number" in refused(precision, change)
    codes = files["int8"][f"{name}.codes"]
    spoilt = {f"{name}.codes": damaged(codes, "<f4", slice(1, None), np.nan)}
    assert "not a number" in refused("int8", spoilt)
    few = {f"{name}.codes": Tensor("F32", bytes(codes.data)[:-4])}
    assert "do not fit together" in refused("int8", few)
    assert refused("int8", {}, {"precision": "float64"})
    assert refused("int8", {}, {"precision": "float16"})


def test_precision_on_the_command_line(tmp_path):
    lines = []
    for tree in TRAIN[:10]:
        for i, (form, tag, head, relation) in enumerate(tree, 1):
            lines.append(f"{i}\t{form}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_")
        lines.append("")
    (tmp_path / "t.conllu").write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = ["train", "parser", str(tmp_path / "t.conllu"), "--gold-tags", "--hash-bits", "12"]
    for given, stored in ((["--precision", "int8"], "U8"), ([], "F16")):
        model = str(tmp_path / stored)
        assert run([*command, "--max-iter", "1", "--model", model, *given]) == 0
        assert read_container(model)[1]["weights.values"].dtype == stored
    with pytest.raises(ValueError, match="precision must be"):
        DependencyParser.load(model).save(model, "float64")
