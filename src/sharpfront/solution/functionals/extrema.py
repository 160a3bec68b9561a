"""The largest and the smallest value, between nodes too."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.geometry import Domain
from sharpfront.geometry.curves import Curve
from sharpfront.solution.approximation import Approximation
from sharpfront.solution.functionals.cells import box_axes, line_edges, moments_of, subdivided
from sharpfront.solution.functionals.quantity import Known, Quantity, one_or_all, quantities

# Places between two kernels of a line, along each side of a box that is not of patches, and along
# a piece of boundary.
BETWEEN, ALONG_BOX, ALONG_CURVE = 4, 60, 200
# Moments of a solution in the plane; on a line the ends of all steps and the middles are looked at.
SEED_MOMENTS = 40
# Of the best places so many, apart from each other, are looked at more closely.
CLOSER = 8
# A search goes on in steps this much shorter once no neighbour is better, until they are this
# share of the first: values are then exact to rounding.
SHORTER, SHORTEST, MOST_TURNS = 0.4, 1e-8, 200


class Extremum(NamedTuple):
    """A largest or smallest value, and the coordinates at which it is taken."""

    value: float
    at: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Seeds:
    """Where a search begins: points (m, k) of a space of parameters, and how far apart they are."""

    # (m, k) each.
    points: FloatArray
    steps: FloatArray
    # Ends of the parameters, (k,).
    low: FloatArray
    high: FloatArray
    # From parameters to points of the domain.
    place: Callable[[FloatArray], FloatArray] = lambda s: s


def extremum(known: Known, of: Any, sign: float, t: Any = None) -> Any:
    """Return the largest value (sign 1) or the smallest (-1); `Solution.max` says how."""
    moment = known.moment(t)
    seeds = _seeds(known, moment)
    asked = quantities(known, of, moment)
    return one_or_all({name: _extreme(known, q, sign, seeds) for name, q in asked.items()})


def _extreme(known: Known, quantity: Quantity, sign: float, seeds: list[Seeds]) -> Extremum:
    domain = known.domain if quantity.t is None else known.space

    def height(points: FloatArray) -> FloatArray:
        return sign * quantity(points)

    best = max((_climbed(height, domain, own) for own in seeds), key=lambda found: found.value)
    at = best.at if quantity.t is None else (*best.at, quantity.t)
    return Extremum(sign * best.value, at)


def _climbed(height: Callable[[FloatArray], FloatArray], domain: Domain, seeds: Seeds) -> Extremum:
    """Return the top that is reached from the best seeds, by steps to the best neighbour."""
    values = height(seeds.place(seeds.points))
    chosen = _apart(seeds, np.argsort(-values, kind="stable"))
    at, value, step = seeds.points[chosen], values[chosen], seeds.steps[chosen]
    least = SHORTEST * step
    shares = (-1.0, -0.5, 0.5, 1.0) if at.shape[1] == 1 else (-1.0, 0.0, 1.0)
    stencil = np.array(list(itertools.product(shares, repeat=at.shape[1])))
    for _ in range(MOST_TURNS):
        tried = np.clip(at[:, None] + stencil * step[:, None], seeds.low, seeds.high)
        points = seeds.place(tried.reshape(-1, at.shape[1]))
        inside = domain.contains(points)
        heights = np.full(len(points), -np.inf)
        if inside.any():
            heights[inside] = height(points[inside])
        found = heights.reshape(len(at), -1)
        best = np.argmax(found, axis=1)
        rows = np.arange(len(at))
        higher = found[rows, best] > value
        at = np.where(higher[:, None], tried[rows, best], at)
        value = np.where(higher, found[rows, best], value)
        step = np.where(higher[:, None], step, SHORTER * step)
        if np.all(step <= least):
            break
    top = int(np.argmax(value))
    return Extremum(float(value[top]), tuple(seeds.place(at[top : top + 1])[0].tolist()))


def _apart(seeds: Seeds, order: NDArray[np.intp]) -> list[int]:
    """Return the first of some seeds that are not neighbours of one before."""
    out: list[int] = []
    for i in order[: 50 * CLOSER].tolist():
        gaps = [np.abs(seeds.points[i] - seeds.points[j]) / seeds.steps[j] for j in out]
        if all(np.max(gap) > 2.0 for gap in gaps):
            out.append(i)
        if len(out) == CLOSER:
            break
    return out


def _seeds(known: Known, t: float | None) -> list[Seeds]:
    space, span = known.space, known.domain.time
    if space.dimension == 1:
        return [_on_line(known, t)]
    points, steps = _in_space(known.approximation, space)
    found = [Seeds(points, steps, *space.bounds)]
    if space.dimension == 2 and not space.is_box:
        found += [_on_curve(c) for part in space.parts for c in space.smooth_pieces(part)
                  if isinstance(c, Curve)]  # fmt: skip
    if t is None and span is not None:
        found = [_in_time(own, span) for own in found]
    return found


def _on_line(known: Known, t: float | None) -> Seeds:
    moments: list[float | None] = [t]
    if t is None and (span := known.domain.time) is not None:
        ends = moments_of(known.approximation, span)
        moments = np.unique(np.concatenate([ends, 0.5 * (ends[1:] + ends[:-1])])).tolist()
    parts, steps = [], []
    for moment in moments:
        edges = line_edges(known.approximation, known.space, moment)
        x = subdivided(edges, BETWEEN)
        gap = np.append(np.repeat(np.diff(edges) / BETWEEN, BETWEEN), edges[-1] - edges[-2])
        parts.append(x[:, None] if moment is t else np.column_stack([x, np.full(len(x), moment)]))
        steps.append(gap)
    points = np.concatenate(parts)
    if points.shape[1] == 1:
        return Seeds(points, np.concatenate(steps)[:, None], *known.space.bounds)
    when = np.array([m for m in moments if m is not None])
    dt = np.gradient(when) if len(when) > 1 else np.ones(1)
    late = np.concatenate([np.full(len(p), d) for p, d in zip(parts, dt, strict=True)])
    return Seeds(points, np.column_stack([np.concatenate(steps), late]), *known.domain.bounds)


def _in_space(approximation: Approximation, domain: Domain) -> tuple[FloatArray, FloatArray]:
    """Return places all over a domain, as dense as its functions, and how far apart they are."""
    basis: Any = next(iter(approximation.bases.values()))
    if isinstance(basis, PatchworkBasis) and basis.dimension == domain.dimension:
        parts, steps = [], []
        for patch in basis.patches:
            z = [-np.cos(np.linspace(0, np.pi, max(p, 4))) for p in patch.functions]
            points = patch.points(z)
            parts.append(points)
            gaps = np.ptp(points, axis=0) / np.array(patch.functions)
            steps.append(np.tile(gaps, (len(points), 1)))
        points, gaps = np.concatenate(parts), np.concatenate(steps)
    else:
        count = ALONG_BOX if domain.dimension == 2 else ALONG_BOX // 2
        axes = box_axes(basis, domain.bounds, count)
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
        widths = np.meshgrid(*(np.gradient(axis) for axis in axes), indexing="ij")
        gaps = np.stack(widths, axis=-1).reshape(-1, len(axes))
    inside = domain.contains(points)
    return points[inside], gaps[inside]


def _on_curve(curve: Curve) -> Seeds:
    arcs = np.linspace(0.0, curve.measure, ALONG_CURVE + 1)[:, None]
    step = np.full_like(arcs, curve.measure / ALONG_CURVE)
    start, stop = np.zeros(1), np.array([curve.measure])
    return Seeds(arcs, step, start, stop, lambda s: np.asarray(curve.at(s[:, 0]).points))


def _in_time(seeds: Seeds, span: tuple[float, float]) -> Seeds:
    """Return seeds of space at many moments."""
    moments = np.linspace(*span, SEED_MOMENTS)
    count, dt = len(seeds.points), (span[1] - span[0]) / (SEED_MOMENTS - 1)
    late = np.repeat(moments, count)[:, None]
    return Seeds(
        np.hstack([np.tile(seeds.points, (SEED_MOMENTS, 1)), late]),
        np.hstack([np.tile(seeds.steps, (SEED_MOMENTS, 1)), np.full_like(late, dt)]),
        np.append(seeds.low, span[0]),
        np.append(seeds.high, span[1]),
        lambda s: np.column_stack([seeds.place(s[:, :-1]), s[:, -1]]),
    )
