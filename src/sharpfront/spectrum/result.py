"""What is found of a spectrum: values with errors, and modes that are solutions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.solution import Solution

REAL, IMAG = "_real", "_imag"


@dataclass(frozen=True, eq=False)
class Eigenpair:
    """An eigenvalue with its mode.

    Parameters
    ----------
    value
        The eigenvalue.
    error
        Its estimated absolute error.
    mode
        The mode as a solution, its largest value one. A complex one has the unknowns ``u_real`` and
        ``u_imag``.
    """

    value: complex
    error: float
    mode: Solution

    @property
    def converged(self) -> bool:
        """Whether value and mode are as accurate as was asked for."""
        return self.mode.converged

    def __call__(self, *coordinates: Any) -> Any:
        """Return the mode at points, complex where it is; a system gives each unknown by name."""
        names = self._names()
        mode = getattr(self, names[0]) if len(names) == 1 else self.mode
        return mode(*coordinates)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._names():
            raise AttributeError(f"An eigenpair has no attribute {name!r}.")
        if name in self.mode.unknowns:
            return getattr(self.mode, name)
        real, imaginary = (getattr(self.mode, name + part) for part in (REAL, IMAG))
        return lambda *coordinates: real(*coordinates) + 1j * imaginary(*coordinates)

    def _names(self) -> list[str]:
        """Return the unknowns of the problem; those of a complex mode are two functions each."""
        found = list(self.mode.unknowns)
        if not any(u.endswith(IMAG) for u in found):
            return found
        return [u.removesuffix(REAL) for u in found if not u.endswith(IMAG)]

    def __repr__(self) -> str:
        return f"Eigenpair({written(self.value)} +- {self.error:.1e})"


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Some eigenvalues of a problem, the nearest to a number first found, in increasing order.

    Parameters
    ----------
    pairs
        Values with errors and modes.
    near
        What they are the nearest to.
    outcome
        How it ended: whether all are as accurate as asked for, and whether any may be missing.
    tol
        What was asked for, relative to the largest value.
    """

    pairs: tuple[Eigenpair, ...]
    near: complex
    outcome: Outcome
    tol: float

    @property
    def values(self) -> NDArray[Any]:
        """The eigenvalues, (k,): real numbers where all are real."""
        found = np.array([pair.value for pair in self.pairs], dtype=complex)
        return found.real if not np.any(found.imag) else found

    @property
    def errors(self) -> FloatArray:
        """The estimated absolute errors of the values, (k,)."""
        return np.array([pair.error for pair in self.pairs])

    @property
    def modes(self) -> tuple[Solution, ...]:
        """The modes."""
        return tuple(pair.mode for pair in self.pairs)

    @property
    def converged(self) -> bool:
        """Whether all are as accurate as asked for and none is known to be missing."""
        return self.outcome.kind is OutcomeKind.CONVERGED

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, index: int) -> Eigenpair:
        return self.pairs[index]

    def __iter__(self) -> Iterator[Eigenpair]:
        return iter(self.pairs)

    def __repr__(self) -> str:
        lines = [f"  {written(p.value):>44}  +- {p.error:.1e}" for p in self.pairs]
        return "\n".join([f"Spectrum near {written(self.near)}: {self.outcome.kind}", *lines])


def written(value: complex, digits: int = 15) -> str:
    """Return a number with so many digits, a complex one with fewer."""
    number = complex(value)
    return f"{number.real:.{digits}g}" if not number.imag else f"{number:.{4 * digits // 5}g}"
