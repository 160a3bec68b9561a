"""The contract of an adaptor: propose a basis and rows, observe what came of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from sharpfront.errors import Outcome
from sharpfront.estimate import Assessment, Oracle
from sharpfront.kernels.assemble import LinearSystem, RowSet, assemble
from sharpfront.kernels.basis import Basis
from sharpfront.leastsquares import LeastSquares
from sharpfront.mixture import Mixture
from sharpfront.problem import Problem

if TYPE_CHECKING:
    from sharpfront.leastsquares.traces import TraceSystem


@dataclass(frozen=True, eq=False)
class Proposal:
    """What to solve next."""

    bases: Mapping[str, Basis]  # the basis of each unknown
    system: LinearSystem | TraceSystem  # the rows on these bases
    # The forms and points that the system was assembled from, where it was.
    rows: tuple[RowSet, ...] = ()


def from_rows(
    bases: Mapping[str, Basis], rows: tuple[RowSet, ...], coordinates: Sequence[str]
) -> Proposal:
    """Return the proposal whose system is assembled from rows."""
    return Proposal(bases, assemble(rows, bases, coordinates), rows)


class State(Protocol):
    """What every adaptor's state tells the loop; the rest is the adaptor's own."""

    @property
    def mixture(self) -> Mixture | None:
        """The mixture that the next proposal is drawn from."""

    @property
    def finished(self) -> Outcome | None:
        """None while there is something to propose, else why it ended."""

    @property
    def answer(self) -> Assessment:
        """The assessed approximation to return, once finished."""


class Adaptor(Oracle, Protocol):
    """States are values: each call returns a new one. Its oracle assesses what was proposed."""

    @property
    def leastsquares(self) -> LeastSquares:
        """The method that fits this adaptor's systems."""

    def start(self, problem: Problem, tol: float, seed: int) -> Any:
        """Return the state before the first solve."""

    def propose(self, state: Any) -> Proposal:
        """Return the next basis and rows."""

    def observe(self, state: Any, assessment: Any) -> Any:
        """Return the state after a solve was assessed."""
