"""A process that has Python and structlearn-core alone: nothing that structlearn adds.

As a program it hides these packages and does what its arguments say: ``command ...`` runs the
command line, ``use ...`` loads a model of a task and prints all of its answers as JSON, ``chain
...`` one over strings and dictionaries, ``program ...`` runs some lines of Python. Tests import
:func:`uses` and :func:`chain_uses` and compare with the answers of a process that has everything.
It imports nothing but structlearn, and runs where nothing else is installed.
"""

import json
import pickle
import sys
from pathlib import Path

from structlearn.missing import BROUGHT, MissingPackages

ABSENT = {"numpy", "scipy", "sklearn", "joblib", "threadpoolctl", "highspy", "rich"}
OURS = {f"structlearn.{name}" for name in BROUGHT}


class Without:
    """A finder of modules that does not find the packages that are absent."""

    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, *rest):
        if name.partition(".")[0] in ABSENT or name in OURS:
            return None
        return self.finder.find_spec(name, *rest)


def hide():
    """Hide the packages, but not what says how to get them."""
    sys.meta_path[:] = [
        finder if finder is MissingPackages else Without(finder) for finder in sys.meta_path
    ]


def last_letter(word):
    return word[-1:]


#: What templates call.
FUNCTIONS = {"last_letter": last_letter}
#: What models are asked, pipelines the first two alone.
QUERIES = (
    "predict", "predict_kbest", "predict_marginals", "predict_proba", "entropy", "confidence",
)  # fmt: skip
FORMATS = ("conllu", "json", "html", "text")


def uses(path, sentences, source, folder, functions=False):
    """Return what a model answers, as JSON can hold it.

    Parameters
    ----------
    path : str
        The model file.
    sentences : list of lists
        What it labels.
    source : str
        A file of the same; for a pipeline, of running text.
    folder : path
        For what it writes.
    functions : bool
        Whether its templates call :data:`FUNCTIONS`.
    """
    import structlearn

    folder = Path(folder)
    folder.mkdir()
    model = structlearn.load(path, **({"functions": FUNCTIONS} if functions else {}))
    answers = {"printed": repr(model), "threads": []}
    model.save(folder / "saved")
    pickle.loads(pickle.dumps(model)).save(folder / "pickled")
    for written in ("saved", "pickled"):
        answers[written] = (folder / written).read_bytes() == Path(path).read_bytes()
    is_pipeline = hasattr(model, "pipe")
    for n_jobs in (1, 2):
        model.n_jobs = n_jobs
        found = {ask: repr(getattr(model, ask)(sentences)) for ask in QUERIES[:2]}
        if not is_pipeline:
            found |= {ask: repr(getattr(model, ask)(sentences)) for ask in QUERIES[2:]}
            found["sample"] = repr(model.sample(sentences, 2, random_state=0))
            found["explain"] = repr(model.explain(sentences))
            found["learned"] = [repr(model.top_features()), model._repr_html_()]
            if hasattr(model, "scheme"):
                found["transitions"] = repr(model.transitions())
        else:
            found["sure"] = model.annotate(sentences, confidence=True).to_conllu(confidence=True)
            text = Path(source).read_text()
            found["text"] = model(text).to_conllu()
            found["texts"] = [doc.to_dict() for doc in model.pipe(text.split("\n\n"))]
            found["tokens"] = model.annotate(sentences, split=True).to_conllu()
        for format in FORMATS if is_pipeline else (None,):
            name = folder / f"{format}-{n_jobs}"
            options = {"format": format} if is_pipeline else {}
            if not is_pipeline and hasattr(model, "scheme"):  # a tagger, not a parser
                options = {"nbest": 2, "confidence": True, "marginals": True}
            model.label_file(source, name, **options)
            found[f"file {format}"] = name.read_text()
        answers["threads"].append(found)
    return answers


def chain_uses(path, X, y, folder):
    """Return what a chain over strings answers, as JSON can hold it.

    Parameters
    ----------
    path : str
        A file of CRFsuite's, or of ours if its name ends in ``.model``.
    X, y : lists
        Sequences, and labels for them.
    folder : path
        For what it writes.
    """
    import structlearn
    from structlearn.io import read_crfsuite

    folder = Path(folder)
    folder.mkdir()
    model = (structlearn.load if path.endswith(".model") else read_crfsuite)(path)
    model.save(folder / "saved")
    pickle.loads(pickle.dumps(model)).save(folder / "pickled")
    answers = {"printed": repr(model), "threads": []}
    written = [(folder / name).read_bytes() for name in ("saved", "pickled")]
    answers["same"] = written[0] == written[1]
    for n_jobs in (1, 2):
        model.n_jobs = n_jobs
        found = {ask: repr(getattr(model, ask)(X)) for ask in QUERIES}
        found["single"] = repr([model.predict_single(x) for x in X])
        found["sample"] = repr(model.sample(X, 2, random_state=0))
        found["forbidden"] = repr(model.predict_kbest(X, 2, forbidden=[[(0, y[0][0])]] * len(X)))
        found["explain"] = repr(model.explain(X))
        found["learned"] = [repr(model.top_features()), repr(model.transitions())]
        found["judged"] = [model.score(X, y), model.log_loss(X, y)]
        answers["threads"].append(found)
    answers["calibrated"] = repr(model.calibrate(X, y).confidence(X))
    answers["again"] = structlearn.load(folder / "saved").predict(X) == model.predict(X)
    return answers


def main(kind, *arguments):
    hide()
    if kind == "command":
        from structlearn.cli import main as command

        command(arguments)
    if kind == "program":
        exec(arguments[0], {})
        return
    answer = chain_uses if kind == "chain" else uses
    json.dump(answer(**json.loads(arguments[0])), sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
