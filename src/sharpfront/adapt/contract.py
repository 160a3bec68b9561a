"""The contract of an adaptor: propose a basis and rows, observe what came of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sharpfront.assemble import RowSet
from sharpfront.basis import Basis
from sharpfront.errors import Outcome
from sharpfront.estimate import Assessment
from sharpfront.leastsquares import LeastSquares
from sharpfront.mixture import Mixture
from sharpfront.problem import Problem


@dataclass(frozen=True, eq=False)
class Proposal:
    """What to solve next.

    Parameters
    ----------
    bases
        The basis of each unknown.
    rows
        Which forms are to hold, and where.
    unit_rows
        Whether rows are scaled to unit norm before the solve.
    """

    bases: Mapping[str, Basis]
    rows: tuple[RowSet, ...]
    unit_rows: bool = False


class State(Protocol):
    """What every adaptor's state tells the loop; the rest is the adaptor's own."""

    @property
    def mixture(self) -> Mixture | None:
        """The mixture that the next proposal is drawn from."""

    @property
    def finished(self) -> Outcome | None:
        """None while there is something to propose, else why it ended."""


class Adaptor(Protocol):
    """States are values: each call returns a new one."""

    @property
    def leastsquares(self) -> LeastSquares:
        """The method that fits this adaptor's systems."""

    def start(self, problem: Problem, tol: float, seed: int) -> Any:
        """Return the state before the first solve."""

    def propose(self, state: Any) -> Proposal:
        """Return the next basis and rows."""

    def observe(self, state: Any, assessment: Assessment) -> Any:
        """Return the state after a solve was assessed."""
