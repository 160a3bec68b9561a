"""Functions of points where materials meet at an angle."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.patchwork.material_corners import material_functions
from sharpfront.adapt.patchwork.sectors import Sectors, functions_about
from sharpfront.place.tiling.tiling import tiling_of

ONE = (0.3, 0.6, 0.4, 0.7)
SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def inside(box, x, y):
    low, high, below, above = box
    return (x > low) & (x < high) & (y > below) & (y < above)


def heated(k, domain=None, edge=None, reaction=0.0):
    """Return -div k grad u = 10 on a square."""
    return sf.Problem(
        domain or sf.Box((0, 1), (0, 1)),
        lambda u, x, y: reaction * u - sf.div(k(x, y) * sf.grad(u)) - 10.0,
        boundary=lambda u, x, y: u if edge is None else u - edge(x, y),
    )


def rectangle(value, **options):
    return heated(lambda x, y: np.where(inside(ONE, x, y), value, 1.0), **options)


@pytest.mark.parametrize(
    ("value", "point", "known"),
    [(1e3, (0.45, 0.55), 0.64225461), (1e-3, (0.7, 0.7), 0.55776429)],
)
def test_a_rectangle_in_a_square_takes_nine_patches(value, point, known):
    """Known values are those of finite elements of order 8 and 10, refined 20 times at corners."""
    solution = sf.solve(rectangle(value), tol=1e-5)
    assert solution.converged
    assert solution.kernels < 1_000
    size = max(1.0, float(np.abs(solution(0.45, 0.55))))
    assert abs(solution(*point) - known) < 1e-6 * size


def test_a_rectangle_in_a_square_that_are_turned():
    angle = 0.4
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])

    def k(x, y):
        own = turn[0, 0] * x + turn[1, 0] * y, turn[0, 1] * x + turn[1, 1] * y
        return np.where(inside(ONE, *own), 1e3, 1.0)

    solution = sf.solve(heated(k, sf.Polygon(SQUARE @ turn.T)), tol=1e-4)
    assert solution.converged
    assert solution.kernels < 4_000
    assert abs(solution(*(turn @ [0.45, 0.55])) - 0.64225461) < 1e-5


def test_an_edge_that_meets_a_wall_on_which_values_vary():
    def k(x, y):
        upper, lower = np.where(x > 0.4, 3.0, 0.02), np.where(x > 0.4, 50.0, 7.0)
        return np.where(y > 0.45, upper, lower)

    problem = heated(k, edge=lambda x, y: np.cos(2 * x + y) * (1 + x * y))
    rough, fine = (sf.solve(problem, tol=tol) for tol in (1e-3, 1e-6))
    assert rough.converged and fine.converged
    assert rough.kernels < 400
    x, y = np.random.default_rng(0).uniform(0, 1, (2, 2000))
    x[:500], y[500:1000] = 0.4 + 1e-3 * x[:500], 1e-3 * y[500:1000]
    error = np.abs(rough(x, y) - fine(x, y)).max() / max(1.0, np.abs(fine(x, y)).max())
    assert error < 1.5 * rough.error_estimate < 1.5e-3


def test_functions_end_where_their_sectors_do():
    boxes = {(0.2, 0.4, 0.2, 0.5): 1e3, (0.6, 0.8, 0.55, 0.85): 1e-3}

    def k(x, y):
        out = 1.0
        for box, value in boxes.items():
            out = np.where(inside(box, x, y), value, out)
        return out

    problem = heated(k)
    found = material_functions(problem, tiling_of(problem.domain), 3.0)
    ends = {f.place: (*f.support[0, 0].tolist(), *f.support[0, 2].tolist()) for f in found}
    assert len(found) == 12  # four corners of each, and of the square
    assert ends[0.2, 0.2] == (0.0, 0.0, 0.4, 0.5)
    # Up to the wall above, but not to the other rectangle.
    assert ends[0.4, 0.5] == (0.2, 0.2, 0.6, 1.0)
    assert ends[0.0, 0.0] == (0.0, 0.0, 1.0, 0.2)


def test_what_is_held_by_some_patches_goes_on_into_others(tmp_path):
    solution = sf.solve(rectangle(1e3), tol=1e-6)
    y = np.linspace(0.01, 0.99, 50)
    for place in (0.3, 0.6):
        both = [solution(place + side, y) for side in (-1e-9, 1e-9)]
        assert np.abs(both[0] - both[1]).max() < 1e-6
    solution.save(tmp_path / "rectangle.npz")
    again = sf.load(tmp_path / "rectangle.npz")
    x, y = np.random.default_rng(0).uniform(0, 1, (2, 500))
    np.testing.assert_array_equal(again(x, y), solution(x, y))


@pytest.mark.parametrize(
    "k",
    [
        lambda x, y: np.where(inside(ONE, x, y), 1e3 * (1 + x), 1.0 + y),
        lambda x, y: np.where(inside(ONE, x, y), -8.0, 1.0),
    ],
)
def test_no_functions_are_known_where_conductivities_vary_or_change_their_sign(k):
    problem = heated(k)
    assert material_functions(problem, tiling_of(problem.domain), 3.0) == ()


@pytest.mark.parametrize("contrast", [1e-6, 1e-3, 2.0, 1e3, 1e6])
@pytest.mark.parametrize("most", [2.7, 4.5])
def test_a_right_angle_has_one_logarithm_of_second_order(contrast, most):
    """Sources make xy log r in quarters, never (x^2 - y^2) log r."""
    sectors = Sectors((0.0, 0.5 * np.pi, 2.0 * np.pi), (contrast, 1.0), None)
    found = functions_about(np.zeros(2), sectors, most, 2.0 * SQUARE[None] - 1.0)
    (second,) = (i for i, term in enumerate(found.terms) if term[:3] == (2, 0, True))
    (factor,) = (own[second] for own in found.factors if own[second])
    assert abs(factor.imag) < 1e-6 * abs(factor.real)


@pytest.mark.slow
def test_patches_alone_do_not_speak_against_functions_of_corners():
    solution = sf.solve(rectangle(1e3, reaction=5.0), tol=1e-7, max_kernels=6_000)
    assert solution.error_estimate < 1e-5
    assert abs(solution(0.45, 0.55) - 0.50999949) < 1e-7
