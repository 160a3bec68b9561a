"""Gaussian mixtures fitted to weighted points by expectation-maximisation.

For points x_i with weights w_i the fit raises the weighted log-likelihood

    L = sum_i w_i ln p(x_i) / sum_i w_i,    p(x) = sum_k pi_k N(x | mu_k, Sigma_k),

by turns of the E-step, q_ik = pi_k N(x_i | mu_k, Sigma_k) / p(x_i), and the M-step,

    N_k = sum_i w_i q_ik,    pi_k = N_k / sum_i w_i,    mu_k = sum_i w_i q_ik x_i / N_k,
    Sigma_k = sum_i w_i q_ik (x_i - mu_k)(x_i - mu_k)^T / N_k.

Eigenvalues of Sigma_k below floor(mu_k)^2 are raised to it: that is the exact maximum under the
constraint, so L still never falls. Shapes: n points in d dimensions, K components.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import multivariate_normal, qmc

from sharpfront.errors import MixtureError

FloatArray: TypeAlias = NDArray[np.float64]
Floor: TypeAlias = float | Callable[[FloatArray], FloatArray]

_EPS = float(np.finfo(float).eps)
# Below this share of all weight, sums of products w_i q_ik x_i run into denormal numbers.
_EMPTY = 1e-290
# Squares of coordinates, and of rounding errors in them, must neither overflow nor vanish.
_SMALLEST_SCALE, _LARGEST_SCALE = 1e-130, 1e130


@dataclass(frozen=True, eq=False)
class Mixture:
    """A Gaussian mixture p(x) = sum_k pi_k N(x | mu_k, Sigma_k).

    Parameters
    ----------
    weights
        (K,) shares pi_k, not negative, with sum 1.
    means
        (K, d); in one dimension also (K,).
    covariances
        (K, d, d), symmetric positive definite; in one dimension also (K,), the variances.
    """

    weights: FloatArray
    means: FloatArray
    covariances: FloatArray

    def __post_init__(self) -> None:
        weights, means, covariances = (
            np.array(given, dtype=float) for given in (self.weights, self.means, self.covariances)
        )
        means = means[:, None] if means.ndim == 1 else means
        covariances = covariances[:, None, None] if covariances.ndim == 1 else covariances
        _check_parameters(weights, means, covariances)
        covariances = (covariances + covariances.swapaxes(1, 2)) / 2
        parts = {"weights": weights / weights.sum(), "means": means, "covariances": covariances}
        for name, array in parts.items():
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        try:
            _ = self._factors
        except np.linalg.LinAlgError:
            raise MixtureError(
                f"got covariances that are not positive definite: {covariances.tolist()}; "
                "try fit(..., floor=...) with a positive floor, or raise the small eigenvalues"
            ) from None

    @property
    def components(self) -> int:
        """How many components K, those of zero weight included."""
        return len(self.weights)

    @property
    def dimension(self) -> int:
        """Dimension d of the space."""
        return self.means.shape[1]

    @cached_property
    def _factors(self) -> FloatArray:
        """Cholesky factors (K, d, d)."""
        return np.linalg.cholesky(self.covariances)

    def log_density(self, points: ArrayLike) -> FloatArray:
        """Natural logarithm of the density at points (n, d), or (n,) if d = 1, as (n,)."""
        return self._expect(points)[1]

    def density(self, points: ArrayLike) -> FloatArray:
        """Density at points (n, d), or (n,) if d = 1, as (n,)."""
        return np.exp(self.log_density(points))

    def responsibilities(self, points: ArrayLike) -> FloatArray:
        """Posterior q_ik that component k produced point i, as (n, K); rows sum to one."""
        return self._expect(points)[0].T

    def _expect(self, points: ArrayLike) -> tuple[FloatArray, FloatArray]:
        x = _as_points(points)
        if x.shape[1] != self.dimension:
            raise MixtureError(
                f"got points of shape {np.shape(points)}, expected (n, {self.dimension}); "
                "try points.reshape(-1, d), one row per point"
            )
        return _expect(x.T - self.means[:, :, None], self.weights, self._factors)

    def draw(self, count: int, seed: int) -> FloatArray:
        """Independent random points (count, d); the same seed gives the same points."""
        rng = np.random.default_rng(_checked_count(seed, "seed"))
        chosen = rng.choice(self.components, size=_checked_count(count, "count"), p=self.weights)
        return self._place(chosen, rng.standard_normal((count, self.dimension)))

    def draw_quasi(self, count: int, seed: int = 0) -> FloatArray:
        """Low-discrepancy points (count, d) from a scrambled Sobol sequence in d + 1 dimensions.

        The ranks of the first coordinate share the points out, to each component a number within
        one of pi_k count; the other coordinates go through the inverse normal distribution.
        """
        if _checked_count(count, "count") == 0:
            return np.empty((0, self.dimension))
        rng = np.random.default_rng(_checked_count(seed, "seed"))
        sobol = qmc.Sobol(self.dimension + 1, scramble=True, bits=30, rng=rng)
        # Half a bit up: the sequence may contain 0, whose normal quantile is infinite.
        unit = sobol.random_base2((count - 1).bit_length())[:count] + 2.0**-31
        level = (unit[:, 0].argsort().argsort() + 0.5) / count
        live = np.flatnonzero(self.weights)
        edges = self.weights[live].cumsum()[:-1]
        return self._place(live[np.searchsorted(edges, level)], ndtri(unit[:, 1:]))

    def _place(self, chosen: NDArray[np.int64], standard: FloatArray) -> FloatArray:
        """Points mu_k + L_k z of the chosen components, for standard normal z (n, d)."""
        spread = (self._factors[chosen] @ standard[:, :, None])[:, :, 0]
        return np.asarray(self.means[chosen] + spread)

    def cdf(self, x: ArrayLike) -> FloatArray:
        """Probability below x, of the shape of x; one dimension only."""
        weights, mean, sd = self._line("cdf")
        return np.asarray(ndtr((np.asarray(x, dtype=float)[..., None] - mean) / sd) @ weights)

    def quantile(self, p: ArrayLike) -> FloatArray:
        """Point below which the probability is p, of the shape of p; one dimension only."""
        weights, mean, sd = self._line("quantile")
        level = np.asarray(p, dtype=float)
        if not np.all((level >= 0) & (level <= 1)):
            raise MixtureError(f"got p = {p}, expected probabilities in [0, 1]")
        x = np.where(level < 0.5, -np.inf, np.inf)
        inside = (level > 0) & (level < 1)
        x[inside] = _invert_cdf(level[inside], weights, mean[:, None], sd[:, None])
        return x

    def _line(self, what: str) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Weights, means and standard deviations of the components that are not empty."""
        if self.dimension != 1:
            raise MixtureError(
                f"{what} needs a mixture in one dimension, got {self.dimension}; "
                "try draw_quasi for well-spread points, or mass for the probability of a box"
            )
        live = self.weights > 0
        return self.weights[live], self.means[live, 0], self._factors[live, 0, 0]

    def mass(self, lower: ArrayLike, upper: ArrayLike) -> float:
        """Probability in the box lower <= x <= upper; each edge a number or (d,), may be infinite.

        Exact in one dimension and for diagonal covariances. Others are integrated by
        `scipy.stats.multivariate_normal` to about 1e-5 (two dimensions: to rounding).
        """
        low, high = (
            np.asarray(edge, dtype=float) + np.zeros(self.dimension) for edge in (lower, upper)
        )
        if low.shape != (self.dimension,) or not np.all(low <= high):
            raise MixtureError(
                f"got a box from {lower} to {upper}, expected two corners of shape "
                f"({self.dimension},) with lower <= upper"
            )
        if np.array_equal(self.covariances, self.covariances * np.eye(self.dimension)):
            sd = np.diagonal(self._factors, axis1=1, axis2=2)
            between = _normal_between((low - self.means) / sd, (high - self.means) / sd)
            return float(self.weights @ between.prod(axis=1))
        boxes = [
            multivariate_normal.cdf(high, mean, covariance, lower_limit=low, rng=0)
            for mean, covariance in zip(self.means, self.covariances, strict=True)
        ]
        return float(self.weights @ boxes)


