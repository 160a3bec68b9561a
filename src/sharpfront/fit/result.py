"""What a fit found: parameters with intervals, and what speaks against them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.checks import finite, flag, one_of, refusal, whole
from sharpfront.errors import ProblemError
from sharpfront.fit.free_functions import FittedFunction
from sharpfront.fit.marquardt import Ended, Minimum
from sharpfront.fit.model import Model
from sharpfront.fit.profile import Profile, profiled
from sharpfront.fit.statistics import Spread, misfit_probability, quantile, runs_probability
from sharpfront.solution import Solution
from sharpfront.solution.approximation import Approximation, as_points
from sharpfront.solution.field import require_inside

# Below this a test of the misfit speaks against the model.
UNLIKELY = 0.01


@dataclass(frozen=True, eq=False)
class Fit:
    """The result of `sf.fit`.

    Parameters
    ----------
    model, found, spread
        Family and data, where the fit ended, and variances.
    variance
        Of the noise: one where deviations were given, else estimated.
    share
        What errors of the solver may cost, in standard errors.
    rates
        The derivatives of the solution with respect to the free parameters.
    notes
        What speaks against the result, in words.
    bent
        Rises of the misfit at both ends of the 95 % interval along the direction that is seen
        least, over what they would be if predictions were straight; empty if not asked.
    functions
        Unknown functions that were fitted, by name.
    minima
        With several starts all minima that were found, the least one first.
    """

    model: Model = field(repr=False)
    found: Ended = field(repr=False)
    spread: Spread = field(repr=False)
    variance: float
    share: float
    rates: tuple[Approximation, ...] = field(repr=False)
    notes: tuple[str, ...] = ()
    bent: tuple[float, ...] = ()
    functions: Mapping[str, FittedFunction] = field(default_factory=dict)
    minima: tuple[Minimum, ...] = ()

    @property
    def values(self) -> dict[str, float]:
        """The fitted parameters by name."""
        return self.model.values(self.found.z)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in self.functions:
            return self.functions[name]
        if name.startswith("_") or name not in self.model.free:
            raise AttributeError(f"A fit has no attribute {name!r}.")
        return self.values[name]

    @property
    def names(self) -> tuple[str, ...]:
        """The free parameters."""
        return self.model.names

    @cached_property
    def covariance(self) -> FloatArray:
        """Covariance of the parameters, (p, p), linearised; infinite where data do not tell."""
        slopes = self.model.slopes(self.found.z)
        with np.errstate(invalid="ignore"):
            return np.asarray(self.spread.covariance * np.outer(slopes, slopes))

    @property
    def stderr(self) -> dict[str, float]:
        """Standard errors by name."""
        slopes = np.abs(self.model.slopes(self.found.z))
        return dict(zip(self.names, (self.spread.deviations * slopes).tolist(), strict=True))

    @property
    def correlation(self) -> FloatArray:
        """Correlations of the parameters, (p, p); nan where one is not determined."""
        d = np.sqrt(np.diag(self.covariance))
        with np.errstate(invalid="ignore"):
            return np.asarray(self.covariance / np.outer(d, d))

    @property
    def chi2(self) -> float:
        """The sum of squared residuals over sigma, priors included."""
        return self.found.chi2

    @property
    def dof(self) -> int:
        """Degrees of freedom."""
        return self.model.spare

    @property
    def sigma(self) -> float | None:
        """The deviation of the noise if it was estimated."""
        return None if self.model.noise_known else float(np.sqrt(self.variance))

    @property
    def p_value(self) -> float | None:
        """How likely a misfit at least as large is; None if the noise was estimated from it.

        And None where data do not outnumber parameters, so that no misfit is left.
        """
        known = self.model.noise_known and self.dof > 0
        return misfit_probability(self.chi2, self.dof) if known else None

    @cached_property
    def runs_p_value(self) -> float:
        """How likely residuals keep their sign as long as they do, if they are noise."""
        return runs_probability(list(self.model.observed), self.residuals)

    @property
    def residuals(self) -> FloatArray:
        """(prediction - data) / sigma, in the order of the data, (n,)."""
        return self.found.residual[: len(self.model.data)]

    @property
    def identifiable(self) -> bool:
        """Whether data and priors determine all parameters; `notes` say which they do not."""
        return len(self.spread.unseen) == 0

    @property
    def converged(self) -> bool:
        """Whether the fit ended at a least misfit, on solutions that converged."""
        return self.found.converged and self.found.point.solution.converged

    @property
    def solves(self) -> int:
        """The number of solves so far."""
        return self.model.solves

    @cached_property
    def solution(self) -> Solution:
        """The solution at the fitted parameters."""
        if np.array_equal(self.found.z, self.found.point.z):
            return self.found.point.solution
        found = self.model.solved(self.found.z, self.found.tol, None)
        if found is None:
            raise ProblemError("The problem could not be solved at the fitted parameters.")
        return found

    def interval(self, name: str, level: float = 0.95) -> tuple[float, float]:
        """Return the interval of a parameter, from the linearised covariance.

        With Student's t where the noise is estimated, symmetric in the logarithm of a positive
        parameter. Where `bent` is far from one, `profile` is better.
        """
        i = self._index(name)
        spare = None if self.model.noise_known else self.dof
        reach = quantile(_level(level), spare) * float(self.spread.deviations[i])
        free, z = self.model.free[name], float(self.found.z[i])
        if not np.isfinite(reach):
            return (0.0 if free.positive else -np.inf), np.inf
        return free.outer(z - reach), free.outer(z + reach)

    def profile(self, name: str, level: float = 0.95) -> Profile:
        """Return the interval in which the misfit, least over the others, has not risen too far."""
        found = (self.model, self.found, self.spread, self.variance)
        return profiled(*found, self._index(name), _level(level))

    def band(self, *coordinates: Any, unknown: str | None = None) -> Any:
        """Return the standard error of the fitted curve at coordinates, (broadcast).

        Infinite where the curve depends on what data do not tell.
        """
        solution = self.found.point.solution
        name = one_of(unknown or solution.unknowns[0], "unknown", solution.unknowns)
        points, shape = as_points(solution.approximation.coordinates, coordinates)
        require_inside(solution.domain, points)
        zero, slopes = (0,) * points.shape[1], self.model.slopes(self.found.z)
        rows = [v.values(name, points, zero) * s for v, s in zip(self.rates, slopes, strict=True)]
        data = self.found.point.jacobian[: len(self.model.data)] * self.model.sigma[:, None]
        found = self.spread.of_predictions(np.stack(rows, axis=1), float(np.abs(data).max()))
        return found.reshape(shape)[()]

    def logp_and_grad(self, values: Mapping[str, float] | Any) -> tuple[float, FloatArray]:
        """Return the logarithm of the posterior density, up to a constant, and its gradient.

        For samplers. Of values outside the bounds, or for which nothing can be solved, it is minus
        infinity. Noise that was not given has the estimated deviation. The density is that of the
        fitted parameters: of the logarithm where one is positive.

        Parameters
        ----------
        values
            The parameters by name, or in the order of `names`.
        """
        given = self._row(values)
        frees = self.model.free.values()
        z = np.array([f.inner(v) for f, v in zip(frees, given, strict=True)])
        low, high = self.model.bounds
        lost = -np.inf, np.zeros(len(z))
        if not (np.isfinite(z).all() and np.all(z >= low) and np.all(z <= high)):
            return lost
        found = self.model.gradient(z, self.found.tol, self.found.point)
        if found is None:
            return lost
        chi2, half = found
        return -0.5 * chi2 / self.variance, -half / self.model.slopes(z) / self.variance

    def plot(self, what: str = "fit", *, data: int = 0, axes: Any = None) -> Any:
        """Draw data with the fitted curve and its 95 % band, or residuals; returns the axes.

        Parameters
        ----------
        what
            ``"fit"`` or ``"residuals"``.
        data
            The number of the measured quantity.
        axes
            To draw on; new ones by default.
        """
        from sharpfront.fit.report import draw_fit, draw_residuals
        from sharpfront.show.figures.figure import new_axes

        one_of(what, "what", ("fit", "residuals"))
        axes = axes if axes is not None else new_axes()
        if what == "fit":
            index = whole(data, "data", 0, "data=0")
            if index >= len(self.model.observed):
                known = f"a number below {len(self.model.observed)}, of a measured quantity"
                raise refusal("data", known, data, "data=0")
            draw_fit(self, index, axes)
        else:
            draw_residuals(self, axes)
        return axes

    def report(self, path: str | Path, *, title: str = "", profiles: bool = True) -> Path:
        """Write one HTML page with the fit, residuals, bands and profiles; returns its path.

        Parameters
        ----------
        path
            Of the page.
        title
            Of the page; the name of the file by default.
        profiles
            Whether to follow the misfit along each parameter, some ten solves each.
        """
        from sharpfront.fit.report import write_report

        return write_report(self, path, title, flag(profiles, "profiles"))

    def __str__(self) -> str:
        from sharpfront.fit.report import summary

        return summary(self)

    __repr__ = __str__

    def _row(self, values: Mapping[str, float] | Any) -> list[float]:
        """Return values of all parameters, given by name or in order."""
        wanted, count = f"numbers for {', '.join(self.names)}", len(self.names)
        if isinstance(values, Mapping):
            if set(values) != set(self.names):
                raise refusal("values", wanted, values, "logp_and_grad(result.values)")
            values = [values[n] for n in self.names]
        if np.shape(values) != (count,):
            raise refusal("values", wanted, values, "logp_and_grad(result.values)")
        return [finite(v, n) for n, v in zip(self.names, values, strict=True)]

    def _index(self, name: str) -> int:
        if name in self.functions:
            words = f"its standard error is result.{name}.band(x)."
            raise ProblemError(f"{name} is a function; {words}")
        return self.names.index(one_of(name, "name", self.names))


def _level(level: float) -> float:
    expected = "a number between 0 and 1"
    return finite(level, "level", expected, "level=0.95", within=lambda n: 0 < n < 1)
