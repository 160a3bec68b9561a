"""One cell solved exactly: against fifty digits, from smooth to a layer of 1e-10 of the cell."""

import mpmath as mp
import numpy as np
import pytest

from sharpfront.estimate.exponential_fitting import first_order_rows, slopes

EPS = np.finfo(float).eps


def exact_slopes(a, b, c, h):
    """ll, lr, lf, rl, rr, rf from the two solutions of the homogeneous equation."""
    with mp.workdps(400):
        a, b, c, h = (mp.mpf(float(v)) for v in (a, b, c, h))
        root = mp.sqrt(b * b / 4 - a * c)
        r, s = (-b / 2 + root) / a, (-b / 2 - root) / a
        if abs(r - s) * h < mp.mpf(10) ** -150:
            pair = [lambda x: mp.exp(r * x), lambda x: x * mp.exp(r * x)]
            slope = [lambda x: r * mp.exp(r * x), lambda x: (1 + r * x) * mp.exp(r * x)]
        else:
            pair = [lambda x: mp.exp(r * x), lambda x: mp.exp(s * x)]
            slope = [lambda x: r * mp.exp(r * x), lambda x: s * mp.exp(s * x)]
        zero = mp.mpf(0)
        ends = mp.matrix([[pair[0](zero), pair[1](zero)], [pair[0](h), pair[1](h)]])
        out = {}
        for name, values in (("l", (1, 0)), ("r", (0, 1))):
            A, B = mp.lu_solve(ends, mp.matrix(values))
            for side, x in (("l", zero), ("r", h)):
                out[side + name] = A * slope[0](x) + B * slope[1](x)
        # A particular solution: a constant, a line, or a parabola.
        if c != 0:
            p, dp = (lambda x: 1 / c), (lambda x: zero)
        elif b != 0:
            p, dp = (lambda x: x / b), (lambda x: 1 / b)
        else:
            p, dp = (lambda x: x * x / (2 * a)), (lambda x: x / a)
        A, B = mp.lu_solve(ends, mp.matrix([-p(zero), -p(h)]))
        for side, x in (("l", zero), ("r", h)):
            out[side + "f"] = A * slope[0](x) + B * slope[1](x) + dp(x)
        return {k: float(mp.re(v)) for k, v in out.items()}


CASES = [
    (-eps, b, c, h)
    for eps in (1.0, 1e-2, 1e-5, 1e-10)
    for b in (0.0, 1.0, -1.0, 1e-4)
    for c in (0.0, 1.0, 3e-7)
    for h in (1e-3, 0.1)
    # Beyond a hundred widths a cell the answer is zero or a plain root either way.
    if abs(b) * h / eps < 600 and c * h * h / eps < 1e5
] + [
    (1.0, 0.0, 4.0, 0.5),
    (1e-4, 0.0, 1.0, 0.015),
    (1e-4, 1e-3, 1.0, 0.01),
    (1e-2, -0.3, 2.0, 0.1),
    (2.0, 1.0, 0.125, 0.3),
    (-0.3, 7.0, 0.2, 1.0),
]


@pytest.mark.parametrize("a, b, c, h", CASES)
def test_slopes_agree_with_fifty_digits(a, b, c, h):
    """Series of four terms leave 2e-8 where a cell is a third of a width."""
    got = slopes(*(np.array([v]) for v in (a, b, c, h)))
    expected = exact_slopes(a, b, c, h)
    d, g = b * h / (2 * a), c * h * h / a
    tolerance = 3e-8 if abs(d * d - g) <= 0.1 else 1e-13
    for name in ("ll", "lr", "rl", "rr"):
        size = max(abs(expected["ll"]), abs(expected["rr"]))
        assert getattr(got, name)[0] == pytest.approx(
            expected[name], rel=tolerance, abs=1e-13 * size
        )
    for name in ("lf", "rf"):
        size = max(abs(expected["lf"]), abs(expected["rf"]))
        # The source part divides by g: what the series leave weighs more.
        assert getattr(got, name)[0] == pytest.approx(expected[name], abs=2e-6 * size), name


@pytest.mark.parametrize("b", [0.0, 1e-9, 3e-4, 9.9e-4, 1.1e-3, -1e-4, -9e-4, 0.05, -0.05, 2.0])
def test_the_source_alone_without_reaction(b):
    """The limit for weak convection joins the formula without a step."""
    got = slopes(*(np.array([v]) for v in (1.0, b, 0.0, 1.0)))
    expected = exact_slopes(1.0, b, 0.0, 1.0)
    assert got.lf[0] == pytest.approx(expected["lf"], rel=3e-10)
    assert got.rf[0] == pytest.approx(expected["rf"], rel=3e-10)


