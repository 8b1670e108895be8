"""Loading models and labelling text needs Python and the core: no NumPy, nothing built on it.

``tools/check_wheel.py`` runs these tests with a Python that has the wheel of structlearn-core and
nothing else, named by STRUCTLEARN_CORE_PYTHON.
"""

import functools
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sklearn.exceptions import NotFittedError

import structlearn
from structlearn import cli
from structlearn.datasets import make_treebank
from structlearn.missing import BROUGHT
from structlearn.structures import Chain
from structlearn.text import FeatureTemplates
from tests import without_numpy
from tests.io.crfsuite_files import small_model
from tests.tasks.test_matrix import TASKS
from tests.tasks.trainings import TRAININGS

pytestmark = pytest.mark.filterwarnings(
    "ignore::structlearn.exceptions.InexactInferenceWarning",
    "ignore::structlearn.exceptions.ConvergenceWarning",
)

PROGRAM = Path(without_numpy.__file__)
ALL = ("float32", "float16", "int8")
CHUNKS = [list(zip(s.words, s.chunks, strict=True)) for s in make_treebank(30, random_state=0)]
PAIRS = FeatureTemplates.parse("word[-1..1]\nsuffix(word, 1..2)\nbias\ntransition: word")
CALLING = FeatureTemplates.parse(
    'word\nseen(word)\ncall(word, "last_letter")', functions=without_numpy.FUNCTIONS
)
TEXT = "They don't! The cat sees a dog.\n\nThe old man sleeps.\nDon't they swim?\n"


@dataclass
class Case:
    """A model to be trained here and to be used there."""

    task: str
    learner: str
    options: dict = field(default_factory=dict)
    precisions: tuple = (None,)
    functions: bool = False

    def fit(self):
        it = TRAININGS[self.task]
        if not self.options:
            return it.fit(self.learner)
        examples = CHUNKS if "scheme" in self.options else it.examples
        return it.make(self.learner, **self.options).fit(examples, dev=examples[:6])


CASES = {
    "perceptron": Case("tagger", "perceptron", precisions=ALL),
    "crf": Case("tagger", "crf", {"order": 0}),
    "order 2": Case("tagger", "crf", {"order": 2, "names": False}, ALL),
    "pairs": Case("tagger", "crf", {"features": PAIRS}, ALL),
    "hashed": Case("tagger", "perceptron", {"hash_bits": 8}, ALL),
    "iobes": Case("tagger", "perceptron", {"scheme": "iobes"}),
    "functions": Case("tagger", "perceptron", {"features": CALLING}, functions=True),
    "candidates": Case("candidates", "perceptron", precisions=ALL),
    "candidates, order 2": Case("candidates, order 2", "crf", precisions=ALL),
    "hmm": Case("tagger", "hmm", precisions=ALL),
    "segments": Case("segments", "crf"),
    "parser": Case("parser", "perceptron", precisions=ALL),
    "parser of pairs": Case("parser of pairs", "passive-aggressive", {"prune": True}, ("int8",)),
    "parser with taggers": Case(
        "parser of pairs", "perceptron", {"gold_tags": False, "folds": 2}, ("int8",)
    ),
    "constituency": Case("constituency", "perceptron"),
    "pcfg": Case("constituency", "pcfg"),
    "pipeline": Case("pipeline", "perceptron", precisions=ALL),
    "pipeline of crf": Case("pipeline", "crf"),
}
MODELS = [(name, precision) for name, case in CASES.items() for precision in case.precisions]
every = pytest.mark.parametrize(("name", "precision"), MODELS)


@functools.cache
def trained(name):
    return CASES[name].fit()


