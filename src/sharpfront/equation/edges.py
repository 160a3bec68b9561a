"""Where a function jumps or bends, read from its graph: comparisons, sign, floor, |a|, max(a, b).

A source ``np.where(abs(x - 0.3) < w / 2, 1 / w, 0)`` says where its edges are; samples of it do not
once w is small. Functions that the graph does not look into (`sf.function`) can only be sampled.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.equation.expression import (
    TIME,
    Apply,
    Constant,
    Coordinate,
    Derivative,
    Expression,
    Leaf,
    Values,
    apply,
)
from sharpfront.equation.graph import derivatives_in, evaluate, ordered
from sharpfront.equation.level_places import Along, levels, places
from sharpfront.equation.opaque import OpaqueFunction

COMPARISONS = frozenset((np.less, np.less_equal, np.greater, np.greater_equal))
_LARGER = frozenset((np.maximum, np.minimum, np.fmax, np.fmin))
_SIGNS = frozenset((np.sign, np.heaviside))
_WHOLE = frozenset((np.floor, np.ceil, np.trunc))
_PARTS = frozenset((np.floor_divide, np.remainder, np.fmod))
_ROOTS = frozenset((np.sqrt, np.cbrt))
# Only the sign or the whole part of what stands inside these matters: |a| has no bend in |a| < 1.
LOGICAL = frozenset((np.logical_and, np.logical_or, np.logical_xor, np.logical_not))
CONDITIONS = COMPARISONS | LOGICAL | {np.equal, np.not_equal}
_BLUNT = CONDITIONS | _SIGNS | _WHOLE
# An inverse and the function itself round differently: the change of sign is looked for this many
# floats around the place.
_ROUNDING = 4.0 ** np.arange(1, 12)
# Values that are drawn for unknowns and other coordinates, and the share by which ends of a ring
# differ if that is more than the rounding of sin(2 pi).
_DRAWN, _SEAM = 5, 1e-9


@dataclass(frozen=True, eq=False)
class Switch:
    """An expression at whose values a function jumps or bends."""

    argument: Expression  # the expression g
    # The edges are where g = first + k period for a whole k; where g = first if the period is 0.
    period: float = 0.0
    first: float = 0.0
    jumps: bool = True  # whether values may jump there, or slopes only
    # Whether g has to change its sign for an edge; a root has one where g touches zero.
    crosses: bool = True

    @property
    def moves(self) -> bool:
        """Whether values jump at a place that goes along with time."""
        if not self.jumps or TIME not in named_in(self.argument):
            return False
        return len(named_in(self.argument)) > 1 and parallel_parts(self) is None


@dataclass(frozen=True)
class Edge:
    """An edge between two floats that are neighbours or nearly so."""

    # The floats.
    below: float
    above: float
    jumps: bool  # whether values may jump there, or slopes only


def tells_all(expression: Expression) -> bool:
    """Tell whether the edges of a function are all in its graph: nothing in it is opaque."""
    functions = (n.function.evaluate for n in ordered(expression) if isinstance(n, Apply))
    # The angle jumps where one argument vanishes and the other is negative.
    return all(
        f is np.where or (isinstance(f, np.ufunc) and f is not np.arctan2) for f in functions
    )


@functools.lru_cache(maxsize=512)
def switches(expression: Expression) -> tuple[Switch, ...]:
    """Return every switch of a graph, each once; those on unknowns among them."""
    found: list[Switch] = []
    seen: set[tuple[int, bool]] = set()
    # Whether a bend of the node matters, or its jumps only.
    stack: list[tuple[Expression, bool]] = [(expression, True)]
    while stack:
        node, bends = stack.pop()
        if (id(node), bends) in seen or not isinstance(node, Apply):
            continue
        seen.add((id(node), bends))
        found += (s for s in _own(node) if s.jumps or bends)
        ufunc = node.function.evaluate
        stack += [(a, bends and ufunc not in _BLUNT) for a in node.arguments]
        if ufunc is np.where:
            stack[-len(node.arguments)] = (node.arguments[0], False)
    return tuple(found)


def _own(node: Apply) -> Iterator[Switch]:
    """Return the switches of one node."""
    ufunc, arguments = node.function.evaluate, node.arguments
    power = arguments[-1]
    broken = isinstance(power, Constant) and power.value != round(power.value)
    if ufunc in COMPARISONS:
        yield Switch(apply(np.subtract, *arguments))
    elif ufunc in _LARGER:
        yield Switch(apply(np.subtract, *arguments), jumps=False)
    elif ufunc in _SIGNS:
        yield Switch(arguments[0])
    elif ufunc in _WHOLE:
        yield Switch(arguments[0], period=1.0)
    elif ufunc is np.rint:
        yield Switch(arguments[0], period=1.0, first=0.5)
    elif ufunc in _PARTS:
        yield Switch(apply(np.true_divide, *arguments), period=1.0)
    elif ufunc is np.copysign:
        yield Switch(arguments[1])
    elif ufunc in (np.absolute, np.fabs):
        yield Switch(arguments[0], jumps=False)
    elif ufunc in _ROOTS or (ufunc in (np.power, np.float_power) and broken):
        yield Switch(arguments[0], jumps=False, crosses=False)
    elif isinstance(node.function, OpaqueFunction):
        for argument, breaks in zip(arguments, node.function.breaks, strict=False):
            yield from (
                Switch(argument, first=place, jumps=node.function.jumps_at(place))
                for place in breaks
            )


def jumps_along(expression: Expression, coordinate: str) -> tuple[Switch, ...]:
    """Return the switches at which a function jumps along a coordinate, or along an unknown.

    On a ring the seam is one of them if values at both ends differ.
    """
    found = [
        s
        for s in switches(expression)
        if s.jumps and (coordinate in named_in(s.argument) or derivatives_in(s.argument))
    ]
    leaves = (n for n in ordered(expression) if isinstance(n, Coordinate) and n.name == coordinate)
    rings = [leaf for leaf in leaves if leaf.seam is not None]
    if rings and torn_at_seam(expression, rings[0]):
        found.append(Switch(rings[0]))
    return tuple(found)


@functools.lru_cache(maxsize=512)
def torn_at_seam(expression: Expression, ring: Coordinate) -> bool:
    """Tell whether values differ at both ends of a coordinate along which a domain is periodic.

    Everything else in the expression is drawn.
    """
    assert ring.seam is not None
    low, high = ring.seam
    x = np.repeat([low, high, *np.linspace(low, high, 7)[1:-1]], _DRAWN)
    drawn = np.random.default_rng(0)
    leaves = [n for n in ordered(expression) if isinstance(n, Leaf)]
    env = {n.key: np.tile(drawn.uniform(0.5, 1.5, _DRAWN), 7) for n in leaves} | {ring.key: x}
    with np.errstate(all="ignore"):
        values = np.broadcast_to(evaluate(expression, env), x.shape).reshape(7, _DRAWN)
        off = np.abs(values[1] - values[0]) > _SEAM * np.abs(values).max(axis=0)
    return bool(np.any(off))


def parallel_parts(switch: Switch) -> tuple[Switch, ...] | None:
    """Return switches on one coordinate each at which a switch on several switches.

    x y changes its sign where x or y does, max(|x|, |y|) passes through 1 where |x| or |y| does.
    None where that is not known: the edge is then a curve, or a line across the axes.
    """
    return parts_where(
        switch, lambda s: len(named_in(s.argument)) < 2 and not derivatives_in(s.argument)
    )


def parts_where(switch: Switch, plain: Callable[[Switch], bool]) -> tuple[Switch, ...] | None:
    """Return plain switches at which a switch switches; None where they are not known."""
    out: list[Switch] = []
    stack = [switch]
    while stack:
        part = stack.pop()
        node, first = part.argument, part.first
        if plain(part):
            out.append(part)
            continue
        if _is_stepwise(node):
            # What stands inside the steps switches on its own.
            continue
        if part.period or not isinstance(node, Apply):
            return None
        inner = _peeled(node, first)
        if inner is None:
            return None
        stack += [replace(part, argument=a, first=v) for a, v in inner]
    return tuple(out)


def _peeled(node: Apply, value: float) -> list[tuple[Expression, float]] | None:
    """Return equations g = w of which one holds wherever a node passes through a value."""
    ufunc, arguments = node.function.evaluate, node.arguments
    if ufunc in (np.negative, np.positive):
        return [(arguments[0], -value if ufunc is np.negative else value)]
    if ufunc in (np.absolute, np.fabs):
        return [(arguments[0], value), (arguments[0], -value)]
    if ufunc in _LARGER:
        return [(a, value) for a in arguments]
    if ufunc in (np.multiply, np.true_divide) and value == 0.0:
        return [(a, 0.0) for a in arguments if not isinstance(a, Constant)]
    if ufunc in (np.add, np.subtract):
        first, second = arguments
        sign = 1.0 if ufunc is np.add else -1.0
        if isinstance(second, Constant):
            return [(first, value - sign * second.value)]
        if isinstance(first, Constant):
            return [(second, sign * (value - first.value))]
    return None


def _is_stepwise(expression: Expression) -> bool:
    """Tell whether all coordinates and unknowns of a graph stand inside functions with steps."""
    smooth: set[int] = set()
    for node in ordered(expression):
        inside = isinstance(node, Apply) and any(id(a) in smooth for a in node.arguments)
        blunt = isinstance(node, Apply) and node.function.evaluate in _BLUNT
        if isinstance(node, Coordinate | Derivative) or (inside and not blunt):
            smooth.add(id(node))
    return id(expression) not in smooth


def named_in(expression: Expression) -> set[str]:
    """Return the names of the coordinates in a graph."""
    return {n.name for n in ordered(expression) if isinstance(n, Coordinate)}


def edges_along(
    expression: Expression,
    coordinate: str,
    low: float,
    high: float,
    others: Mapping[str, float] | None = None,
) -> tuple[Edge, ...]:
    """Return the edges of a function along one coordinate, strictly between two ends, sorted.

    Switches on unknowns, or on coordinates without a value in `others`, are passed over.
    """
    found: list[Edge] = []
    for switch in (p for s in switches(expression) for p in parallel_parts(s) or (s,)):
        along = Along(switch.argument, coordinate, low, high, others or {})
        if not along.varies(switch.argument) or not along.known(switch.argument):
            continue
        values = [switch.first]
        if switch.period:
            values = levels(switch.argument, along, switch.period, switch.first)
        for value in values:
            for x in places(switch.argument, value, along):
                found += _confirmed(switch, value, x, along)
    # Edges inside, sorted, those of neighbouring floats as one.
    out: list[Edge] = []
    for edge in sorted(found, key=lambda e: e.above):
        if not low < edge.above < high:
            continue
        if out and edge.above - out[-1].above <= 4.0 * np.spacing(abs(edge.above)):
            out[-1] = Edge(out[-1].below, edge.above, out[-1].jumps or edge.jumps)
        else:
            out.append(edge)
    return tuple(out)


def places_along(expression: Expression, coordinate: str, low: float, high: float) -> Values:
    """Return the places of `edges_along`, (n,)."""
    return np.array([e.above for e in edges_along(expression, coordinate, low, high)])


def _confirmed(switch: Switch, value: float, x: float, along: Along) -> list[Edge]:
    """Return the edge at a place where the switch does change its sign, to two floats."""
    unit = max(float(np.spacing(abs(x))), 1e-18 * (along.high - along.low))

    def side(at: Values) -> Values:
        return np.sign(along.values(switch.argument, at) - value)

    around = side(np.concatenate([x - unit * _ROUNDING, x + unit * _ROUNDING]))
    half = len(_ROUNDING)
    apart = np.flatnonzero(around[:half] * around[half:] < 0.0)
    if not len(apart):
        return [Edge(x, x, switch.jumps)] if not switch.crosses else []
    reach = unit * _ROUNDING[apart[0]]
    below, above = x - reach, x + reach
    before = float(side(np.array([below]))[0])
    while above - below > unit:
        middle = 0.5 * (below + above)
        if middle in (below, above):
            break
        if float(side(np.array([middle]))[0]) == before:
            below = middle
        else:
            above = middle
    return [Edge(below, above, switch.jumps)]
