"""One input in one call: medians and tails, alone and while calls arrive at random times."""

from __future__ import annotations

import gc
import random
import threading
import time
from collections.abc import Callable
from itertools import accumulate
from typing import Any

import structlearn
from structlearn.datasets import make_treebank
from structlearn.io import read_crfsuite
from structlearn.tasks import SegmentTagger, Tagger

from .. import rivals
from ..data import data_folder
from ..registry import Context, Result, Row, benchmark
from .running_text import ENGLISH

__all__ = ["one_call"]

#: Six tokens each, most of them.
ADDRESSES = (
    "123 Main St. Chicago, IL 60601",
    "1600 Pennsylvania Avenue Washington, DC 20500",
    "350 Fifth Ave Brooklyn, NY 10118",
    "77 Massachusetts Ave Cambridge, MA 02139",
    "4059 Mt Lee Hollywood, CA 90068",
    "2 Lincoln Memorial Springfield, IL 62701",
)
#: Two short sentences each, annotated by the English pipeline.
TEXTS = (
    "Fish sleep. They don't dream.",
    "The cat sat on the mat. Dogs bark.",
    "I like it. She went home early.",
    "We met Bob in Paris. It rained.",
)
PIPELINE, UDPIPE = "English pipeline, two short sentences", "UDPipe, two short sentences"
#: How much rarer such a call is made than others.
RARER = 10
Call = Callable[[Any], Any]


def quantile(sorted_times: list[float], share: float) -> float:
    """Return a quantile of times in ascending order."""
    return sorted_times[min(len(sorted_times) - 1, int(share * len(sorted_times)))]


