"""How far apart two runs on a line are during a step."""

from __future__ import annotations

import numpy as np

from sharpfront.evolve.pair import moments_compared
from sharpfront.evolve.run import Taken

# Places in an element at which the runs are compared.
_PLACES = np.array([[0.0], [0.35], [0.7], [1.0]])


def difference_on_line(taken: Taken, others: list[Taken], stated: int) -> float:
    """Return the largest difference of the stated unknowns during a step."""
    slab, frame = taken.slab, taken.slab.frame
    stops = [o.stop for o in others]
    t = moments_compared(slab.start, slab.dt, slab.stop, stops, taken.first)
    later = t - slab.start
    nodes = frame.nodes + later[:, None] * frame.velocities
    x = nodes[:, None, :-1] + (nodes[:, 1:] - nodes[:, :-1])[:, None] * _PLACES
    if not frame.ring:
        np.clip(x, frame.nodes[0], frame.nodes[-1], out=x)
    own = taken.local(t, later)
    # Places, unknowns, moments, elements.
    mine = frame.tables.table(_PLACES[:, 0], 0) @ own.reshape(len(own), -1)
    mine = mine.reshape(-1, *own.shape[1:])[:, :stated]
    unit, worst, first = taken.after.scale[:stated], 0.0, 0
    for other, last in zip(others, np.searchsorted(t, stops, "right").tolist(), strict=True):
        if first < last:
            here = slice(first, last)
            apart = mine[:, :, here] - other.over(x[here], t[here])[:, :stated]
            size = np.abs(apart, out=apart).max(axis=(0, 2, 3))
            worst, first = max(worst, float((size / unit).max())), last
    return worst
