"""Steady flows of an incompressible fluid: cavities with published figures.

The unknowns are the velocity (u, v) and the pressure p:

    -nu lap u + u u_x + v u_y + p_x = 0,  -nu lap v + u v_x + v v_y + p_y = 0,  u_x + v_y = 0,

without the products for Stokes flow. Velocities alone leave the pressure free by a constant, so
that one value of it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation import laplacian
from sharpfront.geometry import Box
from sharpfront.problem import Problem, at
from sharpfront.solution import Solution

Profile = Callable[[Any], Any]

_SQUARE = ((0.0, 1.0), (0.0, 1.0))
# Where the pressure is given.
_MIDDLE = (0.5, 0.5)


def stokes(u: Any, v: Any, p: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
    """Return the residuals of slow flow of unit viscosity."""
    return -laplacian(u) + p.dx, -laplacian(v) + p.dy, u.dx + v.dy


def navier_stokes(reynolds: float) -> Callable[..., tuple[Any, Any, Any]]:
    """Return the residuals of steady flow at a Reynolds number, as a function."""
    nu = 1.0 / reynolds

    def residuals(u: Any, v: Any, p: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
        return (
            -nu * laplacian(u) + u * u.dx + v * u.dy + p.dx,
            -nu * laplacian(v) + u * v.dx + v * v.dy + p.dy,
            u.dx + v.dy,
        )

    return residuals


def smooth_lid(x: Any) -> Any:
    """Return the velocity of a lid that pulls hardest in the middle."""
    return 16.0 * x**2 * (1.0 - x) ** 2


def ramped_lid(half_power: int = 8) -> Profile:
    """Return the velocity of a lid of unit speed that comes to rest at its ends with its slope.

    (1 - (2 x - 1)^(2 m))^2 is below 0.9 within about 0.74 / m of a corner, for large m. Without the
    square its slope u_x at a corner and v_y = 0 on the wall violate u_x + v_y = 0, and the pressure
    is unbounded there.
    """
    return lambda x: (1.0 - (2.0 * x - 1.0) ** (2 * half_power)) ** 2


def classical_lid(x: Any) -> Any:
    """Return the velocity of a lid of unit speed, which jumps at its ends."""
    return 1.0 + 0.0 * x


def cavity(reynolds: float, lid: Profile | None = None) -> Problem:
    """Return the flow in a square whose upper side moves; Stokes flow if `reynolds` is 0.

    Parameters
    ----------
    reynolds
        Speed of the lid times side by viscosity.
    lid
        Its velocity as a function of x, `ramped_lid()` by default.
    """
    speed = ramped_lid() if lid is None else lid
    return Problem(
        Box(*_SQUARE),
        navier_stokes(reynolds) if reynolds else stokes,
        boundary=lambda u, v, p, x, y: (u, v),
        top=lambda u, v, p, x, y: (u - speed(x), v),
        conditions=at(_MIDDLE, lambda u, v, p, x, y: p),
    )


def heated_cavity(rayleigh: float, prandtl: float = 0.71) -> Problem:
    """Return a square filled with air, warm on the left and cold on the right.

    De Vahl Davis's problem in units of the heat's diffusion, T the temperature:

        -Pr lap (u, v) + (u, v) . grad (u, v) + grad p = (0, Ra Pr T),  -lap T + u T_x + v T_y = 0.
    """

    def residuals(u: Any, v: Any, p: Any, T: Any, x: Any, y: Any) -> tuple[Any, ...]:
        return (
            -prandtl * laplacian(u) + u * u.dx + v * u.dy + p.dx,
            -prandtl * laplacian(v) + u * v.dx + v * v.dy + p.dy - rayleigh * prandtl * T,
            u.dx + v.dy,
            -laplacian(T) + u * T.dx + v * T.dy,
        )

    return Problem(
        Box(*_SQUARE),
        residuals,
        boundary=lambda u, v, p, T, x, y: (u, v, T.dn),
        left=lambda u, v, p, T, x, y: (u, v, T - 1.0),
        right=lambda u, v, p, T, x, y: (u, v, T),
        conditions=at(_MIDDLE, lambda u, v, p, T, x, y: p),
    )


def nusselt(solution: Solution) -> float:
    """Return the heat that the warm wall of the heated cavity gives off."""
    places, weights = np.polynomial.legendre.leggauss(60)
    y = 0.5 * (places + 1.0)
    return float(-0.5 * weights @ solution.T.d("x")(0.0 * y, y))


# What the warm wall gives off at a Rayleigh number: de Vahl Davis (Int. J. Numer. Methods Fluids 3
# (1983) 249-264) extrapolated 1.118, 2.243, 4.519 and 8.800 from differences; later computations
# agree on these.
NUSSELT: Mapping[float, float] = {1e3: 1.1178, 1e4: 2.2448, 1e5: 4.5216, 1e6: 8.8252}


@dataclass(frozen=True, eq=False)
class CentreLines:
    """Velocities along the centre lines of the cavity.

    Parameters
    ----------
    y, u
        The horizontal velocity at (0.5, y).
    x, v
        The vertical velocity at (x, 0.5).
    """

    y: FloatArray
    u: FloatArray
    x: FloatArray
    v: FloatArray

    def without(self, place: float) -> CentreLines:
        """Return the lines without the entry of v at a place."""
        kept = self.x != place
        return CentreLines(self.y, self.u, self.x[kept], self.v[kept])

    def deviation(self, solution: Solution) -> tuple[FloatArray, FloatArray]:
        """Return a solution's u and v less these."""
        u, v = solution.u, solution.v
        return u(0.5, self.y) - self.u, v(self.x, 0.5) - self.v


