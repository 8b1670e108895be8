"""Training over shards in one process, against training on one machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from structlearn import CRF, HMM, MultiLabelClassifier, StructuredPerceptron, StructuredSVM
from structlearn.distributed import fit, predict
from structlearn.distributed.labelling import _stored, loaded
from structlearn.exceptions import CapabilityError, FileError
from structlearn.tasks import (
    ConstituencyParser,
    DependencyParser,
    ImageSegmenter,
    Pipeline,
    Tagger,
)

from .models import RUNS, SENTENCES, stored, write_arcs, write_columns, write_images, write_trees

pytestmark = pytest.mark.filterwarnings("ignore:.* stopped after:UserWarning")

X = [[[f"w={w}", f"s={w[-2:]}"] for w in s.words] for s in SENTENCES]
Y = [list(s.tags) for s in SENTENCES]
ALL = 10**9  # bytes: one shard


@pytest.mark.parametrize("name", ["tagger perceptron", "tagger crf", "segments", "constituency"])
def test_one_shard_is_one_machine(name: str, tmp_path: Path) -> None:
    """With one shard, in the order of the file, the model is the same to the last bit."""
    make, write, _ = RUNS[name]
    path = write(str(tmp_path / "train"))
    options: dict[str, Any] = {"shuffle": False}
    alone = {"tagger crf": {"solver": "lbfgs"}}.get(name, {})
    expected = make().set_params(**options, **alone).fit(path)
    found = fit(make().set_params(**options), path, cluster=None, shard_size=ALL)
    ours, theirs = dict(found.model_.arrays), dict(expected.model_.arrays)
    if name == "constituency":  # averages of floats of 32 bits, added up pass by pass
        weights = [np.frombuffer(one.pop("weights"), np.float32) for one in (ours, theirs)]
        np.testing.assert_allclose(*weights, rtol=1e-4, atol=1e-6)
    assert {k: bytes(v) for k, v in ours.items()} == {k: bytes(v) for k, v in theirs.items()}


@pytest.mark.parametrize("min_count", [0, 2])
def test_features_of_shards_are_those_of_the_file(min_count: int, tmp_path: Path) -> None:
    files = [write_columns(str(tmp_path / f"{k}.txt"), 30 * k, 30 * k + 30) for k in range(3)]
    whole = write_columns(str(tmp_path / "whole.txt"))
    make = lambda: Tagger("pos", learner="crf", solver="lbfgs", min_count=min_count)  # noqa: E731
    expected = make().fit(whole)
    found = fit(make(), files, cluster=None, shard_size=700)
    assert found.model_.labels == expected.model_.labels
    assert list(found.model_.feature_names()) == list(expected.model_.feature_names())
    for name, array in expected.model_.arrays.items():
        assert len(bytes(found.model_.arrays[name])) == len(bytes(array))
    slots = [bytes(one.model_.arrays["state.slots"]) for one in (found, expected)]
    assert slots[0] == slots[1]
    gap = found.model_.training["gap"]
    assert gap <= 1e-3 * found.model_.training["objective"]
    difference = found.model_.training["objective"] - expected.model_.training["objective"]
    assert abs(difference) <= gap + expected.model_.training["gap"]


def test_features_of_label_pairs_are_merged(tmp_path: Path) -> None:
    templates = tmp_path / "templates.txt"
    templates.write_text("word[0]\ntransition: word[0]\n")
    path = write_columns(str(tmp_path / "train.txt"))
    make = lambda: Tagger(str(templates), learner="crf", solver="lbfgs")  # noqa: E731
    expected, found = make().fit(path), fit(make(), path, cluster=None, shard_size=700)
    for name in ("state.slots", "pair.slots"):
        assert bytes(found.model_.arrays[name]) == bytes(expected.model_.arrays[name])
    objectives = [one.model_.training["objective"] for one in (found, expected)]
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-3)


def test_trees_of_shards_are_those_of_the_file(tmp_path: Path) -> None:
    path = write_trees(str(tmp_path / "trees"))
    options = {"gold_tags": True, "learner": "crf", "C": 0.1, "max_iter": 3, "min_count": 2}
    expected = ConstituencyParser(**options).fit(path)
    found = fit(ConstituencyParser(**options), path, cluster=None, shard_size=1500)
    assert found.model_.labels == expected.model_.labels
    assert bytes(found.model_.arrays["known"]) == bytes(expected.model_.arrays["known"])
    assert bytes(found.model_.arrays["keys"]) == bytes(expected.model_.arrays["keys"])


def test_relations_of_shards_are_those_of_the_file(tmp_path: Path) -> None:
    path = write_arcs(str(tmp_path / "arcs.conllu"))
    options = {"gold_tags": True, "hash_bits": 12, "max_iter": 2}
    expected = DependencyParser(**options).fit(path)
    found = fit(DependencyParser(**options), path, cluster=None, shard_size=5000)
    assert found.model_.labels == expected.model_.labels
    for name in ("set_keys", "set_masks"):
        assert bytes(found.model_.arrays[name]) == bytes(expected.model_.arrays[name])


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("name", ["tagger crf", "segments", "parser", "constituency"])
def test_weights_of_sentences_and_labels(name: str, class_weight: Any, tmp_path: Path) -> None:
    """The objective after one step is the same sum over weighted sentences."""
    make, write, size = RUNS[name]
    path = write(str(tmp_path / "train"))
    weight = np.random.default_rng(0).integers(0, 3, size=len(SENTENCES)).astype(float)
    weight[40:75] = 0.0  # shards without any
    options = {"learner": "crf", "solver": "lbfgs", "C": 0.1, "max_iter": 1}
    options["class_weight"] = class_weight
    if name == "parser":  # nothing is pruned
        options.update(order=1, most_heads=64, least_share=1e-9)
    expected = make().set_params(**options).fit(path, sample_weight=weight)
    found = make().set_params(**options)
    fit(found, path, sample_weight=weight, cluster=None, shard_size=size)
    ours, theirs = (one.model_.training["objective"] for one in (found, expected))
    assert ours == pytest.approx(theirs, rel=1e-5)


@pytest.mark.parametrize("name", RUNS)
def test_shards_of_weight_zero(name: str, tmp_path: Path) -> None:
    """They are left out, and all that was seen only there."""
    make, write, size = RUNS[name]
    path = write(str(tmp_path / "train"))
    sizes = {"shard_size": size} if name != "segmenter" else {"n_shards": 5}
    n = 10 if name == "segmenter" else len(SENTENCES)
    weight = np.random.default_rng(0).integers(1, 3, size=n).astype(float)
    weight[: n // 2] = 0.0
    model = fit(make(), path, sample_weight=weight, cluster=None, **sizes)
    alone = make().fit(path, sample_weight=weight)
    labels = [
        one.classes_ if name != "constituency" else one.model_.labels for one in (model, alone)
    ]
    assert list(labels[0]) == list(labels[1])
    counted = {"sentences", "tokens", "features", "images", "pixels"} & set(model.model_.training)
    for key in counted - ({"features"} if name == "parser" else set()):
        assert model.model_.training[key] == alone.model_.training[key]
    with pytest.raises(ValueError, match="every example has weight 0"):
        fit(make(), path, sample_weight=0 * weight, cluster=None, **sizes)


@pytest.mark.parametrize("name", ["tagger crf", "segments", "constituency"])
def test_features_of_weighted_shards(name: str, tmp_path: Path) -> None:
    """Counts by weights choose the same features, words and labels as on one machine."""
    make, write, size = RUNS[name]
    path = write(str(tmp_path / "train"))
    weight = np.random.default_rng(1).integers(0, 4, size=len(SENTENCES)).astype(float)
    weight[:30] = 0.0
    options = {"min_count": 4, "learner": "crf", "max_iter": 1}
    alone = make().set_params(**options).fit(path, sample_weight=weight).model_
    found = make().set_params(**options)
    found = fit(found, path, sample_weight=weight, cluster=None, shard_size=size).model_
    plain = make().set_params(**options).fit(path).model_
    names = {"tagger crf": "state.slots", "segments": "segment.slots", "constituency": "keys"}
    tables = [bytes(one.arrays[names[name]]) for one in (alone, found, plain)]
    assert tables[0] == tables[1]
    assert tables[0] != tables[2]
    assert found.labels == alone.labels


@pytest.mark.parametrize("n_shards", [1, 2, 3, 9, len(X)])
def test_estimators_with_weights(n_shards: int) -> None:
    weight = np.random.default_rng(2).integers(0, 3, size=len(X)).astype(float)
    weight[: len(X) // 3] = 0.0
    options = {"min_count": 3, "class_weight": "balanced", "tol": 1e-6}
    alone = CRF(solver="lbfgs", **options).fit(X, Y, sample_weight=weight)
    found = fit(CRF(**options), X, Y, sample_weight=weight, cluster=None, n_shards=n_shards)
    assert found.feature_names_ == alone.feature_names_
    assert found.classes_.tolist() == alone.classes_.tolist()
    np.testing.assert_allclose(found.class_count_, alone.class_count_)
    assert found.objective_ == pytest.approx(alone.objective_, rel=1e-5)
    online = fit(
        StructuredPerceptron(max_iter=2), X, Y, sample_weight=weight, cluster=None,
        n_shards=n_shards,
    )  # fmt: skip
    assert online.classes_.tolist() == alone.classes_.tolist()
    with pytest.raises(ValueError, match="every example has weight 0"):
        fit(CRF(), X, Y, sample_weight=0 * weight, cluster=None, n_shards=n_shards)


@pytest.mark.parametrize("n_shards", [1, 3, 6])
def test_shards_of_one_class(n_shards: int) -> None:
    """Classes of weight 0, and shards that have no other, are no reason to fail."""
    points = np.random.default_rng(0).normal(size=(12, 2))
    classes = ["a"] * 4 + ["b"] * 4 + ["c"] * 4
    for table in (None, {"a": 0.0}, {"a": 0.0, "b": 0.0}, "balanced"):
        make = lambda table=table: CRF("multiclass", class_weight=table, tol=1e-7)  # noqa: E731
        alone = make().set_params(solver="lbfgs").fit(points, classes)
        found = fit(make(), points, classes, cluster=None, n_shards=n_shards)
        assert found.objective_ == pytest.approx(alone.objective_, rel=1e-5)
    model = CRF("multiclass", class_weight=dict.fromkeys("abc", 0.0))
    with pytest.raises(ValueError, match="every example has weight 0"):
        fit(model, points, classes, cluster=None, n_shards=n_shards)


@pytest.mark.filterwarnings("ignore:inference was not exact")
@pytest.mark.parametrize("learner", ["adagrad", "crf", "svm"])
def test_images(learner: str, tmp_path: Path) -> None:
    """One shard is one machine; several have the same sample of pixels, and the same optimum."""
    folder = write_images(str(tmp_path / "images"))
    weight = [1.0, 2.0] * 5
    options: dict[str, Any] = {"max_iter": 2, "class_weight": "balanced"}
    make = lambda: ImageSegmenter(learner, shuffle=False, **options)  # noqa: E731
    alone = make().set_params(solver="one-slack" if learner == "svm" else None)
    expected = alone.fit(folder, sample_weight=weight).model_
    found = [
        fit(make(), folder, sample_weight=weight, cluster=None, n_shards=n).model_ for n in (1, 3)
    ]
    assert np.array_equal(found[0].alone, expected.alone)
    np.testing.assert_allclose(found[1].alone, expected.alone, rtol=1e-6, atol=1e-9)
    if learner != "svm":  # cutting planes over sums keep no outputs
        np.testing.assert_allclose(found[0].label, expected.label, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(found[0].pair, expected.pair, rtol=1e-6)
    if learner == "crf":
        np.testing.assert_allclose(found[1].pair, expected.pair, rtol=1e-6)


def test_parser_with_taggers_of_its_own(tmp_path: Path) -> None:
    path = write_arcs(str(tmp_path / "arcs.conllu"))
    parser = DependencyParser(hash_bits=14, max_iter=6, folds=2)
    fit(parser, path, cluster=None, shard_size=20_000)
    assert len(parser.model_.taggers) == 3
    assert parser.evaluate(path)["las"] > 0.6


def test_estimators_over_shards() -> None:
    alone = CRF(solver="lbfgs").fit(X, Y)
    found = fit(CRF(), X, Y, cluster=None, n_shards=7)
    assert found.feature_names_ == alone.feature_names_
    assert found._layout.n_weights == alone._layout.n_weights
    assert found.classes_.tolist() == alone.classes_.tolist()
    assert found.class_count_.tolist() == alone.class_count_.tolist()
    assert abs(found.objective_ - alone.objective_) <= found.duality_gap_ + alone.duality_gap_
    balanced = fit(CRF(class_weight="balanced"), X, Y, cluster=None, n_shards=7)
    other = CRF(class_weight="balanced", solver="lbfgs").fit(X, Y)
    assert balanced.objective_ == pytest.approx(other.objective_, rel=2e-3)
    rare = fit(StructuredPerceptron(min_count=3), X, Y, cluster=None, n_shards=7)
    assert rare.feature_names_ == StructuredPerceptron(min_count=3).fit(X, Y).feature_names_


@pytest.mark.parametrize("emission", ["categorical", "gaussian"])
@pytest.mark.parametrize("weighted", [False, True])
def test_hidden_markov_models_over_shards(emission: str, weighted: bool) -> None:
    """Counts are those of one machine, also with a shard that has no weight."""
    rng = np.random.default_rng(0)
    words = [s.words for s in SENTENCES]
    observed = words if emission == "categorical" else [rng.normal(size=(len(w), 3)) for w in words]
    y = [[None if k % 5 == 4 else tag for k, tag in enumerate(row)] for row in Y]
    weights = None
    if weighted:
        weights = rng.integers(0, 3, len(y)).astype(float)
        weights[: len(y) // 6] = 0
    alone = HMM(order=2).fit(observed, y, sample_weight=weights)
    found = fit(HMM(order=2), observed, y, sample_weight=weights, cluster=None, n_shards=7)
    assert found.classes_.tolist() == alone.classes_.tolist()
    for block, expected in alone._blocks.items():
        np.testing.assert_allclose(found._blocks[block], expected, rtol=1e-12)
    sums = zip(found.predict_marginals(observed), alone.predict_marginals(observed), strict=True)
    for one, other in sums:
        np.testing.assert_allclose(one, other, atol=1e-10)


def test_multi_label_classifiers_over_shards() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(60, 4))
    labels = (features @ rng.normal(size=(4, 3)) > 0).astype(int)
    alone = MultiLabelClassifier().fit(features, labels)
    found = fit(MultiLabelClassifier(), features, labels, cluster=None, n_shards=5)
    assert found.edges_.tolist() == alone.edges_.tolist()
    ours, theirs = found.estimator_, alone.estimator_
    assert abs(ours.objective_ - theirs.objective_) <= ours.duality_gap_ + theirs.duality_gap_
    with pytest.raises(ValueError, match="dev"):
        fit(MultiLabelClassifier(), features, labels, dev=features, cluster=None)


def test_the_gap_of_cutting_planes_is_proven() -> None:
    best = StructuredSVM(C=0.3, tol=1e-5, max_iter=5000).fit(X, Y)
    found = fit(StructuredSVM(C=0.3, max_iter=500), X, Y, cluster=None, n_shards=5)
    assert found.solver_ == "one-slack"
    assert found.duality_gap_ <= 0.01 * found.objective_
    assert found.objective_ - best.objective_ + best.duality_gap_ >= -1e-9
    assert found.objective_ - best.objective_ <= found.duality_gap_ + best.duality_gap_
    problem = StructuredSVM().problem(X, Y)
    value = problem.objective(found._weights, C=0.3, margin=1.0, temperature=0.0)[0]
    assert value == pytest.approx(found.objective_)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_gap_of_mixed_subgradient_steps_is_proven() -> None:
    best = StructuredSVM(C=0.3, tol=1e-5, max_iter=5000).fit(X, Y)
    # Shards of different sizes: each has its own number of steps.
    found = fit(StructuredSVM(solver="sgd", C=0.3, max_iter=8), X, Y, cluster=None, n_shards=7)
    assert found.duality_gap_ is not None
    below = best.objective_ - best.duality_gap_
    assert found.objective_ - found.duality_gap_ <= best.objective_ + 1e-9
    assert found.objective_ >= below


@pytest.mark.parametrize("learner", ["perceptron", "passive-aggressive", "adagrad", "arow"])
def test_mixing_learns(learner: str, tmp_path: Path) -> None:
    path = write_columns(str(tmp_path / "train.txt"))
    tagger = Tagger("pos", learner=learner, n_models=1, max_iter=8)
    fit(tagger, path, cluster=None, shard_size=1500)
    assert tagger.evaluate(path)["accuracy"] > 0.97


def test_unknown_labels_and_solvers_that_cannot(tmp_path: Path) -> None:
    y = [[None if t == 1 else k for t, k in enumerate(row)] for row in Y]
    found = fit(CRF(max_iter=5), X, y, cluster=None, n_shards=3)
    assert found.solver_ == "lbfgs"
    assert found.duality_gap_ is None  # not convex
    with pytest.raises(ValueError, match="work over shards"):
        fit(CRF(solver="sag"), X, Y, cluster=None)
    with pytest.raises(TypeError, match="does not learn over shards"):
        fit(object(), X, Y, cluster=None)
    with pytest.raises(CapabilityError, match="warm_start"):
        fit(CRF(warm_start=True), X, Y, cluster=None)
    with pytest.raises(CapabilityError, match="step"):
        fit(CRF(callbacks=[Stepped()]), X, Y, cluster=None)


def test_strings_in_lists_are_examples(tmp_path: Path, monkeypatch: Any) -> None:
    """Bracketed trees, and sentences whose labels are given apart, are no names of files."""
    trees = [s.brackets for s in SENTENCES[:12]]
    options = {"gold_tags": True, "max_iter": 2, "n_models": 1}
    expected = fit(ConstituencyParser(**options), write_trees(str(tmp_path / "trees"), 0, 12),
                   cluster=None, shard_size=ALL)  # fmt: skip
    found = fit(ConstituencyParser(**options), trees, cluster=None, n_shards=1)
    assert stored(found, str(tmp_path)) == stored(expected, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    os.rename("trees", "(trees)")  # a name by itself is one of a file
    found = fit(ConstituencyParser(**options), "(trees)", cluster=None, shard_size=ALL)
    assert stored(found, str(tmp_path)) == stored(expected, str(tmp_path))
    words, tags = [" ".join(s.words) for s in SENTENCES[:12]], [s.tags for s in SENTENCES[:12]]
    pairs = [list(zip(s.words, s.tags, strict=True)) for s in SENTENCES[:12]]
    tagger = fit(Tagger("pos", max_iter=2), words, tags, cluster=None, n_shards=2)
    other = fit(Tagger("pos", max_iter=2), pairs, cluster=None, n_shards=2)
    assert stored(tagger, str(tmp_path)) == stored(other, str(tmp_path))
    path = write_columns(str(tmp_path / "train.txt"))
    with pytest.raises(ValueError, match="a file has its labels in it"):
        fit(Tagger("pos"), path, tags, cluster=None)


def test_labelling_by_a_model_does_not_round_its_weights(tmp_path: Path) -> None:
    """Files of parsers have 16 bits for a weight by default; the workers' model has them all."""
    arcs = [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in SENTENCES[:10]]
    parser = DependencyParser(1, gold_tags=True, hash_bits=10, max_iter=1).fit(arcs)
    exact = bytes(parser.model_.core.weights())
    again = loaded(_stored(parser), 1)
    assert bytes(again.model_.core.weights()) == exact
    path = write_arcs(str(tmp_path / "arcs.conllu"))
    found = predict(parser, path, tmp_path / "out", cluster=None)
    assert found.done == [path]
    parser.label_file(path, tmp_path / "expected")
    labelled = (tmp_path / "out" / "arcs.conllu").read_bytes()
    assert labelled == (tmp_path / "expected").read_bytes()


