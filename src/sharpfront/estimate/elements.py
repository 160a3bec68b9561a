"""Linear elements: the auxiliary solver that finds layers and estimates errors in 2D and 3D.

They never give the answer. They are cheap, they do not oscillate where a layer is thinner than a
cell, and with the residual of an approximation as their source they tell its error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Expression, derivatives_in
from sharpfront.equation.values import at_points, environment
from sharpfront.errors import LinearSystemError
from sharpfront.estimate.edge import Fixed, Natural, further_rows, read_condition
from sharpfront.estimate.factor import Solver, factorised
from sharpfront.estimate.weak import Operator, UnsuitableError
from sharpfront.geometry import BoundaryPoints
from sharpfront.geometry.meshes.mesh import Indices, Mesh
from sharpfront.problem import IntegralCondition, PointCondition, Problem

_INVERSE_STEPS = 5


class Insertable(Protocol):
    """What can be put into the equation: an `Approximation`."""

    def insert(
        self, expression: Expression, points: FloatArray, normals: FloatArray | None = None
    ) -> FloatArray:
        """Return an expression of the unknowns with this function put in, (m,)."""


@dataclass(frozen=True, eq=False)
class Elements:
    """A linear scalar problem of second order on a mesh, factorised."""

    # What is solved and where.
    problem: Problem
    mesh: Mesh
    operator: Operator  # the weak form on the cells
    conditions: tuple[Fixed | Natural, ...]  # those on the boundary, in the problem's order
    _numbers: Indices
    _matrix: sp.csr_array
    _free: Indices
    _rows: FloatArray
    _solve_free: Solver | None

    @staticmethod
    def build(problem: Problem, mesh: Mesh, *, monotone: bool = False) -> Elements:
        """Return the discretised problem, or raise UnsuitableError.

        It must be linear, scalar, elliptic and of second order, with conditions of order one at
        most on every part of the boundary. `monotone` prefers no overshoot at a layer thinner than
        a cell to accuracy: true to find layers, false to estimate errors where they are resolved.
        """
        _require_scalar(problem, mesh)
        operator = Operator.build(problem.forms[0], problem.coordinates, mesh, monotone)
        conditions = tuple(
            read_condition(c, problem.coordinates, operator) for c in problem.conditions
        )
        _, numbers = np.unique(mesh.images, return_inverse=True)
        size = int(numbers.max()) + 1
        matrix = operator.matrix(numbers, size)
        fixed = np.zeros(size, dtype=bool)
        for condition in conditions:
            if isinstance(condition, Natural):
                matrix = matrix + condition.matrix(numbers, size)
            else:
                fixed[numbers[condition.nodes]] = True
        free = np.flatnonzero(~fixed)
        rows = _further(problem, operator, numbers, size)
        solver = _bordered(matrix[free][:, free], rows[:, free], operator, numbers, free)
        return Elements(problem, mesh, operator, conditions, numbers, matrix, free, rows, solver)

    @property
    def points(self) -> FloatArray:
        """Where a source is wanted, (q, d)."""
        return self.operator.rule.points

    @property
    def places(self) -> tuple[BoundaryPoints, ...]:
        """Where the data of each condition on the boundary are wanted."""
        return tuple(condition.places for condition in self.conditions)

    def solve(
        self, source: FloatArray, data: Sequence[FloatArray], further: Sequence[float] = ()
    ) -> FloatArray:
        """Return nodal values u (m,) with L u + source = 0 and B u + data = 0.

        The source is given at `points` (q,) or at the nodes (m,), the data of each condition at its
        `places`, and numbers for the further conditions; zeros if left out.
        """
        if self._solve_free is None:
            raise LinearSystemError(
                "The problem on the mesh is singular. Check for a resonance or a missing condition."
            )
        size = self._matrix.shape[0]
        known, load = np.zeros(size), -self._load(source)
        count = np.zeros(size)
        for condition, values in zip(self.conditions, data, strict=True):
            if isinstance(condition, Natural):
                load -= condition.load(values, self._numbers, size)
            else:
                # Where two parts meet, and disagree, the mean is as good as either.
                nodes = self._numbers[condition.nodes]
                known += np.bincount(nodes, -values / condition.alpha, minlength=size)
                count += np.bincount(nodes, minlength=size)
        known /= np.maximum(count, 1)
        extra = np.asarray(further, dtype=float) if len(further) else np.zeros(len(self._rows))
        rhs = (load - self._matrix @ known)[self._free]
        known[self._free] = self._solve_free(np.concatenate([rhs, -extra - self._rows @ known]))
        return known[self._numbers]

    def data_of(self, index: int) -> FloatArray:
        """Return the data of a condition on the boundary at its places, (n,)."""
        place, condition = self.places[index], self.problem.conditions[index]
        nothing = _Nothing(self.problem.coordinates)
        return nothing.insert(condition.residuals[0], place.points, place.normals)

    def solution(self) -> FloatArray:
        """Return the problem's own solution on the mesh, (m,)."""
        return self.error(_Nothing(self.problem.coordinates))

    def error(
        self, approximation: Insertable, places: Sequence[BoundaryPoints] | None = None
    ) -> FloatArray:
        """Return e (m,) with ``L e = -R``: what is to be added to the approximation.

        R is the residual of the approximation in the equation, and likewise in the conditions,
        at the facets of the mesh or at the given places, one for each of their own.
        """
        problem = self.problem
        source = approximation.insert(problem.equations[0], self.points)
        data = [
            approximation.insert(condition.residuals[0], place.points, place.normals)
            for condition, place in zip(problem.conditions, places or self.places, strict=True)
        ]
        further: list[float] = []
        for condition in problem.further:
            further += [self._missed(condition, r, approximation) for r in condition.residuals]
        return self.solve(source, data, further)

    def singular_measure(self) -> float:
        """Return how far the problem is from a singular one, relative to its coefficients.

        The smallest quotient max |s v| / max |u| found where L u = s v with no data, with s =
        |A| / l^2 + |b| / l + |c| for a mesh of size l and v from inverse iteration. It is of order
        one for problems with a maximum principle, whatever their layers; about (h / l)^2 at a
        resonance, which the mesh shifts by as much; rounding if a condition is missing.
        """
        if self._solve_free is None:
            return 0.0
        strength = self._strength()
        nothing = [np.zeros(len(place.points)) for place in self.places]
        values = 1.0 + np.random.default_rng(0).random(len(strength))
        values = values[self.mesh.images]
        smallest = np.inf
        for _ in range(_INVERSE_STEPS):
            found = self.solve(strength * values / np.abs(values).max(), nothing)
            size = float(np.abs(found).max())
            if not np.isfinite(size):
                return 0.0
            smallest, values = min(smallest, 1.0 / max(size, 1e-300)), found
        return smallest

    def blurred(self) -> float:
        """Return (k h)^2 for the shortest waves of the problem on its cells, 0 if it has none.

        By about a tenth of this the mesh shifts their eigenvalues: a resonance and a problem
        beside it look alike.
        """
        operator, mesh = self.operator, self.mesh
        waves = np.maximum(-operator.reaction @ operator.rule.weights, 0.0)
        stiffness = np.trace(operator.diffusion, axis1=1, axis2=2) / mesh.dimension
        return float(np.max(waves / stiffness * mesh.volumes ** (2 / mesh.dimension)))

    def _strength(self) -> FloatArray:
        """Return |A| / l^2 + |b| / l + |c| at the nodes, (m,)."""
        mesh, operator, weights = self.mesh, self.operator, self.operator.rule.weights
        size = float(np.ptp(mesh.points, axis=0).max())
        strength = np.linalg.norm(operator.diffusion, axis=(1, 2)) / size**2
        strength += np.linalg.norm(operator.velocity, axis=2) @ weights / size
        strength += np.abs(operator.reaction) @ weights
        volumes = np.repeat(mesh.volumes, mesh.dimension + 1)
        nodes = self._numbers[mesh.cells].ravel()
        total = np.bincount(nodes, volumes * np.repeat(strength, mesh.dimension + 1))
        return np.asarray((total / np.bincount(nodes, volumes))[self._numbers])

    def _load(self, source: FloatArray) -> FloatArray:
        operator, size = self.operator, self._matrix.shape[0]
        if len(source) == len(self.mesh.points) != len(self.points):
            rule, at_nodes = operator.rule, source
            source = np.zeros(len(rule.points))
            source[rule.places] = at_nodes[self.mesh.cells] @ rule.shapes.T
        return operator.sign * operator.load(source, self._numbers, size)

    def _missed(
        self,
        condition: PointCondition | IntegralCondition,
        residual: Expression,
        approximation: Insertable,
    ) -> float:
        if isinstance(condition, PointCondition):
            return float(approximation.insert(residual, np.array([condition.point]))[0])
        rule = self.operator.rule
        values = approximation.insert(residual, rule.points)[rule.places] @ rule.weights
        return float(values @ self.mesh.volumes) - condition.equals