def in_turn(calls: dict[str, Call], inputs: dict[str, list[Any]], n: int) -> dict[str, list[float]]:
    """Return the seconds of n calls of each, one after the other, in ascending order."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for name, call in calls.items():
        for x in inputs[name]:
            call(x)
    gc.collect()
    gc.disable()
    try:
        for i in range(n):
            for name, call in calls.items():
                step = RARER if name in (PIPELINE, UDPIPE) else 1
                if i % step:
                    continue
                x = inputs[name][i // step % len(inputs[name])]
                start = time.perf_counter()
                call(x)
                times[name].append(time.perf_counter() - start)
    finally:
        gc.enable()
    return {name: sorted(found) for name, found in times.items()}


def arrivals(
    call: Call, inputs: list[Any], median: float, threads: int, seconds: float
) -> list[float]:
    """Return the seconds that calls took which arrived at random, at half of the capacity.

    All threads call one model. Each sleeps until its next call is due; what is timed is the call,
    with all that it waits for. In ascending order.
    """
    found: list[list[float]] = [[] for _ in range(threads)]
    # A thread cannot sleep for much less than this.
    gap = max(2 * median, 2e-4) * threads
    begin = time.perf_counter() + 0.05

    def work(number: int) -> None:
        rng = random.Random(number)
        gaps = (rng.expovariate(1 / gap) for _ in range(10**9))
        for i, due in enumerate(accumulate(gaps)):
            if due > seconds:
                return
            wait = begin + due - time.perf_counter()
            if wait > 0:
                time.sleep(wait)
            start = time.perf_counter()
            call(inputs[i % len(inputs)])
            found[number].append(time.perf_counter() - start)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sorted(x for row in found for x in row)


def taggers(quick: bool) -> tuple[dict[str, Call], dict[str, list[Any]]]:
    """Return taggers of tokens and of segments, and sentences of twelve words for each."""
    bank = make_treebank(200 if quick else 3000, random_state=0)
    rng = random.Random(0)
    words = [(w, t) for s in bank for w, t in zip(s.words, s.tags, strict=True)]
    rows = [[rng.choice(words) for _ in range(12)] for _ in range(200)]
    rounds: dict[str, Any] = {"n_models": 1, "max_iter": 3, "random_state": 0}
    tagger = Tagger("pos", **rounds).fit([list(zip(s.words, s.tags, strict=True)) for s in bank])
    chunks = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in bank]
    segments = SegmentTagger(**rounds).fit(chunks)
    calls: dict[str, Call] = {
        "Tagger, pos, 12 words": tagger.predict_single,
        "SegmentTagger, 12 words": segments.predict_single,
    }
    inputs: list[list[Any]] = [[[w for w, _ in row] for row in rows], rows]
    return calls, dict(zip(calls, inputs, strict=True))


def pipelines(result: Result) -> dict[str, Call]:
    """Return what annotates a text, from characters to CoNLL-U."""
    nlp = structlearn.load(ENGLISH)
    calls: dict[str, Call] = {PIPELINE: lambda text: nlp(text).to_conllu()}
    theirs, source = rivals.load("udpipe_text", result.skipped), data_folder()
    if theirs and source is None:
        result.skipped.append("ufal.udpipe (no treebank to train it on in STRUCTLEARN_DATA)")
    elif theirs:
        calls[UDPIPE] = theirs.annotator(theirs.model_file(source / "ud_en_ewt"))
    return calls


@benchmark
def one_call(context: Context) -> Result:
    """One input in one call: addresses by usaddress' model, sentences of twelve words, a text."""
    result = Result()
    n = 500 if context.quick else 20_000
    seconds = 0.5 if context.quick else 10.0
    calls, inputs = taggers(context.quick)
    targets = {"Tagger, pos, 12 words": 15.0, PIPELINE: 1200.0}
    texts = pipelines(result)
    calls |= texts
    inputs |= dict.fromkeys(texts, TEXTS)
    theirs = rivals.load("addresses", result.skipped)
    if theirs:
        model = read_crfsuite(theirs.MODEL)
        addresses = [theirs.features(address) for address in ADDRESSES]
        label, marginals = theirs.tagger()
        _check_answers(model, addresses, label, marginals)
        added: dict[str, Call] = {
            "address, labels": model.predict_single,
            "address, marginals": lambda x: model.predict_marginals([x]),
            "rival, labels": label,
            "rival, marginals": marginals,
        }
        calls |= added
        inputs |= dict.fromkeys(added, addresses)
    times = in_turn(calls, inputs, n)
    for name, target in targets.items():
        median = quantile(times[name], 0.5) * 1e6
        result.rows.append(
            Row(name, "", "us", median, target=f"<= {target:g} us", met=median <= target)
        )
    median = quantile(times["SegmentTagger, 12 words"], 0.5) * 1e6
    result.rows.append(Row("SegmentTagger, 12 words", "", "us", median))
    if theirs:
        for what, wanted in (("labels", 53 / 25), ("marginals", 2.0)):
            ours, other = times[f"address, {what}"], times[f"rival, {what}"]
            result.rows += _compared(f"address, {what}", ours, other, wanted)
    if UDPIPE in times:
        result.rows += _compared("two short sentences", times[PIPELINE], times[UDPIPE], 1.0)
    load = {}
    unloaded = ("address, marginals", "rival, marginals", UDPIPE)
    for name in [k for k in calls if k not in unloaded]:
        for threads in (1, 4):
            found = arrivals(
                calls[name], inputs[name], quantile(times[name], 0.5), threads, seconds
            )
            load[f"{name}, {threads} threads"] = _summary(found)
    result.details = {"in turn": {k: _summary(v) for k, v in times.items()}, "arrivals": load}
    for name, figures in {**result.details["in turn"], **load}.items():
        told = ", ".join(f"{k} {v:.1f}" for k, v in figures.items() if k != "calls")
        result.notes.append(f"{name}: {told} us")
    return result


def _summary(times: list[float]) -> dict[str, float]:
    shares = {"median": 0.5, "p99": 0.99, "p99.9": 0.999}
    found = {name: quantile(times, share) * 1e6 for name, share in shares.items()}
    return {**found, "calls": len(times)}


def _compared(case: str, ours: list[float], theirs: list[float], at_least: float) -> list[Row]:
    rows = []
    rival = "python-crfsuite" if "address" in case else "ufal.udpipe"
    for share, name in ((0.5, "median"), (0.99, "p99")):
        mine, other = (quantile(times, share) * 1e6 for times in (ours, theirs))
        rows.append(Row(f"{case}: {name}", rival, "us", mine, other, other / mine))
    ratio = rows[0].ratio or 0.0
    rows[0].target, rows[0].met = f">= {at_least:.3g}", ratio >= at_least
    return rows


def _check_answers(model: Any, addresses: list[Any], label: Call, marginals: Call) -> None:
    """Refuse to time answers that differ."""
    for x in addresses:
        if model.predict_single(x) != label(x):
            raise AssertionError("python-crfsuite has other labels")
        for ours, theirs in zip(model.predict_marginals([x])[0], marginals(x), strict=True):
            if any(abs(ours[k] - p) > 1e-9 for k, p in theirs.items()):
                raise AssertionError("python-crfsuite has other marginals")
