"""What formulas do with place and time: their unknowns held, every part looked at by itself.

A part is a node of a formula's graph that depends on time. The sum of a large part and a small one
hides what the small one does; by itself it does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sharpfront.arrays import Flags, FloatArray
from sharpfront.equation.edges import places_along
from sharpfront.equation.expression import (
    TIME,
    Apply,
    Constant,
    Coordinate,
    Derivative,
    Expression,
    Key,
    Leaf,
    Normal,
)
from sharpfront.equation.graph import evaluate, evaluate_nodes, ordered
from sharpfront.equation.linearise import substitute
from sharpfront.geometry import Domain
from sharpfront.problem import Problem
from sharpfront.trust.settings import TRUST

# Unknowns that start from zero are held at this, so that no term drops out.
GENERIC = 0.37
# What a node has beside constants under these is seen at that.
_SCALED = frozenset((np.add, np.subtract, np.negative, np.positive, np.multiply))


@dataclass(frozen=True, eq=False)
class Formula:
    """A residual as a function of place and time."""

    stated: Expression  # with its unknowns
    held: Expression  # with numbers in place of the unknowns and their derivatives
    names: tuple[str, ...]  # of the coordinates of space
    points: FloatArray  # spread over where the formula holds, (n, d)
    bounds: FloatArray  # of where it holds, (2, d)
    domain: Domain | None = None  # inside of which it holds; None where at the points only

    @property
    def on_boundary(self) -> bool:
        """Whether it holds at the points only."""
        return self.domain is None

    def holds(self, points: FloatArray) -> Flags:
        """Tell at which points (n, d) it may hold."""
        inside = np.ones(len(points), dtype=bool)
        return inside if self.domain is None else self.domain.contains(points)

    @cached_property
    def _dependence(self) -> dict[int, frozenset[str]]:
        return dependence(self.held)

    @cached_property
    def parts(self) -> tuple[Apply, ...]:
        """What depends on time, each part once: multiples of another part are left out."""
        return tuple(
            node
            for node in ordered(self.held)
            if isinstance(node, Apply)
            and TIME in self._dependence[id(node)]
            and not _is_multiple(node)
        )

    @cached_property
    def local_parts(self) -> tuple[Apply, ...]:
        """What depends on the place, each part once."""
        return tuple(
            node
            for node in ordered(self.held)
            if isinstance(node, Apply) and self.local(node) and not _is_multiple(node)
        )

    def local(self, node: Expression) -> bool:
        """Tell whether a node depends on the place too."""
        return bool(self._dependence[id(node)] - {TIME})

    def along(self, name: str) -> Iterator[Apply]:
        """Yield the nodes that depend on one coordinate alone."""
        for node in ordered(self.held):
            if isinstance(node, Apply) and self._dependence[id(node)] == {name}:
                yield node

    def values(
        self, nodes: Sequence[Expression], points: FloatArray, t: FloatArray
    ) -> list[FloatArray]:
        """Return nodes at points (..., d) and times (...), which broadcast together."""
        with np.errstate(all="ignore"):
            every = evaluate_nodes(self.held, self.leaves(points, t))
        return [every[id(n)] for n in nodes]

    def leaves(self, points: FloatArray, t: FloatArray) -> dict[Key, FloatArray]:
        """Return the coordinates at points (..., d) and times (...), by their keys."""
        leaves: dict[Key, FloatArray] = {
            ("coordinate", name): points[..., i] for i, name in enumerate(self.names)
        }
        return leaves | {("coordinate", TIME): t}

    def value(self, node: Expression, points: FloatArray, t: FloatArray) -> FloatArray:
        """Return one node at points (n, d) and times that broadcast with (n,)."""
        with np.errstate(all="ignore"):
            found = evaluate(node, self.leaves(points, t))
        return np.asarray(np.broadcast_to(found, np.broadcast_shapes(points.shape[:-1], t.shape)))


def held_numbers(problem: Problem, names: tuple[str, ...]) -> dict[str, float]:
    """Return a number for each unknown, as it starts.

    Names are those of the unknowns, with rates of change that were added to them.
    """
    low, _ = problem.domain.bounds
    inside = problem.domain.sample(65, "grid" if len(low) == 1 else "quasi")
    assert problem.initial is not None
    stated = problem.initial.states
    states = {n: np.median(problem.initial.values(n, inside)) for n in names if n in stated}
    return {n: float(states.get(n, 0.0)) or GENERIC for n in names}


def formula(
    expression: Expression,
    problem: Problem,
    points: FloatArray,
    numbers: dict[str, float],
    *,
    on_boundary: bool = False,
) -> Formula:
    """Return a residual that holds at points (n, d), its unknowns held at numbers.

    `on_boundary` it holds at the points only, not in the domain between them.
    """
    low, high = problem.domain.bounds
    length = float(np.max(high - low))
    space = problem.coordinates[:-1]
    bounds = [points.min(axis=0), points.max(axis=0)] if on_boundary else [low, high]
    held = _with_numbers(expression, numbers, length)
    domain = None if on_boundary else problem.domain
    return Formula(expression, held, space, points, np.stack(bounds), domain)


def dependence(expression: Expression) -> dict[int, frozenset[str]]:
    """Return the coordinates on which each node of a graph depends, by the node's id."""
    found: dict[int, frozenset[str]] = {}
    for node in ordered(expression):
        own = frozenset((node.name,)) if isinstance(node, Coordinate) else frozenset[str]()
        inner = node.arguments if isinstance(node, Apply) else ()
        found[id(node)] = own.union(*(found[id(a)] for a in inner))
    return found


