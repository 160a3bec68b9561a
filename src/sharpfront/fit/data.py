"""Measurements: where, of what, how large, and with which noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray, to_host
from sharpfront.checks import did_you_mean, refusal
from sharpfront.equation.expression import Expression
from sharpfront.equation.graph import derivatives_in
from sharpfront.equation.linearise import Term, tangent_terms
from sharpfront.equation.trace import trace
from sharpfront.errors import DomainError, ProblemError
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation
from sharpfront.solution.functionals import over_space

_TRY = "sf.Data(x=xs, u=us, sigma=0.02)"
# Integrals are taken to this share of the largest part of them.
INTEGRATED = 1e-12


class Data:
    """Measured values of unknowns, or of what is made of them.

    Parameters
    ----------
    table
        A pandas DataFrame or an xarray Dataset, whose columns are coordinates, unknowns and
        perhaps ``sigma``; instead of arrays by name.
    sigma
        The standard deviation of the noise: a number, one for each measurement, or either by the
        name of each unknown. None if it is not known: it is then estimated from the scatter, with
        one value for all such data.
    observe
        What was measured if it is no unknown, a function of unknowns and coordinates:
        ``observe=lambda u, x: u.dx``, with `values`.
    integral
        The same for integrals over the domain: ``integral=lambda u, x: u``; in time one for each
        moment ``t=``.
    values
        What was measured of `observe` or `integral`.
    **columns
        Arrays by the names of coordinates and unknowns. Coordinates and `sigma` broadcast to the
        values that were measured.

    Examples
    --------
    >>> import sharpfront as sf
    >>> sf.Data(x=[0.1, 0.5, 0.9], u=[0.0, 0.1, 0.4], sigma=0.02)
    Data(3 values of u at x)
    """

    def __init__(
        self,
        table: Any = None,
        *,
        sigma: Any = None,
        observe: Callable[..., Any] | None = None,
        integral: Callable[..., Any] | None = None,
        values: Any = None,
        **columns: Any,
    ) -> None:
        given = {**_columns(table), **columns}
        self.sigma = given.pop("sigma", None) if sigma is None else sigma
        if (observe is not None and integral is not None) or (
            (observe is None and integral is None) != (values is None)
        ):
            raise ProblemError(
                "Data need values= together with either observe= or integral=, as in "
                "sf.Data(x=0.0, observe=lambda u, x: u.dx, values=flux)."
            )
        self.observe, self.integral, self.values = observe, integral, values
        self.columns = {name: _numbers(name, column) for name, column in given.items()}

    def __repr__(self) -> str:
        names = [n for n in self.columns if len(n) > 1 or n not in "xyzt"]
        where = [n for n in self.columns if n not in names]
        what = ", ".join(names) or ("an integral" if self.integral else "an observation")
        count = max((c.size for c in self.columns.values()), default=np.size(self.values))
        return f"Data({count} values of {what} at {', '.join(where) or 'no point'})"

    def read(self, problem: Problem) -> list[Observed]:
        """Return the measurements of each quantity, checked against a problem."""
        coordinates = problem.coordinates
        space = coordinates if self.integral is None else coordinates[problem.domain.dimension :]
        self._check_names(problem, space)
        measured = {u: self.columns[u] for u in problem.unknowns if u in self.columns}
        if self.observe is not None or self.integral is not None:
            measured = {"observed": _numbers("values", self.values)}
        if not measured:
            raise refusal("Data", f"values of {', '.join(problem.unknowns)}", self, _TRY)
        return [self._read(problem, space, name, y) for name, y in measured.items()]

    def _read(
        self, problem: Problem, space: Sequence[str], name: str, values: FloatArray
    ) -> Observed:
        """Return the measurements of one quantity."""
        sigma = self._sigma(problem, name)
        given = [self.columns[c] for c in space] + ([] if sigma is None else [sigma])
        try:
            *columns, y = np.broadcast_arrays(*given, values)
        except ValueError:
            shapes = {**{c: self.columns[c] for c in space}, name: values}
            shapes |= {} if sigma is None else {"sigma": sigma}
            told = ", ".join(f"{n} {c.shape}" for n, c in shapes.items())
            raise ProblemError(f"The arrays of data do not broadcast: {told}.") from None
        if y.size > values.size:
            # As many measurements would be made up, and intervals be that much too short.
            raise ProblemError(
                f"Data have {values.size} value(s) of {name} for {y.size} places or deviations "
                f"{y.shape}: give one for each, in an array of the same shape."
            )
        points = np.stack([*(c.ravel() for c in columns[: len(space)]), y.ravel()], axis=1)[:, :-1]
        if self.integral is None:
            _require_inside(problem, points)
        deviations = None if sigma is None else columns[-1].ravel()
        found = (self._expression(problem, name), points, y.ravel(), deviations)
        return Observed(problem, name, *found, self.integral is not None)

    def _sigma(self, problem: Problem, name: str) -> FloatArray | None:
        """Return the deviations of a quantity as they are given; None if they are not."""
        given = self.sigma
        if isinstance(given, Mapping):
            known = [u for u in problem.unknowns if u in self.columns]
            if set(given) != set(known):
                raise refusal("sigma", f"one for each of {', '.join(known)}", list(given), _TRY)
            given = given[name]
        if given is None:
            return None
        sigma = _numbers("sigma", given)
        if not np.all(sigma > 0):
            raise refusal("sigma", "positive numbers, or None if it is not known", given)
        return sigma

    def _expression(self, problem: Problem, name: str) -> Expression:
        what = self.observe or self.integral
        if what is None:
            return problem.symbols.stand_in(name)
        found = trace(what, problem.symbols, what="observation")
        if len(found) != 1:
            raise ProblemError("observe= returns one quantity; give a Data for each of several.")
        if not derivatives_in(found[0]):
            raise ProblemError("What is observed contains no unknown, so that it tells nothing.")
        return found[0]

    def _check_names(self, problem: Problem, space: Sequence[str]) -> None:
        known = (*problem.coordinates, *problem.unknowns)
        for name in self.columns:
            if name not in known:
                raise ProblemError(
                    f"Data have a column {name!r}; the problem has the coordinates "
                    f"{', '.join(problem.coordinates)} and the unknowns "
                    f"{', '.join(problem.unknowns)}.{did_you_mean(name, known)}"
                )
        of_unknowns = self.observe is None and self.integral is None
        idle = [n for n in self.columns if n not in space and not (of_unknowns and n in known)]
        if idle:
            raise ProblemError(
                f"Data have a column {idle[0]!r}, which has no meaning beside "
                f"{'observe=' if self.integral is None else 'integral='}; leave it out, or give "
                "another Data with it."
            )
        missing = [c for c in space if c not in self.columns]
        if missing:
            raise ProblemError(f"Data need the coordinate(s) {', '.join(missing)}: {_TRY}.")


def with_rows(observed: Sequence[Observed]) -> Iterator[tuple[Observed, slice]]:
    """Yield measurements of each quantity with their places among all."""
    start = 0
    for each in observed:
        stop = start + len(each.values)
        yield each, slice(start, stop)
        start = stop


@dataclass(frozen=True, eq=False)
class Observed:
    """Measurements of one quantity."""

    problem: Problem  # a member of the family
    name: str  # of the unknown, or "observed"
    expression: Expression  # what is measured
    points: FloatArray  # where, (n, d); of integrals the moments, (n, 0) or (n, 1)
    # What was found, and its deviation if that is known, (n,).
    values: FloatArray
    sigma: FloatArray | None
    whole: bool = field(default=False)  # whether the integral over the domain is meant

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The derivative of the expression along each derivative of an unknown."""
        return tuple(tangent_terms(self.expression))

    @property
    def is_plain(self) -> bool:
        """Whether an unknown itself was measured."""
        return self.name != "observed"

    def predicted(self, approximation: Approximation) -> FloatArray:
        """Return what a solution says of the measurements, (n,)."""
        own = partial(approximation.insert, self.expression)
        return self._over(own, approximation)

    def rates(self, approximation: Approximation, v: Approximation) -> FloatArray:
        """Return the derivative of that along a parameter, given the solution's, (n,)."""

        def rate(points: FloatArray) -> FloatArray:
            total = np.zeros(len(points))
            for term in self.terms:
                factor = approximation.insert(term.coefficient, points)
                total += factor * v.values(term.unknown, points, term.orders)
            return total

        return self._over(rate, v)

    def counted(self, approximation: Approximation, factors: FloatArray) -> dict[str, FloatArray]:
        """Return what each weight of a change of the solution counts in factors . prediction."""
        out = {unknown: np.zeros(b.size) for unknown, b in approximation.bases.items()}
        for term in self.terms:
            own = factors * approximation.insert(term.coefficient, self.points)
            basis = approximation.bases[term.unknown]
            out[term.unknown] += own @ to_host(basis.matrix(self.points, term.orders))
        return out

    def _over(
        self, values: Callable[[FloatArray], FloatArray], approximation: Approximation
    ) -> FloatArray:
        if not self.whole:
            return values(self.points)
        domain = self.problem.domain

        def at(rest: FloatArray) -> float:
            def then(points: FloatArray) -> FloatArray:
                return values(np.column_stack([points, np.tile(rest, (len(points), 1))]))

            t = float(rest[0]) if len(rest) else None
            return over_space(then, approximation, domain, t, INTEGRATED)

        return np.array([at(rest) for rest in self.points])


