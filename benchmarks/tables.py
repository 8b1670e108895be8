"""The page of tables: the lectures' two, recomputed, and ours against every rival.

    python -m benchmarks.tables [--data FOLDER] [--output FILE] [--quick]

The first two are computed from the corpora; the third is read from ``results``, written by
``python -m benchmarks``. ``make tables`` does both.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from .data import data_folder
from .lecture_tables import collins_table, comparison_table
from .report import number, ratio
from .run import RESULTS

__all__ = ["main"]

NAMES = {"hmm": "HMM", "crf": "CRF", "perceptron": "perceptron", "svm": "SVM"}


def main(arguments: list[str] | None = None) -> int:
    """Write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables", description=__doc__)
    parser.add_argument("--data", type=Path, help="the folder of the corpora")
    parser.add_argument("--output", type=Path, help="a file; otherwise standard output")
    parser.add_argument("--quick", action="store_true", help="one pass each")
    o = parser.parse_args(arguments)
    folder = o.data or data_folder()
    wanted = ("ud_en_ewt", "conll2002_es")
    missing = wanted if folder is None else [n for n in wanted if not (folder / n).is_dir()]
    if missing:
        where = "STRUCTLEARN_DATA" if folder is None else str(folder)
        print(
            f"no {' and no '.join(missing)} in {where}: name the folder of the corpora by --data "
            "or STRUCTLEARN_DATA (make tables DATA=FOLDER)",
            file=sys.stderr,
        )
        return 1
    page = "\n".join(
        [
            "# All measurements",
            "",
            "`make tables` makes this page, from the corpora in `STRUCTLEARN_DATA`"
            " (`make tables DATA=FOLDER`).",
            "",
            *_collins(collins_table(folder, quick=o.quick)),
            *_comparison(comparison_table(folder, quick=o.quick)),
            *_rivals(RESULTS),
        ]
    )
    if o.output:
        o.output.write_text(page, encoding="utf-8")
    else:
        print(page)
    return 0


def _collins(rows: list[dict[str, Any]]) -> list[str]:
    names = {"perceptron": "perceptron", "crf": "maximum likelihood (CRF)"}
    lines = [
        "## Tagging: averaging, rare features, passes",
        "",
        "Error rate on the English tags (XPOS) of UD EWT's test part, passes chosen on its dev",
        "part; beside it Collins's figures (EMNLP 2002), on the Wall Street Journal.",
        "",
        "| learner | averaged | features seen at least | error % | passes | published % | passes |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        averaged = ("yes" if r["averaged"] else "no") if r["learner"] == "perceptron" else "–"
        lines.append(
            f"| {names[r['learner']]} | {averaged} | {r['least count'] or 'once'} | "
            f"{r['error']:.2f} | {r['passes']} | {r['published']:.2f} | {r['published passes']} |"
        )
    return [
        *lines,
        "",
        "The errors are higher because the corpus is: web text, a fifth of the Wall Street",
        "Journal's size, with more unknown words. The order is the same in what the table was made",
        "to show: averaging helps the perceptron, with rare features and without. The",
        "maximum-likelihood model is a CRF over whole sentences here, a maximum-entropy Markov",
        "model there.",
        "",
    ]


def _comparison(rows: list[dict[str, Any]]) -> list[str]:
    def line(name: str, key: str, form: str = ".2f") -> str:
        return f"| {name} | " + " | ".join(format(r[key], form) for r in rows) + " |"

    def strengths(key: str) -> str:
        cells = [f"{r[key]:g}" if r["learner"] in ("crf", "svm") else "–" for r in rows]
        return "| C, chosen on testa | " + " | ".join(cells) + " |"

    return [
        "## Named entities: four learners",
        "",
        "Token error on CoNLL-2002 Spanish, testb, for models learned from the first 300 sentences",
        "of the training part and from all of it; beside it the figures of Tsochantaridis et al.",
        "(JMLR 2005), learned and tested on 300 sentences of the same corpus.",
        "",
        "| | " + " | ".join(NAMES[r["learner"]] for r in rows) + " |",
        "|---|" + "---|" * len(rows),
        line("published error %, 300 sentences", "published"),
        line("error %, 300 sentences", "error of 300"),
        line("F1 of entities, 300 sentences", "f1 of 300"),
        strengths("C of 300"),
        line("error %, all sentences", "error"),
        line("F1 of entities, all sentences", "f1"),
        strengths("C"),
        "",
        "Which 300 sentences theirs were is not known, nor on which they were tested. Learned from",
        "so few, the order is the published one but for the first two, which are as good as each",
        "other: CRF and SVM, then the perceptron, and the generative model behind them all. From",
        "all sentences the three discriminative ones are level.",
        "",
    ]


def _rivals(folder: Path) -> list[str]:
    """Return every stored comparison with another program, and with NumPy."""
    lines = [
        "## Against every rival",
        "",
        "Best times of both in one run, one thread unless a row says otherwise; above 1 we are",
        "ahead. `benchmarks/README.md` says what each row does and by",
        "which rules; `python -m benchmarks NAME` makes one again.",
        "",
        "| benchmark | work | rival | ours | rival's | faster by | by CPU |",
        "|---|---|---|---|---|---|---|",
    ]
    skipped = set()
    for path in sorted(folder.glob("*.json")):
        stored = json.loads(path.read_text())
        if "rows" not in stored:  # measured without a rival
            continue
        skipped |= set(stored["skipped"])
        for r in stored["rows"]:
            if r["rival"] and r["theirs"] is not None:
                lines.append(
                    f"| `{stored['benchmark']}` | {r['case']} | {r['rival']} "
                    f"| {number(r['ours'])} {r['unit']} | {number(r['theirs'])} {r['unit']} "
                    f"| {ratio(r['ratio'])} | {ratio(r['ratio_cpu'])} |"
                )
    lines += [""]
    if skipped:
        lines += ["Not here when this was measured: " + "; ".join(sorted(skipped)) + ".", ""]
    return lines


if __name__ == "__main__":
    sys.exit(main())
