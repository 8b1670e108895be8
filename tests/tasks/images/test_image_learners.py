"""Every learner of segmenters: breaks with a dev set; what goes into fit besides images."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from structlearn.exceptions import InexactInferenceWarning
from structlearn.fitting import checkpoint
from structlearn.fitting.learner_registry import LEARNERS
from structlearn.fitting.task_learning import learn_task
from structlearn.tasks import ImageSegmenter
from structlearn.tasks.images import fitting
from tests.io.image_folders import shapes

pytestmark = pytest.mark.filterwarnings(
    "ignore::structlearn.exceptions.InexactInferenceWarning",
)

SMALL = {"scales": (1, 2), "max_iter": 3}


def same(one, other):
    for name in ("label", "pair", "alone"):
        a, b = getattr(one.model_, name), getattr(other.model_, name)
        np.testing.assert_array_equal(a, b, err_msg=name)


@pytest.fixture(params=LEARNERS)
def learner(request):
    return request.param


def test_a_loaded_segmenter_learns_the_same_again(tmp_path):
    pairs = shapes(5)
    one = ImageSegmenter(**SMALL).fit(pairs)
    one.save(tmp_path / "a")
    loaded = ImageSegmenter.load(tmp_path / "a")
    assert loaded.get_params() == one.get_params()
    same(clone(loaded).fit(pairs), one)


class Killed(Exception):
    """Nothing catches this: as if the process were gone."""


def test_a_broken_training_goes_on(learner, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", 1e9)
    pairs, path = shapes(5), tmp_path / "training"

    def kill(record):
        if record["iteration"] == 2:
            raise Killed

    straight = ImageSegmenter(learner, **SMALL).fit(pairs, dev=pairs[:2])
    segmenter = ImageSegmenter(learner, checkpoint=path, callbacks=kill, **SMALL)
    with pytest.raises(Killed):
        segmenter.fit(pairs, dev=pairs[:2])
    assert path.exists()
    segmenter.set_params(callbacks=None).fit(pairs, dev=pairs[:2])
    assert not path.exists()
    same(straight, segmenter)
    passes = [[(r["pass"], r["dev_iou"]) for r in s.history_] for s in (straight, segmenter)]
    assert passes[0] == passes[1]


def test_runs_are_averaged_over_seeds():
    pairs = shapes(5)
    first, second, both = (
        ImageSegmenter(random_state=s, n_models=n, **SMALL) for s, n in ((0, 1), (1, 1), (0, 2))
    )
    both.fit(pairs)
    assert {record["run"] for record in both.history_} == {1, 2}
    # Samples are all of the pixels of small images: seeds are those of the orders.
    expected = (first.fit(pairs).model_.label + second.fit(pairs).model_.label) / 2
    np.testing.assert_allclose(both.model_.label, expected, rtol=1e-12, atol=1e-12)


def test_proven_gap_of_two_classes_alone():
    segmenter = ImageSegmenter("svm", C=0.5, scales=(1,))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        segmenter.fit(shapes(4, 2))
    last = segmenter.history_[-1]
    assert 0 <= last["gap"] <= 0.01 * last["objective"]
    with pytest.warns(InexactInferenceWarning, match="may have been missed"):
        segmenter.set_params(max_iter=2).fit(shapes(4, 3))


def test_images_and_masks_apart():
    pairs = shapes(6)
    images, masks = [image for image, _ in pairs], [mask for _, mask in pairs]
    within, apart = (ImageSegmenter(**SMALL).fit(*data) for data in ((pairs,), (images, masks)))
    same(within, apart)
    assert within.score(pairs) == apart.score(images, masks)
    scores = cross_val_score(ImageSegmenter(**SMALL), images, masks, cv=2, error_score="raise")
    np.testing.assert_array_equal(scores, cross_val_score(ImageSegmenter(**SMALL), pairs, cv=2))
    search = GridSearchCV(ImageSegmenter(**SMALL), {"learner": ["adagrad", "crf"]}, cv=2)
    assert len(search.fit(images, masks).predict(images[:2])) == 2


def test_a_dev_set_is_not_taken_for_masks(tmp_path):
    pairs = shapes(4)
    images, masks = [image for image, _ in pairs], [mask for _, mask in pairs]
    with pytest.raises(ValueError, match=r"4 images and 3 masks in y \(a dev set .* dev="):
        ImageSegmenter().fit(images, masks[:3])
    with pytest.raises(ValueError, match="a dev set is given as dev="):
        ImageSegmenter().fit(images, tmp_path)
    with pytest.raises(ValueError, match="a folder has its masks in it"):
        ImageSegmenter().fit(tmp_path, masks)


def test_weights_of_images():
    pairs = shapes(6, 2)
    wrong = [(image, 1 - mask) for image, mask in pairs[:3]]
    plain, weighed = ImageSegmenter(**SMALL), ImageSegmenter(**SMALL)
    plain.fit([*pairs[:3], *wrong])
    weighed.fit([*pairs[:3], *wrong], sample_weight=[1, 1, 1, 0, 0, 0])
    assert weighed.score(pairs[3:]) > plain.score(pairs[3:]) + 0.2
    same(ImageSegmenter(**SMALL).fit(pairs, sample_weight=np.ones(6)),
         ImageSegmenter(**SMALL).fit(pairs))  # fmt: skip
    for bad in ([1, 2], [-1.0] * 6, [0.0] * 6):
        with pytest.raises(ValueError, match="sample_weight"):
            plain.fit(pairs, sample_weight=bad)


def test_weights_of_classes(learner):
    pairs = shapes(6, 2, noise=0.4)
    found = {}
    for heavy in ("0", "1"):
        segmenter = ImageSegmenter(learner, class_weight={heavy: 20.0}, **SMALL).fit(pairs)
        found[heavy] = np.mean([mask.mean() for mask in segmenter.predict([i for i, _ in pairs])])
    assert found["1"] > found["0"] + 0.02
    balanced = ImageSegmenter(learner, class_weight="balanced", **SMALL).fit(pairs)
    counts = np.bincount(np.concatenate([mask.ravel() for _, mask in pairs]))
    table = {str(k): counts.sum() / (2 * count) for k, count in enumerate(counts)}
    same(balanced, ImageSegmenter(learner, class_weight=table, **SMALL).fit(pairs))


def test_perceptron_weighs_images_by_their_classes(monkeypatch):
    """It has no costs: as its estimator does, it takes the mean weight of the labels."""
    pairs, seen = shapes(4, 2), {}

    def capture(task, problem, **more):
        seen[task.learner] = problem.sample_weight
        return learn_task(task, problem, **more)

    monkeypatch.setattr(fitting, "learn_task", capture)
    for learner in ("perceptron", "adagrad"):
        segmenter = ImageSegmenter(learner, class_weight={"0": 1.0, "1": 5.0}, **SMALL)
        segmenter.fit(pairs, sample_weight=[1.0, 2.0, 3.0, 4.0])
    each = np.arange(1.0, 5.0) / [mask.size for _, mask in pairs]
    by_class = [1.0 + 4.0 * (mask == 1).mean() for _, mask in pairs]
    np.testing.assert_allclose(seen["perceptron"], each * by_class)
    np.testing.assert_allclose(seen["adagrad"], each)  # there they are in the costs
    assert "by the class of a pixel" in ImageSegmenter.__doc__


@pytest.mark.parametrize(
    ("learner", "given"),
    [("perceptron", "margin"), ("crf", "margin"), ("svm", "eta0"), ("adagrad", "r"), ("arow", "C")],
)
def test_parameters_of_other_learners(learner, given):
    with pytest.raises(ValueError, match=f"{given} is for learner|{given} is a parameter of"):
        ImageSegmenter(learner, **{given: 1.0}).fit(shapes(1))
