"""What Newton's method was tuned with: one record, with the reason for each number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NewtonSettings:
    """When steps are believed, when rough solutions are enough, and how others are looked for."""

    shortest: float = 0.05  # shorter steps are given up
    shrinks: float = 0.1  # a step must shrink the correction at least by this share of its length
    # Corrections below this share of the solution need not shrink: they may be the rounding of an
    # unknown that is zero. Those of exp(u) = 1 from far above are 1e-3 of it at least.
    negligible: float = 1e-5
    # A correction by more than this share of the solution has changed everything.
    changed: float = 0.5
    # Factors that are tried, and how near one goes to the next.
    largest: float = 1e8
    finest: float = 1.02
    # Cells of the first grid, and the fewest of later ones, which are made as those of `LINE` are.
    cells: int = 200
    on_cells: float = 1e-2  # after a smaller share of the solution the next is the cells' error
    most_solves: int = 300  # linear solves of all attempts together, on cells
    # After a correction below this share of the solution a rough one is no better.
    rough_enough: float = 3e-2
    most_rough_solves: int = 60  # the same on functions
    refinements: int = 3  # rounds of finer functions within one attempt
    compared: int = 2000  # points at which iterates are compared
    attempt: int = 15  # linear solves of one attempt
    most_rates: int = 20_000  # rates that an integrator may ask for: a second or two
    # Rough solutions are sought on patches as for this tolerance at least: with the functions of
    # looser ones Newton's method did not converge for a cavity heated at Ra = 1e6, with these it
    # did. In space as for this one, where functions cost most: from zero to the solution of a drawn
    # equation with k(u) 23 solves took 26 s with the functions of 1e-5.
    coarsest: float = 1e-3
    # Kernels that leave a larger relative error than this are no better than a rough solution.
    coarse: float = 0.03
    # Kernels whose share of the error is below this wait for Newton's method.
    kernels_share: float = 0.3
    # After a first correction above this share of the solution, what kernels cannot fit may be
    # kinks of the iterate on cells.
    rough: float = 1e-4
    most_steps: int = 12  # steps on one set of kernels
    # A correction that shrinks by less than this no longer converges as Newton's method does.
    slow: float = 0.5
    most_between: int = 20  # values that are put in between where Newton's method fails
    # Shares of sources and of what is nonlinear on the way. Of 24 flows of Falkner and Skan all
    # that are not the attached one are told with these; a finer way takes twice as long.
    shares: tuple[float, ...] = (0.1, 0.3, 0.5, 0.75, 1.0)
    # After a second correction below this share of the solution Newton's method has gone straight.
    straight: float = 0.1
    looked_at: int = 16  # points at which the linear problem has to be finite
    steps: int = 25  # steps towards another solution
    apart: float = 0.1  # solutions differ if their distance is this share of their size
    # A change below this share of the solution is no step towards another one.
    settled: float = 1e-2
    longest: float = 5.0  # no single step is stretched by more
    places: int = 64  # points at which an equation is asked how high a shape has to be
    # Powers of a hump: the first is held at its ends, the second has no slope there, the others are
    # narrow, as a soliton is in a long interval. In the plane the first two are taken. Of 78 drawn
    # problems with a second solution 73 are told, 39 from a hump of one alone, 72 without what
    # rises; with the powers 1 and 16 alone 33 of 36 beams, solitons and thresholds instead of 36.
    powers: tuple[int, ...] = (1, 2, 16, 100)

    @property
    def first_jump(self) -> float:
        """Change within a first cell from which on a quantity is followed, as in `LINE`."""
        return 15.0 / self.cells


NEWTON = NewtonSettings()
