"""Systems: reaction and diffusion of two unknowns on the line, and steady flows in the plane."""

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.polynomial import chebyshev
from tests.lazy import Lazy

import sharpfront as sf
from sharpfront.adapt import Resolve
from sharpfront.catalog import CHANNEL, KOVASZNAY
from sharpfront.errors import OutcomeKind, ProblemError

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
from suites import flows

integrate, interpolate = Lazy("scipy.integrate"), Lazy("scipy.interpolate")

GRID = np.meshgrid(np.linspace(0, 1, 41), np.linspace(0, 1, 41))


def errors(solution, exact, x, y):
    """Return the largest error of each unknown."""
    return [np.abs(getattr(solution, k)(x, y) - f(x, y)).max() for k, f in exact.items()]


# --- two unknowns on the line -------------------------------------------------------------------


def coupled(e1, e2):
    """Return two reacting substances that are taken away at both walls."""
    return sf.Problem(
        sf.Interval(0, 1),
        lambda u, v, x: (-e1 * u.dxx + u + u * v**2 - 1, -e2 * v.dxx + v + u * v - 1),
        boundary=lambda u, v, x: (u, v),
    )


def by_collocation(e1, e2, tol):
    """Return `solve_bvp`'s solution on the left half, by symmetry."""
    found = integrate.solve_bvp(
        lambda x, y: np.vstack(
            [y[1], (y[0] + y[0] * y[2] ** 2 - 1) / e1, y[3], (y[2] + y[0] * y[2] - 1) / e2]
        ),
        lambda a, b: np.array([a[0], a[2], b[1], b[3]]),
        x := np.concatenate([[0], np.geomspace(1e-2 * np.sqrt(e1), 0.5, 400)]),
        0.6 * np.ones((4, len(x))) * np.array([[1], [0], [1], [0]]),
        tol=tol,
        max_nodes=20_000,
    )
    assert found.status == 0
    return found


@pytest.mark.parametrize(("e1", "e2"), [(1e-2, 1e-1), (1e-4, 1e-2), (1e-4, 1.0)])
def test_reaction_and_diffusion_with_layers_of_two_widths(e1, e2):
    solution = sf.solve(coupled(e1, e2), tol=1e-8)
    reference = by_collocation(e1, e2, 1e-9)
    x = reference.x
    u, _, v, _ = reference.sol(x)
    other = by_collocation(e1, e2, 1e-8).sol(x)
    assert np.abs(other[[0, 2]] - [u, v]).max() < 1e-10
    assert solution.converged, str(solution.outcome)
    for half in (x, 1 - x):
        assert np.abs(solution.u(half) - u).max() < 1e-7
        assert np.abs(solution.v(half) - v).max() < 1e-7
    assert solution.kernels <= 240
    assert solution.diagnostics["newton_steps"] == len(solution.history) <= 6
    assert solution.diagnostics["linear_solves"] <= 12


def test_the_adaptor_of_one_unknown_says_that_it_takes_no_systems():
    with pytest.raises(ProblemError, match="one unknown, this problem has u, v"):
        sf.solve(coupled(1e-2, 1e-1), adaptor=Resolve())


# --- flows with exact solutions -----------------------------------------------------------------


def test_kovasznay_flow():
    solution = sf.solve(KOVASZNAY.problem(40.0), tol=1e-6)
    x, y = np.meshgrid(np.linspace(-0.5, 1, 61), np.linspace(-0.5, 1.5, 81))
    assert solution.converged, str(solution.outcome)
    assert max(errors(solution, KOVASZNAY.exact(40.0), x, y)) < 1e-6
    assert solution.kernels <= 5000
    assert solution.diagnostics["newton_steps"] == len(solution.history) <= 6
    assert solution.diagnostics["linear_solves"] <= 20


def test_stokes_flow_in_a_channel():
    solution = sf.solve(CHANNEL.problem(3.0), tol=1e-8)
    x, y = GRID
    assert solution.converged, str(solution.outcome)
    assert max(errors(solution, CHANNEL.exact(3.0), 3 * x, y)) < 1e-8


# --- the cavity ---------------------------------------------------------------------------------


