"""Conditions that disagree at a corner: the place is told, and the rest is right."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.patchwork.jumps import Jumps
from sharpfront.adapt.patchwork.tiling import tiling_of
from sharpfront.errors import OutcomeKind


@pytest.mark.parametrize(
    ("corner", "turn", "height"), [((0.0, 0.0), 1, 5.0), ((1.3, 0.0), -1, 1.0)]
)
def test_a_pair_whose_data_jump_at_a_corner_is_right_away_from_it(corner, turn, height):
    angle = sf.function(lambda x, y: np.arctan2(y - corner[1], turn * (x - corner[0])))
    exact = lambda x, y: height * 2 / np.pi * angle(x, y)  # noqa: E731
    left, right = (lambda u, v, x, y: (u - height, v)), (lambda u, v, x, y: (u - exact(x, y), v))
    problem = sf.Problem(
        sf.Box((0, 1.3), (0, 1)),
        lambda u, v, x, y: (-sf.laplacian(u) + (v - v), -sf.laplacian(v) + u),
        bottom=lambda u, v, x, y: (u, v),
        top=lambda u, v, x, y: (u - exact(x, y), v),
        left=left if turn > 0 else right,
        right=right if turn > 0 else left,
    )
    solution = sf.solve(problem, tol=1e-3)
    assert solution.outcome.kind is OutcomeKind.CONTRADICTION
    assert f"({corner[0]:g}, {corner[1]:g})" in solution.outcome.detail
    assert solution.error_estimate >= 1.0
    x, y = (c.ravel() for c in np.meshgrid(np.linspace(0, 1.3, 81), np.linspace(0, 1, 81)))
    away = np.hypot(x - corner[0], y - corner[1]) > 0.13
    expected = height * 2 / np.pi * np.arctan2(y - corner[1], turn * (x - corner[0]))
    assert np.abs(solution.u(x, y) - expected)[away].max() < 1e-3 * height


def test_data_that_agree_at_corners_are_no_jump():
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, v, x, y: (-sf.laplacian(u) + v, -sf.laplacian(v) + u),
        boundary=lambda u, v, x, y: (u - x, v + y),
    )
    assert sf.solve(problem, tol=1e-3).converged


@pytest.mark.parametrize("speed", [1.0, -2.0])
def test_where_functions_run_out_before_the_rest_is_right_it_is_said(speed):
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, v, p, x, y: (-sf.laplacian(u) + p.dx, -sf.laplacian(v) + p.dy, u.dx + v.dy),
        boundary=lambda u, v, p, x, y: (u, v),
        top=lambda u, v, p, x, y: (u - speed, v),
        conditions=sf.at((0.5, 0.5), lambda u, v, p, x, y: p),
    )
    outcome = sf.solve(problem, tol=1e-3, max_kernels=900).outcome
    assert outcome.kind is OutcomeKind.CONTRADICTION
    assert f"for u the condition on left gives 0, that on top gives {speed:g}" in outcome.detail
    assert "raise max_kernels" in outcome.detail


@pytest.mark.parametrize(("place", "jump", "tol"), [(0.0, 1.0, 1e-4), (0.37, -2e-3, 1e-4)])
@pytest.mark.parametrize("side", ["bottom", "left"])
def test_a_value_that_jumps_on_a_side_is_known_from_the_statement(side, place, jump, tol):
    flat = side == "bottom"
    problem = sf.Problem(
        sf.Box((-1, 1), (-1, 1)),
        lambda u, x, y: -sf.laplacian(u) + u.dx,
        boundary=lambda u, x, y: u,
        **{side: lambda u, x, y: u - np.where((x if flat else y) > place, jump, 0.0) * (1 - x * y)},
    )
    found = Jumps.of(problem, tiling_of(problem.domain), tol)
    assert any(np.allclose(p, (place, -1.0) if flat else (-1.0, place)) for p in found.places)
    smooth = Jumps.of(problem, tiling_of(problem.domain), 10 * abs(jump))
    assert not smooth.places
