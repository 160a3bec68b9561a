"""Functions that the tracer does not look into: interpolants, tables, compiled code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sharpfront.checks import ASKED, each_alone, explained, listed, numbers_in
from sharpfront.equation.expression import Expression, Function, apply_function
from sharpfront.errors import EquationError
from sharpfront.rounding import EPS


@dataclass(frozen=True, eq=False)
class OpaqueFunction(Function):
    """A vectorised callable as one node of the graph.

    Called with symbols it records itself; called with arrays it computes.
    """

    derivatives: tuple[OpaqueFunction, ...] = ()  # along each argument, where known
    breaks: tuple[tuple[float, ...], ...] = ()  # values of each argument at which it jumps or bends

    def jumps_at(self, place: float) -> bool:
        """Tell whether values jump at a break, and not slopes only; they may, of more arguments."""
        if len(self.breaks) > 1:
            return True
        # What is beside a place is nearer to it than zero and than other breaks.
        apart = [abs(x) for x in (place, *(b - place for b in self.breaks[0])) if x]
        scale = min(apart, default=1.0)
        near, far = max(1e-13 * scale, 4 * np.spacing(abs(place))), 1e-7 * scale
        steps = np.array([-far, -near, near, far])
        before, below, above, after = np.broadcast_to(self.evaluate(place + steps), 4).tolist()
        beside = abs(below - before) + abs(after - above)
        return not abs(above - below) <= 1e-3 * beside + 4 * EPS * max(abs(below), abs(above))

    def __call__(self, *arguments: Any) -> Any:
        """Record the call if an argument is a symbol, compute otherwise."""
        if not arguments:
            raise EquationError(f"sf.function({self.name}) needs an argument: write f(x).")
        if any(isinstance(a, Expression) for a in arguments):
            return apply_function(self, *arguments)
        return self.evaluate(*arguments)


@explained("sf.function(lambda x: np.interp(x, xs, ys))(x)")
def function(
    f: Callable[..., Any],
    derivative: Callable[..., Any] | tuple[Callable[..., Any], ...] = (),
    breaks: Sequence[float] | Sequence[Sequence[float]] = (),
) -> OpaqueFunction:
    """Make any vectorised function usable in a residual: ``sf.function(f)(x)``.

    Parameters
    ----------
    f
        Takes arrays of one shape, returns an array of that shape (or a number).
    derivative
        Its derivative, or one for each argument; needed only where the equation
        differentiates it, as in ``(k(x) * u.dx).dx`` or ``f(u)``. It may itself be an
        ``sf.function`` with a derivative, for higher orders.
    breaks
        Values of its argument at which it jumps or bends, for several arguments a sequence for
        each. Kernels end there; where it stands in a flux, ``(k(x) * u.dx).dx``, the flux goes on.

    Examples
    --------
    >>> import numpy as np
    >>> import sharpfront as sf
    >>> k = sf.function(lambda x: np.interp(x, [0, 1], [1, 3]))
    >>> float(k(0.5))
    2.0
    """
    given = derivative if isinstance(derivative, tuple) else (derivative,)
    for each in (f, *given):
        if not callable(each):
            raise EquationError(f"sf.function expects a callable, got {each!r}.")
    name = getattr(f, "__name__", type(f).__name__)
    expected = "numbers, or for several arguments a sequence of numbers for each"
    parts = listed(breaks)
    if not any(isinstance(part, tuple | list | np.ndarray) for part in parts):
        parts = (parts,)
    places = tuple(
        tuple(sorted(numbers_in(part, "breaks of sf.function", expected, "breaks=(0.5,)")))
        if len(part)
        else ()
        for part in map(listed, parts)
    )
    own = _Checked(f, name)
    # A derivative is a function of its own, and breaks where the function does.
    inner = tuple(
        replace(
            d,
            evaluate=_Slope(d.evaluate, own, i, places),
            breaks=d.breaks if any(d.breaks) else places,
        )
        if isinstance(d, OpaqueFunction)
        else OpaqueFunction(f"{name}'", _Slope(_Checked(d, name), own, i, places), breaks=places)
        for i, d in enumerate(given)
    )
    return OpaqueFunction(name, own, inner, places)


@dataclass(frozen=True, eq=False)
class _Checked:
    """A user's function whose values are checked; as a class, so that problems can be pickled."""

    f: Callable[..., Any]
    name: str
    # Calls that were asked whether values depend on the points beside them.
    asked: list[int] = field(default_factory=list, repr=False)

    def __call__(self, *arguments: Any) -> Any:
        arrays = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in arguments))
        result = self._values(*arrays)
        if len(self.asked) < ASKED and arrays[0].size > 1:
            self.asked.append(arrays[0].size)
            each_alone(f"sf.function({self.name})", self._values, arrays, result, EquationError)
        return result

    def _values(self, *arrays: Any) -> Any:
        # Copies: a function that writes into its argument must not change the points.
        try:
            result = np.asarray(self.f(*(np.array(a) for a in arrays)))
        except (TypeError, ValueError) as error:
            raise EquationError(
                f"sf.function({self.name}) failed on arrays of shape {arrays[0].shape}: {error} "
                "If it takes one point at a time, wrap it in np.vectorize first."
            ) from error
        if result.shape not in ((), arrays[0].shape) or result.dtype.kind not in "buif":
            raise EquationError(
                f"sf.function({self.name}) was called with arrays of shape {arrays[0].shape} and "
                f"returned shape {result.shape} of type {result.dtype}; it must return one real "
                "value per point. If it takes one point at a time, wrap it in np.vectorize first."
            )
        return result.astype(float)


