"""Where strips on both sides of a curve are cut across it: layers, and data that are narrow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.maps import AxisMap, Strip
from sharpfront.place.patches.looks import Holding
from sharpfront.place.strips.ribbons import DEEPEST, WIDE, Ribbon, layers_beside
from sharpfront.problem import Problem

# Where nothing is narrow a band is as deep as this share of the room: boxes hold the rest as well.
SHALLOW = 0.4
# Patches across a front are as deep as so many functions more than they begin with can hold.
MORE = 4
# Depths that are tried for them, each this factor of the one before, down to rounding.
SHORTER, TRIED = 0.6, 60
# No more patches than this across a front: data that take more are not smooth beside it.
MOST_ACROSS = 20
# Data bend on a curve if no patch across it holds them, after so many of these.
THINNEST = 30


def held_across(holding: Holding, ribbon: Ribbon, room: float, base: int) -> float:
    """Return how thick patches across a curve may be that hold data; 0 where data bend on it."""
    for thin in room * SHORTER ** np.arange(THINNEST):
        strips = ribbon.strips(thin, thin)
        patches = [_across(s, 0.0, 2.0 * thin, (base, base + MORE)) for s in strips]
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
    depth = DEEPEST * room
    whole = ribbon.strips(depth)
    layer = _layers(problem, whole, room, widths)
    rest = [_across(strip, layer, depth, (base, base)) for strip in whole]
    # Where data are as smooth as elsewhere beyond the operator's layers, these are all.
    if jumps or (layer < SHALLOW * room and all(map(holding, rest))):
        depth = layer
    return _graded(holding, ribbon.strips(depth), depth, base)


def _layers(problem: Problem, strips: Sequence[Strip], room: float, widths: float) -> float:
    """Return how deep strips are beside a curve on which data jump."""
    found = np.concatenate(layers_beside(problem, strips, widths))
    thin = found[found < WIDE * room]
    return float(min(thin.max(), DEEPEST * room)) if len(thin) else SHALLOW * room


def _graded(holding: Holding, strips: Sequence[Strip], depth: float, base: int) -> FloatArray:
    """Return where to cut strips so that data are held across: from 0 on, up to a depth."""
    some = strips[:: max(1, len(strips) // 8)]

    def held(low: float, high: float) -> bool:
        return all(holding(_across(strip, low, high, (base, base + MORE))) for strip in some)

    lines = [0.0]
    while True:
        low = lines[-1]
        shorter = (low + (depth - low) * SHORTER ** np.arange(1, TRIED)).tolist()
        high = next((h for h in (depth, *shorter) if held(low, h)), None)
        lines.append(depth if high is None else high)
        if len(lines) > MOST_ACROSS:
            lines[-1] = depth
        if lines[-1] == depth:
            break
    return np.array(lines)


def _across(strip: Strip, low: float, high: float, functions: tuple[int, int]) -> Patch:
    return Patch((AxisMap(0.0, strip.length), AxisMap(low, high)), functions, strip)
