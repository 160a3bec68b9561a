"""One table of problems against every strategy; a new one joins by a line in STRATEGIES."""

import copy
import dataclasses
import functools

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt import OnePatch
from sharpfront.adapt.adaptive_step import adaptive_step
from sharpfront.errors import ProblemError

TOL = 1e-3
# Each with what it solves: a problem on the line or in the plane.
STRATEGIES = {
    "Resolve": (sf.Resolve(max_kernels=200), "line"),
    "Patches": (sf.Patches(max_kernels=2000), "plane"),
    "OnePatch": (OnePatch(max_kernels=400), "plane"),
    "Uniform": (sf.Uniform(kernels=30, collocation=90), "line"),
    "Paper": (sf.Paper(kernels=30, components=2, iterations=1, collocation=90), "line"),
}
every_strategy = pytest.mark.parametrize("name", STRATEGIES)


def problem(kind):
    if kind == "line":
        return sf.Problem(
            sf.Interval(0, 1), lambda u, x: -0.1 * u.dxx + u.dx - 1, boundary=lambda u, x: u
        )
    return sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -sf.laplacian(u) - np.sin(3 * x) * y,
        boundary=lambda u, x, y: u,
    )


@functools.cache
def walked(name, again=False):
    """Return the steps of a whole solve with the states before and after each, walked once."""
    strategy, kind = STRATEGIES[name]
    stated = problem(kind)
    state, trail = strategy.start(stated, TOL, 42), []
    while state.finished is None and len(trail) < 30:
        before = state
        step, state = adaptive_step(stated, strategy, state, len(trail))
        trail.append((before, step, state))
    return trail


@every_strategy
def test_it_ends_and_answers_with_one_of_its_solutions(name):
    trail = walked(name)
    last = trail[-1][2]
    assert last.finished is not None
    assert any(step.assessment.approximation is last.answer.approximation for _, step, _ in trail)
    assert last.answer.estimate.value >= 0
    converged = last.finished.kind == "converged"
    assert not converged or last.answer.estimate.value <= TOL


@every_strategy
def test_a_state_is_a_value(name):
    """Nothing that a later step does changes an earlier state."""
    strategy, kind = STRATEGIES[name]
    state = strategy.start(problem(kind), TOL, 42)
    shown = {f.name: repr(getattr(state, f.name)) for f in dataclasses.fields(state)}
    first = strategy.propose(state)
    again = strategy.propose(copy.copy(state))
    for one, other in zip(first.bases.values(), again.bases.values(), strict=True):
        assert one.size == other.size
    assert {f.name: repr(getattr(state, f.name)) for f in dataclasses.fields(state)} == shown
    with pytest.raises(dataclasses.FrozenInstanceError):
        state.finished = None


@every_strategy
def test_the_same_seed_gives_the_same_bits(name):
    one, other = (walked(name, again)[-1][2].answer for again in (False, True))
    assert one.estimate.value == other.estimate.value
    for key, weights in one.approximation.weights.items():
        assert np.array_equal(weights, other.approximation.weights[key])


@every_strategy
def test_solve_records_every_step(name):
    strategy, kind = STRATEGIES[name]
    solution = sf.solve(problem(kind), tol=TOL, adaptor=strategy)
    assert len(solution.history) == len(walked(name))
    assert solution.history[-1].kernels > 0
    assert all(record.error_estimate >= 0 for record in solution.history)


# Those that keep to the paper, whose problems are linear.
LINEAR_ONLY = {"Uniform", "Paper"}


def curved(kind, c, k):
    """u'' = c (u^3 - v^3) + v'' and the like in the plane, with the solution v."""
    v = (lambda x: np.sin(k * x)) if kind == "line" else (lambda x, y: np.sin(k * x) * y)
    if kind == "line":
        return v, sf.Problem(
            sf.Interval(0, 1),
            lambda u, x: u.dxx - c * (u**3 - v(x) ** 3) + k**2 * v(x),
            boundary=lambda u, x: u - v(x),
        )
    return v, sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: sf.laplacian(u) - c * (u**3 - v(x, y) ** 3) + k**2 * v(x, y),
        boundary=lambda u, x, y: u - v(x, y),
    )


@dataclasses.dataclass(frozen=True, eq=False)
class Plain:
    """A strategy with the contract's four functions and nothing else, around another."""

    own: object

    @property
    def leastsquares(self):
        return self.own.leastsquares

    def start(self, problem, tol, seed):
        return self.own.start(problem, tol, seed)

    def propose(self, state):
        return self.own.propose(state)

    def assess(self, state, approximation):
        return self.own.assess(state, approximation)

    def observe(self, state, assessment):
        return self.own.observe(state, assessment)


@pytest.mark.parametrize("name", [*sorted(set(STRATEGIES) - LINEAR_ONLY), "Plain"])
@pytest.mark.parametrize(("c", "k"), [(3.0, 3.0), (9.0, 2.2)])
def test_newtons_method_goes_around_it(name, c, k):
    strategy, kind = (Plain(OnePatch()), "plane") if name == "Plain" else STRATEGIES[name]
    exact, stated = curved(kind, c, k)
    # A rough solution is good to a percent, a step from it to a thousandth.
    solution = sf.solve(stated, tol=1e-7, adaptor=strategy)
    points = stated.domain.sample(200).T
    assert solution.converged
    assert np.abs(solution(*points) - exact(*points)).max() < 1e-7


@pytest.mark.parametrize("name", sorted(LINEAR_ONLY))
def test_the_papers_strategies_stay_with_linear_problems(name):
    with pytest.raises(ProblemError, match="linear problems only"):
        sf.solve(curved("line", 1.0, 3.0)[1], adaptor=STRATEGIES[name][0])


def test_a_state_that_newtons_method_cannot_use_is_refused():
    @dataclasses.dataclass(frozen=True, eq=False)
    class Opaque(Plain):
        def start(self, problem, tol, seed):
            state = self.own.start(problem, tol, seed)
            return type("Hidden", (), {"held": state, "finished": None, "mixture": None})()

        def propose(self, state):
            return self.own.propose(state.held)

    with pytest.raises(ProblemError, match="problem, tol, finished"):
        sf.solve(curved("plane", 1.0, 3.0)[1], adaptor=Opaque(OnePatch()))
