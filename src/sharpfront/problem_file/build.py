"""From the checked shape of a file to the problem that it states."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sharpfront.checks import did_you_mean
from sharpfront.equation.formula import Formula
from sharpfront.equation.graph import derivatives_in
from sharpfront.equation.text import meant_by, parse, unknowns_in
from sharpfront.equation.trace import unreachable
from sharpfront.errors import EquationError, SharpfrontError
from sharpfront.geometry.shape import Shape
from sharpfront.problem import At, Integral, Problem, at, integral
from sharpfront.problem.initial import time_order, velocity_name
from sharpfront.problem_file.mistakes import Book, KeyPath
from sharpfront.problem_file.names import Names, functions, parameters_of, usable, with_definitions
from sharpfront.problem_file.regions import region
from sharpfront.problem_file.schema import File

_ANYWHERE = ("x", "y", "z")


class Draft:
    """Reads one section after the other; each knows the names of those before it.

    Mistakes go into the book; files named in it are looked for in the folder.
    """

    def __init__(
        self, file: File, book: Book, folder: Path | None, changed: Mapping[str, Any]
    ) -> None:
        self.file = file
        self.book = book
        known = parameters_of(file, changed, book)
        self.parameters = {k: v for k, v in known.values.items() if isinstance(v, float)}
        self.domain = self._domain(known, folder)
        # Without a domain all coordinates may be meant, so that no name is called wrong in vain.
        space = self.domain.coordinates if self.domain else _ANYWHERE
        self.time = self._time(known)
        coordinates = (*space, "t") if file.time else tuple(space)
        self.equations = self._texts()
        unknowns = self._unknowns(coordinates, known)
        self.names = with_definitions(known.within(unknowns, coordinates), file)

    def exact(self) -> dict[str, Formula]:
        """Return exact solutions by the unknowns' names; none where none is given."""
        return functions(self.file.exact or {}, ("exact",), self.names.symbols.unknowns, self.names)

    def problem(self) -> Problem | None:
        """Return what is stated; None if there are mistakes."""
        texts = self._equations()
        parts = self._parts()
        further = self._further()
        initial = self._initial()
        if self.book.mistakes or self.domain is None:
            return None
        try:
            return Problem(
                self.domain,
                self.names.residual(texts),
                conditions=further,
                parameters=self.parameters,
                initial=initial or None,
                time=self.time,
                **parts,
            )
        except SharpfrontError as error:
            self.book.note(self._place_of_equations(), str(error))
            return None

    def _domain(self, names: Names, folder: Path | None) -> Shape | None:
        if self.file.domain is None:
            if not self.book.has_in("domain"):
                words = "A problem needs a [domain], for example interval = [0, 1]."
                self.book.note(("domain",), words)
            return None
        shape = region(self.file.domain, names, ("domain",), folder)
        if shape is not None and not np.all(np.isfinite(shape.bounds)):
            self.book.note(("domain",), f"{shape!r} is unbounded; cut it with intersection.")
            return None
        return shape

    def _time(self, names: Names) -> tuple[float, float] | None:
        if self.file.time is None:
            return None
        start, stop = (names.number(t, ("time",)) for t in self.file.time)
        if start is None or stop is None:
            return None
        if not start < stop:
            words = f"time = [t0, t1] needs t0 < t1, got [{start:g}, {stop:g}]."
            self.book.note(("time",), words)
        return start, stop

    def _texts(self) -> list[tuple[KeyPath, str]]:
        one, several = self.file.equation, self.file.equations
        found: list[tuple[KeyPath, str]] = [(("equation",), one)] if one is not None else []
        found += [(("equations", key), text) for key, text in (several or {}).items()]
        if one is not None and several is not None:
            words = "Give either equation or equations, not both."
            self.book.note(("equations",), words, "equations")
        if not found and not self.book.has_in("equation", "equations"):
            words = 'The file has no equation. Write for example equation = "-u_xx = 1".'
            self.book.note(("equation",), words)
        return found

    def _unknowns(self, coordinates: tuple[str, ...], names: Names) -> tuple[str, ...]:
        known = (*names.values, *names.unread, *self.file.definitions)
        found: list[str] = []
        for _, text in self.equations:
            # One equation of several may have no derivative; one written as on paper is refused,
            # but its unknowns are no further mistake elsewhere.
            for written in (text, meant_by(text, coordinates)):
                with contextlib.suppress(EquationError):
                    found += unknowns_in(written, coordinates, known) if written else ()
        if self.file.unknowns is not None:
            given = enumerate(self.file.unknowns)
            good = [u for i, u in given if usable(u, ("unknowns", i), self.book)]
            for u in good:
                why = unreachable(u, tuple(good), coordinates)
                if why is not None:
                    self.book.note(("unknowns",), why, u)
            return tuple(good) or ("u",)
        readable = [meant_by(text, coordinates) is None for _, text in self.equations]
        if self.equations and not found and all(readable):
            words = (
                f"No derivative along {', '.join(coordinates)} is found: u_x makes u an unknown. "
                "Write for example -nu*u_xx + u_x = 0."
            )
            self.book.note(self.equations[0][0], words)
        unknowns = tuple(dict.fromkeys(found)) or ("u",)
        for name in unknowns:
            why = unreachable(name, unknowns, coordinates)
            if why is not None:
                place = next(path for path, text in self.equations if name in text)
                self.book.note(place, why, name)
        return unknowns

    def _equations(self) -> tuple[str, ...]:
        good = [self.names.check(text, path) for path, text in self.equations]
        unknowns = self.names.symbols.unknowns
        both = self.file.equation is not None and self.file.equations is not None
        if all(good) and good and not both and len(good) != len(unknowns):
            words = (
                f"{len(self.equations)} equation(s) for {len(unknowns)} unknown(s) "
                f"({', '.join(unknowns)}); one for each is needed."
            )
            self.book.note(self._place_of_equations(), words)
        return tuple(text for _, text in self.equations)

    def _place_of_equations(self) -> KeyPath:
        return self.equations[0][0][:1] if self.equations else ("equation",)

    def _parts(self) -> dict[str, Any]:
        """Return the conditions on the boundary as arguments of a problem."""
        conditions = self.file.conditions
        found: dict[str, Any] = {}
        parts = self.domain.parts if self.domain is not None else ()
        for name, texts in conditions.parts.items():
            if self.domain is not None and name not in parts:
                known = (*parts, "boundary", "at", "integral")
                words = (
                    f"{name!r} is not a part of the boundary.{did_you_mean(name, known)} Known: "
                    f"{', '.join(known)}. New parts are named in [domain.parts]."
                )
                self.book.note(("conditions", name), words, name)
            found[name] = self._stated(texts, ("conditions", name))
        if conditions.boundary is not None:
            found["boundary"] = self._stated(conditions.boundary, ("conditions", "boundary"))
            if self.domain is not None and not parts:
                words = "A periodic domain has no boundary. Use at or integral conditions."
                self.book.note(("conditions", "boundary"), words, "boundary")
        stated = found or conditions.at or conditions.integral
        if parts and not stated and not self.book.has_in("conditions"):
            words = (
                "No condition is given. State one for boundary, or for parts of it "
                f'({", ".join(parts)}): {parts[0]} = "u = 0".'
            )
            self.book.note(("conditions",), words)
        return found

    def _stated(self, texts: Sequence[str], path: KeyPath) -> Callable[..., Any]:
        """Return conditions as a residual function; each of them must be about an unknown."""
        for i, text in enumerate(texts):
            place = (*path, i)
            if self.names.check(text, place):
                residual = parse(text, self.names.symbols, self.names.values)
                if not derivatives_in(residual):
                    unknowns = ", ".join(self.names.symbols.unknowns)
                    words = f"The condition says nothing about {unknowns}."
                    self.book.note(place, words, text)
        return self.names.residual(texts)

    def _further(self) -> list[At | Integral]:
        found: list[At | Integral] = []
        for i, item in enumerate(self.file.conditions.at):
            path = ("conditions", "at", i)
            numbers = [self.names.number(c, (*path, "point")) for c in item.point]
            point = tuple(n for n in numbers if n is not None)
            stated = self._stated(item.condition, (*path, "condition"))
            if point and len(point) == len(numbers):
                self._require_inside(point, (*path, "point"))
                found.append(at(point, stated))
        for i, whole in enumerate(self.file.conditions.integral):
            path = ("conditions", "integral", i)
            equals = self.names.number(whole.equals, (*path, "equals"))
            found.append(integral(self._stated([whole.of], (*path, "of")), equals or 0.0))
        return found

    def _require_inside(self, point: tuple[float, ...], path: KeyPath) -> None:
        if self.domain is None:
            return
        if len(point) != self.domain.dimension:
            words = f"A point has {self.domain.dimension} coordinate(s), got {len(point)}."
            self.book.note(path, words)
        elif not self.domain.contains(np.array([point])).all():
            words = f"The point ({', '.join(f'{c:g}' for c in point)}) lies outside the domain."
            self.book.note(path, words)

    def _initial(self) -> dict[str, Formula]:
        given = self.file.initial
        needed = self._needed_at_start()
        if self.file.time is None:
            if given is not None:
                words = "[initial] is given without a span of time; add time = [0, 1] at the top."
                self.book.note(("initial",), words)
            return {}
        if given is None:
            if needed and not self.book.has_in("initial"):
                words = f"A problem in time needs [initial]: {', '.join(needed)} at the start."
                self.book.note(("time",), words)
            return {}
        found = functions(given, ("initial",), needed, self.names, space=True)
        missing = [n for n in needed if n not in given and "" not in given]
        if missing and needed:
            self.book.note(("initial",), f"[initial] lacks {', '.join(missing)}.")
        return found

    def _needed_at_start(self) -> list[str]:
        symbols = self.names.symbols
        if self.file.time is None or self.book.mistakes:
            return list(symbols.unknowns)
        read = [parse(text, symbols, self.names.values) for _, text in self.equations]
        orders = {u: time_order(read, u, symbols.coordinates) for u in symbols.unknowns}
        if not any(orders.values()):
            words = "time is given, but no equation has a derivative in time such as u_t."
            self.book.note(("time",), words)
        first = [u for u in symbols.unknowns if orders[u] > 0]
        return first + [velocity_name(u) for u in symbols.unknowns if orders[u] > 1]
