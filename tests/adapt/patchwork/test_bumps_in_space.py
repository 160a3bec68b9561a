"""Smooth solutions in space with a bump inside: edges and corners have nothing to do with it."""

from dataclasses import replace

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt import Patches
from sharpfront.adapt.adaptive_step import adaptive_step
from sharpfront.adapt.patchwork import adaptor
from sharpfront.adapt.patchwork.certify import Certifier
from sharpfront.adapt.patchwork.corner_changes import are_quiet
from sharpfront.bases.patch import Patch
from sharpfront.maps import AxisMap
from sharpfront.place.patches.cuts import Cell, parts_of
from sharpfront.place.patches.refine import Limits, refined
from sharpfront.place.patches.tails import Tails

POINTS = np.stack(np.meshgrid(*[np.linspace(0.02, 0.98, 17)] * 3), axis=-1).reshape(-1, 3)
# The four edges of a cube along z.
EDGES = np.array([(x, y, np.nan) for x in (0.0, 1.0) for y in (0.0, 1.0)])


def from_edge(points):
    return np.linalg.norm(points[:, None, :2] - EDGES[:, :2], axis=2).min(axis=1)


def test_edges_are_quiet_while_a_bump_inside_is_not_resolved():
    volumes = np.ones(len(POINTS))
    bump = np.exp(-30 * ((POINTS - 0.5) ** 2).sum(axis=1))
    edge = np.abs(np.log(from_edge(POINTS)))
    assert are_quiet(EDGES, POINTS, volumes, bump)
    assert not are_quiet(EDGES, POINTS, volumes, edge)
    assert not are_quiet(EDGES, POINTS, volumes, bump + edge)
    assert not are_quiet(EDGES[:, :2], POINTS[:, :2], volumes, bump)


def test_points_count_as_much_as_the_volume_they_stand_for():
    near = from_edge(POINTS) < 0.1
    residual = np.where(near, 0.3, np.where(POINTS[:, 2] < 0.5, 1.0, 0.01))
    assert are_quiet(EDGES, POINTS, np.ones(len(POINTS)), residual)
    assert not are_quiet(EDGES, POINTS, np.where(POINTS[:, 2] < 0.5, 1e-3, 1.0), residual)


def test_parts_of_a_patch_in_space_are_no_worse_than_the_whole():
    cell = Cell(Patch((AxisMap(0.0, 1.0),) * 3, (15, 15, 15)), promise=1e-4)
    tail, endless = np.full((1, 3), 1e-2), np.full((1, 3), np.inf)
    tails = Tails(tail, endless, np.zeros((1, 3), dtype=bool), tail, tail)
    parts, _ = refined([cell], tails, 1e-4, 0.1, Limits(8, 13, 6), (None,) * 3, np.empty((0, 3)))
    assert len(parts) == 8
    assert {part.patch.functions for part in parts} == {(10, 10, 10)}


def test_tails_that_are_nearly_too_long_do_not_wait_for_another_solve():
    sides = [(AxisMap(a, a + 1.0), AxisMap(0.0, 1.0), AxisMap(0.0, 1.0)) for a in (0.0, 1.0, 2.0)]
    cells = [Cell(Patch(maps, (9, 9, 9))) for maps in sides]
    tail = np.repeat([[2e-3], [6e-4], [2e-4]], 3, axis=1)
    tails = Tails(tail, np.full((3, 3), 10.0), np.ones((3, 3), dtype=bool), tail, tail)
    after, _ = refined(cells, tails, 1e-3, 0.1, Limits(8, 13, 6), (None,) * 3, np.empty((0, 3)))
    assert [c.patch.functions[0] for c in after] == [11, 11, 9]


def test_what_is_claimed_counts_edges_that_are_quiet(monkeypatch):
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1), (0, 1)),
        lambda u, x, y, z: -sf.laplacian(u) - 1,
        boundary=lambda u, x, y, z: u,
    )
    patches = Patches()
    state = patches.start(problem, 1e-3, 0)
    octants = parts_of(
        state.cells[0], np.ones(3, dtype=bool), np.full(3, 8), np.inf, np.full((3, 2), np.inf)
    )
    state = replace(state, final=True, cells=tuple(octants))
    claimed = []
    for quiet in (False, True):
        monkeypatch.setattr(adaptor, "are_quiet", lambda *_, quiet=quiet: quiet)
        claimed.append(adaptive_step(problem, patches, state, 0)[0].assessment.certificate.singular)
    assert claimed[0] > 1e-3
    assert claimed[1] == pytest.approx(claimed[0])


@pytest.mark.parametrize("tol, richer", [(1e-2, False), (1e-9, True)])
def test_the_richer_solution_is_asked_in_another_norm_where_the_poorer_is_not_enough(
    monkeypatch, tol, richer
):
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1), (0, 1)),
        lambda u, x, y, z: sf.laplacian(u) - np.exp(x),
        boundary=lambda u, x, y, z: u - np.exp(x),
    )
    patches, asked = Patches(), []
    state = replace(patches.start(problem, 1e-2, 0), final=True, tol=tol)
    solved = Certifier._solved

    def noting(self, own, heavier, rows):
        asked.append((own[0].functions > state.cells[0].patch.functions, heavier > 1.0))
        return solved(self, own, heavier, rows)

    monkeypatch.setattr(Certifier, "_solved", noting)
    adaptive_step(problem, patches, state, 0)
    assert asked[:2] == [(True, False), (False, True)]
    assert ((True, True) in asked) is richer
