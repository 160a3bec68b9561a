"""The numbers behind curves: one-dimensional problems, also in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.show.data.grid import graded_line
from sharpfront.show.data.kernels import Kernels
from sharpfront.show.data.placements import Placement
from sharpfront.show.data.quantity import Shown
from sharpfront.show.pages.encode import doubles, singles

# Bytes for all curves together, before they become text.
_LINE_BUDGET = 1_000_000
_MOST_PLACES = 3000


def line_data(
    solution: Any,
    shown: Sequence[Shown],
    placements: Sequence[Placement],
    answer: int,
    times: FloatArray | None,
) -> tuple[dict[str, Any], list[FloatArray]]:
    """Return curves and kernels for the page, and the points (m, d) where they were taken."""
    count = 1 if times is None else len(times)
    most = min(_MOST_PLACES, _LINE_BUDGET // (count * (8 + 4 * len(shown))))
    frames, points = [], []
    for i in range(count):
        everything = placements[answer if times is None else i].everything
        x = graded_line(everything, _ends(solution), most)
        at = x[:, None] if times is None else np.stack([x, np.full(len(x), times[i])], axis=1)
        values = {s.key: singles(s.quantity.values(at)) for s in shown}
        frames.append({"x": doubles(x), "values": values})
        points.append(at)
    states = [_state(placement) for placement in placements]
    return {
        "kind": "line",
        "axis": solution.approximation.coordinates[0],
        "frames": frames,
        "ends": list(_ends(solution)),
        "states": states,
    }, points


def _ends(solution: Any) -> tuple[float, float]:
    low, high = solution.domain.bounds[:, 0]
    return float(low), float(high)


def _state(placement: Placement) -> dict[str, Any]:
    kernels = {unknown: _spread(k) for unknown, k in placement.kernels.items()}
    components = placement.components
    return {
        "note": placement.note,
        "kernels": kernels,
        "mixture": None if components is None else _spread(components),
    }


def _spread(kernels: Kernels) -> dict[str, Any]:
    order = np.argsort(kernels.centres[:, 0], kind="stable")
    widths = np.sqrt(kernels.covariances[order, 0, 0])
    return {"c": doubles(kernels.centres[order, 0]), "s": singles(widths)}
