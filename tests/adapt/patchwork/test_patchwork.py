"""Patches: corners, systems, fourth order, layers, and what is not determined."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.measure import max_error
from sharpfront.place.strips.decay_rates import decay_rates, wave_numbers
from sharpfront.place.tiling.tiling import tiling_of

SQUARE = sf.Box((0, 1), (0, 1))


def largest_error(solution, exact, unknown=None):
    """Return the largest error inside every patch, relative to max(1, max|u|)."""
    from sharpfront.adapt.patchwork.comparison import compared_points

    name = unknown or solution.unknowns[0]
    points = compared_points(solution.approximation.bases[name].patches)
    return max_error(solution.approximation.values(name, points, (0, 0)), exact, points)


def honest(solution, error, rounding=1e-12):
    """The estimate is neither far below nor far above the truth, where that is above rounding."""
    assert error <= 3 * solution.error_estimate + rounding
    assert solution.error_estimate <= max(100 * error, 1e-11)


def corner(turn, shift):
    """A square without a quadrant, turned, and r^(2/3) sin(2 t/3) about its inner corner."""
    low, high = shift - 1, shift + 1
    quadrant = [
        ((shift, high + 1), (low - 1, shift)),
        ((shift, high + 1), (shift, high + 1)),
        ((low - 1, shift), (shift, high + 1)),
        ((low - 1, shift), (low - 1, shift)),
    ][turn]
    domain = sf.Box((low, high), (low, high)) - sf.Box(*quadrant)

    def exact(x, y):
        angle = np.arctan2(y - shift, x - shift) - turn * np.pi / 2
        angle = np.where(angle < -1e-12, angle + 2 * np.pi, angle)
        angle = np.where(angle < -1e-12, angle + 2 * np.pi, angle)
        return np.hypot(x - shift, y - shift) ** (2 / 3) * np.sin(2 * angle / 3)

    return domain, exact


@pytest.mark.parametrize(("turn", "shift"), [(0, 0.0), (2, 0.3)])
def test_a_corner_that_points_inwards(turn, shift):
    domain, exact = corner(turn, shift)
    data = sf.function(exact)
    problem = sf.Problem(
        domain, lambda u, x, y: sf.laplacian(u), boundary=lambda u, x, y: u - data(x, y)
    )
    solution = sf.solve(problem, tol=1e-3)
    assert solution.converged
    error = largest_error(solution, exact)
    assert error < 1e-3
    honest(solution, error)


def cantilever(ratio, nu):
    """A beam clamped as Timoshenko's, with its end load as traction, deflection about one."""
    length, i = float(ratio), 1 / 12
    load = 3 * i / length**3

    def bent(x, y):
        return -load * y / (6 * i) * ((6 * length - 3 * x) * x + (2 + nu) * (y**2 - 0.25))

    def deflected(x, y):
        deep = 3 * nu * y**2 * (length - x) + (4 + 5 * nu) * x / 4 + (3 * length - x) * x**2
        return load / (6 * i) * deep

    g, c = 0.5 / (1 + nu), 1 / (1 - nu**2)

    def along(u, v):
        return c * (u.dx + nu * v.dy)

    def across(u, v):
        return c * (v.dy + nu * u.dx)

    def shear(u, v):
        return g * (u.dy + v.dx)

    def end(y):
        return load / (2 * i) * (0.25 - y**2)

    free = lambda u, v, x, y: (shear(u, v), across(u, v))  # noqa: E731
    problem = sf.Problem(
        sf.Box((0, length), (-0.5, 0.5)),
        lambda u, v, x, y: (
            along(u, v).dx + shear(u, v).dy,
            shear(u, v).dx + across(u, v).dy,
        ),
        left=lambda u, v, x, y: (u - bent(x, y), v - deflected(x, y)),
        right=lambda u, v, x, y: (along(u, v), shear(u, v) - end(y)),
        bottom=free,
        top=free,
    )
    return problem, bent, deflected


@pytest.mark.parametrize(("ratio", "nu"), [(1, 0.3), (6, 0.25), (40, 0.3), (4, 0.4999)])
def test_cantilevers_of_any_length(ratio, nu):
    problem, u, v = cantilever(ratio, nu)
    solution = sf.solve(problem, tol=1e-6)
    assert solution.converged, solution.outcome
    assert largest_error(solution, u, "u") < 1e-6
    assert largest_error(solution, v, "v") < 1e-6


