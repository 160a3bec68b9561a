"""What adaptation by kernels and on one patch was tuned with, with the reason for each number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ResolveSettings:
    """How errors on a line are judged; in brackets what halving and doubling does, as in `LINE`."""

    # On the error equation's answer, whose own discretisation error is about a tenth. (0.85,
    # two of 40 above tol; 1.06)
    safety: float = 1.5
    # Errors may be so many times what they are estimated at, and u as much smaller than it looks.
    # Of 40 beams that drown in rounding 18 were underestimated without it, up to 1e9 times, with 1
    # one was.
    unsure: float = 3.0
    # Rounding of a residual in units of eps times its terms, which the problem then amplifies.
    noise: float = 20.0
    stall: float = 1e-5  # above this an error that does not fall is unresolved rather than rounding
    limit: float = 1e6  # so many times the rounding that can be foreseen is not rounding
    most_solves: int = 15  # whatever the plan (0.83, one of 18 not solved; 1)
    attempts: int = 2  # attempts to place kernels on what went missing
    # A vanishing eigenvalue comes out of cells as their error, a hundredth or less: amplification
    # above this is looked at again.
    questionable: float = 50.0
    # An equation that is linear is looked at from here on: of 180 drawn resonances none was
    # amplified less than 5e3 times on cells, one per cent beside them 65 to 195 times.
    resonant: float = 1e3


RESOLVE = ResolveSettings()


@dataclass(frozen=True)
class OnePatchSettings:
    """How products on one patch are fitted and how long."""

    # Rows of the equation for every function, and of conditions on a side for every one that it can
    # see. In five dimensions 2.5 and 1.6 leave errors as large, 1.3 and 0.5 errors 1.5 times as
    # large.
    rows_inside: float = 1.6
    rows_beside: float = 0.8
    # Weight of a condition's unit rows: 10 and 100 measured alike, 1e6 costs two digits.
    weight: float = 10.0
    first: int = 3  # functions along an axis at first, beyond the order of the equation
    heavier_change: float = 2.0  # factor on the change that `SETTINGS.heavier` makes
    idle_solves: int = 2  # in a row that bring nothing: they end the search if it may be rounding
    quadrature: int = 200_000  # points at most in all


ONE_PATCH = OnePatchSettings()
