"""Materials in the plane, in time: coefficients that jump inside a flux."""

import functools

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import j0, j1, y0, y1
from tests.evolve.line_runs import stopping

import sharpfront as sf
from sharpfront.errors import OutcomeKind

SQUARE = sf.Box((0, 1), (0, 1))
KITE = sf.Polygon([(0, 0), (1.4, 0.2), (1.2, 1.1), (0.1, 0.9)])
EDGE = 0.4
# Graded into the edge x = 0.4 from both sides.
ASIDE = np.geomspace(1e-9, 0.35, 25)
X, Y = (
    c.ravel()
    for c in np.meshgrid(np.r_[EDGE - ASIDE, EDGE + ASIDE, 0.0, 1.0], np.linspace(0, 1, 9))
)


def _heat(k, **changes):
    """The heat equation with conductivities k(x, y), zero at walls."""
    stated = {"boundary": lambda u, x, y, t: u, "time": (0, 0.1)} | changes
    rate = stated.pop("rate", lambda u, x, y, t: u.dt)
    return sf.Problem(
        stated.pop("domain", SQUARE),
        lambda u, x, y, t: rate(u, x, y, t) - sf.div(k(x, y) * sf.grad(u)),
        **stated,
    )


def _first_root(function):
    grid = np.geomspace(0.1, 1e3, 400)
    signs = np.sign([function(s) for s in grid])
    first = int(np.flatnonzero(signs[1:] != signs[:-1])[0])
    return brentq(function, *grid[first : first + 2], xtol=1e-14)


@functools.cache
def _two_layers(k, rho):
    """Return rate and shape of the first mode sin(pi y) X(x) with an edge at x = 0.4."""
    ends = np.array([EDGE, 1.0 - EDGE])

    def parts(s):
        p = np.emath.sqrt(np.array(rho) * s / k - np.pi**2)
        return p, np.real(np.sin(p * ends) / p), np.array(k) * np.real(np.cos(p * ends))

    def left(s):
        _, (a, b), (da, db) = parts(s)
        return da * b + a * db

    rate = _first_root(left)
    (p, q), (a, b), _ = parts(rate)

    def shape(x):
        here, there = np.real(np.sin(p * x) / p), np.real(np.sin(q * (1.0 - x)) / q)
        return np.where(x < EDGE, b * here, a * there) / abs(a * b)

    def flux(x):
        here, there = np.real(np.cos(p * x)), -np.real(np.cos(q * (1.0 - x)))
        return np.where(x < EDGE, k[0] * b * here, k[1] * a * there) / abs(a * b)

    return rate, shape, flux


def _layered(given, rate="dt", time=(0, 0.1)):
    """Two layers that begin with their first mode, k and rho given."""
    k, rho = given
    shape = sf.function(_two_layers(*given)[1])
    start = {"u": lambda x, y: shape(x) * np.sin(np.pi * y)}
    return _heat(
        lambda x, y: np.where(x < EDGE, *k),
        rate=lambda u, x, y, t: np.where(x < EDGE, *rho) * getattr(u, rate),
        initial=start | ({} if rate == "dt" else {"u_t": 0.0}),
        time=time,
    )


COOLING, RINGING = ((1.0, 50.0), (1.0, 3.0)), ((1.0, 4.0), (1.0, 1.0))


def test_two_layers_cool_at_the_rate_of_their_first_mode():
    solution = sf.solve(_layered(COOLING), tol=1e-4)
    rate, shape, flux = _two_layers(*COOLING)
    assert solution.converged and solution.kernels < 500
    for t in (0.03, 0.1):
        own = np.sin(np.pi * Y) * np.exp(-rate * t)
        error = np.abs(solution(X, Y, t) - shape(X) * own).max()
        assert error < min(1e-6, solution.error_estimate)
        # From both sides of the edge, 1e-9 away from it.
        passed = np.where(X < EDGE, *COOLING[0]) * solution.d("x")(X, Y, t)
        assert np.abs(passed - flux(X) * own).max() < 1e-4 * np.abs(flux(X)).max()


