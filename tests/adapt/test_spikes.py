"""Spikes of the data between the nodes of a first mesh."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.spikes import Spike, find_spikes, mark
from sharpfront.adapt.system_features import alone, system_mixtures

SQUARE = sf.Box((0, 1), (0, 1))


def with_source(source, domain=SQUARE):
    return sf.Problem(
        domain, lambda u, x, y: sf.laplacian(u) - source(x, y), boundary=lambda u, x, y: u
    )


@pytest.mark.parametrize("width", [1e-2, 1e-3, 2e-4])
def test_a_spike_of_the_source_is_climbed_to(width):
    def source(x, y):
        return np.exp(-((x - 0.3137) ** 2 + (y - 0.7241) ** 2) / width**2)

    spikes = find_spikes(with_source(source), 1.0)
    assert len(spikes) == 1
    middle = spikes[0].points.mean(axis=0)
    assert np.abs(middle - [0.3137, 0.7241]).max() < width
    assert 0.5 * width < np.ptp(spikes[0].points, axis=0).max() < 8 * width


def test_two_spikes_are_two():
    def source(x, y):
        first = np.exp(-((x - 0.2) ** 2 + (y - 0.7) ** 2) / 1e-6)
        return first + np.exp(-((x - 0.81) ** 2 + (y - 0.13) ** 2) / 1e-6)

    middles = sorted(tuple(s.points.mean(axis=0)) for s in find_spikes(with_source(source), 1.0))
    assert np.allclose(middles, [(0.2, 0.7), (0.81, 0.13)], atol=1e-3)


@pytest.mark.parametrize(
    "source",
    [
        lambda x, y: 0 * x,
        lambda x, y: np.sin(7 * x) * np.exp(y),
        lambda x, y: np.where(x < 0.4, 1.0, 0.0),
    ],
    ids=["nothing", "smooth", "a jump"],
)
def test_no_spike_where_there_is_none(source):
    assert find_spikes(with_source(source), 1.0) == ()


def rim_problem(data):
    return sf.Problem(
        SQUARE,
        lambda u, x, y: sf.laplacian(u),
        bottom=lambda u, x, y: u - data(x),
        boundary=lambda u, x, y: u,
    )


def test_a_spike_of_boundary_data_is_as_deep_as_wide():
    spikes = find_spikes(rim_problem(lambda x: np.exp(-(((x - 0.3137) / 1e-3) ** 2))), 1.0)
    assert spikes
    own = spikes[0].points
    assert np.abs(own[:, 0] - 0.3137).max() < 5e-3
    assert np.all(own[:, 1] == 0)
    assert spikes[0].depth == pytest.approx(np.ptp(own[:, 0]))
    # Across the boundary a cell as fine as it is deep has it resolved.
    fine = np.linspace(0, 1, 4001)
    assert len(spikes[0].cells(1, np.linspace(0, 1, 97))) == 1
    assert len(spikes[0].cells(1, fine)) == 0


def test_jumps_and_rounding_on_the_boundary_are_no_spikes():
    assert find_spikes(rim_problem(lambda x: np.where(x < 0.4, 1.0, 0.0)), 1.0) == ()
    tiny = rim_problem(lambda x: 1e-16 * np.exp(-(((x - 0.3) / 1e-3) ** 2)))
    assert find_spikes(tiny, 1.0) == ()
    assert find_spikes(tiny, 1e-16)


def test_cells_of_a_spike_are_marked_and_no_others():
    change = np.zeros(10)
    mark(change, np.linspace(0, 1, 11), 0, (Spike(np.array([[0.512, 0.0], [0.513, 1.0]])),))
    assert change.tolist() == [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]


def test_a_spike_along_an_axis_marks_nothing_there():
    change = np.zeros(10)
    mark(change, np.linspace(0, 1, 11), 1, (Spike(np.array([[0.512, 0.0], [0.513, 1.0]])),))
    assert not change.any()


# --- systems -------------------------------------------------------------------------------------


def test_an_unknown_alone_keeps_its_own_terms():
    problem = sf.Problem(
        SQUARE,
        lambda u, v, x, y: (-1e-4 * sf.laplacian(u) + u - v, -sf.laplacian(v) + v - u - x),
        boundary=lambda u, v, x, y: (u - v - 1, v),
    )
    single = alone(problem, "u")
    assert single.unknowns == ("u",)
    assert {term.unknown for term in single.forms[0].terms} == {"u"}
    assert len(single.forms[0].terms) == 3
    assert all(len(c.residuals) == 1 for c in single.conditions)


def test_layers_of_a_system_are_found_for_each_unknown():
    problem = sf.Problem(
        SQUARE,
        lambda u, v, x, y: (-1e-4 * sf.laplacian(u) + u - 1, -sf.laplacian(v) + v - u),
        boundary=lambda u, v, x, y: (u, v),
    )
    mixtures = system_mixtures(problem, 4)
    assert all(m is not None for m in mixtures)
    near = np.minimum(mixtures[0].means[:, 0], 1 - mixtures[0].means[:, 0])
    assert near.min() < 0.02


def test_smooth_systems_have_no_layers():
    problem = sf.Problem(
        SQUARE,
        lambda u, v, x, y: (-sf.laplacian(u) + v - 1, -sf.laplacian(v) + v - u),
        boundary=lambda u, v, x, y: (u, v),
    )
    assert system_mixtures(problem, 4) == (None, None)


@pytest.mark.parametrize("side", [1e-3, 1e-5, 1e-7])
@pytest.mark.parametrize("place", [(0.3, 0.4), (0.71234, 0.05)])
@pytest.mark.parametrize("shape", ["square", "disk", "on a slope"])
def test_a_small_patch_of_source_is_read_from_its_formula(shape, place, side):
    a, b = place

    def patch(x, y):
        if shape == "disk":
            return np.where((x - a) ** 2 + (y - b) ** 2 < side**2 / 4, 1 / side**2, 0.0)
        inside = (abs(x - a) < side / 2) & (abs(y - b) < side / 2)
        slope = 3 * np.sin(5 * x * y) if shape == "on a slope" else 0.0
        return slope + np.where(inside, 1 / side**2, 0.0)

    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -sf.laplacian(u) - patch(x, y),
        boundary=lambda u, x, y: u,
    )
    spikes = find_spikes(problem, 1.0)
    assert any(np.abs(spike.points - place).max() < side for spike in spikes)
