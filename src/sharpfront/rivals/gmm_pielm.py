"""The paper's two methods: kernels placed by a mixture, and its baseline of even ones."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from sharpfront.adapt import Adaptor, Paper, Uniform
from sharpfront.problem import Problem
from sharpfront.rivals.contract import Described, Found, Setting, Subject, has_integrals
from sharpfront.rivals.ours import as_found
from sharpfront.solve import solve

# Penalties of the conditions: the paper's (its baseline figure comes out with 1), and two others.
_PENALTIES = (1.0, 1e3, 1e5)


def _refusal(problem: Problem) -> str:
    if problem.time is not None:
        return "it has no time"
    if not problem.is_linear:
        return "it is for linear problems"
    if has_integrals(problem):
        return "a condition is an integral"
    if problem.is_singular:
        return "loads or fluxes that jump have no value at points"
    return "the domain is periodic" if any(problem.domain.periodic_axes) else ""


def _solved(subject: Subject, adaptor: Adaptor, seed: int) -> Found:
    # The methods know no tolerance: none is met, and all adaptations are made.
    return as_found(solve(subject.problem, adaptor=adaptor, seed=seed, tol=1e-14))


@dataclass(frozen=True)
class GmmPielm(Described):
    """Algorithm 1 of the paper: settings of its Table 2, wider kernels, other penalties."""

    def applies(self, subject: Subject) -> str:
        """Return why not."""
        return _refusal(subject.problem)

    def settings(self, subject: Subject) -> tuple[Setting, ...]:
        """Return kernels, components, widths and penalties."""
        sizes = ((100, 8, 1.1), (100, 8, 6.0), (300, 8, 1.1), (300, 8, 6.0), (500, 16, 1.5))
        return tuple(
            Setting(
                f"{n} kernels, {k} components, beta {beta:g}, penalty {p:g}",
                {"kernels": n, "components": k, "scaling": beta, "penalty": p},
            )
            for (n, k, beta), p in product(sizes, _PENALTIES)
        )

    def solve(self, subject: Subject, setting: Setting, seed: int, seconds: float) -> Found:
        """Return the last of three adaptations."""
        return _solved(subject, Paper(**setting.values), seed)


@dataclass(frozen=True)
class RbfPielm(Described):
    """Even random kernels of one width, fixed rows."""

    def applies(self, subject: Subject) -> str:
        """Return why not."""
        return _refusal(subject.problem)

    def settings(self, subject: Subject) -> tuple[Setting, ...]:
        """Return kernels, widths and penalties."""
        grid = product((100, 300, 1000), (2.5, 5.0), _PENALTIES)
        return tuple(
            Setting(
                f"{n} kernels, overlap {o:g}, penalty {p:g}",
                {"kernels": n, "overlap": o, "penalty": p, "collocation": max(1500, 3 * n)},
            )
            for n, o, p in grid
        )

    def solve(self, subject: Subject, setting: Setting, seed: int, seconds: float) -> Found:
        """Return the one least-squares fit."""
        return _solved(subject, Uniform(**setting.values), seed)


_PAPER = "Learning Where the Physics Is, arXiv 2603.06287"
GMM_PIELM = GmmPielm("gmm-pielm", "GMM-PIELM", _PAPER, drawn=True)
RBF_PIELM = RbfPielm("rbf-pielm", "RBF-PIELM", f"the baseline of {_PAPER}", drawn=True)
