"""The norm in which rows are added up: every patch an equal vote, in units of the unknowns.

A row sum_t a_t d^alpha_t u_j = f of a patch with sides h is divided by

    sum_t max|a_t| prod_a h_a^(-alpha_a) h^(-t_j)

so that its residual is an error of u. The weights t_j (Agmon, Douglis and Nirenberg's) say how much
rougher an unknown is: in Stokes' equations p counts like a first derivative of u.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.linearise import LinearForm
from sharpfront.rows.form_values import FormValues


def roughness(forms: Sequence[LinearForm], unknowns: Sequence[str]) -> dict[str, int]:
    """Return t_j >= 0 for each unknown: orders s_i - t_j bound those of unknown j in equation i.

    Of all such numbers those with the least sum of s_i - t_j, which is the order of the system.
    """
    orders = np.full((len(forms), len(unknowns)), -np.inf)
    for i, form in enumerate(forms):
        for term in form.terms:
            j = unknowns.index(term.unknown)
            orders[i, j] = max(orders[i, j], term.order)
    most = int(orders.max()) if np.isfinite(orders.max()) else 0
    best: tuple[float, tuple[int, ...]] | None = None
    for t in itertools.product(range(most + 1), repeat=len(unknowns)):
        s = np.max(orders + np.array(t), axis=1)
        score = (float(s.sum()) - sum(t), t)
        if min(t) == 0 and (best is None or score < best):
            best = score
    assert best is not None
    return dict(zip(unknowns, best[1], strict=True))


# Lengths at which a thin patch's effect is looked at, from its thickness to its length.
LENGTHS = 12
_STEPS = np.arange(LENGTHS) / (LENGTHS - 1.0)
# A patch is thin along an axis if it is so many times longer along another.
THIN = 4.0


def stretched(sides: FloatArray, extent: float) -> tuple[FloatArray, FloatArray]:
    """Return sides, (b, d), with the thin axis made longer and longer, and the factors l / h.

    These are (b, k, d) and (b, k).

    What a residual r in a strip of thickness h does to u is felt far beyond the strip: spread over
    a length l it is a source r h / l, which makes an error of that over the size of the terms at
    the length l. The row of a strip counts for the largest such error, up to the strip's length;
    on the line, where no strip has one, up to the domain's extent.
    """
    thin, longest = sides.min(axis=1), sides.max(axis=1)
    if sides.shape[1] == 1:
        longest = np.full_like(thin, extent)
    is_thin = longest > THIN * thin
    if not is_thin.any():
        return sides[:, None], np.ones((len(sides), 1))
    ratios = np.where(is_thin, longest / thin, 1.0)
    lengths = thin[:, None] * np.exp(np.log(ratios)[:, None] * _STEPS)
    out = np.repeat(sides[:, None], LENGTHS, axis=1)
    np.put_along_axis(out, sides.argmin(axis=1)[:, None, None], lengths[:, :, None], axis=2)
    return out, lengths / thin[:, None]


def felt_units(
    form: FormValues, sides: FloatArray, rough: dict[str, int], extent: float
) -> tuple[FloatArray, FloatArray]:
    """Return sides at each length that the effects of some, (b, d), are felt at, (b, k, d).

    Beside them what makes terms sizes at these, l / h times the units, (b, terms, k).
    """
    wider, factors = stretched(sides, extent)
    own = units(form, wider.reshape(-1, sides.shape[1]), rough)
    return wider, np.asarray((own.reshape(-1, *factors.shape) * factors).transpose(1, 0, 2))


def felt_size(
    form: FormValues, sides: FloatArray, rough: dict[str, int], extent: float
) -> FloatArray:
    """Return the least of l / h times the size of the terms at points of a patch, (m,)."""
    (factors,) = felt_units(form, sides[None], rough, extent)[1]
    return np.asarray(_sizes(form, factors).min(axis=1))


def felt_sides(
    form: FormValues, sides: FloatArray, rough: dict[str, int], extent: float
) -> FloatArray:
    """Return the sides at which that is least, of patches with one point each, (b, d)."""
    if not form.terms:
        return sides
    wider, factors = felt_units(form, sides, rough, extent)
    sizes = (np.abs(np.stack(form.coefficients, axis=1))[:, None] @ factors)[:, 0]
    # The last that made it smaller.
    lower = sizes[:, 1:] < np.minimum.accumulate(sizes, axis=1)[:, :-1]
    last = (lower * np.arange(1, wider.shape[1])).max(axis=1, initial=0)
    return np.asarray(wider[np.arange(len(sides)), last])


def size_of_terms(form: FormValues, sides: FloatArray, rough: dict[str, int]) -> FloatArray:
    """Return sum_t |a_t| prod h^-alpha h_min^-t_j at points; sides (d,) or pointwise (m, d)."""
    own = units(form, np.atleast_2d(sides), rough)
    if sides.ndim == 1:
        return np.asarray(_sizes(form, own)[:, 0])
    sizes = np.abs(form.coefficients) if form.terms else np.zeros((0, len(sides)))
    return np.asarray(np.sum(sizes * own, axis=0))


def _sizes(form: FormValues, units: FloatArray) -> FloatArray:
    """Return the size of the terms at points for each column of units, (m, k)."""
    if not len(form.terms):
        return np.zeros((len(form.rhs), units.shape[1]))
    return np.asarray(np.abs(form.coefficients).T @ units)


def units(form: FormValues, sides: FloatArray, rough: dict[str, int]) -> FloatArray:
    """Return prod h^-alpha h_min^-t_j for each term and each of some sides, (terms, k)."""
    orders = np.array([term.orders for term in form.terms], dtype=float)
    rougher = np.array([rough[term.unknown] for term in form.terms], dtype=float)
    logs = np.log(sides)
    powers = orders.reshape(len(rougher), -1) @ logs.T + rougher[:, None] * logs.min(axis=1)
    return np.asarray(np.exp(-powers))
