"""scikit-learn's two photographs, with masks from outlines and with pen strokes."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from structlearn.datasets.randomness import RandomStateLike, as_generator
from structlearn.exceptions import CapabilityError

if TYPE_CHECKING:
    from sklearn.utils import Bunch

VOID = 255

#: Corners (x, y, x, y, ...) of outlines in pixels; later ones lie over earlier ones.
_LEFT_BUSHES = """0 292 15 295 25 315 40 325 65 345 95 340 125 331 155 335 162 357 195 362 202 385
    220 392 240 395 270 400 295 427 0 427"""
_LEFT_TREE = """0 147 6 150 7 175 20 182 40 192 45 210 65 215 75 232 70 245 45 242 30 255 20 272
    0 277"""
_RIGHT_TREE = """640 155 622 145 605 135 590 140 582 160 572 175 575 190 560 210 547 225 550 260
    560 275 565 290 640 290"""
_RIGHT_BUSHES = """640 270 565 280 540 272 520 282 510 295 480 290 460 297 435 307 415 317 390 325
    370 340 350 365 325 380 320 400 310 427 640 427"""
_PAGODA = """196 31 214 31 214 45 217 50 218 62 240 85 262 97 295 111 319 119 318 126 295 139
    295 160 307 165 330 172 327 181 320 185 320 227 327 230 327 242 345 245 352 255 345 267 341 272
    342 305 349 309 349 320 370 332 372 340 350 362 330 372 320 395 320 427 280 427 270 400 240 390
    207 385 200 367 165 360 160 342 80 340 75 330 77 315 82 310 82 280 62 272 67 257 82 250 92 244
    94 232 98 230 98 190 85 180 85 172 100 167 120 160 120 142 95 125 96 110 120 102 160 90 192 62
    193 50 196 45"""
_DAHLIA = """320 86 345 92 370 100 400 116 425 140 434 165 442 200 445 225 442 250 430 277 415 305
    400 327 380 342 350 352 325 358 295 356 265 351 240 345 220 327 200 310 187 292 177 270 171 250
    169 220 172 195 176 172 187 167 187 145 200 132 210 117 235 110 245 100 270 95 295 91"""
_SECOND_DAHLIA = """289 427 288 410 295 397 320 390 330 385 345 376 370 382 395 378 415 381 435 385
    441 400 440 420 470 427"""

_OUTLINES: dict[str, tuple[tuple[str, ...], tuple[tuple[int, str], ...]]] = {
    "china": (
        ("sky", "lake", "trees", "pagoda"),
        (
            (1, "0 203 640 203 640 427 0 427"),
            (2, _LEFT_TREE),
            (3, _PAGODA),
            (2, _LEFT_BUSHES),
            (2, _RIGHT_TREE),
            (2, _RIGHT_BUSHES),
        ),
    ),
    "flower": (("leaves", "flower"), ((1, _DAHLIA), (1, _SECOND_DAHLIA))),
}

#: Strokes of a pen, (kind, x, y, x, y, ...).
_STROKES: dict[str, tuple[tuple[int, str], ...]] = {
    "china": (
        (0, "20 30 150 20 300 40 460 60 620 30"),
        (0, "30 120 60 160"),
        (0, "380 150 520 170"),
        (1, "370 260 430 290 520 250"),
        (1, "20 295 60 300"),
        (1, "400 215 530 212"),
        (2, "20 390 120 370 240 410"),
        (2, "20 210 40 230"),
        (2, "600 180 590 260 620 340"),
        (2, "380 400 480 340 600 400"),
        (3, "205 40 205 90 260 110"),
        (3, "140 145 280 150"),
        (3, "110 175 310 175"),
        (3, "110 210 300 210 300 225"),
        (3, "100 262 330 256"),
        (3, "95 300 230 310 320 300"),
        (3, "220 370 310 365"),
    ),
    "flower": (
        (0, "40 60 140 200 100 400"),
        (0, "250 40 420 60 560 40"),
        (0, "500 380 600 200"),
        (0, "200 400 260 390"),
        (1, "220 180 300 140 400 180"),
        (1, "230 280 320 320 390 260"),
        (1, "290 220 320 240"),
        (1, "330 400 400 410"),
    ),
}

_DESCRIPTION = """\
A photograph with an outlined mask
----------------------------------
The photograph "{name}" of scikit-learn (load_sample_image), {height} x {width} pixels, with
Gaussian colour noise of standard deviation {noise:g} (where white is 1) added. `mask` has the kind
of each pixel: {kinds}.
It was outlined by polygons of a few dozen corners, so that pixels within {margin} of an outline
are left open ({void}). `scribbles` has the kind of {share:.1%} of the pixels, as somebody would
mark them with a pen in a minute, and {void} everywhere else.
"""


def load_photograph(
    name: Literal["china", "flower"] = "china",
    *,
    noise: float = 0.0,
    random_state: RandomStateLike = None,
) -> Bunch:
    """Load one of scikit-learn's photographs with a mask, and with scribbles to learn from.

    Parameters
    ----------
    name : {"china", "flower"}
        A pagoda between trees above a lake (four kinds of pixels), or a dahlia in front of leaves
        (two).
    noise : float, default=0
        Standard deviation of Gaussian noise of each colour, on the scale where white is 1.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState, default=None
        Seed of the noise.

    Returns
    -------
    sklearn.utils.Bunch
        - ``image`` : (427, 640, 3) uint8 array
        - ``mask`` : (427, 640) uint8 array of kinds, 255 near outlines: unknown
        - ``scribbles`` : (427, 640) uint8 array of kinds, 255 where nothing was marked
        - ``target_names`` : list of str
        - ``DESCR`` : str
    """
    if name not in _OUTLINES:
        raise ValueError(f"name must be one of {sorted(_OUTLINES)}, got {name!r}")
    if not 0.0 <= noise < float("inf"):
        raise ValueError(f"noise must be a finite number >= 0, got {noise!r}")
    from sklearn.datasets import load_sample_image
    from sklearn.utils import Bunch

    try:
        picture = load_sample_image(f"{name}.jpg")
    except ImportError:
        raise CapabilityError(
            "reading photographs needs Pillow: pip install 'structlearn[images]'"
        ) from None
    image = np.asarray(picture, dtype=np.uint8)
    height, width = image.shape[:2]
    if noise:
        drawn = as_generator(random_state).standard_normal(image.shape)
        image = (np.clip(image / 255.0 + noise * drawn, 0.0, 1.0) * 255.0 + 0.5).astype(np.uint8)
    names, outlines = _OUTLINES[name]
    mask = np.zeros((height, width), dtype=np.uint8)
    for kind, corners in outlines:
        mask[_inside(_points(corners), height, width)] = kind
    margin = 3
    mask = _open_borders(mask, margin)
    scribbles = np.full((height, width), VOID, dtype=np.uint8)
    for kind, corners in _STROKES[name]:
        scribbles[_near(_points(corners), height, width, 3.0)] = kind
    return Bunch(
        image=image,
        mask=mask,
        scribbles=scribbles,
        target_names=list(names),
        DESCR=_DESCRIPTION.format(
            name=name,
            height=height,
            width=width,
            noise=noise,
            kinds=", ".join(f"{k} {kind}" for k, kind in enumerate(names)),
            margin=margin,
            void=VOID,
            share=float((scribbles != VOID).mean()),
        ),
    )


def _points(text: str) -> NDArray[np.float64]:
    return np.array(text.split(), dtype=np.float64).reshape(-1, 2)


def _inside(corners: NDArray[np.float64], height: int, width: int) -> NDArray[np.bool_]:
    """Return the pixels whose centre lies inside a polygon, by the parity of crossed sides."""
    y, x = np.mgrid[:height, :width] + 0.5
    inside = np.zeros((height, width), dtype=bool)
    for (x0, y0), (x1, y1) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        if y0 != y1:
            inside ^= ((y0 <= y) != (y1 <= y)) & (x < x0 + (y - y0) * (x1 - x0) / (y1 - y0))
    return inside


def _near(corners: NDArray[np.float64], height: int, width: int, reach: float) -> NDArray[np.bool_]:
    """Return the pixels within reach of a broken line."""
    y, x = np.mgrid[:height, :width] + 0.5
    near = np.zeros((height, width), dtype=bool)
    for (x0, y0), (x1, y1) in itertools.pairwise(corners):
        dx, dy = x1 - x0, y1 - y0
        along = np.clip(((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy), 0.0, 1.0)
        near |= np.hypot(x - x0 - along * dx, y - y0 - along * dy) <= reach
    return near


def _open_borders(mask: NDArray[np.uint8], margin: int) -> NDArray[np.uint8]:
    """Return the mask, void where another kind is within the margin."""
    from scipy.ndimage import maximum_filter, minimum_filter

    size = 2 * margin + 1
    opened: NDArray[np.uint8] = mask.copy()
    opened[minimum_filter(mask, size) != maximum_filter(mask, size)] = VOID
    return opened
