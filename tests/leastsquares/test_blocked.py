"""Least squares group by group: the same answer as all columns at once, at a linear cost."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sharpfront as sf
from sharpfront.errors import LinearSystemError
from sharpfront.kernels.assemble import Block, LinearSystem
from sharpfront.leastsquares import Blocked, blocked

PROPERTY = settings(max_examples=120, deadline=None, derandomize=True, database=None)
EPS = np.finfo(float).eps
both = pytest.mark.parametrize("method", [Blocked(), Blocked(equilibrate=False)], ids=repr)


def stacked(system):
    a = np.concatenate([b.weight * b.padded(system.columns) for b in system.blocks])
    return a, np.concatenate([b.weight * b.rhs for b in system.blocks])


def dense(system):
    a, b = stacked(system)
    return np.linalg.lstsq(a, b, rcond=None)[0]


def solved(system, method=None):
    """What a method finds, which must not depend on whether anything is kept."""
    method = method or Blocked()
    weights, outcome, facts = method.solve(method.factor(system), system.rhs)
    others, again, seen = method.once(system)
    if facts.rank == system.columns:
        size = facts.condition * max(1.0, np.abs(weights).max())
        np.testing.assert_allclose(others, weights, rtol=0, atol=1e-13 * size)
        assert again.kind == outcome.kind
        norm = np.linalg.norm(stacked(system)[1])
        assert seen.residual_norm == pytest.approx(facts.residual_norm, abs=1e-12 * norm)
    assert (seen.rank, seen.dead_columns) == (facts.rank, facts.dead_columns)
    return weights, outcome, facts


def rows(rng, edges, first, last, count, weight=1.0):
    """Random rows over the groups first, ..., last."""
    width = edges[last + 1] - edges[first]
    matrix, rhs = rng.standard_normal((count, width)), rng.standard_normal(count)
    return Block(f"{first} to {last}", matrix, rhs, weight, start=edges[first])


def chain(groups, size=4, ties=2, long=1, seed=0, weight=1.0):
    """Groups with fewer rows of their own than columns; ties and long rows complete the rank."""
    rng = np.random.default_rng(seed)
    edges = tuple(range(0, groups * size + 1, size))
    blocks = [rows(rng, edges, i, i, size - 1) for i in range(groups)]
    blocks += [rows(rng, edges, i, i + 1, ties) for i in range(groups - 1)]
    blocks += [rows(rng, edges, 0, groups - 1, long, weight), rows(rng, edges, 0, 0, 2)]
    return LinearSystem(tuple(blocks), edges)


@st.composite
def systems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=6))
    edges = tuple(np.cumsum([0, *sizes]).tolist())
    weight = st.sampled_from([0.05, 1.0, 1.0, 40.0])
    blocks = [
        rows(rng, edges, i, i, n + draw(st.integers(0, 3)), draw(weight))
        for i, n in enumerate(sizes)
    ]
    places = st.tuples(st.integers(0, len(sizes) - 1), st.integers(0, len(sizes) - 1))
    for a, b in draw(st.lists(places, max_size=6)):
        count = draw(st.integers(0, 2))
        blocks.append(rows(rng, edges, min(a, b), max(a, b), count, draw(weight)))
    return LinearSystem(tuple(draw(st.permutations(blocks))), edges)


@both
@PROPERTY
@given(system=systems())
def test_any_partition_gives_the_dense_answer(method, system):
    weights, outcome, facts = solved(system, method)
    a, b = stacked(system)
    condition = np.linalg.cond(a)
    size = np.linalg.norm(dense(system)) + 1
    miss = np.linalg.norm(a @ dense(system) - b)
    # The perturbation bound of least squares: the residual enters with the condition squared.
    allowed = 100 * EPS * (condition * size + condition**2 * miss / np.linalg.norm(a, 2))
    assert np.linalg.norm(weights - dense(system)) <= allowed
    rounding = 1e-13 * (np.linalg.norm(a) * np.linalg.norm(weights) + np.linalg.norm(b))
    norm = np.linalg.norm(a @ weights - b)
    assert facts.residual_norm == pytest.approx(norm, rel=1e-9, abs=rounding)
    if condition < 1e8:
        assert (outcome.kind, facts.rank) == ("converged", system.columns)
    assert facts.dead_columns == 0


@both
@pytest.mark.parametrize("groups", [2, 3, 5, 20])
def test_ties_and_long_rows_complete_the_rank(groups, method):
    system = chain(groups)
    weights, outcome, facts = solved(system, method)
    a, _ = stacked(system)
    assert outcome.kind == "converged"
    assert facts.rank == system.columns
    expected = dense(system)
    error = np.linalg.norm(weights - expected) / np.linalg.norm(expected)
    assert error < 1e-14 * np.linalg.cond(a) ** 2


def high_precision(a, b):
    with mp.workdps(60):
        A, B = mp.matrix(a.tolist()), mp.matrix(b.tolist())
        return np.array([float(v) for v in mp.lu_solve(A.T * A, A.T * B)])


@both
@pytest.mark.parametrize("weight", [0.01, 1.0, 1e2, 1e4, 1e6])
def test_a_long_row_has_the_weight_it_was_given(weight, method):
    """Split into parts, it counts as one row: neither softer nor harder."""
    rng = np.random.default_rng(3)
    edges = (0, 2, 5, 6, 8)
    blocks = [rows(rng, edges, i, i, 5) for i in range(4)]
    blocks += [rows(rng, edges, 0, 3, 2, weight), rows(rng, edges, 1, 3, 1, weight)]
    # Of a size of its own: parts of the row are scaled one by one.
    blocks.append(Block("large", 1e3 * rng.standard_normal((1, 8)), np.ones(1), weight / 1e3))
    system = LinearSystem(tuple(blocks), edges)
    expected = high_precision(*stacked(system))
    weights = solved(system, method)[0]
    np.testing.assert_allclose(weights, expected, rtol=0, atol=1e-15 * (10 + weight))


@pytest.mark.parametrize("weight", [1e4, 1e6])
def test_heavy_rows_hold_as_constraints_would(weight):
    """Long rows, ties and rows of one group: the error of a penalty is one over its square."""
    rng = np.random.default_rng(4)
    edges = (0, 3, 6, 9)
    soft = [rows(rng, edges, i, i, 7) for i in range(3)]
    hard = [rows(rng, edges, 0, 2, 1, weight), rows(rng, edges, 1, 2, 1, weight)]
    hard.append(rows(rng, edges, 0, 0, 1, weight))
    system = LinearSystem((*soft, *hard), edges)
    a = np.concatenate([b.padded(9) for b in soft])
    c = np.concatenate([b.padded(9) for b in hard])
    kkt = np.block([[a.T @ a, c.T], [c, np.zeros((3, 3))]])
    right = np.concatenate([a.T @ np.concatenate([b.rhs for b in soft]), *(b.rhs for b in hard)])
    expected = np.linalg.solve(kkt, right)[:9]
    weights = solved(system)[0]
    np.testing.assert_allclose(weights, expected, atol=1e2 / weight**2 + 1e-15 * weight)
    np.testing.assert_allclose(c @ weights, right[9:], atol=1e2 / weight**2 + 1e-14)


@pytest.mark.parametrize("heavy_first", [True, False])
def test_heavy_rows_do_not_drown_the_others(heavy_first):
    """Householder's QR keeps light rows only if heavy ones come first, so the method sorts them."""
    rng = np.random.default_rng(11)
    edges = (0, 4, 8)
    soft = [rows(rng, edges, i, i, 6) for i in range(2)]
    hard = [rows(rng, edges, i, i, 2, 1e10) for i in range(2)]
    blocks = (*hard, *soft) if heavy_first else (*soft, *hard)
    system = LinearSystem(blocks, edges)
    expected = high_precision(*stacked(system))
    weights = solved(system, Blocked(equilibrate=False))[0]
    np.testing.assert_allclose(weights, expected, atol=1e-11 * np.abs(expected).max())


