"""Places in the plane and in space that formulas tell of across the axes.

``np.where(abs(x + y - 1) < 1e-6, 1e6, 0)`` is nothing at all at points that are 1e-3 apart, but
x + y - 1 is smooth: its zeros are gone to from anywhere. So are the places where two such lines
meet, and those between two that run side by side.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from sharpfront.equation.edges import named_in, switches
from sharpfront.equation.expression import Apply, Constant, Expression, Values, apply
from sharpfront.equation.graph import derivatives_in, evaluate, ordered
from sharpfront.equation.narrow_features import inner_arguments, steep_arguments
from sharpfront.equation.values import environment
from sharpfront.rounding import NEWTON_STEPS, ROUNDED, SAME, SLIGHT

# Functions at most whose zeros are gone to, and points from which that is done.
MOST, STARTS = 8, 512
# Of these, points from which places are gone to where two lines meet, and such places at most.
CORNERS = 16
# Two lines run side by side where they are no farther apart than this share of the domain.
ALONGSIDE = 0.02


def places_across(
    expressions: Sequence[Expression], coordinates: Sequence[str], bounds: Values
) -> Values:
    """Return places inside bounds (2, d) on lines across the axes and where these meet, (m, d).

    Parameters
    ----------
    expressions
        Functions of the coordinates; parts with unknowns in them are passed over.
    coordinates
        Their names.
    bounds
        The lowest and the highest corner.
    """
    every = zero_functions(expressions, set(coordinates))
    across = [len(named_in(f)) > 1 for f in every]
    none: Values = np.zeros((0, len(coordinates)))
    if not any(across):
        return none
    drawn = np.random.default_rng(0).random((STARTS, len(coordinates)))
    starts = bounds[0] + (bounds[1] - bounds[0]) * drawn
    single = [_gone_to([f], [[0]], coordinates, starts, bounds)[0] for f in every]
    pairs = [*itertools.combinations(range(len(every)), 2)]
    meetings = [none, *_gone_to(every, pairs, coordinates, starts[:CORNERS], bounds)]
    found = [s for s, slanted in zip(single, across, strict=True) if slanted]
    for i, j in pairs:
        if across[i] or across[j]:
            near = (
                np.abs(single[i] - single[j]).max(axis=1)
                < ALONGSIDE * (bounds[1] - bounds[0]).max()
            )
            found.append(0.5 * (single[i] + single[j])[near])
    corners = _apart(np.concatenate(meetings), bounds)
    return _apart(np.concatenate([*found, corners, *_between(corners)]), bounds)


def _between(corners: Values) -> list[Values]:
    """Return middles of two corners and of three that follow each other along an axis."""
    out = [0.5 * (a + b)[None] for a, b in itertools.combinations(corners[:CORNERS], 2)]
    for axis in range(corners.shape[1]):
        along = corners[np.argsort(corners[:, axis])]
        out.append((along[:-2] + along[1:-1] + along[2:]) / 3.0)
    return out


def zero_functions(expressions: Sequence[Expression], names: set[str]) -> list[Expression]:
    """Return functions of the coordinates at whose zeros something may stand, each once.

    Parameters
    ----------
    expressions
        What they are taken from: what is compared, and what stands inside further functions.
    names
        The coordinates; what holds other names, unknowns or what cannot be read is passed over.
    """
    found: dict[int, Expression] = {}
    for expression in expressions:
        for switch in switches(expression):
            if not switch.period:
                own = switch.argument
                found[id(own)] = apply(np.subtract, own, Constant(switch.first))
        found |= {id(a): a for a in inner_arguments(expression)}
    factors = {id(f): f for g in found.values() for f in _factors(g)}
    known = [f for f in factors.values() if _is_known(f, names)]
    # An exponential is never zero.
    known = [f for f in known if not (isinstance(f, Apply) and f.function.evaluate is np.exp)]
    # Those inside others first: |a| - w has its zeros beside those of a.
    return sorted(known, key=lambda f: sum(isinstance(n, Apply) for n in ordered(f)))[:MOST]


def turning_functions(
    expressions: Sequence[Expression], names: set[str]
) -> list[tuple[Expression, bool]]:
    """Return functions of the coordinates where something may stand where they turn, each once.

    With each, whether ratios of its values count: exp(k (a.x - 1)) on a sphere is narrow where a.x
    is largest, and has no zero about there.
    """
    found: dict[int, tuple[Expression, bool]] = {}
    for expression in expressions:
        for switch in switches(expression):
            if not switch.period:
                own = apply(np.subtract, switch.argument, Constant(switch.first))
                found[id(switch.argument)] = own, True
        for arguments, by_ratio in map(steep_arguments, ordered(expression)):
            found |= {id(a): (a, by_ratio) for a in arguments}
    return [own for own in found.values() if _is_known(own[0], names)]


def _is_known(expression: Expression, names: set[str]) -> bool:
    """Tell whether a formula holds coordinates, and nothing but what can be read."""
    own = named_in(expression)
    called = (n.function.evaluate for n in ordered(expression) if isinstance(n, Apply))
    readable = all(isinstance(f, np.ufunc) or f is np.where for f in called)
    return bool(own) and own <= names and readable and not derivatives_in(expression)


def _factors(expression: Expression) -> list[Expression]:
    """Return what a product is made of: it is zero where one of them is, along its own axes."""
    if isinstance(expression, Apply) and expression.function.evaluate is np.multiply:
        return [f for a in expression.arguments for f in _factors(a)]
    return [expression]


def _gone_to(
    functions: Sequence[Expression],
    groups: Sequence[Sequence[int]],
    coordinates: Sequence[str],
    starts: Values,
    bounds: Values,
) -> Values:
    """Return common zeros of the functions of each group, (groups, m, d), from m starts.

    By Newton's method with least changes, not a number where it fails. Functions are evaluated for
    all groups at once that are still on their way.
    """
    own, extent = np.array(groups, dtype=np.int64), bounds[1] - bounds[0]
    points = np.tile(starts, (len(own), 1, 1))
    away, moving = np.full(points.shape[:2], np.inf), np.arange(len(own))
    with np.errstate(all="ignore"):
        for _ in range(NEWTON_STEPS):
            if not len(moving):
                break
            here = points[moving]
            which, place = np.unique(own[moving], return_inverse=True)
            some = [functions[k] for k in which.tolist()]
            values, slopes = _slopes(some, coordinates, here.reshape(-1, here.shape[2]), extent)
            mine = np.repeat(place.reshape(len(moving), -1), here.shape[1], axis=0)
            rows = np.arange(len(mine))[:, None]
            change = _change(values[rows, mine], slopes[rows, mine]).reshape(here.shape)
            points[moving] = here - extent * change
            before, after = away[moving], np.abs(change).max(axis=2)
            away[moving] = after
            still = (after > SAME) & ((after < 0.9 * before) | (after > 1e-3))
            moving = moving[still.any(axis=1)]
    return np.where((away < SAME)[..., None], points, np.nan)


def _change(values: Values, slopes: Values) -> Values:
    """Return the least changes that make one or two functions zero to first order, (m, d)."""
    products = np.einsum("mid,mjd->mij", slopes, slopes)
    if values.shape[1] == 1:
        return np.asarray(slopes[:, 0] * (values / products[:, 0]))
    a, b, c = products[:, 0, 0], products[:, 0, 1], products[:, 1, 1]
    first, second = c * values[:, 0] - b * values[:, 1], a * values[:, 1] - b * values[:, 0]
    # Two functions of one direction have no common zero.
    free = np.where(a * c - b * b > ROUNDED * a * c, a * c - b * b, np.nan)
    return np.asarray(
        (first[:, None] * slopes[:, 0] + second[:, None] * slopes[:, 1]) / free[:, None]
    )


def _slopes(
    functions: Sequence[Expression], coordinates: Sequence[str], points: Values, extent: Values
) -> tuple[Values, Values]:
    """Return values (m, k) and slopes (m, k, d) in units of the domain."""
    m, d = points.shape
    shifts = SLIGHT * np.concatenate([np.zeros((1, d)), np.eye(d), -np.eye(d)])
    every = (points + (shifts * extent)[:, None]).reshape(-1, d)
    leaves = environment(coordinates, every)
    values = np.stack(
        [
            np.broadcast_to(np.asarray(evaluate(f, leaves), dtype=float), len(every))
            for f in functions
        ],
        axis=-1,
    ).reshape(2 * d + 1, m, -1)
    slopes = (values[1 : d + 1] - values[d + 1 :]) / (2.0 * SLIGHT)
    return values[0], np.moveaxis(slopes, 0, -1)


def _apart(points: Values, bounds: Values) -> Values:
    """Return those of the points inside that differ by more than rounding."""
    with np.errstate(invalid="ignore"):
        inside = points[np.all((points >= bounds[0]) & (points <= bounds[1]), axis=1)]
    rounded = np.round((inside - bounds[0]) / (bounds[1] - bounds[0]) / ROUNDED)
    return np.asarray(inside[np.unique(rounded, axis=0, return_index=True)[1]])
