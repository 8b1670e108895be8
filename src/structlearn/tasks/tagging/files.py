"""Files labelled piece by piece, in the format that they have or in another one."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable

from ... import _core
from ...models.temperature import curve_of, doubt, temperature_of, warn_of
from ...text.answers import check_labels
from ...text.corpus import column_names
from ...text.files import pieces, written_text
from ...text.formats import is_spans
from ...text.labelling import has_labels, label_converted, label_pieces, piece_size
from ...text.layouts import has_place, input_format
from ...text.tables import Naming
from ..base import FileTask

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import IO, Any

    from ...text.formats import Format


class LabelledFiles(FileTask):
    """A task that writes labels into files of text."""

    #: Labels that a file has can be kept.
    _keeps_known = True

    def _labeller(
        self,
        lone: str,
        nbest: int,
        constraints: Any = None,
        *,
        confidence: bool = False,
        marginals: bool = False,
        known: bool = False,
        append: bool = False,
        scores: bool = False,
        spans: bool = False,
        curved: bool = True,
    ) -> Any:
        """Return what labels files of the model's format natively.

        ``lone``: what separates labels from words that stand alone on their lines. ``spans``: the
        confidence of tokens in a chunk is that of the chunk. ``curved``: not the probabilities, but
        what the calibration makes of them.
        """
        model = self._fitted()
        chunks = self._chunk_boundaries() if spans and confidence else ([], [])
        curves = [model.calibration, model.span_calibration] if curved else [None, None]
        return _core.Labeller(
            model.core,
            model.format,
            model.targets,
            model.n_columns,
            nbest,
            confidence,
            marginals,
            known,
            temperature_of(model.temperature),
            curve_of(curves[0]),
            model.unknown,
            lone,
            model.under(constraints),
            append,
            scores,
            *chunks,
            curve_of(curves[1]),
        )

    def _warn_of_spans(self) -> None:
        """Warn if the confidence of spans cannot be trusted."""
        why = doubt(self._loss_temperature, self._fitted().span_calibration)
        warn_of(type(self).__name__, {"": why})

    def _chunk_boundaries(self) -> tuple[list[int], list[int]]:
        """Return where chunks begin and end, as :func:`boundary_table`; empty of other labels."""
        return [], []

    def _labels_in_files(self) -> list[str]:
        """Return all labels that may be written."""
        raise AssertionError

    def label_file(
        self,
        source: str | os.PathLike[str],
        output: str | os.PathLike[str] | IO[bytes],
        *,
        format: str | None = None,
        nbest: int = 1,
        scores: bool = False,
        confidence: bool = False,
        marginals: bool = False,
        known: bool = False,
        append: bool = False,
        header: bool = False,
        to: str | None = None,
        sentence: str | None = None,
        word: str | None = None,
        text: str | None = None,
        constraints: Any = None,
        progress: Callable[[int], None] | None = None,
        notice: Callable[[str], None] | None = None,
    ) -> int:
        """Label a file piece by piece, whatever its size; return the number of tokens.

        Parameters
        ----------
        source : path
            Any file that has the columns which the model reads: CoNLL-U, columns, one word on each
            line, CSV, JSON lines, or text with one sentence on each line. A format that cannot
            hold every label of the model is refused; JSON lines hold any.
        output : path or binary file
            The input, in its own format, with the column of labels filled, or appended where it is
            missing; in text a label follows its word, ``word|label``. A path is replaced only when
            the new file is complete.
        format : {"columns", "conllu", "csv", "jsonl", "text"}, optional
            Of the file; by default it is guessed from its name, else from its content.
        nbest : int
            Above 1: this many columns of labels, the best sentence's, the second best's, ...
        scores : bool
            As many columns with the probabilities of these labels of the whole sentence.
        confidence : bool
            A column with the probability of the label, or of the segment that the token is in, with
            four digits after the point; in JSON a number. Of spans that of the whole span.
        marginals : bool
            A column with the probabilities of all labels, at least 0.0005, the largest first:
            ``N:0.7500,V:0.2500``; in JSON an object, ``{"N": 0.75, "V": 0.25}`` (taggers of
            tokens).
        known : bool
            Keep the labels that stand in the target column already, other than the unknown one
            (taggers of tokens).
        append : bool
            Write the labels behind all columns, so that those which the file has stay beside them.
        header : bool
            The first line of a column file names its columns.
        to : {"prodigy", "doccano", "labelstudio", "brat", "docbin"}, optional
            Write the spans that were found in this format, instead of the one of the file, which
            holds texts with spans, or text, of which each line is a document.
        sentence, word, text : str, optional
            The columns of a table that tell sentences apart, and have words or whole texts; by
            default those of training, else the usual ones.
        constraints : list of Constraint, or str, optional
            Hard constraints on the labels, beside those of the model.
        progress : callable, optional
            Called with the number of tokens labelled so far.
        notice : callable, optional
            Called with a sentence where labels that the file has are replaced.
        """
        model, threads = self._fitted(), self.n_threads
        read = pieces(source, piece_size(source, threads))
        first = next(read, (b"", 0))
        naming = Naming(sentence, word, text, trained=model.table_names)
        chosen = input_format(model, source, first[0], format, naming)
        if is_spans(to or chosen):
            if nbest > 1 or marginals or scores or append:
                raise ValueError(
                    "texts with spans hold the best labels alone, with their confidence: not "
                    "nbest, scores, marginals, or labels beside others"
                )
            if confidence:
                self._warn_of_spans()
            confidence = confidence or self.temperature_ is not None
        elif confidence or marginals or scores:
            self._at(None)  # warns if they cannot be trusted
        options = {"confidence": confidence, "marginals": marginals, "known": known}
        options |= {"append": append, "scores": scores, "spans": is_spans(to or chosen)}
        added = ["label", *(f"label{n}" for n in range(2, nbest + 1))]
        if append:
            added[0] = "predicted"
        added += ["score", *(f"score{n}" for n in range(2, nbest + 1))] if scores else []
        added += [name for name in ("confidence", "marginals") if options[name]]
        if append and chosen == "conllu":
            raise ValueError(
                "a file in CoNLL-U has ten columns and no room behind them: append is for other "
                "formats"
            )
        written = self._written_format(chosen, first[0], source, added, header, to, naming, append)
        written.known = known
        lone = self._separator(written, first[0])
        labeller = self._labeller(lone, nbest, constraints, **options)
        whole = itertools.chain([first], read)

        def tell() -> None:
            if notice is not None and not known and not append:
                keep = " (--known keeps them)" if self._keeps_known else ""
                notice(f"{os.fspath(source)} has labels already: they are replaced{keep}")

        if has_labels(model, chosen, first[0], header):
            tell()
        if chosen == model.format and to is None:
            heading = self._heading(added) if header else None
            with written_text(output) as file:
                return label_pieces(
                    model, labeller, source, file, chosen, threads, progress, whole,
                    header=heading, separator=lone,
                )  # fmt: skip
        with written_text(output, folder=getattr(written, "folder", False)) as file:
            return label_converted(
                model, labeller, written, source, file, added, known, threads, progress, whole,
                tell, append, notice,
            )  # fmt: skip

    def _separator(self, written: Format, first: bytes) -> str:
        """Return what separates labels from words that stand alone on their lines.

        It is what separated columns in training.
        """
        trained = self._fitted().training.get("separator")
        alone = written.named_as == "columns" and b"\t" not in first.split(b"\n")[0]
        if alone and trained in (" ", "\t"):
            return str(trained)
        return getattr(written, "added", "") or " "

    def _written_format(
        self, chosen: str, first: bytes, source: str | os.PathLike[str], added: list[str],
        header: bool, to: str | None, naming: Naming, append: bool,
    ) -> Format:  # fmt: skip
        """Return what writes a file of a format; refuse one that cannot hold the labels."""
        from ...text.formats import FORMATS, rewriting

        model, labels = self._fitted(), self._labels_in_files()
        written, beside = FORMATS[chosen](header), False
        if to is not None:
            written = rewriting(None if chosen == "text" else written, to, source)
        written.tokens = model.tokens
        written.naming = naming
        written.whole_numbers = bool(model.table_names.get("numbers"))
        if model.table_names and not append:
            written.label_name = "|".join(model.table_names["targets"])
        if chosen == "conllu":
            natively = model.format == chosen
            beside = len(added) > 1 and model.target == 9 if natively else not has_place(model)
        written.prepare(first, labels, beside)
        if chosen == model.format:  # the parts of a label are in columns of their own
            parts = (part for label in labels for part in label.split("|", len(model.further)))
            labels = list(dict.fromkeys([*labels, *parts]))
        check_labels(source, written.called, labels, lambda label: written.fault(label, added))
        return written

    def _heading(self, added: list[str]) -> list[str]:
        """Return the names of the columns that are added to a file: a label may have several."""
        model = self._fitted()
        if not model.further:
            return added
        names = column_names(model.format, model.n_columns)
        return [*(names[c] for c in sorted(model.targets)), *added[1:]]
