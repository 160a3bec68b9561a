"""Places in a domain that formulas tell of: where what stands inside their functions is zero."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.legendre import product_points
from sharpfront.equation.expression import Expression
from sharpfront.equation.narrow_features import axis_places
from sharpfront.equation.oblique_features import places_across
from sharpfront.geometry import Domain
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.problem import Problem


@lru_cache(maxsize=2)
def crossings(problem: Problem) -> FloatArray:
    """Return the places that the equations of a problem tell of, (m, d)."""
    return formula_places(problem.equations, problem.domain)


def formula_places(formulas: Sequence[Expression], domain: Domain) -> FloatArray:
    """Return where zeros cross that formulas tell of, along the axes and across them, (m, d)."""
    axes = []
    for name, (low, high) in zip(domain.coordinates, domain.bounds.T.tolist(), strict=True):
        found = [axis_places(f, name, low, high) for f in formulas]
        axes.append(np.unique(np.concatenate([[0.5 * (low + high)], *found])))
    most = int(SETTINGS.crossings ** (1.0 / len(axes)))
    along = product_points([x[:: math.ceil(len(x) / most)] for x in axes])
    return np.concatenate([along, places_across(formulas, domain.coordinates, domain.bounds)])
