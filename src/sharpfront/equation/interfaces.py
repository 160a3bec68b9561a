"""What holds where coefficients jump or loads act, read from the equations.

Across a line x = a an equation holds in the sense of distributions. Each of its terms leaves a
jump [J], from above minus from below, times a derivative of Dirac's delta there: u'' leaves
[u'] delta + [u] delta', and (k u')' leaves [k u'] delta, provided that u goes on: a jump of k times
a delta has no meaning, so whatever stands beside a coefficient that jumps may leave nothing. From
these two rules follow the conditions: u and perhaps some of its derivatives go on, and certain
fluxes J jump by what loads ask for, which is nothing where there are none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sharpfront.equation.edges import jumps_along, named_in
from sharpfront.equation.expression import Apply, Constant, Derivative, Expression, is_zero
from sharpfront.equation.graph import coordinates_of, ordered
from sharpfront.equation.linearise import LinearForm, Term, linear_form
from sharpfront.equation.weak import WeakDerivative, is_delta, is_weak
from sharpfront.errors import EquationError


@dataclass(frozen=True, eq=False)
class Load:
    """``strength * delta(argument)``; the strength may hold unknowns, as a spring's does."""

    argument: Expression
    strength: Expression


@dataclass(frozen=True, eq=False)
class Flux:
    """A form whose jump, from above minus from below, and the loads add up to nothing."""

    form: LinearForm
    loads: tuple[Load, ...] = ()


@dataclass(frozen=True, eq=False)
class InterfaceConditions:
    """What holds across lines that are normal to one coordinate."""

    # How many derivatives along the normal go on for each unknown, itself included.
    continuous: dict[str, int]
    fluxes: tuple[Flux, ...]  # what jumps by nothing but loads


@dataclass(frozen=True, eq=False)
class _Left:
    """What an expression leaves: [jumps[l]] + sum loads[l] times the l-th derivative of delta."""

    jumps: dict[int, Expression] = field(default_factory=dict)
    loads: tuple[tuple[int, Load], ...] = ()

    def changed(self, change: Callable[[Expression], Expression]) -> _Left:
        """Return it with every expression changed."""
        jumps = {k: change(e) for k, e in self.jumps.items()}
        loads = tuple((k, replace(q, strength=change(q.strength))) for k, q in self.loads)
        return _Left(jumps, loads)

    def added(self, other: _Left) -> _Left:
        """Return the sum."""
        jumps = dict(self.jumps)
        for k, e in other.jumps.items():
            jumps[k] = jumps[k] + e if k in jumps else e
        return _Left(jumps, self.loads + other.loads)

    def raised(self, quantity: Expression) -> _Left:
        """Return what the derivative along the normal leaves, of a quantity that leaves this."""
        jumps = {0: quantity, **{k + 1: e for k, e in self.jumps.items()}}
        return _Left(jumps, tuple((k + 1, q) for k, q in self.loads))

    @property
    def highest(self) -> int:
        """The highest derivative of delta that is left; -1 if there is none."""
        return max((*self.jumps, *(k for k, _ in self.loads)), default=-1)

    @property
    def empty(self) -> bool:
        """Whether nothing is left."""
        return not self.jumps and not self.loads


def interface_conditions(
    equations: Sequence[Expression],
    unknowns: Sequence[str],
    coordinates: Sequence[str],
    coordinate: str,
) -> InterfaceConditions:
    """Return what holds across lines on which a coordinate has one value, for linear equations."""
    reader = _FluxReader(coordinate)
    conditions: list[Flux] = []
    for equation in equations:
        left = reader.left_by(equation)
        for order in range(1 + left.highest):
            jump = linear_form(left.jumps.get(order, Constant(0.0)))
            conditions.append(Flux(jump, tuple(q for k, q in left.loads if k == order)))
    conditions += [Flux(linear_form(e)) for e in reader.vanishing]
    axis = coordinates.index(coordinate)
    found = _sorted_out(conditions, unknowns, coordinate, axis)
    forms = [linear_form(e) for e in equations]
    allowed = _allowed(forms, unknowns, lambda term: term.orders[axis])
    count = sum(found.continuous.values()) + len(found.fluxes)
    if count != allowed:
        raise EquationError(
            f"Where coefficients jump along {coordinate} the equation asks for {count} conditions, "
            f"its order along {coordinate} allows {allowed}: one coefficient that jumps stands "
            "inside a derivative, as in (k * u.dx).dx, and another one before it, as in "
            "k * u.dxx. Write all terms of highest order in one of the two ways."
        )
    return found


