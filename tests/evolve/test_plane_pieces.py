"""The parts of the solver in the plane: moving coordinates, products, the basis over time."""

from types import SimpleNamespace

import numpy as np
import pytest
from tests.evolve.plane_runs import solved

from sharpfront.bases.in_time import restore_in_time
from sharpfront.bases.product import Product
from sharpfront.errors import BasisError
from sharpfront.evolve.plane.defect import lifted, richer
from sharpfront.evolve.plane.front_detection import even_layout, leaving, look
from sharpfront.evolve.plane.kernel_growth import too_large
from sharpfront.evolve.plane.placement import fitted, lengthened, place
from sharpfront.evolve.plane.run import Aim, SlabError
from sharpfront.maps import MovingAxis, MovingSquare, restored_square
from sharpfront.maps.moving_axis import components

# weights, means, slopes, deviations, speeds, turns, stretches
MOVING = MovingAxis(
    -1.0,
    2.0,
    0.4,
    components(
        np.array([[0.7, 0.3, -0.8, 0.02, 0.5, 0.2, -0.3], [0.3, -0.5, 0.4, 0.1, -1.0, 0.0, 0.6]])
    ),
)


def test_the_jet_is_made_of_derivatives():
    rng = np.random.default_rng(3)
    x, y, t = rng.uniform(-1, 2, 200), rng.uniform(0, 1, 200), rng.uniform(0, 0.3, 200)
    jet, h = MOVING.jet(x, y, t), 1e-5

    def difference(of, dx, dy, dt):
        ahead = getattr(MOVING.jet(x + dx, y + dy, t + dt), of)
        behind = getattr(MOVING.jet(x - dx, y - dy, t - dt), of)
        return (ahead - behind) / (2 * h)

    for name, of, step in [
        ("x", "xi", (h, 0, 0)),
        ("y", "xi", (0, h, 0)),
        ("t", "xi", (0, 0, h)),
        ("xx", "x", (h, 0, 0)),
        ("xy", "x", (0, h, 0)),
        ("yy", "y", (0, h, 0)),
    ]:
        exact = getattr(jet, name)
        inner = (np.abs(x + 1) > 2 * h) & (np.abs(x - 2) > 2 * h)
        np.testing.assert_allclose(
            difference(of, *step)[inner], exact[inner], atol=1e-5 * np.abs(exact).max()
        )


def test_the_coordinate_runs_from_end_to_end_and_back():
    xi = np.linspace(0, 1, 101)
    for y in (0.0, 0.37, 1.0):
        x = MOVING.invert(xi, np.full(xi.shape, y), 0.2)
        back = MOVING.jet(x, np.full(xi.shape, y), np.full(xi.shape, 0.2)).xi
        np.testing.assert_allclose(back, xi, atol=1e-12)
        assert x[0] == -1.0
        assert x[-1] == 2.0


def test_moving_and_then_standing_is_standing_later():
    x, y = np.linspace(-1, 2, 50), np.full(50, 0.9)
    later = MOVING.jet(x, y, np.full(50, 0.25))
    there = MOVING.at(0.25).still().jet(x, y, np.zeros(50))
    np.testing.assert_allclose(there.xi, later.xi, atol=1e-14)
    assert not np.any(there.t)


def test_galerkin_matrices_are_sums_over_the_points():
    product = Product((9, 11))
    first, second = product.lines
    rng = np.random.default_rng(0)
    terms = {(2, 0): rng.random(product.grid_shape), (1, 1): rng.random(product.grid_shape)}
    i, j = (a.ravel() for a in np.indices(product.grid_shape))

    def rows(a, b):
        return product.rows(first.table[a][i], second.table[b][j])

    direct = sum(rows(0, 0).T @ (c.ravel()[:, None] * rows(*o)) for o, c in terms.items())
    np.testing.assert_allclose(product.matrix(terms), direct, rtol=1e-9, atol=1e-6)


def test_projections_keep_the_functions_themselves():
    product = Product((12, 10))
    weights = np.random.default_rng(1).standard_normal(product.size)
    np.testing.assert_allclose(product.projected(product.on_grid(weights)), weights, atol=1e-8)


def test_richer_products_hold_a_smooth_function():
    product = Product((24, 24))
    layout = even_layout(np.array([[0.0, 0.0], [1.0, 1.0]]))
    first, second = product.lines
    points = layout.grid(first.points, second.points)
    values = np.exp(np.sin(3 * points[:, 0]) * points[:, 1]).reshape(product.grid_shape)
    weights, wide = product.projected(values), richer(product)
    assert wide.size > product.size
    far = layout.grid(wide.lines[0].points, wide.lines[1].points)
    exact = np.exp(np.sin(3 * far[:, 0]) * far[:, 1])
    np.testing.assert_allclose(
        wide.on_grid(lifted(weights, product, wide)).ravel(), exact, atol=1e-8
    )


