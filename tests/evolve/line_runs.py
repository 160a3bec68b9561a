"""Short problems in time on an interval, for tests of how a run behaves."""

import numpy as np

import sharpfront as sf


def heat(length=1.0, end=1.0, diffusivity=0.1, start=0.0):
    """Return a sine that decays."""
    return sf.Problem(
        sf.Interval(0, length),
        lambda u, x, t: u.dt - diffusivity * u.dxx,
        boundary=lambda u, x, t: u,
        initial=lambda x: np.sin(np.pi * x / length),
        time=(start, end),
    )


def shock(nu=0.01, end=0.5):
    """Return a travelling shock."""

    def exact(x, t):
        return (1 - np.tanh((x - 0.25 - t / 2) / (4 * nu))) / 2

    return sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt + u * u.dx - nu * u.dxx,
        boundary=lambda u, x, t: u - exact(x, t),
        initial=lambda x: exact(x, 0.0),
        time=(0, end),
    )


def pulse(end=0.5):
    """Return a pulse carried round a circle."""
    return sf.Problem(
        sf.Interval(0, 1, periodic=True),
        lambda u, x, t: u.dt + u.dx - 1e-3 * u.dxx,
        initial=lambda x: np.exp(-50 * np.sin(np.pi * (x - 0.3)) ** 2),
        time=(0, end),
    )


def waves(end=0.5):
    """Return two coupled unknowns, one of second order in time."""
    return sf.Problem(
        sf.Interval(0, 1),
        lambda u, v, x, t: (u.dtt - u.dxx + v, v.dt - 0.1 * v.dxx - u),
        left=lambda u, v, x, t: (u, v),
        right=lambda u, v, x, t: (u.dn, v),
        initial=lambda x: (np.exp(-(((x - 0.5) / 0.1) ** 2)), 0 * x, 0 * x),
        time=(0, end),
    )


def stopping(*steps):
    """Return an on_step that interrupts at some steps."""

    def on_step(record):
        if record.step in steps:
            raise KeyboardInterrupt

    return on_step


def same(one, two):
    """Tell whether two solutions have the same bits."""
    return all(
        np.array_equal(one.approximation.weights[name], two.approximation.weights[name])
        for name in one.unknowns
    )
