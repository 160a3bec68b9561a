"""What the march on patches was tuned with: one record, with the reason for each number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MarchSettings:
    """Shares of the tolerance, bounds of the control, and what is made of rates."""

    # What a step's polynomials in time may leave out, a patch of the solution, and Newton's method,
    # as shares of the tolerance.
    during: float = 0.5
    space: float = 0.5
    newton: float = 0.01
    # Functions along an axis of a patch that the weaker run has less; the second number where the
    # last function is less than this share of the one before, as where a state is even or odd.
    # Estimates of two fronts and a plate are 2.2, 12 and 25 times the error with this share, 11, 31
    # and 311 times with a share of 0.1, and 22, 156 and 249 times with two functions always.
    weaker: tuple[int, int] = (1, 2)
    odd: float = 0.02
    # How many further ones it lacks on patches along a straight front, far stricter than steps.
    weaker_front: int = 1
    # Bounds and caution of the next step, and by how much one is cut that Newton did not solve.
    shrink: float = 0.2
    grows: float = 3.0
    safe: float = 0.85
    cut: float = 0.5
    # A step's length is kept, and its systems with it, while the best one is within these factors.
    keep: tuple[float, float] = (0.95, 1.6)
    # Iterations at most, by what factor each must fall, and with systems of another step.
    iterations: int = 12
    slowest: float = 0.6
    good: float = 0.4
    fewer: float = 0.75  # patches are made anew if that leaves this share of their functions
    # Patches made anew may leave out this many times what a step may, and one that is taken again
    # on finer patches too. Made as strictly as steps are, patches see where those before them met:
    # a pulse that turns took 7500 functions and four tries a step instead of 3900 and two, and so
    # did steps that were all taken on until they left out no more than at first.
    held: float = 2.0
    again: float = 2.0
    # The same where patches go along, and are made anew after every step for what is there then.
    # With 2 steps of a pulse are taken two or three times, with 0.3 and 0.1 on a sixth and twice as
    # many functions as with 0.5.
    held_along: float = 0.5
    # The same along straight fronts, and what Newton's method may leave there beside `newton`. What
    # is left out moves a front against the walls that tell where it is. Six drawn fronts take 22 s
    # with this, two of them 11 s each with 0.005, and with 0.05 three are not through in 30 s.
    held_front: float = 0.001
    # Patches of a wave may leave out so many times as much of its velocity, in a step's length,
    # as of itself: the next step begins with it. Without a bound the noise of velocities took ever
    # more functions (a pulse in a disk ended at t = 0.095 of 1.5). With 1 that pulse took 12 200
    # functions and 49 s, a drum 22 s and a pulse in a periodic box 28 s; with this 5700 and 36 s,
    # 4.9 and 3.8 s. Other values were not tried.
    velocity: float = 5.0
    meshes: int = 30  # patches for one step at most
    # A start that misses its conditions by more than this share of the tolerance is settled in
    # equal steps over this share of the span; without that no step is short enough, for what the
    # first one leaves out is the same however long it is.
    missed: float = 0.2
    settles: float = 1e-3
    sooner: float = 0.25  # moments for which strips are tried, each this share of the one before
    # So is one that leaves this share in a step of what it left in a longer one, which would fall
    # by a hundred and more where the step is resolved.
    alike: float = 0.8
    # Patches are made for what rates add up to in a step that is no longer than this share of the
    # age of a layer. Without that an L whose start misses slopes came to 0.005 in 12 s, with this
    # to 0.02, and to 0.06 with none of it; a disk and a square that are cooled at once take 1.1 to
    # 1.3 times longer with either.
    ahead: float = 0.5
    unsettled: float = 0.3  # no more than this may be left out in one of these steps
    change: float = 0.1  # a first step changes the solution by about this share of itself
    # Data are missed at a place, not just unresolved, if they differ there by so many times what
    # the patch's own points say is unresolved, and by more than this share of the largest.
    beyond: float = 10.0
    standing_out: float = 0.01
    over: float = 3.0  # the same of a state, in units of what may be left out of it
    # The polynomials of a velocity field that carries unknowns along have at most this degree: a
    # turn, a stretch, and what bends them. A field is used if it explains this share of all rates,
    # squared.
    degree: int = 3
    explained: float = 0.9
    later: tuple[float, float] = (0.5, 1.0)  # shares of the step at which that is looked at
    # Patches go along if the solution changes so often by its size in place until they are bent, or
    # until it changes by that along its way. Where they do, equations differ from patch to patch,
    # and each is factored by itself.
    gain: float = 3.0
    gain_along_front: float = 0.5  # along a straight front, which is as many patches or fewer
    # Where a step along a front is not solved, shorter ones are tried down to this share.
    short: float = 0.1
    stretch: float = 0.8  # a step may stretch and shear patches that go along by this share
    # Functions of corners of materials have powers of the distance below the first, r^2 log r among
    # them, and one below the second. A quarter of 10 in a square takes 10 700 functions to 1e-3
    # with them, more than there are with powers below 2, and 4800 with those of walls, where powers
    # begin at 1. But smoother ones are next to polynomials, and their weights drift: with powers
    # below 4.2 or those of walls three of 30 drawn problems took ever shorter steps.
    powers: float = 2.05
    singular: float = 1.0
    ridge: float = 1e-3  # how much an uneven velocity counts beside what it does not explain


MARCH = MarchSettings()
