"""The default adaptor: every kind of condition, what it returns, and that it never overclaims."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sharpfront as sf
from sharpfront.adapt import Resolve
from sharpfront.catalog import SINGLE_LAYER, TWIN_LAYER
from sharpfront.errors import BasisError, OutcomeKind, ProblemError
from sharpfront.leastsquares import SVD, Blocked
from sharpfront.measure import Feature, graded_points, max_error

UNIT = sf.Interval(0, 1)
TOL = 1e-8


def largest_error(solution, exact, features=()):
    ends = [Feature(float(end), 1e-3) for end in solution.domain.bounds[:, 0]]
    x = graded_points(solution.domain, [*features, *ends], 200)
    return max_error(solution, exact, x)


def check(solution, exact, features=(), bound=TOL):
    error = largest_error(solution, exact, features)
    assert solution.converged, str(solution.outcome)
    assert error <= bound
    assert error <= 3 * solution.error_estimate


def made(operator, exact, domain=UNIT, **conditions):
    return sf.Problem(domain, lambda u, x: operator(u, x) - operator(exact(x), x), **conditions)


# Conditions


def layered(x):
    return np.exp(-x / 1e-2) + np.cos(3 * x) + np.exp((x - 1) / 1e-3)


KINDS = {
    "Dirichlet": lambda u, x: u - layered(x),
    "Neumann": lambda u, x: u.dx - layered(x).dx,
    "normal": lambda u, x: u.dn - layered(x).dn,
    "Robin": lambda u, x: 2 * u + 0.3 * u.dn - 2 * layered(x) - 0.3 * layered(x).dn,
}


@pytest.mark.parametrize(("left", "right"), list(itertools.product(KINDS, KINDS)))
def test_second_order_with_every_pair_of_conditions(left, right):
    problem = made(
        lambda u, x: -1e-4 * u.dxx + 0.1 * x * u.dx + u,
        layered,
        left=KINDS[left],
        right=KINDS[right],
    )
    check(sf.solve(problem), layered, [Feature(0.0, 1e-2), Feature(1.0, 1e-3)])


@pytest.mark.parametrize("where", ["left", "right", "inside"])
def test_first_order_with_its_condition_anywhere(where):
    exact = lambda x: np.exp(-((x - 0.3) ** 2) / 1e-3) + np.sin(2 * x)  # noqa: E731
    value = lambda u, x: u - exact(x)  # noqa: E731
    conditions = {"conditions": [sf.at(0.3, value)]} if where == "inside" else {where: value}
    check(sf.solve(made(lambda u, x: u.dx + x * u, exact, **conditions)), exact)


def test_third_order_with_mixed_ends():
    exact = lambda x: np.exp(-x / 1e-2) + x**3  # noqa: E731
    problem = made(
        lambda u, x: 1e-2 * u.dxxx + u.dxx + u,
        exact,
        left=lambda u, x: u - exact(x),
        right=lambda u, x: (u.dx - exact(x).dx, u.dxx - exact(x).dxx),
    )
    check(sf.solve(problem), exact, [Feature(0.0, 1e-2)])


@pytest.mark.parametrize(
    ("left", "right"),
    [((0, 1), (0, 1)), ((0, 2), (0, 2)), ((0, 1), (2, 3)), ((0, 1, 2), (3,)), ((0, 3), (1, 2))],
)
def test_fourth_order_with_mixed_ends(left, right):
    exact = lambda x: np.sin(3 * x) + x**2  # noqa: E731

    def given_(orders):
        return lambda u, x: tuple(
            u.d("x", j) - exact(x).d("x", j) if j else u - exact(x) for j in orders
        )

    problem = made(lambda u, x: u.d("x", 4) + u, exact, left=given_(left), right=given_(right))
    check(sf.solve(problem), exact)


def broken(x):
    """u'' jumps at 0.4: the coefficient does."""
    return np.where(x < 0.4, 0.5, 0.05) * (x - 0.4) ** 2 + x


def broken_problem(**conditions):
    return sf.Problem(UNIT, lambda u, x: np.where(x < 0.4, 1.0, 10.0) * u.dxx - 1, **conditions)


def test_an_integral_over_several_pieces():
    whole = 0.5 * 0.4**3 / 3 + 0.05 * 0.6**3 / 3 + 0.5
    solution = sf.solve(
        broken_problem(
            left=lambda u, x: u - 0.08,
            conditions=[sf.integral(lambda u, x: u, equals=whole)],
        )
    )
    assert len(solution.approximation.bases["u"].patches) == 2
    check(solution, broken, bound=1e-11)


@pytest.mark.parametrize("point", [0.1, 0.4, 0.7])
def test_conditions_inside_with_several_pieces(point):
    solution = sf.solve(
        broken_problem(
            conditions=[
                sf.at(point, lambda u, x: u - broken(point)),
                sf.at(0.55, lambda u, x: u.dx - (0.1 * 0.15 + 1)),
            ],
        )
    )
    check(solution, broken, bound=1e-11)


def test_periodic_with_a_narrow_feature():
    bump = lambda x: np.exp(np.cos(2 * np.pi * (x - 0.3)) * 5e3 - 5e3)  # noqa: E731
    problem = made(
        lambda u, x: -1e-4 * u.dxx + 0.1 * u.dx + u, bump, sf.Interval(0, 1, periodic=True)
    )
    solution = sf.solve(problem)
    check(solution, bump, [Feature(0.3, 2e-3)])
    assert abs(solution(0.0) - solution(1.0)) < 1e-10
    assert abs(solution.d("x")(0.0) - solution.d("x")(1.0)) < 1e-8


def test_periodic_across_the_seam():
    """The front of a periodic wave sits on the seam itself."""
    bump = lambda x: np.exp(np.cos(2 * np.pi * x) * 5e2 - 5e2)  # noqa: E731
    problem = made(lambda u, x: -1e-4 * u.dxx + u, bump, sf.Interval(0, 1, periodic=True))
    check(sf.solve(problem), bump, [Feature(0.0, 7e-3), Feature(1.0, 7e-3)])


def test_text_gives_the_same_bits_as_functions():
    nu = 1e-4
    text = sf.Problem(
        UNIT,
        "-nu*u_xx + (1 + x)*u_x + u = sin(3*x)",
        left="u = 0",
        right="u + nu*u_x = 1",
        parameters={"nu": nu},
    )
    plain = sf.Problem(
        UNIT,
        lambda u, x: -nu * u.dxx + (1 + x) * u.dx + u - np.sin(3 * x),
        left=lambda u, x: u,
        right=lambda u, x: u + nu * u.dx - 1,
    )
    first, second = sf.solve(text), sf.solve(plain)
    x = graded_points(UNIT, [Feature(1.0, nu)], 200)
    assert first.converged
    assert np.array_equal(first(x), second(x))
    assert np.array_equal(first.d("x", 2)(x), second.d("x", 2)(x))
    assert first.error_estimate == second.error_estimate


def test_several_conditions_on_one_end():
    check(
        sf.solve(sf.Problem(UNIT, lambda u, x: u.dxx - 2, left=lambda u, x: (u, u.dx))),
        lambda x: x**2,
        bound=1e-11,
    )


# What is returned


def hard():
    """A layer and a weak front: several solves, several pieces."""
    exact = lambda x: np.tanh((x - 0.4) / 1e-3) + 1e-3 * np.tanh((x - 0.8) / 1e-4)  # noqa: E731
    return made(lambda u, x: u - 1e-6 * u.dxx, exact, boundary=lambda u, x: u - exact(x)), exact


def test_the_best_iterate_is_returned():
    for tol in (1e-8, 1e-16):
        solution = sf.solve(hard()[0], tol=tol)
        assert len(solution.history) > 1
        estimates = [record.error_estimate for record in solution.history]
        assert solution.error_estimate == min(estimates)
        best = solution.history[int(np.argmin(estimates))]
        assert solution.kernels == best.kernels


def test_the_history_records_kernels_mixture_and_estimate():
    seen = []
    solution = sf.solve(hard()[0], on_step=seen.append)
    assert tuple(seen) == solution.history
    for i, record in enumerate(solution.history):
        assert record.iteration == i
        assert record.kernels > 0
        assert record.mixture.weights.sum() == pytest.approx(1)
        assert np.min(np.abs(record.mixture.means - 0.4)) < 1e-3
        assert 0 < record.error_estimate < np.inf
        assert 0 < record.residual < np.inf
        assert record.seconds > 0
        assert record.rank > 0
        assert record.dead_columns == 0
    assert solution.history[0].kernels < solution.history[-1].kernels


def test_every_seed_gives_the_same_bits():
    x = np.linspace(0, 1, 501)
    problem = TWIN_LAYER.problem(1e-4)
    first, second = (sf.solve(TWIN_LAYER.problem(1e-4), seed=s)(x) for s in (0, 99))
    assert np.array_equal(first, second)
    assert np.array_equal(first, sf.solve(problem)(x))


def test_kernels_grow_only_as_needed():
    counts = [sf.solve(SINGLE_LAYER.problem(1e-4), tol=tol).kernels for tol in (1e-3, 1e-8, 1e-11)]
    assert counts[0] <= counts[1] < counts[2] < 150


@pytest.mark.parametrize("components", [1, 2, 8])
def test_the_components_of_each_piece_are_limited(components):
    problem, exact = hard()
    solution = sf.solve(problem, components=components)
    patches = solution.approximation.bases["u"].patches
    assert max(patch.axis.components for patch in patches) <= components
    check(solution, exact, [Feature(0.4, 1e-3), Feature(0.8, 1e-4)])


def test_another_least_squares_method_gives_the_same_solution():
    problem = SINGLE_LAYER.problem(1e-4)
    exact = SINGLE_LAYER.exact(1e-4)
    for method in (SVD(), Blocked()):
        solution = sf.solve(problem, adaptor=Resolve(leastsquares=method))
        check(solution, exact, SINGLE_LAYER.features(1e-4))


def test_settings_do_not_mix_with_an_adaptor():
    with pytest.raises(ProblemError, match="max_kernels cannot be combined"):
        sf.solve(SINGLE_LAYER.problem(1e-2), max_kernels=100, adaptor=Resolve())


NOWHERE = r"order 1 to 6 .* got order 0. Without a derivative"


@pytest.mark.parametrize(
    ("equation", "words"),
    [
        (lambda u, x: u - x, NOWHERE),
        (lambda u, x: u**2 - x, NOWHERE),
        (lambda u, v, x: (u - v - x, u + v**3), NOWHERE),
        (lambda u, x: u.d("x", 7), r"order 1 to 6 .* got order 7. Write it as a system"),
        (lambda u, x: u.d("x", 7) + u**2, r"order 1 to 6 .* got order 7. Write it as a system"),
    ],
)
def test_orders_outside_one_to_six_are_refused(equation, words):
    with pytest.raises(ProblemError, match=words):
        sf.solve(sf.Problem(UNIT, equation))


def test_diagnostics_and_meaning():
    solution = sf.solve(SINGLE_LAYER.problem(1e-4))
    assert "error equation" in solution.estimate.meaning
    assert solution.diagnostics["condition_mismatch"] < 1e-9
    assert solution.diagnostics["rank"] == solution.diagnostics["columns"]


def test_files_keep_every_bit_of_several_pieces(tmp_path):
    problem, _ = hard()
    solution = sf.solve(problem, max_kernels=1000)
    assert len(solution.approximation.bases["u"].patches) > 1
    loaded = sf.load(solution.save(tmp_path / "fronts"))
    x = graded_points(UNIT, [Feature(0.4, 1e-3), Feature(0.8, 1e-4)], 100)
    for order in range(5):
        assert np.array_equal(loaded.d("x", order)(x), solution.d("x", order)(x))
    assert loaded.outcome == solution.outcome
    assert loaded.error_estimate == solution.error_estimate
    assert [r.kernels for r in loaded.history] == [r.kernels for r in solution.history]


def test_files_keep_solutions_that_were_refused(tmp_path):
    solution = sf.solve(sf.Problem(UNIT, lambda u, x: u.dxx, boundary=lambda u, x: u.dx))
    loaded = sf.load(solution.save(tmp_path / "refused"))
    assert loaded.error_estimate == np.inf
    assert loaded.outcome.kind is OutcomeKind.NEAR_SINGULAR


@pytest.mark.parametrize(("order", "highest"), [(1, 4), (2, 4), (3, 3), (4, 4)])
def test_derivatives_up_to_the_order(order, highest):
    exact = lambda x: np.sin(2 * x)  # noqa: E731
    shift = [np.sin, np.cos, lambda t: -np.sin(t), lambda t: -np.cos(t), np.sin]
    start = lambda u, x: tuple(  # noqa: E731
        (u.d("x", j) if j else u) - 2.0**j * float(shift[j](0.0)) for j in range(order)
    )
    problem = made(lambda u, x: u.d("x", order) + u, exact, left=start)
    solution = sf.solve(problem, tol=1e-10)
    x = np.linspace(0, 1, 301)
    for j in range(order + 1):
        error = np.max(np.abs(solution.d("x", j)(x) - 2.0**j * shift[j](2 * x)))
        assert error < 1e-9 * 100.0**j / 10
    with pytest.raises(BasisError, match=f"up to {highest}, asked for {highest + 1}"):
        solution.d("x", highest + 1)(x)


def test_plot_follows_the_kernels_into_the_layer():
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    solution = sf.solve(SINGLE_LAYER.problem(1e-6))
    axes = solution.plot(kernels=True)
    x = axes.lines[0].get_xdata()
    assert np.sum(x > 1 - 1e-5) > 10
    assert len(axes.lines[1].get_xdata()) == solution.kernels
    plt.close("all")


# Never converged and wrong

SETTINGS = settings(max_examples=20, deadline=None, derandomize=True)
logarithms = st.floats(-8, -1)


def claims_nothing_wrong(solution, exact, feature):
    error = largest_error(solution, exact, [feature])
    assert error <= 3 * solution.error_estimate
    assert not solution.converged or error <= 10 * TOL


@SETTINGS
@given(
    width=logarithms,
    amplitude=st.floats(-6, 6),
    scale=st.floats(-3, 3),
    shift=st.floats(-2, 2),
    left=st.booleans(),
)
def test_layers_of_any_width_height_and_place(width, amplitude, scale, shift, left):
    """-w u' + s u = 0 to second order: u = A exp(-distance / w) + cos, on any interval."""
    length, size = 10.0**scale, 10.0**amplitude
    low = shift * length
    w, high = 10.0**width * length, low + length
    end, sign = (low, -1.0) if left else (high, 1.0)
    exact = lambda x: size * np.exp(sign * (x - end) / w) + np.cos((x - low) / length)  # noqa: E731
    problem = made(
        lambda u, x: -w * w * u.dxx + u,
        exact,
        sf.Interval(low, high),
        boundary=lambda u, x: u - exact(x),
    )
    claims_nothing_wrong(sf.solve(problem), exact, Feature(end, w))


