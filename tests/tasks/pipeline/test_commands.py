"""The command line of pipelines."""

import json
import subprocess
import sys

import pytest

from structlearn.loading import model_file

from .conformance import check_conllu
from .small_treebank import conllu


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "structlearn", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **options,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("pipeline")
    made.joinpath("train.conllu").write_text(conllu(60))
    made.joinpath("gold.conllu").write_text(conllu(20, random_state=1))
    made.joinpath("texts").mkdir()
    for name in ("a.txt", "b.txt"):
        made.joinpath("texts", name).write_text("They don't! The cat sees a dog.\n")
    result = run(
        "train", "pipeline", made / "train.conllu", "--model", made / "m.model", "--folds", 2,
        "--n-models", 1, "--hash-bits", 14, "--quiet",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert result.stdout == ""
    return made


def test_annotate_writes_every_format(folder):
    text = "They don't! The cat sees a dog.\n"
    found = run("annotate", folder / "m.model", "-", input=text)
    assert found.returncode == 0, found.stderr
    assert check_conllu(found.stdout) == 2
    assert "2-3\tdon't" in found.stdout
    source = folder / "texts" / "a.txt"
    rows = run("annotate", folder / "m.model", source, "--format", "json").stdout.splitlines()
    assert [text[r["begin"] : r["end"]] for r in map(json.loads, rows)] == [
        "They don't!",
        "The cat sees a dog.",
    ]
    page = run("annotate", folder / "m.model", source, "--format", "html").stdout
    assert page.count("<svg") == 2
    assert page.endswith("</html>\n")
    bare = run("annotate", folder / "m.model", source, "--without", "parser", "--confidence")
    assert "UposConfidence" in bare.stdout
    check_conllu(bare.stdout, relations=False)


def test_annotate_takes_folders(folder):
    out = folder / "out"
    result = run("annotate", folder / "m.model", folder / "texts", "--output", out)
    assert result.returncode == 0, result.stderr
    assert sorted(path.name for path in out.iterdir()) == ["a.conllu", "b.conllu"]
    check_conllu((out / "a.conllu").read_text())
    result = run("annotate", folder / "m.model", folder / "texts")
    assert result.returncode == 1
    assert "name one for the results with --output" in result.stderr


def test_folders_lose_nothing(folder, tmp_path):
    texts, out = tmp_path / "texts", tmp_path / "out"
    (texts / "sub").mkdir(parents=True)
    (texts / ".hidden").write_bytes(b"\0")
    for name in ("a.txt", "sub/a.txt"):
        (texts / name).write_text("They don't!\n")
    result = run("annotate", folder / "m.model", texts, "--output", out)
    assert result.returncode == 0, result.stderr
    written = sorted(str(p.relative_to(out)) for p in out.rglob("*") if p.is_file())
    assert written == ["a.conllu", "sub/a.conllu"]
    result = run("annotate", folder / "m.model", texts, "--output", texts, "--format", "text")
    assert result.returncode == 1
    assert "would overwrite it" in result.stderr
    assert (texts / "a.txt").read_text() == "They don't!\n"
    (texts / "a.md").write_text("They swim.\n")
    result = run("annotate", folder / "m.model", texts, "--output", out)
    assert result.returncode == 1
    assert "have one name" in result.stderr


def test_a_bad_file_of_a_folder_does_not_stop_the_others(folder, tmp_path):
    texts, out = tmp_path / "texts", tmp_path / "out"
    texts.mkdir()
    (texts / "a.txt").write_bytes(b"They \xff swim.\n")
    (texts / "b.txt").write_text("They don't!\n")
    result = run("annotate", folder / "m.model", texts, "--output", out)
    assert result.returncode == 1
    assert "a.txt: not valid UTF-8" in result.stderr
    assert "not annotated: 1 of the files" in result.stderr
    assert [path.name for path in out.iterdir()] == ["b.conllu"]


def test_evaluate_prints_scores(folder):
    result = run("evaluate", folder / "m.model", folder / "gold.conllu", "--json")
    found = json.loads(result.stdout)
    assert found["tokens"]["f1"] > 0.8
    text = run("evaluate", folder / "m.model", folder / "gold.conllu", "--gold-tokens").stdout
    assert "AllTags" in text
    assert "LAS" in text
    words = next(line for line in text.splitlines() if line.startswith("Words"))
    assert words.split()[1:] == ["100.00"] * 4
    assert "combinations" in run("inspect", folder / "m.model").stdout


def test_other_commands_say_what_to_do(folder):
    result = run("predict", folder / "m.model", folder / "texts" / "a.txt")
    assert result.returncode == 1
    assert "structlearn annotate" in result.stderr
    result = run("annotate", "esperanto", folder / "texts" / "a.txt")
    assert result.returncode == 1
    assert "no package structlearn_esperanto is installed" in result.stderr


def test_packages_are_found_by_name(tmp_path, monkeypatch):
    package = tmp_path / "structlearn_klingon"
    package.mkdir()
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    assert model_file("klingon") == str(package / "klingon.model")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "klingon").write_text("")
    assert model_file("klingon") == "klingon"  # a file of that name comes first
