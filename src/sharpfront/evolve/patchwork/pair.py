"""How far apart two runs on patches are during a step."""

from __future__ import annotations

import numpy as np

from sharpfront.evolve.pair import moments_compared
from sharpfront.evolve.patchwork.places import During, inner_places
from sharpfront.evolve.patchwork.run import PatchStep


def difference_on_patches(taken: PatchStep, others: list[PatchStep], since: float) -> float:
    """Return the largest difference during a step, at the points of its patches.

    Runs began at `since`: during the first step they are compared more often.
    """
    dt, stops = taken.stop - taken.start, np.array([o.stop for o in others])
    first = taken.start <= since
    t = moments_compared(taken.start, dt, taken.stop, stops.tolist(), first)
    places = inner_places(taken.basis)
    worst = 0.0
    for moment in t:
        other = others[min(int(np.searchsorted(stops, moment)), len(others) - 1)]
        own = places.values(taken.at(moment), (0, 0))
        points = During(places, taken.frame, np.array([moment])).points
        gaps = np.abs(own - other.seen(points, moment)).max(axis=1) / taken.after.scale
        worst = max(worst, float(gaps.max()))
    return worst