def _columns(table: Any) -> Mapping[str, Any]:
    """Return the columns of a table of pandas or xarray, or a mapping."""
    if table is None:
        return {}
    if hasattr(table, "to_dataframe"):
        table = table.to_dataframe().reset_index()
    if hasattr(table, "columns"):
        return {str(name): np.asarray(table[name]) for name in table.columns}
    if isinstance(table, Mapping):
        return table
    raise refusal("Data", "a DataFrame, a Dataset, or arrays by name", table, _TRY)


def _numbers(name: str, column: Any) -> FloatArray:
    try:
        if np.iscomplexobj(column):
            raise TypeError
        array = np.asarray(column, dtype=float)
    except (TypeError, ValueError):
        raise refusal(f"The column {name!r} of data", "numbers", column, _TRY) from None
    if not np.isfinite(array).all():
        bad = int(np.argmin(np.isfinite(array.ravel())))
        raise ProblemError(
            f"The column {name!r} of data is {array.ravel()[bad]} at row {bad}. Leave out what was "
            "not measured: sf.Data(table.dropna())."
        )
    return array


def _require_inside(problem: Problem, points: FloatArray) -> None:
    space = points[:, : problem.domain.dimension]
    slack = 1e-12 * float(np.ptp(problem.domain.bounds, axis=0).max())
    inside = problem.domain.contains(space) | (problem.domain.distance(space) >= -slack)
    if problem.time is not None:
        inside &= (points[:, -1] >= problem.time[0]) & (points[:, -1] <= problem.time[1])
    if not inside.all():
        where = ", ".join(f"{v:.6g}" for v in points[int(np.argmin(inside))])
        raise DomainError(
            f"Data lie outside the domain at ({where}). Leave them out, or state the problem on a "
            "larger domain or a longer span of time."
        )
