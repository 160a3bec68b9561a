"""How many kernels where: patches made from stretches, and how they grow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.even_kernels import checking_middles, even_kernels
from sharpfront.bases.line_basis import LineBasis
from sharpfront.bases.line_patch import LinePatch, line_patch
from sharpfront.estimate.line_error import ErrorCheck
from sharpfront.kernels.assemble import Block
from sharpfront.maps import MixtureAxis, mixture_axis
from sharpfront.mixture import Mixture
from sharpfront.place.line.settings import LINE
from sharpfront.place.line.subintervals import (
    Stretch,
    axis_of,
    features,
    looked_again,
    mixture_of,
    refitted,
    sides,
    sides_and_decades,
    split_stretch,
    with_places,
)
from sharpfront.problem.line_problem import LinearCondition, LineProblem
from sharpfront.rows.line_rows import condition_blocks


@dataclass(frozen=True, eq=False)
class Part:
    """A stretch, the mixture fitted to it, and the patch made of both."""

    stretch: Stretch
    mixture: Mixture | None
    patch: LinePatch


@dataclass(frozen=True, eq=False)
class Plan:
    """The parts from left to right."""

    parts: tuple[Part, ...]

    @property
    def patches(self) -> tuple[LinePatch, ...]:
        """The patches."""
        return tuple(part.patch for part in self.parts)

    @cached_property
    def kernels(self) -> int:
        """The number of kernels of all patches."""
        return sum(part.patch.kernels for part in self.parts)

    @cached_property
    def basis(self) -> LineBasis:
        """The patches as a basis."""
        return LineBasis(self.patches)

    def conditions(self, problem: LineProblem) -> list[Block]:
        """Return the unscaled rows of a problem's conditions, made once for all iterates."""
        stated, known = problem.conditions, self._rows
        if not known or known[0][0] is not stated:
            known[:] = [(stated, condition_blocks(problem, self.basis))]
        return known[0][1]

    @cached_property
    def _rows(self) -> list[tuple[tuple[LinearCondition, ...], list[Block]]]:
        """The conditions asked for last, with their rows."""
        return []

    @cached_property
    def mixture(self) -> Mixture | None:
        """The mixtures of all parts as one, weighted by the monitor's mass in each."""
        found = [(p.mixture, p.stretch.total) for p in self.parts if p.mixture is not None]
        if len(found) < 2:
            return found[0][0] if found else None
        shares = np.concatenate([m.weights * total for m, total in found])
        return Mixture(
            shares / shares.sum(),
            np.concatenate([m.means for m, _ in found]),
            np.concatenate([m.covariances for m, _ in found]),
        )


def rung(kernels: float) -> int:
    """Return the first number of the ladder that is not below `kernels`."""
    step = math.ceil(math.log(max(kernels, 30.0) / 40.0) / math.log(LINE.ladder) - 1e-9)
    return round(40.0 * LINE.ladder**step)


def start_number(stretch: Stretch, c: MixtureAxis, tol: float) -> int:
    """Return the kernels of a first solve, before anything is known but what was discovered.

    A few for the smooth part, for each feature some and more for every decade between its scale and
    the stretch, four times as many for a front as for a layer at an end, some for each swing of u;
    a smaller tolerance takes proportionally more. Only the work depends on this number, never the
    answer's trust.
    """
    digits = min(max(-math.log10(tol) / LINE.digits, LINE.least_share), LINE.most_share)
    graded_sides = sides_and_decades(c)
    swings = max(float(np.add.reduce(stretch.swings)) - sum(n for n, _ in graded_sides), 0.0)
    graded = sum(
        n * n * (LINE.for_feature + LINE.for_decade * min(decades, LINE.decades))
        for n, decades in graded_sides
    )
    smooth = max(LINE.smooth, LINE.beside + graded)
    return rung(digits * (smooth + LINE.for_swing * swings))


def first_plan(stretches: Sequence[Stretch], tol: float, components: int, order: int) -> Plan:
    """Return parts with at most so many components and kernels each."""
    total = sum(s.total for s in stretches) + 1e-300
    queue, done = list(stretches), []
    while queue:
        stretch = queue.pop(0)
        small = len(stretch.mass) <= LINE.fewest_cells
        mixture = mixture_of(stretch, total, components + 1)
        c = axis_of(stretch, mixture)
        if c.components > components and (small or len(features(c)[0]) == 1):
            # There is nothing to split between: the same feature with fewer components.
            mixture = mixture_of(stretch, total, components)
            c = axis_of(stretch, mixture)
        kernels = start_number(stretch, c, tol)
        crowded = c.components > components or kernels > LINE.piece_kernels
        if crowded and not small:
            queue = [*split_stretch(stretch, c), *queue]
        else:
            done.append(Part(stretch, mixture, line_patch(c, kernels, stretch.inside, order)))
    return Plan(tuple(done))


