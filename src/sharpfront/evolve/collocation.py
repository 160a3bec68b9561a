"""Equations and conditions at Gauss points and ends, at the stages of a step on a moving mesh."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Key
from sharpfront.equation.program import Program
from sharpfront.evolve.band import Layout, layout_of
from sharpfront.evolve.equations import Residual, TimeSystem
from sharpfront.pieces.elements import Reference
from sharpfront.pieces.frame import Frame, Index
from sharpfront.pieces.radau import all_nodes, diagonal

Leaves = dict[Key, FloatArray]


class Rows:
    """Residuals that hold at the same places, and their tangents, as programs.

    Parameters
    ----------
    residuals
        One row for each.
    names
        The unknowns.
    """

    def __init__(self, residuals: list[Residual], names: tuple[str, ...]) -> None:
        self.residuals = residuals
        self.values = Program([r.expression for r in residuals])
        self.terms = [
            (i, names.index(t.unknown), *t.orders) for i, r in enumerate(residuals) for t in r.terms
        ]
        self.tangents = Program([t.coefficient for r in residuals for t in r.terms])

    def __len__(self) -> int:
        return len(self.residuals)

    def holds_a_value(self, row: int) -> bool:
        """Tell whether a row holds values of unknowns and no derivative of them."""
        own = [(space, time) for i, _, space, time in self.terms if i == row]
        return bool(own) and all(orders == (0, 0) for orders in own)


class Discrete:
    """What is collocated on any mesh.

    Parameters
    ----------
    system
        Equations and conditions.
    tables
        The functions of an element.
    """

    def __init__(self, system: TimeSystem, tables: Reference) -> None:
        self.system, self.tables, self.names = system, tables, system.names
        self.coordinate = system.problem.coordinates[0]
        self.equations = Rows(list(system.equations), self.names)
        self.sides = [Rows(own, self.names) for own in self._at_ends()]
        every = [self.equations, *self.sides]
        # Which derivatives along x of a rate occur, and what those need of the state.
        self.mixed = max((k for rows in every for _, _, k, time in rows.terms if time), default=0)
        self.levels = max(tables.order, self.mixed + 1 if self.mixed else 0)
        self.full = any(k >= tables.order for rows in self.sides for _, _, k, _ in rows.terms)

    def _at_ends(self) -> list[list[Residual]]:
        """Return what holds at the ends: conditions, and equations for what has too few of them.

        Nodes at the ends do not move, so that nothing is carried across there.
        """
        system = self.system
        sides = [[c for c in system.conditions if c.side == side] for side in (0, 1)]
        if system.periodic:
            return sides
        missing = self.tables.order * len(self.names) - sum(map(len, sides))
        for i, name in enumerate(self.names):
            order = max(e.order(name) for e in system.equations)
            for _ in range(min(self.tables.order - order, missing)):
                held = [sum(any(t.unknown == name for t in c.terms) for c in own) for own in sides]
                sides[int(held[1] < held[0])].append(system.equations[i])
                missing -= 1
        return sides

    @property
    def unknowns(self) -> int:
        """K."""
        return len(self.names)

    def layout(self, frame: Frame) -> Layout:
        """Return the band of a mesh."""
        left = len(self.sides[0])
        return layout_of(
            self.tables, frame.elements, self.unknowns, left, frame.ring, full=self.full
        )

    def leaves(self, x: FloatArray, t: FloatArray, levels: FloatArray, rates: FloatArray) -> Leaves:
        """Return all leaves, flat.

        Parameters
        ----------
        levels
            Derivatives along x, (orders, unknowns, points).
        rates
            Derivatives along x of those along t, (orders, unknowns, points).
        """
        system = self.system
        if system.periodic:
            # Nodes of a ring go round.
            x = system.low + np.mod(x - system.low, system.high - system.low)
        found: Leaves = {("coordinate", self.coordinate): x, ("coordinate", "t"): t}
        for i, name in enumerate(self.names):
            for k in range(len(levels)):
                found["derivative", name, (k, 0)] = levels[k, i]
            for k in range(len(rates)):
                found["derivative", name, (k, 1)] = rates[k, i]
        return found


class _Ends(NamedTuple):
    """An end at some moments: place, functions there (S, levels, size), own rates, numbers."""

    x: FloatArray
    values: FloatArray
    carried: FloatArray
    numbers: Index


class Moments:
    """A moving mesh at some moments: coefficients become leaves and tangents become bands.

    Parameters
    ----------
    discrete
        What is collocated.
    frame
        At the first moment of a step.
    t
        Then.
    later
        The moments, from t on, (S,).
    """

    def __init__(self, discrete: Discrete, frame: Frame, t: float, later: FloatArray) -> None:
        self.discrete, self.tables, self.frame = discrete, discrete.tables, frame
        self.t, self.later = t + later, later
        self.layout, self.numbers = discrete.layout(frame), frame.numbers
        h, rate = frame.lengths
        self.h, self.stretch = h + later[:, None] * rate, rate
        x, v = frame.positions
        self.x, self.v = x + later[:, None, None] * v, v
        e = np.tile(np.arange(frame.elements), len(later))
        every = np.repeat(later, frame.elements)
        shape = (2, len(later), frame.elements, self.tables.size)
        self.d, self.d_rate = frame.scales_at(e, every)[:2].reshape(shape)

    def part(self, which: slice) -> Moments:
        """Return some of the moments."""
        new = Moments.__new__(Moments)
        new.__dict__.update(
            (name, value) for name, value in vars(self).items() if not isinstance(value, _Ends)
        )
        for name in ("t", "later", "h", "x", "d", "d_rate"):
            setattr(new, name, getattr(self, name)[which])
        return new

    def inside(self, levels: FloatArray, rates: FloatArray) -> Leaves:
        """Return the leaves at the Gauss points; coefficients and their rates are (S, n, K)."""
        tables, h, k = self.tables.inside(self.discrete.levels), self.h[:, :, None], levels.shape[2]
        found = np.empty((len(tables), k, *self.x.shape))
        rate = np.empty((self.discrete.mixed + 1, k, *self.x.shape))
        for i in range(k):
            own = levels[:, self.numbers, i]
            scaled = own * self.d
            for order, table in enumerate(tables):
                np.matmul(scaled, table.T, out=found[order, i])
                if order:
                    found[order, i] /= h**order
            moving = rates[:, self.numbers, i] * self.d + own * self.d_rate
            for order in range(len(rate)):
                # d^k/dx^k u_t = d^k/dx^k U_t - v d^(k+1) u - k v_x d^k u.
                np.matmul(moving, tables[order].T, out=rate[order, i])
                if order:
                    rate[order, i] /= h**order
                    rate[order, i] -= order * self.stretch[:, None] / h * found[order, i]
                rate[order, i] -= self.v * found[order + 1, i]
        t = np.repeat(self.t, self.x[0].size)
        flat, moved = found.reshape(*found.shape[:2], -1), rate.reshape(*rate.shape[:2], -1)
        return self.discrete.leaves(self.x.ravel(), t, flat, moved)

    def _ends(self, side: int) -> _Ends:
        """Return the tables of an end, made once."""
        name = f"_ends_{side}"
        if name not in vars(self):
            orders = np.arange(self.discrete.levels + 1)
            e, table = -side, self.tables.ends(self.discrete.levels)[:, side]
            d, h = self.d[:, e, None], self.h[:, e, None, None]
            values = table * d / h ** orders[:, None]
            m = self.discrete.mixed + 1
            carried = table[:m] * self.d_rate[:, e, None] / h ** orders[:m, None]
            carried -= orders[:m, None] * (self.stretch[e] / h) * values[:, :m]
            x = np.full(len(self.t), self.frame.nodes[e])
            setattr(self, name, _Ends(x, values, carried, self.numbers[e]))
        found: _Ends = getattr(self, name)
        return found

    def at_end(self, side: int, levels: FloatArray, rates: FloatArray) -> Leaves:
        """Return the leaves at one end, whose node does not move."""
        ends = self._ends(side)
        own, moved = levels[:, ends.numbers], rates[:, ends.numbers]
        found = np.transpose(ends.values @ own, (1, 2, 0))
        rate = ends.values[:, : ends.carried.shape[1]] @ moved + ends.carried @ own
        return self.discrete.leaves(ends.x, self.t, found, np.transpose(rate, (1, 2, 0)))

    def residual(self, levels: FloatArray, rates: FloatArray) -> FloatArray:
        """Return what equations and conditions leave, (S, size)."""
        return self.rows_of(self.discrete.equations, self.discrete.sides, levels, rates)

    def rows_of(
        self, equations: Rows | None, sides: list[Rows], levels: FloatArray, rates: FloatArray
    ) -> FloatArray:
        """Return the values of rows inside, zero if there are none, and at both ends, (S, size)."""
        s, k = len(self.t), self.discrete.unknowns
        out = np.zeros((s, self.layout.size))
        left, right = self.layout.left, self.layout.size - len(self.discrete.sides[1])
        if equations is not None:
            inner = equations.values.run(self.inside(levels, rates), self.x.size)
            out[:, left:right] = np.moveaxis(inner.reshape(k, s, -1), 0, 2).reshape(s, -1)
        for side, rows in ((0, slice(0, left)), (1, slice(right, None))):
            if len(sides[side]):
                leaves = self.at_end(side, levels, rates)
                out[:, rows] = sides[side].values.run(leaves, s).T
        return out

    def tangents(self, levels: FloatArray, rates: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return d residual / d rates and / d levels at the only moment, as bands."""
        lay, tab, k = self.layout, self.tables, self.discrete.unknowns
        found = self.discrete.equations.tangents.run(self.inside(levels, rates), self.x.size)
        found = found.reshape(-1, lay.elements, tab.points)
        functions = self._derivatives(tab.inside(self.discrete.levels))
        shape = (lay.elements, tab.points, k, tab.size, k)
        mass, stiff = np.zeros(shape), np.zeros(shape)
        terms = self.discrete.equations.terms
        for coefficient, (i, j, space, time) in zip(found, terms, strict=True):
            c = coefficient[..., None]
            if time:
                mass[:, :, i, :, j] += c * functions(space)
                stiff[:, :, i, :, j] += c * self._carried(functions, space)
            else:
                stiff[:, :, i, :, j] += c * functions(space)
        bands = []
        for block in (mass, stiff):
            band = lay.empty()
            band[lay.scatter] = block.reshape(-1)
            bands.append(band)
        for side in (0, 1):
            self._end_tangents(bands, side, levels, rates)
        return lay.matrix(bands[0]), lay.matrix(bands[1])

    def _derivatives(self, tables: FloatArray) -> Any:
        """Return the scaled functions' derivatives as a function of their order, (N, q, size)."""
        d, h, rate = self.d[0], self.h[0], self.d_rate[0]

        def of(order: int, scale: FloatArray = d) -> FloatArray:
            return np.asarray(tables[order] * (scale / (h**order)[:, None])[:, None])

        of.moved = lambda order: of(order, rate)  # type: ignore[attr-defined]
        return of

    def _carried(self, functions: Any, space: int) -> FloatArray:
        """Return what a rate holds of the coefficients themselves, for the mesh moves."""
        found = functions.moved(space) - self.v[..., None] * functions(space + 1)
        if space:
            found -= space * (self.stretch / self.h[0])[:, None, None] * functions(space)
        return np.asarray(found)

    def _end_tangents(
        self, bands: list[FloatArray], side: int, levels: FloatArray, rates: FloatArray
    ) -> None:
        own = self.discrete.sides[side]
        if not len(own):
            return
        lay, e = self.layout, -side
        found = own.tangents.run(self.at_end(side, levels, rates), 1)[:, 0]
        shape = (len(own), self.tables.size, self.discrete.unknowns)
        mass, stiff = np.zeros(shape), np.zeros(shape)
        table = self.tables.ends(self.discrete.levels)[:, side]
        d, h, rate = self.d[0][e], self.h[0][e], self.d_rate[0][e]
        for c, (i, j, space, time) in zip(found, own.terms, strict=True):
            value = c * table[space] / h**space
            if time:
                mass[i, :, j] += value * d
                stiff[i, :, j] += value * (rate - space * self.stretch[e] / h * d)
            else:
                stiff[i, :, j] += value * d
        rows = range(len(own)) if side == 0 else range(lay.size - len(own), lay.size)
        where = lay.at_end(rows, e).ravel()
        for band, block in zip(bands, (mass, stiff), strict=True):
            band[where] = block.reshape(-1)


