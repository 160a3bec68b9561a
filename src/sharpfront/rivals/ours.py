"""Ours: this package, asked for several tolerances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sharpfront.rivals.contract import Found, Rival, Setting, Subject, tried
from sharpfront.solution import Solution
from sharpfront.solve import solve

# The estimated errors that are asked for, those in between where time is left.
TOLERANCES = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-3, 1e-5, 1e-7, 1e-9)


def solved(subject: Subject, tol: float, on_step: Callable[[Any], None] | None = None) -> Solution:
    """Return our solution, by the way that the subject gives."""
    if subject.family is not None and subject.continuation is not None:
        way = subject.continuation
        return solve(subject.family, continuation=way, tol=tol, on_step=on_step)
    return solve(subject.problem, tol=tol, guess=subject.guess, on_step=on_step)


def as_found(solution: Solution) -> Found:
    """Return the unknowns of a solution as functions."""
    return {name: getattr(solution, name) for name in solution.unknowns}


class Ours(Rival):
    """`sharpfront.solve`; a solution that does not say converged counts by its error all the same.

    One in time that ends early has no value after that, which counts as an infinite error.
    """

    def applies(self, subject: Subject) -> str:
        """Return nothing: what can be stated can be tried."""
        return ""

    def settings(self, subject: Subject) -> tuple[Setting, ...]:
        """Return the tolerances."""
        return tried("tol {tol:.0e}", tol=TOLERANCES)

    def solve(self, subject: Subject, setting: Setting, seed: int, seconds: float) -> Found:
        """Return the solution."""
        return as_found(solved(subject, setting.values["tol"]))


OURS = Ours("ours", "sharpfront", "this package", drawn=False)