def _front(slope, width):
    return lambda p: np.tanh((p[:, 0] - 0.4 - slope * (p[:, 1] - 0.5)) / width)


@pytest.mark.parametrize("slope", [-0.9, 0.0, 0.5, 3.0])
def test_the_slope_of_a_front_is_seen(slope):
    layout = look(_front(slope, 0.01), np.array([[0.0, 0.0], [1.0, 1.0]]), 1)
    first = layout.maps[0].moving
    assert layout.axes == ((1, 0) if abs(slope) > 1 else (0, 1))
    expected = 1 / slope if abs(slope) > 1 else slope
    np.testing.assert_allclose(first.slopes[0], expected, atol=0.02)
    at_pivot = 0.5 + (0.5 - 0.4) / slope if abs(slope) > 1 else 0.4
    np.testing.assert_allclose(first.means[0], at_pivot, atol=0.02)


def test_a_placement_meets_its_goal_with_few_products():
    bounds = np.array([[0.0, 0.0], [1.0, 1.0]])
    sharp = place(_front(-0.9, 0.01), bounds, 1, 1e-4, 2000)
    assert sharp.miss < 1e-4
    assert sharp.product.size < 700
    plain = place(_front(-0.9, 0.01), bounds, 0, 1e-4, 700)
    assert plain.miss > 1e-2


@pytest.mark.parametrize(("far", "slope"), [(0.25, 1.0), (1.3, 1.0), (0.6, 0.7)])
def test_components_are_placed_where_a_front_leaves(far, slope):
    """Where it ends at a side it is as thin along the other axis: a grid does not see that."""

    def front(p):
        return np.tanh((p[:, 0] + slope * p[:, 1] - far) / 4e-4)

    bounds = np.array([[0.0, 0.0], [1.0, 1.0]])
    seen = look(front, bounds, 1)
    second = leaving(seen).maps[1].moving
    np.testing.assert_allclose(second.means, [(far - (far > 1)) / slope], atol=1e-3)
    first = seen.maps[0].moving
    np.testing.assert_allclose(second.deviations, first.deviations / slope, rtol=1e-2)
    # Without them 471 to 2993 products.
    assert place(front, bounds, 1, 4e-4, 3000).product.size < 650


def test_a_front_that_crosses_the_box_leaves_nowhere():
    layout = look(_front(0.1, 0.01), np.array([[0.0, 0.0], [1.0, 1.0]]), 1)
    assert leaving(layout) is layout


@pytest.mark.slow
def test_a_placement_does_not_hang_on_where_its_components_began():
    """A front beside a corner: one flat simplex ended with 950 products."""

    def front(p):
        return (1 - np.tanh((p.sum(axis=1) - 0.25) / 4e-3)) / 2

    found = place(front, np.array([[0.0, 0.0], [1.0, 1.0]]), 1, 2e-5, 3000)
    assert found.miss < 2e-5
    assert found.product.size < 800


def test_functions_are_added_along_both_axes_of_a_pulse():
    """By what one more function along an axis gained, all went to the first axis."""
    layout = MovingSquare(
        (0, 1),
        (
            MovingAxis(-1.0, 1.0, 0.0, components([1.0, 0.492, 0.0, 0.0163, 0.0, 0.0, 0.0])),
            MovingAxis(-1.0, 1.0, 0.0, components([1.0, 1e-4, 0.0, 0.0218, 0.0, 0.0, 0.0])),
        ),
    )

    def pulse(p):
        return np.exp(-((p[:, 0] - 0.5) ** 2 + p[:, 1] ** 2) / 0.005)

    product = Product((16, 16))
    while product.size < 800:
        wide = richer(product)
        product = lengthened(product, wide.block(fitted(pulse, layout, wide)))
    assert max(product.shape) < 1.3 * min(product.shape)


@pytest.mark.parametrize(("own", "more"), [(0.9, True), (0.0, False)])
def test_kernels_are_added_for_what_kernels_miss_only(own, more):
    march = SimpleNamespace(t=0.0)
    slab = SimpleNamespace(error=SlabError(1.0, 1.0 - own, 0.0), after=SimpleNamespace(t=0.5))
    system = SimpleNamespace(problem=SimpleNamespace(time=(0.0, 1.0)))
    aim = Aim(system, 1.0, 1.0, None, None, np.zeros((0, 2)))
    assert too_large(march, 0.0, slab, aim) is more


