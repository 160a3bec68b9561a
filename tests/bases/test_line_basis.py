"""Pieces side by side: one basis, its derivatives, its state, its rows in a system."""

import itertools

import numpy as np
import pytest

from sharpfront.bases import even_kernels as tables
from sharpfront.bases.legendre import gauss
from sharpfront.bases.line_basis import LineBasis, restore_line
from sharpfront.bases.line_patch import line_patch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.errors import BasisError, ProblemError
from sharpfront.leastsquares import Blocked
from sharpfront.maps.mixture_axis import mixture_axis
from sharpfront.mixture import Mixture
from sharpfront.problem.line_problem import IntegralTerm, LinearCondition, LineProblem, Term
from sharpfront.rows.line_rows import HEAVY, condition_blocks, line_system, operator_rows

EDGES = [(0.0, 0.4), (0.4, 0.7), (0.7, 1.0)]


def basis(order=2, kernels=(20, 30, 40), eps=1e-4):
    """Three pieces: an even one, one with a front and one with a layer at its end."""
    mixtures = [
        None,
        Mixture(np.array([0.3, 0.7]), np.array([0.5, 0.55]), np.array([1e-4, 1e-6])),
        Mixture(np.ones(1), np.ones(1), np.array([eps**2])),
    ]
    return LineBasis(
        tuple(
            line_patch(mixture_axis(low, high, m), n, (low, high), order)
            for (low, high), m, n in zip(EDGES, mixtures, kernels, strict=True)
        )
    )


def some_weights(b, seed=0):
    """Smooth enough that the fourth derivative is not only rounding."""
    rng = np.random.default_rng(seed)
    parts = [rng.standard_normal(p.width) * 2.0 ** -np.arange(p.width) for p in b.patches]
    return np.concatenate([np.tile(part, b.patches[0].fields) for part in parts])


POINTS = np.concatenate([np.linspace(0, 1, 57), [0.4, 0.7, 0.39999, 0.70001, 0.999995]])[:, None]


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5, 6])
def test_matrix_times_weights_is_values(order):
    b = basis(order)
    weights = some_weights(b)
    for j in range((order if order > 2 else 4) + 1):
        matrix = b.matrix(POINTS, (j,))
        assert matrix.shape == (len(POINTS), b.size)
        values = b.values(weights, POINTS, (j,))
        size = np.abs(matrix) @ np.abs(weights)
        assert np.all(np.abs(matrix @ weights - values) <= 1e-9 * size)
        assert np.any(values != 0)


