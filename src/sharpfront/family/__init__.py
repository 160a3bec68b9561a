"""Families of problems, and what a parameter does to their residuals."""

from sharpfront.family.alike import same_but_numbers
from sharpfront.family.bundle import Along, Bundle
from sharpfront.family.family import Family, require_numbers
from sharpfront.family.forcing import Forcing, is_absent

__all__ = [
    "Along",
    "Bundle",
    "Family",
    "Forcing",
    "is_absent",
    "require_numbers",
    "same_but_numbers",
]
