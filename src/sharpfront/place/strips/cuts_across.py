"""Where strips on both sides of a curve are cut across it: layers, and data that are narrow."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.maps import AxisMap, Quadrilateral, Strip
from sharpfront.place.patches.data_probes import Holding
from sharpfront.place.strips.ribbons import Ribbon, layers_beside
from sharpfront.place.strips.settings import STRIPS
from sharpfront.problem import Problem

# Where a chart beside a straight front is looked at, as shares of its side.
ALONG = (0.25, 0.5, 0.75)


def held_across(holding: Holding, ribbon: Ribbon, room: float, base: int) -> float:
    """Return how thick patches across a curve may be that hold data; 0 where data bend on it."""
    for thin in room * STRIPS.shorter ** np.arange(STRIPS.thinnest):
        strips = ribbon.strips(thin, thin)
        patches = [_across(s, 0.0, 2.0 * thin, (base, base + STRIPS.more)) for s in strips]
        if all(map(holding, patches)):
            return 2.0 * float(thin)
    return 0.0


def lines_beside(
    problem: Problem,
    holding: Holding,
    ribbon: Ribbon,
    room: float,
    functions: tuple[int, float],
    *,
    jumps: bool,
) -> FloatArray:
    """Return where to cut strips within a curve, as distances from it, ascending from 0.

    Parameters
    ----------
    problem, holding
        What is solved, and which patches hold its data.
    ribbon, room
        The curve, and how far below it strips may go.
    functions
        How many patches begin with along an axis, and how many widths of a layer make it decay.
    jumps
        Whether data jump or bend on the curve.
    """
    base, widths = functions
    depth = STRIPS.deepest * room
    whole = ribbon.strips(depth)
    layer = _layers(problem, whole, room, widths)
    rest = [_across(strip, layer, depth, (base, base)) for strip in whole]
    # Where data are as smooth as elsewhere beyond the operator's layers, these are all.
    if jumps or (layer < STRIPS.shallow * room and all(map(holding, rest))):
        depth = layer
    return _graded(holding, ribbon.strips(depth), depth, base)


def _layers(problem: Problem, strips: Sequence[Strip], room: float, widths: float) -> float:
    """Return how deep strips are beside a curve on which data jump."""
    found = np.concatenate(layers_beside(problem, strips, widths))
    thin = found[found < STRIPS.wide * room]
    return float(min(thin.max(), STRIPS.deepest * room)) if len(thin) else STRIPS.shallow * room


def _graded(holding: Holding, strips: Sequence[Strip], depth: float, base: int) -> FloatArray:
    """Return where to cut strips so that data are held across: from 0 on, up to a depth."""
    some = strips[:: -(-len(strips) // 8)]

    def held(low: float, high: float) -> bool:
        return all(holding(_across(strip, low, high, (base, base + STRIPS.more))) for strip in some)

    return _as_far_as(held, depth)


def lines_in_chart(
    holding: Holding, chart: Quadrilateral, axis: int, end: int, base: int
) -> FloatArray:
    """Return where to cut a chart along an axis so that it holds a front on one of its sides.

    On some lines across that side: about its ends there may be fronts along others.
    """
    length, beside = float(chart.size[axis]), float(chart.size[1 - axis])

    def held(low: float, high: float) -> bool:
        ends = (length - high, length - low) if end else (low, high)
        for at in ALONG:
            maps = [AxisMap(*ends)] * 2
            maps[1 - axis] = AxisMap(at * beside, (at + STRIPS.thin) * beside)
            counts = (base + STRIPS.more, base) if axis == 0 else (base, base + STRIPS.more)
            if not holding(Patch((maps[0], maps[1]), counts, chart), axis):
                return False
        return True

    places = _as_far_as(held, length)
    return np.asarray((length - places)[::-1] if end else places)


def lines_of_front(holding: Holding, charts: Sequence[Quadrilateral], base: int) -> FloatArray:
    """Return where to cut beside a front on the first sides of squares, as far as it is narrow.

    From 0 on, as distances; the squares are as large as each other. In the middle of each patches
    are looked at as broad as deep, for what is narrow counts by the size of its patch.
    """
    size, functions = float(charts[0].size[1]), base + STRIPS.more

    def held(low: float, high: float) -> bool:
        half = 0.5 * min(high - low, STRIPS.broad * size)
        maps = AxisMap(0.5 * size - half, 0.5 * size + half), AxisMap(low, high)
        return all(holding(Patch(maps, (functions, functions), chart)) for chart in charts)

    places = _as_far_as(held, size)
    last = next(k for k in range(1, len(places)) if k == len(places) - 1 or held(places[k], size))
    return np.asarray(places[: last + 1])


def _as_far_as(held: Callable[[float, float], bool], depth: float) -> FloatArray:
    """Return places from 0 on, each as far from the one before as is held in between.

    From short ones on: points of a long one may miss what is narrow at its end. Beyond the first
    they are not much shorter than the one before.
    """
    lines = [0.0]
    while lines[-1] < depth:
        low = lines[-1]
        shares = STRIPS.shorter ** np.arange(STRIPS.tried, 0.0, -1.0)
        places = [*(low + (depth - low) * shares).tolist(), depth]
        short = STRIPS.not_shorter * (low - lines[-2]) if len(lines) > 1 else 0.0
        first = min(int(np.searchsorted(places, low + short)), len(places) - 1)
        found = first if first and held(low, places[first]) else -1
        for stride in STRIPS.strides:
            tried = range(found + stride, len(places), stride)
            found = max(found, _last_held(held, low, tried, places))
        lines.append(depth if found < 0 or len(lines) == STRIPS.most_across else places[found])
    return np.array(lines)


def _last_held(
    held: Callable[[float, float], bool], low: float, tried: range, places: Sequence[float]
) -> int:
    """Return the last of some places, one after the other, up to which all is held; -1 if none."""
    last = -1
    for i in tried:
        if not held(low, places[i]):
            break
        last = i
    return last


def _across(strip: Strip, low: float, high: float, functions: tuple[int, int]) -> Patch:
    return Patch((AxisMap(0.0, strip.length), AxisMap(low, high)), functions, strip)
