"""Which Newton's method goes with an adaptor."""

from __future__ import annotations

from sharpfront.adapt import Adaptor, Resolve, Uniform
from sharpfront.errors import ProblemError
from sharpfront.newton.around import NewtonAround
from sharpfront.newton.guess import Start
from sharpfront.newton.line import NewtonLine


def newton_adaptor(inner: Adaptor, start: Start) -> Adaptor:
    """Return the adaptor that solves nonlinear problems with the functions of a linear one."""
    if isinstance(inner, Uniform):
        # The paper's method, to the letter.
        raise ProblemError(
            f"{type(inner).__name__} solves linear problems only, and this one is not linear. "
            "Leave adaptor= out, or use Resolve for one unknown in one dimension and Patches "
            "otherwise."
        )
    return NewtonLine(inner, start) if isinstance(inner, Resolve) else NewtonAround(inner, start)
