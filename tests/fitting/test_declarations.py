"""Signatures, docstrings, presets and options of the command line agree with the declarations."""

import argparse
import inspect
import re
from importlib import import_module

import pytest

from structlearn import estimators
from structlearn.cli import COMMANDS
from structlearn.cli.arguments import make_parser
from structlearn.estimators import StructuredModel, StructuredSVM
from structlearn.fitting.learner_registry import LEARNERS, OF_TASKS, LearningParameters
from structlearn.fitting.parameters import Choice, Number, Switch, Whole
from structlearn.fitting.presets import PRESETS, default_of
from structlearn.loading import TASKS
from structlearn.tasks import Tagger

ESTIMATORS = {
    "perceptron": estimators.StructuredPerceptron,
    "svm": estimators.StructuredSVM,
    "crf": estimators.CRF,
    "passive-aggressive": estimators.PassiveAggressive,
    "arow": estimators.AROW,
    "adagrad": estimators.AdaGrad,
}
HOMES = {
    name: getattr(import_module(f"structlearn.{module}"), kind)
    for name, (module, kind) in TASKS.items()
    if name not in ("estimator", "chain")  # a chain is made of a fitted estimator
}
OTHERS = [estimators.HMM, estimators.MultiLabelClassifier]
KINDS = [StructuredModel, *ESTIMATORS.values(), *OTHERS, *HOMES.values()]
EVERY = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
#: Options that are parameters of stages, by hand.
OF_STAGES = {"pipeline": {"order", "hash_bits", "n_models", "prune"}}
#: Tasks that an option of another one's command chooses.
COMMANDS_OF = {"word lattice": "words"}
#: Options of training that are no parameters: files, how they are read, where training runs.
NO_PARAMETERS = {
    *("help", "train", "dev", "model", "start", "precision", "quiet", "threads", "tune"),
    *("format", "header", "sentence", "word", "text", "constraint", "stream"),
    *("cluster", "workers", "shard_size"),
    "lattice",  # of words: which of two tasks
    *("entities", "no_tokeniser"),  # of a pipeline: its file of entities, and one stage less
}
#: Where the command line waits to see another option.
LEFT_OPEN = {("parser", "order"), ("pipeline", "order"), ("tagger", "features")}


@EVERY
def test_signature_and_get_params(kind):
    signature = inspect.signature(kind).parameters
    assert set(signature) == set(kind._declared)
    for name, known in signature.items():
        assert known.default == getattr(kind, name)
        positional = known.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        assert positional == (not kind._declared[name].kw_only)
    assert kind().get_params() == {name: getattr(kind, name) for name in signature}


@EVERY
def test_defaults_pass_their_own_checks(kind):
    kind()._check_declared()


def documented(kind):
    """Parameters in a docstring: name -> the line that introduces it."""
    text = inspect.getdoc(kind)
    section = text.split("Parameters\n----------\n")[1].split("\n\nAttributes\n")[0]
    section = re.split(r"\n\n(?:References|Examples)\n", section)[0].replace("\\\n", "")
    lines = re.findall(r"^(\w+(?:, \w+)*) : (.*(?:\n {8,}.*default=.*)?)", section, re.M)
    return {name: line for names, line in lines for name in names.split(", ")}


@EVERY
def test_docstring(kind):
    lines = documented(kind)
    assert set(lines) <= set(kind._declared)
    inherited = documented(StructuredModel) if issubclass(kind, StructuredModel) else {}
    assert set(kind._declared) <= set(lines) | set(inherited)
    for name, line in lines.items():
        default = getattr(kind, name)
        told = re.search(r"default=(.*)", line)
        if told and " and " not in told[1]:
            assert told[1] == repr(default).replace("'", '"') or float(told[1]) == default, name
        elif "optional" in line:
            assert default is None, name
        choices = re.findall(r'"([^"]*)"', line.split("}")[0]) if line[0] == "{" else []
        check = kind._declared[name].check
        if choices and isinstance(check, Choice):
            assert sorted(choices) == sorted(check.choices), name
            assert told or choices[0] == default, name  # the first one is
        elif choices and name == "solver":
            assert sorted(choices) == sorted(kind._solvers)


