"""The state of a run at one moment."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.equations import TimeSystem
from sharpfront.evolve.quadrature_table import Place, chain_table, room_of
from sharpfront.evolve.slab import leaves_at
from sharpfront.evolve.tracking import Profile, Shape, as_components, searched, trial_error
from sharpfront.mixture import Mixture
from sharpfront.pieces.coordinate import Coordinate
from sharpfront.pieces.motion import Components, Motion
from sharpfront.pieces.ring import Ring
from sharpfront.pieces.slabs import kernels_of

# Points of a profile for each kernel.
FINE = 4


@dataclass(frozen=True, eq=False)
class Moment:
    """Kernels, where they are, and the weights of the unknowns.

    Parameters
    ----------
    system
        What is marched.
    t
        When.
    kernels
        N.
    mixture
        The components.
    shape
        How the mixture is made into the coordinate.
    zero
        On a circle, where xi is zero.
    weights
        (m, K).
    """

    system: TimeSystem
    t: float
    kernels: int
    mixture: Mixture
    shape: Shape
    zero: float
    weights: FloatArray

    @property
    def components(self) -> Components:
        """The components as the coordinate uses them."""
        return as_components(self.mixture, self.shape, self.system.high - self.system.low)

    @cached_property
    def still(self) -> Motion:
        """The coordinate, not moving."""
        return self.motion(self, self.t + 1.0)

    def motion(self, stop: Moment, until: float) -> Motion:
        """Return the moving coordinate from here to the components of another moment."""
        system = self.system
        return Motion(
            system.low,
            system.high,
            (self.t, until),
            self.components,
            stop.components,
            system.periodic,
            (self.zero, stop.zero),
        )

    @cached_property
    def where(self) -> Coordinate | Ring:
        """The coordinate."""
        return self.still.at(self.t)

    def values(self, x: FloatArray) -> FloatArray:
        """Return the unknowns at positions, (m, n)."""
        xi = self.where.xi(self.where.nearest(x))
        functions = kernels_of(self.kernels, self.system.periodic)
        return np.asarray(functions.sums(xi, self.weights.T, 0)[0].T)

    @cached_property
    def better_shape(self) -> Shape:
        """The best shape of the coordinate one step from the present one, by trial fits."""

        def miss(shape: Shape) -> float:
            return trial_error(replace(self, shape=shape).still, self.values, self.kernels)

        return searched(self.shape, miss, better=0.7, most=1)

    @cached_property
    def profile(self) -> Profile:
        """The unknowns, their slopes and rates on a fine grid, from the equation."""
        system, order = self.system, self.system.order
        xi = fine_points(self.kernels)
        points = self.where.invert(xi)
        slopes = self.where.derivatives(points, order)
        here = Place(
            points.x[None],
            slopes[:1],
            np.zeros((1, len(xi))),
            chain_table(slopes, order)[:, :, None],
        )
        tables = fine_tables(self.kernels, order, system.periodic)
        now, still = self.weights[None], np.zeros_like(self.weights)[None]
        leaves = leaves_at(system, tables, here, np.array([self.t]), now, still)
        values = np.stack([leaves["derivative", n, (0, 0)] for n in system.names])
        slope = np.stack([leaves["derivative", n, (1, 0)] for n in system.names])
        rates = self._rates(leaves, len(xi))
        length = system.high - system.low
        return Profile(points.x, values, slope, rates, length, system.periodic)

    def _rates(self, leaves: dict[tuple[object, ...], FloatArray], count: int) -> FloatArray:
        """Return u_t of each unknown where the equations hold exactly, (m, n)."""
        names = self.system.names
        mass = np.zeros((count, len(names), len(names)))
        left = np.zeros((count, len(names)))
        for i, equation in enumerate(self.system.equations):
            left[:, i] = equation.at(leaves, count)
            tangents = equation.tangents(leaves, count)
            for term, values in zip(equation.terms, tangents, strict=True):
                if term.orders[1]:
                    mass[:, i, names.index(term.unknown)] = values
        try:
            return np.asarray(-np.linalg.solve(mass, left[:, :, None])[:, :, 0].T)
        except np.linalg.LinAlgError:
            return np.zeros((len(names), count))

    def placed(self, mixture: Mixture, shape: Shape, kernels: int) -> Moment:
        """Return the same functions on other kernels, by least squares."""
        new = replace(self, mixture=mixture, shape=shape, kernels=kernels)
        if self.system.periodic:
            kernels |= 1
            new = replace(new, kernels=kernels)
        tables = room_of(self.system, kernels)
        found = self.values(new.where.invert(tables.points).x)
        return replace(new, weights=found @ tables.projector.T)


@lru_cache(maxsize=48)
def fine_points(kernels: int) -> FloatArray:
    """Return the positions of a profile in xi."""
    return np.asarray(np.arange(FINE * kernels + 1) / (FINE * kernels))


@lru_cache(maxsize=48)
def fine_tables(kernels: int, order: int, periodic: bool) -> FloatArray:
    """Return the functions at the positions of a profile."""
    return kernels_of(kernels, periodic).table(fine_points(kernels), order).values
