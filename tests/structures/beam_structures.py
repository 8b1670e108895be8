"""A chain written step by step in Python, for comparison with the core's beam."""

import itertools

import numpy as np

from structlearn.structures import BeamSearch, Block


class SteppedChain(BeamSearch):
    """A sequence of labels with scores on pairs of neighbours, built from left to right."""

    def __init__(self, merge=True):
        self.merge = merge

    def blocks(self, n_labels):
        return {
            "label": Block((n_labels,)),
            "start": Block((n_labels,), shared=True),
            "end": Block((n_labels,), shared=True),
            "transition": Block((n_labels, n_labels), shared=True),
        }

    # What every structure needs.

    def encode(self, y, **scores):
        return self.beam_parts(tuple(y), **scores)

    def decode(self, parts):
        return np.asarray(parts["label"]).argmax(axis=1)

    def outputs(self, label, **scores):
        for y in itertools.product(range(label.shape[1]), repeat=label.shape[0]):
            yield np.array(y)

    def argmax(self, **scores):
        return max(self.outputs(**scores), key=lambda y: self.score(y, **scores))

    # What a beam needs.

    def beam_steps(self, prefix, label, start, end, transition):
        t = len(prefix)
        if t == len(label):
            return None
        added = label[t] + (transition[prefix[-1]] if prefix else start)
        if t == len(label) - 1:
            added = added + end
        return [((*prefix, k), added[k]) for k in range(label.shape[1])]

    def beam_parts(self, prefix, label, start, end, transition):
        parts = {
            "label": np.zeros(label.shape),
            "start": np.zeros(start.shape),
            "end": np.zeros(end.shape),
            "transition": np.zeros(transition.shape),
        }
        for t, k in enumerate(prefix):
            parts["label"][t, k] = 1
            if t:
                parts["transition"][prefix[t - 1], k] += 1
        if prefix:
            parts["start"][prefix[0]] = 1
        if len(prefix) == len(label):
            parts["end"][prefix[-1]] = 1
        return parts

    def beam_prefixes(self, y, **scores):
        return [tuple(int(k) for k in y[: t + 1]) for t in range(len(y))]

    def beam_state(self, prefix):
        # The next step reads the last label only.
        return (len(prefix), prefix[-1]) if self.merge and prefix else prefix
