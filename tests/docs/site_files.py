"""Small files of the names that the pages' commands use."""

import importlib.util

from structlearn import datasets


def write_files(folder):
    """Write them into a folder."""
    datasets.write_treebank(folder, 100)
    if HAS_IMAGES:
        write_images(folder)


#: Whether images can be made and written here.
HAS_IMAGES = hasattr(datasets, "make_shapes") and importlib.util.find_spec("PIL") is not None


def write_images(folder):
    """Write folders of images with masks: FOLDER to learn from, test, and photos without masks."""
    from PIL import Image

    data = datasets.make_shapes(6, size=40, n_classes=2, random_state=0)
    for i, (image, mask) in enumerate(zip(data.images, data.masks, strict=True)):
        name = "FOLDER" if i < 4 else "test"
        for kind, pixels in (("images", image), ("masks", mask)):
            folder.joinpath(name, kind).mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels).save(folder / name / kind / f"{i}.png")
    folder.joinpath("photos").mkdir()
    Image.fromarray(data.images[4]).save(folder / "photos" / "one.png")
