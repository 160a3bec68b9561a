"""QR by Householder's reflectors, as LAPACK leaves it."""

from __future__ import annotations

from scipy.linalg.lapack import dgeqrf

from sharpfront.arrays import Host
from sharpfront.errors import LinearSystemError

# Columns that LAPACK works on at a time. Given less room it takes fewer: with SciPy's own default,
# three, 590 x 472 take 2.4 times as long.
PANEL = 32


def reflected(matrix: Host, *, overwrite: bool = False) -> tuple[Host, Host]:
    """Return R above the reflectors, and their factors.

    Parameters
    ----------
    matrix
        (m, n); not copied if it is in Fortran's order and may be overwritten.
    overwrite
        Whether it may.
    """
    room = PANEL * max(1, matrix.shape[1])
    raw, tau, _, info = dgeqrf(matrix, lwork=room, overwrite_a=overwrite)
    if info != 0:
        raise LinearSystemError(f"LAPACK refused the QR factorisation (info = {info}).")
    return raw, tau
