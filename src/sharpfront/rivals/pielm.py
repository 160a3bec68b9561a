"""The original physics-informed extreme learning machine: random tanh features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.polynomial import Polynomial

from sharpfront.arrays import FloatArray
from sharpfront.geometry import Domain
from sharpfront.rivals.collocation import AtPoints, Tabled, as_functions, fitted, region
from sharpfront.rivals.contract import Found, Setting, Subject, tried


def tanh_features(domain: Domain, count: int, scale: float, seed: int) -> Tabled:
    """Return tanh(slopes x + offsets), uniform in (-scale, scale) in coordinates from -1 to 1."""
    draw = np.random.default_rng(seed)
    low, high = domain.bounds
    slopes = draw.uniform(-scale, scale, (count, len(low)))
    offsets = draw.uniform(-scale, scale, count)
    half = 0.5 * (high - low)
    offsets, slopes = offsets - slopes @ (0.5 * (low + high) / half), slopes / half

    def matrix(points: FloatArray, orders: Sequence[int]) -> FloatArray:
        # Derivatives of T = tanh are polynomials of it: T' = 1 - T^2.
        outer = Polynomial([0.0, 1.0])
        for _ in range(sum(orders)):
            outer = outer.deriv() * Polynomial([1.0, 0.0, -1.0])
        inner = np.tanh(points @ slopes.T + offsets)
        return np.asarray(outer(inner) * np.prod(slopes ** np.array(orders), axis=1))

    return Tabled(count, len(low), matrix)


class Pielm(AtPoints):
    """One least-squares fit of random features; time is a coordinate."""

    def settings(self, subject: Subject) -> tuple[Setting, ...]:
        """Return features, the range of their weights, and how rows are weighed."""
        sizes = (100, 400) if region(subject.problem).dimension == 1 else (200, 800)
        words = "{count} features, weights to {scale:g}, rows of norm one: {unit_rows}"
        scales = (1.0, 5.0, 30.0, 200.0)
        return tried(words, count=sizes, scale=scales, unit_rows=(False, True))

    def solve(self, subject: Subject, setting: Setting, seed: int, seconds: float) -> Found:
        """Return the fit."""
        problem, count = subject.problem, setting.values["count"]
        domain = region(problem)
        bases = {
            name: tanh_features(domain, count, setting.values["scale"], seed + i)
            for i, name in enumerate(problem.unknowns)
        }
        rows = domain.sample(4 * count, "quasi", seed)
        return as_functions(fitted(subject, bases, rows, seed, setting.values["unit_rows"]))


PIELM = Pielm(
    "pielm",
    "PIELM (tanh)",
    "Dwivedi and Srinivasan, Physics informed extreme learning machine, Neurocomputing 391 (2020)",
    drawn=True,
)
