"""Which Newton's method goes with an adaptor."""

from __future__ import annotations

from sharpfront.adapt import Adaptor, OnePatch, Patches, Resolve
from sharpfront.errors import ProblemError
from sharpfront.newton.guess import Start
from sharpfront.newton.line import NewtonLine
from sharpfront.newton.space import NewtonSpace


def newton_adaptor(inner: Adaptor, start: Start) -> Adaptor:
    """Return the adaptor that solves nonlinear problems with the kernels of a linear one."""
    if isinstance(inner, Resolve):
        return NewtonLine(inner, start)
    if isinstance(inner, OnePatch | Patches):
        return NewtonSpace(inner, start)
    raise ProblemError(
        f"{type(inner).__name__} solves linear problems only, and this one is not linear. "
        "Leave adaptor= out, or use Resolve for one unknown in one dimension and Patches otherwise."
    )
