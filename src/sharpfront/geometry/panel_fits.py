"""Curves as panels: polynomials of a parameter, halved until they are exact."""

from __future__ import annotations

import math

import numpy as np
from numpy.polynomial import chebyshev

from sharpfront.arrays import Flags
from sharpfront.geometry.curves import Curve, Cut, Segment
from sharpfront.geometry.domain import Points
from sharpfront.geometry.levelset import LevelCurve

# Points that a panel's polynomial passes through.
NODES = 21
# A panel turns by no more than this, in radians: an eighth of a circle.
TURN = 0.8
# Weights that are smaller than this share of the panel are rounding, where formulas give the curve:
# with a tenth strips along it were lost, with ten times a wavy front took twice the time. Those of
# a curve through a cloud of points never are, and it is halved no more than so often.
FORMULA, HALVINGS = 1e-13, 12
# A closed curve begins with so many panels, what is cut from it with its share of them: half of one
# has no chord to speak of.
FIRST = 8
# The parameters of these points.
PARAMETERS = -np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
_TABLE = chebyshev.chebvander(PARAMETERS, NODES - 1)
_TO_WEIGHTS = np.linalg.inv(_TABLE)
_MIDDLE = chebyshev.chebvander(np.zeros(1), NODES - 2)[0]


def weights_of(values: Points) -> Points:
    """Return the weights of polynomials through values at `PARAMETERS`, (n, NODES, 2)."""
    return np.asarray(np.einsum("kj,njd->nkd", _TO_WEIGHTS, values))


def _whole(curve: Curve) -> Curve:
    """Return the curve that a stretch was cut from."""
    while isinstance(curve, Cut):
        curve = curve.curve
    return curve


def panels_of(curve: Curve) -> tuple[Points, Points]:
    """Return the weights of a curve's panels, and which side of each is outside."""
    whole = _whole(curve)
    if isinstance(whole, Segment):
        return _straight(curve)
    count = max(1, math.ceil(FIRST * curve.measure / whole.measure))
    ends = np.linspace(0.0, curve.measure, count + 1)
    low, high = ends[:-1], ends[1:]
    done: list[tuple[Points, Points, Points]] = []
    for left in range(HALVINGS, -1, -1):
        weights, fine = _interpolated(curve, low, high)
        fine |= left == 0
        done.append((low[fine], high[fine], weights[fine]))
        low, high = low[~fine], high[~fine]
        if not len(low):
            break
        middle = 0.5 * (low + high)
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
    low, high, weights = (np.concatenate(each) for each in zip(*done, strict=True))
    order = np.argsort(low)
    low, high, weights = low[order], high[order], weights[order]
    normals = curve.at(0.5 * (low + high)).normals
    along = np.einsum("k,nkd->nd", _MIDDLE, chebyshev.chebder(weights, axis=1))
    return weights, _outside(normals, along)


def _straight(curve: Curve) -> tuple[Points, Points]:
    """Return the same for a piece of a line, which is one panel with two weights."""
    ends = curve.at(np.array([0.0, curve.measure]))
    start, stop = ends.points
    weights = np.zeros((1, NODES, 2))
    weights[0, :2] = 0.5 * (start + stop), 0.5 * (stop - start)
    return weights, _outside(ends.normals[:1], weights[:, 1])


def _outside(normals: Points, along: Points) -> Points:
    """Return which side of ways along a boundary its normals are on, 1 for the right, (n,)."""
    across = normals[:, 0] * along[:, 1] - normals[:, 1] * along[:, 0]
    return np.where(across > 0, 1.0, -1.0)


def _interpolated(curve: Curve, low: Points, high: Points) -> tuple[Points, Flags]:
    """Return polynomials between arc lengths, (n, NODES, 2), and which of them need no halving."""
    whole, share = _whole(curve), 0.5 * (PARAMETERS + 1.0)
    if isinstance(whole, LevelCurve):
        # Pushed onto the curve from its chord: arc lengths of a polygon are not smooth.
        start, stop = (curve.at(end).points[:, None] for end in (low, high))
        on_chords = start + share[:, None] * (stop - start)
        points = whole.region.onto(on_chords.reshape(-1, 2)).points
    else:
        points = curve.at((low[:, None] + share * (high - low)[:, None]).ravel()).points
    points = points.reshape(len(low), NODES, 2)
    weights = weights_of(points)
    size = np.linalg.norm(points[:, -1] - points[:, 0], axis=1)
    rounding = np.maximum(FORMULA * size, 4e-16 * np.abs(points).max())
    smooth = np.abs(weights[:, -2:]).max(axis=(1, 2)) <= rounding
    along = np.einsum("jk,nkd->njd", _TABLE[:, :-1], chebyshev.chebder(weights, axis=1))
    angles = np.unwrap(np.arctan2(along[..., 1], along[..., 0]), axis=1)
    return weights, smooth & (np.abs(np.diff(angles, axis=1)).sum(axis=1) <= TURN)
