"""Gaussian kernels placed evenly on [0, 1], made orthonormal once for each number of them.

    phi_i(s) = exp(-(s - c_i)^2 / (2 w^2)),   c_i = (i + 1/2)/N,  i = -G .. N+G-1,   w = WIDTH/N

Polynomials of degree 0 to 3 are among the functions, and the kernels orthogonal to them.
What they are at the fitting and checking points depends on N alone and is cached: a solve then
costs a few diagonal scalings and one QR.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sharpfront.arrays import FloatArray

# In brackets: kernels in all on drawn problems with a number halved and doubled.
# Kernel width in spacings: 2 to 3 measured alike with enough ghosts; below 1.5 digits are lost.
# (1.05 and one of 9 not solved, 1.59)
WIDTH = 2.5
# Centres beyond each end: 6 leave a floor of 1e-10, 10 and 14 reach 1e-13. (1.13, 1.34)
GHOSTS = 12
# Relative singular value below which a combination of kernels is rounding noise. (1.41, 1.00)
CUT = 1e-14
# Polynomials up to this degree stand beside the kernels, whose sums hold a constant to 1e-14 but
# its second derivative only to 3e-9: over a window of width w that is 3e-9 / w of slope.
POLYNOMIAL_DEGREE = 3
# Extra rows in the last three spacings at each end. (1.50 and one of 9 not solved, 1.09)
CLUSTER = 8
# Kernels are zero beyond this many widths: denormals make LAPACK crawl. What is cut off is a jump
# of the slope that no row sees, and a feature of width w makes it 1/w times larger: with 8.5 the
# error it made was 1e-14 / w, a few times what the error equation saw. With half of it three of 9
# were wrong.
REACH = 13.0
# Beyond so many entries a table is made in parts of so many: small arrays need not be asked of the
# system anew, and values at 1e5 points take a half of the time and little memory.
MANY_ENTRIES, SOME_ENTRIES = 40_000, 10_000
# Checking nodes are multiples of this part of a spacing.
_FINEST = 120


@dataclass(frozen=True, eq=False)
class EvenKernels:
    """N Gaussians even on [0, 1], polynomials, and K combinations that carry information."""

    kernels: int  # N
    combine: FloatArray  # of polynomials and kernels, (POLYNOMIAL_DEGREE + 1 + N + 2 GHOSTS, K)

    @property
    def size(self) -> int:
        """K."""
        return int(self.combine.shape[1])

    def table(self, s: FloatArray, order: int) -> FloatArray:
        """Return every function and its derivatives at positions s, (order + 1, n, K)."""
        # Point after point, as LAPACK wants the rows that are made of it.
        stacked = np.stack([(g @ self.combine).T for g in self._plain(s, order)])
        return stacked.swapaxes(1, 2)

    def sums(self, s: FloatArray, weights: FloatArray, order: int) -> FloatArray:
        """Return the derivatives of a weighted sum of the functions, (order + 1, n)."""
        plain, entries = self.combine @ weights, len(s) * len(self.combine)
        parts = [s] if entries < MANY_ENTRIES else np.array_split(s, 1 + entries // SOME_ENTRIES)
        sums = [np.stack([g @ plain for g in self._plain(part, order)]) for part in parts]
        return sums[0] if len(sums) == 1 else np.concatenate(sums, axis=1)

    def _plain(self, s: FloatArray, order: int) -> list[FloatArray]:
        scale = self.kernels / WIDTH
        z = (s[:, None] - centres(self.kernels)) * scale
        kernels = [g * scale**k for k, g in enumerate(_gaussians(z, order))]
        return [np.hstack(pair) for pair in zip(_polynomials(s, order), kernels, strict=True)]


def _polynomials(s: FloatArray, order: int) -> list[FloatArray]:
    """Return the derivatives of Legendre's first four polynomials on [0, 1], (n, 4) each."""
    z = 2.0 * s - 1.0
    half, one, none = 0.5 * z, np.ones_like(z), np.zeros_like(z)
    rows = [
        (one, z, 3.0 * half * z - 0.5, half * (5.0 * z * z - 3.0)),
        (none, 2.0 * one, 6.0 * z, 15.0 * z * z - 3.0),
        (none, none, 12.0 * one, 60.0 * z),
        (none, none, none, 120.0 * one),
        (none,) * 4,
    ]
    return [np.stack(row, axis=1) for row in rows[: order + 1]]


def _gaussians(z: FloatArray, order: int) -> list[FloatArray]:
    """Return d^k/dz^k exp(-z^2/2) for k = 0..order, by He_(k+1) = z He_k - k He_(k-1)."""
    base = np.where(np.abs(z) < REACH, np.exp(-0.5 * np.minimum(z * z, REACH**2)), 0.0)
    out = [base]
    for k in range(order):
        out.append(-z * out[k] - k * out[k - 1] if k else -z * base)
    return out


def centres(kernels: int) -> FloatArray:
    """Return the centres, ghosts included."""
    return np.asarray((np.arange(-GHOSTS, kernels + GHOSTS) + 0.5) / kernels)