@pytest.fixture
def given(name, precision, tmp_path):
    """A model file, sentences for it, and a file of them."""
    case, path, source = CASES[name], tmp_path / "model", tmp_path / "source"
    trained(name).save(path, *([precision] if precision else []))
    sentences = TRAININGS[case.task].inputs
    if "pipeline" in name:
        sentences = TASKS["tagger"].inputs
        source.write_text(TEXT)
    elif "parser" in name:
        lines = []
        for sentence in sentences:
            lines += ["\t".join([str(i), word, "_", "_", tag, *"_____"])
                      for i, (word, tag) in enumerate(sentence, 1)]  # fmt: skip
            lines.append("")
        source.write_text("\n".join([*lines, ""]))
    elif case.task == "constituency":
        source.write_text("".join(" ".join(words) + "\n" for words in sentences))
    else:
        rows = (
            [token] if isinstance(token, str) else token for s in sentences for token in (*s, "")
        )
        source.write_text("".join(" ".join(row) + "\n" for row in rows))
    options = {"source": str(source), "functions": case.functions}
    return {"path": str(path), "sentences": sentences, **options}


def run(kind, *arguments):
    """Run the program without NumPy."""
    python = os.environ.get("STRUCTLEARN_CORE_PYTHON", sys.executable)
    command = [python, str(PROGRAM), kind, *arguments]
    return subprocess.run(command, capture_output=True, check=False)


def bare(kind, *arguments):
    """Return what the program without NumPy prints."""
    done = run(kind, *arguments)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@every
def test_models_answer_the_same(name, precision, given, tmp_path):
    answers = json.loads(bare("use", json.dumps({**given, "folder": str(tmp_path / "there")})))
    assert answers["saved"]
    assert answers["pickled"]
    assert answers["threads"][0] == answers["threads"][1]
    assert answers == without_numpy.uses(**given, folder=tmp_path / "here")


@pytest.mark.parametrize(("name", "precision"), [(n, CASES[n].precisions[-1]) for n in CASES])
def test_commands_print_the_same(name, precision, given, tmp_path, capfdbinary):
    path, source, gold = given["path"], given["source"], str(tmp_path / "gold")
    label, formats = ["predict", path, source], []
    if "pipeline" in name:
        label = ["annotate", path, source]
        formats = [[*label, "--format", format] for format in ("json", "html", "text")]
    elif CASES[name].task in ("tagger", "candidates", "segments"):
        formats = [[*label, "--confidence", "--threads", "2"]]
    if CASES[name].functions:  # which the command line cannot be given
        return
    assert cli.run([*label, "--output", gold]) == 0
    commands = [label, *formats, ["evaluate", path, gold, "--json"], ["inspect", path]]
    for command in commands:
        assert cli.run(command) == 0
        printed = capfdbinary.readouterr().out.decode()
        found = bare("command", *command)
        if command[0] == "evaluate":  # all but the speed
            printed, found = (
                {k: v for k, v in json.loads(text).items() if "per_second" not in k}
                for text in (printed, found)
            )
        assert found == printed


CHAIN_X = [
    [{"w": "fish", "n": 0.5}, {"w": "sleep", "up": True}, ["bias", "größe"]],
    [["w=fish"], {"w": ["fish", "sleep"]}, {"in": {"w": "x"}}, "größe"],
]
CHAIN_Y = [["N", "V", "D"], ["N", "D", "V", "N"]]


@pytest.mark.parametrize("kind", ["crfsuite", "first order", "second order"])
def test_chains_over_strings_answer_the_same(kind, tmp_path):
    path = tmp_path / ("small.crf" if kind == "crfsuite" else "chain.model")
    if kind == "crfsuite":
        path.write_bytes(small_model())
    else:
        structure = Chain(1 if kind == "first order" else 2)
        structlearn.CRF(structure=structure).fit(CHAIN_X, CHAIN_Y).to_chain().save(path)
    given = {"path": str(path), "X": CHAIN_X, "y": CHAIN_Y}
    answers = json.loads(bare("chain", json.dumps({**given, "folder": str(tmp_path / "there")})))
    assert answers["same"]
    assert answers["again"]
    assert answers["threads"][0] == answers["threads"][1]
    here = without_numpy.chain_uses(**given, folder=tmp_path / "here")
    assert answers == json.loads(json.dumps(here))


