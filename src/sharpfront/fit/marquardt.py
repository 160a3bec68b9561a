"""Levenberg-Marquardt within a radius of trust, stopped at a hundredth of a standard error.

Fits from several starts: the least of the minima that are found, and what the others are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.arrays import Flags, FloatArray
from sharpfront.checks import finite, is_number, refusal, whole
from sharpfront.errors import ProblemError
from sharpfront.fit.data import with_rows
from sharpfront.fit.model import Model, Point
from sharpfront.geometry.sampling import unit_sample
from sharpfront.rounding import BISECTIONS

# How far from its start a parameter without bounds is looked for, as it is fitted: a factor of 20.
REACH = 3.0


@dataclass(frozen=True)
class Minimum:
    """A least misfit: parameters by name, the misfit there, and how many starts ended in it."""

    values: Mapping[str, float]
    chi2: float
    starts: int


def starting_points(model: Model, starts: Any) -> list[FloatArray]:
    """Return the fitted parameters to start from: as given, or spread evenly within bounds."""
    if is_number(starts):
        count = whole(starts, "starts", 1, "starts=8")
        first = model.start()
        low, high = model.bounds
        low = np.where(np.isfinite(low), low, np.minimum(first, high) - REACH)
        high = np.where(np.isfinite(high), high, np.maximum(first, low) + REACH)
        spread = unit_sample(count - 1, len(first), "quasi", 0)
        return [first, *(low + spread * (high - low))]
    attempt = "starts=8, or starts=[{'nu': 1e-3}, {'nu': 1e-1}]"
    if not isinstance(starts, Sequence) or not len(starts):
        raise refusal("starts", "a number, or a list of values by name", starts, attempt)
    return [_given(model, one, attempt) for one in starts]


def _given(model: Model, values: Any, attempt: str) -> FloatArray:
    if not isinstance(values, Mapping) or not set(values) <= set(model.names):
        names = ", ".join(model.names)
        raise refusal("starts", f"values of the free parameters ({names})", values, attempt)
    z = model.start()
    for i, (name, free) in enumerate(model.free.items()):
        if name in values:
            z[i] = free.inner(finite(values[name], f"starts: {name}"))
    if not (np.isfinite(z).all() and np.all(z >= model.bounds[0]) and np.all(z <= model.bounds[1])):
        raise refusal("starts", "values within the bounds of the parameters", values, attempt)
    return z


def explored(model: Model, starts: Any, tol: float) -> tuple[FloatArray, tuple[Minimum, ...]]:
    """Return where the misfit is least over all starts, and all minima, the least one first."""
    ends: list[Ended] = []
    for z in starting_points(model, starts):
        try:
            found = minimised(model, z, tol, rough=True)
        except ProblemError:
            # Nothing is solved there; other starts may do.
            continue
        if found.converged:
            ends.append(found)
    if not ends:
        raise ProblemError("No start led to a least misfit. Try others, or narrower bounds.")
    ends.sort(key=lambda end: end.chi2)
    groups: list[list[Ended]] = []
    for end in ends:
        home = next((g for g in groups if _same(model, g[0], end)), None)
        if home is None:
            groups.append([end])
        else:
            home.append(end)
    minima = [Minimum(model.values(g[0].z), g[0].chi2, len(g)) for g in groups]
    return ends[0].z, tuple(minima)


def _same(model: Model, one: Ended, other: Ended) -> bool:
    """Tell whether predictions between two ends differ by less than the noise, if straight."""
    noise = 1.0 if model.noise_known else float(np.sqrt(one.chi2 / max(model.spare, 1)))
    return bool(np.linalg.norm(one.point.jacobian @ (other.z - one.z)) <= noise)


# Length of the first step in the fitted parameters at most: a factor of 4.5. Lengths count in
# these, not in what data see of them: what is hardly seen would move farthest.
FIRST_RADIUS = 1.5
# An undamped step that changes predictions by less, in units of the noise, is the last.
STOP = 0.01
# The same where minima are told apart, or evidence is compared.
ROUGH = 0.3
# Part of a standard error that errors of the solver may cost.
SHARE = 0.05
# A radius below which no step is worth a solve.
SMALLEST_RADIUS = 1e-8
MOST_TURNS = 60
# Tolerances: the first, and the smallest that is asked for.
FIRST_TOL, FIRST_TOL_IN_TIME, LAST_TOL = 1e-3, 1e-4, 1e-12


@dataclass(frozen=True, eq=False)
class Ended:
    """Where a fit ended."""

    point: Point  # the last point that was solved for
    z: FloatArray  # the fitted parameters, one small step from there
    residual: FloatArray  # at z, by that step
    tol: float  # of the last solve
    converged: bool  # whether the last step was small enough
    words: str = ""  # why it ended, if it was not

    @property
    def chi2(self) -> float:
        """The sum of squares."""
        return float(self.residual @ self.residual)


def minimised(
    model: Model,
    z: FloatArray,
    tol: float,
    held: Flags | None = None,
    near: Point | None = None,
    rough: bool = False,
) -> Ended:
    """Return the least sum of squares from a start z, (p,).

    Parameters that are held stay. The kernels of a point that is near may do; `rough` minima are
    only to be told apart.
    """
    free: Flags = np.ones(len(z), dtype=np.bool_) if held is None else ~held
    now = model.at(z, tol, near)
    if now is None:
        values = ", ".join(f"{n} = {v:.4g}" for n, v in model.values(z).items())
        raise ProblemError(
            f"The problem could not be solved to {tol:.0e} where the fit starts, at {values}. Try "
            f"sf.solve there, and other starting values. {model.failure}".rstrip()
        )
    radius = FIRST_RADIUS
    for _ in range(MOST_TURNS):
        # Not those at a bound that the misfit pushes over it.
        slope, (low, high) = now.jacobian.T @ now.residual, model.bounds
        pushed = ((now.z <= low) & (slope > 0)) | ((now.z >= high) & (slope < 0))
        moving = free & ~pushed
        step = _shortened(now, moving, np.inf)
        change = now.jacobian @ step
        # Rounding is a part of the data, in units of their deviation.
        rounding = 1e-10 * float(np.linalg.norm(model.data / model.sigma))
        last = _noise(model, now, rough) * (ROUGH if rough else STOP) + rounding
        if np.linalg.norm(change) <= last:
            inside = np.all(low <= now.z + step) and np.all(now.z + step <= high)
            step = step if inside else 0.0 * step
            return Ended(now, now.z + step, now.residual + now.jacobian @ step, tol, True)
        z = np.clip(now.z + _shortened(now, moving, radius), low, high)
        new = model.at(z, tol, now) if np.any(z != now.z) else None
        radius = _trusted(now, new, z - now.z, radius)
        if new is not None and new.chi2 < now.chi2:
            now = new
        elif radius < SMALLEST_RADIUS:
            words = "No step lowers the misfit, though it is not at its least."
            return Ended(now, now.z, now.residual, tol, False, words)
    words = f"The misfit still fell after {MOST_TURNS} steps."
    return Ended(now, now.z, now.residual, tol, False, words)


def _trusted(now: Point, new: Point | None, step: FloatArray, radius: float) -> float:
    """Return how far the next step may go, from what the last one promised and gave."""
    length = float(np.linalg.norm(step))
    if new is None:
        return 0.25 * length
    straight = now.residual + now.jacobian @ step
    gain = (now.chi2 - new.chi2) / max(now.chi2 - float(straight @ straight), 1e-300)
    if gain <= 0.0:
        # Where the parabola through both misfits, with the slope at the first, is least.
        slope = 2.0 * float(now.residual @ (now.jacobian @ step))
        least = -slope / (2.0 * (new.chi2 - now.chi2 - slope))
        return length * min(max(least, 0.1), 0.5)
    if gain < 0.25:
        return 0.5 * length
    return max(radius, 2.0 * length) if gain > 0.75 else radius


def _noise(model: Model, now: Point, rough: bool) -> float:
    """Return the deviation of the residuals: one where it is known, and they are that small."""
    found = float(np.sqrt(now.chi2 / max(model.spare, 1)))
    if model.noise_known:
        return max(1.0, found) if rough else 1.0
    return found


def _shortened(now: Point, moving: Flags, radius: float) -> FloatArray:
    """Return the step to the least of the straight misfit within a radius, (p,).

    (J^T J + mu) step = -J^T r, with the least mu that makes it short enough.
    """
    u, s, vt = np.linalg.svd(now.jacobian[:, moving], full_matrices=False)
    slope, out = s * (u.T @ now.residual), np.zeros(len(now.z))
    seen = s > 1e-8 * s.max(initial=0.0)

    def along(mu: float) -> FloatArray:
        return np.where(seen, -slope / np.where(seen, s**2 + mu, 1.0), 0.0)

    low, high = 0.0, float(np.linalg.norm(slope)) / radius
    found = along(0.0)
    if np.linalg.norm(found) > radius:
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            far = np.linalg.norm(along(middle)) > radius
            low, high = (middle, high) if far else (low, middle)
        found = along(high)
    out[moving] = vt.T @ found
    return out


def first_tolerance(model: Model, tol: float | None) -> float:
    """Return the tolerance of the first solves."""
    if tol is not None:
        return tol
    return FIRST_TOL_IN_TIME if model.observed[0].problem.time is not None else FIRST_TOL


def share_bound(model: Model, point: Point, spread: FloatArray) -> float:
    """Return a bound of what errors of the solver do to any parameter, in standard errors.

    |dz_i| <= sum_j |J^+_ij| error / sigma_j. Of derivatives and integrals only the error of the
    unknown is known; they are taken to have ten times its relative error.
    """
    error, parts = point.solution.error_estimate, []
    for o, rows in with_rows(model.observed):
        predicted = point.residual[rows] * model.sigma[rows] + o.values
        size = max(1.0, float(np.abs(predicted).max(initial=0.0)))
        parts.append(np.full(len(o.values), error * size * (1.0 if o.is_plain else 10.0)))
    wrong = np.concatenate([*parts, np.zeros(len(model.priors))])
    wrong[: len(model.data)] /= model.sigma
    inverse = np.linalg.pinv(point.jacobian, rcond=1e-8)
    moved = np.abs(inverse) @ wrong
    seen = np.isfinite(spread) & (spread > 0)
    return float(np.max(moved[seen] / spread[seen], initial=0.0))
