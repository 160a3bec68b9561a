"""The residual-based assessment: what the equation and every condition leave, from outside."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.estimate import assess
from sharpfront.estimate.residual import check_points
from sharpfront.kernels.basis import isotropic
from sharpfront.solution.approximation import Approximation


def bell(amplitude=1.0, centre=0.4, width=0.3, unknown="u", coordinates=("x",)):
    """One Gaussian as an approximation, and the same as a function with its derivatives."""
    basis = isotropic(np.array([[centre]]), np.array([width]))
    return Approximation(coordinates, {unknown: basis}, {unknown: np.array([amplitude])})


def gaussian(x, j=0, amplitude=1.0, centre=0.4, width=0.3):
    z = (x - centre) / width
    return amplitude * np.exp(-z * z / 2) * [1.0, -z / width, (z * z - 1) / width**2][j]


def problem(**more):
    options = {"left": lambda u, x: u, "right": lambda u, x: u} | more
    return sf.Problem(sf.Interval(0, 1), lambda u, x: -u.dxx + 2 * u - x, **options)


def integrated(f):
    x = (np.arange(100_000) + 0.5) / 100_000
    return float(np.mean(f(x)))


def test_residual_mismatch_and_estimate_are_those_of_a_known_function():
    seen = assess(problem(), bell(3.0))
    x = seen.points[:, 0]
    left = -gaussian(x, 2, 3.0) + 2 * gaussian(x, 0, 3.0) - x
    np.testing.assert_allclose(seen.residual, np.abs(left), atol=1e-12)
    assert seen.mismatch == pytest.approx(gaussian(0.0, 0, 3.0), rel=1e-12)

    def size(t):
        return np.abs(-gaussian(t, 2, 3.0) + 2 * gaussian(t, 0, 3.0) - t)

    total = integrated(size) + seen.mismatch
    # Relative to the largest |u|, which is three.
    assert seen.estimate.value == pytest.approx(total / 3.0, rel=1e-4)
    assert "not used to fit" in seen.estimate.meaning
    assert seen.residual_rms == pytest.approx(np.sqrt(integrated(lambda t: size(t) ** 2)), rel=1e-4)


def test_a_small_solution_is_measured_absolutely():
    seen = assess(problem(), bell(1e-6))
    assert seen.estimate.value == pytest.approx(0.5, rel=1e-4)


@pytest.mark.parametrize(
    "conditions, miss",
    [
        ({"left": lambda u, x: u - 5, "right": None}, 5 - gaussian(0.0)),
        ({"left": None, "right": lambda u, x: u + 4}, 4 + gaussian(1.0)),
        # The outward normal points to the left at the left end.
        ({"left": lambda u, x: u.dn - 1, "right": None}, abs(-gaussian(0.0, 1) - 1)),
        ({"left": lambda u, x: (u, u.dx), "right": None}, abs(gaussian(0.0, 1))),
        ({"left": None, "right": None}, 0.0),
    ],
)
def test_every_condition_of_an_end_counts(conditions, miss):
    assert assess(problem(**conditions), bell()).mismatch == pytest.approx(miss, rel=1e-12)


def test_conditions_inside_count():
    stated = problem(left=None, right=None, conditions=[sf.at(0.7, lambda u, x: u.dx + x)])
    seen = assess(stated, bell())
    assert seen.mismatch == pytest.approx(abs(gaussian(0.7, 1) + 0.7), rel=1e-12)
    nothing = assess(problem(left=None, right=None), bell())
    assert seen.estimate.value - nothing.estimate.value == pytest.approx(seen.mismatch, rel=1e-9)


def test_integral_conditions_count():
    stated = problem(
        left=None, right=None, conditions=[sf.integral(lambda u, x: x * u - 3 * x**2, equals=2)]
    )
    expected = abs(integrated(lambda x: x * gaussian(x)) - 1 - 2)
    assert assess(stated, bell()).mismatch == pytest.approx(expected, rel=1e-7)


def test_the_seam_of_a_periodic_interval_counts():
    stated = sf.Problem(sf.Interval(0, 1, periodic=True), lambda u, x: -u.dxx + u - np.sin(x))
    jumps = [abs(gaussian(1.0, j) - gaussian(0.0, j)) for j in (0, 1)]
    assert assess(stated, bell()).mismatch == pytest.approx(max(jumps), rel=1e-12)
    # Symmetric about the middle, only the slope jumps.
    middle = assess(stated, bell(centre=0.5))
    assert middle.mismatch == pytest.approx(2 * gaussian(0.0, 1, centre=0.5), rel=1e-12)


@pytest.mark.parametrize("adaptor", [sf.Uniform(60), sf.Paper(kernels=60, collocation=300)])
def test_the_estimate_of_the_papers_methods_is_this_one(adaptor):
    stated = problem(right=lambda u, x: u - 1)
    solution = sf.solve(stated, adaptor=adaptor, tol=1e-10)
    seen = assess(stated, solution.approximation, 42)
    assert solution.error_estimate == seen.estimate.value

    def size(x):
        return np.abs(-solution.d("x", 2)(x) + 2 * solution(x) - x)

    largest = max(1.0, np.abs(solution(np.linspace(0, 1, 999))).max())
    total = (integrated(size) + seen.mismatch) / largest
    assert seen.estimate.value == pytest.approx(total, rel=0.05)


def test_check_points_lie_between_centres_two_to_a_gap():
    centres = np.sort(np.random.default_rng(0).random(40))
    basis = isotropic(centres[:, None], np.full(40, 0.1))
    approximation = Approximation(("x",), {"u": basis}, {"u": np.ones(40)})
    points, volumes = check_points(problem(), approximation, 0)
    x = np.sort(points[:, 0])
    edges = np.union1d(np.linspace(0, 1, 501), centres)
    assert len(x) == 2 * (len(edges) - 1)
    counts = np.histogram(x, edges)[0]
    assert np.all(counts == 2)
    assert np.abs(x[:, None] - centres).min() > 0.2 * np.diff(edges).min()
    assert volumes.sum() == pytest.approx(1.0, rel=1e-12)
    # The two-point Gauss rule is exact for cubics, whatever the gaps.
    assert volumes @ points[:, 0] ** 3 == pytest.approx(0.25, rel=1e-13)
    assert volumes @ points[:, 0] ** 4 == pytest.approx(0.2, rel=1e-9)


def test_kernels_crowded_between_rows_are_seen():
    """Ten kernels within 1e-5: a uniform grid of a thousand points sees none of them."""
    centres = 0.123456 + 1e-6 * np.arange(10)
    basis = isotropic(centres[:, None], np.full(10, 2e-6))
    approximation = Approximation(("x",), {"u": basis}, {"u": np.ones(10)})
    assert np.all(approximation.values("u", np.linspace(0, 1, 1001)[:, None], (0,)) == 0)
    seen = assess(problem(), approximation)
    there = np.abs(seen.points[:, 0] - 0.12346) < 1e-5
    assert there.sum() >= 18
    # |u''| integrates to the swings of the slope, about 2 max |u'| = 4e6 over max |u| = 5.
    assert seen.estimate.value > 1e5


def test_centres_outside_the_domain_give_no_points_outside():
    basis = isotropic(np.array([[-0.5], [0.3], [1.7]]), np.ones(3))
    approximation = Approximation(("x",), {"u": basis}, {"u": np.ones(3)})
    points, volumes = check_points(problem(), approximation, 0)
    assert points.min() > 0
    assert points.max() < 1
    assert volumes.sum() == pytest.approx(1.0, rel=1e-12)


def test_two_dimensions_are_sampled_evenly():
    stated = sf.Problem(
        sf.Box((0, 2), (0, 1)),
        lambda u, x, y: u.dxx + u.dyy - 1,
        boundary=lambda u, x, y: u - x,
    )
    basis = isotropic(np.array([[1.0, 0.5]]), np.array([1.0]))
    flat = Approximation(("x", "y"), {"u": basis}, {"u": np.zeros(1)})
    seen = assess(stated, flat, seed=3)
    assert seen.points.shape == (502, 2)
    assert seen.volumes.sum() == pytest.approx(2.0)
    np.testing.assert_array_equal(seen.residual, 1.0)
    # u = 0 misses u = x by two on the right.
    assert seen.mismatch == pytest.approx(2.0, rel=0.02)
    assert seen.estimate.value == pytest.approx(2.0 + seen.mismatch)
    assert seen.residual_rms == pytest.approx(1.0)
    np.testing.assert_array_equal(seen.points, assess(stated, flat, seed=3).points)
    assert not np.array_equal(seen.points, assess(stated, flat, seed=4).points)


def test_the_worst_equation_of_a_system_counts():
    stated = sf.Problem(
        sf.Interval(0, 1),
        lambda u, v, x: (u.dx - 3, v.dx + 7 * x),
        left=lambda u, v, x: (u, v - 9),
    )
    basis = isotropic(np.array([[0.5]]), np.array([1.0]))
    zero = {"u": np.zeros(1), "v": np.zeros(1)}
    seen = assess(stated, Approximation(("x",), {"u": basis, "v": basis}, zero))
    np.testing.assert_allclose(seen.residual, np.maximum(3.0, 7 * seen.points[:, 0]))
    assert seen.mismatch == 9.0
