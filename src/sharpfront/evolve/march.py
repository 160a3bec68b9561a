"""Step after step on a line: how long, on which mesh, and whether a step may stand."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import OutcomeKind
from sharpfront.evolve.collocation import Discrete, Moments, Step
from sharpfront.evolve.ending import CRAWLED, StuckError, check_progress
from sharpfront.evolve.equations import TimeSystem
from sharpfront.evolve.growth import units
from sharpfront.evolve.mesh import Mesher
from sharpfront.evolve.narrow import Watch, attentive
from sharpfront.evolve.settings import Settings
from sharpfront.evolve.start import Start
from sharpfront.evolve.time_events import Agenda
from sharpfront.evolve.unseen import unseen
from sharpfront.evolve.velocity import velocities
from sharpfront.pieces.frame import Frame
from sharpfront.pieces.radau import STAGES, diagonal, interpolation, left_out, stage_nodes
from sharpfront.pieces.slabs import Slab

# Bounds and caution of the next step, and by how much one is cut that Newton did not solve.
SHRINK, GROW, SAFE, CUT = 0.2, 4.0, 0.85, 0.5
# Steps that do not grow after such a cut.
CAREFUL = 3
# A mesh is placed anew where an element leaves more than this share of what it may, or where this
# share of the elements would do; it does not lose more of them at once.
WORN, FEWER = 0.3, 0.75
# Newton's iterations, and how many of them are mixed.
ITERATIONS, MIXED = 10, 3
# The first step: a share of the span, and of the time in which the solution changes by itself.
FIRST, CHANGE = 0.02, 0.05
# Errors of a rate that was made an unknown count less by this: over an element, of which a wave has
# about so many, they come and go in the unknown itself.
COMPANION = 10.0
# How many tolerances a value held at an end may go in the first step, away from a state at rest.
SUDDEN = 30.0
# Meshes for one step at most, and for the first state, and by how much more elements each has:
# what is not resolved yet looks rougher than it is.
MESHES, FIRST_MESHES, SWELL = 30, 24, 1.4


@dataclass(frozen=True, eq=False)
class State:
    """A run between two steps: everything that the next step depends on.

    Parameters
    ----------
    t
        When.
    frame
        The mesh, with the velocities to which the rates belong.
    values, rates
        Coefficients and their rates, (n, K).
    dt
        The step to try next.
    scale
        max(1, max|u|) so far, of each unknown, (K,).
    before
        Coefficients at the beginning and the stages of the last step on this mesh,
        (STAGES + 1, n, K), and its length; None at a start.
    careful
        Steps that must not grow.
    unresolved
        What is missed of a first state that cannot be resolved, in words.
    unit
        In what unit errors count on each element, (N, K); None if it is not known yet.
    """

    t: float
    frame: Frame
    values: FloatArray
    rates: FloatArray
    dt: float
    scale: FloatArray
    before: tuple[FloatArray, float] | None = None
    careful: int = 0
    unresolved: str = ""
    unit: FloatArray | None = None

    def at(self, x: FloatArray) -> FloatArray:
        """Return the unknowns at positions, (n, K)."""
        return self.frame.evaluate(self.values, x)


@dataclass(frozen=True, eq=False)
class Taken:
    """A step that was taken.

    Parameters
    ----------
    slab, values
        Its mesh, and coefficients at its beginning and stages, (STAGES + 1, n, K).
    after
        The run after it.
    iterations
        Newton's, those of failed attempts included.
    words
        What was done to the state before it, in words.
    between
        What its polynomials in time leave out, in units of max(1, max|u|).
    first
        Whether it is the first one after a start, or after a moment at which data jump.
    """

    slab: Slab
    values: FloatArray
    after: State
    iterations: int = 0
    words: tuple[str, ...] = ()
    between: float = 0.0
    first: bool = False

    def at(self, x: FloatArray, t: float) -> FloatArray:
        """Return the unknowns at positions and a moment of it, (n, K)."""
        share = interpolation(np.array([(t - self.slab.start) / self.slab.dt]))[0]
        values = np.einsum("j,jnk->nk", share, self.values)
        return self.slab.at(t).evaluate(values, x)


@dataclass(frozen=True, eq=False)
class March:
    """What holds for all steps of one run.

    Parameters
    ----------
    discrete
        Equations and conditions.
    mesher
        Functions on meshes.
    tol
        Of the steps, relative to max(1, max|u|).
    agenda
        What happens when.
    watches
        Equations whose data may be narrow.
    looks
        Whether data may hide between the stages of a step: in equations, in conditions.
    stride
        Share of a step to be taken where it is not errors that hold it short: two runs with the
        same steps would be wrong in the same way.
    """

    discrete: Discrete
    mesher: Mesher
    tol: float
    agenda: Agenda
    watches: tuple[Watch, ...]
    looks: tuple[bool, bool]
    stride: float = 1.0

    @property
    def system(self) -> TimeSystem:
        """What is marched."""
        return self.discrete.system

    @property
    def settings(self) -> Settings:
        """The tuned numbers."""
        return self.mesher.settings

    @property
    def span(self) -> tuple[float, float]:
        """Start and stop."""
        span = self.system.problem.time
        assert span is not None
        return span

    @property
    def in_space(self) -> float:
        """What an element may leave out."""
        return self.settings.space * self.tol

    @property
    def in_time(self) -> float:
        """What the embedded formula of a step may leave."""
        return self.settings.time * float(self.tol ** ((STAGES + 1) / (2 * STAGES)))

    # --- beginnings -----------------------------------------------------------------------------

    def begun(self, start: Start, t: float, scale: FloatArray | None = None) -> State:
        """Return the run at a moment at which the unknowns are given functions."""
        of, nodes, words = start.values, self.mesher.pinned(start.nodes), ""
        scale = np.maximum(start.sizes, 1.0 if scale is None else scale)
        nodes = nodes if len(nodes) <= self.mesher.most else start.evenly(self.mesher.most)
        for _ in range(FIRST_MESHES):
            frame = self.mesher.frame(nodes)
            values = self.mesher.interpolant(nodes, of)
            rough = self.measured(frame, values, scale, t, quiet=False)[1]
            new = self.mesher.mesh(nodes, rough, self.in_space, most=int(SWELL * len(nodes)))
            worst = float(self.mesher.left_out(nodes, rough).max())
            if worst < self.in_space and len(new) > 0.7 * len(nodes):
                break
            if len(new) - 1 > self.mesher.most:
                words = self._too_few(nodes)
                break
            nodes = new
        nodes = self._seeing(nodes, t, self.span[1] - t)
        state = self._from_values(nodes, self.mesher.interpolant(nodes, of), t, scale)
        return replace(state, unresolved=words)

    def _from_values(
        self, nodes: FloatArray, values: FloatArray, t: float, scale: FloatArray
    ) -> State:
        """Return a run that begins with coefficients."""
        frame = self.mesher.frame(nodes)
        rates = self.first_rates(frame, values, t)
        fast = float(np.abs(rates[self.at_nodes(frame)] / scale).max())
        dt = min(FIRST * (self.span[1] - self.span[0]), CHANGE / max(fast, 1e-300))
        dt = self.stride * min(dt, SUDDEN * self.tol / max(self._sudden(frame, values, t), 1e-300))
        return State(t, frame, values, rates, dt, scale)

    def _sudden(self, frame: Frame, values: FloatArray, t: float) -> float:
        """Return how fast values held at the ends leave a state that has no rate there.

        They make a layer that is thinner than any element at first.
        """
        soon = 1e-6 * (self.span[1] - self.span[0])
        here = Moments(self.discrete, frame, t, np.array([0.0, soon]))
        both, still = np.stack([values, values]), np.zeros((2, *values.shape))
        fastest = 0.0
        for side, own in enumerate(self.discrete.sides):
            held = [i for i in range(len(own)) if own.holds_a_value(i)]
            if not held:
                continue
            leaves = here.at_end(side, both, still)
            change = np.abs(np.diff(own.values.run(leaves, 2), axis=1))[:, 0]
            slopes = np.abs(own.tangents.run(leaves, 2))[:, 0]
            for i in held:
                each = [s for s, term in zip(slopes, own.terms, strict=True) if term[0] == i]
                fastest = max(fastest, float(change[i]) / max(*each, 1e-300) / soon)
        return fastest

    def first_rates(self, frame: Frame, values: FloatArray, t: float) -> FloatArray:
        """Return the rates of coefficients from the equations, by one linear solve."""
        here = Moments(self.discrete, frame, t, np.zeros(1))
        zero = np.zeros_like(values)[None]
        residual, lay = here.residual(values[None], zero)[0], here.layout
        mass = here.tangents(values[None], zero)[0].copy()
        ends = [*range(lay.left), *range(lay.size - len(self.discrete.sides[1]), lay.size)]
        for i in ends:
            j = np.arange(max(0, i - lay.below), min(lay.size, i + lay.above + 1))
            if not np.any(mass[lay.below + lay.above + i - j, j]):
                # A condition without a rate holds at all times: its own rate is zero.
                mass[lay.below + lay.above, i] = 1.0
                residual[i] = 0.0
        try:
            found = lay.solved(lay.factored(mass), -lay.placed(residual))
        except np.linalg.LinAlgError:
            return np.zeros_like(values)
        return np.asarray(lay.taken(found).reshape(values.shape))

    # --- units and meshes -----------------------------------------------------------------------

    def at_nodes(self, frame: Frame) -> Any:
        """Return the numbers of the values at the nodes."""
        return np.arange(frame.elements + (not frame.ring)) * self.mesher.tables.points

    def measured(
        self, frame: Frame, values: FloatArray, scale: FloatArray, t: float, quiet: bool = True
    ) -> tuple[FloatArray, FloatArray]:
        """Return in what unit errors on an element count, (N, K), and how rough it is, (N,).

        What looks like noise is left alone if `quiet`.
        """
        moments = self.agenda.ahead(t, self.span[1]) if self.looks[0] else np.array([t])
        unit, longest = units(self.discrete, frame, values, scale, (t, self.span[1]), moments)
        unit[:, len(self.system.problem.unknowns) :] *= COMPANION
        rough = self.mesher.roughness(frame, values, unit, self.tol if quiet else 0.0)
        return unit, np.maximum(rough, self.mesher.rough_for(longest, self.in_space))

    def _nodal(self, unit: FloatArray) -> FloatArray:
        """Return the smaller unit of the elements beside each node."""
        if self.mesher.ring:
            return np.minimum(unit, np.roll(unit, 1, axis=0))
        both = np.concatenate([unit[:1], unit]), np.concatenate([unit, unit[-1:]])
        return np.asarray(np.minimum(*both))

    def _allowed(self, nodes: FloatArray) -> FloatArray:
        """Return nodes, or give up where there are more than there may be."""
        if len(nodes) - 1 > self.mesher.most:
            raise StuckError(self._too_few(nodes), OutcomeKind.KERNEL_LIMIT)
        return nodes

    def _too_few(self, nodes: FloatArray) -> str:
        """Say that kernels do not resolve what is where nodes are closest."""
        size = self.mesher.most * self.mesher.tables.points
        where = nodes[int(np.argmin(np.diff(nodes)))]
        return f"{size} kernels do not resolve it near x = {where:.4g}"

    def _seeing(self, nodes: FloatArray, t: float, ahead: float) -> FloatArray:
        """Return nodes among which the data of a coming step are seen."""
        if not self.watches:
            return nodes
        ahead = min(ahead, self.agenda.longest(t), self.span[1] - t)
        return attentive(self.mesher, self.watches, nodes, t, ahead)

    def placed(self, state: State, nodes: FloatArray) -> State:
        """Return a run on other nodes; its last step comes along as the next one's guess."""
        k = state.values.shape[1]
        old = state.frame
        stack = [state.values, *(state.before[0] if state.before else ())]
        together = np.concatenate(stack, axis=1)
        found = self.mesher.interpolant(nodes, lambda x: old.evaluate(together, x))
        parts = np.moveaxis(found.reshape(len(found), -1, k), 1, 0)
        frame = self.mesher.frame(nodes)
        if state.before is None:
            rates = self.first_rates(frame, parts[0], state.t)
            return replace(state, frame=frame, values=parts[0], rates=rates, unit=None)
        before = (parts[1:], state.before[1])
        rates = stage_rates(*before)[-1]
        velocities_ = np.interp(nodes, old.nodes, old.velocities)
        frame = self.mesher.frame(nodes, velocities_)
        return replace(state, frame=frame, values=parts[0], rates=rates, before=before, unit=None)

    # --- steps ----------------------------------------------------------------------------------

    def steps(self, state: State) -> Iterator[Taken]:
        """Yield steps until the end of time; raises `StuckError` where none can be taken."""
        times: deque[float] = deque(maxlen=CRAWLED)
        while state.t < self.span[1]:
            check_progress(times, state.t, self.span[1])
            if state.unresolved:
                raise StuckError(state.unresolved, OutcomeKind.KERNEL_LIMIT)
            words: list[str] = []
            if self.agenda.is_stop(state.t):
                state, words = self._restarted(state)
            taken = self._step(state)
            state = taken.after
            yield replace(taken, words=tuple(words))

    def _restarted(self, state: State) -> tuple[State, list[str]]:
        """Return the run at a moment where data jump, its state made to meet them again."""
        start, words = Start.met(self.system, state.at, self.tol, state.t, self.span)
        if start is None:
            frame = self.mesher.frame(state.frame.nodes)
            soon = state.t + 1e-9 * (self.span[1] - self.span[0])
            rates = self.first_rates(frame, state.values, soon)
            fast = float(np.abs(rates[self.at_nodes(frame)] / state.scale).max())
            dt = min(state.dt, CHANGE / max(fast, 1e-300))
            return replace(state, frame=frame, rates=rates, dt=dt, before=None, unit=None), []
        return self.begun(start, state.t, state.scale), words

    def _step(self, state: State) -> Taken:
        """Take one step: shorter ones and other meshes are tried until one may stand."""
        iterations, meshes = 0, 0
        while True:
            dt = self._fitted(state)
            if state.t + dt <= state.t or dt < 1e-14 * (self.span[1] - self.span[0]):
                raise StuckError("no step is short enough")
            nodes = self._seeing(state.frame.nodes, state.t, dt)
            if len(nodes) != len(state.frame.nodes):
                state = self.placed(state, self._allowed(nodes))
            tried = self._tried(state, dt)
            iterations += tried.iterations
            if tried.taken is None:
                state = replace(state, dt=tried.dt, careful=tried.careful)
                continue
            end = tried.taken.after
            unit, rough = self.measured(end.frame, end.values, end.scale, end.t)
            end = replace(end, unit=unit)
            worst = float(self.mesher.left_out(end.frame.nodes, rough).max())
            if worst > self.in_space and meshes < MESHES:
                meshes += 1
                state = self._refined(state, rough, dt)
                continue
            if worst > self.in_space:
                raise StuckError("no mesh resolves the step", OutcomeKind.KERNEL_LIMIT)
            after = self._tended(end, rough, worst)
            return replace(tried.taken, after=after, iterations=iterations)

    def _refined(self, state: State, rough: FloatArray, dt: float) -> State:
        """Return the run on a mesh that suits the beginning and the end of the step."""
        own = self.measured(state.frame, state.values, state.scale, state.t)[1]
        both = np.maximum(rough, own)
        nodes = state.frame.nodes
        new = self.mesher.mesh(nodes, both, self.in_space, least=state.frame.elements)
        return replace(self.placed(state, self._allowed(new)), dt=dt)

    def _tended(self, state: State, rough: FloatArray, worst: float) -> State:
        """Return the run on a new mesh, where the present one is worn out or too fine."""
        frame, mesher = state.frame, self.mesher
        new = mesher.mesh(frame.nodes, rough, self.in_space)
        fewer = len(new) < FEWER * len(frame.nodes)
        if worst <= WORN * self.in_space and not fewer:
            return state
        if fewer:
            least = int(FEWER * frame.elements)
            new = mesher.mesh(frame.nodes, rough, self.in_space, least=least)
        for _ in range(4):
            moved = self.placed(state, self._allowed(self._turned(new)))
            unit, again = self.measured(moved.frame, moved.values, moved.scale, moved.t)
            moved = replace(moved, unit=unit)
            if float(mesher.left_out(moved.frame.nodes, again).max()) < 0.5 * self.in_space:
                break
            new = mesher.mesh(moved.frame.nodes, again, self.in_space, least=int(1.2 * len(new)))
        return moved

    def _turned(self, nodes: FloatArray) -> FloatArray:
        """Return nodes, on a ring by whole turns back to where it begins."""
        if not self.mesher.ring:
            return nodes
        length = self.system.high - self.system.low
        return np.asarray(nodes - length * np.floor((nodes[0] - self.system.low) / length))

    def _fitted(self, state: State) -> float:
        """Return a step that ends where it must and leaves no crumb before that.

        A run with a stride below one goes to where it must in two steps.
        """
        left, dt = min(self.span[1] - state.t, self.agenda.longest(state.t)), state.dt
        if dt >= 0.9 * left:
            whole = self.stride == 1.0 or (state.before is not None and state.before[1] >= left)
            return left if whole else self.stride * left
        return 0.5 * left if dt > 0.5 * left else dt

    def _moment(self, t: float) -> float:
        """Return a moment; that of a stop or of the end where it differs by rounding only."""
        every = np.append(self.agenda.stops, self.span[1])
        near = float(every[int(np.argmin(np.abs(every - t)))])
        return near if abs(near - t) <= 4.0 * np.spacing(max(abs(t), abs(near))) else t

    def _tried(self, state: State, dt: float) -> _Tried:
        """Try one step on the present mesh."""
        v = velocities(self.mesher, state.frame, state.values, state.rates, state.scale)
        h = state.frame.lengths[0]
        worst = float((-np.diff(v) / h).max())
        if worst * dt > 1.0 - self.settings.shrink:
            dt = (1.0 - self.settings.shrink) / worst
        frame = replace(state.frame, velocities=v)
        step = Step(self.discrete, frame, state.t, dt)
        unit = state.unit
        if unit is None:
            unit = self.measured(state.frame, state.values, state.scale, state.t)[0]
        unit = self._nodal(unit)
        solved = self._solved(step, state, unit)
        if solved.factors is None:
            return _Tried(None, CUT * dt, CAREFUL, solved.iterations)
        late = self._late(step, state, solved, unit)
        most = GROW * self.stride
        factor = float(np.clip(SAFE * max(late, 1e-12) ** (-1.0 / (STAGES + 1)), SHRINK, most))
        if late > 1.0:
            return _Tried(None, dt * min(factor, 0.8), state.careful, solved.iterations)
        values = np.concatenate([state.values[None], solved.levels])
        sizes = np.abs(solved.levels[:, self.at_nodes(frame)]).max(axis=(0, 1))
        factor = min(factor, 1.0) if state.careful > 0 else factor
        stop = self._moment(state.t + dt)
        after = State(
            stop,
            frame.at(dt),
            solved.levels[-1],
            stage_rates(values, dt)[-1],
            dt * factor,
            np.maximum(state.scale, sizes),
            (values, dt),
            max(0, state.careful - 1),
        )
        stated = len(self.system.problem.unknowns)
        at_nodes = values[:, self.at_nodes(frame), :stated] / after.scale[:stated]
        taken = Taken(
            Slab(state.t, stop, frame),
            values,
            after,
            between=left_out(at_nodes),
            first=state.before is None,
        )
        return _Tried(taken, dt, 0, solved.iterations)

    def _late(self, step: Step, state: State, solved: _Solved, unit: FloatArray) -> float:
        """Return what a step leaves in time, as a share of what it may, to the power s + 1."""
        late = self._embedded(step, state, solved, unit) / self.in_time
        if late > 1.0:
            return late
        numbers = self.at_nodes(step.frame)
        values = np.concatenate([state.values[None], solved.levels])[:, numbers]
        late = max(late, left_out(values / unit) / (self.settings.during * self.tol))
        if late > 1.0 or not any(self.looks):
            return late
        missed = unseen(
            step, state.values, solved.levels, solved.factors, unit, self.span, self.looks[0]
        )
        return max(late, missed / (self.settings.during * self.tol))

    def _embedded(self, step: Step, state: State, solved: _Solved, unit: FloatArray) -> float:
        """Return the difference to the embedded formula, filtered by the real factor."""
        radau, lay = diagonal(), step.layout
        change = np.einsum("j,jnk->nk", radau.embedded, solved.levels - state.values)
        rates = -change[None] / (radau.gamma * step.dt)
        residual = step.start.residual(state.values[None], rates)[0]
        # Conditions hold at the start and at the end.
        residual[: lay.left] = 0.0
        residual[lay.size - len(self.discrete.sides[1]) :] = 0.0
        assert solved.factors is not None
        found = lay.taken(lay.solved(solved.factors[0], -lay.placed(residual)))
        error = found.reshape(state.values.shape)[self.at_nodes(step.frame)]
        return float((np.abs(error) / unit).max())

    def _solved(self, step: Step, state: State, unit: FloatArray) -> _Solved:
        """Return the stages by Newton's method with one matrix, its iterates mixed."""
        levels = self._guess(step, state)
        inverse, numbers = diagonal().inverse, self.at_nodes(step.frame)
        small = self.settings.newton * self.in_space
        factors: list[Any] | None = None
        history: list[tuple[FloatArray, FloatArray]] = []
        last = np.inf
        for i in range(ITERATIONS):
            rates = np.einsum("ij,jnk->ink", inverse, levels - state.values) / step.dt
            residual = step.stages.residual(levels, rates)
            if not np.all(np.isfinite(residual)):
                break
            try:
                factors = factors or step.factored(levels, rates)
            except np.linalg.LinAlgError:
                break
            change = step.change(factors, residual).reshape(levels.shape)
            size = float((np.abs(change[:, numbers]) / unit).max())
            if not np.isfinite(size):
                break
            history.append((levels, change))
            levels = _mixed(history[-MIXED - 1 :], 1.0 / state.scale)
            q = size / last
            if size < small or (i and q < 1 and size * q / (1 - q) < small):
                return _Solved(levels, factors, i + 1)
            if i > 1 and (
                q > 1 or size * q ** (ITERATIONS - 1 - i) / (1 - min(q, 0.99)) > 1e3 * small
            ):
                break
            last = size
        return _Solved(levels, None, len(history))

    def _guess(self, step: Step, state: State) -> FloatArray:
        """Return the stages as the last step's polynomials go on."""
        if state.before is None:
            return np.repeat(state.values[None], STAGES, axis=0)
        values, dt = state.before
        ahead = interpolation(1.0 + stage_nodes() * step.dt / dt)
        drawn = np.einsum("ij,jnk->ink", ahead, values) + state.values - values[-1]
        return np.asarray(drawn)


