"""Fits from several starts: the least of the minima that are found, and what the others are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.checks import finite, is_number, refusal, whole
from sharpfront.errors import ProblemError
from sharpfront.fit.marquardt import Ended, minimised
from sharpfront.fit.model import Model
from sharpfront.geometry.sampling import unit_sample

# How far from its start a parameter without bounds is looked for, as it is fitted: a factor of 20.
REACH = 3.0


@dataclass(frozen=True)
class Minimum:
    """A least misfit: parameters by name, the misfit there, and how many starts ended in it."""

    values: Mapping[str, float]
    chi2: float
    starts: int


def starting_points(model: Model, starts: Any) -> list[FloatArray]:
    """Return the fitted parameters to start from: as given, or spread evenly within bounds."""
    if is_number(starts):
        count = whole(starts, "starts", 1, "starts=8")
        first = model.start()
        low, high = model.bounds
        low = np.where(np.isfinite(low), low, np.minimum(first, high) - REACH)
        high = np.where(np.isfinite(high), high, np.maximum(first, low) + REACH)
        spread = unit_sample(count - 1, len(first), "quasi", 0)
        return [first, *(low + spread * (high - low))]
    attempt = "starts=8, or starts=[{'nu': 1e-3}, {'nu': 1e-1}]"
    if not isinstance(starts, Sequence) or not len(starts):
        raise refusal("starts", "a number, or a list of values by name", starts, attempt)
    return [_given(model, one, attempt) for one in starts]


def _given(model: Model, values: Any, attempt: str) -> FloatArray:
    if not isinstance(values, Mapping) or not set(values) <= set(model.names):
        names = ", ".join(model.names)
        raise refusal("starts", f"values of the free parameters ({names})", values, attempt)
    z = model.start()
    for i, (name, free) in enumerate(model.free.items()):
        if name in values:
            z[i] = free.inner(finite(values[name], f"starts: {name}"))
    if not (np.isfinite(z).all() and np.all(z >= model.bounds[0]) and np.all(z <= model.bounds[1])):
        raise refusal("starts", "values within the bounds of the parameters", values, attempt)
    return z


def explored(model: Model, starts: Any, tol: float) -> tuple[FloatArray, tuple[Minimum, ...]]:
    """Return where the misfit is least over all starts, and all minima, the least one first."""
    ends: list[Ended] = []
    for z in starting_points(model, starts):
        try:
            found = minimised(model, z, tol, rough=True)
        except ProblemError:
            # Nothing is solved there; other starts may do.
            continue
        if found.converged:
            ends.append(found)
    if not ends:
        raise ProblemError("No start led to a least misfit. Try others, or narrower bounds.")
    ends.sort(key=lambda end: end.chi2)
    groups: list[list[Ended]] = []
    for end in ends:
        home = next((g for g in groups if _same(model, g[0], end)), None)
        if home is None:
            groups.append([end])
        else:
            home.append(end)
    minima = [Minimum(model.values(g[0].z), g[0].chi2, len(g)) for g in groups]
    return ends[0].z, tuple(minima)


def _same(model: Model, one: Ended, other: Ended) -> bool:
    """Tell whether predictions between two ends differ by less than the noise, if straight."""
    noise = 1.0 if model.noise_known else float(np.sqrt(one.chi2 / max(model.spare, 1)))
    return bool(np.linalg.norm(one.point.jacobian @ (other.z - one.z)) <= noise)
