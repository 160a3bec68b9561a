"""Even kernels and their cached tables."""

import mpmath as mp
import numpy as np
import pytest

from sharpfront.bases import even_kernels as tables

SIZES = [4, 12, 50, 120]


def gaussian_derivative(z, order):
    """d^order/dz^order exp(-z^2/2) with fifty digits."""
    with mp.workdps(50):
        z = mp.mpf(float(z))
        hermite = mp.mpf(2) ** (mp.mpf(-order) / 2) * mp.hermite(order, z / mp.sqrt(2))
        return float((-1) ** order * hermite * mp.exp(-z * z / 2))


@pytest.mark.parametrize("order", range(5))
def test_kernels_and_their_derivatives_agree_with_fifty_digits(order):
    z = np.array([-8.4, -3.0, -1.0, -0.1, 0.0, 0.7, 1.7, 2.5, 6.0, 8.49])
    got = tables._gaussians(z, order)
    assert len(got) == order + 1
    expected = [gaussian_derivative(v, order) for v in z]
    np.testing.assert_allclose(got[order], expected, rtol=1e-13, atol=1e-30)


def test_kernels_end_before_their_values_are_denormal():
    end = tables.REACH
    far = tables._gaussians(np.array([end + 0.01, -end - 0.5, 50.0, 1e100]), 4)
    assert np.all(np.array(far) == 0)
    near = tables._gaussians(np.array([8.49]), 4)
    assert np.all(np.abs(near) > 1e-16)


def test_centres_are_even_with_ghosts_beyond_both_ends():
    c = tables.centres(10)
    assert len(c) == 10 + 2 * tables.GHOSTS
    np.testing.assert_allclose(np.diff(c), 0.1, rtol=1e-12)
    inside = c[(c > 0) & (c < 1)]
    np.testing.assert_allclose(inside, np.arange(0.05, 1, 0.1))
    np.testing.assert_allclose(c + c[::-1], 1.0, rtol=1e-13)


@pytest.mark.parametrize("kernels", SIZES)
def test_orthonormal_on_the_fitting_points(kernels):
    values = tables.kernel_table(kernels, 0)[0]
    points = tables.fitting_points(kernels)
    gram = values.T @ values / len(points)
    # Columns of relative size 1e-14 among the kernels are orthonormal to their rounding only.
    sigma = np.linalg.svd(
        tables._gaussians(
            (points[:, None] - tables.centres(kernels)) * (kernels / tables.WIDTH), 0
        )[0],
        compute_uv=False,
    )
    kept = sigma[: gram.shape[0]]
    allowed = 1e-14 * (kept[0] / kept)[:, None] * np.ones_like(gram)
    off = np.abs(gram - np.eye(len(gram)))
    assert np.all(off <= 20 * np.maximum(allowed, allowed.T))
    strong = kept > 1e-6 * kept[0]
    assert off[np.ix_(strong, strong)].max() < 1e-8
    assert np.all(kept > tables.CUT * kept[0])
    assert np.all(sigma[len(kept) :] <= tables.CUT * kept[0])


@pytest.mark.parametrize("kernels", SIZES)
def test_tables_are_the_kernels_combined(kernels):
    even = tables.even_kernels(kernels)
    assert even.combine.shape == (4 + kernels + 2 * tables.GHOSTS, even.size)
    s = np.array([0.0, 0.013, 0.5, 0.77, 1.0])
    scale = kernels / tables.WIDTH
    smooth = [np.polynomial.Legendre.basis(i, [0, 1]) for i in range(4)]
    gaussians = np.array(
        [
            [
                [
                    scale**k * gaussian_derivative((x - c) * scale, k)
                    for c in tables.centres(kernels)
                ]
                for x in s
            ]
            for k in range(3)
        ]
    )
    inside = np.abs(s[:, None] - tables.centres(kernels)) * scale < tables.REACH
    table = even.table(s, 2)
    for k in range(3):
        legendre = np.array([f.deriv(k)(s) if k else f(s) for f in smooth]).T
        plain = np.hstack([legendre, gaussians[k] * inside])
        size = np.abs(plain) @ np.abs(even.combine)
        assert np.all(np.abs(table[k] - plain @ even.combine) <= 1e-12 * size)


