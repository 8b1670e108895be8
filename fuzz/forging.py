"""Random forgeries of the descriptions and arrays of model files."""

import copy

import numpy as np

from structlearn.io.container import Tensor

OTHERS = [
    None, True, False, 0, 1, -1, 2, 7, 2**31, 2**32, 2**63, -(2**40), 10**30, 0.5, -1.5, 1e308,
    float("inf"), float("nan"), "", "x", "label", "F64", "array0", "array1", [], {}, [0], [[]],
    {"$": "array", "name": "array0"}, {"$": "tuple", "items": []}, {"$": "dict", "items": []},
    {"$": "Chain", "order": 2}, {"$": "Multiclass"}, ["a", "b", "c"],
    {"$": "Grid", "method": "auto", "damping": 0.0},
]  # fmt: skip


def drawn_place(rng, node):
    """Return a dict or list inside a description, with a key of it, from the top down.

    Everything on the way is copied, so that changing the entry changes no other description. Long
    lists are as likely as single values beside them.
    """
    while True:
        key = rng.choice(list(node)) if isinstance(node, dict) else rng.randrange(len(node))
        inner = node[key]
        if not isinstance(inner, (dict, list)) or not inner or rng.random() < 0.1:
            return node, key
        node[key] = node = copy.copy(inner)


def forge_description(rng, description):
    """Change one entry of ``description``; nested values are copied, not changed."""
    node, key = drawn_place(rng, description)
    action = rng.choice(["replace", "replace", "delete", "copy", "nudge"])
    if action == "replace":
        node[key] = copy.deepcopy(rng.choice(OTHERS))
    elif action == "delete":
        del node[key]
    elif action == "copy":
        other, place = drawn_place(rng, dict(description))
        node[key] = copy.deepcopy(other[place])
    elif isinstance(node[key], bool) or not isinstance(node[key], (int, float, str, list)):
        node[key] = [node[key]]
    elif isinstance(node[key], list):
        node[key] = node[key] * 2
    elif isinstance(node[key], str):
        node[key] = node[key] + "1"
    else:
        node[key] = node[key] + rng.choice([-1, 1, 255])


def forge_arrays(rng, tensors):
    name = rng.choice(sorted(tensors))
    dtype, data, shape = tensors[name]
    data = bytearray(data)
    action = rng.choice(["value", "value", "value", "shape", "dtype", "drop", "extra", "swap"])
    if action == "value" and data:
        width = {"U32": 4, "F64": 8, "I64": 8, "U64": 8}.get(dtype, 1)
        at = rng.randrange(len(data) // width) * width
        new = rng.choice([b"\0" * 8, b"\xff" * 8, rng.randbytes(8), b"\1" + b"\0" * 7,
                          np.float64(np.nan).tobytes(), np.float64(-np.inf).tobytes(),
                          np.float64(1e300).tobytes()])  # fmt: skip
        data[at : at + width] = new[:width]
    elif action == "shape":
        data, shape = data[: len(data) // 2 // 8 * 8], None
    elif action == "dtype":
        dtype, shape = rng.choice(["U8", "I8"] if len(data) % 8 else ["F64", "I64", "U64"]), None
    elif action == "drop":
        del tensors[name]
        return
    elif action == "extra":
        tensors["array999"] = Tensor("U8", b"x")
        return
    elif action == "swap":
        other = rng.choice(sorted(tensors))
        tensors[name], tensors[other] = tensors[other], tensors[name]
        return
    tensors[name] = Tensor(dtype, bytes(data), shape)
