"""Traces found by iteration are those that elimination finds, or it steps aside."""

import itertools

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.patchwork.system import patch_system
from sharpfront.bases.patch import Patch
from sharpfront.leastsquares import iterative_traces, tree
from sharpfront.leastsquares.leaves import LeafFactor
from sharpfront.leastsquares.merges import Node
from sharpfront.leastsquares.traces import Tree
from sharpfront.maps import AxisMap
from sharpfront.place.tiling.tiling import tiling_of
from sharpfront.rows.neighbours import faces_of
from sharpfront.rows.patch_rows import PatchRows

CUBE = sf.Box((0, 1), (0, 1), (0, 1))
EVEN, GRADED = [0.0, 1 / 3, 2 / 3, 1.0], [0.0, 0.08, 0.3, 1.0]


def of_order_two(wind, reaction):
    return sf.Problem(
        CUBE,
        lambda u, x, y, z: (
            -(1 + x * y) * sf.laplacian(u) + wind * u.dx + reaction * u - np.exp(x) * np.sin(4 * y)
        ),
        boundary=lambda u, x, y, z: u - x * z,
        right=lambda u, x, y, z: u.dn - y,
    )


STOKES = sf.Problem(
    CUBE,
    lambda u, v, w, p, x, y, z: (
        -sf.laplacian(u) + p.dx - y,
        -sf.laplacian(v) + p.dy - np.sin(x * z),
        -sf.laplacian(w) + p.dz,
        u.dx + v.dy + w.dz,
    ),
    boundary=lambda u, v, w, p, x, y, z: (u, v, w),
    conditions=sf.at((0.5, 0.5, 0.5), lambda u, v, w, p, x, y, z: p),
)


def boxes(lines, functions):
    """Return patches between lines, which have more functions one after the other in turn."""
    sides = [[AxisMap(a, b) for a, b in itertools.pairwise(x)] for x in lines]
    every = enumerate(itertools.product(*sides))
    return tuple(Patch(maps, (functions + i % 2,) * 3) for i, maps in every)


@pytest.fixture
def used(monkeypatch):
    """Iterate however small a system is; what came out of it is noted."""
    seen, solve = [], tree.iterated_traces
    monkeypatch.setattr(tree, "is_large", lambda *_: True)
    monkeypatch.setattr(tree, "pays", lambda *_: True)
    monkeypatch.setattr(tree, "FEW", 0)
    monkeypatch.setattr(tree, "MANY", 0)

    def noted(*given):
        seen.append(solve(*given))
        return seen[-1]

    monkeypatch.setattr(tree, "iterated_traces", noted)
    return seen


def weights(problem, patches):
    system = patch_system(PatchRows(problem, 1), tiling_of(CUBE), patches)
    return system, Tree().factor(system)[1]


@pytest.mark.parametrize("lines", [[EVEN] * 3, [GRADED, EVEN, EVEN], [GRADED] * 3])
@pytest.mark.parametrize(
    "problem",
    [of_order_two(0, 0), of_order_two(60, 0), of_order_two(0, 300), of_order_two(5, -120), STOKES],
)
def test_iteration_finds_what_elimination_finds(problem, lines, used, monkeypatch):
    patches = boxes(lines, 5 if problem is STOKES else 6)
    system, found = weights(problem, patches)
    monkeypatch.setattr(tree, "pays", lambda *_: False)
    _, wanted = weights(problem, patches)
    assert len(used) == 1 and found.iterations and not wanted.iterations
    own, exact = (system.weights(each)[:, 0] for each in (found, wanted))
    np.testing.assert_allclose(own, exact, atol=1e-7 * np.abs(exact).max())
    assert found.residual_norm == pytest.approx(wanted.residual_norm, rel=1e-6)


def test_where_it_does_not_converge_all_is_eliminated(used, monkeypatch):
    patches = boxes([EVEN] * 3, 6)
    monkeypatch.setattr(iterative_traces, "MOST", 3)
    _, found = weights(of_order_two(0, 0), patches)
    monkeypatch.setattr(tree, "pays", lambda *_: False)
    _, wanted = weights(of_order_two(0, 0), patches)
    assert used == [None]
    for own, exact in zip(found.columns, wanted.columns, strict=True):
        np.testing.assert_array_equal(own, exact)


def test_it_pays_from_many_moments_on_and_the_sooner_the_more_leaves_are_alike():
    def paid(count, alike):
        """Leaves in a row that share few of their moments with the next."""
        packed = [np.broadcast_to(0.0, 2000 * 2001 // 2) for _ in range(1 if alike else count)]
        none = np.zeros(0)
        leaves = [
            LeafFactor((0,), (2000,), none, None, packed[i % len(packed)], none, (none,), (1, 1))
            for i in range(count)
        ]
        first, chain = 0, []
        for second in range(1, count):
            chain.append(Node(first, second, 10))
            first = count + second - 1
        if not iterative_traces.is_large(leaves, chain):
            return False
        return iterative_traces.pays(
            leaves, chain, [80] * count, [Node(a, b, 1) for a, b, _ in chain]
        )

    assert [paid(count, True) for count in (2, 60, 300)] == [False, True, True]
    assert [paid(count, False) for count in (2, 60, 300)] == [False, False, True]


def test_functions_of_edges_go_along(used, monkeypatch):
    """They are further right-hand sides, of which all digits count."""
    prism = sf.Box((0, 2), (0, 2), (0, 1)) - sf.Box((1, 2), (1, 2), (0, 1))
    problem = sf.Problem(
        prism, lambda u, x, y, z: -sf.laplacian(u) - 1, boundary=lambda u, x, y, z: u
    )
    found = sf.solve(problem, tol=1e-3)
    assert found.converged and all(own is not None for own in used)
    monkeypatch.setattr(tree, "pays", lambda *_: False)
    wanted = sf.solve(problem, tol=1e-3)
    points = prism.sample(200).T
    np.testing.assert_allclose(found(*points), wanted(*points), atol=1e-8)


def near_of(lines, functions):
    """Return which moments stay near each face, (faces, moments)."""
    patches = boxes(lines, functions)
    rows, faces = PatchRows(of_order_two(0, 0), 1), faces_of(patches, tiling_of(CUBE).periods)[0]
    ends = np.cumsum(rows.trace_sizes(faces))
    return faces, np.split(rows.near_moments(faces), ends[:-1])


def test_moments_stay_near_faces_of_cubes_from_the_third_degree_on():
    _, near = near_of([EVEN] * 3, 8)
    for own in near:
        # Of values and of slopes, six of those up to a joint degree are lower.
        assert np.sum(~own) == 2 * 6


def test_no_moments_stay_near_the_large_faces_of_thin_patches():
    faces, near = near_of([[0.0, 0.01, 1.0], EVEN, EVEN], 8)
    for axis, own in zip(faces.axis.tolist(), near, strict=True):
        assert axis != 0 or not own.any()
    assert sum(own.sum() for own in near) > 0
