"""What a solve leaves behind of its way: one record per adaptation or step in time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfront.mixture import Mixture

Look = Callable[[], tuple[Mixture | None, NDArray[np.float64]]]
_PARTS = ("weights", "means", "covariances")


@dataclass(frozen=True, eq=False)
class Record:
    """One adaptation: what was solved and what came out.

    Parameters
    ----------
    iteration
        Counted from zero.
    kernels
        Number of basis functions.
    residual
        Root mean square of the equation's residual at the check points.
    error_estimate
        Estimate of the error of this iterate.
    condition, rank, dead_columns
        Facts of the least-squares solve.
    seconds
        Wall time of this adaptation.
    mixture
        The Gaussian mixture that placed the kernels; None before there is one.
    """

    iteration: int
    kernels: int
    residual: float
    error_estimate: float
    condition: float
    rank: int
    dead_columns: int
    seconds: float
    mixture: Mixture | None = None

    @property
    def words(self) -> str:
        """What the adaptation came to, in one line."""
        return f"solve {self.iteration}: {_came_to(self)}, residual {self.residual:.2e}"


@dataclass(frozen=True, eq=False)
class TimeStep:
    """One step in time.

    Parameters
    ----------
    step
        Counted from zero.
    time
        At the end of the step.
    dt
        Its length.
    kernels
        Kernels of one unknown during the step.
    error_estimate
        Estimated error during the step, with what was carried along, relative to max(1, max|u|).
    iterations
        Newton steps, those of rejected attempts included.
    seconds
        Wall time.
    look
        Returns the components at the end of the step and their speeds; called when they are asked
        for.
    """

    step: int
    time: float
    dt: float
    kernels: int
    error_estimate: float
    iterations: int
    seconds: float
    look: Look

    @property
    def words(self) -> str:
        """What the step came to, in one line."""
        return f"step {self.step}: t = {self.time:.6g}, dt = {self.dt:.2e}, {_came_to(self)}"

    @cached_property
    def _seen(self) -> tuple[Mixture | None, NDArray[np.float64]]:
        return self.look()

    @property
    def mixture(self) -> Mixture | None:
        """The components at the end of the step: their positions are ``mixture.means``."""
        return self._seen[0]

    @property
    def speeds(self) -> NDArray[np.float64]:
        """The speeds of the components, (K,) or (K, d)."""
        return self._seen[1]


@dataclass(frozen=True, eq=False)
class Known:
    """Components and speeds that are known already."""

    mixture: Mixture | None
    speeds: NDArray[np.float64]

    def __call__(self) -> tuple[Mixture | None, NDArray[np.float64]]:
        """Return them."""
        return self.mixture, self.speeds


def _came_to(record: Record | TimeStep) -> str:
    return f"{record.kernels} kernels, estimated error {record.error_estimate:.2e}"


def packed_record(record: Record | TimeStep) -> dict[str, Any]:
    """Return a record as words and numbers."""
    names = [f.name for f in fields(record) if f.name not in ("mixture", "look")]
    words = {name: getattr(record, name) for name in names}
    if record.mixture is not None:
        words["mixture"] = {name: getattr(record.mixture, name).tolist() for name in _PARTS}
    if isinstance(record, TimeStep):
        words["speeds"] = np.asarray(record.speeds).tolist()
    return words


def unpacked_record(words: dict[str, Any]) -> Record | TimeStep:
    """Return the record from its words and numbers."""
    mixture = words.pop("mixture", None)
    if mixture is not None:
        mixture = Mixture(**{name: np.array(values) for name, values in mixture.items()})
    if "speeds" in words:
        speeds = np.array(words.pop("speeds"))
        return TimeStep(**words, look=Known(mixture, speeds))
    return Record(**words, mixture=mixture)
