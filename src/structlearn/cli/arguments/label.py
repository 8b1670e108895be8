"""Arguments of ``structlearn label``."""

from __future__ import annotations

from ...text.formats import FormatNames, token_formats
from .options import add_constraints, add_threads
from .values import count

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from argparse import ArgumentParser


def add_label(p: ArgumentParser) -> None:
    """Add the arguments of ``structlearn label``."""
    p.add_argument(
        "texts",
        metavar="TEXTS",
        help="file of texts, one on each line, or of any format with texts (columns with --format "
        "columns); labels in it count only for a review",
    )
    p.add_argument(
        "--labels",
        metavar="A,B,...",
        default="",
        help="labels, in the order of their keys; more can be added on the page",
    )
    p.add_argument("--model", "-o", metavar="FILE", required=True, help="model file to write")
    p.add_argument(
        "--data",
        metavar="FILE",
        default="labels.jsonl",
        help="JSON lines with the answers, written as they are given; those that are there "
        "already are kept (default: labels.jsonl)",
    )
    p.add_argument(
        "--kind",
        choices=("spans", "tags", "classes"),
        default="spans",
        help="what is labelled: spans of the text, every word, or whole texts (default: spans)",
    )
    p.add_argument(
        "--order",
        choices=("tokens", "margin", "whole", "plain", "random"),
        help="which text is asked for next: the one with most doubt for each token of it, the one "
        "whose two best outputs are closest, the one whose best output is least likely, the next "
        "one of the file, any (default: tokens; of a review plain, the surest contradiction first)",
    )
    p.add_argument(
        "--tokens",
        metavar="NAME|REGEX",
        help="how texts are cut into tokens: blank, words, characters, english, or a regular "
        "expression (default: words; for several annotators blank)",
    )
    p.add_argument(
        "--features",
        metavar="PRESET|FILE",
        default="auto",
        help="pos, chunk, ner, none, or a template file (default: chosen by the labels)",
    )
    p.add_argument(
        "--review",
        action="store_true",
        help="TEXTS has labels: ask for those that the model MODEL, which exists, contradicts; or "
        "with --annotator those about which annotators do not agree",
    )
    p.add_argument(
        "--annotator",
        metavar="COLUMN",
        help="of a review: column or key with the name of the annotator, or the columns of all, "
        "separated by commas",
    )
    p.add_argument(
        "--format",
        choices=FormatNames(token_formats),
        help="format of TEXTS (default: from the file name, else from the content)",
    )
    add_constraints(p)
    p.add_argument(
        "--port", type=count(0), default=0, help="port to listen on (default: a free one)"
    )
    p.add_argument("--no-browser", action="store_true", help="print the link, and do not open it")
    add_threads(p)