@lru_cache(maxsize=128)
def fitting_points(kernels: int) -> FloatArray:
    """Return 2N midpoints and cosine-spaced points in the last three spacings, ends included."""
    return clustered(kernels, 2 * kernels)


def clustered(kernels: int, count: int) -> FloatArray:
    """Return `count` midpoints and cosine-spaced points in the last three spacings of kernels."""
    inner = (np.arange(count) + 0.5) / count
    edge = 3.0 / kernels * (1.0 - np.cos(0.5 * np.pi * np.arange(CLUSTER) / CLUSTER))
    return np.sort(np.concatenate([inner, edge, 1.0 - edge]))


@lru_cache(maxsize=128)
def checking_nodes(kernels: int) -> FloatArray:
    """Return the grid of the error equation: thirds of the spacings, fifths in the last ones.

    Three more nodes lie near each end. In the last spacings residuals swing as fast as the fitting
    points that are denser, and thirds alone may miss what is left of them on the whole: of a beam
    with layers, 19 parts of 20. Over 60 equations of order two to four with layers the error was up
    to 42 estimates with thirds; over 240 up to 1.1 with fifths in four spacings, 1.9 in three.
    """
    length = _FINEST * kernels
    thirds = _FINEST // 3 * np.arange(3 * kernels + 1)
    fifths = _FINEST // 5 * np.arange(1, 5 * min(4, kernels))
    edge = np.concatenate([_FINEST // 24 * np.array([1, 3, 6]), fifths])
    return np.asarray(np.unique(np.concatenate([thirds, edge, length - edge])) / length)


@lru_cache(maxsize=128)
def checking_middles(kernels: int) -> FloatArray:
    """Return the middles of the error equation's cells, at which nothing is fitted."""
    nodes = checking_nodes(kernels)
    return np.asarray(0.5 * (nodes[1:] + nodes[:-1]))


@lru_cache(maxsize=128)
def every_point(kernels: int) -> tuple[FloatArray, list[slice]]:
    """Return fitting points, checking middles and nodes together, and the parts of each."""
    parts = [fitting_points(kernels), checking_middles(kernels), checking_nodes(kernels)]
    ends = np.cumsum([0, *map(len, parts)]).tolist()
    return np.concatenate(parts), [slice(a, b) for a, b in itertools.pairwise(ends)]


def plain_kernels(s: FloatArray, kernels: int) -> FloatArray:
    """Return the Gaussians themselves at positions s, (n, N + 2 GHOSTS)."""
    return _gaussians((s[:, None] - centres(kernels)) * (kernels / WIDTH), 0)[0]


@lru_cache(maxsize=64)
def even_kernels(kernels: int) -> EvenKernels:
    """Return polynomials and what N Gaussians have beside them, orthonormal on fitting points.

    Combinations below CUT are left out.
    """
    points = fitting_points(kernels)
    q, r = np.linalg.qr(_polynomials(points, 0)[0])
    plain, inverse = plain_kernels(points, kernels), np.linalg.inv(r)
    shadow = q.T @ plain
    rest = plain - q @ shadow
    # Twice is enough: the first time leaves rounding of what was taken away.
    again = q.T @ rest
    _, sigma, right = np.linalg.svd(rest - q @ again, full_matrices=False)
    keep = sigma > CUT * np.linalg.norm(plain, 2)
    own = right[keep].T / sigma[keep]
    # LAPACK may choose either sign, and files hold weights: signs are those of one fixed sum.
    own = own * np.sign(np.cos(np.arange(len(own))) @ own)
    taken = -inverse @ ((shadow + again) @ own)
    nothing = np.zeros((len(own), POLYNOMIAL_DEGREE + 1))
    combine = np.block([[inverse, taken], [nothing, own]])
    return EvenKernels(kernels, combine * np.sqrt(len(points)))


def both_ends(kernels: int) -> FloatArray:
    """Return 0 and 1, whatever the number of kernels."""
    return np.array([0.0, 1.0])


@lru_cache(maxsize=384)
def kernel_table(
    kernels: int, order: int, where: Callable[[int], FloatArray] = fitting_points
) -> FloatArray:
    """Return the functions at places that go with their number, (order + 1, n, K)."""
    return even_kernels(kernels).table(where(kernels), order)


@lru_cache(maxsize=64)
def quadrature(kernels: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return Gauss-Legendre points and weights, (n,), and u, u' and u'' there, (3, n, K).

    Eight points to every other kernel: the coordinate's own density may vary by orders of magnitude
    from one kernel to the next, which one rule over the whole side follows to nine digits only.
    """
    t, w = np.polynomial.legendre.leggauss(8)
    panels = (kernels + 1) // 2
    points = (np.arange(panels)[:, None] + 0.5 * (1.0 + t)).ravel() / panels
    return points, np.tile(0.5 * w / panels, panels), even_kernels(kernels).table(points, 2)
