"""The problems of benchmarks/honesty.py have the solutions they are said to have.

Their solutions are differentiated by finite differences and inserted into what the library has
read of their statements: the equation, the conditions and the start.
"""

from __future__ import annotations

import itertools
import math
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from sharpfront.equation.graph import derivatives_in, evaluate
from sharpfront.equation.values import environment

pytest.importorskip("resource", reason="limits of processor time are those of Unix")
sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

import honesty
from hostile import FAMILIES, KINDS, draw, reference
from hostile.drawn import Statement, Truth
from hostile.line import FAMILIES as LINE

import sharpfront as sf

SEED = 4
STENCIL = np.arange(-4, 5)
# The step is this share of the length over which the solution varies: nine points then leave
# about 1e-8 of a derivative of order four.
STEP = 0.06


def weights(order):
    """The differences of nine points that give a derivative, for a step of one."""
    powers = np.vander(STENCIL.astype(float), increasing=True).T
    wanted = np.zeros(len(STENCIL))
    wanted[order] = math.factorial(order)
    return np.linalg.solve(powers, wanted)


def differenced(f, points, steps, orders):
    """A derivative of f at points (m, d) with steps (m, d)."""
    active = [i for i, order in enumerate(orders) if order]
    total = 0.0
    for shifts in itertools.product(range(len(STENCIL)), repeat=len(active)):
        factor = math.prod(weights(orders[i])[s] for i, s in zip(active, shifts, strict=True))
        if abs(factor) < 1e-12:
            continue
        moved = points.copy()
        for i, s in zip(active, shifts, strict=True):
            moved[:, i] += STENCIL[s] * steps[:, i]
        total = total + factor * np.asarray(f(*moved.T), dtype=float)
    return total / math.prod(steps[:, i] ** orders[i] for i in active)


@dataclass
class Inserted:
    """A truth inserted into expressions: what is left, relative to the largest of their terms."""

    case: object
    truth: Truth

    def left(self, expression, points, normals=None):
        problem = self.case.statement.problem()
        scales = self.case.scale(*points.T)
        lengths = scales if isinstance(scales, tuple) else (scales,)
        space = len(problem.domain.coordinates)
        steps = STEP * np.stack([lengths[0]] * space + list(lengths[1:]), axis=1)
        leaves = environment(problem.coordinates, points, normals)
        values = dict(zip(problem.unknowns, self.truth.values, strict=True))
        for d in derivatives_in(expression):
            leaves[d.key] = differenced(values[d.unknown], points, steps, d.orders)
        whole = evaluate(expression, leaves) + 0.0 * points[:, 0]
        size = np.full(len(points), 1e-300)
        for d in derivatives_in(expression):
            # What this term would be for a solution that varies over its scale everywhere.
            usual = self.sizes[d.unknown] / np.prod((steps / STEP) ** d.orders, axis=1)
            moved = evaluate(expression, leaves | {d.key: leaves[d.key] + usual})
            size = np.maximum(size, np.abs(moved - whole))
        return np.abs(whole) / size

    @cached_property
    def sizes(self):
        pairs = zip(self.case.statement.unknowns, self.truth.values, strict=True)
        return {name: np.max(np.abs(f(*self.case.points))) for name, f in pairs}


def places(case, count=60):
    """Some of the points at which answers are measured, not on the boundary."""
    points = np.stack(case.points, axis=1)
    rng = np.random.default_rng(0)
    points = points[rng.permutation(len(points))[: 4 * count]]
    space = points[:, : case.statement.domain.dimension]
    inside = case.statement.domain.contains(space)
    return points[inside][:count]


def mostly(left, bound=1e-4):
    """Whether almost everywhere little is left; differences fail where data or slopes jump."""
    return np.mean(left < bound) > 0.6


def checked(case, truth):
    problem = case.statement.problem()
    inserted = Inserted(case, truth)
    points = places(case)
    with np.errstate(all="ignore"):
        for equation in problem.equations:
            assert mostly(inserted.left(equation, points)), case.words
        for condition in problem.conditions:
            found = problem.domain.boundary(condition.part, 12)
            where, normals = found.points, found.normals
            if problem.time:
                moments = np.linspace(*problem.time, len(where) + 2)[1:-1]
                where = np.column_stack([where, moments])
            for residual in condition.residuals:
                assert mostly(inserted.left(residual, where, normals)), (case.words, condition.part)
        if problem.time:
            space = points[:, :-1].T
            start = np.full(len(points), problem.time[0])
            for stated, exact in zip(case.statement.initial, truth.values, strict=False):
                assert np.allclose(stated(*space), exact(*space, start), atol=1e-9), case.words


