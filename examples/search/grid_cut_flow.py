r"""
An image cut in two: the flow that proves it
============================================

Label each pixel of an image, where neighbours that differ pay a price,

.. math:: \max_y \; \sum_p \theta_p(y_p) - \sum_{p \sim q} \lambda \, [y_p \ne y_q] .

For two labels this is a minimum cut: pixels are nodes between a source and a sink, and what a
labelling loses is what it cuts through. No cut is smaller than what can flow, and the largest flow
is exactly as large as the smallest cut: the flow *proves* that the labelling is the best.
"""

# %%
# A picture of 5 × 6 pixels with whole-numbered scores. ``Grid`` finds the best labels by one cut.

import numpy as np

from structlearn.structures import Grid

lead = np.array(  # how much a pixel prefers label 1
    [
        [-4, -3, -4, -2, -3, -4],
        [-3, 5, 4, 3, -2, -3],
        [-4, 4, -2, 5, 4, -2],
        [-2, -1, 6, 4, 3, -3],
        [-3, -4, -2, 2, -3, -4],
    ]
)
height, width = lead.shape
strength = 2
label = np.stack([np.zeros_like(lead), lead], axis=-1).astype(float)
best = Grid(method="cut").solve(label=label, potts_right=strength, potts_down=strength)
print(best.output)
print(f"score {best.value:g}, {best.method}, proven best: {best.exact}")

# %%
# The flow, by SciPy: a pixel that likes label 1 hangs on the source, one that likes 0 on the sink.
# All scores together would be had by a labelling that loses nothing; the flow is the loss.

from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_flow

pixel = np.arange(lead.size).reshape(lead.shape)
source, sink = lead.size, lead.size + 1
pairs = np.vstack(
    [
        np.column_stack([pixel[:, :-1].ravel(), pixel[:, 1:].ravel()]),
        np.column_stack([pixel[:-1].ravel(), pixel[1:].ravel()]),
    ]
)
likes = lead.ravel() > 0
arcs = [(a, b, strength) for a, b in pairs] + [(b, a, strength) for a, b in pairs]
arcs += [(source, p, lead.ravel()[p]) for p in np.flatnonzero(likes)]
arcs += [(p, sink, -lead.ravel()[p]) for p in np.flatnonzero(~likes)]
tail, head, room = np.array(arcs).T
graph = coo_array((room, (tail, head)), shape=(sink + 1, sink + 1), dtype=np.int32).tocsr()
found = maximum_flow(graph, source, sink)
most = np.maximum(lead, 0).sum()
print(f"{most} at most, minus the flow {found.flow_value} = {most - found.flow_value}")

# %%
# Flow between neighbours (arrows), and where it fills an edge. The cut runs through filled edges
# alone: nothing more can pass.

import matplotlib.pyplot as plt

RED = "#D55E00"
flow = found.flow.toarray()
_, ax = plt.subplots(figsize=(8, 6), layout="constrained")
for p, (i, j) in enumerate(np.ndindex(lead.shape)):
    inside = best.output[i, j] == 1
    box = plt.Rectangle(
        (j - 0.31, i - 0.31), 0.62, 0.62, fc="#FAE6BF" if inside else "#CFE3F2", ec="0.4", zorder=3
    )
    ax.add_patch(box)
    terminal = flow[source, p] + flow[p, sink]
    full = terminal == abs(lead[i, j])
    ax.text(
        j,
        i,
        f"{lead[i, j]:+d}\n{terminal}/{abs(lead[i, j])}",
        ha="center",
        va="center",
        fontsize=9,
        zorder=4,
        weight="normal" if full else "bold",
    )
for a, b in pairs:
    (i, j), (u, v) = np.unravel_index(a, lead.shape), np.unravel_index(b, lead.shape)
    amount = flow[a, b]
    if amount < 0:
        i, j, u, v, amount = u, v, i, j, -amount
    full = amount == strength
    middle = ((j + v) / 2, (i + u) / 2)
    if amount:
        ax.annotate(
            "",
            (j + 0.7 * (v - j), i + 0.7 * (u - i)),
            (j + 0.3 * (v - j), i + 0.3 * (u - i)),
            zorder=5,
            arrowprops={
                "arrowstyle": "-|>",
                "lw": 2.6 if full else 1.2,
                "color": "0" if full else "0.5",
            },
        )
    else:
        ax.plot([j, v], [i, u], color="0.85", lw=1, zorder=1)
    if best.output.ravel()[a] != best.output.ravel()[b]:
        dx, dy = abs(u - i) / 2, abs(v - j) / 2
        ax.plot(
            [middle[0] - dx, middle[0] + dx],
            [middle[1] - dy, middle[1] + dy],
            color=RED,
            lw=2.5,
            ls=(0, (4, 1.5)),
            zorder=6,
        )
handles = [
    plt.Rectangle((0, 0), 1, 1, fc="#FAE6BF", ec="0.4", label="label 1"),
    plt.Rectangle((0, 0), 1, 1, fc="#CFE3F2", ec="0.4", label="label 0"),
    plt.Line2D([], [], color="0.5", lw=1.2, marker=">", label="flow of 1"),
    plt.Line2D([], [], color="0", lw=2.6, marker=">", label="flow of 2: full"),
    plt.Line2D([], [], color=RED, lw=2.5, ls="--", label="cut between pixels"),
]
ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.01), ncols=5, frameon=False)
ax.set(
    title=f"in a pixel: its lead, and flow / room to source or sink; in all {found.flow_value}",
    xlim=(-0.5, width - 0.5),
    ylim=(height - 0.5, -0.5),
    aspect="equal",
)
ax.axis("off")
plt.show()
