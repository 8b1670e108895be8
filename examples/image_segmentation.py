"""
Images: what neighbours add
===========================

A class for every pixel, with neighbours and without: learned from noisy images of shapes, and from
a few strokes of a pen on a photograph. Image, gold, and both results side by side.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

from structlearn.datasets import load_photograph, make_shapes
from structlearn.tasks import Segmenter


def shapes():
    """Learn from twenty images, test on sixteen others; return the pictures of one."""
    data = make_shapes(36, random_state=1)
    pairs = list(zip(data.images, data.masks, strict=True))
    begin = time.perf_counter()
    segmenter = Segmenter(classes=data.target_names).fit(pairs[:20])
    print(f"shapes: learned from 20 images in {time.perf_counter() - begin:.1f} s")
    tell(segmenter.evaluate(pairs[20:]))
    return pictures(segmenter, *pairs[20])


def photograph():
    """Learn from strokes on a part of a photograph's pixels, test on all others."""
    data = load_photograph("china", noise=0.2, random_state=1)
    begin = time.perf_counter()
    segmenter = Segmenter("crf", classes=data.target_names).fit([(data.image, data.scribbles)])
    share = np.mean(data.scribbles != 255)
    seconds = time.perf_counter() - begin
    print(f"photograph: learned from strokes on {share:.1%} of it in {seconds:.1f} s")
    unseen = np.where(data.scribbles == 255, data.mask, 255).astype(np.uint8)
    tell(segmenter.evaluate([(data.image, unseen)]))
    return pictures(segmenter, data.image, data.mask)


def tell(scores):
    """Print the scores and the margin over single pixels."""
    alone = scores["alone"]
    print(f"  single pixels  IoU {100 * alone['iou']:.1f}, accuracy {100 * alone['accuracy']:.1f}")
    print(
        f"  structured     IoU {100 * scores['iou']:.1f}, accuracy {100 * scores['accuracy']:.1f}"
    )
    print(f"  neighbours add {100 * (scores['iou'] - alone['iou']):.1f} points of IoU")


def pictures(segmenter, image, mask):
    """Return what to draw: image, gold, single pixels, structured."""
    (single,) = segmenter.predict([image], neighbours=False)
    (joint,) = segmenter.predict([image])
    masked = [np.ma.masked_equal(one, 255) for one in (mask, single, joint)]
    return [image, *masked]


def draw(rows):
    """Show the rows of pictures."""
    _, axes = plt.subplots(len(rows), 4, figsize=(14, 3.6 * len(rows)), layout="constrained")
    for line, row in zip(axes, rows, strict=True):
        for axis, picture in zip(line, row, strict=True):
            axis.imshow(picture, cmap="viridis", vmin=0, vmax=3, interpolation="nearest")
            axis.set_axis_off()
    titles = ("image", "gold (white: open)", "single pixels", "structured")
    for axis, title in zip(axes[0], titles, strict=True):
        axis.set_title(title)
    plt.show()


draw([shapes(), photograph()])
