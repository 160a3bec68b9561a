"""Spikes of the data that fall between the nodes of a first mesh.

Source, coefficients and boundary data are sampled densely. Where a few values stand far out, the
largest is climbed to, so that a spike is found whose tail alone was hit, and how wide it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from sharpfront.arrays import FloatArray
from sharpfront.equation.across import places_across
from sharpfront.equation.focus import axis_places
from sharpfront.equation.linearise import LinearForm
from sharpfront.equation.values import environment, form_values
from sharpfront.problem import Problem

Indices = NDArray[np.intp]

# Points in the bounding box, and how far beyond 99.5 % of the values an outlier must be.
SURVEY, FAR_OUT = 200_000, 10.0
# Outliers closer than this many spacings belong together; so many spikes are followed.
LINK, MOST = 4.0, 6
# Rounds of the climb, points in each, and how the radius shrinks from one to the next.
ROUNDS, TRIES, SHRINK = 14, 200, 0.6
# A spike is where its values are above this share of its peak.
SHARE = 0.05
# Points on each part of the boundary, and the change between neighbours that is steep.
RIM, STEEP = 6000, 0.1
_NOTHING = 1e-300


@dataclass(frozen=True, eq=False)
class Spike:
    """A cloud of points on a spike."""

    points: FloatArray  # (n, d)
    # How far it reaches across, at least: data on a boundary act as deep as they are wide.
    depth: float = 0.0

    def cells(self, axis: int, edges: FloatArray) -> Indices:
        """Return the cells of an axis that it falls into unresolved; none if it is long there."""
        low, high = float(self.points[:, axis].min()), float(self.points[:, axis].max())
        first, last = np.clip(np.searchsorted(edges, [low, high]) - 1, 0, len(edges) - 2)
        touched = np.arange(first, last + 1)
        if len(touched) > 0.25 * (len(edges) - 1):
            return touched[:0]
        wide = np.diff(edges)[touched] > 0.5 * max(high - low, self.depth)
        return np.asarray(touched[wide])


def find_spikes(problem: Problem, scale: float) -> tuple[Spike, ...]:
    """Return the spikes of source, coefficients and boundary data of one unknown.

    Boundary data far below the scale of the solution, as far as it is known, are rounding.
    """
    return (*_inside(problem), *_on_the_rim(problem, scale))


def mark(change: FloatArray, edges: FloatArray, axis: int, spikes: tuple[Spike, ...]) -> None:
    """Count a change of the whole range in the cells of an axis with unresolved spikes."""
    for spike in spikes:
        cells = spike.cells(axis, edges)
        change[cells] = np.maximum(change[cells], 1.0)


def _inside(problem: Problem) -> list[Spike]:
    domain = problem.domain
    low, high = domain.bounds
    spread_out, told = low + (high - low) * spread(domain.dimension, SURVEY), _crossings(problem)
    told, spread_out = (x[domain.contains(x)] for x in (told, spread_out))
    points = np.concatenate([spread_out, told])
    spacing = (float(np.prod(high - low)) / SURVEY) ** (1 / domain.dimension)
    found: list[Spike] = []
    for k, sampled in enumerate(_data(problem, points)):
        if sampled.strides == (0,) or np.ptp(sampled) == 0.0:
            continue

        def size(at: FloatArray, k: int = k) -> FloatArray:
            return _data(problem, at)[k]

        # Places that formulas tell of are many where something stands, and say nothing of the rest.
        usual = sampled[: len(spread_out)]
        values = np.abs(sampled - np.median(usual))
        usually = float(np.quantile(np.abs(usual - np.median(usual)), 0.995))
        limit = FAR_OUT * max(usually, _NOTHING)
        out = np.flatnonzero(values > limit)
        for group in _groups(points[out], LINK * spacing)[:MOST]:
            top = points[out[group[np.argmax(values[out[group]])]]]
            cloud, peak = _climbed(size, top, 2.0 * spacing, problem)
            own = out[group][values[out[group]] > SHARE * peak]
            found.append(Spike(np.concatenate([cloud, points[own]])))
    return found


def _crossings(problem: Problem) -> FloatArray:
    """Return where places cross that the formulas tell of, along the axes and across them."""
    (form, *_) = problem.forms
    graphs = (form.source, *(term.coefficient for term in form.terms))
    bounds = problem.domain.bounds.T
    found = [places_across(graphs, problem.coordinates, problem.domain.bounds)]
    for expression in graphs:
        axes = [
            axis_places(expression, name, float(low), float(high))
            for name, (low, high) in zip(problem.coordinates, bounds, strict=True)
        ]
        if np.prod([float(len(axis)) for axis in axes]) <= SURVEY:
            found.append(np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, len(axes)))
    return np.concatenate(found)


def spread(dimension: int, count: int) -> FloatArray:
    """Return points of the unit box that leave no large gap: multiples of golden ratios, mod 1."""
    ratio = 2.0
    for _ in range(50):
        ratio = (1.0 + ratio) ** (1.0 / (dimension + 1))
    steps = ratio ** -np.arange(1.0, dimension + 1)
    return np.asarray((0.5 + np.arange(count)[:, None] * steps) % 1.0)


def _data(problem: Problem, points: FloatArray) -> tuple[FloatArray, ...]:
    """Return source and coefficients at points."""
    leaves = environment(problem.coordinates, points)
    coefficients, source = form_values(problem.forms[0], leaves, len(points))
    return (source, *coefficients)


def _groups(points: FloatArray, reach: float) -> list[Indices]:
    """Return the indices of points that hang together, the largest groups first."""
    from scipy.spatial import cKDTree

    if not len(points):
        return []
    pairs = cKDTree(points).query_pairs(reach, output_type="ndarray")
    links = sp.coo_array((np.ones(len(pairs)), pairs.T), shape=(len(points),) * 2)
    count, label = connected_components(links, directed=False)
    groups: list[Indices] = [np.flatnonzero(label == i) for i in range(count)]
    return sorted(groups, key=len, reverse=True)


def _climbed(
    size: Callable[[FloatArray], FloatArray], start: FloatArray, radius: float, problem: Problem
) -> tuple[FloatArray, float]:
    """Return points on the spike found from a point of its tail, and its peak."""
    rng = np.random.default_rng(0)
    best, tried, values = start, [start[None]], [np.abs(size(start[None]))]
    for _ in range(ROUNDS):
        near = best + radius * rng.standard_normal((TRIES, len(start)))
        near = near[problem.domain.contains(near)]
        if len(near):
            tried.append(near)
            values.append(np.abs(size(near)))
            if values[-1].max() > max(v.max() for v in values[:-1]):
                # Still climbing: the peak may be as far off again.
                best = near[int(np.argmax(values[-1]))]
                continue
        radius *= SHRINK
    points, found = np.concatenate(tried), np.concatenate(values)
    peak = float(found.max())
    return points[found > SHARE * peak], peak


def _on_the_rim(problem: Problem, scale: float) -> list[Spike]:
    """Return where boundary data change steeply between neighbours, and do not jump."""
    if problem.domain.dimension != 2:
        return []
    found = []
    stated = [(c.part, form) for c in problem.conditions for form in c.forms]
    sampled = [_rim_values(problem, part, form, RIM) for part, form in stated]
    # Data that are rounding beside those elsewhere have no features.
    least = 1e-9 * max([scale, *(float(np.abs(values[1]).max()) for values in sampled)])
    for (part, form), coarse in zip(stated, sampled, strict=True):
        steep = [np.abs(np.diff(q)) > STEEP * max(np.ptp(q), least) for q in coarse[1:]]
        if not any(s.any() for s in steep):
            continue
        fine = _rim_values(problem, part, form, 8 * RIM)
        for q, closer, where in zip(coarse[1:], fine[1:], steep, strict=True):
            jumps = np.abs(np.diff(closer)).max() > 0.5 * np.abs(np.diff(q)).max()
            if where.any() and not jumps:
                at = np.flatnonzero(where)
                found += _runs(coarse[0], at)
    return found


def _rim_values(problem: Problem, part: str, form: LinearForm, count: int) -> list[FloatArray]:
    rim = problem.domain.boundary(part, count)
    leaves = environment(problem.coordinates, rim.points, rim.normals)
    coefficients, source = form_values(form, leaves, len(rim.points), "condition")
    return [rim.points, source, *coefficients]


def _runs(points: FloatArray, at: Indices) -> list[Spike]:
    """Return one spike for each run of neighbouring indices."""
    cuts = np.flatnonzero(np.diff(at) > 8) + 1
    found = []
    for run in np.split(at, cuts)[:MOST]:
        own = points[run[0] : run[-1] + 2]
        found.append(Spike(own, float(np.ptp(own, axis=0).max())))
    return found
