"""What plates are made of at a corner: equations of fourth order whose principal part is a square.

In coordinates in which it is that of lap lap u, solutions without load are r^s times a function of
the angle, combinations of z^s, of z^(s - 1) conj(z) and of their conjugates. Four conditions, two
on each side, leave something of them for some s only, mostly complex: then r^s oscillates like
cos(Im s log r) ever faster towards the corner. Whole s come with a logarithm, as data ask for it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sharpfront.adapt.patchwork.settings import ADAPT
from sharpfront.adapt.patchwork.shadow_terms import SAME_POWER
from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import ComplexArray, CornerFunctions, Term
from sharpfront.rounding import SAME

# Terms of a form along x and y with their coefficients.
Principal = Mapping[tuple[int, ...], float]
# Steps from each start towards a power.
STEPS = 30
# Powers are looked at in pairs so far apart for how conditions change with them.
SEPARATE = 1e-5
# What conditions leave of a sum of terms counts as this share of the most that they leave of one:
# at a power that is found there are sums of which they leave nothing.
VANISHED = 1e-15


def functions_of_plate(
    corner: CornerFunctions, angle: float, sides: Sequence[Sequence[Principal]], most: float
) -> CornerFunctions:
    """Return the functions of a corner of finite energy with powers below `most`.

    The domain takes the angles of the corner's z from zero on. Sides at both ends have two
    conditions each, of which only the highest derivatives count.
    """
    held = _Held(corner, angle, sides)
    found: list[dict[Term, complex]] = []
    for power in held.powers(most):
        found += _oscillating(held, power) if power.imag else _steady(held, power.real, False)
    # What conditions of higher order would leave of logarithms is infinite, and no smooth data's
    # doing: of a force at a corner between free sides nothing is said.
    highest = max(sum(orders) for forms in sides for form in forms for orders in form)
    for whole in range(max(2, highest), math.ceil(most)):
        found += _steady(held, float(whole), True)
    if highest <= 2:
        # Slopes of data on both sides need not agree: then second derivatives jump.
        found.append({Term(1.0, 1, True): 1.0})
    found.sort(key=lambda each: min(t.order for t in each))
    terms = list(dict.fromkeys(t for each in found for t in each))
    factors = np.array([[each.get(t, 0.0) for t in terms] for each in found], dtype=complex)
    return replace(corner, terms=tuple(terms), factors=factors)


def square_root(symbol: Principal) -> FloatArray | None:
    """Return the symmetric tensor of which fourth derivatives are the square; None without one."""
    fourth = np.array([symbol.get((4 - k, k), 0.0) for k in range(5)])
    a = math.sqrt(abs(fourth[0]))
    if not a:
        return None
    sign = np.sign(fourth[0])
    b = sign * fourth[1] / (2 * a)
    c = (sign * fourth[2] - b * b) / (2 * a)
    whole = np.array([a * a, 2 * a * b, b * b + 2 * a * c, 2 * b * c, c * c])
    same = np.allclose(whole, sign * fourth, rtol=0.0, atol=SAME_POWER * np.abs(fourth).max())
    return np.array([[a, 0.5 * b], [0.5 * b, c]]) if same else None


class _Held:
    """What conditions on both sides of a corner make of z^s and z^(s - 1) conj(z)."""

    def __init__(
        self, corner: CornerFunctions, angle: float, sides: Sequence[Sequence[Principal]]
    ) -> None:
        self.angle = angle
        # Derivatives along z and its conjugate of each condition, at a distance of one.
        self._rows: list[tuple[float, dict[tuple[int, int], complex]]] = []
        for at, forms in zip((0.0, angle), sides, strict=True):
            for form in forms:
                row: dict[tuple[int, int], complex] = {}
                for orders, c in form.items():
                    for key, factor in corner.chain(orders).items():
                        row[key] = row.get(key, 0.0) + c * factor
                size = max(map(abs, row.values()))
                self._rows.append((at, {key: c / size for key, c in row.items()}))

    def left(self, power: ComplexArray, conjugate: int) -> ComplexArray:
        """Return what conditions leave of z^power conj(z)^conjugate, (powers, conditions)."""
        out = np.zeros((len(power), len(self._rows)), dtype=complex)
        for k, (at, row) in enumerate(self._rows):
            for (plain, mirrored), c in row.items():
                if mirrored <= conjugate:
                    term = c * np.exp(1j * at * (power - plain - conjugate + mirrored))
                    for i in range(plain):
                        term = term * (power - i)
                    out[:, k] += term
        return out

    def every(self, power: ComplexArray) -> ComplexArray:
        """Return what they leave of z^s, z^(s - 1) conj(z) and, of both, with z for its conjugate.

        (powers, conditions, 4).
        """
        pairs = [self.left(s, k) for k, s in enumerate((power, power - 1))]
        mirrored = [self.left(s.conj(), k).conj() for k, s in enumerate((power, power - 1))]
        return np.stack([*pairs, *mirrored], axis=2)

    def powers(self, most: float) -> list[complex]:
        """Return the powers of finite energy that are no whole numbers, of each pair one."""
        step = math.pi / self.angle / ADAPT.starts
        # Beyond that two of the terms are too large for the others to make up for them.
        high = (math.log(2.0 * most) + 2.0) / self.angle
        real = np.arange(1.0, most + step, step)
        imaginary = np.linspace(0.0, high, ADAPT.starts_across)
        s = (real[:, None] + 1j * imaginary + 1e-3j).ravel()
        found = []
        for _ in range(STEPS):
            away = self._away(s, step)
            found.append((s - away)[np.abs(away) < SAME_POWER])
            s = (s - away)[np.abs(away) >= SAME_POWER]
            if not len(s):
                break
        out: list[complex] = []
        for each in np.concatenate(found).tolist():
            power = complex(each.real, abs(each.imag) if abs(each.imag) > SAME_POWER else 0.0)
            whole = not power.imag and abs(power.real - round(power.real)) < SAME_POWER
            new = all(abs(power - other) > 10 * SAME_POWER for other in out)
            if 1.0 + SAME_POWER < power.real < most and not whole and new:
                out.append(power)
        return out

    def _away(self, s: ComplexArray, most: float) -> ComplexArray:
        """Return how far powers are above one, at the most so far.

        There conditions, linear in s about each, leave nothing of some sum of terms.
        """
        now = self.every(s)
        slope = (self.every(s + SEPARATE) - self.every(s - SEPARATE)) / (2 * SEPARATE)
        sums, left, terms = np.linalg.svd(now)
        # Of z^1 free sides leave nothing at all.
        left = np.maximum(left, VANISHED * np.maximum(left[:, :1], VANISHED))
        inverse = (terms.conj().swapaxes(1, 2) / left[:, None, :]) @ sums.conj().swapaxes(1, 2)
        rates = np.linalg.eigvals(inverse @ slope)
        fastest = np.abs(rates).argmax(axis=1, keepdims=True)
        rate = np.take_along_axis(rates, fastest, axis=1)[:, 0]
        slow = np.abs(rate) < 1.0 / most
        return np.asarray(1.0 / np.where(slow, np.exp(1j * np.angle(rate)) / most, rate))


def _oscillating(held: _Held, power: complex) -> list[dict[Term, complex]]:
    """Return the solutions of a complex power: both parts of each complex one."""
    out: list[dict[Term, complex]] = []
    other = power.conjugate()
    for a, c, b, d in _null(held.every(np.array([power]))[0]):
        # Re U and Im U of U = a z^s + b conj(z)^s + c z^(s-1) conj(z) + d conj(z)^(s-1) z.
        for one, two in ((1j, 1j), (1.0, -1.0)):
            out.append(
                {
                    Term(power, 0, False): one * a,
                    Term(other, 0, False): two * b.conjugate(),
                    Term(power - 1, 1, False): one * c,
                    Term(other - 1, 1, False): two * d.conjugate(),
                }
            )
    return out


def _steady(held: _Held, power: float, whole: bool) -> list[dict[Term, complex]]:
    """Return the solutions of a real power, of a whole one those that come with its logarithm."""
    both = [held.left(np.array([power - k], dtype=complex), k)[0] for k in (0, 1)]
    # The imaginary part of factor times term, for the two parts of each factor.
    matrix = np.stack([part for left in both for part in (left.imag, left.real)], axis=1)
    if power == 2.0:
        matrix = np.delete(matrix, 2, axis=1)  # z conj(z) is real
    found = _null(matrix)
    if power == 2.0:
        found = [np.insert(each, 2, 0.0) for each in found]
    return [
        {Term(power - k, k, whole): complex(each[2 * k], each[2 * k + 1]) for k in (0, 1)}
        for each in found
    ]


def _null(matrix: ComplexArray | FloatArray) -> list[ComplexArray]:
    """Return vectors that a matrix makes nothing of."""
    _, values, vectors = np.linalg.svd(matrix)
    return list(vectors[int(np.sum(values > SAME * values[0])) :].conj())
