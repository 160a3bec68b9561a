"""Solutions in time that several tests look at, each solved or made once."""

from dataclasses import replace
from functools import cache

import numpy as np

import sharpfront as sf
from sharpfront.bases.in_time import PatchworkInTime
from sharpfront.bases.product import Product
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.geometry import SpaceTime
from sharpfront.history import Known, TimeStep
from sharpfront.maps import MovingAxis, MovingSquare
from sharpfront.maps.moving_axis import Components
from sharpfront.mixture import Mixture
from sharpfront.solution import Estimate, Solution
from sharpfront.solution.approximation import Approximation


def front(x, t, nu=2e-3):
    """A viscous shock that starts at 0.25 and runs with speed 1/2."""
    return (1 - np.tanh((x - 0.25 - t / 2) / (4 * nu))) / 2


@cache
def shock():
    """The shock, solved."""
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt + u * u.dx - 2e-3 * u.dxx,
        boundary=lambda u, x, t: u - front(x, t),
        initial=lambda x: front(x, 0.0),
        time=(0, 1),
    )
    return sf.solve(problem, tol=1e-4)


@cache
def circle():
    """A pulse that goes round once."""
    problem = sf.Problem(
        sf.Interval(0, 1, periodic=True),
        lambda u, x, t: u.dt + u.dx - 1e-4 * u.dxx,
        initial=lambda x: np.exp(-(((x - 0.5) / 0.1) ** 2)),
        time=(0, 1),
    )
    return sf.solve(problem, tol=1e-3)


@cache
def pair():
    """Two unknowns that react."""
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, v, x, t: (u.dt - 0.01 * u.dxx - u * v, v.dt - 0.01 * v.dxx + u * v),
        boundary=lambda u, v, x, t: (u.dn, v.dn),
        initial=(lambda x: np.exp(-(((x - 0.5) / 0.2) ** 2)), lambda x: 1 + 0 * x),
        time=(0, 1),
    )
    return sf.solve(problem, tol=1e-2)


@cache
def plane():
    """Some function of (x, y, t) in products that move: made, not solved."""
    one = np.ones(1)
    moving = Components(one, 0.3 * one, 0.2 * one, 0.02 * one, 0.4 * one, 0 * one, 0 * one)
    product = Product((12, 9))
    maps = MovingAxis(0.0, 1.0, 0.5, moving), MovingAxis(0.0, 2.0)
    # Placed anew between the two steps.
    wider = replace(moving, means=0.5 * one, deviations=0.05 * one)
    later = MovingAxis(0.0, 1.0, 0.5, wider), maps[1]
    frames = tuple(MovingSquare((0, 1), own) for own in (maps, later))
    basis = PatchworkInTime(np.array([0.0, 0.5, 1.0]), (product, product), frames)
    weights = np.random.default_rng(3).normal(size=basis.size)
    mixtures = [Mixture(one, np.array([[x, 1.0]]), np.diag([0.01, 0.2])[None]) for x in (0.5, 0.7)]
    history = tuple(
        TimeStep(
            i,
            0.5 * (i + 1),
            0.5,
            product.size,
            1e-3,
            1,
            0.1,
            Known(mixture, np.array([[0.4, 0.0]])),
        )
        for i, mixture in enumerate(mixtures)
    )
    return Solution(
        Approximation(("x", "y", "t"), {"u": basis}, {"u": weights}),
        SpaceTime(sf.Box((0, 1), (0, 2)), (0.0, 1.0)),
        Estimate(1e-3, "made up"),
        Outcome(OutcomeKind.CONVERGED),
        1e-2,
        history,
        {},
    )


def occurs_in_cells(image, function, fine=16):
    """Tell whether every cell of an image shows a value that a function takes in that cell."""
    shown = np.asarray(image.get_array())
    rows, columns = shown.shape
    x0, x1, y0, y1 = image.get_extent()
    x, y = np.linspace(x0, x1, fine * columns + 1), np.linspace(y0, y1, fine * rows + 1)
    values = function(x, y[:, None])
    part = np.arange(fine + 1)
    cells = values[
        (fine * np.arange(rows)[:, None] + part)[:, None, :, None],
        (fine * np.arange(columns)[:, None] + part)[None, :, None, :],
    ]
    low, high = cells.min(axis=(2, 3)), cells.max(axis=(2, 3))
    # Extremes between the fine points are missed by a part of what a cell ranges over.
    slack = 0.02 * (high - low) + 1e-9
    return bool(np.all((shown >= low - slack) & (shown <= high + slack)))
