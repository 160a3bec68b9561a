"""From a family and data to parameters with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.budget import tolerance
from sharpfront.checks import explained, flag, function
from sharpfront.equation.opaque import function as sf_function
from sharpfront.errors import ProblemError
from sharpfront.fit.data import Data
from sharpfront.fit.free_functions import (
    CENTRES,
    Candidate,
    Curve,
    Expanded,
    FittedFunction,
    FreeFunction,
    candidates,
    expanded,
)
from sharpfront.fit.free_parameters import as_free
from sharpfront.fit.marquardt import (
    LAST_TOL,
    SHARE,
    Ended,
    Minimum,
    explored,
    first_tolerance,
    minimised,
    share_bound,
)
from sharpfront.fit.model import Model, stated_model
from sharpfront.fit.result import UNLIKELY, Fit
from sharpfront.fit.statistics import STRAIGHT, Spread, quantile, spread, unseen_words
from sharpfront.problem import Problem
from sharpfront.problem.family import Family
from sharpfront.progress import LOGGER

# Rounds with ever tighter solves.
ROUNDS = 4
# Solves are asked for so many times the error that they may have: runs in time end 4 to 30 times
# below their tolerance, and with half of it took a sixth more time.
SPARED = 2.0


@explained("sf.fit(layer, data=sf.Data(x=xs, u=us, sigma=0.02), nu=sf.Free(0.05, positive=True))")
def fit(
    family: Callable[..., Problem],
    *,
    data: Data | list[Data] | tuple[Data, ...],
    tol: float | None = None,
    curvature: bool = True,
    starts: int | Sequence[Mapping[str, float]] = 1,
    on_solve: Callable[[Any], None] | None = None,
    options: Mapping[str, Any] | None = None,
    **parameters: Any,
) -> Fit:
    """Fit parameters of a family of problems to data.

    Parameters
    ----------
    family
        A function of named parameters that returns a `Problem`.
    data
        One `Data` or several.
    tol
        Of the first solves; tightened until errors of the solver cost less than a twentieth of a
        standard error. 1e-3 by default, 1e-4 in time.
    curvature
        Whether to look, with two more solves, how far intervals can be trusted that take
        predictions to be straight in the parameters.
    starts
        How many starts to fit from, spread evenly within bounds, or a list of them as values by
        name. The least misfit of all is taken, the others are ``result.minima``, and one that fits
        as well is noted: the least that is found from one start is the one nearest downhill.
    on_solve
        Called with the parameters by name and the misfit after each solve that was good; not where
        an unknown function is fitted.
    options
        Further options of `sf.solve`, for example ``{"max_kernels": 500}``.
    **parameters
        `sf.Free(value, ...)` for those to fit, `sf.FreeFunction(...)` for an unknown function of a
        coordinate, plain values for the others; parameters with a default in the family may be
        left out.

    Returns
    -------
    Fit
        Print it. Parameters are attributes: ``result.nu``, ``result.interval("nu")``.
    """
    flag(curvature, "curvature")
    if on_solve is not None:
        function(on_solve, "on_solve", "on_solve=print")
    asked = None if tol is None else tolerance(tol)
    if "tol" in (options or {}):
        raise ProblemError("Fits choose the tolerance of solves; give a first one by tol= itself.")
    if any(isinstance(v, FreeFunction) for v in parameters.values()):
        if starts != 1:
            raise ProblemError("starts= has no meaning for an unknown function; leave it out.")
        return _with_function(family, data, parameters, dict(options or {}), asked, curvature)
    model = stated_model(family, data, parameters, dict(options or {}))
    if on_solve is not None:
        model.on_solve = lambda point: on_solve({**model.values(point.z), "chi2": point.chi2})
    first = first_tolerance(model, asked)
    if starts == 1:
        return _fitted(model, first, model.start(), curvature)
    z, minima = explored(model, starts, first)
    return _fitted(model, first, z, curvature, minima)


def _fitted(
    model: Model, tol: float, z: FloatArray, curvature: bool, minima: tuple[Minimum, ...] = ()
) -> Fit:
    """Return the fit from a start, on solves that are tightened as far as they need be."""
    near = None
    for _ in range(ROUNDS + 1):
        found = minimised(model, z, tol, near=near)
        point, errors = model.checked(found.point)
        gaps = np.linalg.norm(point.jacobian - found.point.jacobian, axis=0)
        wide = gaps > 0.1 * np.linalg.norm(point.jacobian, axis=0)
        if not model.careful and np.any(wide):
            # Kernels of the solution do not resolve its derivatives, and the way was wrong.
            model.careful, z, near = True, found.z, found.point
            continue
        variance = 1.0 if model.noise_known else max(found.chi2 / model.spare, 1e-300)
        seen = spread(point.jacobian, variance, errors)
        share = share_bound(model, point, seen.deviations)
        if share <= SHARE or tol <= LAST_TOL:
            break
        # Above what was reached another tolerance would change nothing.
        reached = min(tol, point.solution.error_estimate)
        tol = max(LAST_TOL, min(SPARED * SHARE / share, 0.5) * reached)
        z, near = found.z, found.point
    result = Fit(model, found, seen, variance, share, point.rates)
    bent = _bent(model, found, seen, variance) if curvature and result.identifiable else ()
    result = replace(result, bent=bent, minima=minima)
    lengths, told = np.linalg.norm(point.jacobian, axis=0), np.isfinite(seen.deviations)
    doubt = float(np.max(errors[told] / lengths[told], initial=0.0))
    return replace(result, notes=tuple(_notes(result, doubt)))


def _with_function(
    family: Any,
    data: Any,
    parameters: Mapping[str, Any],
    options: dict[str, Any],
    tol: float | None,
    curvature: bool,
) -> Fit:
    """Return the fit with an unknown function, of the smoothness with the largest evidence."""
    names = [n for n, v in parameters.items() if isinstance(v, FreeFunction)]
    if len(names) > 1:
        raise ProblemError(f"One unknown function can be fitted, got {', '.join(names)}.")
    name, stated, read = names[0], parameters[names[0]], Family.of(family)
    others = {n: v for n, v in parameters.items() if n != name}
    best: tuple[Model, Ended, Candidate] | None = None
    tried: list[Candidate] = []
    solves, values = 0, np.zeros(CENTRES)
    level = math.log(stated.start) if stated.positive else stated.start
    for process in candidates(stated, _ends(read, name, stated, others)):
        start = np.array([level, *process.weights(values)])
        free = expanded(name, stated, process, start)
        whole = Expanded(read.factory, read.names, name, process, stated.positive)
        model = stated_model(whole, data, {**others, **free}, options)
        try:
            found = minimised(model, model.start(), first_tolerance(model, tol), rough=True)
        except ProblemError:
            continue
        solves += model.solves
        if not found.converged:
            continue
        tried.append(_candidate(model, found, whole))
        if best is None or tried[-1].evidence > best[2].evidence:
            best = model, found, tried[-1]
            level = tried[-1].curve.level
            values = process.table(process.centres) @ np.array(tried[-1].curve.weights)
    if best is None:
        raise ProblemError(f"No fit with the function {name!r} converged. Try another start.")
    model, found, chosen = best
    result = _fitted(model, found.tol, found.z, curvature)
    model.solves += solves
    process = chosen.curve.process
    whole = Expanded(read.factory, read.names, name, process, stated.positive)
    last = replace(_candidate(model, result.found, whole), evidence=chosen.evidence)
    parts = tuple(last if c is chosen else c for c in tried)
    own = [result.names.index(n) for n in whole.own]
    return replace(result, functions={name: FittedFunction(last, parts, *_seen(result, own))})


def _candidate(model: Model, found: Ended, whole: Expanded) -> Candidate:
    """Return what was found with one length and deviation, with its evidence."""
    own = [model.names.index(n) for n in whole.own]
    jacobian, values = found.point.jacobian, model.values(found.z)
    level, *weights = (values[n] for n in whole.own)
    slopes = model.slopes(found.z)
    covariance = np.linalg.inv(jacobian.T @ jacobian) * np.outer(slopes, slopes)
    # In units of the parameters: those of the fitted ones depend on where a fit has started.
    singular = np.linalg.svd(jacobian / slopes, compute_uv=False)
    evidence = -0.5 * found.chi2 - float(np.log(singular).sum())
    curve = Curve(whole.process, level, weights, whole.positive)
    return Candidate(curve, covariance[np.ix_(own, own)], evidence)


def _seen(result: Fit, own: list[int]) -> tuple[float, FloatArray]:
    """Return how many degrees of freedom of some parameters with priors the data determine.

    And the singular values of the derivatives of data along these, in units of noise and priors.
    """
    jacobian, model = result.found.point.jacobian, result.model
    rows = jacobian[: len(model.data)]
    share = np.linalg.solve(jacobian.T @ jacobian, rows.T @ rows)
    deviations = {i: sd for i, _, sd in model.priors}
    scaled = rows[:, own] * np.array([deviations[i] for i in own])
    singular = np.linalg.svd(scaled, compute_uv=False)
    return float(np.trace(share[np.ix_(own, own)])), singular


def _ends(
    family: Family, name: str, stated: FreeFunction, others: Mapping[str, Any]
) -> tuple[float, float]:
    """Return the ends of the domain, along its first coordinate."""
    plain = {n: (f.value if (f := as_free(v)) is not None else v) for n, v in others.items()}
    flat = sf_function(lambda x: np.full(np.shape(x), stated.start), _FLAT)
    domain = family(**family.values({**plain, name: flat})).domain
    low, high = domain.bounds[:, 0]
    return float(low), float(high)


_FLAT = sf_function(np.zeros_like, sf_function(np.zeros_like))


def _bent(model: Model, found: Ended, seen: Spread, variance: float) -> tuple[float, ...]:
    """Return the rise of the misfit along the worst direction over that of straight predictions."""
    along = found.point.jacobian @ seen.worst
    reach = 1.96 * np.sqrt(variance) / np.linalg.norm(along)
    rises = []
    for sign in (-1.0, 1.0):
        z = found.z + sign * reach * seen.worst
        if np.any(z < model.bounds[0]) or np.any(z > model.bounds[1]):
            continue
        near = found.point if found.point.solution.problem is not None else None
        solution = model.solved(z, found.tol, near)
        if solution is None or not solution.converged:
            return (np.inf,)
        residual, extra, _ = model.residuals(z, solution)
        chi2 = float(residual @ residual + extra @ extra)
        rises.append((chi2 - found.chi2) / (1.96**2 * variance))
    return tuple(rises)


def _notes(result: Fit, doubt: float) -> list[str]:
    """Return what speaks against a fit, in words."""
    model, found, notes = result.model, result.found, []
    if not found.converged:
        notes.append(found.words)
    pairs = zip(result.spread.unseen, result.spread.doubtful.tolist(), strict=True)
    notes += [unseen_words(direction, dict(model.free), doubt) for direction, doubt in pairs]
    low, high = model.bounds
    for name, z, a, b in zip(model.names, found.z, low, high, strict=True):
        if z <= a or z >= b:
            notes.append(f"{name} lies at a bound; its interval means little.")
    p = result.p_value
    if p is not None and p < UNLIKELY:
        notes.append(
            f"The misfit is too large for the given noise (p = {p:.1g}): model or sigma is wrong"
            f"{'.' if result.minima else ', or this is not the least; try starts=8.'}"
        )
    if p is not None and p > 1 - 1e-4:
        notes.append("The misfit is smaller than the given noise allows: sigma is too large.")
    if result.runs_p_value < UNLIKELY:
        notes.append(
            f"Residuals keep their sign too long (p = {result.runs_p_value:.1g}): the model misses "
            "something that the data show, and intervals are too short."
        )
    if any(abs(b - 1.0) > STRAIGHT for b in result.bent):
        notes.append(
            "Predictions are not straight in the parameters over the interval; "
            "result.profile(name) gives better ones."
        )
    reach = quantile(0.95, None if model.noise_known else model.spare) ** 2 * result.variance
    rivals = [m for m in result.minima[1:] if m.chi2 - result.chi2 < reach]
    for rival in rivals:
        where = ", ".join(f"{n} = {v:.4g}" for n, v in rival.values.items())
        notes.append(
            f"Data fit as well at {where} (chi2 = {rival.chi2:.4g} instead of {result.chi2:.4g}): "
            "intervals are those about one of several minima."
        )
    if result.share > SHARE:
        notes.append(f"Errors of the solver may cost {result.share:.2g} standard errors.")
    if doubt > 0.05:
        notes.append(f"Derivatives are known to {doubt:.1g} of their size only.")
    for note in notes:
        LOGGER.info("fit: %s", note)
    spare = None if model.noise_known else model.spare
    if spare is not None and quantile(0.95, spare) > 4.0:
        notes.append(f"The noise is estimated from {spare} degree(s) of freedom only.")
    return notes
