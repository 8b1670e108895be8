"""Kernels run on the CPU here, by Triton's interpreter: it must be asked for before the import."""

import os

import pytest

try:
    import torch
except ModuleNotFoundError:  # every module of tests skips itself, by name
    torch = None

if torch is not None and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)
