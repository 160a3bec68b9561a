"""The result of a solve: call it, differentiate it, ask it for numbers, save it."""

from typing import TYPE_CHECKING

from sharpfront.loading import fetcher

if TYPE_CHECKING:
    from sharpfront.solution.field import Estimate, Field
    from sharpfront.solution.file import load
    from sharpfront.solution.solution import Solution

__all__ = ["Estimate", "Field", "Solution", "load"]

__getattr__ = fetcher(__name__, {"field": "Estimate Field", "file": "load", "solution": "Solution"})
