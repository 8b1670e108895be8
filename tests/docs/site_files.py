"""Small files of the names that the pages' commands use."""

import gzip
import importlib.util

from structlearn import datasets
from structlearn.datasets import make_treebank


def conllu(sentences):
    """Return sentences as CoNLL-U."""
    coarse = {"N": "NOUN", "V": "VERB", "J": "ADJ", "D": "DET", "R": "ADV", "I": "ADP", "P": "PRON"}
    blocks = []
    for s in sentences:
        rows = zip(s.words, s.tags, s.heads, s.deprels, strict=True)
        blocks.append(
            f"# text = {' '.join(s.words)}\n"
            + "\n".join(
                f"{i}\t{word}\t_\t{coarse.get(tag[0], 'X')}\t{tag}\t_\t{head}\t{relation}\t_\t_"
                for i, (word, tag, head, relation) in enumerate(rows, 1)
            )
        )
    return "\n\n".join(blocks) + "\n\n"


def columns(sentences, n=3):
    """Return sentences as columns: word, tag, chunk, or the first n of them."""
    return "\n".join(
        "\n".join(" ".join(row[:n]) for row in zip(s.words, s.tags, s.chunks, strict=True)) + "\n"
        for s in sentences
    )


def write_files(folder):
    """Write them into a folder."""
    bank = make_treebank(100, random_state=0)
    parts = {"train": bank[:70], "dev": bank[70:85], "test": bank[85:]}
    for name, part in parts.items():
        trees = "\n".join(s.brackets for s in part) + "\n"
        folder.joinpath(f"{name}.txt").write_text(columns(part))
        folder.joinpath(f"{name}.conllu").write_text(conllu(part))
        folder.joinpath(f"{name}.mrg").write_text(trees)
        folder.joinpath(f"{name}.mrg.gz").write_bytes(gzip.compress(trees.encode()))
    folder.joinpath("input.txt").write_text(columns(parts["test"], 2))
    folder.joinpath("text.txt").write_text("\n".join(" ".join(s.words) for s in parts["test"]))
    folder.joinpath("text.conllu").write_text(conllu(parts["test"]))
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