@dataclass(frozen=True)
class EMRecord:
    """How a fit went.

    Parameters
    ----------
    iterations
        M-steps taken.
    log_likelihood
        Weighted log-likelihood over total weight: of the start, then after every iteration.
    converged
        Whether the last iteration raised it by no more than the tolerance.
    floored
        How many covariances rest on the floor (or on rounding, where that is higher).
    empty
        How many components lost all responsibility; they keep their shape at weight zero.
    """

    iterations: int
    log_likelihood: tuple[float, ...]
    converged: bool
    floored: int
    empty: int


class _State(NamedTuple):
    """One iterate: weights (K,), means, covariances, floor at the means (K,), who rests on it."""

    weights: FloatArray
    means: FloatArray
    covariances: FloatArray
    floors: FloatArray
    floored: NDArray[np.bool_]


def fit(
    points: ArrayLike,
    weights: ArrayLike,
    components: int,
    *,
    start: Literal["kmeans", "quantile"] | Mixture = "kmeans",
    floor: Floor = 0.0,
    max_iterations: int = 100,
    tolerance: float = 1e-6,
    seed: int = 0,
) -> tuple[Mixture, EMRecord]:
    """Fit a mixture to weighted points.

    Parameters
    ----------
    points
        (n, d), or (n,) in one dimension. Equal points are merged, those of zero weight dropped.
    weights
        (n,), not negative; only their ratios matter.
    components
        K, at most the number of distinct points of positive weight.
    start
        ``"kmeans"``: weighted k-means++ centres, each with the points nearest to it;
        ``"quantile"``: slabs of equal weight along the principal direction; or a mixture to go on
        from, whose components that explain nothing here are seeded afresh.
    floor
        Smallest standard deviation in any direction: a number, or a function of means (K, d)
        that gives (K,). Where it rises so fast that the step to the new mean would lower the
        likelihood, half that step or none is taken. With 0 only rounding stops a collapse:
        64 units in the last place of the largest coordinate.
    max_iterations
        M-steps at most; with 0 the start comes back.
    tolerance
        Stop when an iteration raises the log-likelihood per unit weight by no more than this.
    seed
        For ``"kmeans"`` and for components seeded afresh.

    Returns
    -------
    tuple of Mixture and EMRecord
    """
    x, w = _prepare(points, weights, components)
    if max_iterations < 0 or not tolerance >= 0:
        raise MixtureError(
            f"got max_iterations = {max_iterations} and tolerance = {tolerance}, "
            "expected neither to be negative"
        )
    floor_at = _floor_function(floor, x)
    state = _begin(x, w, components, start, floor_at, np.random.default_rng(seed))
    return _iterate(x, w, state, floor_at, max_iterations, tolerance)


