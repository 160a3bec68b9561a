"""How a solve went, as columns: over its solves, or over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.history import TimeStep


@dataclass(frozen=True, eq=False)
class Course:
    """The records of a solve."""

    records: Sequence[Any]  # adaptations, or steps of time

    @property
    def stepped(self) -> bool:
        """Whether they are steps of time."""
        return bool(self.records) and isinstance(self.records[0], TimeStep)

    @property
    def unit(self) -> str:
        """What one of them is called."""
        return "step" if self.stepped else "solve"

    @property
    def seconds(self) -> float:
        """The time that all of them took."""
        return float(sum(record.seconds for record in self.records))

    def column(self, name: str) -> FloatArray:
        """Return a number of each record by its name, (n,)."""
        return np.array([getattr(record, name) for record in self.records], dtype=float)


def course_of(solution: Any) -> Course:
    """Return how a solve went."""
    return Course(solution.history)


def turns(solution: Any) -> str:
    """Return how many solves or steps there were."""
    course = course_of(solution)
    count = len(course.records)
    return f"{count} {course.unit}{'s' * (count != 1)}"
