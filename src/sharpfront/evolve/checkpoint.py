"""A run between two steps as words and arrays, from which it goes on to the same bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.fingerprint import require_same
from sharpfront.evolve.run import State
from sharpfront.evolve.run_log import RunLog, packed_log, unpacked_log
from sharpfront.evolve.time_system import TimeSystem
from sharpfront.pieces.elements import reference
from sharpfront.pieces.frame import Frame
from sharpfront.pieces.slabs import Slab, SlabBasis
from sharpfront.solution import Solution

# The step's mesh and its coefficients, (stages + 1, n, K).
Kept = tuple[Slab, FloatArray]


def packed_line(log: RunLog, system: TimeSystem) -> dict[str, Any]:
    """Return a run as words and arrays."""
    state: State = log.state
    before = state.before
    return packed_log(log, system.problem) | {
        "state": {
            "t": state.t,
            "points": state.frame.tables.points,
            "nodes": state.frame.nodes,
            "velocities": state.frame.velocities,
            "values": state.values,
            "weak": state.weak,
            "rates": state.rates,
            "dt": state.dt,
            "scale": state.scale,
            # The last step, empty if there was none.
            "before": []
            if before is None
            else [before[1], before[2], before[0].nodes, before[0].velocities],
            "careful": state.careful,
            "late": state.late,
            "unresolved": state.unresolved,
        },
        "rates": {
            name: np.concatenate([w[:, :, i].ravel() for _, w in log.kept] or [np.zeros(0)])
            for i, name in enumerate(system.names)
            if name not in system.problem.unknowns
        },
    }


def resumed_line(system: TimeSystem, solution: Solution) -> RunLog:
    """Return the run that a solution has left behind."""
    saved = solution.checkpoint
    require_same(system.problem, saved)
    assert saved is not None
    state = _state_unpacked(saved["state"], system)
    return unpacked_log(solution, system.span[1], state, _kept(solution, system))


def _state_unpacked(words: Mapping[str, Any], system: TimeSystem) -> State:
    tables = reference(system.continuity, int(words["points"]))
    nodes, velocities = np.asarray(words["nodes"]), np.asarray(words["velocities"])
    frame, before = (
        Frame(tables, nodes, velocities, system.periodic, system.layers),
        words["before"],
    )
    last = frame
    if before and not np.array_equal(before[2:], [nodes, velocities]):
        # Nodes were placed anew after the last step.
        last = replace(frame, nodes=np.asarray(before[2]), velocities=np.asarray(before[3]))
    return State(
        float(words["t"]),
        frame,
        np.asarray(words["values"]),
        np.asarray(words["rates"]),
        float(words["dt"]),
        np.asarray(words["scale"]),
        (last, np.asarray(before[0]), float(before[1])) if before else None,
        int(words["careful"]),
        float(words["late"]),
        str(words["unresolved"]),
        weak=np.asarray(words["weak"]),
    )


def _kept(solution: Solution, system: TimeSystem) -> Sequence[Kept]:
    """Return the slabs of a solution with the weights of all unknowns and their rates."""
    saved = solution.checkpoint
    assert saved is not None
    if not solution.history:
        return []
    basis = next(iter(solution.approximation.bases.values()))
    assert isinstance(basis, SlabBasis)
    rows = [solution.approximation.weights[name] for name in solution.unknowns]
    rows += list(saved["rates"].values())
    ends = np.cumsum([slab.size for slab in basis.slabs])[:-1]
    parts = zip(*(np.split(row, ends) for row in rows), strict=True)
    return [
        (
            replace(slab, frame=replace(slab.frame, bends=system.layers)),
            np.stack([p.reshape(slab.stages + 1, -1) for p in part], axis=2),
        )
        for slab, part in zip(basis.slabs, parts, strict=True)
    ]
