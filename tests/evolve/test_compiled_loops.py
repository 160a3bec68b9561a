"""Compiled inner loops, where numba is installed, against what NumPy and LAPACK do."""

import numpy as np
import pytest
from tests.evolve import line_runs

import sharpfront as sf
from sharpfront.evolve.collocation import Fields, Moments
from sharpfront.evolve.discrete import Discrete
from sharpfront.evolve.equations import time_system
from sharpfront.evolve.factors import Band, condensed
from sharpfront.evolve.line_pair import difference_on_line
from sharpfront.evolve.mesh import Mesher
from sharpfront.evolve.run import Taken
from sharpfront.evolve.settings import Settings
from sharpfront.evolve.velocity import velocities
from sharpfront.pieces.elements import reference
from sharpfront.pieces.frame import Bends
from sharpfront.pieces.loops import VARIABLE, loops
from sharpfront.pieces.radau import STAGES, all_nodes
from sharpfront.pieces.slabs import Slab

pytest.importorskip("numba")
# Compiling takes half a minute, once.
pytestmark = pytest.mark.slow

LINE, CIRCLE = sf.Interval(0, 1), sf.Interval(0, 1, periodic=True)


def single(u, x, t):
    return u.dt - 0.3 * u.dt.dxx + u * u.dx + (1 + x) * u.dxx * t


def pair(u, v, x, t):
    return u.dt - u.dxx + u * v, v.dt + u.dt - 0.2 * v.dxx + u.dx


def beam(u, x, t):
    return u.dt + u.dxxxx + u * u.dx


PROBLEMS = {
    "held": (LINE, single, {"boundary": lambda u, x, t: u - t}),
    "nonlinear ends": (
        LINE,
        single,
        {"left": lambda u, x, t: u.dt + u**2 - u.dx, "right": lambda u, x, t: u.dx + u**3},
    ),
    "two": (LINE, pair, {"boundary": lambda u, v, x, t: (u, v.dx - u * v)}),
    "ring": (CIRCLE, single, {}),
    "fourth order": (
        LINE,
        beam,
        {"left": lambda u, x, t: (u, u.dx), "right": lambda u, x, t: (u.dxx, u.dxxx)},
    ),
}


@pytest.fixture
def plain(monkeypatch):
    """Turn compiled loops off and on."""

    def turn(off):
        monkeypatch.setenv(VARIABLE, "0" if off else "1")
        loops.cache_clear()

    yield turn
    loops.cache_clear()


def made(name, moving, bends=None):
    """Return a mesher, a frame and functions on it at all moments of a step."""
    domain, equations, conditions = PROBLEMS[name]
    names = 2 if equations is pair else 1
    problem = sf.Problem(
        domain, equations, **conditions, initial=(0.0,) * names if names > 1 else 0.0, time=(0, 1)
    )
    system = time_system(problem)
    order = system.continuity
    discrete = Discrete(system, reference(order, max(5, order + 2)))
    rng = np.random.default_rng(5)
    nodes = np.linspace(0.0, 1.0, 13)
    nodes[1:-1] += rng.uniform(-0.02, 0.02, 11)
    nodes[6] = 0.5
    pins = np.array([0.5]) if bends is not None else np.zeros(0)
    mesher = Mesher(discrete.tables, system.periodic, pins, 100, Settings(), bends)
    speeds = 0.05 * np.sin(3 * nodes) * nodes * (1 - nodes) if moving else np.zeros_like(nodes)
    if len(pins):
        speeds[nodes == 0.5] = 0.0
    frame = mesher.frame(nodes, speeds)
    values = rng.normal(size=(STAGES + 1, frame.size, names))
    return discrete, mesher, frame, values


def both(plain, make):
    """Return what is made by compiled loops, and by NumPy."""
    found = []
    for off in (False, True):
        plain(off)
        assert (loops() is None) == off
        found.append(make())
    return found


@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("name", PROBLEMS)
def test_residuals_and_changes(name, moving, plain):
    discrete, _, frame, values = made(name, moving)
    rates = np.random.default_rng(6).normal(size=values.shape)

    def make():
        moments = Moments(discrete, discrete_frame(frame), 0.1, 0.2 * all_nodes())
        fields = Fields(moments, values, rates)
        residual = fields.residual().copy()
        factors = condensed(fields, 3, 0.2) if loops() else Band(fields, 3, 0.2)
        change = np.empty((STAGES, residual.shape[1]))
        factors.change(residual, change)
        return residual, change, factors.implicit(residual[:2].copy())

    for one, other in zip(*both(plain, make), strict=True):
        assert np.allclose(one, other, rtol=1e-8, atol=1e-8 * np.abs(other).max())


def discrete_frame(frame):
    """Return the same frame without what it has worked out."""
    return type(frame)(frame.tables, frame.nodes, frame.velocities, frame.ring, frame.bends)


@pytest.mark.parametrize("bends", [None, Bends(np.array([0.5]), np.array([[0.4], [1.6]]))])
@pytest.mark.parametrize("name", PROBLEMS)
def test_meshes(name, bends, plain):
    if name == "ring":
        bends = None
    _, mesher, frame, values = made(name, True, bends)
    scale, unit = np.ones(values.shape[2]), np.ones((frame.elements, values.shape[2]))
    other = frame.nodes**2 / (0.5 + 0.5 * frame.nodes)
    other[np.abs(other - 0.5).argmin()] = 0.5

    def make():
        fresh = discrete_frame(frame)
        smooth = mesher.interpolant(
            frame.nodes, lambda x: np.stack([np.tanh(9 * (x - 0.4))] * values.shape[2], axis=1)
        )
        return (
            velocities(mesher, fresh, smooth, -0.7 * smooth + 0.1, scale),
            mesher.roughness(fresh, values[0], unit, 1e-3),
            mesher.moved(fresh, values[0], other),
        )

    for one, other_ in zip(*both(plain, make), strict=True):
        assert np.allclose(one, other_, rtol=1e-7, atol=1e-8 * max(np.abs(other_).max(), 1e-9))


@pytest.mark.parametrize("name", ["held", "two", "ring"])
def test_differences(name, plain):
    _, _, frame, values = made(name, True)

    class After:
        scale = np.ones(values.shape[2])

    def make():
        mine = Taken(Slab(0.0, 0.2, discrete_frame(frame)), values, After())
        other = Taken(
            Slab(0.0, 0.3, discrete_frame(frame).moving(frame.velocities * 0.5)), values, After()
        )
        return difference_on_line(mine, [other], values.shape[2])

    one, two = both(plain, make)
    assert one == pytest.approx(two, rel=1e-6)
    assert one > 1e-3


@pytest.mark.parametrize("problem", [line_runs.shock(0.01, 0.1), line_runs.pulse(0.1)])
def test_runs_are_the_same(problem, plain):
    one, other = both(plain, lambda: sf.solve(problem, tol=1e-5))
    assert len(one.history) == len(other.history)
    x = np.linspace(0, 1, 301)
    gap = one.u(x, np.full_like(x, 0.1)) - other.u(x, np.full_like(x, 0.1))
    assert np.abs(gap).max() < 1e-8
    assert one.error_estimate == pytest.approx(other.error_estimate, rel=0.01)
