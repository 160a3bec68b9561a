"""What a family says of data for values of its free parameters, with derivatives.

From what the user states, a family with data, to a model that can be fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.checks import listed, refusal
from sharpfront.errors import ArgumentError, ProblemError, SharpfrontError
from sharpfront.fit.data import Data, Observed, with_rows
from sharpfront.fit.free_parameters import Free, as_free
from sharpfront.problem import Problem
from sharpfront.problem.family import Family, require_numbers
from sharpfront.solution import Solution
from sharpfront.solution.approximation import Approximation
from sharpfront.solve import solve

# Between parameters that are farther apart, kernels are placed anew: a factor of two.
NEAR = 0.7
# What is asked of the derivatives once the fit has ended: a thousandth of a standard error is more
# than its own uncertainty.
RATE_TOL = 1e-3


@dataclass(frozen=True, eq=False)
class Point:
    """A solution at values of the free parameters, beside the data."""

    z: FloatArray  # the fitted parameters, (p,)
    solution: Solution  # the solution
    # (prediction - data) / sigma, then (parameter - prior mean) / deviation, (n + priors,).
    residual: FloatArray
    jacobian: FloatArray  # its derivative along z, (n + priors, p)
    rates: tuple[Approximation, ...]  # the derivatives of the solution along the free parameters

    @property
    def chi2(self) -> float:
        """The sum of squares."""
        return float(self.residual @ self.residual)


@dataclass(eq=False)
class Model:
    """Free parameters of a family and data."""

    family: Family  # the family
    fixed: Mapping[str, Any]  # values of the parameters that stay
    free: Mapping[str, Free]  # those that are fitted
    observed: Sequence[Observed]  # the data
    options: Mapping[str, Any] = field(default_factory=dict)  # of the solves
    on_solve: Callable[[Point], None] | None = None  # called with each good point
    solves: int = 0  # how many there were
    # Whether derivatives are checked at every point: the kernels of solutions do not do.
    careful: bool = False
    failure: str = ""  # why the last solve was none

    @property
    def names(self) -> tuple[str, ...]:
        """The free parameters."""
        return tuple(self.free)

    @cached_property
    def data(self) -> FloatArray:
        """All measured values, (n,)."""
        return np.concatenate([o.values for o in self.observed])

    @cached_property
    def sigma(self) -> FloatArray:
        """The deviation of each, one where it is not known, (n,)."""
        parts = [np.ones(len(o.values)) if o.sigma is None else o.sigma for o in self.observed]
        return np.concatenate(parts)

    @property
    def noise_known(self) -> bool:
        """Whether the deviations are given."""
        return all(o.sigma is not None for o in self.observed)

    @cached_property
    def priors(self) -> list[tuple[int, float, float]]:
        """Number, mean and deviation of the fitted parameters with a prior."""
        known = ((i, free.known()) for i, free in enumerate(self.free.values()))
        return [(i, *pair) for i, pair in known if pair is not None]

    @property
    def spare(self) -> int:
        """Degrees of freedom: data and priors beyond the free parameters."""
        return len(self.data) + len(self.priors) - len(self.free)

    @property
    def bounds(self) -> FloatArray:
        """Bounds of the fitted parameters, (2, p)."""
        return np.array([f.bounds for f in self.free.values()]).T

    def start(self) -> FloatArray:
        """Return the fitted parameters at the start."""
        return np.array([f.inner(f.value) for f in self.free.values()])

    def values(self, z: FloatArray) -> dict[str, float]:
        """Return the free parameters by name."""
        return {n: f.outer(float(v)) for (n, f), v in zip(self.free.items(), z, strict=True)}

    def slopes(self, z: FloatArray) -> FloatArray:
        """Return d(parameter)/dz, (p,)."""
        values = self.values(z)
        return np.array([f.slope(values[n]) for n, f in self.free.items()])

    def at(self, z: FloatArray, tol: float, near: Point | None = None) -> Point | None:
        """Return the point at fitted parameters; None where nothing was solved to the tolerance."""
        solution = self.solved(z, tol, near)
        if solution is None or not solution.converged or not self._holds(solution):
            return None
        try:
            rates = self.rates(solution)
        except SharpfrontError:
            return None
        point = self._point(z, solution, rates)
        if self.on_solve is not None:
            self.on_solve(point)
        return point

    def gradient(self, z: FloatArray, tol: float, near: Point) -> tuple[float, FloatArray] | None:
        """Return the sum of squares and half its derivative along z; None where nothing is solved.

        By one solve with the transposed system where there is one: its cost does not grow with the
        number of parameters.
        """
        solution = self.solved(z, tol, near)
        if solution is None or not solution.converged or not self._holds(solution):
            return None
        sides = None
        if not self.careful and not any(o.whole for o in self.observed):
            sides = solution.member.sides(solution, self.names)
        if sides is None:
            point = self._point(z, solution, self.rates(solution))
            return point.chi2, point.jacobian.T @ point.residual
        residual, extra, rows = self.residuals(z, solution)
        factors, total = residual / self.sigma, dict[str, FloatArray]()
        for o, own_rows in with_rows(self.observed):
            for unknown, own in o.counted(solution.approximation, factors[own_rows]).items():
                total[unknown] = total.get(unknown, 0.0) + own
        grad = sides.gradient(total) * self.slopes(z) + rows.T @ extra
        return float(residual @ residual + extra @ extra), grad

    def solved(self, z: FloatArray, tol: float, near: Point | None = None) -> Solution | None:
        """Return the solution at fitted parameters, on kernels of a near one if they will do."""
        self.solves += 1
        values = {**self.fixed, **self.values(z)}
        try:
            # On the way parameters may be absurd: what overflows then does not converge.
            with np.errstate(all="ignore"):
                if near is not None and float(np.abs(near.z - z).max()) < NEAR:
                    found: Solution = near.solution.member.neighbour(near.solution, values, tol)
                else:
                    found = solve(self.family.factory, tol=tol, **self.options, **values)
        except ArgumentError:
            # An option of no such name, whatever the parameters are.
            raise
        except SharpfrontError as error:
            self.failure = str(error)
            return None
        self.failure = "" if found.converged else str(found.outcome)
        return found

    def rates(self, solution: Solution) -> list[Approximation]:
        """Return the derivatives along all free parameters."""
        if self.careful:
            found = solution.member.sensitivities(solution, self.names, RATE_TOL)
            return [v.approximation for v in found]
        rates: list[Approximation] = solution.member.derivatives(solution, self.names)
        return rates

    def _holds(self, solution: Solution) -> bool:
        """Tell whether all data lie in the domain of a solution, which a parameter may move."""
        low, high = solution.domain.bounds
        slack = -1e-12 * float(np.max(high - low))
        for points in (o.points for o in self.observed if not o.whole):
            inside = solution.domain.contains(points) | (solution.domain.distance(points) >= slack)
            if not inside.all():
                return False
        return True

    def checked(self, point: Point) -> tuple[Point, FloatArray]:
        """Return the point with derivatives that were checked, and errors of its columns, (p,)."""
        solution = point.solution
        rates = None if self.careful else point.rates
        found = solution.member.sensitivities(solution, self.names, RATE_TOL, rates)
        new = self._point(point.z, solution, [v.approximation for v in found])
        seen = np.abs(new.jacobian[: len(self.data)] * self.sigma[:, None]).max(axis=0)
        slopes, spread = np.abs(self.slopes(point.z)), float(np.linalg.norm(1.0 / self.sigma))
        # An estimate is relative to one or to the largest value, not to what data see.
        errors = [
            v.error_estimate * max(slope, size)
            for v, slope, size in zip(found, slopes, seen, strict=True)
        ]
        return new, np.array(errors) * spread

    def _point(self, z: FloatArray, solution: Solution, rates: Sequence[Approximation]) -> Point:
        own, slopes = solution.approximation, self.slopes(z)
        residual, extra, rows = self.residuals(z, solution)
        columns = [
            np.concatenate([o.rates(own, v) for o in self.observed]) * slope / self.sigma
            for v, slope in zip(rates, slopes, strict=True)
        ]
        jacobian = np.vstack([np.stack(columns, axis=1), rows])
        return Point(z, solution, np.concatenate([residual, extra]), jacobian, tuple(rates))

    def residuals(
        self, z: FloatArray, solution: Solution
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return residuals of data (n,) and of priors (m,), and the derivative of these (m, p)."""
        predicted = [o.predicted(solution.approximation) for o in self.observed]
        extra = np.array([(z[i] - mean) / sd for i, mean, sd in self.priors])
        rows = np.zeros((len(self.priors), len(z)))
        for row, (i, _, sd) in zip(rows, self.priors, strict=True):
            row[i] = 1.0 / sd
        return (np.concatenate(predicted) - self.data) / self.sigma, extra, rows


