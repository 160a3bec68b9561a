"""Slab after slab: move the components, solve the stages, estimate the error, go on or try again.

A march is a value: a slab that is broken off leaves no trace, and what is needed to go on from it
to the same bits can be written down (`checkpoint`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.product import Product
from sharpfront.bases.radau import STAGES, interpolation_rate, legendre, stage_nodes
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.evolve.plane.component_motion import ComponentShift, Rates, leans, moved, rates
from sharpfront.evolve.plane.defect import ErrorSystem, error_system, lifted, richer
from sharpfront.evolve.plane.galerkin import Galerkin
from sharpfront.evolve.plane.quadrature import Square
from sharpfront.evolve.plane.slab import SlabFactors, Stages, factored, solve_slab
from sharpfront.evolve.plane.trial_space import Space
from sharpfront.evolve.plane_error_growth import PlaneErrorGrowth
from sharpfront.evolve.termination import StuckError
from sharpfront.evolve.time_events import TimeEvents
from sharpfront.geometry import Domain
from sharpfront.maps import MovingSquare
from sharpfront.trust.between_stages import between

# Parts of the tolerance: for a slab's last coefficient in time, the same of a slab that is taken
# all the same, and for Newton's last update.
IN_TIME, TAKEN, LAST_UPDATE = 0.1, 0.5, 1e-3
# What of the last coefficient in time is taken for an error at the end of the slab.
LEFT_BEHIND = 0.1
# What the richer products do not see of an error: the truth was 0.6 to 1.6 times what they do.
UNSEEN_ERROR = 1.5
# The shortest slab beside the span, by how much slabs grow and shrink, and by how much one that
# Newton's method does not solve.
SHORTEST_SLAB, SLAB_GROWS, SLAB_SHRINKS, UNSOLVED = 1e-7, 2.0, 0.2, 0.3
# A slab's length is kept, and its systems with it, while the best one is within these factors.
KEPT_SLAB = (0.95, 1.4)
# Systems of a slab before are used again while Newton's updates fall by this factor, and for slabs
# that may be longer by up to the inverse of the other: one that needs none takes a quarter of the
# time.
GOOD_UPDATE, USED_AGAIN = 0.2, 0.6


class Limits(NamedTuple):
    """The most kernels, and the most components along an axis."""

    kernels: int
    components: int


@dataclass(frozen=True, eq=False)
class Aim:
    """What a march goes for: tolerance, size of the solution, what happens when, how much of it."""

    system: PlaneSystem
    tol: float
    scale: float
    agenda: TimeEvents
    limits: Limits
    part: float = 1.0  # of the tolerance: what a run goes for where errors grow on the way

    @property
    def domain(self) -> Domain:
        """Where."""
        return self.system.problem.domain

    @property
    def span(self) -> tuple[float, float]:
        """Start and stop."""
        span = self.system.problem.time
        assert span is not None
        return span

    @cached_property
    def _swelling(self) -> PlaneErrorGrowth:
        return PlaneErrorGrowth(self.system.problem)

    @property
    def size(self) -> float:
        """The largest error that a run goes for."""
        return self.part * self.tol * self.scale

    def counted(self, points: FloatArray, values: FloatArray, t: float) -> Aim:
        """Return the aim from a moment on, where errors grow later; values are at points (m, 2)."""
        size = float(np.abs(values).max()) / self.scale
        ahead = self.agenda.ahead(t, self.span[1])
        shares = self._swelling.shares(points, values[None], np.array([size]), ahead, self.span[1])
        return replace(self, scale=self.scale * float(shares[0]))

    def share(self, t: float) -> float:
        """Return the part of the span before a moment."""
        return (t - self.span[0]) / (self.span[1] - self.span[0])


@dataclass(frozen=True, eq=False)
class March:
    """Where a march stands between two slabs."""

    # The time reached and the next slab's length.
    t: float
    dt: float
    # The functions, at rest at t.
    layout: MovingSquare
    product: Product
    # Of the solution at t and of its rate in the moving coordinates, (size,).
    weights: FloatArray
    slope: FloatArray
    error: FloatArray  # weights of the error in richer products
    lost: float  # errors of transfers and of polynomials in time so far
    # Leans of the components when they were placed, the number of products then, and when.
    placed: tuple[ComponentShift, ComponentShift]
    size: int
    since: float
    # Rates at the start of the slab before, and its length; None after a placement.
    before: tuple[tuple[Rates, Rates], float] | None = None
    # Systems of a slab before, and how fast Newton's updates fell with them.
    factors: SlabFactors | None = None
    errors: ErrorSystem | None = None
    rate: float = np.inf
    limited: bool = False  # whether more kernels were needed than there may be


class SlabError(NamedTuple):
    """Bounds of the error at the end of a slab, and of what its stages do not see."""

    largest: float
    with_all_kernels: float  # what is left of the largest if the slab's own residual were zero
    unseen: float


@dataclass(frozen=True, eq=False)
class Slab:
    """A slab that was solved: its functions, stages, error at the end, and how it went."""

    galerkin: Galerkin
    stages: Stages
    dt: float
    in_time: float
    error: SlabError
    after: March


def functions_of(domain: Domain, layout: MovingSquare, product: Product) -> Space:
    """Return the functions of a layout on a domain."""
    return Space(Square(domain, layout, product))


def attempt(march: March, aim: Aim) -> Slab | float:
    """Return the next slab, or the length to try instead."""
    dt = _length(march, aim)
    galerkin, motion = _set_in_motion(aim.system, march, dt)
    stages, march = _stages(galerkin, march, dt, LAST_UPDATE * aim.size)
    if not stages.converged:
        return UNSOLVED * dt
    square = galerkin.square
    last = legendre()[-1] @ stages.states
    in_time = square.largest(last)
    factor = _slab_factor(in_time, aim)
    if in_time > TAKEN * aim.size:
        return dt * min(factor, 0.9)
    march, error = _estimated(galerkin, march, stages.states, last, aim)
    if error.unseen > TAKEN * aim.size:
        return dt * min(_slab_factor(error.unseen, aim), 0.9)
    after = replace(
        march,
        t=aim.agenda.settled(march.t + dt, aim.span[1]),
        dt=dt if KEPT_SLAB[0] < factor < KEPT_SLAB[1] else dt * factor,
        layout=square.layout.at(dt),
        weights=stages.states[-1],
        slope=interpolation_rate(np.ones(1))[0] @ stages.states / dt,
        lost=march.lost + LEFT_BEHIND * in_time,
        before=(motion, dt),
    )
    return Slab(galerkin, stages, dt, in_time, error, after)


def _length(march: March, aim: Aim) -> float:
    """Return the slab's length: not past what must not be jumped over, and leaving no short one.

    That of the systems at hand is taken if it is not much shorter than what is allowed.
    """
    stops = aim.agenda.stops[aim.agenda.stops > march.t]
    left = float(np.append(stops, aim.span[1])[0]) - march.t
    length = min(march.dt, aim.agenda.longest(march.t))
    if length >= left * (1.0 - 1e-9):
        return left
    if march.dt < SHORTEST_SLAB * (aim.span[1] - aim.span[0]):
        raise StuckError(f"slabs of time got as short as {march.dt:.1e} without being solved")
    if march.factors is not None and USED_AGAIN * length <= march.factors.dt <= length:
        length = march.factors.dt
    # Of how much varies in a step `longest` has seen to it: only crumbs before a stop are halved.
    return 0.5 * left if length > 0.5 * left else length


def _set_in_motion(
    system: PlaneSystem, march: March, dt: float
) -> tuple[Galerkin, tuple[Rates, Rates]]:
    """Return the functions over a slab, and the components' rates at its start."""
    domain = system.problem.domain
    space = functions_of(domain, march.layout, march.product)
    square, galerkin = space.square, Galerkin(system, space, march.t)
    if not any(m.moving.count for m in square.maps):
        if march.factors is not None:
            galerkin = Galerkin(system, march.factors.galerkin.space, march.t)
        return galerkin, (NO_RATES, NO_RATES)
    still = Galerkin(system, functions_of(domain, square.layout.still(), march.product), march.t)
    motion = rates(still, march.weights)
    now = leans(square, march.weights)
    maps = []
    for i, where in enumerate(square.maps):
        before = (march.before[0][i], march.before[1]) if march.before else None
        maps.append(moved(where, motion[i], before, (march.placed[i], now[i]), dt))
    moving = functions_of(domain, MovingSquare(square.axes, (maps[0], maps[1])), march.product)
    return Galerkin(system, moving, march.t), motion


