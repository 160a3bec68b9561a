"""A reference by another method: spectral elements on the line, Radau's formula in time.

Residuals are the functions of a `Statement`. They are called with numbers that carry their
derivatives by all unknown values, so that linear and nonlinear problems, systems, orders one to
six, and problems of first and second order in time take the same way. Breakpoints and the
places and widths of features are told, which no solver is; the difference between two resolutions
is the reference's own error.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as ss
from numpy.polynomial import legendre
from scipy.sparse.linalg import splu

from hostile.drawn import Function, Statement, Truth
from hostile.spectral import Dual, Mesh, Unknown, edges_of

NEWTON_STEPS = 40


@dataclass(frozen=True)
class Slab:
    """A step of time: matrices from values at its moments to derivatives there.

    Parameters
    ----------
    moments
        Radau's points of the step, the end among them; (0,) for a steady problem.
    inner, before
        For the value and the rate a matrix from the values at the moments, and one from the
        state before the step.
    """

    moments: np.ndarray
    inner: tuple[np.ndarray, ...]
    before: tuple[np.ndarray, ...]


STEADY = Slab(np.zeros(1), (np.ones((1, 1)),), (np.zeros((1, 0)),))
STAGES = 5


def slab(start: float, end: float) -> Slab:
    """Return the matrices of a step."""
    radau, series = _radau(STAGES), _series()
    turned = [_powers(radau, k) @ series / (end - start) ** k for k in (0, 1)]
    # The end of a step belongs to it also where the data switch there.
    moments = start + (end - start) * np.minimum(radau, 1 - 1e-10)
    return Slab(moments, tuple(t[:, :STAGES] for t in turned), tuple(t[:, STAGES:] for t in turned))


def _series() -> np.ndarray:
    """Return the matrix from values at Radau's points and at the start to powers of time."""
    return np.linalg.inv(np.concatenate([_powers(_radau(STAGES), 0), _powers(np.zeros(1), 0)]))


def _radau(count: int) -> np.ndarray:
    """Return Radau's points of [0, 1] with the right end."""
    series = np.zeros(count + 1)
    series[count], series[count - 1] = 1.0, -1.0
    return np.sort((legendre.legroots(series).real + 1) / 2)


def _powers(t: np.ndarray, order: int) -> np.ndarray:
    powers = np.arange(STAGES + 1)
    factor = powers if order else np.ones(len(powers))
    return factor * t[:, None] ** np.maximum(powers - order, 0)


