"""The structures as differentiable functions and layers of PyTorch.

The core computes on the CPU, kernels written in Triton on CUDA. Scores are padded batches, the
example first; ``lengths`` or a ``mask`` say what is padding::

    from structlearn.torch import ChainCRF

    crf = ChainCRF(n_labels)
    loss = crf(scores, y, lengths=lengths)     # scores (B, L, K), y (B, L); loss (B,)
    best = crf.argmax(scores, lengths=lengths)

Needs PyTorch: ``pip install structlearn[torch]``. Nothing else in the library imports it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .functions import (
        argmax,
        entropy,
        infer,
        kbest,
        log_partition,
        marginals,
        sample,
    )
    from .label_schemes import forbidden_transitions
    from .layers import (
        ChainCRF,
        ConstituencyCRF,
        DependencyCRF,
        SemiMarkovCRF,
        StructuredLayer,
    )
    from .losses import structured_loss

_HOMES = {
    "ChainCRF": "layers",
    "ConstituencyCRF": "layers",
    "DependencyCRF": "layers",
    "SemiMarkovCRF": "layers",
    "StructuredLayer": "layers",
    "argmax": "functions",
    "entropy": "functions",
    "forbidden_transitions": "label_schemes",
    "infer": "functions",
    "kbest": "functions",
    "log_partition": "functions",
    "marginals": "functions",
    "sample": "functions",
    "structured_loss": "losses",
}

__all__ = [
    "ChainCRF",
    "ConstituencyCRF",
    "DependencyCRF",
    "SemiMarkovCRF",
    "StructuredLayer",
    "argmax",
    "entropy",
    "forbidden_transitions",
    "infer",
    "kbest",
    "log_partition",
    "marginals",
    "sample",
    "structured_loss",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "structlearn.torch needs PyTorch: pip install structlearn[torch]"
        ) from error
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