@dataclass(frozen=True, eq=False)
class _Tried:
    """A step if it may stand in time, else the length to try next."""

    taken: Taken | None
    dt: float
    careful: int
    iterations: int


@dataclass(frozen=True, eq=False)
class _Solved:
    """The stages, and the factors of their systems; None where Newton's method failed."""

    levels: FloatArray
    factors: list[Any] | None
    iterations: int


def stage_rates(values: FloatArray, dt: float) -> FloatArray:
    """Return the rates at the stages from coefficients at beginning and stages."""
    change = values[1:] - values[0]
    return np.asarray(np.einsum("ij,jnk->ink", diagonal().inverse, change) / dt)


def _mixed(history: list[tuple[FloatArray, FloatArray]], unit: FloatArray) -> FloatArray:
    """Return the next iterate: Newton's, mixed with those before so that changes cancel."""
    levels, change = history[-1]
    last = history[:-1]
    if not last:
        return np.asarray(levels + change)
    df = np.stack([((change - c) * unit).ravel() for _, c in last])
    gram, right = df @ df.T, df @ (change * unit).ravel()
    fit = np.linalg.lstsq(gram, right, rcond=1e-14)[0]
    new = levels + change
    for share, (x, c) in zip(fit, last, strict=True):
        new = new - share * (levels - x + change - c)
    return np.asarray(new)
