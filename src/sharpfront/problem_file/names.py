"""The names of a problem file: parameters, and definitions in terms of them."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sharpfront.checks import did_you_mean
from sharpfront.equation.expression import Constant, Expression
from sharpfront.equation.formula import Formula
from sharpfront.equation.text import mistakes_in, parse, parse_condition
from sharpfront.equation.trace import Symbols, is_coordinate_name
from sharpfront.errors import EquationError
from sharpfront.problem_file.mistakes import Book, KeyPath, Mistake
from sharpfront.problem_file.schema import File

_SPACE = Symbols((), ())


@dataclass(frozen=True, eq=False)
class Names:
    """What the texts of a file may use."""

    book: Book  # where mistakes go
    symbols: Symbols = _SPACE  # unknowns and coordinates
    # Parameters and definitions.
    values: Mapping[str, float | Expression] = field(default_factory=dict)
    # Names whose own values could not be read: using them is no further mistake.
    unread: frozenset[str] = frozenset()

    def within(self, unknowns: Sequence[str], coordinates: Sequence[str]) -> Names:
        """Return the same names with other unknowns and coordinates."""
        return replace(self, symbols=Symbols(tuple(unknowns), tuple(coordinates)))

    def check(self, text: str, path: KeyPath, *, condition: bool = False) -> bool:
        """Tell whether a text can be read, and write its mistakes into the book."""
        values = {**self.values, **dict.fromkeys(self.unread, 1.0)}
        found = mistakes_in(text, self.symbols, values, condition=condition)
        for error in found:
            self.book.note(path, _brief(str(error), text), error.part)
        # With something unread the file is refused in any case; its value here was invented.
        return not found and not self.unread

    def expression(self, text: float | str, path: KeyPath) -> Expression | None:
        """Return a text as an expression; None if it cannot be read."""
        if not isinstance(text, str):
            return Constant(float(text))
        if "=" in text.replace("<=", "").replace(">=", ""):
            self.book.note(path, f"Expected an expression without `=`, got {text!r}.", "=")
            return None
        return parse(text, self.symbols, self.values) if self.check(text, path) else None

    def formula(self, text: float | str, path: KeyPath) -> Formula | None:
        """Return a text as a function of the coordinates; None if it cannot be read."""
        expression = self.expression(text, path)
        return None if expression is None else Formula(expression, self.symbols.coordinates)

    def predicate(self, text: str, path: KeyPath) -> Formula | None:
        """Return a comparison as a function of the coordinates; None if it cannot be read."""
        if not self.check(text, path, condition=True):
            return None
        found = parse_condition(text, self.symbols, self.values)
        return Formula(found, self.symbols.coordinates)

    def residual(self, texts: Sequence[str]) -> Callable[..., Any]:
        """Return texts that can be read as a residual function, in the order of the unknowns."""
        names = (*self.symbols.unknowns, *self.symbols.coordinates)

        def stated(**symbols: Expression) -> tuple[Expression, ...]:
            return tuple(parse(text, self.symbols, self.values) for text in texts)

        kind = inspect.Parameter.KEYWORD_ONLY
        signature = inspect.Signature([inspect.Parameter(name, kind) for name in names])
        stated.__signature__ = signature  # type: ignore[attr-defined]
        return stated

    def number(self, text: float | str, path: KeyPath) -> float | None:
        """Return a number, or a text of numbers and parameters; None if it cannot be read."""
        expression = replace(self, symbols=_SPACE).expression(text, path)
        if expression is None:
            return None
        if not isinstance(expression, Constant) or not np.isfinite(expression.value):
            self.book.note(path, f"Expected a finite number, got {text!r}.", str(text))
            return None
        return expression.value


def parameters_of(file: File, changed: Mapping[str, float | str], book: Book) -> Names:
    """Return the parameters of a file, with the changed values in place of their own."""
    names = Names(book)
    for name, text in (file.parameters | dict(changed)).items():
        path = ("parameters", name)
        if usable(name, path, book):
            # Mistakes in a value from the command line name the option, not the file.
            aside = Book(book.source, {}) if name in changed else book
            value = replace(names, book=aside).number(text, () if name in changed else path)
            for mistake in aside.mistakes if name in changed else ():
                words = f"--set {name}={text}: {mistake.message}"
                book.mistakes.append(Mistake((), words, str(text)))
            names = _with(names, name, value)
    inside = [m.path for m in book.mistakes if len(m.path) > 1]
    refused = {str(path[1]) for path in inside if path[0] == "parameters"}
    unread = {n for n in refused - set(names.values) if n.isidentifier() and not _taken(n)}
    return replace(names, unread=names.unread | unread)


def with_definitions(names: Names, file: File) -> Names:
    """Return the names with the definitions of a file, each in terms of those before it."""
    for name, text in file.definitions.items():
        path = ("definitions", name)
        if name in names.values or name in names.symbols.unknowns:
            words = f"{name!r} is a parameter or an unknown already; choose another name."
            names.book.note(path, words, name)
        elif usable(name, path, names.book):
            space = names.within((), names.symbols.coordinates)
            names = _with(names, name, space.expression(text, path))
    return names


def functions(
    given: Mapping[str, float | str],
    path: KeyPath,
    known: Sequence[str],
    names: Names,
    *,
    space: bool = False,
) -> dict[str, Formula]:
    """Return functions of the coordinates by name; one without a name is that of the only one."""
    coordinates = tuple(c for c in names.symbols.coordinates if not (space and c == "t"))
    own, found = names.within((), coordinates), {}
    for name, text in given.items():
        if not name and len(known) != 1:
            words = f"Name them: {', '.join(known)} = ... in a table [{path[-1]}]."
            names.book.note(path, f"One expression for {len(known)} quantities. {words}")
            continue
        if name and name not in known:
            words = f"{name!r} is not one of {', '.join(known)}.{did_you_mean(name, known)}"
            names.book.note((*path, name), words, name)
            continue
        formula = own.formula(text, (*path, name) if name else path)
        if formula is not None:
            found[name or known[0]] = formula
    return found


def _with(names: Names, name: str, value: float | Expression | None) -> Names:
    if value is None:
        return replace(names, unread=names.unread | {name})
    return replace(names, values={**names.values, name: value})


def usable(name: str, path: KeyPath, book: Book) -> bool:
    """Tell whether a name can stand in a text, and write into the book why not."""
    if not name.isidentifier() or keyword.iskeyword(name):
        words = "must be a word of letters, digits and underscores, because equations use it"
    elif _taken(name):
        words = "has a meaning of its own, of a coordinate or a function; choose another one"
    else:
        return True
    book.note(path, f"The name {name!r} {words}.", name)
    return False


def _taken(name: str) -> bool:
    try:
        parse("0", _SPACE, {name: 1.0})
    except EquationError:
        return True
    return is_coordinate_name(name)


def _brief(words: str, text: str) -> str:
    """Return a complaint without the text, which is shown beside it."""
    words = words.replace(f" in {text!r}", "")
    if "Did you mean" in words:
        otherwise = " Or give its value in [parameters]." if "is not known." in words else ""
        return words.partition(" Known:")[0] + otherwise
    return words.replace("give their values.", "give their values in [parameters].")
