"""Mixtures: what they evaluate to, how they draw, and the weighted EM that fits them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.lazy import Lazy

from sharpfront.errors import MixtureError
from sharpfront.mixture import Mixture, fit
from sharpfront.mixture.em import _distinct, _Task, checked_floor
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


def fit_from(start, x, w, iterations, tolerance=0, floor=0.0):
    """Fit from a start that is given."""
    x, w = _distinct(x, w)
    task = _Task(x, w, start.components, checked_floor(floor, x))
    state = task.with_floor(start.weights, start.means, start.covariances)
    return task.iterate(state, iterations, tolerance)


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


def assert_same_course(this, that):
    # Where nothing is left to gain, rounding decides which of the two stops first.
    n = min(len(this), len(that))
    np.testing.assert_allclose(this[:n], that[:n], rtol=1e-8, atol=1e-8)


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


def test_cdf_and_quantile_of_one_component_are_the_normal_ones():
    mixture = Mixture([1.0], [3.0], [4.0])
    p = np.array([1e-300, 1e-20, 0.01, 0.5, 0.99, 1 - 1e-12])
    np.testing.assert_allclose(mixture.quantile(p), stats.norm.ppf(p, 3, 2), rtol=1e-12)
    x = np.array([[-40.0, 3.0], [4.0, np.inf]])
    np.testing.assert_allclose(mixture.cdf(x), stats.norm.cdf(x, 3, 2), rtol=1e-12)
    assert mixture.quantile([0.0, 1.0]).tolist() == [-np.inf, np.inf]
    assert mixture.quantile(0.5).shape == mixture.cdf(0.5).shape == ()


@given(seeds, st.integers(1, 6), st.floats(-9, 0), st.sampled_from([1.0, 1e-8, 1e6]))
@property_test
def test_quantile_inverts_cdf_across_all_scales(seed, components, finest, scale):
    rng = np.random.default_rng(seed)
    sd = scale * 10 ** rng.uniform(finest, 0, components)
    weights = rng.dirichlet(np.ones(components))
    mixture = Mixture(weights, scale * rng.uniform(-1, 1, components), sd**2)
    p = (np.arange(300) + 0.5) / 300
    x = mixture.quantile(p)
    assert np.all(np.diff(x) >= 0)
    # No closer than neighbouring floating-point numbers let it be.
    allowed = 1e-14 + 4 * np.spacing(np.abs(x)) * mixture.density(x)
    assert np.all(np.abs(mixture.cdf(x) - p) <= allowed)


def test_quantile_crosses_a_gap_without_density():
    mixture = Mixture([0.5, 0.0, 0.5], [0.0, 0.3, 1.0], [1e-16, 1.0, 1e-16])
    x = mixture.quantile([0.25, 0.75])
    np.testing.assert_allclose(x, [0, 1], atol=1e-15)
    assert 0 < mixture.quantile(0.5) < 1


def test_quantile_reaches_far_into_the_tails():
    mixture = Mixture([0.3, 0.7], [0.0, 1.0], [1e-8, 4.0])
    p = 10.0 ** np.arange(-300, 0, 7)
    np.testing.assert_allclose(mixture.cdf(mixture.quantile(p)), p, rtol=1e-10)
    p = 1 - 2.0 ** -np.arange(1, 50)
    np.testing.assert_allclose(mixture.cdf(mixture.quantile(p)), p, rtol=1e-15)


def test_line_only_methods_say_so():
    with pytest.raises(MixtureError, match=r"cdf needs a mixture in one dimension, got 2"):
        some_mixture(2, 2).cdf(0.0)
    with pytest.raises(MixtureError, match="probabilities from 0 to 1"):
        some_mixture(2, 1).quantile([0.5, np.nan])
    with pytest.raises(MixtureError, match="probabilities from 0 to 1"):
        some_mixture(2, 1).quantile(1.5)


def test_mass_of_intervals_keeps_its_digits_in_both_tails():
    mixture = Mixture([0.4, 0.6], [0.0, 2.0], [1.0, 0.25])
    expected = mixture.cdf(1.7) - mixture.cdf(-0.3)
    assert mixture.mass(-0.3, 1.7) == pytest.approx(float(expected), rel=1e-13)
    assert mixture.mass(-np.inf, np.inf) == pytest.approx(1, abs=1e-15)
    assert mixture.mass(20, 30) == pytest.approx(0.4 * stats.norm.sf(20), rel=1e-12, abs=0)
    assert mixture.mass(-30, -20) == pytest.approx(0.4 * stats.norm.sf(20), rel=1e-12, abs=0)


def test_mass_of_boxes():
    straight = Mixture([1.0], [[1.0, 2.0]], [np.diag([4.0, 9.0])])
    sides = stats.norm.cdf(1) - stats.norm.cdf(-1), stats.norm.cdf(2) - stats.norm.cdf(0)
    assert straight.mass([-1, 2], [3, 8]) == pytest.approx(sides[0] * sides[1], rel=1e-13)
    for rho, shape in ((0.6, 1.0), (0.6, 1e-9)):  # the quadrant's mass does not see the scale
        oblique = np.array([[1, rho * shape], [rho * shape, shape**2]])
        quadrant = Mixture([0.5, 0.5], np.zeros((2, 2)), [oblique, np.diag([1, shape**2])])
        expected = 0.25 + np.arcsin(rho) / (4 * np.pi)
        assert quadrant.mass(0, np.inf) == pytest.approx(expected, abs=1e-9)
    with pytest.raises(MixtureError, match="lower <= upper"):
        straight.mass([0, 0], [1, -1])
    with pytest.raises(MixtureError, match=r"corners of shape \(2,\)"):
        straight.mass([0, 0, 0], [1, 1, 1])


# --- the fit against the paper, scikit-learn and itself ----------------------------------------


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_iterations_are_those_of_the_paper(dimension):
    x, w = some_data(40, dimension, seed=4)
    start = some_mixture(3, dimension, seed=9, spread=1.0)
    expected, levels = start, []
    for _ in range(3):
        expected, level = textbook_step(x, w, expected)
        levels.append(level)
    found, record = fit_from(start, x, w, 3)
    assert_same(found, expected, rtol=1e-10)
    np.testing.assert_allclose(record.log_likelihood[:3], levels, rtol=1e-12)
    last = w @ found.log_density(x) / w.sum()
    assert record.log_likelihood[3] == pytest.approx(last, rel=1e-12)
    assert (record.iterations, record.floored, record.empty) == (3, 0, 0)


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
    found, record = fit_from(start, x, np.ones(400), 25)
    assert record.iterations == 25
    assert_same(found, scikit_learn(x, start, 25), rtol=1e-8)


def test_integer_weights_agree_with_scikit_learn_on_repeated_data():
    x, _ = some_data(150, 2, seed=8)
    times = np.random.default_rng(0).integers(0, 6, 150)
    start = some_mixture(3, 2, seed=7, spread=1.0)
    found, _ = fit_from(start, x, times, 20)
    assert_same(found, scikit_learn(np.repeat(x, times, axis=0), start, 20), rtol=1e-8)


@given(seeds, st.integers(1, 3))
@property_test
def test_integer_weights_equal_repeated_data_in_any_order(seed, dimension):
    x, _ = some_data(60, dimension, seed)
    rng = np.random.default_rng(seed)
    times = rng.integers(0, 4, 60)
    repeated = rng.permutation(np.repeat(x, times, axis=0))
    options = {"floor": 0.3, "max_iterations": 8, "tolerance": 0, "seed": seed}
    weighted, record = fit(x, times, 3, **options)
    plain, other = fit(repeated, np.ones(len(repeated)), 3, **options)
    assert_same(weighted, plain, rtol=1e-7)
    assert_same_course(record.log_likelihood, other.log_likelihood)


@given(seeds, st.integers(1, 3), st.floats(1e-9, 1e9), st.floats(-50, 50), st.floats(0, 1))
@property_test
def test_units_of_length_and_weight_do_not_matter(seed, dimension, scale, move, floor):
    x, w = some_data(60, dimension, seed)
    options = {"max_iterations": 6, "tolerance": 0, "seed": seed}
    here, record = fit(x, w, 3, floor=0.1 + floor, **options)
    there, other = fit(scale * (x + move), 1e-200 * w, 3, floor=scale * (0.1 + floor), **options)
    assert_same(
        Mixture(there.weights, there.means / scale - move, there.covariances / scale**2),
        here,
        rtol=1e-6,
    )
    shift = dimension * np.log(scale)
    assert_same_course(np.add(other.log_likelihood, shift), record.log_likelihood)
    assert other.floored == record.floored


coordinates = st.floats(-4, 4).map(lambda v: round(v, 3))


@given(st.data(), st.integers(1, 3), st.sampled_from([1e-9, 0.2]))
@property_test
def test_log_likelihood_never_falls(data, dimension, floor):
    n = data.draw(st.integers(2, 25))
    x = data.draw(arrays(float, (n, dimension), elements=coordinates, fill=st.nothing()))
    w = data.draw(arrays(float, n, elements=st.floats(1e-6, 1.0)))
    components = min(data.draw(st.integers(1, 5)), len(np.unique(x, axis=0)))
    mixture, record = fit(x, w, components, floor=floor, max_iterations=40, tolerance=0)
    assert np.all(np.diff(record.log_likelihood) >= 0)
    lowest = np.linalg.eigvalsh(mixture.covariances)[:, 0]
    assert np.all(lowest >= floor**2 * (1 - 1e-9) - 1e-15)
    assert mixture.weights.sum() == pytest.approx(1, abs=1e-14)
    if floor > 0.1:  # not where a component is flat to rounding
        last = w @ mixture.log_density(x) / w.sum()
        assert record.log_likelihood[-1] == pytest.approx(last, rel=1e-9, abs=1e-9)


@given(seeds, st.integers(1, 3))
@property_test
def test_no_single_step_lowers_the_likelihood(seed, dimension):
    # fit() drops a step that rounding made fall; here every raw step is looked at.
    rng = np.random.default_rng(seed)
    x, w = _distinct(rng.standard_normal((30, dimension)), rng.random(30) ** 4)
    task = _Task(x, w, 4, checked_floor(0.2, x))
    state, levels = task.begin(rng), []
    for _ in range(25):
        posterior, offset, level = task.expect(state)
        levels.append(level)
        state = task.maximise(state, offset, w * posterior)
    assert np.diff(levels).min() >= -1e-13


# --- floor, collapse and other edges ---------------------------------------------------------


def test_floor_raises_small_eigenvalues_and_nothing_else():
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    x = rng.standard_normal((200, 3)) * [1.0, 0.1, 1e-3] @ turn.T
    sample = np.cov(x.T, bias=True)
    values, vectors = np.linalg.eigh(sample)
    expected = vectors * np.maximum(values, 0.3**2) @ vectors.T
    mixture, record = fit(x, np.ones(200), 1, floor=0.3)
    np.testing.assert_allclose(mixture.covariances[0], expected, atol=1e-13)
    assert record.floored == 1
    free, record = fit(x, np.ones(200), 1)
    np.testing.assert_allclose(free.covariances[0], sample, atol=1e-15)
    assert record.floored == 0


def test_squared_residual_collapses_and_its_logarithm_does_not():
    x = np.linspace(0, 1, 1500)
    residual = np.exp(-(1 - x) / 1e-4) / 1e-4 + 1
    squared, record = fit(x, residual**2, 8)
    spacing = x[1] - x[0]
    assert squared.mass(1 - spacing / 2, np.inf) > 0.999
    narrowest = np.sqrt(squared.covariances[squared.weights.argmax(), 0, 0])
    assert narrowest == pytest.approx(64 * np.finfo(float).eps, rel=1e-6)
    assert record.floored >= 1
    logarithm, record = fit(x, np.log1p(residual), 8)
    assert logarithm.mass(0, 0.5) > 0.1
    held, record = fit(x, residual**2, 8, floor=2 * spacing)
    assert np.sqrt(held.covariances.min()) == pytest.approx(2 * spacing, rel=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e-6])
def test_features_of_width_1e_8_are_found(scale):
    rng = np.random.default_rng(3)
    layer = 0.75 + 1e-8 * rng.standard_normal(500)
    x = np.concatenate([layer, np.linspace(0, 1, 500)])
    start = Mixture([0.5, 0.5], scale * np.array([0.7499, 0.5]), scale**2 * np.array([1e-7, 0.1]))
    mixture, record = fit_from(start, scale * x, np.ones(1000), 500, tolerance=1e-6)
    assert record.converged
    assert record.floored == 0
    assert mixture.means[0, 0] / scale == pytest.approx(layer.mean(), abs=1e-11)
    assert np.sqrt(mixture.covariances[0, 0, 0]) / scale == pytest.approx(layer.std(), rel=1e-3)


def test_a_thin_layer_along_an_axis_keeps_its_width_in_two_dimensions():
    rng = np.random.default_rng(0)
    x = rng.random((400, 2)) * [1e-9, 1.0]
    mixture, record = fit(x, np.ones(400), 1)
    np.testing.assert_allclose(mixture.covariances[0], np.cov(x.T, bias=True), rtol=1e-9)
    assert record.floored == 0
    flat, record = fit(x * [0, 1], np.ones(400), 1, floor=1e-10)
    assert flat.covariances[0, 0, 0] == pytest.approx(1e-20, rel=1e-12)
    assert record.floored == 1


def test_points_on_an_oblique_line_collapse_to_rounding_only():
    x = np.linspace(0, 1, 50)[:, None] * [1.0, 1.0]
    mixture, record = fit(x, np.ones(50), 1)
    thin, long = np.sqrt(np.linalg.eigvalsh(mixture.covariances[0]))
    assert long == pytest.approx(np.sqrt(2) * x[:, 0].std(), rel=1e-12)
    assert 1e-9 * long < thin < 1e-6 * long
    assert record.floored == 1


def test_a_single_point_takes_the_width_of_the_floor():
    for point in ([0.0], [3.0], [[1.0, 2.0]]):
        mixture, record = fit(point, [2.0], 1, floor=0.25)
        assert mixture.means.ravel().tolist() == np.ravel(point).tolist()
        np.testing.assert_array_equal(
            mixture.covariances[0],
            0.25**2 * np.eye(np.shape(point)[-1] if np.ndim(point) == 2 else 1),
        )
        assert (record.floored, record.converged) == (1, True)
        with pytest.raises(MixtureError, match=r"single point .* positive floor"):
            fit(point, [2.0], 1)
    with pytest.raises(MixtureError, match="single point"):
        fit([1.0, 1.0, 2.0], [1.0, 1.0, 0.0], 1)


def test_as_many_components_as_points_sit_on_them():
    x = np.array([0.0, 1.0, 4.0, 9.0])
    mixture, _ = fit(x, [1, 2, 3, 4], 4, floor=1e-3)
    order = np.argsort(mixture.means[:, 0])
    np.testing.assert_allclose(mixture.means[order, 0], x, atol=1e-12)
    np.testing.assert_allclose(mixture.weights[order], [0.1, 0.2, 0.3, 0.4], rtol=1e-12)
    np.testing.assert_allclose(mixture.covariances, 1e-6, rtol=1e-12)


def test_points_of_zero_weight_do_not_matter():
    x, w = some_data(50, 2)
    extra = np.concatenate([x, 1e9 * np.ones((5, 2))])
    weights = np.concatenate([w, np.zeros(5)])
    this, _ = fit(extra, weights, 3)
    that, _ = fit(x, w, 3)
    assert_same(this, that, rtol=1e-12)


@pytest.mark.parametrize(
    ("points", "weights", "options", "message"),
    [
        ([0, 1], [1, np.nan], {}, "2 weights, 1 of them not finite and 0 negative"),
        ([0, 1], [1, np.inf], {}, "1 of them not finite"),
        ([0, 1], [1, -1], {}, "0 of them not finite and 1 negative"),
        ([0, 1], [0, 0], {}, "a sum above zero"),
        ([], [], {}, "a sum above zero"),
        ([0, 1], [1], {}, r"weights of shape \(1,\) for 2 points"),
        ([0, np.nan], [1, 1], {}, "1 entries that are not finite"),
        (np.zeros((2, 2, 2)), [1, 1], {}, r"expected finite numbers of shape \(n, d\)"),
        (np.zeros((2, 0)), [1, 1], {}, r"expected finite numbers of shape \(n, d\)"),
        ([0, 1, 2], [1, 1, 1], {"components": 4}, "components = 4 for 3 distinct points"),
        ([0, 1, 1], [1, 1, 1], {"components": 3}, "for 2 distinct .* expected 1 to 2; try fewer"),
        ([0, 1, 2], [1, 1, 0], {"components": 3}, "for 2 distinct points of positive weight"),
        ([0, 1], [1, 1], {"components": 0}, "components = 0"),
        ([0, 1], [1, 1], {"components": 1.5}, "components = 1.5"),
        ([0, 1], [1, 1], {"floor": -1.0}, "got floor .* not negative"),
        ([0, 1], [1, 1], {"floor": np.nan}, "got floor .* finite"),
        ([0, 1], [1, 1], {"max_iterations": -1}, "got max_iterations = -1"),
        ([0, 1], [1, 1], {"tolerance": np.nan}, "got tolerance = nan"),
        ([0, 1], [1, 1], {"seed": -1}, "got seed = -1"),
        ([0, 1e200], [1, 1], {}, "up to 1e\\+200, .* try other units"),
        ([0, 1e-200], [1, 1], {}, "up to 1e-200, .* try other units"),
    ],
)
def test_what_cannot_be_fitted_is_refused(points, weights, options, message):
    with pytest.raises(MixtureError, match=message):
        fit(points, weights, **({"components": 1} | options))


# --- starts ----------------------------------------------------------------------------------


def test_kmeans_start_finds_separate_clusters_and_prefers_weight():
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [100.0, 0.0], [0.0, 100.0]])
    x = np.concatenate([c + 0.1 * rng.standard_normal((30, 2)) for c in centres])
    w = np.repeat([1.0, 2.0, 5.0], 30)
    for seed in range(10):
        mixture, _ = fit(x, w, 3, seed=seed, max_iterations=0)
        order = np.argsort(mixture.weights)
        np.testing.assert_allclose(mixture.weights[order], [1 / 8, 2 / 8, 5 / 8], rtol=1e-12)
        expected = [x[:30].mean(axis=0), x[30:60].mean(axis=0), x[60:].mean(axis=0)]
        np.testing.assert_allclose(mixture.means[order], expected, atol=1e-12)
        sample = np.cov(x[:30].T, bias=True)
        np.testing.assert_allclose(mixture.covariances[order[0]], sample, rtol=1e-9)


def test_kmeans_centres_are_drawn_in_proportion_to_weight_and_squared_distance():
    x, w = np.array([[-1.0], [0.0], [2.0]]), np.array([0.6, 0.3, 0.1])
    rng = np.random.default_rng(1)
    task = _Task(x, w, 2, 1.0)
    first, second = np.array([task.centres(rng)[:, 0] for _ in range(12000)]).T
    np.testing.assert_allclose([np.mean(first == v) for v in x[:, 0]], w, atol=0.02)
    picks = second[first == 0.0]
    # 0.6 * 1^2 against 0.1 * 2^2
    np.testing.assert_allclose([np.mean(picks == v) for v in x[:, 0]], [0.6, 0, 0.4], atol=0.03)


def test_clusters_too_small_for_a_volume_begin_with_the_average_shape():
    x = np.concatenate([np.linspace(0, 1, 20), [50.0]])
    mixture, record = fit(x, np.ones(21), 2, max_iterations=0)
    lone = mixture.means[:, 0].argmax()
    assert mixture.means[lone, 0] == pytest.approx(50)
    assert mixture.covariances[lone, 0, 0] == pytest.approx(20 / 21 * x[:20].var(), rel=1e-9)
    assert record.floored == 0


def test_seed_decides_the_kmeans_start():
    x, w = some_data(200, 2)
    this, that, other = (fit(x, w, 4, seed=s, max_iterations=0)[0] for s in (1, 1, 2))
    assert np.array_equal(this.means, that.means)
    assert not np.array_equal(this.means, other.means)


def test_a_fit_goes_on_where_it_was():
    x, w = some_data(100, 2)
    whole, long = fit(x, w, 3, max_iterations=12, tolerance=0)
    half, first = fit(x, w, 3, max_iterations=5, tolerance=0)
    rest, second = fit_from(half, x, w, 7)
    assert_same(rest, whole, rtol=1e-10)
    joined = first.log_likelihood + second.log_likelihood[1:]
    np.testing.assert_allclose(joined, long.log_likelihood, rtol=1e-12)
    done, record = fit(x, w, 3, max_iterations=2000)
    assert record.converged
    assert record.log_likelihood[-1] - record.log_likelihood[-2] <= 1e-6
    again, record = fit_from(done, x, w, 100, tolerance=1e-6)
    assert (record.converged, record.iterations) == (True, 1)
    assert_same(again, done, rtol=0.01)


def test_a_start_obeys_the_floor_at_once():
    start = Mixture([1.0], [0.5], [1e-6])
    mixture, record = fit_from(start, [0.0, 1.0], [1, 1], 0, floor=2.0)
    assert mixture.covariances[0, 0, 0] == 4.0
    assert record.floored == 1


def test_a_component_without_weight_is_kept_at_zero():
    mixture, record = fit([0.0, 1.0, 5.0], [1.0, 1.0, 1e-300], 3, floor=0.1)
    assert record.empty == 1
    assert mixture.weights.tolist() == pytest.approx([0.5, 0.5, 0.0], rel=1e-9)
    assert np.isfinite(mixture.means).all()
    np.testing.assert_allclose(mixture.covariances[:2, 0, 0], 0.01, rtol=1e-6)
    assert np.isfinite(mixture.log_density([0.0, 5.0, 1e3])).all()
    assert mixture.draw(1000, 0).shape == (1000, 1)


def test_huge_and_tiny_weights_are_only_ratios():
    x, w = some_data(50, 1)
    this, _ = fit(x, w, 3)
    for factor in (1e307, 1e-307):
        that, _ = fit(x, w * factor, 3)
        assert_same(that, this, rtol=1e-9)
