"""Where an expression takes a value along one coordinate: in closed form, else by sampling.

The graph is peeled from outside: ``|a| = w`` is ``a = w`` or ``a = -w``, ``exp(a) = w`` is
``a = log w``, down to the coordinate itself. Two places that are 1e-12 apart then come from two
equations and do not hide each other. What cannot be peeled is sampled, followed to the turns at
which it comes close to the value, and bisected.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.special as sp

from sharpfront.equation.expression import (
    Apply,
    Coordinate,
    Derivative,
    Expression,
    Key,
    Leaf,
    Values,
)
from sharpfront.equation.graph import evaluate, ordered

# Places at which what cannot be inverted is sampled; between them only its turns are followed.
LOOK = 2049
# Parts of a bracket at each step towards a turn, and steps: 4^-25 of a cell is rounding.
ZOOM, STEPS = 8, 25
# Parts of one at each step towards a change of sign, and the share of a place that is rounding.
SECTIONS, NO_WIDER = 16, 1e-15
# Turns that are followed, those first that come closest.
TURNS = 64
# Values of a periodic function, or whole numbers, that are followed. Nothing resolves so many.
MOST_PLACES = 4096


@dataclass(frozen=True, eq=False)
class Along:
    """A segment of one coordinate, the other coordinates held."""

    root: Expression  # the expression that is looked at
    coordinate: str  # the name of the coordinate that varies
    # The ends of the segment.
    low: float
    high: float
    # The values of the other coordinates by name.
    others: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def _leaves(self) -> dict[Key, Values]:
        return {("coordinate", k): np.asarray(v, dtype=float) for k, v in self.others.items()}

    @cached_property
    def _varying(self) -> set[int]:
        return self._with(lambda leaf: leaf.key == ("coordinate", self.coordinate))

    @cached_property
    def _unknown(self) -> set[int]:
        told = {*self._leaves, ("coordinate", self.coordinate)}
        return self._with(
            lambda leaf: isinstance(leaf, Coordinate | Derivative) and leaf.key not in told
        )

    def _with(self, own: Callable[[Leaf], bool]) -> set[int]:
        """Return the nodes of the root that are certain leaves or have them inside, by id."""
        found: set[int] = set()
        for node in ordered(self.root):
            if isinstance(node, Apply):
                if not found.isdisjoint(map(id, node.arguments)):
                    found.add(id(node))
            elif isinstance(node, Leaf) and own(node):
                found.add(id(node))
        return found

    @cached_property
    def even(self) -> Values:
        """Even places, ends included, (LOOK,)."""
        return np.linspace(self.low, self.high, LOOK)

    def varies(self, node: Expression) -> bool:
        """Tell whether a node of the root depends on the coordinate."""
        return id(node) in self._varying

    def known(self, node: Expression) -> bool:
        """Tell whether a node of the root has values without a solution, and none is missing."""
        return id(node) not in self._unknown

    def values(self, node: Expression, x: Values) -> Values:
        """Return a node at places (n,); not a number where it has no value."""
        leaves = {**self._leaves, ("coordinate", self.coordinate): x}
        with np.errstate(all="ignore"):
            return np.broadcast_to(evaluate(node, leaves), x.shape)


def places(node: Expression, target: float, along: Along) -> list[float]:
    """Return the places in a segment at which a node of its root takes a value.

    None of them is missing where the node can be inverted; some may be where only a part of it
    comes close to the value.
    """
    found: list[float] = []
    stack: list[tuple[Expression, float]] = [(node, float(target))]
    while stack and len(found) < MOST_PLACES:
        here, value = stack.pop()
        if not along.varies(here) or not math.isfinite(value):
            continue
        if isinstance(here, Coordinate):
            found.append(value)
            continue
        assert isinstance(here, Apply)
        inner = _inverted(here, value, along)
        if inner is None:
            found += _sampled(here, value, along)
        else:
            stack += inner
    return [x for x in found if along.low <= x <= along.high]


Equations = list[tuple[Expression, float]]
Inverse = Callable[[float], Sequence[float]]


def _both(inverse: Callable[[float], float]) -> Inverse:
    return lambda v: (inverse(v), -inverse(v))


def _one(inverse: Callable[[float], float]) -> Inverse:
    return lambda v: (inverse(v),)


# What the argument is where the function has a value. A place that is not one is sorted out by the
# caller, who looks on both sides of it.
_INVERSES: dict[np.ufunc, Inverse] = {
    np.negative: _one(lambda v: -v),
    np.positive: _one(lambda v: v),
    np.absolute: _both(lambda v: v),
    np.fabs: _both(lambda v: v),
    np.square: _both(np.sqrt),
    np.sqrt: _one(lambda v: v * v),
    np.cbrt: _one(lambda v: v**3),
    np.reciprocal: _one(lambda v: 1.0 / v if v else math.inf),
    np.exp: _one(np.log),
    np.exp2: _one(np.log2),
    np.expm1: _one(np.log1p),
    np.log: _one(np.exp),
    np.log2: _one(np.exp2),
    np.log10: _one(lambda v: np.float64(10.0) ** v),
    np.log1p: _one(np.expm1),
    np.sinh: _one(np.arcsinh),
    np.cosh: _both(np.arccosh),
    np.tanh: _one(np.arctanh),
    np.arcsinh: _one(np.sinh),
    np.arctanh: _one(np.tanh),
    np.arctan: _one(np.tan),
    np.arcsin: _one(np.sin),
    np.arccos: _one(np.cos),
    np.deg2rad: _one(np.rad2deg),
    np.radians: _one(np.degrees),
    sp.erf: _one(sp.erfinv),
    sp.erfc: _one(sp.erfcinv),
    sp.expit: _one(sp.logit),
    sp.ndtr: _one(sp.ndtri),
}
# The angles of a value within one period, and the period.
_PERIODIC: dict[np.ufunc, tuple[Inverse, float]] = {
    np.sin: (lambda v: (np.arcsin(v), math.pi - np.arcsin(v)), 2.0 * math.pi),
    np.cos: (_both(np.arccos), 2.0 * math.pi),
    np.tan: (_one(np.arctan), math.pi),
}
# Each of these is one of its arguments.
_LARGER_OR_SMALLER = frozenset((np.maximum, np.minimum, np.fmax, np.fmin))


def _inverted(node: Apply, value: float, along: Along) -> Equations | None:
    """Return the equations of which one holds where the node has a value; None if not known."""
    ufunc, varying = node.function.evaluate, [along.varies(a) for a in node.arguments]
    if ufunc in _LARGER_OR_SMALLER:
        return [(a, value) for a in node.arguments]
    if ufunc is np.where:
        return [(a, value) for a in node.arguments[1:]]
    if all(varying) and len(varying) == 2:
        # A product vanishes with a factor; more is not known where both vary.
        count = 2 if ufunc is np.multiply else 1
        known = value == 0.0 and ufunc in (np.multiply, np.true_divide)
        return [(a, 0.0) for a in node.arguments[:count]] if known else None
    with np.errstate(all="ignore"):
        if len(varying) == 2 and isinstance(ufunc, np.ufunc):
            i = varying.index(True)
            other = float(along.values(node.arguments[1 - i], np.array([along.low]))[0])
            inner = _second_held(ufunc, value, other, first=i == 0)
            return None if inner is None else [(node.arguments[i], float(v)) for v in inner]
        if len(varying) != 1 or not isinstance(ufunc, np.ufunc):
            return None
        argument = node.arguments[0]
        if ufunc in _PERIODIC:
            angles, period = _PERIODIC[ufunc]
            turns = [float(v) for v in angles(value) if math.isfinite(v)]
            return [(argument, v) for a in turns for v in levels(argument, along, period, a)]
        inverse = _INVERSES.get(ufunc)
        return None if inverse is None else [(argument, float(v)) for v in inverse(value)]


def _second_held(ufunc: np.ufunc, v: float, c: float, first: bool) -> Sequence[float] | None:
    """Return what one argument is, the other held at c: the first argument or the second."""
    one: dict[np.ufunc, Callable[[], Sequence[float]]] = {
        np.add: lambda: (v - c,),
        np.subtract: lambda: (v + c,) if first else (c - v,),
        np.multiply: lambda: (v / c,) if c else (),
        np.true_divide: lambda: (v * c,) if first else ((c / v,) if v else ()),
        np.power: lambda: _root(v, c) if first else (np.log(v) / np.log(c),),
        np.float_power: lambda: _root(v, c) if first else (np.log(v) / np.log(c),),
        np.hypot: lambda: (np.sqrt(v * v - c * c), -np.sqrt(v * v - c * c)),
    }
    found = one.get(ufunc)
    return None if found is None else found()


def _root(v: float, power: float) -> Sequence[float]:
    if power == 0.0 or (v == 0.0 and power < 0.0):
        return ()
    size = float(np.abs(v) ** (1.0 / power))
    if power % 2.0 == 1.0:
        return (math.copysign(size, v),)
    return () if v < 0.0 else (size, -size)


def levels(node: Expression, along: Along, period: float, first: float) -> list[float]:
    """Return those of first + k period that a node takes in a segment, MOST_PLACES at most."""
    y = along.values(node, along.even)
    y = y[np.isfinite(y)]
    if not len(y):
        return []
    # Between two places it may go a little beyond what it is at them.
    margin = 0.01 * float(np.ptp(y))
    least = math.ceil((float(y.min()) - margin - first) / period)
    most = math.floor((float(y.max()) + margin - first) / period)
    return [first + k * period for k in range(least, min(most, least + MOST_PLACES) + 1)]


def _sampled(node: Expression, value: float, along: Along) -> list[float]:
    """Return the places where a node passes through a value, by samples, turns and bisection."""

    def f(x: Values) -> Values:
        return np.asarray(along.values(node, x) - value)

    x = along.even
    y = f(x)
    x, y = x[np.isfinite(y)], y[np.isfinite(y)]
    if len(x) < 3:
        return []
    # Where it keeps the value, as what has underflowed does, the ends of that are the places.
    zero = np.concatenate([[False], y == 0.0, [False]])
    alone = zero[1:-1] & ~zero[:-2] & ~zero[2:]
    exact, kept = x[alone], zero[1:-1] & ~alone
    i = np.flatnonzero((y[1:] * y[:-1] < 0.0) | (kept[1:] != kept[:-1]))
    low, high = [x[i]], [x[i + 1]]
    # A turn towards zero between places of one sign.
    size, sign = np.abs(y), np.sign(y)
    inner = (size[1:-1] <= size[:-2]) & (size[1:-1] <= size[2:])
    inner &= (size[1:-1] < size[:-2]) | (size[1:-1] < size[2:])
    inner &= (sign[1:-1] == sign[:-2]) & (sign[1:-1] == sign[2:])
    turns = np.flatnonzero(inner & (sign[1:-1] != 0.0)) + 1
    turns = turns[np.argsort(size[turns], kind="stable")][:TURNS]
    across = _across(f, x[turns - 1], x[turns + 1], sign[turns])
    turned = np.isfinite(across)
    low += [x[turns[turned] - 1], across[turned]]
    high += [across[turned], x[turns[turned] + 1]]
    found = _bisected(f, np.concatenate(low), np.concatenate(high))
    return [*map(float, exact), *map(float, found)]


def turns(node: Expression, along: Along) -> list[float]:
    """Return the places at which a node has a largest or smallest value, ends included."""
    x = along.even
    y = along.values(node, x)
    found = []
    for sign in (1.0, -1.0):
        z = np.where(np.isfinite(y), sign * y, np.inf)
        edge = np.concatenate([[np.inf], z, [np.inf]])
        lowest = (z <= edge[:-2]) & (z <= edge[2:]) & ((z < edge[:-2]) | (z < edge[2:]))
        for k in np.flatnonzero(lowest & np.isfinite(z))[:TURNS]:
            inner = 0 < k < LOOK - 1
            found.append(_lowest(node, sign, along, x[k - 1], x[k + 1]) if inner else float(x[k]))
    return found


def _lowest(node: Expression, sign: float, along: Along, low: float, high: float) -> float:
    """Return the place of the smallest value of a node times a sign between two places.

    Values about a smooth turn are equal to rounding within 1e-8 of it.
    """
    while high - low > 1e-9 * (along.high - along.low):
        x = np.linspace(low, high, ZOOM + 1)
        y = sign * along.values(node, x)
        i = int(np.argmin(np.where(np.isfinite(y), y, np.inf)))
        low, high = float(x[max(i - 1, 0)]), float(x[min(i + 1, ZOOM)])
    return 0.5 * (low + high)


def _across(f: Callable[[Values], Values], low: Values, high: Values, sign: Values) -> Values:
    """Return places between low and high at which a function has the other sign; nan without."""
    low, high, out = low.copy(), high.copy(), np.full(len(low), np.nan)
    left = np.arange(len(low))
    for _ in range(STEPS):
        if not len(left):
            break
        x = np.linspace(low[left], high[left], ZOOM + 1, axis=1)
        y = sign[left, None] * f(x.ravel()).reshape(x.shape)
        y[~np.isfinite(y)] = np.inf
        i = np.argmin(y, axis=1)
        rows = np.arange(len(left))
        low[left], high[left] = x[rows, np.maximum(i - 1, 0)], x[rows, np.minimum(i + 1, ZOOM)]
        found = y[rows, i] < 0.0
        out[left[found]] = x[rows, i][found]
        # No places are left between those of a turn that is found to rounding.
        wide = high[left] - low[left] > NO_WIDER * np.maximum(np.abs(low[left]), np.abs(high[left]))
        left = left[~found & wide]
    return out


def _bisected(f: Callable[[Values], Values], low: Values, high: Values) -> Values:
    """Return where a function changes its sign between low and high, (n,) each, to rounding."""
    if not len(low):
        return low
    before, rows = np.sign(f(low))[:, None], np.arange(len(low))
    while True:
        middle = 0.5 * (low + high)
        if np.all((middle <= low) | (middle >= high)):
            return high
        # In sixteen parts at once: what takes time is to ask, not for how many places.
        x = np.linspace(low, high, SECTIONS + 1, axis=1)
        other = np.sign(f(x[:, 1:-1].ravel()).reshape(len(x), -1)) != before
        first = np.where(other.any(axis=1), np.argmax(other, axis=1), SECTIONS - 1)
        low, high = x[rows, first], x[rows, first + 1]