@pytest.mark.parametrize("learner", LEARNERS)
def test_an_estimator_is_its_learner(learner):
    kind, declared = ESTIMATORS[learner], LEARNERS[learner]
    assert kind._learner == declared._learner == learner
    for name in LearningParameters._declared:
        assert getattr(kind, name) == getattr(declared, name), name
    assert kind._solvers == declared._solvers


@pytest.mark.parametrize("task", PRESETS)
def test_presets(task):
    for learner, preset in PRESETS[task].items():
        assert set(preset) <= set(LEARNERS[learner]._declared) & set(OF_TASKS)
        LEARNERS[learner](**preset)._check_parameters()
        for name, value in preset.items():
            usual = getattr(LEARNERS[learner], name)
            assert value != usual, f"{name} of {task} is the default of {learner}"


def options_of(task):
    parser = make_parser(COMMANDS)
    for name in ("train", task):
        parser._complete()
        (group,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
        parser = group.choices[name]
    parser._complete()
    return {action.dest: action for action in parser._actions}


@pytest.mark.parametrize("task", HOMES)
def test_options(task):
    kind, options = HOMES[task], options_of(COMMANDS_OF.get(task, task))
    assert set(options) <= NO_PARAMETERS | set(kind._declared) | OF_STAGES.get(task, set())
    assert {name for name, known in kind._declared.items() if known.help} <= set(options)
    for name in (set(options) & set(kind._declared)) - OF_STAGES.get(task, set()):
        option, known = options[name], kind._declared[name]
        if (task, name) in LEFT_OPEN:
            continue
        assert option.default == getattr(kind, name)
        if not known.help:
            continue
        assert known.help in option.help
        if isinstance(known.check, Choice):
            assert tuple(option.choices) == known.check.choices
        elif isinstance(known.check, Switch):
            flag = name.replace("_", "-")
            assert option.option_strings == [f"--no-{flag}" if option.default else f"--{flag}"]
            assert option.const is not option.default
        elif isinstance(known.check, (Whole, Number)):
            lowest = known.check.least if isinstance(known.check, Whole) else 0
            option.type(str(lowest))
            with pytest.raises(argparse.ArgumentTypeError):
                option.type(str(lowest - 1))
            with pytest.raises(ValueError, match=name):
                known.check(name, lowest - 1)
        if name in OF_TASKS and task not in COMMANDS_OF:  # the help has the command's defaults
            assert option.help.endswith(f"(default: {default_of(task, name)})")


X = [["a", "b", "c"], ["b", "c"], ["a", "c", "b"], ["c", "a"]] * 3
Y = [["A", "B", "C"], ["B", "C"], ["A", "C", "B"], ["C", "A"]] * 3


@pytest.mark.parametrize("known", [True, False], ids=["known labels", "unknown labels"])
def test_svm_is_one_algorithm(known, monkeypatch):
    """The tagger and the estimator run the same solver, around it the same rounds."""
    from structlearn.fitting import learning

    runs = []

    def around(learner, *rest):
        runs.append(type(learner).__name__)
        return real(learner, *rest)

    real = learning.around
    monkeypatch.setattr(learning, "around", around)
    y = [
        [None if (i + j) % 4 == 0 and not known else v for j, v in enumerate(row)]
        for i, row in enumerate(Y)
    ]
    estimator = StructuredSVM(random_state=0).fit([[[w] for w in x] for x in X], y)
    of_estimator, runs[:] = list(runs), []
    tagger = Tagger(features="none", learner="svm", max_iter=1000)
    tagger.fit(
        [
            [(w, "_" if v is None else v) for w, v in zip(*s, strict=True)]
            for s in zip(X, y, strict=True)
        ]
    )
    assert (
        tagger.model_.training["learner_parameters"]["solver"] == estimator.solver_ == "frank-wolfe"
    )
    assert runs == of_estimator
    assert bool(runs) == (not known)
