"""Layers that are compiled or exported."""

import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from structlearn.torch import ChainCRF  # noqa: E402

from .test_layers import LAYERS  # noqa: E402

ROOT = Path(__file__).parents[2]


def in_a_new_process(code, *arguments):
    """Run code where nothing has been computed yet."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


FIRST = """
import sys, torch
from tests.torch.test_layers import LAYERS
layer, scores, y = LAYERS[sys.argv[1]]()
scores.requires_grad_()
found = torch.compile(layer, fullgraph=True, backend="aot_eager")(scores, y)
grad, = torch.autograd.grad(found.sum(), scores)
wanted = layer(scores, y)
torch.testing.assert_close(found, wanted)
torch.testing.assert_close(grad, torch.autograd.grad(wanted.sum(), scores)[0])
"""


@pytest.mark.parametrize("name", LAYERS)
def test_compiled_before_anything_was_computed(name):
    in_a_new_process(FIRST, name)


SAVE = """
import sys, torch
from structlearn.torch import DependencyCRF
class Decoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.crf = DependencyCRF(projective=False)
    def forward(self, scores):
        return self.crf.argmax(scores)
scores = torch.randn(8, 7, 7)
torch.export.save(torch.export.export(Decoder(), (scores,)), sys.argv[1] + "/decoder.pt2")
torch.save((scores, Decoder()(scores)), sys.argv[1] + "/wanted.pt")
"""

LOAD = """
import sys, torch
from structlearn.torch import ChainCRF, DependencyCRF
ChainCRF(3).argmax(torch.randn(1, 4, 3))  # others were there before
scores, wanted = torch.load(sys.argv[1] + "/wanted.pt")
other = DependencyCRF(projective=True).argmax(scores)
found = torch.export.load(sys.argv[1] + "/decoder.pt2").module()(scores)
assert torch.equal(found, wanted)
assert not torch.equal(found, other)
"""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_exported_programs_mean_the_same_structure_elsewhere(tmp_path):
    in_a_new_process(SAVE, tmp_path)
    in_a_new_process(LOAD, tmp_path)


@pytest.mark.parametrize("query", ["entropy", "log_partition", "marginals"])
def test_queries_compile_without_breaks(query):
    crf = ChainCRF(4)
    scores = torch.randn(3, 6, 4, requires_grad=True)
    lengths = torch.tensor([6, 3, 1])
    ask = getattr(crf, query)
    compiled = torch.compile(ask, fullgraph=True, backend="aot_eager")
    found, wanted = compiled(scores, lengths=lengths), ask(scores, lengths=lengths)
    torch.testing.assert_close(found, wanted)
    weights = torch.randn_like(wanted)
    grads = [torch.autograd.grad((x * weights).sum(), scores)[0] for x in (found, wanted)]
    torch.testing.assert_close(*grads)
    torch._dynamo.reset()


def test_compiled_for_all_sizes():
    crf = ChainCRF(4, margin=0.5, temperature=0.7)
    compiled = torch.compile(crf, fullgraph=True, backend="aot_eager", dynamic=True)
    for n in (5, 6, 9):
        scores, y = torch.randn(3, n, 4), torch.randint(0, 4, (3, n))
        torch.testing.assert_close(compiled(scores, y), crf(scores, y))
    torch._dynamo.reset()
