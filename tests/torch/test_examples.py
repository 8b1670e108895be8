"""The programs of examples/torch run, on a few sentences."""

import gzip
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed")

PROGRAMS = Path(__file__).parents[2] / "examples" / "torch"

SENTENCE = """\
1\tAnna\tanna\tPROPN\tNNP\t_\t2\tnsubj\t_\t_
2\tsleeps\tsleep\tVERB\tVBZ\t_\t0\troot\t_\t_
3\ttoday\ttoday\tNOUN\tNN\t_\t2\tobl\t_\t_

1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\t_
2\t!\t!\tPUNCT\t.\t_\t1\tpunct\t_\t_

"""


@pytest.fixture
def treebank(tmp_path):
    for name in ("train", "dev", "test"):
        (tmp_path / f"{name}.conllu.gz").write_bytes(gzip.compress((SENTENCE * 4).encode()))
    return tmp_path


def run(*arguments):
    result = subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("loss", ["crf", "hinge", "softmax"])
def test_tagger(treebank, loss):
    printed = run(
        PROGRAMS / "tagger.py", treebank, "--epochs", 12, "--loss", loss, "--networks", 2,
        "--hidden", 40,
    )  # fmt: skip
    assert float(re.search(r"test (\S+) of words", printed)[1]) > 0.7


def test_parser(treebank):
    printed = run(PROGRAMS / "parser.py", treebank, "--epochs", 12)
    assert float(re.search(r"test LAS (\S+)", printed)[1]) > 0.4


def test_subwords():
    printed = run(PROGRAMS / "subwords.py")
    assert float(re.search(r"epoch 15: .*, (\S+) of the words", printed)[1]) > 0.95
