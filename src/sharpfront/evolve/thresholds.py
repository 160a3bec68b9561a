"""Sources and coefficients that jump where an unknown passes a value: rounded, as starts are.

A front on which a rate jumps goes along with the solution, and no mesh has a node there. Over a
small range of the unknown the jump is a tanh; elements follow that as any other thin front. What it
does to the solution falls like the square of the range where the unknown passes through, and is
part of the estimate: the weaker run of a pair has a wider range.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.radau import interpolation
from sharpfront.equation.edges import COMPARISONS, LOGICAL
from sharpfront.equation.expression import TIME, Apply, Coordinate, Derivative, Expression, apply
from sharpfront.equation.graph import derivatives_in, evaluate, ordered
from sharpfront.equation.linearise import applied_again
from sharpfront.evolve.discretisation import Discrete
from sharpfront.evolve.radau_step import Step
from sharpfront.evolve.run import combined
from sharpfront.evolve.settings import LINE_MARCH
from sharpfront.evolve.time_system import Residual, TimeSystem
from sharpfront.pieces.frame import Frame

# Places at which that size is taken of the first state.
_SIZED_AT = 257
_RISES = frozenset((np.greater, np.greater_equal))


def without_thresholds(system: TimeSystem, tol: float, strict: bool = True) -> TimeSystem:
    """Return the system with its jumps over ranges of unknowns that suit a tolerance."""
    if not any(_is_threshold(n) for e in system.equations for n in ordered(e.expression)):
        return system
    wider = 1.0 if strict else LINE_MARCH.wider_range
    share = (
        wider * LINE_MARCH.jump_range * float(np.sqrt(tol)),
        wider * LINE_MARCH.moving_range * tol,
    )
    gaps: list[Expression] = []
    equations = tuple(_with_rounded_jumps(e, system, share, gaps) for e in system.equations)
    return replace(system, equations=equations, gaps=tuple(gaps))


def short_enough(discrete: Discrete, frame: Frame, values: FloatArray, t: float) -> FloatArray:
    """Return how long elements may be that see a jump which an unknown passes in them, (N,)."""
    tables, h = frame.tables, frame.lengths[0]
    (ends,), (inner,) = tables.ends(0), tables.inside(0)
    local = frame.local(values)
    levels = np.concatenate([ends, inner]) @ local.reshape(tables.size, -1)
    levels = levels.reshape(-1, *local.shape[1:]).swapaxes(0, 1)[:, None]
    places = np.concatenate([[frame.nodes[:-1], frame.nodes[1:]], frame.positions[0]])
    here = discrete.coordinates(places.ravel(), np.full(places.size, t))
    leaves = discrete.leaves(discrete.gaps, here, levels, levels[:, :0])
    gaps = discrete.gaps.run(leaves, places.size).reshape(-1, *places.shape)
    low, high = gaps.min(axis=1), gaps.max(axis=1)
    ranges = np.where((low < 1.0) & (high > -1.0), high - low, 0.0).max(axis=0)
    with np.errstate(divide="ignore"):
        return np.asarray(h * LINE_MARCH.ranges_seen / ranges)


def short_all_along(discrete: Discrete, step: Step) -> FloatArray:
    """Return the same for a step in which jumps go from element to element, (N,)."""
    stages = len(step.values) - 1
    shares = np.linspace(0.0, 1.0, LINE_MARCH.looks_at_jumps * stages + 1)[1:]
    states, after = combined(interpolation(shares, stages), step.values), shares * step.dt
    found = [
        short_enough(discrete, step.frame.at(dt), state, step.t + dt)
        for dt, state in zip(after, states, strict=True)
    ]
    return np.asarray(np.min(found, axis=0))


def carried(discrete: Discrete, frame: Frame, t: float) -> tuple[FloatArray, FloatArray] | None:
    """Return which elements a jump that moves is in, and how fast it goes there, (N,) each.

    None where there is none. At a wall it is let go.
    """
    if not discrete.moves:
        return None
    middles = 0.5 * (frame.nodes[1:] + frame.nodes[:-1])
    here = discrete.coordinates(middles, np.full(len(middles), t))
    gap, slope, rate = (
        discrete.moving.run(here, len(middles)).reshape(-1, 3, len(middles)).swapaxes(0, 1)
    )
    nearest = np.argmin(np.abs(gap), axis=0), np.arange(len(middles))
    gap, slope, rate = gap[nearest], slope[nearest], rate[nearest]
    with np.errstate(divide="ignore", invalid="ignore"):
        place = middles - gap / slope
        speed = -rate / slope
        wall = np.minimum(place - frame.nodes[0], frame.nodes[-1] - place) * np.abs(slope)
    inside = (np.abs(gap) < LINE_MARCH.ranges_held) & (wall > 2.0 * LINE_MARCH.ranges_held)
    return (inside & np.isfinite(speed)).astype(float), np.nan_to_num(speed)


def _is_threshold(node: Expression) -> bool:
    """Tell whether a node jumps where an unknown itself passes a value."""
    if not isinstance(node, Apply):
        return False
    function = node.function.evaluate
    if function not in COMPARISONS and function not in (np.sign, np.heaviside):
        return False
    leaves = [n for a in node.arguments for n in ordered(a)]
    held = [n for n in leaves if isinstance(n, Derivative)]
    if not held:
        # Where one moves no node can stand.
        return {n.name == TIME for n in leaves if isinstance(n, Coordinate)} == {True, False}
    return not any(any(d.orders) for d in held)


def _with_rounded_jumps(
    equation: Residual, system: TimeSystem, share: tuple[float, float], gaps: list[Expression]
) -> Residual:
    """Return an equation with its thresholds rounded over a share of what they compare.

    What is compared is put down in these ranges.
    """
    new: dict[int, Expression] = {}
    # Conditions that are numbers from 0 to 1 now.
    soft: set[int] = set()
    for node in ordered(equation.expression):
        new[id(node)] = node
        if not isinstance(node, Apply):
            continue
        arguments, function = [new[id(a)] for a in node.arguments], node.function.evaluate
        is_soft = any(id(a) in soft for a in node.arguments)
        if _is_threshold(node):
            gap = arguments[0] - arguments[1] if function in COMPARISONS else arguments[0]
            gaps.append(gap / (share[not derivatives_in(gap)] * _size(gap, system)))
            new[id(node)] = _smooth_step(function, gaps[-1])
        elif function is np.where and id(node.arguments[0]) in soft:
            here, yes, no = arguments
            new[id(node)] = no + here * (yes - no)
        elif function in LOGICAL and is_soft:
            new[id(node)] = _logic(function, arguments)
        else:
            new[id(node)] = applied_again(node, arguments)
        if _is_threshold(node) or (function in LOGICAL and is_soft):
            soft.add(id(node))
    return replace(equation, expression=new[id(equation.expression)])


def _smooth_step(function: Any, gap: Expression) -> Expression:
    """Return the rounded jump of any of these."""
    rise = apply(np.tanh, gap)
    if function is np.sign:
        return rise
    sense = 1.0 if function in _RISES or function is np.heaviside else -1.0
    return 0.5 + 0.5 * sense * rise


def _logic(function: Any, arguments: list[Expression]) -> Expression:
    """Return what rounded conditions are together."""
    if function is np.logical_not:
        return 1.0 - arguments[0]
    one, other = arguments
    if function is np.logical_and:
        return one * other
    either = one + other - one * other
    return either if function is np.logical_or else either - one * other


def _size(gap: Expression, system: TimeSystem) -> float:
    """Return how large what is compared is in the first state."""
    x = np.linspace(system.low, system.high, _SIZED_AT)
    leaves = system.at_start(x)
    for d in derivatives_in(gap):
        leaves[d.key] = system.initial(d.unknown)(x)
    found = np.abs(np.broadcast_to(evaluate(gap, leaves), x.shape))
    size = float(found[np.isfinite(found)].max(initial=0.0))
    return size or 1.0
