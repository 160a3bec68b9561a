"""Whether a problem begins with a thin straight front across the axes of its box."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import TIME, Coordinate
from sharpfront.equation.graph import ordered
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.geometry import Domain
from sharpfront.problem import Problem
from sharpfront.rounding import BISECTIONS

# Nodes along an axis of the grid on which values are passed.
NODES = 65
# Levels at which a front is looked at, as shares of the range.
LEVELS = (0.25, 0.5, 0.75)
# A front is straight if places on one level are off a line by this share of its length at most, and
# levels by this angle; one along an axis is left to boxes.
STRAIGHT, ALONG_AXIS = 1e-3, 0.02
# The first level and the last are no further apart than this share of the box: what is wider
# changes little until it has passed: patches that stay, or products, take fewer steps.
THIN = 0.01


class StartingFront(NamedTuple):
    """A front that unknowns begin with: its box, its normal, (2,), and places on it, (m, 2)."""

    box: Domain
    normal: FloatArray
    places: FloatArray


def begins_with_front(problem: Problem) -> bool:
    """Tell whether unknowns begin with a front that patches go along with."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return starting_front(PlaneSystem(problem)) is not None


def starting_front(system: PlaneSystem) -> StartingFront | None:
    """Return the straight front that unknowns begin with; None if none does.

    Patches along it go along with it. They bend evenly up to second derivatives, and where rates
    stand alone.
    """
    box = system.problem.domain
    every = [*system.equations, *(r for own in system.conditions for r in own)]
    known = all(sum(orders) <= 2 for orders in system.derivatives(every))
    if not box.is_box or any(box.periodic_axes) or not known or max(system.orders) > 1:
        return None
    if _is_timed(system):
        return None
    found = []
    for k in range(len(system.unknowns)):

        def state(points: FloatArray, k: int = k) -> FloatArray:
            return np.asarray(system.initial(points)[0, k])

        own = _front_of(state, box)
        if own is not None:
            found.append(own)
    if not found or any(_turned(found[0].normal, own.normal) > STRAIGHT for own in found):
        return None
    if np.abs(found[0].normal).min() < ALONG_AXIS:
        return None
    return StartingFront(box, found[0].normal, np.concatenate([own.places for own in found]))


def _is_timed(system: PlaneSystem) -> bool:
    """Tell whether time stands in an equation: a source goes with the front, all over the box."""
    return any(
        isinstance(node, Coordinate) and node.name == TIME
        for equation in system.equations
        for node in ordered(equation.expression)
    )


def _turned(one: FloatArray, other: FloatArray) -> float:
    return abs(float(one[0] * other[1] - one[1] * other[0]))


def _front_of(state: Callable[[FloatArray], FloatArray], box: Domain) -> StartingFront | None:
    """Return the normal that all levels of a state have; None where they bend or differ."""
    bounds = box.bounds
    axes = [np.linspace(low, high, NODES) for low, high in bounds.T]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    values = state(nodes.reshape(-1, 2)).reshape(NODES, NODES)
    low, high = float(values.min()), float(values.max())
    if not high > low:
        return None
    normals, levels = [], []
    for share in LEVELS:
        places = _on_level(state, nodes, values, low + share * (high - low))
        if len(places) < 2:
            return None
        levels.append(places)
        away = places - places.mean(axis=0)
        _, sizes, ways = np.linalg.svd(away, full_matrices=False)
        off = np.abs(away @ ways[1]).max()
        if sizes[0] == 0.0 or off > STRAIGHT * np.ptp(away @ ways[0]):
            return None
        normals.append(ways[1] * (1.0 if ways[1].sum() >= 0 else -1.0))
    width = abs(float((levels[-1].mean(axis=0) - levels[0].mean(axis=0)) @ normals[0]))
    if width > THIN * float(np.abs(np.ptp(bounds, axis=0) @ normals[0])):
        return None
    if any(_turned(normals[0], own) > STRAIGHT for own in normals):
        return None
    return StartingFront(box, normals[0], np.concatenate(levels))


def _on_level(
    state: Callable[[FloatArray], FloatArray], nodes: FloatArray, values: FloatArray, level: float
) -> FloatArray:
    """Return where a state passes a level between nodes of a grid, (m, 2)."""
    first, last = [], []
    for axis in range(2):
        begin, end = (np.delete(nodes, at, axis=axis) for at in (-1, 0))
        # A node may lie on the level itself.
        under, over = (np.delete(values < level, at, axis=axis) for at in (-1, 0))
        passed = under != over
        rises = under[passed, None]
        first.append(np.where(rises, begin[passed], end[passed]))
        last.append(np.where(rises, end[passed], begin[passed]))
    a, b = np.concatenate(first), np.concatenate(last)
    if not len(a):
        return a
    for _ in range(BISECTIONS):
        middle = 0.5 * (a + b)
        below = (state(middle) < level)[:, None]
        a, b = np.where(below, middle, a), np.where(below, b, middle)
    return np.asarray(0.5 * (a + b))
