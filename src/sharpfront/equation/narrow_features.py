"""Where a function may have something narrow, read from its graph.

A spike exp(-((x - c) / w)^2) is invisible to samples that are farther apart than w, but what stands
inside it is not: its argument is smooth, and the narrower the spike the faster it varies. A
function that is steep only where its argument is small or largest is therefore looked for in the
arguments: the zeros and turns of each that samples do not resolve.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import scipy.special as sp

from sharpfront.equation.edges import COMPARISONS, LOGICAL, places_along
from sharpfront.equation.expression import Apply, Expression, Values
from sharpfront.equation.graph import ordered
from sharpfront.equation.level_places import Along, places, turns

# Functions that change by their range, or by e, while their argument changes by about one.
BY_DIFFERENCE = frozenset(
    (
        np.exp,
        np.exp2,
        np.expm1,
        np.tanh,
        np.sinh,
        np.cosh,
        np.arctan,
        np.arcsinh,
        np.logaddexp,
        sp.erf,
        sp.erfc,
        sp.erfcx,
        sp.ndtr,
        sp.expit,
    )
)
# Functions that change by as much where their argument changes by as much as it is.
BY_RATIO = frozenset((np.reciprocal, np.log, np.log2, np.log10, np.arctan2, np.hypot, np.sqrt))
# Functions of one argument that carry its zeros on, or are as narrow as it is.
_BROAD = frozenset((np.negative, np.positive, np.add, np.subtract, np.deg2rad, np.radians))
# The change between neighbouring samples up to which a function is resolved by them.
RESOLVED = 0.5
# Places at most: a function with more is not narrow anywhere but rough everywhere.
MOST_FOCI = 64


def foci(expression: Expression, coordinate: str, low: float, high: float) -> Values:
    """Return the places along a coordinate at which a function may be narrow, sorted, (n,).

    Parts with unknowns in them are passed over.
    """
    along = Along(expression, coordinate, low, high, {})
    found: set[float] = set()
    for node in ordered(expression):
        for argument in _unresolved(node, along):
            found.update(places(argument, 0.0, along)[:MOST_FOCI])
            found.update(turns(argument, along)[:MOST_FOCI])
            for inner in _inside(argument, along):
                found.update(places(inner, 0.0, along)[:MOST_FOCI])
    return _thinned(np.array(sorted(found)), low, high)


def axis_places(expression: Expression, coordinate: str, low: float, high: float) -> Values:
    """Return places along an axis that a function of several coordinates tells of, sorted, (n,).

    They are edges, and zeros of what stands inside further functions, as far as these depend on
    that coordinate alone: the centre of (x - a)^2 + (y - b)^2 < r^2 is where two of them cross.
    Between two neighbouring ones lies their middle.
    """
    along = Along(expression, coordinate, low, high)
    found = {float(x) for x in places_along(expression, coordinate, low, high)}
    for inner in _inside(expression, along):
        found.update(places(inner, 0.0, along)[:MOST_FOCI])
    told = _thinned(np.array(sorted(found)), low, high)
    return np.sort(np.concatenate([told, 0.5 * (told[1:] + told[:-1])]))


def _unresolved(node: Expression, along: Along) -> Iterator[Expression]:
    """Return the arguments of a node that vary too fast for the samples."""
    if not along.varies(node):
        return
    watched, by_ratio = steep_arguments(node)
    for argument in watched:
        if along.varies(argument) and along.known(argument):
            y = along.values(argument, along.even)
            if not np.nanmax(steps(y[1:], y[:-1], by_ratio), initial=0.0) <= RESOLVED:
                yield argument


def steep_arguments(node: Expression) -> tuple[Sequence[Expression], bool]:
    """Return the arguments in which a function is steep, and whether their ratios count.

    Elsewhere, nothing: a function that is not known to be steep somewhere.
    """
    if not isinstance(node, Apply):
        return (), False
    function = node.function.evaluate
    if function is np.true_divide:
        return node.arguments[1:], True
    by_ratio = function in BY_RATIO or function in (np.power, np.float_power)
    return (node.arguments if by_ratio or function in BY_DIFFERENCE else ()), by_ratio


def steps(first: Values, second: Values, by_ratio: bool) -> Values:
    """Return by how much values differ, in units of those with which a steep function changes."""
    with np.errstate(all="ignore"):
        change = np.abs(first - second)
        return change / np.minimum(np.abs(first), np.abs(second)) if by_ratio else change


def _inside(argument: Expression, along: Along) -> Iterator[Expression]:
    """Return what stands inside further functions: the zero of x - c is the turn of its square."""
    for node in inner_arguments(argument):
        if along.varies(node) and along.known(node):
            yield node


def inner_arguments(expression: Expression) -> list[Expression]:
    """Return the arguments of all functions in a graph that do not just add, each once.

    What is compared is none: its edges are where both sides are equal.
    """
    passed = _BROAD | COMPARISONS | LOGICAL | {np.where}
    functions = (n for n in ordered(expression) if isinstance(n, Apply))
    inner = (a for n in functions if n.function.evaluate not in passed for a in n.arguments)
    return list({id(a): a for a in inner}.values())


def _thinned(found: Values, low: float, high: float) -> Values:
    """Return places that differ, not more than MOST_FOCI; the ends are places like others."""
    if not len(found):
        return found
    apart = np.append(True, np.diff(found) > 1e-13 * (high - low))
    return np.asarray(found[apart][:: max(1, int(np.ceil(apart.sum() / MOST_FOCI)))])


def around(centres: Values, low: float, high: float) -> Values:
    """Return places ever denser towards each centre, down to rounding, sorted, (n,)."""
    length = high - low
    reach = length * 0.5 ** np.arange(1, 50)
    every = (centres[:, None] + np.concatenate([-reach, [0.0], reach])).ravel()
    every = np.unique(every[(every > low) & (every < high)])
    apart = np.diff(every, prepend=-np.inf) > 1e-15 * length
    return np.asarray(every[apart], dtype=float)
