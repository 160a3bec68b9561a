"""The questions that solutions and their fields answer alike."""

from __future__ import annotations

from typing import Any

from sharpfront.solution.functionals.extrema import extremum
from sharpfront.solution.functionals.quantity import Known, flux, integral, roots


class Functionals:
    """Integrals, fluxes, extrema and roots of what `_known` says."""

    @property
    def _known(self) -> Known:
        raise NotImplementedError

    def integral(self, of: Any = None, *, t: float | None = None) -> Any:
        """Return the integral over the domain.

        Parameters
        ----------
        of
            What is integrated: a function such as ``lambda u, x: x * u.dx**2`` or a text,
            ``"x*u_x**2"``. By default the unknown itself; of a system each one, by name.
        t
            For a solution in time, the moment. By default the integral is over the span too.

        Examples
        --------
        >>> import sharpfront as sf
        >>> problem = sf.Problem(sf.Interval(0, 1), lambda u, x: u.dxx + 2, boundary=lambda u, x: u)
        >>> solution = sf.solve(problem)  # x (1 - x)
        >>> round(solution.integral(), 9), round(solution.integral(lambda u, x: u.dx**2), 9)
        (0.166666667, 0.333333333)
        """
        return integral(self._known, of, t)

    def flux(self, part: str, coefficient: Any = 1.0, *, t: float | None = None) -> Any:
        """Return the integral of the outward normal derivative over a part of the boundary.

        Parameters
        ----------
        part
            Its name, ``"right"``; on an interval the derivative at that end.
        coefficient
            Multiplies the derivative: a number or a function of the coordinates. With an unknown in
            it, ``lambda u, x, y: u * bx(y) - k * u.dn``, it is the whole of what passes.
        t
            For a solution in time, the moment. By default what passes in the whole span.
        """
        return flux(self._known, part, coefficient, t)

    def max(self, of: Any = None, *, t: float | None = None) -> Any:
        """Return the largest value and where it is taken, ``value, at = solution.max()``.

        It is looked for between nodes too, on the boundary and inside layers, from the best of
        places that are as dense as the functions.

        Parameters
        ----------
        of
            Of what, as in `integral`; of a system each unknown, by name.
        t
            For a solution in time, the moment. By default the whole span.
        """
        return extremum(self._known, of, 1.0, t)

    def min(self, of: Any = None, *, t: float | None = None) -> Any:
        """Return the smallest value and where it is taken, as `max` does."""
        return extremum(self._known, of, -1.0, t)

    def roots(self, level: float = 0.0, of: Any = None, *, t: float | None = None) -> Any:
        """Return where a solution on an interval takes a value, in increasing order, (n,).

        A value that is touched and not crossed counts where the solution comes closer to it than
        its estimated error.

        Parameters
        ----------
        level
            The value.
        of
            Of what, as in `integral`: ``solution.roots(of="u_x")`` are its turning points.
        t
            For a solution in time, the moment.
        """
        return roots(self._known, level, of, t)
