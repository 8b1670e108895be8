"""Data flows one way: what each folder may import.

text → features → scoring → structures → losses → problem → learners → models → fitting →
estimators → io → tasks → distributed → cli. A layer imports layers that stand before it, with two
exceptions that the names of blocks and legal masks ask for, listed below. Structures know nothing
of weights, losses and learners nothing of any one structure.
"""

import ast
import pathlib

import pytest

import structlearn

ROOT = pathlib.Path(structlearn.__file__).parent
LAYERS = [
    "text",
    "features",
    "scoring",
    "structures",
    "constraints",
    "losses",
    "problem",
    "learners",
    "models",
    "fitting",
    "estimators",
    "io",
    "tasks",
    "crfsuite",
    "distributed",
]

#: Beside the layers; these know none of them. Metrics are known by the last two only, pictures by
#: nothing.
BESIDE = ["metrics", "plotting", "drawing"]

#: What stands below all layers.
FOUNDATION = {
    "_core",
    "array_types",
    "checks",
    "exceptions",
    "lazy",
    "meter",
    "printing",
    "threads",
}

#: How files are written and read, whatever is in them: models, estimators and tasks know it, and it
#: knows no model.
FORMAT = {"io.container", "io.arrays"}

#: Module to what it may import besides: X is read by the names of a structure's blocks, and what
#: shows itself in notebooks knows how it is drawn.
ALSO = {
    "features.encoder": {"structures.base"},
    "estimators.annotators": {"metrics.schemes"},
    "constraints.alphabet": {"metrics.boundaries", "metrics.schemes"},  # what a chunk is
    "constraints.automaton": {"drawing.automata", "drawing.picture"},
    "constraints.constrained": {"drawing.automata", "drawing.picture"},
    "tasks.pipeline.doc": {"spacy.conversion"},  # imported when asked for
    "text.dependency_tree": {"drawing.arcs"},
    "text.spans": {"metrics.boundaries"},  # what a chunk is
    "text.tokenisers": {"loading"},  # the tokeniser of a package; imported when asked for
    "text.trees": {"drawing.trees"},
    "structures.solution": {"drawing.solutions"},
    "structures.chains.trellis": {"drawing.trellis", "drawing.picture"},
    "distributed.labelling": {"loading"},  # workers read models of any kind
    "io": {"tasks.tagging.foreign"},  # other tools' models become taggers; imported when asked for
}

#: The only modules of a layer that others may know: its idea, not its members.
GENERAL = {
    "structures": {
        "structures.base",
        "structures.batches",
        "structures.beam",
        "structures.checks",
        "structures.native",
        "structures.open_labels",
        "structures.parts",
    }
}


def sources():
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(p for p in parts if p != "__init__"), path


MODULES = {name: path for name, path in sources() if name.split(".")[0] in LAYERS}
ASIDE = {name: path for name, path in sources() if name.split(".")[0] in BESIDE}


