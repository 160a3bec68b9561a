"""Faces where the boundary cuts boxes: what of them lies inside, those along strips and shells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sharpfront.bases.boxes import Boxes
from sharpfront.bases.cut import SHORTEST, Cut
from sharpfront.bases.partial_faces import ShellFace
from sharpfront.bases.patch import Patch
from sharpfront.bases.solid_cut import SolidCut, SolidRegion
from sharpfront.maps import Strip
from sharpfront.rows.faces import Contact, Face, Faces


def inside_of(faces: Faces) -> Faces:
    """Return what of faces lies in the domain, where its boundary cuts boxes."""
    cut = np.any(faces.boxes.cut[faces.pairs], axis=1)
    counts, pieces = np.ones(len(faces), dtype=np.int64), []
    for k in np.flatnonzero(cut).tolist():
        own = _inside(faces[k], faces.boxes.patches)
        counts[k] = len(own)
        pieces += own
    which = np.repeat(np.arange(len(faces)), counts)
    at = np.flatnonzero(cut[which])
    low, high = faces.low[which], faces.high[which]
    for k, face in zip(at.tolist(), pieces, strict=True):
        low[k], high[k] = face.below.low, face.below.high
    special = {k: face for k, face in zip(at.tolist(), pieces, strict=True) if face.part}
    return Faces(faces.boxes, faces.pairs[which], faces.axis[which], low, high, special)


def _inside(face: Face, patches: Sequence[Patch]) -> list[Face]:
    """Return what of a face lies in the domain."""
    region = patches[face.below.patch].region
    if isinstance(region, SolidRegion):
        return _in_solid(face, patches, region)
    pieces = [(face.below.low[0], face.below.high[0])]
    for here in face.contacts:
        cut = patches[here.patch].cut
        if isinstance(cut, Cut):
            own = cut.sides[here.axis, here.end]
            both = [(max(a, c), min(b, d)) for a, b in pieces for c, d in own]
            least = SHORTEST * float(np.min(cut.high - cut.low))
            pieces = [(low, high) for low, high in both if high - low > least]
    return [
        Face(
            replace(face.below, low=(low,), high=(high,)),
            replace(face.above, low=(low,), high=(high,)),
        )
        for low, high in pieces
    ]


def _in_solid(face: Face, patches: Sequence[Patch], region: SolidRegion) -> list[Face]:
    """Return what of a face lies in a solid."""
    here = face.below
    if all(patches[c.patch].cut is None for c in face.contacts):
        return [face]
    place = float(patches[here.patch].high[here.axis])
    found = region.face(here.axis, place, np.array(here.low), np.array(here.high))
    if isinstance(found, bool):
        return [face] if found else []
    return [replace(face, part=found)]


def along_strips(boxes: Boxes) -> list[Face]:
    """Return the faces between sides of strips and the boxes that these cut."""
    faces: list[Face] = []
    patches = boxes.patches
    for i, patch in enumerate(patches):
        cut = patch.cut
        for stretch in cut.stretches if isinstance(cut, Cut) else ():
            assert isinstance(cut, Cut)
            if stretch.panel not in cut.region.strips:
                continue
            strip, axis, end = cut.region.strips[stretch.panel]
            length, rest = float(strip.size[1 - axis]), 1 - axis
            start, stop = (0.5 * (t + 1.0) * length for t in (stretch.start, stretch.stop))
            for j in boxes.places.get((strip, None), np.zeros(0, dtype=np.int64)).tolist():
                low, high = max(start, patches[j].low[rest]), min(stop, patches[j].high[rest])
                place = (patches[j].high if end else patches[j].low)[axis]
                if place == strip.place(axis, end) and high - low > SHORTEST * length:
                    below = Contact(j, axis, end, (float(low),), (float(high),))
                    faces.append(Face(below, _in_box(i, strip, below), strip=strip))
    return faces


def _in_box(patch: int, strip: Strip, below: Contact) -> Contact:
    """Return about where a stretch of a strip's side lies in a box."""
    ends = below.low[0], 0.5 * (below.low[0] + below.high[0]), below.high[0]
    at = np.full((3, 2), strip.place(below.axis, below.end))
    at[:, below.rest[0]] = ends
    points = strip.points(at)
    normal = strip.normals_at(at[1:2], below.axis, below.end)[0]
    axis = int(np.argmax(np.abs(normal)))
    along = np.sort(points[[0, -1], 1 - axis])
    return Contact(patch, axis, int(normal[axis] < 0), (float(along[0]),), (float(along[1]),))


def along_shells(boxes: Boxes) -> list[Face]:
    """Return the faces between inner sides of shells and the boxes that these cut."""
    faces: list[Face] = []
    patches = boxes.patches
    for i, patch in enumerate(patches):
        cut = patch.cut
        for shell in cut.region.shells if isinstance(cut, SolidCut) else ():
            for j in boxes.places.get((shell, None), np.zeros(0, dtype=np.int64)).tolist():
                low, high = patches[j].low, patches[j].high
                if high[2] != shell.depth:
                    continue
                assert isinstance(cut, SolidCut)
                part = cut.region.inner_side(shell, low[:2], high[:2], (cut.low, cut.high))
                if part is not None:
                    at = tuple(part.low.tolist()), tuple(part.high.tolist())
                    below = Contact(j, 2, 1, *at)
                    faces.append(Face(below, _on_shell(i, patch, part), part=part))
    return faces


def _on_shell(patch: int, box: Patch, part: ShellFace) -> Contact:
    """Return about where a part of a shell's inner side lies in a box."""
    positions, _ = part.rule((2, 2))
    inwards = part.shell.taylor(positions.mean(axis=0)[None], 1)[0, 0, 1][0]
    axis = int(np.argmax(np.abs(inwards)))
    points = np.delete(part.shell.points(positions), axis, axis=1)
    ends = (tuple(f(points, axis=0).tolist()) for f in (np.min, np.max))
    return Contact(patch, axis, int(inwards[axis] < 0), *ends)
