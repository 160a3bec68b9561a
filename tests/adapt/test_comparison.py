"""Systems, plates and other problems without an error equation: what `converged` rests on there."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sharpfront as sf
from sharpfront.adapt import ResolveSpace
from sharpfront.geometry import Box, Polygon

PI = math.pi
SQUARE = Box((0, 1), (0, 1))
few = settings(max_examples=2, derandomize=True, deadline=None, database=None)


def largest_error(solution, exact, points):
    found = []
    for unknown, truth in exact.items():
        values = truth(*points.T)
        size = max(1.0, np.abs(values).max())
        field = getattr(solution, unknown)
        found.append(np.abs(field(*points.T, extrapolate=True) - values).max() / size)
    return max(found)


def assert_honest(solution, exact, points):
    """If it is called converged it is; the estimate is no smaller than a third of the error."""
    error = largest_error(solution, exact, points)
    assert not solution.converged or error < solution.tol
    assert error < 3 * solution.error_estimate + 1e-11
    return error


def everywhere(domain):
    rim = [domain.boundary(part, 40).points for part in domain.parts]
    return np.concatenate([domain.sample(600), *rim])


# --- elasticity ---------------------------------------------------------------------------------


def elastic(nu):
    """Return the equations of plane stress for a body without load, and its three stresses."""
    k, mu = 1 / (1 - nu**2), 0.5 / (1 + nu)

    def equations(u, v, x, y):
        both = k * nu + mu
        return k * u.dxx + mu * u.dyy + both * v.dxy, k * v.dyy + mu * v.dxx + both * u.dxy

    def stresses(u, v):
        return k * (u.dx + nu * v.dy), k * (v.dy + nu * u.dx), mu * (u.dy + v.dx)

    return equations, stresses


def cantilever(length, nu, load, held):
    """Return a beam of thickness one, load at its right end; `held` are its left end's u and v."""
    equations, stresses = elastic(nu)

    def free(u, v, x, y):
        _, across, shear = stresses(u, v)
        return shear, across

    def loaded(u, v, x, y):
        along, _, shear = stresses(u, v)
        return along, shear + 6 * load * (0.25 - y**2)

    return sf.Problem(
        Box((0, length), (-0.5, 0.5)),
        equations,
        left=lambda u, v, x, y: (u - held[0](x, y), v - held[1](x, y)),
        right=loaded,
        top=free,
        bottom=free,
    )


def timoshenko(length, nu, load):
    """Return u and v of the beam whose left end is held as this solution has it."""

    def u(x, y):
        bent = (6 * length - 3 * x) * x + (2 + nu) * (y**2 - 0.25)
        return 2 * load * y * bent

    def v(x, y):
        return (
            -2
            * load
            * (3 * nu * y**2 * (length - x) + (4 + 5 * nu) * x / 4 + (3 * length - x) * x**2)
        )

    return {"u": u, "v": v}


@few
@given(length=st.floats(2, 60), nu=st.floats(0, 0.45), scale=st.floats(0.2, 2))
def test_soft_modes_of_slender_beams_are_determined(length, nu, scale):
    load = scale / (4 * length**3)
    exact = timoshenko(length, nu, load)
    problem = cantilever(length, nu, load, (exact["u"], exact["v"]))
    solution = sf.solve(problem, tol=1e-4, adaptor=ResolveSpace())
    assert solution.converged, solution.outcome
    assert_honest(solution, exact, everywhere(problem.domain))


@few
@given(length=st.floats(1, 40), nu=st.floats(0.1, 0.45), digits=st.floats(1.7, 5))
def test_a_beam_between_clamped_corners_is_not_claimed_to_be_solved(length, nu, digits):
    """The stresses are infinite at the clamped corners; solutions agree and are off by half."""
    load = 1 / (4 * length**3)
    clamped = (lambda x, y: 0.0, lambda x, y: 0.0)
    solution = sf.solve(
        cantilever(length, nu, load, clamped),
        tol=10**-digits,
        adaptor=ResolveSpace(max_kernels=700),
    )
    assert not solution.converged
    tip = float(solution.v(length, 0.0))
    bending = -1.0 - 0.25 * (8 + 5 * nu) / (4 * length**2)
    assert abs(tip - bending) < 3 * solution.error_estimate
    assert "residual" in solution.outcome.detail