def elastic(conditions, **parts):
    return sf.Problem(
        SQUARE,
        lambda u, v, x, y: (
            u.dxx + 0.35 * u.dyy + 0.65 * v.dxy,
            v.dyy + 0.35 * v.dxx + 0.65 * u.dxy,
        ),
        conditions=conditions,
        **parts,
    )


@pytest.mark.parametrize("pin", [(0.0, 0.0), (0.5, 0.5), (1.0, 0.2)])
def test_a_body_that_may_turn_is_not_converged(pin):
    pulled = lambda u, v, x, y: (u.dx + 0.3 * v.dy - 1, u.dy + v.dx)  # noqa: E731
    free = lambda u, v, x, y: (u.dy + v.dx, v.dy + 0.3 * u.dx)  # noqa: E731
    held = [sf.at(pin, lambda u, v, x, y: (u, v))]
    solution = sf.solve(elastic(held, left=pulled, right=pulled, bottom=free, top=free))
    assert solution.outcome.kind == "ill-posed"
    assert "u and v can turn" in solution.outcome.detail
    also = [*held, sf.at((0.7, 0.9), lambda u, v, x, y: v - 0.7 * u)]
    assert sf.solve(elastic(also, left=pulled, right=pulled, bottom=free, top=free)).converged


@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1.0), (2, 1, 3.0)])
def test_a_resonance_of_two_unknowns(m, n, k):
    a = np.pi**2 * (m**2 + n**2) - k

    def pair(a):
        return sf.Problem(
            SQUARE,
            lambda u, v, x, y: (
                sf.laplacian(u) + a * u + k * v - x,
                sf.laplacian(v) + a * v + k * u,
            ),
            boundary=lambda u, v, x, y: (u, v),
        )

    assert sf.solve(pair(a), tol=1e-5).outcome.kind == "near-singular"


@pytest.mark.parametrize("tol", [1e-3, 1e-7])
@pytest.mark.parametrize("m", [1, 3, 7])
def test_resonances_on_the_line_whatever_the_data(m, tol):
    def pair(near):
        a = (np.pi * m) ** 2 * (1 + near) - 2

        def op(u, v):
            return (u.dxx + a * u + 2 * v) / 40, (v.dxx + a * v + 2 * u) / 40

        def residual(u, v, x):
            made = op(np.sin(2 * x + 1), np.cos(3 * x))
            return tuple(p - q for p, q in zip(op(u, v), made, strict=True))

        return sf.Problem(
            sf.Interval(0, 1),
            residual,
            boundary=lambda u, v, x: (u - np.sin(2 * x + 1), v - np.cos(3 * x)),
        )

    assert sf.solve(pair(0.0), tol=tol).outcome.kind == "near-singular"
    beside = sf.solve(pair(1e-2), tol=tol)
    assert beside.converged
    x = np.linspace(0, 1, 101)
    assert np.abs(beside.u(x) - np.sin(2 * x + 1)).max() < 3 * beside.error_estimate + 1e-12


@pytest.mark.parametrize("m", [7, 9])
def test_a_resonance_beside_a_front_in_the_data(m):
    """Patches of several sizes hold the mode to as many digits as it takes to see it."""
    k = 2.0
    a = (np.pi * m) ** 2 - k

    def one(x):
        return np.tanh((x - 0.82) / 0.02) + np.sin(2 * x)

    def operator(u, v, x):
        return (u.dxx + a * u + k * v) / a, (v.dxx + a * v + k * u) / a

    def equation(u, v, x):
        made = operator(one(x), np.cos(3 * x), x)
        return tuple(p - q for p, q in zip(operator(u, v, x), made, strict=True))

    problem = sf.Problem(
        sf.Interval(0, 1), equation, boundary=lambda u, v, x: (u - one(x), v - np.cos(3 * x))
    )
    assert sf.solve(problem, tol=1e-6).outcome.kind == "near-singular"


@pytest.mark.parametrize(("place", "wide"), [(0.18, 1e-4), (0.6713, 3e-6)])
def test_a_pulse_in_a_system_is_found(place, wide):
    """u' = v, v' = pulse: v steps by its integral, and u bends."""

    def pulse(x):
        return np.exp(-(((x - place) / wide) ** 2)) / (wide * np.sqrt(np.pi))

    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, v, x: (u.dx - v, v.dx - pulse(x)),
        left=lambda u, v, x: (u, v),
    )
    solution = sf.solve(problem, tol=1e-5)
    assert solution.converged
    assert solution.v(1.0) == pytest.approx(1.0, abs=2e-5)
    assert solution.u(1.0) == pytest.approx(1.0 - place, abs=2e-5)