class Discrete:
    """A statement on a mesh: its residual and slopes for the values of a slab.

    An equation of second order in time has the velocities as further fields.
    """

    def __init__(self, stated: Statement, mesh: Mesh, orders: Sequence[int]) -> None:
        self.stated, self.mesh, self.orders = stated, mesh, tuple(orders)
        self.second = len(stated.initial) == 2 * len(orders)
        self.fields = len(orders) * (2 if self.second else 1)
        self.linear = stated.problem().is_linear
        self._rows: dict[Any, Any] = {}

    def matrix(self, x: np.ndarray, order: int, derivative: int) -> Any:
        """Return the matrix to a derivative at points, made once."""
        key = (x.tobytes(), order, derivative)
        if key not in self._rows:
            self._rows[key] = self.mesh.at(x, order, derivative)
        return self._rows[key]

    def solve(self, step: Slab, before: np.ndarray, guess: np.ndarray) -> np.ndarray:
        """Return the values at the moments of a slab, by Newton's method."""
        values, last = guess, np.inf
        for _ in range(NEWTON_STEPS):
            residual, slopes = self.rows(step, before, values)
            weights = 1 / np.maximum(abs(slopes).max(axis=1).toarray().ravel(), 1e-300)
            scaled = (ss.diags(weights) @ slopes).tocsc()
            factors = splu(scaled)
            correction = factors.solve(weights * residual)
            correction -= factors.solve(scaled @ correction - weights * residual)
            size = np.max(np.abs(correction)) / max(1.0, np.max(np.abs(values)))
            values = values - correction
            if self.linear or size < 1e-12 or (size < 1e-9 and size > 0.3 * last):
                return values
            last = size
        raise ArithmeticError(f"the reference did not converge: {size:.1e}")

    def rows(self, step: Slab, before: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, Any]:
        """Return all residuals and their slopes."""
        found = list(self._equations(step, before, values))
        found += self._continuity(step, before, values)
        found += self._conditions(step, before, values)
        return np.concatenate([d.value for d in found]), ss.vstack([d.slopes for d in found])

    def unknowns(
        self, step: Slab, before: np.ndarray, values: np.ndarray, matrix: Any, outward: Any = None
    ) -> list[Unknown]:
        """Return the unknowns where `matrix(order, derivative)` leads, at all moments."""
        n, count = self.mesh.size, self.fields
        old = before.reshape(-1, count, n)
        new = values.reshape(len(step.moments), count, n)

        def one(i: int) -> Unknown:
            def derivative(order: int, rate: int) -> tuple[np.ndarray, Any]:
                rows = matrix(self.orders[i % len(self.orders)], order)
                velocity = self.second and rate > 0 and i < len(self.orders)
                j, rate = (i + len(self.orders), rate - 1) if velocity else (i, rate)
                inner, outer = step.inner[rate], step.before[rate]
                value = inner @ (new[:, j] @ rows.T) + outer @ (old[:, j] @ rows.T)
                unit = ss.csr_matrix(([1.0], ([0], [j])), (1, count))
                return value.ravel(), ss.kron(inner, ss.kron(unit, rows), format="csr")

            return Unknown(derivative, outward)

        return [one(i) for i in range(count)]

    def _where(self, step: Slab, x: np.ndarray) -> tuple[np.ndarray, ...]:
        moments = np.repeat(step.moments, len(x))
        x = np.tile(x, len(step.moments))
        return (x, moments) if self.stated.time else (x,)

    def _called(self, f: Function, step: Slab, unknowns: list[Unknown], x: np.ndarray) -> list[Any]:
        result = f(*unknowns[: len(self.orders)], *self._where(step, x))
        return list(result) if isinstance(result, tuple) else [result]

    def _equations(self, step: Slab, before: np.ndarray, values: np.ndarray) -> Any:
        for i, order in enumerate(self.orders):
            x = self.mesh.inner(order)
            unknowns = self.unknowns(step, before, values, lambda m, k, x=x: self.matrix(x, m, k))
            yield self._called(self.stated.equation, step, unknowns, x)[i]
        if self.second:
            yield from self._velocities(step, before, values)

    def _velocities(self, step: Slab, before: np.ndarray, values: np.ndarray) -> Any:
        """Yield that the rate of each unknown is its velocity."""
        count, x = len(self.orders), self.mesh.inner(0)
        old = before.reshape(self.fields, self.mesh.size)
        new = values.reshape(len(step.moments), self.fields, self.mesh.size)
        for i, order in enumerate(self.orders):
            rows = self.matrix(x, order, 0)
            rate = step.inner[1] @ new[:, i] + step.before[1] * old[i]
            value = ((rate - new[:, i + count]) @ rows.T).ravel()
            units = [ss.csr_matrix(([1.0], ([0], [k])), (1, self.fields)) for k in (i, i + count)]
            slopes = ss.kron(step.inner[1], ss.kron(units[0], rows))
            yield Dual(value, slopes - ss.kron(np.eye(len(step.moments)), ss.kron(units[1], rows)))

    def _continuity(self, step: Slab, before: np.ndarray, values: np.ndarray) -> list[Dual]:
        found = []
        for i, order in enumerate(self.orders):
            for k in range(order):
                unknown = self.unknowns(step, before, values, lambda m, _, k=k: self._jumps(m, k))[
                    i
                ]
                found.append(Dual(unknown.value, unknown.slopes))
        return found

    def _jumps(self, order: int, derivative: int) -> Any:
        """Return the matrix to the jumps of a derivative between elements, made once."""
        inside, edges = self.mesh.edges[1:-1], self.mesh.edges
        key = (order, derivative)
        if key not in self._rows:
            jump = self.mesh.at(inside, *key) - self.mesh.at(inside, *key, lower=True)
            if not self.stated.domain.parts:
                ends = self.mesh.at(edges[:1], *key) - self.mesh.at(edges[-1:], *key)
                jump = ss.vstack([jump, ends], format="csr")
            self._rows[key] = jump
        return self._rows[key]

    def _conditions(self, step: Slab, before: np.ndarray, values: np.ndarray) -> list[Dual]:
        low, high = self.mesh.edges[0], self.mesh.edges[-1]
        found: list[Dual] = []
        stated = [(low, -1.0, "left"), (high, 1.0, "right")]
        for place, outward, part in stated:
            f = self.stated.parts.get(part, self.stated.parts.get("boundary"))
            if f is not None:
                found += self._at(place, outward, f, step, before, values)
        for place, f in self.stated.inside:
            found += self._at(place, None, f, step, before, values)
        for f, value in self.stated.integrals:
            x, weights = self.mesh.integral()
            unknowns = self.unknowns(step, before, values, lambda m, k, x=x: self.matrix(x, m, k))
            whole = self._called(f, step, unknowns, x)[0]
            row = ss.csr_matrix(weights)
            found.append(Dual(row @ whole.value - value, row @ whole.slopes))
        return found

    def _at(self, place: float, outward: Any, f: Function, step: Slab, *state: Any) -> list[Dual]:
        x = np.array([place])
        unknowns = self.unknowns(step, *state, lambda m, k: self.matrix(x, m, k), outward)
        return self._called(f, step, unknowns, x)


