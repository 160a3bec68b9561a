"""The features are found before the first kernel, wherever and however thin they are."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sharpfront as sf
from sharpfront.estimate.cells import grid
from sharpfront.place.line import feature_search as module
from sharpfront.place.line.breakpoints import survey
from sharpfront.place.line.feature_search import changes_between, concentrated, discover, smeared
from sharpfront.place.line.settings import LINE
from sharpfront.problem.line_problem import LinearCondition, LineProblem, Term

NONE = np.zeros(0)


def stated(coefficients, source=0.0, left=0.0, right=0.0, interval=(0.0, 1.0)):
    ends = (
        LinearCondition((Term(interval[0]),), left),
        LinearCondition((Term(interval[1]),), right),
    )
    return LineProblem(interval, coefficients, source, ends)


def found_in(problem, fixed=NONE, cuts=NONE):
    return discover(problem, np.asarray(fixed), np.asarray(cuts), survey(problem))


def share(found, low, high):
    """Return the part of the monitor between two places."""
    middles = found.system.grid.middles
    inside = (middles >= low) & (middles <= high)
    return found.monitor[inside].sum() / found.monitor.sum()


@pytest.mark.parametrize("nu", [1e-2, 1e-4, 1e-6, 1e-8, 1e-10])
@pytest.mark.parametrize("side", [0, 1])
def test_a_layer_at_an_end(nu, side):
    found = found_in(stated((0.0, 1.0 if side else -1.0, -nu), left=1.0 - side, right=side))
    near = (1 - 20 * nu, 1.0) if side else (0.0, 20 * nu)
    assert share(found, *near) > 0.9
    assert np.abs(np.diff(found.solution[0])).max() < LINE.jump
    x = found.system.grid.nodes
    exact = np.exp((x - 1) / nu) if side else np.exp(-x / nu)
    assert np.max(np.abs(found.solution[0] - exact)) < 1e-6


def test_layers_at_both_ends_of_different_widths():
    p, q = 1e2, 1e6
    found = found_in(stated((-1.0, (p - q) / (p * q), 1 / (p * q)), left=1.0, right=1.0))
    assert share(found, 0, 20 / p) > 0.2
    assert share(found, 1 - 20 / q, 1) > 0.2


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.floats(0.02, 0.98), st.floats(-8, -2))
def test_a_front_of_the_source_inside(place, logarithm):
    width = 10.0**logarithm
    found = found_in(stated((1.0, 0.0, -(width**2)), lambda x: np.tanh((x - place) / width)))
    assert share(found, place - 20 * width, place + 20 * width) > 0.2
    inside = np.abs(found.system.grid.middles - place) < 2 * width
    assert inside.sum() > 10


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.floats(0.01, 0.99), st.floats(-4, -2))
def test_a_spike_between_the_nodes_of_the_first_grid(place, logarithm):
    width = 10.0**logarithm
    found = found_in(stated((0.0, 0.0, -1.0), lambda x: np.exp(-(((x - place) / width) ** 2))))
    inside = np.abs(found.system.grid.middles - place) < width
    assert inside.sum() > 10


def test_a_spike_on_a_node_of_the_first_grid_beside_something_smooth():
    """The middles see nothing of it; the survey does."""
    place, width = 0.4, 6e-5

    def source(x):
        return np.cos(x) + 10 * np.exp(-(((x - place) / width) ** 2))

    found = found_in(stated((1.0, 0.0, -1.0), source))
    assert (np.abs(found.system.grid.middles - place) < width).sum() > 10


def test_nothing_is_found_where_nothing_is():
    found = found_in(stated((1.0, 0.0, -1.0), np.cos))
    assert found.monitor is None
    assert len(found.system.grid.steps) == LINE.first_cells


def test_zero_stays_zero():
    found = found_in(stated((1.0, 0.0, -1e-6)))
    assert found.monitor is None
    assert not found.solution.any()


def test_fixed_places_are_nodes_of_every_grid():
    fixed = np.array([0.1234567, 0.5, 0.9999])
    found = found_in(stated((0.0, 1.0, -1e-4), right=1.0), fixed)
    assert np.isin(fixed, found.system.grid.nodes).all()
    assert np.all(np.diff(found.system.grid.nodes) > 0)
    assert found.system.grid.nodes[0] == 0
    assert found.system.grid.nodes[-1] == 1


def test_a_jump_at_a_cut_is_no_feature():
    problem = stated((1.0, 0.0, -1.0), lambda x: np.where(x < 0.4, 0.0, 1.0))
    assert found_in(problem, [0.4], [0.4]).monitor is None
    assert found_in(problem).monitor is not None


def test_noise_takes_no_more_cells_than_allowed(monkeypatch):
    monkeypatch.setattr(module, "LINE", replace(LINE, most_cells=5000))
    found = found_in(stated((0.0, 0.0, -1.0), lambda x: np.sin(1e9 * x**2)))
    assert len(found.system.grid.steps) <= 5001
    assert LINE.most_cells > 10 * LINE.cells


@pytest.mark.parametrize("shift", [-1e3, 0.0, 1e3])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_the_units_do_not_matter(scale, shift):
    low, high = shift * scale, (shift + 1) * scale
    found = found_in(stated((0.0, 1.0, -1e-4 * scale), left=0.0, right=1.0, interval=(low, high)))
    assert share(found, high - 2e-3 * scale, high) > 0.9


def test_changes_are_shared_between_two_cells_and_relative():
    changes = changes_between(np.array([0.0, 0.0, 4.0, 8.0]))
    assert np.allclose(changes, [0.0, 0.25, 0.5, 0.25])
    assert np.array_equal(changes_between(np.full(4, 3.0)), np.zeros(4))
    assert np.allclose(
        changes_between(np.array([0.0, 0.0, 4.0, 8.0]), np.array([2])), [0, 0, 0.25, 0.25]
    )


def test_smearing_keeps_the_mass_and_is_even():
    mass = np.zeros(41)
    mass[20] = 3.0
    out = smeared(mass, 4)
    assert out.sum() == pytest.approx(3.0)
    assert np.allclose(out, out[::-1])
    assert np.count_nonzero(out) == 7


def test_the_tail_of_a_layer_stays_beside_it():
    points = grid(np.array([0.0, 0.01, 0.02, 0.5, 1.0]))
    monitor = np.array([5.0, 3.0, 1.0, 0.0])
    edges, mass = concentrated(points, monitor)
    assert np.allclose(edges, [0, 0.01, 0.02, 0.04, 0.5, 1.0])
    assert mass.sum() == pytest.approx(monitor.sum())
    assert np.allclose(mass, [5, 3, 0.9, 0.1, 0])
    even = grid(np.linspace(0, 1, 5))
    assert concentrated(even, monitor)[0] is even.nodes


def test_the_tail_is_never_denser_than_what_is_beside_it():
    points = grid(np.array([0.0, 0.01, 0.02, 1.0]))
    _, mass = concentrated(points, np.array([5.0, 0.1, 7.0]))
    assert np.allclose(mass, [5, 0.1, 0.2, 6.8])
    mirrored = grid(np.array([0.0, 0.98, 0.99, 1.0]))
    _, back = concentrated(mirrored, np.array([7.0, 0.1, 5.0]))
    assert np.allclose(back, [6.8, 0.2, 0.1, 5])


def test_the_slope_of_a_first_order_equation_may_jump_where_its_source_does():
    problem = sf.Problem(
        sf.Interval(0, 1), lambda u, x: u.dx - np.where(x < 0.5, 0, 1), left=lambda u, x: u
    )
    solution = sf.solve(problem)
    x = 0.5 + np.array([0, 1e-12, 1e-9, 1e-6, 1e-3])
    assert np.max(np.abs(solution.d("x")(x) - 1)) < 1e-9
    assert solution.kernels < 100


@pytest.mark.parametrize("source", [np.sign, lambda x: np.heaviside(x, 0.5)])
def test_a_value_at_the_very_jump_is_not_fitted(source):
    problem = sf.Problem(
        sf.Interval(-1, 1), lambda u, x: u.dxx - source(x), boundary=lambda u, x: u
    )
    solution = sf.solve(problem)
    assert solution.converged
    assert solution.kernels < 100
