"""What the user states: domain, equation, conditions, the state at the start, families."""

from sharpfront.problem.conditions import (
    At,
    Condition,
    Integral,
    IntegralCondition,
    JumpCondition,
    PointCondition,
    at,
    integral,
    jump,
)
from sharpfront.problem.problem import Problem

__all__ = [
    "At",
    "Condition",
    "Integral",
    "IntegralCondition",
    "JumpCondition",
    "PointCondition",
    "Problem",
    "at",
    "integral",
    "jump",
]
