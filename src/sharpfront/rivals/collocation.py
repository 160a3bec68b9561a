"""Equation and conditions at points, fitted by least squares: what many rivals share.

Nonlinear problems by Newton's method on the same least-squares problem. Time is one more
coordinate, with the state at its start as a condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Derivative, Expression
from sharpfront.equation.graph import derivatives_in, evaluate
from sharpfront.equation.linearise import tangent_terms
from sharpfront.equation.values import environment
from sharpfront.geometry import Domain
from sharpfront.geometry.domain import SpaceTime
from sharpfront.kernels.basis import Basis
from sharpfront.problem import Problem
from sharpfront.problem.initial import time_order, velocity_name
from sharpfront.rivals.contract import Found, Rival, Subject, has_integrals
from sharpfront.solution.approximation import Approximation, as_points, split_weights

# Newton's steps at most; twice as many changed no race.
_NEWTON_STEPS = 30
_CLOSE_ENOUGH = 1e-12
# By an unknown's name and orders of derivatives.
Tables = dict[tuple[str, tuple[int, ...]], FloatArray]


def region(problem: Problem) -> Domain:
    """Return where the unknowns live, time included."""
    return problem.domain if problem.time is None else SpaceTime(problem.domain, problem.time)


@dataclass(frozen=True, eq=False)
class Held:
    """A residual that is to vanish at points."""

    residual: Expression  # of the unknowns
    # (m, d), and outward normals (m, space) on a boundary.
    points: FloatArray
    normals: FloatArray | None = None
    known: FloatArray | None = None  # what the residual is to be instead of zero, (m,)
    # Points (m, d) at which a derivative has the same values: the other end of a period.
    mirror: FloatArray | None = None
    inside: bool = False

    def tables(self, bases: Mapping[str, Basis]) -> Tables:
        """Return each derivative in the residual of each function there, (m, n), less mirrored."""

        def at(points: FloatArray) -> Tables:
            keys = [(leaf.unknown, leaf.orders) for leaf in derivatives_in(self.residual)]
            return {(n, k): np.asarray(bases[n].matrix(points, k)) for n, k in keys}

        found = at(self.points)
        if self.mirror is not None:
            found = {key: found[key] - table for key, table in at(self.mirror).items()}
        return found

    def linear(
        self, coordinates: Sequence[str], tables: Tables, weights: Mapping[str, FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        """Return matrix (m, n) and right side (m,) of the tangent about weights."""
        leaves: dict[Any, Any] = dict(environment(coordinates, self.points, self.normals))
        for (name, orders), table in tables.items():
            leaves[("derivative", name, orders)] = table @ weights[name]
        count = len(self.points)
        parts = {name: np.zeros((count, len(own))) for name, own in weights.items()}
        for term in tangent_terms(self.residual):
            c = np.broadcast_to(evaluate(term.coefficient, leaves), (count,))
            parts[term.unknown] += c[:, None] * tables[term.unknown, term.orders]
        matrix = np.concatenate(list(parts.values()), axis=1)
        value = evaluate(self.residual, leaves) - (0.0 if self.known is None else self.known)
        return matrix, matrix @ np.concatenate(list(weights.values())) - value


def held_at(problem: Problem, inside: FloatArray, per_face: int, seed: int = 0) -> list[Held]:
    """Return all that is to hold: equations at points (m, d), conditions, the state at the start.

    There are `per_face` points on each part of the boundary, and at the start of time.
    """
    found = [Held(equation, inside, inside=True) for equation in problem.equations]
    for condition in problem.conditions:
        face = problem.domain.boundary(condition.part, per_face, seed)
        points, normals = _over_time(problem, face.points, face.normals, per_face)
        found += [Held(residual, points, normals) for residual in condition.residuals]
    for further in problem.further:
        point = np.array([further.point])  # type: ignore[union-attr]
        found += [Held(residual, point) for residual in further.residuals]
    return [*found, *_start(problem, per_face, seed), *_periods(problem, per_face, seed)]


def _over_time(
    problem: Problem, points: FloatArray, normals: FloatArray, count: int
) -> tuple[FloatArray, FloatArray]:
    """Return points of space at moments spread over the span."""
    if problem.time is None:
        return points, normals
    rows = np.resize(np.arange(len(points)), count)
    # The golden section keeps moments and places from moving together.
    share = (np.arange(count) * 0.6180339887498949) % 1.0
    share[: min(2, count)] = (0.0, 1.0)[:count]
    moments = problem.time[0] + share * (problem.time[1] - problem.time[0])
    return np.hstack([points[rows], moments[:, None]]), normals[rows]


def _start(problem: Problem, count: int, seed: int) -> Iterator[Held]:
    if problem.time is None or problem.initial is None:
        return
    d = problem.domain.dimension
    space = problem.domain.sample((2 if d > 1 else 4) * count, "quasi", seed)
    if d == 1:
        space = np.vstack([space, problem.domain.bounds])
    points = np.hstack([space, np.full((len(space), 1), problem.time[0])])
    for name in problem.unknowns:
        order = time_order(problem.equations, name, problem.coordinates)
        for k, state in enumerate((name, velocity_name(name))[:order]):
            leaf = Derivative(name, problem.coordinates, (*(0,) * d, k))
            yield Held(leaf, points, known=problem.initial.values(state, space))


def _periods(problem: Problem, count: int, seed: int) -> Iterator[Held]:
    domain = region(problem)
    low, high = domain.bounds
    leaves = [leaf for e in problem.equations for leaf in derivatives_in(e)]
    for axis in np.flatnonzero(domain.periodic_axes):
        draw = np.random.default_rng([seed, int(axis)])
        points = low + draw.random((count, len(low))) * (high - low)
        points[:, axis] = low[axis]
        mirror = points.copy()
        mirror[:, axis] = high[axis]
        for name in problem.unknowns:
            order = max((x.orders[axis] for x in leaves if x.unknown == name), default=0)
            for k in range(order):
                orders = tuple(k if i == axis else 0 for i in range(len(low)))
                leaf = Derivative(name, problem.coordinates, orders)
                yield Held(leaf, points, mirror=mirror)


def collocated(
    subject: Subject, bases: Mapping[str, Basis], held: Sequence[Held], *, unit_rows: bool = False
) -> Approximation:
    """Return the least-squares solution of all that is to hold, by Newton's method from the guess.

    With unit rows, they are divided by their norms first, and those of conditions then weigh as
    much as all the others together.
    """
    problem = subject.problem
    tables = [each.tables(bases) for each in held]
    weights = _fitted_guess(subject, bases, held[0].points)
    for _ in range(1 if problem.is_linear else _NEWTON_STEPS):
        both = zip(held, tables, strict=True)
        blocks = [h.linear(problem.coordinates, t, weights) for h, t in both]
        if unit_rows:
            blocks = _with_unit_rows(held, blocks)
        matrix, right = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        new = split_weights(_least_squares(matrix, right), bases)
        change = max(float(np.max(np.abs(new[n] - weights[n]))) for n in new)
        size = max(float(np.max(np.abs(w))) for w in new.values())
        weights = new
        if not change > _CLOSE_ENOUGH * size:
            break
    return Approximation(problem.coordinates, bases, weights)


def _fitted_guess(
    subject: Subject, bases: Mapping[str, Basis], points: FloatArray
) -> dict[str, FloatArray]:
    if subject.guess is None or subject.problem.is_linear:
        return {name: np.zeros(basis.size) for name, basis in bases.items()}
    start, none = subject.start(points), (0,) * points.shape[1]
    return {
        name: _least_squares(np.asarray(basis.matrix(points, none)), start[name])
        for name, basis in bases.items()
    }


def _with_unit_rows(
    held: Sequence[Held], blocks: Sequence[tuple[FloatArray, FloatArray]]
) -> list[tuple[FloatArray, FloatArray]]:
    many = sum(len(each.points) for each in held if each.inside)
    found = []
    for each, (matrix, right) in zip(held, blocks, strict=True):
        norms = np.linalg.norm(matrix, axis=1)
        factor = 1.0 / np.where(norms > 0, norms, 1.0)
        if not each.inside:
            factor = factor * np.sqrt(many / len(right))
        found.append((matrix * factor[:, None], right * factor))
    return found


def _least_squares(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Return the solution of smallest norm with columns of norm one."""
    if not (np.isfinite(matrix).all() and np.isfinite(right).all()):
        raise ArithmeticError("the rows are not finite: Newton's method went astray")
    norms = np.linalg.norm(matrix, axis=0)
    scale = np.where(norms > 0, norms, 1.0)
    return np.asarray(np.linalg.lstsq(matrix / scale, right, rcond=None)[0] / scale)


