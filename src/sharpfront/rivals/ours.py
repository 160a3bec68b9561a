"""Ours: this package, asked for several tolerances, and the paper's two methods in it.

Those are kernels placed by a mixture, and its baseline of even ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sharpfront.adapt import Adaptor, Paper, Uniform
from sharpfront.rivals.contract import (
    Found,
    Rival,
    Setting,
    Subject,
    has_integrals,
    refused,
    tried,
)
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
# Penalties of the conditions: the paper's (its baseline figure comes out with 1), and two others.
_PENALTIES = (1.0, 1e3, 1e5)


@dataclass(frozen=True)
class MixturePielm(Rival):
    """One of our two adaptors, with settings of its own."""

    adaptor: Callable[..., Adaptor] = Paper
    words: str = ""
    grid: tuple[Mapping[str, Sequence[Any]], ...] = ()

    def applies(self, subject: Subject) -> str:
        """Return why not."""
        problem = subject.problem
        return refused(
            (problem.time is not None, "it has no time"),
            (not problem.is_linear, "it is for linear problems"),
            (has_integrals(problem), "a condition is an integral"),
            (problem.is_singular, "loads or fluxes that jump have no value at points"),
            (any(problem.domain.periodic_axes), "the domain is periodic"),
        )

    def settings(self, subject: Subject) -> tuple[Setting, ...]:
        """Return kernels, widths and penalties."""
        return tuple(s for g in self.grid for s in tried(self.words, **g, penalty=_PENALTIES))

    def solve(self, subject: Subject, setting: Setting, seed: int, seconds: float) -> Found:
        """Return the last fit: the methods know no tolerance, and make all their adaptations."""
        adaptor = self.adaptor(**setting.values)
        return as_found(solve(subject.problem, adaptor=adaptor, seed=seed, tol=1e-14))


_CITATION = "Learning Where the Physics Is, arXiv 2603.06287"
# Settings of the paper's Table 2, and wider kernels.
GMM_PIELM = MixturePielm(
    "gmm-pielm",
    "GMM-PIELM",
    _CITATION,
    drawn=True,
    words="{kernels} kernels, {components} components, beta {scaling:g}, penalty {penalty:g}",
    grid=(
        {"kernels": (100, 300), "components": (8,), "scaling": (1.1, 6.0)},
        {"kernels": (500,), "components": (16,), "scaling": (1.5,)},
    ),
)
# Even random kernels of one width, fixed rows.
RBF_PIELM = MixturePielm(
    "rbf-pielm",
    "RBF-PIELM",
    f"the baseline of {_CITATION}",
    drawn=True,
    adaptor=Uniform,
    words="{kernels} kernels, overlap {overlap:g}, penalty {penalty:g}",
    grid=tuple(
        {"kernels": (n,), "overlap": (2.5, 5.0), "collocation": (max(1500, 3 * n),)}
        for n in (100, 300, 1000)
    ),
)