@both
@pytest.mark.parametrize("partition", [(), (0, 5)])
def test_one_group_is_a_plain_qr(partition, method):
    rng = np.random.default_rng(6)
    a, b = rng.standard_normal((12, 5)), rng.standard_normal(12)
    system = LinearSystem((Block("a", a, b),), partition)
    weights, outcome, facts = solved(system, method)
    np.testing.assert_allclose(weights, np.linalg.lstsq(a, b, rcond=None)[0], rtol=1e-12)
    assert (outcome.kind, facts.rank) == ("converged", 5)
    scaled = a / np.abs(a).max(axis=0) if method.equilibrate else a
    diagonal = np.abs(np.diag(np.linalg.qr(scaled, mode="r")))
    assert facts.condition == pytest.approx(diagonal.max() / diagonal.min(), rel=1e-10)


def test_one_factorisation_serves_many_right_hand_sides():
    system = chain(6, long=2)
    method = Blocked()
    state = method.factor(system)
    rng = np.random.default_rng(7)
    a = np.concatenate([b.weight * b.padded(system.columns) for b in system.blocks])
    for _ in range(4):
        rhs = rng.standard_normal(len(system.rhs))
        expected = np.linalg.lstsq(a, rhs, rcond=None)[0]
        before = rhs.copy()
        got = method.solve(state, rhs)[0]
        np.testing.assert_allclose(got, expected, atol=1e-12 * np.abs(expected).max())
        np.testing.assert_array_equal(rhs, before)
    np.testing.assert_array_equal(method.solve(state, rhs)[0], got)
    assert not method.solve(state, 0 * rhs)[0].any()