class Stepped:
    """A callback that wants to know about every example."""

    def __call__(self, record: dict[str, Any]) -> None:
        """Take a record."""

    def step(self, **record: Any) -> None:
        """Take an example."""


def test_bad_lines_are_named(tmp_path: Path) -> None:
    path = Path(write_columns(str(tmp_path / "train.txt")))
    lines = path.read_text().splitlines()
    at = next(i for i in range(400, len(lines)) if lines[i])
    lines[at] = "alone"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(FileError) as raised:
        fit(Tagger("pos"), path, cluster=None, shard_size=700)
    assert (raised.value.path, raised.value.line) == (str(path), at + 1)


def test_checkpoints_belong_to_the_shards(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("structlearn.fitting.checkpoint.EVERY", 0.0)
    path, file = write_columns(str(tmp_path / "train.txt")), str(tmp_path / "checkpoint")
    expected = fit(Tagger("pos", learner="crf"), path, cluster=None, shard_size=1500)

    class Killed(Exception):
        pass

    def kill(record: dict[str, Any]) -> None:
        if record["iteration"] == 4:
            raise Killed

    tagger = Tagger("pos", learner="crf", checkpoint=file, callbacks=[kill])
    with pytest.raises(Killed):
        fit(tagger, path, cluster=None, shard_size=1500)
    with pytest.raises(FileError, match="another training run"):
        fit(Tagger("pos", learner="crf", checkpoint=file), path, cluster=None, shard_size=3000)
    found = fit(Tagger("pos", learner="crf", checkpoint=file), path, cluster=None, shard_size=1500)
    assert stored(found, str(tmp_path)) == stored(expected, str(tmp_path))


def test_weights_do_not_depend_on_runs_of_shards() -> None:
    """What a worker would send for its run of shards is what the whole is made of."""
    from structlearn.distributed.arrays import example_shards
    from structlearn.distributed.crew import Holder, Job
    from structlearn.fitting.tree_sums import cover, tree_sum

    shards = example_shards(X, Y, None, 6)

    def count(shard: Any, number: int, w: Any) -> tuple[float, Any]:
        values = np.array([len(x) for x in shard.examples()[0]], dtype=float)
        return float(np.sin(values).sum()), np.cos(values[: len(w)]) * w

    args, job = (np.ones(3),), Job(None, count, True)
    whole = Holder(lambda a: a).compute(shards, 0, job, args)
    parts = {
        (low, high): Holder(lambda a: a).compute(shards[low:high], low, job, args)
        for ends in ((0, 2), (2, 5), (5, 6))
        for low, high in cover(6, *ends)
    }
    found = tree_sum((0, 6), parts.get)
    assert found[0] == whole[0]
    assert np.array_equal(found[1], whole[1])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["hmm", "pcfg"])
