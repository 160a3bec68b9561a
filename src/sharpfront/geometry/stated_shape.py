"""Shapes that a few numbers state: saved, loaded, read from files and typeset by their names."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from sharpfront.checks import numbers_in, refusal
from sharpfront.errors import DomainError
from sharpfront.geometry.domain import State
from sharpfront.geometry.shape import Shape

Example = dict[str, float | tuple[float, ...]]


class StatedShape(Shape):
    """A shape whose constructor takes numbers and rows of numbers.

    A new one is a class in a file of its own and an entry in `registry.SHAPES`.
    """

    # The word for it in files.
    kind: ClassVar[str]
    # The constructor's arguments in order, with an example of each; those that may be left out.
    example: ClassVar[Example]
    optional: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def inequality(self, coordinates: Sequence[Any]) -> tuple[Any, Any]:
        """Return two expressions of the coordinates: inside, the first is below the second."""

    def state(self) -> State:
        """Return words and numbers from which `restore_domain` makes the shape again."""
        values = {name: getattr(self, name) for name in self.example}
        rows = {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}
        return {"kind": self.kind, **rows}

    def __repr__(self) -> str:
        """Return the call that makes it."""
        values = {name: getattr(self, name) for name in self.example}
        shown = [_shown(v) for k, v in values.items() if k not in self.optional or v]
        return f"{type(self).__name__}({', '.join(shown)})"


def vector(values: Sequence[float], what: str) -> tuple[float, ...]:
    """Return a row of two numbers or more, checked."""
    expected = "a row of two finite numbers or more, such as (0, 0)"
    numbers = numbers_in(values, what, expected, error=DomainError)
    if len(numbers) < 2:
        attempt = "sf.Interval in one dimension"
        raise refusal(what, expected, values, attempt, DomainError)
    return numbers


def squared_distance(coordinates: Sequence[Any], centre: Sequence[float]) -> Any:
    """Return the sum of the squares of differences, of numbers or expressions."""
    return sum_of([(c - at) ** 2 for c, at in zip(coordinates, centre, strict=True)])


def sum_of(terms: Sequence[Any]) -> Any:
    """Return a sum that does not begin with zero, which would be written down."""
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _shown(value: float | tuple[float, ...]) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(f'{c:g}' for c in value)})"
    return f"{np.asarray(value).item():g}"
