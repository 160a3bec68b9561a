"""Anderson's way of going on from iterate to iterate: their changes are made to cancel."""

from __future__ import annotations

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.settings import LINE_MARCH


class Mixer:
    """Each iterate is mixed with those before so that their changes cancel.

    Changes are (S, n, K), those of each unknown count in its scale, (K,).
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        # The last changes, and the iterates they lead to, in turn.
        self.changes, self.iterates = np.empty((2, LINE_MARCH.mixed + 1, int(np.prod(shape))))
        self.slots = self.changes.reshape(LINE_MARCH.mixed + 1, *shape)
        # Products of changes.
        self.gram = [[0.0] * (LINE_MARCH.mixed + 1) for _ in range(LINE_MARCH.mixed + 1)]
        self.weight: FloatArray | None = None

    def begin(self, levels: FloatArray, scale: FloatArray) -> None:
        """Forget all iterates; levels, (S, n, K), are changed in place from now on."""
        self.levels, self.count = levels.reshape(-1), 0
        # One unknown needs no weights: only how changes compare counts.
        if len(scale) > 1:
            self.weight = np.broadcast_to(scale**-2.0, levels.shape).reshape(-1)

    @property
    def slot(self) -> FloatArray:
        """Where the next change is put, (S, n, K)."""
        slot: FloatArray = self.slots[self.count % (LINE_MARCH.mixed + 1)]
        return slot

    def mix(self) -> None:
        """Go on by the change that was put there."""
        now, known = self.count % (LINE_MARCH.mixed + 1), min(self.count + 1, LINE_MARCH.mixed + 1)
        own = self.changes[now]
        iterate = np.add(self.levels, own, out=self.iterates[now])
        products = self.changes[:known] @ (own if self.weight is None else own * self.weight)
        self.gram[now][:known] = products.tolist()
        for row, product in zip(self.gram, self.gram[now], strict=True):
            row[now] = product
        self.count += 1
        if known > 1 and (shares := self._shares(now, known)) is not None:
            np.matmul(shares, self.iterates[:known], out=self.levels)
        else:
            self.levels[:] = iterate

    def _shares(self, now: int, known: int) -> FloatArray | None:
        """Return shares of iterates, one in sum, whose changes together are smallest."""
        gram, others = self.gram, [i for i in range(known) if i != now]
        # Products of the differences to the last change.
        last = gram[now]
        right = [last[now] - last[i] for i in others]
        apart = [[gram[i][j] - last[j] + last[now] - last[i] for j in others] for i in others]
        fit = _mixing_shares(apart, right)
        if fit is None:
            return None
        shares = np.empty(known)
        shares[others], shares[now] = fit, 1.0 - sum(fit)
        return shares


def _mixing_shares(gram: list[list[float]], right: list[float]) -> list[float] | None:
    """Return the solution of two or three equations of least squares; None if there is none."""
    count = len(right)
    for i in range(count):
        # What hardly differs from the others has no weight of its own.
        gram[i][i] *= 1.0 + 1e-13
    for i in range(count):
        if not gram[i][i] > 0.0:
            return None
        for j in range(i + 1, count):
            share = gram[j][i] / gram[i][i]
            right[j] -= share * right[i]
            for k in range(i + 1, count):
                gram[j][k] -= share * gram[i][k]
    for i in reversed(range(count)):
        for k in range(i + 1, count):
            right[i] -= gram[i][k] * right[k]
        right[i] /= gram[i][i]
    return right
