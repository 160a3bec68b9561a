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


def size_of_terms(
    form: LinearForm, coefficients: Sequence[Host], sides: Host, rough: dict[str, int]
) -> Host:
    """Return sum_t |a_t| prod h^-alpha h_min^-t_j at points; sides (d,) or pointwise (m, d)."""
    least = np.min(sides, axis=-1)
    total = np.zeros(())
    for term, a in zip(form.terms, coefficients, strict=True):
        unit = np.prod(sides ** -np.array(term.orders, dtype=float), axis=-1)
        total = total + np.abs(a) * unit * least ** -float(rough[term.unknown])
    return np.asarray(total)
