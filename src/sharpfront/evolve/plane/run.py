"""A run in products of kernels: what it goes for, its state between two slabs, and a slab."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.product import Product
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.evolve.plane.component_motion import ComponentShift, Rates
from sharpfront.evolve.plane.defect import ErrorSystem
from sharpfront.evolve.plane.galerkin import Galerkin, Space
from sharpfront.evolve.plane.quadrature import Square
from sharpfront.evolve.plane.slab import SlabFactors, Stages
from sharpfront.evolve.plane_error_growth import PlaneErrorGrowth
from sharpfront.evolve.time_events import TimeEvents
from sharpfront.geometry import Domain
from sharpfront.maps import MovingSquare


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
    watched: FloatArray  # points at which data are looked at, (m, 2)
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
class ProductState:
    """A run between two slabs."""

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
    placed: tuple[ComponentShift, ComponentShift]  # leans of the components when they were placed
    # Rates at the start of the slab before, and its length; None at the start.
    before: tuple[tuple[Rates, Rates], float] | None = None
    # Systems of a slab before, and how fast Newton's updates fell with them.
    factors: SlabFactors | None = None
    errors: ErrorSystem | None = None
    rate: float = np.inf
    limited: bool = False  # whether more kernels were needed than there may be
    # What the next slab goes for, and the bound of the error before it; None if not known yet.
    counted: tuple[Aim, float] | None = None


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
    after: ProductState


def functions_of(domain: Domain, layout: MovingSquare, product: Product) -> Space:
    """Return the functions of a layout on a domain."""
    return Space(Square(domain, layout, product))
