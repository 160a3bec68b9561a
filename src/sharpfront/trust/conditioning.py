"""How much a problem amplifies changes, and whether two discretisations agree."""

from __future__ import annotations

import numpy as np

from sharpfront.arrays import largest
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.estimate.cells import irregular_signs
from sharpfront.estimate.line_error import ErrorCheck
from sharpfront.place.line.feature_search import Discovery
from sharpfront.problem.line_problem import LineProblem
from sharpfront.solution.approximation import Approximation
from sharpfront.trust.settings import TRUST


def near_singular(amplified: float) -> Outcome | None:
    """Return what is wrong with a problem that amplifies changes so much; None if nothing is."""
    if amplified <= TRUST.singular:
        return None
    seen = (
        f"Changes of the equation or of its data are amplified {amplified:.0e} times."
        if np.isfinite(amplified)
        else "The equation with its conditions has no unique solution."
    )
    return Outcome(OutcomeKind.NEAR_SINGULAR, seen)


def amplification(problem: LineProblem, found: Discovery) -> float:
    """Return max|du| / max|u| for the change du of u when t sum_j |c_j| / L^j is added to c_0.

    du = -L^-1 (sum_j |c_j| / L^j) u is the derivative in t. Near a resonance, with a constant left
    free, or where two conditions say the same, it is large; for well-posed problems it is the
    condition number in the problem's own units. Data that happen to leave the free part alone
    would hide it, so an irregular source is tried as well.
    """
    low, high = problem.interval
    system, count = found.system, len(problem.conditions)
    per_order = np.array([(high - low) ** -float(j) for j in range(len(system.coefficients))])
    terms = per_order @ np.abs(system.coefficients)
    answer = system.solve_u(terms * irregular_signs(len(terms)), np.ones(count))
    sizes = [(u, largest(u)) for u in (found.solution[0], answer)]
    tried = [(u, size) for u, size in sizes if size != 0.0]
    half, nothing = 0.5 * terms, np.zeros(count)
    changes = system.solve_each([half * (u[1:] + u[:-1]) for u, _ in tried], [nothing] * len(tried))
    ratios = [largest(change) / size for change, (_, size) in zip(changes, tried, strict=True)]
    return max(ratios, default=0.0)


def growth(problem: LineProblem, found: Discovery) -> float:
    """Return max|u| over the largest datum of an equation without a source, 0 of any other.

    Without a source u is what the conditions make of it, and the rounding of u where it is large
    blurs them: for u' = 40 u, u(0) = 1 beyond recognition.
    """
    data = max((abs(c.value) for c in problem.conditions), default=0.0)
    if not data > 0 or np.count_nonzero(found.source):
        return 0.0
    return largest(found.solution[0]) / data


def within_cells(check: ErrorCheck) -> float:
    """Return max |e| inside cells in which reaction dominates: there e is R / c_0.

    R changes its sign from cell to cell, and the nodes see only the mean of two.
    """
    if check.system.order != 2:
        return 0.0
    (c0, c1, c2), h = check.system.coefficients, check.grid.steps
    if not np.count_nonzero(c0):
        return 0.0
    dominates = (c0 * c2 < 0.0) & (np.abs(c0) * h * h > 20.0 * (np.abs(c2) + np.abs(c1) * h))
    there = np.abs(check.residual[0][dominates] / c0[dominates])
    return float(np.max(there, initial=0.0))


def distance(approximation: Approximation, found: Discovery) -> float:
    """Return the largest difference to what discovery saw, relative to max(1, max|u|)."""
    (name,) = approximation.bases
    u = found.solution[0]
    values = approximation.values(name, found.system.grid.nodes[:, None], (0,))
    return float(np.abs(values - u).max() / max(1.0, np.abs(u).max()))


def disagreement(check: ErrorCheck, found: Discovery) -> float:
    """Return how far the cells' answer is from the kernels', if cells agree on two grids; else 0.

    Cells that differ between grids are merely too coarse for a violent source.
    """
    if not check.apart > TRUST.apart:
        return 0.0
    other = np.interp(found.system.grid.nodes, check.grid.nodes, check.direct)
    spread = largest(other - found.solution[0]) / max(1.0, check.size)
    return check.apart if spread < TRUST.apart * check.apart else 0.0
