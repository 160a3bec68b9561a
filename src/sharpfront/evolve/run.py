"""A run on a line: what holds for all its steps, and its state between two."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.radau import diagonal
from sharpfront.evolve.discretisation import Discrete
from sharpfront.evolve.mesh import Mesher
from sharpfront.evolve.settings import LINE_MARCH
from sharpfront.evolve.time_events import TimeEvents
from sharpfront.evolve.time_system import TimeSystem
from sharpfront.pieces.frame import Frame
from sharpfront.trust.narrow_data_in_time import Watch


@dataclass(frozen=True, eq=False)
class State:
    """A run between two steps: everything that the next step depends on."""

    t: float  # when
    frame: Frame  # the mesh, with the velocities to which the rates belong
    # Coefficients and their rates, (n, K).
    values: FloatArray
    rates: FloatArray
    dt: float  # the step to try next
    scale: FloatArray  # max(1, max|u|) so far, of each unknown, (K,)
    # The last step: its mesh as it is now, coefficients at its beginning and stages, (stages + 1,
    # n, K), and its length; None at a start.
    before: tuple[Frame, FloatArray, float] | None = None
    careful: int = 0  # steps that must not grow
    # What the last step left in time, as a share of what it might; zero at a start.
    late: float = 0.0
    unresolved: str = ""  # what is missed of a first state that cannot be resolved, in words
    # In what unit errors count on each element, (N, K), and how rough it is, (N,); None if that is
    # not known yet.
    unit: FloatArray | None = None
    rough: FloatArray | None = None
    # Coefficients of the weaker run in the same functions, (n, K).
    weak: FloatArray | None = None
    # A try of the next step, which was solved but may not stand: its mesh, coefficients at its
    # beginning and stages, and its length.
    ahead: tuple[Frame, FloatArray, float] | None = None

    def at(self, x: FloatArray) -> FloatArray:
        """Return the unknowns at positions, (n, K)."""
        return self.frame.evaluate(self.values, x)

    def weakly_at(self, x: FloatArray) -> FloatArray:
        """Return the same of the weaker run."""
        assert self.weak is not None
        return self.frame.evaluate(self.weak, x)


@dataclass(frozen=True, eq=False)
class Run:
    """What holds for all steps of one run."""

    discrete: Discrete  # equations and conditions
    mesher: Mesher  # functions on meshes
    tol: float  # of the steps, relative to max(1, max|u|)
    agenda: TimeEvents  # what happens when
    watches: tuple[Watch, ...]  # equations whose data may be narrow
    # Whether data may hide between the stages of a step: in equations, in conditions.
    looks: tuple[bool, bool]
    weak: Discrete  # equations and conditions of the weaker run

    @property
    def system(self) -> TimeSystem:
        """What is marched."""
        return self.discrete.system

    @property
    def span(self) -> tuple[float, float]:
        """Start and stop."""
        return self.system.span

    @cached_property
    def stages(self) -> int:
        """Those of each step.

        More of them gain nothing where rates jump with an unknown, nor where nothing damps errors,
        which go about as noise: in waves, and if the highest derivative along x is of odd order.
        """
        system = self.system
        waves = len(system.names) > self.stated or system.order % 2 == 1
        few = self.tol > LINE_MARCH.from_then or bool(system.gaps) or waves
        return LINE_MARCH.stages if few else LINE_MARCH.more_stages

    @cached_property
    def gain(self) -> float:
        """Which share of rates nodes have to explain if they move."""
        of_waves = len(self.system.names) > self.stated
        return LINE_MARCH.gain_of_waves if of_waves else LINE_MARCH.gain

    @cached_property
    def in_space(self) -> float:
        """What an element may leave out."""
        return LINE_MARCH.space * self.tol

    @cached_property
    def newton(self) -> float:
        """Where Newton's method stops."""
        return LINE_MARCH.newton * self.in_space

    @cached_property
    def in_time(self) -> float:
        """What the embedded formula of a step may leave."""
        return LINE_MARCH.time * float(self.tol ** ((self.stages + 1) / (2 * self.stages)))

    @cached_property
    def stated(self) -> int:
        """How many of the unknowns are those of the problem."""
        return len(self.system.problem.unknowns)

    @cached_property
    def at_nodes(self) -> slice:
        """The numbers of the values at the nodes."""
        return slice(None, None, self.mesher.tables.points)


def end_rates(values: FloatArray, dt: float) -> FloatArray:
    """Return the rates at the end of a step from coefficients at its beginning and stages."""
    inverse = diagonal(len(values) - 1).inverse
    return np.asarray(combined(inverse[-1:] / dt, values[1:] - values[0])[0])


def combined(shares: FloatArray, values: FloatArray) -> FloatArray:
    """Return sums over the first axis with shares (m, S), one for each of m."""
    flat = shares @ values.reshape(len(values), -1)
    return np.asarray(flat.reshape(-1, *values.shape[1:]))
