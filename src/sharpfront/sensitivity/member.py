"""A member of a family: the solution that knows its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from sharpfront.adapt.again import again
from sharpfront.adapt.turn import turn
from sharpfront.approximation import Approximation
from sharpfront.arrays import FloatArray, blas_threads
from sharpfront.budget import tolerance
from sharpfront.errors import LinearSystemError, Outcome, OutcomeKind
from sharpfront.family import Family, Forcing, require_numbers, same_but_numbers
from sharpfront.sensitivity.differences import combined, differenced
from sharpfront.sensitivity.march import checked_march, marched, suits_march
from sharpfront.sensitivity.steady import Kept, resolved, tangent_problems, together, unchecked
from sharpfront.solution import Solution

# What is asked of a sensitivity beside the solution's tolerance: nobody needs more digits of it.
LEAST_TOL = 1e-6


class Solver(Protocol):
    """Solves other members of a family with the options of one."""

    def __call__(self, values: Mapping[str, Any], tol: float, guess: Any = None) -> Solution:
        """Return the solution for values of all parameters."""


@dataclass(frozen=True, eq=False)
class Member:
    """Where a solution comes from.

    Parameters
    ----------
    family
        The family.
    values
        Of all its parameters.
    kept
        Adaptor and state of the solve, for a stationary problem.
    solve
        Solves other members with the same options.
    """

    family: Family
    values: Mapping[str, Any]
    kept: Kept | None
    solve: Solver

    def sensitivity(self, solution: Solution, name: str, tol: float | None = None) -> Solution:
        """Return the derivative of the solution with respect to a parameter, as a solution."""
        require_numbers(self.values, [name])
        aim = max(10.0 * solution.tol, LEAST_TOL) if tol is None else tolerance(tol)
        forcing, size = self.forcing(solution, name), abs(self.values[name]) or 1.0
        found = None
        if forcing is not None and self.kept is not None:
            (linear,) = tangent_problems(solution, [forcing])
            # The functions of a bundle are as wide as the one that was looked at in the solve.
            surveyed = forcing.is_explicit and not self._in_bundle(name)
            found = resolved(solution, self.kept, linear, aim, size, surveyed)
        elif forcing is not None and suits_march(solution):
            found = checked_march(solution, forcing, aim, size)
        if found is None:
            found = differenced(solution, self.values, name, self.solve, aim)
        return found if solution.converged else replace(found, outcome=_doubtful(solution))

    def derivatives(self, solution: Solution, names: Sequence[str]) -> list[Approximation]:
        """Return the derivatives with respect to parameters, without estimates."""
        found: dict[str, Approximation | None] = dict.fromkeys(names)
        found |= self._of_bundle(solution)
        left = [name for name in names if found[name] is None]
        forcings = {name: self.forcing(solution, name) for name in left}
        known = {n: f for n, f in forcings.items() if f is not None}
        if self.kept is not None:
            linear = list(tangent_problems(solution, known.values()))
            own = together(self.kept, linear, lambda right, _: right)
            one_by_one = (unchecked(self.kept, each) for each in linear)
            found |= zip(known, own or one_by_one, strict=True)
        elif known and suits_march(solution):
            found |= zip(known, marched(solution, list(known.values())), strict=True)
        return [found[name] or self._difference(solution, name) for name in names]

    def _in_bundle(self, name: str) -> bool:
        return self.family.bundle is not None and name in self.family.bundle.names

    def _of_bundle(self, solution: Solution) -> Mapping[str, Approximation]:
        """Return the derivatives along the weights of a function, where all go at once."""
        bundle = self.family.bundle
        if bundle is None or self.kept is None or solution.problem is None:
            return {}
        along = self.family.along(solution.problem, self.values)
        if not along:
            return {}

        def mixed(right: FloatArray, places: FloatArray) -> FloatArray:
            total = np.zeros((len(right), len(bundle.names)))
            for column, part in zip(right.T, along, strict=True):
                table = bundle.table(places[:, part.axis], part.order)
                total += np.where(column[:, None] == 0.0, 0.0, column[:, None] * table)
            # Not finite where a row of several places has the function in it: refused there.
            return total

        linear = list(tangent_problems(solution, (a.forcing for a in along)))
        found = together(self.kept, linear, mixed)
        return {} if found is None else dict(zip(bundle.names, found, strict=True))

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
        solution, by the same check as ever, meets the tolerance at once; else it is solved afresh:
        what moves along a coordinate could lie between all points at which is checked. A nonlinear
        problem starts from this solution.
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
        assert kept is not None
        if solution.problem is None or not same_but_numbers(solution.problem, problem):
            return None
        # What varies along the coordinates is the same, and was looked at for this solution.
        state = again(kept.state, problem, tol, surveyed=False)
        if state is None:
            return None
        try:
            with blas_threads(1):
                step, state = turn(problem, kept.adaptor, state, 0)
        except LinearSystemError:
            return None
        if state.finished is None or state.finished.kind is not OutcomeKind.CONVERGED:
            return None
        if step.outcome.kind is OutcomeKind.ILL_POSED:
            return None
        return replace(
            solution,
            approximation=state.answer.approximation,
            estimate=state.answer.estimate,
            outcome=state.finished,
            tol=tol,
            history=(step.record,),
            diagnostics={"condition": step.facts.condition, "rank": step.facts.rank},
            problem=problem,
            member=replace(self, values=values, kept=replace(kept, state=state)),
        )


def _doubtful(solution: Solution) -> Outcome:
    """Return the outcome of the solution itself: a derivative of it is no better."""
    words = f"The solution itself did not converge. {solution.outcome.detail}".strip()
    return Outcome(solution.outcome.kind, words, solution.outcome.remedy)
