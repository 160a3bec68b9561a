"""How the weights of functions of layers fall, and how many of these it takes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import SharedFunctions, count
from sharpfront.bases.layer_functions import LayerFunctions
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.place.strips.layered import joint_degrees
from sharpfront.place.strips.settings import STRIPS
from sharpfront.solution.approximation import Approximation

# So many last degrees count as the tail: odd and even ones may differ.
LAST = 2
# No more degrees than this are added at once.
STEP = 6
# Points along each side of a square of a surface and across its layer at which solutions are
# compared.
COMPARED = (5, 7)


def split_layers(
    functions: Sequence[SharedFunctions],
) -> tuple[tuple[SharedFunctions, ...], tuple[LayerFunctions, ...]]:
    """Return functions of corners, edges and vertices, and those of layers, which come last."""
    layers = tuple(own for own in functions if isinstance(own, LayerFunctions))
    return tuple(own for own in functions if not isinstance(own, LayerFunctions)), layers


def richer_layers(functions: Sequence[SharedFunctions]) -> tuple[SharedFunctions, ...]:
    """Return functions, those of layers with two degrees more along them and one function across."""
    others, layers = split_layers(functions)
    return (*others, *(_with(own, own.degrees[0] + 2, len(own.degrees) + 1) for own in layers))


def _with(layer: LayerFunctions, along: int, across: int) -> LayerFunctions:
    return layer.with_degrees(joint_degrees(along, across))


@dataclass(frozen=True)
class LayerTails:
    """The last weights of a layer's functions along and across it, in units of the solution."""

    layer: LayerFunctions
    along: float
    across: float
    rate: float  # at which weights fall from degree to degree, as a logarithm

    @classmethod
    def of(cls, layer: LayerFunctions, weights: FloatArray) -> LayerTails:
        """Return those of a layer with weights in units of the solution, (functions,)."""
        degree, across = layer.owners
        # At most so much is at a point of all harmonics of a degree.
        sizes = np.zeros((len(layer.degrees), layer.degrees[0] + 1))
        np.add.at(sizes, (across, degree), weights**2)
        sizes = np.sqrt(sizes * (2.0 * np.arange(sizes.shape[1]) + 1.0))
        ends = [
            float(own[max(0, n + 1 - LAST) : n + 1].max())
            for own, n in zip(sizes, layer.degrees, strict=True)
        ]
        # What lacks where there are few degrees of many functions across is more of these.
        half = (len(ends) + 1) // 2
        along, across = max(ends[:half]), max(*ends[half:], float(sizes[-1].max()), 0.0)
        peak = int(np.argmax(sizes[0]))
        fall = math.log(max(float(sizes[0, peak]), 1e-300) / max(along, 1e-300))
        return cls(layer, along, across, fall / max(1, layer.degrees[0] - peak))

    def grown(self, aim: float) -> LayerFunctions | None:
        """Return the layer with functions that bring weights to an aim; None if too many would."""
        if max(self.along, self.across) <= aim:
            return self.layer
        along, across = self.layer.degrees[0], len(self.layer.degrees)
        if self.along > aim:
            more = math.log(self.along / aim) / max(self.rate, 1e-3)
            if along + more > STRIPS.most_along:
                return None
            along += min(STEP, max(1, math.ceil(more)))
        if self.across > aim:
            across += 1
        return _with(self.layer, along, across)


def layer_tails(approximation: Approximation, scales: Sequence[float]) -> list[LayerTails]:
    """Return how the weights of each layer fall in an approximation."""
    unknown, basis = next(iter(approximation.bases.items()))
    assert isinstance(basis, PatchworkBasis)
    layers = split_layers(basis.shared)[1]
    if not layers:
        return []
    weights = approximation.weights[unknown][basis.size - count(layers) :] / scales[0]
    ends = np.cumsum([own.size for own in layers])[:-1]
    return [LayerTails.of(own, w) for own, w in zip(layers, np.split(weights, ends), strict=True)]


def grown_layers(
    approximation: Approximation, scales: Sequence[float], aim: float
) -> tuple[LayerFunctions, ...] | None:
    """Return layers with the functions that bring weights to an aim; None if too many would."""
    found = [own.grown(aim) for own in layer_tails(approximation, scales)]
    known = tuple(own for own in found if own is not None)
    return known if len(known) == len(found) else None


def changes_in_layers(solutions: Sequence[Approximation], scales: Sequence[float]) -> list[float]:
    """Return the largest change from each solution to the next where layers have functions."""
    layers = [own.layer for own in layer_tails(solutions[0], scales)]
    if not layers:
        return [0.0] * (len(solutions) - 1)
    points = np.concatenate([own.sample(*COMPARED) for own in layers])
    values = [each.values(next(iter(each.bases)), points, (0, 0, 0)) for each in solutions]
    gaps = [float(np.abs(a - b).max()) / scales[0] for a, b in itertools.pairwise(values)]
    return [gap if math.isfinite(gap) else math.inf for gap in gaps]
