"""Equations and conditions as programs, whatever the mesh."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Constant, Expression, Key, is_zero
from sharpfront.equation.graph import derivatives_in
from sharpfront.equation.linearise import with_leaves
from sharpfront.equation.program import Program
from sharpfront.evolve.band_layout import Layout, layout_of
from sharpfront.evolve.characteristics import characteristics
from sharpfront.evolve.time_system import MOST_MIXED, Residual, TimeSystem
from sharpfront.pieces.elements import Reference
from sharpfront.pieces.frame import Frame
from sharpfront.problem.initial import velocity_name

Leaves = dict[Key, FloatArray]


# Derivatives along x that a rate may have.
_K = range(MOST_MIXED + 1)


class Rows:
    """Residuals that hold at the same places, and their tangents, as programs; a row for each."""

    def __init__(self, residuals: list[Residual], names: tuple[str, ...]) -> None:
        self.residuals = residuals
        self.values = Program([r.expression for r in residuals])
        # Derivatives along x before those of rates.
        terms = [(i, t) for i, r in enumerate(residuals) for t in r.terms]
        terms.sort(key=lambda term: term[1].orders[1])
        self.terms = [(i, names.index(t.unknown), *t.orders) for i, t in terms]
        # Which unknowns occur in each row.
        self.pairs = list(dict.fromkeys((i, j) for i, j, _, _ in self.terms))
        self.factors = [t.coefficient for _, t in terms]
        self.tangents = Program(self.factors)
        # Whether rows hold rates, and their factors of the unknowns if those are always the same.
        self.timed = any(("derivative", n, (k, 1)) in self.values.leaves for n in names for k in _K)
        # Whether place or time occur.
        every = self.values.leaves | self.tangents.leaves
        self.placed = any(key[0] == "coordinate" for key in every)
        numbers = [f.value for f in self.factors if isinstance(f, Constant)]
        self.fixed = numbers if len(numbers) == len(self.factors) and not self.timed else None

    def __len__(self) -> int:
        return len(self.residuals)

    def without_rate(self) -> list[bool]:
        """Tell of each row whether it holds no rate."""
        timed = {i for i, _, _, time in self.terms if time}
        return [i not in timed for i in range(len(self))]

    def holds_a_value(self, row: int) -> bool:
        """Tell whether a row holds values of unknowns and no derivative of them."""
        own = [(space, time) for i, _, space, time in self.terms if i == row]
        return bool(own) and all(orders == (0, 0) for orders in own)


class Discrete:
    """Equations and conditions as they are collocated on any mesh."""

    def __init__(self, system: TimeSystem, tables: Reference) -> None:
        self.system, self.tables, self.names = system, tables, system.names
        self.numbers = {name: i for i, name in enumerate(self.names)}
        self.coordinate = system.problem.coordinates[0]
        self.equations = Rows(list(system.equations), self.names)
        self.sides = [Rows(own, self.names) for own in self._at_ends()]
        # Whether anything but values is held at the ends.
        self.holds_slopes = not all(s.holds_a_value(i) for s in self.sides for i in range(len(s)))
        # Which derivatives along x of a rate occur, and what those need of the state.
        held = [term for rows in (self.equations, *self.sides) for term in rows.terms]
        self.mixed = max((k for _, _, k, time in held if time), default=0)
        self.levels = max(tables.order, self.mixed + 1 if self.mixed else 0)
        self.full = any(k >= tables.order for rows in self.sides for _, _, k, _ in rows.terms)
        # What ends hold of values alone, and what is given there, if that is always the same.
        self.held = [self._held(side, rows) for side, rows in enumerate(self.sides)]
        self.given = [
            self.at_zero(rows, {}, 1) if len(rows) and rows.fixed and not rows.placed else None
            for rows in self.sides
        ]
        self.gaps = Program(system.gaps)
        # Those that move by themselves, with their slopes and rates.
        alone = [g for g in system.gaps if not derivatives_in(g)]
        self.moves = bool(alone)
        self.moving = Program([e for g in alone for e in (g, g.d(self.coordinate), g.d("t"))])
        # An unknown's own part in its equation: itself, its second derivative and its rate.
        terms = self.equations.terms
        own = [
            n
            for n, (i, j, k, time) in enumerate(terms)
            if i == j and (k == 0 or (k == 2 and not time))
        ]
        every = self.equations.factors
        self.own_terms = [terms[n] for n in own]
        self.own_tangents = Program([every[n] for n in own])
        # About a state without derivatives: errors of advection alone do not grow.
        self.reacts = any(
            not k and not time and not _vanishes(every[n])
            for n, (_, _, k, time) in zip(own, self.own_terms, strict=True)
        )
        # What a step leaves to the next one: its arrays, and a mesh with that of its own functions.
        self.room: Any = None
        self._mesh: tuple[Frame, Frame] | None = None

    def on(self, tables: Reference) -> Discrete:
        """Return the same for elements of another degree."""
        other = copy(self)
        other.tables, other.room, other._mesh = tables, None, None
        other.held = [other._held(side, rows) for side, rows in enumerate(self.sides)]
        return other

    def mesh(self, frame: Frame) -> Frame:
        """Return a mesh with functions of the degree of these elements."""
        if self._mesh is None or self._mesh[0] is not frame:
            self._mesh = frame, frame.on(self.tables)
        return self._mesh[1]

    def _held(self, side: int, rows: Rows) -> FloatArray | None:
        """Return the rows of an end that hold values only, (1, rows, size * K)."""
        if not len(rows) or rows.fixed is None or any(space for _, _, space, _ in rows.terms):
            return None
        matrix = np.zeros((1, len(rows), self.tables.size, self.unknowns))
        for c, (i, j, _, _) in zip(rows.fixed, rows.terms, strict=True):
            matrix[0, i, :, j] += c * self.tables.ends(0)[0, side]
        return matrix.reshape(1, len(rows), -1)

    def at_zero(self, rows: Rows, coordinates: Leaves, count: int) -> FloatArray:
        """Return the values of rows of an end where all unknowns are zero, (count, rows)."""
        nothing = np.zeros((self.unknowns, self.levels + 1, count))
        leaves = self.leaves(rows.values, coordinates, nothing, nothing[:, :0])
        return rows.values.run(leaves, count).T

    def _at_ends(self) -> list[list[Residual]]:
        """Return what holds at the ends: conditions, and equations for what has too few of them.

        Nodes at the ends do not move, so that nothing is carried across there.
        """
        system = self.system
        sides = [[c for c in system.conditions if c.side == side] for side in (0, 1)]
        if system.periodic:
            return sides
        leaving = [self._leaving(side, own) for side, own in enumerate(sides)]
        known = [rows for rows in leaving if rows is not None]
        if len(known) == len(sides):
            return [own + rows for own, rows in zip(sides, known, strict=True)]
        missing = self.tables.order * len(self.names) - sum(map(len, sides))
        for i, name in enumerate(self.names):
            order = max(e.order(name) for e in system.equations)
            for _ in range(min(self.tables.order - order, missing)):
                held = [sum(any(t.unknown == name for t in c.terms) for c in s) for s in sides]
                side = sides[int(held[1] < held[0])]
                own = system.equations[i]
                held_here = any(
                    not c.order(name) and any(t.unknown == name for t in c.terms) for c in side
                )
                if velocity_name(name) in self.names and held_here:
                    # It and its rate are held there already: what is left is how its slope goes.
                    own = replace(own, expression=own.expression.d(system.space))
                side.append(own)
                missing -= 1
        return sides

    def _leaving(self, side: int, held: list[Residual]) -> list[Residual] | None:
        """Return what holds at an end of what a system of first order carries out of it.

        An equation by itself may tell of what comes in, which a condition has told. None where it
        is not known, or not as much as conditions leave.
        """
        system = self.system
        if system.order > 1 or len(self.names) == 1:
            return None
        found = characteristics(system, (system.low, system.high)[side], system.span[0])
        shares = None if found is None else found.leaving(side)
        if shares is None or len(shares) + len(held) != len(self.names):
            return None
        return [self._combined(row) for row in shares]

    def _combined(self, shares: FloatArray) -> Residual:
        """Return the sum of shares of equations."""
        own = [(c, e) for c, e in zip(shares.tolist(), self.system.equations, strict=True) if c]
        whole = sum((c * e.expression for c, e in own[1:]), own[0][0] * own[0][1].expression)
        return replace(own[0][1], expression=whole)

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

    def coordinates(self, x: FloatArray, t: FloatArray) -> Leaves:
        """Return place and time as leaves, flat; nodes of a ring go round."""
        system = self.system
        if system.periodic:
            x = system.low + np.mod(x - system.low, system.high - system.low)
        return {("coordinate", self.coordinate): x, ("coordinate", "t"): t}

    def leaves(
        self, program: Program, coordinates: Leaves, levels: FloatArray, rates: FloatArray
    ) -> Leaves:
        """Return the leaves of a program, flat: place and time, and derivatives.

        Levels and rates are (unknowns, orders, ...).
        """
        found = dict(coordinates)
        for key in program.leaves - coordinates.keys():
            _, name, (k, time) = key
            found[key] = (rates if time else levels)[self.numbers[name], k].reshape(-1)
        return found


def _vanishes(coefficient: Expression) -> bool:
    """Tell whether a formula is zero where all derivatives are."""
    slopes = [d.key for d in derivatives_in(coefficient) if any(d.orders)]
    return is_zero(with_leaves(coefficient, dict.fromkeys(slopes, Constant(0.0))))