def imports(name, path):
    """Modules of this package that a module imports, anywhere in its text, as dotted names."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "structlearn":
                    yield alias.name.partition(".")[2]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                base = package[: len(package) - node.level + 1]
                target = [*base, *(node.module or "").split(".")]
            elif (node.module or "").split(".")[0] == "structlearn":
                target = node.module.split(".")[1:]
            else:
                continue
            target = [part for part in target if part]
            for alias in node.names:
                dotted = [*target, alias.name]
                inside = ROOT.joinpath(*dotted)
                is_module = inside.is_dir() or inside.with_suffix(".py").is_file()
                known = is_module or dotted == ["_core"]
                yield ".".join(dotted if known else target)


def layer(module):
    return module.split(".")[0]


def test_there_is_something_to_look_at():
    assert {layer(name) for name in MODULES} == set(LAYERS)
    assert {layer(name) for name in ASIDE} == set(BESIDE)
    assert {"metrics.pairs", "metrics.counts"} <= {
        target for name, path in ASIDE.items() for target in imports(name, path)
    }
    seen = {target for name, path in MODULES.items() for target in imports(name, path)}
    assert {"structures.base", "problem", "features.rows", "_core", "losses.costs"} <= seen


@pytest.mark.parametrize("name", MODULES)
def test_imports_only_what_stands_before(name):
    before = set(LAYERS[: LAYERS.index(layer(name)) + 1])
    for target in imports(name, MODULES[name]):
        beside = {"metrics", "drawing"} if layer(name) in ("tasks", "distributed") else set()
        if layer(name) == "models":
            beside = {"metrics"}  # reliability
        also = ALSO.get(name, set()) | (
            FORMAT if layer(name) in ("models", "fitting", "estimators") else set()
        )
        allowed = layer(target) in before | FOUNDATION | beside or target in also
        assert allowed, f"{name} imports {target}"


@pytest.mark.parametrize("name", [n for n in MODULES if layer(n) == "structures"])
def test_structures_know_no_weights(name):
    """Scores may come from anywhere."""
    for target in imports(name, MODULES[name]):
        allowed = layer(target) in {"structures", *FOUNDATION} or target in ALSO.get(name, ())
        assert allowed, f"{name} imports {target}"


@pytest.mark.parametrize("name", [n for n in MODULES if layer(n) in ("losses", "problem")])
def test_losses_and_problems_know_no_kind_of_structure(name):
    for target in imports(name, MODULES[name]):
        if layer(target) == "structures":
            assert target in GENERAL["structures"], f"{name} imports {target}"


@pytest.mark.parametrize("name", [n for n in MODULES if layer(n) == "learners"])
def test_learners_know_problems_only(name):
    for target in imports(name, MODULES[name]):
        assert layer(target) in {"problem", "learners", *FOUNDATION}, f"{name} imports {target}"


@pytest.mark.parametrize("name", [n for n in MODULES if layer(n) == "models"])
def test_models_need_no_numpy(name):
    """Buffers and lists; estimators make arrays of them."""
    for node in ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            packages = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            packages = [node.module]
        else:
            continue
        assert not {"numpy", "scipy"} & {package.partition(".")[0] for package in packages}, name


@pytest.mark.parametrize("name", sorted(FORMAT))
def test_the_format_of_files_knows_no_model(name):
    for target in imports(name, MODULES[name]):
        assert layer(target) in {"text", *FOUNDATION} or target in FORMAT, f"{name}: {target}"


@pytest.mark.parametrize("name", ASIDE)
def test_what_stands_beside_knows_no_layer(name):
    """Metrics score labels from anywhere, pictures show histories from anywhere."""
    for target in imports(name, ASIDE[name]):
        assert layer(target) in {layer(name), "exceptions", "lazy", "printing"}, (
            f"{name} imports {target}"
        )


def test_nothing_below_the_command_line_knows_it():
    for name, path in sources():
        outer = (
            "cli",
            "demo",
            "distributed",
            "__main__",
            "labelling",
            "loading",
            "serve",
            "spacy",
            "tasks",
            "workbench",
            "",
        )
        if layer(name) not in outer:
            above = {"cli", "demo", "labelling", "loading", "serve", "tasks", "workbench"}
            found = set(imports(name, path)) - ALSO.get(name, set())
            assert not above & set(map(layer, found)), name


@pytest.mark.parametrize("name", [n for n in MODULES if n.split(".")[0] == "learners"])
def test_learners_see_a_problem_and_nothing_in_it(name):
    """The operations of a problem and its handle for the core; no private name, no structure."""
    hidden = {"structure", "examples", "layout", "features", "scorer"}
    for node in ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Attribute):
            continue
        owner = getattr(node.value, "id", getattr(node.value, "attr", ""))  # problem, self.problem
        if owner in ("problem", "_problem"):
            assert not node.attr.startswith("_"), f"{name} looks at problem.{node.attr}"
            assert node.attr not in hidden, f"{name} looks at problem.{node.attr}"