def _iterate(
    x: FloatArray,
    w: FloatArray,
    state: _State,
    floor_at: Callable[[FloatArray], FloatArray],
    max_iterations: int,
    tolerance: float,
) -> tuple[Mixture, EMRecord]:
    """Turns of E- and M-step from a start to convergence."""
    trace: list[float] = []
    converged = False
    while True:
        difference = x.T - state.means[:, :, None]
        factors = np.linalg.cholesky(state.covariances)
        posterior, log_density = _expect(difference, state.weights, factors)
        trace.append(float(w @ log_density))
        converged = len(trace) > 1 and trace[-1] - trace[-2] <= tolerance
        if converged or len(trace) > max_iterations:
            break
        state = _maximise(state, difference, w * posterior, floor_at)
    floored, empty = int(state.floored.sum()), int((state.weights == 0).sum())
    record = EMRecord(len(trace) - 1, tuple(trace), converged, floored, empty)
    return Mixture(state.weights, state.means, state.covariances), record


def _expect(
    difference: FloatArray, weights: FloatArray, factors: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """E-step: q (K, n) and ln p (n,) from x_i - mu_k (K, d, n), pi (K,), Cholesky factors."""
    z = np.empty_like(difference)
    for i in range(difference.shape[1]):  # forward substitution, all components at once
        known = np.sum(factors[:, i, :i, None] * z[:, :i], axis=1) if i else 0.0
        z[:, i] = (difference[:, i] - known) / factors[:, i, i, None]
    diagonal = np.diagonal(factors, axis1=1, axis2=2)
    with np.errstate(divide="ignore"):  # an empty component: ln 0 = -inf, q = 0
        constant = np.log(weights) - np.log(diagonal).sum(axis=1)
    log_joint = constant[:, None] - 0.5 * np.square(z).sum(axis=1)
    peak = log_joint.max(axis=0)
    joint = np.exp(log_joint - peak)
    total = joint.sum(axis=0)
    return joint / total, peak + np.log(total) - 0.5 * z.shape[1] * np.log(2 * np.pi)


def _moments(
    difference: FloatArray, joint: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """N_k (K,), mean (K, d) and covariance (K, d, d) of points given as offsets (K, d, n).

    Means as offsets from the old ones stay accurate where a component is far narrower than its
    distance from the origin. `joint` is w_i q_ik (K, n).
    """
    mass = joint.sum(axis=1)
    share = joint / np.maximum(mass, _EMPTY)[:, None]
    shift = (difference @ share[:, :, None])[:, :, 0]
    centred = difference - shift[:, :, None]
    return mass, shift, (centred * share[:, None, :]) @ centred.swapaxes(1, 2)


def _maximise(
    state: _State,
    difference: FloatArray,
    joint: FloatArray,
    floor_at: Callable[[FloatArray], FloatArray],
) -> _State:
    """M-step: the next iterate from w_i q_ik (K, n)."""
    mass, shift, scatter = _moments(difference, joint)
    means = state.means + shift
    floors = floor_at(means)
    covariances, floored = _raise_to_floor(scatter, floors)
    new = _State(mass / mass.sum(), means, covariances, floors, floored)
    # Only a floor that rises on the way to the new mean can make the likelihood fall.
    held_back = floored & (floors > state.floors)
    if held_back.any():
        shorter = _best_step(state, new, shift, scatter, floor_at)
        new = _choose(held_back, shorter, new)
    empty = mass <= _EMPTY
    if empty.any():
        new = _choose(empty, state._replace(weights=np.zeros_like(mass)), new)
    return new


def _best_step(
    state: _State,
    new: _State,
    shift: FloatArray,
    scatter: FloatArray,
    floor_at: Callable[[FloatArray], FloatArray],
) -> _State:
    """All, half or none of the way to the new means, whichever is most likely under the floor.

    None of the way is never worse than the old iterate, which obeys the same floor there.
    """
    best, highest = new, _expected(new.covariances, scatter)
    for step in (0.5, 0.0):
        rest = (1 - step) * shift
        moment = scatter + rest[:, :, None] * rest[:, None, :]
        means = state.means + step * shift
        floors = floor_at(means)
        covariances, floored = _raise_to_floor(moment, floors)
        likely = _expected(covariances, moment)
        trial = _State(new.weights, means, covariances, floors, floored)
        best, highest = _choose(likely > highest, trial, best), np.maximum(likely, highest)
    return best


def _expected(covariances: FloatArray, moment: FloatArray) -> FloatArray:
    """-ln|Sigma_k| - tr(Sigma_k^-1 M_k), what the M-step maximises, for moments M (K, d, d)."""
    within = np.trace(np.linalg.solve(covariances, moment), axis1=1, axis2=2)
    return np.asarray(-np.linalg.slogdet(covariances)[1] - within)


def _choose(where: NDArray[np.bool_], this: _State, that: _State) -> _State:
    """Take components of one iterate where a mask (K,) says so, else of the other."""
    masks = (where.reshape(-1, *[1] * (a.ndim - 1)) for a in this)
    return _State(*(np.where(m, a, b) for m, a, b in zip(masks, this, that, strict=True)))


def _raise_to_floor(
    covariances: FloatArray, floors: FloatArray
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Raise eigenvalues below floors^2 (K,); covariances (K, d, d), and which were raised."""
    lowest = np.square(floors)
    if covariances.shape[1] == 1:
        return np.maximum(covariances, lowest[:, None, None]), covariances[:, 0, 0] < lowest
    raised, low = _raise_eigenvalues(covariances, lowest)
    # Where the axes of a thin component are oblique its matrix cannot hold an eigenvalue below
    # rounding of the largest; scaled to unit diagonal, thin ones along the axes lose nothing.
    d = covariances.shape[1]
    diagonal = np.maximum(np.diagonal(raised, axis1=1, axis2=2), lowest[:, None])
    scale = np.sqrt(diagonal[:, :, None] * diagonal[:, None, :])
    unit, singular = _raise_eigenvalues(
        raised / scale, np.full_like(lowest, 4 * d * (d + 1) * _EPS)
    )
    return np.where(singular[:, None, None], unit * scale, raised), low | singular


def _raise_eigenvalues(
    matrices: FloatArray, lowest: FloatArray
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Raise eigenvalues below lowest (K,); a matrix that has none stays as it is, to the bit."""
    values, vectors = np.linalg.eigh(matrices)
    low = values[:, 0] < lowest
    if not low.any():
        return matrices, low
    raised = vectors * np.maximum(values, lowest[:, None])[:, None, :] @ vectors.swapaxes(1, 2)
    return np.where(low[:, None, None], raised, matrices), low


def _begin(
    x: FloatArray,
    w: FloatArray,
    components: int,
    start: Literal["kmeans", "quantile"] | Mixture,
    floor_at: Callable[[FloatArray], FloatArray],
    rng: np.random.Generator,
) -> _State:
    """First iterate."""
    if isinstance(start, Mixture):
        return _resume(x, w, components, start, floor_at, rng)
    if start == "kmeans":
        labels = _nearest(x, _spread(x, w, np.empty((0, x.shape[1])), components, rng))
    elif start == "quantile":
        labels = _slabs(x, w, components)
    else:
        raise MixtureError(f"got start = {start!r}, expected 'kmeans', 'quantile' or a Mixture")
    return _from_labels(x, w, labels, components, floor_at)


def _from_labels(
    x: FloatArray,
    w: FloatArray,
    labels: NDArray[np.int64],
    components: int,
    floor_at: Callable[[FloatArray], FloatArray],
) -> _State:
    """M-step for points (n, d) that each belong to one component, labels (n,)."""
    joint = np.where(labels == np.arange(components)[:, None], w, 0.0)
    centre = w @ x
    mass, shift, scatter = _moments((x - centre).T[None], joint)
    # d points or fewer span no volume: begin with the average shape, not with a collapse.
    few = np.count_nonzero(joint, axis=1) <= x.shape[1]
    average = np.tensordot(mass, scatter, axes=1)
    means = centre + shift
    floors = floor_at(means)
    covariances = np.where(few[:, None, None], average, scatter)
    return _State(mass / mass.sum(), means, *_with_floor(covariances, floors))


def _with_floor(
    covariances: FloatArray, floors: FloatArray
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    raised, floored = _raise_to_floor(covariances, floors)
    return raised, floors, floored


def _resume(
    x: FloatArray,
    w: FloatArray,
    components: int,
    start: Mixture,
    floor_at: Callable[[FloatArray], FloatArray],
    rng: np.random.Generator,
) -> _State:
    """First iterate from a mixture; components with a share below rounding are seeded afresh."""
    if start.means.shape != (components, x.shape[1]):
        raise MixtureError(
            f"got a start with {start.components} components in {start.dimension} dimensions, "
            f"expected {components} in {x.shape[1]}"
        )
    parts = _with_floor(start.covariances, floor_at(start.means))
    state = _State(start.weights, start.means, *parts)
    factors = np.linalg.cholesky(state.covariances)
    posterior, _ = _expect(x.T - state.means[:, :, None], state.weights, factors)
    lost = posterior @ w < _EPS
    if not lost.any():
        return state
    means = start.means.copy()
    living = means[~lost]
    means[lost] = _spread(x, w, living, components, rng)[len(living) :]
    state = _choose(lost, _from_labels(x, w, _nearest(x, means), components, floor_at), state)
    return state._replace(weights=state.weights / state.weights.sum())


def _spread(
    x: FloatArray, w: FloatArray, given: FloatArray, count: int, rng: np.random.Generator
) -> FloatArray:
    """Weighted k-means++: add points to given centres, each drawn with chance w_i D_i^2.

    D_i is the distance of point i to the nearest centre so far; the first has chance w_i.
    """
    centres = list(given)
    nearest = np.full(len(x), np.inf)
    for centre in given:
        nearest = np.minimum(nearest, np.square(x - centre).sum(axis=1))
    while len(centres) < count:
        chance = np.cumsum(w * nearest if centres else w)
        pick = np.searchsorted(chance, rng.random() * chance[-1], side="right")
        centres.append(x[min(pick, len(x) - 1)])
        nearest = np.minimum(nearest, np.square(x - centres[-1]).sum(axis=1))
    return np.array(centres)


def _nearest(x: FloatArray, centres: FloatArray) -> NDArray[np.int64]:
    """Index (n,) of the centre nearest to each point."""
    return np.square(x - centres[:, None, :]).sum(axis=2).argmin(axis=0)


def _slabs(x: FloatArray, w: FloatArray, components: int) -> NDArray[np.int64]:
    """Labels (n,) that cut the points across their principal direction into equal weights."""
    centred = x - w @ x
    _, vectors = np.linalg.eigh((centred.T * w) @ centred)
    order = np.argsort(centred @ vectors[:, -1], kind="stable")
    rank = np.arange(len(x))
    middle = np.cumsum(w[order]) - w[order] / 2
    slab = np.minimum((components * middle).astype(np.int64), components - 1)
    # A point heavier than a slab leaves slabs empty. Labels that start at 0, rise by at most
    # one a point and end at K - 1 leave none.
    slab = rank + np.minimum.accumulate(np.minimum(slab - rank, 0))
    slab = np.maximum(slab, components - len(x) + rank)
    labels = np.empty_like(slab)
    labels[order] = slab
    return labels


def _invert_cdf(p: FloatArray, weights: FloatArray, mean: FloatArray, sd: FloatArray) -> FloatArray:
    """Solve F(x) = p (n,), 0 < p < 1, by bracketed Newton steps; mean and sd are (K, 1)."""
    # The quantile lies between those of the components, and between two knots of a table.
    knots = np.sort((mean + sd * np.linspace(-8, 8, 33)).ravel())
    table = weights @ ndtr((knots - mean) / sd)
    cell = np.searchsorted(table, p)
    ends = mean + sd * ndtri(p)
    low = np.maximum(ends.min(axis=0), np.append(-np.inf, knots)[cell])
    high = np.minimum(ends.max(axis=0), np.append(knots, np.inf)[cell])
    x = np.clip(np.interp(p, table, knots), low, high)
    previous = np.full_like(p, np.inf)
    for _ in range(200):
        z = (x - mean) / sd
        excess = weights @ ndtr(z) - p
        slope = (weights / sd[:, 0]) @ np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
        done = np.abs(excess) <= 2 * _EPS * (2 * p + np.abs(x) * slope)
        if done.all():
            break
        low, high = np.where(excess < 0, x, low), np.where(excess > 0, x, high)
        newton = x - excess / np.maximum(slope, np.finfo(float).tiny)
        good = (low < newton) & (newton < high) & (np.abs(excess) < 0.5 * previous)
        x = np.where(done, x, np.where(good, newton, 0.5 * (low + high)))
        previous = np.abs(excess)
    return x


def _normal_between(a: FloatArray, b: FloatArray) -> FloatArray:
    """Standard normal probability of a <= z <= b; both tails keep their digits."""
    flip = a > 0
    return np.asarray(ndtr(np.where(flip, -a, b)) - ndtr(np.where(flip, -b, a)))


def _as_points(points: ArrayLike) -> FloatArray:
    """(n, d) of finite numbers; (n,) and a single number count as one dimension."""
    x = np.asarray(points, dtype=float)
    x = x.reshape(-1, 1) if x.ndim < 2 else x
    if x.ndim != 2 or x.shape[1] == 0 or not np.isfinite(x).all():
        raise MixtureError(
            f"got points of shape {np.shape(points)} with {int((~np.isfinite(x)).sum())} entries "
            "that are not finite, expected finite numbers of shape (n, d)"
        )
    return x


def _checked_count(value: int, name: str) -> int:
    if not isinstance(value, int | np.integer) or value < 0:
        raise MixtureError(f"got {name} = {value!r}, expected an integer that is not negative")
    return int(value)


def _check_parameters(weights: FloatArray, means: FloatArray, covariances: FloatArray) -> None:
    """Refuse shapes that do not fit and numbers that are no mixture."""
    shape = means.shape
    fits = weights.shape == shape[:1] and covariances.shape == (*shape, *shape[1:])
    if means.ndim != 2 or 0 in shape or not fits:
        raise MixtureError(
            f"got weights {weights.shape}, means {shape} and covariances {covariances.shape}, "
            "expected (K,), (K, d) and (K, d, d) with K and d at least 1"
        )
    if not (np.isfinite(means).all() and np.isfinite(covariances).all()):
        raise MixtureError("got means or covariances that are not finite, expected numbers")
    if not (np.all(weights >= 0) and abs(weights.sum() - 1) <= 1e-8):
        raise MixtureError(
            f"got weights {weights.tolist()}, expected none negative and sum 1; "
            "try weights / weights.sum()"
        )
    diagonal = np.abs(np.diagonal(covariances, axis1=1, axis2=2))
    scale = np.sqrt(diagonal[:, :, None] * diagonal[:, None, :])
    if np.any(np.abs(covariances - covariances.swapaxes(1, 2)) > 1e-8 * scale):
        raise MixtureError("got covariances that are not symmetric; try (C + C.T) / 2")


def _prepare(
    points: ArrayLike, weights: ArrayLike, components: int
) -> tuple[FloatArray, FloatArray]:
    """Distinct points (n, d) in lexical order, and their positive weights (n,) with sum 1."""
    x, w = _as_points(points), np.asarray(weights, dtype=float)
    if w.shape != (len(x),):
        raise MixtureError(f"got weights of shape {w.shape} for {len(x)} points, expected one each")
    if not (np.isfinite(w).all() and np.all(w >= 0) and np.any(w > 0)):
        bad, negative = int((~np.isfinite(w)).sum()), int((w < 0).sum())
        raise MixtureError(
            f"got {bad} weights that are not finite and {negative} negative ones among {len(w)}, "
            "expected none of either and one at least above zero; "
            "try np.nan_to_num, or uniform weights where nothing is known"
        )
    w = w / w.max()  # first, so that the sum of huge weights does not overflow
    x, w = x[w > 0], w[w > 0]
    order = np.lexsort(x.T[::-1])
    x, w = x[order], w[order]
    first = np.flatnonzero(np.append(True, (x[1:] != x[:-1]).any(axis=1)))
    x, w = x[first], np.add.reduceat(w, first)
    if not 1 <= _checked_count(components, "components") <= len(x):
        raise MixtureError(
            f"got components = {components} for {len(x)} distinct points of positive weight, "
            f"expected 1 to {len(x)}; try fewer components or more points"
        )
    return x, w / w.sum()


def _floor_function(floor: Floor, x: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Floor as a checked function of means (K, d), nowhere below the rounding of the points."""
    scale = float(np.abs(x).max())
    if scale > 0 and not _SMALLEST_SCALE < scale < _LARGEST_SCALE:
        raise MixtureError(
            f"got coordinates up to {scale:.3g}, expected {_SMALLEST_SCALE} to {_LARGEST_SCALE}, "
            "so that variances neither overflow nor vanish; try other units"
        )
    rounding = 64 * _EPS * scale

    def floor_at(means: FloatArray) -> FloatArray:
        given = np.asarray(floor(means) if callable(floor) else np.full(len(means), floor), float)
        if given.shape != (len(means),) or not np.all((given >= 0) & (given < np.inf)):
            raise MixtureError(
                f"got floor {given}, expected one finite standard deviation, not negative, "
                f"for each of {len(means)} means; try floor=0.0 for none"
            )
        return np.maximum(given, rounding)

    if len(x) == 1 and floor_at(x)[0] <= rounding:
        raise MixtureError(
            f"got a single point {x[0].tolist()} and no floor, expected two distinct points or a "
            "positive floor: one point has no width; try floor=(local spacing)"
        )
    return floor_at