def test_a_wave_rings_in_two_layers():
    rate, shape, _ = _two_layers(*RINGING)
    period = 2.0 * np.pi / np.sqrt(rate)
    solution = sf.solve(_layered(RINGING, "dtt", (0, period)), tol=1e-3)
    assert solution.converged
    for share in (0.3, 0.75, 1.0):
        exact = shape(X) * np.sin(np.pi * Y) * np.cos(2.0 * np.pi * share)
        error = np.abs(solution(X, Y, share * period) - exact).max()
        assert error < min(1e-4, solution.error_estimate)


def _slanted(domain):
    """A slanted edge, conductivities that grow alike, and u = (1 + n/k + n^2) cos(2s) e^-t.

    n is the distance from the edge, s the place along it.
    """
    c, s, k = np.cos(0.7), np.sin(0.7), (1.0, 30.0)

    def exact(x, y, t):
        n, along = c * x + s * y - 0.6, c * y - s * x
        return (1 + n / np.where(n < 0, *k) + n**2) * np.cos(2 * along) * np.exp(-t)

    def source(x, y, t):
        n, along = c * x + s * y - 0.6, c * y - s * x
        bent = 2 * np.cos(2 * along) * np.exp(-t) - 4 * exact(x, y, t)
        return -exact(x, y, t) - (1 + t) * np.where(n < 0, *k) * bent

    problem = sf.Problem(
        domain,
        lambda u, x, y, t: (
            u.dt
            - sf.div((1 + t) * np.where(c * x + s * y < 0.6, *k) * sf.grad(u))
            - source(x, y, t)
        ),
        boundary=lambda u, x, y, t: u - exact(x, y, t),
        initial=lambda x, y: exact(x, y, 0.0),
        time=(0, 1),
    )
    along = np.linspace(-1, 1, 21)
    n, along = (g.ravel() for g in np.meshgrid(np.r_[-ASIDE, ASIDE], along))
    points = np.column_stack([c * (n + 0.6) - s * along, s * (n + 0.6) + c * along])
    return problem, exact, points[domain.contains(points)]


@pytest.mark.parametrize("domain", [SQUARE, KITE])
def test_edges_across_the_axes_with_conductivities_that_grow_with_time(domain):
    problem, exact, points = _slanted(domain)
    solution = sf.solve(problem, tol=1e-3)
    assert solution.converged and solution.kernels < 800
    for t in (0.2, 1.0):
        at = *points.T, t
        assert np.abs(solution(*at) - exact(*at)).max() < min(1e-4, solution.error_estimate)


def _disk(k, radius):
    """Return rate and shape of the first mode of a unit disk with an inclusion in its middle."""

    def parts(s):
        p, q = np.sqrt(s / k[0]), np.sqrt(s / k[1])
        matrix = [
            [j0(q * radius), y0(q * radius)],
            [k[1] * q * j1(q * radius), k[1] * q * y1(q * radius)],
        ]
        return p, q, np.linalg.solve(matrix, [j0(p * radius), k[0] * p * j1(p * radius)])

    def rim(s):
        _, q, (a, b) = parts(s)
        return a * j0(q) + b * y0(q)

    rate = _first_root(rim)
    p, q, (a, b) = parts(rate)

    def shape(r):
        far = np.maximum(r, 0.5 * radius)
        return np.where(r < radius, j0(p * r), a * j0(q * far) + b * y0(q * far))

    return rate, shape


@functools.cache
def inclusion(end):
    """A round inclusion, in a box on whose sides the mode of the disk is given."""
    rate, shape = _disk((10.0, 1.0), 0.3)
    mode = sf.function(shape)
    return sf.Problem(
        sf.Box((-0.5, 0.5), (-0.4, 0.45)),
        lambda u, x, y, t: u.dt - sf.div(np.where(x**2 + y**2 < 0.09, 10.0, 1.0) * sf.grad(u)),
        boundary=lambda u, x, y, t: u - mode(np.sqrt(x**2 + y**2)) * np.exp(-rate * t),
        initial=lambda x, y: mode(np.sqrt(x**2 + y**2)),
        time=(0, end),
    )


@functools.cache
def warmed():
    return sf.solve(inclusion(0.05), tol=1e-3)


