"""What the march in time on a line was tuned with: one record, with the reason for each number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Shares of the tolerance and bounds of the control."""

    # Stages of a step, odd: a polynomial in time of seven is of order eight inside a step, where
    # one of five is of order six, and takes a quarter more. Of 14 drawn problems more stages took
    # 0.95 and 0.94 times as long for 1e-6 and 1e-8, with errors of 0.6 and 0.7 of those with five.
    # For 1e-4 they take 0.9 times as long, but of 13 others estimates were 0.54 of the error at
    # least in the place of 1.1 times it.
    stages: int = 5
    more_stages: int = 7
    from_then: float = 3e-6  # the tolerance of steps from which on there are more
    points: int = 5  # Gauss points of an element at least; an equation of order m needs m + 2
    # What an element may leave of the tolerance. The estimate of an element is blind to what adds
    # up over a run, so that it is far below one.
    space: float = 0.03
    aim: float = 0.05  # share of that for which a new mesh is made
    fewest: int = 12  # elements at least: below, estimates are not those of small elements
    # What a step may leave by the embedded formula, of tol^((s+1)/2s): the formula is of order s,
    # the step of order 2s - 1.
    time: float = 0.02
    during: float = 0.3  # what polynomials in time may leave out inside a step
    # Where Newton's method stops, as a share of what an element may leave. With 0.8 mild problems
    # take up to 7 % less time, and a front with a vertical slope 1240 steps in the place of 140.
    newton: float = 0.1
    # Nodes move if that explains so much of u_t, or so much where a step had to be cut for it:
    # where fronts only form, elements become shorter and matrices of stages differ. With 0.99 a
    # system of two fronts took twice the steps.
    gain: float = 0.95
    gain_of_cut: float = 0.98
    # No element becomes shorter than this share of itself in a step: matrices of its stages differ
    # by the square of it. With 0.4, 24 drawn problems took 1 % fewer steps and 2 % more iterations,
    # and estimates were a quarter larger.
    shrink: float = 0.55
