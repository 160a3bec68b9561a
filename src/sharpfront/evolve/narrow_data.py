"""Elements short enough to see data that are narrow."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import OutcomeKind
from sharpfront.evolve.mesh import Mesher
from sharpfront.evolve.termination import StuckError
from sharpfront.trust.narrow_data_in_time import IntegralLook, Watch

# Halvings of an element.
HALVINGS = 40
# Looks that are kept: a step begins where the one before it ended, and may be tried again.
KEPT_LOOKS = 16


def attentive(
    mesher: Mesher, watches: Sequence[Watch], nodes: FloatArray, moments: Sequence[float]
) -> FloatArray:
    """Return nodes among which data at some moments are seen; of steady ones the first counts."""
    looks = [(w, _close_look(w, t)) for w in watches for t in (moments if w.timed else moments[:1])]
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


@lru_cache(maxsize=KEPT_LOOKS)
def _close_look(watch: Watch, t: float) -> IntegralLook:
    """Return what a close look shows at a moment."""
    return watch.look(t)
