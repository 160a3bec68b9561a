"""What data tell of parameters: variances, directions that are not seen, tests of the misfit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from sharpfront.arrays import Flags, FloatArray
from sharpfront.fit.data import Observed, with_rows
from sharpfront.fit.free_parameters import Free

# Singular values below this part of the largest are rounding.
ROUNDING = 1e-8
# A direction is unseen as well if all of a parameter changes predictions by less than this part of
# the noise.
FAINT = 1e-3
# Of directions whose derivatives are not known, those that seem to change predictions by less than
# this part of what the best seen one does are taken for unseen ones.
SMALL = 1e-2
# Rises of the misfit at the ends of the linear interval may differ so much from what they would be
# if predictions were straight.
STRAIGHT = 0.2
# Parameters with a smaller share in an unseen direction have no part in it.
PART = 1e-3


@dataclass(frozen=True, eq=False)
class Spread:
    """Variances of fitted parameters."""

    # (p, p); infinite for parameters with a part in an unseen direction, nan between these and
    # others.
    covariance: FloatArray
    seen: FloatArray  # what the directions that are seen have of it, (p, p)
    unseen: FloatArray  # directions along which the misfit does not change, (k, p)
    doubtful: Flags  # along which of these it may, for all that is known of the derivatives, (k,)
    # The direction that is seen least, of length one in the fitted parameters, (p,).
    worst: FloatArray
    singular: FloatArray  # of the derivatives in units of the noise, (p,)

    @property
    def deviations(self) -> FloatArray:
        """Standard errors of the fitted parameters, (p,)."""
        return np.sqrt(np.diag(self.covariance))

    def of_predictions(self, jacobian: FloatArray, largest: float) -> FloatArray:
        """Return standard errors of what has derivatives (n, p); infinite where it is not seen.

        `largest` is the largest derivative of data: what is rounding beside it is none.
        """
        variance = np.einsum("ni,ij,nj->n", jacobian, self.seen, jacobian)
        lengths = np.linalg.norm(jacobian, axis=1)[:, None]
        least = np.maximum(PART * lengths, ROUNDING * largest)
        is_open = (np.abs(jacobian @ self.unseen.T) > least).any(axis=1)
        return np.where(is_open, np.inf, np.sqrt(np.maximum(variance, 0.0)))


def spread(jacobian: FloatArray, variance: float, errors: FloatArray) -> Spread:
    """Return the variances from derivatives (n, p) in units of the noise.

    `errors` are the lengths of the errors of its columns, (p,): what is smaller says nothing.
    """
    _, s, vt = np.linalg.svd(jacobian, full_matrices=False)
    faint = (s <= ROUNDING * s[0]) | (s < FAINT * np.sqrt(variance))
    unknown = s <= np.abs(vt) @ errors
    blind, doubtful = faint | unknown, ~faint & unknown & (s > SMALL * s[0])
    seen, unseen = vt[~blind], vt[blind]
    known = variance * (seen.T / s[~blind] ** 2) @ seen
    covariance = known.copy()
    lost = (np.abs(unseen) > PART).any(axis=0)
    covariance[lost, :] = covariance[:, lost] = np.nan
    covariance[lost, lost] = np.inf
    worst = seen[-1] if len(seen) else vt[-1]
    return Spread(covariance, known, unseen, doubtful[blind], worst, s)


def unseen_words(direction: FloatArray, free: dict[str, Free], doubtful: bool) -> str:
    """Return in words what data do not tell, or what is too doubtful to say that they do."""
    parts = [(n, f, d) for (n, f), d in zip(free.items(), direction, strict=True) if abs(d) > PART]
    if doubtful:
        names = ", ".join(n for n, _, _ in parts)
        return (
            f"Derivatives along {names} are not known well enough to say what data tell of "
            f"{'it' if len(parts) == 1 else 'them'}. Fix one, give it a prior, or a smaller tol=."
        )
    if len(parts) == 1:
        name = parts[0][0]
        return f"Data say nothing of {name}. Fix it, or give it a prior."
    labels = ", ".join(f"log {n}" if f.positive else n for n, f, _ in parts)
    sign = 1.0 if parts[0][2] > 0 else -1.0
    scaled = [sign * d * (1.0 if f.positive else f.scale) for _, f, d in parts]
    along = ", ".join(f"{d:.2g}" for d in scaled)
    told = ""
    if len(parts) == 2 and all(f.positive for _, f, _ in parts):
        (a, _, da), (b, _, db) = parts
        if abs(abs(da) - abs(db)) < 0.01:
            told = f"Data see only the {'ratio' if da * db > 0 else 'product'} "
            told += f"{a}{'/' if da * db > 0 else '*'}{b}: "
    return (
        f"{told}along ({labels}) = ({along}) the misfit does not change. Fix one of them, or give "
        "one a prior: sf.Free(..., prior=sf.Prior(mean, sd))."
    )


def quantile(level: float, spare: int | None) -> float:
    """Return how many standard errors an interval of a level is long to either side."""
    if spare is None:
        return float(special.ndtri(0.5 + 0.5 * level))
    return float(special.stdtrit(max(spare, 1), 0.5 + 0.5 * level))


def misfit_probability(chi2: float, spare: int) -> float:
    """Return how likely a misfit at least as large is if model and noise are right."""
    return float(special.chdtrc(spare, chi2))


def runs_probability(observed: list[Observed], residual: FloatArray) -> float:
    """Return how likely so few changes of sign are along the data if they are noise."""
    runs, mean, variance = 0.0, 0.0, 0.0
    for o, rows in with_rows(observed):
        own = residual[rows]
        order = np.lexsort(o.points.T[::-1]) if o.points.shape[1] else np.arange(len(own))
        signs = own[order] > 0
        n, m = int(signs.sum()), int((~signs).sum())
        if n == 0 or m == 0 or n + m < 8:
            continue
        total = n + m
        runs += 1 + int(np.count_nonzero(signs[1:] != signs[:-1]))
        mean += 1 + 2 * n * m / total
        variance += 2.0 * n * m * (2 * n * m - total) / (total**2 * (total - 1))
    return float(special.ndtr((runs + 0.5 - mean) / np.sqrt(variance))) if variance > 0 else 1.0
