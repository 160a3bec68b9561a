"""The constants of products of kernels that move, all that were chosen by trying."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ProductSettings:
    """Constants of the march in products, with the reason for each."""

    # Parts of the tolerance: for a slab's last coefficient in time, and the same of a slab that is
    # taken all the same, and for Newton's last update.
    in_time: float = 0.1
    taken: float = 0.5
    last_update: float = 1e-3
    # What of the last coefficient in time is taken for an error at the end of the slab.
    left_behind: float = 0.1
    # By how much slabs grow, and shrink at the most, as those that Newton's method does not solve.
    grows: float = 2.0
    shrinks: float = 0.2
    # A slab's length is kept, and its systems with it, while the best one is within these factors.
    kept: tuple[float, float] = (0.95, 1.4)
    # Systems of a slab before are used again while Newton's updates fall by this factor, and for
    # slabs that may be longer by up to the inverse of the other: one that needs none takes a
    # quarter of the time.
    good_update: float = 0.2
    used_again: float = 0.6
    # Newton's updates at most, and by what factor each must be smaller than the one before it.
    updates: int = 12
    slow: float = 0.7
    # Parts of the tolerance: for the error in space of the initial state and at the start, and at
    # the end.
    at_start: float = 0.2
    at_end: float = 0.6
    # What the richer products do not see of an error. Of 53 drawn problems (`random_plane.py`,
    # seeds 52000 and 60801 to 60803) the truth was at most 1.43 times what they see, but for one
    # whose error was a thousandth of the tolerance, 1.8 times. With twice as much all estimates
    # were above their errors, and one front of width 2e-3 was not solved.
    unseen: float = 1.5
    first_slab: float = 0.01  # the first slab beside the span
    # An error that would grow by less than this part of the tolerance over the span came from
    # before: more kernels do not cure it.
    fresh: float = 0.3
    # Points inside at which errors and the size of the initial state are looked at, and on each
    # part of the boundary.
    inside: int = 4000
    on_part: int = 100
    # Data are missed, not just unresolved, as they are by patches (`patchwork/settings`), beside
    # what richer products make of them at so many points about a place.
    beside: int = 32
    # A run is given up for a stricter one once its estimate is so many tolerances: what errors that
    # are carried into a front do there grows with the time that they take.
    given_up: float = 3.0
    penalty: float = 4.0  # factor beside the exact trace constant of the functions
    # Cells along an axis of the grid on which a state is looked at, at first and graded, and how
    # often.
    first_cells: int = 240
    cells: int = 96
    rounds: int = 6
    # Neighbouring nodes over which a state is averaged before its direction is taken: a front that
    # falls between two nodes looks like a flight of stairs.
    block: int = 4
    # A state varies along one direction if its slopes in the other add up to this share at most;
    # one that did so before may go up to the second.
    one_way: float = 0.1
    still_one_way: float = 0.3
    clearly: float = 1.2  # how much steeper the other axis must be to become the first one
    # Bins of a mixture's sample, and the least width beside that of the middle eight tenths.
    bins: int = 240
    least_width: float = 0.005
    # Functions along each axis when layouts are compared, and the trials of one polish, in so many
    # rounds: a simplex that has become flat finds no further, and each round starts with one that
    # is half as large as that of the round before. In one round what came out hung on the start.
    compared: int = 24
    trials: int = 140
    polishing_rounds: int = 2
    checks: int = 19  # check points along an axis, for each layout
    # Components are polished if they miss a state by less than so many times what the best miss.
    hopeful: float = 3.0
    # First moves of a polish: widths by a factor exp, places in deviations, slopes in deviations
    # over the length.
    moves: tuple[float, ...] = (-1.0, -1.0, 0.3, 0.3, 0.3)
    # Widths are not changed further than by this factor exp, places by so many deviations.
    furthest: float = 4.0
    # More functions go to an axis whose tail is this part of the other's at least.
    tail: float = 0.3
    # Functions along an axis at first, and the step of the search for their number.
    first_functions: int = 16
    step: float = 1.1
    # A component answers for what is within so many times its deviation: those of a polished layout
    # are narrower than what they follow.
    wide: float = 4.0
    background: float = 0.05  # share of what no component answers for
    relax: float = 0.3  # part of a lean that is made up for in one slab
    stretch: float = 0.7  # a slab may change deviations by this factor exp at most
    # More functions along each axis for the error: this part of those that are there, and so many
    # at least.
    richer: float = 0.125
    fewest_more: int = 4


PRODUCTS = ProductSettings()
