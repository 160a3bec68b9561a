"""The paper's two methods: kernels placed by a mixture, and its baseline of even ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sharpfront.adapt import Adaptor, Paper, Uniform
from sharpfront.problem import Problem
from sharpfront.rivals.contract import Found, Rival, Setting, Subject, has_integrals, tried
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


@dataclass(frozen=True)
class MixturePielm(Rival):
    """One of our two adaptors, with settings of its own."""

    adaptor: Callable[..., Adaptor] = Paper
    words: str = ""
    grid: tuple[Mapping[str, Sequence[Any]], ...] = ()

    def applies(self, subject: Subject) -> str:
        """Return why not."""
        return _refusal(subject.problem)

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
