"""Exceptions and outcomes: what can go wrong, and what to try then."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SharpfrontError(Exception):
    """Root of every exception that this package raises on purpose."""


class ArgumentError(SharpfrontError, TypeError):
    """Arguments that do not fit a call: too few, too many, or of names that it does not know."""


class EquationError(SharpfrontError, ValueError):
    """A residual or an equation text that cannot be understood."""


class NonlinearError(EquationError):
    """An equation or a condition that is not linear, where a linear one is needed."""


class DomainError(SharpfrontError, ValueError):
    """A region that is empty, inverted or of the wrong dimension."""


class ProblemError(SharpfrontError, ValueError):
    """Domain, equation and conditions that do not fit together."""


class MixtureError(SharpfrontError, ValueError):
    """Points and weights to which no mixture can be fitted."""


class BasisError(SharpfrontError, ValueError):
    """Kernels, centres and shapes that do not fit together."""


class LinearSystemError(SharpfrontError, ValueError):
    """A linear system whose blocks do not fit together or hold NaN."""


class SolutionFileError(SharpfrontError, ValueError):
    """A file that is not a solution, or one of an unknown version."""


class MissingExtraError(SharpfrontError, ImportError):
    """An optional dependency that is needed here and not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"{package} is needed for this and is not installed. "
            f"Try: pip install 'sharpfront[{extra}]'"
        )


class DeviceError(SharpfrontError, RuntimeError):
    """A device that is not there, or cannot do what is asked of it."""


class DeviceMemoryError(DeviceError, MemoryError):
    """A device whose memory is too small, also in slices."""

    def __init__(self, needed: int, free: int) -> None:
        super().__init__(
            f"The device has {free / 2**30:.3g} GB of memory free, and more than "
            f"{needed / 2**30:.3g} GB were needed, what patches keep left with the processor. "
            "Leave device= out to solve on the processor, loosen tol, or lower max_kernels."
        )


class ClusterError(SharpfrontError, RuntimeError):
    """A cluster whose workers are gone, or end with what they are given."""


class OutcomeKind(StrEnum):
    """How a solve ended."""

    CONVERGED = "converged"
    ITERATION_LIMIT = "iteration limit reached"
    KERNEL_LIMIT = "kernel limit reached"
    STALLED = "stalled"
    UNRESOLVED = "unresolved"
    NEAR_SINGULAR = "near-singular"
    ILL_POSED = "ill-posed"
    CONTRADICTION = "contradicting data"
    NEWTON = "newton did not converge"
    SEVERAL_SOLUTIONS = "several solutions possible"
    INTERRUPTED = "interrupted"
    ERROR_GROWTH = "errors outgrew tol"
    BLOW_UP = "blow-up"
    STOPPED = "stopped early"


_ADVICE = {
    OutcomeKind.CONVERGED: "The error estimate is below the tolerance.",
    OutcomeKind.ITERATION_LIMIT: (
        "The adaptor used all its iterations before the estimate reached the tolerance. "
        "Leave adaptor= out: the default one finds what is narrow before it places kernels."
    ),
    OutcomeKind.KERNEL_LIMIT: (
        "More kernels are needed for this tolerance. Raise max_kernels or loosen tol."
    ),
    OutcomeKind.STALLED: (
        "More kernels no longer lower the estimate: rounding sets the floor. "
        "Loosen tol to the floor; where large terms of a formula cancel, write it without them."
    ),
    OutcomeKind.UNRESOLVED: (
        "The solution could not be resolved. Solve on domains that end at what is not resolved, "
        "give conditions where solutions decay, not grow, or loosen tol."
    ),
    OutcomeKind.NEAR_SINGULAR: (
        "Small changes of the data change the solution without bound. "
        "Check for a resonance or a missing condition."
    ),
    OutcomeKind.ILL_POSED: (
        "The conditions do not determine one solution. "
        "An equation of order m on an interval needs m independent conditions, an elliptic one "
        "in space a condition on every part of the boundary."
    ),
    OutcomeKind.CONTRADICTION: (
        "The solution jumps where these conditions meet, and no number of kernels resolves that. "
        "Let the data agree there, or lead one value to the other over a short stretch of the "
        "boundary."
    ),
    OutcomeKind.NEWTON: (
        "Newton's method found no solution, and there may be none. Give a guess=, or lead a "
        "parameter from an easy value to the one you want: "
        "solve(lambda p: problem(p), continuation=[easy, ..., wanted])."
    ),
    OutcomeKind.SEVERAL_SOLUTIONS: (
        "The problem has more than one solution and nothing says which one is meant. "
        "This one is accurate; choose with guess=, for example guess=solution to confirm it."
    ),
    OutcomeKind.INTERRUPTED: (
        "What was found so far is kept. Go on from there with solve(problem, resume=solution)."
    ),
    OutcomeKind.ERROR_GROWTH: (
        "Errors grow on the way, and tighter steps did not keep them below the tolerance. A larger "
        "tol gets further, and an earlier end of time= is reached within this one."
    ),
    OutcomeKind.BLOW_UP: (
        "The solution itself grows, and ceases to exist at that time unless something stops it "
        "beyond what was followed. Let time= end before it."
    ),
    OutcomeKind.STOPPED: (
        "No further step could be taken, and nothing is said about what comes after. A front "
        "without diffusion that becomes infinitely thin does this, and so do too many or too few "
        "conditions at the ends: add a little diffusion, check the conditions, or let time= end "
        "before it. At the beginning it may be an initial state that jumps or bends inside a "
        "domain of the plane: round it, as 0.5 + 0.5 * tanh((x - a) / w)."
    ),
}


@dataclass(frozen=True)
class Outcome:
    """How a solve ended, with what is known of it and what to try.

    Parameters
    ----------
    kind
        One of `OutcomeKind`; compares equal to its text, e.g. ``"converged"``.
    detail
        What was seen in this very solve, with its numbers.
    remedy
        What to try, where this very solve says more of it than its kind does.
    """

    kind: OutcomeKind
    detail: str = ""
    remedy: str = ""

    @property
    def advice(self) -> str:
        """What to try: as measured in this solve, or what this kind of outcome means."""
        return self.remedy or _ADVICE[self.kind]

    def __str__(self) -> str:
        return " ".join(part for part in (f"{self.kind}.", self.detail, self.advice) if part)