# Differences are taken at so many places, over this share of the way between the outermost.
PLACES, STEP = 33, 1e-5
# A derivative is none if it is off by this share of the largest at more than a third of the places:
# tables and their derivatives are rough, a sign or a factor that is wrong is more.
OFF = 0.2
# A function jumps if so much of its range is left between two points after so many halvings.
JUMP, HALVINGS = 0.05, 40
# Places of the other arguments at which it is looked for.
HELD = 5


@dataclass(frozen=True, eq=False)
class _Slope:
    """A derivative as it was given, once compared with differences of its function."""

    given: Callable[..., Any]
    of: _Checked
    along: int  # which argument
    told: tuple[tuple[float, ...], ...]  # where it is said to jump or bend
    compared: list[int] = field(default_factory=list, repr=False)
    asked: list[int] = field(default_factory=list, repr=False)  # one entry for each call

    def __call__(self, *arguments: Any) -> Any:
        result = self.given(*arguments)
        arrays = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in arguments))
        if arrays[0].size >= PLACES and self._is_due(len(arrays)):
            flat = [a.ravel() for a in arrays]
            self._compare(flat, np.broadcast_to(result, arrays[0].shape).ravel())
        return result

    def _is_due(self, arguments: int) -> bool:
        """Tell whether to compare: once, and of several arguments again after twice as many calls.

        What jumps may move with one that is first the same at all points, as at a moment.
        """
        if arguments == 1:
            return not self.compared
        self.asked.append(0)
        return len(self.asked) & (len(self.asked) - 1) == 0

    def _compare(self, arrays: list[Any], given: Any) -> None:
        """Refuse a derivative that is another function's."""
        x = arrays[self.along]
        low, high = float(np.min(x)), float(np.max(x))
        step = STEP * (high - low)
        inside = np.flatnonzero((x - low > 2 * step) & (high - x > 2 * step))
        if not step > 0.0 or not np.isfinite(step) or len(inside) < PLACES:
            return
        chosen = inside[np.linspace(0, len(inside) - 1, PLACES).astype(int)]
        at, given = [a[chosen] for a in arrays], given[chosen]
        with np.errstate(all="ignore"):
            found, wider = (self._differences(at, h) for h in (step, 2 * step))
            # What rounding and what is narrower than the step make of differences.
            rounding = EPS * np.abs(self.of(*at)).max() / step
            unsure = np.abs(wider - found) + 10 * rounding
            size = np.maximum(np.abs(given), np.abs(found)).max()
            off = np.abs(given - found) > OFF * size + 10 * unsure
        if 3 * np.count_nonzero(off) > PLACES:
            i = int(np.flatnonzero(off)[0])
            raise EquationError(
                f"The derivative of sf.function({self.of.name}) along its argument "
                f"{self.along + 1} does not belong to it: where that is {x[chosen][i]:.6g} it is "
                f"given as {given[i]:.6g}, and by differences it is {found[i]:.6g}. Look for a "
                "sign or an inner factor."
            )
        self._require_no_jump(at)
        self.compared.append(x.size)

    def _require_no_jump(self, at: list[Any]) -> None:
        """Refuse a function that jumps between places, unless it is said where."""
        if any(self.told) and len(at) == 1:
            return
        known = np.array(self.told[self.along] if self.along < len(self.told) else ())
        every = np.sort(at[self.along])
        for k in np.linspace(0, PLACES - 1, 1 if len(at) == 1 else HELD).astype(int):
            held = [np.asarray(a[k]) for a in at]
            x = every
            for _ in range(HALVINGS):
                values = self._on(held, x)
                i = int(np.argmax(np.abs(np.diff(values))))
                rise = abs(float(values[i + 1] - values[i]))
                x = np.linspace(x[i], x[i + 1], 3)
            told = np.any(np.abs(known - x[1]) <= STEP * np.ptp(every))
            if rise > JUMP * np.ptp(self._on(held, every)) and not told:
                self._say_where(f"{x[1]:.6g}", len(at))

    def _on(self, held: list[Any], x: Any) -> Any:
        """Return values along the argument, the others held."""
        own = [x if i == self.along else np.full_like(x, h) for i, h in enumerate(held)]
        return np.broadcast_to(self.of(*own), x.shape)

    def _say_where(self, place: str, count: int) -> None:
        breaks, where, moved = f"[{place}]", "", ""
        if count > 1:
            own = (f"({place},)" if i == self.along else "()" for i in range(count))
            breaks, where = f"({', '.join(own)})", f" along its argument {self.along + 1}"
            moved = "; if that changes with another argument, write it with np.where"
        raise EquationError(
            f"sf.function({self.of.name}) has a derivative and jumps at {place}{where}, which no "
            f"derivative tells. Say where: sf.function(f, derivative=df, breaks={breaks}){moved}."
        )

    def _differences(self, at: list[Any], step: float) -> Any:
        """Return central differences along the argument."""
        ahead, behind = list(at), list(at)
        ahead[self.along], behind[self.along] = at[self.along] + step, at[self.along] - step
        return (self.of(*ahead) - self.of(*behind)) / (2 * step)
