"""Units of the unknowns: problems whose solutions are far below one.

Tolerances are relative to max(1, max|u|). Of a displacement in metres or a concentration in moles
that may ask for no digit at all. Such a problem is solved in another unit, u = unit * w, in which
w is of the size of one.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Constant, Derivative, Expression, Leaf
from sharpfront.equation.linearise import substitute
from sharpfront.errors import Outcome, OutcomeKind, ProblemError
from sharpfront.geometry import Domain, SpaceTime
from sharpfront.kernels.basis import Basis, PlacedBasis
from sharpfront.problem import IntegralCondition, Problem
from sharpfront.problem.initial import InitialState
from sharpfront.solution import Solution
from sharpfront.solution.approximation import Approximation

# What is called converged is known to this share of its largest value, if the tolerance is not
# larger still.
SHARE = 1e-2
# On a line weights this many times larger than estimate and tolerance belong to no small solution,
# whose values need not be looked at: that would take a twentieth of a millisecond.
CLEAR = 1e4
# What is no larger than this may be rounding of data that cancel, and has no unit.
ROUNDING = 1e-13
# So many places tell how large a solution or an initial state is, in the plane at so many moments.
PLACES, MOMENTS = 2000, 5
# What may be called converged with fewer digits than a relative tolerance asks for.
_SHORT = (OutcomeKind.UNRESOLVED, OutcomeKind.STALLED, OutcomeKind.KERNEL_LIMIT)
_UNIT = "unit"  # its name in a checkpoint


@dataclass(frozen=True, eq=False)
class Units:
    """A problem, and the unit in which its unknowns are solved for.

    Parameters
    ----------
    stated
        As it was stated.
    unit
        A power of two, so that nothing is rounded.
    asked
        The tolerance that was asked for.
    tol
        That of the problem in the unit.
    """

    stated: Problem
    unit: float
    asked: float
    tol: float

    @classmethod
    def after(cls, problem: Problem, tol: float, found: Solution) -> Units | None:
        """Return the unit that a solution asks for; None where its estimate is small beside it.

        Where all of it is below the tolerance zero would be an answer as good: what was meant is a
        tolerance relative to the solution.
        """
        if found.outcome.kind is not OutcomeKind.CONVERGED or _is_large(found):
            return None
        size, share = _largest(found), max(SHARE, tol)
        if not ROUNDING < size < 1.0:
            return None
        if size <= tol:
            return cls(problem, _power_of_two(size), tol, tol)
        enough = found.error_estimate <= share * size
        return None if enough else cls(problem, _power_of_two(size), tol, share)

    @classmethod
    def before(cls, problem: Problem, tol: float) -> Units | None:
        """Return the unit that the start of a problem in time asks for.

        Its conditions must not hold anything larger.
        """
        if problem.initial is None or not all(
            _is_below(r, tol) for c in problem.conditions for r in c.residuals
        ):
            return None
        size = _largest_start(problem.initial, problem.domain)
        return cls(problem, _power_of_two(size), tol, tol) if ROUNDING < size <= tol else None

    @classmethod
    def kept(cls, problem: Problem, tol: float, resume: Solution) -> Units | None:
        """Return the unit in which an interrupted run was made."""
        unit = (resume.checkpoint or {}).get(_UNIT)
        return None if unit is None else cls(problem, float(unit), tol, tol)

    @cached_property
    def problem(self) -> Problem:
        """The problem in the unit."""
        unit, stated = Constant(self.unit), self.stated

        def insert(leaf: Leaf) -> Expression:
            return unit * leaf if isinstance(leaf, Derivative) else leaf

        def inserted(graphs: Sequence[Expression]) -> tuple[Expression, ...]:
            return tuple(substitute(graph, insert) / unit for graph in graphs)

        def told(condition: Any) -> Any:
            other = replace(condition, residuals=inserted(condition.residuals))
            if isinstance(condition, IntegralCondition):
                return replace(other, equals=condition.equals / self.unit)
            return other

        return stated.rewritten(
            equations=inserted(stated.equations),
            conditions=tuple(map(told, stated.conditions)),
            further=tuple(map(told, stated.further)),
            jumps=tuple(replace(told(j), equals=inserted(j.equals)) for j in stated.jumps),
            initial=stated.initial and self._start(stated.initial),
        )

    def _start(self, initial: InitialState) -> InitialState:
        states = {name: partial(_divided, f, self.unit) for name, f in initial.states.items()}
        return replace(initial, states=states)

    def put_back(self, found: Solution) -> Solution:
        """Return a solution of the problem as it was stated from one in the unit."""
        size = _largest(found)
        # Both estimates are relative to the largest value, if that is more than one.
        share = self.unit * max(1.0, size) / max(1.0, self.unit * size)
        checkpoint = found.checkpoint and {**found.checkpoint, _UNIT: self.unit}
        return replace(
            _times(found, self.unit),
            estimate=replace(found.estimate, value=share * found.estimate.value),
            outcome=_in_words(found, self.unit * size),
            history=tuple(
                replace(r, error_estimate=share * r.error_estimate) for r in found.history
            ),
            tol=self.asked,
            problem=self.stated,
            checkpoint=checkpoint,
        )

    def better(self, first: Solution, found: Solution) -> Solution:
        """Return a solution in the unit as it was stated, or the first where that was good enough.

        One that is larger than the tolerance has been solved as it was asked to be.
        """
        size = _largest(first)
        if found.converged or size <= self.asked:
            return self.put_back(found)
        told = f"The estimate is {first.error_estimate / size:.0%} of max|u| = {size:.2g}."
        outcome = replace(first.outcome, detail=f"{first.outcome.detail} {told}".strip())
        return replace(first, outcome=outcome)

    def taken_off(self, found: Solution) -> Solution:
        """Return a solution of the problem in the unit from one as it was stated."""
        return replace(_times(found, 1.0 / self.unit), problem=self.problem)

    def has_outgrown(self, found: Solution) -> bool:
        """Tell whether a solution in the unit has become large, so that none is needed."""
        return self.unit * _largest(found) > self.asked / SHARE


def _in_words(found: Solution, size: float) -> Outcome:
    """Return how a solve in a unit ended; two digits and the tolerance are enough."""
    told = f"Solved in units of max|u| = {size:.2g}, to which figures here are relative."
    outcome = replace(found.outcome, detail=f"{found.outcome.detail} {told}".strip())
    if outcome.kind in _SHORT and found.error_estimate <= max(SHARE, found.tol):
        return replace(outcome, kind=OutcomeKind.CONVERGED, remedy="")
    return outcome


def _times(found: Solution, factor: float) -> Solution:
    old = found.approximation
    weights = {name: factor * w for name, w in old.weights.items()}
    return replace(found, approximation=Approximation(old.coordinates, old.bases, weights))


def _divided(state: Callable[..., Any], unit: float, **coordinates: Any) -> Any:
    found = state(**coordinates)
    return (found if isinstance(found, Expression) else np.asarray(found, dtype=float)) / unit


def _is_below(residual: Expression, tol: float) -> bool:
    """Tell whether a condition holds unknowns at a number that is no more than the tolerance."""
    left = substitute(
        residual, lambda leaf: Constant(0.0) if isinstance(leaf, Derivative) else leaf
    )
    return isinstance(left, Constant) and abs(left.value) <= tol


def _largest_start(initial: InitialState, domain: Domain) -> float:
    """Return max|u| at the start; infinity of a start that is refused, where it is read."""
    points = domain.sample(PLACES)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            states = [initial.values(name, points) for name in initial.states]
    except ProblemError:
        return math.inf
    return float(np.abs(states).max(initial=0.0))


def _is_large(found: Solution) -> bool:
    """Tell at once whether a solution on a line is large beside its estimate and the tolerance.

    Its weights are of its own size there. On patches that a boundary cuts they may be anything.
    """
    old = found.approximation
    if any(basis.dimension > 1 for basis in old.bases.values()):
        return False
    size = min(float(np.abs(w).max(initial=0.0)) for w in old.weights.values())
    return size > CLEAR * max(found.error_estimate, found.tol)


def _largest(found: Solution) -> float:
    """Return max|u| of all unknowns, from where their functions are.

    In time on a line weights are values, and tell it.
    """
    old = found.approximation
    sizes = [0.0]
    for name, basis in old.bases.items():
        values = old.weights[name]
        places = _places(found, basis)
        if places is not None:
            # Patches that a boundary cuts go on beyond it, and mean nothing there.
            places = places[found.domain.contains(places)]
            values = old.values(name, places, (0,) * basis.dimension)
        sizes.append(float(np.abs(values).max(initial=0.0)))
    return max(sizes)


def _places(found: Solution, basis: Basis) -> FloatArray | None:
    """Return where functions are, some of them if they are many; None where weights are values."""
    if isinstance(basis, PlacedBasis):
        centres = np.asarray(basis.centres)
        return centres[:: max(1, len(centres) // PLACES)]
    if not isinstance(found.domain, SpaceTime) or basis.dimension < 3:
        return None
    spread = found.domain.space.sample(PLACES)
    moments = np.linspace(*found.domain.time, MOMENTS)
    return np.concatenate([np.column_stack([spread, np.full(PLACES, t)]) for t in moments])


def _power_of_two(size: float) -> float:
    return 2.0 ** round(math.log2(size))