class Step:
    """The equations of one step by Radau IIA.

    Parameters
    ----------
    discrete, frame, t
        What is collocated, on which mesh, from when on.
    dt
        The length of the step.
    """

    def __init__(self, discrete: Discrete, frame: Frame, t: float, dt: float) -> None:
        self.discrete, self.frame, self.t, self.dt = discrete, frame, t, dt
        self.all = Moments(discrete, frame, t, all_nodes() * dt)
        self.stages = self.all.part(slice(1, None))

    @property
    def layout(self) -> Layout:
        """The band."""
        return self.stages.layout

    @property
    def start(self) -> Moments:
        """The mesh at the beginning."""
        return self.all.part(slice(0, 1))

    def factored(self, levels: FloatArray, rates: FloatArray) -> list[Any]:
        """Return the factors for the eigenvalues of Radau's matrix, about the middle stage."""
        middle = len(levels) // 2
        here = self.stages.part(slice(middle, middle + 1))
        mass, stiff = here.tangents(levels[middle][None], rates[middle][None])
        values = diagonal().values
        shifts = [v.real if abs(v.imag) < 1e-12 else v for v in values]
        return [self.layout.factored(mass * (v / self.dt) + stiff) for v in shifts]

    def change(self, factors: list[Any], residual: FloatArray) -> FloatArray:
        """Return the change of all stages that Newton's method makes, (STAGES, size)."""
        lay, radau = self.layout, diagonal()
        turned = radau.into @ lay.placed(residual)
        found = np.empty_like(turned)
        found[0] = lay.solved(factors[0], turned[0])
        for i, factor in enumerate(factors[1:]):
            w = lay.solved(factor, turned[2 * i + 1] + 1j * turned[2 * i + 2])
            found[2 * i + 1], found[2 * i + 2] = w.real, w.imag
        return lay.taken(-(radau.back @ found))
