"""The arguments of the command line, by argparse.

Each command has a function that adds its arguments; it is imported when the command is called.
"""

from __future__ import annotations

from functools import partial

from .parser import Parser, Version

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = ["make_parser"]

#: Commands, in the order of the help: module and function of the arguments, help, description.
_COMMANDS = {
    "annotate": (
        "use.annotate",
        "annotate running text with a pipeline",
        "Find the sentences, tokens, tags, lemmas and trees of running text. Blank lines separate "
        "paragraphs.",
    ),
    "predict": (
        "use.predict",
        "label or parse a file",
        "Write the input with the predicted column filled in, or appended if it is missing. "
        "Parsers write trees, as CoNLL-U or brackets.",
    ),
    "evaluate": ("use.evaluate", "compare predicted labels or trees with gold ones", None),
    "rank": (
        "use.rank",
        "list the sentences that a model is least sure of, with the reason",
        "Print the sentences that are worth a look, the most doubtful one first: the next ones to "
        "label, or to check.",
    ),
    "label": (
        "label.label",
        "open a page in the browser that asks for the labels worth most",
        "Serve a page on 127.0.0.1 on which texts are labelled, the ones that a tagger knows least "
        "about first; it learns from every answer. Answers are written as they are given; Ctrl-C "
        "ends it and writes the model.",
    ),
    "agree": (
        "use.agree",
        "how far several annotators agree, and one labelling from their answers",
        "Print Krippendorff's alpha, Cohen's kappa and how often each annotator is right; write "
        "one labelling with confidence.",
    ),
    "inspect": ("use.inspect", "show what a model has learned", None),
    "convert": (
        "use.convert_texts",
        "write labelled texts in the format of another tool",
        "Read labelled texts of Prodigy, doccano, Label Studio, brat (a folder) or spaCy (DocBin), "
        "or sentences of tokens, and write them in another of these formats, or as columns. Texts "
        "and spans stay as they are.",
    ),
    "convert-model": (
        "use.convert",
        "read a model of CRFsuite, Wapiti or CRF++, or write one for CRFsuite",
        "Read a model of this library, of CRFsuite, Wapiti or CRF++, whichever it is, and write "
        "it: for CRFsuite if the name of the new file ends in .crfsuite, else for this library. "
        "Models of CRFsuite do not say how features are made: load them in Python.",
    ),
    "serve": (
        "serve.serve",
        "answer requests over HTTP with models of text",
        "Serve models over HTTP, with JSON: POST /v1/predict and /v1/annotate, GET /v1/models, "
        "/healthz and /metrics. A model file that is replaced is taken up without a pause. Ends "
        "with Ctrl-C or SIGTERM, after the requests that it has.",
    ),
    "demo": ("tours.demo", "a tour on built-in data: text, phrases, trees", None),
    "workbench": (
        "tours.workbench",
        "open a page in the browser: the algorithms step by step, and your text through models",
        "Serve a page on 127.0.0.1 that shows the algorithms step by step, on scores that can be "
        "changed, and text through the models named here. Ends with Ctrl-C.",
    ),
}

#: Names of taggers in ``structlearn train`` -> the default of --features, and what they are.
_TAGGERS = {
    "tagger": ("auto", "a tagger of any labels"),
    "pos": ("pos", "a part-of-speech tagger"),
    "chunks": ("chunk", "a chunker, which finds noun phrases and the like"),
    "ner": ("ner", "a recogniser of named entities, such as people and places"),
}

#: The other tasks of ``structlearn train``, as the commands.
_TASKS = {
    "segments": (
        "train.segments",
        "an entity recogniser that scores whole segments",
        "Train a semi-Markov model on a column file or a CoNLL-U file with labels O, B-PER, "
        "I-PER, ...",
    ),
    "parser": (
        "train.parser",
        "a dependency parser",
        "Train a dependency parser on a treebank in CoNLL-U.",
    ),
    "constituency": (
        "train.constituency",
        "a constituency parser",
        "Train a constituency parser on bracketed trees (the Penn format).",
    ),
    "segmenter": (
        "train.segmenter",
        "an image segmenter, which predicts a class for every pixel",
        "Train on a folder that contains images/ and masks/ (images as PNG or JPEG, masks as PNG), "
        "or files such as dog.jpg and dog_mask.png.",
    ),
    "words": (
        "train.words",
        "what cuts texts of languages without blanks into words",
        "Train on cut text: words separated by blanks, word/tag, partial annotation with |, - and "
        "blanks between the characters, a word on each line, or CoNLL-U.",
    ),
    "pipeline": (
        "train.pipeline",
        "all stages from running text to trees",
        "Train a tokeniser, taggers, a lemmatiser and a dependency parser on a treebank in "
        "CoNLL-U, and store them in one file.",
    ),
}


def make_parser(commands: Mapping[str, Callable[[Any], int]]) -> Parser:
    """Return the parser of all commands; ``commands`` has the function that runs each of them."""
    parser = Parser(
        prog="structlearn",
        description="Structured prediction: tag words, find chunks and entities, parse sentences "
        "(dependencies or constituents), and segment images.",
    )
    parser.add_argument("--version", action=Version, dest="version")
    # Without prog, argparse would format a help text to find it.
    group = parser.add_subparsers(metavar="COMMAND", required=True, prog="structlearn")
    train = group.add_parser("train", help="train a model on labelled data")
    train.fill = _add_tasks
    train.set_defaults(command=commands["train"])
    for name, (where, short, long) in _COMMANDS.items():
        added = group.add_parser(name, help=short, description=long)
        added.fill = partial(_fill, where=where)
        added.set_defaults(command=commands[name])
    return parser


def _add_tasks(train: Parser) -> None:
    """Add the tasks of ``structlearn train``."""
    group = train.add_subparsers(metavar="TASK", required=True, prog="structlearn train")
    for name, (features, what) in _TAGGERS.items():
        about = f"Train {what}, on a file in columns, CoNLL-U, CSV or JSON lines."
        if name != "tagger":
            about += f" The same as structlearn train tagger --features {features}."
        added = group.add_parser(name, help=what, description=about)
        added.fill = partial(_fill, where="train.tagger", features=features)
        added.set_defaults(task="tagger")
    for name, (where, short, long) in _TASKS.items():
        added = group.add_parser(name, help=short, description=long)
        added.fill = partial(_fill, where=where)
        added.set_defaults(task=name)


def _fill(parser: Parser, where: str, **options: str) -> None:
    """Add the arguments of a command, by the function ``module.name`` of this package."""
    from importlib import import_module

    module, name = where.split(".")
    getattr(import_module(f"{__name__}.{module}"), f"add_{name}")(parser, **options)