@pytest.mark.parametrize("name", [pytest.param("oblique-shock", marks=pytest.mark.slow), "heat"])
def test_derivatives_of_a_solution_are_derivatives(name):
    solution = solved(name)
    rng = np.random.default_rng(5)
    x, y = rng.uniform(0.4, 0.6, (2, 40))
    t = rng.uniform(0.2, 0.8, 40) * solution.domain.time[1]
    h = 1e-4
    for coordinate, step in [("x", (h, 0, 0)), ("y", (0, h, 0)), ("t", (0, 0, h))]:
        ahead = solution(x + step[0], y + step[1], t + step[2])
        behind = solution(x - step[0], y - step[1], t - step[2])
        slope = solution.d(coordinate)(x, y, t)
        scale = np.abs(slope).max() + 1
        np.testing.assert_allclose((ahead - behind) / (2 * h), slope, atol=1e-3 * scale)
    second = (solution.d("x")(x + h, y, t) - solution.d("x")(x - h, y, t)) / (2 * h)
    exact = solution.d("x", 2)(x, y, t)
    np.testing.assert_allclose(second, exact, atol=1e-3 * (np.abs(exact).max() + 1))


@pytest.mark.parametrize(
    "name", ["oblique-shock", pytest.param("turning-pulse", marks=pytest.mark.slow)]
)
def test_a_moment_is_evaluated_like_moments_that_differ(name):
    solution = solved(name)
    t = 0.4 * solution.domain.time[1]
    x, y = np.random.default_rng(2).uniform(0.05, 0.95, (2, 30))
    for field in (solution, solution.d("t"), solution.d("y", 2)):
        together = field(x, y, t)
        apart = field(x, y, t + 1e-13 * np.arange(30))
        np.testing.assert_allclose(apart, together, atol=1e-6 * (np.abs(together).max() + 1))


def test_a_basis_comes_back_from_its_state():
    solution = solved("oblique-shock")
    basis, weights = solution.approximation.bases["u"], solution.approximation.weights["u"]
    assert basis.size == len(weights)
    again = restore_in_time(basis.state())
    points = np.random.default_rng(0).uniform(0, 0.5, (50, 3))
    np.testing.assert_array_equal(
        again.values(weights, points, (1, 0, 0)), basis.values(weights, points, (1, 0, 0))
    )
    assert again.kernels == basis.kernels


def test_a_solution_leaves_little_of_the_equation():
    solution = solved("heat")
    x, y = np.random.default_rng(4).uniform(0.4, 0.6, (2, 50))
    assert np.max(np.abs(solution.residual(x, y, np.full(50, 0.02)))) < 1e-3


def test_functions_that_stay_have_rates_of_slopes():
    solution, h = solved("heat"), 1e-5
    x, y, t = 0.45, 0.55, np.array([0.013, 0.031])
    assert not any(frame.moves for frame in solution.approximation.bases["u"].frames)
    for field, rate in [(("x",), ("x", "t")), (("t",), ("t", "t"))]:
        own, mixed = solution, solution
        for name in field:
            own = own.d(name)
        for name in rate:
            mixed = mixed.d(name)
        expected = (own(x, y, t + h) - own(x, y, t - h)) / (2 * h)
        np.testing.assert_allclose(mixed(x, y, t), expected, rtol=1e-4)


def test_a_square_comes_back_from_its_numbers():
    square = MovingSquare((1, 0), (MOVING, MovingAxis(0.0, 1.0)))
    again = restored_square(square.state())
    points = np.random.default_rng(6).uniform(0.1, 0.9, (20, 2))
    assert again.axes == square.axes
    np.testing.assert_array_equal(again.inverse(points, 0.1), square.inverse(points, 0.1))
    np.testing.assert_allclose(square.points(square.inverse(points, 0.1), 0.1), points, atol=1e-11)


def test_what_a_basis_does_not_carry_is_refused():
    basis = solved("oblique-shock").approximation.bases["u"]
    weights, points = solved("oblique-shock").approximation.weights["u"], np.full((1, 3), 0.04)
    for orders in ((3, 0, 0), (0, 0, 2), (1, 0, 1)):
        with pytest.raises(BasisError, match="Derivatives"):
            basis.values(weights, points, orders)
    with pytest.raises(BasisError, match="no matrix"):
        basis.matrix(points, (0, 0, 0))
