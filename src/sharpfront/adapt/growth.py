"""How many functions to try next, from how the weights of the last ones fall."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sharpfront.adapt.space_state import SpaceAssessment, SpaceState, Trial
from sharpfront.arrays import FloatArray
from sharpfront.pieces.tensor import TensorBasis
from sharpfront.solution.approximation import Approximation

# An axis grows if its last functions carry this share of what the worst axis' carry.
SHARE = 0.1
# How many functions count as the last ones: odd and even ones may differ.
LAST = 4
# Growth of an axis from one solve to the next.
LEAST_GROWTH, MOST_GROWTH = 1.12, 1.6
# What is aimed at when an axis grows, beside the tolerance.
AIM = 0.3
# No forecast of the functions along an axis goes further than this.
MANY_MORE = 20


def grown(state: SpaceState) -> Trial:
    """Return the trial with more functions along the axes whose last ones still matter."""
    trial, _ = largest(state)
    forecast = wanted(state)
    functions = []
    for count, more in zip(trial.functions, forecast, strict=True):
        most = MOST_GROWTH * count if len(forecast) <= 3 else count + 2
        least = LEAST_GROWTH * count + 1
        functions.append(count if more == count else math.ceil(min(max(least, more), most)))
    return replace(trial, functions=tuple(functions))


def wanted(state: SpaceState) -> tuple[int, ...]:
    """Return how many functions along each axis would reach the tolerance.

    Weights fall geometrically with the number of the function, if they fall at all.
    """
    trial, assessment = largest(state)
    digits = math.log(AIM * state.tol / max(assessment.estimate.value, 1e-300))
    along = profiles(assessment.approximation)
    tails = [float(p[-LAST:].max()) for p in along]
    functions = []
    for profile, tail, count in zip(along, tails, trial.functions, strict=True):
        half = len(profile) // 2
        middle = float(profile[half - LAST // 2 : half + LAST // 2].max())
        rate = math.log(max(min(tail / max(middle, 1e-300), 0.9), 1e-300)) / half
        grows = tail >= SHARE * max(tails)
        more = max(count + 1, min(math.ceil(count + digits / rate), MANY_MORE * count))
        functions.append(more if grows else count)
    return tuple(functions)


def largest(state: SpaceState) -> tuple[Trial, SpaceAssessment]:
    """Return the best trial of products with its assessment, or the last one if it was larger."""
    assert state.best is not None and state.last is not None
    best, last = state.best, (state.trial, state.last)
    assert isinstance(best[0], Trial) and isinstance(last[0], Trial)
    larger = math.prod(last[0].functions) > math.prod(best[0].functions)
    return (last[0], last[1]) if larger else (best[0], best[1])


def profiles(approximation: Approximation) -> list[FloatArray]:
    """Return the largest weight of each function along each axis, over all unknowns."""
    parts = []
    for unknown, basis in approximation.bases.items():
        assert isinstance(basis, TensorBasis)
        size = np.abs(basis.block(approximation.weights[unknown]))
        axes = range(basis.dimension)
        parts.append([size.max(axis=tuple(j for j in axes if j != i)) for i in axes])
    return [np.max(np.stack(same), axis=0) for same in zip(*parts, strict=True)]


def smaller(trial: Trial) -> Trial:
    """Return a cheaper trial, to see whether the estimate of a first solve tells the truth."""
    return replace(trial, functions=tuple(max(4, round(0.75 * k)) for k in trial.functions))


def work(trial: Trial) -> int:
    """Return a number that grows with the size of a trial."""
    return math.prod(trial.functions)
