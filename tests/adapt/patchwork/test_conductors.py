"""Conductors with corners inside a domain, which hang on what flows through their edges."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.patchwork.interface_vertices import indefinite
from sharpfront.place.tiling.tiling import tiling_of

ONE = [(0.3, 0.6, 0.4, 0.7)]
SIDE_BY_SIDE = [(0.15, 0.4, 0.3, 0.7), (0.6, 0.85, 0.3, 0.7)]
APART = [(0.2, 0.4, 0.2, 0.5), (0.6, 0.8, 0.55, 0.85)]


def materials(rectangles, values, source=0.0, reaction=0.0, outside=1.0, edge=lambda x, y: 0 * x):
    """Return a problem on a square with other conductivities in rectangles, the last on top."""

    def k(x, y):
        out = outside
        for (a, b, c, d), value in zip(rectangles, values, strict=True):
            out = np.where((x > a) & (x < b) & (y > c) & (y < d), value, out)
        return out

    return sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: reaction * u - sf.div(k(x, y) * sf.grad(u)) - source,
        boundary=lambda u, x, y: u - edge(x, y),
    )


@pytest.mark.parametrize(
    ("problem", "point", "value"),
    [
        (materials(ONE, [1e3], 10.0), (0.45, 0.55), 0.64225461),
        (materials(ONE, [1e3], 10.0, reaction=5.0), (0.45, 0.55), 0.50999949),
        (materials(ONE, [1e-3], 10.0), (0.7, 0.7), 0.55776429),
        # What they lose of their fluxes is nothing in all.
        (materials(SIDE_BY_SIDE, [1e6] * 2, edge=lambda x, y: x), (0.3, 0.5), 0.29137305),
        (materials(APART, [1e3, 1e-3], 10.0), (0.3, 0.5), 0.53292386),
    ],
)
def test_conductors_are_as_high_as_what_flows_through_their_edges_says(problem, point, value):
    """Values are those of finite elements of order 8 and 10, refined 16 and 20 times at corners."""
    solution = sf.solve(problem, tol=1e-2)
    assert solution.converged, solution.outcome
    size = max(1.0, 1.1 * abs(solution(0.45, 0.55)), abs(solution(0.7, 0.7)))
    error = abs(solution(*point) - value) / size
    assert error < 1e-2
    assert error < 2 * solution.error_estimate


def test_weights_climb_from_where_values_are_given_and_never_fall():
    rectangles = [(0.1, 0.9, 0.1, 0.9), (0.2, 0.8, 0.2, 0.8), (0.3, 0.7, 0.3, 0.7)]
    # 1 around 1024 around 1/1024 around 1, and all of it times 3.
    problem = materials(rectangles, [3072.0, 3.0 / 1024.0, 3.0], outside=3.0)
    adaptor = sf.Patches()
    state = adaptor.start(problem, 1e-2, 0)
    adaptor.propose(state)
    out = {0.05: set(), 0.15: set(), 0.25: set(), 0.5: set()}
    for patch, factor in state.rows.measure.climbs.items():
        # How deep the patch lies below the boundary.
        depth = 0.5 - np.abs(0.5 * (patch.low + patch.high) - 0.5).max()
        out[min(out, key=lambda x, d=depth: abs(x - d))].add(factor)
    assert [*out.values()] == [{1.0}, {1024.0}, {1024.0}, {2.0**20}]


@pytest.mark.parametrize("inside", [1.0, 1e-6])
def test_rows_count_alike_where_nothing_climbs(inside):
    adaptor = sf.Patches()
    state = adaptor.start(materials(ONE, [inside]), 1e-2, 0)
    adaptor.propose(state)
    assert state.rows.measure.climbs == {}


def test_values_on_the_boundary_are_missed_in_units_of_the_solution():
    """It is 2e4 high, and values below one are missed by less than a hundredth of that."""
    rectangles = [(0.329, 0.796, 0.583, 0.722), (0.121, 0.45, 0.152, 0.488)]
    problem = materials(rectangles, [8e-3, 4e-6], 10.0, edge=lambda x, y: 0.5 * x - 0.4 * y)
    solution = sf.solve(problem, tol=1e-2)
    assert solution.converged, solution.outcome


@pytest.mark.parametrize("ratio", [-30.0, -3.01, -2.99, -1.0, -0.34, -0.33, 1e-6])
def test_signs_that_change_at_right_angles(ratio):
    """Between -3 and -1/3 the problem is not Fredholm (Bonnet-Ben Dhia, Chesnel and Ciarlet)."""
    problem = materials(ONE, [2 * ratio], outside=2.0)
    found = indefinite(problem, tiling_of(problem.domain))
    assert (found is not None) == (-3.0 < ratio < -1 / 3)
    if found is not None:
        assert found.kind == "ill-posed"


@pytest.mark.parametrize(("ratio", "told"), [(-2.0, False), (-1.0, True), (1.0, False)])
def test_signs_that_change_along_a_line(ratio, told):
    problem = materials([(-1.0, 0.4, -1.0, 2.0)], [ratio])
    assert (indefinite(problem, tiling_of(problem.domain)) is not None) == told


def test_no_functions_of_a_crossing_are_known_where_signs_change():
    """With those of the sizes the value was 0.18, and called converged."""
    problem = materials([(0.5, 2.0, 0.5, 2.0)], [-8.0], 10.0)
    solution = sf.solve(problem, tol=3e-2, max_kernels=4000)
    # By finite elements, as above.
    error = abs(solution(0.45, 0.55) + 0.23149)
    assert error < 2 * solution.error_estimate
    assert not solution.converged or error < 3e-2
