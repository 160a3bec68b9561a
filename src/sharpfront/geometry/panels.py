"""Curved boundaries in the plane as polynomials, piece by piece.

Each panel is a polynomial in a parameter t from -1 to 1 through points of the true curve: cheap to
evaluate and to cut, with normals from its derivative. A panel turns by no more than half a radian
and is halved until its polynomial is exact to rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial import chebyshev

from sharpfront.arrays import Flags
from sharpfront.arrays import Ints as Ints
from sharpfront.geometry.curves import Curve
from sharpfront.geometry.domain import BoundaryPoints, Points
from sharpfront.geometry.panel_fits import NODES, PARAMETERS, panels_of, weights_of
from sharpfront.rounding import SAME

# A smooth curve has no more panels than this.
MOST = 200
# Places on a panel, or on part of one, that tell which box holds it, and the room it is given.
ALONG_PANEL, ROOM = 9, 0.2
# Parts of panels are no longer than this share of a box that they are cut at, so that they do not
# enter and leave it unseen.
SHORT = 0.25
# Between two places of which none lies in a box panels are looked at if they come this close to
# it, as a share of how far these are apart, and how often what is looked at is cut by a third.
BEFORE_BOX, THIRDS = 0.2, 40
# The parameter at which a panel enters or leaves a box is found to 2^-BISECTIONS.
BISECTIONS = 32


@dataclass(frozen=True, eq=False)
class Stretch:
    """What lies in a box of one panel: from one parameter to another."""

    panel: int
    start: float
    stop: float


class Panels:
    """All curved pieces of a boundary, with the names of their parts."""

    def __init__(self, curves: Iterable[tuple[str, Curve]]) -> None:
        self.parts: list[str] = []
        # Of each closed smooth curve its first panel and the one after its last.
        self.closed: list[tuple[int, int]] = []
        self._rough: list[bool] = []
        weights, turns = [np.empty((0, NODES, 2))], [np.empty(0)]
        for part, curve in curves:
            own, outside = panels_of(curve)
            weights.append(own)
            turns.append(outside)
            rough = len(own) > MOST
            if curve.closed and not rough:
                self.closed.append((len(self.parts), len(self.parts) + len(own)))
            self.parts += [part] * len(own)
            self._rough += [rough] * len(own)
        self.weights, self._turns = np.concatenate(weights), np.concatenate(turns)
        self._slopes: Points = np.asarray(chebyshev.chebder(self.weights, axis=1), dtype=float)

    def at(self, panel: Ints, t: Points) -> Points:
        """Return the points of panels at parameters, both (m,), as (m, 2)."""
        return self._sums(self.weights, panel, t)

    def slopes(self, panel: Ints, t: Points) -> Points:
        """Return dx/dt of panels at parameters, (m, 2)."""
        return self._sums(self._slopes, panel, t)

    def _sums(self, weights: Points, panel: Ints, t: Points) -> Points:
        """Return polynomials of panels at parameters, (m, 2)."""
        count = min(weights.shape[1], self._count)
        table = chebyshev.chebvander(t, count - 1)
        return np.asarray(np.einsum("mk,mkd->md", table, weights[:, :count][panel]))

    @cached_property
    def _count(self) -> int:
        """How many weights of any panel are not zero: two where all are straight."""
        used = np.flatnonzero(self.weights.any(axis=(0, 2)))
        return int(used[-1]) + 1 if len(used) else 1

    def boundary(self, panel: Ints, t: Points) -> tuple[BoundaryPoints, Points]:
        """Return points with outward normals, and the length of a unit of the parameter, (m,)."""
        along = self.slopes(panel, t)
        speed = np.linalg.norm(along, axis=1)
        across = np.stack([along[:, 1], -along[:, 0]], axis=1)
        normals = across * (self._turns[panel] / speed)[:, None]
        return BoundaryPoints(self.at(panel, t), normals), speed

    @cached_property
    def normals(self) -> Points:
        """The outward normals of the panels as weights, (n, NODES, 2)."""
        every = np.repeat(np.arange(len(self.parts)), NODES)
        found, _ = self.boundary(every, np.tile(PARAMETERS, len(self.parts)))
        return weights_of(found.normals.reshape(-1, NODES, 2))

    def moved(self, depths: Points, along: Points | None = None) -> Panels:
        """Return panels moved inwards by depths, (n,); those that are moved are of no part.

        Along their normals, or along other directions outwards as weights, (n, NODES, 2).
        """
        outwards = self.normals if along is None else along
        parts = ["" if d else part for part, d in zip(self.parts, depths, strict=True)]
        return self._with(self.weights - depths[:, None, None] * outwards, self._turns, parts)

    def turned(self) -> Panels:
        """Return panels with what was inside of them outside."""
        return self._with(self.weights, -self._turns, self.parts)

    def backwards(self) -> Panels:
        """Return panels run through the other way, the last one first."""
        signs = (-1.0) ** np.arange(NODES)[:, None]
        out = self._with((self.weights * signs)[::-1], -self._turns[::-1], self.parts[::-1])
        out._rough = self._rough[::-1]
        return out

    def chosen(self, which: Ints) -> Panels:
        """Return some of the panels, in their order."""
        out = self._with(self.weights[which], self._turns[which], [self.parts[i] for i in which])
        out._rough = [self._rough[i] for i in which]
        new = {k: i for i, k in enumerate(which.tolist())}
        whole = [ends for ends in self.closed if all(k in new for k in range(*ends))]
        out.closed = [(new[first], new[last - 1] + 1) for first, last in whole]
        return out

    def reshaped(self, which: Ints, weights: Points, turn: float = 1.0) -> Panels:
        """Return panels of other weights, (m, NODES, 2), each of the curve and part of another.

        Run through the other way where the turn is -1.
        """
        out = self._with(weights, turn * self._turns[which], [self.parts[i] for i in which])
        out._rough = [self._rough[i] for i in which]
        return out

    def halved(self, which: Sequence[bool]) -> Panels:
        """Return panels, of one curve, with some of them cut in two."""
        weights, own = [], []
        for k, cut in enumerate(which):
            halves = [(PARAMETERS + shift) / 2 for shift in (-1.0, 1.0)] if cut else []
            points = np.array([self.at(np.full(NODES, k), t) for t in halves]).reshape(-1, NODES, 2)
            weights.append(weights_of(points) if cut else self.weights[k : k + 1])
            own += [k] * (1 + cut)
        parts = [self.parts[k] for k in own]
        out = self._with(np.concatenate(weights), self._turns[own], parts)
        out._rough = [self._rough[k] for k in own]
        out.closed = [(0, len(own))] if self.closed else []
        return out

    def beside(self, others: Panels) -> Panels:
        """Return these panels, and others after them of which no curve is closed."""
        weights = np.concatenate([self.weights, others.weights])
        turns = np.concatenate([self._turns, others._turns])
        out = self._with(weights, turns, [*self.parts, *others.parts])
        out._rough, out.closed = [*self._rough, *others._rough], list(self.closed)
        return out

    def _with(self, weights: Points, turns: Points, parts: Sequence[str]) -> Panels:
        """Return panels with other weights, sides and parts."""
        out = Panels([])
        out.weights, out._turns, out.parts = weights, turns, list(parts)
        out._slopes = np.asarray(chebyshev.chebder(weights, axis=1), dtype=float)
        out._rough = self._rough
        return out

    @cached_property
    def _extents(self) -> tuple[Points, Points]:
        """Lower and upper corners of boxes about the panels, (n, 2) each."""
        every = np.arange(len(self.parts))
        return self._about(every, np.full(len(every), -1.0), np.ones(len(every)))

    @cached_property
    def curvatures(self) -> tuple[Points, Points]:
        """Places all along the panels, (m, 2), and the curvature there, (m,).

        Positive where the boundary bends inwards; zero on curves through points, whose bends are
        those of noise.
        """
        second = chebyshev.chebder(self.weights, 2, axis=1)
        t = np.linspace(-1.0, 1.0, 5)
        panel = np.repeat(np.arange(len(self.parts)), len(t))
        t = np.tile(t, len(self.parts))
        along = self.slopes(panel, t)
        bend = np.einsum("mk,mkd->md", chebyshev.chebvander(t, NODES - 3), second[panel])
        cross = along[:, 0] * bend[:, 1] - along[:, 1] * bend[:, 0]
        speed = np.linalg.norm(along, axis=1)
        bends = -cross * self._turns[panel] / np.maximum(speed, 1e-300) ** 3
        return self.at(panel, t), np.where(np.array(self._rough)[panel], 0.0, bends)

    def _about(self, panel: Ints, low: Points, high: Points) -> tuple[Points, Points]:
        """Return boxes about parts of panels, with some room."""
        share = np.linspace(0.0, 1.0, ALONG_PANEL)
        t = low[:, None] + (high - low)[:, None] * share
        points = self.at(np.repeat(panel, ALONG_PANEL), t.ravel()).reshape(*t.shape, 2)
        least, most = points.min(axis=1), points.max(axis=1)
        room = ROOM * (most - least).max(axis=1, initial=0.0)[:, None]
        return least - room, most + room

    def inside(self, low: Points, high: Points) -> list[Stretch]:
        """Return what lies in a box, in the order of panels and parameters."""
        least, most = self._extents
        panel = np.flatnonzero(np.all((most >= low) & (least <= high), axis=1))
        start, stop = np.full(len(panel), -1.0), np.ones(len(panel))
        short = SHORT * float(np.min(high - low))
        while len(panel):
            least, most = self._about(panel, start, stop)
            near = np.all((most >= low) & (least <= high), axis=1)
            panel, start, stop = panel[near], start[near], stop[near]
            long = np.max(most - least, axis=1)[near] > short
            if not long.any():
                break
            quarters = np.linspace(0.0, 1.0, 5)
            cuts = start[long, None] + (stop - start)[long, None] * quarters
            panel = np.concatenate([panel[~long], np.repeat(panel[long], 4)])
            start = np.concatenate([start[~long], cuts[:, :-1].ravel()])
            stop = np.concatenate([stop[~long], cuts[:, 1:].ravel()])
        order = np.lexsort((start, panel))
        return self._stretches(panel[order], start[order], stop[order], low, high)

    def _stretches(
        self, panel: Ints, start: Points, stop: Points, low: Points, high: Points
    ) -> list[Stretch]:
        """Return what of short parts of panels lies in a box, neighbours joined."""
        if not len(panel):
            return []
        share = np.linspace(0.0, 1.0, ALONG_PANEL)
        t = start[:, None] + (stop - start)[:, None] * share
        t[:, -1] = stop
        t, within = self._with_corners(panel, t, low, high)
        row, column = np.nonzero(within[:, 1:] != within[:, :-1])
        # Where panels enter or leave the box, by halving.
        before, after = t[row, column], t[row, column + 1]
        for _ in range(BISECTIONS if len(row) else 0):
            middle = 0.5 * (before + after)
            same = self._within(panel[row], middle, low, high) == within[row, column]
            before, after = np.where(same, middle, before), np.where(same, after, middle)
        crossing = 0.5 * (before + after)
        out: list[Stretch] = []
        for i, own in enumerate(panel.tolist()):
            cuts = crossing[row == i].tolist()
            ends = [start[i]] * bool(within[i, 0]) + cuts + [stop[i]] * bool(within[i, -1])
            for a, b in zip(ends[::2], ends[1::2], strict=True):
                if out and out[-1].panel == own and out[-1].stop >= a:
                    out[-1] = Stretch(own, out[-1].start, float(b))
                else:
                    out.append(Stretch(own, float(a), float(b)))
        least = SAME * float(np.min(high - low))
        return [s for s in out if self._chord(s) > least]

    def _with_corners(
        self, panel: Ints, t: Points, low: Points, high: Points
    ) -> tuple[Points, Flags]:
        """Return parameters along parts of panels, (n, m), and whether they lie in a box.

        Between two that do not, that which comes closest: panels may cut a corner of the box off.
        """
        points = self.at(np.repeat(panel, t.shape[1]), t.ravel()).reshape(*t.shape, 2)
        within = np.all((points >= low) & (points <= high), axis=2)
        first, second = points[:, :-1], points[:, 1:]
        room = BEFORE_BOX * np.abs(second - first).max(axis=2, keepdims=True)
        near = np.maximum(first, second) + room >= low
        near &= np.minimum(first, second) - room <= high
        row, column = np.nonzero(near.all(axis=2) & ~within[:, :-1] & ~within[:, 1:])
        # Twice each but the last, so that there is a place between any two.
        t, within = (np.repeat(x, 2, axis=1)[:, :-1] for x in (t, within))
        if len(row):
            at = self._closest(panel[row], t[row, 2 * column], t[row, 2 * column + 2], low, high)
            t[row, 2 * column + 1] = at
            within[row, 2 * column + 1] = self._within(panel[row], at, low, high)
        return t, within

    def _closest(
        self, panel: Ints, start: Points, stop: Points, low: Points, high: Points
    ) -> Points:
        """Return the parameters between two at which panels are farthest in a box, or closest."""
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        for _ in range(THIRDS):
            inner = start + np.array([[1.0], [2.0]]) / 3.0 * (stop - start)
            points = self.at(np.tile(panel, 2), inner.ravel())
            out = np.max(np.abs(points - middle) - half, axis=1).reshape(2, -1)
            before = out[0] < out[1]
            start, stop = np.where(before, start, inner[0]), np.where(before, inner[1], stop)
        return 0.5 * (start + stop)

    def _chord(self, stretch: Stretch) -> float:
        t = np.array([stretch.start, 0.5 * (stretch.start + stretch.stop), stretch.stop])
        points = self.at(np.full(3, stretch.panel), t)
        return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())

    def _within(self, panel: Ints, t: Points, low: Points, high: Points) -> Flags:
        points = self.at(panel, t)
        return np.asarray(np.all((points >= low) & (points <= high), axis=1))
