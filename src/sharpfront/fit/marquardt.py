"""Levenberg-Marquardt, stopped at a hundredth of a standard error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.errors import ProblemError
from sharpfront.fit.model import Model, Point

Mask = NDArray[np.bool_]

# Steps of the fitted parameters are cut to this: a factor of 4.5.
LONGEST = 1.5
# An undamped step that changes predictions by less, in units of the noise, is the last.
STOP = 0.01
# Part of a standard error that errors of the solver may cost.
SHARE = 0.05
FIRST_DAMPING, LESS, MORE = 1e-3, 0.2, 4.0
MOST_DAMPING = 1e10
MOST_TURNS = 60
# Tolerances: the first, and the smallest that is asked for.
FIRST_TOL, FIRST_TOL_IN_TIME, LAST_TOL = 1e-3, 1e-4, 1e-12


@dataclass(frozen=True, eq=False)
class Found:
    """Where a fit ended.

    Parameters
    ----------
    point
        The last point that was solved for.
    z
        The fitted parameters, one small step from there.
    residual
        At z, by that step.
    tol
        Of the last solve.
    converged
        Whether the last step was small enough.
    words
        Why it ended, if it was not.
    """

    point: Point
    z: FloatArray
    residual: FloatArray
    tol: float
    converged: bool
    words: str = ""

    @property
    def chi2(self) -> float:
        """The sum of squares."""
        return float(self.residual @ self.residual)


def minimised(
    model: Model,
    z: FloatArray,
    tol: float,
    held: Mask | None = None,
    near: Point | None = None,
    stop: float = STOP,
) -> Found:
    """Return the least sum of squares.

    Parameters
    ----------
    model
        The family and its data.
    z
        Where to start, (p,).
    tol
        Of the solves.
    held
        Which parameters stay, (p,).
    near
        A point whose kernels may do.
    stop
        Below which change of predictions a step is the last.
    """
    free: Mask = np.ones(len(z), dtype=np.bool_) if held is None else ~held
    now = model.at(z, tol, near)
    if now is None:
        values = ", ".join(f"{n} = {v:.4g}" for n, v in model.values(z).items())
        raise ProblemError(
            f"The problem could not be solved to {tol:.0e} where the fit starts, at {values}. Try "
            "sf.solve there, and other starting values."
        )
    damping = FIRST_DAMPING
    for _ in range(MOST_TURNS):
        moving = free & ~_pushed(model, now)
        step = _undamped(now, moving)
        change = now.jacobian @ step
        if np.linalg.norm(change) <= stop * _noise(model, now) + 1e-10 * _size(model):
            end = model.bounds[0] <= now.z + step, now.z + step <= model.bounds[1]
            step = step if np.all(end) else 0.0 * step
            return Found(now, now.z + step, now.residual + now.jacobian @ step, tol, True)
        step = _damped(now, moving, damping)
        z = np.clip(now.z + step, *model.bounds)
        new = model.at(z, tol, now) if np.any(z != now.z) else None
        if new is not None and new.chi2 < now.chi2:
            now, damping = new, max(damping * LESS, 1e-12)
        else:
            damping *= MORE if damping < 1.0 else MORE**2
        if damping > MOST_DAMPING:
            words = "No step lowers the misfit, though it is not at its least."
            return Found(now, now.z, now.residual, tol, False, words)
    words = f"The misfit still fell after {MOST_TURNS} steps."
    return Found(now, now.z, now.residual, tol, False, words)


def _noise(model: Model, now: Point) -> float:
    """Return the deviation of the residuals: one where it is known."""
    if model.noise_known:
        return 1.0
    return float(np.sqrt(now.chi2 / max(model.spare, 1)))


def _size(model: Model) -> float:
    """Return the length of the data in units of their deviation: rounding is a part of it."""
    return float(np.linalg.norm(model.data / model.sigma))


def _pushed(model: Model, now: Point) -> Mask:
    """Tell which parameters lie at a bound that the misfit pushes them over, (p,)."""
    slope = now.jacobian.T @ now.residual
    low, high = model.bounds
    return np.asarray(((now.z <= low) & (slope > 0)) | ((now.z >= high) & (slope < 0)))


def _undamped(now: Point, moving: Mask) -> FloatArray:
    step = np.zeros(len(now.z))
    scale = _lengths(now.jacobian)
    solved = np.linalg.lstsq(now.jacobian[:, moving] / scale[moving], -now.residual, rcond=1e-8)
    step[moving] = solved[0] / scale[moving]
    return step


def _damped(now: Point, moving: Mask, damping: float) -> FloatArray:
    """Return a step that is cut short in every parameter alike."""
    step, scale = np.zeros(len(now.z)), _lengths(now.jacobian)
    rows = np.vstack(
        [now.jacobian[:, moving] / scale[moving], np.sqrt(damping) * np.eye(int(moving.sum()))]
    )
    right = np.concatenate([-now.residual, np.zeros(int(moving.sum()))])
    step[moving] = np.linalg.lstsq(rows, right, rcond=None)[0] / scale[moving]
    longest = float(np.abs(step).max(initial=0.0))
    return step * min(1.0, LONGEST / longest) if longest > 0 else step


def _lengths(jacobian: FloatArray) -> FloatArray:
    found = np.linalg.norm(jacobian, axis=0)
    return np.where(found > 0, found, 1.0)


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
    start = 0
    for o in model.observed:
        rows = slice(start, start + len(o.values))
        start = rows.stop
        predicted = point.residual[rows] * model.sigma[rows] + o.values
        size = max(1.0, float(np.abs(predicted).max(initial=0.0)))
        parts.append(np.full(len(o.values), error * size * (1.0 if o.is_plain else 10.0)))
    wrong = np.concatenate([*parts, np.zeros(len(model.priors))])
    wrong[: len(model.data)] /= model.sigma
    inverse = np.linalg.pinv(point.jacobian, rcond=1e-8)
    moved = np.abs(inverse) @ wrong
    seen = np.isfinite(spread) & (spread > 0)
    return float(np.max(moved[seen] / spread[seen], initial=0.0))
