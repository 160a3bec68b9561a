"""A run between two steps as words and arrays, from which it goes on to the same bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import Outcome, ProblemError
from sharpfront.evolve.ending import Part, trusted
from sharpfront.evolve.equations import TimeSystem
from sharpfront.evolve.fingerprint import fingerprint, require_same
from sharpfront.evolve.placing import Limits, Run
from sharpfront.evolve.state import Moment
from sharpfront.evolve.tracking import Shape
from sharpfront.evolve.trail import EVEN, Mark, Profile
from sharpfront.history import TimeStep
from sharpfront.mixture import Mixture
from sharpfront.pieces.radau import STAGES
from sharpfront.pieces.slabs import Slab, SlabBasis
from sharpfront.solution import Solution

Taken = tuple[Slab, FloatArray]


@dataclass(frozen=True, eq=False)
class March:
    """What a run has left behind.

    Parameters
    ----------
    run
        After the last step.
    taken, records, marks
        The steps, their records, and how errors grew in them.
    notes
        What was done to the initial state, in words.
    profile
        The tolerance that steps kept to.
    number
        How many runs there have been, this one included.
    good
        The run after the last step that can be trusted.
    ended
        None if the end of time was reached, else why not.
    """

    run: Run
    notes: list[str]
    good: Run
    taken: tuple[Taken, ...] = ()
    records: tuple[TimeStep, ...] = ()
    marks: tuple[Mark, ...] = ()
    profile: Profile = EVEN
    number: int = 1
    ended: Outcome | None = None

    def part(self, tol: float) -> Part:
        """Return the steps that can be trusted."""
        return trusted(self.records, tol, bool(self.notes))

    def estimate(self, tol: float) -> float:
        """Return the largest error of any step, from the first trusted one on."""
        part = self.part(tol)
        kept = self.records[part.first if part.first < part.last else 0 :]
        return max((r.error_estimate for r in kept), default=float("inf"))

    def cut(self, count: int, run: Run) -> March:
        """Return the march up to some of its steps, after which the run is given."""
        return replace(
            self,
            run=run,
            taken=self.taken[:count],
            records=self.records[:count],
            marks=self.marks[:count],
        )


def packed_run(march: March) -> dict[str, Any]:
    """Return the state of a run as words and arrays."""
    run, now = march.run, march.run.now
    names, unknowns = now.system.names, now.system.problem.unknowns
    return {
        "problem": fingerprint(now.system.problem, now.t),
        "profile": [march.profile.times, march.profile.shares],
        "marks": np.array(march.marks).reshape(-1, len(Mark._fields)),
        "number": march.number,
        "notes": march.notes,
        "t": now.t,
        "kernels": now.kernels,
        "mixture": [now.mixture.weights, now.mixture.means, now.mixture.covariances],
        "shape": [now.shape.radius, now.shape.evenness, now.shape.even],
        "zero": now.zero,
        "weights": now.weights,
        "dt": run.dt,
        "error": run.error,
        "scale": run.scale,
        "idle": run.idle,
        "taken": run.taken,
        "pace": run.pace,
        "before": list(run.before) if run.before else [],
        "rates": {
            name: np.concatenate([w[:, i].ravel() for _, w in march.taken] or [np.zeros(0)])
            for i, name in enumerate(names)
            if name not in unknowns
        },
    }


def resumed(system: TimeSystem, limits: Limits, solution: Solution) -> March:
    """Return the march that a solution has left behind."""
    saved = solution.checkpoint
    require_same(system.problem, saved)
    assert saved is not None
    if saved["t"] > limits.stop:
        raise ProblemError(
            f"The solution to resume has reached t = {saved['t']:.6g} already, beyond the end of "
            f"time, {limits.stop:.6g}."
        )
    run = _unpacked_run(saved, system)
    return March(
        run,
        list(saved["notes"]),
        run,
        tuple(_slabs(solution)),
        tuple(r for r in solution.history if isinstance(r, TimeStep)),
        tuple(Mark(*map(float, row)) for row in np.asarray(saved["marks"])),
        Profile(*(np.asarray(a) for a in saved["profile"])),
        int(saved["number"]),
    )


def _unpacked_run(saved: Mapping[str, Any], system: TimeSystem) -> Run:
    now = Moment(
        system,
        float(saved["t"]),
        int(saved["kernels"]),
        Mixture(*saved["mixture"]),
        Shape(*saved["shape"]),
        float(saved["zero"]),
        np.asarray(saved["weights"]),
    )
    before = saved["before"]
    return Run(
        now,
        float(saved["dt"]),
        np.asarray(saved["error"]),
        np.asarray(saved["scale"]),
        int(saved["idle"]),
        int(saved["taken"]),
        float(saved["pace"]),
        (np.asarray(before[0]), float(before[1])) if before else None,
    )


def _slabs(solution: Solution) -> Sequence[Taken]:
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
        (slab, np.stack([p.reshape(STAGES + 1, -1) for p in part], axis=1))
        for slab, part in zip(basis.slabs, parts, strict=True)
    ]
