"""Whether a problem begins with a straight front across the axes of its box, and which way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import TIME, Coordinate
from sharpfront.equation.graph import ordered
from sharpfront.evolve.patchwork.run import PatchRun
from sharpfront.evolve.patchwork.settings import MARCH
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.evolve.termination import StuckError
from sharpfront.geometry import Box
from sharpfront.place.patches.refine import functions_of
from sharpfront.place.tiling.leaning import leaning_tiling

# Nodes along an axis of the grid on which values are passed, and halvings of what lies between two.
NODES, HALVINGS = 65, 40
# Levels at which a front is looked at, as shares of the range.
LEVELS = (0.25, 0.5, 0.75)
# A front is straight if places on one level are off a line by this share of its length at most, and
# levels by this angle; one along an axis is left to boxes.
STRAIGHT, ALONG_AXIS = 1e-3, 0.02
# The first level and the last are no further apart than this share of the box: what is wider
# changes little until it has passed: patches that stay, or products, take fewer steps.
THIN = 0.01
# Patches along a front are taken where boxes have more functions than so many times theirs.
GAIN_IN_FUNCTIONS = 2.0


def along_front(run: PatchRun) -> PatchRun | None:
    """Return a run on patches along the straight front it begins with; None where that is no gain.

    Gain is told by how many functions hold the start on such patches, and on boxes.
    """
    normal = front_normal(run.system) if run.follows and _is_of_second_order(run.system) else None
    domain = run.system.problem.domain
    if normal is None or not isinstance(domain, Box):
        return None
    small = MARCH.space * run.tol

    def wanted(points: FloatArray) -> FloatArray:
        first = run.system.initial(points)[0]
        return np.asarray(first / (small * np.maximum(1.0, np.abs(first).max())))

    tiling = leaning_tiling(domain, normal)
    leaning = replace(run, meshing=replace(run.meshing, tiling=tiling))
    try:
        count = functions_of(leaning.meshing.holding(wanted))
    except StuckError:
        return None
    most = int(GAIN_IN_FUNCTIONS * count)
    try:
        boxes = functions_of(replace(run.meshing, most=most).holding(wanted))
    except StuckError:
        return leaning
    return leaning if boxes > most else None


def _is_of_second_order(system: PlaneSystem) -> bool:
    """Tell whether no derivative is beyond the second: patches that go along bend evenly so far."""
    every = [*system.equations, *(r for own in system.conditions for r in own)]
    return all(sum(orders) <= 2 for orders in system.derivatives(every))


def front_normal(system: PlaneSystem) -> FloatArray | None:
    """Return the normal of the straight front that unknowns begin with, (2,); None if none does."""
    box = system.problem.domain
    if not isinstance(box, Box) or any(box.periodic_axes) or _is_timed(system):
        return None
    found = []
    for k in range(len(system.unknowns)):

        def state(points: FloatArray, k: int = k) -> FloatArray:
            return np.asarray(system.initial(points)[0, k])

        own = _normal_of(state, box.bounds)
        if own is not None:
            found.append(own)
    if not found or any(_turned(found[0], own) > STRAIGHT for own in found):
        return None
    return found[0] if np.abs(found[0]).min() > ALONG_AXIS else None


def _is_timed(system: PlaneSystem) -> bool:
    """Tell whether time stands in an equation: a source goes with the front, all over the box."""
    return any(
        isinstance(node, Coordinate) and node.name == TIME
        for equation in system.equations
        for node in ordered(equation.expression)
    )


def _turned(one: FloatArray, other: FloatArray) -> float:
    return abs(float(one[0] * other[1] - one[1] * other[0]))


def _normal_of(state: Callable[[FloatArray], FloatArray], bounds: FloatArray) -> FloatArray | None:
    """Return the normal that all levels of a state have; None where they bend or differ."""
    axes = [np.linspace(low, high, NODES) for low, high in bounds.T]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    values = state(nodes.reshape(-1, 2)).reshape(NODES, NODES)
    low, high = float(values.min()), float(values.max())
    if not high > low:
        return None
    normals, middles = [], []
    for share in LEVELS:
        places = _on_level(state, nodes, values - (low + share * (high - low)), low, high, share)
        if len(places) < 2:
            return None
        middles.append(places.mean(axis=0))
        away = places - middles[-1]
        _, sizes, ways = np.linalg.svd(away, full_matrices=False)
        off = np.abs(away @ ways[1]).max()
        if sizes[0] == 0.0 or off > STRAIGHT * np.ptp(away @ ways[0]):
            return None
        normals.append(ways[1] * (1.0 if ways[1].sum() >= 0 else -1.0))
    width = abs(float((middles[-1] - middles[0]) @ normals[0]))
    if width > THIN * float(np.abs(np.ptp(bounds, axis=0) @ normals[0])):
        return None
    return None if any(_turned(normals[0], own) > STRAIGHT for own in normals) else normals[0]


def _on_level(
    state: Callable[[FloatArray], FloatArray],
    nodes: FloatArray,
    above: FloatArray,
    low: float,
    high: float,
    share: float,
) -> FloatArray:
    """Return where a state passes a level between nodes of a grid, (m, 2)."""
    level = low + share * (high - low)
    first, last = [], []
    for axis in range(2):
        begin, end = (np.delete(nodes, at, axis=axis) for at in (-1, 0))
        under, over = (np.delete(above, at, axis=axis) for at in (-1, 0))
        passed = under * over < 0
        rises = (under < 0)[passed, None]
        first.append(np.where(rises, begin[passed], end[passed]))
        last.append(np.where(rises, end[passed], begin[passed]))
    a, b = np.concatenate(first), np.concatenate(last)
    if not len(a):
        return a
    for _ in range(HALVINGS):
        middle = 0.5 * (a + b)
        below = (state(middle) < level)[:, None]
        a, b = np.where(below, middle, a), np.where(below, b, middle)
    return np.asarray(0.5 * (a + b))
