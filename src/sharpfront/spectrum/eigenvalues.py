"""``sf.eigs``: eigenvalues of linear problems near a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sharpfront.arrays import blas_threads
from sharpfront.checks import explained, finite, refusal, whole
from sharpfront.errors import Outcome, OutcomeKind, ProblemError
from sharpfront.solution import Solution
from sharpfront.solution.field import Estimate
from sharpfront.spectrum.line_modes import line_modes
from sharpfront.spectrum.modes import Mode, Modes
from sharpfront.spectrum.plane_modes import plane_modes
from sharpfront.spectrum.result import Eigenpair, Spectrum, written
from sharpfront.spectrum.settings import MODES
from sharpfront.spectrum.statement import SpectralProblem, spectral

# What is asked for if nothing is said, on a line and in the plane.
TOLERANCES = {1: 1e-8, 2: 1e-6}
_MEANING = (
    "the largest difference between the mode and what is found with more functions, relative to "
    "its largest value"
)


@explained("sf.eigs(problem, k=6, near=0)")
def eigs(
    problem: Any,
    k: int = 6,
    near: complex = 0.0,
    *,
    tol: float | None = None,
    max_kernels: int | None = None,
) -> Spectrum:
    """Return the eigenvalues nearest to a number, with error estimates, and their modes.

    Parameters
    ----------
    problem
        Linear and homogeneous, with the spectral parameter ``lam``:
        ``lambda u, lam, x: u.dxx + lam * u``. It may stand in conditions too and up to the second
        power, and coefficients may be complex.
    k
        How many.
    near
        The number, real or complex; by default those of least size.
    tol
        What errors of the values are to become, relative to the largest of them: by default 1e-8 on
        a line and 1e-6 in the plane.
    max_kernels
        Stop rather than use more functions.

    Returns
    -------
    Spectrum
        Always, also where the tolerance was not met: look at ``spectrum.outcome``.

    Examples
    --------
    >>> import sharpfront as sf
    >>> string = sf.Problem(
    ...     sf.Interval(0, 1), lambda u, lam, x: u.dxx + lam * u, boundary=lambda u, x: u
    ... )
    >>> [round(float(v), 6) for v in sf.eigs(string, 3).values]
    [9.869604, 39.478418, 88.82644]
    """
    statement = spectral(problem)
    dimension = statement.problem.domain.dimension
    if dimension not in TOLERANCES:
        raise ProblemError("sf.eigs takes problems on an interval and in the plane.")
    count = whole(k, "k", 1, "k=6")
    usual = TOLERANCES[dimension] if tol is None else finite(tol, "tol", attempt="tol=1e-8")
    if not 0.0 < usual < 1.0:
        raise refusal("tol", "a number between 0 and 1", tol, "tol=1e-8")
    number = _number(near)
    with blas_threads(1):
        limit = None if max_kernels is None else whole(max_kernels, "max_kernels", 1)
        if dimension == 1:
            found = line_modes(statement, count, number, usual, limit or MODES.columns)
        else:
            found = plane_modes(statement, count, number, usual, limit)
    pairs = tuple(_pair(statement, mode, usual, usual * found.scale) for mode in found.modes)
    return Spectrum(pairs, number, _outcome(found, pairs, count, usual), usual)


def _number(near: Any) -> complex:
    try:
        number = complex(near)
    except (TypeError, ValueError):
        raise refusal("near", "a number, real or complex", near, "near=0") from None
    if not np.isfinite(number):
        raise refusal("near", "a finite number", near, "near=0")
    return number


def _pair(statement: SpectralProblem, mode: Mode, tol: float, allowed: float) -> Eigenpair:
    good = mode.error <= allowed
    words = f"The eigenvalue is {written(mode.value, 10)}, its estimated error {mode.error:.1e}."
    kind = OutcomeKind.CONVERGED if good else OutcomeKind.UNRESOLVED
    solution = Solution(
        mode.approximation,
        statement.problem.domain,
        Estimate(mode.mode_error, _MEANING),
        Outcome(kind, words),
        tol,
        (),
        {"eigenvalue": mode.value.real, "eigenvalue_imag": mode.value.imag},
    )
    return Eigenpair(mode.value if mode.value.imag else mode.value.real, mode.error, solution)


def _outcome(found: Modes, pairs: Sequence[Eigenpair], k: int, tol: float) -> Outcome:
    bad = [p for p in pairs if not p.converged]
    if not bad and not found.doubt and len(pairs) == k:
        others = f" As near as the farthest of them there are {found.more} more." * bool(found.more)
        return Outcome(OutcomeKind.CONVERGED, f"Every value is as accurate as asked for.{others}")
    if found.doubt:
        advice = "Ask for fewer, for others near=, or for a smaller tol."
        return Outcome(OutcomeKind.UNRESOLVED, f"One may be missing. {found.doubt}", advice)
    if len(pairs) < k:
        words = f"There are {len(pairs)} eigenvalues where {k} were asked for."
        return Outcome(OutcomeKind.UNRESOLVED, words, "Ask for fewer.")
    names = ", ".join(written(p.value, 10) for p in bad)
    words = f"Not as accurate as asked for ({tol:.0e}): {names}."
    kind = OutcomeKind.KERNEL_LIMIT if found.full else OutcomeKind.STALLED
    return Outcome(kind, words)
