"""The same training gives the same bits on other processors, and with fewer instructions."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.elsewhere.comparison import differences

ROOT = Path(__file__).resolve().parents[2]
#: An old processor, as far as NumPy, BLAS, the C library and our own loops know.
OLD_PROCESSOR = {
    "OPENBLAS_CORETYPE": "Prescott",
    "NPY_DISABLE_CPU_FEATURES": "AVX F16C FMA3 AVX2 AVX512F AVX512CD AVX512_SKX",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2_Usable,-FMA_Usable,-AVX2,-FMA,-AVX512F",
    "STRUCTLEARN_TEST_KERNELS": "baseline",
}
#: What other packages compute has other last bits: features of pictures (SciPy, scikit-image),
#: covariances (LAPACK), softmax over a list of all outputs (NumPy). docs/internals/platforms.md.
OTHERS = dict.fromkeys(
    ("estimator: enumerated", "estimator: enumerated outputs", "estimator: hmm gaussian"), 1e-12
)


def train(folder, *words, python=sys.executable, **variables):
    folder.mkdir()
    command = [python, "-W", "ignore", "-m", "tests.elsewhere.trainings", str(folder), *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def check(one, other):
    equal, differing = differences(one, other)
    assert len(equal) > 100
    for d in differing:
        if d.name.startswith("segmenter:"):
            continue
        assert d.labels, d
        assert max(d.weights, d.probabilities) <= OTHERS.get(d.name, 0.0), d


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    return train(tmp_path_factory.mktemp("same_bits") / "here")


def test_instructions_make_no_difference(here, tmp_path):
    check(here, train(tmp_path / "there", **OLD_PROCESSOR))


@pytest.mark.skipif(
    "STRUCTLEARN_ELSEWHERE_PYTHON" not in os.environ, reason="make test-aarch64 has another Python"
)
def test_another_processor_makes_no_difference(here, tmp_path):
    check(here, train(tmp_path / "there", python=os.environ["STRUCTLEARN_ELSEWHERE_PYTHON"]))


def test_other_bits_are_found(here, tmp_path):
    """The comparison sees one changed bit of a model, and one changed label."""
    other = tmp_path / "other"
    other.mkdir()
    for path in here.iterdir():
        (other / path.name).write_bytes(path.read_bytes())
    model = bytearray((other / "tagger-crf.model").read_bytes())
    model[-1] ^= 1
    (other / "tagger-crf.model").write_bytes(model)
    answers = json.loads((here / "answers.json").read_text())
    answers["tagger: svm"]["labels"] = "others"
    (other / "answers.json").write_text(json.dumps(answers))
    _, differing = differences(here, other)
    assert {d.name: d.labels for d in differing} == {"tagger: crf": True, "tagger: svm": False}
