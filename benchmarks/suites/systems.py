"""Systems and plates: elasticity, flows, bending."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

import sharpfront as sf
from sharpfront.catalog import KOVASZNAY
from suites import flows
from suites.row import Field, Row

UNIT = sf.Box((0, 1), (0, 1))
LINE = np.linspace(0, 1, 4001)


def rows() -> Iterator[Row]:
    """Yield all rows."""
    for ratio, nu in ((1, 0.3), (6, 0.3), (40, 0.3), (6, 0.4999)):
        problem, exact = cantilever(ratio, nu)
        yield Row(f"cantilever, L/D = {ratio}, nu = {nu}", lambda p=problem: p, 1e-6, exact)
    l_shape = sf.Box((-1, 1), (-1, 1)) - sf.Box((0, 2), (-2, 0))
    for where, domain in (("square", UNIT), ("L", l_shape)):
        for how, held in (("clamped", _clamped), ("hinged", _hinged)):
            problem = functools.partial(_plate, domain, held)
            yield Row(f"{how} plate on a {where}, f = 1", problem, 1e-6)
    yield Row("Stokes, smooth lid", lambda: flows.cavity(0, flows.smooth_lid), 1e-6)
    yield Row("Kovasznay, Re = 40", lambda: KOVASZNAY.problem(40), 1e-6, KOVASZNAY.exact(40))
    for reynolds in (100, 1000):
        problem = functools.partial(flows.cavity, reynolds, flows.classical_lid)
        figures = {"extrema": functools.partial(_extrema, reynolds)}
        yield Row(f"driven cavity, Re = {reynolds}", problem, 1e-3, figures=figures)
    for rayleigh in (1e3, 1e4, 1e5, 1e6):
        figures = {"Nusselt": functools.partial(_nusselt, rayleigh)}
        problem = functools.partial(flows.heated_cavity, rayleigh)
        yield Row(f"heated cavity, Ra = {rayleigh:g}", problem, 1e-3, figures=figures)


def cantilever(ratio: float, nu: float) -> tuple[sf.Problem, dict[str, Field]]:
    """Return Timoshenko's beam with its end load as traction, and its displacements."""
    length, i = float(ratio), 1 / 12
    load = 3 * i / length**3
    g, c = 0.5 / (1 + nu), 1 / (1 - nu**2)

    def bent(x: Any, y: Any) -> Any:
        return -load * y / (6 * i) * ((6 * length - 3 * x) * x + (2 + nu) * (y**2 - 0.25))

    def deflected(x: Any, y: Any) -> Any:
        deep = 3 * nu * y**2 * (length - x) + (4 + 5 * nu) * x / 4 + (3 * length - x) * x**2
        return load / (6 * i) * deep

    along = lambda u, v: c * (u.dx + nu * v.dy)  # noqa: E731
    across = lambda u, v: c * (v.dy + nu * u.dx)  # noqa: E731
    shear = lambda u, v: g * (u.dy + v.dx)  # noqa: E731
    free = lambda u, v, x, y: (shear(u, v), across(u, v))  # noqa: E731
    end = lambda y: load / (2 * i) * (0.25 - y**2)  # noqa: E731
    problem = sf.Problem(
        sf.Box((0, length), (-0.5, 0.5)),
        lambda u, v, x, y: (along(u, v).dx + shear(u, v).dy, shear(u, v).dx + across(u, v).dy),
        left=lambda u, v, x, y: (u - bent(x, y), v - deflected(x, y)),
        right=lambda u, v, x, y: (along(u, v), shear(u, v) - end(y)),
        bottom=free,
        top=free,
    )
    return problem, {"u": bent, "v": deflected}


def _clamped(u: Any, x: Any, y: Any) -> Any:
    return u, u.dn


def _hinged(u: Any, x: Any, y: Any) -> Any:
    return u, sf.laplacian(u)


def _plate(domain: sf.Domain, held: Field) -> sf.Problem:
    def residual(u: Any, x: Any, y: Any) -> Any:
        # So that the deflection is about one.
        return sf.laplacian(sf.laplacian(u)) - 500

    return sf.Problem(domain, residual, **dict.fromkeys(domain.parts, held))


def _extrema(reynolds: int, solution: sf.Solution) -> float:
    across = solution.v(LINE, 0.5)
    ours = solution.u(0.5, LINE).min(), across.max(), across.min()
    return float(np.abs(np.array(ours) - flows.EXTREMA[reynolds]).max())


def _nusselt(rayleigh: float, solution: sf.Solution) -> float:
    return abs(flows.nusselt(solution) - flows.NUSSELT[rayleigh])
