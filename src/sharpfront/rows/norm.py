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

from sharpfront.arrays import Host
from sharpfront.equation.linearise import LinearForm
from sharpfront.rows.values import FormValues


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
# A patch is thin along an axis if it is so many times longer along another.
THIN = 4.0


def stretched(sides: Host, extent: float) -> list[tuple[Host, float]]:
    """Return sides with the thin axis made longer and longer, each with the factor l / h.

    What a residual r in a strip of thickness h does to u is felt far beyond the strip: spread over
    a length l it is a source r h / l, which makes an error of that over the size of the terms at
    the length l. The row of a strip counts for the largest such error, up to the strip's length;
    on the line, where no strip has one, up to the domain's extent.
    """
    out = [(sides, 1.0)]
    axis, longest = int(np.argmin(sides)), float(sides.max()) if len(sides) > 1 else extent
    if longest > THIN * sides[axis]:
        for length in np.geomspace(sides[axis], longest, LENGTHS)[1:]:
            wider = sides.copy()
            wider[axis] = length
            out.append((wider, float(length / sides[axis])))
    return out


def felt_size(
    form: FormValues, sides: Host, rough: dict[str, int], extent: float
) -> tuple[Host, Host]:
    """Return the least of l / h times the size of the terms at points, and the sides it is at."""
    least, at = np.asarray(np.inf), sides
    for wider, factor in stretched(sides, extent):
        size = factor * size_of_terms(form, wider, rough)
        if np.max(size) < np.max(least):
            at = wider
        least = np.minimum(least, size)
    return least, at


def size_of_terms(form: FormValues, sides: Host, rough: dict[str, int]) -> Host:
    """Return sum_t |a_t| prod h^-alpha h_min^-t_j at points; sides (d,) or pointwise (m, d)."""
    least = np.min(sides, axis=-1)
    total = np.zeros(())
    for term, a in zip(form.terms, form.coefficients, strict=True):
        unit = np.prod(sides ** -np.array(term.orders, dtype=float), axis=-1)
        total = total + np.abs(a) * unit * least ** -float(rough[term.unknown])
    return np.asarray(total)
