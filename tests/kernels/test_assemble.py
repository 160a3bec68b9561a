"""Assembly: linear forms, bases and points become labelled blocks of rows."""

from __future__ import annotations

import math

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharpfront.arrays import to_host
from sharpfront.equation import laplacian
from sharpfront.equation.linearise import linear_form
from sharpfront.equation.trace import Symbols, trace
from sharpfront.errors import EquationError, LinearSystemError
from sharpfront.kernels import Gaussian
from sharpfront.kernels.assemble import Block, LinearSystem, RowSet, assemble, form_matrix
from sharpfront.kernels.basis import KernelBasis, isotropic
from sharpfront.kernels.profiles import InverseMultiquadric
from sharpfront.leastsquares import SVD

DEVICES = [strict.Device(name) for name in ("CPU_DEVICE", "device1")]
HYPOTHESIS = settings(deadline=None, max_examples=50, derandomize=True, database=None)


def forms(residual, unknowns=("u",), coordinates=("x",)):
    return tuple(linear_form(e) for e in trace(residual, Symbols(unknowns, coordinates)))


def line_basis(count=5, kernel=None):
    centres = np.linspace(0, 1, count)[:, None]
    shapes = np.full((count, 1, 1), 4.0) * np.arange(1, count + 1)[:, None, None]
    return KernelBasis(kernel or Gaussian(), centres, shapes)


def plane_basis():
    rng = np.random.default_rng(0)
    shapes = np.linalg.inv(rng.standard_normal((6, 2, 2)) + 2 * np.eye(2))
    return KernelBasis(Gaussian(), rng.uniform(size=(6, 2)), shapes)


X = np.linspace(0, 1, 9)[:, None]
XY = np.random.default_rng(1).uniform(size=(8, 2))


def test_rows_are_the_operator_applied_to_every_function():
    basis = line_basis()
    form = forms(lambda u, x: -0.01 * u.dxx + np.cos(x) * u.dx + 3 * u - np.exp(x))
    system = assemble([RowSet("equation", form, X)], {"u": basis}, ("x",))
    x = X[:, :1]
    expected = (
        -0.01 * basis.matrix(X, (2,))
        + np.cos(x) * basis.matrix(X, (1,))
        + 3 * basis.matrix(X, (0,))
    )
    (block,) = system.blocks
    np.testing.assert_allclose(block.matrix, expected, rtol=1e-13, atol=1e-13)
    # The source is what remains without the unknown; it goes to the other side.
    np.testing.assert_allclose(block.rhs, np.exp(X[:, 0]), rtol=1e-15)
    assert (system.columns, block.rows) == (5, 9)


def test_a_solution_within_the_basis_makes_every_row_vanish():
    # u = exp(-r^2 / 2) about one centre; the residual's source is made to fit.
    basis = isotropic(np.array([[0.2, 0.7], [0.9, 0.1]]), np.ones(2))
    weights = np.array([1.0, 0.0])

    def residual(u, x, y):
        a, b = x - 0.2, y - 0.7
        exact = 0.5 * (a**2 + b**2 - 2) - a - x * b
        return 0.5 * laplacian(u) + u.dx + x * u.dy - exact * np.exp(-0.5 * (a**2 + b**2))

    system = assemble(
        [RowSet("equation", forms(residual, coordinates=("x", "y")), XY)], {"u": basis}, ("x", "y")
    )
    (block,) = system.blocks
    np.testing.assert_allclose(block.matrix @ weights, block.rhs, atol=1e-11)


