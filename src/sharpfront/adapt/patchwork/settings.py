"""What solves on patches are judged with: one record, with the reason for each number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PatchworkSettings:
    """When estimates are believed, what corners and jumps are asked, and when it ends."""

    # After so many solves integrals of sources and data are compared, once: what has no solution
    # may go on to the most functions, 37 s on a disk instead of 0.4.
    long: int = 4
    patience: int = 3  # so many estimates in a row that do not fall end the search
    # Where cells for the softest mode are too many, its weights are left so many times longer.
    looser: tuple[float, float, float] = (1.0, 10.0, 100.0)
    sure: float = 1e-2  # where comparisons of solutions are trusted, however loose the tolerance is
    # Solutions that are wrong in the same way do not agree to this share of themselves.
    alike: float = 1e-3
    # Two solutions may be so many times as far apart as both estimates allow for, and the estimate
    # of the one with more functions may be so many times larger.
    apart: float = 2.0
    # A solution that has moved by so many times the tolerance is not certified.
    moving: float = 10.0
    moves: int = 4  # and no more than so many of them in a row
    fewest: int = 6  # functions along an axis with which a patch can still be judged by its weights
    # Below this an estimate that does not fall may be rounding, which its weights tell.
    may_be_rounding: float = 1e-9
    # Modes of the operator are held to so much of them where resonances are looked for: one that
    # any patch holds to ten digits only lets noise grow to 1e9 at a resonance.
    held: float = 1e-16
    # Noise that grows to less than this share of what a resonance would make of it is none's doing.
    # There may be little of a mode in it: with 1e-3 two in a hundred resonances of pairs were not
    # seen.
    below: float = 1e-6
    # Where another norm changes the solution by less than this share of the tolerance, no point
    # where interfaces meet is looked into: with r^0.1 at one the change was 0.09 of the error.
    negligible: float = 0.01
    # What rows leave falls at least by this factor with two more functions along every axis, unless
    # they contradict each other or a singularity is not resolved.
    unfallen: float = 0.5
    # Where there are too many conditions: it fell by 1.3 to 4 where they contradicted each other,
    # and by 200 where they agreed.
    unfallen_in_excess: float = 0.1
    # With A r^a at a point and patches of size h there, least squares finds A / (1 + C h^(2 a))
    # instead of A. A look halves patches until h^(2 a) is so many times smaller; where C h^(2 a)
    # was as large as this before, it sees 0.7 of the error.
    smaller: float = 30.0
    large: float = 10.0
    # Cuts where the exponent is not known, and at the most.
    cuts: int = 12
    most_cuts: int = 48
    # Weights of a mode are asked to be smaller by this factor at once: they grow as it is set free.
    at_once: float = 0.01
    # No more degrees along a layer and functions across it than this are added at once.
    layer_steps: tuple[int, int] = (6, 3)
    # Where functions of a layer end errors are so many times what is left of these: 5 on a ball
    # with a layer of 0.057 of its radius.
    cut_off: float = 6.0
    # Points along each side of a square of a surface and across its layer at which solutions are
    # compared.
    layer_compared: tuple[int, int] = (5, 7)
    # Within this share of the domain's size of a jump nothing is said of the solution.
    near_jump: float = 0.1
    # A tail that over `enough` cuts towards one corner does not fall by this factor with each cut
    # belongs to a jump: r^0.1, the strongest singularity of the published sets, falls by 0.93.
    falling: float = 0.97
    # What decays by more than e^-10 within a patch is not resolved by it: weights of e^(-10 s)
    # begin to fall at degree ten.
    thin: float = 10.0
    # Exponents are looked for in this range; a larger one is seen by the weights of patches.
    exponents: tuple[float, float] = (1e-4, 0.6)
    oscillating: tuple[float, float] = (1e-3, 5.0)  # those of oscillations, r^(i a), in this one
    exponents_seen: int = 800  # places at which they are looked for, evenly in log a
    per_power: int = 500  # places for every unit at which powers are looked for
    # Powers of plates are looked for from so many starts for each that lies along the real axis,
    # and so many across.
    starts: int = 4
    starts_across: int = 4
    # Degrees are looked for around places so far apart, on solid harmonics of orders up to `rough`.
    looked_apart: float = 0.25
    rough: float = 8.0
    candidates: int = 6  # singular values that may belong to degrees around such a place
    agreed: float = 1e-4  # what series that agree leave, in units of their weights
    # Orders of solid harmonics that functions of a vertex are made of, and how many more for a
    # digit: with 12, 16 and 24 of them those of a cube without an octant are known to 4e-5, 2e-7
    # and 3e-11.
    orders: float = 14.0
    for_a_digit: float = 2.0
    # On the sector the last terms, n orders smoother than a function's first one, are this small
    # beside it: what is left out is smaller still, and what is rounded is not seen. It reaches over
    # so many orders of magnitude, and is no smaller than that, in units of the domain.
    last_terms: float = 1e-9
    decades: float = 2.0
    smallest_sector: float = 1e-5
    along_ray: int = 12  # points of it
    across_rays: int = 25
    # Where u_n + c u is given, functions of corners are those of a flux with what c u adds. Beyond
    # domains of so many times 1/c they are none of the solution, and what is wrong with them is the
    # same with more functions on patches. Of 25 drawn problems, c from 3 to 100, errors are 0.69 of
    # the tolerance at most with 5 and with 10, 0.73 with 20, and 4.9 without a bound, with a sixth
    # of that as the estimate; functions are 1.13, 1.00 and 0.91 of these.
    stiff: float = 10.0
    # Places in the domain at which coefficients are looked at, on each part of the boundary at
    # which conditions are, and on rays beside a corner along which functions may jump; on one ray
    # or edge of many. A hundredth and a hundred times as many changed nothing on 32 problems.
    places: int = 256
    on_ray: int = 60
    # Numbers of neighbours differ by this factor at most, a layer's width by its root or by 1.5
    # where it stands squared. Farther away patches are too many or too few more often than not.
    reach: float = 2.5
    # Tails so many times as long as the tolerance are left: of 18 neighbours whose patches did not
    # do at once seven were not resolved by one cut, all of them beyond this; of those that were,
    # four.
    far: float = 6.0


ADAPT = PatchworkSettings()
