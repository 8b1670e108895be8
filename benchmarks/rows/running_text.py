"""Running text to trees: the packaged English model and UDPipe 1, in turn, on one core."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .. import rivals
from ..data import data_folder
from ..registry import Context, Result, Row, benchmark
from ..timing import interleave

__all__ = ["ENGLISH", "running_text"]

ENGLISH = Path("models/english/src/structlearn_english/english.model")


@benchmark
def running_text(context: Context) -> Result:
    """English Web Treebank, test: from its text to CoNLL-U with tags, lemmas and trees."""
    import structlearn
    from structlearn.text.dependency_treebank import read_treebank
    from structlearn.text.surface import raw_text

    result = Result()
    source = data_folder()
    if source is None or not (source / "ud_en_ewt").is_dir():
        result.skipped.append("ud_en_ewt (not in STRUCTLEARN_DATA nor in ../shared/data)")
        return result
    udpipe_text = rivals.load("udpipe_text", result.skipped)
    if udpipe_text is None:
        return result
    treebank = source / "ud_en_ewt"
    model = udpipe_text.model_file(treebank)
    theirs = udpipe_text.annotator(model)
    nlp = structlearn.load(ENGLISH)
    corpus = read_treebank(treebank / "test.conllu.gz")
    if context.quick:
        corpus = corpus.subset(range(200))
    text = raw_text(corpus)
    calls: dict[str, Any] = {
        "structlearn": lambda: nlp(text).to_conllu(),
        "ufal.udpipe": lambda: theirs(text),
    }
    timings = interleave(calls, repeats=context.times(3, 1))
    ours, rival = timings["structlearn"], timings["ufal.udpipe"]
    result.rows.append(Row.times("running text to CoNLL-U", "ufal.udpipe", ours, rival,
                                 unit="s", at_least=2))  # fmt: skip
    result.details = {
        "n_words": corpus.n_tokens,
        "udpipe_model_bytes": model.stat().st_size,
        "timings": {name: timing.summary() for name, timing in timings.items()},
        "words_per_second": {n: corpus.n_tokens / t.best for n, t in timings.items()},
    }
    result.notes = [
        f"{name}: {number:.0f} words a second"
        for name, number in result.details["words_per_second"].items()
    ]
    return result