# --- what is left free ---------------------------------------------------------------------------


@few
@given(
    pin=st.tuples(st.floats(0.1, 1.9), st.floats(0.1, 0.9)),
    second=st.tuples(st.floats(0.1, 1.9), st.floats(0.1, 0.9)),
    nu=st.floats(0, 0.45),
    pull=st.floats(-1, 1),
)
def test_a_body_pinned_at_one_point_can_turn(pin, second, nu, pull):
    equations, stresses = elastic(nu)

    def horizontal(u, v, x, y):
        _, across, shear = stresses(u, v)
        return shear, across

    def vertical(u, v, x, y):
        along, _, shear = stresses(u, v)
        return along - pull, shear

    def body(*more):
        return sf.Problem(
            Box((0, 2), (0, 1)),
            equations,
            left=vertical,
            right=vertical,
            top=horizontal,
            bottom=horizontal,
            conditions=[
                sf.at(pin, lambda u, v, x, y: u),
                sf.at(pin, lambda u, v, x, y: v),
                *more,
            ],
        )

    turning = sf.solve(body(), tol=1e-4, adaptor=ResolveSpace())
    assert turning.outcome.kind == "ill-posed"
    assert "u and v can turn" in turning.outcome.detail
    if abs(second[0] - pin[0]) > 0.2:
        held = sf.solve(body(sf.at(second, lambda u, v, x, y: v)), tol=1e-4, adaptor=ResolveSpace())
        assert held.converged, held.outcome
        exact = {
            "u": lambda x, y: pull * (x - pin[0]),
            "v": lambda x, y: -nu * pull * (y - pin[1]) + turn * (x - pin[0]),
        }
        turn = nu * pull * (second[1] - pin[1]) / (second[0] - pin[0])
        exact["u"] = lambda x, y: pull * (x - pin[0]) - turn * (y - pin[1])
        assert_honest(held, exact, everywhere(held.domain))


@few
@given(
    waves=st.tuples(st.integers(1, 2), st.integers(1, 3)),
    coupling=st.floats(-5, 5),
    beside=st.sampled_from([-0.05, 0.05]),
)
def test_a_resonance_of_two_unknowns_is_seen(waves, coupling, beside):
    def coupled(shift):
        c = PI**2 * (waves[0] ** 2 + waves[1] ** 2) * (1 + shift) - coupling
        return sf.Problem(
            SQUARE,
            lambda u, v, x, y: (
                sf.laplacian(u) + c * u + coupling * v - 1,
                sf.laplacian(v) + coupling * u + c * v - x,
            ),
            boundary=lambda u, v, x, y: (u, v),
        )

    solution = sf.solve(coupled(0.0), tol=1e-4, adaptor=ResolveSpace(max_kernels=900))
    assert solution.outcome.kind == "near-singular"
    assert "u and v" in solution.outcome.detail
    assert (
        sf.solve(coupled(beside), tol=1e-2, adaptor=ResolveSpace(max_kernels=500)).outcome.kind
        != "near-singular"
    )


# --- two solutions that are wrong in the same way ------------------------------------------------

ELL = Polygon(((-1, -1), (0, -1), (0, 0), (1, 0), (1, 1), (-1, 1)))


def polar(x, y):
    """Return radius and angle about the re-entrant corner; the cut lies outside."""
    return np.sqrt(x**2 + y**2), np.arctan2(x + y, y - x)


def near_the_corner():
    r, angle = np.meshgrid(np.geomspace(1e-4, 0.9, 30), np.linspace(0, 1.5 * PI, 19)[1:-1])
    return np.stack([(r * np.cos(angle)).ravel(), (r * np.sin(angle)).ravel()], axis=1)


