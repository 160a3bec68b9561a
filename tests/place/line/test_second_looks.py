"""What a second look changes: where a piece is cut, how far it grows, what it is fitted to."""

from types import SimpleNamespace

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt import Resolve
from sharpfront.bases.line_basis import LineBasis
from sharpfront.bases.line_patch import line_patch
from sharpfront.estimate.cells import grid
from sharpfront.estimate.line_error import _misread_integrals, _quadrature_gaps, check_line
from sharpfront.maps.mixture_axis import mixture_axis
from sharpfront.mixture import Mixture
from sharpfront.place.line.breakpoints import Cut
from sharpfront.place.line.kernel_plan import Part, Plan, grown
from sharpfront.place.line.subintervals import (
    Stretch,
    axis_of,
    between_cuts,
    looked_again,
    mixture_of,
    refitted,
    split_stretch,
)
from sharpfront.problem.line_problem import IntegralTerm, LinearCondition, LineProblem
from sharpfront.rows.line_rows import condition_blocks


def even(cells):
    edges = np.linspace(0, 1, cells + 1)
    return Stretch(0.0, 1.0, (0.0, 1.0), edges, np.full(cells, 1 / cells), np.zeros(cells))


def test_features_that_only_just_do_not_overlap_are_cut_apart():
    means, deviations = np.array([0.2733, 0.3091]), np.array([1.7e-3, 5.8e-4])
    mixture = Mixture([0.5, 0.5], means[:, None], (deviations**2)[:, None, None])
    stretch = even(400)
    left, right = split_stretch(stretch, axis_of(stretch, mixture))
    assert 0.28 < left.high == right.low < 0.305


def test_a_part_that_cannot_be_divided_does_not_grow_without_bound():
    stretch = even(10)
    plan = Plan((Part(stretch, None, line_patch(mixture_axis(0.0, 1.0), 172, (0.0, 1.0), 2)),))
    for _ in range(5):
        plan = grown(plan, np.array([1.8]), 1e-8, None, 8, refit=False)
    assert plan.kernels <= 180


def test_a_window_is_no_feature_of_what_is_beside_it():
    """Narrow cells, and a monitor that is even outside the window and heavy in it."""
    nodes = np.concatenate([np.linspace(0, 0.4, 41), [0.4 + 1e-6, 0.4 + 2e-6, 0.4002]])
    points = grid(np.concatenate([nodes, np.linspace(0.41, 1, 60)]))
    cuts = [Cut(float(np.nextafter(x, 0)), x) for x in (nodes[40], nodes[42])]
    window = slice(40, 42)
    mass = points.steps.copy()
    mass[window] = 1.0
    found = SimpleNamespace(
        system=SimpleNamespace(grid=points),
        solution=np.zeros((2, len(points.nodes))),
        monitor=mass,
        layers=None,
    )
    left, middle, right = between_cuts((0.0, 1.0), cuts, found)
    for beside in (left, right):
        density = beside.mass / np.diff(beside.edges)
        assert density.max() < 1.01
    assert middle.total > 1.0


@pytest.mark.parametrize(("error", "seen"), [(1.0, True), (1e-9, False)])
def test_a_refit_looks_where_the_error_varies_if_it_is_more_than_rounding(error, seen):
    points = grid(np.linspace(0, 1, 201))
    profile = error * (points.nodes > 0.7)
    check = SimpleNamespace(
        grid=points,
        values=np.zeros(200),
        data=np.ones((4, 200)),
        profile=profile,
        error=error,
        size=1.0,
    )
    mass = looked_again(even(200), check).mass
    near = mass[np.abs(points.middles - 0.7) < 0.03].sum() / mass.sum()
    assert (near > 0.4) == seen


def test_a_refit_does_not_follow_errors_that_swing_with_the_kernels():
    """Eighty kernels, and an error that turns at each of them in the second half."""
    points = grid(np.linspace(0, 1, 241))
    swing = 1e-3 * np.sin(80 * np.pi * points.nodes) * (points.nodes > 0.5)
    check = SimpleNamespace(
        grid=points,
        values=np.zeros(240),
        data=np.ones((4, 240)),
        profile=swing,
        error=1e-3,
        size=1.0,
    )
    stretch = looked_again(even(240), check)
    there = stretch.mass[points.middles > 0.55][:-12]
    assert there.max() < 1.15 * there.min()


