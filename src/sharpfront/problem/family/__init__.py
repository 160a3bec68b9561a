"""Families of problems, and what a parameter does to their residuals."""

from sharpfront.problem.family.differences import same_but_numbers
from sharpfront.problem.family.family import Along, Bundle, Family, Forcing, require_numbers

__all__ = [
    "Along",
    "Bundle",
    "Family",
    "Forcing",
    "require_numbers",
    "same_but_numbers",
]
