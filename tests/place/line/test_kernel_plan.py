"""How many kernels where: the ladder, the first plan, growth, splits and limits."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.resolve import Resolve
from sharpfront.bases.line_patch import line_patch
from sharpfront.maps.mixture_axis import mixture_axis
from sharpfront.mixture import Mixture
from sharpfront.place.line.kernel_plan import (
    Part,
    Plan,
    first_plan,
    grown,
    rung,
    slowness,
    start_number,
    wanted_growth,
    with_features,
    within,
)
from sharpfront.place.line.settings import LINE
from sharpfront.place.line.subintervals import (
    Stretch,
    axis_of,
    features,
    looked_again,
    mixture_of,
    sides,
    split_stretch,
    with_places,
)
from sharpfront.problem.line_problem import LinearCondition, LineProblem, Term
from sharpfront.solution.approximation import Approximation


def bell(x, place, width):
    return np.exp(-(((x - place) / width) ** 2))


def stretch(*bumps, low=0.0, high=1.0, cells=2000, swings=0.0):
    """Return a stretch whose monitor is a sum of bells (place, width)."""
    graded = [p + w * np.linspace(-6, 6, 200) for p, w in bumps]
    edges = np.unique(np.clip(np.concatenate([np.linspace(low, high, cells), *graded]), low, high))
    middles, h = 0.5 * (edges[1:] + edges[:-1]), np.diff(edges)
    mass = sum((bell(middles, p, w) * h / w for p, w in bumps), np.zeros(len(h)))
    return Stretch(low, high, (low, high), edges, mass, np.full(len(h), swings / len(h)))


def mixture(*bumps):
    means = np.array([[p] for p, _ in bumps])
    covariances = np.array([[[w**2]] for _, w in bumps])
    return Mixture(np.full(len(bumps), 1 / len(bumps)), means, covariances)


def part(low, high, kernels=60, mass=0.0, *bumps):
    own = mixture(*bumps) if bumps else None
    edges = np.linspace(low, high, 65)
    cells = np.full(64, mass / 64)
    s = Stretch(low, high, (low, high), edges, cells, np.zeros(64))
    return Part(s, own, line_patch(mixture_axis(low, high, own), kernels, (low, high), 2))


def test_the_ladder_climbs_by_a_fifth():
    numbers = sorted({rung(k) for k in range(1, 500)})
    assert numbers[:5] == [33, 40, 48, 58, 69]
    assert all(1.15 < b / a < 1.25 for a, b in itertools.pairwise(numbers))
    assert all(rung(number) in (number, rung(number + 1)) for number in numbers)
    assert all(rung(k) >= k - 0.5 for k in range(1, 500))
    assert rung(0) == rung(33)


def test_more_kernels_for_more_sides_swings_decades_and_digits():
    def number(tol=1e-8, swings=0.0, own=None):
        s = stretch(swings=swings)
        return start_number(s, axis_of(s, own), tol)

    end, front = mixture((1.0, 1e-3)), mixture((0.5, 1e-3))
    assert number() == rung(26 * 8 / 9)
    assert number(own=end) < number(own=front)
    assert number(own=end) < number(own=mixture((1.0, 1e-6)))
    assert number(own=front) < number(own=mixture((0.3, 1e-3), (0.7, 1e-3)))
    assert number(swings=40) > number() + 60
    assert number(1e-3, own=front) < number(1e-8, own=front) < number(1e-12, own=front)


def test_sides_of_features():
    def count(*bumps):
        return sides(mixture_axis(0.0, 1.0, mixture(*bumps)))

    assert sides(mixture_axis(0.0, 1.0)) == 0
    assert count((0.0, 1e-3)) == 1
    assert count((1.0, 1e-3)) == 1
    assert count((0.5, 1e-3)) == 2
    assert count((0.5, 1e-3), (0.501, 2e-3)) == 2
    assert count((0.2, 1e-3), (1.0, 1e-5)) == 3
    first, last = features(mixture_axis(0.0, 1.0, mixture((0.8, 1e-3), (0.2, 1e-3))))
    assert np.all(first < [0.2, 0.8])
    assert np.all(last > [0.2, 0.8])


def test_an_even_monitor_has_no_mixture():
    even = stretch()
    assert mixture_of(even, 1.0, 8) is None
    flat = Stretch(0.0, 1.0, (0.0, 1.0), np.linspace(0, 1, 101), np.full(100, 0.01), np.zeros(100))
    assert mixture_of(flat, 1.0, 8) is None
    sharp = stretch((0.3, 1e-3))
    assert mixture_of(sharp, sharp.total, 8) is not None
    assert mixture_of(sharp, 1e7 * sharp.total, 8) is None


def test_one_feature_is_one_piece():
    plan = first_plan([stretch((0.3, 1e-4))], 1e-8, 8, 2)
    assert len(plan.parts) == 1
    assert abs(plan.mixture.means[0, 0] - 0.3) < 1e-4
    assert plan.patches[0].order == 2


def test_many_features_are_split_between():
    places = np.linspace(0.03, 0.97, 12)
    plan = first_plan([stretch(*((p, 1e-4) for p in places))], 1e-8, 8, 2)
    assert len(plan.parts) > 1
    assert all(p.patch.axis.components <= 8 for p in plan.parts)
    assert all(p.patch.kernels <= LINE.piece_kernels * 1.2 for p in plan.parts)
    lows = np.array([p.stretch.low for p in plan.parts[1:]])
    assert np.abs(lows[:, None] - places).min() > 1e-3
    assert [p.stretch.low for p in plan.parts[1:]] == [p.stretch.high for p in plan.parts[:-1]]
    assert (plan.parts[0].stretch.low, plan.parts[-1].stretch.high) == (0.0, 1.0)
    assert plan.kernels == sum(p.patch.kernels for p in plan.parts)


@pytest.mark.parametrize("components", [1, 2, 3])
def test_a_lone_feature_is_not_split_for_its_components(components):
    plan = first_plan([stretch((0.3, 1e-4), (0.301, 1e-3), (0.31, 1e-2))], 1e-8, components, 2)
    assert len(plan.parts) == 1
    assert plan.parts[0].mixture.components <= components


def test_few_cells_are_not_split():
    edges = np.linspace(0, 1, LINE.fewest_cells + 1)
    mass = np.zeros(LINE.fewest_cells)
    mass[[2, 8, 14]] = 1.0
    lone = Stretch(0.0, 1.0, (0.0, 1.0), edges, mass, np.full(LINE.fewest_cells, 100.0))
    assert len(first_plan([lone], 1e-8, 1, 2).parts) == 1


def test_the_mixtures_of_all_parts_are_weighted_by_their_mass():
    plan = Plan(
        (part(0, 0.5, 60, 3.0, (0.2, 1e-3)), part(0.5, 0.8), part(0.8, 1, 60, 1.0, (1, 1e-4)))
    )
    assert np.allclose(plan.mixture.weights, [0.75, 0.25])
    assert np.allclose(plan.mixture.means[:, 0], [0.2, 1.0])
    assert Plan((part(0, 1),)).mixture is None
    lone = Plan((part(0, 0.5, 60, 3.0, (0.2, 1e-3)), part(0.5, 1))).mixture
    assert np.array_equal(lone.means, [[0.2]])


def test_a_plan_within_the_limit_is_left_alone():
    plan = Plan((part(0, 0.5, 100), part(0.5, 1, 60)))
    assert within(plan, 160) is plan
    assert [p.kernels for p in within(plan, 120).patches] == [69, 40]
    assert within(plan, 120).kernels <= 120
    assert within(plan, 10).kernels == 66


@pytest.mark.parametrize("limit", [1, 7, 32])
def test_one_piece_goes_below_the_ladder(limit):
    assert within(Plan((part(0, 1, 60),)), limit).kernels == limit
    assert within(Plan((part(0, 1, 60),)), 40).kernels == 33


def test_splitting_keeps_mass_ends_and_sides_of_jumps():
    whole = Stretch(0.0, 1.0, (0.0, 0.999), *_cells((0.2, 0.8)))
    c = axis_of(whole, mixture((0.2, 1e-3), (0.8, 1e-3)))
    left, right = split_stretch(whole, c)
    assert left.high == right.low
    assert 0.3 < left.high < 0.7
    assert left.total + right.total == pytest.approx(whole.total)
    assert left.swings.sum() + right.swings.sum() == pytest.approx(whole.swings.sum())
    assert left.inside == (0.0, left.high)
    assert right.inside == (left.high, 0.999)
    for half in (left, right):
        assert (half.edges[0], half.edges[-1]) == (half.low, half.high)
        assert len(half.edges) == len(half.mass) + 1 == len(half.swings) + 1


def _cells(places):
    edges = np.linspace(0, 1, 401)
    middles = 0.5 * (edges[1:] + edges[:-1])
    mass = sum(bell(middles, p, 5e-3) for p in places)
    return edges, mass, np.full(400, 0.01)


@pytest.mark.parametrize(("place", "low", "high"), [(0.0, 0.05, 0.95), (1.0, 0.05, 0.95)])
def test_a_lone_feature_is_split_off_on_its_wider_side(place, low, high):
    s = Stretch(0.0, 1.0, (0.0, 1.0), *_cells((place,)))
    left, _ = split_stretch(s, axis_of(s, mixture((place, 1e-3))))
    assert low < left.high < high


def test_without_features_it_is_split_near_the_middle():
    s = Stretch(0.0, 1.0, (0.0, 1.0), np.linspace(0, 1, 101), np.ones(100), np.zeros(100))
    left, _ = split_stretch(s, axis_of(s, None))
    assert 0.3 < left.high < 0.7


def test_new_places_hold_half_of_the_monitor():
    s = stretch((0.2, 1e-2))
    seen = with_places(s, np.array([0.7, 0.75]), 1e-4)
    middles = 0.5 * (seen.edges[1:] + seen.edges[:-1])
    new = (np.abs(middles - 0.7) < 1e-4) | (np.abs(middles - 0.75) < 1e-4)
    assert seen.mass[new].sum() == pytest.approx(0.5 * seen.total, rel=1e-3)
    assert np.all(np.diff(seen.edges) > 0)
    assert seen.swings.sum() == pytest.approx(s.swings.sum())


# Growth, with a check


def checked(plan, residual_at, size=1.0):
    """Return a check of u = 0 for u'' = f, f a bell of a given size."""
    ends = (LinearCondition((Term(0.0),)), LinearCondition((Term(1.0),)))
    problem = LineProblem(
        (0.0, 1.0), (1.0, 0.0, -1e-4), lambda x: size * bell(x, residual_at, 0.02), ends
    )
    adaptor = Resolve()
    state = adaptor.begin("u", problem, 1e-8)
    state = replace(state, plan=plan)
    zero = Approximation(("x",), {"u": state.basis}, {"u": np.zeros(state.basis.size)})
    return adaptor.assess(state, zero).check


def even(count, kernels=60):
    edges = np.linspace(0, 1, count + 1)
    return Plan(tuple(part(a, b, kernels) for a, b in itertools.pairwise(edges)))


@pytest.mark.parametrize("count", [2, 5, LINE.many + 15])
def test_only_the_part_with_the_residual_grows(count):
    plan = even(count)
    home = count // 2
    place = (home + 0.5) / count
    check = checked(plan, place, 1e-5)
    growth = wanted_growth(plan, check, 1e-5, 1e-8, 1.5)
    assert growth.shape == (count,)
    assert growth[home] > LINE.ladder
    far = np.abs((np.arange(count) + 0.5) / count - place) > 0.35
    assert np.all(growth[far] == 1.0)


def test_growth_follows_the_digits_that_are_missing():
    plan = even(1)
    check = checked(plan, 0.5)
    growth = [wanted_growth(plan, check, e, 1e-8, 1.5)[0] for e in (1e-1, 1e-5, 1e-7, 2e-8, 1e-9)]
    assert growth[0] == LINE.growth
    assert growth[1] == pytest.approx(-np.log10(0.5e-8) / 5)
    assert growth[2] == pytest.approx(LINE.ladder, abs=0.02)
    assert growth[3] == LINE.ladder
    assert growth[4] == 1.0


def test_growth_follows_how_slowly_the_last_digits_came():
    assert slowness([60], [1e-3]) == 1.0
    assert slowness([60, 90], [1e-4, 1e-6]) == pytest.approx(1.0)
    assert slowness([60, 90], [1e-4, 1e-5]) == pytest.approx(2.0)
    assert slowness([60, 90], [1e-4, 1e-9]) == 1.0
    assert slowness([60, 90], [1e-4, 2e-4]) == 1.0
    assert slowness([60, 90], [1e-4, 0.99e-4]) == LINE.slowest_digits
    plan = even(1)
    check = checked(plan, 0.5)
    growth = [wanted_growth(plan, check, 1e-7, 1e-8, 1.5, slow)[0] for slow in (1.0, 3.0)]
    assert growth[1] - 1.0 == pytest.approx(3.0 * (-np.log10(0.5e-8) / 7 - 1.0))
    assert growth[0] < growth[1]


@pytest.mark.parametrize(("pole", "power"), [(1.01, 2), (-0.01, 2), (0.5 + 0.1j, 1), (9.0, 1)])
def test_growth_is_squared_where_half_the_kernels_fail_at_an_end(pole, power):
    plan = even(1)
    check = checked(plan, 0.5)
    u = np.log(np.abs(check.grid.middles - pole))
    check = replace(check, values=u, error=1e-7)
    growth = wanted_growth(plan, check, 1e-6, 1e-8, 1.5)[0]
    aim = 0.2e-8 if power == 2 else 0.5e-8
    assert growth == pytest.approx((-np.log10(aim) / 6) ** power)
    # With two digits nothing is known of the others.
    assert wanted_growth(plan, check, 1e-2, 1e-8, 1.5)[0] == LINE.growth


def test_steep_layers_of_nonlinear_problems_take_two_solves():
    for steepness in (5.0, 10.0):
        problem = sf.catalog.TROESCH.problem(steepness)
        solution = sf.solve(problem, tol=1e-9)
        assert solution.converged
        assert len(solution.history) == 2


def test_parts_that_need_nothing_stay_as_they_are():
    plan = even(3)
    out = grown(plan, np.array([1.0, 1.5, 1.0]), 1e-8, checked(plan, 0.5), 8, False)
    assert out.parts[0] is not plan.parts[1]
    assert [p.kernels for p in out.patches] == [60, rung(90), 60]


def test_a_part_that_grows_too_large_is_split():
    plan = even(1, 160)
    out = grown(plan, np.array([1.8]), 1e-8, checked(plan, 0.5), 8, False)
    assert len(out.parts) == 2
    assert out.kernels > 160
    assert out.parts[0].stretch.high == out.parts[1].stretch.low


def test_a_refit_looks_at_the_last_solve():
    plan = even(1)
    check = checked(plan, 0.37, 50.0)
    out = grown(plan, np.array([1.1]), 1e-8, check, 8, True)
    assert out.parts[0].mixture is not None
    assert np.min(np.abs(out.parts[0].mixture.means - 0.37)) < 0.05
    assert out.kernels >= rung(60 * 1.4)
    assert grown(plan, np.array([1.0]), 1e-8, check, 8, True).parts[0].mixture is None


def test_a_second_look_keeps_what_was_known():
    plan = even(1)
    old = stretch((0.8, 0.01))
    seen = looked_again(old, checked(plan, 0.37, 50.0))
    middles = 0.5 * (seen.edges[1:] + seen.edges[:-1])
    known = seen.mass[np.abs(middles - 0.8) < 0.05].sum() / seen.total
    new = seen.mass[np.abs(middles - 0.37) < 0.1].sum() / seen.total
    assert known == pytest.approx(0.5, abs=0.1)
    assert new == pytest.approx(0.5, abs=0.1)
    assert (seen.edges[0], seen.edges[-1]) == (0.0, 1.0)


def test_a_second_look_at_too_few_cells_changes_nothing():
    tiny = stretch((0.5, 1e-3), low=0.5, high=0.501)
    assert looked_again(tiny, checked(even(1), 0.37)) is tiny


def test_features_are_added_where_places_are():
    plan = even(2)
    out = with_features(plan, np.array([0.7]), np.array([1e-4]), 1e-8, 8)
    assert out.parts[0] is plan.parts[0]
    assert abs(out.parts[1].mixture.means[0, 0] - 0.7) < 1e-3
    assert out.patches[1].kernels >= 60
    assert out.patches[1].axis.components > 0
