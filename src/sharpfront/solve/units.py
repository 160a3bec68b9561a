"""Units of the unknowns: problems whose solutions are far below one.

Tolerances are relative to max(1, max|u|), of each unknown to its own. Of a displacement in metres
or a concentration in moles that may ask for no digit at all. Such a problem is solved in another
unit, u = unit * w, in which w is of the size of one. Several unknowns have units of their own: what
is small beside another is lost in its rounding, and what is large swallows it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Constant, Derivative, Expression, Leaf
from sharpfront.equation.linearise import substitute
from sharpfront.errors import Outcome, OutcomeKind, ProblemError
from sharpfront.geometry import Domain
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
# A system that was not solved is solved again if its unknowns differ by more than this. Of 1e6 and
# 1 on a line both are right to 4e-9, of 1e10 and 1 the smaller is off by a hundredth.
APART = 1e6
# So often sizes of unknowns are corrected: of 1e22 and 1 the smaller is taken for 1e10 first.
ROUNDS = 3
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
    units
        Of each unknown, powers of two, so that nothing is rounded.
    asked
        The tolerance that was asked for.
    tol
        That of the problem in the unit.
    """

    stated: Problem
    units: Mapping[str, float]
    asked: float
    tol: float

    @classmethod
    def after(cls, problem: Problem, tol: float, found: Solution) -> Iterator[Units]:
        """Go through units that a solution asks for; none where its estimate is small beside it.

        Where all of it is below the tolerance zero would be an answer as good: what was meant is a
        tolerance relative to the solution. Units of each unknown come first, then one for all.
        """
        kind, share = found.outcome.kind, max(SHARE, tol)
        if kind is not OutcomeKind.CONVERGED or _is_large(found):
            return
        sizes = _sizes(found)
        largest = max(sizes.values())
        small = {n: s for n, s in sizes.items() if _is_short(s, tol, found.error_estimate)}
        whole = _power_of_two(largest) if largest in small.values() else 1.0
        if small and len(sizes) > 1 and problem.time is None:
            # With the tolerance as it is these are known to a share of what they are.
            own = {n: _power_of_two(s if s <= tol else s * share / tol) for n, s in small.items()}
            yield cls(problem, dict.fromkeys(sizes, whole) | own, tol, tol)
        if largest in small.values():
            units = dict.fromkeys(sizes, whole)
            yield cls(problem, units, tol, tol if largest <= tol else share)

    @classmethod
    def apart(cls, problem: Problem, tol: float, found: Solution) -> Units | None:
        """Return units of a system that was not solved, if its unknowns are far from another."""
        several = len(problem.unknowns) > 1 and problem.time is None
        if found.outcome.kind not in (*_SHORT, OutcomeKind.NEAR_SINGULAR) or not several:
            return None
        sizes = _sizes(found)
        if min(sizes.values()) * APART > max(sizes.values()):
            return None
        return cls(problem, {n: _power_of_two(s or 1.0) for n, s in sizes.items()}, tol, tol)

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
        if not ROUNDING < size <= tol:
            return None
        return cls(problem, dict.fromkeys(problem.unknowns, _power_of_two(size)), tol, tol)

    @classmethod
    def kept(cls, problem: Problem, tol: float, resume: Solution) -> Units | None:
        """Return the unit in which an interrupted run was made."""
        unit = (resume.checkpoint or {}).get(_UNIT)
        if unit is None:
            return None
        return cls(problem, dict.fromkeys(problem.unknowns, float(unit)), tol, tol)

    @property
    def unit(self) -> float:
        """The largest: that of all where they have one."""
        return max(self.units.values())

    @cached_property
    def problem(self) -> Problem:
        """The problem in the unit."""
        unit, stated = Constant(self.unit), self.stated

        def insert(leaf: Leaf) -> Expression:
            return self.units[leaf.unknown] * leaf if isinstance(leaf, Derivative) else leaf

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
        sizes = {name: (self.units[name], size) for name, size in _sizes(found).items()}
        # Both estimates are relative to the largest value, if that is more than one.
        share = max(unit * max(1.0, s) / max(1.0, unit * s) for unit, s in sizes.values())
        checkpoint = found.checkpoint and {**found.checkpoint, _UNIT: self.unit}
        return replace(
            _times(found, self.units),
            estimate=replace(found.estimate, value=share * found.estimate.value),
            outcome=_in_words(found, {name: unit * s for name, (unit, s) in sizes.items()}),
            history=tuple(
                replace(r, error_estimate=share * r.error_estimate) for r in found.history
            ),
            tol=self.asked,
            problem=self.stated,
            checkpoint=checkpoint,
        )

    def settled(self, first: Solution, solve: Callable[[Units], Solution]) -> Solution:
        """Return the solution in units that its own sizes confirm; the first if there is none.

        An unknown that was lost in the rounding of another is known once its own size is.
        """
        units: Units = self
        for _ in range(ROUNDS):
            found = solve(units)
            if not found.converged:
                break
            back = units.put_back(found)
            if back.error_estimate <= self.asked:
                return back
            own = {name: _power_of_two(size or 1.0) for name, size in _sizes(back).items()}
            units = replace(units, units=own)
        return first

    def suffices(self, first: Solution, found: Solution) -> bool:
        """Tell whether a solution in units is to be returned in the place of the first.

        One that is larger than the tolerance has been solved as it was asked to be, and so has what
        is large beside something small.
        """
        alike = min(self.units.values()) == self.unit
        return found.converged or (alike and max(_sizes(first).values()) <= self.asked)

    def taken_off(self, found: Solution) -> Solution:
        """Return a solution of the problem in the unit from one as it was stated."""
        back = {name: 1.0 / unit for name, unit in self.units.items()}
        return replace(_times(found, back), problem=self.problem)

    def has_outgrown(self, found: Solution) -> bool:
        """Tell whether a solution in the unit has become large, so that none is needed."""
        return self.unit * max(_sizes(found).values()) > self.asked / SHARE


