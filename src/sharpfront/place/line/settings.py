"""What kernels on a line are placed with: one record, with the reason for each number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LineSettings:
    """Where features are looked for, how pieces are cut, and how many kernels they get.

    In brackets, where it is a twentieth or more: kernels in all on 40 drawn problems with the
    number halved and doubled, in units of those with it as it is. None made an error too large.
    """

    survey: int = 16_000  # places at which varying functions are looked at once (1.00, 1.06)
    # About what is narrow, places are added until a function changes by this share of its range
    # from one to the next.
    shown: float = 0.05  # (1.06, 1.00)
    # A function bends no more in a gap between even places than about it if it is off the line
    # there by less than this share of the second differences about it: an eighth for a curve, a
    # half for a front within the gap.
    curved: float = 0.16  # (3.79, two of 19 not solved; 1.15)
    # A jump stands out by this factor against the differences around it; the cusp of a square root
    # halfway between two places by 3.2.
    outstanding: float = 3.0
    persists: float = 0.5  # share of a jump that must remain when its bracket shrinks to rounding
    zoom: int = 16  # parts of the bracket at each step towards a kink, of which four are kept
    bends: float = 1.0 / 3.0  # share of a kink's change of slope that must remain at each step
    # A cell is halved where a quantity changes by more than this share of its range.
    changes_fast: float = 0.02
    small: float = 1e-6  # changes below this share of the data's range are none
    # A value that differs by this share of the spread from those beside it stands alone.
    lone: float = 0.02
    root_places: int = 17  # places at which the roots of coefficients that vary are looked at
    # A layer is told apart from what is smooth from this many widths to the interval on.
    thin_layer: float = 15.0
    # Rates of layers differ by less than this factor along the interval, and waves are no longer
    # than this phase: anything else may be narrow inside.
    even_rates: float = 10.0
    phase: float = 6.0
    # Cells over the interval, and cells in each width of a layer, fewer and fewer away from it.
    even_cells: int = 64
    in_layer: int = 16
    # Nothing is left of a layer so many widths away; components of its mixture at most; the share
    # of a monitor that may be elsewhere.
    tail: float = 12.0
    most_in_layers: int = 4
    untold: float = 0.02
    # Data without features: polynomials of this degree up to so little of their range.
    degree: int = 24
    faint: float = 1e-8
    first_cells: int = 2000  # cells of the first grid
    cells: int = 300  # cells of the adapted ones (0.85, 0.98)
    # A quantity is followed until it changes by less than this share of its range between cells.
    jump: float = 0.10
    rounds: int = 8  # grids at most
    # Cells for each `jump` of total variation: about a third of them go where the variation is.
    enough: float = 3.0
    # Never more cells than this: noise has as much variation as there are cells.
    most_cells: int = 200_000
    # Neighbouring cells are taken at their word up to this ratio of lengths. (1.06, 1.03)
    grading: float = 2.0
    near: float = 0.9  # share of a too wide cell's mass that is put beside its narrow neighbour
    # Cells over which it is smeared: the next grid may find it beside its image. (1.18, 1.04)
    smear: int = 4
    # Monitor density up to this many times the stretch's mean is left to the even share of kernels.
    even: float = 2.0  # (0.87, 1.01)
    slight: float = 0.02  # share of the monitor in excess of that below which no mixture is needed
    # A stretch of fewer cells is neither split nor looked at again. (1, 0.84)
    fewest_cells: int = 16
    # Change between cells, over the stretch's own range, that marks a feature in a second look.
    local_jump: float = 0.05  # (1.01, 1.08)
    # An error above this part of the solution shows what is not resolved, one below only rounding.
    unresolved: float = 1e-7
    # Errors swing with the kernels, three cells to each of them: what varies over less than two is
    # none of the equation's places, and components fitted to it are narrower than kernels can
    # follow.
    swing: int = 6
    # Share of the kernels of a second look below which a component has one or two, and bends the
    # coordinate faster than they can follow.
    few_kernels: float = 0.015
    reach: float = 5.0  # components closer than this many of their scales belong to one feature
    # Weights of the variation of u and of u_x in the monitor.
    in_value: float = 0.2
    in_slope: float = 1.0
    light: float = 0.005  # lighter components are the tails of others
    # An unknown that varies less than this share of the largest is not followed.
    unvarying: float = 1e-8
    # Kernels of a first solve at so many digits: at least, beside features, for a feature, for each
    # decade between its scale and the stretch, of which no more count than this, and for a swing.
    # They were read off what problems of tests/accuracy needed. With twice as many for a front 300
    # others, drawn at random, took 625 solves, with four times 500, and as many kernels in the end.
    digits: float = 9.0  # (1.12, 0.97)
    smooth: float = 26.0  # (1, 0.94)
    beside: float = 18.0  # (0.94, 0.91)
    for_feature: float = 8.0  # (0.94, 1.03)
    for_decade: float = 6.5
    decades: float = 5.0  # (1.05, 1)
    for_swing: float = 2.0
    # In proportion at other digits, but by no less and no more than these.
    least_share: float = 0.7  # (1.04, 1.17)
    most_share: float = 1.5  # (0.94, 1)
    # Numbers of kernels are 40 * ladder^k, so that their tables are found in the cache.
    ladder: float = 1.2  # (0.68 and 0.89, each with one of 40 not solved)
    growth: float = 1.8  # largest growth per step (0.38, 17 of 40 not solved; 0.85)
    # Kernels for a digit are taken to be no more than this many times those for the digits before.
    slowest_digits: float = 4.0
    end: float = 0.1  # an error in this share of a piece's coordinate beside an end is left there
    # Digits from which on it is told how more of them will come: below, kernels may miss all of u.
    settled: float = 3.0
    # More than this in one piece: split it. QR costs N^3, and one map serves few features well.
    piece_kernels: int = 170  # (0.87, 1.01)
    # Error solves for the parts' shares: one for each would be quadratic in their number.
    many: int = 40
    # A part whose mixture is fitted again gets this many times more kernels.
    refit_growth: float = 1.4  # (1, 1.33)

    @property
    def first_jump(self) -> float:
        """Change on the first grid: a feature thinner than 1/15 of its natural length."""
        return 15.0 / self.first_cells


LINE = LineSettings()