# fmt: off
_Y = np.array([
    0.0547, 0.0625, 0.0703, 0.1016, 0.1719, 0.2813, 0.4531, 0.5000,
    0.6172, 0.7344, 0.8516, 0.9531, 0.9609, 0.9688, 0.9766,
])
_X = np.array([
    0.0625, 0.0703, 0.0781, 0.0938, 0.1563, 0.2266, 0.2344, 0.5000,
    0.8047, 0.8594, 0.9063, 0.9453, 0.9531, 0.9609, 0.9688,
])
# Ghia, Ghia & Shin, J. Comput. Phys. 48 (1982) 387-411, tables I and II, inner points.
GHIA: Mapping[int, CentreLines] = {
    100: CentreLines(
        _Y, np.array([
            -0.03717, -0.04192, -0.04775, -0.06434, -0.10150, -0.15662, -0.21090, -0.20581,
            -0.13641, 0.00332, 0.23151, 0.68717, 0.73722, 0.78871, 0.84123,
        ]),
        _X, np.array([
            0.09233, 0.10091, 0.10890, 0.12317, 0.16077, 0.17507, 0.17527, 0.05454,
            -0.24533, -0.22445, -0.16914, -0.10313, -0.08864, -0.07391, -0.05906,
        ]),
    ),
    400: CentreLines(
        _Y, np.array([
            -0.08186, -0.09266, -0.10338, -0.14612, -0.24299, -0.32726, -0.17119, -0.11477,
            0.02135, 0.16256, 0.29093, 0.55892, 0.61756, 0.68439, 0.75837,
        ]),
        _X, np.array([
            0.18360, 0.19713, 0.20920, 0.22965, 0.28124, 0.30203, 0.30174, 0.05186,
            -0.38598, -0.44993, -0.23827, -0.22847, -0.19254, -0.15663, -0.12146,
        ]),
    ),
}
# fmt: on
# The entry of v at Re = 400 that no smooth curve through its neighbours meets: -0.23827, and
# -0.33827 in other copies of the table. Differences on two grids, extrapolated, give -0.390
# (benchmarks/flows.py).
DOUBTFUL = 0.9063
# Least u, largest v and least v on the centre lines under the classical lid (Botella & Peyret,
# Comput. & Fluids 27 (1998) 421-433, by Chebyshev collocation with the corners subtracted).
EXTREMA: Mapping[int, tuple[float, float, float]] = {
    100: (-0.2140424, 0.1795728, -0.2538030),
    1000: (-0.3885698, 0.3769447, -0.5270771),
}
