"""Newton's method: damping, continuation, guesses, and how solves end."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt import OnePatch
from sharpfront.bases.even_kernels import EvenKernels
from sharpfront.errors import OutcomeKind, ProblemError, SharpfrontError
from sharpfront.estimate.cells import CellSystem, grid
from sharpfront.newton.adaptor import NewtonAround
from sharpfront.newton.cells import CellCorrector
from sharpfront.newton.damped import Rules, continued, newton, values_on_the_way
from sharpfront.newton.guess import Start
from sharpfront.newton.iterate import Constants, Differenced, LineTable, Remembered
from sharpfront.newton.line_tangent import LineTangent
from sharpfront.newton.other_solutions import deflated, growing_modes
from sharpfront.newton.settings import NEWTON
from sharpfront.newton.strategy import Move, Progress, next_move
from sharpfront.solution.approximation import Approximation, split_weights
from sharpfront.solution.field import Estimate

UNIT = sf.Interval(0, 1)


def bratu(strength=1.0):
    return sf.Problem(UNIT, lambda u, x: u.dxx + strength * np.exp(u), boundary=lambda u, x: u)


def friction(nu):
    return sf.Problem(
        UNIT,
        lambda u, x: -nu * u.dxx + u * u.dx + u,
        left=lambda u, x: u - 1,
        right=lambda u, x: u + 0.5,
    )


def shock(nu):
    return sf.Problem(
        sf.Interval(-1, 1),
        lambda u, x: -nu * u.dxx + u * u.dx,
        left=lambda u, x: u - 1,
        right=lambda u, x: u + 1,
    )


def scalar(f, slope):
    return Rules(
        lambda u: u - f(u) / slope(u),
        lambda old, new, share: old + share * (new - old),
        lambda old, new, scale: abs(new - old),
    )


def test_damping_saves_newton_where_full_steps_diverge():
    rules = scalar(np.arctan, lambda u: 1 / (1 + u**2))
    result = newton(5.0, rules, 1e-10, 40)
    assert result.converged
    assert abs(result.iterate) < 1e-9
    assert min(result.lengths) < 1.0
    assert result.lengths[-1] == 1.0
    assert result.solves > len(result.changes)


def test_newton_without_a_solution_says_so_and_keeps_its_history():
    rules = scalar(lambda u: u**2 + 1, lambda u: 2 * u)
    result = newton(0.7, rules, 1e-8, 30)
    assert not result.converged
    assert result.changes
    assert result.solves <= 30


def test_newton_converges_quadratically_in_few_solves():
    result = newton(1.0, scalar(lambda u: u**2 - 2, lambda u: 2 * u), 1e-6, 20)
    assert result.converged
    assert result.solves <= 5
    assert result.iterate == pytest.approx(np.sqrt(2), abs=1e-12)


def test_steps_that_all_go_one_way_are_kept_though_they_do_not_shrink():
    """From above, those to exp(u) = 1 are all -1; small ones are no end."""

    def onward(a, b, c):
        return (b - a) * (c - b) >= 0

    rules = scalar(lambda u: np.exp(u) - 1, np.exp)
    assert not newton(12.0, rules, 1e-8, 30).converged
    result = newton(12.0, replace(rules, onward=onward), 1e-8, 30)
    assert result.converged
    assert set(result.lengths) == {1.0}
    assert result.solves < 20
    assert abs(result.iterate) < 1e-9
    # Steps of a thirtieth, small but for the first: none is the last before they shrink.
    coarse = replace(rules, onward=onward, distance=lambda old, new, scale: abs(new - old) / 30)
    result = newton(-3.0, coarse, 0.04, 30)
    assert result.converged
    assert abs(result.iterate) < 1.0
    back = newton(
        5.0, replace(scalar(np.arctan, lambda u: 1 / (1 + u**2)), onward=onward), 1e-9, 40
    )
    assert back.converged
    assert min(back.lengths) < 1.0


def test_continuation_goes_down_and_takes_smaller_steps_where_it_fails():
    tried = []

    def settle(start, factor):
        tried.append(factor)
        return factor if factor >= 30 or abs(np.log10(start / factor)) < 0.3 else None

    assert continued(1e9, settle, lambda: len(tried) > 200) == 1.0
    assert tried[:2] == [10.0, 100.0]
    assert len(tried) < 60


def test_continuation_gives_up():
    assert continued(0.0, lambda start, factor: None, lambda: False) is None
    stuck = continued(0.0, lambda start, factor: 1.0 if factor > 5 else None, lambda: False)
    assert stuck is None


def test_values_on_the_way_go_halfway_where_a_solve_fails():
    way = values_on_the_way([1.0, 0.01])
    assert next(way) == 1.0
    assert way.send(False) == 0.01
    assert way.send(True) == pytest.approx(0.1)
    assert way.send(False) == 0.01
    assert way.send(False) is None
    assert list(values_on_the_way([-1.0, 1.0]))[:1] == [-1.0]
    with pytest.raises(ProblemError, match="one value"):
        next(values_on_the_way([]))


def test_moves():
    once, later = Progress().after(0.1), Progress().after(0.1).after(0.01)
    assert next_move(1.0, 1e-9, 1e-8, once) is Move.END
    assert next_move(0.5, 0.5, 1e-8, later) is Move.COARSE
    assert next_move(1e-4, 1e-3, 1e-8, once) is Move.NEWTON
    assert next_move(1e-9, 1e-3, 1e-8, later) is Move.NEWTON
    assert next_move(1e-4, 1e-3, 1e-8, later) is Move.NEWTON
    assert next_move(5e-4, 1e-3, 1e-8, later) is Move.KERNELS
    # After a large first correction kernels may have fitted kinks of the iterate on cells.
    assert next_move(5e-4, 1e-3, 1e-8, once) is Move.NEWTON
    assert next_move(5e-4, 1e-3, 1e-8, Progress().after(1e-5)) is Move.KERNELS


def test_corrections_that_no_longer_shrink_are_rounding_or_failure():
    progress = Progress()
    for change in (1e-2, 1e-6, 1e-9, 0.9e-9, 0.8e-9):
        progress = progress.after(change)
    assert progress.stuck().kind is OutcomeKind.STALLED
    assert progress.renewed().stuck() is None
    for _ in range(NEWTON.most_steps):
        progress = progress.after(0.5)
    assert progress.stuck().kind is OutcomeKind.NEWTON


@pytest.mark.parametrize(
    "guess",
    [None, 0.2, lambda x: 1 - 1.5 * x, np.linspace(1, -0.5, 30), lambda x: float(x.size) * 0 + x],
    ids=["none", "number", "function", "array", "opaque"],
)
def test_every_kind_of_guess_leads_to_the_solution(guess):
    solution = sf.solve(friction(1e-2), guess=guess)
    assert solution.converged, str(solution.outcome)
    assert solution(0.5) == pytest.approx(sf.solve(friction(1e-2), tol=1e-10)(0.5), abs=1e-8)


def test_an_earlier_solution_is_a_guess_that_saves_work(tmp_path):
    first = sf.solve(friction(2e-2))
    again = sf.solve(friction(1e-2), guess=first)
    fresh = sf.solve(friction(1e-2))
    assert again.converged
    assert again.diagnostics["rough_solves"] < fresh.diagnostics["rough_solves"]
    loaded = sf.load(first.save(tmp_path / "first.npz"))
    assert sf.solve(friction(1e-2), guess=loaded)(0.3) == again(0.3)


def test_guesses_choose_between_branches():
    lower, upper = (sf.solve(bratu(), guess=g) for g in (0.0, lambda x: 5 * np.sin(np.pi * x)))
    assert lower.converged and upper.converged
    assert lower(0.5) == pytest.approx(0.140539214400)
    assert upper(0.5) == pytest.approx(4.091467246)


@pytest.mark.parametrize(
    ("guess", "message"),
    [
        (np.zeros((3, 3)), "1 axis"),
        (np.array([1.0, np.nan]), "not finite"),
        ({"v": 0.0}, "guess= names v; expected u"),
        (lambda x: np.zeros(7), "one real value per point"),
    ],
)
def test_guesses_without_sense_are_refused(guess, message):
    with pytest.raises(ProblemError, match=message):
        sf.solve(bratu(), guess=guess)


def test_a_guess_as_a_text_is_read_like_an_equation():
    with pytest.raises(SharpfrontError, match="'zero' in 'zero' is not known"):
        sf.solve(bratu(), guess="zero")


def test_a_solution_of_other_unknowns_is_no_guess():
    other = sf.solve(sf.Problem(UNIT, lambda v, x: v.dxx - 1, boundary=lambda v, x: v))
    with pytest.raises(ProblemError, match="solution for v"):
        sf.solve(bratu(), guess=other)


def test_systems_need_a_guess_for_each_unknown():
    problem = sf.Problem(
        UNIT, lambda u, v, x: (u.dxx - v**2, v.dxx - u), boundary=lambda u, v, x: (u, v)
    )
    with pytest.raises(ProblemError, match="one for each is needed"):
        Start(1.0).iterates(problem)
    parts = Start({"u": 1.0, "v": np.sin}).iterates(problem)[0]
    points = np.array([[0.3]])
    assert parts.values("u", points, (0,)) == 1.0
    assert parts.values("v", points, (1,)) == pytest.approx(np.cos(0.3))


@pytest.mark.parametrize("nu", [1e-2, 1e-3, 1e-4])
def test_a_shock_that_nothing_holds_is_recognised(nu):
    solution = sf.solve(shock(nu))
    assert solution.outcome.kind is OutcomeKind.NEAR_SINGULAR
    assert "do not determine" in solution.outcome.detail
    assert not solution.converged
    assert solution.error_estimate == np.inf


def test_a_front_that_nothing_holds_is_recognised():
    problem = sf.Problem(
        UNIT,
        lambda u, x: -1e-4 * u.dxx + u**3 - u,
        left=lambda u, x: u + 1,
        right=lambda u, x: u - 1,
    )
    assert sf.solve(problem).outcome.kind is OutcomeKind.NEAR_SINGULAR


def test_a_mild_shock_is_held_by_its_ends():
    solution = sf.solve(shock(0.1))
    assert solution.converged
    assert solution(0.0) == pytest.approx(0.0, abs=1e-8)


def test_no_solution_ends_with_the_history():
    solution = sf.solve(bratu(4.0))
    assert solution.outcome.kind is OutcomeKind.NEWTON
    assert "last corrections were" in solution.outcome.detail
    assert "continuation=" in solution.outcome.advice
    assert solution.error_estimate == np.inf


@pytest.mark.parametrize("nu", [0.01, 0.05])
def test_a_solution_among_several_is_named_unless_it_was_chosen(nu):
    problem = sf.Problem(UNIT, lambda u, x: -nu * u.dxx + u**3 - u, boundary=lambda u, x: u)
    solution = sf.solve(problem)
    assert solution.outcome.kind is OutcomeKind.SEVERAL_SOLUTIONS
    assert not solution.converged
    assert solution.error_estimate < 1e-8
    chosen = sf.solve(problem, guess=lambda x: np.sin(np.pi * x))
    assert chosen.converged
    assert chosen(0.5) > 0.5


def test_near_the_fold_the_lower_branch_is_found_and_is_not_doubted():
    solution = sf.solve(bratu(3.513))
    assert solution.converged, str(solution.outcome)


def test_where_zero_has_no_linearisation_one_is_tried():
    cubic = sf.Problem(UNIT, lambda u, x: -u.dxx + u**3 - 1, boundary=lambda u, x: u.dn)
    assert sf.solve(cubic)(0.3) == pytest.approx(1.0)
    log = sf.Problem(UNIT, lambda u, x: -u.dxx + np.log(u), boundary=lambda u, x: u - 2)
    assert sf.solve(log).converged


def test_too_few_conditions_are_named():
    problem = sf.Problem(UNIT, lambda u, x: -u.dxx + u**3, left=lambda u, x: u - 1)
    assert sf.solve(problem).outcome.kind is OutcomeKind.ILL_POSED


def test_continuation_of_a_family():
    steps = []
    solution = sf.solve(friction, continuation=[1e-1, 1e-2, 1e-3], on_step=steps.append)
    assert solution.converged
    assert [r.iteration for r in solution.history] == list(range(len(steps)))
    assert solution(0.4) == pytest.approx(sf.solve(friction(1e-3))(0.4), abs=1e-7)
    with pytest.raises(ProblemError, match="function of the parameter"):
        sf.solve(friction(1e-2), continuation=[1.0])
    with pytest.raises(ProblemError, match="continuation="):
        sf.solve(friction)


def test_continuation_goes_on_to_a_problem_without_a_solution_and_says_so():
    solution = sf.solve(bratu, continuation=[1.0, 4.0])
    assert solution.outcome.kind is OutcomeKind.NEWTON
    assert "With the parameter at 3.51" in solution.outcome.detail


def test_nonlinear_solutions_know_their_residual_and_survive_a_file(tmp_path):
    solution = sf.solve(bratu(2.0))
    x = np.linspace(0, 1, 50)
    assert np.abs(solution.residual(x)).max() < 1e-6
    assert np.abs(solution.residual(x)).max() > 0
    loaded = sf.load(solution.save(tmp_path / "bratu.npz"))
    assert np.array_equal(loaded(x), solution(x))
    assert loaded.diagnostics["newton_steps"] == solution.diagnostics["newton_steps"]
    assert len(loaded.history) == loaded.diagnostics["newton_steps"]


def test_jumps_of_the_data_are_cut():
    problem = sf.Problem(
        UNIT,
        lambda u, x: -1e-3 * u.dxx + u + u**3 - np.where(x < 0.31, 1.0, -1.0),
        boundary=lambda u, x: u,
    )
    solution = sf.solve(problem)
    assert solution.converged
    assert len(solution.approximation.bases["u"].patches) > 1
    assert solution.kernels < 200


@pytest.mark.parametrize(
    ("problem", "exact"),
    [
        (
            sf.Problem(sf.Interval(0, 2), lambda u, x: u.dx + u**2, left=lambda u, x: u - 1),
            lambda x: 1 / (1 + x),
        ),
        (
            sf.Problem(
                sf.Interval(0, 2 * np.pi, periodic=True),
                lambda u, x: -u.dxx + u + u**3 - (2 * np.sin(x) + np.sin(x) ** 3),
            ),
            np.sin,
        ),
        (
            sf.Problem(
                sf.Interval(-1, 1),
                lambda u, x: u.dxx - np.sqrt(1 + u.dx**2),
                boundary=lambda u, x: u,
            ),
            lambda x: np.cosh(x) - np.cosh(1),
        ),
        (
            sf.Problem(
                UNIT,
                lambda u, x: u.dxx - 2.0,
                left=lambda u, x: u,
                conditions=sf.integral(lambda u, x: u**2, equals=0.2),
            ),
            None,
        ),
    ],
    ids=["first order", "periodic", "slope", "integral"],
)
def test_other_orders_and_conditions(problem, exact):
    solution = sf.solve(problem)
    assert solution.converged, str(solution.outcome)
    x = np.linspace(*problem.domain.bounds[:, 0], 200)
    if exact is None:
        assert np.trapezoid(solution(x) ** 2, x) == pytest.approx(0.2, abs=1e-4)
    else:
        assert np.abs(solution(x) - exact(x)).max() < 1e-8


def test_third_order():
    solution = sf.solve(
        sf.Problem(
            sf.Interval(0, 10),
            lambda f, x: f.d("x", 3) + 0.5 * f * f.dxx,
            left=lambda f, x: (f, f.dx),
            right=lambda f, x: f.dx - 1,
        )
    )
    assert solution.d("x", 2)(0.0) == pytest.approx(0.33205734, abs=1e-7)


def test_differences_stay_inside_the_bounds_and_are_good_enough():
    seen = []

    def opaque(x, y):
        seen.append((x.min(), x.max(), y.min(), y.max()))
        return np.asarray(np.sin(2 * x) * np.exp(y))

    iterate = Differenced({"u": opaque}, np.array([[0.0, 0.0], [1.0, 1.0]]))
    points = np.array([[0.0, 0.0], [0.4, 0.3], [1.0, 1.0]])
    inner = points[1]
    for orders, exact in (
        ((1, 0), 2 * np.cos(0.8) * np.exp(0.3)),
        ((0, 2), np.sin(0.8) * np.exp(0.3)),
        ((1, 1), 2 * np.cos(0.8) * np.exp(0.3)),
    ):
        assert iterate.values("u", points, orders)[1] == pytest.approx(exact, rel=1e-3)
    assert inner[0] == 0.4
    assert np.min(seen) >= 0.0 and np.max(seen) <= 1.0


def test_remembered_values_are_those_of_the_approximation():
    solution = sf.solve(friction(1e-2))
    points = np.linspace(0, 1, 300)[:, None]
    fast = Remembered(solution.approximation, 2)
    for j in range(3):
        exact = solution.approximation.values("u", points, (j,))
        size = np.abs(exact).max()
        assert fast.values("u", points, (j,)) == pytest.approx(exact, abs=1e-9 * size)
    assert fast.values("u", points, (0,)) is fast.values("u", points.copy(), (0,))


def test_an_iterate_at_its_own_points_comes_from_their_tables(monkeypatch):
    solution = sf.solve(friction(1e-2))
    (piece,) = solution.approximation.bases["u"].patches
    own = [p.x[:, None] for p in (piece.places.middles, piece.places.rows)]
    exact = [[solution.approximation.values("u", x, (j,)) for j in range(3)] for x in own]
    monkeypatch.setattr(EvenKernels, "_plain", lambda *_: pytest.fail("kernels were evaluated"))
    fast = Remembered(solution.approximation, 2)
    for x, rows in zip(own, exact, strict=True):
        for j, row in enumerate(rows):
            assert fast.values("u", x, (j,)) == pytest.approx(row, abs=1e-9 * np.abs(row).max())


def test_tables_have_the_means_of_their_cells_as_slopes():
    x = np.array([0.0, 0.1, 0.4, 1.0])
    table = LineTable(x, np.array([x**2, 2 * x]))
    middles = 0.5 * (x[1:] + x[:-1])[:, None]
    assert table.values("u", middles, (1,)) == pytest.approx(2 * middles[:, 0])
    assert table.values("u", middles, (2,)) == pytest.approx(2.0)
    assert table.values("u", x[:, None], (0,)) == pytest.approx(x**2)


def test_tables_are_cubic_between_nodes_but_for_layers_within_a_cell():
    x = np.linspace(0, 1, 41)
    there = np.linspace(0.003, 0.997, 333)[:, None]
    smooth = LineTable(x, np.array([np.sin(5 * x), 5 * np.cos(5 * x)]))
    off = np.abs(smooth.values("u", there, (0,)) - np.sin(5 * there[:, 0]))
    assert off.max() < 1e-6
    # exp(-x / 1e-3) is zero at all nodes but the first, where its slope is -1000.
    steep = LineTable(x, np.array([np.exp(-1e3 * x), -1e3 * np.exp(-1e3 * x)]))
    values = steep.values("u", there, (0,))
    assert values.min() > -0.2
    assert values.max() < 1.0


def test_deflation_leads_away_from_the_solution_that_is_known():
    problem = bratu()
    tangent = LineTangent(problem, Constants())
    nodes = np.linspace(0, 1, 201)
    zero = LineTable(nodes, np.zeros((2, 201)))
    cells = CellCorrector(tangent, nodes, np.zeros(0))
    lower = cells.confirmed(zero)
    lower = LineTable(nodes, np.array([np.interp(nodes, lower.nodes, r) for r in lower.levels]))
    other = deflated(cells, lower, zero)
    assert other.levels[0].max() == pytest.approx(4.09, abs=0.2)


def buckled(load):
    return sf.Problem(  # a hinged beam, straight up to a load of pi^2
        UNIT,
        lambda u, x: u.d("x", 4) + load * u.dxx - 5 * u.dx**2 * u.dxx,
        boundary=lambda u, x: (u, u.dxx),
    )


def pair(strength):
    return sf.Problem(
        UNIT,
        lambda u, v, x: (u.dxx + strength * u - u**3 - u * v**2, v.dxx - v + u**2),
        boundary=lambda u, v, x: (u, v),
    )


def well(width):
    return sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -(width**2) * sf.laplacian(u) + u**3 - u,
        boundary=lambda u, x, y: u,
    )


def pendulum(strength):
    return sf.Problem(UNIT, lambda u, x: u.dxx + strength * np.sin(u), boundary=lambda u, x: u)


@pytest.mark.parametrize(
    ("problem", "size"),
    [
        (buckled(11.0), 0.304),
        (buckled(30.0), 1.377),
        (pair(15.0), 2.54),
        (well(0.22), 0.280),
        (well(0.1), 0.992),
        (pendulum(100.0), 3.088),
    ],
)
def test_zero_is_not_taken_as_meant_where_something_else_solves_it_too(problem, size):
    solution = sf.solve(problem, tol=1e-4)
    assert solution.outcome.kind is OutcomeKind.SEVERAL_SOLUTIONS
    told = float(solution.outcome.detail.split("as large as ")[1].split()[0].rstrip("."))
    assert told == pytest.approx(size, rel=0.1)
    assert solution.error_estimate < 1e-4
    assert sf.solve(problem, tol=1e-4, guess=solution).converged


@pytest.mark.parametrize("problem", [buckled(9.0), pair(9.0), well(0.24), pendulum(9.0)])
def test_zero_that_is_alone_converges(problem):
    assert sf.solve(problem, tol=1e-4).converged


@pytest.mark.parametrize(
    ("strength", "ends", "modes"),
    [(5.0, "u", 0), (15.0, "u", 1), (45.0, "u", 2), (5.0, "u.dn", 1), (15.0, "u.dn", 2)],
)
def test_growing_modes_are_counted_as_sturm_does(strength, ends, modes):
    # -v'' - strength v has the eigenvalues (k pi)^2 - strength, k from 1, or from 0 without ends.
    condition = (lambda u, x: u) if ends == "u" else (lambda u, x: u.dn)
    problem = sf.Problem(UNIT, lambda u, x: -u.dxx - strength * np.sin(u), boundary=condition)
    linear = LineTangent(problem, Constants()).at(Constants())
    points = grid(np.linspace(0, 1, 201))
    system = CellSystem(points, linear.sample(points.middles)[:-1], linear.conditions)
    assert growing_modes(linear, system) == modes


def test_in_the_plane_the_estimate_holds_what_newton_has_left():
    box = sf.Box((0, 1), (0, 1))
    exact = lambda x, y: 2 * np.sin(np.pi * x) * np.sin(np.pi * y)  # noqa: E731

    def residual(u, x, y):
        e = exact(x, y)
        return -sf.laplacian(u) + u**3 - (2 * np.pi**2 * e + e**3)

    problem = sf.Problem(box, residual, boundary=lambda u, x, y: u)
    adaptor = NewtonAround(OnePatch())
    state = adaptor.start(problem, 1e-6, 0)
    # About zero, far from the solution: one step leaves an error that kernels know nothing of.
    linear = state.tangent.at(Constants())
    state = replace(state, iterate=Constants(), inner=replace(state.inner, problem=linear))
    proposal, method = adaptor.propose(state), adaptor.leastsquares
    system = proposal.system
    weights, _, _ = method.solve(method.factor(system), system.rhs)
    own = split_weights(weights, proposal.bases)
    found = adaptor.assess(state, Approximation(problem.coordinates, proposal.bases, own))
    g = np.linspace(0, 1, 41)
    x, y = (c.ravel() for c in np.meshgrid(g, g))
    values = found.approximation.values("u", np.stack([x, y], axis=1), (0, 0))
    error = np.abs(values - exact(x, y)).max() / 2
    assert error > 0.05
    assert found.found.reweighed > 0.5 * error
    assert found.changed > 0.5


@pytest.mark.parametrize("most", [800, 1500])
def test_the_outcome_and_the_solution_tell_one_estimate(most):
    # Thomas and Fermi's atom: more kernels lose the solution that fewer have found, and the
    # corrections of the last solve say nothing of that one.
    problem = sf.Problem(
        sf.Interval(0, 20),
        lambda u, x: np.sqrt(x) * u.dxx - np.maximum(u, 0) ** 1.5,
        left=lambda u, x: u - 1,
        right=lambda u, x: u,
    )
    solution = sf.solve(problem, max_kernels=most)
    assert f"Estimated error {solution.error_estimate:.1e}." in str(solution.outcome)
    # By `solve_bvp` in sqrt(x), to ten digits.
    assert abs(solution(1.0) - 0.4240041762) < solution.error_estimate


def test_kernels_that_meet_a_loose_tolerance_wait_for_newtons_method():
    # They were taken for the whole error, and the answer for converged.
    assert next_move(0.05, 0.2, 0.1, Progress().after(0.1).after(0.01)) is Move.NEWTON


@dataclass(frozen=True)
class Doubting(OnePatch):
    """A strategy that takes back its estimate in the end."""

    def observe(self, state, assessment):
        state = super().observe(state, assessment)
        if state.finished is None:
            return state
        return replace(state, best=replace(state.best, estimate=Estimate(1.0, "doubted")))


def test_what_a_strategy_says_of_its_answer_in_the_end_is_told():
    box = sf.Box((0, 1), (0, 1))
    problem = sf.Problem(
        box, lambda u, x, y: -sf.laplacian(u) + u**3 - 1, boundary=lambda u, x, y: u
    )
    solution = sf.solve(problem, tol=1e-2, adaptor=Doubting())
    assert solution.error_estimate == 1.0
    assert solution.estimate.meaning == "doubted"


def test_jumps_that_lie_in_one_cell_are_all_kept():
    def data(x):
        return x + 1e-6 * np.where(x < 0.50434, 0.1, np.where(x < 0.50832, 0.3, 0.5))

    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: 1e3 * (u - sf.function(data)(x)) + u * u.dx - 0.01 * u.dxx,
        left=lambda u, x: u,
        right=lambda u, x: u - 1,
    )
    solution = sf.solve(problem, tol=1e-6)
    assert solution.converged
    finer = sf.solve(problem, tol=1e-9)
    x = np.linspace(0, 1, 501)
    assert np.abs(solution(x) - finer(x)).max() < 1e-6


def test_a_layer_that_is_not_resolved_from_zero_is_led_to():
    def flow(eps):
        return sf.Problem(
            sf.Interval(0, 1),
            lambda u, x: eps * u.dxx + u * u.dx - u,
            left=lambda u, x: u + 7 / 6,
            right=lambda u, x: u - 1.5,
        )

    alone = sf.solve(flow(1e-4), tol=1e-6)
    assert alone.outcome.kind == "unresolved" and "continuation=" in alone.outcome.advice
    led = sf.solve(flow, continuation=[1e-2, 1e-3, 1e-4], tol=1e-6)
    assert led.converged and abs(led(1 / 3)) < 1e-3  # where both sides meet


@pytest.mark.parametrize("reynolds", [100, 200])
def test_corrections_that_halve_are_not_the_last(reynolds):
    """Two flows between porous walls differ by exp(-Re): at such a fold an error equation is
    singular, and told 7e-8 where the error was 5e-5.
    """
    flow = sf.Problem(
        sf.Interval(0, 1),
        lambda f, x: f.d("x", 4) - reynolds * (f * f.dxxx - f.dx * f.dxx),
        left=lambda f, x: (f, f.dxx),
        right=lambda f, x: (f - 1, f.dx),
    )
    solution = sf.solve(flow, tol=1e-7)
    assert not solution.converged and solution.outcome.kind == "near-singular"
