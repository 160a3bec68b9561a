"""Layers that coefficients tell of need no cells to look for them, and are none but those."""

import math

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.mixture import fit_bins
from sharpfront.place.line.breakpoints import survey
from sharpfront.place.line.end_layers import exponentials, graded_nodes, layers_at_ends
from sharpfront.problem.line_problem import LinearCondition, LineProblem, Term, ordinary

ENDS = (LinearCondition((Term(0.0),)), LinearCondition((Term(1.0),)))


def rates(*coefficients, source=0.0, ends=ENDS):
    problem = LineProblem((0.0, 1.0), coefficients, source, ends)
    return layers_at_ends(problem, survey(problem))


def of(equation, **conditions):
    problem = ordinary(sf.Problem(sf.Interval(0, 1), equation, **conditions))
    return layers_at_ends(problem, survey(problem))


def test_rates_are_the_roots_at_the_ends():
    assert rates(0.0, 1.0, -1e-4) == pytest.approx((0.0, 1e4))
    assert rates(0.0, -1.0, -1e-4) == pytest.approx((1e4, 0.0))
    assert rates(1.0, 0.0, -1e-6) == pytest.approx((1e3, 1e3))
    left, right = rates(1.0, 1.0, -1e-4)
    assert (left, right) == pytest.approx((0.0, 0.5e4 * (1 + math.sqrt(1 + 4e-4))))
    found = of("-1e-4*u_xx + (1 + x)*u_x = cos(x)", boundary="u = 0")
    assert found == pytest.approx((0.0, 2e4))


@pytest.mark.parametrize(
    "equation",
    [
        "1e-4*u_xx + (x - 0.5)*u_x = 0",  # a turning point
        "-1e-4*u_xx + (x - 0.5)**2*u = 1",  # reaction that vanishes inside
        "1e-4*u_xx + u = 1",  # waves
        "-1e-4*u_xx + u_x = tanh((x - 0.3)/1e-2)",
        "-1e-4*u_xx + u_x = 3*x + 1e-4*tanh((x - 0.3)/1e-2)",  # weak beside the rest
        "-1e-4*u_xx + u_x = exp(-((x - 0.3)/1e-5)**2)",
        "-1e-4*u_xx + u_x = abs(x - 0.3)",
        "u_xx + u_x = 1",  # smooth
        "-1e-6*u_xxxx + u_xx = 1",
    ],
)
def test_nothing_is_told_where_there_may_be_more(equation):
    conditions = {"boundary": "u = 0"}
    if "xxxx" in equation:
        conditions = dict.fromkeys(("left", "right"), ("u = 0", "u_x = 0"))
    assert of(equation, **conditions) is None


def test_conditions_elsewhere_are_not_told_of():
    assert rates(1.0, 0.0, -1e-6, ends=(ENDS[0], LinearCondition((Term(0.5),)))) is None
    assert rates(1.0, 0.0, -1e-6, ends=(ENDS[0], ENDS[0])) is None


@pytest.mark.parametrize("rate", [1e2, 1e4, 1e8, 1e15])
@pytest.mark.parametrize("side", [0, 1])
def test_cells_resolve_the_layer_and_go_over_into_even_ones(rate, side):
    nodes = graded_nodes((0.0, 1.0), (0.0, rate) if side else (rate, 0.0))
    steps = np.diff(nodes)
    assert (nodes[0], nodes[-1]) == (0.0, 1.0)
    assert steps.min() > 0.0
    u = np.exp(rate * (nodes - 1.0)) if side else np.exp(-rate * nodes)
    if rate < 1e12:
        # Of the widest no position beside the right end is left.
        assert np.abs(np.diff(u)).max() < 0.1
        ratio = steps[1:] / steps[:-1]
        assert max(ratio.max(), 1.0 / ratio.min()) < 2.0
    assert len(nodes) < 1000


def test_the_mixture_is_what_em_fits():
    rates, interval = (1e3, 0.0), (2.0, 5.0)
    edges = graded_nodes(interval, rates)
    masses = -np.diff(np.exp(-rates[0] * (edges - 2.0)))
    told, fitted = exponentials(interval, rates, edges, masses), fit_bins(edges, masses, 8)
    assert told.weights.sum() == pytest.approx(1.0)
    for one, other in zip(told.means[:2, 0], fitted.means[:2, 0], strict=True):
        assert one - 2.0 == pytest.approx(other - 2.0, rel=0.15)
    assert np.sqrt(told.covariances[:2, 0, 0] / fitted.covariances[:2, 0, 0]) == pytest.approx(
        1.0, rel=0.15
    )


def test_a_layer_that_data_do_not_excite_gets_no_component():
    rates, interval = (1e3, 1e3), (0.0, 1.0)
    edges = graded_nodes(interval, rates)
    both = exponentials(interval, rates, edges, np.abs(np.diff(np.cosh(700 * (2 * edges - 1)))))
    one = exponentials(interval, rates, edges, -np.diff(np.exp(-1e3 * edges)))
    assert (both.means < 0.5).any()
    assert (both.means > 0.5).any()
    assert (one.means < 0.5).all()


def test_what_lies_elsewhere_is_left_to_em():
    rates, interval = (1e3, 0.0), (0.0, 1.0)
    edges = graded_nodes(interval, rates)
    masses = -np.diff(np.exp(-1e3 * edges)) + np.diff(np.tanh((edges - 0.5) / 0.05))
    assert exponentials(interval, rates, edges, masses) is None


@pytest.mark.parametrize("nu", [1e-2, 1e-4, 1e-7])
def test_one_solve_and_no_more_kernels_than_cells_would_ask_for(nu, monkeypatch):
    problem = sf.Problem(
        sf.Interval(0, 1), lambda u, x: -nu * u.dxx + (2 - x) * u.dx - np.cos(x), boundary="u = 0"
    )
    told = sf.solve(problem, tol=1e-9)
    monkeypatch.setattr("sharpfront.place.line.feature_search.layers_at_ends", lambda *_: None)
    looked = sf.solve(problem, tol=1e-9)
    assert told.converged
    assert looked.converged
    assert told.kernels <= 1.21 * looked.kernels
    x = np.concatenate([np.linspace(0, 1, 101), 1 - nu * np.linspace(0, 30, 101)])
    assert np.abs(told(x) - looked(x)).max() < 3e-9
