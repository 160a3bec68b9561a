"""Materials, loads and stated jumps on patches: on the line and in the plane."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sharpfront as sf
from sharpfront.adapt.patchwork.certify import Certificate
from sharpfront.adapt.patchwork.comparison import compared_points
from sharpfront.adapt.patchwork.exponents import across_axes, least_exponent
from sharpfront.adapt.patchwork.material_corners import material_functions
from sharpfront.bases.corner_functions import restored
from sharpfront.errors import DomainError, EquationError, ProblemError
from sharpfront.place.tiling.tiling import tiling_of

SQUARE = sf.Box((0, 1), (0, 1))


def error_of(solution, exact, unknown=None):
    """Return the largest error inside every patch, each as the limit from its own inside."""
    name = unknown or solution.unknowns[0]
    basis, weights = solution.approximation.bases[name], solution.approximation.weights[name]
    worst, size = 0.0, 1.0
    for patch in basis.patches:
        points = compared_points([patch])
        middle = 0.5 * (patch.low + patch.high)
        points = middle + (points - middle) * (1 - 1e-12)
        truth = exact(*points.T)
        found = basis.values(weights, points, (0,) * points.shape[1])
        worst, size = max(worst, np.abs(found - truth).max()), max(size, np.abs(truth).max())
    return worst / size


def solved(problem, exact, tol, unknown=None):
    """Solve, and check that it is right and that the estimate is not far below the truth."""
    solution = sf.solve(problem, tol=tol)
    assert solution.converged, solution.outcome
    error = error_of(solution, exact, unknown)
    assert error <= tol
    assert error <= 3 * solution.error_estimate + 1e-11
    return solution


def layered(values, edges):
    """Return a conductivity as nested choices, which works on symbols and on arrays."""

    def k(x):
        out = values[-1] + 0 * x
        for edge, value in zip(edges[::-1], values[-2::-1], strict=True):
            out = np.where(x < edge, value, out)
        return out

    return k


def integral_over_k(flux, values, edges):
    """Return the integral from 0 of flux(x) / k(x) for a flux with the antiderivative given."""

    def total(x):
        ends = [-np.inf, *edges, np.inf]
        out = 0.0 * x
        for low, high, k in zip(ends[:-1], ends[1:], values, strict=True):
            out = out + (flux(np.clip(x, low, high)) - flux(np.clip(0.0, low, high))) / k
        return out

    return total


layers = st.integers(2, 6).flatmap(
    lambda n: st.tuples(
        st.lists(st.floats(-4, 4), min_size=n, max_size=n),
        st.lists(st.floats(0.02, 0.98), min_size=n - 1, max_size=n - 1, unique=True),
    )
)


@settings(max_examples=15, derandomize=True, deadline=None, database=None)
@given(layers, st.floats(-5, 5))
def test_a_rod_of_layers(drawn, source):
    values, edges = [10.0**v for v in drawn[0]], sorted(drawn[1])
    k = layered(values, edges)
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -(k(x) * u.dx).dx - source,
        left=lambda u, x: u - 1,
        right=lambda u, x: k(x) * u.dx - 2,
    )
    exact = integral_over_k(lambda x: (2 + source) * x - source * x**2 / 2, values, edges)
    solution = sf.solve(problem)
    x = np.linspace(0, 1, 301)
    truth = 1 + exact(x)
    error = np.abs(solution(x) - truth).max() / max(1, np.abs(truth).max())
    assert solution.converged and error < 1e-9


@pytest.mark.parametrize(("jump", "place"), [(1e6, 0.3), (1e-6, 0.61), (2.0, 0.05)])
def test_a_plate_of_two_materials(jump, place):
    k = layered([1.0, jump], [place])

    def exact(x, y):
        s = x - place
        return max(1, jump) * (s + s**2 * np.exp(x)) / np.where(s < 0, 1.0, jump) * np.cos(2 * y)

    def flux_balance(x, y):
        s = x - place
        w, curved = s + s**2 * np.exp(x), np.exp(x) * (2 + 4 * s + s**2)
        return max(1, jump) * (curved - 4 * w) * np.cos(2 * y)

    edge = sf.function(exact, breaks=((place,), ()))
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: sf.div(k(x) * sf.grad(u)) - flux_balance(x, y),
        boundary=lambda u, x, y: u - edge(x, y),
    )
    solved(problem, exact, 1e-9)


def test_layers_that_cross():
    a, b = [1.0, 20.0, 0.3], [5.0, 0.1]
    at_x, at_y = [0.2, 0.7], [0.55]
    kx, ky = layered(a, at_x), layered(b, at_y)
    along_x = integral_over_k(np.sin, a, at_x)
    along_y = integral_over_k(lambda y: y + y**2, b, at_y)

    def exact(x, y):
        return along_x(x) * along_y(y)

    parts = [sf.function(f, breaks=e) for f, e in ((along_x, at_x), (along_y, at_y))]

    def residual(u, x, y):
        X, Y = parts[0](x), parts[1](y)
        balance = -np.sin(x) * ky(y) * Y + 2 * kx(x) * X
        return sf.div(kx(x) * ky(y) * sf.grad(u)) - balance

    problem = sf.Problem(SQUARE, residual, boundary=lambda u, x, y: u - parts[0](x) * parts[1](y))
    solved(problem, exact, 1e-8)


def test_materials_on_an_l_given_by_regions():
    domain = sf.Box((-1, 1), (-1, 1)) - sf.Box((0, 2), (-2, 0))

    soft = (sf.Box((-2, -0.4), (-2, 2)) | sf.Box((-0.7, -0.4), (-3, 3))) - sf.Box((0, 1), (0, 1))

    def k(x, y):
        return np.where(sf.inside(soft, x, y), 4.0, 1.0)

    def exact(x, y):
        return (x + 0.4) / np.where(x < -0.4, 4.0, 1.0) + 0.5 * y

    edge = sf.function(exact, breaks=((-0.4,), ()))
    problem = sf.Problem(
        domain,
        lambda u, x, y: (k(x, y) * u.dx).dx + (k(x, y) * u.dy).dy,
        boundary=lambda u, x, y: u - edge(x, y),
    )
    solved(problem, exact, 1e-8)


def checkerboard(ratio, centre, more=0.0):
    """Four quadrants of conductivities ratio and 1, with the solution r^a mu(angle).

    A little more the farther from the axes: then the functions of the crossing are not known.
    """
    a = 4 / np.pi * np.arctan(ratio**-0.5)
    rho, sigma = np.pi / 4, np.pi / 4 - np.pi / (2 * a)

    def exact(x, y):
        t = np.mod(np.arctan2(y - centre[1], x - centre[0]), 2 * np.pi)
        quadrants = [
            np.cos((np.pi / 2 - sigma) * a) * np.cos((t - np.pi / 2 + rho) * a),
            np.cos(rho * a) * np.cos((t - np.pi + sigma) * a),
            np.cos(sigma * a) * np.cos((t - np.pi - rho) * a),
            np.cos((np.pi / 2 - rho) * a) * np.cos((t - 3 * np.pi / 2 - sigma) * a),
        ]
        r = np.hypot(x - centre[0], y - centre[1])
        return r**a * np.select(
            [t < np.pi / 2, t < np.pi, t < 1.5 * np.pi], quadrants[:3], quadrants[3]
        )

    edge = sf.function(exact, breaks=((centre[0],), (centre[1],)))
    return (
        a,
        exact,
        sf.Problem(
            sf.Box((-1, 1), (-1, 1)),
            lambda u, x, y: (
                -sf.div(
                    (1.0 + more * x**2 * y**2)
                    * np.where((x - centre[0]) * (y - centre[1]) > 0, ratio, 1.0)
                    * sf.grad(u)
                )
            ),
            boundary=lambda u, x, y: u - edge(x, y),
        ),
    )


@pytest.mark.parametrize("ratio", [1.5, 5.8284271247461907, 161.4476387975881, 2e4])
def test_exponents_where_interfaces_cross(ratio):
    a, _, problem = checkerboard(ratio, (0.25, -0.5))
    vertex, lines = np.array([0.25, -0.5]), across_axes(0.25, -0.5)
    found = least_exponent(problem, tiling_of(problem.domain), vertex, lines)
    assert found == (np.inf if a > 0.6 else pytest.approx(a, rel=0.02))


@pytest.mark.parametrize("ratio", [1e-4, 0.5, 1e2, 1e4])
def test_exponents_where_an_interface_ends(ratio):
    problem = sf.Problem(
        sf.Box((-1, 0), (0, 1)) | sf.Box((0, 1), (0, 1)),
        lambda u, x, y: sf.div(np.where(x < 0, 1.0, ratio) * sf.grad(u)),
        boundary=lambda u, x, y: u,
        bottom2=lambda u, x, y: u.dn,
    )
    a = 2 / np.pi * np.arctan(ratio**-0.5)
    tiling = tiling_of(problem.domain)
    found = least_exponent(problem, tiling, np.zeros(2), across_axes(0.0, 0.0))
    assert found == (np.inf if a > 0.6 else pytest.approx(a, rel=0.02))
    top = np.array([0.0, 1.0])
    assert least_exponent(problem, tiling, top, across_axes(*top)) == np.inf


@pytest.mark.slow
def test_a_checkerboard():
    _, exact, problem = checkerboard(5.8284271247461907, (0.0, 0.25), 1e-9)
    solution = sf.solve(problem, tol=5e-2)
    error = error_of(solution, exact)
    assert solution.converged and error < 5e-2
    assert error < 3 * solution.error_estimate


def test_a_strong_singularity_is_not_overlooked():
    # Before patches are cut towards the crossing all weights are small and the answer wrong.
    _, exact, problem = checkerboard(161.4476387975881, (0.0, 0.0), 1e-9)
    solution = sf.solve(problem, tol=1e-2, max_kernels=3000)
    assert not solution.converged
    assert error_of(solution, exact) < 3 * solution.error_estimate


@pytest.mark.parametrize("ratio", [5.8284271247461907, 161.4476387975881, 2e4])
def test_functions_of_the_crossing_hold_what_is_singular(ratio):
    _, exact, problem = checkerboard(ratio, (0.25, -0.5))
    solution = sf.solve(problem, tol=1e-6)
    assert solution.converged
    assert error_of(solution, exact) < 1e-10
    assert solution.kernels < 1_000


@pytest.mark.parametrize("values", [(0.2, 9.0, 0.06, 0.25), (3.0, 3.0, 3.0, 40.0)])
def test_functions_of_a_crossing_go_on_with_their_fluxes(values):
    place = np.array([0.1, -0.3])

    def k(x, y):
        upper = np.where(x > place[0], values[0], values[1])
        return np.where(y > place[1], upper, np.where(x > place[0], values[3], values[2]))

    problem = sf.Problem(
        sf.Box((-1, 1), (-1, 1)),
        lambda u, x, y: -sf.div(k(x, y) * sf.grad(u)) - 1,
        boundary=lambda u, x, y: u,
    )
    every = material_functions(problem, tiling_of(problem.domain), 4.0)
    (found,) = (own for own in every if own.place == tuple(place))
    assert all(0.0 < term.order < 4.0 for term in found.terms)
    assert any(term.logarithmic for term in found.terms)
    away = np.array([0.01, 0.3, 0.6])[:, None]
    near = 1e-9
    for along, across in (((1, 0), (0, 1)), ((0, 1), (1, 0)), ((-1, 0), (0, 1)), ((0, -1), (1, 0))):
        on = place + away * np.array(along)
        sides = [on + sign * near * np.array(across) for sign in (-1, 1)]
        below, above = (found.values(x, (0, 0)) for x in sides)
        np.testing.assert_allclose(below, above, atol=1e-6)
        below, above = (k(*x.T)[:, None] * found.values(x, across) for x in sides)
        np.testing.assert_allclose(below, above, atol=1e-6 * np.abs(above).max())
    inside = problem.domain.sample(100)
    bends = [found.values(inside, orders) for orders in ((2, 0), (0, 2))]
    bent = [term.conjugate > 0 for term in found.terms]
    plain = [i for i, own in enumerate(found.factors) if not own[bent].any()]
    assert 0 < len(plain) < found.size
    left = (bends[0] + bends[1])[:, plain]
    np.testing.assert_allclose(left, 0.0, atol=1e-9 * np.abs(bends[0]).max())
    again = restored(found.state())
    np.testing.assert_array_equal(again.values(inside, (1, 0)), found.values(inside, (1, 0)))


def test_a_tensor_that_jumps():
    first, second = ((2.0, 0.7), (0.7, 1.0)), ((10.0, -3.0), (-3.0, 4.0))
    place, slope = 0.4, 1.3

    def tensor(x):
        return [
            [np.where(x < place, a, b) for a, b in zip(*rows, strict=True)]
            for rows in zip(first, second, strict=True)
        ]

    other = (slope * 2.0 + 0.7 - (-3.0)) / 10.0

    def exact(x, y):
        return np.where(x < place, slope, other) * (x - place) + y

    edge = sf.function(exact, breaks=((place,), ()))

    def residual(u, x, y):
        k = tensor(x)
        return sf.div((k[0][0] * u.dx + k[0][1] * u.dy, k[1][0] * u.dx + k[1][1] * u.dy))

    problem = sf.Problem(SQUARE, residual, boundary=lambda u, x, y: u - edge(x, y))
    solved(problem, exact, 1e-8)


def test_an_elastic_plate_of_two_materials():
    place, pull, shear = 0.35, 1.0, 0.5
    mu, lam = layered([1.0, 30.0], [place]), layered([2.0, 5.0], [place])

    def stretched(x, y):
        return pull * (x - place) / np.where(x < place, 4.0, 65.0)

    def sheared(x, y):
        return shear * (x - place) / np.where(x < place, 1.0, 30.0)

    edges = [sf.function(f, breaks=((place,), ())) for f in (stretched, sheared)]

    def residual(u, v, x, y):
        xy = mu(x) * (u.dy + v.dx)
        return (
            ((lam(x) + 2 * mu(x)) * u.dx + lam(x) * v.dy).dx + xy.dy,
            xy.dx + (lam(x) * u.dx + (lam(x) + 2 * mu(x)) * v.dy).dy,
        )

    problem = sf.Problem(
        SQUARE, residual, boundary=lambda u, v, x, y: (u - edges[0](x, y), v - edges[1](x, y))
    )
    solution = solved(problem, stretched, 1e-7, "u")
    assert error_of(solution, sheared, "v") < 1e-7


@pytest.mark.slow
def test_elastic_materials_that_are_one_after_all():
    # Interfaces that cross, with tractions that go on, between equal materials: no interfaces.
    def plate(soft):
        def residual(u, v, x, y):
            mu = np.where((x < 0.4) & (y < 0.6), 1.0, 1.0) if soft else 1.0
            lam = np.where(x < 0.4, 2.0, 2.0) if soft else 2.0
            xy = mu * (u.dy + v.dx)
            return (
                ((lam + 2 * mu) * u.dx + lam * v.dy).dx + xy.dy + 4,
                xy.dx + (lam * u.dx + (lam + 2 * mu) * v.dy).dy,
            )

        return sf.Problem(SQUARE, residual, boundary=lambda u, v, x, y: (u, v))

    one, other = (sf.solve(plate(soft), tol=1e-3) for soft in (False, True))
    assert one.converged and other.converged
    x, y = np.random.default_rng(0).random((2, 300))
    for name in ("u", "v"):
        found = getattr(one, name)(x, y) - getattr(other, name)(x, y)
        assert np.abs(found).max() < one.error_estimate + other.error_estimate


@pytest.mark.parametrize("place", [0.3, 0.71])
def test_a_beam_with_a_point_load(place):
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: u.d("x", 4) - 2 * sf.delta(x - place),
        boundary=lambda u, x: (u, u.dx),
    )

    def exact(x):
        a, b, s = np.where(x < place, place, 1 - place), 0.0, np.where(x < place, x, 1 - x)
        b = 1 - a
        return 2 * b**2 * s**2 * (3 * a - s * (3 * a + b)) / 6

    solved(problem, exact, 1e-10)


def test_a_beam_of_two_stiffnesses_on_a_spring():
    # Hinged at 0, stiffness 1 and then 5, a spring of 40 at the end of the first part, a couple
    # delta' at 0.8; exact to rounding for a solution of piecewise cubics.
    d = layered([1.0, 5.0], [0.5])
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: (d(x) * u.dxx).dxx + 40 * u * sf.delta(x - 0.5) - sf.delta(x - 0.8).dx - 3,
        boundary=lambda u, x: (u, u.dxx),
    )
    solution = sf.solve(problem, tol=1e-9)
    assert solution.converged

    def sides(order, x, step=1e-9):
        return [float(solution.d("x", order)(x + s)) for s in (-step, step)]

    for order in (0, 1):
        low, high = sides(order, 0.5)
        assert low == pytest.approx(high, abs=1e-8)
    low, high = sides(2, 0.5)
    assert low == pytest.approx(5 * high, abs=1e-7)
    low, high = sides(3, 0.5)
    assert 5 * high - low == pytest.approx(-40 * float(solution(0.5)), abs=1e-6)
    low, high = sides(2, 0.8)
    assert 5 * (high - low) == pytest.approx(1.0, abs=1e-7)
    low, high = sides(3, 0.8)
    assert low == pytest.approx(high, abs=1e-6)


def test_a_plate_of_two_stiffnesses_bends_like_a_beam():
    # Periodic along y, one patch wide: the plate and the beam are one problem.
    d = layered([1.0, 4.0], [0.5])
    beam = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: (d(x) * u.dxx).dxx - sf.delta(x - 0.3),
        boundary=lambda u, x: (u, u.dx),
    )
    plate = sf.Problem(
        sf.Box((0, 1), (0, 1), periodic=("y",)),
        lambda u, x, y: sf.laplacian(d(x) * sf.laplacian(u)) - sf.delta(x - 0.3),
        boundary=lambda u, x, y: (u, u.dn),
    )
    narrow, wide = (sf.solve(p, tol=1e-8) for p in (beam, plate))
    assert narrow.converged and wide.converged
    x = np.linspace(0, 1, 40)
    for y in (0.0, 0.3, 0.9):
        np.testing.assert_allclose(wide(x, y + 0 * x), narrow(x), atol=1e-9)


@pytest.mark.parametrize("scale", [1.0, -2.0])
def test_a_load_along_a_line(scale):
    place = 0.37

    def exact(x, y):
        s = np.sinh(np.pi * np.minimum(x, place)) * np.sinh(np.pi * (1 - np.maximum(x, place)))
        return s / (np.pi * np.sinh(np.pi) * abs(scale)) * np.sin(np.pi * y)

    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: -sf.laplacian(u) - np.sin(np.pi * y) * sf.delta(scale * (x - place)),
        boundary=lambda u, x, y: u,
    )
    solved(problem, exact, 1e-8)


@pytest.mark.parametrize("place", [0.4, 0.65])
def test_a_contact_with_a_resistance(place):
    # -u'' = 0 with u(1) - u(0) = 1 and [u] = 2 k u': the flux is 1 / (sum of lengths / k + 2).
    k = layered([1.0, 4.0], [place])
    flux = 1 / (place + (1 - place) / 4 + 2)
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: (k(x) * u.dx).dx,
        left=lambda u, x: u,
        right=lambda u, x: u - 1,
        conditions=[sf.jump(lambda u, x: u, x=place, equals=lambda u, x: 2 * k(x) * u.dx)],
    )
    exact = lambda x: np.where(x < place, flux * x, 1 - flux * (1 - x) / 4)  # noqa: E731
    solved(problem, exact, 1e-10)


def test_jumps_that_are_stated_in_the_plane():
    def exact(x, y):
        return np.where(x < 0.5, np.sin(x) * y, np.cos(x) + y * x)

    edge = sf.function(exact, breaks=((0.5,), ()))
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: sf.laplacian(u) + np.where(x < 0.5, np.sin(x) * y, np.cos(x)),
        boundary=lambda u, x, y: u - edge(x, y),
        conditions=[
            sf.jump(
                lambda u, x, y: (u, u.dx),
                x=0.5,
                equals=lambda x, y: (
                    np.cos(x) + y * x - np.sin(x) * y,
                    -np.sin(x) + y - np.cos(x) * y,
                ),
            )
        ],
    )
    solved(problem, exact, 1e-9)


def test_a_given_part_of_the_flux_jumps():
    # u' + f = c with f = 1 and then 3: u bends although its coefficient does not jump.
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: (u.dx + np.where(x < 0.25, 1.0, 3.0)).dx,
        boundary=lambda u, x: u,
    )
    c = 0.25 * 1 + 0.75 * 3
    exact = lambda x: np.where(x < 0.25, (c - 1) * x, (c - 3) * (x - 1))  # noqa: E731
    solved(problem, exact, 1e-10)


def test_a_seam_is_an_interface_too():
    k = layered([1.0, 9.0], [0.5])
    problem = sf.Problem(
        sf.Interval(0, 1, periodic=True),
        lambda u, x: -(k(x) * u.dx).dx + u - np.sin(2 * np.pi * x),
    )
    solution = sf.solve(problem, tol=1e-9)
    assert solution.converged
    flux = [k(x) * float(solution.d("x")(x)) for x in (1e-9, 1 - 1e-9)]
    assert flux[0] == pytest.approx(flux[1], abs=1e-6)


RING = sf.Interval(0, 1, periodic=True)


@pytest.mark.parametrize(
    "equation",
    [
        lambda u, x: ((1 + 3 * x) * u.dx).dx - u + np.sin(5 * x),
        "diff((1 + 3*x)*u_x, x) - u + sin(5*x)",
    ],
)
def test_a_flux_goes_on_where_values_differ_at_the_ends_of_a_ring(equation):
    solution = sf.solve(sf.Problem(RING, equation))
    slope = solution.d("x")
    assert solution.converged and solution(0.0) == pytest.approx(solution(1.0), abs=1e-9)
    assert float(slope(0.0)) == pytest.approx(4 * float(slope(1.0)), abs=1e-7)
    assert solution.integral() == pytest.approx((1 - np.cos(5)) / 5, abs=1e-9)


def test_values_that_agree_at_the_ends_of_a_ring_are_no_jump():
    ring = sf.Interval(0, 2 * np.pi, periodic=True)
    plain = sf.Problem(ring, lambda u, x: ((2 + np.sin(x)) * u**2 * u.dx).dx - u + 2 + np.cos(x))
    assert not plain.is_singular


def test_modes_of_a_ring_whose_ends_differ():
    found = sf.eigs(sf.Problem(RING, lambda u, lam, x: ((1 + 3 * x) * u.dx).dx + lam * u), k=3)
    # Of finite volumes, 4 000 of them.
    assert found.values == pytest.approx([0.0, 79.23107, 98.38713], abs=2e-4)


@pytest.mark.parametrize(
    "load",
    [
        lambda x: np.where(x < 0.4, -2.0, 0.0).dx,
        lambda x: abs(x - 0.4).dxx,
        lambda x: 2 * sf.delta(x - 0.4),
    ],
)
def test_the_derivative_of_data_that_jump_is_a_load(load):
    problem = sf.Problem(sf.Interval(0, 1), lambda u, x: u.dxx + load(x), boundary=lambda u, x: u)
    solved(problem, lambda x: 2 * np.minimum(x, 0.4) * (1 - np.maximum(x, 0.4)), 1e-10)


def test_a_table_that_bends_takes_the_product_rule():
    slope = sf.function(lambda x: np.where(x < 0.4, 5.0, -1.0), breaks=[0.4])
    k = sf.function(
        lambda x: np.interp(x, [0, 0.4, 1], [1, 3, 2.4]), derivative=slope, breaks=[0.4]
    )
    problem = sf.Problem(
        sf.Interval(0, 1), lambda u, x: k(x) * u.dxx + k(x).dx * u.dx + 1, boundary=lambda u, x: u
    )
    assert not problem.is_singular and sf.solve(problem).converged


def test_regions_are_conditions():
    box = sf.Box((0, 1), (0, 2))
    x, y = np.array([0.5, 2.0, 0.5, 1.5]), np.array([1.0, 1.0, 3.0, 0.5])
    other = sf.Box((1, 3), (0, 0.7))
    np.testing.assert_array_equal(sf.inside(box, x, y), [True, False, False, False])
    np.testing.assert_array_equal(sf.inside(box | other, x, y), [True, False, False, True])
    np.testing.assert_array_equal(sf.inside(other - box, x, y), [False, False, False, True])
    with pytest.raises(DomainError, match="2 coordinates"):
        sf.inside(box, x)
    with pytest.raises(DomainError, match="takes boxes"):
        sf.inside(sf.Disk((0, 0), 1), x, y)


class TestRefusals:
    def refused(self, words, residual, domain=SQUARE, error=ProblemError, **options):
        names = domain.coordinates
        adaptor = options.pop("adaptor", None)
        boundary = {1: lambda u, x: u, 2: lambda u, x, y: u, 3: lambda u, x, y, z: u}[len(names)]
        options.setdefault("boundary", boundary)
        with pytest.raises(error, match=words):
            sf.solve(sf.Problem(domain, residual, **options), adaptor=adaptor)

    def test_curved_edges_that_touch_walls(self):
        self.refused(
            "neither cross nor touch",
            lambda u, x, y: sf.div(np.where(np.hypot(x - 0.5, y) < 0.5, 1.0, 2.0) * sf.grad(u)) - 1,
        )

    def test_between_slanted_sides(self):
        triangle = sf.Polygon([(0, 0), (1, 0), (0.3, 0.8)])
        for words, inside in (
            ("on a curve", lambda x, y: np.hypot(x - 0.4, y - 0.3) < 0.1),
            ("slivers", lambda x, y: x + y < 0.005),
        ):
            self.refused(
                words,
                lambda u, x, y, i=inside: sf.div(np.where(i(x, y), 1.0, 2.0) * sf.grad(u)) - 1,
                triangle,
            )

    def test_where_no_patches_can_be(self):
        k = layered([1.0, 2.0], [0.5])
        words = "and lies on an interval"
        line = sf.Interval(0, 1)
        self.refused(words, lambda u, x: (k(x) * u.dx).dx - u * u.dx - 1, line)
        self.refused(words, lambda u, x, y: sf.div(k(x) * sf.grad(u)) - 1, sf.Disk((0, 0), 1))
        cube = sf.Box((0, 1), (0, 1), (0, 1))
        self.refused(words, lambda u, x, y, z: sf.div(k(x) * k(y) * sf.grad(u)) - 1, cube)
        self.refused(
            "Leave adaptor= out", lambda u, x: (k(x) * u.dx).dx - 1, line, adaptor=sf.Resolve()
        )

    def test_capacity_that_jumps_in_space_is_no_interface_in_time(self):
        k = layered([1.0, 2.0], [0.5])
        problem = sf.Problem(
            sf.Interval(0, 1),
            lambda u, x, t: (k(x) * u).dt - u.dxx,
            boundary=lambda u, x, t: u,
            initial=lambda x: np.sin(np.pi * x),
            time=(0, 1),
        )
        assert not problem.is_singular

    def test_loads_and_jumps_in_the_wrong_place(self):
        line = sf.Interval(0, 1)
        self.refused("does not lie between 0 and 1", lambda u, x: u.dxx - sf.delta(x - 2), line)
        self.refused("A load at an end", lambda u, x: u.dxx - sf.delta(x), line)
        self.refused(
            "jumps at x = 0.5",
            lambda u, x: u.dxx - np.where(x < 0.5, 1.0, 2.0) * sf.delta(x - 0.5),
            line,
        )
        self.refused(
            "stand in equations only",
            lambda u, x: u.dxx,
            line,
            error=EquationError,
            boundary=lambda u, x: u - sf.delta(x - 0.5),
        )
        for place, words in (({"x": 2.0}, "does not lie inside"), ({"y": 0.5}, "coordinates of")):
            jump = sf.jump(lambda u, x: u, **place)
            self.refused(words, lambda u, x: u.dxx, line, conditions=[jump])
        with pytest.raises(ProblemError, match="one coordinate"):
            sf.jump(lambda u, x: u)
        beyond = sf.jump(lambda u, x: u.dxx, x=0.5)
        self.refused("leaves to itself", lambda u, x: u.dxx, line, conditions=[beyond])


def test_errors_of_two_kinds_add_up():
    """With r^0.1 at a crossing the rings around it made as large an error as the patch in it."""
    found = Certificate(change=6e-4, norm=1e-5, singular=0.0, amplification=1.0, vertices=5e-4)
    assert found.value == pytest.approx(1.1e-3)
