"""Which problems in time in the plane patches solve, and what is refused."""

from __future__ import annotations

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Constant, Derivative
from sharpfront.equation.graph import derivatives_in, evaluate
from sharpfront.equation.linearise import LinearForm, Term
from sharpfront.errors import ProblemError
from sharpfront.evolve.patchwork.jumping_values import values_jump
from sharpfront.evolve.patchwork.materials import require_known
from sharpfront.evolve.patchwork.system import MOST_RATES, PlaneSystem
from sharpfront.place.tiling.tiling import tiling_of
from sharpfront.problem import PointCondition, Problem
from sharpfront.rows.row_norm import roughness
from sharpfront.trust.free_corners import free_corners, words

# The highest derivatives in space.
MOST_IN_SPACE = 4
# Products take a start that misses its conditions by so many tolerances.
MISSED = 10.0
# Points at which the sign of second derivatives is looked at.
LOOKED = 256


def needs_patches(problem: Problem) -> bool:
    """Tell whether a problem is more than one unknown of first order in time, of second in space.

    Such a one, on a box without periodic sides, is solved by products that go with its front, if
    nothing jumps inside a flux.
    """
    if not problem.domain.is_box or problem.is_singular:
        return True
    leaves = [d for e in problem.equations for d in derivatives_in(e)]
    plain = all(
        sum(d.orders[:2]) <= 2 and d.orders[2] <= 1 and not (d.orders[2] and any(d.orders[:2]))
        for d in leaves
    )
    on_sides = [d for c in problem.conditions for r in c.residuals for d in derivatives_in(r)]
    plain &= all(sum(d.orders) <= 1 and not d.orders[2] for d in on_sides)
    several = len(problem.unknowns) > 1 or any(len(c.residuals) > 1 for c in problem.conditions)
    return several or not plain or any(problem.domain.periodic_axes) or bool(problem.further)


def settles(problem: Problem, tol: float) -> bool:
    """Tell whether a start misses conditions of a problem with diffusion by more than a little.

    Layers grow along walls then, for which products have no functions and patches have strips. Or
    whether values on sides jump: patches have functions that do so too.
    """
    diffuses = any(sum(d.orders[:2]) > 1 for e in problem.equations for d in derivatives_in(e))
    tiling = tiling_of(problem.domain)
    if not diffuses or problem.is_singular or tiling is None:
        return False
    return bool(PlaneSystem(problem).contradictions(MISSED * tol)) or values_jump(
        problem, tiling, tol
    )


def plane_system(problem: Problem) -> PlaneSystem:
    """Return the equations of a problem in the plane, or say what cannot be solved."""
    system = PlaneSystem(problem)
    tiling = tiling_of(problem.domain)
    if tiling is None:
        raise ProblemError(
            "In the plane and in time patches solve problems on boxes, polygons and curved shapes; "
            f"got {problem!r}."
        )
    require_known(problem)
    if any(not isinstance(c, PointCondition) for c in problem.further):
        raise ProblemError(
            "Conditions on integrals are not taken in time; hold the value at a point, "
            "conditions=[sf.at((0, 0), ...)]."
        )
    for unknown, order in zip(system.unknowns, system.orders, strict=True):
        if order > MOST_RATES:
            raise ProblemError(
                f"The equations have {unknown} with time derivatives up to order {order}; known "
                "are one and two, u.dt and u.dtt, or none."
            )
    stated = [*system.equations, *(r for own in system.conditions for r in own)]
    for residual in stated:
        for leaf in residual.derivatives:
            if sum(leaf.orders[:2]) > MOST_IN_SPACE:
                raise ProblemError(
                    f"The {residual.what} has a derivative of orders {leaf.orders}; known are up "
                    f"to {MOST_IN_SPACE} in space."
                )
            if leaf.orders[2] and residual.what != "equation":
                raise ProblemError(f"The {residual.what} may hold no time derivative.")
    _require_conditions(system)
    for corner in free_corners(problem):
        raise ProblemError(f"{words(problem, corner)} In time that is not taken yet.")
    _require_held(system)
    require_forward(system)
    return system


def _require_held(system: PlaneSystem) -> None:
    """Refuse unknowns that nothing holds, and points at which those are held that go on in time."""
    free = {u for u, order in zip(system.unknowns, system.orders, strict=True) if not order}
    inside = [
        d for own in (system.equations, *system.conditions) for r in own for d in r.derivatives
    ]
    for unknown in sorted(free - {d.unknown for d in inside if not any(d.orders)}):
        raise ProblemError(
            f"The equations hold derivatives of {unknown} only, which is known up to a constant: "
            f"state its value at a point, conditions=[sf.at((0, 0), ... {unknown} ...)]."
        )
    held = {
        d.unknown
        for own in system.conditions[len(system.problem.conditions) :]
        for r in own
        for d in r.derivatives
    }
    for unknown in sorted(held - free):
        raise ProblemError(
            f"A condition at a point holds {unknown}, which its equation determines from its start "
            "on; points may hold unknowns without time derivatives only."
        )


def _require_conditions(system: PlaneSystem) -> None:
    """Refuse a wrong number of conditions: half the order of the system on every side."""
    forms = [
        LinearForm(
            tuple(Term(t.unknown, t.orders[:2], Constant(1.0)) for t in r.terms), Constant(0.0)
        )
        for r in system.equations
    ]
    rough = roughness(forms, system.unknowns)
    highest = [max(t.order + rough[t.unknown] for t in form.terms) for form in forms]
    order, problem = sum(highest) - sum(rough.values()), system.problem
    given = {c.part: len(c.residuals) for c in problem.conditions}
    for part in problem.domain.parts:
        if order % 2 or 2 * given.get(part, 0) != order:
            wanted = "no side" if order % 2 else f"{order // 2} condition(s) on each side"
            raise ProblemError(
                f"The equations are of order {order} in space together, for which {wanted} "
                f"is known; the part {part!r} has {given.get(part, 0)}. Equations of odd order are "
                "solved on boxes with periodic sides."
            )


def require_forward(system: PlaneSystem) -> None:
    """Refuse equations that run backwards: small waves would grow without bound."""
    points = system.problem.domain.sample(LOOKED)
    start, span = system.initial(points), system.problem.time
    none = (0,) * len(system.space)
    assert span is not None

    def known(leaf: Derivative) -> FloatArray:
        *space, rate = leaf.orders
        if rate > 1 or any(space):
            return np.zeros(len(points))
        return np.asarray(start[rate, system.unknowns.index(leaf.unknown)])

    for equation in system.equations:
        leaves = system.leaves(equation, points, span[0], known)
        with np.errstate(all="ignore"):
            tangents = {
                (t.unknown, t.orders): np.broadcast_to(evaluate(t.coefficient, leaves), len(points))
                for t in equation.terms
            }
        for unknown, order in zip(system.unknowns, system.orders, strict=True):
            ahead = tangents.get((unknown, (*none, order)))
            if ahead is None or not order:
                continue
            most = max(sum(t.orders[:-1]) for t in equation.terms if t.unknown == unknown)
            if most % 2 or not most:
                continue
            sign = (-1.0) ** (most // 2) * np.sign(ahead)
            for axis in range(len(none)):
                along = (*none[:axis], most, *none[axis + 1 :], 0)
                own = sign * tangents.get((unknown, along), np.zeros(len(points)))
                if np.any(own < -1e-9 * np.abs(own).max()):
                    raise ProblemError(
                        f"The equation for {unknown} runs backwards: its highest derivatives have "
                        "the sign of growth, so that small waves grow without bound. Check the "
                        "sign."
                    )
