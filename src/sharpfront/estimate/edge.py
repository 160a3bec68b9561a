"""Conditions on the boundary and beyond it, as linear elements take them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sharpfront.arrays import FloatArray
from sharpfront.equation.linearise import LinearForm
from sharpfront.equation.values import environment, form_values
from sharpfront.estimate.quadrature import facet_rule
from sharpfront.estimate.weak import Operator, UnsuitableError, added
from sharpfront.geometry import BoundaryPoints
from sharpfront.geometry.meshes.mesh import Indices, Mesh
from sharpfront.problem import Condition, IntegralCondition, PointCondition


@dataclass(frozen=True, eq=False)
class Fixed:
    """``alpha u + g = 0`` at nodes."""

    places: BoundaryPoints  # where g is wanted: the nodes with the normal of a facet of theirs
    # Which nodes, and what multiplies u there, (n,).
    nodes: Indices
    alpha: FloatArray


@dataclass(frozen=True, eq=False)
class Natural:
    """``alpha u + gamma . grad u + g = 0`` on facets, in place of the flux."""

    places: BoundaryPoints  # where g is wanted: points inside the facets, facet by facet, (n r, d)
    nodes: Indices  # of each facet, (n, d)
    shapes: FloatArray  # barycentric coordinates of the points of a facet, (r, d)
    # Weight of the point times n.A.n / gamma.n, which turns the condition into the flux, (n, r).
    scale: FloatArray
    local: FloatArray  # what the condition adds to the matrix, (n, d, d)

    def matrix(self, numbers: Indices, size: int) -> sp.csr_array:
        """Return what the condition adds to the matrix."""
        width = self.nodes.shape[1]
        rows = np.repeat(numbers[self.nodes], width, axis=1).ravel()
        columns = np.tile(numbers[self.nodes], (1, width)).ravel()
        return sp.coo_array((self.local.ravel(), (rows, columns)), shape=(size, size)).tocsr()

    def load(self, data: FloatArray, numbers: Indices, size: int) -> FloatArray:
        """Return the integrals of g, given at the places, against the tests."""
        local = np.einsum("nr,nr,ra->na", self.scale, data.reshape(self.scale.shape), self.shapes)
        return added(numbers[self.nodes], local, size)


def read_condition(
    condition: Condition, coordinates: tuple[str, ...], operator: Operator
) -> Fixed | Natural:
    """Return a condition on one part of the boundary, ready for linear elements."""
    if len(condition.forms) != 1 or condition.forms[0].order > 1:
        raise UnsuitableError(
            f"Linear elements take one condition on u and its first derivatives on each part; "
            f"{condition.part!r} has {len(condition.forms)} of order "
            f"{max(form.order for form in condition.forms)}."
        )
    mesh, form = operator.mesh, condition.forms[0]
    mine = np.flatnonzero(mesh.parts == mesh.names.index(condition.part))
    if form.order == 0:
        return _fixed(form, coordinates, mesh, mine, condition.part)
    return _natural(form, coordinates, operator, mine, condition.part)


def _fixed(
    form: LinearForm, coordinates: tuple[str, ...], mesh: Mesh, mine: Indices, part: str
) -> Fixed:
    nodes, first = np.unique(mesh.facets[mine], return_index=True)
    places = BoundaryPoints(mesh.points[nodes], mesh.normals[mine[first // mesh.dimension]])
    alpha, _ = first_order(form, coordinates, places.points, places.normals)
    if np.any(alpha == 0):
        raise UnsuitableError(f"What multiplies u in the condition on {part!r} vanishes somewhere.")
    return Fixed(places, nodes, alpha)


def _natural(
    form: LinearForm, coordinates: tuple[str, ...], operator: Operator, mine: Indices, part: str
) -> Natural:
    """Write the flux A grad u . n by the condition and what is left of it along the boundary.

    A n = s gamma + t with s = n.A.n / gamma.n and t tangential, so that
    A grad u . n = -s (alpha u + g) + t . grad u.
    """
    mesh = operator.mesh
    shapes, weights = facet_rule(mesh.dimension)
    nodes = mesh.facets[mine]
    points = np.einsum("ra,nai->nri", shapes, mesh.points[nodes])
    normals = np.repeat(mesh.normals[mine], len(shapes), axis=0)
    places = BoundaryPoints(points.reshape(normals.shape), normals)
    alpha, gamma = first_order(form, coordinates, places.points, normals)
    flux = np.einsum("nij,nj->ni", operator.diffusion_at(places.points), normals)
    outward = np.sum(gamma * normals, axis=1)
    if np.any(np.abs(outward) < 1e-6 * np.linalg.norm(gamma, axis=1)) or np.any(outward == 0):
        raise UnsuitableError(
            f"The derivative in the condition on {part!r} runs along the boundary somewhere; "
            "linear elements take derivatives that leave it."
        )
    factor = np.sum(flux * normals, axis=1) / outward
    along = (flux - factor[:, None] * gamma).reshape(points.shape)
    scale = factor.reshape(points.shape[:2]) * weights * mesh.facet_measures[mine][:, None]
    local = np.einsum("nr,ra,rb->nab", scale * alpha.reshape(scale.shape), shapes, shapes)
    local -= _tangential(mesh, mine, along, shapes, weights)
    return Natural(places, nodes, shapes, scale, local)


def _tangential(
    mesh: Mesh, mine: Indices, along: FloatArray, shapes: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return the integrals of (t . grad u) v over facets, (n, d, d)."""
    owners = mesh.facet_cells[mine]
    # The place of each node of the facet within its cell.
    inside = np.argmax(mesh.cells[owners][:, None, :] == mesh.facets[mine][:, :, None], axis=2)
    gradients = mesh.gradients[owners[:, None], inside]
    measures = mesh.facet_measures[mine]
    return np.asarray(np.einsum("n,r,ra,nri,nbi->nab", measures, weights, shapes, along, gradients))