@pytest.mark.parametrize(("place", "wide"), [(0.515, 6e-3), (0.93, 1e-3)])
def test_a_pulse_to_the_right_of_many_told_places_is_found(place, wide):
    """Where exp has underflowed it is zero all along, which is no place of interest."""

    def one(x):
        return 1.6 / (1 + ((x - 0.1) / 7e-4) ** 2)

    def two(x):
        return np.exp(-(((x - place) / wide) ** 2)) + np.sin(2 * x)

    def operator(u, v, x):
        return -1e-6 * u.dxx + u - 0.1 * v, -3e-5 * v.dxx + v - 0.1 * x * u

    def equation(u, v, x):
        made = operator(one(x), two(x), x)
        return tuple(a - b for a, b in zip(operator(u, v, x), made, strict=True))

    problem = sf.Problem(
        sf.Interval(0, 1), equation, boundary=lambda u, v, x: (u - one(x), v - two(x))
    )
    solution = sf.solve(problem, tol=1e-4)
    assert solution.converged
    x = np.sort(np.concatenate([np.linspace(0, 1, 301), place + wide * np.linspace(-4, 4, 99)]))
    assert np.abs(solution.v(x) - two(x)).max() < 1e-4


@pytest.mark.parametrize(("place", "wide"), [(0.64, 1e-4), (0.2, 3e-5)])
def test_layers_beside_an_edge_inside(place, wide):
    """A plate of small stiffness under a strip: u is 1e-5, and right to three digits of that."""
    e, k = 5e-3, np.pi**2

    def load(x):
        return np.where((x > place - wide / 2) & (x < place + wide / 2), 1.0, 0.0)

    def beam(u, x):
        return e**2 * (u.dxxxx - 2 * k * u.dxx + k**2 * u) - u.dxx + k * u - load(x)

    def plate(u, x, y):
        bending = e**2 * sf.laplacian(sf.laplacian(u))
        return bending - sf.laplacian(u) - load(x) * np.sin(np.pi * y)

    clamped, hinged = lambda u, x, y: (u, u.dn), lambda u, x, y: (u, u.dyy)
    parts = {"left": clamped, "right": clamped, "bottom": hinged, "top": hinged}
    across = sf.solve(
        sf.Problem(sf.Interval(0, 1), beam, boundary=lambda u, x: (u, u.dx)), tol=1e-9
    )
    solution = sf.solve(sf.Problem(SQUARE, plate, **parts), tol=1e-3)
    assert across.converged and solution.converged
    error = largest_error(solution, lambda x, y: across(x) * np.sin(np.pi * y))
    assert error < 3 * solution.error_estimate + across.error_estimate
    assert error < 0.05 * across(place)


@pytest.mark.parametrize("wide", [0.3, 0.04])
def test_a_plate_with_layers(wide):
    def exact(x, y):
        return np.cosh((x - 0.5) / wide) / np.cosh(0.5 / wide) + 0 * y + np.sin(x) * np.cos(y)

    def source(x, y):
        return wide**2 * 4 * np.sin(x) * np.cos(y) + 2 * np.sin(x) * np.cos(y)

    def slope(x, y):
        layer = np.sinh((x - 0.5) / wide) / np.cosh(0.5 / wide) / wide
        return layer + np.cos(x) * np.cos(y), -np.sin(x) * np.sin(y)

    def given(u, x, y):
        return u - exact(x, y)

    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: wide**2 * sf.laplacian(sf.laplacian(u)) - sf.laplacian(u) - source(x, y),
        left=lambda u, x, y: (given(u, x, y), u.dx - slope(x, y)[0]),
        right=lambda u, x, y: (given(u, x, y), u.dx - slope(x, y)[0]),
        bottom=lambda u, x, y: (given(u, x, y), u.dy - slope(x, y)[1]),
        top=lambda u, x, y: (given(u, x, y), u.dy - slope(x, y)[1]),
    )
    solution = sf.solve(problem, tol=1e-4)
    assert solution.converged
    assert largest_error(solution, exact) < 1e-4


