"""A member of a family: the solution that knows its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from sharpfront.adapt.adaptive_step import AdaptiveStep, adaptive_step
from sharpfront.adapt.basis_reuse import may_go_on, neighbouring
from sharpfront.arrays import FloatArray, blas_threads
from sharpfront.budget import tolerance
from sharpfront.errors import LinearSystemError, Outcome, OutcomeKind
from sharpfront.leastsquares import ManySided
from sharpfront.problem.family import Along, Bundle, Family, Forcing, require_numbers
from sharpfront.sensitivity.march import checked_march, marched, suits_march
from sharpfront.sensitivity.steady import (
    Kept,
    Sides,
    combined,
    differenced,
    resolved,
    tangent_problems,
    unchecked,
)
from sharpfront.solution import Solution
from sharpfront.solution.approximation import Approximation

# What is asked of a sensitivity beside the solution's tolerance: nobody needs more digits of it.
LEAST_TOL = 1e-6


class Solver(Protocol):
    """Solves other members of a family with the options of one."""

    def __call__(self, values: Mapping[str, Any], tol: float, guess: Any = None) -> Solution:
        """Return the solution for values of all parameters."""


@dataclass(frozen=True, eq=False)
class Member:
    """Where a solution comes from."""

    family: Family  # the family
    values: Mapping[str, Any]  # of all its parameters
    kept: Kept | None  # adaptor and state of the solve, for a stationary problem
    solve: Solver  # solves other members with the same options

    def sensitivity(self, solution: Solution, name: str, tol: float | None = None) -> Solution:
        """Return the derivative of the solution with respect to a parameter, as a solution."""
        return self.sensitivities(solution, [name], tol)[0]

    def sensitivities(
        self,
        solution: Solution,
        names: Sequence[str],
        tol: float | None = None,
        rates: Sequence[Approximation] | None = None,
    ) -> list[Solution]:
        """Return the derivatives with respect to several parameters, as solutions.

        Those that `derivatives` has found need not be found again in time.
        """
        require_numbers(self.values, names)
        aim = max(10.0 * solution.tol, LEAST_TOL) if tol is None else tolerance(tol)
        forcings = {name: self.forcing(solution, name) for name in names}
        known = {name: f for name, f in forcings.items() if f is not None}
        found: dict[str, Solution | None] = {}
        if self.kept is not None:
            found = self._resolved(solution, self.kept, known, aim)
        elif known and suits_march(solution):
            sizes = [abs(self.values[name]) or 1.0 for name in known]
            own = rates if len(known) == len(names) else None
            marches = checked_march(solution, list(known.values()), aim, sizes, own)
            found = dict(zip(known, marches, strict=True))
        each = [
            found.get(name) or differenced(solution, self.values, name, self.solve, aim)
            for name in names
        ]
        if solution.converged:
            return each
        # A derivative of what did not converge is no better.
        ended = solution.outcome
        words = f"The solution itself did not converge. {ended.detail}".strip()
        doubtful = Outcome(ended.kind, words, ended.remedy)
        return [replace(one, outcome=doubtful) for one in each]

    def _resolved(
        self, solution: Solution, kept: Kept, known: Mapping[str, Forcing], tol: float
    ) -> dict[str, Solution | None]:
        linear = list(tangent_problems(solution, known.values()))
        # The functions of a bundle are as wide as the one that was looked at in the solve.
        bundled = self.family.bundle.names if self.family.bundle else ()
        surveyed = [f.is_explicit and n not in bundled for n, f in known.items()]
        sizes = [abs(self.values[name]) or 1.0 for name in known]
        return dict(zip(known, resolved(solution, kept, linear, tol, sizes, surveyed), strict=True))

    def derivatives(self, solution: Solution, names: Sequence[str]) -> list[Approximation]:
        """Return the derivatives with respect to parameters, without estimates."""
        sides = self.sides(solution, names)
        if sides is not None:
            return sides.solutions()
        found: dict[str, Approximation | None] = dict.fromkeys(names)
        forcings = {name: self.forcing(solution, name) for name in names}
        known = {n: f for n, f in forcings.items() if f is not None}
        if self.kept is not None:
            linear = list(tangent_problems(solution, known.values()))
            found |= zip(known, unchecked(self.kept, linear), strict=True)
        elif known and suits_march(solution):
            found |= zip(known, marched(solution, list(known.values())), strict=True)
        return [found[name] or self._difference(solution, name) for name in names]

    def sides(self, solution: Solution, names: Sequence[str]) -> Sides | None:
        """Return the linear problems of all derivatives as one operator with many right sides.

        None where some parameter has no such problem, or the method solves one at a time.
        """
        if self.kept is None or solution.problem is None:
            return None
        if not isinstance(self.kept.adaptor.leastsquares, ManySided):
            return None
        bundle, along = self.family.bundle, self.family.along(solution.problem, self.values)
        together = bundle.names if bundle and along and set(bundle.names) <= set(names) else ()
        forcings = [self.forcing(solution, name) for name in names if name not in together]
        plain = [f for f in forcings if f is not None]
        if len(plain) < len(forcings):
            return None
        parts = (along or []) if together else []

        def mixed(right: FloatArray, places: FloatArray) -> FloatArray:
            own = iter(right.T[: len(plain)])
            columns = {name: next(own) for name in names if name not in together}
            if bundle is not None and together:
                rest = _spread(right.T[len(plain) :], places, parts, bundle)
                columns |= zip(together, rest.T, strict=True)
            return np.stack([columns[name] for name in names], axis=1)

        every = [*plain, *(part.forcing for part in parts)]
        return Sides.of(self.kept, list(tangent_problems(solution, every)), mixed)

    def forcing(self, solution: Solution, name: str) -> Forcing | None:
        """Return the derivatives of all residuals with respect to a parameter."""
        assert solution.problem is not None
        return self.family.forcing(solution.problem, self.values, name)

    def _difference(self, solution: Solution, name: str) -> Approximation:
        """Return a central difference of two solutions."""
        value = float(self.values[name])
        step = max(solution.tol, 1e-13) ** (1 / 3) * (abs(value) or 1.0)
        pair = [self.solve({**self.values, name: value + s}, solution.tol) for s in (-step, step)]
        return combined(solution, pair, np.array([-0.5, 0.5]) / step)

    def neighbour(self, solution: Solution, values: Mapping[str, Any], tol: float) -> Solution:
        """Return the solution for other values, on the kernels of this one where they will do.

        They will if the problems differ in plain numbers only, and the estimate for the new
        solution meets the tolerance, on patches perhaps after they are cut once; else it is solved
        afresh: what moves along a coordinate could lie between all points at which is checked. A
        nonlinear problem starts from this solution.
        """
        problem = solution.problem
        if self.kept is None or problem is None:
            return self.solve(values, tol)
        if not problem.is_linear:
            return self.solve(values, tol, guess=solution)
        found = self._on_kernels(solution, values, tol)
        return self.solve(values, tol) if found is None else found

    def _on_kernels(
        self, solution: Solution, values: Mapping[str, Any], tol: float
    ) -> Solution | None:
        problem, kept = self.family(**values), self.kept
        assert kept is not None and solution.problem is not None
        state = neighbouring(kept.state, solution.problem, problem, tol)
        if state is None:
            return None
        steps: list[AdaptiveStep] = []
        try:
            with blas_threads(1):
                while state.finished is None:
                    step, state = adaptive_step(problem, kept.adaptor, state, len(steps))
                    steps.append(step)
                    on = len(steps) == 1 and may_go_on(state, step.assessment)
                    if state.finished is None and not on:
                        return None
        except LinearSystemError:
            return None
        if state.finished.kind is not OutcomeKind.CONVERGED:
            return None
        step = next(s for s in steps if s.assessment.approximation is state.answer.approximation)
        if step.outcome.kind is OutcomeKind.ILL_POSED:
            return None
        return replace(
            solution,
            approximation=state.answer.approximation,
            estimate=state.answer.estimate,
            outcome=state.finished,
            tol=tol,
            history=tuple(s.record for s in steps),
            diagnostics={"condition": step.facts.condition, "rank": step.facts.rank},
            problem=problem,
            member=replace(self, values=values, kept=replace(kept, state=state)),
        )


def _spread(
    right: FloatArray, places: FloatArray, parts: Sequence[Along], bundle: Bundle
) -> FloatArray:
    """Return the right-hand sides of a bundle, (rows, p), from those of its parts (parts, rows).

    Not finite where a row of several places has the function in it.
    """
    total = np.zeros((len(places), len(bundle.names)))
    for column, part in zip(right, parts, strict=True):
        table = bundle.table(places[:, part.axis], part.order)
        total += np.where(column[:, None] == 0.0, 0.0, column[:, None] * table)
    return total
