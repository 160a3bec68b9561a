"""Unknowns without a time derivative: equations without one determine them at all times."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.errors import ProblemError

LINE = sf.Interval(0, 1)


def coupled(share, feedback, waves, swapped=False):
    """Return a field with a potential, v_xx = -share k^2 u, and its exact solution."""
    k = waves * np.pi

    def equations(u, v, x, t):
        both = [u.dt - 0.1 * u.dxx - feedback * v, v.dxx + share * k**2 * u]
        return both[::-1] if swapped else both

    problem = sf.Problem(
        LINE,
        equations,
        boundary=lambda u, v, x, t: [u, v],
        initial={"u": lambda x: np.sin(k * x)},
        time=(0, 1),
    )
    rate = feedback * share - 0.1 * k**2
    return problem, lambda x, t: np.exp(rate * t) * np.sin(k * x)


@pytest.mark.parametrize(
    ("share", "feedback", "waves", "swapped"), [(0.7, 1.5, 1, False), (-2.0, 0.4, 2, True)]
)
def test_a_potential_follows_its_field(share, feedback, waves, swapped):
    problem, exact = coupled(share, feedback, waves, swapped)
    found = sf.solve(problem, tol=1e-6)
    x, t = (a.ravel() for a in np.meshgrid(np.linspace(0, 1, 31), np.linspace(0, 1, 9)))
    # It is right from the first moment on: where it begins was not stated.
    error = np.abs(found.u(x, t) - exact(x, t)).max(), np.abs(found.v(x, t) - share * exact(x, t))
    assert found.converged
    assert max(error[0], error[1].max()) < 1e-6


@pytest.mark.parametrize("bend", [0.5, -0.3])
def test_a_formula_of_the_field_may_be_an_unknown(bend):
    """u_t = w_xx with w = u + bend u^2 is u_t = (u + bend u^2)_xx."""

    def start(x):
        return 1 + 0.5 * np.cos(np.pi * x)

    both = sf.Problem(
        LINE,
        lambda u, w, x, t: [u.dt - 0.05 * w.dxx, w - u - bend * u**2],
        boundary=lambda u, w, x, t: w.dx,
        initial={"u": start},
        time=(0, 0.3),
    )
    alone = sf.Problem(
        LINE,
        lambda u, x, t: u.dt - 0.05 * (u + bend * u**2).dxx,
        boundary=lambda u, x, t: u.dx,
        initial=start,
        time=(0, 0.3),
    )
    found, other = sf.solve(both, tol=1e-6), sf.solve(alone, tol=1e-7)
    x = np.linspace(0, 1, 31)
    u = other(x, 0.2)
    assert found.converged
    assert np.abs(found.u(x, 0.2) - u).max() < 2e-6
    assert np.abs(found.w(x, 0.2) - u - bend * u**2).max() < 4e-6


def test_an_unknown_that_no_equation_determines_is_refused():
    problem = sf.Problem(
        LINE,
        lambda u, v, x, t: [u.dt - u.dxx + v, u.dt + u.dx],
        boundary=lambda u, v, x, t: u,
        initial={"u": 0.0},
        time=(0, 1),
    )
    with pytest.raises(ProblemError, match="one without time derivatives that holds it"):
        sf.solve(problem)


@pytest.mark.parametrize(("source", "diffusion"), [(1.0, 1.0), (0.3, 0.2)])
def test_a_source_beside_a_held_end_needs_no_stricter_runs(source, diffusion):
    """Rates jump at the ends at the start: the layer is thinner than elements in the first step."""
    problem = sf.Problem(
        LINE,
        lambda u, x, t: u.dt - diffusion * u.dxx - source,
        boundary=lambda u, x, t: u,
        initial=0.0,
        time=(0, 0.2),
    )
    found = sf.solve(problem, tol=1e-6)
    n = np.arange(1, 2001, 2) * np.pi
    x, t = np.array([0.004, 0.02, 0.1, 0.4]), np.array([[1e-4], [1e-3], [0.02], [0.2]])
    exact = sum(
        4 * source / (diffusion * m**3) * np.sin(m * x) * -np.expm1(-diffusion * m**2 * t)
        for m in n
    )
    error = np.abs(found(np.broadcast_to(x, exact.shape), np.broadcast_to(t, exact.shape)) - exact)
    assert found.converged and error.max() < found.error_estimate
    # One pair of runs sufficed.
    assert found.diagnostics["step_tolerance"] == pytest.approx(1e-7)


@pytest.mark.parametrize("begin", [0.31])
def test_an_end_that_is_heated_hard_for_a_moment_is_no_end_of_the_run(begin):
    """After such a jump the state is rounded, and no first step sees all of the layer."""
    problem = sf.Problem(
        LINE,
        lambda u, x, t: u.dt - 0.006 * u.dxx,
        left=lambda u, x, t: (
            u.dn + np.where((t > begin) & (t < begin + 1e-4), 3000.0, 0.6) * (u - 1)
        ),
        right=lambda u, x, t: u,
        initial=0.0,
        time=(0, begin + 0.05),
    )
    found = sf.solve(problem, tol=1e-5)
    assert found.domain.time[1] == begin + 0.05
    assert found.converged
