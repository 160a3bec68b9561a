"""What eigenvalues are found with: one record, with the reason for each number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SpectrumSettings:
    """Where modes begin, how they are refined, and when two of them are one."""

    sighted: int = 257  # places at which a right-hand side is looked for
    columns: int = 4000  # the most columns on a line
    # Points of a piece at first and at most, and how many more those have that a solution is
    # compared with.
    first: int = 16
    most: int = 40
    more: int = 6
    last: int = 3  # weights at the end of a piece's that tell how well a mode is resolved
    # Pieces to begin with: so many at least and at most, and in between one for every so many decay
    # lengths or radians of the equation without lam.
    fewest: int = 4
    narrow: int = 48
    lengths: float = 12.0
    # Coefficients are looked at more closely where their weights do not fall to this share.
    rough: float = 1e-3
    lowered: float = 0.05  # on a line tails are to become this share of what an error lacks
    # Modes whose vectors differ by less than this angle have one shape: modes of a double value
    # that are two lie far apart, those that rounding made two of one as close as its root.
    parallel: float = 1e-2
    # Tails that fall by less than this factor over a third of the weights are not resolved by more.
    steep: float = 5.0
    along: int = 33  # positions of a piece at which modes are compared and zeros counted
    # Up to so many columns all eigenvalues are found at once, beyond by Arnoldi's method.
    dense: int = 500
    spare: int = 8  # values beside those that are wanted, of Arnoldi's method
    # Steps of a block Krylov method before it starts anew, and how often it may.
    steps: int = 4
    restarts: int = 8
    spare_modes: int = 3  # vectors beside those that are wanted
    # How well values satisfy the operator while patches change, and at last as a share of tol.
    loose: float = 1e-5
    tight: float = 1e-2
    # Rounds of refinement, and certified errors in a row that brought nothing before it ends.
    rounds: int = 40
    patience: int = 3
    # Tails are asked to be smaller by what an error lacks and the first factor, but at once by no
    # less than the second: errors of values fall faster than those of modes.
    lacked: float = 0.3
    least: float = 0.03
    # Allowed errors over differences where modes are singular: what patches at a corner leave
    # changes little with more functions on them. Of 18 values on six drawn L (tol 1e-3, one also
    # 1e-5) and on sectors of 3/2 and 5/4 pi nine were 1.00 to 1.04, the others below 0.6; the
    # largest seen was 1.6, on the L of three squares at 1e-6. The factor leaves twice that.
    singular: float = 3.0
    # A mode in pairs is another one if at least this share of it is new beside those of values that
    # are this close. Modes of close values that are not one differ by much more.
    mixed: float = 0.1
    close_values: float = 1e-2
    most_points: int = 4000  # places at which modes are compared
    inside: float = 0.05  # share of the gap from values to numbers at which is counted
    looked: int = 401  # places at which signs of coefficients are looked at
    # Cells of every piece, and those on which is counted again before anything is said: eigenvalues
    # of the cells are off by the square of their length, and those of two wells may be closer than
    # that.
    cells: int = 64
    again: tuple[int, int] = (512, 4096)


MODES = SpectrumSettings()
