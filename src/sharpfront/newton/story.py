"""What went wrong, told from the history of attempts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.newton.damped import Newton


def not_converged(history: Sequence[tuple[float, Newton[Any]]], solves: int) -> Outcome:
    """Return the outcome of attempts that found no solution, with the last corrections."""
    shown = "; ".join(f"{_where(factor)}{_changes(a)}" for factor, a in history[-3:])
    return Outcome(
        OutcomeKind.NEWTON, f"After {solves} linear solves the last corrections were {shown}."
    )


def _where(factor: float) -> str:
    return "" if factor == 1.0 else f"on the way (factor {factor:.3g}) "


def _changes(attempt: Newton[Any]) -> str:
    return ", ".join(f"{c:.1e}" for c in attempt.changes[-4:]) or "without a solution"
