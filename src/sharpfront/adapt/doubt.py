"""What speaks against an estimate: an ill-conditioned problem, or data that the check has not seen.

A spike that falls between two checking points leaves no residual there, and an estimate made at
those points says nothing of it. Where the surveyed values of a coefficient or of the source differ
from a line between checked ones by more than these bend around, the true residual is looked at,
and the error equation tells whether it matters.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sharpfront.adapt.breakpoints import Cut, Survey
from sharpfront.adapt.discover import Discovery
from sharpfront.arrays import FloatArray, largest
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.estimate.cells import CellSystem, SingularCellsError, grid, irregular_signs
from sharpfront.estimate.line_error import ErrorCheck
from sharpfront.problem.line_problem import LinearCondition, LineProblem, Term
from sharpfront.solution.approximation import Approximation

# A surveyed value is a surprise if it is off the line between two checked ones by this many times
# what the checked ones around are off the line between their neighbours.
SURPRISE = 2.0
# And by more than this share of the function's range, which is rounding.
ROUNDING = 1e-10
# Amplified more than this: near-singular.
SINGULAR = 1e5
# Amplified so much that rounding decides: nothing can be said of the error.
UNKNOWABLE = 1e7
# A solution this many times its data: rounding leaves four digits of them.
GROWN = 1e12
# Two discretisations that differ by this much do not confirm each other.
APART = 0.3
# Cells on which conditions are asked whether they leave something free.
ROUGH = 60
# A condition that follows from the others is missed by no more tolerances: derivatives are known to
# fewer digits than u.
UNBALANCED = 100.0


def miscounted(problem: LineProblem) -> Outcome | None:
    """Return what is wrong with too few or too many conditions."""
    given, needed = len(problem.conditions), problem.order
    if given == needed:
        return None
    return Outcome(
        OutcomeKind.ILL_POSED,
        f"The equation has order {needed} and {given} condition(s) were given.",
    )


def without_implied(
    problem: LineProblem,
) -> tuple[LineProblem, tuple[LinearCondition, ...]]:
    """Return the problem without as many conditions as it has too many, and those left out.

    Slopes at both ends, or a periodic interval, leave a constant free, and balance the source: a
    further condition is needed to hold the constant, and one of the others follows from the rest.
    Nothing is left out unless the conditions before the further ones leave something free.
    """
    extra = len(problem.conditions) - problem.order
    if extra <= 0 or not _free(problem, problem.conditions[:-extra]):
        return problem, ()
    held = problem.conditions[:-extra]
    for out in itertools.combinations(range(len(held) - 1, -1, -1), extra):
        rest = tuple(c for i, c in enumerate(problem.conditions) if i not in out)
        if not _free(problem, rest):
            return replace(problem, conditions=rest), tuple(held[i] for i in sorted(out))
    return problem, ()


def _free(problem: LineProblem, conditions: Sequence[LinearCondition]) -> bool:
    """Tell whether conditions leave a solution of the homogeneous equation free, on rough cells."""
    low, high = problem.interval
    cells = grid(np.linspace(low, high, ROUGH + 1))
    try:
        with np.errstate(all="ignore"):
            system = CellSystem(cells, problem.sample(cells.middles)[:-1], conditions)
            nothing = np.zeros(len(cells.steps))
            found = system.solve_u(nothing, np.ones(len(conditions)))
    except SingularCellsError:
        return True
    return not np.abs(found).max() < SINGULAR * max(1.0, (high - low) ** problem.order)


def unbalanced(
    conditions: Sequence[LinearCondition], approximation: Approximation, tol: float
) -> Outcome | None:
    """Return what is wrong where a condition that should follow from the others does not."""
    (name,) = approximation.bases
    for condition in conditions:
        terms = [t for t in condition.terms if isinstance(t, Term)]
        parts = [
            t.weight * float(approximation.values(name, np.array([[t.x]]), (t.order,))[0])
            for t in terms
        ]
        miss = abs(sum(parts) - condition.value)
        if miss > UNBALANCED * tol * max(1.0, abs(condition.value), *map(abs, parts)):
            words = " and ".join(dict.fromkeys(f"{t.x:g}" for t in terms))
            detail = (
                f"The equation with its conditions leaves a solution free, so that its data must "
                f"balance, and they do not: the condition on the derivative of order "
                f"{terms[0].order} at x = {words} is missed by {miss:.2g}."
            )
            remedy = "Change the source or the data at the ends until they balance."
            return Outcome(OutcomeKind.ILL_POSED, detail, remedy)
    return None


def near_singular(amplified: float) -> Outcome | None:
    """Return what is wrong with a problem that amplifies changes so much; None if nothing is."""
    if amplified <= SINGULAR:
        return None
    seen = (
        f"Changes of the equation or of its data are amplified {amplified:.0e} times."
        if np.isfinite(amplified)
        else "The equation with its conditions has no unique solution."
    )
    return Outcome(OutcomeKind.NEAR_SINGULAR, seen)


def within_cells(check: ErrorCheck) -> float:
    """Return max |e| inside cells in which reaction dominates: there e is R / c_0.

    R changes its sign from cell to cell, and the nodes see only the mean of two.
    """
    if check.system.order != 2:
        return 0.0
    (c0, c1, c2), h = check.system.coefficients, check.grid.steps
    if not c0.any():
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


def vanished(problem: LineProblem, seen: Survey, cuts: Sequence[Cut]) -> Outcome | None:
    """Return what is wrong with an equation that loses its order inside."""
    place = _vanishing(problem, seen, cuts)
    if place is None:
        return None
    return Outcome(
        OutcomeKind.ILL_POSED,
        f"The coefficient of the derivative of order {problem.order} vanishes near "
        f"x = {place:.6g}, where the equation loses its order. Solve on intervals that end there.",
    )


def amplification(problem: LineProblem, found: Discovery) -> float:
    """Return max|du| / max|u| for the change du of u when t sum_j |c_j| / L^j is added to c_0.

    du = -L^-1 (sum_j |c_j| / L^j) u is the derivative in t. Near a resonance, with a constant left
    free, or where two conditions say the same, it is large; for well-posed problems it is the
    condition number in the problem's own units. Data that happen to leave the free part alone
    would hide it, so an irregular source is tried as well.
    """
    low, high = problem.interval
    system, count = found.system, len(problem.conditions)
    per_order = (high - low) ** -np.arange(len(system.coefficients), dtype=float)
    terms = per_order @ np.abs(system.coefficients)
    answer = system.solve_u(terms * irregular_signs(len(terms)), np.ones(count))
    sizes = [(u, largest(u)) for u in (found.solution[0], answer)]
    tried = [(u, size) for u, size in sizes if size != 0.0]
    half, nothing = 0.5 * terms, np.zeros(count)
    changes = system.solve_each([half * (u[1:] + u[:-1]) for u, _ in tried], [nothing] * len(tried))
    ratios = (largest(change) / size for change, (_, size) in zip(changes, tried, strict=True))
    return max(ratios, default=0.0)


def growth(problem: LineProblem, found: Discovery) -> float:
    """Return max|u| over the largest datum of an equation without a source, 0 of any other.

    Without a source u is what the conditions make of it, and the rounding of u where it is large
    blurs them: for u' = 40 u, u(0) = 1 beyond recognition.
    """
    data = max((abs(c.value) for c in problem.conditions), default=0.0)
    if not data > 0 or found.source.any():
        return 0.0
    return largest(found.solution[0]) / data


def contradiction(check: ErrorCheck, found: Discovery) -> float:
    """Return how far the cells' answer is from the kernels', if cells agree on two grids; else 0.

    Cells that differ between grids are merely too coarse for a violent source.
    """
    if not check.apart > APART:
        return 0.0
    other = np.interp(found.system.grid.nodes, check.grid.nodes, check.direct)
    spread = largest(other - found.solution[0]) / max(1.0, check.size)
    return check.apart if spread < APART * check.apart else 0.0


def _vanishing(problem: LineProblem, seen: Survey, cuts: Sequence[Cut]) -> float | None:
    """Return where the leading coefficient is zero or changes its sign without a jump, if it does.

    A zero at an end of the interval is no obstacle: a regular solution goes on to it.
    """
    y = problem.coefficients[-1]
    if not callable(y):
        return seen.x[0] if y == 0.0 else None
    x = seen.x[seen.even]
    row = y(x)
    size = np.abs(row)
    zero = np.append(row[1:] * row[:-1] <= 0.0, False)
    # Where it only touches zero it is tiny, and three places on it is not.
    around = np.minimum(size[6:], size[:-6])
    zero[3:-3] |= size[3:-3] < np.minimum(0.2 * around, 1e-6 * size.max())
    for i in np.flatnonzero(zero):
        if not any(x[i] <= cut.above <= x[i + 1] for cut in cuts):
            return float(x[i])
    return None


def unseen(
    problem: LineProblem,
    seen: Survey,
    cuts: Sequence[Cut],
    check: ErrorCheck,
    approximation: Approximation,
) -> tuple[FloatArray, float]:
    """Return the surveyed places that surprise, (k,), and max |e| with their residual counted."""
    if all(y is None for y in seen.rows):
        return np.zeros(0), 0.0
    places, cells, shares = _surprises(seen, cuts, check)
    if not len(places):
        return places, 0.0
    left = left_over(problem, approximation, places)
    residual = check.residual.copy()
    residual[0][cells] += shares * (left - residual[0][cells])
    second = residual[1] if len(residual) > 1 else None
    e = check.system.solve_u(residual[0], check.misses, second)
    return places, float(np.abs(e).max())


def left_over(problem: LineProblem, approximation: Approximation, x: FloatArray) -> FloatArray:
    """Return f - L u at positions x, (n,)."""
    (name,) = approximation.bases
    data = problem.sample(x)
    left: FloatArray = data[-1].copy()
    for j, coefficient in enumerate(data[:-1]):
        if coefficient.any():
            left -= coefficient * approximation.values(name, x[:, None], (j,))
    return left


def _surprises(
    seen: Survey, cuts: Sequence[Cut], check: ErrorCheck
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return one place per cell of the check, the cells, and the part of each they stand for."""
    x = check.grid.middles
    first = np.searchsorted(seen.x, x)
    # Survey places between middles i and i + 1 are first[i] to first[i + 1].
    counts = np.diff(first)
    home = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    inner = slice(int(first[0]), int(first[-1]))
    part = (seen.x[inner] - x[home]) / np.maximum(x[home + 1] - x[home], 1e-300)
    excess = np.zeros(len(home))
    for y, row in zip(seen.rows, check.data, strict=False):
        if y is not None:
            step = np.diff(row)
            allowed = SURPRISE * _bending(x, row) + ROUNDING * float(np.ptp(y))
            miss = np.abs(y[inner] - row[home] - part * step[home])
            excess = np.maximum(excess, miss / np.maximum(allowed[home], 1e-300))
    for cut in cuts:
        i = int(np.clip(np.searchsorted(x, cut.above) - 1, 0, len(counts) - 1))
        excess[home == i] = 0.0
    return _largest(seen.x[inner], excess, home, part, counts)


