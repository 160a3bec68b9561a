"""Where to start if all conditions of an interval stand at one end: with what an integrator finds.

Newton's method from a constant loses its way over many periods, for what it changes at the start
moves all that follows. Steps from the start do not: as a guess their few digits are enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Key
from sharpfront.equation.operator import Operator
from sharpfront.errors import EquationError
from sharpfront.newton.settings import NEWTON
from sharpfront.problem import Problem


class _LostError(Exception):
    """No state follows."""


@dataclass(frozen=True, eq=False)
class InitialValues:
    """A problem whose conditions all stand at one end of an interval."""

    problem: Problem
    side: int  # 0 for the left end

    @cached_property
    def orders(self) -> dict[str, int]:
        """The highest derivative of each unknown."""
        every = [d for e in self._equations for d in e.derivatives]
        return {
            n: max((d.orders[0] for d in every if d.unknown == n), default=0) for n in self._names
        }

    @property
    def _names(self) -> tuple[str, ...]:
        return self.problem.unknowns

    @cached_property
    def _equations(self) -> list[Operator]:
        return [Operator(e) for e in self.problem.equations]

    @cached_property
    def _conditions(self) -> list[Operator]:
        return [Operator(e, "condition") for c in self.problem.conditions for e in c.residuals]

    @cached_property
    def state_keys(self) -> list[Key]:
        """What a state is made of: derivatives below the highest."""
        return [("derivative", n, (k,)) for n, m in self.orders.items() for k in range(m)]

    @property
    def _highest(self) -> list[Key]:
        return [("derivative", n, (m,)) for n, m in self.orders.items()]

    def integrated(self) -> Any:
        """Return states along the interval as a function; None if an integrator finds none."""
        from scipy.integrate import solve_ivp

        ends = self.problem.domain.bounds[:, 0]
        start, stop = ends[::-1] if self.side else ends
        left, calls = NEWTON.most_rates, [0]

        def rates(x: float, state: FloatArray) -> FloatArray:
            calls[0] += 1
            if calls[0] > left:
                raise _LostError
            return self.rates(np.array([x]), state[:, None])[:, 0]

        try:
            with np.errstate(all="ignore"):
                state = self._start(float(start))
                found = solve_ivp(
                    rates, (start, stop), state, "LSODA", dense_output=True, rtol=1e-6, atol=1e-9
                )
        except (_LostError, EquationError, np.linalg.LinAlgError):
            return None
        return found.sol if found.success and np.isfinite(found.y).all() else None

    def rates(self, x: FloatArray, states: FloatArray) -> FloatArray:
        """Return how states (n, points) change along x."""
        highest = iter(self._solved(self._equations, self._highest, self._leaves(x, states)))
        rows = []
        for name, order in self.orders.items():
            own = [states[self.state_keys.index(("derivative", name, (k,)))] for k in range(order)]
            top = next(highest)
            rows += [*own[1:], top] if order else []
        return np.array(rows)

    def _leaves(self, x: FloatArray, states: FloatArray) -> dict[Key, FloatArray]:
        leaves: dict[Key, FloatArray] = {("coordinate", self.problem.coordinates[0]): x}
        leaves["normal", self.problem.coordinates[0]] = np.full(len(x), 2.0 * self.side - 1.0)
        return leaves | dict(zip(self.state_keys, states, strict=True))

    def _start(self, x: float) -> FloatArray:
        """Return the state that meets the conditions."""
        leaves = self._leaves(np.array([x]), np.zeros((len(self.state_keys), 1)))
        return self._solved(self._conditions, self.state_keys, leaves)[:, 0]

    def _solved(
        self, residuals: list[Operator], keys: list[Key], leaves: dict[Key, FloatArray]
    ) -> FloatArray:
        """Return some leaves (keys, points) with which residuals vanish, by Newton's method."""
        count = len(next(iter(leaves.values())))
        found, numbers = np.zeros((len(keys), count)), {key: i for i, key in enumerate(keys)}
        for _ in range(NEWTON.attempt):
            leaves = leaves | dict(zip(keys, found, strict=True))
            missed, matrix = np.empty((count, len(keys))), np.zeros((count, len(keys), len(keys)))
            for row, residual in enumerate(residuals):
                missed[:, row] = residual.at(leaves, count)
                for t, own in zip(residual.terms, residual.tangents(leaves, count), strict=True):
                    column = numbers.get(("derivative", t.unknown, t.orders))
                    if column is not None:
                        matrix[:, row, column] = own
            change = np.linalg.solve(matrix, missed[..., None])[..., 0].T
            found = found - change
            if not np.isfinite(found).all():
                break
            if np.abs(change).max() <= 1e-9 * max(1.0, float(np.abs(found).max())):
                return found
        raise _LostError


@dataclass(frozen=True, eq=False)
class Integrated:
    """An iterate that an integrator has found, with the derivatives that equations give it."""

    of: InitialValues
    states: Any  # along the interval, a function

    def values(self, unknown: str, points: FloatArray, orders: Any) -> FloatArray:
        """Return a derivative of an unknown up to its highest; beyond it is taken for none."""
        x, key, keys = points[:, 0], ("derivative", unknown, tuple(orders)), self.of.state_keys
        if key in keys:
            return np.asarray(self.states(x)[keys.index(key)])
        below = ("derivative", unknown, (orders[0] - 1,))
        if below not in keys:
            return np.zeros(len(x))
        return np.asarray(self.of.rates(x, self.states(x))[keys.index(below)])


def integrated(problem: Problem) -> Integrated | None:
    """Return what follows from conditions at one end of an interval; None if they are not that."""
    parts = {c.part for c in problem.conditions}
    if (
        not (problem.domain.is_box and problem.domain.dimension == 1)
        or problem.further
        or len(parts) != 1
    ):
        return None
    of = InitialValues(problem, int(parts.pop() == "right"))
    known = {("derivative", d.unknown, d.orders) for c in of._conditions for d in c.derivatives}
    if len(of._conditions) != len(of.state_keys) or not known <= set(of.state_keys):
        return None
    states = of.integrated()
    return None if states is None else Integrated(of, states)
