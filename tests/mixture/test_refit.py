"""EM that goes on from a mixture, on bins of the line and of the circle."""

import numpy as np
import pytest
from scipy.stats import norm

from sharpfront.errors import MixtureError
from sharpfront.mixture import Mixture, refit_bins, wrapped


def mixture(weights, means, deviations):
    return Mixture(np.array(weights), np.array(means), np.array(deviations) ** 2)


def masses(edges, weights, means, deviations, period=None):
    turns = [0] if period is None else [-1, 0, 1]
    out = np.zeros(len(edges) - 1)
    for p, mean, deviation in zip(weights, means, deviations, strict=True):
        for turn in turns:
            out += p * np.diff(norm.cdf((edges - mean - turn * (period or 0.0)) / deviation))
    return out


def repeated(start, edges, mass, period=None, times=12):
    for _ in range(times):
        start = refit_bins(start, edges, mass, period)
    return start


def test_components_are_found_from_nearby_in_their_order():
    edges = np.linspace(0.0, 1.0, 801)
    true = [0.7, 0.3], [0.7, 0.2], [0.03, 0.01]
    start = mixture([0.5, 0.5], [0.66, 0.22], [0.05, 0.02])
    found = repeated(start, edges, masses(edges, *true))
    assert np.allclose(found.means[:, 0], [0.7, 0.2], atol=1e-3)
    assert np.allclose(np.sqrt(found.covariances[:, 0, 0]), [0.03, 0.01], rtol=0.03)
    assert np.allclose(found.weights, [0.7, 0.3], atol=0.01)


def test_one_call_goes_most_of_the_way():
    edges = np.linspace(0.0, 1.0, 801)
    start = mixture([1.0], [0.45], [0.05])
    found = refit_bins(start, edges, masses(edges, [1.0], [0.5], [0.04]))
    assert abs(found.means[0, 0] - 0.5) < 0.005


def test_a_fit_stays_where_it_is():
    edges = np.linspace(0.0, 1.0, 2001)
    true = [0.6, 0.4], [0.3, 0.6], [0.02, 0.03]
    found = refit_bins(mixture(*true), edges, masses(edges, *true))
    assert np.allclose(found.means[:, 0], [0.3, 0.6], atol=1e-4)
    assert np.allclose(np.sqrt(found.covariances[:, 0, 0]), [0.02, 0.03], rtol=0.01)


def test_every_component_stays_even_one_without_mass():
    edges = np.linspace(0.0, 1.0, 401)
    start = mixture([0.5, 0.5], [0.3, 0.9], [0.02, 0.01])
    found = repeated(start, edges, masses(edges, [1.0], [0.3], [0.02]))
    assert found.components == 2
    assert np.isclose(found.weights.sum(), 1.0) and found.weights.min() > 1e-6
    assert abs(found.means[0, 0] - 0.3) < 1e-3
    assert np.isfinite(found.covariances).all()


@pytest.mark.parametrize("seam", [0.0, 0.37])
def test_a_component_across_the_seam_of_a_circle(seam):
    """Whatever the bins begin with, the component over their ends is found whole."""
    edges = seam + np.linspace(0.0, 2.0, 1001)
    mean = seam + 0.01
    mass = masses(edges, [1.0], [mean], [0.05], period=2.0)
    found = repeated(mixture([1.0], [seam - 0.03], [0.08]), edges, mass, period=2.0)
    assert abs(wrapped(found.means[0, 0] - mean, 2.0)) < 1e-3
    assert np.isclose(np.sqrt(found.covariances[0, 0, 0]), 0.05, rtol=0.05)
    # On a line the same bins are two halves.
    line = repeated(mixture([1.0], [seam + 0.03], [0.08]), edges, mass)
    assert not np.isclose(np.sqrt(line.covariances[0, 0, 0]), 0.05, rtol=0.05)


def test_a_component_keeps_its_turn():
    """A mean that has gone round is not thrown back: it must move continuously."""
    edges = np.linspace(0.0, 1.0, 801)
    mass = masses(edges, [1.0], [0.3], [0.02], period=1.0)
    found = refit_bins(mixture([1.0], [3.29], [0.02]), edges, mass, 1.0)
    assert abs(found.means[0, 0] - 3.3) < 1e-3


def test_wrapped_is_the_shorter_way_round():
    gap = np.array([0.1, 0.6, -0.7, 1.9])
    assert np.allclose(wrapped(gap, 1.0), [0.1, -0.4, 0.3, -0.1])
    assert wrapped(gap, None) is gap


@pytest.mark.parametrize(
    "mass", [np.ones(3), -np.ones(4), np.zeros(4), np.full(4, np.inf)], ids=str
)
def test_bad_masses_are_refused(mass):
    with pytest.raises(MixtureError):
        refit_bins(mixture([1.0], [0.5], [0.1]), np.linspace(0, 1, 5), mass)
