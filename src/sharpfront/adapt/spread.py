"""Nodes and rows spread evenly over an embedded surface."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from sharpfront.arrays import Host
from sharpfront.geometry.domain import BoundaryPoints, Domain
from sharpfront.pieces.embedding import Embedding

# Cells of the sampling grid for each node: Lloyd's centroids are means over this many samples.
_SAMPLES = 12
_ROUNDS = 10
# Rows for each node, and how much closer to each other those on the boundary are than nodes.
ROWS = 2.2
_EDGE_SPACING = 0.4
# How far ghosts reach beyond the boundary, in spacings on the surface.
_MARGIN = 2.5
_FIRST_CELLS = 24
_FINEST = 24


@dataclass(frozen=True, eq=False)
class Places:
    """Where the kernels and the rows of a solve go.

    Parameters
    ----------
    nodes
        (n, d), the kernels inside the domain first, then the ghosts.
    kernels
        How many are inside.
    spacing
        The mean distance of neighbouring nodes on the surface.
    rows
        (m, d), in the domain.
    edges
        For each part of the boundary its rows.
    """

    nodes: Host
    kernels: int
    spacing: float
    rows: Host
    edges: dict[str, BoundaryPoints]


def place(embedding: Embedding, domain: Domain, count: int, seed: int = 0) -> Places:
    """Spread `count` nodes, ghosts included, and the rows that belong to them.

    Nodes are centroids of their Voronoi cells on the surface (Lloyd's iteration), so that each
    has the same share of it.
    """
    rng = np.random.default_rng(seed)
    low, high = domain.bounds
    dimension = domain.dimension
    area = _Cells.over(embedding, low, high, _FIRST_CELLS).inside(domain).area
    spacing = (area / count) ** (1 / dimension)
    margin = _MARGIN * spacing
    wide = _Cells.over(embedding, low - margin, high + margin, _FIRST_CELLS)
    wide = wide.refined(embedding, area / (_SAMPLES * count)).jittered(rng)
    within = domain.contains(wide.points)
    lifted = embedding(wide.points)
    distance = cKDTree(lifted[within]).query(lifted[~within], distance_upper_bound=margin)[0]
    keep = within.copy()
    keep[~within] = distance < margin
    nodes = _relaxed(embedding, wide.chosen(keep), count, rng)
    order = np.argsort(~domain.contains(nodes), kind="stable")
    spacing = (wide.chosen(keep).area / count) ** (1 / dimension)
    rows = _relaxed(
        embedding,
        wide.chosen(within),
        round(ROWS * int(within_count(wide, within, keep, count))),
        rng,
        rounds=4,
    )
    edges = {
        part: _edge(embedding, domain, part, _EDGE_SPACING * spacing, seed) for part in domain.parts
    }
    kernels = int(domain.contains(nodes).sum())
    return Places(nodes[order], kernels, spacing, rows[domain.contains(rows)], edges)


def within_count(cells, within, keep, count):
    return count * cells.chosen(within).area / cells.chosen(keep).area


@dataclass(frozen=True, eq=False)
class _Cells:
    """Boxes with middles (n, d), sides (n, d) and areas on the surface (n,)."""

    points: Host
    sides: Host
    areas: Host

    @classmethod
    def over(cls, embedding: Embedding, low: Host, high: Host, per_side: int) -> _Cells:
        """Divide the box into about cubic cells."""
        extent = high - low
        counts = np.ceil(per_side * extent / extent.max()).astype(int)
        axes = [
            a + (np.arange(n) + 0.5) * (b - a) / n
            for a, b, n in zip(low, high, counts, strict=True)
        ]
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(low))
        sides = np.broadcast_to(extent / counts, points.shape)
        return cls._measured(embedding, points, sides)

    @classmethod
    def _measured(cls, embedding: Embedding, points: Host, sides: Host) -> _Cells:
        stretch = np.sqrt(np.linalg.det(embedding.metric(points)))
        return cls(points, sides, stretch * sides.prod(axis=1))

    @property
    def area(self) -> float:
        return float(self.areas.sum())

    def chosen(self, mask) -> _Cells:
        return _Cells(self.points[mask], self.sides[mask], self.areas[mask])

    def inside(self, domain: Domain) -> _Cells:
        return self.chosen(domain.contains(self.points))

    def refined(self, embedding: Embedding, largest: float) -> _Cells:
        """Halve cells along every axis until their area on the surface is `largest` at most."""
        done: list[_Cells] = []
        current = self
        corners = np.stack(np.meshgrid(*[[-0.25, 0.25]] * self.points.shape[1], indexing="ij"), -1)
        corners = corners.reshape(-1, self.points.shape[1])
        for _ in range(_FINEST):
            large = current.areas > largest
            done.append(current.chosen(~large))
            if not large.any():
                break
            parent = current.chosen(large)
            points = (parent.points[:, None, :] + corners * parent.sides[:, None, :]).reshape(
                -1, self.points.shape[1]
            )
            sides = np.repeat(parent.sides / 2, len(corners), axis=0)
            current = self._measured(embedding, points, sides)
        return _Cells(
            *(np.concatenate([getattr(c, n) for c in done]) for n in ("points", "sides", "areas"))
        )

    def jittered(self, rng: np.random.Generator) -> _Cells:
        shift = (rng.random(self.points.shape) - 0.5) * self.sides
        return _Cells(self.points + shift, self.sides, self.areas)


def _relaxed(
    embedding: Embedding, cells: _Cells, count: int, rng: np.random.Generator, rounds: int = _ROUNDS
) -> Host:
    """Lloyd."""
    order = np.argsort(_morton(cells.points), kind="stable")
    level = np.cumsum(cells.areas[order])
    picks = np.searchsorted(level, (np.arange(count) + rng.random()) / count * level[-1])
    centres = cells.points[order[np.minimum(picks, len(order) - 1)]]
    lifted = embedding(cells.points)
    for _ in range(rounds):
        nearest = cKDTree(embedding(centres)).query(lifted)[1]
        mass = np.bincount(nearest, cells.areas, minlength=count)
        held = mass > 0
        for axis in range(centres.shape[1]):
            total = np.bincount(nearest, cells.areas * cells.points[:, axis], minlength=count)
            centres[held, axis] = total[held] / mass[held]
    return centres


def _morton(points: Host):
    """Position along a space-filling curve."""
    low, high = points.min(axis=0), points.max(axis=0)
    bits = 60 // points.shape[1]
    whole = ((points - low) / (high - low).max() * (2**bits - 1)).astype(np.int64)
    code = np.zeros(len(points), dtype=np.int64)
    for bit in range(bits):
        for axis in range(points.shape[1]):
            code |= ((whole[:, axis] >> bit) & 1) << (bit * points.shape[1] + axis)
    return code


def _edge(
    embedding: Embedding, domain: Domain, part: str, spacing: float, seed: int
) -> BoundaryPoints:
    """Return rows of one part of the boundary, evenly spread on the surface."""
    dimension = domain.dimension
    tight = domain.boundary(part, 4000, seed)
    stretch = _edge_stretch(embedding, tight)
    size = domain.boundary_measure(part) / len(tight.points)
    areas = stretch * size
    count = max(8, int(np.ceil(areas.sum() / spacing ** (dimension - 1))))
    order = np.argsort(_morton(tight.points), kind="stable")
    level = np.cumsum(areas[order])
    picks = np.searchsorted(level, np.linspace(level[0], level[-1], count))
    chosen = np.unique(order[picks])
    return BoundaryPoints(tight.points[chosen], tight.normals[chosen])


def _edge_stretch(embedding: Embedding, edge: BoundaryPoints) -> Host:
    """sqrt(det G) |n|_(G^-1): how much the surface element of the boundary grows."""
    metric = embedding.metric(edge.points)
    inverse = np.linalg.inv(metric)
    square = np.einsum("mi,mij,mj->m", edge.normals, inverse, edge.normals)
    return np.sqrt(np.linalg.det(metric) * square)