def _stages(galerkin: Galerkin, march: March, dt: float, close: float) -> tuple[Stages, March]:
    """Return the stages, and the march with the systems that gave them."""
    guess = march.weights + dt * stage_nodes()[:, None] * march.slope
    old = march.factors
    if old is not None and abs(old.dt - dt) <= 1e-9 * dt and march.rate < GOOD_UPDATE:
        stages = solve_slab(galerkin, march.weights, guess, old, close)
        if stages.converged:
            return stages, replace(march, rate=stages.rate)
    factors = factored(galerkin, march.weights + 0.5 * dt * march.slope, march.slope, dt)
    stages = solve_slab(galerkin, march.weights, guess, factors, close)
    return stages, replace(march, factors=factors, errors=None, rate=stages.rate)


def _slab_factor(in_time: float, aim: Aim) -> float:
    """Return by how much the next slab should be longer."""
    best = (IN_TIME * aim.size / max(in_time, np.finfo(float).tiny)) ** (1.0 / (STAGES + 1))
    return float(np.clip(0.9 * best, SLAB_SHRINKS, SLAB_GROWS))


def _estimated(
    galerkin: Galerkin, march: March, states: FloatArray, last: FloatArray, aim: Aim
) -> tuple[March, SlabError]:
    """Return the march with its error at a slab's end, and how large that is.

    `last` is the slab's last coefficient in time. A part of it is left behind, and grows with the
    rest of the error.
    """
    assert march.factors is not None
    dt = march.factors.dt
    product = richer(galerkin.square.product)
    wide_states = lifted(states, galerkin.square.product, product)
    if march.errors is not None and not galerkin.square.moves:
        space = march.errors.galerkin.space
    else:
        square = galerkin.square
        space = functions_of(square.domain, square.layout, product)
    wide = Galerkin(galerkin.system, space, galerkin.start)
    errors = march.errors or error_system(wide, wide_states, dt)
    s = between(march.t, march.t + dt, aim.span) if aim.system.hides else np.zeros(0)
    tested = errors.tested(wide, wide_states, s)
    missed = errors.unseen(wide, tested, s)
    rest = errors.carried(wide, march.error) + missed.weights
    rest = rest + LEFT_BEHIND * lifted(last, galerkin.square.product, product)
    error = rest + errors.added(wide, tested)
    whole, left = (UNSEEN_ERROR * space.square.largest(e, dt) for e in (error, rest))
    return replace(march, errors=errors, error=error), SlabError(whole, left, missed.largest)


NO_RATES = Rates(np.zeros(0), np.zeros(0), np.zeros(0))
