"""The stages of a step by Newton's method, and what the step leaves in time."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.radau import extrapolated, interpolation, left_out, stage_nodes
from sharpfront.evolve.radau_step import Factors, Step
from sharpfront.evolve.run import Run, State, combined
from sharpfront.evolve.settings import LINE_MARCH
from sharpfront.evolve.stage_defect import unseen
from sharpfront.pieces.frame import Frame


class Solved(NamedTuple):
    """Whether Newton's method met the stages, with the factors of their systems."""

    factors: Factors | None  # None where it failed
    iterations: int
    start: FloatArray  # what the embedded formula leaves at the beginning, (size,)
    # How many times smaller the second change was than the first; infinite if there was none.
    contraction: float = np.inf
    left: float = np.inf  # what changes to come are taken to add up to, in units


def solved_stages(
    step: Step,
    scale: FloatArray,
    unit: FloatArray,
    small: float,
    most: float = 0.0,
    contraction: float = np.inf,
) -> Solved:
    """Solve the stages by Newton's method with one matrix, its iterates mixed.

    It stops where changes to come are small in units of errors at the nodes, (nodes, K), or a tenth
    of the first one, if that is not the most that may be left; scales are those of the unknowns.
    The contraction is what a first change is taken to be followed by, if that is known.
    """
    levels, before = step.values[1:], step.radau.reals
    nodes = slice(None, None, step.frame.tables.points)
    mixer, last, q, slow, pace = step.mixer, np.inf, contraction, 0.0, np.inf
    mixer.begin(levels, scale)
    residual, sizes = step.residual(first=True), np.empty_like(levels[:, nodes])
    try:
        factors = step.factored()
    except np.linalg.LinAlgError:
        return Solved(None, 1, residual[0])
    for i in range(LINE_MARCH.iterations):
        if i > 0:
            residual = step.residual(first=False)
        change = mixer.slot
        step.change(factors, residual[before:], change.reshape(len(levels), -1), first=i == 0)
        np.absolute(change[:, nodes], out=sizes)
        np.divide(sizes, unit, out=sizes)
        size = float(np.maximum.reduce(sizes, axis=None))
        if not math.isfinite(size):
            return Solved(None, i + 1, residual[0])
        if i == 0:
            small = max(small, min(LINE_MARCH.digit * size, most))
        else:
            # Mixed changes do not fall evenly: that they do not is told by two of them.
            pace, q = math.sqrt(q * size / last), size / last
            contraction, slow = q if i == 1 else contraction, max(slow, q)
        share = max(math.sqrt(q), slow, LINE_MARCH.steady)
        left = size * share / (1 - share) if share < 0.5 else size
        if min(left, size) < small:
            mixer.mix()
            return Solved(factors, i + 1, residual[0], contraction, LINE_MARCH.told * left)
        if i > 1 and (
            pace > 1
            or size * pace ** (LINE_MARCH.iterations - 1 - i) / (1 - min(pace, 0.99)) > 1e3 * small
        ):
            return Solved(None, i + 1, residual[0])
        mixer.mix()
        last = size
    return Solved(None, LINE_MARCH.iterations, residual[0])


def guessed(state: State, frame: Frame, dt: float, stages: int) -> FloatArray:
    """Return the state and stages after it in a frame, as the last step's polynomials go on.

    Those of a try of the same step that was no shorter are within it, and better.
    """
    values, nodes = np.empty((stages + 1, *state.values.shape)), stage_nodes(stages)
    values[0] = state.values
    if state.ahead is not None and dt <= state.ahead[2]:
        old, before, last = state.ahead
        later = combined(interpolation(nodes * (dt / last), stages), before)
    elif state.before is not None:
        old, before, last = state.before
        flat = extrapolated(before.reshape(len(before), -1), 1.0 + nodes * (dt / last))
        later = flat.reshape(stages, *before.shape[1:])
    else:
        values[1:] = state.values
        return values
    if old.nodes is frame.nodes:
        apart = np.abs(frame.velocities - old.velocities).max()
        if dt * apart <= LINE_MARCH.parted * frame.lengths[0].min():
            values[1:] = later
            return values
    # Nodes were placed anew, or go otherwise.
    values[1:] = old.carried(frame, nodes * dt, later)
    return values


def lateness(run: Run, step: Step, state: State, solved: Solved, unit: FloatArray) -> float:
    """Return what a step leaves in time, as a share of what it may, to the power s + 1."""
    nodes, during = run.at_nodes, LINE_MARCH.during * run.tol
    embedded = _embedded(run, step, solved, unit)
    missed = left_out(step.values[:, nodes] / unit)
    late = max(embedded / run.in_time, missed / during)
    if state.before is None and step.dt > LINE_MARCH.soonest * (run.span[1] - run.span[0]):
        # After a start rates may jump, and the step is of no higher order than the formula.
        layers = _missed_in_layers(run, step, state.scale) / (LINE_MARCH.early * during)
        late = max(late, embedded / run.tol, layers)
    if late > 1.0 or not any(run.looks):
        return late
    assert solved.factors is not None
    missed = unseen(step, solved.factors.real, unit, run.span, run.looks[0])
    return max(late, missed / during)


def _missed_in_layers(run: Run, step: Step, scale: FloatArray) -> float:
    """Return what polynomials leave out in elements in which layers may begin.

    Layers at the ends, and where coefficients break, are thinner than elements at first: nodes do
    not see them. Elsewhere is only how an interpolant settles, far below what elements leave out.
    """
    beside = run.mesher.beside_breaks(step.frame)
    own = (step.frame.gathered(step.values) * step.moments.d.swapaxes(0, 1))[..., beside]
    own = np.tensordot(own, step.frame.tables.inside(0)[0], (0, 1))
    return max(left_out(u) / float(size) for u, size in zip(own, scale, strict=True))


def _embedded(run: Run, step: Step, solved: Solved, unit: FloatArray) -> float:
    """Return the difference to the embedded formula, filtered by the real factor."""
    lay, residual = step.layout, solved.start
    # Conditions hold at the start and at the end.
    residual[: lay.left] = 0.0
    residual[lay.size - len(run.discrete.sides[1]) :] = 0.0
    assert solved.factors is not None
    found = lay.taken(lay.solved(solved.factors.real, lay.placed(residual)))
    error = found.reshape(step.values.shape[1:])[run.at_nodes]
    return float((np.abs(error) / unit).max())