def test_a_round_inclusion():
    rate, shape = _disk((10.0, 1.0), 0.3)
    r, angle = np.meshgrid(np.r_[0.3 - 0.5 * ASIDE, 0.3 + 0.2 * ASIDE], np.linspace(0, 6, 12))
    x, y = r * np.cos(angle), r * np.sin(angle)
    assert warmed().converged
    for t in (0.02, 0.05):
        error = np.abs(warmed()(x, y, t) - shape(r) * np.exp(-rate * t)).max()
        assert error < min(1e-4, warmed().error_estimate)


def test_runs_on_strips_go_on_where_they_were(tmp_path):
    warmed().save(tmp_path / "warm.npz")
    kept = sf.load(tmp_path / "warm.npz")
    longer = sf.solve(inclusion(0.1), tol=1e-3, resume=kept)
    rate, shape = _disk((10.0, 1.0), 0.3)
    x, y = np.array([0.0, 0.2, 0.31, 0.4]), np.array([0.3, 0.1, 0.0, -0.3])
    exact = shape(np.hypot(x, y)) * np.exp(-rate * 0.1)
    assert longer.converged and np.abs(longer(x, y, 0.1) - exact).max() < 1e-4


def _square_in_a_square(x, y):
    return np.where((x > 0.3) & (x < 0.7) & (y > 0.3) & (y < 0.7), 100.0, 1.0)


def _filled(end):
    return sf.Problem(
        SQUARE,
        lambda u, x, y, t: u.dt - sf.div(_square_in_a_square(x, y) * sf.grad(u)) - 10,
        boundary=lambda u, x, y, t: u,
        initial=0.0,
        time=(0, end),
    )


def test_corners_of_materials_become_what_they_are_without_time():
    still = sf.Problem(
        SQUARE,
        lambda u, x, y: -sf.div(_square_in_a_square(x, y) * sf.grad(u)) - 10,
        boundary=lambda u, x, y: u,
    )
    end, found = sf.solve(still, tol=1e-4), sf.solve(_filled(1.5), tol=1e-2)
    # u goes like r^0.67 about the corners.
    r, angle = np.meshgrid(np.geomspace(1e-9, 0.25, 20), np.linspace(0.1, 6, 15))
    x, y = 0.3 + r * np.cos(angle), 0.7 + r * np.sin(angle)
    assert end.converged and found.converged and found.kernels < 4000
    assert np.abs(found(x, y, 1.5) - end(x, y)).max() < min(1e-3, found.error_estimate)


@pytest.mark.slow
def test_runs_with_functions_of_corners_go_on_where_they_were(tmp_path):
    whole = sf.solve(_filled(0.1), tol=3e-2)
    part = sf.solve(_filled(0.1), tol=3e-2, on_step=stopping(0))
    assert part.outcome.kind is OutcomeKind.INTERRUPTED
    part.save(tmp_path / "part.npz")
    found = sf.solve(_filled(0.1), tol=3e-2, resume=sf.load(tmp_path / "part.npz"))
    x, y = np.array([0.3, 0.5, 0.299]), np.array([0.6, 0.3, 0.701])
    np.testing.assert_allclose(found(x, y, 0.1), whole(x, y, 0.1), atol=1e-12)


def test_systems_whose_layers_differ():
    (first, one, _), (second, two, _) = _two_layers(*COOLING), _two_layers(*RINGING)
    heat, salt = sf.function(one), sf.function(two)
    k, d = COOLING[0], RINGING[0]
    problem = sf.Problem(
        SQUARE,
        lambda u, c, x, y, t: (
            np.where(x < EDGE, *COOLING[1]) * u.dt - sf.div(np.where(x < EDGE, *k) * sf.grad(u)),
            c.dt
            - sf.div(np.where(x < EDGE, *d) * sf.grad(c))
            + c * (u - heat(x) * np.sin(np.pi * y) * np.exp(-first * t)),
        ),
        boundary=lambda u, c, x, y, t: (u, c),
        initial={
            "u": lambda x, y: heat(x) * np.sin(np.pi * y),
            "c": lambda x, y: salt(x) * np.sin(np.pi * y),
        },
        time=(0, 0.05),
    )
    solution = sf.solve(problem, tol=1e-3)
    own = np.sin(np.pi * Y)
    assert solution.converged
    for name, rate, shape in (("u", first, one), ("c", second, two)):
        found = getattr(solution, name)(X, Y, 0.05)
        assert np.abs(found - shape(X) * own * np.exp(-rate * 0.05)).max() < 1e-5


