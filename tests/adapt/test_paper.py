"""Algorithm 1: densities, fits, hybrid draws, widths."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.paper import residual_density
from sharpfront.adapt.uniform import face_count
from sharpfront.errors import MixtureError, ProblemError

NU = 1e-4


def layer(left=0.0, right=1.0):
    return sf.Problem(
        sf.Interval(left, right),
        lambda u, x: -NU * u.dxx + u.dx,
        left=lambda u, x: u,
        right=lambda u, x: u - 1,
    )


@pytest.mark.parametrize("power", ["log", "squared"])
def test_the_density_integrates_to_one(power):
    residual = np.array([0.0, -3.0, 1e8, 2.0])
    volumes = np.array([0.1, 0.2, 0.3, 0.4])
    density = residual_density(residual, volumes, power)
    assert np.isclose(np.sum(density * volumes), 1, rtol=1e-14)


def test_the_density_is_the_logarithm_or_the_square():
    residual, volumes = np.array([1.0, -7.0]), np.array([0.5, 0.5])
    log = residual_density(residual, volumes)
    assert np.isclose(log[1] / log[0], np.log(8) / np.log(2))
    squared = residual_density(residual, volumes, "squared")
    assert np.isclose(squared[1] / squared[0], 49)


@pytest.mark.parametrize("residual", [np.zeros(3), np.array([1.0, np.nan, 2.0])])
def test_no_density_from_nothing(residual):
    with pytest.raises(MixtureError, match="defines no density"):
        residual_density(residual, np.ones(3))


def test_widths_are_scaled_distances_to_the_second_neighbour():
    adaptor = sf.Paper(scaling=1.5, epsilon=1e-3)
    centres = np.array([[0.0], [0.1], [0.3], [0.9]])
    assert np.allclose(adaptor.widths(centres), 1.5 * np.array([0.3, 0.2, 0.3, 0.8]) + 1e-3)


@pytest.mark.parametrize("fit", ["samples", "weighted"])
@pytest.mark.parametrize(("left", "right"), [(0.0, 1.0), (-1e-3, 1e-3), (0.0, 1e4)])
def test_a_mixture_finds_the_density_on_any_scale(fit, left, right):
    domain = sf.Interval(left, right)
    size = right - left
    points = domain.sample(1500, "grid")
    z = (points[:, 0] - left) / size
    density = np.exp(-0.5 * ((z - 0.3) / 0.02) ** 2) + np.exp(-0.5 * ((z - 0.8) / 0.05) ** 2)
    adaptor = sf.Paper(components=2, fit=fit)
    mixture = adaptor.fit_mixture(points, density, domain, np.random.default_rng(1))
    means = np.sort((mixture.means[:, 0] - left) / size)
    assert np.allclose(means, [0.3, 0.8], atol=0.01)
    deviations = np.sqrt(mixture.covariances[np.argsort(mixture.means[:, 0]), 0, 0]) / size
    assert np.allclose(deviations, [0.02, 0.05], rtol=0.1)


@pytest.mark.parametrize(
    ("outside", "inside_only"), [("redraw", True), ("clip", True), ("keep", False)]
)
def test_draws_outside_are_treated_as_asked(outside, inside_only):
    problem = layer()
    adaptor = sf.Paper(kernels=100, outside=outside)
    state = adaptor.start(problem, 1e-8, 3)
    mixture = adaptor._fit_samples(np.full((50, 1), 0.999) + 1e-3 * np.arange(50)[:, None] / 50, 0)
    wide = type(mixture)(mixture.weights, mixture.means, mixture.covariances + 0.5)
    basis = adaptor.draw_kernels(state, wide, np.random.default_rng(0))
    inside = problem.domain.contains(basis.centres)
    assert basis.size == 100
    assert inside.all() == inside_only
    at_ends = np.isin(basis.centres[:, 0], [0.0, 1.0])
    assert at_ends.any() == (outside == "clip")


def test_the_hybrid_ratio_splits_the_centres():
    problem = layer()
    adaptor = sf.Paper(kernels=200, ratio=0.7, components=1)
    state = adaptor.start(problem, 1e-8, 3)
    spike = adaptor._fit_samples(0.5 + 1e-9 * np.arange(20.0)[:, None], 0)
    tight = type(spike)(spike.weights, spike.means, spike.covariances * 0 + 1e-12)
    basis = adaptor.draw_kernels(state, tight, np.random.default_rng(0))
    near = np.abs(basis.centres[:, 0] - 0.5) < 1e-4
    assert near.sum() in (140, 141)


def test_raw_squares_collapse_the_mixture_and_logarithms_do_not():
    # A residual that rises over four orders of magnitude towards the right end.
    domain = layer().domain
    points = domain.sample(1500, "grid")
    residual = 1 + 1e4 * np.exp((points[:, 0] - 1) / 0.02)
    shares = {}
    for power in ("log", "squared"):
        density = residual_density(residual, np.full(1500, 1 / 1500), power)
        adaptor = sf.Paper(fit="weighted", components=4)
        mixture = adaptor.fit_mixture(points, density, domain, np.random.default_rng(0))
        shares[power] = mixture.mass(0.9, 1) / mixture.mass(0, 1)
    assert shares["squared"] > 0.99
    assert shares["log"] < 0.5


def test_the_single_baseline_is_one_half_for_every_seed():
    x = np.linspace(0, 1, 1502)[1:-1]
    for seed in (42, 0, 1):
        solution = sf.solve(layer(), adaptor=sf.Uniform(), seed=seed)
        rmse = np.sqrt(np.mean((solution(x) - np.exp((x - 1) / NU)) ** 2))
        assert abs(rmse - 0.5) < 0.01
        assert np.max(np.abs(solution(x[100:-100]) - 0.5)) < 0.02


def test_rows_and_faces_follow_the_settings():
    adaptor = sf.Paper(kernels=20, collocation=64, penalty=9.0)
    problem = sf.Problem(
        sf.Box((0, 1), (0, 2)), lambda u, x, y: sf.laplacian(u) - 1, boundary=lambda u, x, y: u
    )
    proposal = adaptor.propose(adaptor.start(problem, 1e-8, 0))
    assert [len(r.points) for r in proposal.rows] == [64, 8, 8, 8, 8]
    assert [r.weight for r in proposal.rows] == [1, 9, 9, 9, 9]
    assert face_count(1500, 1) == 1
    adapted = adaptor.start(problem, 1e-8, 0)
    assert np.array_equal(adapted.collocation, proposal.rows[0].points)


def test_two_dimensions_adapt():
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -1e-2 * sf.laplacian(u) + u.dx - 1,
        boundary=lambda u, x, y: u,
    )
    adaptor = sf.Paper(kernels=80, components=4, iterations=2, collocation=400, scaling=2)
    solution = sf.solve(problem, adaptor=adaptor)
    assert len(solution.history) == 3
    assert solution.history[-1].mixture.means.shape == (4, 2)
    assert not solution.converged


def test_conditions_at_points_make_rows_and_others_are_refused():
    problem = sf.Problem(
        sf.Interval(0, 1), lambda u, x: u.dx - 1, conditions=[sf.at(0.5, lambda u, x: u - 2)]
    )
    adaptor = sf.Uniform(kernels=20, overlap=5, collocation=100)
    solution = sf.solve(problem, adaptor=adaptor)
    assert abs(solution(0.5) - 2) < 1e-4
    assert abs(solution(0.9) - 2.4) < 1e-3
    integral = sf.Problem(
        sf.Interval(0, 1), lambda u, x: u.dx - 1, conditions=[sf.integral(lambda u, x: u)]
    )
    periodic = sf.Problem(sf.Interval(0, 1, periodic=True), lambda u, x: u.dxx - u - 1)
    for refused in (integral, periodic):
        with pytest.raises(ProblemError, match="need the default adaptor"):
            sf.solve(refused, adaptor=sf.Paper())


@pytest.mark.parametrize("adaptor", [sf.Uniform(), sf.Paper()])
@pytest.mark.parametrize("joined", [("x",), ("y",), ("x", "y"), ("z",), ("x", "y", "z")])
def test_ends_that_are_joined_are_refused_along_any_axis(joined, adaptor):
    sides = [(0, 1)] * (3 if "z" in joined else 2)
    box = sf.Box(*sides, periodic=joined)
    held = dict.fromkeys(box.parts, "u = 0")
    problem = sf.Problem(box, "laplacian(u) - u = 1", **held)
    with pytest.raises(ProblemError, match="need the default adaptor"):
        sf.solve(problem, adaptor=adaptor)
