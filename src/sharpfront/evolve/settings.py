"""What the march in time on a line was tuned with: one record, with the reason for each number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LineMarchSettings:
    """Shares of the tolerance, bounds of the control, meshes, Newton's method, starts.

    In brackets: steps in all on 40 drawn problems with the number halved and doubled, in units of
    those with it as it is (`benchmarks/constants.py --kind time`). Where there are none steps and
    functions change by less than 2 %, on these problems: rounded starts, jumps with u, diffusion
    that vanishes and unstable states ahead are not among them.
    """

    # Stages of a step, odd: a polynomial in time of seven is of order eight inside a step, where
    # one of five is of order six, and takes a quarter more. Of 14 drawn problems more stages took
    # 0.95 and 0.94 times as long for 1e-6 and 1e-8, with errors of 0.6 and 0.7 of those with five.
    # For 1e-4 they take 0.9 times as long, but of 13 others estimates were 0.54 of the error at
    # least in the place of 1.1 times it. (2.90 with three)
    stages: int = 5
    more_stages: int = 7
    from_then: float = 3e-6  # the tolerance of steps from which on there are more
    # Gauss points of an element at least; an equation of order m needs m + 2. Twice as many
    # take 1.7 times the functions.
    points: int = 5
    # What an element may leave of the tolerance. The estimate of an element is blind to what adds
    # up over a run, so that it is far below one.
    space: float = 0.03
    aim: float = 0.05  # share of that for which a new mesh is made
    # Elements at least: below, estimates are not those of small elements. Half and twice as many
    # take 0.7 and 1.8 times the functions.
    fewest: int = 12
    # What a step may leave by the embedded formula, of tol^((s+1)/2s): the formula is of order s,
    # the step of order 2s - 1.
    time: float = 0.02
    during: float = 0.3  # what polynomials in time may leave out inside a step (1.04, 0.97)
    # Where Newton's method stops, as a share of what an element may leave. With 0.8 mild problems
    # take up to 7 % less time, and a front with a vertical slope 1240 steps in the place of 140.
    newton: float = 0.1
    # Nodes move if that explains so much of u_t, or so much where a step had to be cut for it:
    # where fronts only form, elements become shorter and matrices of stages differ. With 0.99 a
    # system of two fronts took twice the steps. With half of either the least estimate of the 40
    # was 0.83 and 0.95 of its error, 2.2 times it with these. (1.02, 1.11) (1.88, 1.01)
    gain: float = 0.95
    gain_of_cut: float = 0.98
    # The same of equations of second order in time: what nodes do not go along with is not damped,
    # and grows where they go as fast as a wave. Of ten waves pulses and kinks by themselves are
    # followed with 0.9999 too, in 6 to 16 steps; two that part take 2.4 and 20 times as long with
    # 0.99, or do not end.
    gain_of_waves: float = 0.999
    # Weight of v_x^2 against (u_t + v u_x)^2, in units of the range of u.
    stiff: float = 1e-3
    # No element becomes shorter than this share of itself in a step: matrices of its stages differ
    # by the square of it. With 0.4, 24 drawn problems took 1 % fewer steps and 2 % more iterations,
    # and estimates were a quarter larger.
    shrink: float = 0.55
    # A step in which an element stretches by more is shortened before elements are: a layer of less
    # than a tolerance spreads a hundredfold in a step that time alone allows.
    longer: float = 10.0
    # Bounds and caution of the next step, and by how much one is cut that Newton did not solve.
    # With half of `grow` and twice `safe` estimates were 0.88 and 0.77 of the error at least.
    # `grow`: (1.36, 0.98), `safe`: (1.75, 0.92)
    least_factor: float = 0.2
    grow: float = 4.0
    safe: float = 0.85
    cut: float = 0.5
    # A step that left too much is followed by one that is shorter by this at least, and by no more
    # than if what it left fell like this power of its length.
    shorter: float = 0.8
    least_order: float = 0.5
    # What a step left, to the power 1 / (s + 1), counts no less: below it grows as much as any.
    # (1.00, 1.27)
    little_left: float = 0.192
    careful: int = 3  # steps that do not grow after such a cut
    # Share of the mean density that every element has.
    even: float = 0.1
    # Noise: the last two coefficients of an element are not smaller than this share of the two
    # before them, and below this share of the tolerance.
    flat: float = 0.3
    quiet: float = 0.3
    # Share of what an element may leave out that it must not exceed, whatever its neighbours are.
    enough: float = 0.2
    grade: float = 0.5  # how fast the lengths of elements may change along x
    # A mesh is placed anew where an element leaves more than this share of what it may, or where
    # this share of the elements would do; it does not lose more of them at once.
    worn: float = 0.3
    fewer: float = 0.75
    # What elements leave out is foreseen to grow from step to step by no more than this; below a
    # share of what they may leave out nothing is.
    most_foreseen: float = 50.0
    least_foreseen: float = 1e-3
    # Errors of a rate that was made an unknown count less by this: over an element, of which a wave
    # has about so many, they come and go in the unknown itself.
    companion: float = 10.0
    # Matrices are those of the first stage from this share of a step on. What is stiff contracts as
    # a stage's own matrix differs from that one, and those of late stages differ most from the
    # middle's where elements become shorter: of 24 drawn problems the middle one took 1.14 times
    # the iterations for 1e-3 and 1.12 times for 1e-6.
    about: float = 0.75
    iterations: int = 10
    mixed: int = 3  # iterates before the last one that are mixed with it
    # A change is followed by one of this share of it at least, of the largest share that any before
    # was followed by, and of the root of how it followed the last: what a start is off by goes in a
    # few directions, in which matrices differ little, mixing may meet others by chance, and what is
    # left then goes in none of them. So many times what this tells is taken to be left: of 365
    # steps a twentieth left more than 1.9 times it, where a try of a step begins with one before.
    steady: float = 0.05
    told: float = 2.0
    digit: float = 0.1  # where an error is asked for, not a solution, one digit is enough
    # Share of an element by which nodes at other velocities come apart in a step, at least.
    parted: float = 1e-4
    # What a first step may leave out inside it, of what others may: where rates jump at the start
    # its coefficients in time fall slowly, and more than is seen is left out.
    early: float = 0.1
    soonest: float = 1e-8  # what changes within this share of the span after a rounded start fades
    # The first step: a share of the span (1.04, 0.97), and of the time in which the solution
    # changes by itself.
    first_step: float = 0.02
    first_change: float = 0.05
    # How many tolerances a value held at an end may go in the first step, away from a state at
    # rest.
    sudden: float = 30.0
    # Meshes for the first state, and by how much more elements each has: what is not resolved yet
    # looks rougher than it is. Elements of the first one where nothing is narrow, and samples for
    # each further one.
    first_meshes: int = 24
    swell: float = 1.4
    first_elements: int = 48
    samples: int = 8
    # A jump of the start is rounded over this share of the domain, a bend over no less, and by as
    # much as this share of the tolerance is worth.
    round: float = 1e-6
    worth: float = 0.3
    # Where time does not begin near zero there are no short steps: a rounding is as wide as
    # diffusion that crosses the domain within the span makes it in this many of the shortest. From
    # time 2020 on a start that jumps is solved with 100 to 1e5 of them, where diffusion crosses in
    # 1/40 of it too.
    ticks: float = 3e3
    # Data are vertical at a break where they rise by so much less over this share of the domain
    # than their slopes beside it, seen from a ten-thousandth of that, say.
    cusp: float = 1e-3
    vertical: float = 10.0
    # Below which value diffusion that vanishes falls no further, in tolerances: a front is off by
    # 0.6 of that.
    near_zero: float = 0.4
    # Where rates jump with u: the range over which a jump is rounded, of the size of what is
    # compared, for a tolerance of one: it goes with its root. Where the unknown stays at a jump of
    # two, as large as it is, estimates are 0.93 of a tolerance of 1e-3.
    jump_range: float = 0.045
    # The same where a place moves by itself, of the range of what is compared and of the tolerance:
    # there the rate at the place itself is off by as much.
    moving_range: float = 0.3
    # How many ranges from it nodes go along.
    ranges_held: float = 8.0
    # How many times wider it is for the weaker run. Where the unknown stays at the jump its error
    # goes with the range itself, and what the runs differ by is one and a half times that of the
    # strict one.
    wider_range: float = 2.5
    # How many ranges an element passes at most: a jump between two of its points is not seen by
    # them, and both runs are off alike. Of McKean's fronts with six thresholds to 1e-4 estimates
    # are 1.6 times the error at least, 0.8 with 3, for a third less time.
    ranges_seen: float = 2.0
    # At how many moments for each stage that is looked at inside a step: nodes do not go quite as
    # fast as a jump, which goes on from element to element. Where it comes to long ones the step is
    # halved. At ends of steps alone estimates of ten fronts were 0.7 to 13 times the error, not 5.2
    # to 5.4.
    looks_at_jumps: int = 2
    # How much stiffness between velocities of nodes counts there, beside what the shortest elements
    # say. Ten of McKean's fronts take 5 to 8 steps with 10, 30 and 100, and 6 to 64 as stiff as
    # elsewhere.
    stiff_at_jumps: float = 30.0
    # Ahead of unstable states, where errors grow by more than exp of this, elements are no longer
    # than so many sqrt(D / f'), but for this share of the domain. What an element lets through from
    # its neighbour is exp(-4.1) of it, what may be let through exp(-3): with 4.0 a start that is
    # zero ahead is not resolved for R = 400.
    much_growth: float = 10.0
    longest_ahead: float = 3.0
    shortest_ahead: float = 5e-4
    ahead_of_front: float = 0.01  # the solution is smaller there than this share of its largest


LINE_MARCH = LineMarchSettings()