def test_a_start_whose_flux_jumps_is_settled():
    k = np.array([1.0, 10.0])

    def flat(u, x, t):
        own = np.where(x < EDGE, *k)
        return u.dt - (own * u.dx).dx + np.pi**2 * own * u

    line = sf.Problem(
        sf.Interval(0, 1),
        flat,
        boundary=lambda u, x, t: u,
        initial=lambda x: np.sin(np.pi * x),
        time=(0, 0.002),
    )
    known = sf.solve(line, tol=1e-7)
    problem = _heat(
        lambda x, y: np.where(x < EDGE, *k),
        initial=lambda x, y: np.sin(np.pi * x) * np.sin(np.pi * y),
        time=(0, 0.002),
    )
    solution = sf.solve(problem, tol=1e-2)
    assert known.converged and solution.converged
    for t in (1e-6, 1e-5, 1e-4, 0.002):
        error = np.abs(solution(X, Y, t) - known(X, t) * np.sin(np.pi * Y)).max()
        assert error < min(2e-3, solution.error_estimate)


class TestRefused:
    @staticmethod
    def refused(words, equation, **changes):
        stated = {"boundary": lambda u, x, y, t: u, "initial": 0.0, "time": (0, 1)} | changes
        with pytest.raises(sf.SharpfrontError, match=words):
            sf.solve(sf.Problem(SQUARE, equation, **stated), tol=1e-2)

    @pytest.mark.parametrize(
        ("words", "k"),
        [
            ("is another at t", lambda x, y, t: np.where(x < 0.5, 1, 5 + t)),
            ("is another at t", lambda x, y, t: np.where(x + y < 0.9, 1 + t * x, 5)),
            ("places that stay", lambda x, y, t: np.where(x < 0.5 + t, 1, 5)),
            ("places that stay", lambda x, y, t: np.where(x**2 + y**2 < 0.2 + t, 1, 5)),
        ],
    )
    def test_conditions_that_change_with_time(self, words, k):
        self.refused(words, lambda u, x, y, t: u.dt - sf.div(k(x, y, t) * sf.grad(u)) - 1)

    @pytest.mark.parametrize(
        ("words", "flux"),
        [
            ("not linear", lambda u, k: k * (1 + u) * u.dx),
            ("no rate", lambda u, k: k * (u.dx + u.d("x").dt)),
            ("nothing else that jumps", lambda u, k: k * (u.dx + 1)),
        ],
    )
    def test_other_fluxes(self, words, flux):
        def equation(u, x, y, t):
            return u.dt - flux(u, np.where(x < 0.5, 1, 5)).dx - u.dyy

        self.refused(words, equation)

    def test_ends_of_a_ring_that_differ(self):
        ring = sf.Problem(
            sf.Box((0, 1), (0, 1), periodic=("x",)),
            lambda u, x, y, t: u.dt - sf.div((1 + 3 * x) * sf.grad(u)),
            boundary=lambda u, x, y, t: u.dn,
            initial=lambda x, y: np.sin(2 * np.pi * x),
            time=(0, 0.1),
        )
        with pytest.raises(sf.SharpfrontError, match="same value at both ends of a periodic axis"):
            sf.solve(ring, tol=1e-2)

    def test_loads_and_stated_jumps(self):
        words = "sf.delta and sf.jump are not known"
        self.refused(words, lambda u, x, y, t: u.dt - sf.laplacian(u) - sf.delta(x - 0.5))
        gap = sf.jump(lambda u, x, y, t: u, x=0.4, equals=lambda u, x, y, t: 2 * u.dx)
        self.refused(words, lambda u, x, y, t: u.dt - sf.laplacian(u) - 1, conditions=[gap])
