"""Systems, about which solutions that are wrong in the same way may agree."""

import numpy as np
import pytest

import sharpfront as sf

SQUARE = sf.Box((0, 1), (0, 1))


def stresses(nu, u, v):
    """Return the three stresses of plane stress."""
    k, mu = 1 / (1 - nu**2), 0.5 / (1 + nu)
    return k * (u.dx + nu * v.dy), k * (v.dy + nu * u.dx), mu * (u.dy + v.dx)


def body(nu, pull, *held):
    """Return a plate that is pulled apart at both ends and held at points only."""

    def equations(u, v, x, y):
        along, across, shear = stresses(nu, u, v)
        return along.dx + shear.dy, shear.dx + across.dy

    def horizontal(u, v, x, y):
        _, across, shear = stresses(nu, u, v)
        return shear, across

    def vertical(u, v, x, y):
        along, _, shear = stresses(nu, u, v)
        return along - pull, shear

    return sf.Problem(
        sf.Box((0, 2), (0, 1)),
        equations,
        left=vertical,
        right=vertical,
        top=horizontal,
        bottom=horizontal,
        conditions=list(held),
    )


@pytest.mark.parametrize(
    ("pin", "second", "nu", "pull"),
    [((0.3, 0.7), (1.6, 0.2), 0.3, 0.8), ((1.2, 0.5), (0.4, 0.9), 0.1, -0.4)],
)
def test_a_body_pinned_at_one_point_can_turn(pin, second, nu, pull):
    pins = [sf.at(pin, lambda u, v, x, y: u), sf.at(pin, lambda u, v, x, y: v)]
    turning = sf.solve(body(nu, pull, *pins), tol=1e-4)
    assert turning.outcome.kind == "ill-posed"
    assert "u and v can turn" in turning.outcome.detail
    held = sf.solve(body(nu, pull, *pins, sf.at(second, lambda u, v, x, y: v)), tol=1e-4)
    assert held.converged, held.outcome
    turn = nu * pull * (second[1] - pin[1]) / (second[0] - pin[0])
    x, y = held.domain.sample(300).T
    right = pull * (x - pin[0]) - turn * (y - pin[1])
    up = -nu * pull * (y - pin[1]) + turn * (x - pin[0])
    assert np.abs(held.u(x, y) - right).max() < 1e-4
    assert np.abs(held.v(x, y) - up).max() < 1e-4


@pytest.mark.parametrize(
    ("waves", "coupling", "beside"), [((1, 2), 3.0, 0.05), ((2, 1), -1.0, -0.05)]
)
def test_a_resonance_of_two_unknowns_is_seen(waves, coupling, beside):
    def coupled(shift):
        c = np.pi**2 * (waves[0] ** 2 + waves[1] ** 2) * (1 + shift) - coupling
        return sf.Problem(
            SQUARE,
            lambda u, v, x, y: (
                sf.laplacian(u) + c * u + coupling * v - 1,
                sf.laplacian(v) + coupling * u + c * v - x,
            ),
            boundary=lambda u, v, x, y: (u, v),
        )

    assert sf.solve(coupled(0.0), tol=1e-2).outcome.kind == "near-singular"
    assert sf.solve(coupled(beside), tol=1e-2).converged


@pytest.mark.parametrize(("place", "width"), [(0.317, 3e-5), (0.8, 1e-4), (0.1234, 1e-6)])
@pytest.mark.parametrize("which", [0, 1])
def test_a_window_between_all_points_is_not_overlooked(place, width, which):
    def window(x):
        return np.where(np.abs(x - place) < width / 2, 1 / width, 0.0)

    def sources(x):
        return (window(x), 0.0) if which else (0.0, window(x))

    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, v, x: (-u.dxx - sources(x)[0], -v.dxx - sources(x)[1]),
        boundary=lambda u, v, x: (u, v),
    )
    solution = sf.solve(problem, tol=1e-4)
    peak = [solution.v, solution.u][which](place)
    assert not solution.converged or abs(peak - place * (1 - place)) < 2e-4
