"""A run on patches: what holds for all its steps, and its state between two."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import CornerFunctions, SharedFunctions
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.bases.radau import STAGES
from sharpfront.evolve.patchwork.cells import Meshing
from sharpfront.evolve.patchwork.embedded_run import WEAKER_STAGES, WeakerState
from sharpfront.evolve.patchwork.jumping_values import JumpingValues
from sharpfront.evolve.patchwork.newton import StageSolver
from sharpfront.evolve.patchwork.row_points import MovingFrame
from sharpfront.evolve.patchwork.settings import MARCH
from sharpfront.evolve.patchwork.stages import PatchDiscrete
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.evolve.plane_error_growth import PlaneErrorGrowth
from sharpfront.evolve.time_events import TimeEvents
from sharpfront.maps import Drifts
from sharpfront.place.patches.cuts import Cell


@dataclass(frozen=True, eq=False)
class PatchRunState:
    """A run between two steps.

    Parameters
    ----------
    t
        When.
    cells
        The patches.
    values
        Weights of unknowns and of their rates, (2, K, n).
    weak
        The weaker run.
    dt
        The step to try next.
    scale
        max(1, max|u|) so far, of each unknown, (K,).
    unit
        In what units errors count, (K,): the scale, or less where errors grow later.
    before
        Weights at the beginning and the stages of the last step on these patches, (S + 1, K, n),
        and its length; None at a start.
    tried
        The same of a step from here that was taken on other patches; None where there is none.
    carried
        Whether the unknowns were put on other patches since the last step.
    drift
        With what velocity patches go along in the next step; None where they stay.
    settling
        Steps that are yet to be taken whatever they leave out in time.
    missed
        When conditions were missed last, from when on layers grow along walls; None if never.
    lost
        What patches missed of the initial state, in units of the scale, where nothing spreads it.
    shared
        Functions of all patches, whose weights come last.
    """

    t: float
    cells: tuple[Cell, ...]
    values: FloatArray
    weak: WeakerState
    dt: float
    scale: FloatArray
    unit: FloatArray
    before: tuple[FloatArray, float] | None = None
    tried: tuple[FloatArray, float] | None = None
    carried: bool = False
    drift: Drifts | None = None
    settling: int = 0
    missed: float | None = None
    lost: float = 0.0
    shared: tuple[SharedFunctions, ...] = ()

    @cached_property
    def basis(self) -> PatchworkBasis:
        """The patches."""
        return PatchworkBasis(tuple(c.patch for c in self.cells), shared=self.shared)

    @cached_property
    def frame(self) -> MovingFrame | None:
        """How patches go along in the next step; None where they stay."""
        return None if self.drift is None else MovingFrame(self.drift, self.t)


@dataclass(eq=False)
class PatchRun:
    """What holds for all steps of one run, and the systems of the last one.

    Parameters
    ----------
    system
        What is marched.
    meshing
        How patches are made.
    tol
        Of the steps, relative to max(1, max|u|).
    agenda
        What happens when.
    jumping
        Where boundary values jump.
    corners
        Functions of corners of materials.
    """

    system: PlaneSystem
    meshing: Meshing
    tol: float
    agenda: TimeEvents
    jumping: JumpingValues
    corners: tuple[CornerFunctions, ...] = ()

    @cached_property
    def strict(self) -> StageSolver:
        """What solves its steps."""
        return self._solver(STAGES)

    @cached_property
    def weaker(self) -> StageSolver:
        """What solves those of the weaker run."""
        return self._solver(WEAKER_STAGES)

    def _solver(self, stages: int) -> StageSolver:
        along = self.meshing.tiling.chords is not None
        small = MARCH.newton * self.tol * (MARCH.held_front if along else 1.0)
        return StageSolver(self.system, self.meshing.tiling, self.jumping, small, stages)

    @property
    def span(self) -> tuple[float, float]:
        """Start and stop."""
        span = self.system.problem.time
        assert span is not None
        return span

    @cached_property
    def _swelling(self) -> PlaneErrorGrowth:
        return PlaneErrorGrowth(self.system.problem)

    def shares(
        self, points: FloatArray, values: FloatArray, sizes: FloatArray, t: float
    ) -> FloatArray:
        """Return by how much less than the scale errors may be from a moment on (`swelling`)."""
        ahead = self.agenda.ahead(t, self.span[1])
        return self._swelling.shares(points, values, sizes, ahead, self.span[1])

    @cached_property
    def follows(self) -> bool:
        """Whether patches may go along: in boxes, with nothing in the equations held in place.

        Rates must stand alone, for what stands for them in patches that go along is known of u_t.
        """
        problem = self.system.problem
        leaves = [d for e in self.system.equations for d in e.derivatives if d.orders[2]]
        return (
            problem.domain.is_box
            and not problem.further
            and not self.jumping.held
            and not problem.is_singular
            and not any(len(own) for own in self.meshing.lines)
            and all(d.orders == (0, 0, 1) for d in leaves)
        )

    def discrete(self, basis: PatchworkBasis, frame: MovingFrame | None = None) -> PatchDiscrete:
        """Return the problem on patches; that of the last step if they are the same."""
        return self.strict.discrete(basis, frame)
