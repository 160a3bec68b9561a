"""What no number of kernels resolves: data that contradict each other, and re-entrant corners."""

from __future__ import annotations

import itertools

import numpy as np

from sharpfront.adapt.space_state import SpaceState
from sharpfront.arrays import FloatArray
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.estimate.edge import Fixed
from sharpfront.estimate.elements import Elements
from sharpfront.geometry import Box, Domain
from sharpfront.geometry.meshes.mesh import Mesh

# A jump of the data this many times the tolerance keeps a solution from it.
APART = 10.0
# The angle of a corner is counted on a circle of this radius by the size of the domain.
_RADIUS, _DIRECTIONS = 1e-5, 720
# A corner turns back by more than this; a little more than 180 degrees is a polygon's curve.
REENTRANT = 200.0
# Slopes like r^(a - 1) are this many times steeper seven times closer to the corner for a < 0.9,
# which is an angle of 200 degrees.
STEEPER = 1.2


def contradiction(elements: Elements, tol: float) -> Outcome | None:
    """Return where two conditions that give u meet and disagree, if they do so by more than tol."""
    domain, mesh = elements.problem.domain, elements.mesh
    corner = _at_corners(domain, mesh.points)
    worst, words = 0.0, ""
    given = [
        (condition.part, fixed, _values(elements, i, fixed))
        for i, (condition, fixed) in enumerate(
            zip(elements.problem.conditions, elements.conditions, strict=True)
        )
        if isinstance(fixed, Fixed)
    ]
    size = max([1.0, *(float(np.abs(values).max()) for _, _, values in given)])
    for (one, first, mine), (two, second, other) in itertools.combinations(given, 2):
        shared, i, j = np.intersect1d(first.nodes, second.nodes, return_indices=True)
        gaps = np.where(corner[shared], np.abs(mine[i] - other[j]), 0.0)
        if len(gaps) and gaps.max() > worst:
            worst, k = float(gaps.max()), int(np.argmax(gaps))
            place = ", ".join(f"{x:.4g}" for x in mesh.points[shared[k]])
            words = (
                f"At ({place}) the condition on {one} gives {mine[i[k]]:.4g} and that on {two} "
                f"gives {other[j[k]]:.4g}."
            )
    return Outcome(OutcomeKind.CONTRADICTION, words) if worst > APART * tol * size else None


def _values(elements: Elements, index: int, fixed: Fixed) -> FloatArray:
    """Return the values that a condition gives to u at its nodes."""
    return np.asarray(0.0 - elements.data_of(index) / fixed.alpha)


def _at_corners(domain: Domain, points: FloatArray) -> FloatArray:
    """Tell which nodes lie where parts meet by the geometry: on a box all that they share."""
    from scipy.spatial import cKDTree

    if isinstance(domain, Box):
        return np.ones(len(points), dtype=bool)
    corners = domain.corners.reshape(-1, domain.dimension)
    if not len(corners):
        return np.zeros(len(points), dtype=bool)
    size = float(np.ptp(domain.bounds, axis=0).max())
    return np.asarray(cKDTree(corners).query(points)[0] < 1e-8 * size)


def reentrant(domain: Domain) -> tuple[FloatArray, FloatArray]:
    """Return the re-entrant corners of a region in the plane (k, 2) and their angles (k,)."""
    corners = domain.corners.reshape(-1, domain.dimension)
    if domain.dimension != 2 or isinstance(domain, Box) or not len(corners):
        return np.empty((0, 2)), np.empty(0)
    angle = 2 * np.pi * (np.arange(_DIRECTIONS) + 0.5) / _DIRECTIONS
    around = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    radius = _RADIUS * float(np.ptp(domain.bounds, axis=0).max())
    places = (corners[:, None] + radius * around).reshape(-1, 2)
    inside = domain.contains(places).reshape(len(corners), -1)
    angles = 360.0 * inside.mean(axis=1)
    found = angles > REENTRANT
    return corners[found], angles[found]


def at_a_corner(state: SpaceState, reached: str) -> Outcome | None:
    """Return that a re-entrant corner keeps the estimate from falling, where slopes grow to it."""
    corners, angles = reentrant(state.problem.domain)
    if not len(corners) or state.found is None:
        return None
    growth = [_steeper(state.found.elements.mesh, state.found.values, c) for c in corners]
    worst = int(np.argmax(growth))
    if growth[worst] < STEEPER:
        return None
    place = ", ".join(f"{x:.4g}" for x in corners[worst])
    return Outcome(
        OutcomeKind.SINGULAR_CORNER,
        f"{reached} Slopes grow towards the corner at ({place}), whose angle inside is "
        f"{angles[worst]:.0f} degrees.",
    )


def _steeper(mesh: Mesh, values: FloatArray, corner: FloatArray) -> float:
    """Return how many times steeper nodal values are beside a corner than further away from it."""
    slopes = np.linalg.norm(np.einsum("kaj,ka->kj", mesh.gradients, values[mesh.cells]), axis=1)
    away = np.linalg.norm(mesh.points[mesh.cells].mean(axis=1) - corner, axis=1)
    cell = float(np.sqrt(2 * mesh.volumes[np.argmin(away)]))
    near, far = away < 3 * cell, (away > 12 * cell) & (away < 15 * cell)
    if not near.any() or not far.any():
        return 0.0
    weights = mesh.volumes
    inner, outer = (np.average(slopes[m], weights=weights[m]) for m in (near, far))
    return float(inner / max(outer, 1e-300))
