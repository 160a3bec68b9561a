"""Boundary values that jump at fixed places in the plane, in time."""

import numpy as np
import pytest
from tests.evolve.line_runs import stopping

import sharpfront as sf
from sharpfront.adapt.patchwork.decoupled_unknowns import decoupled, is_decoupled
from sharpfront.evolve.patchwork import settles
from sharpfront.evolve.patchwork.jumping_values import JumpingValues
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.place.tiling.tiling import tiling_of

SQUARE = sf.Box((0, 1), (0, 1))
COLD = {"left": lambda u: u, "right": lambda u: u, "top": lambda u: u}


def heat(u):
    return u.dt - sf.laplacian(u)


def _plate(bottom, end=0.1, equation=heat, **changes):
    """A plate at zero with one side that is not."""
    stated = {"time": (0, end), "initial": lambda x, y: 0 * x, "bottom": bottom, **COLD}
    return sf.Problem(SQUARE, equation, **(stated | changes))


def _found(problem, tol=1e-4):
    system, tiling = PlaneSystem(problem), tiling_of(problem.domain)
    return JumpingValues.of(system, tiling, (), tol)


def _about(corner, reach=0.9, count=300):
    """Return points at all distances from a corner of the square down to 1e-8."""
    rng = np.random.default_rng(0)
    r, t = reach * 10 ** rng.uniform(-8, 0, count), 0.5 * np.pi * rng.random(count)
    away = np.stack([r * np.cos(t), r * np.sin(t)])
    return np.where(np.array(corner)[:, None] > 0, 1.0 - away, away)


def test_where_values_jump_and_how_much_at_which_time():
    found = _found(_plate(lambda u, t: u - 3.0 * t))
    assert found.places == ((0.0, 0.0), (1.0, 0.0)) and not found.left
    angles = found.strengths(np.array([0.0, 0.5, 1.0]))[:, 0] * 0.5 * np.pi
    # From the bottom to the left side values fall, from the right side to the bottom they grow.
    np.testing.assert_allclose(angles, [[0.0, 0.0], [-1.5, 1.5], [-3.0, 3.0]], atol=1e-8)
    assert not found.begun().any()


def test_a_start_that_jumps_as_the_sides_do_is_left_smooth():
    angle = 2 / np.pi
    problem = _plate(lambda u: u - 1, initial=lambda x, y: angle * np.arctan2(x, y))
    found = _found(problem)
    at_corner = list(found.places).index((0.0, 0.0))
    np.testing.assert_allclose(found.begun()[0, 0, at_corner], -angle, rtol=1e-6)
    points = _about((0, 0)).T
    left = found.initial(points)[0, 0]
    assert np.ptp(left[np.hypot(*points.T) < 1e-6]) < 1e-5


def test_places_within_a_side_and_on_curved_ones():
    side = _found(_plate(lambda u, x, t: u - t * np.where(x > 0.4, 1.0, 0.0)))
    assert (0.4, 0.0) in side.places
    disk = sf.Problem(
        sf.Disk((0, 0), 1),
        heat,
        boundary=lambda u, y, t: u - t * np.where(y > 0.6, 1.0, 0.0),
        initial=lambda x, y: 0 * x,
        time=(0, 1),
    )
    np.testing.assert_allclose(np.sort(_found(disk).places, axis=0), [[-0.8, 0.6], [0.8, 0.6]])
    assert settles(disk, 1e-3)


def test_unknowns_that_meet_in_lower_terms_stand_alone():
    def species(u, v):
        return [u.dt - sf.laplacian(u) + v.dx, v.dt - 0.1 * sf.laplacian(v) + u * v]

    def flow(u, v, p):
        slow = [u.dt - sf.laplacian(u) + p.dx, v.dt - sf.laplacian(v) + p.dy]
        return [*slow, u.dx + v.dy]

    def stated(equation, names):
        start = dict.fromkeys(names[:2], lambda x, y: 0 * x)
        held = [lambda u, v, *_: [u, v]] * 4
        sides = dict(zip(SQUARE.parts, held, strict=True))
        further = [sf.at((0, 0), lambda u, v, p: p)] if len(names) > 2 else []
        return sf.Problem(SQUARE, equation, time=(0, 1), initial=start, conditions=further, **sides)

    two, three = stated(species, "uv"), stated(flow, "uvp")
    assert is_decoupled(two, "u") and is_decoupled(two, "v")
    assert [t.orders for t in decoupled(two, "v").forms[0].terms] == [(2, 0), (0, 2)]
    assert not is_decoupled(three, "u") and not is_decoupled(three, "p")
    assert not is_decoupled(_plate(COLD["left"], equation=lambda u: u.dt - u * u.dxx - u.dyy), "u")


