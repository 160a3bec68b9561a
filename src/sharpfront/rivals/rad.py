"""Residual-based adaptive resampling (RAD) of the points and centres of Gaussian features."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.spatial import cKDTree

from sharpfront.arrays import FloatArray
from sharpfront.basis import KernelBasis
from sharpfront.geometry import Domain
from sharpfront.kernels import Gaussian
from sharpfront.rivals.collocation import (
    as_functions,
    collocated,
    held_at,
    per_face,
    refusal_of,
    region,
    residual_size,
)
from sharpfront.rivals.contract import Described, Found, Setting, Subject

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


@dataclass(frozen=True)
class Rad(Described):
    """Solve, draw points anew with p ~ |R|^k / mean + c, k = c = 1, and solve again."""

    def applies(self, subject: Subject) -> str:
        """Return why not."""
        return refusal_of(subject.problem)

    def settings(self, subject: Subject) -> tuple[Setting, ...]:
        """Return kernels, rounds and widths."""
        sizes = (100, 300) if region(subject.problem).dimension == 1 else (200, 600)
        grid = product(sizes, (2, 6), (2.0, 6.0))
        return tuple(
            Setting(
                f"{n} kernels, {rounds} rounds, overlap {overlap:g}",
                {"count": n, "rounds": rounds, "overlap": overlap},
            )
            for n, rounds, overlap in grid
        )

    def solve(self, subject: Subject, setting: Setting, seed: int, seconds: float) -> Found:
        """Return the fit of the last round."""
        problem, count = subject.problem, setting.values["count"]
        domain, draw = region(problem), np.random.default_rng(seed)
        faces = per_face(3 * count, domain.dimension)
        centres, rows = domain.sample(count, "quasi", seed), domain.sample(3 * count, "quasi", seed)
        for i in range(setting.values["rounds"] + 1):
            basis = spaced(centres, setting.values["overlap"], domain)
            held = held_at(problem, rows, faces, seed)
            bases = dict.fromkeys(problem.unknowns, basis)
            found = collocated(subject, bases, held, unit_rows=True)
            candidates = domain.sample(_CANDIDATES * count, "random", seed + 1000 + i)
            size = residual_size(found, problem, candidates)
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
