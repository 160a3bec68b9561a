"""Patches: few solves, few functions, and what was cut once is not undone."""

from dataclasses import replace

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.patchwork.certify import Certifier
from sharpfront.measure import max_error
from sharpfront.place.patches.tails import tails_of_blocks

SQUARE = sf.Box((0, 1), (0, 1))


def solved(problem, tol):
    """Solve by patches, which are to be enough."""
    solution = sf.solve(problem, tol=tol, adaptor=sf.Patches())
    assert solution.converged, solution.outcome
    return solution


def largest_error(solution, exact):
    from sharpfront.adapt.patchwork.comparison import compared_points

    points = compared_points(solution.approximation.bases["u"].patches)
    return max_error(solution, exact, points)


@pytest.mark.parametrize(
    ("width", "a", "b"), [(1e-3, 1.0, 1.0), (2e-4, 1.0, 2.0), (4e-3, 0.5, 1.0)]
)
def test_layers_that_meet_in_a_corner_take_one_cut_each(width, a, b):
    def one(s, speed):
        return s - np.exp((s - 1) * speed / width)

    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: (
            -width * sf.laplacian(u) + a * u.dx + b * u.dy - a * one(y, b) - b * one(x, a)
        ),
        boundary=lambda u, x, y: u - one(x, a) * one(y, b),
    )
    solution = solved(problem, 1e-6)
    assert solution.kernels < 1500
    assert largest_error(solution, lambda x, y: one(x, a) * one(y, b)) < 1e-6


@pytest.mark.parametrize(("x0", "y0", "narrow"), [(0.5, 0.5, 300), (0.31, 0.72, 2000)])
def test_a_peak_takes_patches_where_it_is(x0, y0, narrow):
    def peak(x, y):
        return np.exp(-narrow * ((x - x0) ** 2 + (y - y0) ** 2))

    def source(x, y):
        return (4 * narrow**2 * ((x - x0) ** 2 + (y - y0) ** 2) - 4 * narrow) * peak(x, y)

    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: sf.laplacian(u) - source(x, y),
        boundary=lambda u, x, y: u - peak(x, y),
    )
    solution = solved(problem, 1e-4)
    assert solution.kernels < 5500
    assert largest_error(solution, peak) < 1e-4


@pytest.mark.parametrize(("low", "high"), [((0, -1), (2, 0)), ((-3, 0.25), (-0.5, 3))])
def test_a_loaded_l_takes_few_solves(low, high):
    quadrant = sf.Box((low[0], high[0]), (low[1], high[1]))
    plate = sf.Box((-1, 1), (-1, 1)) - quadrant
    problem = sf.Problem(plate, lambda u, x, y: -sf.laplacian(u) - 1, boundary=lambda u, x, y: u)
    solution = solved(problem, 1e-4)
    assert len(solution.history) <= 7
    assert solution.kernels < 12_000


@pytest.mark.parametrize(("width", "wider"), [(1e-3, 2.0), (1e-3, 3.0)])
def test_a_source_with_a_wider_layer_than_the_operators(width, wider):
    def exact(x, y):
        return (1 - np.exp((x - 1) / width)) * np.cos(y + x)

    def residual(u, x, y):
        return -width * sf.laplacian(u) + wider * u.dx

    def source(x, y):
        e, c, s = np.exp((x - 1) / width), np.cos(x + y), np.sin(x + y)
        ux = -e / width * c - (1 - e) * s
        uxx = -e / width**2 * c + 2 * e / width * s - (1 - e) * c
        return -width * (uxx - (1 - e) * c) + wider * ux

    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: residual(u, x, y) - source(x, y),
        boundary=lambda u, x, y: u - exact(x, y),
    )
    solution = solved(problem, 1e-6)
    assert solution.kernels < 1500
    assert largest_error(solution, exact) < 1e-6


def along(axis, x, y):
    """Return the coordinate of an axis, and the other one."""
    return (x, y) if axis == 0 else (y, x)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(
    ("kind", "place", "width"),
    [("step", 0.37, 1e-2), ("step", 0.612, 1e-3), ("bump", 0.83, 3e-3), ("layer", 0.0, 2e-3)],
)
def test_sources_that_are_narrow_along_one_axis_are_cut_along_that_one(axis, kind, place, width):
    shapes = {
        "step": np.tanh,
        "bump": lambda z: np.exp(-z * z),
        "layer": lambda z: np.exp(-np.abs(z)),
    }

    def source(x, y):
        across, beside = along(axis, x, y)
        return shapes[kind]((across - place) / width) * (2 + np.sin(beside))

    problem = sf.Problem(
        SQUARE, lambda u, x, y: sf.laplacian(u) - 1e3 * source(x, y), boundary=lambda u, x, y: u
    )
    cells = sf.Patches().start(problem, 1e-6, 0).cells
    assert min(cell.patch.sides[axis] for cell in cells) < 0.1
    assert {cell.patch.sides[1 - axis] for cell in cells} == {1.0}


