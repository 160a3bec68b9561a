"""A problem in time in the plane.

An unknown has time derivatives up to the second, or none where an equation without them determines
it. At the stages of a step rates are combinations of stages, so that a step with given tangents
falls apart into stationary problems, one for each eigenvalue of Radau's matrix (`tangents`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.edges import switches
from sharpfront.equation.expression import TIME, Coordinate, Derivative, Key
from sharpfront.equation.graph import ordered
from sharpfront.equation.operator import Operator
from sharpfront.equation.values import environment
from sharpfront.geometry import BoundaryPoints
from sharpfront.problem import PointCondition, Problem
from sharpfront.problem.initial import time_order, velocity_name
from sharpfront.rounding import SLIGHT

InSpace = tuple[int, int]
# Returns a derivative of an unknown at points, (m,).
DerivativeValues = Callable[[Derivative], FloatArray]
# The highest derivative by time.
MOST_RATES = 2
# Points of each part of the boundary that are looked at.
ON_EDGE = 256
# How far from the boundary second derivatives of a start are taken, of the domain: differences lose
# twice as many digits as those of slopes.
CLOSE_TWICE = 1e-4
# What is taken at one, two and three steps from a place goes on to it as a parabola does.
TO_THE_PLACE = np.array([3.0, -3.0, 1.0])
# The slope there of the parabola through these three, in steps.
SLOPE_AT_THE_PLACE = np.array([-2.5, 4.0, -1.5])


@dataclass(frozen=True, eq=False)
class PlaneSystem:
    """What is marched in time in the plane.

    Parameters
    ----------
    problem
        As it was stated.
    """

    problem: Problem

    @property
    def unknowns(self) -> tuple[str, ...]:
        """Their names."""
        return self.problem.unknowns

    @property
    def space(self) -> tuple[str, ...]:
        """The names of the coordinates in the plane."""
        return self.problem.domain.coordinates

    @cached_property
    def orders(self) -> tuple[int, ...]:
        """How often each unknown is differentiated by time."""
        p = self.problem
        return tuple(time_order(p.equations, u, p.coordinates) for u in p.unknowns)

    @cached_property
    def equations(self) -> tuple[Operator, ...]:
        """What holds inside."""
        return tuple(Operator(e) for e in self.problem.equations)

    @cached_property
    def conditions(self) -> tuple[tuple[Operator, ...], ...]:
        """What holds on each part of the boundary, then at each point."""
        stated = [(c.residuals, f"condition on {c.part!r}") for c in self.problem.conditions]
        stated += [(c.residuals, f"condition at {c.point}") for c in self._points]
        return tuple(tuple(Operator(r, what) for r in own) for own, what in stated)

    @property
    def _points(self) -> list[PointCondition]:
        return [c for c in self.problem.further if isinstance(c, PointCondition)]

    @cached_property
    def is_linear(self) -> bool:
        """Whether one solve is enough for a step."""
        return all(r.is_linear for r in [*self.equations, *(r for c in self.conditions for r in c)])

    @cached_property
    def is_steady(self) -> bool:
        """Whether tangents stay the same: the system is linear, with factors free of time."""
        every = [*self.equations, *(r for c in self.conditions for r in c)]
        free = all(
            not any(isinstance(n, Coordinate) and n.name == TIME for n in ordered(t.coefficient))
            for r in every
            for t in r.terms
        )
        return self.is_linear and free

    @cached_property
    def diffuses(self) -> bool:
        """Whether every unknown with a rate of first order has higher derivatives in space too."""
        spread = {d.unknown for e in self.equations for d in e.derivatives if sum(d.orders[:2]) > 1}
        moving = [u for u, order in zip(self.unknowns, self.orders, strict=True) if order]
        return max(self.orders) < 2 and spread.issuperset(moving)

    def derivatives(self, residuals: Sequence[Operator]) -> list[InSpace]:
        """Return all derivatives in space of residuals, that of none among them."""
        found = {(0, 0)}
        for r in residuals:
            found |= {(d.orders[0], d.orders[1]) for d in r.derivatives}
        return sorted(found)

    @cached_property
    def hides(self) -> bool:
        """Whether formulas may do something between the stages of a step: with t, at a switch."""
        every = [*self.equations, *(r for own in self.conditions for r in own)]
        return any(
            switches(r.expression)
            or any(isinstance(n, Coordinate) and n.name == TIME for n in ordered(r.expression))
            for r in every
        )

    def leaves(
        self,
        residual: Operator,
        points: FloatArray,
        t: FloatArray | float,
        known: DerivativeValues,
        normals: FloatArray | None = None,
    ) -> dict[Key, FloatArray]:
        """Return what a residual is made of at points (m, 2) and moments.

        Parameters
        ----------
        residual
            Which.
        points, t, normals
            Where and when, and which way out.
        known
            Returns a derivative of an unknown there, (m,).
        """
        found = environment(self.space, points, normals)
        found["coordinate", TIME] = np.broadcast_to(np.asarray(t, dtype=float), len(points))
        return found | {leaf.key: known(leaf) for leaf in residual.derivatives}

    def contradictions(self, tol: float) -> tuple[str, ...]:
        """Return in words where the initial state does not meet conditions on unknowns alone."""
        span = self.problem.time
        assert span is not None
        return tuple(
            f"the initial state misses the condition on {part!r} by {by:.1e}"
            for part, by in self.jumps(span[0], tol)
        )

    def jumps(self, t: float, least: float) -> list[tuple[str, float]]:
        """Return on which parts conditions on unknowns alone ask for others at once, by how much.

        At the start they may ask for another than the initial state, and later jump by themselves.
        """
        span = self.problem.time
        assert span is not None
        near = 1e-9 * (span[1] - span[0])
        after, before = self._missed_towards(t, near), self._missed_towards(t, -near)
        if t <= span[0]:
            before = [(part, np.zeros_like(by)) for part, by in after]
        every = [
            (part, float(np.abs(new - old).max()))
            for (part, new), (_, old) in zip(after, before, strict=True)
        ]
        return [(part, by) for part, by in every if by > least]

    def _missed_towards(self, t: float, near: float) -> list[tuple[str, FloatArray]]:
        """Return the same right after a moment, or before: what changes fast does not jump."""
        both = zip(self._missed(t + near), self._missed(t + 2.0 * near), strict=True)
        return [(part, 2.0 * close - further) for (part, close), (_, further) in both]

    def _missed(self, t: float) -> list[tuple[str, FloatArray]]:
        """Return by how much the initial state misses each condition on unknowns alone."""
        out = []
        for condition, own in zip(self.problem.conditions, self.conditions, strict=False):
            edge = self.problem.domain.boundary(condition.part, ON_EDGE)
            start = dict(zip(self.unknowns, self.initial(edge.points)[0], strict=True))
            known = partial(_of_unknown, start)
            for residual in own:
                inside = residual.derivatives
                if any(any(d.orders) or not self._order(d.unknown) for d in inside):
                    continue
                leaves = self.leaves(residual, edge.points, t, known, edge.normals)
                slopes = residual.tangents(leaves, len(edge.points))
                slope = max(float(np.abs(s).max()) for s in slopes)
                left = residual.at(leaves, len(edge.points))
                out.append((condition.part, np.asarray(left) / max(slope, 1e-300)))
        return out

    def misses_slopes(self, least: float) -> bool:
        """Tell whether the initial state misses a condition on slopes, by more over the domain."""
        domain, span = self.problem.domain, self.problem.time
        assert span is not None
        extent = float(np.ptp(domain.bounds, axis=0).max())
        for condition, own in zip(self.problem.conditions, self.conditions, strict=False):
            edge = domain.boundary(condition.part, ON_EDGE)
            known, count = self._beside(edge, SLIGHT * extent), len(edge.points)
            for residual in own:
                if {sum(d.orders) for d in residual.derivatives} not in ({1}, {0, 1}):
                    continue
                leaves = self.leaves(residual, edge.points, span[0], known, edge.normals)
                slope = max(float(np.abs(s).max()) for s in residual.tangents(leaves, count))
                left = float(np.abs(residual.at(leaves, count)).max())
                if left * extent > least * slope:
                    return True
        return False

    def misses_rates(self, least: float) -> bool:
        """Tell whether values held on a side change otherwise than equations do, by more over time.

        What that makes is a layer that grows from the side.
        """
        domain, span = self.problem.domain, self.problem.time
        assert span is not None
        extent = float(np.ptp(domain.bounds, axis=0).max())
        for condition, own in zip(self.problem.conditions, self.conditions, strict=False):
            edge = domain.boundary(condition.part, ON_EDGE)
            beside = self._beside(edge, CLOSE_TWICE * extent)
            for residual in own:
                if len(residual.derivatives) != 1 or any(residual.derivatives[0].orders):
                    continue
                rate = self._held_rate(residual, edge, beside)
                gap = self._rate_gap(residual.derivatives[0].unknown, rate, edge, beside)
                if gap * (span[1] - span[0]) > least:
                    return True
        return False

    def _held_rate(
        self, residual: Operator, edge: BoundaryPoints, beside: DerivativeValues
    ) -> FloatArray:
        """Return how fast a value that a condition holds changes at the start, (m,)."""
        span, count = self.problem.time, len(edge.points)
        assert span is not None
        soon = SLIGHT * (span[1] - span[0])
        moments = [
            self.leaves(residual, edge.points, span[0] + k * soon, beside, edge.normals)
            for k in (1, 2, 3)
        ]
        left = np.stack([residual.at(leaves, count) for leaves in moments])
        (slope,) = residual.tangents(moments[0], count)
        return np.asarray(-(SLOPE_AT_THE_PLACE @ left) / soon / np.where(slope == 0, np.inf, slope))

    def _rate_gap(
        self, unknown: str, rate: FloatArray, edge: BoundaryPoints, beside: DerivativeValues
    ) -> float:
        """Return how far rates of an unknown at an edge are from what equations ask, at most."""
        worst, count = 0.0, len(edge.points)
        assert self.problem.time is not None

        def known(leaf: Derivative) -> FloatArray:
            return rate if leaf.orders[2] else beside(leaf)

        for equation in self.equations:
            timed = {(d.unknown, d.orders) for d in equation.derivatives if d.orders[2]}
            if timed != {(unknown, (0, 0, 1))} or any(
                sum(d.orders[:2]) > 2 for d in equation.derivatives
            ):
                continue
            leaves = self.leaves(equation, edge.points, self.problem.time[0], known, edge.normals)
            left = np.abs(equation.at(leaves, count))
            pairs = zip(equation.terms, equation.tangents(leaves, count), strict=True)
            (c,) = (np.abs(tangent) for term, tangent in pairs if term.orders[2])
            found = left / np.where(c == 0, np.inf, c)
            worst = max(worst, float(found[np.isfinite(found)].max(initial=0.0)))
        return worst

    def _beside(self, edge: BoundaryPoints, close: float) -> DerivativeValues:
        """Return the initial state as it goes on to the boundary, and its derivatives up to two."""
        inside = [edge.points - 2.0 * k * close * edge.normals for k in (1, 2, 3)]

        def known(leaf: Derivative) -> FloatArray:
            k = self.unknowns.index(leaf.unknown)
            places, shares = np.zeros((1, 2)), np.ones(1)
            for axis in np.repeat([0, 1], leaf.orders[:2]):
                step = close * np.eye(2)[axis] / 2.0
                places = np.concatenate([places + step, places - step])
                shares = np.concatenate([shares, -shares]) / close
            seen = [[self.initial(at + place)[0, k] for place in places] for at in inside]
            return np.asarray(TO_THE_PLACE @ (shares @ np.array(seen)))

        return known

    def data(self, points: FloatArray, t: FloatArray) -> FloatArray:
        """Return what equations make of drawn unknowns at points and moments, (moments E, m).

        What stands out in it is the formulas' doing: sources, coefficients.
        """
        draw = np.random.default_rng(0)
        out = []
        for moment, equation in itertools.product(t.tolist(), self.equations):
            leaves = self.leaves(
                equation, points, moment, lambda _: np.full(len(points), draw.uniform(0.5, 1.5))
            )
            out.append(equation.at(leaves, len(points)))
        return np.stack(out)

    def _order(self, unknown: str) -> int:
        return self.orders[self.unknowns.index(unknown)]

    def initial(self, points: FloatArray) -> FloatArray:
        """Return unknowns and their rates at the start, (2, K, m); zero where none are stated."""
        state = self.problem.initial
        assert state is not None
        out = np.zeros((2, len(self.unknowns), len(points)))
        for k, (name, order) in enumerate(zip(self.unknowns, self.orders, strict=True)):
            for j, own in enumerate((name, velocity_name(name))[:order]):
                out[j, k] = state.values(own, points)
        return out


def _of_unknown(states: Mapping[str, FloatArray], leaf: Derivative) -> FloatArray:
    return states[leaf.unknown]