def first_order(
    form: LinearForm,
    coordinates: tuple[str, ...],
    points: FloatArray,
    normals: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return the coefficients of u (m,) and grad u (m, d) in a form of first order."""
    alpha, gamma = np.zeros(len(points)), np.zeros_like(points)
    leaves = environment(coordinates, points, normals)
    values, _ = form_values(form, leaves, len(points), "condition")
    for term, value in zip(form.terms, values, strict=True):
        if term.order:
            gamma[:, term.orders.index(1)] += value
        else:
            alpha += value
    return alpha, gamma


def further_rows(
    condition: PointCondition | IntegralCondition, coordinates: tuple[str, ...], operator: Operator
) -> FloatArray:
    """Return one row over the nodes for each form of a further condition, (forms, m)."""
    if any(form.order > 1 for form in condition.forms):
        raise UnsuitableError("Linear elements take further conditions on u and grad u only.")
    mesh = operator.mesh
    if isinstance(condition, PointCondition):
        point = np.array([condition.point])
        cell, shares = _locate(mesh, point[0])
        rows = np.zeros((len(condition.forms), len(mesh.points)))
        for row, form in zip(rows, condition.forms, strict=True):
            alpha, gamma = first_order(form, coordinates, point)
            row[mesh.cells[cell]] = alpha[0] * shares + mesh.gradients[cell] @ gamma[0]
        return rows
    return np.stack([_integral_row(form, coordinates, operator) for form in condition.forms])


def _integral_row(form: LinearForm, coordinates: tuple[str, ...], operator: Operator) -> FloatArray:
    mesh, rule = operator.mesh, operator.rule
    alpha, gamma = first_order(form, coordinates, rule.points)
    local = np.einsum("r,kr,ra->ka", rule.weights, alpha[rule.places], rule.shapes)
    local += np.einsum("r,krj,kaj->ka", rule.weights, gamma[rule.places], mesh.gradients)
    local *= mesh.volumes[:, None]
    return added(mesh.cells, local, len(mesh.points))


def _locate(mesh: Mesh, point: FloatArray) -> tuple[int, FloatArray]:
    """Return the cell around a point and the point's barycentric coordinates in it."""
    offset = point - mesh.points[mesh.cells[:, 0]]
    shares = np.einsum("kaj,kj->ka", mesh.gradients, offset)
    shares[:, 0] += 1.0
    cell = int(np.argmax(shares.min(axis=1)))
    return cell, shares[cell]