def stream_function(n):
    """Return Chebyshev coefficients (n, n) of the stream function under the smooth lid.

    Another equation, lap lap psi = 0, in another basis than the library's: its least-squares
    solution on a grid of Chebyshev points, conditions weighing more.
    """
    t = np.cos(np.pi * np.arange(2 * n + 1) / (2 * n))
    one = np.eye(n)
    at = [2**k * chebyshev.chebval(t, chebyshev.chebder(one, k, axis=0)).T for k in range(5)]
    rows = [(1.0, np.kron(at[4], at[0]) + 2 * np.kron(at[2], at[2]) + np.kron(at[0], at[4]), 0.0)]
    for end in (0, -1):
        value, slope = at[0][[end]], at[1][[end]]
        pull = flows.smooth_lid((t + 1) / 2) if end == 0 else 0.0
        for across in (value, slope):
            rows.append((100.0, np.kron(across, at[0]), 0.0))
        rows.append((100.0, np.kron(at[0], value), 0.0))
        rows.append((100.0, np.kron(at[0], slope), pull))
    scale = [w / np.linalg.norm(m, axis=1) for w, m, _ in rows]
    matrix = np.vstack([s[:, None] * m for s, (_, m, _) in zip(scale, rows, strict=True)])
    right = np.concatenate([s * r for s, (_, _, r) in zip(scale, rows, strict=True)])
    size = np.linalg.norm(matrix, axis=0)
    return (np.linalg.lstsq(matrix / size, right)[0] / size).reshape(n, n)


def test_stokes_flow_under_a_smooth_lid():
    def velocity(coefficients, x, y):
        along = [2 * chebyshev.chebder(coefficients, axis=i) for i in (0, 1)]
        dx, dy = (chebyshev.chebval2d(2 * x - 1, 2 * y - 1, c) for c in along)
        return dy, -dx

    x, y = GRID
    u, v = velocity(stream_function(24), x, y)
    coarse = velocity(stream_function(18), x, y)
    # The reference's own error, many times what it is on the finer grid.
    assert max(np.abs(coarse[0] - u).max(), np.abs(coarse[1] - v).max()) < 2e-5
    solution = sf.solve(flows.cavity(0, flows.smooth_lid), tol=1e-3)
    assert solution.converged, str(solution.outcome)
    error = max(np.abs(solution.u(x, y) - u).max(), np.abs(solution.v(x, y) - v).max())
    assert error < min(1e-3, 3 * solution.error_estimate)


def test_the_classical_cavity_is_right_away_from_the_corners_of_its_lid():
    solution = sf.solve(flows.cavity(100, flows.classical_lid), tol=1e-1)
    # The velocity jumps at the ends of the lid: no tolerance is met there, and it is said.
    assert solution.outcome.kind is OutcomeKind.CONTRADICTION
    assert "(0, 1) and (1, 1)" in solution.outcome.detail
    assert "on left gives 0, that on top gives 1" in solution.outcome.detail
    assert solution.error_estimate >= 1.0
    line = np.linspace(0, 1, 1001)
    across = solution.v(line, 0.5)
    found = solution.u(0.5, line).min(), across.max(), across.min()
    np.testing.assert_allclose(found, flows.EXTREMA[100], atol=3e-3)
    u, v = flows.GHIA[100].deviation(solution)
    assert max(np.abs(u).max(), np.abs(v).max()) < 0.01


def test_the_heated_cavity_gives_off_as_much_heat_as_published():
    solution = sf.solve(flows.heated_cavity(1e3), tol=1e-2)
    assert solution.converged, str(solution.outcome)
    assert flows.nusselt(solution) == pytest.approx(flows.NUSSELT[1e3], abs=5e-3)


def test_the_doubtful_entry_lies_on_no_smooth_curve_through_its_neighbours():
    whole = flows.GHIA[400]
    rest = whole.without(flows.DOUBTFUL)
    smooth = interpolate.CubicSpline(np.r_[0, rest.x, 1], np.r_[0, rest.v, 0])
    assert len(rest.x) == len(whole.x) - 1
    entry = whole.v[whole.x == flows.DOUBTFUL][0]
    assert abs(smooth(flows.DOUBTFUL) - entry) > 0.1
