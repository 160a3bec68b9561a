"""Patches side by side as arrays and words, and back again."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import SharedFunctions, restored
from sharpfront.bases.edge_functions import restored_edge
from sharpfront.bases.lattice import Sides
from sharpfront.bases.layer_functions import LAYER, restored_layer
from sharpfront.bases.local_functions import HeldFunctions
from sharpfront.bases.patch import Patch
from sharpfront.bases.vertex_functions import restored_vertex
from sharpfront.maps import AxisMap, Chart, Quadrilateral, Shell, Strip

Parts = tuple[tuple[Patch, ...], tuple[bool, ...] | None, Sides | None, tuple[SharedFunctions, ...]]


def saved(
    patches: Sequence[Patch], sides: Sides, shared: Sequence[SharedFunctions]
) -> dict[str, Any]:
    """Return arrays and words from which `restored_parts` makes patches again."""
    charts = [p.chart.corners for p in patches if isinstance(p.chart, Quadrilateral)]
    strips = [p.chart for p in patches if isinstance(p.chart, Strip)]
    along = [np.concatenate([s.curve.ravel(), s.normals.ravel(), s.size]).tolist() for s in strips]
    whose = [i for i, p in enumerate(patches) if isinstance(p.chart, Strip)]
    shells = list(dict.fromkeys(p.chart for p in patches if isinstance(p.chart, Shell)))
    inside = [shells.index(p.chart) if isinstance(p.chart, Shell) else -1 for p in patches]
    along_shells = {
        "surfaces": np.array([[s.surface, s.normals] for s in shells]),
        "shells": np.array([s.size for s in shells]),
        "in_shells": np.array(inside),
    }
    return {
        "type": "patchwork",
        "low": np.stack([p.low for p in patches]),
        "high": np.stack([p.high for p in patches]),
        "strength": np.array([[m.strength for m in p.maps] for p in patches]),
        "decays": np.array([[m.decays for m in p.maps] for p in patches]),
        "functions": np.array([p.functions for p in patches]),
        "outside": np.array([p.cut is not None for p in patches]),
        **({"charts": np.array(charts)} if charts else {}),
        **({"strips": np.array(along), "on_strips": np.array(whose)} if strips else {}),
        **(along_shells if shells else {}),
        "regions": np.array(sides.regions),
        "edges": sides.edges,
        **{f"corner {k}": corner.state() for k, corner in enumerate(shared)},
    }


def restored_parts(state: dict[str, Any]) -> Parts:
    """Return patches, which are partly outside, their sides of curves, and what they share."""
    patches = []
    charts: list[Chart | None] = [None] * len(state["low"])
    if "charts" in state:
        corners = np.asarray(state["charts"]).tolist()
        charts = [Quadrilateral((tuple(a), tuple(b), tuple(c), tuple(d))) for a, b, c, d in corners]
    if "strips" in state:
        known: dict[bytes, Strip] = {}
        for i, numbers in zip(state["on_strips"], np.asarray(state["strips"]), strict=True):
            curve, normals = numbers[:-2].reshape(2, -1, 2)
            strip = Strip(curve, normals, float(numbers[-2]), float(numbers[-1]))
            charts[int(i)] = known.setdefault(numbers.tobytes(), strip)
    if "shells" in state:
        pairs = zip(np.asarray(state["surfaces"]), np.asarray(state["shells"]), strict=True)
        shells = [Shell(x, n, (float(a), float(b)), float(d)) for (x, n), (a, b, d) in pairs]
        charts = [shells[k] if k >= 0 else None for k in np.asarray(state["in_shells"]).tolist()]
    # What was saved before there were functions that decay has none.
    decays = state.get("decays", np.zeros_like(state["strength"]))
    sides = (state[name] for name in ("low", "high", "strength"))
    for chart, *own, functions in zip(charts, *sides, decays, state["functions"], strict=True):
        maps = tuple(AxisMap(*map(float, m)) for m in zip(*own, strict=True))
        patches.append(Patch(maps, tuple(int(k) for k in functions), chart))
    outside = tuple(bool(k) for k in state.get("outside", ())) or None
    beside = None
    if "regions" in state:
        beside = Sides(
            tuple(int(k) for k in state["regions"]), np.asarray(state["edges"]).reshape(-1, 7)
        )
    names = itertools.takewhile(state.__contains__, (f"corner {k}" for k in itertools.count()))
    again = restored if np.asarray(state["low"]).shape[1] == 2 else _restored_in_space
    shared = tuple(again(np.asarray(state[name])) for name in names)
    return tuple(patches), outside, beside, shared


def _restored_in_space(state: FloatArray) -> SharedFunctions:
    boxes = np.isnan(state[:, 0])
    if boxes.any():
        return HeldFunctions(_restored_in_space(state[~boxes]), state[boxes, 1:7].reshape(-1, 2, 3))
    if state[0, 0] == LAYER:
        return restored_layer(state)
    return restored_vertex(state) if state[0, 0] < 0 else restored_edge(state)
