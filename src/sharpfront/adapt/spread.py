"""Nodes and rows spread evenly over an embedded surface.

Space is divided into boxes, halved until their area on the surface is a fraction of a node's. One
random point in each, weighted by the area, stands for the surface; nodes are the centroids of their
Voronoi cells among these points (Lloyd's iteration), with distances in the space that the surface
lies in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.errors import DomainError
from sharpfront.geometry.domain import BoundaryPoints, Domain
from sharpfront.pieces.embedding import Embedding

# Boxes for each node: a centroid is a mean over this many points.
_SAMPLES = 12
_ROUNDS, _ROW_ROUNDS = 10, 4
# Rows for each node, and the spacing of those on the boundary in spacings of nodes.
_ROWS, _EDGE_SPACING = 2.2, 0.4
# How far ghosts reach beyond the boundary, in spacings.
_MARGIN = 2.5
# Boxes along the longest side to begin with, and how often they may be halved.
_FIRST, _HALVINGS = 24, 24
# Candidates on one part of the boundary: at least, and at most.
_CANDIDATES = (2000, 40_000)


@dataclass(frozen=True, eq=False)
class Spread:
    """Where the kernels and the rows of a solve go.

    Parameters
    ----------
    nodes
        (n, d), those in the domain first, then the ghosts outside.
    kernels
        How many are in the domain.
    spacing
        On the surface, the d-th root of the area that belongs to one node.
    rows
        (m, d), in the domain.
    edges
        For each part of the boundary its rows.
    """

    nodes: FloatArray
    kernels: int
    spacing: float
    rows: FloatArray
    edges: dict[str, BoundaryPoints]


class _Boxes(NamedTuple):
    """Boxes: a point in each (n, d), their sides (n, d) and areas on the surface (n,)."""

    points: FloatArray
    sides: FloatArray
    areas: FloatArray

    def chosen(self, mask: NDArray[np.bool_]) -> _Boxes:
        return _Boxes(*(array[mask] for array in self))


def place(embedding: Embedding, domain: Domain, count: int, seed: int = 0) -> Spread:
    """Spread `count` nodes, ghosts included, and the rows that belong to them.

    The same seed gives the same places.
    """
    if count < 1:
        raise DomainError(f"Cannot spread {count} nodes; expected one at least.")
    rng = np.random.default_rng(seed)
    inside, ghosts = _samples(embedding, domain, count, rng)
    share = inside.areas.sum() / (inside.areas.sum() + ghosts.areas.sum())
    spacing = float((inside.areas.sum() / (share * count)) ** (1 / domain.dimension))
    both = _Boxes(*(np.concatenate(pair) for pair in zip(inside, ghosts, strict=True)))
    nodes = _relaxed(embedding, both, count, rng, _ROUNDS)
    rows = _relaxed(embedding, inside, max(1, round(_ROWS * share * count)), rng, _ROW_ROUNDS)
    within = domain.contains(nodes)
    edges = {
        part: _edge(embedding, domain, part, _EDGE_SPACING * spacing, seed) for part in domain.parts
    }
    return Spread(
        np.concatenate([nodes[within], nodes[~within]]),
        int(np.count_nonzero(within)),
        spacing,
        rows[domain.contains(rows)],
        edges,
    )


def _samples(
    embedding: Embedding, domain: Domain, count: int, rng: np.random.Generator
) -> tuple[_Boxes, _Boxes]:
    """Return boxes in the domain, and those beyond its boundary that are for ghosts."""
    from scipy.spatial import cKDTree

    low, high = domain.bounds
    first = _divided(embedding, low, high)
    area = float(first.areas[domain.contains(first.points)].sum())
    margin = _MARGIN * (area / count) ** (1 / domain.dimension)
    boxes = _refined(
        embedding, _divided(embedding, low - margin, high + margin), area / (_SAMPLES * count)
    )
    jitter = (rng.random(boxes.points.shape) - 0.5) * boxes.sides
    boxes = boxes._replace(points=boxes.points + jitter)
    within = domain.contains(boxes.points)
    inside, outside = boxes.chosen(within), boxes.chosen(~within)
    near = cKDTree(embedding(inside.points))
    # Along the surface and not in space: beside a front a margin is as thin as the front.
    distance, _ = near.query(embedding(outside.points), distance_upper_bound=margin)
    return inside, outside.chosen(distance < margin)


def _divided(embedding: Embedding, low: FloatArray, high: FloatArray) -> _Boxes:
    """Divide a box into about cubic ones."""
    extent = high - low
    counts = np.ceil(_FIRST * extent / extent.max()).astype(int)
    axes = [
        a + (np.arange(n) + 0.5) * side / n for a, side, n in zip(low, extent, counts, strict=True)
    ]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(low))
    return _measured(embedding, points, np.broadcast_to(extent / counts, points.shape))


def _measured(embedding: Embedding, points: FloatArray, sides: FloatArray) -> _Boxes:
    stretch = np.sqrt(np.linalg.det(embedding.metric(points)))
    return _Boxes(points, sides, stretch * sides.prod(axis=1))


def _refined(embedding: Embedding, boxes: _Boxes, largest: float) -> _Boxes:
    """Halve boxes along every axis until their area on the surface is `largest` at most."""
    d = boxes.points.shape[1]
    corners = np.stack(np.meshgrid(*[[-0.25, 0.25]] * d, indexing="ij"), axis=-1).reshape(-1, d)
    done: list[_Boxes] = []
    for _ in range(_HALVINGS):
        large = boxes.areas > largest
        done.append(boxes.chosen(~large))
        if not large.any():
            break
        parents = boxes.chosen(large)
        points = (parents.points[:, None, :] + corners * parents.sides[:, None, :]).reshape(-1, d)
        boxes = _measured(embedding, points, np.repeat(parents.sides / 2, len(corners), axis=0))
    return _Boxes(*(np.concatenate(arrays) for arrays in zip(*done, strict=True)))


def _relaxed(
    embedding: Embedding, boxes: _Boxes, count: int, rng: np.random.Generator, rounds: int
) -> FloatArray:
    """Move `count` of the boxes' points to the centroids of their cells, some times over."""
    from scipy.spatial import cKDTree

    order = np.argsort(_along_curve(boxes.points), kind="stable")
    centres = boxes.points[order[_systematic(boxes.areas[order], count, rng.random())]]
    lifted = embedding(boxes.points)
    for _ in range(rounds):
        nearest = cKDTree(embedding(centres)).query(lifted)[1]
        mass = np.bincount(nearest, boxes.areas, minlength=count)
        held = mass > 0
        for axis in range(centres.shape[1]):
            total = np.bincount(nearest, boxes.areas * boxes.points[:, axis], minlength=count)
            centres[held, axis] = total[held] / mass[held]
    return centres


