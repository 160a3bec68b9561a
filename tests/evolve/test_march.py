"""The one loop of all marches, around a discretisation that is a single number."""

from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import pytest

from sharpfront.errors import OutcomeKind
from sharpfront.evolve.march import Stepper, StepTaken, StepTrial, steps
from sharpfront.evolve.termination import StuckError
from sharpfront.evolve.time_events import TimeEvents
from sharpfront.history import Known

NONE = np.zeros(0)


@dataclass(frozen=True)
class Number:
    """A state: a number that decays, held to so many digits."""

    t: float
    value: float
    dt: float
    digits: int = 2


@dataclass
class Decay(Stepper):
    """u' = -u by implicit Euler, with a step of at most a tenth and four digits at least."""

    span: tuple = (0.0, 1.0)
    agenda: TimeEvents = field(default_factory=lambda: TimeEvents(NONE, NONE, NONE))
    shortest: float = 1e-6
    meshes: int = 5
    longest: float = 0.1
    needed: int = 4
    unfollowed: int = 0
    asked: list = field(default_factory=list)

    @property
    def run(self):
        """Itself."""
        return self

    def restarted(self, state):
        """Begin with small steps where data jump."""
        return replace(state, dt=0.01), ("began anew",)

    def tried(self, state, dt):
        """Take a step that is late if it is long."""
        self.asked.append((dt, state.digits))
        return StepTrial(dt, dt / self.longest, 1, state.value / (1 + dt))

    def shorter(self, state, trial, before):
        """Halve it."""
        return replace(state, dt=0.5 * trial.dt)

    def remeshed(self, state, trial):
        """Ask for one digit more."""
        return replace(state, digits=state.digits + 1) if state.digits < self.needed else None

    def taken(self, state, trial, iterations):
        """Return a step, but for some that no weaker run follows."""
        if self.unfollowed:
            self.unfollowed -= 1
            return None
        stop = self.agenda.settled(state.t + trial.dt, self.span[1])
        after = replace(state, t=stop, value=trial.found)
        size, look = abs(trial.found), Known(None, NONE)
        return StepTaken(state.t, stop, after, 0.0, iterations, 1, size, trial.found, look)


def test_steps_reach_the_end_and_are_shortened_and_remeshed_on_the_way():
    stepper = Decay()
    taken = list(steps(stepper, Number(0.0, 1.0, 0.35)))
    assert taken[0].start == 0.0 and taken[-1].stop == 1.0
    assert all(one.stop == two.start for one, two in pairwise(taken))
    # Tried: too long twice, then on three meshes.
    assert stepper.asked[:5] == [(0.35, 2), (0.175, 2), (0.0875, 2), (0.0875, 3), (0.0875, 4)]
    assert taken[0].iterations == 5 and taken[1].iterations == 1
    assert abs(taken[-1].kept - np.exp(-1.0)) < 0.02


def test_a_step_that_no_weaker_run_follows_is_made_shorter():
    first = next(steps(Decay(unfollowed=2, needed=2), Number(0.0, 1.0, 0.08)))
    assert first.stop == pytest.approx(0.02)
    assert first.iterations == 3


@pytest.mark.parametrize(
    ("stepper", "words", "kind"),
    [
        (Decay(longest=1e-9), "no step is short enough", OutcomeKind.STOPPED),
        (Decay(meshes=1), "no mesh resolves the step", OutcomeKind.KERNEL_LIMIT),
    ],
)
def test_what_cannot_be_taken_is_said(stepper, words, kind):
    with pytest.raises(StuckError, match=words) as stuck:
        next(steps(stepper, Number(0.0, 1.0, 0.05)))
    assert stuck.value.kind is kind


def test_where_data_jump_a_step_ends_and_the_next_begins_anew():
    moments = np.linspace(0.0, 1.0, 5)
    jumping = TimeEvents(moments, 0.1 * moments, np.array([0.5]))
    taken = list(steps(Decay(agenda=jumping), Number(0.0, 1.0, 0.08, 4)))
    assert 0.5 in [step.stop for step in taken]
    after = next(step for step in taken if step.start == 0.5)
    assert after.stop == pytest.approx(0.51)
    assert [step.words for step in taken if step.words] == [("began anew",)]
    assert after.words