def _bending(x: FloatArray, row: FloatArray) -> FloatArray:
    """Return for each gap how far values around it are off the line between their neighbours."""
    h = np.diff(x)
    step = np.diff(row)
    share = h[:-1] / np.maximum(h[:-1] + h[1:], 1e-300)
    off = np.abs(step[:-1] - share * (row[2:] - row[:-2]))
    off = np.concatenate([off[:1], off, off[-1:]])
    return np.maximum(off[1:], off[:-1])


def _largest(
    x: FloatArray,
    excess: FloatArray,
    home: NDArray[np.int64],
    part: FloatArray,
    counts: NDArray[np.int64],
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the most surprising place of each gap, its cell, and the share of such places."""
    places, cells, shares = [], [], []
    reach = np.gradient(x) if len(x) > 1 else np.ones(len(x))
    starts = np.concatenate([[0], np.cumsum(counts)])
    for i in np.unique(home[excess > 1.0]):
        own = np.arange(starts[i], starts[i + 1])
        top = own[np.argmax(excess[own])]
        places.append(x[top])
        cells.append(i + int(part[top] > 0.5))
        far = excess[own] > 0.5 * excess[top]
        shares.append(reach[own][far].sum() / reach[own].sum())
    return np.array(places), np.array(cells, dtype=int), np.array(shares)
