"""One row of the table: a problem, a tolerance, and what its solution is compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sharpfront as sf

Field = Callable[..., Any]


@dataclass(frozen=True)
class Row:
    """A problem that is to be solved to a tolerance.

    Parameters
    ----------
    name
        As in the table.
    problem
        States it.
    tol
        The tolerance.
    exact
        Exact unknowns by name, where they are known.
    figures
        Further errors by name: functions of the solution.
    options
        Passed on to `sf.solve`.
    """

    name: str
    problem: Callable[[], sf.Problem]
    tol: float
    exact: Mapping[str, Field] = field(default_factory=dict)
    figures: Mapping[str, Callable[[sf.Solution], float]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


def poisson(domain: sf.Domain, exact: Field) -> sf.Problem:
    """Return -lap u = f with the values of a function on the boundary; f from the function."""
    return sf.Problem(
        domain,
        lambda u, x, y: -sf.laplacian(u - exact(x, y)),
        **dict.fromkeys(domain.parts, lambda u, x, y: u - exact(x, y)),
    )


def harmonic(domain: sf.Domain, exact: Field) -> sf.Problem:
    """Return -lap u = 0 with the values of a function that cannot be differentiated as text."""
    given = sf.function(exact)
    return sf.Problem(
        domain,
        lambda u, x, y: -sf.laplacian(u),
        **dict.fromkeys(domain.parts, lambda u, x, y: u - given(x, y)),
    )


def loaded(domain: sf.Domain) -> sf.Problem:
    """Return -lap u = 1, u = 0 all round."""
    held = dict.fromkeys(domain.parts, lambda u, x, y: u)
    return sf.Problem(domain, lambda u, x, y: -sf.laplacian(u) - 1, **held)
