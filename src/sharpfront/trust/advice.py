"""What would help a solve that ended short of its tolerance, told from the solves there were."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.trust.settings import TRUST

_GRADED = "make that wider, or use finite elements graded into it"


class Solved(NamedTuple):
    """One solve: how many kernels, and what the estimate was."""

    kernels: int
    estimate: float


@dataclass(frozen=True)
class Allowance:
    """What a solve was allowed, and what it aimed at."""

    tol: float  # the tolerance
    most: int  # the most kernels
    usual: int  # the most kernels if nobody says anything
    dimension: int  # of the domain


def short_of_kernels(
    reached: str,
    estimate: float,
    tried: Sequence[Solved],
    allowed: Allowance,
    place: Sequence[float] = (),
) -> Outcome:
    """Return the end of a solve that was allowed no more kernels, with what would help.

    `place` is where least is resolved, empty if that is not known.
    """
    loosen = _loosened(estimate)
    detail = " ".join(part for part in (reached, _fallen(tried), _named(place)) if part)
    wanted = kernels_wanted(tried, allowed.tol, allowed.dimension)
    near = wanted <= TRUST.far * max(allowed.most, allowed.usual)
    rate = f"At this rate the tolerance takes about {_rounded(wanted)} kernels" if near else ""
    if allowed.most < allowed.usual:
        if not near and len(_best_by_size(tried)) > 1:
            rate = "So far more of them did not lead towards the tolerance"
        remedy = (
            f"Raise max_kernels, which was {allowed.most} and is {allowed.usual} by default, or "
            f"{loosen}.{f' {rate}.' if rate else ''}"
        )
        return Outcome(OutcomeKind.KERNEL_LIMIT, detail, remedy)
    if near:
        remedy = f"{rate}: raise max_kernels to that, or {loosen}."
        return Outcome(OutcomeKind.KERNEL_LIMIT, detail, remedy)
    return unlowered(reached, estimate, tried, allowed.dimension, place)


def floor(reached: str, estimate: float, tried: Sequence[Solved], share: float) -> Outcome:
    """Return the end of a solve whose estimate no longer falls: rounding, or data that are rough.

    `share` is what the last functions carry of the largest weight.
    """
    if share <= TRUST.resolved:
        return Outcome(OutcomeKind.STALLED, reached)
    remedy = (
        "More kernels hardly lower the estimate, and not because of rounding: the last of them "
        f"still carry {share:.0e} of the largest weight, as they do where data have kinks or "
        f"noise. Loosen tol to {rounded_up(estimate):.0e}, or end a domain at the kink."
    )
    return Outcome(OutcomeKind.STALLED, f"{reached} {_fallen(tried)}".strip(), remedy)


def unlowered(
    reached: str,
    estimate: float,
    tried: Sequence[Solved],
    dimension: int,
    place: Sequence[float] = (),
) -> Outcome:
    """Return the end of a solve that went on without getting closer, whatever was allowed."""
    detail = " ".join(part for part in (reached, _fallen(tried), _named(place)) if part)
    cure = "or solve on intervals that end at it" if dimension == 1 else _GRADED
    remedy = (
        "At this rate raising max_kernels does not lead to the tolerance: something is too narrow, "
        f"too sharp or too small. {_loosened(estimate).capitalize()}, {cure}."
    )
    return Outcome(OutcomeKind.UNRESOLVED, detail, remedy)


def _loosened(best: float) -> str:
    return f"loosen tol to {rounded_up(best):.0e}" if best < TRUST.hopeless else "loosen tol"


def rounded_up(estimate: float) -> float:
    """Return an estimate in one digit, rounded up: a tolerance that is met."""
    scale = 10.0 ** math.floor(math.log10(max(estimate, 1e-300)))
    return math.ceil(estimate / scale) * scale


def kernels_wanted(tried: Sequence[Solved], tol: float, dimension: int) -> float:
    """Return how many kernels reach a tolerance if the estimate goes on as it fell.

    Errors fall like exp(-b N^(1/d)) where kernels resolve what there is, and like N^-p where they
    do not. Of three sizes and more the better fit is taken, of two the first. Infinite where the
    estimate does not fall.
    """
    points = _best_by_size(tried)
    if len(points) < 2 or points[-1].estimate >= points[0].estimate:
        return math.inf
    kernels = np.array([p.kernels for p in points], dtype=float)
    digits = np.log([p.estimate for p in points])
    even, geometric = _line(kernels ** (1.0 / dimension), digits)
    uneven, algebraic = _line(np.log(kernels), digits)
    goal = math.log(tol)
    if len(points) < 3 or even <= uneven:
        wanted = _reaching(geometric, goal) ** dimension
    else:
        wanted = math.exp(min(_reaching(algebraic, goal), 700.0))
    # Those there were did not do.
    return max(wanted, TRUST.more * float(kernels[-1]))


def _line(x: FloatArray, y: FloatArray) -> tuple[float, tuple[float, float]]:
    """Return what is left of a straight line through points, and its slope and height."""
    slope, height = np.polyfit(x, y, 1)
    return float(np.abs(slope * x + height - y).max()), (float(slope), float(height))


def _reaching(line: tuple[float, float], goal: float) -> float:
    slope, height = line
    return max((goal - height) / slope, 0.0) if slope < 0 else math.inf


def _best_by_size(tried: Sequence[Solved]) -> list[Solved]:
    """Return the best estimate with no more kernels than each size had, sizes ascending."""
    known = sorted(s for s in tried if math.isfinite(s.estimate) and s.estimate > 0)
    out: list[Solved] = []
    for one in known:
        best = min(one.estimate, out[-1].estimate) if out else one.estimate
        if out and out[-1].kernels == one.kernels:
            out.pop()
        out.append(Solved(one.kernels, best))
    return [s for s in out if s.kernels >= TRUST.recent * out[-1].kernels]


def _fallen(tried: Sequence[Solved]) -> str:
    """Say how the estimate fell with the number of kernels."""
    points = _best_by_size(tried)
    if len(points) < 2:
        return ""
    first, last = points[0], points[-1]
    counts = f"From {first.kernels} to {last.kernels} kernels the estimate"
    if last.estimate > 0.9 * first.estimate:
        return f"{counts} did not fall."
    return f"{counts} fell from {first.estimate:.1e} to {last.estimate:.1e}."


def _named(place: Sequence[float]) -> str:
    if not place:
        return ""
    where = ", ".join(f"{x:.4g}" for x in place)
    return f"Least is resolved near {f'({where})' if len(place) > 1 else f'x = {where}'}."


def _rounded(wanted: float) -> int:
    """Return a number of kernels in two digits, rounded up."""
    scale = 10.0 ** max(0, math.floor(math.log10(max(wanted, 1.0))) - 1)
    return round(math.ceil(wanted / scale) * scale)