@pytest.mark.parametrize(("rate", "phase"), [(5.0, 0.0), (3.0, 1.0), (7.0, -2.0)])
def test_coefficients_that_change_sign_have_no_edges_there(rate, phase):
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: (
            -sf.laplacian(u) + np.sin(rate * x + phase) * u.dx + np.cos(rate * y) * u.dy - np.exp(x)
        ),
        boundary=lambda u, x, y: u,
    )
    assert len(sf.Patches().start(problem, 1e-8, 0).cells) == 1


@pytest.mark.parametrize(("k", "tol"), [(3.0, 1e-3), (6.0, 1e-7), (11.0, 1e-5)])
def test_where_all_is_resolved_the_estimate_is_near_the_error(k, tol):
    def exact(x, y):
        return np.sin(k * x) * np.cos(0.7 * k * y + 0.3)

    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: -sf.laplacian(u) + u - (1.49 * k**2 + 1) * exact(x, y),
        boundary=lambda u, x, y: u - exact(x, y),
    )
    solution = solved(problem, tol)
    error = largest_error(solution, exact)
    assert error / 3 < solution.error_estimate < 10 * error


def changed_of_row(tail):
    """Return how many patches of a row are changed for tails, (patches, 2)."""
    from sharpfront.bases.patch import Patch
    from sharpfront.maps import AxisMap
    from sharpfront.place.patches.cuts import Cell
    from sharpfront.place.patches.refine import Limits, refined
    from sharpfront.place.patches.tails import Tails

    places = range(len(tail))
    row = [Cell(Patch((AxisMap(i, i + 1.0), AxisMap(0.0, 1.0)), (8, 8))) for i in places]
    tails = Tails(tail, np.full_like(tail, 10.0), np.ones_like(tail, dtype=bool), tail, tail)
    new, changed = refined(row, tails, 1e-300, 0.1, Limits(8, 18, 6), (None, None))
    assert changed
    return sum(a.patch != b.patch for a, b in zip(row, new, strict=True))


@pytest.mark.parametrize("fall", [0.05, 0.3])
def test_short_tails_wait_only_while_many_patches_have_long_ones(fall):
    tail = np.repeat(fall ** np.arange(16)[:, None], 2, axis=1)
    assert changed_of_row(tail) == 8


@pytest.mark.parametrize("unknown", [np.inf, np.nan])
@pytest.mark.parametrize("count", [1, 3])
def test_tails_that_are_not_finite_are_not_short(unknown, count):
    assert changed_of_row(np.full((count, 2), unknown)) == count


@pytest.mark.parametrize(("longer", "parts"), [(1.02, 1), (1.15, 1), (2.0, 4), (30.0, 4)])
def test_a_patch_that_is_nearly_resolved_is_not_cut(longer, parts):
    from sharpfront.bases.patch import Patch
    from sharpfront.maps import AxisMap
    from sharpfront.place.patches.cuts import Cell
    from sharpfront.place.patches.refine import Limits, refined
    from sharpfront.place.patches.tails import Tails

    aim, cell = 1e-3, Cell(Patch((AxisMap(0.0, 1.0), AxisMap(0.0, 1.0)), (7, 7)))
    tail = np.full((1, 2), longer * aim)
    tails = Tails(tail, np.full((1, 2), np.inf), np.zeros((1, 2), dtype=bool), tail, tail)
    limits, nowhere = Limits(7, 17, 6), np.empty((0, 2))
    new, changed = refined([cell], tails, aim, 0.1, limits, (None, None), nowhere)
    assert changed and len(new) == parts
    if parts == 1:
        assert min(new[0].patch.functions) > 7
        # It is cut after all if functions did not help.
        longer = replace(tails, tail=4 * tail)
        again, _ = refined(new, longer, aim, 0.1, limits, (None, None), nowhere)
        assert len(again) == 4


@pytest.mark.parametrize(("modes", "sides"), [((6, 3), (1.3, 0.7)), ((4, 5), (1.0, 0.8))])
def test_small_patches_hold_the_modes_of_a_resonance_too(modes, sides):
    k = np.pi * np.hypot(modes[0] / sides[0], modes[1] / sides[1])
    problem = sf.Problem(
        sf.Box((0, sides[0]), (0, sides[1])),
        lambda u, x, y: sf.laplacian(u) + k**2 * u - np.exp(x),
        boundary=lambda u, x, y: u,
    )
    assert sf.solve(problem, tol=1e-5).outcome.kind == "near-singular"


@pytest.mark.parametrize("most", [240, 700])
def test_with_few_functions_the_first_patches_are_those_of_a_looser_tolerance(most):
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: -1e-4 * sf.laplacian(u) + u.dx + u.dy - 1,
        boundary=lambda u, x, y: u,
    )
    solution = sf.solve(problem, tol=1e-8, max_kernels=most)
    assert solution.outcome.kind == "kernel limit reached"
    assert 0.5 * most < solution.kernels <= most and solution.error_estimate > 0.1