@pytest.mark.parametrize("order", range(5))
def test_polynomials_and_their_derivatives(order):
    s = np.linspace(0, 1, 11)
    got = tables._polynomials(s, order)
    assert len(got) == order + 1
    for i in range(4):
        exact = np.polynomial.Legendre.basis(i, [0, 1])
        exact = exact.deriv(order) if order else exact
        np.testing.assert_allclose(got[order][:, i], exact(s), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kernels", [33, 58, 120])
@pytest.mark.parametrize("degree", range(4))
def test_low_polynomials_are_held_to_rounding(kernels, degree):
    """With kernels alone the second derivative of a constant is 3e-9 to 5e-8."""
    even, points = tables.even_kernels(kernels), tables.fitting_points(kernels)
    exact = np.polynomial.Polynomial([1.0, -0.3, 0.5, 2.0][: degree + 1])
    values = tables.kernel_table(kernels, 0)[0]
    # Four functions are enough, and the first ones.
    weights = np.zeros(even.size)
    weights[:4] = np.linalg.lstsq(values[:, :4], exact(points), rcond=None)[0]
    s = np.linspace(0, 1, 101)
    for k, got in enumerate(even.sums(s, weights, 2)):
        expected = exact.deriv(k)(s) if k else exact(s)
        assert np.abs(got - expected).max() < 1e-13


@pytest.mark.parametrize("kernels", [12, 50])
def test_sums_are_tables_times_weights(kernels):
    even = tables.even_kernels(kernels)
    weights = np.random.default_rng(0).standard_normal(even.size)
    s = np.linspace(0, 1, 31)
    table, sums = even.table(s, 4), even.sums(s, weights, 4)
    assert sums.shape == (5, 31)
    noise = 1e-15 * np.abs(even.combine @ weights).sum()
    for k in range(5):
        atol = 100 * noise * (kernels / tables.WIDTH) ** k
        np.testing.assert_allclose(sums[k], table[k] @ weights, rtol=0, atol=atol)


@pytest.mark.parametrize(
    "f, d1, d2",
    [
        (np.exp, np.exp, np.exp),
        (lambda s: 1 + 0 * s, lambda s: 0 * s, lambda s: 0 * s),
        (
            lambda s: np.sin(20 * s),
            lambda s: 20 * np.cos(20 * s),
            lambda s: -400 * np.sin(20 * s),
        ),
    ],
    ids=["exp", "constant", "sine"],
)
def test_smooth_functions_and_their_derivatives_are_represented(f, d1, d2):
    """Fifty kernels carry a smooth function to 1e-12, its first two derivatives to 1e-10, 1e-8."""
    table = tables.kernel_table(50, 2)
    weights = np.linalg.lstsq(table[0], f(tables.fitting_points(50)), rcond=None)[0]
    s = np.linspace(0, 1, 333)
    got = tables.even_kernels(50).sums(s, weights, 2)
    for values, exact, tolerance in zip(got, (f, d1, d2), (1e-12, 3e-10, 1e-7), strict=True):
        assert np.abs(values - exact(s)).max() < tolerance * max(1, np.abs(exact(s)).max())


@pytest.mark.parametrize(
    "cached",
    [
        tables.even_kernels,
        tables.fitting_points,
        tables.checking_nodes,
        tables.checking_middles,
        lambda n: tables.every_point(n)[0],
        lambda n: tables.kernel_table(n, 2),
        lambda n: tables.kernel_table(n, 2, tables.checking_middles),
        lambda n: tables.kernel_table(n, 2, tables.both_ends),
        lambda n: tables.quadrature(n)[0],
    ],
)
def test_made_once_for_each_number_of_kernels(cached):
    assert cached(37) is cached(37)
    assert cached(37) is not cached(38)


@pytest.mark.parametrize("kernels", SIZES)
def test_fitting_points_fill_the_interval_and_crowd_at_its_ends(kernels):
    s = tables.fitting_points(kernels)
    assert len(s) == 2 * kernels + 2 * tables.CLUSTER
    assert (s[0], s[-1]) == (0.0, 1.0)
    assert np.all(np.diff(s) > 0)
    assert np.diff(s).max() <= 0.5 / kernels * (1 + 1e-12)
    assert s[1] < 0.1 / kernels
    np.testing.assert_allclose(s + s[::-1], 1.0, atol=1e-15)


@pytest.mark.parametrize("kernels", range(4, 130))
def test_nothing_is_fitted_where_it_is_checked(kernels):
    fitted, middles = tables.fitting_points(kernels), tables.checking_middles(kernels)
    nearest = np.abs(middles[:, None] - fitted).min(axis=1)
    spacing = np.diff(tables.checking_nodes(kernels))
    assert np.all(nearest > 1e-3 * spacing)
    # The residual vanishes at fitted points: most middles lie well away from them.
    assert np.median(nearest) > 0.09 / (3 * kernels)


@pytest.mark.parametrize("kernels", SIZES)
def test_checking_nodes_are_three_to_a_kernel_and_more_at_the_ends(kernels):
    nodes, middles = tables.checking_nodes(kernels), tables.checking_middles(kernels)
    assert len(nodes) == 3 * kernels + 1 + 6 + 4 * min(8, kernels)
    assert (nodes[0], nodes[-1]) == (0.0, 1.0)
    assert np.all(np.diff(nodes) > 0)
    assert np.diff(nodes).max() <= (1 + 1e-12) / (3 * kernels)
    assert nodes[1] == pytest.approx(1 / (24 * kernels))
    np.testing.assert_allclose(middles, (nodes[1:] + nodes[:-1]) / 2)


@pytest.mark.parametrize("kernels", SIZES)
def test_every_point_is_cut_into_its_three_parts(kernels):
    s, parts = tables.every_point(kernels)
    first, second, third = (s[part] for part in parts)
    np.testing.assert_array_equal(first, tables.fitting_points(kernels))
    np.testing.assert_array_equal(second, tables.checking_middles(kernels))
    np.testing.assert_array_equal(third, tables.checking_nodes(kernels))


@pytest.mark.parametrize("kernels", SIZES)
def test_tables_are_at_their_points(kernels):
    even = tables.even_kernels(kernels)
    for table, points in [
        (tables.kernel_table(kernels, 1), tables.fitting_points(kernels)),
        (
            tables.kernel_table(kernels, 1, tables.checking_middles),
            tables.checking_middles(kernels),
        ),
        (tables.kernel_table(kernels, 1, tables.both_ends), np.array([0.0, 1.0])),
    ]:
        np.testing.assert_array_equal(table, even.table(points, 1))


@pytest.mark.parametrize(
    "f, integral",
    [
        (lambda s: 1 + 0 * s, 1.0),
        (lambda s: s**5, 1 / 6),
        (np.exp, np.e - 1),
        (lambda s: np.sin(15 * s), (1 - np.cos(15)) / 15),
        (lambda s: 1 / (1 + 25 * (s - 0.5) ** 2), 0.4 * np.arctan(2.5)),
    ],
)
def test_quadrature_is_exact_for_smooth_functions(f, integral):
    points, weights, table = tables.quadrature(30)
    assert weights @ f(points) == pytest.approx(integral, rel=1e-14)
    assert table.shape == (3, 120, tables.even_kernels(30).size)


@pytest.mark.parametrize("kernels", [12, 50])
def test_quadrature_integrates_the_kernels_themselves(kernels):
    """The integral of a derivative is the difference of the ends."""
    _, weights, table = tables.quadrature(kernels)
    ends = tables.kernel_table(kernels, 2, tables.both_ends)
    # The last combinations of kernels oscillate too fast to be anything but rounding.
    strong = slice(tables.even_kernels(kernels).size // 2)
    for k in (1, 2):
        expected = ends[k - 1][1] - ends[k - 1][0]
        # A constant has no derivative.
        size = np.maximum(np.abs(table[k]).max(axis=0), 1.0)
        off = np.abs(weights @ table[k] - expected) / size
        assert np.all(off[strong] < 1e-11)


@pytest.mark.parametrize("kernels", SIZES)
def test_functions_are_the_same_whichever_signs_a_decomposition_has(kernels, monkeypatch):
    usual = tables.even_kernels(kernels).combine
    svd = np.linalg.svd

    def turned(matrix, **options):
        left, sigma, right = svd(matrix, **options)
        signs = np.where(np.arange(len(sigma)) % 3, 1.0, -1.0)
        return left * signs, sigma, right * signs[:, None]

    monkeypatch.setattr(np.linalg, "svd", turned)
    again = tables.even_kernels.__wrapped__(kernels).combine
    np.testing.assert_array_equal(again, usual)


def test_sums_at_many_points_are_made_part_by_part(monkeypatch):
    functions = tables.even_kernels(20)
    s, weights = np.linspace(0, 1, 500), 0.5 ** np.arange(functions.size)
    whole = functions.sums(s, weights, 2)
    seen = []
    plain = tables.EvenKernels._plain
    monkeypatch.setattr(tables, "MANY_ENTRIES", 5000)
    monkeypatch.setattr(tables, "SOME_ENTRIES", 1000)
    monkeypatch.setattr(
        tables.EvenKernels, "_plain", lambda f, at, k: seen.append(len(at)) or plain(f, at, k)
    )
    np.testing.assert_allclose(functions.sums(s, weights, 2), whole, rtol=1e-12)
    assert sum(seen) == 500
    assert max(seen) * len(functions.combine) <= 1000
