"""Arguments of the commands that use models: annotate, predict, evaluate, inspect."""

from __future__ import annotations

from ...text.formats import FORMATS, FormatNames, span_formats, token_formats
from .options import add_cluster, add_constraints, add_table, add_threads
from .values import CUT_FORMATS, count

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from argparse import ArgumentParser


def add_annotate(p: ArgumentParser) -> None:
    """Add the arguments of ``structlearn annotate``."""
    p.add_argument("model", metavar="MODEL", help="model file, or the name of a package")
    p.add_argument(
        "input", metavar="INPUT", help="file of text, or a folder of them; - for standard input"
    )
    p.add_argument(
        "--output", metavar="FILE", help="output file, or folder (default: standard output)"
    )
    p.add_argument(
        "--format",
        choices=("conllu", "json", "html", "text"),
        default="conllu",
        help="of the output: conllu; json, an object for each sentence on a line of its own; html, "
        "a page with the trees; text, tokens separated by blanks (default: conllu)",
    )
    p.add_argument(
        "--confidence",
        action="store_true",
        help="write how likely each token, tag, lemma and head is right, too (conllu, json)",
    )
    p.add_argument(
        "--without",
        metavar="STAGE",
        action="append",
        help="leave a stage out: splitter, tags, lemmas, parser, entities (may be repeated)",
    )
    add_threads(p)


def add_predict(p: ArgumentParser) -> None:
    """Add the arguments of ``structlearn predict``."""
    p.add_argument("model", metavar="MODEL", help="model file")
    p.add_argument(
        "input",
        metavar="INPUT",
        help="file to label; - for standard input; with --cluster also a folder or a pattern",
    )
    p.add_argument(
        "--output",
        "-o",
        metavar="FILE",
        help="output file (default: standard output); with --cluster the folder of the output",
    )
    p.add_argument(
        "--nbest",
        metavar="N",
        type=count(1),
        default=1,
        help="taggers: write the N best label sequences, one column each (default: 1)",
    )
    p.add_argument(
        "--scores",
        action="store_true",
        help="taggers: add a column for each of these sequences with the probability of the whole "
        "of it",
    )
    p.add_argument(
        "--append",
        action="store_true",
        help="taggers: write the labels behind all columns of the input, beside those it has",
    )
    p.add_argument(
        "--confidence",
        action="store_true",
        help="taggers: add a column with the probability that each predicted label is right (in "
        "JSON a number; four digits)",
    )
    p.add_argument(
        "--marginals",
        action="store_true",
        help="taggers: add a column with the probabilities of all labels, N:0.9310,V:0.0690 (in "
        "JSON an object)",
    )
    p.add_argument(
        "--known",
        action="store_true",
        help="taggers: keep labels that the input already has (other than _)",
    )
    p.add_argument(
        "--gold-tags",
        action="store_true",
        help="parsers: use the tags of the input instead of predicting them",
    )
    add_constraints(p)
    p.add_argument(
        "--overlay", metavar="DIR", help="segmenters: write images with the classes drawn over them"
    )
    p.add_argument(
        "--format",
        choices=FormatNames(lambda: FORMATS),
        help="input format (default: from the file name, else from the content); text is one "
        "sentence per line; brackets are for constituency parsers",
    )
    p.add_argument(
        "--to",
        choices=FormatNames(lambda: (*span_formats(), "tagged", "json")),
        help="taggers: write texts with spans in this format; a file of text is taken line by "
        "line. Words: tagged, word/tag; json, words with offsets",
    )
    p.add_argument(
        "--dictionary",
        metavar="FILE",
        help="words: words of your own, one on each line, always a word where they stand; or with "
        "a weight after a tab",
    )
    add_table(p)
    add_cluster(p)
    add_threads(p)


def add_convert_texts(p: ArgumentParser) -> None:
    """Add the arguments of ``structlearn convert``."""
    p.add_argument("input", metavar="IN", help="labelled file, or the folder of brat's files")
    p.add_argument("output", metavar="OUT", help="new file, or folder of brat's files")
    p.add_argument(
        "--format",
        choices=FormatNames(token_formats),
        help="format of IN (default: from its name, else from its content)",
    )
    p.add_argument(
        "--to",
        choices=FormatNames(lambda: ("columns", *span_formats())),
        help="format of OUT (default: from its name: .jsonl prodigy, .json labelstudio, .spacy "
        "docbin, .txt or .tsv columns, a folder brat)",
    )
    p.add_argument(
        "--target",
        metavar="COLUMN",
        help="where IN holds tokens: the column of the labels (default: the last)",
    )
    p.add_argument(
        "--offsets",
        choices=("characters", "utf16"),
        default="characters",
        help="JSON lines: what the offsets of IN count: characters, or UTF-16 units, in which most "
        "emoji are two, as doccano may (default: characters)",
    )
    p.add_argument(
        "--tokens",
        metavar="NAME|REGEX",
        help="where OUT holds tokens: how texts are cut, blank, words, characters, english, or a "
        "regular expression (default: words)",
    )


