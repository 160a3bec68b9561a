"""Where a solution is looked at: between kernels on the line, in cells elsewhere, step by step."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.cut import Region
from sharpfront.bases.in_time import PatchworkInTime
from sharpfront.bases.patch import Patch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.bases.stars import cone_of
from sharpfront.errors import DomainError
from sharpfront.geometry import Box, Domain
from sharpfront.geometry.curves import Curve
from sharpfront.geometry.panels import Panels
from sharpfront.geometry.star import squares_of
from sharpfront.geometry.surfaces import Surface
from sharpfront.maps import AxisMap, Strip
from sharpfront.pieces.slabs import SlabBasis
from sharpfront.show.data.grid import graded_axis
from sharpfront.show.data.kernels import centres_of, kernels_at
from sharpfront.solution.approximation import Approximation
from sharpfront.solution.functionals.cells import BoxCell, Cell, PatchCell

# Boxes along a side to begin with, where nothing says where a solution is rough.
BOXES = {2: 8, 3: 4}
# Points along each axis of a cone to begin with.
CONE = 8


def line_edges(approximation: Approximation, domain: Domain, t: float | None) -> FloatArray:
    """Return places between which a solution on the line is smooth, both ends among them."""
    low, high = (float(end) for end in domain.bounds[:, 0])
    parts = [np.array([low, high])]
    for basis in approximation.bases.values():
        moved = None if t is None else kernels_at(basis, t)
        parts.append(centres_of(basis)[:, 0] if moved is None else moved.centres[:, 0])
        if isinstance(basis, PatchworkBasis):
            parts.append(np.array([patch.low[0] for patch in basis.patches]))
        elif isinstance(basis, SlabBasis) and t is not None and not basis.slab_at(t).frame.ring:
            parts.append(np.asarray(basis.slab_at(t).at(t).nodes))
    places = np.unique(np.clip(np.concatenate(parts), low, high))
    far = np.diff(places, append=np.inf) > 4 * np.finfo(float).eps * max(abs(low), abs(high))
    return np.asarray(np.unique(np.append(places[far], high)))


def subdivided(edges: FloatArray, count: int) -> FloatArray:
    """Return edges (n + 1,) with the way from each to the next in so many steps, (n count + 1,)."""
    share = np.arange(count) / count
    return np.append((edges[:-1, None] + np.diff(edges)[:, None] * share).ravel(), edges[-1])


def moments_of(approximation: Approximation, span: tuple[float, float]) -> FloatArray:
    """Return the ends of all steps in time, (n + 1,)."""
    basis: Any = next(iter(approximation.bases.values()))
    found = np.array(span)
    if isinstance(basis, SlabBasis | PatchworkInTime):
        found = basis.times
    return np.unique(np.clip(np.append(found, span), *span))


def cells_of(approximation: Approximation, domain: Domain) -> list[Cell]:
    """Return cells that tile a domain, each patch one of them where there are patches."""
    basis: Any = next(iter(approximation.bases.values()))
    if isinstance(basis, PatchworkBasis) and basis.dimension == domain.dimension:
        found = _patch_cells(basis, domain)
        if found is not None:
            return found
    if isinstance(domain, Box):
        return _box_cells(basis, domain)
    if domain.dimension == 2:
        return _cut_cells(domain, region_of(domain))
    if cones := _cones(domain):
        return cones
    raise DomainError(
        "Integrals over solids are not there yet, but for those made of boxes and those inside one "
        "smooth surface that is seen from a centre. A rough value: the mean over "
        "solution.domain.sample(10000), times solution.domain.measure."
    )


def _cones(domain: Domain) -> list[Cell]:
    """Return a solid inside a smooth surface cut from its centre; nothing if it is another one."""
    pieces = [Surface.of(part, p) for part in domain.parts for p in domain.smooth_pieces(part)]
    squares = squares_of(pieces[0]) if len(pieces) == 1 and pieces[0] is not None else None
    if not squares or not domain.contains(squares[0].centre[None])[0]:
        return []
    charts = [cone_of(square) for square in squares]
    ends = np.ones(3)
    return [
        PatchCell(Patch(tuple(AxisMap(0.0, float(x)) for x in c.size), (CONE,) * 3, c), -ends, ends)
        for c in charts
    ]


def region_of(domain: Domain) -> Region:
    """Return a domain of the plane as boxes see it that its whole boundary cuts."""
    pieces = [(part, c) for part in domain.parts for c in domain.smooth_pieces(part)]
    return Region(domain, Panels((p, c) for p, c in pieces if isinstance(c, Curve)))


def _patch_cells(basis: PatchworkBasis, domain: Domain) -> list[Cell] | None:
    """Return the cells of patches; None where a file has lost what lies inside of them."""
    outside = basis.outside or tuple(p.cut is not None for p in basis.patches)
    lost = [o and p.region is None for o, p in zip(outside, basis.patches, strict=True)]
    if any(lost) and any(isinstance(p.chart, Strip) for p in basis.patches):
        return None
    if basis.dimension == 3 and any(outside):
        return None
    region = region_of(domain) if any(lost) else None
    out: list[Cell] = []
    for patch, without in zip(basis.patches, lost, strict=True):
        inside = region if without else patch.region
        if isinstance(inside, Region) and (without or patch.cut is not None):
            out.append(BoxCell(patch.low, patch.high, inside))
        else:
            ends = np.ones(patch.dimension)
            out.append(PatchCell(patch, -ends, ends))
    return out


def _box_cells(basis: Any, domain: Box) -> list[Cell]:
    axes = box_axes(basis, domain.bounds, BOXES.get(domain.dimension, 2) + 1)
    return [BoxCell(low, high) for low, high in _products(axes)]


def _cut_cells(domain: Domain, region: Region) -> list[Cell]:
    low, high = domain.bounds
    axes = [np.linspace(a, b, BOXES[2] + 1) for a, b in zip(low, high, strict=True)]
    return [BoxCell(a, b, region) for a, b in _products(axes)]


def _products(axes: Sequence[FloatArray]) -> list[tuple[FloatArray, FloatArray]]:
    """Return the lower and upper corners of boxes between places along axes."""
    gaps = itertools.product(*(list(itertools.pairwise(axis.tolist())) for axis in axes))
    corners = (np.array(gap) for gap in gaps)
    return [(c[:, 0], c[:, 1]) for c in corners]


def box_axes(basis: Any, bounds: FloatArray, count: int) -> list[FloatArray]:
    """Return places along the sides of a box, dense where kernels are where that is known."""
    return [graded_axis(basis, axis, bounds, count) for axis in range(bounds.shape[1])]
