"""structlearn's native core: structures, problems, online learning."""

from typing import Any

import numpy as np
import numpy.typing as npt

_Reals = npt.NDArray[np.float64]
_Indices = npt.NDArray[np.uint32]
_Integers = npt.NDArray[np.int64]

class InfeasibleError(ValueError): ...

def kernels() -> str: ...
def use_kernels(name: str) -> bool: ...
def chain(order: int) -> NativeStructure: ...
def multiclass() -> NativeStructure: ...
def semimarkov(max_length: int) -> NativeStructure: ...
def segments(flat: _Integers, ptr: _Integers) -> list[list[tuple[int, int, int]]]: ...
def observed_pairs(
    indptr: _Integers,
    indices: npt.NDArray[np.int32],
    rows: _Integers,
    outcomes: _Integers,
    n_features: int,
    n_outcomes: int,
) -> tuple[_Indices, _Indices, npt.NDArray[np.uint8]]: ...

class NativeStructure:
    def check(self, scores: dict[str, Any]) -> None: ...
    def argmax(self, scores: dict[str, Any]) -> Any: ...
    def solve(self, scores: dict[str, Any]) -> tuple[Any, float]: ...
    def argmax_batch(
        self, scores: dict[str, Any], n: int, threads: int
    ) -> tuple[_Integers, _Integers, _Reals]: ...
    def infer(
        self,
        scores: dict[str, Any],
        outs: dict[str, Any],
        temperature: float,
        by_position: bool,
    ) -> float: ...
    def infer_batch(
        self,
        scores: dict[str, Any],
        outs: dict[str, Any],
        n: int,
        temperature: float,
        by_position: bool,
        threads: int,
    ) -> _Reals: ...
    def kbest(self, scores: dict[str, Any], n: int) -> list[tuple[float, Any]]: ...
    def sample(
        self, scores: dict[str, Any], n: int, temperature: float, seed: int
    ) -> _Integers: ...

class Hypergraph:
    def __init__(
        self,
        nodes: int,
        parts: int,
        head: _Indices,
        tail_ptr: _Indices,
        tail: _Indices,
        part_ptr: _Indices,
        part: _Indices,
    ) -> None: ...
    def best(self, theta: _Reals) -> tuple[float, _Indices, _Indices]: ...
    def infer(self, theta: _Reals, temperature: float) -> tuple[float, _Reals]: ...
    def kbest(self, theta: _Reals, n: int) -> list[tuple[float, _Indices, _Indices]]: ...
    def sample(
        self, theta: _Reals, n: int, temperature: float, seed: int
    ) -> list[tuple[_Indices, _Indices]]: ...

class Problem:
    def __init__(
        self,
        structure: Any,
        examples: int,
        weights: int,
        blocks: list[dict[str, Any]],
        gold: dict[str, Any],
        cost: dict[str, Any],
        sample_weight: _Reals | None,
    ) -> None: ...
    @property
    def n_examples(self) -> int: ...
    @property
    def n_weights(self) -> int: ...
    def parts(self, i: int) -> int: ...
    def score(self, i: int, w: _Reals) -> _Reals: ...
    def infer(
        self, i: int, w: _Reals, margin: float, temperature: float
    ) -> tuple[float, tuple[_Indices | None, _Reals]]: ...
    def loss(
        self, i: int, w: _Reals, margin: float, temperature: float
    ) -> tuple[float, tuple[_Indices | None, _Reals]]: ...
    def scatter(
        self, i: int, index: _Indices | None, value: _Reals, a: float, w: _Reals
    ) -> None: ...
    def sqnorm(self, i: int, index: _Indices | None, value: _Reals) -> float: ...
    def total(
        self,
        w: _Reals,
        margin: float,
        temperature: float,
        gradient: _Reals | None,
        threads: int,
    ) -> tuple[float, bool]: ...
    def argmax_all(self, w: _Reals, threads: int) -> tuple[_Integers, _Integers]: ...
    def encode_all(
        self, flat: npt.NDArray[np.int32], ptr: _Integers
    ) -> tuple[_Integers, _Indices]: ...
    def online(
        self, order: _Integers, settings: dict[str, Any], state: dict[str, Any]
    ) -> dict[str, Any]: ...
