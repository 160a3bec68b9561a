"""Nonlinear problems: Newton's method in function space, damping and continuation."""

from sharpfront.newton.choose import newton_adaptor
from sharpfront.newton.continuation import values_on_the_way
from sharpfront.newton.guess import Start
from sharpfront.newton.line import NewtonLine
from sharpfront.newton.space import NewtonSpace

__all__ = ["NewtonLine", "NewtonSpace", "Start", "newton_adaptor", "values_on_the_way"]
