"""Nonlinear problems: Newton's method in function space, damping and continuation."""

from sharpfront.newton.adaptor import newton_adaptor
from sharpfront.newton.damped import values_on_the_way
from sharpfront.newton.guess import Start

__all__ = ["Start", "newton_adaptor", "values_on_the_way"]