def test_slivers_of_a_second_look_are_no_components():
    """A wide bell, and beside it two cells in a hundred that stand out of the even share."""
    edges = np.linspace(0, 1, 201)
    middles = 0.5 * (edges[1:] + edges[:-1])
    mass = np.exp(-(((middles - 0.3) / 0.05) ** 2))
    mass[[160, 180]] += 0.25
    stretch = Stretch(0.0, 1.0, (0.0, 1.0), edges, mass, np.zeros(200))
    every = mixture_of(stretch, stretch.total, 8)
    assert every.weights.min() < 0.01
    kept = refitted(stretch, 8)
    assert kept.weights.min() > 0.015
    assert kept.weights.sum() == pytest.approx(1.0)
    assert np.abs(kept.means - 0.3).max() < 0.2


def test_an_initial_value_problem_with_two_fronts_is_split_in_two():
    """The error of the first kernels turns at each of them, and grows from front to front."""

    def value(x):
        t, z = np.tanh((x - 0.3125) / 0.03), (x - 0.925) / 0.03
        return 0.375 * t + 0.8 * np.arctan(z) - 0.2 * np.sin(3.5 * x + 5.5)

    def slope(x):
        t, z = np.tanh((x - 0.3125) / 0.03), (x - 0.925) / 0.03
        return (0.375 * (1 - t**2) + 0.8 / (1 + z**2)) / 0.03 - 0.7 * np.cos(3.5 * x + 5.5)

    def bend(x):
        t, z = np.tanh((x - 0.3125) / 0.03), (x - 0.925) / 0.03
        fronts = (-0.75 * t * (1 - t**2) - 1.6 * z / (1 + z**2) ** 2) / 0.03**2
        return fronts + 2.45 * np.sin(3.5 * x + 5.5)

    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: u.dxx + 2 * u.dx + 20 * u - bend(x) - 2 * slope(x) - 20 * value(x),
        left=lambda u, x: (u - value(0.0), u.dx - slope(0.0)),
    )
    solution = sf.solve(problem, tol=1e-6)
    x = np.linspace(0, 1, 2001)
    assert solution.converged
    assert np.abs(solution(x) - value(x)).max() < 1e-6


def test_functions_are_sampled_beside_a_jump_and_not_on_it():
    own = sf.function(lambda x: np.where(x < 0.25, -1.0, np.where(x == 0.25, 7.0, 1.0)))
    problem = sf.Problem(sf.Interval(0, 1), lambda u, x: u.dxx - own(x), boundary=lambda u, x: u)
    state = Resolve().start(problem, 1e-8, 0)
    (cut,), (left, right) = state.cuts, state.plan.patches
    assert left.inside[1] < cut.below
    assert right.inside[0] > cut.above
    assert sf.solve(problem).kernels < 100


@pytest.mark.parametrize(("width", "gap"), [(0.3, 1e-12), (1e-3, None)])
def test_a_weight_that_the_rule_does_not_resolve_counts_as_a_miss(width, gap):
    def weight(x):
        return np.exp(-(((x - 0.51) / width) ** 2)) / width

    condition = LinearCondition((IntegralTerm(weight),), 1.0)
    problem = LineProblem((0.0, 1.0), (0.0, 1.0), 1.0, (condition,))
    basis = LineBasis((line_patch(mixture_axis(0.0, 1.0), 33, (0.0, 1.0), 1),))
    gaps = _quadrature_gaps(problem, basis)
    assert gaps[0] < gap if gap else gaps[0] > 0.1
    weights, blocks = np.full(basis.size, 0.3), condition_blocks(problem, basis)
    check = check_line(problem, basis, weights, blocks)
    plain = blocks[0].rhs[0] - blocks[0].matrix[0] @ weights
    misread = _misread_integrals(problem, basis, [weights])[0]
    expected = plain + misread + np.abs(check.values).max() * gaps[0]
    assert check.misses[0] == pytest.approx(expected, rel=1e-12)
