"""How the weights of functions of layers fall, and how many of these it takes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.adapt.patchwork.settings import ADAPT
from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import SharedFunctions, count
from sharpfront.bases.layer_functions import LayerFunctions
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.place.strips.settings import STRIPS
from sharpfront.place.strips.shells import joint_degrees
from sharpfront.solution.approximation import Approximation

# So many last degrees count as the tail: odd and even ones may differ.
LAST = 2


def split_layers(
    functions: Sequence[SharedFunctions],
) -> tuple[tuple[SharedFunctions, ...], tuple[LayerFunctions, ...]]:
    """Return functions of corners, edges and vertices, and those of layers, which come last."""
    layers = tuple(own for own in functions if isinstance(own, LayerFunctions))
    return tuple(own for own in functions if not isinstance(own, LayerFunctions)), layers


def richer_layers(functions: Sequence[SharedFunctions]) -> tuple[SharedFunctions, ...]:
    """Return functions, those of layers with two degrees more along and one function across."""
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
    rates: tuple[float, float]  # at which weights fall along and across, as logarithms
    cut_off: float  # what the end of the functions makes of an error

    @classmethod
    def of(cls, layer: LayerFunctions, weights: FloatArray) -> LayerTails:
        """Return those of a layer with weights in units of the solution, (functions,)."""
        degree, number = layer.owners
        # At most so much is at a point of all harmonics of a degree.
        sizes = np.zeros((len(layer.degrees), layer.degrees[0] + 1))
        np.add.at(sizes, (number, degree), weights**2)
        sizes = np.sqrt(sizes * (2.0 * np.arange(sizes.shape[1]) + 1.0))
        ends = [
            float(own[max(0, n + 1 - LAST) : n + 1].max())
            for own, n in zip(sizes, layer.degrees, strict=True)
        ]
        # What lacks where there are few degrees of many functions across is more of these.
        half = (len(ends) + 1) // 2
        along, across = max(ends[:half]), max(*ends[half:], float(sizes[-1].max()), 0.0)
        peak, most = int(np.argmax(sizes[0])), max(float(sizes.max()), 1e-300)
        falls = [math.log(most / max(x, 1e-300)) for x in (along, across)]
        steps = max(1, layer.degrees[0] - peak), max(1, len(ends) - 1)
        rates = falls[0] / steps[0], falls[1] / steps[1]
        left = ADAPT.cut_off * float(np.abs(layer.at_end @ weights).max())
        return cls(layer, along, across, rates, left)

    @property
    def rests(self) -> list[float]:
        """What the weights to come add up to along and across, no more than the last ones."""
        tails = zip((self.along, self.across), self.rates, strict=True)
        return [x * min(1.0, 1.0 / math.expm1(max(rate, 1e-3))) for x, rate in tails]

    def grown(self, aim: float) -> LayerFunctions | None:
        """Return the layer with functions that bring weights to an aim; None if too many would."""
        if max(self.rests) <= aim:
            return self.layer
        more = [
            math.ceil(math.log(max(1.0, x / aim)) / max(rate, 1e-3))
            for x, rate in zip(self.rests, self.rates, strict=True)
        ]
        along = self.layer.degrees[0] + more[0]
        if along > STRIPS.most_along:
            return None
        along, across = (
            min(along, self.layer.degrees[0] + ADAPT.layer_steps[0]),
            min(more[1], ADAPT.layer_steps[1]),
        )
        across += len(self.layer.degrees)
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
    """Return the largest change from each solution to the next where layers have functions.

    And with the first what is cut off where these end, in all solutions alike.
    """
    found = layer_tails(solutions[0], scales)
    if not found:
        return [0.0] * (len(solutions) - 1)
    points = np.concatenate([own.layer.sample(*ADAPT.layer_compared) for own in found])
    values = [each.values(next(iter(each.bases)), points, (0, 0, 0)) for each in solutions]
    gaps = [float(np.abs(a - b).max()) / scales[0] for a, b in itertools.pairwise(values)]
    gaps[0] += max(own.cut_off for own in found)
    return [gap if math.isfinite(gap) else math.inf for gap in gaps]
