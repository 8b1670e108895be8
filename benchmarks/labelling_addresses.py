"""Synthetic addresses of several countries, with gold spans; most coined names are unseen."""

from __future__ import annotations

import random

LABELS = ("NAME", "COMPANY", "STREET", "CITY", "CODE", "COUNTRY")
_SYLLABLES = "ba ber bo ca da del do fa gar ha hel ka kel la len li ma mon na nor o pa ra ri ro sa "
_SYLLABLES += "sel ta tor u va vel wi za"
_COUNTRIES = {
    "GB": ("United Kingdom", "UK", "England", "GREAT BRITAIN"),
    "DE": ("Germany", "Deutschland", "DE"),
    "FR": ("France", "FRANCE", "FR"),
    "ES": ("Spain", "España"),
}


def _coined(rng: random.Random, least: int = 2, most: int = 3) -> str:
    """Return a coined word."""
    return "".join(rng.choices(_SYLLABLES.split(), k=rng.randint(least, most))).capitalize()


def _street(rng: random.Random, country: str) -> str:
    number, name = rng.randrange(1, 300), _coined(rng)
    letter = rng.choice(["", "", "", "a", " b"])
    if country == "GB":
        flat = rng.choice(["", "", f"Flat {rng.randrange(1, 40)}, "])
        kind = rng.choice(["Road", "Street", "Rd", "St", "Lane", "Close", "Avenue"])
        return f"{flat}{number}{letter} {name} {kind}"
    if country == "DE":
        return f"{name}{rng.choice(['straße', 'str.', 'weg', 'gasse', ' Allee'])} {number}{letter}"
    if country == "FR":
        return f"{number}{rng.choice([',', ''])} {rng.choice(['rue', 'avenue', 'place'])} {name}"
    return f"{rng.choice(['Calle', 'C/', 'Avenida', 'Plaza'])} {name} {number}"


def _code(rng: random.Random, country: str) -> str:
    if country == "GB":
        area = "".join(rng.choices("ABEGHKLMNPRSW", k=rng.randint(1, 2)))
        last = "".join(rng.choices("ABDEFHJLN", k=2))
        return f"{area}{rng.randrange(1, 30)} {rng.randrange(1, 9)}{last}"
    return f"{rng.choice(['', '', country[0] + '-'])}{rng.randrange(10_000, 99_000)}"


def _address(rng: random.Random) -> tuple[str, list[dict[str, object]]]:
    country = rng.choice(list(_COUNTRIES))
    parts: list[tuple[str, str]] = []
    if rng.random() < 0.7:
        title = rng.choice(["", "", "", "Mr ", "Dr. ", "Ms "])
        parts.append(("NAME", f"{title}{_coined(rng, 1, 2)} {_coined(rng)}"))
    if rng.random() < 0.35:
        kind = rng.choice(["Ltd", "GmbH", "SA", "& Sons", "Inc."])
        parts.append(("COMPANY", f"{_coined(rng)} {rng.choice(['', _coined(rng) + ' '])}{kind}"))
    parts.append(("STREET", _street(rng, country)))
    place = [("CITY", rng.choice([_coined(rng), f"St {_coined(rng)}", f"{_coined(rng)} am See"]))]
    place.insert(rng.randrange(2) if country == "GB" else 0, ("CODE", _code(rng, country)))
    parts += place
    if rng.random() < 0.5:
        parts.append(("COUNTRY", rng.choice(_COUNTRIES[country])))
    mark, shout = rng.choice([", ", ", ", " ", "; ", " / "]), rng.random() < 0.1
    text, spans = rng.choice(["", "", "", "To: ", "c/o ", "Ship to "]), []
    for n, (label, value) in enumerate(parts):
        text += mark if n else ""
        spans.append({"start": len(text), "end": len(text) + len(value), "label": label})
        text += value.upper() if shout and value.upper().lower() == value.lower() else value
    return text, spans


def addresses(n: int, seed: int = 0) -> list[tuple[str, list[dict[str, object]]]]:
    """Return n different addresses, each with its spans."""
    rng, addresses = random.Random(seed), {}
    while len(addresses) < n:
        text, spans = _address(rng)
        addresses[text] = spans
    return list(addresses.items())
