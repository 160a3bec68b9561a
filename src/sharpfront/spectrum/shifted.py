"""An eigenvalue problem in the plane about a shift, as a real one for inverse iteration.

With Q(lam) = P_0 + lam P_1 + lam^2 P_2, lam = s + 1 / m and z = u / m,

    Q(s) u' = -(P_1 + 2 s P_2) u - P_2 z,    z' = u

is m times what it starts from at an eigenvalue: one step is a solve with Q(s), conditions alike.
Complex numbers become pairs: every unknown is two functions, and every equation two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.differentiation import partial_derivative
from sharpfront.equation.expression import (
    IMAGINARY,
    SPECTRAL,
    Constant,
    Derivative,
    Expression,
    is_zero,
)
from sharpfront.equation.linearise import LinearForm, Term, with_leaves
from sharpfront.equation.trace import Symbols
from sharpfront.equation.weak import is_singular
from sharpfront.errors import ProblemError
from sharpfront.problem import Problem
from sharpfront.problem.conditions import Condition
from sharpfront.spectrum.result import IMAG, REAL
from sharpfront.spectrum.statement import (
    IMAGINARY_POWERS,
    SpectralForm,
    SpectralProblem,
    powers_of,
)

Complexes = Sequence[complex]


@dataclass(frozen=True, eq=False)
class Shifted:
    """A problem with lam at a shift."""

    problem: Problem  # q(s) u = 0, real
    # For u and, where lam has a second power, z: what they add to the other side of each equation.
    equations: tuple[tuple[LinearForm, ...], ...]
    # The same for each condition's form; of those without lam nothing.
    conditions: Mapping[LinearForm, tuple[LinearForm, ...]]
    pairs: bool  # whether unknowns are pairs of functions


def shifted(statement: SpectralProblem, shift: complex, scale: float) -> Shifted:
    """Return an eigenvalue problem about a shift, no eigenvalue itself.

    z is in units of the scale, about how large values are.
    """
    pairs = statement.is_complex or bool(shift.imag)
    _refuse_singular(statement.problem, pairs)
    sides: Sequence[Complexes] = ((0.0, -1.0, -2.0 * shift), (0.0, 0.0, -scale))[: statement.degree]
    problem = _in_pairs(statement, shift) if pairs else _at_value(statement.problem, shift.real)

    def others(forms: Sequence[SpectralForm], factors: Complexes) -> tuple[LinearForm, ...]:
        return tuple(LinearForm(t, Constant(0.0)) for t in _rows(forms, factors, pairs))

    own: dict[LinearForm, tuple[LinearForm, ...]] = {}
    for condition, (_, forms) in zip(problem.conditions, statement.conditions, strict=True):
        every = [others(forms, factors) for factors in sides]
        if any(form.terms for each in every for form in each):
            own |= dict(zip(condition.forms, zip(*every, strict=True), strict=True))
    return Shifted(problem, tuple(others(statement.equations, f) for f in sides), own, pairs)


def _refuse_singular(problem: Problem, pairs: bool) -> None:
    """Refuse what is not carried over to the other side, or to pairs: jumps inside of terms."""
    if problem.is_singular and pairs:
        raise ProblemError(
            "sf.eigs takes fluxes across coefficients that jump and loads in real problems only, "
            "with a real near=. Smooth the jump over a short stretch."
        )
    lam = ("parameter", SPECTRAL)
    if any(is_singular(partial_derivative(e, lam)) for e in problem.equations):
        raise ProblemError(
            "lam multiplies a load or a flux across a coefficient that jumps, which sf.eigs does "
            "not take yet. Divide so that it stands with the other terms, or smooth it."
        )


def size_of_values(statement: SpectralProblem) -> float:
    """Return about how large values are: terms without lam over terms with it, on the domain."""
    domain = statement.problem.domain
    length = float(np.ptp(domain.bounds, axis=0).max())
    groups: list[tuple[Sequence[SpectralForm], tuple[FloatArray, ...]]] = [
        (statement.equations, (domain.sample(64),))
    ]
    for part, forms in statement.conditions:
        found = domain.boundary(part, 16)
        groups.append((forms, (found.points, found.normals)))
    ratios = []
    for own, places in groups:
        sizes = np.zeros(3)
        for form in own:
            for term, c in zip(form.terms, form.values(*places), strict=True):
                sizes += np.abs(c).mean(axis=1) / length**term.order
        ratios += [(sizes[0] / sizes[j]) ** (1.0 / j) for j in (1, 2) if sizes[j] > 0]
    return float(min((r for r in ratios if r > 0), default=1.0))


def _at_value(problem: Problem, value: float) -> Problem:
    """Return a problem with a number in the place of lam."""
    number = {("parameter", SPECTRAL): Constant(value)}

    def with_number(graphs: Iterable[Expression]) -> tuple[Expression, ...]:
        return tuple(with_leaves(graph, number) for graph in graphs)

    return problem.rewritten(
        equations=with_number(problem.equations),
        conditions=tuple(Condition(with_number(c.residuals), c.part) for c in problem.conditions),
    )


def _in_pairs(statement: SpectralProblem, shift: complex) -> Problem:
    """Return a problem at a shift whose unknowns are real and imaginary parts."""
    problem, factors = statement.problem, (1.0, shift, shift**2)

    def both(forms: Sequence[SpectralForm]) -> tuple[Expression, ...]:
        every = (
            [t.coefficient * Derivative(t.unknown, problem.coordinates, t.orders) for t in terms]
            for terms in _rows(forms, factors, True)
        )
        return tuple(reduce(lambda a, b: a + b, own, Constant(0.0)) for own in every)

    names = tuple(name + part for part in (REAL, IMAG) for name in problem.unknowns)
    return problem.rewritten(
        symbols=Symbols(names, problem.coordinates),
        equations=both(statement.equations),
        conditions=tuple(Condition(both(forms), part) for part, forms in statement.conditions),
    )


def _rows(forms: Sequence[SpectralForm], factors: Complexes, pairs: bool) -> list[tuple[Term, ...]]:
    """Return sum_j factors_j c_j of the terms of forms; of pairs the real parts come first."""
    out: list[list[tuple[Term, ...]]] = [[] for _ in range(1 + pairs)]
    for form in forms:
        found: list[list[Term]] = [[] for _ in out]
        for t in form.terms:
            a, b = _parts(t.powers, factors)
            if not pairs:
                found[0].append(Term(t.unknown, t.orders, a))
                continue
            for own, (first, second) in zip(found, ((a, -b), (b, a)), strict=True):
                own.append(Term(t.unknown + REAL, t.orders, first))
                own.append(Term(t.unknown + IMAG, t.orders, second))
        for rows, own in zip(out, found, strict=True):
            rows.append(tuple(t for t in own if not is_zero(t.coefficient)))
    return [terms for own in out for terms in own]


def _parts(powers: Sequence[Expression], factors: Complexes) -> tuple[Expression, Expression]:
    """Return real and imaginary part of sum_j factors_j c_j."""
    real: Expression = Constant(0.0)
    imaginary: Expression = Constant(0.0)
    for c, factor in zip(powers, map(complex, factors), strict=True):
        turns = powers_of(c, IMAGINARY, IMAGINARY_POWERS)
        if turns is None:
            raise ProblemError(
                f"1j stands in {c!r}; in the plane sf.eigs takes polynomials of it. Write "
                "np.cos(x) + 1j * np.sin(x) for np.exp(1j * x)."
            )
        a, b = turns[0] - turns[2] + turns[4], turns[1] - turns[3]
        real = real + factor.real * a - factor.imag * b
        imaginary = imaginary + factor.imag * a + factor.real * b
    return real, imaginary