def _systematic(sizes: FloatArray, count: int, shift: float) -> NDArray[np.int64]:
    """Return `count` places at equal steps through things of these sizes laid end to end."""
    level = np.cumsum(sizes)
    steps = (np.arange(count) + shift) / count * level[-1]
    return np.asarray(np.minimum(np.searchsorted(level, steps), len(sizes) - 1), dtype=np.int64)


def _along_curve(points: FloatArray) -> NDArray[np.int64]:
    """Return the places of points on a space-filling curve: coordinates' bits in turn, (n,)."""
    low, extent = points.min(axis=0), np.ptp(points, axis=0).max()
    d = points.shape[1]
    bits = 60 // d
    whole = ((points - low) / max(extent, np.finfo(float).tiny) * (2**bits - 1)).astype(np.int64)
    code = np.zeros(len(points), dtype=np.int64)
    for bit in range(bits):
        for axis in range(d):
            code |= ((whole[:, axis] >> bit) & 1) << (bit * d + axis)
    return code


def _edge(
    embedding: Embedding, domain: Domain, part: str, spacing: float, seed: int
) -> BoundaryPoints:
    """Return rows of one part of the boundary, evenly spread on the surface, ends included."""
    least, most = _CANDIDATES
    size = domain.boundary_measure(part)
    areas = _edge_stretch(embedding, domain.boundary(part, least, seed))
    # Two candidates for each row where the front meets the boundary.
    wanted = 2 * size * float(areas.max()) / spacing ** (domain.dimension - 1)
    edge = domain.boundary(part, int(np.clip(wanted, least, most)), seed)
    areas = _edge_stretch(embedding, edge) * size / len(edge.points)
    count = max(8, int(np.ceil(areas.sum() / spacing ** (domain.dimension - 1))))
    # Points of a curve come one after the other; those of a face are brought into an order.
    flat = domain.dimension == 2
    order = np.arange(len(areas)) if flat else np.argsort(_along_curve(edge.points), kind="stable")
    level = np.cumsum(areas[order])
    # From the first to the last: the solution is least certain in corners.
    picks = np.searchsorted(level, np.linspace(level[0], level[-1], count))
    chosen = order[np.unique(np.minimum(picks, len(order) - 1))]
    return BoundaryPoints(edge.points[chosen], edge.normals[chosen])


def _edge_stretch(embedding: Embedding, edge: BoundaryPoints) -> FloatArray:
    """Return how much the boundary's own area grows on the surface, (m,).

    For the metric G = J^T J and the unit normal n it is sqrt(det G) sqrt(n . G^-1 n).
    """
    metric = embedding.metric(edge.points)
    turned = np.linalg.solve(metric, edge.normals[:, :, None])[:, :, 0]
    square = (edge.normals * turned).sum(axis=1)
    return np.asarray(np.sqrt(np.linalg.det(metric) * square))
