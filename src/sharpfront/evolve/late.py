"""What a step's polynomials in time get wrong: during the step, and at its end.

Between the stages the polynomials leave a residual r that no stage sees. At the end of the step its
effect is far smaller than in between, for Radau's nodes let most of it cancel; but where errors
grow, it is what is left at the ends that grows. With P the projection on the conditions,

    R(t) = -int P M^-1 r ds,    M d' + J d = -J R,    e = R + d,

r is taken where it is largest, between the stages, and d comes from the factor of the step itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.linalg as sl
from numpy.polynomial import polynomial

from sharpfront.arrays import FloatArray
from sharpfront.evolve.quadrature_table import place
from sharpfront.evolve.slab import (
    ConditionRow,
    Solved,
    Stages,
    coefficients,
    condition_rows,
    leaves_at,
    residual_of,
)
from sharpfront.pieces.radau import STAGES, differentiation, interpolation, legendre, stage_nodes

# Coefficients in time are taken to fall by a factor between these.
LEAST_FALL, MOST_FALL = 0.1, 0.9


def during(weights: FloatArray, table: FloatArray, scale: FloatArray) -> float:
    """Return what the polynomials in time leave out: the sum of the coefficients not there.

    They fall like powers; how fast is seen in the last two that are there.
    """
    last = np.einsum("cj,jmk->cmk", legendre(STAGES)[-2:], weights)
    fourth, fifth = np.abs(last @ table.T).max(axis=2) / scale
    fall = np.clip(fifth / np.maximum(fourth, 1e-300), LEAST_FALL, MOST_FALL)
    return float(np.max(fifth * fall / (1.0 - fall)))


def at_end(stages: Stages, solved: Solved) -> FloatArray:
    """Return the error at the end of a solved slab that comes from time, on its kernels, (m, K).

    For u_t = z u over one step it is 1.6 to 1.9 times the truth for z from -5 to 4, and where z is
    far below that, less than the error during the step.
    """
    between = _between(stages)
    rates = _residual_rates(between, solved.weights)
    shift = stages.motion.dt * np.einsum("ij,jmk->imk", _integrals(), rates)
    start, levels = solved.weights[0], solved.weights[1:]
    forces = np.zeros((stages.count, len(stages.system.conditions)))
    # The rates of the weights stay what they are: only the part without them is wanted.
    still = np.einsum("ij,jmk->imk", stages.rates, solved.weights)
    before, after = (_tested(stages, at, still, forces) for at in (levels, levels + shift))
    change = sl.lu_solve(solved.factor, (before - after).ravel(), check_finite=False)
    change = change.reshape(stages.count, -1)[-1, : start.size]
    return np.asarray(shift[-1] + change.reshape(start.shape))


def _tested(
    stages: Stages, levels: FloatArray, rates: FloatArray, forces: FloatArray
) -> FloatArray:
    system, room, moments = stages.system, stages.room, stages.moments
    inside = leaves_at(system, room.inner, stages.inside, moments, levels, rates)
    ends = leaves_at(system, room.ends, stages.ends, moments, levels, rates)
    return residual_of(stages, inside, condition_rows(stages, ends), forces)


def _between(stages: Stages) -> Stages:
    """Return the equations of a slab at the moments between its stages."""
    motion, room = stages.motion, stages.room
    shares = _middles()
    moments = motion.times[0] + motion.dt * shares
    rates = interpolation(shares) @ differentiation(STAGES) / motion.dt
    inside = place(motion, moments, room.points, room.order)
    ends = place(motion, moments, np.array([0.0, 1.0]), room.order)
    return Stages(stages.system, room, motion, moments, rates, inside, ends)


def _residual_rates(between: Stages, weights: FloatArray) -> FloatArray:
    """Return -P M^-1 r between the stages, (moments, m, K)."""
    system, room = between.system, between.room
    levels = np.einsum("sj,jmk->smk", interpolation(_middles()), weights)
    rates = np.einsum("sj,jmk->smk", between.rates, weights)
    inside = leaves_at(system, room.inner, between.inside, between.moments, levels, rates)
    ends = leaves_at(system, room.ends, between.ends, between.moments, levels, rates)
    rows = condition_rows(between, ends)
    systems = [_mass_system(m, rows, j) for j, m in enumerate(_masses(between, inside))]
    split = levels[0].size
    # The state is made to meet the conditions first: they hold at the stages only.
    missed = np.zeros((between.count, split + len(rows)))
    for i, row in enumerate(rows):
        missed[:, split + i] = -row.values * ~_in_rates(row)
    met = np.stack([_solved(s, b)[:split] for s, b in zip(systems, missed, strict=True)])
    levels = levels + met.reshape(levels.shape)
    inside = leaves_at(system, room.inner, between.inside, between.moments, levels, rates)
    left = residual_of(between, inside, rows, np.zeros((between.count, len(rows))))
    left[:, split:] = 0.0
    found = np.stack([_solved(s, -b)[:split] for s, b in zip(systems, left, strict=True)])
    return found.reshape(levels.shape)


def _masses(between: Stages, leaves: dict[tuple[object, ...], FloatArray]) -> FloatArray:
    """Return the mass matrix at each moment, (moments, m K, m K)."""
    room, names = between.room, between.system.names
    k, tested = room.size, room.inner[0]
    measure = room.weights / between.inside.slope
    out = np.zeros((between.count, len(names) * k, len(names) * k))
    for i, equation in enumerate(between.system.equations):
        rate = coefficients(equation, names, leaves, between.inside, room.order)[1]
        for v, factor in rate.items():
            for j in range(between.count):
                block = tested.T @ ((measure[j] * factor[j])[:, None] * tested)
                out[j, i * k : (i + 1) * k, v * k : (v + 1) * k] = block
    return out


def _in_rates(row: ConditionRow) -> bool:
    return bool(np.any(row.rate))


def _mass_system(mass: FloatArray, rows: Sequence[ConditionRow], moment: int) -> Any:
    """Return the factor of the mass matrix bordered by the conditions."""
    split = len(mass)
    full = np.zeros((split + len(rows), split + len(rows)))
    full[:split, :split] = mass
    for i, row in enumerate(rows):
        full[:split, split + i] = row.now[moment]
        full[split + i, :split] = (row.rate if _in_rates(row) else row.now)[moment]
    return sl.lu_factor(full, check_finite=False, overwrite_a=True)


def _solved(factor: Any, right: FloatArray) -> FloatArray:
    return np.asarray(sl.lu_solve(factor, right, check_finite=False))


@lru_cache
def _middles() -> FloatArray:
    """Return the places between the stages where prod_j (s - c_j) is largest."""
    nodal = polynomial.polyfromroots(stage_nodes(STAGES))
    return np.sort(polynomial.polyroots(polynomial.polyder(nodal)).real)


@lru_cache
def _integrals() -> FloatArray:
    """Return the matrix from values between the stages to integrals up to the stages.

    Of the polynomial that has these values and vanishes at the stages.
    """
    nodal, places = polynomial.polyfromroots(stage_nodes(STAGES)), _middles()
    columns = []
    for j, place_ in enumerate(places):
        own = polynomial.polymul(nodal, polynomial.polyfromroots(np.delete(places, j)))
        integral = polynomial.polyint(own / polynomial.polyval(place_, own))
        columns.append(polynomial.polyval(stage_nodes(STAGES), integral))
    return np.stack(columns, axis=1)