def stated_model(
    family: Any, data: Any, parameters: Mapping[str, Any], options: dict[str, Any]
) -> Model:
    """Return the model of a family and its data, or say what is missing."""
    read = Family.of(family)
    free = {n: f for n, v in parameters.items() if (f := as_free(v)) is not None}
    if not free:
        raise ProblemError(
            "Nothing is free to be fitted. Give a start for a parameter: nu=sf.Free(0.05)."
        )
    values = read.values({**parameters, **{n: f.value for n, f in free.items()}})
    require_numbers(values, list(free))
    problem = read(**values)
    fixed = {n: v for n, v in values.items() if n not in free}
    model = Model(read, fixed, free, _observed(data, problem, free), options)
    if model.spare < (0 if model.noise_known else 1):
        raise ProblemError(
            f"{len(model.data)} measurements and {len(model.priors)} priors do not determine "
            f"{len(free)} parameters{'' if model.noise_known else ' and the noise'}. Fix some, or "
            "give priors: sf.Free(..., prior=sf.Prior(mean, sd))."
        )
    together = read.bundle.names if read.bundle and read.along(problem, values) else ()
    for name in free:
        if name not in together:
            _require_effect(model, problem, values, name)
    return model


def _observed(data: Any, problem: Problem, free: Mapping[str, Free]) -> list[Observed]:
    """Return the measurements, checked against the problem and what else is known."""
    if not isinstance(data, Data) and (hasattr(data, "columns") or hasattr(data, "dims")):
        # Of tables that are looked through like lists only names would be told.
        kind = f"{type(data).__module__.split('.')[0]} {type(data).__name__}"
        raise ProblemError(
            f"data: expected sf.Data, or a list of them, got a table ({kind}). Try "
            "sf.Data(table, sigma=0.02)."
        )
    sets = listed(data)
    if not len(sets):
        raise refusal("data", "sf.Data, or a list of them", data, "sf.Data(x=xs, u=us)")
    for each in sets:
        if not isinstance(each, Data):
            raise refusal("data", "sf.Data, or a list of them", each, "sf.Data(x=xs, u=us)")
    observed = [o for each in sets for o in each.read(problem)]
    known = [o.sigma is not None for o in observed]
    if not all(known) and any(f.prior is not None for f in free.values()):
        raise ProblemError(
            "What is known beforehand is weighed against the noise of the data: give sigma= with "
            "priors and unknown functions."
        )
    if any(known) and not all(known):
        raise ProblemError("Some data have sigma= and others not; give it for all or for none.")
    return observed


def _require_effect(model: Model, problem: Problem, values: Mapping[str, Any], name: str) -> None:
    """Refuse a parameter that changes nothing, or that data cannot follow."""
    from sharpfront.fit.result import Fit

    if name in {*dir(Fit), *(f.name for f in fields(Fit))}:
        raise ProblemError(f"A fit has an attribute {name!r} of its own; rename the parameter.")
    forcing = model.family.forcing(problem, values, name)
    if forcing is None and any(o.whole for o in model.observed):
        raise ProblemError(
            f"The parameter {name!r} moves the domain or a place at which something jumps; "
            "integrals cannot be observed then."
        )
    if forcing is not None and forcing.is_absent:
        raise ProblemError(
            f"No residual contains the parameter {name!r}: it has no effect and cannot be "
            "fitted. Does the family use it?"
        )
