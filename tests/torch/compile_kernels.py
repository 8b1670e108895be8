"""Compile every kernel for a GPU that need not be there: Triton's interpreter takes programs that
its compiler refuses. A program of its own, since the interpreter is chosen at the import.

    python -m tests.torch.compile_kernels [kind ...]
"""

import importlib
import pkgutil
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import structlearn.torch.kernels as kernels
import torch
from structlearn.torch import argmax, infer, structured_loss
from structlearn.torch.operators import compute, gradients
from tests.torch.cases import KINDS, Case

TYPES = {
    torch.float16: "*fp16",
    torch.bfloat16: "*bf16",
    torch.float32: "*fp32",
    torch.float64: "*fp64",
    torch.int16: "*i16",
    torch.int32: "*i32",
    torch.int64: "*i64",
    torch.uint8: "*u8",
}
done = set()


def compile_only(kernel, grid, *args, options, **constants):
    types = {}
    for name, x in zip(kernel.arg_names, args, strict=False):
        if isinstance(x, torch.Tensor):
            types[name] = TYPES[x.dtype]
        elif isinstance(x, float):
            types[name] = "fp32"
        else:
            types[name] = "i32"
    types |= dict.fromkeys(constants, "constexpr")
    key = (id(kernel), *types.values(), *constants.values())
    if key in done:
        return
    done.add(key)
    fixed = {(kernel.arg_names.index(name),): value for name, value in constants.items()}
    source = ASTSource(kernel, types, fixed, {})
    try:
        triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)
    except Exception as error:
        raise SystemExit(f"{kernel.__name__}: {error}") from error
    print(kernel.__name__, *types.values(), *constants.values(), flush=True)


def main():
    for found in pkgutil.iter_modules(kernels.__path__):
        module = importlib.import_module(f"{kernels.__name__}.{found.name}")
        if hasattr(module, "launch"):
            module.launch = compile_only
    for module in (compute, gradients):
        module.on_gpu = lambda x: True
    for kind in sys.argv[1:] or KINDS:
        case = Case(kind, 0, torch.float32)
        structure, scores, lengths = case.structure, case.scores, case.lengths
        y = case.outputs()
        for dtype in (torch.float32, torch.float64):
            blocks = {name: x.to(dtype).requires_grad_() for name, x in scores.items()}
            loss = structured_loss(structure, blocks, y, lengths=lengths)
            torch.autograd.grad(loss.sum(), blocks.values())
        infer(structure, scores, lengths=lengths)
        if kind != "crossing":
            argmax(structure, scores, lengths=lengths)


if __name__ == "__main__":
    main()
