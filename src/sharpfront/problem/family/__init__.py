"""Families of problems, and what a parameter does to their residuals."""

from sharpfront.problem.family.alike import same_but_numbers
from sharpfront.problem.family.bundle import Along, Bundle
from sharpfront.problem.family.family import Family, require_numbers
from sharpfront.problem.family.forcing import Forcing, is_absent

__all__ = [
    "Along",
    "Bundle",
    "Family",
    "Forcing",
    "is_absent",
    "require_numbers",
    "same_but_numbers",
]
