"""How narrow a component of a mixture may be: floors of covariances."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharpfront.errors import MixtureError
from sharpfront.mixture.model import EPS, FloatArray


def raised_to_floor(shapes: FloatArray, floor: float) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Raise eigenvalues of covariances (K, d, d) to floor^2; also say of which (K,)."""
    lowest, d = floor * floor, shapes.shape[1]
    if d == 1:
        return np.maximum(shapes, lowest), shapes[:, 0, 0] < lowest
    # Eigenvalues below the rounding of the largest are noise, and so is raising them.
    noise = 4 * d * (d + 1) * EPS
    trace = np.trace(shapes, axis1=1, axis2=2)
    shapes, low = _raise_eigenvalues(shapes, np.where(lowest > noise * trace, lowest, -np.inf))
    # A component far thinner than that along an axis keeps its width if scaled to unit diagonal;
    # the matrix of an oblique one cannot hold it.
    diagonal = np.diagonal(shapes, axis1=1, axis2=2)
    lift = np.maximum(lowest - diagonal, 0)
    shapes = shapes + lift[:, None, :] * np.eye(d)
    scale = np.sqrt(diagonal + lift)
    scale = scale[:, :, None] * scale[:, None, :]
    unit, singular = _raise_eigenvalues(shapes / scale, np.full(len(shapes), noise))
    shapes = np.where(singular[:, None, None], unit * scale, shapes)
    return shapes, low | singular | lift.any(axis=1)


def _raise_eigenvalues(
    matrices: FloatArray, lowest: FloatArray
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Raise eigenvalues below lowest (K,); a matrix that has none stays as it is, to the bit."""
    values, vectors = np.linalg.eigh(matrices)
    low = values[:, 0] < lowest
    raised = vectors * np.maximum(values, lowest[:, None])[:, None, :] @ vectors.swapaxes(1, 2)
    return np.where(low[:, None, None], raised, matrices), low


def checked_floor(floor: float, x: FloatArray) -> float:
    """Return the floor of points (n, d), which is not below their rounding."""
    scale = float(np.abs(x).max())
    if scale > 0 and not 1e-130 < scale < 1e130:
        raise MixtureError(
            f"got coordinates up to {scale:.3g}, whose variances overflow or vanish, "
            "expected 1e-130 to 1e130; try other units"
        )
    if not 0 <= floor < np.inf:
        raise MixtureError(
            f"got floor {floor}, expected a finite standard deviation, not negative; "
            "try floor=0.0 for none"
        )
    rounding = 64 * EPS * scale
    if len(x) == 1 and floor <= rounding:
        raise MixtureError(
            f"got a single point {x[0].tolist()} and no floor, expected two distinct points or a "
            "positive floor, as one point has no width; try floor=(the local spacing)"
        )
    return max(floor, rounding)
