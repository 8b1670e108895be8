"""Planted bugs in metrics: tokens, chunks, trees, annotated texts, masks."""

import numpy as np

from .planting import Bug, after

METRICS = "structlearn.metrics."

SCORES = (
    Bug("token scores", METRICS + "accuracy:_right", after(lambda n: (n[0], n[1] + 1)), 10),
    Bug("reliability", METRICS + "calibration:bisect_right",
        lambda right: lambda borders, p: right(borders, p - 1e-9), 20),
    Bug("overlap", "fuzz.metamorphic.evaluation:compare",
        lambda right: lambda gold, found, n: right(found, [np.maximum(g, 0) for g in gold], n), 20),
    Bug("chunks as drawn", METRICS + "schemes:_write",
        after(lambda row: [k.replace("E-", "I-") for k in row]), 20),
    Bug("legal transitions", "structlearn.metrics:legal_transitions",
        after(lambda found: {**found, "end": []}), 200, ("iobes",)),
    Bug("chunk scores", METRICS + "chunking:_spans",
        after(lambda pairs: [(truth, guess[:1]) for truth, guess in pairs]), 10),
    Bug("chunk scores: seqeval", METRICS + "chunking:chunks", after(lambda spans: spans[:-1]), 20),
    Bug("scores: order and names", METRICS + "chunking:chunks",
        after(lambda spans: [(a, b, kind[:1]) for a, b, kind in spans]), 40),
    Bug("attachment scores", METRICS + "attachment:_roots", after(lambda roots: roots[:1]),
        60, ("many",)),
    Bug("brackets", METRICS + "brackets:counted_brackets", after(lambda n: type(n)(set(n))), 40),
    Bug("UD evaluation", METRICS + "alignment:universal", lambda right: lambda feats: feats, 60),
)  # fmt: skip
