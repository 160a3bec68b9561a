"""Places at which a solution is tabulated: as close together as its kernels are."""

from __future__ import annotations

from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray, to_host
from sharpfront.patches_in_time import PatchworkInTime
from sharpfront.pieces.slabs import SlabBasis
from sharpfront.pieces.tensor import TensorBasis
from sharpfront.plot.section import Kernels

# Every other place is an even one, in case that kernels are rare somewhere.
_EVEN_SHARE = 2


def centres_of(basis: Any) -> FloatArray:
    """Return the centres of a basis, (n, d); none where it does not say where they are."""
    centres = getattr(basis, "centres", np.zeros((0, basis.dimension)))
    return np.asarray(to_host(centres), dtype=float)


def graded_axis(basis: Any, axis: int, bounds: FloatArray, count: int) -> FloatArray:
    """Return up to `count` increasing places along an axis with both ends, dense like kernels."""
    low, high = bounds[:, axis]
    shares = np.linspace(0.0, 1.0, count)
    if isinstance(basis, TensorBasis):
        inner = basis.axes[axis].coordinate.invert(shares[1:-1]).x
    else:
        inner = shared_places(centres_of(basis)[:, axis], (low, high), count - 2)
    return np.unique(np.concatenate([[low], np.clip(inner, low, high), [high]]))


def shared_places(centres: FloatArray, ends: tuple[float, float], count: int) -> FloatArray:
    """Return places between two ends, half of them even and half at quantiles of the centres."""
    low, high = ends
    shares = np.linspace(0.0, 1.0, count + 2)
    inside = np.clip(centres, low, high)
    graded = np.quantile(inside, shares[1:-1:_EVEN_SHARE]) if len(inside) else np.zeros(0)
    return np.concatenate([low + (high - low) * shares[_EVEN_SHARE:-1:_EVEN_SHARE], graded])


def kernels_at(basis: Any, t: float) -> Kernels | None:
    """Return the functions at a moment; None for a basis that does not tell.

    Those of an element or a patch stand at its Gauss points, as wide as they are apart.
    """
    if isinstance(basis, PatchworkInTime):
        part = basis.part_at(t)
        return Kernels(part.centres, part.covariances)
    if not isinstance(basis, SlabBasis):
        return None
    frame = basis.slab_at(t).at(t)
    points = frame.tables.points
    centres = frame.positions[0].T.ravel()
    widths = np.repeat(frame.lengths[0] / points, points)
    if frame.ring:
        low = _first_node(basis)
        centres = low + np.mod(centres - low, frame.nodes[-1] - frame.nodes[0])
    order = np.argsort(centres)
    return Kernels(centres[order, None], widths[order, None, None] ** 2)


def _first_node(basis: SlabBasis) -> float:
    """Return where a ring begins: before any step nodes had not moved."""
    return float(basis.slabs[0].frame.nodes[0])


def graded_line(kernels: Kernels, ends: tuple[float, float], most: int) -> FloatArray:
    """Return about `most` increasing places on a line, both ends among them.

    Even ones, kernels' centres and some between each two.
    """
    low, high = ends
    centres = kernels.centres[:, 0]
    centres = np.unique(np.concatenate([[low, high], centres[(centres > low) & (centres < high)]]))
    steps = max(1, min(8, (2 * most // 3) // len(centres)))
    graded = centres[:-1, None] + np.diff(centres)[:, None] * np.arange(steps) / steps
    even = np.linspace(low, high, max(2, most // 3))
    places = np.unique(np.concatenate([even, graded.ravel(), [high]]))
    thin = max(1, -(-len(places) // most))
    return np.unique(np.concatenate([places[::thin], [high]]))
