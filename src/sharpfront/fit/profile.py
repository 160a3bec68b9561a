"""Intervals by the profile of the likelihood: where the least misfit has not risen too far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import SharpfrontError
from sharpfront.fit.marquardt import Ended, minimised
from sharpfront.fit.model import Model
from sharpfront.fit.statistics import Spread, quantile
from sharpfront.show.data.quantity import BLUE, ORANGE

# How near the rise of the misfit must come to the wanted one, in standard errors.
CLOSE = 0.02
# Solves with other parameters fitted, to either side, and how far a logarithm is followed.
MOST = 14
FARTHEST = 12.0
# Steps out that go by what the last rise promises; those after them at least double the distance:
# of a rise that levels off slowly nobody can say that it has no end before it was followed so far.
PROMISED = 3
_UNFITTED = "With {} = {:.4g} the other parameters were not fitted to the end: it may be longer."
_UNSOLVED = "From {} = {:.4g} on the problem could not be solved: it may be longer."


@dataclass(frozen=True, eq=False)
class Profile:
    """The interval of one parameter.

    Parameters
    ----------
    name, level
        Of which parameter, and which part of the draws it is to cover.
    low, high
        The ends; infinite, or zero of a positive parameter, where there is none.
    values, rises
        Values that were tried, and by how much the misfit is above its least there.
    allowed
        By how much it is at the ends: 3.84 for 95 % where the noise is known.
    notes
        Why it may be longer, where problems could not be solved or others not be fitted.
    """

    name: str
    level: float
    low: float
    high: float
    values: FloatArray
    rises: FloatArray
    allowed: float
    notes: tuple[str, ...] = ()

    def plot(self, axes: Any = None) -> Any:
        """Draw the rise of the misfit along the parameter, and where the interval ends."""
        from sharpfront.show.figures.figure import new_axes

        axes = axes if axes is not None else new_axes()
        # Between the values that were tried its root is nearly straight.
        least = int(np.argmin(self.rises))
        roots = np.sqrt(self.rises) * np.sign(np.arange(len(self.rises)) - least)
        x = np.linspace(self.values[0], self.values[-1], 200)
        axes.plot(x, np.interp(x, self.values, roots) ** 2, color=BLUE)
        axes.plot(self.values, self.rises, ".", color="k")
        axes.axhline(self.allowed, color=ORANGE, lw=0.8, ls="--")
        for end in (self.low, self.high):
            if np.isfinite(end) and end != 0.0:
                axes.axvline(end, color=ORANGE, lw=0.8)
        axes.set(xlabel=self.name, ylabel="rise of the misfit")
        return axes

    def __iter__(self) -> object:
        return iter((self.low, self.high))

    def __str__(self) -> str:
        missing = [
            w
            for w, end in (("lower", self.low), ("upper", self.high))
            if not np.isfinite(end) or end == 0.0
        ]
        told = f" (no {' and no '.join(missing)} bound)" if missing else ""
        ends = f"{self.low:.4g} ... {self.high:.4g}{told}"
        return " ".join([f"{self.name}, {100 * self.level:g} %: {ends}", *self.notes])

    __repr__ = __str__


def profiled(
    model: Model, found: Ended, spread: Spread, variance: float, index: int, level: float
) -> Profile:
    """Return the profile interval of one parameter."""
    name = model.names[index]
    free = model.free[name]
    wanted = quantile(level, None if model.noise_known else model.spare)
    deviation = float(spread.deviations[index])
    deviation = deviation if np.isfinite(deviation) else 1.0
    search = _Search(model, found, variance, index, [(float(found.z[index]), 0.0)], [])
    lower, upper = (search.end(sign * wanted, deviation) for sign in (-1.0, 1.0))
    low = free.outer(lower) if lower is not None else 0.0 if free.positive else -np.inf
    high = free.outer(upper) if upper is not None else np.inf
    rows = np.array(sorted(search.tried))
    values = np.array([free.outer(z) for z in rows[:, 0]])
    return Profile(name, level, low, high, values, rows[:, 1], wanted**2, tuple(search.notes))


@dataclass(frozen=True, eq=False)
class _Search:
    """The least misfit along one parameter."""

    model: Model
    found: Ended  # the least of all
    variance: float
    index: int  # of the parameter
    tried: list[tuple[float, float]]  # its fitted values, and the rises there
    notes: list[str]  # why an end may be farther out

    def end(self, wanted: float, deviation: float) -> float | None:
        """Return where the signed root of the rise is as wanted; None if it never is."""
        centre = float(self.found.z[self.index])
        low, high = self.model.bounds[:, self.index]
        inner, outer = (centre, 0.0), None
        z, start = centre + wanted * deviation, self.found
        for tries in range(MOST):
            z = float(np.clip(z, max(low, centre - FARTHEST), min(high, centre + FARTHEST)))
            here = self._least(z, start)
            if here is None:
                # Nothing is solved so far out: nearer.
                outer, z = (z, np.inf * np.sign(wanted)), 0.5 * (inner[0] + z)
                continue
            rise = max(here.chi2 - self.found.chi2, 0.0) / self.variance
            self.tried.append((z, rise))
            if not here.converged:
                self._note(_UNFITTED, z)
            root = float(np.sign(wanted) * np.sqrt(rise))
            if abs(root - wanted) < CLOSE:
                return z
            if abs(root) < abs(wanted):
                inner, start = (z, root), here
                if z in (low, high):
                    return z
                if abs(z - centre) >= FARTHEST:
                    return None
            else:
                outer = (z, root)
            z = _next(centre, inner, outer, wanted, 1.2 if tries < PROMISED else 2.0)
        if outer is not None and not np.isfinite(outer[1]):
            self._note(_UNSOLVED, outer[0])
        return outer[0] if outer is not None else None

    def _least(self, z: float, start: Ended) -> Ended | None:
        """Return the least misfit with the parameter held; None where nothing is solved."""
        held = np.arange(len(self.found.z)) == self.index

        def least(near: Ended) -> Ended:
            begin = np.where(held, z, near.z)
            return minimised(self.model, begin, self.found.tol, held, near.point)

        try:
            here = least(start)
            if here.converged:
                return here
            # Farther from the least the misfit seems to rise more than it does.
            return min(here, least(self.found), key=lambda one: (not one.converged, one.chi2))
        except SharpfrontError:
            return None

    def _note(self, words: str, z: float) -> None:
        name = self.model.names[self.index]
        self.notes.append(words.format(name, self.model.free[name].outer(z)))


def _next(
    centre: float,
    inner: tuple[float, float],
    outer: tuple[float, float] | None,
    wanted: float,
    least: float,
) -> float:
    """Return the next place: between two known ones, or farther out by a least factor."""
    if outer is None:
        reached = inner[1] / wanted
        grow = min(max(1.1 / max(reached, 1e-9), least), 2.5)
        return centre + grow * (inner[0] - centre)
    if not np.isfinite(outer[1]):
        return 0.5 * (inner[0] + outer[0])
    share = (wanted - inner[1]) / (outer[1] - inner[1])
    return inner[0] + float(np.clip(share, 0.05, 0.95)) * (outer[0] - inner[0])
