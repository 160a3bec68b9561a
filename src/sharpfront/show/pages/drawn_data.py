"""The numbers behind charts of a page: curves on the line, colour maps on planes, also in time.

Numbers in a page: arrays as base64, the rest as JSON that no markup can break out of.
"""

from __future__ import annotations

import base64
import itertools
import json
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from numpy.typing import ArrayLike, NDArray

from sharpfront.arrays import Flags, FloatArray
from sharpfront.files import plain
from sharpfront.geometry import Domain
from sharpfront.show.data.kernels import Kernels, Section, graded_axis, graded_places, section
from sharpfront.show.data.placements import Placement
from sharpfront.show.data.quantity import Shown, colour_scale
from sharpfront.show.data.raster import limits_of, outline_of, with_margin

_LEVELS, _NO_LEVEL = 65_534, 65_535


def doubles(values: ArrayLike) -> dict[str, str]:
    """Return an array for the page with all its digits: places keep theirs beside a wall."""
    return {"f8": _as_text(np.asarray(values, dtype="<f8"))}


def singles(values: ArrayLike) -> dict[str, str]:
    """Return an array for the page with seven digits, enough for what is drawn."""
    # Beyond single precision's range is infinity, which is what it would be drawn as.
    with np.errstate(over="ignore"):
        return {"f4": _as_text(np.asarray(values, dtype=float).astype("<f4"))}


def levels(values: ArrayLike) -> dict[str, Any]:
    """Return an array for the page in 65 535 levels, half the size; NaN stays NaN."""
    array = np.asarray(values, dtype=float)
    known = np.isfinite(array)
    low, high = (float(array[known].min()), float(array[known].max())) if known.any() else (0, 0)
    share = np.where(known, (array - low) / ((high - low) or 1.0), 0.0)
    steps = np.where(known, np.rint(_LEVELS * share), _NO_LEVEL).astype("<u2")
    return {"u2": _as_text(steps), "low": low, "high": high}


def _as_text(array: NDArray[Any]) -> str:
    return base64.b64encode(array.tobytes()).decode("ascii")