def is_opaque(node: Expression) -> bool:
    """Tell whether a node applies a function that the graph does not look into."""
    if not isinstance(node, Apply):
        return False
    return not (isinstance(node.function.evaluate, np.ufunc) or node.function.evaluate is np.where)


def _is_multiple(node: Apply) -> bool:
    """Tell whether a node is another one times a constant, plus a constant."""
    ufunc = node.function.evaluate
    varying = [a for a in node.arguments if not isinstance(a, Constant)]
    if len(varying) != 1 or not isinstance(varying[0], Apply | Coordinate):
        return False
    return ufunc in _SCALED or (ufunc is np.true_divide and varying[0] is node.arguments[0])


def _with_numbers(expression: Expression, states: dict[str, float], length: float) -> Expression:
    """Return a formula with numbers for its unknowns, derivatives of the size that fits them."""

    def number(leaf: Leaf) -> Expression:
        if isinstance(leaf, Derivative):
            size = states.get(leaf.unknown, GENERIC)
            return Constant(size / length ** sum(leaf.orders[:-1]))
        return Constant(GENERIC) if isinstance(leaf, Normal) else leaf

    return substitute(expression, number)


def hints(formula: Formula, name: str, low: float, high: float) -> FloatArray:
    """Return where along one coordinate something narrow may be.

    Narrow things stand where their argument vanishes or turns: exp(-((t - 0.4) / w)**2) at 0.4,
    however small w is, and beside the edges of comparisons.
    """
    if not low < high:
        return np.zeros(0)
    x = np.linspace(low, high, TRUST.along_one)
    nodes = list(formula.along(name))
    points, t = np.repeat(formula.points[:1], TRUST.along_one, axis=0), np.zeros(TRUST.along_one)
    if name == TIME:
        t = x
    else:
        points[:, formula.names.index(name)] = x
    values = (np.broadcast_to(y, x.shape) for y in formula.values(nodes, points, t))
    found = [_special(x, y) for y in values if np.isfinite(y).all()]
    edges = np.concatenate([[low], places_along(formula.stated, name, low, high), [high]])
    middles = 0.5 * (edges[1:] + edges[:-1]) if len(edges) > 2 else np.zeros(0)
    every = np.sort(np.concatenate([*found, edges, middles]))
    apart = np.diff(every, prepend=-np.inf) > 1e-12 * (high - low)
    inside = every[apart & (every > low) & (every < high)]
    return np.asarray(inside[:: max(1, -(-len(inside) // TRUST.most_hints))])


def _special(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return where values change their sign, and where they are largest and smallest."""
    i = np.flatnonzero(y[1:] * y[:-1] < 0.0)
    zeros = x[i] - y[i] * (x[i + 1] - x[i]) / (y[i + 1] - y[i])
    return np.concatenate([zeros, _exact(x, y), *map(_top, (y, -y), (x, x))])


def _top(y: FloatArray, x: FloatArray) -> FloatArray:
    """Return where a parabola through the largest value and its neighbours has its top."""
    i = int(np.argmax(y))
    if not 0 < i < len(y) - 1:
        return np.zeros(0)
    bend = y[i - 1] - 2.0 * y[i] + y[i + 1]
    shift = 0.5 * (y[i - 1] - y[i + 1]) / bend if bend else 0.0
    return np.array([x[i] + shift * (x[1] - x[0])])


def _exact(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the places of zeros that stand alone; where values are zero throughout is nothing."""
    zero = y == 0.0
    alone = zero & ~np.roll(zero, 1) & ~np.roll(zero, -1)
    return np.asarray(x[alone])
