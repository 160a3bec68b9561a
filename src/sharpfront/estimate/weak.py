"""The weak form of a scalar elliptic equation on linear elements, with upwinding."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sharpfront.arrays import FloatArray
from sharpfront.equation.linearise import LinearForm
from sharpfront.equation.values import environment, form_values
from sharpfront.errors import ProblemError
from sharpfront.estimate.quadrature import Rule, cell_rule
from sharpfront.geometry.meshes.mesh import Indices, Mesh


class UnsuitableError(ProblemError):
    """A problem that linear elements cannot discretise here."""


@dataclass(frozen=True, eq=False)
class Operator:
    """``-A : D^2 u + b . grad u + c u + f = 0`` with positive definite A, on cells of a mesh."""

    # The user's equation.
    form: LinearForm
    coordinates: tuple[str, ...]
    # The cells and where integrals look.
    mesh: Mesh
    rule: Rule
    # Whether the matrix is exponentially fitted along the edges, of first order but free of
    # overshoots, instead of stabilised by the residual along the flow, of second order.
    monotone: bool
    sign: float  # the factor +-1 that brought the user's equation to this form
    diffusion: FloatArray  # mean A of each cell, (k, d, d)
    # b + div A at the points of each cell, (k, r, d): what stands before grad u once the
    # second-order part is written as ``-div(A grad u)``.
    velocity: FloatArray
    reaction: FloatArray  # c at the points of each cell, (k, r)
    # What a source at the points of a cell is tested with, (k, r, d + 1): the barycentric
    # coordinates and tau b . grad of them; if monotone, shares of the nodes' dual cells.
    tests: FloatArray

    @staticmethod
    def build(
        form: LinearForm, coordinates: tuple[str, ...], mesh: Mesh, monotone: bool = False
    ) -> Operator:
        """Return the operator of a form; UnsuitableError if it is not elliptic of second order."""
        rule = cell_rule(mesh)
        second, first, zeroth = _coefficients(form, coordinates, rule.points)
        sign = _elliptic_sign(second, rule.points)
        diffusion = -sign * second[:1].repeat(len(mesh.cells), axis=0)
        velocity = sign * first[rule.places]
        if not _constant(second):
            diffusion = -sign * np.einsum("r,krij->kij", rule.weights, second[rule.places])
            nodal = _coefficients(form, coordinates, mesh.points)[0][mesh.cells]
            velocity -= sign * np.einsum("kai,kaij->kj", mesh.gradients, nodal)[:, None, :]
        reaction = sign * zeroth[rule.places]
        if monotone:
            tests = _dual_volumes(mesh, rule, diffusion)
        else:
            mean = rule.weights @ velocity
            tau = _tau(mesh, diffusion, mean, reaction @ rule.weights)
            along = (mesh.gradients @ mean[:, :, None])[:, None, :, 0]
            tests = rule.shapes + tau[:, None, None] * along
        return Operator(
            form, coordinates, mesh, rule, monotone, sign, diffusion, velocity, reaction, tests
        )

    def diffusion_at(self, points: FloatArray) -> FloatArray:
        """Return A at points (m, d), (m, d, d)."""
        return -self.sign * _coefficients(self.form, self.coordinates, points)[0]

    def matrix(self, numbers: Indices, size: int) -> sp.csr_array:
        """Return the matrix of the interior terms, (size, size), nodes numbered by `numbers`."""
        cells, gradients = self.mesh.cells, self.mesh.gradients
        local = gradients @ self.diffusion @ np.swapaxes(gradients, 1, 2)
        if self.monotone:
            local = self._fitted(local)
        else:
            carried = self.velocity @ np.swapaxes(gradients, 1, 2)
            local += np.swapaxes(self.tests * self.rule.weights[:, None], 1, 2) @ carried
        local += self._reaction_matrix()
        local *= self.mesh.volumes[:, None, None]
        rows = np.repeat(numbers[cells], cells.shape[1], axis=1).ravel()
        columns = np.tile(numbers[cells], (1, cells.shape[1])).ravel()
        return sp.coo_array((local.ravel(), (rows, columns)), shape=(size, size)).tocsr()

    def _fitted(self, stiffness: FloatArray) -> FloatArray:
        """Return diffusion and flow by exponential fitting along the edges of each cell.

        Between nodes i and j the entry -a_ij of the diffusion becomes -a_ij B(s), where
        B(s) = s / (exp(s) - 1) and s = (x_j - x_i) . A^-1 b, so that along every edge
        exp(x . A^-1 b) is reproduced.
        """
        mean = self.rule.weights @ self.velocity
        scaled = np.linalg.solve(self.diffusion, mean[:, :, None])[:, :, 0]
        potential = np.einsum("kaj,kj->ka", self.mesh.points[self.mesh.cells], scaled)
        fitted = stiffness * _bernoulli(potential[:, None, :] - potential[:, :, None])
        width = fitted.shape[1]
        fitted[:, range(width), range(width)] = 0.0
        fitted[:, range(width), range(width)] = -fitted.sum(axis=2)
        return fitted

    def load(self, source: FloatArray, numbers: Indices, size: int) -> FloatArray:
        """Return the integrals of a source (q,) against the tests, (size,)."""
        weighted = source[self.rule.places] * self.rule.weights * self.mesh.volumes[:, None]
        local = (weighted[:, None, :] @ self.tests)[:, 0]
        return added(numbers[self.mesh.cells], local, size)

    def _reaction_matrix(self) -> FloatArray:
        """Return the reaction, its mass moved to the diagonal where a layer is thinner than a cell.

        Off the diagonal the mass of c u is positive and undoes the diffusion's negative entries
        once c h^2 > 6 a, which makes the solution oscillate; half of that keeps overshoots below
        a thousandth on right triangles.
        """
        width = self.tests.shape[2]
        if self.monotone:
            lumped = np.einsum("kr,kra->ka", self.reaction * self.rule.weights, self.tests)
            return np.asarray(lumped[:, :, None] * np.eye(width))
        rule, shapes = self.rule, self.rule.shapes
        weighted = (self.reaction * rule.weights)[:, :, None]
        full = np.swapaxes(weighted * self.tests, 1, 2) @ shapes
        mean = np.maximum(self.reaction @ rule.weights, 0.0)
        if not np.any(mean > 0):
            return full
        slowest = np.einsum(
            "kai,kij,kaj->ka", self.mesh.gradients, self.diffusion, self.mesh.gradients
        ).min(axis=1)
        share = np.maximum(0.0, 1.0 - 3.0 * slowest / np.maximum(mean, 1e-300))
        plain = np.swapaxes(weighted * shapes, 1, 2) @ shapes
        lumped = plain.sum(axis=2)[:, :, None] * np.eye(width)
        return np.asarray(full + share[:, None, None] * (lumped - plain))


def added(nodes: Indices, local: FloatArray, size: int) -> FloatArray:
    """Return what cells or facets give to their nodes, summed at each node, (size,)."""
    return np.asarray(np.bincount(nodes.ravel(), local.ravel(), minlength=size), dtype=float)


def _tau(mesh: Mesh, diffusion: FloatArray, mean: FloatArray, reaction: FloatArray) -> FloatArray:
    """Return h / (2 |b|) (coth Pe - 1 / Pe) with h the cell's chord along the flow, (k,).

    The chord matters in thin cells: upwinding by their diameter would smear a layer that they
    resolve.
    """
    speed = np.linalg.norm(mean, axis=1)
    moving = speed > 0
    crossing = np.abs(mesh.gradients @ mean[:, :, None]).sum(axis=(1, 2))
    stiffness = np.einsum("ki,kij,kj->k", mean, diffusion, mean)
    tau = np.zeros(len(mean))
    # With crossing = 2 |b| / h: Pe = |b| h / (2 a) where a = b.A.b / |b|^2.
    peclet = speed[moving] ** 4 / (crossing[moving] * stiffness[moving])
    tau[moving] = _upwind(peclet) / crossing[moving]
    return tau / (1.0 + tau * np.abs(reaction))


def _dual_volumes(mesh: Mesh, rule: Rule, diffusion: FloatArray) -> FloatArray:
    """Return tests (k, r, d + 1) that give each edge to its two nodes alike.

    An edge e with the diffusion's weight w holds the volume w e . A^-1 e / d of a cell, which are
    the dual cells of the scheme along edges: with them it is a difference scheme on a grid.
    """
    d, start = mesh.dimension, len(rule.weights) - mesh.cell_edges.shape[1]
    tests = np.zeros((len(mesh.cells), *rule.shapes.shape))
    inverse = np.linalg.inv(diffusion)
    for r, (a, b) in enumerate(itertools.combinations(range(d + 1), 2), start=start):
        edge = mesh.points[mesh.cells[:, b]] - mesh.points[mesh.cells[:, a]]
        stiff = np.einsum("ki,kij,kj->k", mesh.gradients[:, a], diffusion, mesh.gradients[:, b])
        share = -stiff * np.einsum("ki,kij,kj->k", edge, inverse, edge) / (2 * d)
        tests[:, r, a] = tests[:, r, b] = share / rule.weights[r]
    return tests


def _upwind(peclet: FloatArray) -> FloatArray:
    """Return coth Pe - 1 / Pe, without cancellation for small Pe."""
    large = np.maximum(peclet, 1e-2)
    return np.where(peclet < 1e-2, peclet / 3, 1 / np.tanh(large) - 1 / large)


def _bernoulli(s: FloatArray) -> FloatArray:
    """Return s / (exp(s) - 1), 1 at s = 0."""
    small = np.abs(s) < 1e-8
    apart = np.where(small, 1.0, s)
    return np.where(small, 1.0 - s / 2, apart / np.expm1(np.minimum(apart, 700.0)))


def _constant(values: FloatArray) -> bool:
    return bool(np.all(values == values[:1]))


def _coefficients(
    form: LinearForm, coordinates: tuple[str, ...], points: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the coefficients of D^2 u (q, d, d), grad u (q, d) and u (q,) at points."""
    count, d = points.shape
    second, first, zeroth = np.zeros((count, d, d)), np.zeros((count, d)), np.zeros(count)
    values, _ = form_values(form, environment(coordinates, points), count)
    for term, value in zip(form.terms, values, strict=True):
        axes = [i for i, n in enumerate(term.orders) for _ in range(n)]
        if len(term.orders) != d or len(axes) > 2:
            raise UnsuitableError(
                f"Linear elements take equations of second order in {d} coordinates; got a "
                f"derivative of orders {term.orders}."
            )
        if len(axes) == 2:
            second[:, axes[0], axes[1]] += value / 2
            second[:, axes[1], axes[0]] += value / 2
        elif axes:
            first[:, axes[0]] += value
        else:
            zeroth += value
    return second, first, zeroth


def _elliptic_sign(second: FloatArray, points: FloatArray) -> float:
    """Return the factor +-1 that makes ``-second`` positive definite everywhere."""
    some = second[:1] if _constant(second) else second
    eigenvalues = np.linalg.eigvalsh(some)
    for sign in (1.0, -1.0):
        if np.all(sign * eigenvalues < 0):
            return sign
    mixed = int(np.argmax(eigenvalues.min(axis=1) * eigenvalues.max(axis=1) <= 0))
    where = ", ".join(f"{x:.6g}" for x in points[mixed])
    raise UnsuitableError(
        "Linear elements take elliptic equations, in which the second derivatives have "
        f"coefficients of one sign; at ({where}) their eigenvalues are {eigenvalues[mixed]}."
    )
