"""The mixture on bins: found again from its histogram, whatever its scale."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from sharpfront.errors import MixtureError
from sharpfront.mixture import Mixture, fit_bins

PROPERTY = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def histogram(edges, weights, means, deviations):
    """Exact masses of a mixture in the bins."""
    z = (edges[:, None] - np.array(means)) / np.array(deviations)
    return np.diff(ndtr(z), axis=0) @ np.array(weights)


def described(mixture):
    """Weights, means and deviations from left to right."""
    order = np.argsort(mixture.means[:, 0])
    deviations = np.sqrt(mixture.covariances[order, 0, 0])
    return mixture.weights[order], mixture.means[order, 0], deviations


def graded(low, high, around, least):
    """Edges that grade into places, as the discovery grid does."""
    reach = np.geomspace(least, high - low, 160)
    parts = [np.concatenate([p - reach, p + reach]) for p in around]
    edges = np.concatenate([*parts, np.linspace(low, high, 40)])
    inside = edges[(edges > low) & (edges < high)]
    return np.unique(np.concatenate([[low, high], inside]))


def test_one_gaussian_is_found_again():
    edges = np.linspace(0, 1, 401)
    mixture = fit_bins(edges, histogram(edges, [1.0], [0.37], [0.02]), 1)
    weights, means, deviations = described(mixture)
    np.testing.assert_allclose(weights, 1.0)
    assert means[0] == pytest.approx(0.37, abs=1e-4)
    # Bins of 1/400 add a twelfth of their square to the variance.
    assert deviations[0] == pytest.approx(np.hypot(0.02, 1 / 400 / np.sqrt(6)), rel=0.01)


def test_components_far_apart_are_found_again():
    edges = np.linspace(-1, 1, 2001)
    truth = ([0.2, 0.5, 0.3], [-0.6, 0.1, 0.7], [0.01, 0.03, 0.05])
    weights, means, deviations = described(fit_bins(edges, histogram(edges, *truth), 3))
    np.testing.assert_allclose(means, truth[1], atol=1e-3)
    np.testing.assert_allclose(weights, truth[0], rtol=0.03)
    np.testing.assert_allclose(deviations, truth[2], rtol=0.05)


def test_the_fit_does_not_lose_likelihood_to_more_components():
    edges = np.linspace(0, 1, 801)
    masses = histogram(edges, [0.5, 0.5], [0.3, 0.45], [0.03, 0.03])
    middles = 0.5 * (edges[1:] + edges[:-1])
    gain = [masses @ fit_bins(edges, masses, k).log_density(middles) for k in (1, 2, 4)]
    assert gain[1] > gain[0] + 0.1
    assert gain[2] > gain[0]


@pytest.mark.parametrize("width", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("end", [0.0, 1.0])
def test_a_layer_beside_an_end_keeps_its_width(width, end):
    """Half of the monitor within an exponential layer, half spread over the interval."""
    edges = graded(0.0, 1.0, [end], 0.02 * width)
    gap = np.abs(edges - end) / width
    masses = np.abs(np.diff(np.exp(-gap))) + 0.02 * np.diff(edges)
    weights, means, deviations = described(fit_bins(edges, masses, 4))
    narrow = int(np.argmin(deviations))
    assert 0.1 * width < deviations[narrow] < 2 * width
    assert abs(means[narrow] - end) < 3 * width
    assert weights[deviations < 5 * width].sum() > 0.7


def test_stray_mass_does_not_widen_a_component():
    edges = np.linspace(0, 1, 2001)
    layer = histogram(edges, [1.0], [0.5], [0.004])
    clean = described(fit_bins(edges, layer, 1))
    stray = layer.copy()
    stray[100] += 0.01
    stray[1900] += 0.01
    _, means, deviations = described(fit_bins(edges, stray, 1))
    assert means[0] == pytest.approx(0.5, abs=1e-4)
    assert deviations[0] == pytest.approx(clean[2][0], rel=0.02)
    # Without a background the moments would be those of everything.
    middles = 0.5 * (edges[1:] + edges[:-1])
    share = stray / stray.sum()
    assert np.sqrt(share @ (middles - 0.5) ** 2) > 10 * deviations[0]


def test_an_even_floor_does_not_widen_a_component():
    edges = np.linspace(0, 1, 2001)
    masses = histogram(edges, [1.0], [0.5], [0.004]) + 0.02 * np.diff(edges)
    _, means, deviations = described(fit_bins(edges, masses, 1))
    assert means[0] == pytest.approx(0.5, abs=1e-3)
    assert deviations[0] == pytest.approx(0.004, rel=0.1)


def test_a_component_is_not_narrower_than_its_bin():
    """One bin holds everything: its width is all that is known."""
    edges = np.array([0.0, 0.3, 0.5, 1.0])
    mixture = fit_bins(edges, np.array([0.0, 2.0, 0.0]), 3)
    assert mixture.components == 1
    assert mixture.means[0, 0] == pytest.approx(0.4)
    assert np.sqrt(mixture.covariances[0, 0, 0]) == pytest.approx(0.2 / np.sqrt(12), rel=1e-6)


def test_no_more_components_than_asked_and_no_more_than_there_are():
    edges = np.linspace(0, 1, 201)
    four = histogram(edges, [0.25] * 4, [0.1, 0.35, 0.6, 0.85], [0.01] * 4)
    for components in (1, 2, 3, 4):
        assert fit_bins(edges, four, components).components == components
    block = np.where((edges[1:] > 0.4) & (edges[1:] < 0.6), 1.0, 0.0)
    assert fit_bins(edges, block, 8).components == 1


@pytest.mark.parametrize("stray, components", [(0.2, 1), (0.8, 2)])
def test_a_small_remainder_gets_no_component_of_its_own(stray, components):
    """Three per cent of the mass may be left over."""
    edges, masses = np.linspace(0, 1, 201), np.zeros(200)
    masses[50:60], masses[150] = 1.0, stray
    assert fit_bins(edges, masses, 4).components == components


def test_deterministic_and_harmless():
    edges = np.linspace(0, 1, 301)
    masses = histogram(edges, [0.4, 0.6], [0.2, 0.8], [0.02, 0.1])
    before = edges.copy(), masses.copy()
    one, other = (fit_bins(edges, masses, 5) for _ in range(2))
    assert isinstance(one, Mixture)
    for name in ("weights", "means", "covariances"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_array_equal(edges, before[0])
    np.testing.assert_array_equal(masses, before[1])


EDGES = np.array([0.0, 0.25, 0.5, 1.0])


@pytest.mark.parametrize(
    "edges, masses",
    [
        (EDGES, np.zeros(3)),
        (EDGES, np.array([1.0, -1e-9, 1.0])),
        (EDGES, np.array([1.0, np.nan, 1.0])),
        (EDGES, np.array([1.0, np.inf, 1.0])),
        (EDGES[::-1], np.ones(3)),
        (np.array([0.0, 0.5, 0.5, 1.0]), np.ones(3)),
        (np.array([0.0, np.nan, 0.5, 1.0]), np.ones(3)),
    ],
    ids=["nothing", "negative", "nan", "infinite", "backwards", "empty bin", "nan edge"],
)
def test_bad_bins_are_refused(edges, masses):
    with pytest.raises(MixtureError, match="increasing edges"):
        fit_bins(edges, masses, 2)


@pytest.mark.parametrize("masses, components", [(np.ones(4), 2), (np.ones(2), 2), (np.ones(3), 0)])
def test_bins_and_masses_that_do_not_fit_are_refused(masses, components):
    with pytest.raises(MixtureError, match="one mass for each of 3 bins and a component"):
        fit_bins(EDGES, masses, components)


@st.composite
def histograms(draw):
    widths = np.array(draw(st.lists(st.floats(-3, 0), min_size=3, max_size=60)))
    masses = draw(
        st.lists(st.floats(0, 1), min_size=len(widths), max_size=len(widths)).filter(
            lambda m: sum(m) > 0.1
        )
    )
    return np.append(0.0, np.cumsum(10.0**widths)), np.array(masses)


@PROPERTY
@given(histograms(), st.integers(-30, 30), st.integers(-30, 30), st.integers(1, 6))
def test_scales_with_the_line_and_not_with_the_masses(drawn, length, mass, components):
    """Powers of two, so that nothing rounds differently."""
    edges, masses = drawn
    plain = fit_bins(edges, masses, components)
    scaled = fit_bins(2.0**length * edges, 2.0**mass * masses, components)
    np.testing.assert_allclose(scaled.weights, plain.weights, rtol=1e-9)
    np.testing.assert_allclose(scaled.means, 2.0**length * plain.means, rtol=1e-9)
    np.testing.assert_allclose(scaled.covariances, 4.0**length * plain.covariances, rtol=1e-9)


@PROPERTY
@given(histograms(), st.integers(1, 6))
def test_any_histogram_gives_a_mixture_of_its_own_size(drawn, components):
    edges, masses = drawn
    mixture = fit_bins(edges, masses, components)
    span = edges[-1] - edges[0]
    assert 1 <= mixture.components <= components
    assert mixture.weights.sum() == pytest.approx(1.0)
    assert np.all((mixture.means >= edges[0]) & (mixture.means <= edges[-1]))
    deviations = np.sqrt(mixture.covariances[:, 0, 0])
    assert np.all(deviations > 0)
    assert np.all(deviations <= span)


@PROPERTY
@given(histograms(), st.integers(1, 6))
def test_turned_round_it_is_the_same_mixture(drawn, components):
    edges, masses = drawn
    # Equal densities would let the order of the bins decide.
    masses = masses * (1 + 1e-3 * np.arange(len(masses)) ** 1.5)
    plain = described(fit_bins(edges, masses, components))
    turned = described(fit_bins(-edges[::-1], masses[::-1].copy(), components))
    density = masses / np.diff(edges)
    if len(np.unique(density.round(9))) < len(density):
        return
    for one, other, sign in zip(plain, turned, (1, -1, 1), strict=True):
        np.testing.assert_allclose(one, sign * other[::-1], rtol=1e-6, atol=1e-9 * edges[-1])
