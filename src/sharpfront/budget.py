"""How much a solve may use and how exact it has to be: checked once for all solvers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sharpfront.checks import finite, whole


@dataclass(frozen=True)
class Budget:
    """What a solve is allowed.

    Each solver has defaults of its own, so that anything may be left out; what is given is checked
    here, whatever the kind of problem.
    """

    max_kernels: int | None = None  # stop rather than use more kernels, 1 or more
    components: int | None = None  # the most components of a mixture, 1 or more
    tol: float | None = None  # the error that is asked for, between 0 and 1
    seed: int = 42  # of all randomness, 0 or more

    def __post_init__(self) -> None:
        checked: dict[str, Any] = {"seed": whole(self.seed, "seed", 0, "seed=42")}
        if self.max_kernels is not None:
            checked["max_kernels"] = whole(self.max_kernels, "max_kernels", 1, "max_kernels=1000")
        if self.components is not None:
            checked["components"] = whole(self.components, "components", 1, "components=4")
        if self.tol is not None:
            checked["tol"] = tolerance(self.tol)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def kernels(self, default: int, least: int = 1) -> int:
        """Return the most kernels, of which a kind of problem needs at least so many."""
        most = default if self.max_kernels is None else self.max_kernels
        return whole(most, "max_kernels", least, f"max_kernels={max(least, default)}")

    def parts(self, default: int) -> int:
        """Return the most components of a mixture."""
        return default if self.components is None else self.components


def tolerance(value: Any) -> float:
    """Return a tolerance, which lies between 0 and 1."""
    expected = "a number between 0 and 1, without the ends"
    return finite(value, "tol", expected, "tol=1e-6", within=lambda number: 0 < number < 1)


# Nothing is asked for: every solver takes its own defaults.
DEFAULT = Budget()