def test_counted_models_are_those_of_one_machine(name: str, weighted: bool, tmp_path: Path) -> None:
    """To the last bit, taggers of the grammar aside, which are learned."""
    weight = np.random.default_rng(0).integers(0, 3, size=len(SENTENCES)).astype(float)
    options: Any = {"sample_weight": weight} if weighted else {}
    if name == "hmm":
        path = write_columns(str(tmp_path / "train"))
        models = [Tagger(learner="hmm", order=2) for _ in range(2)]
    else:
        path = write_trees(str(tmp_path / "train"))
        models = [ConstituencyParser("pcfg", gold_tags=True) for _ in range(2)]
    models[0].fit(path, **options)
    fit(models[1], path, cluster=None, shard_size=700, **options)
    assert stored(models[0], str(tmp_path)) == stored(models[1], str(tmp_path))


def test_candidates_and_earlier_models(tmp_path: Path) -> None:
    path = write_columns(str(tmp_path / "train"))
    found = fit(Tagger("pos", candidates=3, n_models=1), path, cluster=None, shard_size=1500)
    assert found.model_.candidates == 3
    assert found.evaluate(path)["accuracy"] > 0.97
    make = lambda: Tagger("pos", learner="crf", solver="lbfgs", C=0.1)  # noqa: E731
    before = make().fit(path)
    again = fit(make(), path, cluster=None, shard_size=1500, start=before)
    told = [one.model_.training["objective"] for one in (again, make().fit(path, start=before))]
    assert told[0] == pytest.approx(told[1], rel=2e-3)


def test_pipelines(tmp_path: Path) -> None:
    """Folds, combinations and lexica are those of the whole treebank."""
    path = write_arcs(str(tmp_path / "arcs.conllu"))
    small = {"n_models": 1, "max_iter": 6}
    options: Any = {"tokeniser": False, "tags": small, "folds": 2}
    options["parser"] = {"hash_bits": 12, **small}
    alone = Pipeline(**options).fit(path)
    found = fit(Pipeline(**options), path, cluster=None, shard_size=9000)
    assert found.model_.combinations == alone.model_.combinations
    assert found.evaluate(path, gold_tokens=True)["las"]["f1"] > 0.6