def test_the_order_of_blocks_decides_only_the_order_of_the_right_hand_side():
    system = chain(4, long=2, weight=5.0)
    expected = solved(system)[0]
    turned = LinearSystem(system.blocks[::-1], system.partition)
    np.testing.assert_allclose(solved(turned)[0], expected, rtol=1e-11)


def test_blocks_without_rows_change_nothing():
    system = chain(4)
    edges = system.partition
    nothing = [
        Block("own", np.zeros((0, 4)), np.zeros(0), start=4),
        Block("tie", np.zeros((0, 8)), np.zeros(0), start=8),
        Block("long", np.zeros((0, 16)), np.zeros(0)),
    ]
    more = LinearSystem((nothing[0], *system.blocks, *nothing[1:]), edges)
    np.testing.assert_array_equal(solved(more)[0], solved(system)[0])
    # A group without a row of its own lives on its ties.
    rng = np.random.default_rng(8)
    system = LinearSystem(
        (
            rows(rng, (0, 2, 4, 6), 0, 0, 3),
            rows(rng, (0, 2, 4, 6), 0, 1, 2),
            rows(rng, (0, 2, 4, 6), 1, 2, 2),
        ),
        (0, 2, 4, 6),
    )
    np.testing.assert_allclose(solved(system)[0], dense(system), rtol=1e-11)


def test_rows_of_zeros_change_nothing():
    system = chain(4)
    zero = Block("nothing", np.zeros((2, 16)), np.ones(2), 3.0)
    weights, _, facts = solved(LinearSystem((*system.blocks, zero), system.partition))
    np.testing.assert_allclose(weights, solved(system)[0], rtol=1e-12)
    assert facts.residual_norm == pytest.approx(
        math.hypot(solved(system)[2].residual_norm, 3.0 * math.sqrt(2))
    )


@both
def test_columns_that_no_row_sees_get_the_weight_zero(method):
    rng = np.random.default_rng(9)
    first, last = rng.standard_normal((4, 3)), rng.standard_normal((5, 2))
    first[:, 2] = 0.0
    truth = np.array([1.0, -2.0, 0.0, 3.0, 0.5])
    system = LinearSystem(
        (
            Block("first", first, first @ truth[:3]),
            Block("last", last, last @ truth[3:], start=3),
        ),
        (0, 3, 5),
    )
    weights, outcome, facts = solved(system, method)
    assert (facts.rank, facts.dead_columns) == (4, 1)
    assert outcome.kind == "near-singular"
    assert "Rank 4 of 5" in outcome.detail
    assert facts.condition == math.inf
    # What the other columns have to say is not lost where it can be met.
    np.testing.assert_allclose(weights, truth, atol=1e-13)
    assert weights[2] == 0


@both
def test_nothing_at_all(method):
    system = LinearSystem((Block("a", np.zeros((3, 4)), np.ones(3)),), (0, 2, 4))
    weights, outcome, facts = solved(system, method)
    assert not weights.any()
    assert (facts.rank, facts.dead_columns, outcome.kind) == (0, 4, "near-singular")


@pytest.mark.parametrize("rhs", [0.0, 1.0])
def test_a_direction_that_only_long_rows_could_see_and_do_not(rhs):
    """Equal unknowns, and a long row that says so again: one free constant, rank two of three."""
    ties = np.array([[1.0, -1.0]])
    system = LinearSystem(
        (
            Block("tie", ties, np.zeros(1)),
            Block("tie", ties, np.zeros(1), start=1),
            Block("long", np.array([[1.0, 0.0, -1.0]]), np.array([rhs])),
        ),
        (0, 1, 2, 3),
    )
    weights, outcome, facts = solved(system)
    assert (facts.rank, outcome.kind) == (2, "near-singular")
    assert facts.condition > 1e14
    assert np.all(np.isfinite(weights))
    # Determined once the long row asks for the sum.
    closed = Block("long", np.ones((1, 3)), np.array([3.0]))
    weights, outcome, facts = solved(LinearSystem((*system.blocks[:2], closed), (0, 1, 2, 3)))
    assert (facts.rank, outcome.kind) == (3, "converged")
    np.testing.assert_allclose(weights, 1.0, rtol=1e-14)