@SETTINGS
@given(
    width=st.floats(-6, -1),
    amplitude=st.floats(-6, 6),
    scale=st.floats(-3, 3),
    place=st.floats(0.02, 0.98),
    convection=st.booleans(),
)
@example(width=-6.0, amplitude=-6.0, scale=0.02, place=0.02, convection=True)
def test_fronts_of_any_width_height_and_place(width, amplitude, scale, place, convection):
    length, size = 10.0**scale, 10.0**amplitude
    w, centre = 10.0**width * length, place * length
    exact = lambda x: size * np.tanh((x - centre) / w) + x / length  # noqa: E731
    b = w if convection else 0.0
    problem = made(
        lambda u, x: -w * w * u.dxx + b * u.dx + u,
        exact,
        sf.Interval(0, length),
        boundary=lambda u, x: u - exact(x),
    )
    claims_nothing_wrong(sf.solve(problem), exact, Feature(centre, w))


def piecewise_constant(x, eps, ends, sources):
    """Return -eps u'' + u = f, u = 0 at the ends of (0, 1), with another f on each piece."""
    m, count = eps**-0.5, len(sources)

    def basis(k, at, slope=False):
        up, down = np.exp(m * (at - ends[k + 1])), np.exp(-m * (at - ends[k]))
        return np.stack([m * up, -m * down] if slope else [up, down])

    rows, right = np.zeros((2 * count, 2 * count)), np.zeros(2 * count)
    rows[0, :2], right[0] = basis(0, ends[0]), -sources[0]
    rows[1, -2:], right[1] = basis(count - 1, ends[-1]), -sources[-1]
    for k in range(count - 1):
        for row, slope in ((2 * k + 2, False), (2 * k + 3, True)):
            rows[row, 2 * k : 2 * k + 2] = basis(k, ends[k + 1], slope)
            rows[row, 2 * k + 2 : 2 * k + 4] = -basis(k + 1, ends[k + 1], slope)
        right[2 * k + 2] = sources[k + 1] - sources[k]
    weights = np.linalg.solve(rows, right)
    out = np.empty_like(x)
    for k in range(count):
        own = (x >= ends[k]) & (x <= ends[k + 1])
        out[own] = sources[k] + weights[2 * k : 2 * k + 2] @ basis(k, x[own])
    return out