def can_be_built(problem: Problem, mesh: Mesh) -> bool:
    """Tell whether `Elements.build` takes the problem; the caller needs another way if not."""
    try:
        _require_scalar(problem, mesh)
        operator = Operator.build(problem.forms[0], problem.coordinates, mesh)
        for condition in problem.conditions:
            read_condition(condition, problem.coordinates, operator)
        for further in problem.further:
            further_rows(further, problem.coordinates, operator)
    except UnsuitableError:
        return False
    return True


@dataclass(frozen=True)
class _Nothing:
    """The approximation u = 0, whose residuals are the sources."""

    coordinates: tuple[str, ...]

    def insert(
        self, expression: Expression, points: FloatArray, normals: FloatArray | None = None
    ) -> FloatArray:
        leaves = environment(self.coordinates, points, normals)
        leaves |= {leaf.key: np.zeros(len(points)) for leaf in derivatives_in(expression)}
        return at_points(expression, leaves, len(points), "source")


def _require_scalar(problem: Problem, mesh: Mesh) -> None:
    if len(problem.unknowns) != 1 or not problem.is_linear:
        raise UnsuitableError(
            "Linear elements take one linear equation for one unknown; got "
            f"{len(problem.unknowns)} unknown(s), linear: {problem.is_linear}."
        )
    bare = set(mesh.names) - {condition.part for condition in problem.conditions}
    if bare:
        raise UnsuitableError(
            "Linear elements need a condition on every part of the boundary; there is none on "
            f"{', '.join(sorted(bare))}."
        )


