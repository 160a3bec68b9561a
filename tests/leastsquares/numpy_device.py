"""A device that needs no torch."""

from contextlib import contextmanager

import numpy as np


class Host:
    """NumPy as a device: slow, but the same operations in the same order."""

    name = "cpu"

    def put(self, array):
        """Return the array."""
        return np.asarray(array)

    def zeros(self, shape):
        """Return zeros."""
        return np.zeros(shape)

    def cholesky(self, batch):
        """Return factors one by one."""
        lower, good = np.zeros_like(batch), np.ones(len(batch), dtype=bool)
        for i, matrix in enumerate(batch):
            try:
                lower[i] = np.linalg.cholesky(matrix)
            except np.linalg.LinAlgError:
                good[i] = False
        return lower, good

    def inverse(self, lower):
        """Return L^-1; what is no factor has none."""
        good = np.linalg.diagonal(lower).all(axis=1)
        out = np.zeros_like(lower)
        out[good] = np.linalg.inv(lower[good])
        return out

    @property
    def free(self):
        """Bytes enough for batches that fit into a processor's caches."""
        return 2**28

    @contextmanager
    def guarded(self, needed):
        """Run a block."""
        yield
