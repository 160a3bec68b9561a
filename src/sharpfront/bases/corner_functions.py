"""Functions that solutions of one equation are made of at a corner.

About a corner of angle w one of second order is a smooth function and a sum of r^a sin(a t), a =
pi / w, 2 pi / w, ..., or of the same with cosines, or where a is a whole number of r^a (log(r)
sin(a t) + t cos(a t)). All of these are imaginary or real parts of z^a or z^a log z in a complex
coordinate z that is linear in x and y, in which the equation's second derivatives are Laplace's.
Its other terms add to each of them what is smoother: powers of z and of its conjugate. Those of
plates have complex powers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import Flags, FloatArray
from sharpfront.kernels import Orders
from sharpfront.rounding import SAME

ComplexArray = NDArray[np.complex128]
# At the corner itself slopes are those so far away from it, in units of the domain.
NEAREST = 1e-15
# From FADED on what fades is nothing, also with the largest powers; in files FADES stands for it.
FADED, FADES = 7.0, -1.0


class Term(NamedTuple):
    """z^power conj(z)^conjugate, or that times log z."""

    power: complex
    conjugate: int
    logarithmic: bool

    @property
    def order(self) -> float:
        """The power of the distance to the corner."""
        return self.power.real + self.conjugate

    def derivative(self, logarithm: ComplexArray, plain: int, mirrored: int) -> ComplexArray:
        """Return a derivative along z and its conjugate, so often each, from log z."""
        first, second = (1.0 + 0j, 0.0 + 0j) if self.logarithmic else (0.0 + 0j, 1.0 + 0j)
        power, factor = self.power, float(math.perm(self.conjugate, mirrored))
        for _ in range(plain):
            first, second, power = first * power, second * power + first, power - 1.0
        rest = self.conjugate - mirrored
        size = np.exp(power * logarithm + rest * logarithm.conjugate())
        return np.asarray(factor * (first * logarithm + second) * size)


class SharedFunctions(Protocol):
    """Functions of all patches together: of a corner, or of an edge."""

    @property
    def size(self) -> int:
        """How many."""

    @property
    def place(self) -> tuple[float, ...]:
        """A point that they belong to."""

    @property
    def terms(self) -> tuple[Term, ...]:
        """What they are made of."""

    def values(
        self, points: FloatArray, orders: Orders, beside: FloatArray | None = None
    ) -> FloatArray:
        """Return a derivative of each function at points, (m, functions).

        `beside` has a point inside the patch of each, or of all of them: it tells from which side
        functions are looked at that jump.
        """

    def state(self) -> FloatArray:
        """Return all as numbers."""


@dataclass(frozen=True, eq=False)
class CornerFunctions:
    """Imaginary parts of sums of terms at one corner."""

    place: tuple[float, float]  # of the corner
    # z is the sum of these times the distances from the corner along x and y.
    slopes: tuple[complex, complex]
    cut: float  # the angle of z at which functions jump, outside the domain
    terms: tuple[Term, ...]
    factors: ComplexArray  # of each term in each function, (functions, terms)
    # Angles of z from which on other factors hold, ascending: where materials meet.
    further: tuple[tuple[float, ComplexArray], ...] = ()
    # Convex quadrilaterals with ends in a circle that patches lie in or outside of, (k, 4, 2):
    # functions are zero on patches outside. None where they are functions of all patches.
    support: FloatArray | None = None
    # Whether they fade away from the corner: terms are times e^(-|z|^2).
    fades: bool = False
    # A point inside the hole on whose rim the corner lies: log z is log(z / (z - pole)) there, and
    # its angle jumps on the way to it only.
    pole: complex | None = None

    @property
    def size(self) -> int:
        """The number of functions."""
        return len(self.factors)

    def has(self, points: FloatArray) -> Flags:
        """Tell which points lie where functions are not zero."""
        return (
            np.ones(len(points), dtype=bool)
            if self.support is None
            else _in_any(self.support, points)
        )

    def values(
        self, points: FloatArray, orders: Orders, beside: FloatArray | None = None
    ) -> FloatArray:
        """Return a derivative of each function at points, (m, functions)."""
        if self.support is None:
            return np.asarray((self.table(points, orders) @ self.factors.T).imag)
        beside = points if beside is None else beside
        held = self.has(beside)
        if not held.any():
            return np.zeros((len(points), self.size))
        toward = self._logarithm(beside).imag
        if not self.further:
            table = self._table(points, self._beside_cut(points, toward), orders)
            return np.asarray(np.where(held[:, None], (table @ self.factors.T).imag, 0.0))
        sector = np.searchsorted([start for start, _ in self.further], toward, side="right")
        every = [self.factors, *(factors for _, factors in self.further)]
        if len(beside) == 1:
            table = self._table(points, self._logarithm(points, toward), orders)
            return np.asarray((table @ every[int(sector[0])].T).imag)
        out = np.zeros((len(points), self.size))
        for i, factors in enumerate(every):
            here = held & (sector == i)
            table = self._table(points[here], self._logarithm(points[here], toward[here]), orders)
            out[here] = (table @ factors.T).imag
        return out

    def _logarithm(self, points: FloatArray, toward: FloatArray | None = None) -> ComplexArray:
        """Return log z at points, its angle between the cut and a whole turn before it.

        Or within half a turn of given ones.
        """
        x, y = (points - np.array(self.place)).T
        z = self.slopes[0] * x + self.slopes[1] * y
        middle = self.cut - np.pi if toward is None else toward
        angle = np.angle(z * np.exp(-1j * middle)) + middle
        return np.asarray(np.log(np.maximum(np.abs(z), NEAREST)) + 1j * angle)

    def _beside_cut(self, points: FloatArray, toward: FloatArray) -> ComplexArray:
        """Return log z at points, on the cut itself from the side where given angles are."""
        out = self._logarithm(points)
        around = np.round((toward - out.imag) / (2 * np.pi))
        on_cut = np.abs(np.sin(0.5 * (out.imag - self.cut))) < SAME
        return np.asarray(out + 2j * np.pi * np.where(on_cut, around, 0.0))

    def _table(self, points: FloatArray, logarithm: ComplexArray, orders: Orders) -> ComplexArray:
        """Return a derivative of each term at points with given log z, (m, terms)."""
        if self.pole is not None:
            return self._about_hole(logarithm, self.pole, orders)
        out = np.zeros((len(points), len(self.terms)), dtype=complex)
        near = logarithm.real < math.log(FADED) if self.fades else np.ones(len(points), dtype=bool)
        some = logarithm[near]
        for (plain, mirrored), factor in self._faded_chain(some, orders).items():
            for k, term in enumerate(self.terms):
                if mirrored <= term.conjugate:
                    out[near, k] += factor * term.derivative(some, plain, mirrored)
        smooth = np.array([term.order > sum(orders) for term in self.terms])
        out[np.ix_(np.all(points == self.place, axis=1), smooth)] = 0.0
        return out

    def _about_hole(self, logarithm: ComplexArray, pole: complex, orders: Orders) -> ComplexArray:
        """Return a derivative of log(z / (z - pole)), (m, 1)."""
        away = np.exp(logarithm) - pole
        if not any(orders):
            return np.asarray(np.log(np.exp(logarithm) / away)[:, None])
        (term,) = self.terms
        out = np.zeros(len(away), dtype=complex)
        for (plain, mirrored), factor in self.chain(orders).items():
            if not mirrored:
                parts = (term.derivative(own, plain, 0) for own in (logarithm, np.log(away)))
                out += factor * np.subtract(*parts)
        return out[:, None]

    def table(self, points: FloatArray, orders: Orders) -> ComplexArray:
        """Return a derivative of each term at points, (m, terms)."""
        return self._table(points, self._logarithm(points), orders)

    def _faded_chain(
        self, logarithm: ComplexArray, orders: Orders
    ) -> dict[tuple[int, int], ComplexArray]:
        """Return the factors of derivatives of bare terms at points: Leibniz's rule."""
        chain = {k: np.asarray(c) for k, c in self.chain(orders).items()}
        if not self.fades:
            return chain
        z = np.exp(logarithm)
        out: dict[tuple[int, int], ComplexArray] = {}
        for (plain, mirrored), factor in chain.items():
            for i, j in itertools.product(range(plain + 1), range(mirrored + 1)):
                times = math.comb(plain, i) * math.comb(mirrored, j)
                fade = factor * times * _fade(z, plain - i, mirrored - j)
                out[i, j] = out.get((i, j), 0.0) + fade
        return out

    def chain(self, orders: Orders) -> dict[tuple[int, int], complex]:
        """Return the factors of derivatives along z and its conjugate in one along x and y."""
        out = {(0, 0): 1.0 + 0.0j}
        for slope, times in zip(self.slopes, orders, strict=True):
            for _ in range(times):
                once: dict[tuple[int, int], complex] = {}
                for (i, j), c in out.items():
                    once[i + 1, j] = once.get((i + 1, j), 0.0) + slope * c
                    once[i, j + 1] = once.get((i, j + 1), 0.0) + slope.conjugate() * c
                out = once
        return out

    def state(self) -> FloatArray:
        """Return all as numbers: those of the corner, a row for each term, where they are held."""
        slopes = [p for slope in self.slopes for p in (slope.real, slope.imag)]
        every = np.concatenate([self.factors, *(factors for _, factors in self.further)])
        angles = [angle for angle, _ in self.further] + [FADES] * self.fades
        own = [*self.place, *slopes, self.cut, self.size, *angles]
        held = np.zeros((0, 8)) if self.support is None else self.support.reshape(-1, 8)
        width = 4 + 2 * len(every)
        out = np.zeros((1 + len(self.terms) + len(held), max(width, len(own), 9)))
        out[0, : len(own)] = own
        rows, last = out[1 : 1 + len(self.terms)], out[1 + len(self.terms) :]
        rows[:, :4] = [(t.power.real, t.power.imag, *t[1:]) for t in self.terms]
        rows[:, 4:width:2], rows[:, 5:width:2] = every.real.T, every.imag.T
        # No term has a power that is no number, or infinite.
        last[:, 0], last[:, 1:9] = np.nan, held
        if self.pole is None:
            return out
        pole = np.zeros((1, out.shape[1]))
        pole[0, :3] = np.inf, self.pole.real, self.pole.imag
        return np.concatenate([out, pole])


