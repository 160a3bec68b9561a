"""Numbers that carry their derivatives, and spectral elements on a line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as ss
from numpy.polynomial import legendre
from scipy.sparse.linalg import splu

from hostile.drawn import Function


class Dual(np.lib.mixins.NDArrayOperatorsMixin):
    """Values with their derivatives by all unknown values, a sparse matrix."""

    def __init__(self, value: np.ndarray, slopes: Any) -> None:
        self.value, self.slopes = value, slopes

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Apply the chain rule."""
        if method != "__call__" or kwargs or ufunc not in _RULES:
            return NotImplemented
        values = [i.value if isinstance(i, Dual) else i for i in inputs]
        result = ufunc(*values)
        slopes = 0
        for i, factor in zip(inputs, _RULES[ufunc](*values), strict=True):
            if isinstance(i, Dual):
                factor = np.broadcast_to(np.asarray(factor, dtype=float), result.shape)
                slopes = slopes + ss.diags(factor) @ i.slopes
        return Dual(result, slopes)


_RULES: dict[Any, Any] = {
    np.add: lambda a, b: (1.0, 1.0),
    np.subtract: lambda a, b: (1.0, -1.0),
    np.multiply: lambda a, b: (b, a),
    np.divide: lambda a, b: (1 / np.asarray(b), -a / np.asarray(b) ** 2),
    np.power: lambda a, n: (n * a ** (n - 1), 0.0),
    np.negative: lambda a: (-1.0,),
    np.positive: lambda a: (1.0,),
    np.exp: lambda a: (np.exp(a),),
    np.sin: lambda a: (np.cos(a),),
    np.cos: lambda a: (-np.sin(a),),
    np.tanh: lambda a: (1 - np.tanh(a) ** 2,),
    np.log: lambda a: (1 / a,),
    np.sqrt: lambda a: (0.5 / np.sqrt(a),),
}


class Unknown(Dual):
    """An unknown at points, which answers to the names of its derivatives."""

    def __init__(self, derivative: Any, outward: Any = None) -> None:
        self._derivative, self._outward = derivative, outward
        super().__init__(*derivative(0, 0))

    def __getattr__(self, name: str) -> Dual:
        if not name.startswith("d") or (name.startswith("dt") and set(name[1:]) != {"t"}):
            raise AttributeError(name)
        if name == "dn":
            return self._outward * self.dx
        return Dual(*self._derivative(name.count("x"), name.count("t")))

    def d(self, name: str, times: int = 1) -> Dual:
        """Return a derivative along x."""
        return Dual(*self._derivative(times, 0))


@dataclass(frozen=True)
class Mesh:
    """Elements of a line with polynomials of one degree.

    An unknown whose equation has order m is held as u, u', ..., u^(m-1) at the left end of each
    element and Legendre's series of u^(m) in it: on elements of 1e-7 nothing is divided by their
    size, and no digit is lost to that.

    Parameters
    ----------
    edges
        Ends of the elements.
    degree
        Of the polynomials.
    """

    edges: np.ndarray
    degree: int

    @property
    def size(self) -> int:
        """The number of coefficients of an unknown."""
        return (len(self.edges) - 1) * (self.degree + 1)

    def inner(self, order: int) -> np.ndarray:
        """Return Gauss's points of all elements, fewer by the order of an equation."""
        gauss = legendre.leggauss(self.degree + 1 - order)[0]
        half = np.diff(self.edges) / 2
        return ((self.edges[:-1] + half)[:, None] + half[:, None] * gauss).ravel()

    def at(self, x: np.ndarray, order: int, derivative: int, lower: bool = False) -> Any:
        """Return the matrix to a derivative of an unknown of an order, at points.

        Between two elements the right one counts, the left one if lower.
        """
        side = "left" if lower else "right"
        element = np.clip(np.searchsorted(self.edges, x, side) - 1, 0, len(self.edges) - 2)
        half = np.diff(self.edges)[element] / 2
        away = x - self.edges[element]
        local = away / half - 1
        n = self.degree + 1
        taylor = np.zeros((len(x), order))
        for k in range(derivative, order):
            taylor[:, k] = away ** (k - derivative) / math.factorial(k - derivative)
        times = order - derivative
        series = np.eye(n - order)
        series = legendre.legder(series, max(-times, 0)) if times < 0 else series
        series = legendre.legint(series, times, lbnd=-1) if times > 0 else series
        rest = legendre.legvander(local, len(series) - 1) @ series * half[:, None] ** times
        rows = np.concatenate([taylor, rest], axis=1)
        columns = element[:, None] * n + np.arange(n)
        where = np.repeat(np.arange(len(x)), n)
        return ss.csr_matrix((rows.ravel(), (where, columns.ravel())), (len(x), self.size))

    def integral(self) -> tuple[np.ndarray, np.ndarray]:
        """Return points and weights of an integral over the line."""
        weights = legendre.leggauss(self.degree + 1)[1]
        return self.inner(0), (np.diff(self.edges)[:, None] / 2 * weights).ravel()

    def fitted(self, f: Function, order: int) -> np.ndarray:
        """Return the coefficients of a function."""
        x = self.inner(0)
        values = np.asarray(f(x), dtype=float) + 0 * x
        return np.asarray(splu(self.at(x, order, 0).tocsc()).solve(values))


def edges_of(
    ends: tuple[float, float], features: Sequence[tuple[float, float]], breaks: Sequence[float]
) -> np.ndarray:
    """Return edges that grow away from each feature and hit each break."""
    low, high = ends
    length = high - low
    marks = [np.linspace(low, high, 6), np.asarray(breaks, dtype=float)]
    for place, width in features:
        count = max(2, int(np.ceil(np.log2(length / width))) + 2)
        away = width * np.concatenate([[0.0, 0.5], 2.0 ** np.arange(count)])
        marks += [place + away, place - away]
    exact = np.unique(np.concatenate([[low, high], np.asarray(breaks, dtype=float)]))
    # Marks of two features may coincide but for rounding: one of them is enough, and no break goes.
    least = 0.1 * min([*np.diff(exact), *(width for _, width in features)])
    kept = list(exact)
    for mark in np.unique(np.clip(np.concatenate(marks), low, high)):
        if np.min(np.abs(np.asarray(kept) - mark)) > least:
            kept.append(float(mark))
    return np.sort(kept)
