"""``structlearn label``: serve the page of labels until Ctrl-C; then write the model."""

from __future__ import annotations

import os

from ...printing import note
from .shared import constraints_of
from .workbench import serve_page

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any


def label(o: Any) -> int:
    """Serve; the link goes to standard output."""
    from ...labelling.journal import Journal
    from ...labelling.kinds import KINDS
    from ...labelling.pool import MOST_TOKENS
    from ...labelling.server import LabelServer
    from ...labelling.session import Session
    from ...labelling.settings import Settings

    _check_names(o)
    tokens = o.tokens or ("blank" if o.annotator else "words")
    kind, tagger = KINDS[o.kind](tokens), None
    if o.review and not o.annotator:
        from ...loading import load

        tagger = load(o.model)
        if not hasattr(tagger, "predict_marginals") or not hasattr(tagger, "predict_spans"):
            raise ValueError(f"{o.model}: a review needs a tagger")
    texts = _texts(o, kind, tagger)
    hard = constraints_of(o)
    constraints = None if hard is None else "\n".join(map(repr, hard))
    names = [name for name in o.labels.split(",") if name.strip()]
    settings = Settings(f"{o.data}.settings", names, constraints)
    journal = Journal(o.data, kind.check_item)
    try:
        if journal.remark:
            note(f"structlearn label: {journal.remark}")
        parameters = {"features": o.features, "learner": "crf", "tokens": tokens}
        if o.threads != 1:
            parameters["n_jobs"] = o.threads
        order = o.order or ("plain" if o.review else "tokens")
        session = Session(texts, kind, settings, journal, o.model, parameters, order, tagger)
        if not session.pool.texts:
            raise ValueError(f"{o.texts}: there are no texts in it")
        if session.pool.left_out:
            note(
                f"structlearn label: left out of {o.texts}, as empty or equal to an earlier text: "
                f"{session.pool.left_out:,}"
            )
        if session.pool.too_long:
            note(
                f"structlearn label: left out of {o.texts}, as longer than {MOST_TOKENS:,} tokens "
                f"(cut them into parts): {session.pool.too_long:,}"
            )
        session.start()
        try:
            return serve_page(o, lambda: LabelServer(o.port, session), lambda: _finish(session))
        finally:
            session.close()
    except BaseException:
        journal.close()
        raise


def _check_names(o: Any) -> None:
    from ...exceptions import FileError

    folder = os.path.dirname(o.model) or "."
    if not os.path.isdir(folder):
        raise FileError(o.model, f"the folder {folder!r} does not exist")
    if os.path.isdir(o.model):
        raise FileError(o.model, "this is a folder; --model names a file")
    paths = {os.path.realpath(name) for name in (o.texts, o.model, o.data)}
    if len(paths) < 3:
        raise ValueError("TEXTS, --model and --data are three files")
    if o.annotator and not o.review:
        raise ValueError("--annotator goes with --review")


def _texts(o: Any, kind: Any, tagger: Any) -> Any:
    """Return the texts to label, or to review."""
    from ...labelling.review import annotators_disagree, gold_disagrees
    from ...text.conversion import read_documents

    if o.annotator:
        return annotators_disagree(o.texts, kind, o.annotator, format=o.format)
    if o.review:
        return gold_disagrees(o.texts, kind, tagger, format=o.format)
    return [document.text for document in read_documents(o.texts, o.format or _format(o.texts))]


def _format(path: str) -> str:
    """Return the format of a file of texts: lines of two words are texts, not columns."""
    from ...text.files import read_bytes
    from ...text.formats import guess_format

    guess = guess_format(path, read_bytes(path), "text")
    return "text" if guess == "columns" else guess


def _finish(session: Any) -> None:
    """Write the model, where there is something to learn from."""
    if session.reviewer is not None or not any(session.answers()):
        return
    note("structlearn label: learning from all answers (Ctrl-C: without)")
    try:
        done = session.finish()
    except ValueError as error:
        note(f"structlearn label: no model was written: {error}")
        return
    note(f"saved {done['model']}; the same as: {done['command']}")
