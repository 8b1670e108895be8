"""The map of the source: folders in the order of the data flow."""

from __future__ import annotations

from html import escape

#: Folders with their inputs and outputs, from files to weights and back.
LAYERS = (
    ("text", "files → columns, feature templates"),
    ("features", "strings, dictionaries, arrays → feature rows"),
    ("scoring", "feature rows · weights → part scores θ"),
    ("structures", "θ → outputs, marginals, k-best, samples"),
    ("constraints", "structure + rules → structure"),
    ("losses", "θ, gold, cost → loss and gradient over parts"),
    ("problem", "examples, gold, cost: infer, scatter, dot, sqnorm"),
    ("learners", "problem → weights, with a proof"),
    ("models", "inputs, weights → every answer; ↔ files"),
    ("fitting", "parameters, learners by name, development sets, checkpoints"),
    ("estimators", "fit, predict, score: the scikit-learn interface"),
    ("io", "formats of files, ours and others'"),
    ("tasks", "taggers, parsers: file → model → file"),
    ("crfsuite", "python-crfsuite's interface"),
    ("distributed", "shards → one problem: several machines"),
)
#: Folders beside the flow, and the layers they touch.
BESIDE = (
    ("native", "the C++ core, in the same folders", 0, 8),
    ("metrics, plotting, drawing", "look at results; know no layer", 9, 12),
)


#: Prediction bypasses the layers between these two: answers go from the first to the second.
PREDICTION = (3, 8)


def source_map() -> str:
    """Draw the layers as boxes from top to bottom, with the folders beside them."""
    step, high, left, wide = 44, 34, 10, 480
    parts = [
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0,0L8,4L0,8z" class="tip"/></marker></defs>'
    ]
    for i, (name, what) in enumerate(LAYERS):
        y = 10 + step * i
        parts.append(
            f'<rect x="{left}" y="{y}" width="{wide}" height="{high}" rx="5" class="node"/>'
            f'<text x="{left + 12}" y="{y + 22}" class="strong begin">{name}</text>'
            f'<text x="{left + 116}" y="{y + 22}" class="small begin">{escape(what)}</text>'
        )
        if i + 1 < len(LAYERS):
            x = left + 50
            ends = f'x1="{x}" y1="{y + high}" x2="{x}" y2="{y + step - 1}"'
            parts.append(f'<line {ends} class="axis" marker-end="url(#tip)"/>')
    below, asks = (10 + step * i + high / 2 for i in PREDICTION)
    edge, aside = left + wide, left + wide + 18
    corners = f"{edge},{below:g} {aside},{below:g} {aside},{asks:g} {edge + 1},{asks:g}"
    middle = (below + asks) / 2
    parts.append(
        f'<polyline points="{corners}" class="axis" marker-end="url(#tip)"/>'
        f'<text transform="translate({aside + 14},{middle:g}) rotate(-90)" class="small">'
        "prediction</text>"
    )
    for name, what, first, last in BESIDE:
        y, bottom = 10 + step * first, 10 + step * last + high
        middle = (y + bottom) / 2
        parts.append(
            f'<rect x="533" y="{y}" width="145" height="{bottom - y}" rx="5" class="frame"/>'
            f'<foreignObject x="540" y="{middle - 50}" width="131" height="110">'
            f'<p xmlns="http://www.w3.org/1999/xhtml" class="beside"><b>{name}</b><br/>'
            f"{escape(what)}</p></foreignObject>"
        )
    height = 16 + step * len(LAYERS)
    return (
        f'<svg viewBox="0 0 688 {height}" role="img" style="max-width:730px" '
        'xmlns="http://www.w3.org/2000/svg"><title>The layers of the source, in the order in '
        f"which data flows through them</title>{''.join(parts)}</svg>"
    )
