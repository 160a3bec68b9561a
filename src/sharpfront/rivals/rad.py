"""Residual-based adaptive resampling (RAD) of the points and centres of Gaussian features."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from sharpfront.arrays import FloatArray
from sharpfront.geometry import Domain
from sharpfront.kernels import Gaussian
from sharpfront.kernels.basis import KernelBasis
from sharpfront.rivals.collocation import AtPoints, as_functions, fitted, region
from sharpfront.rivals.contract import Found, Setting, Subject, tried

# Candidates for each centre, among which the new ones are drawn.
_CANDIDATES = 30
# The neighbour whose distance is a kernel's width, as in the paper; and the least such distance.
_NEIGHBOURS, _NEAREST = 2, 1e-9


def spaced(centres: FloatArray, overlap: float, domain: Domain) -> KernelBasis:
    """Return round kernels as wide as the distance to a neighbour, times `overlap`.

    Distances are those in a box of side one.
    """
    low, high = domain.bounds
    unit = (centres - low) / (high - low)
    distance = np.asarray(cKDTree(unit).query(unit, k=_NEIGHBOURS + 1)[0])[:, -1]
    widths = overlap * np.maximum(distance, _NEAREST)
    shapes = np.eye(len(low)) / (high - low) / widths[:, None, None]
    return KernelBasis(Gaussian(), centres, shapes)


class Rad(AtPoints):
    """Solve, draw points anew with p ~ |R|^k / mean + c, k = c = 1, and solve again."""

    def settings(self, subject: Subject) -> tuple[Setting, ...]:
        """Return kernels, rounds and widths."""
        sizes = (100, 300) if region(subject.problem).dimension == 1 else (200, 600)
        words = "{count} kernels, {rounds} rounds, overlap {overlap:g}"
        return tried(words, count=sizes, rounds=(2, 6), overlap=(2.0, 6.0))

    def solve(self, subject: Subject, setting: Setting, seed: int, seconds: float) -> Found:
        """Return the fit of the last round."""
        problem, count = subject.problem, setting.values["count"]
        domain, draw = region(problem), np.random.default_rng(seed)
        centres, rows = domain.sample(count, "quasi", seed), domain.sample(3 * count, "quasi", seed)
        for i in range(setting.values["rounds"] + 1):
            basis = spaced(centres, setting.values["overlap"], domain)
            found = fitted(subject, dict.fromkeys(problem.unknowns, basis), rows, seed)
            candidates = domain.sample(_CANDIDATES * count, "random", seed + 1000 + i)
            size = np.linalg.norm(found.residuals(problem, candidates), axis=0)
            chance = size / max(float(np.mean(size)), 1e-300) + 1.0
            chosen = draw.choice(
                len(candidates), 4 * count, replace=False, p=chance / np.sum(chance)
            )
            centres, rows = candidates[chosen[:count]], candidates[chosen[count:]]
        return as_functions(found)


RAD = Rad(
    "rad",
    "RAD, Gaussians",
    "Wu, Zhu, Tan, Kartha and Lu, A comprehensive study of non-adaptive and residual-based "
    "adaptive sampling, CMAME 403 (2023)",
    drawn=True,
)
