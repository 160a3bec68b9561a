"""What a state begins with: values that constraints leave open, and rates from the equations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.evolve.collocation import Fields, Moments
from sharpfront.evolve.discretisation import Discrete
from sharpfront.pieces.frame import Frame

# Newton's iterations for what constraints determine, and where they end, relative to the values.
RATE_ITERATIONS, SETTLED = 20, 1e-11
# Share of the span over which rates of what is given are taken.
RATE_SPAN = 1e-7


def first_rates(discrete: Discrete, frame: Frame, values: FloatArray, t: float) -> FloatArray:
    """Return the rates of coefficients from the equations, by one linear solve.

    A row without a rate holds at all times, so that its own rate is zero.
    """
    span = discrete.system.span
    soon = RATE_SPAN * (span[1] - span[0])
    # What is given may jump at this very moment: its rate is that from right after it on.
    here = Moments(discrete, frame, t, soon * np.arange(3.0))
    fields = Fields(here, np.repeat(values[None], 3, axis=0), np.zeros((3, *values.shape)))
    now, first, second = fields.residual()
    held = _held(discrete, here)
    right = -np.where(held, (second - first) / soon, now)
    found = _rows_solved(fields, values, held, right)
    return np.zeros_like(values) if found is None else found


def consistent(discrete: Discrete, frame: Frame, values: FloatArray, t: float) -> FloatArray:
    """Return coefficients of which those of unknowns without a rate meet their equations."""
    return meeting(discrete, frame, values, t) if discrete.system.constrained else values


def meeting(discrete: Discrete, frame: Frame, values: FloatArray, t: float) -> FloatArray:
    """Return coefficients that meet rows without a rate, those of conditions among them.

    Where equations have rates unknowns stay as they are at the points where these hold.
    """
    here = Moments(discrete, frame, t, np.zeros(1))
    held = _held(discrete, here)
    for _ in range(RATE_ITERATIONS):
        fields = Fields(here, values[None], np.zeros_like(values)[None])
        change = _rows_solved(fields, values, held, np.where(held, -fields.residual()[0], 0.0))
        if change is None or not np.isfinite(change).all():
            break
        values = values + change
        if np.abs(change).max() <= SETTLED * max(1.0, float(np.abs(values).max())):
            break
    return values


def _held(discrete: Discrete, here: Moments) -> NDArray[np.bool_]:
    """Tell which rows hold no rate."""
    lay, ends = here.layout, [rows.without_rate() for rows in discrete.sides]
    inner = np.array(discrete.equations.without_rate())
    points = lay.elements * discrete.tables.points
    return np.concatenate(
        [np.array(ends[0], bool), np.tile(inner, points), np.array(ends[1], bool)]
    )


def _rows_solved(
    fields: Fields, values: FloatArray, held: NDArray[np.bool_], right: FloatArray
) -> FloatArray | None:
    """Return what solves rows of rates and, where there are none, of the unknowns themselves."""
    lay = fields.moments.layout
    bands = fields.bands(0)
    fields.set_ends(*bands, 0)
    mass, stiff = map(lay.matrix, bands)
    k = np.arange(lay.high)[:, None]
    row: Any = np.clip(k - lay.below - lay.above + np.arange(lay.size), 0, lay.size - 1)
    chosen = np.where(lay.placed(held.astype(float))[row] > 0, stiff, mass)
    try:
        found = lay.solved(lay.factored(np.asfortranarray(chosen)), lay.placed(right))
    except np.linalg.LinAlgError:
        return None
    return np.asarray(lay.taken(found).reshape(values.shape))