def even_plan(interval: tuple[float, float], order: int, max_kernels: int) -> Plan:
    """Return one piece without features, for an answer that will be refused."""
    edges = np.linspace(*interval, LINE.fewest_cells + 1)
    nothing = np.zeros(LINE.fewest_cells)
    stretch = Stretch(*interval, interval, edges, nothing, nothing)
    kernels = min(rung(60), max_kernels)
    patch = line_patch(mixture_axis(*interval), kernels, interval, order)
    return Plan((Part(stretch, None, patch),))


def within(plan: Plan, max_kernels: int) -> Plan:
    """Return the plan scaled down to the limit, as far as the smallest rung allows.

    One part alone goes below the ladder where the limit does.
    """
    if plan.kernels <= max_kernels:
        return plan
    if len(plan.parts) == 1 and max_kernels < rung(0.0):
        return Plan((_resized(plan.parts[0], max_kernels),))
    share = max_kernels / plan.kernels / LINE.ladder
    return Plan(tuple(_resized(part, rung(part.patch.kernels * share)) for part in plan.parts))


def finer(plan: Plan) -> Plan:
    """Return the plan with as many more kernels in every part as a step may add."""
    return Plan(tuple(_resized(p, rung(LINE.growth * p.patch.kernels)) for p in plan.parts))


def _resized(part: Part, kernels: int) -> Part:
    return replace(part, patch=replace(part.patch, functions=(kernels,)))


def grown(
    plan: Plan, growth: FloatArray, tol: float, check: ErrorCheck, components: int, refit: bool
) -> Plan:
    """Return more kernels where growth > 1; a part that would hold too many is split.

    With `refit` the mixtures of growing parts are fitted anew: kernels alone did not help, so they
    have missed something.
    """
    parts: list[Part] = []
    for part, factor in zip(plan.parts, growth, strict=True):
        old = part.patch.kernels
        kernels = max(rung(old * factor), rung(old * 1.1)) if factor > 1.0 else old
        if factor > 1.0 and refit:
            seen = looked_again(part.stretch, check)
            part = _placed(part, seen, refitted(seen, components))
            kernels = max(kernels, rung(old * LINE.refit_growth))
        most = _most_kernels(part.patch.axis)
        if kernels <= most or _indivisible(part.stretch):
            # What cannot be divided stays at its limit: its QR would cost the cube of more.
            parts.append(_resized(part, min(kernels, max(rung(most / LINE.ladder), old))))
        else:
            parts += _halves(part, kernels, tol, check, components)
    return Plan(tuple(parts))


def _placed(part: Part, stretch: Stretch, mixture: Mixture | None) -> Part:
    return Part(stretch, mixture, replace(part.patch, maps=(axis_of(stretch, mixture),)))


def with_features(
    plan: Plan, places: FloatArray, widths: FloatArray, tol: float, components: int
) -> Plan:
    """Return the plan with features at places that the mixtures know nothing of."""
    parts = []
    for part in plan.parts:
        stretch = part.stretch
        own = (places >= stretch.low) & (places <= stretch.high)
        if own.any():
            told = with_places(stretch, places[own], widths[own])
            part = _placed(part, told, mixture_of(told, told.total, components))
            least = start_number(part.stretch, part.patch.axis, tol)
            part = _resized(part, max(part.patch.kernels, least))
        parts.append(part)
    return Plan(tuple(parts))


def _most_kernels(c: MixtureAxis) -> float:
    """Return the kernels a piece may hold: twice as many around a single feature."""
    return LINE.piece_kernels * (2.1 if 0 < sides(c) <= 2 else 1.02)


def _indivisible(stretch: Stretch) -> bool:
    short = stretch.high - stretch.low < 1e-12 * (abs(stretch.low) + abs(stretch.high))
    return short or len(stretch.mass) < LINE.fewest_cells