@dataclass(frozen=True, eq=False)
class CurvedConditions:
    """What holds across curves on which coefficients jump, for equations up to order two."""

    continuous: tuple[str, ...]  # the unknowns that go on
    # Forms along each coordinate whose sum, times the normal's components, goes on.
    fluxes: tuple[tuple[LinearForm, ...], ...]
    # What acts along each coordinate in the equation of each flux.
    loads: tuple[tuple[tuple[Load, ...], ...], ...] = ()


def curved_conditions(
    equations: Sequence[Expression], unknowns: Sequence[str], coordinates: Sequence[str]
) -> CurvedConditions:
    """Return what holds across curves, whatever their direction, for linear equations."""
    forms = [linear_form(e) for e in equations]
    orders = {u: max(t.order for f in forms for t in f.terms if t.unknown == u) for u in unknowns}
    continuous = tuple(u for u in unknowns if orders[u] > 1)
    fluxes, loads = [], []
    for equation in equations:
        along, acting = [], []
        for name in coordinates:
            reader = _FluxReader(name)
            left = reader.left_by(equation)
            slopes = any(t.order for e in reader.vanishing for t in linear_form(e).terms)
            # What is differentiated twice and jumps takes u with it.
            twice = linear_form(left.jumps.get(1, Constant(0.0))).source
            torn = any(jumps_along(twice, c) for c in coordinates)
            couples = any(order for order, _ in left.loads)
            if couples or left.highest > 1 or slopes or torn or max(orders.values()) > 2:
                raise EquationError(
                    "Coefficients that jump on a slanted or curved line are understood inside one "
                    "derivative, as in sf.div(k * sf.grad(u)), in equations up to order two; not "
                    "before one, as in k * u.dxx, nor inside two, as in "
                    "sf.laplacian(u - np.where(...)), nor with derivatives of sf.delta."
                )
            acting.append(tuple(load for _, load in left.loads))
            along.append(linear_form(left.jumps.get(0, Constant(0.0))))
        if any(t.order or t.unknown not in continuous for form in along for t in form.terms):
            fluxes.append(tuple(along))
            loads.append(tuple(acting))
    found = CurvedConditions(continuous, tuple(fluxes), tuple(loads))
    allowed = _allowed(forms, unknowns, lambda term: term.order)
    if len(continuous) + len(fluxes) != allowed:
        raise EquationError(
            f"Where coefficients jump on a curve {len(continuous)} unknowns and {len(fluxes)} "
            f"fluxes go on, but the equations' order allows {allowed} conditions."
        )
    return found


