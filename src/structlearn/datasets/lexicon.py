"""The lexicon: the words of each lexical category of the grammar, with their frequencies.

Tags
----
======  ==========================================================================
DT      determiner: the, a, that, every; also standing alone ("That is true .")
PRP     personal pronoun
PRP$    possessive pronoun
CD      number, in words or digits
NN      noun, singular or mass, including nouns in -ing
NNS     noun, plural
NNP     name
JJ      adjective, including participles used as adjectives
RB      adverb, particle of a verb ("wake up"), "not"
VB      verb, base form
VBP     verb, present, not third person singular
VBZ     verb, present, third person singular
VBD     verb, past
VBG     verb, present participle
VBN     verb, past participle
MD      modal verb
TO      "to" before a verb; "to" before a noun is IN
IN      preposition, or a word that opens a subordinate clause ("that", "if")
WH      relative or interrogative pronoun
CC      coordinating conjunction
.       punctuation
======  ==========================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from structlearn.datasets import coinage, words
from structlearn.datasets.category import Category, closed_category, open_category
from structlearn.datasets.morphology import (
    able_form,
    er_form,
    ly_form,
    ness_form,
    noun_forms,
    verb_forms,
)

TAGS = (
    "DT",
    "PRP",
    "PRP$",
    "CD",
    "NN",
    "NNS",
    "NNP",
    "JJ",
    "RB",
    "VB",
    "VBP",
    "VBZ",
    "VBD",
    "VBG",
    "VBN",
    "MD",
    "TO",
    "IN",
    "WH",
    "CC",
    ".",
)

FORM_TAGS = {
    "z": "VBZ",
    "p": "VBP",
    "m": "VBP",
    "d": "VBD",
    "w": "VBD",
    "b": "VB",
    "g": "VBG",
    "n": "VBN",
}

# Closed classes: tag, then words, with a weight after a colon unless it is 1.
_CLOSED = {
    "det.sg": ("DT", "the:42 a:34 this:6 that:9 every:4 no:3 each:2 another:3"),
    "det.pl": ("DT", "the:40 some:8 these:6 those:5 all:4 no:2 many:3 few:2"),
    "det.mass": ("DT", "the:20 some:8 this:4 that:5 no:3"),
    "det.time": ("DT", "the:12 that:3 a:1"),
    "det.alone": ("DT", "that:5 this:4"),
    "poss": ("PRP$", "her:9 his:7 my:5 their:5 our:3 its:3 your:3"),
    "prp.sg": ("PRP", "she:5 he:5 it:5"),
    "prp.pl": ("PRP", "they:5 we:4 you:4"),
    "prp.i": ("PRP", "I"),
    "prp.obj": ("PRP", "her:8 him:6 it:6 them:6 me:4 us:3 you:3"),
    "wh.rel": ("WH", "that:7 who:4 which:4"),
    "wh.ask": ("WH", "who:5 what:3"),
    "md": ("MD", "will:6 can:6 may:3 must:3 would:3 could:3 should:3 might:2"),
    "to": ("TO", "to"),
    "not": ("RB", "not"),
    "cc": ("CC", "and:10 or:3"),
    "cc.clause": ("CC", "and:6 but:6 or:1 so:1"),
    "that": ("IN", "that"),
    "if": ("IN", "if:3 whether:2"),
    "sub": ("IN", "when:6 because:5 while:3 before:4 after:4 if:4 since:2 although:2"),
    "p.of": ("IN", "of"),
    "p.place": ("IN", "in:14 on:6 at:5 near:6 behind:3 under:3 by:3 outside:2"),
    "p.path": ("IN", "into:6 through:5 up:4 down:4 over:4 across:3 towards:2 around:3 past:2"),
    "p.time": ("IN", "in:5 during:6 before:4 after:5 since:1"),
    "p.year": ("IN", "in:6 since:2 before:1"),
    "p.company": ("IN", "with:10 without:3 like:4"),
    "p.topic": ("IN", "about:5 from:4 for:4"),
    "p.goal": ("IN", "for:6 from:3 against:1"),
    "p.by": ("IN", "by"),
    "p.to": ("IN", "to"),
    "p.at": ("IN", "at"),
    "p.on": ("IN", "on"),
    "p.for": ("IN", "for"),
    "comma": (".", ","),
    "stop": (".", ".:30 !:1"),
    "ask": (".", "?"),
}


def _bases(kinds: Sequence[str]) -> list[str]:
    entries = " ".join(words.VERBS[kind] for kind in kinds).split()
    return list(dict.fromkeys(entry.split("/")[0] for entry in entries))


def _nouns() -> dict[str, Category]:
    out = {}
    doers = [er_form(base) for base in _bases(["intr", "tr"]) if not base.endswith(("ie", "er"))]
    for kind, text in words.NOUNS.items():
        if kind == "mass":
            continue
        derived = doers if kind == "anim" else []
        for number, tag in (("sg", "NN"), ("pl", "NNS")):
            out[f"n.{kind}.{number}"] = open_category(
                tag,
                [noun_forms(entry)[number] for entry in text.split()],
                [noun_forms(entry)[number] for entry in derived],
                coinage.count_noun(kind, number) if kind in ("anim", "thing", "abs") else None,
            )
    qualities = [ness_form(word) for word in _plain_adjectives()]
    out["n.mass"] = open_category(
        "NN", words.NOUNS["mass"].split(), qualities, coinage.quality, 0.03
    )
    return out


def _plain_adjectives() -> list[str]:
    """Return the adjectives that are not participles; only these take -ness and -ly."""
    participles = ("ing", "ed", "en", "lost")
    return [word for word in words.ADJECTIVES.split() if not word.endswith((*participles, "ly"))]


def _modifiers() -> dict[str, Category]:
    listed = words.ADJECTIVES.split()
    derived = [able_form(base) for base in _bases(["tr"])]
    derived += ["un" + word for word in derived[::3]]
    things = words.NOUNS["thing"].split() + words.NOUNS["abs"].split()
    stems = [noun_forms(entry)["sg"] for entry in things if not entry.endswith("ll")]
    derived += [stem + "less" for stem in stems[::2]]
    out = {
        "adj": open_category("JJ", listed, derived, coinage.adjective, 0.02),
        "adj.nation": open_category("JJ", words.NATIONALITIES.split()),
        "adj.of": open_category("JJ", words.ADJECTIVES_OF.split()),
        "adj.to": open_category("JJ", words.ADJECTIVES_TO.split()),
    }
    no_ly = words.ADJECTIVES_WITHOUT_LY.split()
    manner = [ly_form(word) for word in _plain_adjectives() if word not in no_ly]
    for kind, text in words.ADVERBS.items():
        is_manner = kind == "manner"
        out[f"adv.{kind}"] = open_category(
            "RB", text.split(), manner if is_manner else (), coinage.adverb if is_manner else None
        )
    return out


def _verbs() -> dict[str, Category]:
    out = {}
    for kind, text in words.VERBS.items():
        tables = [verb_forms(entry) for entry in text.split()]
        productive = kind == "tr"
        repeatable = [table for table in tables if table["b"][0] not in "aeioru"][::2]
        for form, tag in FORM_TAGS.items():
            out[f"v.{kind}.{form}"] = open_category(
                tag,
                [table[form] for table in tables],
                ["re" + table[form] for table in repeatable] if productive else (),
                coinage.verb(form) if productive else None,
                0.02,
            )
    for name, text in words.AUXILIARIES.items():
        for (form, tag), word in zip(FORM_TAGS.items(), text.split(), strict=True):
            out[f"{name}.{form}"] = Category(tag, [word], [1.0])
    return out


@cache
def lexicon() -> dict[str, Category]:
    """Return every lexical category by name; built once."""
    out = {name: closed_category(tag, text) for name, (tag, text) in _CLOSED.items()}
    out["name.person"] = open_category("NNP", words.PERSONS.split(), (), coinage.person, 0.15)
    out["name.family"] = open_category("NNP", words.SURNAMES.split(), (), coinage.surname, 0.15)
    out["name.place"] = open_category("NNP", words.PLACES.split(), (), coinage.place, 0.15)
    out["num"] = open_category("CD", words.NUMBERS.split(), (), coinage.numeral, 0.15)
    out["num.year"] = Category("CD", ["1900"], [1.0], coinage.year, 0.95)
    return {**out, **_nouns(), **_modifiers(), **_verbs()}
