"""Features of a sentence worked out plainly, from the description of the templates alone."""

from __future__ import annotations

import itertools
import re
import unicodedata

from structlearn.text.corpus import find_column


def lower(s):
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in s)


def letter_kind(c):
    category = unicodedata.category(c)
    if category in ("Lu", "Lt"):
        return "X"
    if category == "Ll":
        return "x"
    if category == "Nd":
        return "d"
    return "c" if category in ("Lo", "Lm") else c


def shape(s, short):
    out = [letter_kind(c) for c in s]
    return "".join(k for k, _ in itertools.groupby(out)) if short else "".join(out)


def applied(name, argument, s, functions):
    """The values of one function of one string."""
    if name == "lower":
        return [lower(s)]
    if name == "digits":
        return ["".join("0" if unicodedata.category(c) == "Nd" else c for c in s)]
    if name == "prefix":
        return [s[:argument]] if len(s) >= argument else []
    if name == "suffix":
        return [s[-argument:]] if len(s) >= argument else []
    if name == "shape":
        return [shape(s, argument)]
    if name == "ngrams":
        whole = f"^{s}$"
        grams = {whole[i : i + argument] for i in range(len(whole) - argument + 1)}
        return sorted(grams, key=lambda g: g.encode())
    if name == "match":
        return ["1"] if re.search(argument, s) else []
    assert name == "call"
    value = functions[argument](s)
    values = [value] if isinstance(value, str) else list(value or [])
    return [v for v in values if v]


def phrase_values(words, phrases):
    """B- and I- of the longest phrases, from left to right; the first name of a phrase counts."""
    named = {}
    for phrase, name in phrases:
        named.setdefault(tuple(phrase), name)
    values, at = [None] * len(words), 0
    while at < len(words):
        for n in range(len(words) - at, 0, -1):
            name = named.get(tuple(words[at : at + n]))
            if name is not None:
                values[at : at + n] = [f"B-{name}"] + [f"I-{name}"] * (n - 1)
                at += n
                break
        else:
            at += 1
    return values


def attribute_values(attribute, at, sentence, templates, format, marked):
    """The values of an attribute of the token at a place, which may lie beyond the ends."""
    n = len(sentence)
    if attribute.kind == "constant":
        return ["1"]
    if not 0 <= at < n:
        distance = at if at < 0 else at - n + 1
        return [f"_B{distance:+d}"] if marked else []
    if attribute.kind == "first":
        return ["1"] if at == 0 else []
    if attribute.kind == "last":
        return ["1"] if at == n - 1 else []
    column = find_column(attribute.column, format, len(sentence[0]))
    cells = [token[column] for token in sentence]
    if attribute.kind == "gazetteer":
        file = attribute.functions[-1][1]
        if len(attribute.functions) > 1:
            value = phrase_values(list(map(lower, cells)), templates.phrases[f"{file} lower"])[at]
        else:
            value = phrase_values(cells, templates.phrases[file])[at]
        return [value] if value else []
    values = [cells[at]]
    for name, argument in attribute.functions:
        values = [v for s in values for v in applied(name, argument, s, templates.functions)]
    return values


def joined_values(values):
    """Return the values of a feature: blanks separate them, and have backslashes inside of them."""
    if len(values) == 1:
        return values[0]
    return " ".join(v.replace("\\", "\\\\").replace(" ", "\\ ") for v in values)


def feature_names(templates, sentence, format="columns", transitions=False):
    """The names of the features of every token."""
    found = []
    for position in range(1 if transitions else 0, len(sentence)):
        names = []
        for t in templates.templates:
            if t.transition != transitions:
                continue
            text = t.name or t.text()
            if len(t.atoms) == 1 and t.atoms[0][0].kind == "constant":
                names.append(text)
                continue
            values = [
                attribute_values(a, position + offset, sentence, templates, format, t.marked)
                for a, offset in t.atoms
            ]
            names.extend(f"{text}={joined_values(v)}" for v in itertools.product(*values))
        found.append(names)
    return found