def test_python_crfsuites_interface(tmp_path):
    """Items and taggers work, trainers say what they need, and seqeval's scores work too."""
    path = tmp_path / "small.crf"
    path.write_bytes(small_model())
    code = f"""
from structlearn import crfsuite
from structlearn.metrics import classification_report, f1_score
tagger = crfsuite.Tagger()
tagger.open({str(path)!r})
x = crfsuite.ItemSequence([["w=fish"], {{"w": "sleep"}}])
y = tagger.tag(x)
print(y, tagger.probability(y), tagger.marginal(y[0], 0), tagger.info().transitions, x.items())
print(classification_report([["B-X", "O"]], [["B-X", "O"]]), f1_score([["B-X"]], [["B-X"]]))
try:
    crfsuite.Trainer(verbose=False).append([["a"]], ["X"])
except ImportError as error:
    print("ImportError:", error)
"""
    there = bare("program", code)
    here = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    refused = "ImportError: training needs numpy, which is not installed: pip install structlearn"
    assert there.partition("ImportError")[0] == here.stdout
    assert refused in there


def test_estimators_say_what_they_need(tmp_path):
    structlearn.CRF().fit(CHAIN_X, CHAIN_Y).save(tmp_path / "crf.model")
    code = f"""
import structlearn
try:
    structlearn.load({str(tmp_path / "crf.model")!r})
except ImportError as error:
    print(error)
"""
    assert "to_chain" in bare("program", code)


@pytest.mark.parametrize("kind", ["Tagger", "Pipeline"])
def test_models_that_have_learned_nothing(kind):
    """The error has the same name, message and bases as scikit-learn's."""
    code = f"""
from structlearn.exceptions import NotFittedError
from structlearn.tasks import {kind}
try:
    {kind}().save("model")
except NotFittedError as error:
    print(type(error).__name__, isinstance(error, (ValueError, AttributeError)), error)
"""
    with pytest.raises(NotFittedError) as raised:
        getattr(structlearn.tasks, kind)().save("model")
    assert bare("program", code).strip() == f"NotFittedError True {raised.value}"


@pytest.mark.parametrize(
    "code",
    [
        "from structlearn import CRF",
        "from structlearn.structures import Chain",
        "import structlearn.losses",
        "from structlearn.tasks import Tagger; Tagger(learner='crf').fit([[('a', 'X')]])",
    ],
)
def test_what_is_missing_is_named_and_how_to_get_it(code):
    code = f"try:\n    {code}\nexcept ModuleNotFoundError as error:\n    print(error.name, error)"
    printed = bare("program", code)
    name, _, told = printed.partition(" ")
    assert name == "numpy" or name.partition(".")[2] in BROUGHT
    assert_says_how_to_get_it(told)


def assert_says_how_to_get_it(told):
    """In a checkout NumPy alone is missing; with the wheel alone, what structlearn brings too."""
    assert re.match(
        r"this needs (NumPy|structlearn\.[\w.]+), which is not installed: pip install structlearn ",
        told,
    )


def test_commands_name_what_is_missing(tmp_path):
    gold = tmp_path / "gold.txt"
    gold.write_text("a X\nb Y\n\n")
    crf = ["--learner", "crf", "--model", str(tmp_path / "model"), "--quiet"]
    for command in (["demo"], ["train", "tagger", str(gold), *crf]):
        done = run("command", *command)
        assert done.returncode == 1
        assert done.stderr.decode().count("\n") == 1
        command, _, told = done.stderr.decode().partition(": ")
        assert command == "structlearn"
        assert_says_how_to_get_it(told)


def test_other_programs_are_told_nothing():
    """Advice is for modules of the library; what others import is their business."""
    code = (
        "import structlearn\ntry:\n    import numpy\nexcept ImportError as error:\n    print(error)"
    )
    assert bare("program", code).strip() == "No module named 'numpy'"
