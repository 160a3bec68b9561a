"""Integrals over a domain, over a part of its boundary, and over time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.stars import on_surface, shell_of
from sharpfront.errors import DomainError
from sharpfront.geometry import Domain, SpaceTime
from sharpfront.geometry.curves import Curve, Piece, Spot
from sharpfront.geometry.patches import Face
from sharpfront.geometry.star import squares_of
from sharpfront.geometry.surfaces import Surface
from sharpfront.maps import Shell
from sharpfront.problem.line_problem import integrate
from sharpfront.solution.approximation import Approximation
from sharpfront.solution.functionals.places import BoxCell, cells_of, line_edges, moments_of, total
from sharpfront.solution.functionals.quantity import Known, Quantity, fluxes, one_or_all, quantities

# Moments of a step at which what is integrated over time is looked at: solutions are polynomials
# of degree three there.
MOMENTS = 4
# Cells along a smooth piece of boundary to begin with.
ALONG = 32


def integral(known: Known, of: Any = None, t: Any = None) -> Any:
    """Return the integral over the domain; `Solution.integral` says how."""

    def over(quantity: Quantity) -> float:
        return over_space(quantity, known.approximation, known.space, quantity.t, known.tol)

    asked = quantities(known, of, known.moment(t))
    return one_or_all({name: _over_time(known, q, over) for name, q in asked.items()})


def flux(known: Known, part: str, coefficient: Any = 1.0, t: Any = None) -> Any:
    """Return what passes a part of the boundary; `Solution.flux` says how."""
    asked, pieces = fluxes(known, coefficient, known.moment(t)), known.space.smooth_pieces(part)

    def over(quantity: Quantity) -> float:
        return sum(_over_piece(quantity, piece, max(known.tol, 1e-12)) for piece in pieces)

    return one_or_all({name: _over_time(known, q, over) for name, q in asked.items()})


def _over_time(known: Known, quantity: Quantity, over: Callable[[Quantity], float]) -> float:
    """Return what is found at the moment asked for, or its integral over all of them."""
    if quantity.t is not None or not isinstance(known.domain, SpaceTime):
        return over(quantity)
    ends = moments_of(known.approximation, known.domain.time)
    z, w = np.polynomial.legendre.leggauss(MOMENTS)
    result = 0.0
    for low, high in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        for share, weight in zip(z.tolist(), w.tolist(), strict=True):
            t = 0.5 * (low * (1 - share) + high * (1 + share))
            at = Quantity(quantity.approximation, quantity.expression, t)
            result += 0.5 * (high - low) * weight * over(at)
    return result


def over_space(
    function: Callable[[FloatArray], FloatArray],
    approximation: Approximation,
    domain: Domain,
    t: float | None,
    tol: float,
) -> float:
    """Return the integral over a domain, at a moment, of what is made of an approximation."""
    if domain.dimension == 1:
        edges = line_edges(approximation, domain, t)
        return integrate(lambda x: function(x[:, None]), edges[0], edges[-1], edges, tol)
    return total(function, cells_of(approximation, domain), max(tol, 1e-13))


def _over_piece(quantity: Quantity, piece: Piece, tol: float) -> float:
    if isinstance(piece, Spot):
        return float(quantity.on(piece.spread(1, 0))[0])
    if isinstance(piece, Curve):
        edges = np.linspace(0.0, piece.measure, ALONG + 1)

        def along(arc: FloatArray) -> FloatArray:
            return quantity.on(piece.at(arc))

        return integrate(along, 0.0, piece.measure, edges, tol)
    if isinstance(piece, Face):
        face = piece
        unit = BoxCell(np.zeros(face.parameters), np.ones(face.parameters))
        return face.measure * total(lambda s: quantity.on(face.at(s)), [unit], tol)
    surface = Surface.of("", piece)
    if surface is not None and (squares := squares_of(surface)):
        return sum(_over_square(quantity, shell_of(square, 1.0), tol) for square in squares)
    raise DomainError(
        "Fluxes through curved or cut faces in space are not there yet. A rough value: the mean of "
        "the normal derivative at solution.domain.boundary(part, 10000), times "
        "solution.domain.boundary_measure(part)."
    )


def _over_square(quantity: Quantity, shell: Shell, tol: float) -> float:
    """Return the integral over a shell's surface."""

    def dense(at: FloatArray) -> FloatArray:
        found, areas = on_surface(shell, at)
        return quantity.on(found) * areas

    return total(dense, [BoxCell(np.zeros(2), np.array(shell.lengths))], tol)