def closed_form():
    for kind in KINDS:
        for index in range(2 * len(FAMILIES[kind])):
            yield pytest.param(kind, index, id=f"{kind}-{index}")


@pytest.mark.parametrize(("kind", "index"), list(closed_form()))
def test_solutions_in_closed_form_satisfy_what_was_stated(kind, index):
    case = draw(kind, SEED, index)
    assert case.words == draw(kind, SEED, index).words
    case.statement.problem()
    if case.truth is None or "known" not in case.truth.__qualname__:
        return
    checked(case, case.truth())


def referenced():
    wanted = {"line": 3, "systems": 2, "fourth": 1}
    for kind, count in wanted.items():
        found = (
            i
            for i in range(200)
            if (t := draw(kind, SEED, i).truth) and "known" not in t.__qualname__
        )
        yield from ((kind, i) for i in itertools.islice(found, count))


@pytest.mark.parametrize(("kind", "index"), list(referenced()))
def test_references_satisfy_what_was_stated(kind, index):
    case = draw(kind, SEED, index)
    truth = case.truth()
    assert truth.error < case.tol / 3
    checked(case, truth)


def test_a_wrong_solution_is_noticed():
    case = next(c for c in (draw("line", SEED, i) for i in range(9)) if c.words.startswith("sec"))
    exact = case.truth().values[0]
    with pytest.raises(AssertionError):
        checked(case, Truth((lambda x: 1.01 * exact(x) + 0.1 * np.sin(x),)))


def test_the_reference_marches_second_order_in_time_with_data_that_switch():
    speed = lambda t: np.where(t < 0.3, 1.0, 4.0)  # noqa: E731
    stated = Statement(
        sf.Interval(0, 1),
        ("u",),
        lambda u, x, t: u.dtt - speed(t) * u.dxx / np.pi**2,
        {"boundary": lambda u, x, t: u},
        initial=(lambda x: np.sin(np.pi * x), lambda x: 0 * x),
        time=(0.0, 0.5),
    )
    truth = reference.marched(stated, (2,), [], [0.3], steps=5, first=0.05)
    after = np.cos(0.3) * np.cos(2 * 0.2) - np.sin(0.3) * np.sin(2 * 0.2) / 2
    found = truth.values[0](np.array([0.5]), np.array([0.5]))[0]
    assert abs(found - after) < 1e-8 and truth.error < 1e-6


def answer(error, estimate, converged):
    """A solution of u = 0 that is off by an error."""

    outcome = SimpleNamespace(kind="converged" if converged else "stalled")
    return SimpleNamespace(
        u=lambda x: error + 0 * x,
        outcome=outcome,
        converged=converged,
        error_estimate=estimate,
        kernels=1,
    )


@pytest.mark.parametrize(
    ("error", "estimate", "converged", "marks"),
    [
        (0.5, 0.4, True, {"converged", "right"}),
        (0.5, 2.0, False, {"right", "right, not sure"}),
        (2.0, 1.0, True, {"converged", "above tol"}),
        (5.0, 3.0, True, {"converged", "above tol", "above 3 tol"}),
        (20.0, 9.0, True, {"converged", "above tol", "above 3 tol", "silently wrong"}),
        (0.9, 0.1, False, {"right", "right, not sure", "under-estimated"}),
        (50.0, 30.0, False, set()),
    ],
)
def test_verdicts_mean_what_the_benchmark_says(error, estimate, converged, marks):
    tol = 1e-6
    case = SimpleNamespace(
        tol=tol,
        points=(np.linspace(0, 1, 5),),
        statement=SimpleNamespace(time=None, unknowns=("u",)),
    )
    given = answer(error * tol, estimate * tol, converged)
    assert set(honesty.judged(case, given, Truth((lambda x: 0 * x,)))["marks"]) == marks
    # A reference that is not better than what is asked says nothing.
    vague = Truth((lambda x: 0 * x,), error=tol)
    assert honesty.judged(case, given, vague)["marks"] == ["no truth"]
    # Where no single solution exists, an answer must not be called converged.
    alone = honesty.judged(case, given, None)["marks"]
    assert ("silently wrong" in alone) == converged
    assert ("rightly refused" in alone) != converged


def test_every_family_is_drawn_by_the_first_indices():
    assert len({draw("line", SEED, i).words.split()[0] for i in range(len(LINE))}) > 4


def test_one_problem_is_solved_in_a_process_of_its_own():
    result = honesty.limited("line", SEED, 0, 20)
    assert result["words"] == draw("line", SEED, 0).words
    assert "marks" in result and result["kind"] == "line"
