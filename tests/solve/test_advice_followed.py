"""Advice followed: a problem as it was ends so, and as advised it is solved."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import sharpfront as sf

SQUARE = sf.Box((0, 1), (0, 1))


def resonant(length):
    """A string that may swing freely: sin(pi x / length) can be added."""
    rate = (np.pi / length) ** 2

    def state(factor, conditions=()):
        return sf.Problem(
            sf.Interval(0, length),
            lambda u, x: u.dxx + factor * rate * u - x,
            left=lambda u, x: u,
            right=lambda u, x: u,
            conditions=list(conditions),
        )

    return state


@pytest.mark.parametrize("length", [1.0, 0.3, 17.0])
def test_a_resonance_left_is_solved(length):
    state = resonant(length)
    at = sf.solve(state(1.0), tol=1e-8)
    assert at.outcome.kind in ("near-singular", "ill-posed"), at.outcome
    beside = sf.solve(state(0.9), tol=1e-8)
    assert beside.converged
    x, k = np.linspace(0, length, 99), np.sqrt(0.9) * np.pi / length
    exact = (x - length * np.sin(k * x) / np.sin(k * length)) / k**2
    assert np.abs(beside(x) - exact).max() < 1e-8 * max(1, np.abs(exact).max())


@pytest.mark.parametrize("place", [0.25, 0.8])
@pytest.mark.parametrize("domain", [sf.Interval(0, 1), SQUARE], ids=["line", "plane"])
def test_the_missing_condition_is_added(domain, place):
    waves = domain.dimension

    def exact(*x):
        return math.prod(np.cos(np.pi * s) for s in x)

    def state(conditions):
        sides = (
            {"boundary": lambda u, x, y: u.dn}
            if waves == 2
            else {"left": lambda u, x: u.dx, "right": lambda u, x: u.dx}
        )
        return sf.Problem(
            domain,
            lambda u, *x: sf.laplacian(u) + waves * np.pi**2 * exact(*x),
            **sides,
            conditions=conditions,
        )

    free = sf.solve(state([]), tol=1e-6)
    assert free.outcome.kind in ("near-singular", "ill-posed")
    assert "condition" in free.outcome.advice
    point = (place,) * waves
    held = sf.solve(state([sf.at(point if waves == 2 else place, lambda u, *x: u - 3)]), tol=1e-6)
    assert held.converged
    assert held(*(0.5,) * waves) == pytest.approx(3 - exact(*point), abs=1e-6)


@pytest.mark.parametrize(("side", "value"), [("left", 1.0), ("bottom", -0.4)])
def test_one_value_leads_to_the_other_over_a_short_stretch(side, value):
    def state(given):
        return sf.Problem(
            SQUARE,
            lambda u, v, x, y: (-sf.laplacian(u) - 0.5 * v.dxx, -sf.laplacian(v) - 0.5 * u.dxx),
            boundary=lambda u, v, x, y: (u, v),
            **{side: given},
        )

    jumping = sf.solve(state(lambda u, v, x, y: (u - value, v)), tol=1e-3)
    assert jumping.outcome.kind == "contradicting data"
    assert "over a short stretch" in jumping.outcome.advice

    def led(u, v, x, y):
        along = y if side == "left" else x
        return u - value * (1 - (2 * along - 1) ** 8), v

    assert sf.solve(state(led), tol=1e-3).converged


@pytest.mark.parametrize(
    ("speed", "power"), [(0.5, 4), pytest.param(-0.5, 4, marks=pytest.mark.slow)]
)
def test_a_lid_comes_to_rest_with_its_slope(speed, power):
    def state(times):
        def lid(x):
            return speed * (1 - (2 * x - 1) ** power) ** times

        return sf.Problem(
            SQUARE,
            lambda u, v, p, x, y: (-sf.laplacian(u) + p.dx, -sf.laplacian(v) + p.dy, u.dx + v.dy),
            boundary=lambda u, v, p, x, y: (u, v),
            top=lambda u, v, p, x, y: (u - lid(x), v),
            conditions=sf.at((0.5, 0.5), lambda u, v, p, x, y: p),
        )

    bent = sf.solve(state(1), tol=5e-2)
    assert bent.outcome.kind == "contradicting data"
    assert "together with its slope" in bent.outcome.advice
    assert sf.solve(state(2), tol=5e-2).converged


@pytest.mark.parametrize("left", [0.3, -2.0])
def test_the_condition_that_is_missing_on_the_line(left):
    def state(**sides):
        return sf.Problem(
            sf.Interval(0, 1), lambda u, x: u.dxx - u, left=lambda u, x: u - left, **sides
        )

    short = sf.solve(state(), tol=1e-8)
    assert short.outcome.kind == "ill-posed"
    assert "m independent conditions" in short.outcome.advice
    assert sf.solve(state(right=lambda u, x: u), tol=1e-8).converged


@pytest.mark.parametrize("end", [1.6, 1.7])
def test_a_parameter_is_led_to_the_value_that_is_wanted(end):
    """u'' = -lam exp(u): from lam = 3.51 on there is no solution, below it two of them."""

    def bratu(lam):
        return sf.Problem(
            sf.Interval(0, 1),
            lambda u, x: u.dxx + lam * np.exp(u),
            left=lambda u, x: u,
            right=lambda u, x: u,
        )

    beyond = sf.solve(bratu(2.5 * end), tol=1e-6)
    assert beyond.outcome.kind == "newton did not converge"
    assert "there may be none" in beyond.outcome.advice
    led = sf.solve(bratu, continuation=[0.1, 1.0, 2.0 * end], tol=1e-6)
    assert led.outcome.kind in ("converged", "several solutions possible"), led.outcome
    confirmed = sf.solve(bratu(2.0 * end), guess=led, tol=1e-6)
    assert confirmed.converged
    # u = 2 log(cosh(h) / cosh(h (1 - 2 x))) with h = sqrt(lam / 8) cosh(h), the smaller one.
    h = brentq(lambda h: h - np.sqrt(2.0 * end / 8) * np.cosh(h), 0.0, 1.2)
    for found in (led, confirmed):
        assert found(0.5) == pytest.approx(2 * np.log(np.cosh(h)), abs=1e-5)


def growing(stop):
    return sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - u.dxx - u**2,
        time=(0, stop),
        initial=lambda x: 20 * np.sin(np.pi * x),
        left=lambda u, x, t: u,
        right=lambda u, x, t: u,
    )


def test_the_time_ends_before_the_blow_up():
    ended = sf.solve(growing(1.0), tol=1e-3)
    assert ended.outcome.kind == "blow-up"
    reached = float(ended.domain.time[1])
    assert sf.solve(growing(0.9 * reached), tol=1e-3).converged


def test_a_jump_that_nothing_spreads_is_followed_within_what_is_named():
    def carried(diffusion):
        return sf.Problem(
            sf.Interval(0, 1),
            lambda u, x, t: u.dt + 0.7 * u.dx - diffusion * u.dxx,
            left=lambda u, x, t: u,
            **({"right": lambda u, x, t: u.dn} if diffusion else {}),
            initial=lambda x: np.where((x > 0.1) & (x < 0.3), 1.0, 0.0),
            time=(0, 0.5),
        )

    lost = sf.solve(carried(0.0), tol=1e-2)
    assert lost.outcome.kind == "errors outgrew tol"
    assert "an earlier end does not help" in lost.outcome.advice
    named = float(lost.outcome.advice.split("tol above ")[1].split(",")[0])
    assert lost.error_estimate < named
    assert sf.solve(carried(0.0), tol=named).converged
    assert sf.solve(carried(1e-3), tol=1e-2).converged