def to_json(data: Any) -> str:
    """Return JSON for a script element; NaN and infinities become null."""
    text = json.dumps(plain(data), allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", " ").replace("\u2029", " ")


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
    ends = solution.domain.bounds[:, 0].tolist()
    frames, points = [], []
    for i in range(count):
        everything = placements[answer if times is None else i].everything
        x = graded_places(everything.centres[:, 0], ends, most)
        at = x[:, None] if times is None else np.stack([x, np.full(len(x), times[i])], axis=1)
        values = {s.key: singles(s.quantity.values(at)) for s in shown}
        frames.append({"x": doubles(x), "values": values})
        points.append(at)
    return {
        "kind": "line",
        "axis": solution.approximation.coordinates[0],
        "frames": frames,
        "ends": ends,
        "states": [{"note": p.note, **_state(p, _packed_widths)} for p in placements],
    }, points


def _state(
    placement: Placement, packed: Callable[[Kernels], dict[str, Any]]
) -> dict[str, dict[str, Any] | None]:
    """Return kernels and components as the page draws them."""
    mixture = placement.mixture
    return {
        "kernels": {unknown: packed(k) for unknown, k in placement.kernels.items()},
        "mixture": None if mixture is None else packed(Kernels.of_mixture(mixture)),
    }


def _packed_widths(kernels: Kernels) -> dict[str, Any]:
    order = np.argsort(kernels.centres[:, 0], kind="stable")
    widths = np.sqrt(kernels.covariances[order, 0, 0])
    return {"c": doubles(kernels.centres[order, 0]), "s": singles(widths)}


# Bytes for all maps together, before they become text, and nodes along a side.
_MAP_BUDGET = 1_400_000
_SIDES = (24, 180)
_MOST_PLANES = 6
# Kernels drawn in one plane at one moment, and in all of them.
_MOST_ELLIPSES, _ALL_ELLIPSES = 1200, 12_000


def map_data(
    solution: Any, shown: Sequence[Shown], placements: Sequence[Placement], times: FloatArray | None
) -> tuple[dict[str, Any], list[FloatArray]]:
    """Return maps and kernels for the page, and the points (m, d) where values were taken."""
    space: Domain = solution.domain if times is None else solution.domain.space
    planes = middle_planes(space)
    count = 1 if times is None else len(times)
    size = 4 if times is None else 2
    nodes = math.isqrt(_MAP_BUDGET // (size * count * len(planes) * len(shown)))
    nodes = int(np.clip(nodes, *_SIDES))
    out, points, values = [], [], []
    for where in planes:
        axes = [_nodes(solution, axis, space.bounds, nodes) for axis in where.free]
        flat = where.lift(np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2))
        inside = space.contains(flat)
        own = [flat[inside]]
        if times is not None:
            own = [np.insert(flat[inside], flat.shape[1], t, axis=1) for t in times]
        values.append([_values(shown, axes, inside, at) for at in own])
        points += own
        out.append(_plane(space, where, axes, values[-1], placements))
    notes = [placement.note for placement in placements]
    return {"kind": "map", "planes": out, "notes": notes, "scales": _scales(shown, values)}, points


def middle_planes(space: Domain) -> list[Section]:
    """Return the plane of a two-dimensional domain, or planes through the middle of others."""
    names, middle = space.coordinates, space.bounds.mean(axis=0)
    found = []
    for free in itertools.combinations(range(len(names)), 2):
        fixed = {n: float(middle[i]) for i, n in enumerate(names) if i not in free}
        found.append(section(space, names, fixed))
    return found[:_MOST_PLANES]


def _nodes(solution: Any, axis: int, bounds: FloatArray, count: int) -> FloatArray:
    """Return places along an axis, dense where the kernels of any unknown are."""
    bases = solution.approximation.bases.values()
    places = np.unique(np.concatenate([graded_axis(b, axis, bounds, count) for b in bases]))
    kept = np.rint(np.linspace(0, len(places) - 1, min(count, len(places)))).astype(np.int64)
    return places[kept]


def _values(
    shown: Sequence[Shown], axes: Sequence[FloatArray], inside: Flags, at: FloatArray
) -> dict[str, FloatArray]:
    """Return each quantity at the nodes of a plane, (rows, columns); NaN away from the domain."""
    found = {}
    for s in shown:
        values = np.full(len(inside), np.nan)
        if len(at):
            values[inside] = s.quantity.values(at)
        found[s.key] = with_margin(values.reshape(len(axes[1]), len(axes[0])), axes)
    return found


def _plane(
    space: Domain,
    where: Section,
    axes: Sequence[FloatArray],
    values: Sequence[dict[str, FloatArray]],
    placements: Sequence[Placement],
) -> dict[str, Any]:
    most = min(_MOST_ELLIPSES, _ALL_ELLIPSES // len(placements))
    # Of many moments there is room for rougher values only.
    pack = singles if len(values) == 1 else levels
    return {
        "title": where.title,
        "axes": list(where.labels),
        "x": doubles(axes[0]),
        "y": doubles(axes[1]),
        "outline": _outline(space, where),
        "frames": [{key: pack(v) for key, v in frame.items()} for frame in values],
        "states": [_state(p, lambda k: _packed_ellipses(k.on(where), most)) for p in placements],
    }


def _outline(space: Domain, where: Section) -> list[dict[str, str]]:
    """Return the closed curves of the boundary in a plane; none for a box, which its sides are."""
    path = None if space.is_box else outline_of(space, where)
    if path is None:
        return []
    vertices = np.asarray(path.vertices)
    codes = np.asarray(path.codes)
    starts = np.flatnonzero(codes == 1)
    return [doubles(part) for part in np.split(vertices, starts[1:])]


def _packed_ellipses(kernels: Kernels, most: int) -> dict[str, Any]:
    shown, left = kernels.thinned(most)
    c = shown.covariances
    entries = np.stack([c[:, 0, 0], c[:, 0, 1], c[:, 1, 1]], axis=1)
    return {"c": doubles(shown.centres), "e": doubles(entries), "left": left}


def _scales(
    shown: Sequence[Shown], planes: Sequence[Sequence[dict[str, FloatArray]]]
) -> dict[str, dict[str, Any]]:
    """Return one colour scale for each quantity, the same in all planes and at all moments."""
    scales = {}
    for s in shown:
        every = [frame[s.key] for plane in planes for frame in plane]
        ends = limits_of(every, s.quantity.logarithmic)
        ends = (0.0, 0.0) if math.isnan(ends[0]) else ends
        low, high, colours = colour_scale(ends, s.quantity)
        # All colours of a map as hexadecimal digits.
        table = colormaps[colours](np.linspace(0.0, 1.0, 256), bytes=True)[:, :3]
        digits = bytes(np.asarray(table, dtype=np.uint8)).hex()
        scales[s.key] = {"low": low, "high": high, "colours": digits}
    return scales
