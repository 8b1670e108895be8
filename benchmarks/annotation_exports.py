"""Check that exports of annotation tools train to the F1 of the column file they are made from.

    python -m benchmarks.annotation_exports [--learner crf] [--max-iter 10]

CoNLL-2002 Spanish (``STRUCTLEARN_DATA/conll2002_es``) is written in the export formats of Prodigy,
doccano, Label Studio and brat: each sentence is a text of tokens joined by blanks; brat's files
have 500 lines each. Every export trains a recogniser of names, with the tokenisers "blank", which
restores the tokens of the columns, and "words"; the test set is scored in columns, and by the spans
predicted for its texts. Results go to ``benchmarks/results/annotation_exports.json``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from structlearn.tasks import Tagger
from structlearn.text.conversion import read_documents, write_documents
from structlearn.text.spans import Document, Span

_RESULTS = Path(__file__).parent / "results" / "annotation_exports.json"
_NAMES = {"prodigy": "p.jsonl", "doccano": "d.jsonl", "labelstudio": "ls.json", "brat": "brat"}
#: Sentences in a brat document.
_TOGETHER = 500


def together(documents: Sequence[Document]) -> Iterator[Document]:
    """Yield documents with a line for each of the sentences."""
    for first in range(0, len(documents), _TOGETHER):
        texts, spans, at = [], [], 0
        for document in documents[first : first + _TOGETHER]:
            spans += [Span(s.start + at, s.end + at, s.label) for s in document.spans or ()]
            texts.append(document.text)
            at += len(document.text) + 1
        yield Document("\n".join(texts), spans)


def span_f1(tagger: Tagger, gold: Sequence[Document]) -> float:
    """Return the F1 of the predicted spans, by their places in the text."""
    predictions = tagger.predict_spans([document.text for document in gold], confidence=False)
    right = proposed = true = 0
    for document, row in zip(gold, predictions, strict=True):
        wanted = {s[:3] for s in document.spans or ()}
        right += len(wanted & {s[:3] for s in row})
        proposed, true = proposed + len(row), true + len(wanted)
    return 2 * right / max(proposed + true, 1)


def trained(source: Path, **parameters: Any) -> tuple[Tagger, dict[str, Any]]:
    """Return a recogniser, and figures about it."""
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        tagger = Tagger("ner", **parameters).fit(source)
        tagger.save(Path(folder) / "x.model")
        digest = hashlib.sha256((Path(folder) / "x.model").read_bytes()).hexdigest()[:12]
    return tagger, {"model": digest}


def main() -> None:
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--learner", default="perceptron")
    parser.add_argument("--max-iter", type=int, default=10)
    parser.add_argument("--sentences", type=int, default=None, help="of the training set")
    o = parser.parse_args()
    data = Path(os.environ["STRUCTLEARN_DATA"]) / "conll2002_es"
    train = read_documents(str(data / "train.txt.gz"), "columns")[: o.sentences]
    gold = read_documents(str(data / "testb.txt.gz"), "columns")
    columns = {"learner": o.learner, "max_iter": o.max_iter}
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = {"columns": folder / "train.tsv"}
        write_documents(train, str(files["columns"]), "columns", "blank")
        write_documents(gold, str(folder / "test.tsv"), "columns", "blank")
        for format, file in _NAMES.items():
            files[format] = folder / file
            documents = list(together(train)) if format == "brat" else train
            write_documents(documents, str(files[format]), format)
        for tokens in ("blank", "words"):
            for format, source in files.items():
                if tokens == "words" and format == "columns":
                    continue
                tagger, row = trained(source, tokens=tokens, **columns)
                row = {"format": format, "tokens": tokens, **row}
                row["f1"] = round(tagger.evaluate(folder / "test.tsv")["f1"], 5)
                row["f1_of_spans"] = round(span_f1(tagger, gold), 5)
                rows.append(row)
                print(json.dumps(row), flush=True)
    record = {"sentences": len(train), **columns, "exports": rows}
    _RESULTS.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