@pytest.mark.parametrize("j", [0, 1, 2])
def test_what_all_patches_do_is_right_on_the_line(j):
    """Tables along the axis and the matrix made of them, against the line's own faster ways."""
    b = basis()
    weights = some_weights(b)
    values = b.values(weights, POINTS, (j,))
    found = PatchworkBasis.matrix(b, POINTS, (j,)) @ weights
    np.testing.assert_allclose(found, values, atol=1e-8 * np.abs(values).max())
    for i, patch in enumerate(b.patches):
        own, z = weights[b.edges[i] : b.edges[i + 1]], gauss(7)[0]
        at_ends, at_points = patch.end_tables(0, 2)[j] @ own, patch.gauss_along(0, 7, 2)[j] @ own
        np.testing.assert_allclose(at_ends, patch.end_rows(j) @ own, rtol=1e-7)
        expected = patch.several(own, patch.points([z])[:, 0], [j])[0]
        np.testing.assert_allclose(at_points, expected, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("order", [2, 4])
def test_a_point_sees_the_columns_of_its_own_piece(order):
    b = basis(order)
    rows = b.matrix(np.array([[0.0], [0.2], [0.4], [0.5], [0.7], [1.0]]), (0,))
    home = [0, 0, 1, 1, 2, 2]
    for row, i in zip(rows, home, strict=True):
        own = slice(b.edges[i], b.edges[i + 1])
        assert np.any(row[own])
        row[own] = 0
        assert not np.any(row)


def test_edges_belong_to_the_piece_on_their_right():
    """The last one to the last piece; both sides agree once they are tied."""
    b = basis()
    weights = some_weights(b)
    parts = [weights[i:j] for i, j in zip(b.edges[:-1], b.edges[1:], strict=True)]
    at = b.values(weights, np.array([[0.0], [0.4], [0.7], [1.0]]), (1,))
    expected = [b.patches[i].end_rows(1)[side] @ parts[i] for i, side in [(0, 0), (1, 0), (2, 0)]]
    expected.append(b.patches[2].end_rows(1)[1] @ parts[2])
    np.testing.assert_allclose(at, expected, rtol=1e-9)


@pytest.mark.parametrize("j", [0, 1, 2])
def test_derivatives_are_those_of_the_values(j):
    b = basis(eps=1e-2)
    weights = some_weights(b)
    x, h = np.array([[0.1], [0.3], [0.5], [0.6], [0.8], [0.95]]), 1e-6
    difference = b.values(weights, x + h, (j,)) - b.values(weights, x - h, (j,))
    slope = b.values(weights, x, (j + 1,))
    np.testing.assert_allclose(difference / (2 * h), slope, atol=1e-4 * np.abs(slope).max())


@pytest.mark.parametrize("order, most", [(1, 4), (2, 4), (3, 3), (4, 4), (5, 5), (6, 6)])
def test_a_derivative_beyond_the_highest_is_refused_with_advice(order, most):
    b = basis(order)
    b.values(some_weights(b), POINTS, (most,))
    for ask in (
        lambda: b.values(some_weights(b), POINTS, (most + 1,)),
        lambda: b.matrix(POINTS, (most + 1,)),
    ):
        with pytest.raises(BasisError, match=f"up to {most}, asked for {most + 1}.*Differentiate"):
            ask()


def test_counts_and_centres():
    b = basis()
    assert (b.dimension, b.kernels) == (1, 90)
    widths = [p.size for p in b.patches]
    assert b.edges == (0, widths[0], widths[0] + widths[1], sum(widths))
    assert b.size == sum(widths)
    centres = b.centres[:, 0]
    assert b.centres.shape == (90, 1)
    assert np.all(np.diff(centres) > 0)
    np.testing.assert_allclose(centres[:20], 0.4 * (np.arange(20) + 0.5) / 20, rtol=1e-13)
    # The layer at one has kernels within its width.
    assert np.sum(centres > 1 - 6e-4) >= 5


@pytest.mark.parametrize("order", [2, 4])
def test_state_and_restore_give_the_same_bits(order):
    b = basis(order)
    state = b.state()
    assert state["type"] == "pieces"
    again = restore_line({k: np.asarray(v) if k != "type" else v for k, v in state.items()})
    weights = some_weights(b)
    assert (again.size, again.kernels, again.edges) == (b.size, b.kernels, b.edges)
    for one, other in zip(b.patches, again.patches, strict=True):
        assert (one.inside, one.order, one.kernels) == (other.inside, other.order, other.kernels)
        for name in ("anchor", "offset", "scale", "log_share", "bell_share"):
            mine, its = (getattr(p.axis, name) for p in (one, other))
            np.testing.assert_array_equal(mine, its)
    for j in range(3):
        np.testing.assert_array_equal(
            again.values(weights, POINTS, (j,)), b.values(weights, POINTS, (j,))
        )
        np.testing.assert_array_equal(again.matrix(POINTS, (j,)), b.matrix(POINTS, (j,)))


def test_state_keeps_the_side_of_a_jump():
    inner = np.nextafter(0.4, 0.0)
    b = LineBasis((line_patch(mixture_axis(0.0, 0.4), 8, (0.0, inner), 2),))
    assert restore_line(b.state()).patches[0].inside == (0.0, inner)


# --- the system -------------------------------------------------------------------------------


def stacked(system):
    a = np.concatenate([b.weight * b.padded(system.columns) for b in system.blocks])
    return a, np.concatenate([b.weight * b.rhs for b in system.blocks])


def problem(order, conditions, source=0.0, coefficients=None):
    return LineProblem((0.0, 1.0), coefficients or (1.0,) * (order + 1), source, conditions)


def test_condition_rows_speak_of_the_pieces_they_need():
    b = basis()
    conditions = (
        LinearCondition((Term(0.0, 0, 2.0), Term(0.0, 1, -3.0)), 5.0),
        LinearCondition((Term(0.9, 0),), 1.0),
        LinearCondition((Term(0.0), Term(1.0, 0, -1.0))),
        LinearCondition((IntegralTerm(),), 7.0),
        LinearCondition((Term(0.5), IntegralTerm(np.cos), Term(0.45, 1, 4.0)), -1.0),
    )
    blocks = condition_blocks(problem(2, conditions), b)
    weights = some_weights(b)

    def u(x, j=0):
        return b.values(weights, np.array([[x]]), (j,))[0]

    t, w = np.polynomial.legendre.leggauss(60)
    whole, cosine = 0.0, 0.0
    for p in b.patches:
        # Gauss in the piece's own coordinate, as fine as the rows under test and independent.
        at = p.axis.invert((t + 1) / 2)
        values = b.values(weights, np.clip(at.x, None, np.nextafter(p.axis.high, 0))[:, None], (0,))
        part = 0.5 * w / p.axis.derivatives(at, 1)[0] * values
        whole, cosine = whole + part.sum(), cosine + part @ np.cos(at.x)
    expected = [
        2 * u(0.0) - 3 * u(0.0, 1),
        u(0.9),
        u(0.0) - u(1.0),
        whole,
        u(0.5) + cosine + 4 * u(0.45, 1),
    ]
    covers = [(0, 1), (2, 3), (0, 3), (0, 3), (0, 3)]
    for block, value, (first, last), c in zip(blocks, expected, covers, conditions, strict=True):
        assert (block.start, block.stop) == (b.edges[first], b.edges[last])
        assert block.matrix.shape[0] == 1
        assert (block.rhs[0], block.weight) == (c.value, HEAVY)
        got = (block.matrix @ weights[block.start : block.stop])[0]
        assert got == pytest.approx(value, rel=1e-9)


def test_a_condition_outside_is_refused():
    with pytest.raises(ProblemError, match=r"x = 1\.5 lies outside"):
        condition_blocks(problem(2, (LinearCondition((Term(1.5),)),)), basis())


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_ties_are_the_jumps_between_pieces(order):
    b = basis(order)
    plain = problem(order, ())
    system = line_system(plain, b, [])
    ties = [block for block in system.blocks if block.label == "tie"]
    weights = some_weights(b)
    assert len(ties) == 2
    for i, tie in enumerate(ties):
        left, right = (weights[b.edges[k] : b.edges[k + 1]] for k in (i, i + 1))
        assert tie.matrix.shape == (order, b.edges[i + 2] - b.edges[i])
        assert (tie.start, tie.weight) == (b.edges[i], HEAVY)
        for j in range(order):
            l_row, r_row = b.patches[i].end_rows(j)[1], b.patches[i + 1].end_rows(j)[0]
            norms = np.linalg.norm(l_row), np.linalg.norm(r_row)
            # At order two the piece with wider kernels sets the unit.
            norm = min(norms) if order == 2 else np.hypot(*norms)
            jump = (l_row @ left - r_row @ right) / norm
            got = tie.matrix[j] @ np.concatenate([left, right])
            assert got == pytest.approx(jump, rel=1e-9, abs=1e-12)


def test_every_row_has_unit_norm_and_its_group():
    b = basis()
    plain = problem(2, (LinearCondition((Term(0.0),), 1.0), LinearCondition((Term(1.0),), 2.0)))
    system = line_system(plain, b, condition_blocks(plain, b))
    assert system.partition == b.edges
    for block in (block for block in system.blocks if block.label != "tie"):
        np.testing.assert_allclose(np.linalg.norm(block.matrix, axis=1), 1.0, rtol=1e-12)
    labels = [block.label for block in system.blocks]
    assert labels == ["condition 1", "condition 2", "tie", "tie", *["equation"] * 3]


def test_a_force_costs_the_same_on_both_sides_of_a_tie():
    """A delta of strength one in a cell of either piece, as its unit rows and their weight see it.

    It would cost 3e-6 in the window in the middle of what it costs beside it.
    """
    edges = (0.0, 0.5, 0.5 + 1e-6, 1.0)
    own = tuple(line_patch(mixture_axis(a, b), 33, (a, b), 2) for a, b in itertools.pairwise(edges))
    plain, whole = problem(2, (), 0.0, (1.0, 0.0, -1.0)), LineBasis(own)
    system = line_system(plain, whole, [])
    costs = []
    for piece, block in zip(own, (b for b in system.blocks if b.label == "equation"), strict=True):
        at = piece.places.rows
        table = tables.kernel_table(33, 2)
        rows, *_ = operator_rows(plain, piece, table, at)
        spacing = (piece.axis.high - piece.axis.low) / 33
        costs.append(block.weight / np.linalg.norm(rows, axis=1).max() / spacing)
    assert max(costs) < 1.1 * min(costs)
    slope = next(block for block in system.blocks if block.label == "tie").matrix[1]
    assert np.linalg.norm(slope[: own[0].size]) == pytest.approx(1.0)
    assert np.linalg.norm(slope[own[0].size :]) > 1e5


@pytest.mark.parametrize(
    "order, coefficients", [(2, (0.0, -1.0, 1e-4)), (3, (0.0, 0.0, -1.0, 1e-4))]
)
def test_a_solve_on_three_pieces_is_the_exact_layer(order, coefficients):
    """eps u'' = u' (or the same for u'): a layer of 1e-4 at one, 1e-9 throughout."""
    eps = 1e-4
    b = basis(order, kernels=(20, 40, 70))
    ends = [LinearCondition((Term(0.0),), 0.0), LinearCondition((Term(1.0),), 1.0)]
    if order == 3:
        ends = [
            LinearCondition((Term(0.0),), 0.0),
            LinearCondition((Term(0.0, 1),), 0.0),
            LinearCondition((Term(1.0, 1),), 1.0),
        ]
    plain = problem(order, tuple(ends), 0.0, coefficients)
    conditions = condition_blocks(plain, b)
    system = line_system(plain, b, conditions)
    method = Blocked(equilibrate=False)
    weights, outcome, _ = method.solve(method.factor(system), system.rhs)
    assert outcome.kind == "converged"
    x = np.concatenate([np.linspace(0, 1, 101), 1 - eps * np.linspace(0, 10, 101)])
    top = order - 2
    exact = np.exp((x - 1) / eps)
    assert np.abs(b.values(weights, x[:, None], (top,)) - exact).max() < 1e-8
    a, r = stacked(system)
    best = np.linalg.norm(r - a @ np.linalg.lstsq(a, r, rcond=None)[0])
    assert np.linalg.norm(a @ weights - r) <= best + 1e-12


@pytest.mark.parametrize("order, tolerance", [(3, 1e-10), (4, 1e-10), (5, 1e-8), (6, 1e-6)])
def test_every_order_can_be_solved(order, tolerance):
    """u^(m) = u, u = exp(x): the definition of the second field takes m - 2 derivatives of u."""
    b = LineBasis((line_patch(mixture_axis(0.0, 1.0), 16, (0.0, 1.0), order),))
    start = [LinearCondition((Term(0.0, j),), 1.0) for j in range(order - 1)]
    conditions = (*start, LinearCondition((Term(1.0),), float(np.e)))
    plain = problem(order, conditions, 0.0, (-1.0, *[0.0] * (order - 1), 1.0))
    blocks = condition_blocks(plain, b)
    system = line_system(plain, b, blocks)
    method = Blocked(equilibrate=False)
    weights, *_ = method.solve(method.factor(system), system.rhs)
    x = np.linspace(0, 1, 41)[:, None]
    for j in (0, 1, order - 2, order - 1):
        assert np.abs(b.values(weights, x, (j,)) - np.exp(x[:, 0])).max() < 100 * tolerance
    assert np.abs(b.values(weights, x, (0,)) - np.exp(x[:, 0])).max() < tolerance


@pytest.mark.parametrize("pieces", [1, 3])
def test_rows_of_pieces_are_made_anew_and_not_kept(pieces):
    ends = np.linspace(0.0, 1.0, pieces + 1).tolist()
    own = tuple(line_patch(mixture_axis(a, b), 20, (a, b), 2) for a, b in itertools.pairwise(ends))
    plain, whole = LineProblem((0.0, 1.0), (1.0, 2.0, -1.0), 3.0), LineBasis(own)
    system = line_system(plain, whole, [])
    for block in (b for b in system.blocks if b.label == "equation"):
        matrix, right = block.entries()
        assert block.matrix is not matrix
        np.testing.assert_array_equal(block.matrix, matrix)
        np.testing.assert_array_equal(block.rhs, right)
        np.testing.assert_allclose(np.linalg.norm(matrix, axis=1), 1.0, rtol=1e-14)
        held = [v for v in vars(block).values() if isinstance(v, np.ndarray)]
        assert sum(v.size for v in held) <= 2 * len(right)
