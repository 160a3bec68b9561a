"""What a problem in time must hold before it is marched: conditions at the ends, a direction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import TIME
from sharpfront.equation.graph import ordered
from sharpfront.equation.weak import weak_along
from sharpfront.errors import ProblemError
from sharpfront.evolve.characteristics import at_start, characteristics
from sharpfront.problem.initial import velocity_name
from sharpfront.rounding import SAME

if TYPE_CHECKING:
    from sharpfront.evolve.time_system import Residual, TimeSystem
    from sharpfront.problem import Problem

SIDES = ("left", "right")
# What to try where small waves grow without bound: of second and of first order in time.
_REMEDY = (
    "Check the sign; without time= it may be a problem on a box, with conditions all round.",
    "Check the sign, or turn time around.",
)


def require_states_that_go_on(problem: Problem) -> None:
    """Refuse rates of what jumps at a moment: the quantity goes on there, and the state jumps."""
    for node in (n for e in problem.equations for n in ordered(e)):
        if weak_along(node) == TIME:
            raise ProblemError(
                "The rate of what jumps in time is not known: the "
                "quantity goes on and the state jumps there. Let time= end at that moment and go "
                "on from the other state, or round the jump; if the coefficient goes on write the "
                f"product rule, c * u.dt + c_t * u. Got {node!r}."
            )


def require_well_posed(system: TimeSystem) -> None:
    """Refuse a wrong number of conditions where the equation tells it: order 2, 3 and 4."""
    _require_forward(system)
    if system.periodic:
        return
    if system.order == 1:
        _require_inflow(system)
        return
    orders = {n: max(e.order(n) for e in system.equations) for n in system.names}
    second = [n for n in system.names if velocity_name(n) in system.names]
    # A condition on an unknown of second order in time is one on its rate too.
    wanted = sum(
        2 * max(orders[n], orders[velocity_name(n)]) if n in second else orders[n]
        for n in system.problem.unknowns
    )
    count, each = len(system.conditions), 2 if second else 1
    if max(orders.values()) > 1 and count != wanted:
        raise ProblemError(
            f"The equation is of order {max(orders.values())} in x and needs {wanted // each} "
            f"conditions at the ends together; got {count // each}."
        )


def _require_inflow(system: TimeSystem) -> None:
    """Refuse a condition where nothing flows in, and a missing one where something does."""
    span = system.span
    inside = [_speeds(system, x, span[0]) for x in np.linspace(system.low, system.high, 9)]
    largest = max((float(np.abs(s).max()) for s in inside if s is not None), default=0.0)
    for side, end in enumerate((system.low, system.high)):
        found = [_speeds(system, end, t) for t in np.linspace(*span, 9)]
        known = [s for s in found if s is not None and np.all(np.abs(s) > SAME * largest)]
        counts = {int(np.sum(s > 0 if side == 0 else s < 0)) for s in known}
        if len(known) < len(found) or len(counts) != 1:
            # Nothing flows there, or the flow turns on the way: it cannot be told.
            continue
        entering, speeds = counts.pop(), known[0]
        given = sum(c.side == side for c in system.conditions)
        given -= sum(_is_rate(c, system) for c in system.conditions if c.side == side)
        if given != entering:
            raise ProblemError(
                f"At the {SIDES[side]} end {entering} quantity(ies) flow in (speeds "
                f"{', '.join(f'{s:.3g}' for s in speeds)}), so {entering} condition(s) are needed "
                f"there; got {given}."
            )


def _is_rate(condition: Residual, system: TimeSystem) -> bool:
    """Tell whether a condition was added for the rate of a second-order unknown."""
    rates = {velocity_name(n) for n in system.names}
    return bool(condition.terms) and all(t.unknown in rates for t in condition.terms)


def _require_forward(system: TimeSystem) -> None:
    """Refuse equations that run backwards: heat that flows from cold to hot has no solution."""
    x = np.linspace(system.low, system.high, 65)[1:-1]
    leaves = at_start(system, x)
    second = {velocity_name(n): n for n in system.problem.unknowns}
    for rate, equation in zip(system.names, system.equations, strict=True):
        # The equation of a velocity holds the derivatives along x of its unknown.
        name = second.get(rate, rate)
        order = equation.order(name)
        values = {
            (t.unknown, t.orders): v
            for t, v in zip(equation.terms, equation.tangents(leaves, len(x)), strict=True)
        }
        if order % 2 or not {(name, (order, 0)), (rate, (0, 1))} <= values.keys() or not order:
            continue
        if name != rate and equation.order(rate):
            continue
        highest = values[name, (order, 0)] * np.sign(values[rate, (0, 1)])
        ratio = (-1.0) ** (order // 2) * highest
        if np.any(ratio < -1e-9 * np.abs(ratio).max()):
            where = float(x[int(np.argmin(ratio))])
            example = "u_t = -u_xx" if name == rate else "u_tt = -u_xx"
            raise ProblemError(
                f"The equation for {name} runs backwards near x = {where:.3g}: its derivative of "
                f"order {order} has the sign of growth, as in {example}, so that small waves grow "
                f"without bound. {_REMEDY[name == rate]}"
            )


def _speeds(system: TimeSystem, x: float, t: float) -> FloatArray | None:
    found = characteristics(system, x, t)
    return None if found is None else found.speeds