@pytest.mark.slow
@pytest.mark.parametrize(("length", "depth", "place", "load"), [(7.0, 0.5, -3.0, 3e-3)])
def test_beams_that_bend_little_are_not_believed_too_soon(length, depth, place, load):
    """Too few functions bend a tenth of the way, by hundredths, and agree on it to thousandths."""
    lame, shear = 1.3, 0.8

    def stress(u, v):
        both = lame * (u.dx + v.dy)
        return both + 2 * shear * u.dx, both + 2 * shear * v.dy, shear * (u.dy + v.dx)

    def equations(u, v, x, y):
        along, across, sheared = stress(u, v)
        return along.dx + sheared.dy, sheared.dx + across.dy

    def pulled(u, v, x, y):
        return stress(u, v)[0], stress(u, v)[2] - load * y * (depth - y)

    problem = sf.Problem(
        sf.Box((place, place + length), (0, depth)),
        equations,
        left=lambda u, v, x, y: (u, v),
        right=pulled,
        boundary=lambda u, v, x, y: (stress(u, v)[2], stress(u, v)[1]),
    )
    solution = sf.solve(problem, tol=1e-2)
    stiff = 4 * shear * (lame + shear) / (lame + 2 * shear) * depth**3 / 12
    bent = load * depth**3 / 6 * length**3 / (3 * stiff)
    assert 0.02 < bent < 1
    assert solution.converged, str(solution.outcome)
    # Bernoulli's beam leaves out what shearing adds, some (depth / length)^2 of it.
    share = 2 * (depth / length) ** 2
    assert solution.v(place + length, depth / 2) == pytest.approx(bent, abs=1e-2, rel=share)


@pytest.mark.parametrize("odd", [0.0, 0.03, 1.0])
@pytest.mark.parametrize("rate", [0.5, 1.0, 2.0])
def test_what_geometric_weights_add_up_to_beyond_the_last_is_foretold(rate, odd):
    count, k = 14, np.arange(60)
    weights = np.exp(-rate * k) * np.where(k % 2, odd, 1.0)
    block = (weights / np.sqrt(2.0 * k + 1.0))[:count, None] * np.eye(1, 4)
    found = tails_of_blocks([block], 1e-9, [3.0])
    to_come = weights[count:].sum()
    assert found.analytic[0, 0]
    assert to_come <= 1.001 * found.rest[0, 0] <= 6.0 * to_come
    assert found.rest[0, 0] <= found.tail[0, 0]


@pytest.mark.parametrize("eps", [8e-3, 1e-4])
@pytest.mark.parametrize("tol", [1e-6, 1e-9])
def test_layers_of_known_width_are_solved_once(eps, tol):
    def exact(x, y):
        return (x - np.exp((x - 1) / eps)) * np.sin(np.pi * y)

    def equation(u, x, y):
        e = u - exact(x, y)
        return -eps * sf.laplacian(e) + e.dx

    problem = sf.Problem(SQUARE, equation, boundary=lambda u, x, y: u - exact(x, y))
    solution = solved(problem, tol)
    depth = np.concatenate([np.linspace(0, 1, 40), eps * np.geomspace(1e-3, 20, 60)])
    x, y = np.meshgrid(1 - depth[depth <= 1], np.linspace(0, 1, 9))
    error = np.abs(solution(x, y) - exact(x, y)).max()
    assert len(solution.history) == 1
    assert error <= min(tol, 3 * solution.error_estimate)


@pytest.mark.parametrize(
    ("mode", "k", "place", "width", "tol"), [(8, 3.8, 0.5, 0.08, 1e-4), (4, 2.9, 0.5, 0.04, 1e-5)]
)
def test_resonances_that_are_odd_about_the_middle_of_equal_patches_are_seen(
    mode, k, place, width, tol
):
    """A pair at rest but for a bump in one of them: there are many solutions, each a smooth one."""
    a = (np.pi * mode) ** 2 - k

    def bump(x):
        return np.exp(-(((x - place) / width) ** 2))

    def bent(x):
        return bump(x) * (4 * ((x - place) / width) ** 2 - 2) / width**2

    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, v, x: (
            (u.dxx + a * u + k * v - bent(x) - a * bump(x)) / a,
            (v.dxx + a * v + k * u - k * bump(x)) / a,
        ),
        boundary=lambda u, v, x: (u - bump(x), v),
    )
    assert sf.solve(problem, tol=tol).outcome.kind == "near-singular"


def test_what_tells_a_resonance_takes_no_system_of_its_own(monkeypatch):
    taken, solved = [], Certifier._solved

    def counted(self, patches, heavier, *rest):
        taken.append((patches[0].functions, heavier))
        return solved(self, patches, heavier, *rest)

    monkeypatch.setattr(Certifier, "_solved", counted)
    problem = sf.Problem(
        SQUARE, lambda u, x, y: sf.laplacian(u) + 10.0**2 * u - x * y, boundary=lambda u, x, y: u
    )
    assert sf.solve(problem, tol=1e-3).converged
    (richer, plain), (telling, heavier) = taken[-2:]
    assert plain == 1.0 < heavier
    assert min(telling) > max(richer)
