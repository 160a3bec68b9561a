"""What equations and conditions leave open: sides without a condition, constants, motions.

A pressure without a pin can be shifted, a body that nothing holds can move and turn. Such functions
are inserted exactly, without any kernels, so that they are told apart from modes that are merely
soft: the bending of a slender beam is a million times easier than its stretching, but not free.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.equation.edges import switches
from sharpfront.equation.expression import Expression
from sharpfront.equation.linearise import LinearForm
from sharpfront.equation.values import environment, form_values
from sharpfront.errors import Outcome, OutcomeKind, ProblemError
from sharpfront.geometry.combine import separate_frames
from sharpfront.problem import Condition, PointCondition, Problem
from sharpfront.rounding import ROUNDED, SLIGHT
from sharpfront.trust.ellipticity import elliptic_order, is_of_waves
from sharpfront.trust.settings import TRUST


def left_open(problem: Problem) -> Outcome | None:
    """Return what is wrong where elliptic equations have too few conditions on a boundary.

    They need half as many on each part as their order together is. One of waves has a part without.
    """
    counts = dict.fromkeys(problem.domain.parts, 0)
    for condition in problem.conditions:
        counts[condition.part] += len(condition.residuals)
    if min(counts.values(), default=1) == 0 and _is_elliptic(problem):
        bare = ", ".join(part for part, count in counts.items() if not count)
        detail = f"The equation is elliptic and there is no condition on {bare}."
        return Outcome(OutcomeKind.ILL_POSED, detail)
    if problem.domain.dimension < 2 or problem.is_singular:
        return None
    if min(counts.values(), default=0) > 0 and is_of_waves(problem):
        detail = (
            "The equation is one of waves: its second derivatives have both signs. With conditions "
            "on all parts of the boundary its solution depends on them without bound. Give two on "
            "the side from which waves start, none on the one opposite, or write it in time."
        )
        return Outcome(OutcomeKind.ILL_POSED, detail)
    order = elliptic_order(problem) or 0
    short = {part: count for part, count in counts.items() if 2 * count < order > 2}
    if not short:
        return None
    given = ", ".join(f"{count} on {part}" for part, count in short.items())
    detail = (
        f"Equations that are elliptic and of order {order} together need {order // 2} conditions "
        f"on each part of the boundary; given were {given}."
    )
    return Outcome(OutcomeKind.ILL_POSED, detail)


def require_unknowns(problem: Problem) -> None:
    """Refuse a linear equation whose coefficients all vanish on a part of the domain."""
    if not any(map(switches, problem.equations)):
        return
    every = problem.domain.sample(TRUST.inside, "quasi")
    # What vanishes at a point alone, or on a line, does not so beside it.
    aside = SLIGHT * np.ptp(problem.domain.bounds, axis=0) * np.cos(np.arange(every.shape[1]))
    for form in problem.forms:
        points = every
        for step in (0.0, -aside, aside):
            leaves = environment(problem.coordinates, points + step)
            values, _ = form_values(form, leaves, len(points))
            points = points[~np.any(values, axis=0)]
            if not len(points):
                break
        else:
            names, place = ", ".join(problem.coordinates), ", ".join(f"{x:.3g}" for x in points[0])
            raise ProblemError(
                f"All coefficients of an equation vanish around ({names}) = ({place}): it says "
                "nothing about unknowns there. Leave that part out of the domain."
            )


def _is_elliptic(problem: Problem) -> bool:
    """Tell whether it is one equation of order two whose highest terms have one sign all over."""
    (form, *others), d = problem.forms, problem.domain.dimension
    if others or len(problem.unknowns) > 1 or d < 2 or form.order != 2:
        return False
    points = problem.domain.sample(TRUST.inside, "quasi")
    values, _ = form_values(form, environment(problem.coordinates, points), len(points))
    second = np.zeros((len(points), d, d))
    for term, value in zip(form.terms, values, strict=True):
        axes = [a for a, n in enumerate(term.orders) for _ in range(n)]
        if len(axes) == 2:
            second[:, axes[0], axes[1]] += value / 2
            second[:, axes[1], axes[0]] += value / 2
    signs = np.sign(np.linalg.eigvalsh(second))
    return bool(np.all(signs == signs[0, 0]) and signs[0, 0])


def left_free(problem: Problem) -> Outcome | None:
    """Return which constants or linear functions may be added to a solution; None if none.

    Each piece of a domain that does not touch the others is looked at by itself.
    """
    frames = separate_frames(problem.domain) if problem.domain.dimension > 1 else []
    found = (_undetermined_in(problem, frame) for frame in (frames if len(frames) > 1 else [None]))
    return next((outcome for outcome in found if outcome is not None), None)


def _undetermined_in(problem: Problem, frame: FloatArray | None) -> Outcome | None:
    """Return what may be added inside a box, everywhere if there is none."""
    rows = _rows(problem, frame)
    d = problem.domain.dimension
    constant = np.zeros(rows.shape[1], dtype=bool)
    constant[:: d + 1] = True
    shifts, motions = _null_space(rows[:, constant]), _null_space(rows)
    if not len(motions):
        return None
    names = np.array(problem.unknowns)
    said = [_shift_words(names[np.abs(s) > 1e-6]) for s in _one_by_one(shifts)]
    if len(motions) > len(shifts):
        slopes = motions.reshape(len(motions), len(names), d + 1)[:, :, 1:]
        turning = names[np.abs(slopes).max(axis=(0, 2)) > 1e-6]
        said.append(_motion_words(turning, d))
    where = ""
    if frame is not None:
        low, high = (", ".join(f"{x:.4g}" for x in corner) for corner in frame)
        where = f" in the piece between ({low}) and ({high})"
    said[-1] += where
    detail = f"Neither the equations nor the conditions determine the solution: {'; '.join(said)}."
    return Outcome(OutcomeKind.ILL_POSED, detail)


def _shift_words(names: FloatArray) -> str:
    return f"any constant may be added to {' and '.join(names)}"


def _motion_words(names: FloatArray, dimension: int) -> str:
    if len(names) > 1 and dimension > 1:
        return f"{', '.join(names[:-1])} and {names[-1]} can turn or tilt freely together"
    return f"a linear function may be added to {names[0]}"


def _one_by_one(shifts: FloatArray) -> FloatArray:
    """Return the free constants, of single unknowns where these are free for themselves."""
    if not len(shifts):
        return shifts
    single = np.flatnonzero(np.linalg.norm(shifts, axis=0) > 1 - 1e-6)
    if len(single) == len(shifts):
        return np.asarray(np.eye(shifts.shape[1])[single])
    return np.asarray(np.abs(shifts).max(axis=0)[None])


def _null_space(rows: FloatArray) -> FloatArray:
    """Return unit vectors on which all rows vanish, (k, columns)."""
    _, values, right = np.linalg.svd(rows, full_matrices=len(rows) < rows.shape[1])
    sizes = np.zeros(rows.shape[1])
    sizes[: len(values)] = values
    return np.asarray(right[sizes < ROUNDED * max(1.0, float(sizes.max()))])


def _rows(problem: Problem, frame: FloatArray | None) -> FloatArray:
    """Return all forms applied to 1, x, y, ... of each unknown, (rows, unknowns (d + 1))."""
    domain, more = problem.domain, 1 if frame is None else TRUST.piece
    inside = domain.sample(more * TRUST.inside, "grid")
    inside = inside[_within(inside, frame)]
    blocks = [_inserted(problem, form, inside) for form in problem.forms]
    stated: dict[tuple[Expression, ...], list[Condition]] = {}
    for condition in problem.conditions:
        stated.setdefault(condition.residuals, []).append(condition)
    for same in stated.values():
        faces = [domain.boundary(c.part, more * TRUST.beside) for c in same]
        points = np.concatenate([face.points for face in faces])
        normals = np.concatenate([face.normals for face in faces])
        own = _within(points, frame)
        blocks += [_inserted(problem, f, points[own], normals[own]) for f in same[0].forms]
    for further in problem.further:
        single = isinstance(further, PointCondition)
        points = np.array([further.point]) if isinstance(further, PointCondition) else inside
        points = points[_within(points, frame)]
        if not len(points):
            continue
        found = [_inserted(problem, form, points) for form in further.forms]
        blocks += found if single else [f.mean(axis=0, keepdims=True) for f in found]
    for i, seam in enumerate(domain.periodic_axes):
        if seam:
            tilt = np.zeros(domain.dimension + 1)
            tilt[i + 1] = 1.0
            blocks.append(np.asarray(np.kron(np.eye(len(problem.unknowns)), tilt), dtype=float))
    return np.concatenate(blocks)


def _within(points: FloatArray, frame: FloatArray | None) -> NDArray[np.bool_]:
    """Tell which points lie in a box."""
    if frame is None:
        return np.ones(len(points), dtype=bool)
    room = 1e-6 * np.ptp(frame, axis=0)
    return np.asarray(np.all((points >= frame[0] - room) & (points <= frame[1] + room), axis=1))


def _inserted(
    problem: Problem, form: LinearForm, points: FloatArray, normals: FloatArray | None = None
) -> FloatArray:
    """Return a form applied to 1 and to each coordinate over half the domain's length."""
    count, d = points.shape
    low, high = problem.domain.bounds
    half = 0.5 * (high - low)
    shifted = np.column_stack([np.ones(count), (points - 0.5 * (low + high)) / half])
    leaves = environment(problem.coordinates, points, normals)
    coefficients, _ = form_values(form, leaves, count)
    out = np.zeros((count, len(problem.unknowns), d + 1))
    size = np.zeros(count)
    for term, values in zip(form.terms, coefficients, strict=True):
        own = problem.unknowns.index(term.unknown)
        size += np.abs(values) / np.prod(half ** np.array(term.orders))
        if term.order == 0:
            out[:, own] += values[:, None] * shifted
        elif term.order == 1:
            axis = term.orders.index(1)
            out[:, own, axis + 1] += values / half[axis]
    largest = float(size.max(initial=0.0)) or 1.0
    return np.asarray(out.reshape(count, len(problem.unknowns) * (d + 1)) / largest)
