"""KAPI-ELM: the distribution of centres and widths tuned by Bayesian optimisation.

A few numbers say how kernels are spread: the part that is even, and bumps with a place, an extent
and a share each. Optuna's tree-structured Parzen estimator lowers the residual at unseen points by
these numbers, each trial being one least-squares fit. Rows follow the kernels. This is our own
reading of the method; the published figures stand beside it.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.geometry import Domain
from sharpfront.kernels import Gaussian
from sharpfront.kernels.basis import KernelBasis
from sharpfront.rivals.collocation import (
    AtPoints,
    Held,
    as_functions,
    fitted,
    held_at,
    per_face,
    region,
)
from sharpfront.rivals.contract import Found, Setting, Subject
from sharpfront.solution.approximation import Approximation

# Bumps of the distribution, and the narrowest of them in parts of the domain.
_BUMPS, _NARROWEST = 2, 1e-6
_TRIALS = 1000


@dataclass(frozen=True, eq=False)
class _Spread:
    """Kernels spread evenly in part, the others about places, with widths to match."""

    even: float  # the part that is even
    # Of the bumps in a box of side one, (b, d) each.
    places: FloatArray
    extents: FloatArray
    overlap: float  # width over spacing

    def points(self, domain: Domain, count: int, seed: int) -> tuple[FloatArray, FloatArray]:
        """Return points of the domain (m, d) and the standard deviations of kernels there."""
        draw = np.random.default_rng(seed)
        low, high = domain.bounds
        size, d = high - low, len(low)
        even = max(8, round(self.even * count))
        each = max(4, (count - even) // len(self.places))
        parts = [domain.sample(even, "quasi", seed)]
        widths = [np.full((even, d), self.overlap * even ** (-1 / d)) * size]
        for place, extent in zip(self.places, self.extents, strict=True):
            # Half of a bump at each scale between its extent and the domain's, so that kernels of
            # all sizes lead from one to the other.
            scale = np.exp(draw.uniform(0, 1, (each, 1)) * -np.log(extent))
            offset = draw.normal(size=(each, d))
            steep = extent * scale**0.7
            near = low + size * (place + steep * offset)
            parts.append(near)
            widths.append(self.overlap * steep * (2 * each) ** (-1 / d) * 6 * size)
        points, spreads = np.concatenate(parts), np.concatenate(widths)
        inside = domain.contains(points)
        return points[inside], spreads[inside]


def _suggested(trial: Any, dimension: int) -> _Spread:
    places = [
        [trial.suggest_float(f"place{b}{i}", 0.0, 1.0) for i in range(dimension)]
        for b in range(_BUMPS)
    ]
    extents = [
        [trial.suggest_float(f"extent{b}{i}", _NARROWEST, 0.5, log=True) for i in range(dimension)]
        for b in range(_BUMPS)
    ]
    even = trial.suggest_float("even", 0.1, 0.9)
    overlap = trial.suggest_float("overlap", 1.0, 8.0)
    return _Spread(even, np.array(places), np.array(extents), overlap)


class KapiElm(AtPoints):
    """Trials until the time is up; the tuning is part of the time."""

    def settings(self, subject: Subject) -> tuple[Setting, ...]:
        """Return kernels, and the part of the time."""
        sizes = (60, 150, 300) if region(subject.problem).dimension == 1 else (100, 250, 500)
        return tuple(
            Setting(f"{n} kernels, {share:.0%} of the time", {"count": n}, share)
            for n, share in zip(sizes, (0.1, 0.3, 0.6), strict=True)
        )

    def solve(self, subject: Subject, setting: Setting, seed: int, seconds: float) -> Found:
        """Return the fit whose residual at unseen points is smallest."""
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        tuning = _Tuning(subject, setting.values["count"], seed, time.process_time() + seconds)
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
        study.optimize(tuning.trial, n_trials=_TRIALS)
        assert tuning.best is not None
        return as_functions(tuning.best)


class _Tuning:
    """One study: the best fit so far."""

    def __init__(self, subject: Subject, count: int, seed: int, stop: float) -> None:
        self.subject, self.count, self.seed, self.stop = subject, count, seed, stop
        self.lowest, self.longest = math.inf, 0.0
        self.best: Approximation | None = None

    def trial(self, trial: Any) -> float:
        started = time.process_time()
        spread = _suggested(trial, region(self.subject.problem).dimension)
        try:
            fit, loss = self.fitted(spread)
        except (ArithmeticError, ValueError):
            return 1e300
        if self.best is None or loss < self.lowest:
            self.lowest, self.best = loss, fit
        now = time.process_time()
        self.longest = max(self.longest, now - started)
        # The clock outside would take all of it away.
        if now + 1.5 * self.longest > self.stop:
            trial.study.stop()
        return loss

    def fitted(self, spread: _Spread) -> tuple[Approximation, float]:
        problem = self.subject.problem
        domain = region(problem)
        centres, widths = spread.points(domain, self.count, self.seed)
        shapes = np.eye(domain.dimension) / widths[:, :, None]
        basis = KernelBasis(Gaussian(), centres, shapes)
        rows, _ = spread.points(domain, 3 * self.count, self.seed + 1)
        fit = fitted(self.subject, dict.fromkeys(problem.unknowns, basis), rows, self.seed)
        unseen, _ = spread.points(domain, 2 * self.count, self.seed + 2)
        unseen = np.concatenate([unseen, domain.sample(2 * self.count, "random", self.seed + 3)])
        faces = per_face(len(rows), domain.dimension)
        loss = _missed(fit, held_at(problem, unseen, faces, self.seed + 4))
        return fit, math.log(max(loss, 1e-300)) if math.isfinite(loss) else 1e300


def _missed(fit: Approximation, held: list[Held]) -> float:
    """Return how far the fit misses equations, in the mean, and conditions, at most."""
    total = 0.0
    for each in held:
        gap = fit.insert(each.residual, each.points, each.normals)
        if each.known is not None:
            gap = gap - each.known
        if each.mirror is not None:
            gap = gap - fit.insert(each.residual, each.mirror)
        total += float(np.mean(np.abs(gap)) if each.inside else np.max(np.abs(gap)))
    return total


KAPI_ELM = KapiElm(
    "kapi-elm",
    "KAPI-ELM",
    "Dwivedi and others, Kernel-adaptive PI-ELMs, arXiv 2507.10241, and arXiv 2601.08719",
    needs=("optuna",),
    drawn=True,
)
