"""Segmenters: better than single pixels, the same on any number of threads, stored whole."""

import pickle
import warnings

import numpy as np
import pytest

from structlearn.exceptions import CapabilityError, FileError, InexactInferenceWarning
from structlearn.features.pixel_pairs import Contrast
from structlearn.fitting.learner_registry import LEARNERS
from structlearn.structures import Exhaustive, Grid
from structlearn.tasks import ImageSegmenter
from structlearn.tasks.images.model import SegmenterModel
from structlearn.tasks.images.sites import Sites
from tests.io.image_folders import folder, shapes


def quietly(segmenter, *data, **more):
    """Fit; α-expansion leaves the gap of an SVM unproven, which is said each time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InexactInferenceWarning)
        return segmenter.fit(*data, **more)


@pytest.fixture(scope="module")
def trained():
    return ImageSegmenter(max_iter=2).fit(shapes())


@pytest.mark.parametrize("learner", LEARNERS)
def test_neighbours_beat_single_pixels(learner):
    pairs = shapes(14, 3, size=(96, 96), noise=0.3)
    passes = 15 if learner == "svm" else 3  # it begins at 0
    segmenter = quietly(ImageSegmenter(learner, max_iter=passes), pairs[:8])
    found = segmenter.evaluate(pairs[8:])
    gain = 0.0 if learner == "perceptron" else 0.005  # its steps are of one length for all weights
    assert found["iou"] > found["alone"]["iou"] + gain
    assert found["accuracy"] > found["alone"]["accuracy"]
    assert (segmenter.model_.pair >= 0).all()


def test_two_classes_are_cut_exactly():
    pairs = shapes(4, 2)
    model = ImageSegmenter(max_iter=2).fit(pairs).model_
    image = pairs[0][0].astype(np.float32) / np.float32(255)
    sites = model.sites(image)
    scores, strength = model.scores(image, model.label), sites.pairs @ model.pair
    height, width = sites.shape
    across = height * (width - 1)
    solution = Grid().solve(
        label=scores.reshape(height, width, 2),
        potts_right=strength[:across].reshape(height, width - 1),
        potts_down=strength[across:].reshape(height - 1, width),
    )
    assert solution.exact
    (found,) = model.segment_all([image])
    np.testing.assert_array_equal(found, solution.output)


def test_threads_change_no_bit_of_superpixels():
    pytest.importorskip("skimage")
    pairs = shapes(6)
    one, three = (ImageSegmenter(max_iter=2, superpixels=40, n_jobs=n).fit(pairs) for n in (1, 3))
    np.testing.assert_array_equal(one.model_.label, three.model_.label)
    np.testing.assert_array_equal(one.model_.pair, three.model_.pair)
    images = [image for image, _ in pairs]
    for a, b in zip(one.predict(images), three.predict(images), strict=True):
        np.testing.assert_array_equal(a, b)


def test_superpixels_are_pixels_with_one_label_a_region():
    rng = np.random.default_rng(0)
    image = rng.random((6, 8, 3)).astype(np.float32)
    regions = np.arange(6)[:, np.newaxis] // 3 * 2 + np.arange(8)[np.newaxis] // 4
    pairs = Contrast.fit([image]).pairs(image)
    fine, coarse = Sites((6, 8), pairs), Sites((6, 8), pairs, regions)
    weights, label = rng.random(3), rng.normal(size=(48, 3))

    def score(sites, scores, y):
        apart = y[sites.ends[:, 0]] != y[sites.ends[:, 1]]
        return scores[np.arange(len(y)), y].sum() - (sites.pairs @ weights)[apart].sum()

    for _ in range(5):
        y = rng.integers(0, 3, 4)
        expected = score(fine, label, coarse.spread(y).ravel())
        assert score(coarse, coarse.gather(label), y) == pytest.approx(expected, rel=1e-5)


def test_strips_are_the_whole(trained):
    model = trained.model_
    image = np.random.default_rng(0).random((150, 20, 3)).astype(np.float32)
    whole = model.features.rows(image, 0, 150)
    parts = [model.features.rows(image, a, min(a + 37, 150)) for a in range(0, 150, 37)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_void_pixels_are_left_out_and_filled_in():
    pairs = shapes(4)
    scribbled = []
    for image, mask in pairs:
        hidden = mask.copy()
        hidden[::2] = 255
        scribbled.append((image, hidden))
    segmenter = ImageSegmenter(max_iter=2).fit(scribbled)
    assert segmenter.classes_ == ["0", "1", "2"]
    found = segmenter.evaluate(scribbled)
    assert found["pixels"] == sum((m != 255).sum() for _, m in scribbled)
    assert segmenter.evaluate(pairs)["iou"] > 0.6
    none = np.empty(pairs[0][1].shape, dtype=object)
    none[:] = pairs[0][1].tolist()
    none[::2] = None
    again = ImageSegmenter(max_iter=2).fit([(pairs[0][0], none), *scribbled[1:]])
    np.testing.assert_array_equal(again.model_.label, segmenter.model_.label)


@pytest.mark.parametrize("values", [(0, 1), (3, 7)])
def test_void_pixels_count_nowhere_though_training_has_none(values):
    """Two classes are known everywhere in training; 255 in gold masks is unknown all the same."""
    pairs = [(x, np.where(m > 0, *reversed(values)).astype(np.uint8)) for x, m in shapes(4)]
    hidden = [m.copy() for _, m in pairs]
    for mask in hidden:
        mask[: len(mask) // 2] = 255
    images = [x for x, _ in pairs]
    segmenter = ImageSegmenter(max_iter=2).fit(
        pairs[:2], dev=list(zip(images, hidden, strict=True))
    )
    known = [m != 255 for m in hidden]
    right = sum(
        (p == m)[k].sum() for p, m, k in zip(segmenter.predict(images), hidden, known, strict=True)
    )
    found = segmenter.evaluate(images, hidden)
    assert found["pixels"] == sum(k.sum() for k in known)
    assert found["accuracy"] == pytest.approx(right / found["pixels"])
    unknown = [np.where(k, m.astype(int), -1) for m, k in zip(hidden, known, strict=True)]
    assert segmenter.score(images, hidden) == segmenter.score(images, unknown)
    assert max(r["dev_iou"] for r in segmenter.history_) == segmenter.score(images, hidden)


def test_black_and_white_masks_have_two_classes():
    pairs = [(x, np.where(m > 0, 255, 0).astype(np.uint8)) for x, m in shapes(3)]
    assert ImageSegmenter(max_iter=1).fit(pairs).classes_ == ["0", "255"]


def test_the_best_pass_on_dev_is_kept():
    pairs = shapes(6)
    segmenter = ImageSegmenter(max_iter=4, patience=0).fit(pairs[:4], dev=pairs[4:])
    best = max(record["dev_iou"] for record in segmenter.history_)
    assert segmenter.score(pairs[4:]) == pytest.approx(best)
    assert [record["pass"] for record in segmenter.history_] == [0, 1, 2, 3, 4]


def test_model_files(trained, tmp_path):
    path = tmp_path / "m.model"
    trained.save(path)
    images = [image for image, _ in shapes()]
    expected = trained.predict(images)
    for other in (ImageSegmenter.load(path), pickle.loads(pickle.dumps(trained))):
        for a, b in zip(expected, other.predict(images), strict=True):
            np.testing.assert_array_equal(a, b)
    content = path.read_bytes()
    for damaged in (content[:-8], content[:200], b"", content[:-1] + bytes([content[-1] ^ 1])):
        path.write_bytes(damaged)
        with pytest.raises(FileError, match=r"m\.model"):
            ImageSegmenter.load(path)


def test_model_files_with_senseless_content(trained):
    description, tensors = trained.model_._content()
    negative = np.full(3, -1.0)
    for change in (
        {"pair": tensors["pair"]._replace(data=negative.tobytes())},
        {"pair": tensors["pair"]._replace(data=np.full(3, np.nan).tobytes())},
        {"label": tensors["label"]._replace(shape=(tensors["label"].shape[1], 117))},
        {"mean": tensors["mean"]._replace(dtype="F64")},
    ):
        with pytest.raises(FileError, match="cannot be used"):
            SegmenterModel.from_container("m", description, {**tensors, **change})
    for change in ({"scales": [0]}, {"superpixels": -1}, {"classes": {}}, {"scales": None}):
        with pytest.raises(FileError, match="cannot be used"):
            SegmenterModel.from_container("m", {**description, **change}, tensors)
    with pytest.raises(FileError, match="not a segmenter"):
        SegmenterModel.from_container("m", {**description, "task": "tagger"}, tensors)


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (7, 1), (2, 2)])
def test_tiny_images(trained, size):
    image = np.zeros((*size, 3), dtype=np.uint8)
    assert trained.predict([image])[0].shape == size


def test_parameters():
    pairs = shapes(1)
    for params in (
        {"learner": "x"}, {"superpixels": -1}, {"scales": [0]}, {"scales": 3}, {"max_iter": 0},
        {"margin": -1}, {"C": float("nan")}, {"patience": 1.5}, {"eta0": 0}, {"n_models": 0},
        {"class_weight": "even"}, {"class_weight": {"9": 1.0}}, {"r": -1}, {"tol": "x"},
    ):  # fmt: skip
        with pytest.raises(ValueError, match=next(iter(params))):
            ImageSegmenter(**params).fit(pairs)
    with pytest.raises(ValueError, match=r"solver must be one of frank-wolfe, .* got 'x'"):
        ImageSegmenter("svm", solver="x").fit(pairs)
    with pytest.raises(CapabilityError, match=r"l1 needs .* What works: C"):
        ImageSegmenter("crf", l1=0.1).fit(pairs)
    with pytest.raises(ValueError, match="call fit"):
        ImageSegmenter().predict(pairs[0][0])
    assert ImageSegmenter(superpixels=5).get_params()["superpixels"] == 5


def test_sums_over_segmentations_are_refused(trained):
    """Before anything is learned; the message says what works."""
    seen = []
    with pytest.raises(CapabilityError, match=r"sum over all segmentations.*learner='crf'"):
        ImageSegmenter(temperature=1.0, callbacks=seen.append).fit(X="never read")
    assert not seen
    image = shapes(1)[0][0]
    for ask in (trained.predict_kbest, trained.predict_marginals):
        with pytest.raises(CapabilityError, match="What works: predict"):
            ask(X=[image])
    assert len(trained.predict(X=[image])) == 1


def test_folders_and_arrays_agree(tmp_path):
    pairs = shapes(3)
    by_folder = ImageSegmenter("crf").fit(folder(tmp_path, pairs))
    by_array = ImageSegmenter("crf").fit(pairs)
    np.testing.assert_array_equal(by_folder.model_.label, by_array.model_.label)
    np.testing.assert_array_equal(by_folder.predict(tmp_path)[1], by_array.predict(pairs[1][0])[0])


@pytest.mark.parametrize("superpixels", [0, 4])
def test_small_images_have_probabilities(superpixels):
    """Those of the list of all segmentations; of superpixels, which have one class each."""
    if superpixels:
        pytest.importorskip("skimage")
    pairs = [(image[:3, :3], mask[:3, :3]) for image, mask in shapes(3, 2)]
    pairs = [(image, np.arange(9).reshape(3, 3) % 2 * 255) for image, _ in pairs]
    segmenter = ImageSegmenter("crf", superpixels=superpixels, void=None).fit(pairs)
    images, masks = [image for image, _ in pairs], [mask for _, mask in pairs]
    for i, p in enumerate(segmenter.predict_marginals(images, temperature=1.0)):
        inputs = segmenter._inputs(images[i : i + 1])
        (scores,) = inputs.scores()
        expected = Exhaustive(inputs.structure).marginals(**scores)["label"]
        np.testing.assert_allclose(p, inputs.spread(0, expected), atol=1e-9)
    predicted = segmenter.predict(images)
    segmenter.calibrate(images, masks)
    assert segmenter.temperature_ > 0
    assert segmenter.predict_proba(images, predicted) == segmenter.predict_proba(images)
    if superpixels:
        assert (np.array(segmenter.predict_proba(images, masks)) == 0).any()
    assert segmenter.calibration_.n_parts == sum(map(len, segmenter.confidence(images)))


def test_a_pseudo_likelihood_calibrates_nothing():
    pairs = shapes(3, 2)  # too large for sums
    segmenter = ImageSegmenter("crf", max_iter=2).fit(pairs[:2], dev=pairs[2:])
    assert segmenter.temperature_ is None
    assert not segmenter.calibrated_
    with pytest.raises(CapabilityError, match="no probabilities"):
        segmenter.confidence([image for image, _ in pairs])


def test_a_dev_set_of_small_images_calibrates():
    pairs = [(image[:3, :3], np.arange(9).reshape(3, 3) % 2 * 255) for image, _ in shapes(3, 2)]
    segmenter = ImageSegmenter("crf", void=None).fit(pairs[:2], dev=pairs[2:])
    assert segmenter.calibration_.n_parts == 9
