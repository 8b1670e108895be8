"""Everything that is trained, for tests of faults and kills: tasks, and other ways to train them.

The tasks are those of ``test_matrix``; further ones are added here, beside its many learners.
"""

import atexit
import functools
import shutil
import tempfile
from pathlib import Path

from structlearn.tasks import Pipeline, Tagger
from tests.tasks.pipeline.small_treebank import treebank
from tests.tasks.test_matrix import TASKS, Task


@functools.cache
def _file_of(n):
    """Return a file of the first n sentences with their tags."""
    folder = tempfile.mkdtemp(prefix="trainings")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder) / "train.txt"
    sentences = TASKS["tagger"].examples[:n]
    path.write_text("\n".join("".join(f"{w} {t}\n" for w, t in s) for s in sentences))
    return path


class Streamed(Task):
    """A tagger that reads its file again in each pass."""

    def fit(self, learner, n=None, **more):
        return self.make(learner, **more).fit_stream(_file_of(n))


class Stages(Task):
    """A pipeline with all of its stages; the learner is that of tags and lemmas."""

    def make(self, learner, max_iter=1, **more):
        short = {"max_iter": max_iter, "n_models": 1}
        words = {"learner": learner, **short}
        return self.kind(
            tokeniser=short, splitter=short, tags=words, lemmas=words,
            parser={"hash_bits": 10, **short}, folds=2, **more,
        )  # fmt: skip

    def fit(self, learner, n=8, **more):
        dev, entities = treebank(1, random_state=2), [[("They", "B-X"), ("swim", "O")]]
        return self.make(learner, **more).fit(treebank(n), dev=dev, entities=entities)

    def answers(self, model):
        return model(self.inputs).to_conllu()


def _with_candidates(order, *learners):
    it, options = TASKS["tagger"], {"n_models": 1, "candidates": 3, "order": order}
    return Task(Tagger, it.examples, it.inputs, options, learners=learners)


TRAININGS = {
    **TASKS,
    "candidates": _with_candidates(1, "perceptron", "svm", "crf"),
    "candidates, order 2": _with_candidates(2, "crf", "perceptron", "svm"),
    "stream": Streamed(
        Tagger, [], TASKS["tagger"].inputs, {"features": "pos"}, learners=("perceptron",)
    ),
    "pipeline": Stages(
        Pipeline, [], "They don't! The cat sees a dog.", learners=("perceptron", "crf")
    ),
}


@functools.cache
def trained(name, learner):
    """Return one of them, trained on one thread."""
    return TRAININGS[name].fit(learner)
