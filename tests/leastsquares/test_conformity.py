"""One table of systems against every least-squares method.

A new method joins by one line in METHODS, a new kind of system by one function in SYSTEMS.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass, field
from fractions import Fraction

import array_api_strict as strict
import mpmath as mp
import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from sharpfront.arrays import to_host
from sharpfront.errors import LinearSystemError
from sharpfront.kernels.assemble import Block, LinearSystem
from sharpfront.leastsquares import SVD, Blocked, ManySided

METHODS = [SVD()]
# Asked only for what they promise: full rank.
PLAIN_METHODS = [Blocked(), Blocked(equilibrate=False)]
BACKENDS = {
    "numpy": np.asarray,
    # Not on its default device, so that an array made without naming one is found out.
    "strict": lambda a: strict.asarray(a, device=strict.Device("device1")),
}
HYPOTHESIS = settings(deadline=None, max_examples=50, derandomize=True, database=None)


@dataclass(frozen=True)
class Expected:
    """What is known of a system without solving it."""

    rank: int
    dead: int = 0
    kind: str = "converged"
    tolerance: float = 1e-13
    partition: tuple[int, ...] = ()


@dataclass(frozen=True)
class System:
    name: str
    blocks: tuple = field(repr=False)
    expected: Expected

    def built(self, array=np.asarray):
        return LinearSystem(
            tuple(
                Block(label, array(matrix), array(rhs), *rest)
                for label, matrix, rhs, *rest in self.blocks
            ),
            self.expected.partition,
        )


SYSTEMS = []


def system(expected):
    def register(make):
        rng = np.random.default_rng(len(SYSTEMS))
        SYSTEMS.append(System(make.__name__, tuple(make(rng)), expected))
        return make

    return register


SOFT = (1.0,)


@system(Expected(rank=7))
def full_rank(rng):
    yield "equation", rng.standard_normal((20, 7)), rng.standard_normal(20)


@system(Expected(rank=6))
def square(rng):
    yield "equation", rng.standard_normal((6, 6)), rng.standard_normal(6)


@system(Expected(rank=1))
def single_column(rng):
    yield "equation", rng.standard_normal((9, 1)), rng.standard_normal(9)


@system(Expected(rank=1))
def single_entry(rng):
    yield "equation", np.array([[-4.0]]), np.array([2.0])


@system(Expected(rank=5, tolerance=1e-11))
def weighted_blocks(rng):
    yield "equation", rng.standard_normal((12, 5)), rng.standard_normal(12), 0.1
    yield "left", rng.standard_normal((1, 5)), np.ones(1), 300.0
    yield "right", rng.standard_normal((2, 5)), np.ones(2), 7.0


@system(Expected(rank=5))
def empty_blocks(rng):
    yield "nothing", np.zeros((0, 5)), np.zeros(0)
    yield "equation", rng.standard_normal((12, 5)), rng.standard_normal(12)
    yield "left", rng.standard_normal((1, 5)), np.ones(1), 10.0
    yield "nothing again", np.zeros((0, 5)), np.zeros(0), 3.0


@system(Expected(rank=9, partition=(0, 3, 7, 9)))
def groups_of_columns(rng):
    yield "first", rng.standard_normal((7, 3)), rng.standard_normal(7)
    yield "last", rng.standard_normal((6, 2)), rng.standard_normal(6), *SOFT, 7
    yield "tie", rng.standard_normal((2, 6)), rng.standard_normal(2), 5.0, 3
    yield "middle", rng.standard_normal((8, 4)), rng.standard_normal(8), 2.0, 3
    yield "all", rng.standard_normal((2, 9)), rng.standard_normal(2)


@system(Expected(rank=4, kind="near-singular"))
def rank_deficient(rng):
    low = rng.integers(-3, 4, size=(15, 4)) @ rng.integers(-3, 4, size=(4, 9))
    yield "equation", low.astype(float), rng.standard_normal(15)


@system(Expected(rank=3, kind="near-singular"))
def repeated_columns(rng):
    columns = rng.standard_normal((10, 3))
    yield "equation", columns[:, [0, 1, 0, 2, 1, 1]], rng.standard_normal(10)


@system(Expected(rank=4, dead=3, kind="near-singular"))
def zero_columns(rng):
    matrix = rng.standard_normal((10, 7))
    matrix[:, [0, 3, 6]] = 0
    yield "equation", matrix, rng.standard_normal(10)


@system(Expected(rank=0, dead=3, kind="near-singular"))
def all_zero(rng):
    yield "equation", np.zeros((4, 3)), rng.standard_normal(4)


@system(Expected(rank=0, dead=3, kind="near-singular"))
def no_rows(rng):
    yield "equation", np.zeros((0, 3)), np.zeros(0)


@system(Expected(rank=4, kind="near-singular"))
def under_determined(rng):
    yield "equation", rng.standard_normal((4, 9)), rng.standard_normal(4)


@system(Expected(rank=1, kind="near-singular"))
def one_row(rng):
    yield "equation", rng.standard_normal((1, 6)), rng.standard_normal(1)


@system(Expected(rank=5, tolerance=1e-10))
def badly_scaled_blocks(rng):
    yield "equation", rng.standard_normal((12, 5)) * 1e4, rng.standard_normal(12) * 1e4
    yield "left", rng.standard_normal((2, 5)) * 1e-6, rng.standard_normal(2) * 1e-6, 1e6


@system(Expected(rank=6, tolerance=1e-9))
def ill_conditioned(rng):
    yield "equation", scipy.linalg.hilbert(30)[:, :6], rng.standard_normal(30)


@system(Expected(rank=6))
def tiny_entries(rng):
    yield "equation", rng.standard_normal((12, 6)) * 1e-200, rng.standard_normal(12) * 1e-200


@system(Expected(rank=12, partition=(0, 3, 7, 9, 12)))
def groups_with_ties_and_long_rows(rng):
    edges = (0, 3, 7, 9, 12)
    for start, stop in itertools.pairwise(edges):
        n = stop - start
        yield "own", rng.standard_normal((n + 2, n)), rng.standard_normal(n + 2), *SOFT, start
    yield "tie", rng.standard_normal((2, 6)), rng.standard_normal(2), 5.0, 3
    yield "tie", rng.standard_normal((1, 7)), rng.standard_normal(1)
    yield "all", rng.standard_normal((2, 12)), rng.standard_normal(2), 3.0
    yield "most", rng.standard_normal((1, 9)), rng.standard_normal(1), 0.5, 3
    yield "heavy", rng.standard_normal((3, 2)), rng.standard_normal(3), 20.0, 7


def case_id(value):
    return value.name if isinstance(value, System) else repr(value)


def asked(method, case):
    return isinstance(method, SVD) or case.expected.kind == "converged"


PAIRS = [
    (case, method)
    for case in SYSTEMS
    for method in [*METHODS, *PLAIN_METHODS]
    if asked(method, case)
]
UNIQUE = [pair for pair in PAIRS if pair[0].expected.kind == "converged"]

every_pair = pytest.mark.parametrize("case, method", PAIRS, ids=case_id)
every_method = pytest.mark.parametrize("method", METHODS, ids=repr)
every_backend = pytest.mark.parametrize("backend", BACKENDS)


def stacked(system):
    """Weighted rows and right-hand side as NumPy arrays."""
    matrix = [np.zeros((0, system.columns))]
    for b in system.blocks:
        rows = np.zeros((b.rows, system.columns))
        rows[:, b.start : b.start + b.matrix.shape[1]] = b.weight * to_host(b.matrix)
        matrix.append(rows)
    rhs = [np.zeros(0), *(b.weight * to_host(b.rhs) for b in system.blocks)]
    return np.concatenate(matrix), np.concatenate(rhs)


def size(array, axis=None):
    """The largest entry: unlike a sum of squares it does not underflow."""
    return np.max(np.abs(array), axis=axis, initial=0)


def solved(method, system, rhs=None):
    return method.solve(method.factor(system), system.rhs if rhs is None else rhs)


@functools.cache
def unique_solution(name):
    """Return the minimiser in 60 digits, from the normal equations."""
    (case,) = (s for s in SYSTEMS if s.name == name)
    a, b = stacked(case.built())
    with mp.workdps(60):
        columns = [mp.mpf(v) if v else mp.mpf(1) for v in size(a, axis=0)]
        scaled = mp.matrix(a.tolist()) * mp.diag([1 / v for v in columns])
        found = mp.lu_solve(scaled.T * scaled, scaled.T * mp.matrix(b.tolist()))
        return np.array([float(w / v) for w, v in zip(found, columns, strict=True)])


@every_backend
@every_pair
def test_facts_and_outcome(case, method, backend):
    weights, outcome, facts = solved(method, case.built(BACKENDS[backend]))
    assert outcome.kind == case.expected.kind
    assert facts.rank == case.expected.rank
    assert facts.dead_columns == case.expected.dead
    a, b = stacked(case.built())
    norm = np.linalg.norm(a @ to_host(weights) - b)
    assert facts.residual_norm == pytest.approx(norm, rel=1e-6, abs=1e-12)
    assert facts.condition >= 1 - 1e-12
    if outcome.kind == "near-singular":
        assert facts.condition > 1e12
        assert f"Rank {case.expected.rank} of {a.shape[1]}" in outcome.detail


@every_backend
@every_pair
def test_weights_are_optimal(case, method, backend):
    """No direction would lower the residual."""
    array = BACKENDS[backend]
    weights, *_ = solved(method, case.built(array))
    assert type(weights) is type(array(np.ones(1)))
    a, b = stacked(case.built())
    scale = size(a, axis=0)
    scale = np.where(scale > 0, scale, 1)
    a, w = a / scale, to_host(weights) * scale
    gradient = a.T @ (a @ w - b)
    assert size(gradient) <= 1e-13 * a.size * size(a) * (size(a) * size(w) + size(b))


@every_backend
@pytest.mark.parametrize("case, method", UNIQUE, ids=case_id)
def test_a_unique_solution_agrees_with_sixty_digits(case, method, backend):
    weights, *_ = solved(method, case.built(BACKENDS[backend]))
    scale = size(stacked(case.built())[0], axis=0)
    expected = unique_solution(case.name)
    assert size(expected * scale) > 0
    error = size((to_host(weights) - expected) * (scale / size(expected * scale)))
    assert error <= case.expected.tolerance


@every_backend
@pytest.mark.parametrize("case", [s for s in SYSTEMS if asked(SVD(), s)], ids=case_id)
def test_svd_gives_the_least_norm(case, backend):
    """No direction that does not change the residual is left in the weights."""
    weights = to_host(solved(SVD(), case.built(BACKENDS[backend]))[0])
    a, _ = stacked(case.built())
    free = scipy.linalg.null_space(a / (np.linalg.norm(a, axis=1)[:, None] + 1e-290))
    np.testing.assert_allclose(free.T @ weights, 0, atol=1e-12 * (1 + np.linalg.norm(weights)))


@every_backend
@every_pair
def test_one_factorisation_serves_many_right_hand_sides(case, method, backend):
    built = case.built(BACKENDS[backend])
    state = method.factor(built)
    first, _, facts = method.solve(state, built.rhs)
    twice, _, facts_twice = method.solve(state, 2 * built.rhs)
    nothing, _, facts_nothing = method.solve(state, 0 * built.rhs)
    again, _, facts_again = method.solve(state, built.rhs)
    np.testing.assert_array_equal(to_host(again), to_host(first))
    np.testing.assert_allclose(to_host(twice), 2 * to_host(first), rtol=1e-13)
    assert np.all(to_host(nothing) == 0)
    assert facts_nothing.residual_norm == 0
    assert facts_again == facts
    assert facts_twice.residual_norm == pytest.approx(2 * facts.residual_norm, rel=1e-9, abs=1e-12)
    assert (facts_twice.rank, facts_twice.condition) == (facts.rank, facts.condition)


@every_pair
def test_the_transposed_counts_right_hand_sides_as_their_weights_count(case, method):
    if not isinstance(method, ManySided):
        pytest.skip("has no transposed")
    built, rng = case.built(), np.random.default_rng(1)
    state = method.factor(built)
    right = rng.standard_normal((len(built.rhs), 3))
    weights = method.columns(state, right)
    single = [method.solve(state, column)[0] for column in right.T]
    np.testing.assert_allclose(weights, np.stack(single, axis=1), atol=1e-5 * size(weights))
    values = rng.standard_normal(built.columns)
    counted = method.transposed(state, values) @ right
    scale = np.abs(values) @ np.abs(weights) + 1e-300
    assert np.abs(counted - values @ weights).max() <= 1e-9 * scale.max()


@every_method
def test_right_hand_sides_superpose(method):
    (case,) = (s for s in SYSTEMS if s.name == "weighted_blocks")
    built = case.built()
    state, rng = method.factor(built), np.random.default_rng(0)
    one, other = rng.standard_normal((2, len(built.rhs)))
    weights = [method.solve(state, rhs)[0] for rhs in (one, other, 3 * one - other)]
    np.testing.assert_allclose(weights[2], 3 * weights[0] - weights[1], atol=1e-12)


@every_backend
@every_method
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_are_refused(bad, method, backend):
    array = BACKENDS[backend]
    matrix, rhs = np.ones((3, 2)), np.ones(3)
    matrix[1, 1] = bad
    other = Block("other", array(np.ones((2, 2))), array(np.ones(2)))
    broken = LinearSystem((other, Block("rows", array(matrix), array(rhs))))
    with pytest.raises(LinearSystemError, match="NaN or infinity"):
        method.factor(broken)
    rhs[2] = bad
    sound = LinearSystem((other, Block("rows", array(np.ones((3, 2))), array(rhs))))
    with pytest.raises(LinearSystemError, match="NaN or infinity"):
        method.solve(method.factor(sound), sound.rhs)


@every_method
@pytest.mark.parametrize("length", [0, 19, 21])
def test_a_right_hand_side_of_another_length_is_refused(method, length):
    state = method.factor(SYSTEMS[0].built())
    with pytest.raises(LinearSystemError, match=f"has 20 rows, the right-hand side {length}"):
        method.solve(state, np.ones(length))


@every_method
def test_weight_two_counts_like_four_equal_rows(method):
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((10, 4)), rng.standard_normal(10)
    c, d = rng.standard_normal((3, 4)), rng.standard_normal(3)
    weighted = LinearSystem((Block("a", a, b), Block("c", c, d, 2.0)))
    repeated = LinearSystem((Block("a", a, b), Block("c", np.tile(c, (4, 1)), np.tile(d, 4))))
    one, other = solved(method, weighted), solved(method, repeated)
    np.testing.assert_allclose(one[0], other[0], rtol=1e-12)
    assert one[2].residual_norm == pytest.approx(other[2].residual_norm, rel=1e-12)


@every_method
def test_the_order_of_blocks_does_not_matter(method):
    (case,) = (s for s in SYSTEMS if s.name == "weighted_blocks")
    blocks = case.built().blocks
    expected = solved(method, LinearSystem(blocks))[0]
    for order in [(1, 0, 2), (2, 1, 0)]:
        got = solved(method, LinearSystem(tuple(blocks[i] for i in order)))[0]
        np.testing.assert_allclose(got, expected, rtol=1e-12)


@every_backend
@pytest.mark.parametrize("log_condition", [0, 3, 8, 12])
def test_condition_of_svd_is_that_of_the_matrix(log_condition, backend):
    rng = np.random.default_rng(3)
    u, v = (np.linalg.qr(rng.standard_normal(shape))[0] for shape in [(20, 6), (6, 6)])
    matrix = u * np.logspace(0, -log_condition, 6) @ v
    array = BACKENDS[backend]
    built = LinearSystem((Block("a", array(matrix), array(np.ones(20))),))
    *_, facts = solved(SVD(), built)
    assert facts.condition == pytest.approx(np.linalg.cond(matrix), rel=1e-3)
    assert facts.condition == pytest.approx(10.0**log_condition, rel=1e-2)


@every_method
def test_rank_is_found_in_large_matrices(method):
    """Rounding in 900 rows must not pass for rank: its columns would get enormous weights."""
    rng = np.random.default_rng(0)
    a = rng.standard_normal((900, 100)) @ rng.standard_normal((100, 300))
    b = rng.standard_normal(900)
    weights, outcome, facts = solved(method, LinearSystem((Block("a", a, b),)))
    assert (facts.rank, outcome.kind) == (100, "near-singular")
    least = np.linalg.norm(b - a @ np.linalg.lstsq(a, b, rcond=None)[0])
    assert facts.residual_norm == pytest.approx(least, rel=1e-12)
    assert np.abs(weights).max() < 1


def test_the_cutoff_is_the_users():
    matrix = np.diag([1.0, 1e-3, 1e-6, 1e-9])
    built = LinearSystem((Block("a", matrix, np.diag(matrix).copy()),))
    for cutoff, rank in [(1e-2, 1), (1e-5, 2), (1e-8, 3), (1e-11, 4), (None, 4)]:
        weights, _, facts = solved(SVD(cutoff=cutoff), built)
        assert facts.rank == rank
        np.testing.assert_allclose(weights, [1.0] * rank + [0.0] * (4 - rank), atol=1e-15)


@every_method
def test_gaussian_kernels_are_fitted_although_their_matrix_is_singular(method):
    x, centres = np.linspace(0, 1, 200)[:, None], np.linspace(-0.1, 1.1, 60)
    matrix = np.exp(-0.5 * ((x - centres) / 0.08) ** 2)
    target = np.tanh(4 * x[:, 0] - 2)
    weights, outcome, facts = solved(method, LinearSystem((Block("a", matrix, target),)))
    assert outcome.kind == "near-singular"
    assert 30 < facts.rank < 60
    assert np.abs(matrix @ weights - target).max() < 1e-8


def exact_rank(matrix):
    """Rank of an integer matrix by elimination in fractions."""
    rows, rank = [[Fraction(int(v)) for v in row] for row in matrix], 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            factor = rows[i][column] / rows[rank][column]
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank


@st.composite
def integer_rows(draw):
    m, n = draw(st.integers(0, 9)), draw(st.integers(1, 5))
    entries = st.lists(st.integers(-3, 3), min_size=n, max_size=n)
    return np.array(draw(st.lists(entries, min_size=m, max_size=m)), dtype=float).reshape(m, n)


@every_method
@HYPOTHESIS
@given(a=integer_rows(), seed=st.integers(0, 100))
def test_any_integer_system(method, a, seed):
    b = np.random.default_rng(seed).standard_normal(len(a))
    weights, outcome, facts = solved(method, LinearSystem((Block("a", a, b),)))
    rank = exact_rank(a)
    assert facts.rank == rank
    assert outcome.kind == ("converged" if rank == a.shape[1] else "near-singular")
    assert facts.dead_columns == np.sum(~np.any(a, axis=0))
    size = 1 + np.linalg.norm(weights)
    np.testing.assert_allclose(a.T @ (a @ weights - b), 0, atol=1e-11 * size)


@every_method
def test_methods_hold_settings_only(method):
    before = repr(method)
    solved(method, SYSTEMS[0].built())
    assert repr(method) == before
    with pytest.raises(AttributeError):
        method.cutoff = 0.5
    assert method == type(method)(method.cutoff)


@every_method
def test_the_same_system_gives_the_same_bits(method):
    for case in SYSTEMS:
        one, other = (solved(method, case.built())[0] for _ in range(2))
        assert np.array_equal(one, other)
