"""The first state: functions of x, and nodes that are dense where they vary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.mesh import graded
from sharpfront.evolve.settings import LINE_MARCH
from sharpfront.evolve.start_smoothing import Rounded, met, rounded
from sharpfront.evolve.time_system import TimeSystem
from sharpfront.place.line.sampling import FIRST_LOOK, Function, sampled, stacked


@dataclass(frozen=True, eq=False)
class Start:
    """What a run begins with."""

    functions: tuple[Rounded, ...]  # one for each unknown
    nodes: FloatArray  # dense where they vary
    sizes: FloatArray  # max|u| of each

    def values(self, x: FloatArray) -> FloatArray:
        """Return the unknowns at positions, (n, K)."""
        return np.stack([f(x) for f in self.functions], axis=1)

    def evenly(self, elements: int) -> FloatArray:
        """Return fewer nodes, as dense where functions vary."""
        places = np.linspace(0.0, len(self.nodes) - 1.0, elements + 1)
        return np.interp(places, np.arange(len(self.nodes)), self.nodes)

    def blurred(self) -> Start:
        """Return the start rounded once more: as far from this as this is from the data."""
        if not any(f.breaks or f.ends for f in self.functions):
            return self
        return Start(tuple(f.blurred() for f in self.functions), self.nodes, self.sizes)

    def with_held(
        self, system: TimeSystem, state: Function, tol: float, t: float
    ) -> tuple[Start | None, list[str]]:
        """Return a start that meets conditions with what constraints hold in a state, as `met`."""
        functions = [
            _one_of(system, state, i) if name in system.constrained else replace(own, ends=())
            for i, (name, own) in enumerate(zip(system.names, self.functions, strict=True))
        ]
        found, words = met(system, functions, tol, t)
        return (None, []) if found == functions else (_start(found, system), words)

    @staticmethod
    def met(
        system: TimeSystem,
        state: Function,
        tol: float,
        t: float,
    ) -> tuple[Start | None, list[str]]:
        """Return a state that meets conditions as they are at a moment; None if it does."""
        plain = [_one_of(system, state, i) for i in range(len(system.names))]
        functions, words = met(system, plain, tol, t)
        if functions == plain:
            return None, []
        return _start(functions, system), words


def _one_of(system: TimeSystem, state: Function, index: int) -> Rounded:
    def values(x: FloatArray) -> FloatArray:
        return np.asarray(state(x)[:, index])

    return Rounded(values, system.low, system.high, system.periodic)


def first_state(system: TimeSystem, tol: float) -> tuple[Start, list[str]]:
    """Return the initial state of a problem, and what had to be rounded, in words."""
    functions, words = rounded(system, tol)
    return _start(functions, system), words


def _start(functions: Sequence[Rounded], system: TimeSystem) -> Start:
    # Elements bend at layers by themselves: no close look is taken at that.
    layers = () if system.layers is None else system.layers.places
    parts = pairwise([system.low, *layers, system.high])
    looks = [_looked_at(functions, system, *part) for part in parts]
    x = np.concatenate([looks[0][0][:1], *(at[1:] for at, _, _ in looks)])
    u, wanted = (np.concatenate([look[i] for look in looks], axis=-1) for i in (1, 2))
    cells = np.diff(x)
    for place, width in _corrections(functions, system):
        i = int(np.clip(np.searchsorted(x, place) - 1, 0, len(cells) - 1))
        wanted[i] = min(wanted[i], width)
    at, upto = graded(x, wanted)
    placed = np.interp(np.linspace(0.0, upto[-1], int(upto[-1]) + 2), upto, at)
    return Start(tuple(functions), placed, np.abs(u).max(axis=1))


def _looked_at(
    functions: Sequence[Rounded], system: TimeSystem, low: float, high: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return places in a part (n,), unknowns there (K, n) and lengths of elements (n - 1,).

    They are even, and shorter where the look had to be closer.
    """
    hints = [x for f in functions for x in f.needles if low <= x <= high]
    x, u = sampled(stacked(functions), low, high, hints)
    cells = np.diff(x)
    longest = (system.high - system.low) / LINE_MARCH.first_elements
    even = 0.75 * (high - low) / (FIRST_LOOK - 1)
    return x, u, np.where(cells > even, longest, LINE_MARCH.samples * cells)


def _corrections(functions: Sequence[Rounded], system: TimeSystem) -> list[tuple[float, float]]:
    """Return where functions were rounded, and over which widths."""
    found = [(b.x, width) for f in functions for b, width in f.breaks]
    ends = (system.low, system.high)
    return found + [(ends[c.side], c.width) for f in functions for c in f.ends]
