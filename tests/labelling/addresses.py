"""Made addresses with their gold spans: what a new user would label."""

import random

NAMES = ["Ann", "Bob", "Carla", "Deniz", "Emil", "Fatma", "Georg", "Hilde", "Igor", "Jutta"]
SURNAMES = ["Lang", "Ortiz", "Brown", "Kaya", "Novak", "Silva", "Weber", "Rossi", "Dahl"]
STREETS = ["Mill", "Church", "Station", "River", "Oak", "Castle", "Garden", "Market", "Hill"]
ENDINGS = ["Street", "Road", "Lane", "Avenue", "Square"]
CITIES = ["Norwich", "Leeds", "York", "New Haven", "Bath", "St Ives", "Derby", "Port Ellen"]
LABELS = ["NAME", "STREET", "CITY", "CODE"]


def make_addresses(n, seed=0):
    """Return (text, spans) of n different addresses in several orders."""
    rng, found = random.Random(seed), {}
    while len(found) < n:
        name = f"{rng.choice(NAMES)} {rng.choice(SURNAMES)}"
        street = f"{rng.randrange(1, 200)} {rng.choice(STREETS)} {rng.choice(ENDINGS)}"
        city, code = rng.choice(CITIES), f"{rng.choice('ABEKLNS')}{rng.randrange(1000, 9999)}"
        parts = {"NAME": name, "STREET": street, "CITY": city, "CODE": code}
        order = rng.choice(
            [("NAME", "STREET", "CITY", "CODE"), ("STREET", "CODE", "CITY"),
             ("NAME", "CITY", "CODE", "STREET"), ("STREET", "CITY", "CODE", "NAME")]
        )  # fmt: skip
        mark = rng.choice([", ", " ", "; ", " - "])
        text, spans = "", []
        for label in order:
            text += mark if text else rng.choice(["", "to ", "deliver to "])
            spans.append({"start": len(text), "end": len(text) + len(parts[label]), "label": label})
            text += parts[label]
        found[text] = spans
    return list(found.items())
