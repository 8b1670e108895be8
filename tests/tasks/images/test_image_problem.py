"""The problems of segmenters against all segmentations of small images, one by one."""

import itertools

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from structlearn import _core
from structlearn.exceptions import CapabilityError
from structlearn.features.pixel_pairs import N_PAIR, Contrast
from structlearn.features.pixels import Basis, PixelFeatures
from structlearn.fitting.learner_registry import LearningParameters
from structlearn.fitting.learning import learn
from structlearn.problem import PartVector
from structlearn.scoring.cone import WeightFloor
from structlearn.tasks.images.pixels import PixelProblem, Pixels
from structlearn.tasks.images.problem import PAIR_SCALE, ImageProblem
from structlearn.tasks.images.scenes import Scene
from structlearn.tasks.images.sites import Sites
from structlearn.testing import check_scorer


class Small:
    """Random images with random classes, prepared for a problem."""

    def __init__(self, n=3, size=(3, 4), n_classes=2, regions=False, void=False, keep=True):
        rng = np.random.default_rng(0)
        images = [rng.random((*size, 3)).astype(np.float32) for _ in range(n)]
        self.n_classes, self.contrast = n_classes, Contrast.fit(images)
        self.features = PixelFeatures([1, 2])
        base = [self.features.compute(image).reshape(-1, len(self.features)) for image in images]
        self.basis = Basis.fit(np.concatenate(base))
        self.scenes = []
        for image, rows in zip(images, base, strict=True):
            gold = rng.integers(0, n_classes, size)
            if void:
                gold[rng.random(size) < 0.3] = -1
            regional = np.arange(size[0])[:, np.newaxis] // 2 * 2 + np.arange(size[1]) // 2
            scene = Scene(image, gold, rows if keep else None)
            sites = Sites(size, self.contrast.pairs(image), regional if regions else None)
            scene.prepare(sites, self.basis, self.features, n_classes)
            self.scenes.append(scene)

    def problem(self, **more):
        return ImageProblem(self.scenes, len(self.basis), self.n_classes, **more)

    def pixel_scores(self, scene, weights):
        return self.basis.expand(scene.base(self.features)).astype(np.float64) @ weights

    def segmentations(self, scene, w):
        """Iterate over every labelling of the sites: with its score, and its wrong pixels."""
        pixel = self.pixel_scores(scene, w[:-N_PAIR].reshape(-1, self.n_classes))
        lost = PAIR_SCALE * self.contrast.pairs(scene.image) @ w[-N_PAIR:]
        for y in itertools.product(range(self.n_classes), repeat=scene.sites.n_sites):
            full = scene.sites.spread(np.array(y))
            across, down = full[:, 1:] != full[:, :-1], full[1:] != full[:-1]
            score = pixel[np.arange(full.size), full.ravel()].sum()
            score -= lost[np.concatenate((across.ravel(), down.ravel()))].sum()
            wrong = ((full.ravel() != scene.gold) & scene.known).sum()
            yield np.array(y), score, wrong


