"""A run on patches between two steps as words and arrays, from which it goes on.

Systems of the last step are not kept, nor how patches came about: a run that goes on differs by
what Newton's method leaves from one that was not interrupted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.cut_cells import Region
from sharpfront.bases.in_time import KeptStep, PatchworkInTime
from sharpfront.bases.patchwork import PatchworkBasis, restore_patchwork
from sharpfront.bases.solid_cut_cells import SolidRegion
from sharpfront.errors import ProblemError
from sharpfront.evolve.fingerprint import require_same
from sharpfront.evolve.patchwork.embedded_run import WeakerPatches, WeakerState
from sharpfront.evolve.patchwork.run import PatchRun, PatchRunState
from sharpfront.evolve.run_log import RunLog, packed_log, unpacked_log
from sharpfront.maps import Drifts, Strip, restored_drift
from sharpfront.place.patches.cuts import Cell
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.problem import Problem
from sharpfront.solution import Solution


def packed_patches(log: RunLog, problem: Problem) -> dict[str, Any]:
    """Return a run as words and arrays."""
    return packed_log(log, problem) | {"on patches": _packed(log.state)}


def _packed(state: PatchRunState) -> dict[str, Any]:
    return {
        "t": state.t,
        "patches": state.basis.state(),
        "values": state.values,
        "weak": state.weak.values,
        "less": state.weak.patches.less,
        "dt": state.dt,
        "scale": state.scale,
        "unit": state.unit,
        "before": list(state.before) if state.before else [],
        "carried": state.carried,
        "drift": _packed_drift(state.drift),
        "settling": state.settling,
        "missed": [] if state.missed is None else [state.missed],
        "lost": state.lost,
    }


def _packed_drift(drift: Drifts | None) -> FloatArray:
    return np.zeros(0) if drift is None else drift.state()


def resumed_on_patches(run: PatchRun, solution: Solution) -> RunLog:
    """Return the run that a solution has left behind."""
    saved = solution.checkpoint
    require_same(run.system.problem, saved)
    assert saved is not None
    state = _unpacked(saved["on patches"], run.meshing.tiling)
    return unpacked_log(solution, run.span[1], state, kept_steps(solution))


def _unpacked(words: Mapping[str, Any], tiling: Tiling) -> PatchRunState:
    before, basis = words["before"], _in_domain(restore_patchwork(words["patches"]), tiling)
    return PatchRunState(
        float(words["t"]),
        tuple(map(Cell, basis.patches)),
        np.asarray(words["values"]),
        WeakerState(WeakerPatches(basis, np.asarray(words["less"])), np.asarray(words["weak"])),
        float(words["dt"]),
        np.asarray(words["scale"]),
        np.asarray(words["unit"]),
        (np.asarray(before[0]), float(before[1])) if before else None,
        carried=bool(words["carried"]),
        drift=restored_drift(words.get("drift", ())),
        settling=int(words.get("settling", 0)),
        missed=next(map(float, words.get("missed", ())), None),
        lost=float(words["lost"]),
        shared=basis.shared,
    )


def _in_domain(basis: PatchworkBasis, tiling: Tiling) -> PatchworkBasis:
    """Return patches that know the domain, which is not saved: what cuts them, and its strips."""
    regions = _regions_of(basis, tiling)
    strips = {_told(b.chart): b.chart for b in tiling.blocks if isinstance(b.chart, Strip)}
    patches = []
    for patch, number in zip(basis.patches, basis.sides.regions, strict=True):
        chart = patch.chart
        if isinstance(chart, Strip):
            chart = strips.get(_told(chart))
            if chart is None:
                raise ProblemError(
                    "resume= goes on with patches along curves where these are the same; with this "
                    "end of time they are others. Solve the problem from its start."
                )
        region = regions.get(number) if chart is None else None
        patches.append(replace(patch, chart=chart, region=region))
    return PatchworkBasis(tuple(patches), shared=basis.shared)


def _regions_of(basis: PatchworkBasis, tiling: Tiling) -> dict[int, Region | SolidRegion]:
    """Return what of a domain strips leave, by the numbers that patches have it under."""
    regions = list(dict.fromkeys(b.region for b in tiling.blocks if b.region is not None))
    numbers, edges = basis.sides.regions, basis.sides.edges
    if len(regions) < 2:
        return dict.fromkeys(numbers, regions[0]) if regions else {}
    rims = {k: edges[edges[:, 6] == k, :6] for k in dict.fromkeys(numbers)}
    return {
        k: region
        for k, rim in rims.items()
        for region in regions
        if isinstance(region, Region) and np.array_equal(region.strip_rim.table, rim)
    }


def _told(strip: Strip) -> tuple[bytes, bytes, float, float]:
    """Return what tells strips from each other."""
    return strip.curve.tobytes(), strip.normals.tobytes(), strip.length, strip.depth


def kept_steps(solution: Solution) -> list[KeptStep]:
    """Return the steps of a solution in the plane with the weights of all unknowns."""
    if not solution.history:
        return []
    basis = next(iter(solution.approximation.bases.values()))
    assert isinstance(basis, PatchworkInTime)
    return basis.states([solution.approximation.weights[name] for name in solution.unknowns])
