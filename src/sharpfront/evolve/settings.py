"""What the march in time on a line was tuned with: one record, with the reason for each number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Shares of the tolerance and bounds of the control."""

    # Stages of a step, odd: a polynomial in time of seven is of order eight inside a step, where
    # one of five is of order six, and takes a quarter more. Of 15 drawn problems with sampled
    # sources more stages took 0.92 times as long for 1e-4, with 0.64 of the error. For 1e-3 they
    # take 0.9 times as long on such, 1.05 times on three mild problems without sources.
    stages: int = 5
    more_stages: int = 7
    from_then: float = 2e-5  # the tolerance of steps from which on there are more
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
    # Nodes move if that explains so much of u_t, or so much where elements become shorter by more
    # than a share in a step. With the first alone 28 drawn problems took 10 % more of Newton's
    # iterations: elements became shorter where fronts only form, and matrices of stages differed.
    gain: float = 0.95
    gain_shorter: float = 0.99
    shorter: float = 0.1
    # No element becomes shorter than this share of itself in a step: matrices of its stages differ
    # by the square of it. With 0.4, 24 drawn problems took 1 % fewer steps and 2 % more iterations,
    # and estimates were a quarter larger.
    shrink: float = 0.55
