"""Kernels and mixture as the page shows them: solve after solve, or moment after moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.line_basis import LineBasis
from sharpfront.bases.line_patch import line_patch
from sharpfront.maps import mixture_axis
from sharpfront.mixture import Mixture
from sharpfront.show.data.kernels import Kernels, kernels_at, kernels_of
from sharpfront.show.data.snapshot import mixture_in_time, mixture_of, step_at

# So many pictures of a problem in time: curves are smaller than maps.
_CURVES, _MAPS = 61, 31


@dataclass(frozen=True, eq=False)
class Placement:
    """Where kernels and the components of their mixture were."""

    note: str  # which solve or moment this is, in words
    kernels: dict[str, Kernels]  # of each unknown; without those whose positions are not known
    mixture: Mixture | None  # that placed them, or None

    @property
    def components(self) -> Kernels | None:
        """The components as if they were kernels."""
        return None if self.mixture is None else Kernels.of_mixture(self.mixture)

    @property
    def everything(self) -> Kernels:
        """The kernels of all unknowns, or else the components: where something may happen."""
        found = [*self.kernels.values()]
        if not found and self.components is not None:
            found = [self.components]
        return Kernels.together(found, found[0].centres.shape[1] if found else 1)


def answer_index(solution: Any) -> int:
    """Return which record of the history the answer is."""
    for i in reversed(range(len(solution.history))):
        record = solution.history[i]
        if (record.kernels, record.error_estimate) == (solution.kernels, solution.error_estimate):
            return i
    return len(solution.history) - 1


def solves(solution: Any) -> tuple[list[Placement], int]:
    """Return the kernels of every solve of a stationary problem, and which is the answer.

    Records keep the mixture and the number of kernels, not their positions. On the line these
    follow from the two; in space only the answer's are known.
    """
    bases = solution.approximation.bases
    exact = {u: kernels_of(basis) for u, basis in bases.items()}
    last = answer_index(solution)
    count = len(solution.history)
    own = mixture_of(solution)
    if not count:
        return [Placement(f"{solution.kernels} kernels", exact, own)], 0
    out = []
    for i, record in enumerate(solution.history):
        note = (
            f"Solve {i + 1} of {count}: {record.kernels} kernels, "
            f"estimated error {record.error_estimate:.1e}"
        )
        if i == last:
            out.append(Placement(f"{note} – the answer", exact, record.mixture or own))
        else:
            out.append(Placement(note, _followed(solution, record), record.mixture))
    return out, last


def _followed(solution: Any, record: Any) -> dict[str, Kernels]:
    """Return kernels on the line as a record's mixture spreads them."""
    bases = solution.approximation.bases
    if len(bases) > 1 or not isinstance(next(iter(bases.values())), LineBasis):
        return {}
    return {solution.unknowns[0]: spread(record.mixture, record.kernels, solution.domain.bounds)}


def spread(mixture: Mixture | None, count: int, bounds: FloatArray) -> Kernels:
    """Return kernels on the line, even in the coordinate of a mixture."""
    low, high = (float(end) for end in bounds[:, 0])
    basis = LineBasis((line_patch(mixture_axis(low, high, mixture), count, (low, high), 2),))
    return Kernels(basis.centres, basis.covariances)


def moments(solution: Any) -> FloatArray:
    """Return the moments that a page shows: even ones, with both ends."""
    count = _CURVES if solution.domain.space.dimension == 1 else _MAPS
    start, stop = solution.domain.time
    return np.linspace(float(start), float(stop), count)


def instants(solution: Any, times: FloatArray) -> list[Placement]:
    """Return kernels and mixture of a problem in time at moments."""
    out = []
    for t in times:
        i = step_at(solution.history, float(t))
        mixture = mixture_in_time(solution, float(t))
        note = f"t = {t:.4g}"
        if i is not None:
            step = solution.history[i]
            note += f": {step.kernels} kernels, estimated error {step.error_estimate:.1e}"
        out.append(Placement(note, _moved(solution, i, mixture, float(t)), mixture))
    return out


def _moved(
    solution: Any, index: int | None, mixture: Mixture | None, t: float
) -> dict[str, Kernels]:
    if solution.domain.space.dimension > 1:
        return {}
    found = {u: kernels_at(basis, t) for u, basis in solution.approximation.bases.items()}
    known = {u: kernels for u, kernels in found.items() if kernels is not None}
    if known or index is None or mixture is None:
        return known
    count = solution.history[index].kernels
    return dict.fromkeys(found, spread(mixture, count, solution.domain.space.bounds))
