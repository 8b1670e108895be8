"""``structlearn convert-model``: between our files, CRFsuite's, Wapiti's and CRF++'s."""

import pytest

from structlearn import CRF, cli, load
from structlearn.io import read_crfsuite, write_crfsuite
from structlearn.models import StringChain
from tests.io.crfsuite_files import small_model
from tests.io.foreign_files import crfpp_binary, crfpp_text, wapiti_model

WEIGHTS = {"U1:a": [1.0, 0.0], "U1:b": [0.0, 0.5]}
FILES = {
    "crfsuite": small_model(),
    "wapiti": wapiti_model(["u:%x[0,0]"], ["X", "Y"], {"u:a": [1.0, 0.0]}),
    "crfpp": crfpp_binary(["U1:%x[0,0]"], ["X", "Y"], WEIGHTS),
    "crfpp.txt": crfpp_text(["U1:%x[0,0]"], ["X", "Y"], WEIGHTS),
}


def convert(*arguments):
    return cli.run(["convert-model", *map(str, arguments)])


@pytest.mark.parametrize("name", FILES)
def test_there_and_back(tmp_path, name, capsys):
    source, ours, back = (tmp_path / n for n in (name, "ours.model", "back.crfsuite"))
    source.write_bytes(FILES[name])
    assert convert(source, ours) == 0
    assert f"wrote {ours}" in capsys.readouterr().err
    assert convert(ours, back) == 0
    model, chain = load(ours), read_crfsuite(back)
    if name == "crfsuite":
        assert back.read_bytes() == source.read_bytes()
        return
    words = [[("a",), ("b",), ("?",)]]
    assert chain.predict(model.attributes(words)) == model.predict(words)


def test_columns(tmp_path, capsys):
    source, ours, text = (tmp_path / n for n in ("in", "out", "text"))
    source.write_bytes(FILES["wapiti"])
    text.write_text("a x\n\n")
    assert convert(source, ours, "--columns", 3) == 0
    assert cli.run(["predict", str(ours), str(text)]) == 0
    assert capsys.readouterr().out == "a x X\n\n"
    source.write_bytes(FILES["crfsuite"])
    assert convert(source, ours, "--columns", 3) == 1
    assert "--columns is for models of Wapiti and CRF++" in capsys.readouterr().err


def test_boundaries(tmp_path, capsys):
    source, out = tmp_path / "in.model", tmp_path / "out.crfsuite"
    CRF().fit([[["a"], ["b"]]], [["X", "Y"]]).save(source)
    assert convert(source, out) == 1
    assert "weights for the first and the last label" in capsys.readouterr().err
    assert not out.exists()
    assert convert(source, out, "--boundaries", "BOS", "EOS") == 0
    assert {"BOS", "EOS"} <= set(read_crfsuite(out).names.names())
    assert convert(source, tmp_path / "x.model", "--boundaries", "BOS", "EOS") == 1
    assert "--boundaries is for files of CRFsuite" in capsys.readouterr().err


def test_what_is_refused(tmp_path, capsys):
    source = tmp_path / "in"
    source.write_text("no model")
    assert convert(source, tmp_path / "out") == 1
    assert "not a structlearn model" in capsys.readouterr().err
    source.write_bytes(FILES["wapiti"][:40])
    assert convert(source, tmp_path / "out") == 1
    assert "not a valid Wapiti model" in capsys.readouterr().err
    assert convert(source, source) == 1
    assert "write to another name" in capsys.readouterr().err
    assert convert(tmp_path / "none", tmp_path / "out") == 1


def test_chains_are_written_as_they_are(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(small_model())
    chain = read_crfsuite(path)
    assert isinstance(chain, StringChain)
    write_crfsuite(chain, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == small_model()
