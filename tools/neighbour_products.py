"""Products that stand on python-crfsuite, run on our module in its place.

usaddress and probablepeople parse strings made of the vocabularies and labels of their own models;
the model of ingredient-parser, whose features need data that is not on the registry, labels made-up
tokens. Both libraries must find the same labels, and the same marginals to 1e-6. Times are medians
of alternating processes. Everything is downloaded from the registry.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from neighbour_suites import make_stand_ins, with_path

PACKAGES = ("usaddress==0.5.16", "probablepeople==0.5.6", "python-crfsuite==0.9.12")
#: The last version but one whose model is CRFsuite's; its dependencies are not needed.
INGREDIENTS = "ingredient-parser-nlp==2.5.0"
PRODUCTS = ("usaddress", "probablepeople", "ingredient_parser")
ROUNDS = 3


def main() -> int:
    """Return 0 if both libraries say the same everywhere."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("build/neighbours/products"))
    parser.add_argument("--strings", type=int, default=10_000)
    parser.add_argument("--child", choices=PRODUCTS, help=argparse.SUPPRESS)
    parser.add_argument("--inputs", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child and not options.inputs.exists():
        options.inputs.write_text(json.dumps(made_up(options.child, options.strings)))
        return 0
    if options.child:
        print(json.dumps(answers(options.child, json.loads(options.inputs.read_text()))))
        return 0
    folder = options.folder.resolve()
    if not (folder / "usaddress").is_dir():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder)]
        subprocess.run([*pip, *PACKAGES], check=True)
        subprocess.run([*pip, "--no-deps", INGREDIENTS], check=True)
    paths = {"theirs": with_path(folder), "ours": with_path(make_stand_ins(folder), folder)}
    wrong = [p for p in PRODUCTS if not compared(p, paths, options.strings, folder / f"{p}.json")]
    return int(bool(wrong))


def compared(product: str, paths: dict[str, dict[str, str]], n: int, inputs: Path) -> bool:
    """Run a product with both libraries in turns; tell whether they agree."""
    command = [sys.executable, __file__, "--child", product, "--strings", str(n)]
    command += ["--inputs", str(inputs)]
    inputs.unlink(missing_ok=True)
    # Theirs cannot say what is in usaddress's model: an attribute has a line break in it.
    subprocess.run(command, env=paths["ours"], check=True)
    found: dict[str, list[Any]] = {side: [] for side in paths}
    for _ in range(ROUNDS):
        for side, environment in paths.items():
            done = subprocess.run(command, env=environment, capture_output=True, check=True)
            found[side].append(json.loads(done.stdout))
    theirs, ours = found["theirs"][0], found["ours"][0]
    assert theirs["library"] == "pycrfsuite._pycrfsuite", theirs["library"]
    assert ours["library"] == "structlearn.crfsuite.tagger", ours["library"]
    equal = sum(a == b for a, b in zip(theirs["labels"], ours["labels"], strict=True))
    off = max(
        (abs(a - b) for p, q in zip(theirs["p"], ours["p"], strict=True)
         for a, b in zip(p, q, strict=True)), default=0.0,
    )  # fmt: skip
    print(f"{product}: {equal} of {n} parses equal, marginals differ by at most {off:.1e}")
    for what in ("parse", "tag"):
        times = {side: statistics.median(run[what] for run in runs) for side, runs in found.items()}
        if times["theirs"]:
            ratio = times["theirs"] / times["ours"]
            shown = ", ".join(f"{side} {1e6 * t:.1f} µs" for side, t in times.items())
            print(f"  {what} a call: {shown}, {ratio:.2f} times as fast")
    return equal == n and off <= 1e-6


# -- in a process of its own ----------------------------------------------------------------------


def tagger_of(product: str) -> Any:
    """Return the tagger of a product, from the library that is on the path."""
    if product != "ingredient_parser":
        return __import__(product).TAGGER
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    here = Path(next(p for p in sys.path if (Path(p) / product).is_dir()))
    tagger.open(str(here / product / "en" / "data" / "model.en.crfsuite"))
    return tagger


def made_up(product: str, n: int) -> list[Any]:
    """Return strings to be parsed, or sequences of attributes, as a product's model knows them."""
    draw, info = random.Random(0), tagger_of(product).info()
    if product == "ingredient_parser":
        known = sorted(info.attributes)
        return [[draw.sample(known, 20) for _ in range(draw.randint(1, 14))] for _ in range(n)]
    return made_up_strings(info, n, draw)


def answers(product: str, inputs: list[Any]) -> dict[str, Any]:
    """Return what a product says of inputs with the library that is on the path."""
    tagger, parse = tagger_of(product), None
    if product == "ingredient_parser":
        sequences = [[dict.fromkeys(names, True) for names in tokens] for tokens in inputs]
        labels: list[Any] = [tagger.tag(x) for x in sequences]
    else:
        module = __import__(product)
        parse = module.parse
        labels = [parse(string) for string in inputs]
        tokens = [t for string in inputs if (t := module.tokenize(string))]
        sequences = [module.tokens2features(t) for t in tokens]
    p = []
    for x in sequences[:2000]:
        best = tagger.tag(x)
        p.append([tagger.marginal(k, t) for t, k in enumerate(best)])
    return {
        "library": type(tagger).__module__,
        "labels": labels,
        "p": p,
        "parse": timed(parse, inputs[:2000]) if parse else 0.0,
        "tag": timed(tagger.tag, sequences[:2000]),
    }


def timed(function: Any, inputs: list[Any]) -> float:
    """Return the seconds of a call, the best of three rounds."""
    best = math.inf
    for _ in range(3):
        begun = time.perf_counter()
        for x in inputs:
            function(x)
        best = min(best, time.perf_counter() - begun)
    return best / len(inputs)


def made_up_strings(info: Any, n: int, draw: random.Random) -> list[str]:
    """Return strings of words that a model knows, in the order that its labels like."""
    words: dict[str, list[tuple[str, float]]] = {label: [] for label in info.labels}
    for (attribute, label), weight in info.state_features.items():
        name, _, word = attribute.partition(":")
        if name in ("word", "nopunc", "prefix_5", "suffix_5") and word and weight > 0:
            words[label].append((word, weight))
    labels = sorted(words)
    strings = []
    for _ in range(n):
        label, tokens = draw.choice(labels), []
        for _ in range(draw.randint(1, 9)):
            likes = [math.exp(info.transitions.get((label, k), -2.0)) for k in labels]
            label = draw.choices(labels, likes)[0]
            token = str(draw.randint(1, 99999))
            if words[label] and draw.random() < 0.8:
                known, weights = zip(*words[label], strict=True)
                token = draw.choices(known, weights)[0]
            token = draw.choice([token, token.capitalize(), token.upper()])
            tokens.append(token + draw.choice(["", "", "", ",", "."]))
        strings.append(" ".join(tokens))
    return strings


if __name__ == "__main__":
    sys.exit(main())
