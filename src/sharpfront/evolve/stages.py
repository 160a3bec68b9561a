"""The stages of a step by Newton's method, and what the step leaves in time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from sharpfront.arrays import FloatArray
from sharpfront.evolve.radau_step import Factors, Step
from sharpfront.evolve.run import Run, State, combined
from sharpfront.evolve.unseen import unseen
from sharpfront.pieces.radau import STAGES, diagonal, interpolation, left_out, stage_nodes

# Newton's iterations, and how many of them are mixed.
ITERATIONS, MIXED = 10, 3
# What a first step may leave out inside it, of what others may: where rates jump at the start its
# coefficients in time fall slowly, and more than is seen is left out.
EARLY = 0.1
# What changes within this share of the span after a start was rounded, and fades.
SOONEST = 1e-8


@dataclass(frozen=True, eq=False)
class Solved:
    """The stages, and the factors of their systems; None where Newton's method failed."""

    levels: FloatArray
    factors: Factors | None
    iterations: int


def solved_stages(run: Run, step: Step, state: State, unit: FloatArray) -> Solved:
    """Return the stages by Newton's method with one matrix, its iterates mixed."""
    levels = _guess(step, state)
    inverse = diagonal().inverse / step.dt
    small = run.settings.newton * run.in_space
    factors: Factors | None = None
    mixer, last = _Mixer(levels, 1.0 / state.scale), np.inf
    for i in range(ITERATIONS):
        rates = combined(inverse, levels - state.values)
        fields = step.stages.fields(levels, rates)
        residual = step.stages.residual(levels, rates, fields)
        try:
            factors = factors or step.factored(levels, rates, fields)
        except np.linalg.LinAlgError:
            return Solved(levels, None, i + 1)
        change = step.change(factors, residual).reshape(levels.shape)
        size = float((np.abs(change[:, run.at_nodes]) / unit).max())
        if not np.isfinite(size):
            return Solved(levels, None, i + 1)
        q = size / last
        if size < small or (i and q < 1 and size * q / (1 - q) < small):
            return Solved(mixer.next(levels, change), factors, i + 1)
        if i > 1 and (q > 1 or size * q ** (ITERATIONS - 1 - i) / (1 - min(q, 0.99)) > 1e3 * small):
            return Solved(levels, None, i + 1)
        levels, last = mixer.next(levels, change), size
    return Solved(levels, None, ITERATIONS)


def _guess(step: Step, state: State) -> FloatArray:
    """Return the stages as the last step's polynomials go on."""
    if state.before is None:
        return np.repeat(state.values[None], STAGES, axis=0)
    values, dt = state.before
    ahead = interpolation(1.0 + stage_nodes() * (step.dt / dt))
    return np.asarray(combined(ahead, values) + (state.values - values[-1]))


class _Mixer:
    """Anderson's way: each iterate is mixed with those before so that their changes cancel.

    Changes of each unknown count in a unit, (K,).
    """

    def __init__(self, levels: FloatArray, unit: FloatArray) -> None:
        # One unknown needs no weights: only how changes compare counts.
        self.weight = np.broadcast_to(unit, levels.shape).ravel() if len(unit) > 1 else None
        # Iterates and their changes, the last ones in turn.
        self.kept = np.empty((2, MIXED, levels.size))
        self.count = 0

    def next(self, levels: FloatArray, change: FloatArray) -> FloatArray:
        """Return the iterate after this one, by Newton's change of it."""
        new = levels + change
        if self.count:
            kept = self.kept[:, : min(self.count, MIXED)]
            c = change.ravel()
            differences = c - kept[1]
            weighted = differences if self.weight is None else differences * self.weight
            gram = weighted @ weighted.T
            # What hardly differs from the others has no weight of its own.
            gram.flat[:: len(gram) + 1] *= 1.0 + 1e-13
            right = weighted @ (c if self.weight is None else c * self.weight)
            fit, info = lapack.dgesv(gram, right)[2:]
            if not info:
                differences += levels.ravel() - kept[0]
                new -= (fit @ differences).reshape(new.shape)
        at = self.count % MIXED
        self.kept[0, at], self.kept[1, at] = levels.ravel(), change.ravel()
        self.count += 1
        return np.asarray(new)


def lateness(run: Run, step: Step, state: State, solved: Solved, unit: FloatArray) -> float:
    """Return what a step leaves in time, as a share of what it may, to the power s + 1."""
    # After a start rates may jump, and the step is of no higher order than the formula.
    early = state.before is None and step.dt > SOONEST * (run.span[1] - run.span[0])
    most = min(run.in_time, run.tol) if early else run.in_time
    late = _embedded(run, step, state, solved, unit) / most
    if late > 1.0:
        return late
    nodes, during = run.at_nodes, run.settings.during * run.tol
    values = np.concatenate([state.values[None], solved.levels])
    late = max(late, left_out(values[:, nodes] / unit) / during)
    if early:
        # Layers at the ends are thinner than elements then: nodes do not see them.
        own = step.frame.gathered(values) * step.all.d[:, None]
        own = np.tensordot(own, step.frame.tables.inside(0)[0], (0, 1))
        missed = max(left_out(u) / size for u, size in zip(own, state.scale, strict=True))
        late = max(late, missed / (EARLY * during))
    if late > 1.0 or not any(run.looks):
        return late
    assert solved.factors is not None
    missed = unseen(
        step, state.values, solved.levels, solved.factors.real, unit, run.span, run.looks[0]
    )
    return max(late, missed / during)


def _embedded(run: Run, step: Step, state: State, solved: Solved, unit: FloatArray) -> float:
    """Return the difference to the embedded formula, filtered by the real factor."""
    radau, lay = diagonal(), step.layout
    shares = -radau.embedded / (radau.gamma * step.dt)
    rates = combined(shares[None], solved.levels - state.values)
    residual = step.start.residual(state.values[None], rates)[0]
    # Conditions hold at the start and at the end.
    residual[: lay.left] = 0.0
    residual[lay.size - len(run.discrete.sides[1]) :] = 0.0
    assert solved.factors is not None
    found = lay.taken(lay.solved(solved.factors.real, -lay.placed(residual)))
    error = found.reshape(state.values.shape)[run.at_nodes]
    return float((np.abs(error) / unit).max())