class _FluxReader:
    """Goes through an equation's graph and notes what must not jump."""

    def __init__(self, coordinate: str) -> None:
        self.coordinate = coordinate
        self.vanishing: list[Expression] = []

    def left_by(self, expression: Expression) -> _Left:
        """Return what an expression leaves on a line."""
        found: dict[int, _Left] = {}
        # Without the derivatives on either side of a jump.
        stated = ordered(expression, lambda n: n.arguments[1:] if is_weak(n) else n.arguments)
        for node in stated:
            found[id(node)] = self._node(node, found)
        return found[id(expression)]

    def _node(self, node: Expression, found: dict[int, _Left]) -> _Left:
        if isinstance(node, Derivative):
            # Of u^(m) there is left [u^(m-1)] delta + ... + [u] delta^(m-1).
            axis = node.coordinates.index(self.coordinate)
            m, orders = node.orders[axis], node.orders
            lower = [(*orders[:axis], m - 1 - k, *orders[axis + 1 :]) for k in range(m)]
            own = (Derivative(node.unknown, node.coordinates, each) for each in lower)
            return _Left(dict(enumerate(own)))
        if not isinstance(node, Apply):
            return _Left()
        if is_delta(node):
            if self.coordinate not in named_in(node):
                return _Left()
            return _Left(loads=((0, Load(node.arguments[0], Constant(1.0))),))
        if isinstance(node.function, WeakDerivative):
            inner = node.arguments[1]
            if node.function.coordinate == self.coordinate:
                return found[id(inner)].raised(inner)
            along = node.function.coordinate
            return found[id(inner)].changed(lambda e: e.d(along) if coordinates_of(e) else e * 0.0)
        return self._combined(node, [found[id(a)] for a in node.arguments])

    def _combined(self, node: Apply, parts: list[_Left]) -> _Left:
        ufunc, arguments = node.function.evaluate, node.arguments
        if all(part.empty for part in parts):
            return _Left()
        if ufunc is np.add:
            return parts[0].added(parts[1])
        if ufunc is np.subtract:
            return parts[0].added(parts[1].changed(lambda e: -e))
        if ufunc in (np.negative, np.positive):
            return parts[0] if ufunc is np.positive else parts[0].changed(lambda e: -e)
        if ufunc is np.multiply and (parts[0].empty or parts[1].empty):
            i = 0 if parts[1].empty else 1
            return self._times(parts[i], arguments[1 - i], lambda e: arguments[1 - i] * e)
        if ufunc is np.true_divide and parts[1].empty:
            return self._times(parts[0], arguments[1], lambda e: e / arguments[1])
        if ufunc is np.where and parts[0].empty:
            for part in parts[1:]:
                self._must_vanish(part)
            return _Left()
        raise EquationError(
            f"{node!r} holds a load, or a derivative across a jump: only sums, and products with "
            "coefficients and with unknowns that go on, have a meaning there. The product rule "
            "across a jump is (k * u.dx).dx."
        )

    def _times(
        self, part: _Left, factor: Expression, times: Callable[[Expression], Expression]
    ) -> _Left:
        """Return what a product leaves."""
        if part.loads and any(is_delta(node) for node in ordered(factor)):
            raise EquationError("A product of two loads, sf.delta, has no meaning here.")
        if jumps_along(factor, self.coordinate):
            self._must_vanish(_Left(part.jumps))
            # Whether the factor jumps where the load is, is seen when the places are known.
            return _Left(loads=part.changed(times).loads)
        if self.coordinate not in named_in(factor) or part.highest < 1:
            return part.changed(times)
        return self._by_leibniz(part, times(Constant(1.0)))

    def _by_leibniz(self, part: _Left, factor: Expression) -> _Left:
        """Return c delta^(l) = sum_i (-1)^i (l over i) c^(i) delta^(l-i), for each order l."""
        out = _Left()
        slopes = [factor]
        for order in range(1 + part.highest):
            if order:
                slopes.append(slopes[-1].d(self.coordinate))
            for i, slope in enumerate(slopes):
                weight = (-1.0) ** i * math.comb(order, i)
                jumps = {}
                if order in part.jumps:
                    jumps[order - i] = weight * slope * part.jumps[order]
                loads = tuple(
                    (k - i, replace(q, strength=weight * slope * q.strength))
                    for k, q in part.loads
                    if k == order
                )
                out = out.added(_Left(jumps, loads))
        return out

    def _must_vanish(self, part: _Left) -> None:
        if part.loads:
            raise EquationError(
                "A load, sf.delta, stands inside np.where(...); multiply it by np.where instead."
            )
        self.vanishing += part.jumps.values()


def _sorted_out(
    conditions: list[Flux], unknowns: Sequence[str], coordinate: str, axis: int
) -> InterfaceConditions:
    """Return how smooth unknowns are, and the conditions that are left beside that."""
    continuous, nothing = dict.fromkeys(unknowns, 0), Constant(0.0)

    def reduced(flux: Flux) -> Flux:
        """Return a flux without what does not jump."""
        terms = tuple(
            t
            for t in flux.form.terms
            if t.orders[axis] >= continuous[t.unknown] or jumps_along(t.coefficient, coordinate)
        )
        source = flux.form.source if jumps_along(flux.form.source, coordinate) else nothing
        return replace(flux, form=LinearForm(terms, source))

    def goes_on(flux: Flux) -> bool:
        """Tell whether a condition says that the next derivative of an unknown goes on."""
        if flux.loads or len(flux.form.terms) != 1 or not is_zero(flux.form.source):
            return False
        (term,) = flux.form.terms
        next_one = term.orders[axis] == continuous[term.unknown]
        return next_one and not jumps_along(term.coefficient, coordinate)

    while True:
        conditions = [
            c
            for c in map(reduced, conditions)
            if c.loads or c.form.terms or not is_zero(c.form.source)
        ]
        plain = next(filter(goes_on, conditions), None)
        if plain is None:
            return InterfaceConditions(continuous, tuple(conditions))
        continuous[plain.form.terms[0].unknown] += 1


def _allowed(
    forms: Sequence[LinearForm], unknowns: Sequence[str], order: Callable[[Term], int]
) -> int:
    """Return how many conditions equations allow: their order, one unknown for each equation."""
    from scipy.optimize import linear_sum_assignment

    orders = np.full((len(forms), len(unknowns)), -1e3)
    for i, form in enumerate(forms):
        for t in form.terms:
            j = unknowns.index(t.unknown)
            orders[i, j] = max(orders[i, j], order(t))
    return int(orders[linear_sum_assignment(orders, maximize=True)].sum())
