"""Ties of patches to the traces on their faces."""

from dataclasses import replace

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.evolve.patchwork.cells import Meshing
from sharpfront.place.patches.refine import Limits
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.strips.collars import collared
from sharpfront.place.tiling.tiling import tiling_of
from sharpfront.rows import trace_ties
from sharpfront.rows.face_scaling import face_measure
from sharpfront.rows.neighbours import faces_of
from sharpfront.rows.patch_rows import PatchRows
from sharpfront.rows.trace_ties import TraceTies


def decaying(rate):
    disk = sf.Disk((0, 0), 1)
    return sf.Problem(
        disk, lambda u, x, y: rate * u - sf.laplacian(u) - 1, boundary=lambda u, x, y: u
    )


@pytest.fixture
def patches():
    """Strips along the rim, and boxes that these cut."""
    thin = decaying(1e4)
    tiling = collared(thin, tiling_of(thin.domain), SETTINGS, 1e-6)
    assert len(tiling.blocks) > 1
    meshing = Meshing(tiling, (np.zeros(0),) * 2, Limits(6, 12, 6), 10_000, np.zeros((0, 2)))
    return [cell.patch for cell in meshing.layered(thin, 1e-6)]


def ties_of(patches, rate, kept=None):
    ties = PatchRows(decaying(rate))._ties
    ties.kept = kept
    faces, _ = faces_of(patches, (None, None))
    found = ties.of_patches(faces, patches, range(len(patches)))
    return [np.asarray(tie.matrix) for own in found.values() for tie in own]


def test_moments_that_are_kept_serve_other_modes(patches, monkeypatch):
    kept = {}
    first = ties_of(patches, 1.0, kept)
    monkeypatch.setattr(trace_ties, "face_measure", deeper)
    alone = ties_of(patches, 1.0)
    assert any(not np.allclose(one, other) for one, other in zip(first, alone, strict=True))
    monkeypatch.setattr(TraceTies, "_moments_along_normals", None)
    for one, other in zip(ties_of(patches, 1.0, kept), alone, strict=True):
        np.testing.assert_array_equal(one, other)


def deeper(*given):
    """Return lengths that slopes are measured by as another mode has them."""
    sizes = face_measure(*given)
    return replace(sizes, depth=3.0 * sizes.depth, least=0.5 * sizes.least)
