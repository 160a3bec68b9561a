"""How Newton's method goes on the kernels there are, and what to say where it does not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any

from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.newton.damped import ROUNDING, Newton
from sharpfront.newton.rough import RoughSolution

# Kernels that leave a larger relative error than this are no better than a rough solution.
COARSE = 0.03
# Kernels whose share of the error is below this wait for Newton's method.
KERNELS_SHARE = 0.3
# After a first correction above this share of the solution, what kernels cannot fit may be kinks of
# the iterate on cells.
ROUGH = 1e-4
# Newton steps on one set of kernels.
MOST_STEPS = 12
# A correction that shrinks by less than this no longer converges as Newton's method does.
SLOW = 0.5


@dataclass(frozen=True)
class Progress:
    """Newton's corrections so far."""

    changes: tuple[float, ...] = ()  # relative sizes of the corrections on the kernels of now
    steps: int = 0  # all corrections
    last: float = float("inf")  # the last of them

    def after(self, change: float) -> Progress:
        """Return the progress with one more correction."""
        return Progress((*self.changes, change), self.steps + 1, change)

    def renewed(self) -> Progress:
        """Return the progress on other kernels."""
        return replace(self, changes=())

    def stuck(self) -> Outcome | None:
        """Return why another step on the same kernels is of no use; None if it is."""
        slow = [b > SLOW * a for a, b in zip(self.changes, self.changes[1:], strict=False)]
        if len(self.changes) < MOST_STEPS and not all(slow[-2:] or [False]):
            return None
        shown = ", ".join(f"{c:.1e}" for c in self.changes[-6:])
        if self.last < ROUNDING:
            return Outcome(
                OutcomeKind.STALLED,
                f"Newton's last corrections were {shown}.",
                not_smaller(self.last),
            )
        if len(self.changes) < MOST_STEPS:
            return None
        return Outcome(OutcomeKind.NEWTON, f"The last corrections were {shown}.")

    def lost(self) -> Outcome:
        """Return the end of iterates at which the equation has no finite values."""
        shown = ", ".join(f"{c:.1e}" for c in self.changes[-6:] if c < float("inf"))
        before = f" Corrections before were {shown}." if shown else ""
        words = f"At the last iterate the equation has no finite values.{before}"
        return Outcome(OutcomeKind.NEWTON, words)


def not_smaller(last: float) -> str:
    """Return what helps where corrections no longer shrink."""
    return (
        f"Newton's corrections stay at {last:.0e}: that is how well these kernels determine the "
        "solution of the equation linearised there. Loosen tol above that."
    )


class Move(Enum):
    """What to do after a solve."""

    COARSE = auto()
    END = auto()
    NEWTON = auto()
    KERNELS = auto()


def next_move(kernels: float, estimate: float, tol: float, progress: Progress) -> Move:
    """Return what to do, from the kernels' share of the error and the whole of it.

    COARSE: the kernels are worse than the iterate that they should improve, so they are added to
    and it stays. END: good enough. NEWTON: the kernels will do, or the first iterate was too rough
    to tell. KERNELS: more are needed for the share that is theirs.
    """
    if estimate <= tol:
        return Move.END
    if kernels > max(COARSE, tol):
        return Move.COARSE
    enough = kernels <= max(tol, KERNELS_SHARE * estimate)
    rough = progress.steps == 1 and progress.last > ROUGH
    return Move.NEWTON if rough or enough else Move.KERNELS


def not_converged(rough: RoughSolution[Any]) -> Outcome | None:
    """Return the outcome of attempts that found no solution, with the last corrections."""
    if rough.converged:
        return None
    shown = "; ".join(f"{_where(factor)}{_still_changes(a)}" for factor, a in rough.history[-3:])
    return Outcome(
        OutcomeKind.NEWTON, f"After {rough.solves} linear solves the last corrections were {shown}."
    )


def _where(factor: float) -> str:
    return "" if factor == 1.0 else f"on the way (factor {factor:.3g}) "


def _still_changes(attempt: Newton[Any]) -> str:
    return ", ".join(f"{c:.1e}" for c in attempt.changes[-4:]) or "without a solution"
