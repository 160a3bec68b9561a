"""What a step in time does not see: the residual of its solution at moments between its stages.

Between stages the residual of a good step is a polynomial: what it is at the stages, interpolated,
plus what vanishes at all of them, prod(s - c_j) (a + b s). What is left of it at other moments has
another cause: data that jump, or are there for a moment only, or a state that crosses an edge.
Put into the error equation by itself it says how far off the step may be.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.radau import STAGES, stage_nodes

# Moments of each step at which it is looked at.
MOMENTS = 8
# A moment at which data jump is known to so many of the shortest differences between moments.
KNOWN_TO = 16
# Where the sequence of moments starts: off every even share of the span.
_SHIFT = 0.6180339887498949


def moments_between(begin: float, end: float, count: int = MOMENTS) -> FloatArray:
    """Return shares of the span at which a step from one share to another is looked at, sorted.

    They are the first of one sequence for all steps (van der Corput's, shifted) that fall into it.
    A moment at which something was seen is looked at again in every shorter step over it.
    """
    level = max(1, math.ceil(math.log2(count / (end - begin))) + 1)
    first = math.floor((begin - _SHIFT) * 2**level) + 1
    numbers = range(first, math.ceil((end - _SHIFT) * 2**level))
    order = sorted(numbers, key=lambda k: int(f"{k % 2**level:0{level}b}"[::-1], 2))[:count]
    return np.array(sorted(_SHIFT + k / 2**level for k in order))


def between(begin: float, end: float, span: tuple[float, float]) -> FloatArray:
    """Return the moments at which a step is looked at, as shares of it.

    None is so close to its ends that a jump there may be on its other side, to rounding.
    """
    first, last = ((t - span[0]) / (span[1] - span[0]) for t in (begin, end))
    found = (moments_between(first, last) - first) / (last - first)
    away = np.minimum(found, 1.0 - found) * (end - begin)
    return np.asarray(found[away > KNOWN_TO * math.ulp(max(abs(begin), abs(end)))])


def shares(s: FloatArray) -> FloatArray:
    """Return the part of a step that each of its moments stands for."""
    return np.diff(np.concatenate([[0.0], 0.5 * (s[1:] + s[:-1]), [1.0]]))


def left_over(s: FloatArray, values: FloatArray, stages: int = STAGES) -> FloatArray:
    """Return what values at the stages, and at other moments after them, have beyond a step's own.

    (moments, n) from (stages + moments, n).
    """
    between = s[stages:]
    lagrange = np.vander(between, stages, increasing=True) @ _from_stages(stages)
    product = np.prod(between[:, None] - stage_nodes(stages), axis=1)
    own, _ = np.linalg.qr(product[:, None] * np.stack([np.ones_like(between), between], axis=1))
    beyond = np.eye(len(between)) - own @ own.T
    return np.asarray(np.concatenate([-beyond @ lagrange, beyond], axis=1) @ values)


@cache
def _from_stages(stages: int) -> FloatArray:
    """Return the matrix from values at the stages to coefficients of powers."""
    powers = np.vander(stage_nodes(stages), stages, increasing=True)
    return np.asarray(np.linalg.inv(powers), dtype=float)
