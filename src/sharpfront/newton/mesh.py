"""The nonlinear problem in space, roughly: where its features are, before kernels are placed.

Linear elements on meshes that follow the features, where they can be built; a small set of kernels
where they cannot (systems, fourth order, four dimensions and more).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.interpolate import LinearNDInterpolator, NearestNDInterpolator, RegularGridInterpolator

from sharpfront.adapt import ResolveSpace
from sharpfront.adapt.marginals import discover
from sharpfront.adapt.space_state import SpaceState
from sharpfront.approximation import Approximation, split_weights
from sharpfront.arrays import Host
from sharpfront.errors import EquationError, LinearSystemError
from sharpfront.estimate.mesh import Mesh
from sharpfront.estimate.weak import UnsuitableError
from sharpfront.newton.damped import Newton, Rules, continued, newton
from sharpfront.newton.iterate import Iterate, Remembered, blended
from sharpfront.newton.tangent import Tangent
from sharpfront.problem import Problem

# After a correction below this share of the solution elements are no better.
SMALL = 3e-2
# Linear solves of one attempt, and of all of them together.
ATTEMPT, MOST = 15, 60
# Points at which iterates are compared.
COMPARED = 2000


@dataclass(frozen=True, eq=False)
class MeshTable:
    """Nodal values on a mesh, linear in between; derivatives are means over a node's cells."""

    mesh: Mesh
    nodal: Host

    def values(self, unknown: str, points: Host, orders: Sequence[int]) -> Host:
        """Return interpolated values."""
        axes = tuple(i for i, n in enumerate(orders) for _ in range(n))
        return np.asarray(self._interpolant(axes)(points))

    def _interpolant(self, axes: tuple[int, ...]) -> Any:
        known = self._known
        if axes not in known:
            known[axes] = _interpolant(self.mesh, self._derivative(axes))
        return known[axes]

    @cached_property
    def _known(self) -> dict[tuple[int, ...], Any]:
        return {}

    def _derivative(self, axes: tuple[int, ...]) -> Host:
        values = self.nodal
        for axis in axes:
            slopes = np.einsum("ka,ka->k", self.mesh.gradients[:, :, axis], values[self.mesh.cells])
            corners = self.mesh.cells.shape[1]
            nodes, volumes = self.mesh.cells.ravel(), np.repeat(self.mesh.volumes, corners)
            total = np.bincount(nodes, volumes * np.repeat(slopes, corners), len(values))
            values = total / np.bincount(nodes, volumes, len(values))
        return values


def _interpolant(mesh: Mesh, values: Host) -> Any:
    """Return a linear interpolant: on the grid of a box by its axes, else by triangles."""
    if mesh.axes:
        grid = values.reshape([len(axis) for axis in mesh.axes])
        return RegularGridInterpolator(mesh.axes, grid, bounds_error=False, fill_value=None)
    inside = LinearNDInterpolator(mesh.points, values)
    beyond = NearestNDInterpolator(mesh.points, values)

    def call(points: Host) -> Host:
        out = inside(points)
        lost = ~np.isfinite(out)
        if lost.any():
            out[lost] = beyond(points[lost])
        return np.asarray(out)

    return call


@dataclass(frozen=True, eq=False)
class Found:
    """A rough solution in space, or how far it came."""

    iterate: Iterate
    history: tuple[tuple[float, Newton[Iterate]], ...]
    converged: bool

    @property
    def solves(self) -> int:
        """Linear solves."""
        return sum(attempt.solves for _, attempt in self.history)


class _Search:
    """Attempts on one problem."""

    def __init__(self, problem: Problem, guess: Iterate, inner: ResolveSpace, seed: int) -> None:
        self.problem, self.guess, self.inner, self.seed = problem, guess, inner, seed
        self.history: list[tuple[float, Newton[Iterate]]] = []
        self.points = problem.domain.sample(COMPARED, "quasi", seed)
        # Kernels in the place of elements, once it is known that these cannot be built.
        self._kernels: SpaceState | None = None

    @property
    def exhausted(self) -> bool:
        return sum(attempt.solves for _, attempt in self.history) > MOST

    def settled(self, start: Iterate, stiffness: float) -> Iterate | None:
        tangent = Tangent(self.problem, stiffness, self.guess)
        rules = Rules(lambda p: self._corrected(tangent, p), blended, self._distance)
        attempt = newton(start, rules, SMALL, ATTEMPT)
        self.history.append((stiffness, attempt))
        return attempt.iterate if attempt.converged else None

    def _corrected(self, tangent: Tangent, iterate: Iterate) -> Iterate | None:
        linear = tangent.at(iterate)
        try:
            if self._kernels is None and len(self.problem.unknowns) == 1:
                found = discover(linear, self.inner.components)
                return Remembered(MeshTable(found.elements.mesh, found.values))
        except UnsuitableError:
            pass
        except (LinearSystemError, EquationError):
            return None
        return self._by_kernels(linear)

    def _by_kernels(self, linear: Problem) -> Iterate | None:
        try:
            if self._kernels is None:
                self._kernels = self.inner.start(linear, SMALL, self.seed)
            state = replace(self._kernels, problem=linear)
            proposal, method = self.inner.propose(state), self.inner.leastsquares
            system = proposal.system
            weights, _, _ = method.solve(method.factor(system), system.rhs)
        except (LinearSystemError, EquationError):
            return None
        own = split_weights(weights, proposal.bases)
        return Remembered(Approximation(linear.coordinates, proposal.bases, own))

    def _distance(self, old: Iterate, new: Iterate, scale: Iterate) -> float:
        return distance(self.problem, old, new, self.points, scale=scale)


def distance(
    problem: Problem,
    old: Iterate,
    new: Iterate,
    points: Host,
    least: float = 0.0,
    scale: Iterate | None = None,
) -> float:
    """Return the largest change of an unknown relative to its size, or to `least` if larger.

    The size is that of the new iterate, or of `scale`.
    """
    zero = (0,) * points.shape[1]
    largest = 0.0
    for unknown in problem.unknowns:
        values = new.values(unknown, points, zero)
        whole = values if scale is None else scale.values(unknown, points, zero)
        size = max(float(np.abs(whole).max()), least, 1e-300)
        change = float(np.abs(values - old.values(unknown, points, zero)).max())
        largest = max(largest, change / size)
    return largest


def approach(problem: Problem, guesses: Sequence[Iterate], inner: ResolveSpace, seed: int) -> Found:
    """Solve the problem roughly, from the first of some guesses that has a linearisation."""
    search = _Search(problem, guesses[-1], inner, seed)
    found = None
    for guess in guesses:
        tried = len(search.history)
        found = search.settled(guess, 1.0)
        if found is None and search.history[tried][1].changes:
            found = continued(guess, search.settled, lambda: search.exhausted)
            break
        if found is not None:
            break
    iterate = search.history[-1][1].iterate if found is None else found
    return Found(iterate, tuple(search.history), found is not None)
