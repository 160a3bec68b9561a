"""Systems in the plane whose given values jump, unknowns meeting in lower terms only."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.patchwork.jump_lifting import JumpLifting

SQUARE = sf.Box((0, 1), (0, 1))
RNG = np.random.default_rng(0)
FAR, ANGLE = 0.9 * 10 ** RNG.uniform(-8, 0, 200), 0.5 * np.pi * RNG.random(200)
X, Y = FAR * np.cos(ANGLE), FAR * np.sin(ANGLE)


def u0(x, y):
    return np.arctan2(x, y)


def v0(x, y):
    return np.sin(x) * y


def _species(equations):
    """Two unknowns, of which u has two values at the corner (0, 0)."""

    def held(u, v, x, y):
        return [u - u0(x, y), v - v0(x, y)]

    return sf.Problem(
        SQUARE,
        equations,
        left=lambda u, v: [u, v],
        bottom=lambda u, v: [u - 0.5 * np.pi, v],
        right=held,
        top=held,
    )


def _linear(u, v, x, y):
    known = 0.1 * v0(x, y) + np.cos(x) * y + u0(x, y)
    return [-sf.laplacian(u) + v.dx - np.cos(x) * y, -0.1 * sf.laplacian(v) + v.dx + u - known]


def _nonlinear(u, v, x, y):
    return [
        -sf.laplacian(u) + u * v - u0(x, y) * v0(x, y),
        -0.1 * sf.laplacian(v) + u**2 - 0.1 * v0(x, y) - u0(x, y) ** 2,
    ]


@pytest.mark.parametrize(("equations", "tol"), [(_linear, 1e-6), (_nonlinear, 1e-4)])
def test_one_of_two_unknowns_jumps_at_a_corner(equations, tol, tmp_path):
    found = sf.solve(_species(equations), tol=tol)
    assert found.converged and "jump at (0, 0)" in found.outcome.detail
    again = sf.load(found.save(tmp_path / "found"))
    for solution in (found, again):
        assert np.abs(solution.u(X, Y) - u0(X, Y)).max() < tol
        assert np.abs(solution.v(X, Y) - v0(X, Y)).max() < tol


def test_what_is_left_does_not_jump():
    lifted = JumpLifting.of(_species(_linear), 1e-6)
    (jump,) = lifted.jumps
    assert jump.unknown == "u" and jump.function.place == (0.0, 0.0)
    assert JumpLifting.of(lifted.problem, 1e-6) is None


def test_velocities_do_not_stand_alone():
    cavity = sf.Problem(
        SQUARE,
        lambda u, v, p: [-sf.laplacian(u) + p.dx, -sf.laplacian(v) + p.dy, u.dx + v.dy],
        top=lambda u, v: [u - 1, v],
        **dict.fromkeys(("left", "right", "bottom"), lambda u, v: [u, v]),
        conditions=[sf.at((0, 0), lambda p: p)],
    )
    assert JumpLifting.of(cavity, 1e-6) is None
