"""Mixtures: what they evaluate to, how they draw, and the weighted EM that fits them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lazy import Lazy

from sharpfront.errors import MixtureError
from sharpfront.mixture import Mixture, fit
from sharpfront.mixture.em import State, _centres, begun, improved
from sharpfront.mixture.model import expect

stats = Lazy("scipy.stats")
property_test = settings(max_examples=60, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)


def some_mixture(components, dimension, seed=0, spread=3.0):
    rng = np.random.default_rng(seed)
    roots = 0.3 * rng.standard_normal((components, dimension, dimension)) + np.eye(dimension)
    weights = rng.random(components) + 0.2
    means = spread * rng.standard_normal((components, dimension))
    return Mixture(weights / weights.sum(), means, roots @ roots.swapaxes(1, 2))


def some_data(n, dimension, seed=0):
    x = some_mixture(3, dimension, seed, spread=1.5).draw(n, seed)
    return x, np.random.default_rng(seed).random(n) + 0.05


def textbook_step(x, w, mixture):
    """One EM iteration as the paper prints it, point by point, and L of the old mixture."""
    components = mixture.components
    q, log_likelihood = np.empty((len(x), components)), 0.0
    for i, point in enumerate(x):
        joint = [
            mixture.weights[k]
            * stats.multivariate_normal.pdf(point, mixture.means[k], mixture.covariances[k])
            for k in range(components)
        ]
        q[i] = np.array(joint) / sum(joint)
        log_likelihood += w[i] * np.log(sum(joint))
    mass = [sum(w[i] * q[i, k] for i in range(len(x))) for k in range(components)]
    means, covariances = [], []
    for k in range(components):
        mean = sum(w[i] * q[i, k] * x[i] for i in range(len(x))) / mass[k]
        outer = sum(w[i] * q[i, k] * np.outer(x[i] - mean, x[i] - mean) for i in range(len(x)))
        means.append(mean)
        covariances.append(outer / mass[k])
    return Mixture(np.array(mass) / sum(w), means, covariances), log_likelihood / sum(w)


def fit_from(start, x, w, iterations, floor=0.0):
    """Return a mixture after so many iterations from a start, and L of each before."""
    x, state = np.reshape(x, (len(x), -1)), State(start.weights, start.means, start.covariances)
    levels = []
    for _ in range(iterations):
        state, level = improved(x, np.asarray(w) / np.sum(w), state, floor)
        levels.append(level)
    return Mixture(*state), levels


def responsibilities(mixture, x):
    x = np.reshape(x, (len(x), -1))
    roots = np.linalg.cholesky(mixture.covariances)
    return expect(x.T - mixture.means[:, :, None], mixture.weights, roots)[0].T


def assert_same(this, that, rtol=1e-8):
    np.testing.assert_allclose(this.weights, that.weights, rtol=rtol, atol=rtol)
    sd = np.sqrt(np.diagonal(that.covariances, axis1=1, axis2=2))
    np.testing.assert_array_less(np.abs(this.means - that.means), rtol * (sd + np.abs(that.means)))
    scale = sd[:, :, None] * sd[:, None, :]
    np.testing.assert_array_less(np.abs(this.covariances - that.covariances), rtol * scale)


# --- the mixture itself ---------------------------------------------------------------------


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_density_and_responsibilities_match_scipy(dimension):
    mixture = some_mixture(4, dimension)
    x = 3 * np.random.default_rng(1).standard_normal((50, dimension))
    joint = np.stack(
        [
            w * stats.multivariate_normal.pdf(x, m, c)
            for w, m, c in zip(mixture.weights, mixture.means, mixture.covariances, strict=True)
        ],
        axis=1,
    )
    np.testing.assert_allclose(mixture.density(x), joint.sum(axis=1), rtol=1e-11)
    np.testing.assert_allclose(mixture.log_density(x), np.log(joint.sum(axis=1)), rtol=1e-11)
    expected = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(responsibilities(mixture, x), expected, rtol=1e-10, atol=1e-14)


def test_far_away_the_logarithm_and_the_responsibilities_stay_exact():
    mixture = Mixture([0.25, 0.75], [0.0, 1.0], [1.0, 1.0])
    assert mixture.log_density(1e3)[0] == pytest.approx(
        np.log(0.75) - 0.5 * np.log(2 * np.pi) - 0.5 * 999.0**2, rel=1e-14
    )
    assert mixture.density(1e3)[0] == 0
    np.testing.assert_allclose(responsibilities(mixture, [-1e3, 1e3]), [[1, 0], [0, 1]])


def test_arrays_are_validated_copies_that_cannot_be_written():
    weights = np.array([0.5, 0.5])
    mixture = Mixture(weights, [0.0, 1.0], [1.0, 4.0])
    weights[0] = 7
    assert (mixture.components, mixture.dimension) == (2, 1)
    assert mixture.weights.tolist() == [0.5, 0.5]
    assert mixture.means.tolist() == [[0.0], [1.0]]
    assert mixture.covariances.tolist() == [[[1.0]], [[4.0]]]
    with pytest.raises(ValueError, match="read-only"):
        mixture.means[0] = 1


@pytest.mark.parametrize(
    ("weights", "means", "covariances", "message"),
    [
        ([0.5, 0.4], [0, 1], [1, 1], "sum 1; try weights / weights.sum"),
        ([1.5, -0.5], [0, 1], [1, 1], "none negative"),
        ([np.nan, 0.5], [0, 1], [1, 1], "none negative"),
        ([1.0], [0, 1], [1, 1], r"got weights \(1,\), means \(2, 1\)"),
        ([], [], [], "K and d at least 1"),
        ([1.0], [[0, 1]], [[[1.0]]], r"expected \(K,\), \(K, d\) and \(K, d, d\)"),
        ([1.0], [np.nan], [1], "finite means"),
        ([1.0], [0], [np.inf], "positive definite"),
        ([1.0], [0], [0.0], "positive definite"),
        ([1.0], [0], [-1.0], "positive definite"),
        ([1.0], [[0, 0]], [[[1.0, 2.0], [2.0, 1.0]]], "positive definite"),
        ([1.0], [[0, 0]], [[[1.0, 0.5], [0.0, 1.0]]], "symmetric"),
    ],
)
def test_what_is_no_mixture_is_refused(weights, means, covariances, message):
    with pytest.raises(MixtureError, match=message):
        Mixture(weights, means, covariances)


def test_points_of_another_dimension_or_not_finite_are_refused():
    mixture = some_mixture(2, 2)
    with pytest.raises(MixtureError, match=r"got points of shape \(3,\), expected \(n, 2\)"):
        mixture.density([1.0, 2.0, 3.0])
    with pytest.raises(MixtureError, match="1 entries that are not finite"):
        mixture.density([[1.0, np.nan]])


def test_random_draws_follow_the_mixture_and_the_seed():
    mixture = some_mixture(3, 2, seed=2)
    x = mixture.draw(40_000, seed=5)
    assert np.array_equal(x, mixture.draw(40_000, seed=5))
    assert not np.array_equal(x, mixture.draw(40_000, seed=6))
    mean = mixture.weights @ mixture.means
    centred = mixture.means - mean
    covariance = np.tensordot(mixture.weights, mixture.covariances, 1)
    covariance += (centred.T * mixture.weights) @ centred
    np.testing.assert_allclose(x.mean(axis=0), mean, atol=5 * np.sqrt(covariance.max() / 40_000))
    np.testing.assert_allclose(np.cov(x.T), covariance, rtol=0.05, atol=0.1)
    share = responsibilities(mixture, x).mean(axis=0)
    np.testing.assert_allclose(share, mixture.weights, atol=5 * 0.5 / np.sqrt(40_000))


@pytest.mark.parametrize("bad", [-1, 1.5])
def test_counts_and_seeds_are_checked(bad):
    mixture = some_mixture(2, 2)
    assert mixture.draw(0, 0).shape == (0, 2)
    with pytest.raises(MixtureError, match=r"got count = .* expected an integer not below 0"):
        mixture.draw(bad, 0)
    with pytest.raises(MixtureError, match="got seed"):
        mixture.draw(1, seed=bad)


def test_mass_of_intervals_keeps_its_digits_in_both_tails():
    mixture = Mixture([0.4, 0.6], [0.0, 2.0], [1.0, 0.25])
    below = [0.4 * stats.norm.cdf(x) + 0.6 * stats.norm.cdf(x, 2, 0.5) for x in (-0.3, 1.7)]
    assert mixture.mass(-0.3, 1.7) == pytest.approx(below[1] - below[0], rel=1e-13)
    assert mixture.mass(-np.inf, np.inf) == pytest.approx(1, abs=1e-15)
    assert mixture.mass(20, 30) == pytest.approx(0.4 * stats.norm.sf(20), rel=1e-12, abs=0)
    assert mixture.mass(-30, -20) == pytest.approx(0.4 * stats.norm.sf(20), rel=1e-12, abs=0)


def test_mass_is_that_of_an_interval():
    with pytest.raises(MixtureError, match="the lower one first"):
        some_mixture(2, 1).mass(1.0, 0.0)
    with pytest.raises(MixtureError, match="in 2 dimension"):
        some_mixture(2, 2).mass(0.0, 1.0)


# --- the fit against the paper, scikit-learn and itself ----------------------------------------


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_iterations_are_those_of_the_paper(dimension):
    x, w = some_data(40, dimension, seed=4)
    start = some_mixture(3, dimension, seed=9, spread=1.0)
    expected, levels = start, []
    for _ in range(3):
        expected, level = textbook_step(x, w, expected)
        levels.append(level)
    found, course = fit_from(start, x, w, 3)
    assert_same(found, expected, rtol=1e-10)
    np.testing.assert_allclose(course, levels, rtol=1e-12)


def scikit_learn(x, start, iterations):
    # Half a second, which no other test needs.
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    peer = GaussianMixture(
        start.components,
        tol=0,
        reg_covar=0,
        max_iter=iterations,
        weights_init=start.weights,
        means_init=start.means,
        precisions_init=np.linalg.inv(start.covariances),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        peer.fit(x)
    return Mixture(peer.weights_, peer.means_, peer.covariances_)


@pytest.mark.parametrize("dimension", [1, 2, 4])
def test_unit_weights_agree_with_scikit_learn(dimension):
    x, _ = some_data(400, dimension, seed=dimension)
    start = some_mixture(3, dimension, seed=7, spread=1.0)
    found, _ = fit_from(start, x, np.ones(400), 25)
    assert_same(found, scikit_learn(x, start, 25), rtol=1e-8)


def test_integer_weights_agree_with_scikit_learn_on_repeated_data():
    x, _ = some_data(150, 2, seed=8)
    times = np.random.default_rng(0).integers(0, 6, 150)
    start = some_mixture(3, 2, seed=7, spread=1.0)
    found, _ = fit_from(start, x, times, 20)
    assert_same(found, scikit_learn(np.repeat(x, times, axis=0), start, 20), rtol=1e-8)


@given(seeds, st.integers(1, 3), st.floats(1e-9, 1e9), st.floats(-50, 50), st.floats(0, 1))
@property_test
def test_units_of_length_and_weight_do_not_matter(seed, dimension, scale, move, floor):
    x, w = some_data(60, dimension, seed)
    here = fit(x, w, 3, floor=0.1 + floor, seed=seed)
    there = fit(scale * (x + move), 1e-200 * w, 3, floor=scale * (0.1 + floor), seed=seed)
    moved = Mixture(there.weights, there.means / scale - move, there.covariances / scale**2)
    assert_same(moved, here, rtol=1e-6)


@given(seeds, st.integers(1, 3))
@property_test
def test_no_single_step_lowers_the_likelihood(seed, dimension):
    rng = np.random.default_rng(seed)
    x, w = rng.standard_normal((30, dimension)), rng.random(30) ** 4
    start = Mixture(*begun(x, w / w.sum(), x[:4], 0.2))
    found, levels = fit_from(start, x, w, 25, floor=0.2)
    assert np.diff(levels).min() >= -1e-13
    assert np.linalg.eigvalsh(found.covariances).min() >= 0.2**2 * (1 - 1e-9)


# --- floor, collapse and other edges ---------------------------------------------------------


def test_floor_raises_small_eigenvalues_and_nothing_else():
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    x = rng.standard_normal((200, 3)) * [1.0, 0.1, 1e-3] @ turn.T
    sample = np.cov(x.T, bias=True)
    values, vectors = np.linalg.eigh(sample)
    expected = vectors * np.maximum(values, 0.3**2) @ vectors.T
    mixture = fit(x, np.ones(200), 1, floor=0.3)
    np.testing.assert_allclose(mixture.covariances[0], expected, atol=1e-13)
    free = fit(x, np.ones(200), 1)
    np.testing.assert_allclose(free.covariances[0], sample, atol=1e-15)


def test_squared_residual_collapses_and_its_logarithm_does_not():
    x = np.linspace(0, 1, 1500)
    residual = np.exp(-(1 - x) / 1e-4) / 1e-4 + 1
    squared = fit(x, residual**2, 8)
    spacing = x[1] - x[0]
    assert squared.mass(1 - spacing / 2, np.inf) > 0.999
    narrowest = np.sqrt(squared.covariances[squared.weights.argmax(), 0, 0])
    assert narrowest == pytest.approx(64 * np.finfo(float).eps, rel=1e-6)
    assert fit(x, np.log1p(residual), 8).mass(0, 0.5) > 0.1
    held = fit(x, residual**2, 8, floor=2 * spacing)
    assert np.sqrt(held.covariances.min()) == pytest.approx(2 * spacing, rel=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e-6])
def test_features_of_width_1e_8_are_found(scale):
    rng = np.random.default_rng(3)
    layer = 0.75 + 1e-8 * rng.standard_normal(500)
    x = np.concatenate([layer, np.linspace(0, 1, 500)])
    start = Mixture([0.5, 0.5], scale * np.array([0.7499, 0.5]), scale**2 * np.array([1e-7, 0.1]))
    mixture, _ = fit_from(start, scale * x, np.ones(1000), 100)
    assert mixture.means[0, 0] / scale == pytest.approx(layer.mean(), abs=1e-11)
    assert np.sqrt(mixture.covariances[0, 0, 0]) / scale == pytest.approx(layer.std(), rel=1e-3)


def test_points_on_an_oblique_line_collapse_to_rounding_only():
    x = np.linspace(0, 1, 50)[:, None] * [1.0, 1.0]
    thin, long = np.sqrt(np.linalg.eigvalsh(fit(x, np.ones(50), 1).covariances[0]))
    assert long == pytest.approx(np.sqrt(2) * x[:, 0].std(), rel=1e-12)
    assert 1e-9 * long < thin < 1e-6 * long


def test_a_component_without_points_is_dropped():
    start = Mixture([0.5, 0.5], [0.0, 1e6], [1.0, 1.0])
    mixture, _ = fit_from(start, np.linspace(-1, 1, 50), np.ones(50), 1)
    assert mixture.components == 1


def test_as_many_components_as_points_sit_on_them():
    x = np.array([0.0, 1.0, 4.0, 9.0])
    mixture = fit(x, [1, 2, 3, 4], 4, floor=1e-3)
    order = np.argsort(mixture.means[:, 0])
    np.testing.assert_allclose(mixture.means[order, 0], x, atol=1e-12)
    np.testing.assert_allclose(mixture.weights[order], [0.1, 0.2, 0.3, 0.4], rtol=1e-12)
    np.testing.assert_allclose(mixture.covariances, 1e-6, rtol=1e-12)


def test_points_of_zero_weight_do_not_matter():
    x, w = some_data(50, 2)
    extra = np.concatenate([x, 10.0 * np.ones((5, 2))])
    weights = np.concatenate([w, np.zeros(5)])
    assert_same(fit(extra, weights, 3), fit(x, w, 3), rtol=1e-12)


@pytest.mark.parametrize(
    ("points", "weights", "options", "message"),
    [
        ([0, 1], [1, np.nan], {}, "finite, none negative"),
        ([0, 1], [1, np.inf], {}, "finite, none negative"),
        ([0, 1], [1, -1], {}, "finite, none negative"),
        ([0, 1], [0, 0], {}, "not all zero"),
        ([0, 1], [1], {}, r"weights of shape \(1,\) for 2 points"),
        ([0, np.nan], [1, 1], {}, "1 entries that are not finite"),
        (np.zeros((2, 2, 2)), [1, 1], {}, r"expected finite numbers of shape \(n, d\)"),
        ([0, 1, 2], [1, 1, 1], {"components": 4}, "components = 4 for 3 points"),
        ([0, 1, 2], [1, 1, 0], {"components": 3}, "for 2 points of positive weight"),
        ([0, 1], [1, 1], {"components": 0}, "components = 0"),
        ([0, 1], [1, 1], {"components": 1.5}, "components = 1.5"),
        ([1.0], [1], {}, "one point, which has no width"),
    ],
)
def test_what_cannot_be_fitted_is_refused(points, weights, options, message):
    with pytest.raises(MixtureError, match=message):
        fit(points, weights, **({"components": 1} | options))


# --- starts ----------------------------------------------------------------------------------


def test_kmeans_start_finds_separate_clusters_and_prefers_weight():
    rng = np.random.default_rng(0)
    middles = np.array([[0.0, 0.0], [100.0, 0.0], [0.0, 100.0]])
    x = np.concatenate([c + 0.1 * rng.standard_normal((30, 2)) for c in middles])
    w = np.repeat([1.0, 2.0, 5.0], 30) / 240
    for seed in range(10):
        weights, means, shapes = begun(x, w, _centres(x, w, 3, np.random.default_rng(seed)), 0.0)
        order = np.argsort(weights)
        np.testing.assert_allclose(weights[order], [1 / 8, 2 / 8, 5 / 8], rtol=1e-12)
        expected = [x[:30].mean(axis=0), x[30:60].mean(axis=0), x[60:].mean(axis=0)]
        np.testing.assert_allclose(means[order], expected, atol=1e-12)
        sample = np.cov(x[:30].T, bias=True)
        np.testing.assert_allclose(shapes[order[0]], sample, rtol=1e-9)


def test_kmeans_centres_are_drawn_in_proportion_to_weight_and_squared_distance():
    x, w = np.array([[-1.0], [0.0], [2.0]]), np.array([0.6, 0.3, 0.1])
    rng = np.random.default_rng(1)
    first, second = np.array([_centres(x, w, 2, rng)[:, 0] for _ in range(12000)]).T
    np.testing.assert_allclose([np.mean(first == v) for v in x[:, 0]], w, atol=0.02)
    picks = second[first == 0.0]
    # 0.6 * 1^2 against 0.1 * 2^2
    np.testing.assert_allclose([np.mean(picks == v) for v in x[:, 0]], [0.6, 0, 0.4], atol=0.03)


def test_clusters_too_small_for_a_volume_begin_with_the_average_shape():
    x = np.concatenate([np.linspace(0, 1, 20), [50.0]])[:, None]
    _, means, shapes = begun(x, np.full(21, 1 / 21), x[[5, 20]], 0.0)
    assert means[1, 0] == pytest.approx(50)
    assert shapes[1, 0, 0] == pytest.approx(20 / 21 * x[:20].var(), rel=1e-9)


def test_seed_decides_the_start():
    x, w = some_data(200, 2)
    this, that, other = (fit(x, w, 4, seed=s) for s in (1, 1, 2))
    assert np.array_equal(this.means, that.means)
    assert not np.array_equal(this.means, other.means)
