"""Soft modes: motions that the rows hardly feel, and that a poor fit holds back.

A slender beam bends by thousands of times what a load does locally. Least squares trades the load's
rows for what is left at the corners where it is clamped: as long as that is more than the load, the
beam hardly bends, its weights at those corners are small, and nothing asks for cuts there. So a
smooth load on the equations is solved for beside the problem's own data. Its solution is mostly the
softest mode. While it grows from solve to solve, patches are cut where it is not resolved, as they
are for the solution itself. With r left of a mode of size one and 1/G what a load that bends it by
one leaves, a fit has 1 / (1 + (G r)^2) of the mode: weights of sqrt(tol) / G are small enough.
"""

from __future__ import annotations

import numpy as np

from sharpfront.adapt.patchwork.certify import noise_in
from sharpfront.adapt.patchwork.comparison import compared_values
from sharpfront.adapt.patchwork.settings import ADAPT
from sharpfront.adapt.patchwork.state import PatchState, corner_flags, tolerance_of
from sharpfront.adapt.patchwork.system import patch_system
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.leastsquares.traces import Tree
from sharpfront.place.patches.tails import SoftMode, tails_of
from sharpfront.rounding import CANCELLED
from sharpfront.solution.approximation import Approximation, split_weights


def soft_mode(
    state: PatchState, approximation: Approximation, moving: bool, method: Tree
) -> SoftMode | None:
    """Return the softest mode from the last solve on the state's cells; None where none is soft.

    While the solution is `moving`, far from the one before, the mode may still be held back.
    """
    rows = state.rows
    probed = probes_of(state, method) if rows.measure.loaded else []
    if not probed:
        return None
    noise, load = probed
    grown = noise_in(noise, rows)
    sizes = np.abs(compared_values(load)).max(axis=1)
    # What counts like a slope, such as a pressure, has another unit.
    smooth = np.array([rows.rough[u] == 0 for u in rows.unknowns])
    size = float(sizes[smooth].max())
    # A Poisson problem bends by an eighth of what its load does over all its extent at most.
    if not size > rows.measure.load_effect or not np.isfinite(size * grown):
        return None
    tol = tolerance_of(state, approximation)
    largest = max(state.tol, float(np.abs(compared_values(approximation)).max()))
    share = tol / largest
    # Of a solution below one tolerances are no shares: a beam that bends by 1e-5 may lose more.
    aim = float(np.sqrt(tol / min(1.0, largest) * min(1.0, state.aim / tol))) / grown
    scales = np.where(smooth, size, np.inf).tolist()
    every = [np.ones(len(state.cells))] * len(rows.unknowns)
    tails = tails_of(load, scales, aim, every, corner_flags(state))
    aim = max(CANCELLED, aim, ADAPT.at_once * float(tails.tail.max()))
    # The last cells are assessed again, and by themselves do not grow.
    grows = moving or abs(size - state.softness) > ADAPT.moving * share * size
    grows = grows or (state.final and state.growing)
    return SoftMode(tails_of(load, scales, aim, every, corner_flags(state)), aim, size, grows)


def probes_of(state: PatchState, method: Tree) -> list[Approximation]:
    """Return what the last solve on the state's cells made of its probes: noise, and a load if any.

    None of them if it was not solved last.
    """
    rows, patches = state.rows, tuple(c.patch for c in state.cells)
    system = patch_system(rows, state.tiling, patches)
    found = method.recalled(system)
    if found is None:
        return []
    bases = dict.fromkeys(rows.unknowns, PatchworkBasis(patches, shared=rows.functions))
    return [
        Approximation(rows.problem.coordinates, bases, split_weights(column, bases))
        for column in system.weights(found).T[1:]
    ]