def is_short(found: Solution, tol: float) -> bool:
    """Tell whether an unknown is hardly known, though the estimate is below the tolerance."""
    if found.outcome.kind is not OutcomeKind.CONVERGED or _is_large(found):
        return False
    least = found.error_estimate / max(SHARE, tol)
    return any(ROUNDING < size < min(least, 1.0) for size in _sizes(found).values())


def short(first: Solution) -> Solution:
    """Return a solution that no unit made better, which says what it does not know."""
    known = {name: size for name, size in _sizes(first).items() if size > ROUNDING}
    name, size = min(known.items(), key=lambda own: own[1])
    told = f"The estimate is {first.error_estimate / size:.0%} of max|{name}| = {size:.2g}."
    outcome = replace(first.outcome, detail=f"{first.outcome.detail} {told}".strip())
    return replace(first, outcome=outcome)


def _in_words(found: Solution, sizes: Mapping[str, float]) -> Outcome:
    """Return how a solve in units ended; of one unknown two digits and the tolerance are enough."""
    words = ", ".join(f"max|{name}| = {size:.2g}" for name, size in sizes.items())
    told = f"Solved in units of {words}, to which figures here are relative."
    outcome = replace(found.outcome, detail=f"{found.outcome.detail} {told}".strip())
    if outcome.kind in _SHORT and found.error_estimate <= max(SHARE, found.tol):
        return replace(outcome, kind=OutcomeKind.CONVERGED, remedy="")
    return outcome


def _is_short(size: float, tol: float, estimate: float) -> bool:
    """Tell whether an unknown is so small that a tolerance relative to one tells too little."""
    return ROUNDING < size < 1.0 and (size <= tol or estimate > max(SHARE, tol) * size)


def _times(found: Solution, factors: Mapping[str, float]) -> Solution:
    old = found.approximation
    weights = {name: factors[name] * w for name, w in old.weights.items()}
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


def _sizes(found: Solution) -> dict[str, float]:
    """Return max|u| of each unknown, from where its functions are.

    In time on a line weights are values, and tell it.
    """
    old, sizes = found.approximation, {}
    for name, basis in old.bases.items():
        values = old.weights[name]
        places = _places(found, basis)
        if places is not None:
            # Patches that a boundary cuts go on beyond it, and mean nothing there.
            places = places[found.domain.contains(places)]
            values = old.values(name, places, (0,) * basis.dimension)
        sizes[name] = float(np.abs(values).max(initial=0.0))
    return sizes


def _places(found: Solution, basis: Basis) -> FloatArray | None:
    """Return where functions are, some of them if they are many; None where weights are values."""
    if isinstance(basis, PlacedBasis):
        centres = np.asarray(basis.centres)
        return centres[:: max(1, len(centres) // PLACES)]
    span = found.domain.time
    if span is None or basis.dimension < 3:
        return None
    spread = found.domain.space.sample(PLACES)
    moments = np.linspace(*span, MOMENTS)
    return np.concatenate([np.column_stack([spread, np.full(PLACES, t)]) for t in moments])


def _power_of_two(size: float) -> float:
    return 2.0 ** round(math.log2(size))
