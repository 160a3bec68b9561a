"""Kernels for fronts that run across the axes: on the surface that the fronts' coordinates span."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sharpfront.adapt.contract import Proposal
from sharpfront.adapt.fronts import Found, find_fronts
from sharpfront.adapt.product_rows import WEIGHT
from sharpfront.adapt.spread import place
from sharpfront.assemble import RowSet, assemble
from sharpfront.errors import ProblemError
from sharpfront.estimate.elements import Elements
from sharpfront.estimate.mesh import Mesh, box_mesh, off_even
from sharpfront.estimate.shape_mesh import shape_mesh, spacing_for
from sharpfront.geometry import Box, Domain
from sharpfront.pieces.embedded import EmbeddedBasis
from sharpfront.problem import IntegralCondition, PointCondition, Problem

# Nodes of the even mesh on which fronts are looked for.
LOOK = 40_000
# Nodes of the mesh of the error equation for each kernel, and the least of them.
CHECK, LEAST_CHECK = 8, 10_000
# Kernels at the start, and their growth.
FIRST, GROWTH = 600, 1.45
# Width of a kernel in spacings: 2 loses one to two digits, 3 gains none.
WIDTH = 2.5


@dataclass(frozen=True)
class FrontTrial:
    """So many kernels on the embedded surface, ghosts included."""

    count: int


def even_mesh(domain: Domain, count: int) -> Mesh:
    """Return a mesh of about that many nodes, evenly spread."""
    if not isinstance(domain, Box):
        return shape_mesh(domain, spacing_for(domain, count))
    low, high = domain.bounds
    spacing = (domain.measure / count) ** (1 / domain.dimension)
    axes = []
    for a, b in zip(low, high, strict=True):
        axes.append(a + (b - a) * off_even(max(8, round((b - a) / spacing))))
    return box_mesh(axes, domain.parts, domain.periodic_axes)


def look_for_fronts(problem: Problem, seed: int) -> Found | None:
    """Return the fronts of an element solution on an even mesh, if it has some."""
    mesh = even_mesh(problem.domain, LOOK)
    values = Elements.build(problem, mesh, monotone=True).solution()
    slopes = np.einsum("kaj,ka->kj", mesh.gradients, values[mesh.cells])
    middles = mesh.points[mesh.cells].mean(axis=1)
    return find_fronts(middles, slopes, mesh.volumes, problem.domain.bounds, seed)


def fronts_allowed(problem: Problem) -> bool:
    """Tell whether kernels on an embedded surface can serve a problem."""
    return (
        problem.domain.dimension == 2
        and not any(problem.domain.periodic_axes)
        and not any(isinstance(c, IntegralCondition) for c in problem.further)
    )


def embedded_proposal(problem: Problem, found: Found, count: int, seed: int) -> Proposal:
    """Return kernels spread over the embedded surface and rows that follow them."""
    if len(problem.unknowns) != 1:
        raise ProblemError("Fronts across the axes are followed for one unknown.")
    spread = place(found.embedding, problem.domain, count, seed)
    basis = EmbeddedBasis(
        found.embedding, spread.nodes, spread.kernels, WIDTH * spread.spacing, found.mixture
    )
    edges = [edge.points for edge in spread.edges.values()]
    rows = [RowSet("equation", problem.forms, np.concatenate([spread.rows, *edges]))]
    for condition in problem.conditions:
        edge = spread.edges[condition.part]
        rows.append(RowSet(condition.part, condition.forms, edge.points, edge.normals, WEIGHT))
    for further in problem.further:
        if isinstance(further, PointCondition):
            weight = WEIGHT * float(np.sqrt(count))
            rows.append(RowSet("at", further.forms, np.array([further.point]), None, weight))
    bases = {problem.unknowns[0]: basis}
    system = assemble(rows, bases, problem.coordinates).with_unit_rows()
    return Proposal(bases, system, tuple(rows))


def front_elements(problem: Problem, count: int) -> Elements:
    """Return the error equation on an even mesh that is finer than the kernels."""
    return Elements.build(problem, even_mesh(problem.domain, max(CHECK * count, LEAST_CHECK)))
