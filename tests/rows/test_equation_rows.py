"""The equation's rows are reduced to the triangle that QR of its values at Gauss points gives."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sharpfront as sf
from sharpfront.bases.patch import Patch
from sharpfront.leastsquares.leaf_rows import Reduced
from sharpfront.maps import AxisMap
from sharpfront.place.tiling.tiling import tiling_of
from sharpfront.rows.equation_rows import EquationRows, with_means
from sharpfront.rows.form_values import form_at
from sharpfront.rows.row_scaling import Measure


def patch_at(low, sides, functions):
    return Patch(tuple(AxisMap(a, a + h) for a, h in zip(low, sides, strict=True)), functions)


def by_values(rows, problem, patch):
    """Return the rows from values at Gauss points, reduced by QR."""
    points, weights = patch.gauss_points(tuple(p + 1 for p in patch.functions))
    forms = [
        replace(f, rhs=with_means(form, problem.coordinates, [patch], [f.rhs])[0])
        for form in problem.forms
        for f in [form_at(form, problem.coordinates, points)]
    ]
    return rows._varying(patch, (points, weights), forms)


def assert_equal_rows(found, wanted):
    """Rows are the same up to a rotation if their normal equations are, and all their squares."""
    own, other = np.asarray(found.triangle), np.asarray(wanted.triangle)
    size = np.abs(other).max()
    for a, b in ((own.T @ own, other.T @ other), (own.T @ found.rhs, other.T @ wanted.rhs)):
        np.testing.assert_allclose(a, b, atol=1e-12 * size * max(size, np.abs(wanted.rhs).max()))
    squares = [r.left[0][0, 0] ** 2 + np.sum(r.rhs[:, 0] ** 2) for r in (found, wanted)]
    assert squares[0] == pytest.approx(squares[1], rel=1e-9)


@settings(derandomize=True, deadline=None, max_examples=12)
@given(
    st.lists(st.floats(-2, 2), min_size=6, max_size=6),
    st.integers(4, 9),
    st.integers(4, 9),
    st.floats(0.01, 1.0),
)
def test_constant_coefficients_make_a_triangle_without_qr(c, p, q, thin):
    problem = sf.Problem(
        sf.Box((0, 3), (0, 2)),
        lambda u, x, y: (
            (1.5 + c[0]) * u.dxx
            + c[1] * u.dxy
            + c[2] * u.dyy
            + c[3] * u.dx
            + c[4] * u.dy
            + c[5] * u
            - np.exp(x) * np.sin(3 * y)
        ),
        boundary=lambda u, x, y: u,
    )
    patch = patch_at((0.3, 0.2), (thin, 0.9), (p, q))
    rows = EquationRows(Measure(problem, 7))
    (found,) = rows.reduced([patch], 1)
    triangle = np.asarray(found.triangle)
    np.testing.assert_array_equal(triangle, np.triu(triangle))
    assert_equal_rows(found, by_values(rows, problem, patch))


@pytest.mark.parametrize("dimension", [1, 3])
def test_also_on_the_line_and_in_space(dimension):
    domain = sf.Interval(0, 1) if dimension == 1 else sf.Box((0, 1), (0, 1), (0, 1))
    problem = sf.Problem(
        domain,
        lambda u, *x: sf.laplacian(u) + 2 * u.dx - np.sin(sum(x)),
        boundary=lambda u, *x: u,
    )
    patch = patch_at((0.1,) * dimension, (0.5, 0.4, 0.3)[:dimension], (6, 5, 4)[:dimension])
    rows = EquationRows(Measure(problem, 1))
    (found,) = rows.reduced([patch], 1)
    assert_equal_rows(found, by_values(rows, problem, patch))


def test_patches_alike_share_the_triangle_and_not_the_right_hand_side():
    """Of systems too, whose rows are no triangle; sides that differ by rounding are equal."""
    box = sf.Box((0, 1), (0, 1))
    one = sf.Problem(box, lambda u, x, y: sf.laplacian(u) - x, boundary=lambda u, x, y: u)
    two = sf.Problem(
        box,
        lambda u, v, x, y: (sf.laplacian(u) - v - x * y, sf.laplacian(v) + u.dx),
        boundary=lambda u, v, x, y: (u, v),
    )
    patches = [patch_at((a, 0.0), (0.1, 0.1), (6, 6)) for a in (0.1, 0.3, 0.7)]
    for problem in (one, two):
        rows = EquationRows(Measure(problem, 3))
        first, *others = rows.reduced(patches, 3)
        for other, patch in zip(others, patches[1:], strict=True):
            assert other.triangle is first.triangle
            assert_equal_rows(other, by_values(rows, problem, patch))


@pytest.mark.parametrize("alike", [True, False])
def test_equations_with_an_unknown_each_are_reduced_apart(alike):
    """In the order of the unknowns, whatever the order of the equations is."""
    k = (lambda x: 1 + x) if alike else (lambda x: 2 - x)
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, v, x, y: ((1 + x) * v.dxx + v.dyy - x * y, k(x) * u.dxx + u.dyy - np.exp(x)),
        boundary=lambda u, v, x, y: (u, v),
    )
    patch = patch_at((0.2, 0.1), (0.5, 0.7), (5, 6))
    rows = EquationRows(Measure(problem, 2))
    (found,) = rows.reduced([patch], 1)
    assert not np.asarray(found.triangle)[:30, 30:].any()
    assert rows._apart == [1, 0]
    rows._apart = []
    assert_equal_rows(found, by_values(rows, problem, patch))


def test_what_no_columns_can_hold_is_left():
    matrix = np.eye(5, 3)
    found = Reduced.of(matrix, np.arange(1.0, 6.0)[:, None])
    assert found.left[0][0, 0] ** 2 == pytest.approx(16 + 25)
    np.testing.assert_allclose(np.abs(found.rhs[:, 0]), [1, 2, 3])


@pytest.mark.parametrize(("count", "kept"), [(4, True), (40, False)])
def test_rows_of_too_many_patches_are_not_kept_from_the_first_on(monkeypatch, count, kept):
    monkeypatch.setattr("sharpfront.rows.equation_rows.MOST_KEPT", 10 * 36**2)
    box = sf.Box((0, 1), (0, 1))
    problem = sf.Problem(
        box, lambda u, x, y: (1 + x) * u.dxx + u.dyy - x, boundary=lambda u, x, y: u
    )
    rows = EquationRows(Measure(problem, 0))
    some = [patch_at((0.0, 0.0), (h, 1.0), (6, 6)) for h in (0.1, 0.2, 0.3, 0.4)]
    first = rows.reduced(some, count)[0]
    assert (rows.reduced(some, count)[0].triangle is first.triangle) == kept


def test_a_box_that_is_cut_may_crowd_its_points_at_a_side():
    domain = sf.Box((0, 1), (0, 1)) - sf.Disk((1, 0.5), 0.3)
    problem = sf.Problem(
        domain,
        lambda u, x, y: (1 + x) * u.dxx + u.dyy - x * np.exp(x) * np.cos(y),
        boundary=lambda u, x, y: u - np.exp(x) * np.cos(y),
    )
    (region,) = {block.region for block in tiling_of(domain).blocks}
    patch = Patch((AxisMap(0.5, 1, -2.0), AxisMap(0, 0.5)), (14, 12), None, region)
    assert patch.cut is not None
    rows = EquationRows(Measure(problem, 7))
    (found,) = rows.reduced([patch], 1)
    x, y = patch.inner_points().T
    weights = patch.frame.fitted(np.exp(x)[None] * np.cos(y)).ravel()
    triangle = np.asarray(found.triangle)
    left = triangle @ weights - np.asarray(found.rhs)[:, 0]
    assert np.abs(left).max() < 1e-5 * np.abs(triangle * weights).max()
