"""What a solve leaves behind of its way: one record per adaptation or step in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfront.mixture import Mixture

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
    mixture
        The components at the end of the step: their positions are ``mixture.means``.
    speeds
        Of the components, (K,) or (K, d).
    """

    step: int
    time: float
    dt: float
    kernels: int
    error_estimate: float
    iterations: int
    seconds: float
    mixture: Mixture | None
    speeds: NDArray[np.float64]


def packed_record(record: Record | TimeStep) -> dict[str, Any]:
    """Return a record as words and numbers."""
    words = {k: v for k, v in vars(record).items() if k not in ("mixture", "speeds")}
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
        return TimeStep(**words | {"speeds": np.array(words["speeds"])}, mixture=mixture)
    return Record(**words, mixture=mixture)