@pytest.mark.parametrize("regions", [False, True])
@pytest.mark.parametrize("void", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scorer(n_classes, void, regions):
    report = check_scorer(Small(n_classes=n_classes, void=void, regions=regions).problem())
    assert report.checked["adjoint"] == 6
    assert report.checked["gradient(1, 0)"] > 0
    assert "pseudo-likelihood" in report.missing["loss(0, 1)"]


def test_features_that_are_not_kept_are_the_same():
    kept, made = Small().problem(), Small(keep=False).problem()
    w = kept.random_weights(np.random.default_rng(1))
    for i in range(3):
        np.testing.assert_array_equal(kept.theta(i, w), made.theta(i, w))


@pytest.mark.parametrize("regions", [False, True])
@pytest.mark.parametrize("void", [False, True])
@pytest.mark.parametrize("margin", [0.0, 1.0])
def test_losses_are_those_of_all_segmentations(margin, void, regions):
    small = Small(void=void, regions=regions)
    problem = small.problem()
    rng = np.random.default_rng(2)
    for i, scene in enumerate(small.scenes):
        w = 0.3 * problem.random_weights(rng)
        loss, _ = problem.loss(i, w, margin, 0.0)
        outputs = list(small.segmentations(scene, w))
        best = max(score + margin * wrong for _, score, wrong in outputs)
        allowed = [
            score for y, score, _ in outputs if (y == scene.site_gold)[scene.site_known].all()
        ]
        assert loss == pytest.approx(best - max(allowed), abs=1e-5)


def test_weights_of_images_and_classes():
    small = Small()
    weights, by_class = np.array([2.0, 0.0, 0.5]), np.array([3.0, 0.25])
    problem = small.problem(image_weight=weights, class_weight=by_class)
    w = 0.3 * problem.random_weights(np.random.default_rng(3))
    expected = 0.0
    for weight, scene in zip(weights, small.scenes, strict=True):
        best, gold = -np.inf, None
        for y, score, _ in small.segmentations(scene, w):
            best = max(best, score + by_class[scene.gold][y != scene.gold].sum())
            gold = score if (y == scene.gold).all() else gold
        expected += weight * (best - gold) / scene.n_pixels
    assert problem.total_loss(w, 1.0, 0.0)[0] == pytest.approx(expected, rel=1e-5)


def test_void_sites_are_filled_in():
    small = Small(void=True)
    problem = small.problem()
    assert problem.partial.all()
    w = 0.3 * problem.random_weights(np.random.default_rng(4))
    filled = problem.completed(w, 0.0)
    assert not filled.partial.any()
    for i, scene in enumerate(small.scenes):
        outputs = small.segmentations(scene, w)
        known = scene.site_known
        best = max(s for y, s, _ in outputs if (y == scene.site_gold)[known].all())
        theta = filled.theta(i, w)
        at = slice(filled._gold["ptr"][i], filled._gold["ptr"][i + 1])
        chosen = PartVector(filled._gold["part"][at], filled._gold["value"][at])
        assert filled.dot(theta, chosen) == pytest.approx(best, abs=1e-5)


def test_sums_over_segmentations_are_refused():
    problem = Small().problem()
    with pytest.raises(CapabilityError, match=r"has no fast algorithm. What works: learner='crf'"):
        problem.loss(0, np.zeros(problem.n_weights), 0.0, 1.0)


def test_the_pseudo_likelihood_is_that_of_one_changed_label_at_a_time():
    n_classes, prior = 3, np.array([0.3, 0.2, 0.1])
    small = Small(n_classes=n_classes)
    rng = np.random.default_rng(5)
    alone, w = rng.normal(size=(len(small.basis), n_classes)), rng.normal(scale=0.1, size=N_PAIR)
    groups = []
    for scene in small.scenes:
        near = scene.neighbours(n_classes)
        fixed = scene.scores(alone) + near @ prior
        groups.append(Pixels(near, fixed, scene.gold, np.ones(scene.n_pixels)))
    problem = PixelProblem(groups, N_PAIR, WeightFloor(-prior))
    expected = 0.0
    for scene in small.scenes:
        label = small.pixel_scores(scene, alone)
        pairs = small.contrast.pairs(scene.image) @ (prior + w)

        def score(y, label=label, pairs=pairs, scene=scene):
            first, second = scene.sites.ends.T
            return label[np.arange(len(y)), y].sum() - pairs[y[first] != y[second]].sum()

        for v in range(scene.n_pixels):
            others = np.repeat(scene.gold[np.newaxis], n_classes, axis=0)
            others[:, v] = np.arange(n_classes)
            scores = np.array([score(y) for y in others])
            expected += np.logaddexp.reduce(scores) - scores[scene.gold[v]]
    assert problem.total_loss(w, 0.0, 1.0)[0] == pytest.approx(expected, rel=1e-6)
    check_scorer(problem, losses=[(0.0, 1.0)])


def test_single_pixels_are_logistic_regression():
    rng = np.random.default_rng(6)
    X, y, weight = rng.normal(size=(60, 4)), rng.integers(0, 3, 60), rng.random(60)
    groups = [
        Pixels(X[a : a + 25], np.zeros((len(X[a : a + 25]), 3)), y[a : a + 25], weight[a : a + 25])
        for a in (0, 25, 50)
    ]
    problem = PixelProblem(groups, 12)
    check_scorer(problem, losses=[(0.0, 1.0), (0.0, 0.0), (0.0, 0.3)])
    likelihood = LearningParameters(
        solver="lbfgs", margin=0.0, temperature=1.0, C=0.7, tol=1e-12, max_iter=500
    )
    found = learn(likelihood, problem)
    rival = LogisticRegression(C=0.7, fit_intercept=False, tol=1e-10, max_iter=5000)
    rival.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(found.weights.reshape(4, 3), rival.coef_.T, atol=1e-5)


def test_weights_above_a_floor():
    """The nearest weights that are large enough, and the optimum where the floor is felt."""
    rng = np.random.default_rng(7)
    near, gold = rng.random((40, 2, 2)), rng.integers(0, 2, 40)
    floor = np.array([0.2, -0.1])
    problem = PixelProblem([Pixels(near, np.zeros((40, 2)), gold, np.ones(40))], 2,
                           WeightFloor(floor))  # fmt: skip
    likelihood = LearningParameters(margin=0.0, temperature=1.0, C=2.0, tol=1e-10, max_iter=500)
    found = learn(likelihood, problem)
    assert (found.weights >= floor).all()
    assert found.gap <= 1e-9
    grid = [np.linspace(low, low + 2, 401) for low in floor]
    values = [
        problem.objective(np.array(w), C=2.0, margin=0.0, temperature=1.0)[0]
        for w in itertools.product(grid[0][:80], grid[1][:80])
    ]
    assert found.objective <= min(values) + 1e-9


class _Scorer:
    def __init__(self, scores, sums):
        self.scores, self.sums = scores, sums

    def score(self, i, w):
        return self.scores

    def gather(self, i, index, value):
        return self.sums


class _NoInference:
    threads_allowed = False

    def infer(self, i, theta, temperature):
        raise AssertionError


@pytest.mark.parametrize("wrong", [np.zeros(5), np.zeros(6, np.float32), "x", None])
def test_what_a_scorer_returns_is_checked(wrong):
    """A scorer that is written in Python cannot make the core read beyond its arrays."""
    good = _Scorer(np.arange(6.0), np.ones(2))
    problem = _core.Problem(_NoInference(), good, 2, [[(3, 2)]])
    np.testing.assert_array_equal(problem.score(0, np.zeros(2)), np.arange(6.0))
    w = np.zeros(2)
    problem.scatter(0, None, np.ones(6), 2.0, w)
    np.testing.assert_array_equal(w, [2.0, 2.0])
    bad = _core.Problem(_NoInference(), _Scorer(wrong, wrong), 2, [[(3, 2)]])
    with pytest.raises(ValueError, match="example 0: the scorer's score must return an array of 6"):
        bad.score(0, np.zeros(2))
    with pytest.raises(ValueError, match="gather must return an array of 2"):
        bad.scatter(0, None, np.ones(6), 1.0, w)


def test_threads_sum_in_one_order():
    problem = Small(n=9, n_classes=3).problem()
    w = 0.3 * problem.random_weights(np.random.default_rng(8))
    (one, gradient), (two, other) = (problem.total_loss(w, 1.0, 0.0, n_jobs=n) for n in (1, 3))
    assert one == two
    np.testing.assert_array_equal(gradient, other)
