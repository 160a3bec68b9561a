"""Elements short enough to see data that are narrow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import OutcomeKind
from sharpfront.evolve.ending import StuckError
from sharpfront.evolve.mesh import Mesher
from sharpfront.trust.integrals import Watch

# Halvings of an element.
HALVINGS = 40
# Shares of the coming step at which its data are looked at.
STEP_AHEAD = (1e-9, 0.5, 1.0)


def attentive(
    mesher: Mesher, watches: Sequence[Watch], nodes: FloatArray, t: float, ahead: float
) -> FloatArray:
    """Return nodes among which the data of a step of length `ahead` from t on are seen."""
    looks = [
        (w, w.look(t + s * ahead))
        for w in watches
        for s in (STEP_AHEAD if w.timed else STEP_AHEAD[:1])
    ]
    for _ in range(HALVINGS):
        bad = np.zeros(len(nodes) - 1, dtype=bool)
        for watch, look in looks:
            bad |= watch.missed(mesher.tables, nodes, look)
        if not bad.any():
            return nodes
        if len(nodes) + int(bad.sum()) > mesher.most:
            break
        middles = 0.5 * (nodes[1:] + nodes[:-1])[bad]
        nodes = np.insert(nodes, np.flatnonzero(bad) + 1, middles)
    where = float(nodes[int(np.argmax(bad))])
    size = (len(nodes) - 1) * mesher.tables.points
    words = f"{size} kernels do not see data that vary near x = {where:.4g}"
    raise StuckError(words, OutcomeKind.KERNEL_LIMIT)
