"""An unknown function of a coordinate, fitted like a parameter, with its smoothness from the data.

    f(x) = m + tau K(x, X) U diag(lambda)^(-1/2) g,    g ~ N(0, I),    K = exp(-d^2 / (2 l^2)),

a Gaussian process of deviation tau and length l, written with as many numbers g as its covariance
on the centres X has eigenvalues; k is f, or exp(f) where it is positive. Of several l and tau that
with the largest evidence is taken.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.checks import finite, flag, refusal
from sharpfront.equation.expression import Expression, Parameter
from sharpfront.equation.opaque import OpaqueFunction, function
from sharpfront.fit.free_parameters import Free, Prior
from sharpfront.problem import Problem
from sharpfront.problem.family import Bundle

# Centres of the process, and eigenvalues below this part of the largest that are left out.
CENTRES, SMALLEST = 25, 1e-6
# Lengths as part of the interval and deviations, in the logarithm or in units of the start, that
# are tried: each a factor of two to three from the next, which evidence can just tell apart.
LENGTHS, DEVIATIONS = (0.1, 0.2, 0.4), (0.1, 0.3, 1.0, 3.0)
# Deviation of the level m before the data: a factor of 20, or three times the start.
LEVEL = 3.0


@dataclass(frozen=True)
class FreeFunction:
    """A function of one coordinate that a fit may change.

    Parameters
    ----------
    start
        Its value at the start, the same everywhere.
    positive
        Whether its logarithm is fitted.
    low, high
        The interval of its argument; that of the domain by default.
    """

    start: float = 1.0
    positive: bool = False
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        finite(self.start, "start", attempt="sf.FreeFunction(1.0, positive=True)")
        flag(self.positive, "positive")
        if self.positive and self.start <= 0:
            raise refusal("start", "a positive number", self.start, "sf.FreeFunction(1.0)")
        ends = [finite(end, "low, high") for end in (self.low, self.high) if end is not None]
        if len(ends) == 2 and ends[0] >= ends[1]:
            raise refusal("low, high", "an interval", ends, "sf.FreeFunction(low=0, high=1)")

    @property
    def unit(self) -> float:
        """The unit of deviations: one for a logarithm, else the start."""
        return 1.0 if self.positive else abs(self.start) or 1.0


@dataclass(frozen=True, eq=False)
class Process:
    """A Gaussian process on an interval as a sum of functions with independent weights."""

    centres: FloatArray  # (n,)
    # l and tau.
    length: float
    deviation: float
    _mix: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        gap = (self.centres[:, None] - self.centres) / self.length
        values, vectors = np.linalg.eigh(np.exp(-0.5 * gap**2))
        kept = values > SMALLEST * values[-1]
        mix = self.deviation * vectors[:, kept] / np.sqrt(values[kept])
        object.__setattr__(self, "_mix", mix[:, ::-1])

    @property
    def size(self) -> int:
        """The number of weights."""
        return int(self._mix.shape[1])

    def table(self, x: FloatArray, order: int = 0) -> FloatArray:
        """Return a derivative of every function at positions, (n, size)."""
        gap = (np.asarray(x, dtype=float).ravel()[:, None] - self.centres) / self.length
        hermite = (1.0, -gap, gap**2 - 1.0)[order] / self.length**order
        return np.asarray((np.exp(-0.5 * gap**2) * hermite) @ self._mix)

    def sums(self, x: Any, weights: FloatArray, order: int) -> list[FloatArray]:
        """Return the weighted sum and its derivatives up to an order at positions, (n,) each."""
        gap = (np.asarray(x, dtype=float).ravel()[:, None] - self.centres) / self.length
        bells, own = np.exp(-0.5 * gap**2), self._mix @ weights
        hermite = (lambda: bells, lambda: -gap * bells, lambda: (gap**2 - 1.0) * bells)
        return [hermite[j]() @ own / self.length**j for j in range(order + 1)]

    def weights(self, values: FloatArray) -> FloatArray:
        """Return the weights for values at the centres, as near as the process allows."""
        rows = np.vstack([self.table(self.centres), 1e-3 * np.eye(self.size)])
        right = np.concatenate([values, np.zeros(self.size)])
        return np.asarray(np.linalg.lstsq(rows, right, rcond=None)[0])


@dataclass(frozen=True, eq=False)
class Curve:
    """The function for values of its weights, one of which may be a symbol."""

    process: Process  # the process
    # m and g.
    level: Any
    weights: Sequence[Any]
    positive: bool  # whether it is the exponential of the process
    # What is added to the process in a residual.
    added: Callable[[Any], Any] = field(default=lambda x: 0.0)

    def __call__(self, x: Any) -> Any:
        """Return the function at positions, or what it is in a residual."""
        if not isinstance(x, Expression):
            return np.reshape(self.values(x), np.shape(x))[()]
        found = self._known(0)(x)
        moved: Any = self.added(x)
        for i, value in enumerate((self.level, *self.weights)):
            if isinstance(value, Parameter):
                moved = moved + value * (1.0 if i == 0 else self._one(i - 1, 0)(x))
        return found * np.exp(moved) if self.positive else found + moved

    def values(self, x: Any, order: int = 0) -> FloatArray:
        """Return a derivative at positions, with zero in the place of symbols, (n,)."""
        f = self.process_values(x, order)
        if not self.positive:
            return f[order]
        k = np.exp(np.minimum(f[0], 700.0))
        return np.asarray(k * (1.0, f[-1], f[-1] + f[min(1, order)] ** 2)[order])

    def process_values(self, x: Any, order: int = 0) -> list[FloatArray]:
        """Return the process itself and its derivatives up to an order at positions, (n,) each."""
        numbers = [0.0 if isinstance(v, Parameter) else float(v) for v in self.weights]
        found = self.process.sums(x, np.array(numbers), order)
        level = 0.0 if isinstance(self.level, Parameter) else float(self.level)
        return [found[0] + level, *found[1:]]

    def _known(self, order: int) -> OpaqueFunction:
        inner = () if order == 2 else self._known(order + 1)
        return function(lambda x: self.values(x, order).reshape(np.shape(x)), inner)

    def _one(self, i: int, order: int) -> OpaqueFunction:
        inner = () if order == 2 else self._one(i, order + 1)
        return function(lambda x: self.process.table(x, order)[:, i].reshape(np.shape(x)), inner)


@dataclass(frozen=True, eq=False)
class Candidate:
    """The function with one length and deviation: its covariance (1 + size) and its evidence."""

    curve: Curve
    covariance: FloatArray
    evidence: float

    def deviation(self, x: Any) -> FloatArray:
        """Return the standard error of the process at positions, (n,)."""
        table = self.curve.process.table(x)
        rows = np.column_stack([np.ones(len(table)), table])
        variance = np.einsum("ni,ij,nj->n", rows, self.covariance, rows)
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


@dataclass(frozen=True, eq=False)
class FittedFunction:
    """An unknown function as data show it."""

    best: Candidate  # the candidate with the largest evidence, whose values it has
    # All candidates: bands are those of all of them, each with the weight of its evidence.
    others: tuple[Candidate, ...]
    seen: float  # how many degrees of freedom the data determine
    # How far data see each shape of the function, the best seen first: the change of all of them
    # over the noise as the shape goes by a deviation of what is assumed of it. Above one the data
    # have the say, below one the assumption.
    singular: FloatArray

    def __call__(self, x: Any) -> Any:
        """Return its values."""
        return self.best.curve(x)

    def band(self, x: Any) -> Any:
        """Return its standard error."""
        scale = self.best.curve.values(x) if self.best.curve.positive else 1.0
        return np.reshape(self._deviation(x) * scale, np.shape(x))[()]

    def informed(self, x: Any) -> Any:
        """Return its standard error over the deviation before the data: one where they are mute."""
        share = self._deviation(x) / self.best.curve.process.deviation
        return np.reshape(share, np.shape(x))[()]

    def _deviation(self, x: Any) -> FloatArray:
        evidence = np.array([c.evidence for c in self.others])
        shares = np.exp(evidence - evidence.max())
        (centre,) = self.best.curve.process_values(x)
        total = sum(
            w * (c.deviation(x) ** 2 + (c.curve.process_values(x)[0] - centre) ** 2)
            for w, c in zip(shares / shares.sum(), self.others, strict=True)
        )
        return np.asarray(np.sqrt(total))

    def __str__(self) -> str:
        process = self.best.curve.process
        return (
            f"a function with length {process.length:.2g} and deviation {process.deviation:.2g}, "
            f"of which data determine {self.seen:.1f} degrees of freedom"
        )

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class Expanded:
    """A family with a function among its parameters as one of numbers."""

    factory: Callable[..., Problem]
    names: tuple[str, ...]
    name: str
    process: Process
    positive: bool

    @property
    def own(self) -> list[str]:
        """The names of level and weights."""
        return [f"{self.name}_level", *(f"{self.name}_{i}" for i in range(self.process.size))]

    @property
    def __signature__(self) -> inspect.Signature:
        # Defaults are those of the factory: what is not given is not passed on.
        kind = inspect.Parameter.KEYWORD_ONLY
        given = inspect.signature(self.factory).parameters
        others = [given[n].replace(kind=kind) for n in given if n in {*self.names} - {self.name}]
        return inspect.Signature([*others, *(inspect.Parameter(n, kind) for n in self.own)])

    def __call__(self, **values: Any) -> Problem:
        """Return the problem for values of all numbers."""
        return self._problem(values)

    def _problem(self, values: Mapping[str, Any], *added: Callable[[Any], Any]) -> Problem:
        level, *weights = (values[n] for n in self.own)
        curve = Curve(self.process, level, weights, self.positive, *added)
        others = {n: v for n, v in values.items() if n not in self.own}
        return self.factory(**others, **{self.name: curve})

    @property
    def bundle(self) -> Bundle:
        """All numbers together: weights of a constant and of the functions of the process."""

        def table(x: FloatArray, order: int) -> FloatArray:
            level = np.full(len(x), float(order == 0))
            return np.column_stack([level, self.process.table(x, order)])

        return Bundle(tuple(self.own), self._problem, table)


def candidates(stated: FreeFunction, bounds: tuple[float, float]) -> Iterator[Process]:
    """Yield the processes that are tried, from the smoothest on."""
    low = bounds[0] if stated.low is None else stated.low
    high = bounds[1] if stated.high is None else stated.high
    centres = np.linspace(low, high, CENTRES)
    for length in reversed(LENGTHS):
        for deviation in DEVIATIONS:
            yield Process(centres, length * (high - low), deviation * stated.unit)


def expanded(
    name: str, stated: FreeFunction, process: Process, start: FloatArray
) -> dict[str, Free]:
    """Return level and weights as free parameters, started from weights (1 + size,)."""
    first = math.log(stated.start) if stated.positive else stated.start
    level = Prior(first, LEVEL * stated.unit)
    free = {f"{name}_level": Free(float(start[0]), prior=level)}
    for i, value in enumerate(start[1:]):
        free[f"{name}_{i}"] = Free(float(value), prior=Prior(0.0, 1.0))
    return free
