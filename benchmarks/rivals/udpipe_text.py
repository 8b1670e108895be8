"""ufal.udpipe: UDPipe 1, from running text to CoNLL-U, with a model of its own."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import ufal.udpipe as udpipe

__all__ = ["annotator", "model_file"]

#: Few passes: they affect a model's quality, not its speed. Sizes are those of the published
#: English models (a tokeniser of 24 dimensions, a parser with 200 hidden units).
_TOKENISER = "dimension=24;epochs=3;batch_size=50;dropout=0.2;learning_rate=0.002;early_stopping=1"
_TAGGER = "iterations=1"
_PARSER = (
    "iterations=1;embedding_upostag=20;embedding_feats=20;embedding_xpostag=0;embedding_form=50;"
    "embedding_lemma=0;embedding_deprel=20;learning_rate=0.01;learning_rate_final=0.001;l2=0.3;"
    "hidden_layer=200;batch_size=10;transition_system=projective;transition_oracle=dynamic;"
    "structured_interval=8"
)


def model_file(treebank: Path, most: int | None = None) -> Path:
    """Return a model of a treebank: $UDPIPE_MODEL, else one trained and stored in build.

    A whole treebank takes some minutes. A model of only the first ``most`` sentences has fewer
    words and as many weights in its networks.
    """
    name = f"ewt-{most}.udpipe" if most else "ewt.udpipe"
    path = Path(os.environ.get("UDPIPE_MODEL", f"build/udpipe/{name}"))
    if not path.exists():
        error = udpipe.ProcessingError()
        train = _sentences(treebank / "train.conllu.gz", most)
        dev = _sentences(treebank / "dev.conllu.gz", most and most // 4)
        data = udpipe.Trainer.train(
            "morphodita_parsito", train, dev, _TOKENISER, _TAGGER, _PARSER, error
        )
        if error.occurred():
            raise RuntimeError(f"UDPipe: {error.message}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return path


def _sentences(path: Path, most: int | None) -> udpipe.Sentences:
    reader = udpipe.InputFormat.newConlluInputFormat()
    with gzip.open(path, "rt", encoding="utf-8") as file:
        reader.setText(file.read())
    sentences, error = udpipe.Sentences(), udpipe.ProcessingError()
    while True:
        sentence = udpipe.Sentence()
        if len(sentences) == most or not reader.nextSentence(sentence, error):
            return sentences
        sentences.push_back(sentence)


def annotator(path: Path) -> Callable[[str], str]:
    """Return the function from a text to CoNLL-U: tokens, tags, lemmas, trees."""
    model = udpipe.Model.load(str(path))
    if model is None:
        raise RuntimeError(f"UDPipe cannot read {path}")
    pipeline = udpipe.Pipeline(
        model, "tokenize", udpipe.Pipeline.DEFAULT, udpipe.Pipeline.DEFAULT, "conllu"
    )

    def annotate(text: str, _kept: udpipe.Model = model) -> str:  # keeps it alive
        written: str = pipeline.process(text)
        return written

    return annotate
