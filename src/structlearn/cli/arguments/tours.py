"""Arguments of the tours: demo and workbench."""

from __future__ import annotations

from .values import count

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from argparse import ArgumentParser


def add_demo(p: ArgumentParser) -> None:
    """Add the arguments of ``structlearn demo``."""
    p.add_argument(
        "--sentences",
        type=count(50),
        default=1500,
        help="size of the generated treebank, a fifth of which is for testing (default: 1500)",
    )
    p.add_argument(
        "--random-state", type=count(0), default=0, help="seed of data and learners (default: 0)"
    )
    p.add_argument(
        "--files",
        metavar="FOLDER",
        help="instead of the tour, write train.txt, train.conllu, train.mrg, ... there, to try "
        "the other commands on",
    )
    p.add_argument(
        "--text",
        metavar="FILE",
        help="English text to annotate at the end, if the package structlearn-english is installed "
        "(default: a paragraph of ours)",
    )


def add_workbench(p: ArgumentParser) -> None:
    """Add the arguments of ``structlearn workbench``."""
    p.add_argument("models", metavar="MODEL", nargs="*", help="model files to try on text")
    p.add_argument(
        "--port", type=count(0), default=0, help="port to listen on (default: a free one)"
    )
    p.add_argument("--no-browser", action="store_true", help="print the link, and do not open it")