def add_convert(p: ArgumentParser) -> None:
    """Add the arguments of ``structlearn convert-model``."""
    p.add_argument("model", metavar="IN", help="model file of any of these programs")
    p.add_argument("output", metavar="OUT", help="new model file; for CRFsuite NAME.crfsuite")
    p.add_argument(
        "--columns",
        metavar="N",
        type=count(2),
        help="of Wapiti, CRF++: columns of the training file, the label the last one (default: as "
        "many as the patterns look at, and the label)",
    )
    p.add_argument(
        "--boundaries",
        metavar=("FIRST", "LAST"),
        nargs=2,
        help="for CRFsuite: attributes of the first and the last token that take the place of our "
        "weights for the first and the last label",
    )


def add_evaluate(p: ArgumentParser) -> None:
    """Add the arguments of ``structlearn evaluate``."""
    p.add_argument("model", metavar="MODEL", help="model file")
    p.add_argument("gold", metavar="GOLD", help="labelled file; - for standard input")
    p.add_argument("--json", action="store_true", help="print one JSON object only")
    p.add_argument("--html", metavar="FILE", help="write an HTML page with a reliability curve too")
    p.add_argument(
        "--intervals", action="store_true", help="add 95 %% confidence intervals (bootstrap)"
    )
    p.add_argument(
        "--confusions",
        metavar="N",
        type=count(0),
        default=0,
        help="list the N most frequent confusions (default: 0)",
    )
    p.add_argument(
        "--against",
        metavar="MODEL",
        help="test whether the difference to another model is significant",
    )
    p.add_argument(
        "--gold-tags",
        action="store_true",
        help="parsers: use the tags of the file instead of predicting them",
    )
    p.add_argument(
        "--gold-tokens",
        action="store_true",
        help="pipelines: annotate the words of the treebank instead of its text",
    )
    p.add_argument(
        "--format",
        choices=FormatNames(
            lambda: (*dict.fromkeys((*token_formats(labelled=True), "brackets", *CUT_FORMATS)),)
        ),
        help="file format (default: from the file name, else from the content)",
    )
    add_table(p)
    add_threads(p)


def add_rank(p: ArgumentParser) -> None:
    """Add the arguments of ``structlearn rank``."""
    p.add_argument("model", metavar="MODEL", help="model file")
    p.add_argument("input", metavar="TEXTS", help="file with or without labels or trees")
    p.add_argument(
        "--least-sure",
        metavar="N",
        type=count(1),
        default=100,
        help="how many sentences (default: 100)",
    )
    p.add_argument(
        "--by",
        choices=("entropy", "mean", "least", "whole"),
        default="entropy",
        help="what doubt is: the entropy of all outputs of the sentence, its mean over the tokens, "
        "1 − the probability of the label, arc, span or word that is least sure, or 1 − that of "
        "the output as a whole (default: entropy)",
    )
    p.add_argument("--json", action="store_true", help="print JSON lines")
    p.add_argument("--output", "-o", metavar="FILE", help="write JSON lines to this file")
    p.add_argument(
        "--format",
        choices=FormatNames(token_formats),
        help="file format (default: from the file name, else from the content)",
    )
    add_table(p)
    add_threads(p)


def add_agree(p: ArgumentParser) -> None:
    """Add the arguments of ``structlearn agree``."""
    p.add_argument("input", metavar="FILE", help="table or JSON lines with several answers")
    p.add_argument(
        "--annotator",
        metavar="COLUMN",
        default="annotator",
        help="column or key with the name of the annotator; or the columns of all annotators, "
        "separated by commas (default: annotator)",
    )
    p.add_argument("--target", metavar="COLUMN", help="column of the labels")
    p.add_argument("--sentence", metavar="COLUMN", help="column that tells sentences apart")
    p.add_argument("--word", metavar="COLUMN", help="column with the words")
    p.add_argument(
        "--tokens-apart",
        action="store_true",
        help="the true labels of neighbours do not depend on each other (default: they do)",
    )
    p.add_argument(
        "--output", "-o", metavar="FILE", help="write one labelling with confidence, as JSON lines"
    )
    p.add_argument("--json", action="store_true", help="print one JSON object only")
    p.add_argument(
        "--format",
        choices=("csv", "jsonl"),
        help="file format (default: from the file name, else from the content)",
    )


def add_inspect(p: ArgumentParser) -> None:
    """Add the arguments of ``structlearn inspect``."""
    p.add_argument("model", metavar="MODEL", help="model file")
    p.add_argument(
        "--top",
        metavar="N",
        type=count(1),
        default=10,
        help="number of features per label (default: 10)",
    )
    p.add_argument(
        "--label", metavar="LABEL", action="append", help="show this label only (may be repeated)"
    )
    p.add_argument(
        "--sentence",
        metavar="TEXT",
        help="explain the labels of a sentence; separate words by spaces and columns by |",
    )
    p.add_argument("file", metavar="INPUT", nargs="?", help="explain the sentences of this file")
    p.add_argument("--input", metavar="FILE", help="the same as INPUT")
    p.add_argument("--html", metavar="FILE", help="write an HTML page instead of printing text")
    p.add_argument(
        "--most",
        metavar="N",
        type=count(1),
        default=20,
        help="maximum number of sentences or images of the file or folder to show (default: 20)",
    )
