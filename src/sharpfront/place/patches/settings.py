"""The constants of the adaptor on patches, all that were chosen by trying."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class PatchSettings:
    """Constants of the adaptation, with the reason for each.

    In brackets, where it was measured: functions in all on seven drawn problems with the constant
    halved and doubled, in units of those with it as it is (`benchmarks/sensitivity.py`).
    """

    # A patch begins with one function along an axis for every digit asked for and so many more: the
    # cheapest number at a corner, where no number is enough.
    base: int = 4
    # On a line patches begin with no fewer than this: functions cost next to nothing there, and
    # with six or eight layers of order four were taken for kinks. A beam with its temperature took
    # 18 to 38 solves for tolerances of 1e-2 to 1e-6, twice in vain, and takes one to three.
    on_line: int = 14
    # How many functions more a patch may take along every axis before it is split. A patch costs
    # the third power of its functions, two halves the same each.
    reach: int = 10
    reach_in_space: int = 5  # the same in space
    # One that has as many already, where layers meet, may have so many times its own: cut towards
    # its corner it would have four times as many. A quarter disk with layers of 1e-3 took 7 400
    # functions to 1e-6 instead of 27 400.
    beyond: float = 1.3
    # Shells along surfaces, of which there are many that need alike, get no more functions at once
    # than so many, and up to so many times all that other patches may have: halved ones took three
    # times as many functions in all and left an error a hundred times as large.
    step: int = 2
    of_shell: float = 3.0
    # Layers are cut off at ln(1/tol) + depth widths, where e^-depth of the tolerance is left; its
    # slope is what the patch beside it has to hold. With two thirds of it layers that meet in a
    # corner took seven times the functions, with a third of it errors were underestimated 50 to 170
    # times; a third more costs 7 to 17 % more functions.
    depth: float = 6.0
    # A layer is cut off if that leaves more than this share of the room beside its wall.
    room: float = 0.5
    source: float = 30.0  # sources are resolved to so many tolerances, in units of u
    # Data are missed at a place, not just unresolved, if they differ there by so many times what
    # the patch's own points say is unresolved.
    missed: float = 10.0
    # Data that grow by this factor over the last quarter of the way to a side are infinite there.
    growing: float = 1.2
    # Patches are cut at told places, further apart than this share of the patch: what lies closer
    # is left to halving, since patches much smaller than their neighbours cost digits.
    apart: float = 1e-2
    # Weights of a function that is analytic beyond its patch fall by e^-analytic over their second
    # half; if they fall by less the patch has a singularity. (1.11, 1.35)
    analytic: float = 3.5
    # The same at a corner of the domain, where singularities are the rule: weights of those of
    # right angles, r^2 log r, fall by 4.2. (0.99, 1.14)
    at_corner: float = 6.0
    # All the weights to come of a singularity add up to count^power last ones. (0.84, 1.09)
    power: float = 1.5
    # Where the last two weights are no smaller than the two before by e^-flat, not even as those of
    # a jump are (by e^-0.2), they are what the fit leaves of an error elsewhere: noise, that adds
    # up with the root of its count. (1.27, 1.10) (0.99, 1.04)
    flat: float = 0.1
    noise_power: float = 0.5
    # Functions are asked for that would bring a tail to this share of what is aimed at: weights do
    # not fall evenly, and one turn more costs more than one function. (1.00, 0.99)
    shorter: float = 0.3
    # Tails shorter than this share of the longest one may be that one's doing, and wait. With a
    # third of it a star with five corners that point inwards took 32 000 functions to 1e-5 instead
    # of 27 000 and a slit 31 700 to 1e-4 instead of 17 100; with a thirtieth the star 43 000. On
    # the line, which has no corners, it is a thirtieth.
    disturbed: float = 0.1
    # Tails that may be another's doing do not wait if the others are on patches with less than this
    # share of all functions: a solve costs as much whether few or many patches have changed.
    # Without that circular fronts took 12 solves, with 0.3 of it 7 and with this 6, an L 6 and 5; a
    # star as many.
    bulk: float = 0.5
    # In space, where an estimate costs five to ten solves, tails that are this share of what is
    # aimed at are made shorter with those that are longer than that. Without that a bump in a drawn
    # box and one in a ball failed their first estimates, at 1.6 and 1.05 of the tolerance. Half and
    # twice of it took as many solves for a bump in a box and one in an ellipsoid, and 1.00 and 0.97
    # to 1.00 of the functions.
    beneath: float = 0.4
    share: float = 0.1  # an axis whose tail is below this share of the longest of its patch waits
    # More functions than foretold do not come again where the foretold ones left the tail longer
    # than this many times what was promised: then weights do not fall geometrically.
    broken: float = 3.0
    # Tails that are less than so many times longer than what is aimed at call for functions, not
    # for a cut, even if weights do not fall: halves begin with fewer and may have longer ones. In a
    # cavity at Re = 100 one of 1.03 times the aim was cut, its halves had tails ten times as long,
    # and 56 000 functions closed in on a point at which nothing is; with this it takes 16 300. With
    # 1.5 as well, but Newton's method then lost its way in a heated cavity at Ra = 1e6.
    nearly: float = 1.2
    # A resolved patch keeps so many functions more than it needs. It is relieved once, and not if
    # it was raised: one that was made too poor would be raised and relieved in turn.
    spared: int = 2
    # Patches of systems and beyond order two keep all but so many of the functions they begin with:
    # with six of them the fit of a beam is off by as much as the beam is bent.
    keeping: int = 2
    half: float = 0.6  # a half needs this share of the functions, where weights fall geometrically
    # A layer along a wall is cut off if it takes no more than this share of its patch, and if that
    # is at least this share of the wall long: in shorter ones it is thinner.
    strip: float = 0.4
    along: float = 0.5
    # A bump that formulas tell of is cut off where that takes no more than this share of its patch.
    bump: float = 0.2
    # It lies along the axes if it is no more than so many times narrower, squared, along a line
    # through its middle. One of 1.7 to 1 that did not took 7 solves and 3.7 s instead of one and
    # 1.8 s.
    aligned: float = 1.2
    # No patch is more than so many times longer than a neighbour along their common side, and one
    # beside a much thinner one is cut at so many times that one's thickness.
    balance: float = 2.5
    # Unless less than this part of the shorter one touches it: strips of two charts end side by
    # side.
    passing: float = 2.0
    # A patch that was cut towards the same point in a row so often is cut several times at once.
    # (1.03, 1)
    look_ahead: int = 2
    # Towards a corner of the domain the first cuts are so many at once, enough to see how the tail
    # falls; further ones all that are then foretold, up to so many times those made. (0.95, 0.97)
    # (0.85, 0.91)
    first: int = 3
    ahead: int = 6
    # In space edges are not why a solution is not resolved if the equation's residuals within this
    # share of the domain from them are less than this share of those elsewhere, as roots of mean
    # squares. With r^2 log r at the edges of cubes it was 0.8 to 2.9 of them, with a bump of 0.16
    # inside 0.2 to 0.5; where both are there, 0.5 to 1.3, so that this tells no more than most.
    # What is claimed does not rest on it, and nothing does where data fit the equation at all edges
    # (`calm_edges`). Of two bumps of 0.2 and 0.25 in a box with data that do not fit, half of it
    # and none changed nothing, and twice as much took one from 5 to 8 solves, 3.1 to 17 s. One of
    # 0.16 took 9 215 functions and 6.3 s to 1e-2, and was not done after 45 s with none of it.
    vicinity: float = 0.1
    quiet: float = 0.7
    # How fast a tail falls is told from as many cuts as there were since, but of old ones no more
    # than make up so many: two cuts may end where the fit of other patches is what is left.
    enough: int = 8
    # A patch cut along both axes towards a corner is at most so many times longer than thick.
    round: float = 4.0
    # A ring of patches around a corner takes log(what is left there in units of what is aimed at) /
    # ring functions and so many besides. Weights fall by e^-1.76 with each function on a patch as
    # far from a singularity as it is long. ring: (1.06, 0.85), but with twice of it a cavity took
    # ten times the functions. besides: (0.82, 1.23)
    ring: float = 1.76
    besides: int = 5
    # Charts are cut along lines about which data change within 1/steep of the domain. With fronts
    # of 1/20, 1/40, 1/100 and 1/700 of it that took 1.4, 0.75, 0.32 and 0.1 of the time.
    steep: float = 30.0
    # Functions of a corner have powers of the distance below so many, and so many more for every
    # digit: weights of the first that is left out fall as p^(-2 power) on a patch at the corner.
    powers_first: float = 1.5
    powers_digit: float = 0.6
    # None reach over the domain where a wind is stronger than so many times the diffusion over it,
    # or where it is so many times as long as layers of reaction or waves are: at 200 of either a
    # wind on an L took a third of the time with them, a reaction did not end.
    winds: float = 300.0
    widths: float = 60.0
    # So strong only at tolerances looser than this, and as its root below: at 1e-7 a wind of 5 on
    # an L led to 1e-6 and no further.
    loose: float = 1e-4
    # At corners where solutions are hardly singular there are none where a wind or a domain in
    # widths is more than this times the fourth root of the tolerance. On a square winds of 5 and 20
    # took 0.3 and 1.1 of the time at 1e-4, 6 and 7 times at 1e-7; reactions of 5 and 20 widths 0.5
    # and 0.2 of it at 1e-4, 0.4 and 1.9 at 1e-7.
    mild_winds: float = 50.0
    mild_widths: float = 300.0
    # What lower terms of the equation add to them has powers below so many.
    smoother: float = 3.0
    # Where layers are thinner functions of corners fade like e^-(r/R)^2, R so many times the root
    # of a layer's depth in widths: with 1 as much is left of them where the layer's patch ends as
    # of the layer. With 0.9, 1.1 and 1.35 an L with 32 functions along an axis at its corner was
    # off by 1e-7, 5e-6 and 3e-6.
    fading: float = 0.9
    # What the unknown's own term adds has powers that are so much higher than those of functions.
    shadows: float = 2.0
    # Patches at such corners have so many functions along an axis for every width of the layer's
    # depth: with 1.2, 1.4 and 1.6 the L was off by 5e-5, 6e-6 and 1e-7 at a tolerance of 1e-6.
    faded: float = 1.6
    # Curved sides are taken for their tangents as far as functions reach, where these part by no
    # more than this share of it. With less on nine corners of five shapes a third of the functions
    # took 0.2 to 1.5 of the time; with 0.04 to 0.1, two thirds of them took 1 to 4 times the time.
    bent: float = 0.02
    # Others, with what curved sides add to them, where sides turn by no more than so many radians
    # over the domain's size. On eight drawn boxes with round bites and bumps, 3 to 50 radians, four
    # took 0.02 to 0.2 of the functions with them, two bumps 0.04 and 0.05, and two as many.
    bends: float = 50.0
    # Where estimates stop falling with functions of corners that do not fade, patches there are cut
    # so often before the functions are given up: a drawn box and disk took 3 863 functions to 1e-4
    # instead of 21 012. With 1 and 2 the same problems were solved.
    cut_beside: int = 2
    # Where an estimate is too large at corners only, patches there are cut until they leave this
    # share of the tolerance. What they leave is felt less and less up to so many times their size:
    # as r^-a, a share of 0.03 of it for a = 1/2.
    deeper: float = 0.5
    near: float = 1000.0
    # Weights are asked to be smaller by what an estimate lacks and this factor, but at once by no
    # more than the other: estimates fall faster than weights do. With 0.01 a cavity at Re = 1000
    # took 41 000 functions instead of 28 000.
    lowered: float = 0.3
    least_lowered: float = 0.1
    progress: float = 0.7  # an estimate that falls by less than this factor has brought nothing
    # Factor on the equation's rows of the norm that a solution is checked in. Over 60 drawn
    # problems the change in it is 1e-4 to 20 times the error; with its square, for plates, 1 to 600
    # times; with its root one plate in 30 was believed that should not be. That was asked of the
    # solution itself; asked of the richer one, the estimates of 30 drawn systems, beams and plates
    # are 0.4 to 49 times their errors.
    heavier: float = 100.0
    # Of plates at corners without functions of their own, r^1.4 to r^1.9, what more functions leave
    # falls by half only with two more of them, and is felt all over the domain: there all looks
    # together saw 0.27 to 0.6 of the error.
    blind: float = 4.0
    # Beside curved boundaries the domain is looked at this close to a wall, as a share of the room.
    beside_wall: float = 1e-4
    # Turning points are looked for from so many places along each axis, in so many steps of
    # Newton's method.
    turning_from: int = 4
    turning_steps: int = 6
    # Functions of a bump are told from its values at so many points, and hold it to e^left_out of
    # what is left where it ends.
    of_bump: int = 60
    left_out: float = 2.0
    slowest: float = 0.1  # tails that fall by less with each cut, as a logarithm, do not fall
    coefficient: float = 1e-2  # coefficients are resolved to this share
    spread: int = 500  # places at which data are looked at besides, spread evenly
    # Patches are halved so often at the most: a spike of 1e-7 of its patch is reached.
    halvings: int = 24
    # Shares of what is missed most from which on patches are cut, where all would be too many.
    worst: tuple[float, float, float] = (0.0, 1e-2, 0.3)
    # In space points of a layer's strip are e^bent_to times denser at the wall than where the strip
    # ends: e^-x then takes this share of the functions. Cut in two with 0.6 of them each instead,
    # strips took 125 patches where layers lie along all sides of a cube, and these take 27.
    bent_to: float = 1.5
    part: float = 0.75
    # Along shells there are so many times the functions that patches begin with: of products up to
    # a joint degree those with what decays across them have fewer along them.
    more_along: float = 1.5
    # Short of a corner strips have so many times the functions along it that a layer takes across.
    mitred: float = 1.2
    # Where sources alone take more functions than allowed, first patches are those of a looser
    # tolerance, down to this one.
    loosest: float = 0.1
    around: float = 1e-5  # how far from a pole data are to be finite again, in units of the domain
    longer: float = 4.0  # a part of a layer ends so many times as far from its origin as it begins
    same_place: float = 1e-3  # places that differ by this share of a layer are the same
    places_on_way: int = 33  # winds are looked at in so many places on the way
    held: float = 0.1  # first patches hold waves to this share of the tolerance
    wave_halvings: int = 30  # of patches at the most, for waves that are shorter in some places
    crossings: int = 2500  # of told lines, about: of more than these every second is taken

    def powers(self, tol: float) -> float:
        """Return the powers of the distance to a corner below which functions have a share."""
        return self.powers_first + self.powers_digit * max(0.0, -math.log10(tol))

    def within(self, dimension: int, tol: float) -> PatchSettings:
        """Return the settings for domains of a dimension."""
        more = self.on_line - self.functions(tol) if dimension == 1 else 0
        return replace(self, base=self.base + more) if more > 0 else self

    def functions(self, tol: float) -> int:
        """Return how many functions along an axis a patch begins with."""
        return self.base + max(2, math.ceil(-math.log10(tol) - 0.01))

    def most(self, tol: float, dimension: int) -> int:
        """Return how many functions along every axis a patch may have."""
        return self.functions(tol) + (self.reach if dimension < 3 else self.reach_in_space)

    def layer(self, tol: float) -> float:
        """Return the depth of a layer's patch in widths."""
        return math.log(1.0 / tol) + self.depth


SETTINGS = PatchSettings()