def test_a_side_that_becomes_hot_steadily():
    # u = (1 + t) times an angle, which is where it begins.
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: heat(u) - np.arctan2(x, y),
        left=lambda u: u,
        bottom=lambda u, t: u - 0.5 * np.pi * (1 + t),
        right=lambda u, y, t: u - (1 + t) * np.arctan2(1.0, y),
        top=lambda u, x, t: u - (1 + t) * np.arctan2(x, 1.0),
        initial=lambda x, y: np.arctan2(x, y),
        time=(0, 1),
    )
    found = sf.solve(problem, tol=1e-5)
    assert found.converged
    x, y = _about((0, 0))
    for t in (0.0, 0.3, 1.0):
        error = np.abs(found(x, y, np.full_like(x, t)) - (1 + t) * np.arctan2(x, y)).max()
        assert error < 1e-5


def test_saved_and_resumed_with_what_jumps(tmp_path):
    problem = _plate(lambda u, t: u - 20 * t / (1 + 20 * t), end=0.03)
    whole = sf.solve(problem, tol=1e-2)
    cut = sf.solve(problem, tol=1e-2, on_step=stopping(1))
    assert cut.outcome.kind == "interrupted"
    again = sf.solve(problem, tol=1e-2, resume=sf.load(cut.save(tmp_path / "cut")))
    assert again.converged
    x, y = _about((1, 0))
    t = np.full_like(x, 0.03)
    np.testing.assert_allclose(again(x, y, t), whole(x, y, t), atol=1e-4)
    # Values next to the corner are those on its sides.
    near = whole(np.array([1 - 1e-9, 1.0]), np.array([0.0, 1e-9]), np.full(2, 0.03))
    np.testing.assert_allclose(near, [0.375, 0.0], atol=1e-4)


def test_what_jumps_with_no_function_is_told_at_once():
    def porous(u):
        return u.dt - sf.div((1 + u) * sf.grad(u))

    depends = _plate(lambda u, t: u - t, equation=porous)
    moves = _plate(lambda u, x, t: u - np.where(x > 0.2 + t, 1.0, 0.0))
    round_and_round = sf.Problem(
        sf.Box((0, 1), (0, 1), periodic="x"),
        heat,
        bottom=lambda u, x, t: u - t * np.where(x > 0.4, 1.0, 0.0),
        top=lambda u: u,
        initial=lambda x, y: 0 * x,
        time=(0, 1),
    )
    stated = ((depends, "(0, 0)"), (moves, "0)"), (round_and_round, "(0.4, 0)"))
    for problem, place in stated:
        told = sf.solve(problem, tol=1e-3)
        assert told.outcome.kind == "contradicting data" and not told.history
        assert place in told.outcome.detail and "bottom" in told.outcome.detail
        assert "over a short stretch" in told.outcome.advice


def _suddenly(x, y, t, count=80):
    """A plate at zero, its bottom at one from the start on."""
    n = np.arange(1, 20000, 2) * np.pi
    x, y = x[:, None], y[:, None]
    falls = (np.exp(-n * y) - np.exp(-n * (2 - y))) / (1 - np.exp(-2 * n))
    steady = (4 / n * np.sin(n * x) * falls).sum(axis=1)
    n, m = np.arange(1, count, 2) * np.pi, np.arange(1, count) * np.pi
    square = n[:, None] ** 2 + m**2
    modes = -8 / n[:, None] * m / square * np.exp(-t * square)
    return steady + np.einsum("pi,ij,pj->p", np.sin(n * x), modes, np.sin(m * y))


@pytest.mark.slow
def test_a_plate_with_one_side_that_is_suddenly_hot():
    found = sf.solve(_plate(lambda u: u - 1), tol=1e-3)
    assert found.converged and found.error_estimate_since < 1e-3
    x, y = np.concatenate([_about((0, 0)), _about((1, 0))], axis=1)
    x, y = x[y > 1e-3], y[y > 1e-3]
    for t in (0.003, 0.01, 0.1):
        error = np.abs(found(x, y, np.full_like(x, t)) - _suddenly(x, y, t)).max()
        assert error < min(1e-3, found.error_estimate)


def test_one_of_two_species_jumps():
    def u0(x, y, t):
        return (1 + t) * np.arctan2(x, y)

    def v0(x, y, t):
        return np.sin(x + t) * y

    def species(u, v, x, y, t):
        first = np.arctan2(x, y) + v0(x, y, t)
        second = np.cos(x + t) * y + 0.1 * v0(x, y, t) + u0(x, y, t)
        return [
            u.dt - sf.laplacian(u) + v - first,
            v.dt - 0.1 * sf.laplacian(v) + u - second,
        ]

    problem = sf.Problem(
        SQUARE,
        species,
        boundary=lambda u, v, x, y, t: [u - u0(x, y, t), v - v0(x, y, t)],
        bottom=lambda u, v, x, t: [u - 0.5 * np.pi * (1 + t), v],
        initial={"u": lambda x, y: u0(x, y, 0), "v": lambda x, y: v0(x, y, 0)},
        time=(0, 0.5),
    )
    found = sf.solve(problem, tol=1e-4)
    assert found.converged
    x, y = _about((0, 0))
    for t in (0.0, 0.2, 0.5):
        at = x, y, np.full_like(x, t)
        assert np.abs(found.u(*at) - u0(x, y, t)).max() < 1e-4
        assert np.abs(found.v(*at) - v0(x, y, t)).max() < 1e-4