def _further(problem: Problem, operator: Operator, numbers: Indices, size: int) -> FloatArray:
    """Return the rows of the further conditions, (conditions, size)."""
    rows = [r for c in problem.further for r in further_rows(c, problem.coordinates, operator)]
    return np.array([np.bincount(numbers, row, minlength=size) for row in rows]).reshape(-1, size)


def _bordered(
    matrix: sp.csr_array, rows: FloatArray, operator: Operator, numbers: Indices, free: Indices
) -> Solver | None:
    """Return a solver of the free nodes and the further rows; None if it is singular.

    Each further row comes with a multiplier: the first is a constant source, which is what a pure
    Neumann problem with data that do not quite balance needs, the others act where the row looks.
    """
    try:
        if not len(rows):
            return factorised(matrix, operator.mesh.dimension)
    except LinearSystemError:
        return None
    size = int(numbers.max()) + 1
    constant = operator.load(np.ones(len(operator.rule.points)), numbers, size)[free]
    columns = np.concatenate([constant[:, None], rows[1:].T], axis=1)
    # The matrix alone may be singular, so one diagonal entry is doubled, and the change undone by
    # one more unknown, the value there.
    anchor = int(np.argmax(np.abs(matrix.diagonal())))
    strength = float(matrix.diagonal()[anchor])
    unit = np.zeros(len(free))
    unit[anchor] = 1.0
    anchored = matrix + sp.coo_array(([strength], ([anchor], [anchor])), shape=matrix.shape)
    solve = factorised(anchored.tocsr(), operator.mesh.dimension)
    across = np.column_stack([solve(c) for c in np.column_stack([-strength * unit, columns]).T])
    test = np.concatenate([unit[None], rows])
    small = test @ across
    small[0, 0] += 1.0

    def solve_all(rhs: FloatArray) -> FloatArray:
        inner = solve(rhs[: len(free)])
        wanted = test @ inner - np.concatenate([[0.0], rhs[len(free) :]])
        return np.asarray(inner - across @ np.linalg.solve(small, wanted))

    return solve_all