def _halves(part: Part, kernels: int, tol: float, check: ErrorCheck, components: int) -> list[Part]:
    """Return the two halves of a part, each with its mixture fitted anew."""
    patch, out = part.patch, []
    ratio = kernels / start_number(part.stretch, patch.axis, tol)
    for half in split_stretch(part.stretch, patch.axis):
        seen = looked_again(half, check)
        mixture = refitted(seen, components)
        c = axis_of(seen, mixture)
        number = min(rung(ratio * start_number(seen, c, tol)), rung(_most_kernels(c) / LINE.ladder))
        out.append(Part(seen, mixture, line_patch(c, number, seen.inside, patch.order)))
    return out


def slowness(kernels: Sequence[int], errors: Sequence[float]) -> float:
    """Return how many times more kernels the last digits took than those before, at least one."""
    if len(kernels) < 2 or not 0.0 < errors[-1] < errors[-2] < 0.1:
        return 1.0
    gained = math.log(errors[-1]) / math.log(errors[-2]) - 1.0
    return min(max((kernels[-1] / kernels[-2] - 1.0) / max(gained, 1e-3), 1.0), LINE.slowest_digits)


def wanted_growth(
    plan: Plan, check: ErrorCheck, error: float, tol: float, safety: float, slow: float = 1.0
) -> FloatArray:
    """Return the growth of each part from its own share of the error.

    The logarithm of the error is taken as linear in the number of kernels, from 1 at none, or
    `slow` times less steep from here on. Beside an end, beyond which there is nothing to fit, it
    goes as the root of that number, and the growth is squared.
    """
    shares = np.full(len(plan.parts), error)
    if len(shares) > 1:
        found = safety * _shares(plan, check) / max(1.0, check.size)
        shares = found if found.max() >= 0.3 * tol else shares
    digits = np.maximum(-np.log10(np.maximum(shares, 1e-300)), 1.0)
    wanted = np.clip(1.0 + slow * (-math.log10(0.5 * tol) / digits - 1.0), LINE.ladder, LINE.growth)
    # One rung more costs less than another solve, which half a digit too few would take.
    squared = np.clip(-math.log10(0.2 * tol) / digits, 1.0, LINE.growth) ** 2
    # What takes more than a part should hold is to be fitted in other coordinates.
    squared = np.minimum(squared, [LINE.piece_kernels / p.kernels for p in plan.patches])
    at_end = np.logical_and(_left_at_ends(plan, check), digits > LINE.settled)
    wanted = np.where(at_end, np.maximum(wanted, squared), wanted)
    return np.where(shares > 0.3 * tol, wanted, 1.0)


def _left_at_ends(plan: Plan, check: ErrorCheck) -> list[bool]:
    """Tell of each part whether half its kernels would leave the most of u at an end of it."""
    out, stop = [], 0
    for part in plan.parts:
        s, basis = _fewer(part.patch.kernels)
        start, stop = stop, stop + len(s)
        u = check.values[start:stop]
        left = np.abs(u - basis @ (u @ basis))
        most = int(left.argmax())
        # Where they would leave less than there is, the error is not that of a fit.
        out.append(min(s[most], 1.0 - s[most]) < LINE.end and left[most] > check.error)
    return out


@lru_cache(maxsize=64)
def _fewer(kernels: int) -> tuple[FloatArray, FloatArray]:
    """Return the checking points of a piece, and there a basis of what half its kernels are."""
    s = checking_middles(kernels)
    return s, np.linalg.qr(even_kernels(max(1, kernels // 2)).table(s, 0)[0])[0]


def _shares(plan: Plan, check: ErrorCheck) -> FloatArray:
    """Return the error that the residual of each part alone would cause.

    Many parts are taken in MANY groups of distant ones, each answering for the error inside itself.
    """
    count = len(plan.parts)
    lows = np.array([p.patch.axis.low for p in plan.parts[1:]])
    home = np.searchsorted(lows, check.grid.middles)
    starts = np.searchsorted(home, np.arange(count))
    zero, shares = np.zeros(len(check.misses)), np.zeros(count)
    for group in range(min(count, LINE.many)):
        r = np.where(home % LINE.many == group, check.residual, 0.0)
        e = np.abs(check.system.solve_u(r[0], zero, r[1] if len(r) > 1 else None))
        own = slice(group, None, LINE.many)
        shares[own] = np.maximum.reduceat(e[1:], starts)[own] if count > LINE.many else e.max()
    return shares