@few
@given(power=st.floats(0.4, 1.3), phase=st.floats(0, 1), coupling=st.floats(-2, 2))
def test_two_unknowns_at_a_reentrant_corner(power, phase, coupling):
    def u_exact(x, y):
        r, angle = polar(x, y)
        return r**power * np.cos(power * angle + phase)

    def v_exact(x, y):
        return np.sin(2 * x) * np.cos(y)

    problem = sf.Problem(
        ELL,
        lambda u, v, x, y: (
            -sf.laplacian(u) + coupling * (v - v_exact(x, y)),
            -sf.laplacian(v) + u - u_exact(x, y) - 5 * v_exact(x, y),
        ),
        boundary=lambda u, v, x, y: (u - u_exact(x, y), v - v_exact(x, y)),
    )
    solution = sf.solve(problem, tol=1e-2, adaptor=ResolveSpace(max_kernels=400))
    assert_honest(solution, {"u": u_exact, "v": v_exact}, near_the_corner())


@few
@given(power=st.floats(0.4, 1.0), phase=st.floats(0, 1))
def test_a_plate_at_a_reentrant_corner(power, phase):
    def exact(x, y):
        r, angle = polar(x, y)
        return r ** (1 + power) * np.cos((power - 1) * angle + phase)

    problem = sf.Problem(
        ELL,
        lambda u, x, y: sf.laplacian(sf.laplacian(u)),
        boundary=lambda u, x, y: (u - exact(x, y), u.dn - exact(x, y).dn),
    )
    solution = sf.solve(problem, tol=3e-3, adaptor=ResolveSpace(max_kernels=450))
    assert_honest(solution, {"u": exact}, near_the_corner())


@few
@given(digits=st.floats(1, 4))
def test_a_plate_with_layers_of_any_width(digits):
    e = 10**-digits

    def decay(s):
        return np.exp(-s / e) + np.exp(-(1 - s) / e)

    part = 0.5 * e / (1 - math.exp(-1 / e))

    def profile(s):
        return s * (1 - s) / 2 - part * (1 + math.exp(-1 / e)) + part * decay(s)

    def bending(s):
        return -1 + part / e**2 * decay(s)

    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: (
            e**2 * sf.laplacian(sf.laplacian(u))
            - sf.laplacian(u)
            - 8 * (profile(x) + profile(y) + 2 * e**2 * bending(x) * bending(y))
        ),
        boundary=lambda u, x, y: (u, u.dn),
    )
    solution = sf.solve(problem, tol=1e-2, adaptor=ResolveSpace(max_kernels=600))
    line = np.concatenate([np.geomspace(1e-3 * e, 0.5, 30), 1 - np.geomspace(1e-3 * e, 0.5, 30)])
    points = np.stack([axis.ravel() for axis in np.meshgrid(line, line)], axis=1)
    assert_honest(solution, {"u": lambda x, y: 8 * profile(x) * profile(y)}, points)


@settings(few, max_examples=4)
@given(place=st.floats(0.1, 0.9), digits=st.floats(3.5, 6), which=st.booleans())
def test_a_window_between_all_points_is_not_overlooked(place, digits, which):
    width = 10**-digits

    def window(x):
        return np.where(np.abs(x - place) < width / 2, 1 / width, 0.0)

    def sources(x):
        return (window(x), 1.0) if which else (1.0, window(x))

    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, v, x: (-u.dxx + v - sources(x)[0], -v.dxx + u - sources(x)[1]),
        boundary=lambda u, v, x: (u, v),
    )
    solution = sf.solve(problem, tol=1e-4, adaptor=ResolveSpace(max_kernels=200))
    assert not solution.converged


# --- what it says -------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [0.0, 0.7])
def test_the_words_say_what_the_estimate_rests_on(shift):
    def u_exact(x, y):
        return np.sin(x + y + shift)

    problem = sf.Problem(
        SQUARE,
        lambda u, v, x, y: (
            sf.laplacian(u) - v + 2 * u_exact(x, y),
            sf.laplacian(v) + u - u_exact(x, y),
        ),
        boundary=lambda u, v, x, y: (u - u_exact(x, y), v),
    )
    solution = sf.solve(problem, tol=1e-6, adaptor=ResolveSpace())
    assert solution.converged
    assert len(solution.history) > 1
    assert "no error equation" in solution.estimate.meaning
    assert "rests on comparisons" in solution.outcome.detail
    assert "other weights of the rows" in solution.outcome.detail