def test_columns_of_any_size_when_equilibrated():
    rng = np.random.default_rng(10)
    scale = 10.0 ** np.array([-12.0, 9.0, 0.0, -200.0, 140.0, 3.0, -7.0])
    edges = (0, 2, 5, 7)
    plain = [rows(rng, edges, i, i, 6) for i in range(3)] + [rows(rng, edges, 0, 1, 2, 30.0)]
    plain.append(rows(rng, edges, 0, 2, 1, 30.0))
    expected = dense(LinearSystem(tuple(plain), edges))
    scaled = tuple(
        Block(b.label, b.matrix * scale[b.start : b.stop], b.rhs, b.weight, start=b.start)
        for b in plain
    )
    weights, outcome, facts = solved(LinearSystem(scaled, edges))
    assert (outcome.kind, facts.rank) == ("converged", 7)
    np.testing.assert_allclose(weights * scale, expected, rtol=1e-11)
    # Without scaling the smallest columns pass for nothing.
    assert solved(LinearSystem(scaled, edges), Blocked(equilibrate=False))[2].rank < 7


def test_scaling_follows_the_weights_of_the_rows():
    """A column whose only large entries stand in heavy rows is scaled by what they count."""
    system = LinearSystem(
        (
            Block("a", np.array([[3.0, 1e-9], [1.0, 2e-9]]), np.array([1.0, 2.0])),
            Block("b", np.array([[0.0, 1.0]]), np.array([5.0]), 1e6),
        )
    )
    *_, facts = solved(system)
    assert facts.condition == pytest.approx(math.sqrt(1 + 1 / 9), rel=1e-6)


@both
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_are_refused(bad, method):
    matrix = np.ones((3, 2))
    matrix[1, 1] = bad
    good = Block("good", np.eye(2), np.ones(2))
    with pytest.raises(LinearSystemError, match="holds NaN or infinity"):
        method.factor(LinearSystem((good, Block("bad", matrix, np.ones(3)))))
    sound = LinearSystem((good,))
    with pytest.raises(LinearSystemError, match="right-hand side holds NaN"):
        method.solve(method.factor(sound), np.array([1.0, bad]))


@pytest.mark.parametrize("shape", [(0,), (19,), (21,), (20, 1)])
def test_a_right_hand_side_of_another_shape_is_refused(shape):
    system = LinearSystem((Block("a", np.ones((20, 1)), np.ones(20)),))
    state = Blocked().factor(system)
    with pytest.raises(LinearSystemError, match="has 20 rows, the right-hand side"):
        Blocked().solve(state, np.ones(shape))


def counted(monkeypatch, system):
    """The sizes of all matrices that were reduced."""
    shapes = []
    plain = blocked.reflected

    def recorded(matrix, **options):
        shapes.append(matrix.shape)
        return plain(matrix, **options)

    with monkeypatch.context() as patch:
        patch.setattr(blocked, "reflected", recorded)
        Blocked().factor(system)
    return np.array(shapes)


def test_the_cost_is_linear_in_the_number_of_groups(monkeypatch):
    few, many = (counted(monkeypatch, chain(n, long=0)) for n in (10, 160))
    np.testing.assert_array_equal(many.max(axis=0), few.max(axis=0))
    flops = [float(np.sum(s[:, 0] * s[:, 1] ** 2.0)) for s in (few, many)]
    assert flops[1] <= 18 * flops[0]
    # No stage holds more than its group, the ties to the next one, and a right-hand side.
    assert many[:, 1].max() <= 4 + 2 + 1
    assert many[:, 0].max() <= 2 * 4 + 2 + 2


def test_rows_that_cover_two_ends_add_two_border_columns(monkeypatch):
    """A periodic condition: zero in all groups between, whatever their number."""
    for groups in (5, 40):
        system = chain(groups, long=0)
        matrix = np.zeros((2, system.columns))
        matrix[:, :4], matrix[:, -4:] = 1.0, -np.arange(1.0, 5.0)
        more = LinearSystem((*system.blocks, Block("seam", matrix, np.ones(2))), system.partition)
        shapes = counted(monkeypatch, more)
        assert shapes[:, 1].max() <= 4 + 2 + 4 + 1
        np.testing.assert_allclose(solved(more)[0], dense(more), atol=1e-10)


def test_the_method_holds_settings_only():
    method = Blocked()
    solved(chain(3), method)
    assert method == Blocked(equilibrate=True)
    with pytest.raises(AttributeError):
        method.equilibrate = False


def test_the_same_system_gives_the_same_bits():
    np.testing.assert_array_equal(solved(chain(7))[0], solved(chain(7))[0])


def test_numbers_whose_squares_overflow_are_solved():
    """What is left of rows was squared as a power of Python's: an OverflowError."""
    huge = sf.Problem(sf.Interval(0, 1), "u_xx = 1e300", boundary="u = 0")
    assert sf.solve(huge)(0.5) == pytest.approx(-1.25e299)
