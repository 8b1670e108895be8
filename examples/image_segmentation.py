"""
Images: what neighbours add
===========================

A class for every pixel, with neighbours and without: learned from noisy images of shapes, and from
a few strokes of a pen on a photograph. Two neighbours with different classes cost the more, the
more alike their colours are; these costs are learned, and kept at or above 0, so that two classes
are one exact minimum cut and more of them are found by α-expansion.
"""

# %%
# Shapes: learn from sixteen images, test on twelve others. ``"alone"`` is the same model without
# its neighbours: single pixels, learned from the same features.

import time

import matplotlib.pyplot as plt
import numpy as np

from structlearn.datasets import load_photograph, make_shapes
from structlearn.tasks import ImageSegmenter


def tell(scores):
    """Print the scores and the margin over single pixels."""
    for name, s in (("single pixels", scores["alone"]), ("structured", scores)):
        print(f"  {name:14} IoU {100 * s['iou']:.1f}, accuracy {100 * s['accuracy']:.1f}")
    print(f"  neighbours add {100 * (scores['iou'] - scores['alone']['iou']):.1f} points of IoU")


data = make_shapes(28, size=96, random_state=1)
pairs = list(zip(data.images, data.masks, strict=True))
begin = time.perf_counter()
shapes = ImageSegmenter(classes=data.target_names).fit(pairs[:16])
print(f"shapes: learned from 16 images in {time.perf_counter() - begin:.1f} s")
tell(shapes.evaluate(pairs[16:]))

# %%
# The two photographs that scikit-learn ships, with noise: learn from strokes, test on all other
# pixels. Pixels of 255 are unknown.

rows = [(shapes, *pairs[16])]
for name in ("china", "flower"):
    photograph = load_photograph(name, noise=0.2, random_state=1)
    begin = time.perf_counter()
    segmenter = ImageSegmenter("crf", classes=photograph.target_names)
    segmenter.fit([(photograph.image, photograph.scribbles)])
    share, seconds = np.mean(photograph.scribbles != 255), time.perf_counter() - begin
    print(f"{name}: learned from strokes on {share:.1%} of it in {seconds:.1f} s")
    unseen = np.where(photograph.scribbles == 255, photograph.mask, 255).astype(np.uint8)
    tell(segmenter.evaluate([(photograph.image, unseen)]))
    rows.append((segmenter, photograph.image, photograph.mask))

# %%
# Image, gold (white is unknown), and both results.

_, axes = plt.subplots(3, 4, figsize=(14, 10), layout="constrained")
for line, (segmenter, image, mask) in zip(axes, rows, strict=True):
    (single,) = segmenter.predict([image], neighbours=False)
    (joint,) = segmenter.predict([image])
    for ax, labels in zip(line, (None, mask, single, joint), strict=True):
        shown = image if labels is None else np.ma.masked_equal(labels, 255)
        ax.imshow(shown, cmap="viridis", vmin=0, vmax=3, interpolation="nearest")
        ax.set_axis_off()
for ax, title in zip(axes[0], ("image", "gold", "single pixels", "structured"), strict=True):
    ax.set_title(title)
plt.show()
