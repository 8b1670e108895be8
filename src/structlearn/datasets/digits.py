"""Words made of real handwritten digits."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from structlearn.datasets.randomness import RandomStateLike, as_generator

if TYPE_CHECKING:
    from sklearn.utils import Bunch

N_DIGITS = 10
TEST_SHARE = 0.25

_DESCRIPTION = """\
Words of handwritten digits
---------------------------
Each position of a word is one 8 x 8 grey image from scikit-learn's copy of the UCI handwritten
digits, as 64 numbers in [0, 1], with pixel noise of standard deviation {noise:g} added and cut to
that range again. The handwriting is real; the words are not: their digits follow a made-up Markov
chain. The first digit is uniform, and digit d is followed by (3d + 1) mod 10 with probability
0.57, by (d + 4) mod 10 with probability 0.27, and by each other digit with probability 0.02
(1.88 bits per step, where independent digits would have 3.32). The matrix is in `transition`.

The images fall into two fixed parts, whatever the random state: the first three quarters of the
file for training, the last quarter for testing. No image is in both. The
split is harder than a random one: without noise a linear classifier errs on 8 % of the test images,
on a random quarter it errs on 2 to 3 %.

This selection: {subset}, {n_words} words, {n_digits} digits.
"""


def digit_transitions() -> NDArray[np.float64]:
    """Return the (10, 10) transition matrix of the digit words; rows are the present digit.

    Both favoured successors are permutations of the digits, so that the matrix is doubly
    stochastic, every digit is equally frequent, and both neighbours are informative.
    """
    matrix = np.full((N_DIGITS, N_DIGITS), 0.02)
    digit = np.arange(N_DIGITS)
    matrix[digit, (3 * digit + 1) % N_DIGITS] = 0.57
    matrix[digit, (digit + 4) % N_DIGITS] = 0.27
    return matrix


def load_digit_words(
    n_words: int = 500,
    *,
    length: int | tuple[int, int] = (3, 8),
    noise: float = 0.15,
    subset: Literal["train", "test", "all"] = "train",
    random_state: RandomStateLike = None,
) -> Bunch:
    """Load sequences of real handwritten digits, for chain models.

    The images are those of :func:`sklearn.datasets.load_digits`; which digit follows which is
    drawn from a documented Markov chain with peaked transitions (see ``transition`` and ``DESCR``
    of the result). With the default noise a linear classifier that looks at one digit at a time
    errs on about one digit in ten, and a chain model that also learns the transitions on about
    half as many.

    Parameters
    ----------
    n_words : int, default=500
        How many words.
    length : int or (int, int), default=(3, 8)
        Digits per word: a fixed number, or the smallest and the greatest, all equally likely.
    noise : float, default=0.15
        Standard deviation of the pixel noise, on the scale where ink is 1; 0 leaves the images
        as they are. An image that is used twice gets new noise each time.
    subset : {"train", "test", "all"}, default="train"
        Which images to use. Training and test words never share an image, whatever their random
        states, so call once with each. "all" gives training words first, then test words, three
        to one; ``is_test`` tells them apart.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState, default=None
        Same seed, same words. The same seed gives different words for training and testing.

    Returns
    -------
    sklearn.utils.Bunch
        - ``X`` : list of (L, 64) float arrays in [0, 1]
        - ``y`` : list of (L,) int arrays, the digits
        - ``images`` : list of (L, 8, 8) arrays, views of ``X``
        - ``indices`` : list of (L,) int arrays, the image's place in ``load_digits()``
        - ``is_test`` : (n_words,) bool array
        - ``transition`` : (10, 10) array, the chain that made the words
        - ``target_names`` : list of str, "0" to "9"
        - ``DESCR`` : str

    Examples
    --------
    >>> from structlearn.datasets import load_digit_words
    >>> train = load_digit_words(400, subset="train", random_state=0)
    >>> test = load_digit_words(100, subset="test", random_state=0)
    >>> len(train.X), train.X[0].shape[1]
    (400, 64)
    """
    n_words = index(n_words)
    if n_words < 0:
        raise ValueError(f"n_words must not be negative, got {n_words}")
    shortest, longest = _length_range(length)
    if not 0.0 <= noise < float("inf"):
        raise ValueError(f"noise must be a finite number >= 0, got {noise!r}")
    if subset not in ("train", "test", "all"):
        raise ValueError(f'subset must be "train", "test" or "all", got {subset!r}')

    n_test = {"train": 0, "test": n_words, "all": int(n_words * TEST_SHARE)}[subset]
    # Two streams, so that "train" and "test" with one seed are different words.
    train_seed, test_seed = as_generator(random_state).integers(2**63, size=2).tolist()
    pixels, digits = _digit_images()
    first_test = len(digits) - int(len(digits) * TEST_SHARE)

    words = []
    for count, seed, part in (
        (n_words - n_test, train_seed, np.arange(first_test)),
        (n_test, test_seed, np.arange(first_test, len(digits))),
    ):
        pools = [part[digits[part] == digit] for digit in range(N_DIGITS)]
        rng = np.random.default_rng(seed)
        words += [_sample_word(rng, pools, shortest, longest, noise, pixels) for _ in range(count)]

    from sklearn.utils import Bunch  # here, so that importing the datasets stays light

    X = [features for features, _, _ in words]
    y = [labels for _, labels, _ in words]
    return Bunch(
        X=X,
        y=y,
        images=[features.reshape(-1, 8, 8) for features in X],
        indices=[indices for _, _, indices in words],
        is_test=np.arange(n_words) >= n_words - n_test,
        transition=digit_transitions(),
        target_names=[str(digit) for digit in range(N_DIGITS)],
        DESCR=_DESCRIPTION.format(
            noise=noise, subset=subset, n_words=n_words, n_digits=sum(map(len, y))
        ),
    )


def _length_range(length: Any) -> tuple[int, int]:
    try:
        shortest, longest = length if isinstance(length, tuple | list) else (length, length)
        shortest, longest = index(shortest), index(longest)
    except (TypeError, ValueError) as error:
        raise ValueError(f"length must be an int or a pair of ints, got {length!r}") from error
    if not 1 <= shortest <= longest:
        raise ValueError(f"length must be positive, with the smaller bound first, got {length!r}")
    return shortest, longest


def _digit_images() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return every image as 64 numbers in [0, 1], and its digit."""
    from sklearn.datasets import load_digits

    bunch = load_digits()
    return np.asarray(bunch.data, dtype=np.float64) / 16.0, np.asarray(bunch.target, np.int64)


def _sample_word(
    rng: np.random.Generator,
    pools: list[NDArray[np.int64]],
    shortest: int,
    longest: int,
    noise: float,
    pixels: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the features, the digits and the image indices of one word."""
    size = int(rng.integers(shortest, longest + 1))
    steps, choices = rng.random((2, size))
    labels = np.empty(size, dtype=np.int64)
    labels[0] = int(steps[0] * N_DIGITS)
    bounds = np.cumsum(digit_transitions(), axis=1)
    bounds[:, -1] = 1.0  # rounding must not leave a gap at the end
    for t in range(1, size):
        labels[t] = np.searchsorted(bounds[labels[t - 1]], steps[t], side="right")
    indices = np.array(
        [pools[label][int(u * len(pools[label]))] for label, u in zip(labels, choices, strict=True)]
    )
    features = pixels[indices]
    if noise:
        features = np.clip(features + noise * rng.standard_normal(features.shape), 0.0, 1.0)
    return features, labels, indices
