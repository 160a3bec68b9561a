"""Two runs on patches between two steps as words and arrays, from which they go on.

Systems of the last step are not kept, nor how patches came about: a run that goes on differs by
what Newton's method leaves from one that was not interrupted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.in_time import KeptStep, PatchworkInTime
from sharpfront.bases.patchwork import restore_patchwork
from sharpfront.errors import ProblemError
from sharpfront.evolve.fingerprint import require_same
from sharpfront.evolve.marched import Way, packed_way, unpacked_way
from sharpfront.evolve.pair import Pair
from sharpfront.evolve.patchwork.places import MovingFrame
from sharpfront.evolve.patchwork.run import PatchRun, PatchRunState, PatchStep
from sharpfront.geometry import Box
from sharpfront.maps import Drift, restored_drift
from sharpfront.place.patches.cuts import Cell
from sharpfront.problem import Problem
from sharpfront.solution import Solution


def packed_patches(way: Way, problem: Problem) -> dict[str, Any]:
    """Return the state of both runs as words and arrays."""
    steps = [
        [s.start, s.stop, s.basis.state(), s.values, _packed_drift(s.drift)] for s in way.pair.steps
    ]
    both = {"coarse": _packed(way.pair.coarse), "fine": _packed(way.pair.fine)}
    return packed_way(way, problem, way.pair.fine.t) | both | {"steps": steps}


def _packed(state: PatchRunState) -> dict[str, Any]:
    return {
        "t": state.t,
        "patches": state.basis.state(),
        "values": state.values,
        "dt": state.dt,
        "scale": state.scale,
        "unit": state.unit,
        "before": list(state.before) if state.before else [],
        "carried": state.carried,
        "drift": _packed_drift(state.drift),
        "settling": state.settling,
        "missed": [] if state.missed is None else [state.missed],
    }


def _packed_drift(drift: Drift | None) -> FloatArray:
    return np.zeros(0) if drift is None else drift.state()


def resumed_on_patches(run: PatchRun, solution: Solution) -> Way:
    """Return the way that a solution has left behind."""
    saved = solution.checkpoint
    require_same(run.system.problem, saved)
    assert saved is not None
    if not isinstance(run.system.problem.domain, Box):
        # Patches that a boundary cuts know the domain, which is not saved with them.
        raise ProblemError("On patches resume= is known on boxes; solve this one from its start.")
    coarse, fine = (_unpacked(saved[name]) for name in ("coarse", "fine"))
    steps = tuple(_unpacked_step(words, coarse) for words in saved["steps"])
    return unpacked_way(solution, run.span[1], Pair(coarse, fine, steps), kept_steps(solution))


def _unpacked(words: Mapping[str, Any]) -> PatchRunState:
    before, basis = words["before"], restore_patchwork(words["patches"])
    return PatchRunState(
        float(words["t"]),
        tuple(map(Cell, basis.patches)),
        np.asarray(words["values"]),
        float(words["dt"]),
        np.asarray(words["scale"]),
        np.asarray(words["unit"]),
        (np.asarray(before[0]), float(before[1])) if before else None,
        carried=bool(words["carried"]),
        drift=restored_drift(words.get("drift", ())),
        settling=int(words.get("settling", 0)),
        missed=next(map(float, words.get("missed", ())), None),
        shared=basis.shared,
    )


def _unpacked_step(words: Sequence[Any], after: PatchRunState) -> PatchStep:
    start, stop, patches, values, *rest = words
    basis, drift = restore_patchwork(patches), restored_drift(rest[0] if rest else ())
    frame = None if drift is None else MovingFrame(drift, float(start))
    return PatchStep(float(start), float(stop), basis, np.asarray(values), after, 0, 0.0, frame)


def kept_steps(solution: Solution) -> list[KeptStep]:
    """Return the steps of a solution in the plane with the weights of all unknowns."""
    if not solution.history:
        return []
    basis = next(iter(solution.approximation.bases.values()))
    assert isinstance(basis, PatchworkInTime)
    return basis.states([solution.approximation.weights[name] for name in solution.unknowns])
