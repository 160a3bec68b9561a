"""The system of a linear problem on patches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from functools import partial

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.leastsquares.dissection import Ints, nested_dissection
from sharpfront.leastsquares.traces import TraceSystem
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.rows.faces import Contact, Faces, Side
from sharpfront.rows.integrals import Link
from sharpfront.rows.neighbours import faces_of
from sharpfront.rows.patch_rows import PatchRows


def patch_system(
    rows: PatchRows, tiling: Tiling, patches: Sequence[Patch], heavier: float = 1.0
) -> TraceSystem:
    """Return the least-squares system on patches.

    Parameters
    ----------
    rows
        The problem's rows.
    tiling
        The domain's walls.
    patches
        Boxes that tile the domain.
    heavier
        Factor on the rows of the equation: another norm.
    """
    system = rows.remembered(tuple(patches), lambda: _trace_system(rows, tiling, patches))
    return system if heavier == 1.0 else system.reweighed(heavier)


def _trace_system(rows: PatchRows, tiling: Tiling, patches: Sequence[Patch]) -> TraceSystem:
    faces, bare = faces_of(patches, tiling.periods)
    sides = tiling.parts(patches, bare)
    rows.weigh(faces, sides)
    pairs, sizes, boxes = faces.pairs, rows.trace_sizes(faces), faces.boxes
    orderings = np.vstack([boxes.middles.T, np.log(np.prod(boxes.sides, axis=1))])
    links: list[Link] = []
    # A card makes rows with polynomials only, and all of one weight.
    decaying = any(m.decays for p in patches for m in p.maps) or rows.measure.layered
    plain = not (rows.measure.climbs or decaying)
    if rows.integrals.forms:
        order = nested_dissection(orderings, pairs, sizes.astype(float)).order
        links = _chain(order, len(faces))
        pairs = np.concatenate([pairs, np.stack([order[:-1], order[1:]], axis=1)])
        sums = np.full(len(order) - 1, len(rows.integrals.forms), dtype=np.int64)
        sizes = np.concatenate([sizes, sums])
    return TraceSystem(
        lambda: _keys(rows, faces, sides, links),
        lambda which: rows.leaves(patches, faces, sides, which, links),
        pairs,
        sizes,
        orderings,
        lambda columns: _arranged(columns, patches, len(rows.unknowns)),
        rows.measure.constant and 2 * boxes.shapes < len(patches),
        rows.measure.constant,
        rows.measure.shared,
        partial(rows.stacks, patches, faces, sides) if plain and not links else None,
        None if links else partial(rows.near_moments, faces),
        partial(_siblings, rows, tiling, patches) if rows.siblings else None,
    )


def _siblings(rows: PatchRows, tiling: Tiling, patches: Sequence[Patch]) -> list[TraceSystem]:
    """Return the systems of all problems that are solved together, on the same patches."""
    return [patch_system(own, tiling, patches) for own in rows.siblings]


def _keys(
    rows: PatchRows, faces: Faces, sides: Mapping[Side, str], links: Sequence[Link]
) -> list[Hashable]:
    """Return what tells the rows of each patch from those of others and of other systems."""
    patches = faces.boxes.patches
    around: list[list[tuple[Contact, Contact]]] = [[] for _ in patches]
    for face in faces:
        around[face.below.patch].append((face.below, face.above))
        around[face.above.patch].append((face.above, face.below))
    walls: dict[int, list[Hashable]] = defaultdict(list)
    for side, part in sides.items():
        walls[side.patch].append((side.axis, side.end, part))
    owned = rows.point_owners(patches)
    keys: list[Hashable] = []
    for i, patch in enumerate(patches):
        ties = tuple(
            (here.axis, here.end, here.low, here.high, there.axis, there.end, patches[there.patch])
            for here, there in around[i]
        )
        place = (links[i].before is None, links[i].after is None) if links else ()
        points = tuple(id(c) for c in owned.get(i, ()))
        # The rows' own identity: another problem has other rows on the same patches.
        keys.append((rows, patch, tuple(walls[i]), ties, place, points))
    return keys


def _arranged(columns: Sequence[FloatArray], patches: Sequence[Patch], count: int) -> FloatArray:
    """Return the weights of `count` unknowns one after the other, from those of each patch."""
    # What is handed on along a chain is no weight.
    own = [c[: count * p.size] for c, p in zip(columns, patches, strict=True)]
    blocks = [c.reshape(count, -1, c.shape[1]) for c in own]
    return np.concatenate([b[j] for j in range(count) for b in blocks])


def _chain(order: Ints, first: int) -> list[Link]:
    """Return the place of each patch in a chain, whose traces are numbered from `first` on."""
    out = [Link(None, None)] * len(order)
    for k, patch in enumerate(order.tolist()):
        before = first + k - 1 if k else None
        out[patch] = Link(before, first + k if k + 1 < len(order) else None)
    return out