def restored(state: FloatArray) -> CornerFunctions:
    """Return the functions that `state` was taken from."""
    x, y, a, b, c, d, cut, size = state[0, :8].tolist()
    angles = state[0, 8:][state[0, 8:] > 0.0].tolist()
    poles, state = state[np.isinf(state[:, 0]), 1:3].tolist(), state[~np.isinf(state[:, 0])]
    is_held = np.isnan(state[:, 0])
    rows, held = state[1:][~is_held[1:]], state[is_held, 1:9].reshape(-1, 4, 2)
    width = 4 + 2 * int(size) * (1 + len(angles))
    terms = tuple(
        Term(complex(p, q) if q else p, int(n), bool(log)) for p, q, n, log in rows[:, :4].tolist()
    )
    factors = (rows[:, 4:width:2] + 1j * rows[:, 5:width:2]).T
    own, *further = np.split(factors, 1 + len(angles)) if angles else [factors]
    beyond = tuple(zip(angles, further, strict=True))
    slopes, support = (complex(a, b), complex(c, d)), held if len(held) else None
    fades = bool(np.any(state[0, 8:] == FADES))
    pole = complex(*poles[0]) if poles else None
    return CornerFunctions((x, y), slopes, cut, terms, own, beyond, support, fades, pole)


def _in_any(quadrilaterals: FloatArray, points: FloatArray) -> Flags:
    """Tell which points lie in one of some convex quadrilaterals, (k, 4, 2)."""
    sides = np.roll(quadrilaterals, -1, axis=1) - quadrilaterals
    away = points[:, None, None] - quadrilaterals
    turns = sides[..., 0] * away[..., 1] - sides[..., 1] * away[..., 0]
    return np.asarray(np.any(np.all(turns >= 0.0, axis=2), axis=1))


def _fade(z: ComplexArray, plain: int, mirrored: int) -> ComplexArray:
    """Return a derivative of e^(-z conj(z)) along z and its conjugate, so often each."""
    out = np.zeros_like(z)
    for k in range(min(plain, mirrored) + 1):
        factor = math.comb(plain, k) * math.perm(mirrored, k)
        out += factor * (-1.0) ** k * (-z) ** (mirrored - k) * (-z.conjugate()) ** (plain - k)
    return np.asarray(out * np.exp(-(np.abs(z) ** 2)))


def jumps_of(corners: Sequence[SharedFunctions]) -> list[tuple[float, ...]]:
    """Return the places of functions that jump there from one side to the other: the angle."""
    return [corner.place for corner in corners if any(not t.order for t in corner.terms)]


def count(corners: Sequence[SharedFunctions]) -> int:
    """Return the number of functions of some corners or edges."""
    return sum(corner.size for corner in corners)


def tabulated(
    corners: Sequence[SharedFunctions],
    points: FloatArray,
    orders: Orders,
    beside: FloatArray | None = None,
) -> FloatArray:
    """Return a derivative of all functions at points, (m, functions), seen from points beside."""
    return np.concatenate([corner.values(points, orders, beside) for corner in corners], axis=1)
