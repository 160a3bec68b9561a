"""Looks at the data of patches: what their functions hold, and what stands beside their points."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.bases.patch import Patch
from sharpfront.maps import AxisMap
from sharpfront.place.patches.data_probes import DataProbes, watched

SQUARE = sf.Box((0, 1), (0, 1))
WHOLE = Patch((AxisMap(0.0, 1.0),) * 2, (8, 8))


def looks_at(equation, poles=()):
    problem = sf.Problem(SQUARE, equation, boundary=lambda u, x, y: u)
    return DataProbes(problem, poles, 1e-6)


def test_a_spike_is_seen_by_the_patch_that_holds_it():
    looks = looks_at(
        lambda u, x, y: -sf.laplacian(u) - np.exp(-1e4 * ((x - 0.31) ** 2 + (y - 0.2) ** 2))
    )
    far = Patch((AxisMap(0.5, 1.0),) * 2, (8, 8))
    near = Patch((AxisMap(0.25, 0.5), AxisMap(0.0, 0.25)), (8, 8))
    tails = {patch: max(tail.max() for tail, _ in looks(patch).seen) for patch in (WHOLE, near)}
    gaps = {patch: max(gap.max() for gap in looks(patch).gaps) for patch in (WHOLE, near)}
    assert all(tails[patch] > 1.0 or gaps[patch] > 1.0 for patch in (WHOLE, near))
    assert all(tail.max() == 0.0 for tail, _ in looks(far).seen)


@pytest.mark.parametrize("many", [12, 30])
def test_a_coefficient_asks_for_functions_along_its_axis(many):
    looks = looks_at(lambda u, x, y: -sf.laplacian(u) + np.tanh(many * (x - 0.4)) * u.dx - 1)
    ((tail, wanted),) = looks(WHOLE).seen
    assert tail[0] > 1.0 and tail[1] == 0.0 and wanted[0] > 8


def test_constants_are_not_looked_at_but_about_poles():
    constant = looks_at(lambda u, x, y: -sf.laplacian(u) + u.dx - 1)
    assert not constant.forms and not constant(WHOLE).seen and not len(constant(WHOLE).places)
    about = looks_at(lambda u, x, y: -sf.laplacian(u) + u.dx - 1, poles=[(0.0, 0.0)])
    assert about(WHOLE).seen
    # A jumping source is none.
    assert looks_at(lambda u, x, y: -sf.laplacian(u) - np.where(x < 0.3, 1.0, 2.0))(WHOLE).seen


def test_places_in_tiny_boxes_are_inside():
    """At the corner (0.3, 0.4) of patches a source was asked for that is infinite there."""
    high = np.array([0.3, 0.4])
    low = high - np.array([2.8e-10, 3.7e-10])
    places = watched(low, high)
    assert np.all((places > low) & (places < high))