def test_cells_are_solved_side_by_side():
    rng = np.random.default_rng(0)
    a = -(10.0 ** rng.uniform(-6, 0, 50))
    b, c, h = rng.standard_normal(50), rng.random(50) * rng.integers(0, 2, 50), rng.random(50)
    b[:10] = c[10:20] = 0.0
    whole = slopes(a, b, c, h)
    for i in range(50):
        one = slopes(a[i : i + 1], b[i : i + 1], c[i : i + 1], h[i : i + 1])
        for name in ("ll", "lr", "lf", "rl", "rr", "rf"):
            assert getattr(whole, name)[i] == pytest.approx(getattr(one, name)[0], rel=1e-13)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("eps", [1e-3, 1e-6, 1e-10, 1e-14])
def test_a_cell_far_wider_than_its_layer_is_upwind(eps, sign):
    """-eps w'' + b w' = s: outside the layer w' = s / b, inside it the jump over eps / b."""
    one = np.ones(1)
    s = slopes(-eps * one, sign * one, 0.0 * one, one)
    # The layer stands at the outflow end.
    out, inn = ("r", "l") if sign > 0 else ("l", "r")
    assert getattr(s, inn + inn)[0] == pytest.approx(0.0, abs=1e-12)
    assert getattr(s, inn + out)[0] == pytest.approx(0.0, abs=1e-12)
    assert getattr(s, inn + "f")[0] == pytest.approx(sign, rel=1e-12)
    assert getattr(s, out + out)[0] == pytest.approx(sign / eps, rel=1e-12)
    assert getattr(s, out + inn)[0] == pytest.approx(-sign / eps, rel=1e-12)


@pytest.mark.parametrize("eps", [1e-4, 1e-8, 1e-12])
def test_a_cell_with_two_layers(eps):
    """-eps^2 w'' + w = s: w' = -+ (wl - s) / eps at the ends, and neither end sees the other."""
    one = np.ones(1)
    s = slopes(-(eps**2) * one, 0.0 * one, one, one)
    np.testing.assert_allclose([s.ll[0], s.rr[0]], [-1 / eps, 1 / eps], rtol=1e-12)
    np.testing.assert_allclose([s.lf[0], s.rf[0]], [1 / eps, -1 / eps], rtol=1e-12)
    assert abs(s.lr[0]) < 1e-12 / eps
    assert abs(s.rl[0]) < 1e-12 / eps


@pytest.mark.parametrize("a, b, c", [(-1e-3, 1.0, 0.5), (-1e-7, -2.0, 3.0), (1.0, 0.0, 9.0)])
def test_constants_are_exact(a, b, c):
    """w = s / c has slopes of zero."""
    s = slopes(*(np.array([v]) for v in (a, b, c, 0.01)))
    for side in ("l", "r"):
        parts = [getattr(s, side + end)[0] for end in "lrf"]
        assert abs(parts[0] + parts[1] + c * parts[2]) <= 1e-11 * np.abs(parts[:2]).max()


def test_nothing_overflows():
    a = -np.array([1e-300, 1e-14, 1.0, 1e10])
    for b in (-1.0, 0.0, 1.0):
        for c in (0.0, 1.0, 1e6):
            with np.errstate(over="raise", invalid="raise"):
                s = slopes(a[1:], np.full(3, b), np.full(3, c), np.full(3, 0.1))
            assert all(np.isfinite(getattr(s, n)).all() for n in ("ll", "lr", "lf", "rl", "rr"))


def test_waves_faster_than_the_cell_stay_finite():
    """Past half a period nothing is resolved; the slopes are those of the longest phase allowed."""
    one = np.ones(1)
    at = slopes(one, 0 * one, np.array([4.0]), one)
    beyond = slopes(one, 0 * one, np.array([1e6]), one)
    np.testing.assert_allclose([beyond.ll[0], beyond.lr[0]], [at.ll[0], at.lr[0]], rtol=1e-12)
    assert at.ll[0] == pytest.approx(-2 / np.tan(2))
    assert at.lr[0] == pytest.approx(2 / np.sin(2))


# --- order one --------------------------------------------------------------------------------


@pytest.mark.parametrize("c0", [0.0, 1e-12, 1.0, -1.0, 30.0, -1e4])
@pytest.mark.parametrize("c1", [1.0, -2.0, 1e-6])
@pytest.mark.parametrize("h", [1e-3, 0.5])
def test_first_order_cells_are_exact(c0, c1, h):
    """From the side on which the exponential is one to the side to which it decays."""
    p0, p1, p2 = (v[0] for v in first_order_rows(*(np.array([v]) for v in (c0, c1, h))))
    with mp.workdps(50):
        f, length = mp.mpf("0.7"), mp.mpf(h)
        rate = -mp.mpf(c0) / mp.mpf(c1)
        if rate > 0:
            # Decays to the left: seen from the right end.
            length = -length
        there = mp.exp(rate * length)
        there += f / mp.mpf(c0) * (1 - there) if c0 else f * length / mp.mpf(c1)
        left, right = (there, mp.mpf(1)) if rate > 0 else (mp.mpf(1), there)
        terms = [p0 * left, p1 * right, -p2 * f]
        assert abs(sum(terms)) <= 1e-15 * max(abs(t) for t in terms)
    assert max(abs(p0), abs(p1)) == 1.0
    assert (p1 == 1.0) == (c0 / c1 >= 0)
