"""Model files of Wapiti and CRF++, written from the facts of their formats."""

from __future__ import annotations

import struct


def netstring(text):
    data = text.encode()
    return b"%d:%s,\n" % (len(data), data)


def wapiti_model(patterns, labels, weights, *, kind=2, autouni=0):
    """A Wapiti model.

    Parameters
    ----------
    weights : dict of str to list of float
        Observation to its weights: one for each label (u), each pair (b), or both (*).
    """
    values = [w for row in weights.values() for w in row]
    active = [(i, w) for i, w in enumerate(values) if w]
    parts = [b"#mdl#%d#%d\n" % (kind, len(active))]
    parts.append(b"#rdr#%d/0/%d\n" % (len(patterns), autouni))
    parts += map(netstring, patterns)
    for strings in (labels, weights):
        parts.append(b"#qrk#%d\n" % len(strings))
        parts += map(netstring, strings)
    parts += [b"%d=%s\n" % (i, w.hex().encode()) for i, w in active]
    return b"".join(parts)


def numbered(labels, weights):
    """Each feature of CRF++ with the number of its first weight, and all weights."""
    features, values = [], []
    for feature, row in weights.items():
        features.append((feature, len(values)))
        values += row
    return features, values


def crfpp_text(templates, labels, weights, *, xsize=2, factor="1"):
    """A text model of CRF++."""
    features, values = numbered(labels, weights)
    head = [f"version: 100\ncost-factor: {factor}\nmaxid: {len(values)}\nxsize: {xsize}"]
    lines = [*head, "", *labels, "", *templates, ""]
    lines += [f"{number} {feature}" for feature, number in sorted(features)]
    lines += ["", *(f"{w:.16f}" for w in values)]
    return ("\n".join(lines) + "\n").encode()


def double_array(keys):
    """Units (base, check) of a double array for sorted (bytes, number) pairs."""
    units = {0: [1, 0]}
    taken = set()

    def place(unit, group, depth):
        children = {}
        for key, number in group:
            symbol = key[depth] + 1 if depth < len(key) else 0
            children.setdefault(symbol, []).append((key, number))
        begin = 1
        while begin in taken or any(begin + s in units for s in children):
            begin += 1
        taken.add(begin)
        units[unit][0] = begin
        for symbol in children:
            units[begin + symbol] = [0, begin]
        for symbol, inside in children.items():
            if symbol == 0:
                units[begin][0] = -inside[0][1] - 1
            else:
                place(begin + symbol, inside, depth + 1)

    if keys:
        place(0, keys, 0)
    size = max(units) + 1
    return b"".join(struct.pack("<iI", *units.get(i, (0, 0))) for i in range(size))


def crfpp_binary(templates, labels, weights, *, xsize=2, factor=1.0):
    """A binary model of CRF++."""
    features, values = numbered(labels, weights)
    units = double_array(sorted((f.encode(), n) for f, n in features))
    label_text = b"".join(k.encode() + b"\0" for k in labels)
    template_text = b"".join(t.encode() + b"\0" for t in templates)
    template_text += b"\0" * (-len(label_text + template_text) % 4)
    head = struct.pack("<IidIII", 100, 0, factor, len(values), xsize, len(units))
    return b"".join([
        head, struct.pack("<I", len(label_text)), label_text,
        struct.pack("<I", len(template_text)), template_text,
        units, struct.pack(f"<{len(values)}f", *values),
    ])  # fmt: skip
