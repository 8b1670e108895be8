"""Several annotators: how far they agree, and one labelling of what they have labelled."""

from __future__ import annotations

import itertools

from ...printing import put, put_json
from .shared import output_of, say_written

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any


def agree(o: Any) -> int:
    """Print the agreement of annotators; write one labelling."""
    from ...estimators import AnnotatorModel
    from ...text import read_annotations

    given = {name: getattr(o, name) for name in ("target", "sentence", "word", "format")}
    read = read_annotations(o.input, o.annotator, **given)
    model = AnnotatorModel(sequence=not o.tokens_apart).fit(read.answers)
    told = _agreement(read)
    told["accuracy"] = model.accuracy_
    if o.output is not None:
        _write(o, read, model.consensus(read.answers))
    if o.json:
        put_json(told)
        return 0
    put(_table(told))
    return 0


def _agreement(read: Any) -> dict[str, Any]:
    """Return alpha of all, of each label, and kappa of each pair of annotators."""
    from ...metrics import alpha_by_label, cohen_kappa, krippendorff_alpha

    def single(answer: Any) -> Any:
        return answer if isinstance(answer, str) else None  # sets agree with nothing

    names, rows = read.annotators, []
    for words, one in zip(read.words, read.answers, strict=True):
        columns = [one.get(name) or [None] * len(words) for name in names]
        rows += [tuple(map(single, cells)) for cells in zip(*columns, strict=True)]
    pairs = {}
    for i, j in itertools.combinations(range(len(names)), 2):
        both = [(row[i], row[j]) for row in rows if row[i] is not None and row[j] is not None]
        if both:
            kappa = cohen_kappa([a for a, _ in both], [b for _, b in both])
            pairs[f"{names[i]}, {names[j]}"] = {"kappa": kappa, "tokens": len(both)}
    return {
        "texts": len(read.words),
        "tokens": len(rows),
        "alpha": krippendorff_alpha(rows),
        "alpha_by_label": alpha_by_label(rows),
        "kappa": pairs,
    }


def _table(told: dict[str, Any]) -> str:
    texts = "text" if told["texts"] == 1 else "texts"
    lines = [f"{told['texts']:,} {texts}, {told['tokens']:,} tokens", ""]
    lines += ["Krippendorff's alpha", f"  all labels  {told['alpha']:.3f}"]
    lines += [f"  {k:<10}  {a:.3f}" for k, a in told["alpha_by_label"].items()]
    lines += ["", "Cohen's kappa of two annotators"]
    lines += [
        f"  {k}  {v['kappa']:.3f}  ({v['tokens']:,} tokens)" for k, v in told["kappa"].items()
    ]
    lines += ["", "how often an answer is right, by the model of the annotators"]
    lines += [f"  {k}  {p:.3f}" for k, p in sorted(told["accuracy"].items(), key=lambda e: -e[1])]
    return "\n".join(lines)


def _write(o: Any, read: Any, consensus: list[Any]) -> None:
    """Write one labelling as JSON lines, which every command reads."""
    import json

    from ...text.files import written_text

    with written_text(output_of(o)) as file:
        for words, one in zip(read.words, consensus, strict=True):
            item = {"tokens": words, read.target: one.labels}
            item[f"{read.target}_confidence"] = [round(p, 4) for p in one.confidence]
            file.write((json.dumps(item, ensure_ascii=False) + "\n").encode())
    say_written(o.output)
