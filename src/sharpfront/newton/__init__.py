"""Nonlinear problems: Newton's method in function space, damping and continuation."""

from sharpfront.newton.around import NewtonAround
from sharpfront.newton.choose import newton_adaptor
from sharpfront.newton.continuation import values_on_the_way
from sharpfront.newton.guess import Start
from sharpfront.newton.line import NewtonLine

__all__ = ["NewtonAround", "NewtonLine", "Start", "newton_adaptor", "values_on_the_way"]