def steady(
    stated: Statement,
    orders: Sequence[int],
    features: Sequence[tuple[float, float]],
    breaks: Sequence[float] = (),
    guess: Sequence[Function] = (),
) -> Truth:
    """Return the solution of a problem of the line that does not depend on time."""
    ends = tuple(float(b) for b in np.ravel(stated.domain.bounds))
    edges = edges_of(ends, features, breaks)

    def solved(degree: int) -> tuple[Function, ...]:
        mesh = Mesh(edges, degree)
        discrete = Discrete(stated, mesh, orders)
        first = [np.zeros(mesh.size) for _ in orders]
        if guess:
            first = [mesh.fitted(g, m) for g, m in zip(guess, orders, strict=True)]
        values = discrete.solve(STEADY, np.zeros((0, 0)), np.concatenate(first))
        parts = zip(values.reshape(len(orders), mesh.size), orders, strict=True)
        return tuple(_evaluator(mesh, part, order) for part, order in parts)

    coarse, fine = solved(14), solved(20)
    x = np.unique(np.concatenate([edges, (edges[1:] + edges[:-1]) / 2, np.linspace(*ends, 777)]))
    return Truth(fine, max(_apart(a(x), b(x)) for a, b in zip(coarse, fine, strict=True)))


def _evaluator(mesh: Mesh, values: np.ndarray, order: int) -> Function:
    return lambda x: mesh.at(np.ravel(x), order, 0) @ values


def _apart(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.max(np.abs(a - b)) / max(1.0, np.max(np.abs(b))))


def marched(
    stated: Statement,
    orders: Sequence[int],
    features: Sequence[tuple[float, float]],
    moments: Sequence[float],
    breaks: Sequence[float] = (),
    steps: int = 24,
    first: float = 1e-7,
) -> Truth:
    """Return the solution of a problem in time on the line.

    Parameters
    ----------
    moments
        When the data switch: steps end there and grow again from `first` of the span.
    steps
        How many of equal length the span is at least divided into.
    """
    ends = tuple(float(b) for b in np.ravel(stated.domain.bounds))
    edges = edges_of(ends, features, breaks)
    assert stated.time is not None
    coarse_times = times_of(stated.time, moments, steps, first)
    coarse = _march(stated, Mesh(edges, 12), orders, coarse_times)
    # Each step halved: steps made anew may be the same ones where they grow after a switch.
    middles = 0.5 * (coarse_times[1:] + coarse_times[:-1])
    fine_times = np.sort(np.concatenate([coarse_times, middles]))
    fine = _march(stated, Mesh(edges, 17), orders, fine_times)
    x = np.unique(np.concatenate([edges, np.linspace(*ends, 301)]))
    error = 0.0
    # Inside of steps too, where a series in time is least certain.
    within = [fine_times[:-1] + share * np.diff(fine_times) for share in (0.3, 0.7, 1.0)]
    for t in np.concatenate(within):
        when = np.full_like(x, t)
        pairs = zip(coarse, fine, strict=True)
        error = max(error, *(_apart(a(x, when), b(x, when)) for a, b in pairs))
    # Half the steps leave an eighth at most, more degrees less: a quarter is on the safe side.
    return Truth(fine, error / 4)


def times_of(
    span: tuple[float, float], moments: Sequence[float], steps: int, first: float
) -> np.ndarray:
    """Return the ends of steps: short ones after each switch, then longer up to an even length."""
    marks = np.unique(np.clip([span[0], *moments, span[1]], *span))
    longest, times = (span[1] - span[0]) / steps, [span[0]]
    for low, high in itertools.pairwise(marks):
        step = min(first * (span[1] - span[0]), 0.01 * (high - low))
        while times[-1] < high:
            ahead = high - times[-1]
            times.append(high if ahead < 1.5 * step else times[-1] + min(step, longest))
            step = min(1.7 * step, longest)
    return np.array(times)


def _march(
    stated: Statement, mesh: Mesh, orders: Sequence[int], times: np.ndarray
) -> tuple[Function, ...]:
    discrete = Discrete(stated, mesh, orders)
    before = np.stack(
        [mesh.fitted(f, orders[i % len(orders)]) for i, f in enumerate(stated.initial)]
    )
    kept = []
    for start, end in itertools.pairwise(times):
        guess = np.broadcast_to(before, (STAGES, *before.shape)).ravel()
        values = discrete.solve(slab(start, end), before, guess).reshape(STAGES, *before.shape)
        kept.append(np.concatenate([values, before[None]]))
        before = values[-1]
    return tuple(_moving(mesh, times, kept, i, order) for i, order in enumerate(orders))


def _moving(mesh: Mesh, times: np.ndarray, kept: list[np.ndarray], i: int, order: int) -> Function:
    series = _series()

    def evaluate(x: Any, t: Any) -> np.ndarray:
        x, t = (np.ravel(a) for a in np.broadcast_arrays(x, t))
        result = np.empty(len(x))
        step = np.clip(np.searchsorted(times, t, "left") - 1, 0, len(kept) - 1)
        for k in np.unique(step):
            here = step == k
            weights = _powers((t[here] - times[k]) / (times[k + 1] - times[k]), 0) @ series
            values = mesh.at(x[here], order, 0) @ kept[k][:, i].T
            result[here] = np.sum(weights * values, axis=1)
        return result

    return evaluate