@pytest.mark.parametrize("seed", range(8))
def test_layers_beside_a_narrow_window_are_found(seed):
    """They are weak beside those at the ends, and what is left of them is left in the window."""
    rng = np.random.default_rng(seed)
    eps, wide = 10 ** rng.uniform(-5, -3), 10 ** rng.uniform(-4, -2.5)
    low, outside = rng.uniform(0.2, 0.8), rng.uniform(0.2, 0.9)
    high = low + wide

    def equation(u, x):
        return -eps * u.dxx + u - np.where((x > low) & (x < high), 1.0, outside)

    problem = sf.Problem(sf.Interval(0, 1), equation, left=lambda u, x: u, right=lambda u, x: u)
    solution = sf.solve(problem, tol=1e-6)
    near = np.concatenate([low + np.linspace(-1, 2, 301) * w for w in (wide, eps**0.5)])
    x = np.unique(np.clip(np.concatenate([np.linspace(0, 1, 2001), near]), 0, 1))
    exact = piecewise_constant(x, eps, [0.0, low, high, 1.0], [outside, 1.0, outside])
    assert solution.converged
    assert np.abs(solution(x) - exact).max() < 1e-6


def test_a_resonance_that_the_source_leaves_alone_is_told():
    """An odd source does not excite an even mode: a solution exists, and any share of the mode
    may be added. Cells, whose own error keeps the eigenvalue from zero, did not see it."""

    def bent(u, x):
        return ((1 + x**2) * u.dx).dx

    interval, ends = sf.Interval(-4, 4), {"boundary": lambda u, x: u}
    modes = sf.Problem(interval, lambda u, lam, x: bent(u, x) + lam * u, **ends)
    (lam,) = sf.eigs(modes, k=1, near=27.92, tol=1e-12).values

    def solved(rate):
        odd = sf.Problem(interval, lambda u, x: bent(u, x) + rate * u - x - np.sin(x), **ends)
        return sf.solve(odd)

    assert solved(lam).outcome.kind == "near-singular"
    assert solved(lam + 0.3).converged
