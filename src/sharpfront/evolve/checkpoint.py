"""Two runs between two steps as words and arrays, from which they go on to the same bits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import ProblemError
from sharpfront.evolve.equations import TimeSystem
from sharpfront.evolve.fingerprint import fingerprint, require_same
from sharpfront.evolve.marched import Marched
from sharpfront.evolve.pair import Pair
from sharpfront.evolve.run import State, Taken
from sharpfront.evolve.trail import Mark
from sharpfront.history import TimeStep
from sharpfront.pieces.elements import reference
from sharpfront.pieces.frame import Frame
from sharpfront.pieces.radau import STAGES
from sharpfront.pieces.slabs import Slab, SlabBasis
from sharpfront.solution import Solution

# The step's mesh and its coefficients, (STAGES + 1, n, K).
Kept = tuple[Slab, FloatArray]


@dataclass(frozen=True, eq=False)
class Way(Marched):
    """What a pair of runs on a line has left behind."""

    pair: Pair[Taken]  # after the last step
    good: Pair[Taken]  # after the last step that can be trusted

    def cut(self, count: int) -> Way:
        """Return the way up to some of its steps, after which the pair is the good one."""
        return replace(super().cut(count), pair=self.good)


class Packed(Mapping[str, Any]):
    """The state of both runs as words and arrays, made when it is looked at."""

    def __init__(self, way: Way, system: TimeSystem) -> None:
        self._way, self._system = way, system

    @cached_property
    def _words(self) -> dict[str, Any]:
        way, pair, system = self._way, self._way.pair, self._system
        return {
            "problem": fingerprint(system.problem, pair.fine.t),
            "share": way.share,
            "number": way.number,
            "notes": list(way.notes),
            "marks": np.array(way.marks).reshape(-1, len(Mark._fields)),
            "t": pair.fine.t,
            "coarse": _packed(pair.coarse),
            "fine": _packed(pair.fine),
            "steps": [_packed_step(s) for s in pair.steps],
            "rates": {
                name: np.concatenate([w[:, :, i].ravel() for _, w in way.kept] or [np.zeros(0)])
                for i, name in enumerate(system.names)
                if name not in system.problem.unknowns
            },
        }

    def __getitem__(self, key: str) -> Any:
        return self._words[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self._words,)


def resumed(system: TimeSystem, stop: float, solution: Solution) -> Way:
    """Return the way that a solution has left behind."""
    saved = solution.checkpoint
    require_same(system.problem, saved)
    assert saved is not None
    if saved["t"] > stop:
        raise ProblemError(
            f"The solution to resume has reached t = {saved['t']:.6g} already, beyond the end of "
            f"time, {stop:.6g}."
        )
    coarse, fine = (_unpacked(saved[name], system) for name in ("coarse", "fine"))
    steps = tuple(_unpacked_step(words, coarse) for words in saved["steps"])
    pair = Pair(coarse, fine, steps)
    return Way(
        pair,
        pair,
        kept=tuple(_kept(solution, system)),
        notes=tuple(saved["notes"]),
        share=float(saved["share"]),
        number=int(saved["number"]),
        records=tuple(r for r in solution.history if isinstance(r, TimeStep)),
        marks=tuple(Mark(*map(float, row)) for row in np.asarray(saved["marks"])),
    )


def _packed(state: State) -> dict[str, Any]:
    return {
        "t": state.t,
        "points": state.frame.tables.points,
        "nodes": state.frame.nodes,
        "velocities": state.frame.velocities,
        "values": state.values,
        "rates": state.rates,
        "dt": state.dt,
        "scale": state.scale,
        "before": list(state.before) if state.before else [],
        "careful": state.careful,
        "late": state.late,
        "unresolved": state.unresolved,
    }


def _unpacked(words: Mapping[str, Any], system: TimeSystem) -> State:
    tables = reference(system.continuity, int(words["points"]))
    nodes, velocities = np.asarray(words["nodes"]), np.asarray(words["velocities"])
    before = words["before"]
    return State(
        float(words["t"]),
        Frame(tables, nodes, velocities, system.periodic, system.layers),
        np.asarray(words["values"]),
        np.asarray(words["rates"]),
        float(words["dt"]),
        np.asarray(words["scale"]),
        (np.asarray(before[0]), float(before[1])) if before else None,
        int(words["careful"]),
        float(words["late"]),
        str(words["unresolved"]),
    )


def _packed_step(step: Taken) -> list[Any]:
    slab = step.slab
    return [slab.start, slab.stop, slab.frame.nodes, slab.frame.velocities, step.values]


def _unpacked_step(words: Sequence[Any], after: State) -> Taken:
    start, stop = float(words[0]), float(words[1])
    nodes, velocities, values = (np.asarray(part) for part in words[2:])
    frame = replace(after.frame, nodes=nodes, velocities=velocities)
    return Taken(Slab(start, stop, frame), values, after)


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
            np.stack([p.reshape(STAGES + 1, -1) for p in part], axis=2),
        )
        for slab, part in zip(basis.slabs, parts, strict=True)
    ]
