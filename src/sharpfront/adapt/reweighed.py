"""A second look at a solution: the same functions, the same rows, other weights.

A resolved solution hardly depends on how rows are weighed against each other; where a corner or a
layer is not resolved, the solution is a compromise between them, and moves. The same factorisation
tells how far a residual of given size can carry the unknowns, and hence what is left undetermined.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh

from sharpfront.arrays import FloatArray
from sharpfront.estimate.space_error import change, size_of
from sharpfront.kernels.assemble import Block, LinearSystem
from sharpfront.kernels.basis import Basis
from sharpfront.leastsquares import LeastSquares
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation, split_weights

# Factor on the rows of the equations. Over 45 drawn systems and plates the solution then moved by
# 0.2 to 10 times its error, resolved or not; by 1e-2 of it with 1 / 100, and 100 times it with 1e4.
HEAVIER = 100.0
# Random right-hand sides whose solutions hold the weakest modes.
PROBES = 8
# Places at which modes are measured.
_PLACES = 400
# Unknowns with this share of the largest one take part in a mode.
_PART = 0.05


@dataclass(frozen=True, eq=False)
class SecondLook:
    """What other weights say of a solution."""

    moved: float  # the largest change of any unknown, relative to max(1, its size)
    # The residual of all rows as an error of the unknowns: its norm times the largest ratio of
    # unknowns to rows that was found.
    carried: float
    # That ratio in units of the rows, free of the unknowns' units: one over what the weakest mode
    # leaves in the rows.
    stability: float
    weakest: tuple[str, ...]  # the unknowns that take part in that mode


def second_look(
    problem: Problem,
    system: LinearSystem,
    method: LeastSquares,
    approximation: Approximation,
    points: FloatArray,
    seed: int,
) -> SecondLook:
    """Return what becomes of an approximation if the equations weigh more against conditions."""
    heavy = replace(system, blocks=tuple(_heavier(block) for block in system.blocks))
    factors = method.factor(heavy)
    bases = approximation.bases
    weights, _, facts = method.solve(factors, heavy.rhs)
    other = Approximation(problem.coordinates, bases, split_weights(weights, bases))
    moved = change(problem, approximation, other, points)
    random = np.random.default_rng(seed).standard_normal((len(heavy.rhs), PROBES))
    row_weights = np.concatenate([np.full(b.rows, b.weight) for b in heavy.blocks])
    modes = np.stack(
        [method.solve(factors, column / row_weights)[0] for column in random.T], axis=1
    )
    rows = np.vstack([b.weight * (b.padded(heavy.columns) @ modes) for b in heavy.blocks])
    values = _values(problem, bases, modes, seed)
    sizes = [size_of(approximation, unknown, points) for unknown in problem.unknowns]
    ratio, _ = _largest_ratio([v / s for v, s in zip(values, sizes, strict=True)], rows)
    units = _units(heavy, bases)
    stability, mode = _largest_ratio([v * u for v, u in zip(values, units, strict=True)], rows)
    parts = [
        float(np.sqrt(np.mean((v @ mode) ** 2)) * u) for v, u in zip(values, units, strict=True)
    ]
    weakest = tuple(
        name
        for name, part in zip(problem.unknowns, parts, strict=True)
        if part > _PART * max(parts)
    )
    return SecondLook(moved, ratio * facts.residual_norm, stability, weakest)


def _heavier(block: Block) -> Block:
    factor = HEAVIER if block.label == "equation" else 1.0
    return replace(block, weight=factor * block.weight)


def _values(
    problem: Problem, bases: Mapping[str, Basis], modes: FloatArray, seed: int
) -> list[FloatArray]:
    """Return each unknown's part of every mode at places in the domain, (places, modes)."""
    points = problem.domain.sample(_PLACES, "quasi", seed)
    found, start = [], 0
    for basis in bases.values():
        own = modes[start : start + basis.size]
        found.append(basis.matrix(points, (0,) * points.shape[1]) @ own)
        start += basis.size
    return found


def _largest_ratio(values: list[FloatArray], rows: FloatArray) -> tuple[float, FloatArray]:
    """Return the largest rms of values over norm of rows of any combination, and that one."""
    stacked = np.vstack(values) / np.sqrt(_PLACES)
    ratios, vectors = eigh(stacked.T @ stacked, rows.T @ rows)
    return float(np.sqrt(max(ratios[-1], 0.0))), np.asarray(vectors[:, -1])


def _units(system: LinearSystem, bases: Mapping[str, Basis]) -> list[float]:
    """Return what one unit of each unknown is in the rows, relative to the largest."""
    squares = sum(
        b.weight**2 * np.sum(b.padded(system.columns) ** 2, axis=0) for b in system.blocks
    )
    found, start = [], 0
    for basis in bases.values():
        found.append(float(np.sqrt(np.mean(squares[start : start + basis.size]))))
        start += basis.size
    return [f / max(found) for f in found]