def test_normal_derivative_follows_the_normals():
    basis = plane_basis()
    angles = np.linspace(0, 6, len(XY))
    normals = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    form = forms(lambda u, x, y: u.dn + 2 * u - y, coordinates=("x", "y"))
    system = assemble([RowSet("rim", form, XY, normals)], {"u": basis}, ("x", "y"))
    expected = (
        normals[:, :1] * basis.matrix(XY, (1, 0))
        + normals[:, 1:] * basis.matrix(XY, (0, 1))
        + 2 * basis.matrix(XY, (0, 0))
    )
    np.testing.assert_allclose(system.blocks[0].matrix, expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(system.blocks[0].rhs, XY[:, 1])


def test_normal_derivative_without_normals_is_refused():
    with pytest.raises(EquationError, match="boundary only"):
        assemble([RowSet("equation", forms(lambda u, x: u.dn), X)], {"u": line_basis()}, ("x",))


def test_label_and_weight_reach_the_blocks():
    rows = [
        RowSet("equation", forms(lambda u, x: u.dx), X),
        RowSet("left", forms(lambda u, x: u - 1), X[:1], weight=30.0),
    ]
    system = assemble(rows, {"u": line_basis()}, ("x",))
    assert [(b.label, b.weight, b.rows) for b in system.blocks] == [
        ("equation", 1.0, 9),
        ("left", 30.0, 1),
    ]
    # Blocks keep their natural scale: the weight is applied by whoever solves.
    np.testing.assert_allclose(system.blocks[1].matrix, line_basis().matrix(X[:1], (0,)))
    assert system.rhs.tolist() == [0.0] * 9 + [1.0]


def test_several_conditions_on_one_part_are_several_blocks():
    clamped = RowSet("left", forms(lambda u, x: (u - 2, u.dx + 3)), X[:1])
    system = assemble([clamped], {"u": line_basis()}, ("x",))
    assert [b.label for b in system.blocks] == ["left", "left"]
    assert system.rhs.tolist() == [2.0, -3.0]
    np.testing.assert_allclose(system.blocks[1].matrix, line_basis().matrix(X[:1], (1,)))


def test_unknowns_have_column_blocks_in_the_order_of_the_bases():
    u, v = line_basis(5), line_basis(3, kernel=InverseMultiquadric())
    both = forms(lambda u, v, x: (u.dx - v, v.dxx + x * u - 1), ("u", "v"))
    system = assemble([RowSet("equation", both, X)], {"u": u, "v": v}, ("x",))
    first, second = system.blocks
    assert system.columns == 5 + 3
    np.testing.assert_allclose(first.matrix[:, :5], u.matrix(X, (1,)))
    np.testing.assert_allclose(first.matrix[:, 5:], -v.matrix(X, (0,)))
    np.testing.assert_allclose(second.matrix[:, :5], X * u.matrix(X, (0,)), atol=1e-15)
    np.testing.assert_allclose(second.matrix[:, 5:], v.matrix(X, (2,)))
    assert second.rhs.tolist() == [1.0] * 9
    turned = assemble([RowSet("equation", both, X)], {"v": v, "u": u}, ("x",))
    np.testing.assert_array_equal(turned.blocks[0].matrix[:, 3:], first.matrix[:, :5])


def test_an_unknown_that_does_not_occur_has_zero_columns():
    (form,) = forms(lambda u, v, x: v - 1, ("u", "v"))
    system = assemble(
        [RowSet("left", (form,), X[:2])], {"u": line_basis(), "v": line_basis(2)}, "x"
    )
    assert np.all(system.blocks[0].matrix[:, :5] == 0)
    assert np.all(system.blocks[0].matrix[:, 5:] != 0)


def test_an_unknown_without_a_basis_is_refused():
    both = forms(lambda u, v, x: (u.dx - v, v.dx + u), ("u", "v"))
    with pytest.raises(LinearSystemError, match=r"No basis is given for v.*bases for u"):
        assemble([RowSet("equation", both, X)], {"u": line_basis()}, ("x",))


def test_no_points_give_an_empty_block():
    form = forms(lambda u, x: u.dx - np.sin(x))
    system = assemble([RowSet("equation", form, X[:0])], {"u": line_basis()}, ("x",))
    assert system.blocks[0].matrix.shape == (0, 5)
    assert system.rhs.shape == (0,)


def test_constant_coefficients_and_sources_hold_at_every_point():
    form = forms(lambda u, x: 4 * u - 7)
    system = assemble([RowSet("equation", form, X)], {"u": line_basis()}, ("x",))
    np.testing.assert_allclose(system.blocks[0].matrix, 4 * line_basis().matrix(X, (0,)))
    assert system.rhs.tolist() == [7.0] * 9


def test_form_matrix_is_linear_in_the_coefficients():
    (form,) = forms(lambda u, x: u.dx + u)
    one, other = X[:, 0] + 1, np.sin(X[:, 0])
    matrix = form_matrix(form, [one, other], X, {"u": line_basis()})
    first, second = (line_basis().matrix(X, t.orders) for t in form.terms)
    np.testing.assert_allclose(matrix, one[:, None] * first + other[:, None] * second)


@HYPOTHESIS
@given(
    places=st.lists(st.integers(0, 512), min_size=1, max_size=12, unique=True),
    which=st.integers(0, 11),
    kind=st.sampled_from(["pole", "nan", "source"]),
)
def test_coefficients_that_are_not_finite_are_refused_by_their_point(places, which, kind):
    points = np.array(places)[:, None] / 512
    bad = float(points[which % len(places), 0])
    residual = {
        "pole": lambda u, x: u.dxx / (x - bad) + u,
        "nan": lambda u, x: u.dxx + np.sqrt(-((x - bad) ** 2) - 1e-9) * u,
        "source": lambda u, x: u.dx - np.log(abs(x - bad)),
    }[kind]
    if kind == "nan":
        bad = float(points[0, 0])
    with pytest.raises(EquationError) as error:
        assemble([RowSet("left", forms(residual), points)], {"u": line_basis()}, ("x",))
    assert f"x = {bad:.6g}." in str(error.value)
    assert "left" in str(error.value)
    assert ("source" if kind == "source" else "coefficient") in str(error.value)


def test_all_coordinates_of_the_bad_point_are_named():
    form = forms(lambda u, x, y: u.dx / (x - y), coordinates=("x", "y"))
    points = np.array([[0.1, 0.2], [0.25, 0.25]])
    with pytest.raises(EquationError, match=r"inf at x = 0\.25, y = 0\.25\."):
        assemble([RowSet("equation", form, points)], {"u": plane_basis()}, ("x", "y"))


def random_system(rng=None):
    rng = rng or np.random.default_rng(2)
    return LinearSystem(
        (
            Block("equation", rng.standard_normal((6, 3)) * 1e4, rng.standard_normal(6)),
            Block("left", rng.standard_normal((2, 3)) * 1e-5, rng.standard_normal(2), 5.0),
        )
    )


def test_unit_rows_have_unit_norm_and_the_same_zero():
    system = random_system()
    unit = system.with_unit_rows()
    for before, after in zip(system.blocks, unit.blocks, strict=True):
        np.testing.assert_allclose(np.linalg.norm(after.matrix, axis=1), 1, rtol=1e-14)
        norms = np.linalg.norm(before.matrix, axis=1)
        np.testing.assert_allclose(after.rhs * norms, before.rhs, rtol=1e-13)
        np.testing.assert_allclose(after.matrix * norms[:, None], before.matrix, rtol=1e-13)
        assert (after.label, after.weight) == (before.label, before.weight)


def test_rows_of_zeros_stay():
    matrix = np.array([[0.0, 0.0], [3.0, 4.0]])
    (block,) = LinearSystem((Block("a", matrix, np.array([7.0, 10.0])),)).with_unit_rows().blocks
    assert block.matrix.tolist() == [[0.0, 0.0], [0.6, 0.8]]
    assert block.rhs.tolist() == [7.0, 2.0]


def test_right_hand_sides_come_in_the_order_of_the_blocks_unweighted():
    system = random_system()
    np.testing.assert_array_equal(system.rhs, np.concatenate([b.rhs for b in system.blocks]))


@pytest.mark.parametrize(
    "blocks, message",
    [
        ((), "at least one block"),
        (
            (
                Block("a", np.ones((2, 3)), np.ones(2)),
                Block("b", np.ones((2, 4)), np.ones(2)),
            ),
            r"different numbers of columns: \[3, 4\]",
        ),
        ((Block("rim", np.ones((2, 3)), np.ones(3)),), r"'rim' has 2 rows.*\(3,\)"),
        ((Block("rim", np.ones((2, 3)), np.ones((2, 1))),), r"'rim' has 2 rows.*\(2, 1\)"),
        ((Block("rim", np.ones((2, 0)), np.ones(2)),), "needs a column"),
    ],
)
def test_blocks_that_do_not_fit_are_refused(blocks, message):
    with pytest.raises(LinearSystemError, match=message):
        LinearSystem(blocks)


@pytest.mark.parametrize("array", [np.asarray, strict.asarray])
def test_a_block_may_cover_some_columns_only(array):
    matrix = np.arange(1.0, 7.0).reshape(2, 3)
    block = Block("tie", array(matrix), array(np.ones(2)), start=2)
    assert (block.start, block.stop, block.rows) == (2, 5, 2)
    padded = block.padded(6)
    assert type(padded) is type(array(matrix))
    assert to_host(padded).tolist() == [[0, 0, 1, 2, 3, 0], [0, 0, 4, 5, 6, 0]]
    whole = Block("all", array(matrix), array(np.ones(2)))
    assert whole.padded(3) is whole.matrix


def test_groups_of_columns():
    blocks = (
        Block("first", 2 * np.ones((3, 2)), np.ones(3)),
        Block("tie", np.ones((1, 5)), np.ones(1)),
        Block("second", np.ones((4, 3)), np.ones(4), start=2),
    )
    system = LinearSystem(blocks, partition=(0, 2, 5))
    assert system.columns == 5
    assert system.rhs.shape == (8,)
    unit = system.with_unit_rows()
    assert unit.partition == (0, 2, 5)
    assert [b.start for b in unit.blocks] == [0, 0, 2]
    with pytest.raises(LinearSystemError, match=r"'second' covers columns 2 to 5.*\(0, 3, 5\)"):
        LinearSystem(blocks[2:], partition=(0, 3, 5))
    with pytest.raises(LinearSystemError, match="'second' covers columns 2 to 5"):
        LinearSystem(blocks[2:])


def layer_rows(array):
    """A layer problem's rows: equation, Robin condition, value."""
    x = array(np.linspace(0, 1, 31)[:, None])
    normals = array(np.array([[-1.0]]))
    return [
        RowSet("equation", forms(lambda u, x: -0.1 * u.dxx + (1 + x) * u.dx - np.sin(3 * x)), x),
        RowSet("left", forms(lambda u, x: u - u.dn), x[:1, :], normals, weight=10.0),
        RowSet("right", forms(lambda u, x: u - 1), x[-1:, :], weight=30.0),
    ]


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_from_points_to_weights_under_array_api_strict(device):
    method = SVD()

    def on(array):
        return strict.asarray(array, device=device)

    centres, widths = np.linspace(0, 1, 8)[:, None], np.full(8, 0.12)
    results = []
    for array in (np.asarray, on):
        basis = isotropic(array(centres), array(widths))
        system = assemble(layer_rows(array), {"u": basis}, ("x",)).with_unit_rows()
        weights, outcome, facts = method.solve(method.factor(system), system.rhs)
        results.append((system, basis.matrix(array(centres), (0,)) @ weights, outcome, facts))
    (plain, values, outcome, facts), (other, got, other_outcome, other_facts) = results
    assert type(got) is type(on(1.0))
    assert got.device == device
    for a, b in zip(plain.blocks, other.blocks, strict=True):
        assert b.matrix.device == b.rhs.device == device
        np.testing.assert_allclose(to_host(b.matrix), a.matrix, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(to_host(b.rhs), a.rhs, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(to_host(got), values, atol=1e-11)
    assert other_outcome == outcome
    assert (other_facts.rank, other_facts.dead_columns) == (facts.rank, facts.dead_columns)
    assert other_facts.residual_norm == pytest.approx(facts.residual_norm, rel=1e-9)


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_systems_and_shapes_under_array_api_strict(device):
    def on(array):
        return strict.asarray(array, device=device)

    rng = np.random.default_rng(5)
    shapes = np.linalg.inv(rng.standard_normal((6, 2, 2)) + 2 * np.eye(2))
    centres = rng.uniform(size=(6, 2))
    stokes_like = forms(
        lambda u, v, x, y: (laplacian(u) + y * v.dx, u.dx + v.dy - x), ("u", "v"), ("x", "y")
    )
    systems = []
    for array in (np.asarray, on):
        basis = KernelBasis(Gaussian(), array(centres), array(shapes))
        other = isotropic(array(centres), array(np.full(6, 0.5)), InverseMultiquadric())
        rows = [RowSet("equation", stokes_like, array(XY))]
        systems.append(assemble(rows, {"u": basis, "v": other}, ("x", "y")))
    for a, b in zip(systems[0].blocks, systems[1].blocks, strict=True):
        assert b.matrix.shape == (8, 12)
        np.testing.assert_allclose(to_host(b.matrix), a.matrix, rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(to_host(b.rhs), a.rhs, rtol=1e-14)


def test_solving_an_assembled_problem_solves_the_problem():
    # u'' = -pi^2 sin(pi x), u(0) = u(1) = 0.
    centres = np.linspace(-0.3, 1.3, 33)[:, None]
    basis = isotropic(centres, np.full(33, 0.1))
    x = np.linspace(0, 1, 80)[:, None]
    rows = [
        RowSet("equation", forms(lambda u, x: u.dxx + np.pi**2 * np.sin(np.pi * x)), x),
        RowSet("boundary", forms(lambda u, x: u), x[[0, -1]], weight=1e3),
    ]
    system = assemble(rows, {"u": basis}, ("x",))
    method = SVD()
    weights, _, facts = method.solve(method.factor(system), system.rhs)
    error = np.abs(basis.matrix(x, (0,)) @ weights - np.sin(math.pi * x[:, 0]))
    assert error.max() < 1e-9
    assert facts.residual_norm < 1e-6
