"""Equation and conditions at points, fitted by least squares: what many rivals share.

Nonlinear problems by Newton's method on the same least-squares problem. Time is one more
coordinate, with the state at its start as a condition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Derivative, Expression
from sharpfront.equation.graph import derivatives_in, evaluate
from sharpfront.equation.linearise import Term, tangent_terms
from sharpfront.equation.values import environment
from sharpfront.geometry import Domain
from sharpfront.geometry.spacetime import SpaceTime
from sharpfront.kernels.basis import Basis
from sharpfront.problem import Problem
from sharpfront.problem.initial import time_order, velocity_name
from sharpfront.rivals.contract import Found, Rival, Subject, has_integrals
from sharpfront.solution.approximation import Approximation, as_points, split_weights

# Newton's steps at most; twice as many changed no race.
_NEWTON_STEPS = 30
_CLOSE_ENOUGH = 1e-12


def region(problem: Problem) -> Domain:
    """Return where the unknowns live, time included."""
    return problem.domain if problem.time is None else SpaceTime(problem.domain, problem.time)


@dataclass(frozen=True, eq=False)
class Held:
    """Residuals that are to vanish at points."""

    residuals: tuple[Expression, ...]  # expressions of the unknowns
    # (m, d), and outward normals (m, space) on a boundary.
    points: FloatArray
    normals: FloatArray | None = None
    known: FloatArray | None = None  # what the residuals are to be instead of zero, (m,)
    # Points (m, d) at which the residuals have the same values: the other end of a period.
    mirror: FloatArray | None = None
    inside: bool = False


def held_at(problem: Problem, inside: FloatArray, per_face: int, seed: int = 0) -> list[Held]:
    """Return all that is to hold: equations at points (m, d), conditions, the state at the start.

    There are `per_face` points on each part of the boundary, and at the start of time.
    """
    found = [Held(problem.equations, inside, inside=True)]
    for condition in problem.conditions:
        face = problem.domain.boundary(condition.part, per_face, seed)
        points, normals = _over_time(problem, face.points, face.normals, per_face)
        found.append(Held(condition.residuals, points, normals))
    for further in problem.further:
        found.append(Held(further.residuals, np.array([further.point])))  # type: ignore[union-attr]
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


def _start(problem: Problem, count: int, seed: int) -> list[Held]:
    if problem.time is None or problem.initial is None:
        return []
    count = 2 * count if problem.domain.dimension > 1 else 4 * count
    space = problem.domain.sample(count, "quasi", seed)
    if problem.domain.dimension == 1:
        space = np.vstack([space, problem.domain.bounds])
    points = np.hstack([space, np.full((len(space), 1), problem.time[0])])
    found = []
    for name in problem.unknowns:
        order = time_order(problem.equations, name, problem.coordinates)
        for k, state in enumerate((name, velocity_name(name))[:order]):
            orders = (*(0,) * problem.domain.dimension, k)
            leaf = Derivative(name, problem.coordinates, orders)
            found.append(Held((leaf,), points, known=problem.initial.values(state, space)))
    return found


def _periods(problem: Problem, count: int, seed: int) -> list[Held]:
    domain, found = region(problem), []
    low, high = domain.bounds
    for axis in np.flatnonzero(domain.periodic_axes):
        draw = np.random.default_rng([seed, int(axis)])
        points = low + draw.random((count, len(low))) * (high - low)
        points[:, axis] = low[axis]
        mirror = points.copy()
        mirror[:, axis] = high[axis]
        for name in problem.unknowns:
            for k in range(_order_along(problem, name, int(axis))):
                orders = tuple(k if i == axis else 0 for i in range(len(low)))
                leaf = Derivative(name, problem.coordinates, orders)
                found.append(Held((leaf,), points, mirror=mirror))
    return found


def _order_along(problem: Problem, name: str, axis: int) -> int:
    leaves = [d for e in problem.equations for d in derivatives_in(e) if d.unknown == name]
    return max((leaf.orders[axis] for leaf in leaves), default=0)


@dataclass(frozen=True, eq=False)
class _Row:
    """One residual at its points, with tables of the bases there."""

    residual: Expression
    held: Held
    terms: tuple[Term, ...]
    tables: Mapping[tuple[str, tuple[int, ...]], FloatArray]
    mirrored: Mapping[tuple[str, tuple[int, ...]], FloatArray] | None

    @classmethod
    def of(cls, residual: Expression, held: Held, bases: Mapping[str, Basis]) -> _Row:
        keys = [(leaf.unknown, leaf.orders) for leaf in derivatives_in(residual)]
        tables = {k: np.asarray(bases[k[0]].matrix(held.points, k[1])) for k in keys}
        mirrored = None
        if held.mirror is not None:
            mirrored = {k: np.asarray(bases[k[0]].matrix(held.mirror, k[1])) for k in keys}
        return cls(residual, held, tangent_terms(residual), tables, mirrored)

    def linear(
        self, names: Sequence[str], coordinates: Sequence[str], weights: Mapping[str, FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        """Return matrix (m, n) and right side (m,) of the tangent about weights."""
        leaves: dict[Any, Any] = dict(environment(coordinates, self.held.points, self.held.normals))
        for (name, orders), table in self.tables.items():
            leaves[("derivative", name, orders)] = table @ weights[name]
        count = len(self.held.points)
        parts = {name: np.zeros((count, len(weights[name]))) for name in names}
        for term in self.terms:
            c = np.broadcast_to(evaluate(term.coefficient, leaves), (count,))
            table = self.tables[term.unknown, term.orders]
            if self.mirrored is not None:
                table = table - self.mirrored[term.unknown, term.orders]
            parts[term.unknown] += c[:, None] * table
        matrix = np.concatenate([parts[name] for name in names], axis=1)
        value = np.broadcast_to(evaluate(self.residual, leaves), (count,)).astype(float)
        if self.mirrored is not None:
            # Such residuals are a single derivative: nothing but the matrix is left of them.
            return matrix, np.zeros(count)
        if self.held.known is not None:
            value = value - self.held.known
        return matrix, matrix @ np.concatenate([weights[name] for name in names]) - value


def collocated(
    subject: Subject, bases: Mapping[str, Basis], held: Sequence[Held], *, unit_rows: bool = False
) -> Approximation:
    """Return the least-squares solution of all that is to hold, by Newton's method from the guess.

    With unit rows, they are divided by their norms first, and those of conditions then weigh as
    much as all the others together.
    """
    problem = subject.problem
    rows = [_Row.of(r, h, bases) for h in held for r in h.residuals]
    weights = _fitted_guess(subject, bases, held[0].points)
    for _ in range(1 if problem.is_linear else _NEWTON_STEPS):
        blocks = [row.linear(problem.unknowns, problem.coordinates, weights) for row in rows]
        matrix, right = _weighted(rows, blocks, unit_rows)
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


def _weighted(
    rows: Sequence[_Row], blocks: Sequence[tuple[FloatArray, FloatArray]], unit_rows: bool
) -> tuple[FloatArray, FloatArray]:
    many = sum(len(b) for row, (_, b) in zip(rows, blocks, strict=True) if row.held.inside)
    matrices, rights = [], []
    for row, (matrix, right) in zip(rows, blocks, strict=True):
        factor = np.ones(len(right))
        if unit_rows:
            norms = np.linalg.norm(matrix, axis=1)
            factor = 1.0 / np.where(norms > 0, norms, 1.0)
            if not row.held.inside:
                factor = factor * np.sqrt(many / len(right))
        matrices.append(matrix * factor[:, None])
        rights.append(right * factor)
    return np.concatenate(matrices), np.concatenate(rights)


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
        if problem.time and problem.further:
            return "a condition at a point of space holds at all times"
        return ""


class Tabled:
    """A basis that knows its matrix; the rest follows."""

    @property
    def size(self) -> int:
        """The number of functions."""
        raise NotImplementedError

    def matrix(self, points: FloatArray, orders: Sequence[int]) -> FloatArray:
        """Return d^orders of each function at each point, (m, n)."""
        raise NotImplementedError

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
        """Return nothing: what rivals find is not kept."""
        return {}


def as_functions(approximation: Approximation) -> Found:
    """Return the unknowns of an approximation as functions of the coordinates."""
    return {n: partial(_value, approximation, n) for n in approximation.bases}


def _value(approximation: Approximation, name: str, *coordinates: Any) -> Any:
    points, shape = as_points(approximation.coordinates, coordinates)
    return approximation.values(name, points, (0,) * points.shape[1]).reshape(shape)


def residual_size(approximation: Approximation, problem: Problem, points: FloatArray) -> FloatArray:
    """Return the size of the residuals of all equations at points, (m,)."""
    return np.asarray(np.sqrt(np.sum(approximation.residuals(problem, points) ** 2, axis=0)))


def per_face(inside: int, dimension: int) -> int:
    """Return points on a face for so many inside, as a grid would have them; at least 20."""
    return max(20, round(2 * inside ** ((dimension - 1) / dimension))) if dimension > 1 else 1
