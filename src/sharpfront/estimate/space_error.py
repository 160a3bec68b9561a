"""How large is the error in two dimensions and more: the error equation, or else a comparison.

Linear elements solve L e = -R on a mesh three times finer than the kernels. Where they cannot be
built (systems, fourth order, four dimensions and more) the solution is compared with the one
before it, which has fewer kernels: that is the error of the coarser one. And the residual must
fall: where a corner or a layer is beyond all the kernels there are, it does not, and solutions that
are wrong in the same way agree.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.edges import places_along
from sharpfront.estimate.elements import Elements
from sharpfront.estimate.residual import Assessment, assess, remainder, rounding
from sharpfront.geometry import BoundaryPoints, Box, Domain
from sharpfront.geometry.meshes.mesh import Mesh, box_mesh
from sharpfront.geometry.sampling import unit_sample
from sharpfront.pieces.graded_mesh import graded_mesh
from sharpfront.pieces.tensor import TensorBasis
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation
from sharpfront.solution.field import Estimate

# The elements' own error in solving for e: what is measured is 0.6 to 1.4 of the true error.
SAFETY = 1.5
# Nodes of a mesh of a shape for each function, by dimension, and the most of them.
NODES = {2: 6.0, 3: 5.0}
MOST_NODES = {2: 60_000, 3: 30_000}
_BY_ELEMENTS = (
    "largest |e| from the error equation L e = -R, solved by linear elements on a finer mesh, "
    "times 1.5, relative to max(1, max|u|)"
)
# Lines along each axis on which formulas are asked for their windows.
_LINES = 4
_BY_COMPARISON = (
    "there is no error equation for this kind of problem, and the largest of three is said: the "
    "change from the solution with fewer kernels before it, times three times the ratio of the "
    "last two changes; twice the change if equations weigh more against conditions; and how far "
    "the residual can carry the unknowns. It is raised where the residual does not fall as kernels "
    "are added, and is relative to max(1, max|u|)"
)


def check_mesh(domain: Domain, basis: TensorBasis) -> Mesh:
    """Return a mesh of the domain, finer than the kernels of a basis and graded like them."""
    if isinstance(domain, Box):
        return box_mesh([axis.checking for axis in basis.axes], domain.parts, domain.periodic_axes)
    d = domain.dimension
    count = int(min(NODES[d] * basis.size, MOST_NODES[d]))
    return graded_mesh(domain, [axis.coordinate for axis in basis.axes], count)


def check_by_elements(
    problem: Problem, approximation: Approximation, elements: Elements
) -> Assessment:
    """Return the assessment by the error equation on a mesh, where that is not singular."""
    unknown = problem.unknowns[0]
    places = true_places(problem, elements)
    error = elements.error(approximation, places)
    points = elements.points
    residual = np.abs(approximation.insert(problem.equations[0], points))
    values = approximation.values(unknown, elements.mesh.points, (0,) * points.shape[1])
    # The corrected solution, so that an approximation far too large does not hide its own error.
    size = max(1.0, float(np.max(np.abs(values + error))))
    largest = float(np.max(np.abs(error)))
    value = SAFETY * largest / size if math.isfinite(largest) else math.inf
    misses = [
        float(np.max(np.abs(approximation.insert(c.residuals[0], place.points, place.normals))))
        for c, place in zip(problem.conditions, places, strict=True)
    ]
    volumes = np.full(len(points), problem.domain.measure / len(points))
    estimate = Estimate(value, _BY_ELEMENTS)
    mismatch = max(misses, default=0.0)
    return Assessment(approximation, points, volumes, residual, mismatch, estimate)


def true_places(problem: Problem, elements: Elements) -> tuple[BoundaryPoints, ...]:
    """Return for each place on the mesh's boundary the nearest one on the domain's own.

    The middle of a facet lies beside a curved boundary, and its normal is not the boundary's.
    """
    from scipy.spatial import cKDTree

    domain = problem.domain
    if isinstance(domain, Box):
        return elements.places
    found = []
    for condition, place in zip(problem.conditions, elements.places, strict=True):
        many = domain.boundary(condition.part, 8 * len(place.points) + 200)
        _, nearest = cKDTree(many.points).query(place.points)
        found.append(BoundaryPoints(many.points[nearest], many.normals[nearest]))
    return tuple(found)


def check_by_comparison(
    problem: Problem, approximation: Approximation, before: Approximation | None, seed: int
) -> tuple[Assessment, FloatArray]:
    """Return the assessment by the change from the approximation before, and where that was looked.

    Without one before, the estimate is infinite: nothing is known yet.
    """
    found = assess(problem, approximation, seed)
    likely = points_like_kernels(problem, approximation, seed)
    points = np.concatenate([found.points, likely, between_edges(problem)])
    value = math.inf if before is None else change(problem, approximation, before, points)
    return replace(found, estimate=Estimate(value, _BY_COMPARISON)), points


def points_like_kernels(problem: Problem, approximation: Approximation, seed: int) -> FloatArray:
    """Return points of the domain that are as dense as the kernels are, (m, d).

    Even points would miss what happens in a layer.
    """
    basis = next(iter(approximation.bases.values()))
    if not isinstance(basis, TensorBasis):
        return np.zeros((0, problem.domain.dimension))
    unit = unit_sample(basis.size + 500, basis.dimension, "quasi", seed)
    places = [a.coordinate.invert(unit[:, i]).x for i, a in enumerate(basis.axes)]
    points = np.stack(places, axis=1)
    return np.asarray(points[problem.domain.contains(points)])


def between_edges(problem: Problem) -> FloatArray:
    """Return the middles of windows that the formulas of the equations open, (m, d).

    A window may lie between all other points, however many there are.
    """
    low, high = problem.domain.bounds
    data = [
        e for form in problem.forms for e in (form.source, *(t.coefficient for t in form.terms))
    ]
    found = [np.zeros((0, len(low)))]
    for base in problem.domain.sample(_LINES if len(low) > 1 else 1, "quasi"):
        for axis, name in enumerate(problem.coordinates):
            others = dict(zip(problem.coordinates, base.tolist(), strict=True))
            others.pop(name)
            ends = (float(low[axis]), float(high[axis]))
            for expression in data:
                edges = places_along(expression, name, *ends, others)
                middles = np.repeat(base[None], max(len(edges) - 1, 0), axis=0)
                middles[:, axis] = 0.5 * (edges[1:] + edges[:-1])
                found.append(middles)
    points = np.concatenate(found)
    return np.asarray(points[problem.domain.contains(points)])


def change(
    problem: Problem, approximation: Approximation, before: Approximation, points: FloatArray
) -> float:
    """Return the largest change of any unknown at points, relative to max(1, its size)."""
    rim = [problem.domain.boundary(part, 200).points for part in problem.domain.parts]
    points = np.concatenate([points, *rim])
    zero = (0,) * points.shape[1]
    largest = 0.0
    for unknown in problem.unknowns:
        new = approximation.values(unknown, points, zero)
        old = before.values(unknown, points, zero)
        size = max(1.0, float(np.max(np.abs(new))))
        largest = max(largest, float(np.max(np.abs(new - old))) / size)
    return largest


def size_of(approximation: Approximation, unknown: str, points: FloatArray) -> float:
    """Return max(1, max|u|) over points."""
    values = approximation.values(unknown, points, (0,) * points.shape[1])
    return max(1.0, float(np.max(np.abs(values))))


def fall(
    problem: Problem, approximation: Approximation, before: Approximation, points: FloatArray
) -> float:
    """Return what is left of the residual of an earlier approximation: the worst equation's share.

    Both are looked at in the same points, root mean square. Equations that are met to rounding
    count as having fallen.
    """
    ratios = [0.0]
    for form in problem.forms:
        new = remainder(form, problem, approximation, points)
        if new > rounding(form, problem, approximation, points):
            ratios.append(new / max(remainder(form, problem, before, points), 1e-300))
    return max(ratios)
