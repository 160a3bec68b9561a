"""Where the features are along each axis: elements on a grid, refined along the axes.

The monitor of an axis is the largest variation, over the other axes, of what varies fast: the
solution, its slope along the axis, the source and the coefficients. A layer along a face or a
small spot shows as a narrow peak and gets a mixture; a front that runs across the axes shows as a
broad one and leaves the axis even.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sharpfront.adapt.discover import concentrated, equal_shares
from sharpfront.adapt.spikes import Spike, find_spikes, mark
from sharpfront.arrays import FloatArray
from sharpfront.equation.values import environment, form_values
from sharpfront.estimate.cells import grid
from sharpfront.estimate.elements import Elements
from sharpfront.estimate.weak import UnsuitableError
from sharpfront.geometry import Box
from sharpfront.geometry.meshes.mesh import Mesh, box_mesh, off_even
from sharpfront.mixture import Mixture, fit_bins
from sharpfront.pieces import coordinate
from sharpfront.pieces.graded_mesh import graded_mesh
from sharpfront.problem import Problem

# Cells along an axis, by dimension: of the first, even grid and of the adapted ones.
FIRST = {2: 96, 3: 24}
CELLS = {2: 72, 3: 20}
# A quantity is followed if somewhere it changes this many times faster than evenly.
STEEP = 12.0
# It is resolved once it changes by less than this share of its range from cell to cell.
JUMP = {2: 0.12, 3: 0.25}
ROUNDS = 8
# On a shape: nodes of its mesh, bins along an axis, and how often it is graded anew.
SHAPE_NODES = {2: 6000, 3: 8000}
BINS = {2: 60, 3: 20}
SHAPE_ROUNDS = 5
# Neighbouring cells over which a monitor is smeared.
SMEAR = 2
# A solution that varies along an axis by less than this share of its range has no slope there.
BARELY = 0.01
# Variation beside the largest value that is rounding.
_NEGLIGIBLE = 1e-7


@dataclass(frozen=True, eq=False)
class Marginals:
    """What the elements found."""

    mixtures: tuple[Mixture | None, ...]  # for each axis; None where nothing is narrow
    # The last discretisation and its solution at the nodes (m,).
    elements: Elements
    values: FloatArray
    # The largest change of the solution between neighbouring nodes over its range: small where the
    # features lie along the axes and are resolved.
    jump: float
    spikes: tuple[Spike, ...]  # of the data, found by a survey


def discover(problem: Problem, components: int) -> Marginals:
    """Return the features of a problem along each axis, where elements can be built."""
    if problem.domain.dimension not in FIRST:
        raise UnsuitableError("Elements are made in two and three dimensions.")
    if isinstance(problem.domain, Box):
        return _on_box(problem, components)
    return _on_shape(problem, components)


def _on_box(problem: Problem, components: int) -> Marginals:
    """Solve on an even grid, look, refine along the axes, until nothing jumps any more."""
    domain = problem.domain
    d = domain.dimension
    axes = [low + (high - low) * off_even(FIRST[d]) for low, high in domain.bounds.T]
    followed: list[set[int]] = [set() for _ in axes]
    spikes: tuple[Spike, ...] = ()
    breaks = [_Breaks() for _ in axes]
    for turn in range(ROUNDS):
        mesh = box_mesh(axes, domain.parts, domain.periodic_axes)
        elements = Elements.build(problem, mesh, monotone=True)
        values = elements.solution()
        if turn == 0:
            spikes = find_spikes(problem, float(np.abs(values).max()))
        quantities = _quantities(problem, mesh, values)
        changes = [_changes(mesh, quantities(i), i) for i in range(d)]
        for i, change in enumerate(changes):
            breaks[i].watch(change, axes[i])
            mark(change[2], axes[i], i, spikes)
        limit = STEEP / FIRST[d] if turn == 0 else JUMP[d]
        jumping = [{k for k, row in enumerate(c) if row.max() > limit} for c in changes]
        followed = [f | j for f, j in zip(followed, jumping, strict=True)]
        monitors = [_monitor(c, f) for c, f in zip(changes, followed, strict=True)]
        if not any(jumping) or turn == ROUNDS - 1:
            break
        axes = [_equidistributed(a, m, CELLS[d]) for a, m in zip(axes, monitors, strict=True)]
    mixtures = tuple(_fitted(a, m, components) for a, m in zip(axes, monitors, strict=True))
    return Marginals(mixtures, elements, values, _largest(mesh, values), spikes)


class _Breaks:
    """Watches source and coefficients along an axis for jumps, which no grid resolves."""

    def __init__(self) -> None:
        self.before: dict[int, tuple[float, float]] = {}
        self.broken: set[int] = set()

    def watch(self, change: FloatArray, nodes: FloatArray) -> None:
        """Forget the change of a quantity that jumps as far in a much narrower cell."""
        widths = np.diff(nodes)
        for k in range(2, len(change)):
            top = int(np.argmax(change[k]))
            size, width = float(change[k, top]), float(widths[top])
            was, wide = self.before.get(k, (0.0, 0.0))
            if size > 0.8 * was > 0.1 and width < 0.2 * wide:
                self.broken.add(k)
            self.before[k] = (size, width)
            if k in self.broken:
                change[k] = 0.0


def _on_shape(problem: Problem, components: int) -> Marginals:
    """Solve on a mesh of the shape, look along the axes, grade the mesh, and look again."""
    domain = problem.domain
    d = domain.dimension
    sides = [(float(low), float(high)) for low, high in domain.bounds.T]
    mixtures: tuple[Mixture | None, ...] = (None,) * d
    spikes: tuple[Spike, ...] = ()
    for turn in range(SHAPE_ROUNDS):
        coordinates = [coordinate(*side, m) for side, m in zip(sides, mixtures, strict=True)]
        mesh = graded_mesh(domain, coordinates, SHAPE_NODES[d])
        elements = Elements.build(problem, mesh, monotone=True)
        values = elements.solution()
        if turn == 0:
            spikes = find_spikes(problem, float(np.abs(values).max()))
        slopes = np.abs(np.einsum("kaj,ka->kj", mesh.gradients, values[mesh.cells]))
        spread = float(np.ptp(values)) or 1.0
        middles = mesh.points[mesh.cells].mean(axis=1)
        found = []
        for i, where in enumerate(coordinates):
            edges = where.invert(np.linspace(0, 1, BINS[d] + 1)).x
            change = _binned(middles[:, i], slopes[:, i], edges) * np.diff(edges) / spread
            mark(change, edges, i, spikes)
            steep = change.max() > STEEP / BINS[d] or mixtures[i] is not None
            found.append(_fitted(edges, change if steep else None, components))
        settled = turn > 0 or not any(found)
        mixtures = tuple(found)
        if (settled and turn >= 2 and not spikes) or not any(found):
            break
    jumps = np.ptp(values[mesh.cells], axis=1)
    return Marginals(mixtures, elements, values, float(jumps.max()) / spread, spikes)


def _binned(x: FloatArray, values: FloatArray, edges: FloatArray) -> FloatArray:
    """Return the largest value in each bin; an empty bin has what its neighbours have."""
    which = np.clip(np.searchsorted(edges, x) - 1, 0, len(edges) - 2)
    out = np.full(len(edges) - 1, -1.0)
    np.maximum.at(out, which, values)
    full = np.flatnonzero(out >= 0)
    return np.asarray(np.interp(np.arange(len(out)), full, out[full]))


def _fitted(edges: FloatArray, monitor: FloatArray | None, components: int) -> Mixture | None:
    if monitor is None or not monitor.sum() > 0:
        return None
    return fit_bins(*concentrated(grid(edges), monitor), components)


def _quantities(
    problem: Problem, mesh: Mesh, values: FloatArray
) -> Callable[[int], list[FloatArray]]:
    """Return a function of the axis that lists what may vary along it, on the grid.

    The first is the solution, the second its slope, then source and coefficients.
    """
    shape = tuple(len(axis) for axis in mesh.axes)
    form = problem.forms[0]
    leaves = environment(problem.coordinates, mesh.points)
    coefficients, source = form_values(form, leaves, len(mesh.points))
    data = [q.reshape(shape) for q in (source, *coefficients)]
    u = values.reshape(shape)

    def along(axis: int) -> list[FloatArray]:
        return [u, np.gradient(u, mesh.axes[axis], axis=axis), *data]

    return along


def _changes(mesh: Mesh, quantities: list[FloatArray], axis: int) -> FloatArray:
    """Return the largest change over each cell of an axis by range, (quantities, n).

    The slope must jump twice as far as the solution to be followed: kernels serve u first.
    """
    rows = []
    for k, q in enumerate(quantities):
        spread = float(np.ptp(q))
        steps = np.abs(np.diff(q, axis=axis))
        largest = np.moveaxis(steps, axis, 0).reshape(steps.shape[axis], -1).max(axis=1)
        varies = spread > _NEGLIGIBLE * float(np.abs(q).max())
        if k == 1:
            # On an axis along which the solution hardly varies, the slope is the elements' noise.
            u = quantities[0]
            least = max(BARELY * float(np.ptp(u)), _NEGLIGIBLE * float(np.abs(u).max()))
            varies = float(np.ptp(u, axis=axis).max()) > least
        scale = (0.5 if k == 1 else 1.0) / spread if varies else 0.0
        rows.append(largest * scale)
    return np.array(rows)


def _monitor(change: FloatArray, followed: set[int]) -> FloatArray | None:
    """Return the mass per cell of an axis: shares of variation of what is followed."""
    if not followed:
        return None
    masses = change[sorted(followed)]
    total = masses.sum(axis=1, keepdims=True)
    return np.asarray((masses / np.where(total > 0, total, 1.0)).sum(axis=0))


def _equidistributed(nodes: FloatArray, monitor: FloatArray | None, cells: int) -> FloatArray:
    """Return nodes at equal shares of a density that follows the monitor, with even ones."""
    if monitor is None:
        return np.asarray(nodes[0] + (nodes[-1] - nodes[0]) * off_even(cells))
    return equal_shares(grid(nodes), monitor, cells, SMEAR)


def _largest(mesh: Mesh, values: FloatArray) -> float:
    """Return the largest change of nodal values between neighbours by their range."""
    spread = float(np.ptp(values))
    if not spread:
        return 0.0
    u = values.reshape([len(axis) for axis in mesh.axes])
    steps = [float(np.abs(np.diff(u, axis=i)).max()) for i in range(u.ndim)]
    return max(steps) / spread
