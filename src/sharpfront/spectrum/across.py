"""What modes on a line have in common where fluxes or loads jump, or jumps are stated."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import IMAGINARY, Expression
from sharpfront.equation.linearise import LinearForm
from sharpfront.equation.values import environment, inside_values
from sharpfront.errors import ProblemError
from sharpfront.rows.interfaces import Interfaces
from sharpfront.spectrum.statement import (
    IMAGINARY_POWERS,
    Complex,
    SpectralForm,
    SpectralProblem,
    powers_of,
)


class Across:
    """The places of a line at which something jumps, and which forms are the same on both sides."""

    def __init__(self, statement: SpectralProblem) -> None:
        self._statement = statement
        self._known: dict[float, tuple[tuple[SpectralForm, SpectralForm], ...]] = {}

    @cached_property
    def _interfaces(self) -> Interfaces:
        return Interfaces(self._statement.problem, {})

    @property
    def places(self) -> FloatArray:
        """Where something jumps or a load acts."""
        return self._interfaces.lines[0]

    def shared(self, place: float) -> tuple[tuple[SpectralForm, SpectralForm], ...]:
        """Return pairs of forms, from below and from above, that are equal at a place."""
        if not self._statement.problem.is_singular:
            return ()
        if place not in self._known:
            data = self._interfaces.data(0, place)
            self._known[place] = tuple((self._form(d.below), self._form(d.above)) for d in data)
        return self._known[place]

    def _form(self, form: LinearForm) -> SpectralForm:
        return self._statement.polynomial(form, "condition at a jump or load")


def values_beside(form: SpectralForm, place: float, inside: float) -> list[Complex]:
    """Return the coefficients of each term at a place, (powers, 1) each, as limits from one side.

    There is no other place at which something jumps between it and the one inside.
    """
    return [np.stack([_limit(c, form, place, inside) for c in t.powers]) for t in form.terms]


def _limit(coefficient: Expression, form: SpectralForm, place: float, inside: float) -> Complex:
    here, beside = (environment(form.coordinates, np.array([[x]])) for x in (place, inside))
    turns = powers_of(coefficient, IMAGINARY, IMAGINARY_POWERS)
    if turns is None:
        raise ProblemError(
            f"1j stands in {coefficient!r}, which jumps or has a load; there sf.eigs takes "
            "polynomials of it. Write np.cos(x) + 1j * np.sin(x) for np.exp(1j * x)."
        )
    parts = [1j**n * inside_values(c, here, beside, 1) for n, c in enumerate(turns)]
    return np.asarray(sum(parts))
