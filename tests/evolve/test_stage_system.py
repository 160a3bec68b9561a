"""All stages of a step as one linear system, against the bands of each stage."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.bases.radau import STAGES, diagonal, stage_nodes
from sharpfront.evolve.collocation import Fields, Moments
from sharpfront.evolve.discretisation import Discrete
from sharpfront.evolve.stage_system import StageSystem
from sharpfront.evolve.time_system import time_system
from sharpfront.pieces.elements import reference
from sharpfront.pieces.frame import Frame


def burgers(u, x, t):
    return u.dt + u * u.dx - (0.1 + x**2) * u.dxx


def mixed(u, x, t):
    return u.dt - 0.3 * u.dt.dxx + u * u.dx + u.dxx * t


def pair(u, v, x, t):
    return u.dt - u.dxx + u * v, v.dt + u.dt - 0.2 * v.dxx + u.dx


LINE, CIRCLE = sf.Interval(0, 1), sf.Interval(0, 1, periodic=True)
HELD = {"boundary": lambda u, x, t: u - t}
MOVED = {"left": lambda u, x, t: u.dt + u**2 - u.dx, "right": lambda u, x, t: u.dx + u**3}
HELD_PAIR = {"boundary": lambda u, v, x, t: (u, v.dx - u * v)}


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def square(layout, flat):
    """Return a flat band as a matrix."""
    band, n = layout.matrix(flat), layout.size
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(max(0, i - layout.below), min(n, i + layout.above + 1)):
            out[i, j] = band[layout.below + layout.above + i - j, j]
    return out


@pytest.mark.parametrize("moves", [False, True])
@pytest.mark.parametrize(
    ("equation", "domain", "conditions"),
    [
        (burgers, LINE, HELD),
        (burgers, LINE, MOVED),
        (burgers, CIRCLE, {}),
        (mixed, LINE, HELD),
        (pair, LINE, HELD_PAIR),
        (pair, CIRCLE, {}),
    ],
)
def test_all_stages_together_are_those_of_each(equation, domain, conditions, moves, rng):
    count = 2 if equation is pair else 1
    initial = (0.0,) * count if count > 1 else 0.0
    system = time_system(sf.Problem(domain, equation, initial=initial, time=(0, 1), **conditions))
    nodes = np.concatenate([[0.0], np.sort(rng.uniform(0.1, 0.9, 3)), [1.0]])
    speeds = np.zeros(5)
    speeds[1:-1] = moves * rng.uniform(-0.1, 0.1, 3)
    frame = Frame(reference(system.order, 5), nodes, speeds, system.periodic)
    discrete, dt = Discrete(system, frame.tables), 0.07
    shape = (STAGES, frame.size, count)
    levels, rates = rng.standard_normal((2, *shape))
    fields = Fields(Moments(discrete, frame, 0.3, stage_nodes() * dt), levels, rates)
    together = StageSystem(fields, dt)
    lay = together.narrow
    forcing, start = (
        rng.standard_normal((3, STAGES, lay.size)),
        rng.standard_normal((*shape[1:], 3)),
    )
    found = together.solved(together.right(forcing, start))
    moved = np.einsum("ij,j...->i...", diagonal().inverse / dt, found - start)
    for i in range(STAGES):
        bands = fields.bands(i)
        fields.set_ends(*bands, i)
        mass, stiff = (square(lay, flat) for flat in bands)
        own, rate = (lay.placed(v[i].reshape(lay.size, 3).T).T for v in (found, moved))
        left = mass @ rate + stiff @ own + lay.placed(forcing[:, i]).T
        assert np.abs(left).max() < 1e-8 * np.abs(stiff).max() * max(1.0, np.abs(own).max())


@pytest.mark.parametrize(("domain", "conditions"), [(LINE, HELD), (LINE, MOVED), (CIRCLE, {})])
def test_sets_of_rows_are_evaluated_as_each_alone(domain, conditions, rng):
    system = time_system(sf.Problem(domain, burgers, initial=0.0, time=(0, 1), **conditions))
    frame = Frame(reference(2, 5), np.linspace(0, 1, 4), np.zeros(4), system.periodic)
    discrete = Discrete(system, frame.tables)
    moments = Moments(discrete, frame, 0.3, stage_nodes() * 0.1)
    fields = Fields(moments, *rng.standard_normal((2, STAGES, frame.size, 1)))
    (alone,) = fields.rows_of(discrete.equations, discrete.sides, 1)
    assert np.allclose(alone, fields.residual(), rtol=1e-10, atol=1e-10)