@pytest.mark.parametrize(("place", "wide", "height"), [(0.26, 2e-2, 1.0), (0.61, 1e-3, 1e3)])
def test_a_load_on_a_narrow_strip_is_felt_far_from_it(place, wide, height):
    """A plate supported on two sides is a beam across times a sine."""
    e, k = 0.2, np.pi**2

    def load(x):
        return np.where((x > place - wide / 2) & (x < place + wide / 2), height, 0.0)

    beam = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: e**2 * (u.dxxxx - 2 * k * u.dxx + k**2 * u) - u.dxx + k * u - load(x),
        boundary=lambda u, x: (u, u.dx),
    )
    plate = sf.Problem(
        SQUARE,
        lambda u, x, y: (
            e**2 * sf.laplacian(sf.laplacian(u)) - sf.laplacian(u) - load(x) * np.sin(np.pi * y)
        ),
        left=lambda u, x, y: (u, u.dn),
        right=lambda u, x, y: (u, u.dn),
        bottom=lambda u, x, y: (u, u.dyy),
        top=lambda u, x, y: (u, u.dyy),
    )
    across = sf.solve(beam, tol=1e-9)
    assert across.converged
    solution = sf.solve(plate, tol=1e-5)
    assert solution.converged
    error = largest_error(solution, lambda x, y: across(x) * np.sin(np.pi * y))
    assert error < 1e-5
    assert error < 3 * solution.error_estimate


@pytest.mark.parametrize(("eps", "tol"), [(1e-2, 1e-6), (1e-6, 1e-8)])
def test_an_outflow_layer_on_patches(eps, tol):
    def exact(x, y):
        return (x - np.exp((x - 1) / eps)) * np.sin(np.pi * y)

    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: (
            -eps * sf.laplacian(u) + u.dx - np.sin(np.pi * y) - eps * np.pi**2 * exact(x, y)
        ),
        boundary=lambda u, x, y: u - exact(x, y),
    )
    solution = sf.solve(problem, tol=tol, adaptor=sf.Patches())
    assert solution.converged
    assert solution.kernels < 700
    error = largest_error(solution, exact)
    assert error < tol
    # The place of a point beside x = 1 is known to 1e-16.
    honest(solution, error, 1e-12 + 1e-15 / eps)


@pytest.mark.parametrize("place", [0.3, 0.62])
def test_a_jump_inside_an_opaque_function_is_not_called_solved(place):
    step = sf.function(lambda x: (x > place) * 1.0)
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: sf.laplacian(u),
        boundary=lambda u, x, y: u,
        right=lambda u, x, y: u - y,
        top=lambda u, x, y: u - step(x),
    )
    solution = sf.solve(problem, tol=1e-3, adaptor=sf.Patches(max_kernels=8000))
    assert not solution.converged


def test_a_solution_on_patches_is_saved_and_loaded(tmp_path):
    domain, _ = corner(0, 0.0)
    problem = sf.Problem(domain, lambda u, x, y: -sf.laplacian(u) - 1, boundary=lambda u, x, y: u)
    solution = sf.solve(problem, tol=1e-2)
    solution.save(tmp_path / "corner.npz")
    again = sf.load(tmp_path / "corner.npz")
    x, y = domain.sample(50).T
    np.testing.assert_allclose(again(x, y), solution(x, y), rtol=1e-12)
    np.testing.assert_allclose(again.d("x")(x, y), solution.d("x")(x, y), rtol=1e-10)


def test_tilings():
    domain, _ = corner(0, 0.0)
    (block,) = tiling_of(domain).blocks
    assert [x.tolist() for x in block.lines] == [[-1, 0, 1], [-1, 0, 1]]
    assert len(block.boxes(block.lines)) == 3
    assert {w[4] for w in block.walls} == set(domain.parts)
    assert tiling_of(sf.Disk((0, 0), 1)).blocks[0].region is not None


def test_rates_of_layers_from_the_equation():
    wall = np.array([[1.0, 0.5]])
    convection = sf.Problem(
        SQUARE, lambda u, x, y: -1e-3 * sf.laplacian(u) + u.dx, boundary=lambda u, x, y: u
    )
    assert decay_rates(convection, wall, 0, 1)[0] == pytest.approx([1e3])
    assert len(decay_rates(convection, wall, 0, 0)[0]) == 0
    pair = sf.Problem(
        SQUARE,
        lambda u, v, x, y: (-1e-4 * sf.laplacian(u) + u - v, -sf.laplacian(v) + u),
        boundary=lambda u, v, x, y: (u, v),
    )
    assert decay_rates(pair, wall, 0, 1)[0] == pytest.approx([1.0, 100.0], rel=1e-3)
    wave = sf.Problem(SQUARE, lambda u, x, y: sf.laplacian(u) + 900 * u, boundary=lambda u, x, y: u)
    assert wave_numbers(wave, wall, 1) == pytest.approx([30.0])