def fitted(
    subject: Subject,
    bases: Mapping[str, Basis],
    rows: FloatArray,
    seed: int,
    unit_rows: bool = True,
) -> Approximation:
    """Return the fit with the equations at `rows`, (m, d), and as many conditions as belong."""
    faces = per_face(len(rows), rows.shape[1])
    held = held_at(subject.problem, rows, faces, seed)
    return collocated(subject, bases, held, unit_rows=unit_rows)


class AtPoints(Rival):
    """A method that takes any problem whose conditions hold at points."""

    def applies(self, subject: Subject) -> str:
        """Return why not."""
        problem = subject.problem
        if has_integrals(problem):
            return "a condition is an integral"
        if problem.is_singular:
            return "loads or fluxes that jump have no value at points"
        both = problem.time and problem.further
        return "a condition at a point of space holds at all times" if both else ""


@dataclass(frozen=True, eq=False)
class Tabled:
    """Functions by their tables; what rivals find is not kept."""

    size: int
    dimension: int
    # From points (m, d) and orders: d^orders of each function at each point, (m, n).
    matrix: Callable[[FloatArray, Sequence[int]], FloatArray]

    @property
    def kernels(self) -> int:
        """The number of functions."""
        return self.size

    def values(self, weights: FloatArray, points: FloatArray, orders: Sequence[int]) -> FloatArray:
        """Return d^orders of the weighted sum at each point, (m,), some points at a time."""
        step = max(1, 2_000_000 // self.size)
        starts = range(0, max(len(points), 1), step)
        return np.concatenate([self.matrix(points[i : i + step], orders) @ weights for i in starts])

    def state(self) -> dict[str, Any]:
        """Return nothing."""
        return {}


def as_functions(approximation: Approximation) -> Found:
    """Return the unknowns of an approximation as functions of the coordinates."""
    return {n: partial(_value, approximation, n) for n in approximation.bases}


def _value(approximation: Approximation, name: str, *coordinates: Any) -> Any:
    points, shape = as_points(approximation.coordinates, coordinates)
    return approximation.values(name, points, (0,) * points.shape[1]).reshape(shape)


def per_face(inside: int, dimension: int) -> int:
    """Return points on a face for so many inside, as a grid would have them; at least 20."""
    return max(20, round(2 * inside ** ((dimension - 1) / dimension))) if dimension > 1 else 1
