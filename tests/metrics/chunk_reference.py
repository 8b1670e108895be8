"""Chunks by other means: a running count over both label sequences, and writers of schemes."""

from __future__ import annotations


def pairs(text):
    return set(text.split())


#: Pairs of tags, same type, between which a chunk begins; those of IOBES and BILOU come last.
BEGINS = pairs("BB IB OB OI EE EI OE O[ O] B[ I[ E[ .[ X[ [[ ][ B] I] E] .] X] [] ]]")
BEGINS |= pairs("EB SB SI SE SS BS IS ES OS .S XS S[ S] [S ]S")

#: Pairs of tags, same type, between which a chunk ends.
ENDS = pairs("BB BO IB IO EE EI EO [B [I [E [O [. [X [[ [] ]B ]I ]E ]O ]. ]X ][ ]]")
ENDS |= pairs("EB BS IS ES SB SI SE SO S. SX SS S[ S] [S ]S")


def tag_and_type(label):
    if "-" not in label:
        return label, ""
    at = label.index("-")
    return label[:at], label[at + 1 :]


def begins(before, label):
    (a, old), (b, new) = tag_and_type(before), tag_and_type(label)
    a, b = a.replace("L", "E").replace("U", "S"), b.replace("L", "E").replace("U", "S")
    return a + b in BEGINS or (old != new and b not in ("O", "."))


def ends(before, label):
    (a, old), (b, new) = tag_and_type(before), tag_and_type(label)
    a, b = a.replace("L", "E").replace("U", "S"), b.replace("L", "E").replace("U", "S")
    return a + b in ENDS or (old != new and a not in ("O", "."))


def running_counts(gold, predicted):
    """Return {type: [right, predicted, gold]}, by one walk over both sequences of a sentence.

    No span is ever built: a flag says that both sides are in a chunk that began at the same place,
    and that nothing has parted them since.
    """
    counts = {}

    def add(kind, which):
        counts.setdefault(kind, [0, 0, 0])[which] += 1

    together, kind = False, ""
    gold, predicted = ["O", *gold], ["O", *predicted]
    for t in range(1, len(gold)):
        x, y = (gold[t - 1], gold[t]), (predicted[t - 1], predicted[t])
        x_ends, y_ends = ends(*x) or begins(*x), ends(*y) or begins(*y)
        if together and x_ends and y_ends:
            add(kind, 0)
        if x_ends or y_ends:
            together = False
        if begins(*x):
            add(tag_and_type(x[1])[1], 2)
        if begins(*y):
            add(tag_and_type(y[1])[1], 1)
        if begins(*x) and begins(*y) and tag_and_type(x[1])[1] == tag_and_type(y[1])[1]:
            together, kind = True, tag_and_type(x[1])[1]
    if together:  # the sentence's end ends both
        add(kind, 0)
    return counts


def write(spans, length, scheme):
    """Return the labels of chunks (start, end, type) in a scheme, from its definition."""
    labels = ["O"] * length
    for start, end, kind in spans:
        for t in range(start, end):
            touches_before = any(e == start and k == kind for _, e, k in spans)
            touches_after = any(s == end and k == kind for s, _, k in spans)
            first, last = t == start, t == end - 1
            tag = {
                "iob1": "B" if first and touches_before else "I",
                "iob2": "B" if first else "I",
                "ioe1": "E" if last and touches_after else "I",
                "ioe2": "E" if last else "I",
                "iobes": "S" if first and last else "B" if first else "E" if last else "I",
                "bilou": "U" if first and last else "B" if first else "L" if last else "I",
            }[scheme]
            labels[t] = f"{tag}-{kind}" if kind else tag
    return labels
