"""The result of a solve: a function with an error estimate, an outcome and a history."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.checks import file_path
from sharpfront.errors import Outcome, OutcomeKind, ProblemError
from sharpfront.files import replacing
from sharpfront.geometry import Domain
from sharpfront.history import TimeStep
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation, as_points
from sharpfront.solution.field import Estimate, Field, require_inside
from sharpfront.solution.functionals import Functionals, Known

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Solution(Functionals):
    """A solution of a problem: call it, differentiate it, ask how far to trust it.

    Parameters
    ----------
    approximation
        Bases and weights.
    domain
        Where it holds.
    estimate
        The estimated error and its meaning.
    outcome
        How the solve ended, with advice.
    tol
        The tolerance that was asked for.
    history
        One record per adaptation, or per step for a problem in time.
    diagnostics
        Condition number, rank, dead columns and more of the solve that gave the answer.
    problem
        The problem; None after loading from a file, which needs none of the user's code.
    checkpoint
        For a problem in time, all that the next step depends on: `solve(resume=...)` goes on.
    member
        Of a solution that was solved for through a family, the parameters and what else
        `sensitivity` needs; lost in files and pickles.
    """

    approximation: Approximation
    domain: Domain
    estimate: Estimate
    outcome: Outcome
    tol: float
    history: tuple[Any, ...]
    diagnostics: Mapping[str, float]
    problem: Problem | None = field(default=None, repr=False)
    checkpoint: Mapping[str, Any] | None = field(default=None, repr=False)
    member: Any = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "member": None}

    @property
    def error_estimate(self) -> float:
        """Estimated error relative to max(1, max|u|), of each unknown to its own.

        `estimate.meaning` says how it was found.
        """
        return self.estimate.value

    @property
    def error_estimate_since(self) -> float | None:
        """For a problem in time, from when on the estimate holds; None if from the start."""
        return self.estimate.since

    @property
    def converged(self) -> bool:
        """True only if the estimate is below the tolerance and nothing speaks against it."""
        return self.outcome.kind is OutcomeKind.CONVERGED

    @property
    def in_time(self) -> bool:
        """Whether it is a solution in time: its last coordinate is t, its history one of steps."""
        return self.domain.time is not None

    @property
    def kernels(self) -> int:
        """The number of basis functions."""
        return self.approximation.kernels

    @property
    def unknowns(self) -> tuple[str, ...]:
        """The names of the unknowns."""
        return tuple(self.approximation.bases)

    def __call__(self, *coordinates: Any, extrapolate: bool = False) -> Any:
        """Return the values of the one unknown; a system gives each by name, ``solution.u(x)``."""
        return self._only()(*coordinates, extrapolate=extrapolate)

    def d(self, coordinate: str, times: int = 1) -> Field:
        """Return a derivative of the one unknown as a function: ``solution.d("x")(x)``."""
        return self._only().d(coordinate, times)

    def error_over_time(self) -> tuple[FloatArray, FloatArray]:
        """Return the ends of all steps and the estimated error up to each, (n,) and (n,)."""
        steps = [r for r in self.history if isinstance(r, TimeStep)]
        if not steps:
            raise ProblemError("This solution is not one in time; use solution.error_estimate.")
        errors = np.maximum.accumulate([r.error_estimate for r in steps])
        return np.array([r.time for r in steps]), np.asarray(errors)

    def __getattr__(self, name: str) -> Field:
        if name.startswith("_") or name not in self.unknowns:
            along = re.fullmatch(r"d([xyzt])(\1*)", name)
            meant = f'.d("{along[1]}", {1 + len(along[2])})' if along else ""
            known = f" Its derivatives are solution{meant}." if meant else ""
            raise AttributeError(f"A solution has no attribute {name!r}.{known}")
        return self._field(name)

    def residual(self, *coordinates: Any) -> Any:
        """Return what the equation leaves at the coordinates; several equations stack in front."""
        if self.problem is None:
            raise ProblemError(
                "A solution read from a file does not know its equation. "
                "Solve the problem again, or insert the derivatives by hand: solution.d('x')(x)."
            )
        points, shape = as_points(self.approximation.coordinates, coordinates)
        require_inside(self.domain, points)
        values = self.approximation.residuals(self.problem, points)
        return values.reshape(len(values), *shape)[0 if len(values) == 1 else slice(None)][()]

    def sensitivity(self, parameter: str, tol: float | None = None) -> Solution:
        """Return du/d(parameter) as a solution, with an estimate of its own.

        Parameters
        ----------
        parameter
            Its name in the family through which the problem was solved.
        tol
            What is asked of it, relative to its own size; ten times the solution's tolerance by
            default, 1e-6 at least. Kernels are added where those of the solution do not resolve it.

        Examples
        --------
        >>> import sharpfront as sf
        >>> def growth(k):
        ...     return sf.Problem(sf.Interval(0, 1), lambda u, x: u.dx - k * u,
        ...                       left=lambda u, x: u - 1)
        >>> du = sf.solve(growth, k=2.0).sensitivity("k")
        >>> bool(abs(du(1.0) - 7.38905609893065) < 1e-6)
        True
        """
        if self.member is None:
            raise ProblemError(
                "This solution does not know its parameters. Solve it through its family, a "
                "function that returns a Problem: sf.solve(layer, nu=1e-2).sensitivity('nu')."
            )
        found: Solution = self.member.sensitivity(self, parameter, tol)
        return found

    def save(self, path: str | Path) -> Path:
        """Write everything needed to evaluate the solution into one ``.npz`` file."""
        from sharpfront.solution.file import write

        target = file_path(path, "path")
        target = target if target.suffix == ".npz" else target.with_name(target.name + ".npz")
        write(target, self)
        return target

    def plot(
        self,
        what: str | Axes = "solution",
        *,
        axes: Axes | Sequence[Axes] | None = None,
        unknown: str | None = None,
        resolution: int = 240,
        moments: int | Sequence[float] | None = None,
        kernels: bool = False,
        **where: float | tuple[float, float],
    ) -> Any:
        """Draw the solution; a number for a coordinate cuts, a range zooms in.

        ``plot()`` draws a curve on the line, a colour map in the plane and three middle planes in
        space; ``plot(y=0.5)`` the cut along y = 0.5 and ``plot(x=(0.99, 1))`` a part of the domain.
        Points follow the kernels, and a layer thinner than a dot is drawn one dot wide;
        ``plot("close-up")`` magnifies the steepest places beside the whole.

        In time, ``plot()`` draws a colour map over x and t, and of a solution in the plane its last
        state; ``plot(t=0.5)`` is the state at that moment.

        Parameters
        ----------
        what
            ``"solution"``; ``"close-up"``, the same with up to three places that are too narrow to
            be seen there magnified, on the line and in the plane; ``"kernels"``, as ellipses of one
            standard deviation with the last mixture's components, or the patches in the plane;
            ``"residual"``, log10 of its size; ``"estimate"``, how estimate and residual fell over
            the kernels; ``"all"``, these four without the close-up; in space ``"surface"``, on the
            boundary, and ``"viewer"``, the same in a PyVista plotter (extra ``plot3d``). In time
            ``"kernels"`` are paths on the line, ``"estimate"`` is the estimated error with the
            length of steps and the number of kernels over time, and ``"film"`` several moments.
        axes
            Where to draw, as many as there are panels; a new figure by default.
        unknown
            The one to draw; all of them by default, one panel for each in the plane and in space.
        resolution
            Dots along the longer side of a colour map.
        moments
            For ``"film"`` and ``"residual"`` in time: how many moments, or which.
        kernels
            Whether to draw kernels and mixture with the solution: ticks along a line, ellipses on
            a plane, in time the components' tracks, and at a moment a strip under the curve.
        **where
            A number or a range (low, high) for coordinates by name.

        Returns
        -------
        matplotlib Axes
            An array of them where there are several panels; the plotter for ``"viewer"``.
        """
        from sharpfront.show import plot_solution

        options: dict[str, Any] = {"axes": axes, "unknown": unknown, "resolution": resolution}
        options |= {"moments": moments, "kernels": kernels, **where}
        return plot_solution(self, what, **options)

    def animate(self, path: str | Path, **options: Any) -> Path:
        """Write a film of a solution in time, a GIF or an MP4; `sharpfront.animate` says how."""
        from sharpfront.show.figures.animation import animate

        return animate(self, path, **options)

    def report(self, path: str | Path, *, title: str = "", **options: Any) -> Path:
        """Write one HTML page about the solution that needs no network; returns its path.

        `options` are those of `sharpfront.show.solve_report`: statement, exact and settings.
        """
        from sharpfront.show import solve_report

        target = file_path(path, "path")
        text = solve_report(self, title=title or target.stem, **options)
        with replacing(target) as temporary:
            temporary.write_text(text, encoding="utf-8")
        return target

    def to_xarray(self, **axes: Any) -> Any:
        """Return an ``xarray.Dataset`` on a grid; `sharpfront.show.dataset.to_xarray` says how."""
        from sharpfront.show.dataset import to_xarray

        return to_xarray(self, **axes)

    def to_dataframe(self, **axes: Any) -> Any:
        """Return a ``pandas.DataFrame``, a row per place; `sharpfront.show.dataset` says how."""
        from sharpfront.show.dataset import to_dataframe

        return to_dataframe(self, **axes)

    def __str__(self) -> str:
        from sharpfront.show.notebook import headline

        return headline(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from sharpfront.show.notebook import card

        return card(self)

    def _only(self) -> Field:
        if len(self.unknowns) > 1:
            names = ", ".join(f"solution.{name}" for name in self.unknowns)
            raise ProblemError(f"This solution has several unknowns; call one of {names}.")
        return self._field(self.unknowns[0])

    def _field(self, unknown: str) -> Field:
        orders = (0,) * len(self.approximation.coordinates)
        return Field(self.approximation, self.domain, unknown, orders, self.error_estimate)

    @property
    def _known(self) -> Known:
        parameters = None if self.problem is None else self.problem.parameters
        return Known(self.approximation, self.domain, self.error_estimate, parameters)
