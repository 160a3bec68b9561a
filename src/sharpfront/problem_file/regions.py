"""From the words of a file to a region."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sharpfront.errors import DomainError, MissingExtraError
from sharpfront.geometry import Box, Implicit, Interval, Polygon, Solid
from sharpfront.geometry.registry import SHAPES
from sharpfront.geometry.shape import Shape
from sharpfront.problem_file.mistakes import KeyPath
from sharpfront.problem_file.names import Names
from sharpfront.problem_file.schema import Region

_JOINED: dict[str, Callable[[Any, Any], Any]] = {
    "union": operator.or_,
    "difference": operator.sub,
    "intersection": operator.and_,
}


class _UnreadError(Exception):
    """Something in a region could not be read; the book says what."""


def region(words: Region, names: Names, path: KeyPath, folder: Path | None) -> Shape | None:
    """Return the region that the words at a path describe; None if that cannot be made.

    Numbers may use names, and files are looked for in the folder.
    """
    try:
        return _Maker(names, folder).made(words, path)
    except _UnreadError:
        return None


class _Maker:
    """Makes regions and writes what fails into the book, at its place."""

    def __init__(self, names: Names, folder: Path | None) -> None:
        self.names = names
        self.folder = folder

    def made(self, words: Region, path: KeyPath) -> Shape:
        place = (*path, words.kind)
        make = self.stated if words.kind in SHAPES else getattr(self, words.kind, None)
        try:
            shape = self.joined(words, place) if make is None else make(words, place)
            shape = shape.named(words.name) if words.name else shape
            return self.marked(shape, words, path)
        except (DomainError, MissingExtraError, OSError) as error:
            self.names.book.note(place, str(error))
            raise _UnreadError from None

    def joined(self, words: Region, place: KeyPath) -> Shape:
        several: list[Region] = getattr(words, words.kind)
        if len(several) < 2:
            raise DomainError(f"{words.kind} joins two regions or more, got {len(several)}.")
        made, failed = [], False
        for i, inner in enumerate(several):
            try:
                made.append(self.made(inner, (*place, i)))
            except _UnreadError:
                # Go on: the others may have mistakes of their own.
                failed = True
        if failed:
            raise _UnreadError
        shape: Shape = functools.reduce(_JOINED[words.kind], made)
        return shape

    def marked(self, shape: Shape, words: Region, path: KeyPath) -> Shape:
        coordinates = self.names.within((), shape.coordinates)
        for name, text in words.parts.items():
            place = (*path, "parts", name)
            where = coordinates.predicate(text, place)
            if where is None:
                raise _UnreadError
            try:
                shape = shape.part(name, where.holds)
            except DomainError as error:
                self.names.book.note(place, str(error), name)
                raise _UnreadError from None
        return shape

    def interval(self, words: Region, place: KeyPath) -> Shape:
        left, right = self.numbers(words.interval or (), place)
        (name,) = self.called(words, 1) or ("x",)
        return Interval(left, right, periodic=bool(words.periodic), coordinate=name)

    def box(self, words: Region, place: KeyPath) -> Shape:
        sides = self.pairs(words.box or (), place)
        names: Sequence[str] = words.periodic if isinstance(words.periodic, tuple) else ()
        called = self.called(words, len(sides))
        if words.periodic is True:
            names = called or Box(*sides).coordinates
        if called:
            return Box(periodic=names, **dict(zip(called, sides, strict=True)))
        return Box(*sides, periodic=names)

    def called(self, words: Region, count: int) -> tuple[str, ...]:
        """Return the names of coordinates that the file gives."""
        names = tuple(words.coordinates or ())
        if names and len(names) != count:
            raise DomainError(f"There are {count} sides and {len(names)} names of coordinates.")
        return names

    def stated(self, words: Region, place: KeyPath) -> Shape:
        """Return a shape that a few numbers state."""
        table, shape = getattr(words, words.kind.replace("-", "_")), SHAPES[words.kind]
        read = {
            name: self.numbers if isinstance(value, tuple) else self.number
            for name, value in shape.example.items()
        }
        return shape(**{k: take(getattr(table, k), (*place, k)) for k, take in read.items()})

    def polygon(self, words: Region, place: KeyPath) -> Shape:
        corners = self.pairs(words.polygon or (), place)
        holes = [
            self.pairs(hole, (*place[:-1], "holes", i)) for i, hole in enumerate(words.holes or ())
        ]
        return Polygon(corners, holes)

    def solid(self, words: Region, place: KeyPath) -> Shape:
        if self.folder is None:
            raise DomainError(
                "No files are read here. Save the problem, and solve it with sharpfront solve."
            )
        file = self.folder / str(words.solid)
        if not file.exists():
            raise DomainError(f"There is no file {file}. It is looked for beside the problem file.")
        return Solid(file)

    def implicit(self, words: Region, place: KeyPath) -> Shape:
        bounds = self.pairs(words.bounds or (), (*place[:-1], "bounds"))
        names = self.names.within((), Box(*bounds).coordinates)
        level = names.formula(str(words.implicit), place)
        if level is None:
            raise _UnreadError
        return Implicit(level, tuple(bounds))

    def number(self, text: float | str, place: KeyPath) -> float:
        value = self.names.number(text, place)
        if value is None:
            raise _UnreadError
        return value

    def numbers(self, texts: Sequence[float | str], place: KeyPath) -> tuple[float, ...]:
        return tuple(self.number(text, place) for text in texts)

    def pairs(
        self, pairs: Sequence[tuple[float | str, float | str]], place: KeyPath
    ) -> list[tuple[float, float]]:
        found = [self.numbers(pair, (*place, i)) for i, pair in enumerate(pairs)]
        return [(first, second) for first, second in found]
