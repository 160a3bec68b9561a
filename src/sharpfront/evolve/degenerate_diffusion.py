"""Diffusion that vanishes with the unknown, as in porous media: never quite, so that it is marched.

Where u = 0 ends, u_t = (a(u) u_x)_x with a(0) = 0 has a front at which slopes jump, or are
infinite, and an error that is below zero grows where a changes its sign. With the root of
a(u)^2 + a(d)^2 in the place of a(u) it is smooth over values of about d. What that does to the
solution is about as large as d, and part of the estimate: the weaker run of a pair has a larger d.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sharpfront.equation.expression import Constant, Derivative, Expression, apply
from sharpfront.equation.graph import derivatives_in, evaluate
from sharpfront.equation.linearise import with_leaves
from sharpfront.evolve.settings import LINE_MARCH
from sharpfront.evolve.time_system import Residual, TimeSystem
from sharpfront.rounding import ROUNDED

# Places at which it is looked at.
_LOOKED_AT = 65


def with_diffusion(system: TimeSystem, tol: float, strict: bool = True) -> TimeSystem:
    """Return the system with diffusion that does not vanish where the unknown does."""
    if system.is_linear:
        return system
    share = (1.0 if strict else LINE_MARCH.wider_range) * LINE_MARCH.near_zero * tol
    equations = tuple(_kept_up(system, i, share) for i in range(len(system.equations)))
    return system if equations == system.equations else replace(system, equations=equations)


def _kept_up(system: TimeSystem, index: int, share: float) -> Residual:
    """Return an equation, with the diffusion of its unknown kept above zero if it vanishes."""
    name, equation = system.names[index], system.equations[index]
    own = {t.orders: t.coefficient for t in equation.terms if t.unknown == name}
    if equation.order(name) != 2 or not {(2, 0), (0, 1)} <= own.keys():
        return equation
    factor = own[2, 0]
    if {(d.unknown, d.orders) for d in derivatives_in(factor)} != {(name, (0, 0))}:
        return equation
    x = np.linspace(system.low, system.high, _LOOKED_AT)
    size = float(np.abs(system.initial(name)(x)).max())
    none, all_, rate = (
        _at(e, system, name, v) for e, v in ((factor, 0.0), (factor, size), (own[0, 1], size))
    )
    if not np.all(np.abs(none) <= ROUNDED * np.abs(all_).max()) or not np.all(all_ * rate < 0.0):
        return equation
    small = share * max(1.0, size)
    sense = float(np.sign(rate[0]))
    least = with_leaves(factor, {("derivative", name, (0, 0)): Constant(small)})
    more = apply(np.sqrt, factor * factor + least * least) + sense * factor
    slope = Derivative(name, system.problem.coordinates, (1, 0))
    added = (more * slope).d(system.space)
    return replace(equation, expression=equation.expression - sense * added)


def _at(part: Expression, system: TimeSystem, name: str, value: float) -> np.ndarray:
    """Return a coefficient along the domain at the start, where the unknown has a value."""
    leaves = system.at_start(np.linspace(system.low, system.high, _LOOKED_AT))
    for d in derivatives_in(part):
        leaves[d.key] = np.full(
            _LOOKED_AT, value if d.unknown == name and not any(d.orders) else 0.0
        )
    return np.nan_to_num(np.broadcast_to(evaluate(part, leaves), _LOOKED_AT), nan=np.inf)
