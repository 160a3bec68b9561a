"""Problems of the catalogue: each is a problem file, with a few facts for those who measure.

A file of `problems` states the problem. Its section ``[catalog]``, at the end, has it in words, the
values of its parameter that are of interest, and where test points must be dense: features ``at`` a
place of the line (which may depend on t), at an ``x`` or ``y`` of a box, or ``along`` a curve of t
from 0 to 1 with its ``normal``; and figures that others have ``published``, each with its method
and its source. What a file cannot say stands in `formulas`.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any, TypeVar

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.catalog import formulas
from sharpfront.checks import did_you_mean, positive
from sharpfront.equation.formula import Formula
from sharpfront.equation.text import parse
from sharpfront.equation.trace import Symbols
from sharpfront.errors import ProblemError, SharpfrontError
from sharpfront.geometry import Domain
from sharpfront.measure import Feature, cloud, graded_points, time_rule
from sharpfront.measure.errors import Field
from sharpfront.measure.points import front_points, graded_axis, tensor_points
from sharpfront.problem import Problem
from sharpfront.problem_file import Statement, read_text

R = TypeVar("R")
Fields = Mapping[str, Field]

_SECTION = "[catalog]\n"
# Points along each axis of a grid in two dimensions, in three, and in more.
_PER_AXIS = {2: 300, 3: 25}


@dataclass(frozen=True)
class Published:
    """A figure from elsewhere; measures of error differ from ours and are named."""

    method: str  # what reached it
    figure: str  # the error, its measure, and the time on another machine where that is known
    source: str  # where it stands


@dataclass(frozen=True, eq=False)
class Entry:
    """A named problem, a function of the parameter that makes it stiff.

    Parameters
    ----------
    name
        That of its file.
    text
        The file, with what the catalogue says of it.
    """

    name: str
    text: str

    @functools.cached_property
    def _said(self) -> Mapping[str, Any]:
        return tomllib.loads(self.text)

    @property
    def _facts(self) -> Mapping[str, Any]:
        return dict(self._said["catalog"])

    @property
    def title(self) -> str:
        """A few words."""
        return str(self._said["title"])

    @property
    def statement(self) -> str:
        """The equation with its conditions, in one line."""
        return str(self._facts["statement"])

    @property
    def file(self) -> str | None:
        """The text of its problem file; None where it cannot be written as one."""
        if self.name in formulas.PROBLEMS:
            return None
        return self.text.partition(_SECTION)[0].rstrip() + "\n"

    @property
    def parameter(self) -> str:
        """What makes it stiff, by the name it has in the file."""
        return next(iter(self._said.get("parameters", {})), str(self._facts.get("parameter")))

    @functools.cached_property
    def value(self) -> float:
        """The parameter's value in the file."""
        own = self._said.get("parameters", {})
        return self._number(own[self.parameter] if own else self._facts["values"][0])

    @functools.cached_property
    def values(self) -> tuple[float, ...]:
        """Values of the parameter that are of interest."""
        return tuple(self._number(v) for v in self._facts.get("values", [self.value]))

    @property
    def panels(self) -> int:
        """Even panels across an interval that rules in time need besides the features."""
        return int(self._facts.get("panels", 20))

    @property
    def published(self) -> tuple[Published, ...]:
        """What others have published for it."""
        return tuple(Published(*words) for words in self._facts.get("published", ()))

    @property
    def dimension(self) -> str:
        """In words: "2", or "1 + t" for a problem in time."""
        domain = self._said.get("domain", {})
        sides = domain.get("box") or domain.get("bounds") or [()]
        in_time = " + t" if self._in_time else ""
        return f"{self._facts.get('dimension', len(sides))}{in_time}"

    @property
    def _in_time(self) -> bool:
        return "time" in self._said or self.name in formulas.FEATURES

    @property
    def has_exact(self) -> bool:
        """Whether an exact solution is known."""
        return "exact" in self._said or self.name in formulas.EXACT

    @property
    def guess(self) -> Any:
        """What to start from, where zero leads to another solution."""
        return None if self.file is None else self._read(self.value).options.get("guess")

    def problem(self, value: float) -> Problem:
        """Return the problem for a value of the parameter."""
        made = formulas.PROBLEMS.get(self.name)
        return self._checked(made or (lambda number: self._read(number).problem), value)

    def exact(self, value: float) -> Any:
        """Return the exact solution as a vectorised function of the coordinates and time.

        For several unknowns it is a mapping from their names to such functions, empty where no
        solution is known.
        """
        found = self.solutions(value)
        return found["u"] if set(found) == {"u"} else found

    def solutions(self, value: float) -> Fields:
        """Return the exact solutions by the unknowns' names; empty where none is known."""
        return self._checked(self._solutions, value)

    def features(self, value: float) -> Any:
        """Return what is sharp, a tuple of `Feature`; in time, a function of the moment.

        Used to measure errors, never to solve. In two dimensions and more it is `points` that
        knows of them.
        """
        if self.name in formulas.FEATURES:
            return self._checked(formulas.FEATURES[self.name], value)
        at = self._checked(self._features, value)
        return at if self._in_time else at(0.0)

    def points(self, value: float, per_axis: int | None = None) -> FloatArray:
        """Return test points of the closed domain, (m, d), dense where it is sharp."""
        problem = self.problem(value)
        if problem.time:
            return time_rule(self, value).points
        if problem.domain.dimension == 1:
            return graded_points(problem.domain, self.features(value))
        return self._in_space(problem.domain, value, per_axis)

    @property
    def has_points(self) -> bool:
        """Whether it is known where to look for errors; else one follows the kernels."""
        return "features" in self._facts or self.name in formulas.FEATURES

    def stated(self, value: float | None = None) -> Statement:
        """Return the problem for a value of its parameter, with what is known of it."""
        chosen = self.value if value is None else value
        text = f"{self.statement}\n{self.parameter} = {chosen:g}"
        if self.file is None:
            stated = Statement(self.name, self.title, text, self.problem(chosen), {}, {})
        else:
            stated = self._checked(self._read, chosen)
        points = functools.partial(self.points, chosen) if self.has_points else None
        parameters = {**stated.parameters, self.parameter: chosen}
        exact = self.solutions(chosen)
        return replace(stated, text=text, parameters=parameters, exact=exact, points=points)

    def _checked(self, call: Callable[[float], R], value: float) -> R:
        """Call with a value of the parameter; refuse one for which there is no such problem."""
        number = positive(value, f"{self.name}: the parameter")
        try:
            return call(number)
        except SharpfrontError:
            raise
        except (ArithmeticError, ValueError) as error:
            raise ProblemError(
                f"{self.name}: there is no such problem for the parameter {number:g} ({error}). "
                "Try a value closer to that of the catalogue."
            ) from error

    def _read(self, value: float) -> Statement:
        """Return what the file states for a value of its parameter."""
        source, name = self.file or "", f"{self.name}.toml"
        if self.name == "hypercube":
            return read_text(formulas.hypercube(source, value), name, None)
        changed = {self.parameter: value}
        if self.name in formulas.SURFACES:
            with formulas.surface(self.name) as folder:
                return read_text(source, name, folder, changed)
        return read_text(source, name, None, changed)

    def _solutions(self, value: float) -> Fields:
        known = formulas.EXACT.get(self.name)
        if known is not None:
            return {"u": known(value)}
        return self._read(value).exact if "exact" in self._said else {}

    def _number(self, text: float | str) -> float:
        return float(_formula(text, {})(0.0))

    def _parameters(self, value: float) -> dict[str, float]:
        """Return the numbers that texts of the catalogue may name."""
        own = {n: self._number(v) for n, v in self._said.get("parameters", {}).items()}
        return own | {self.parameter: value}

    def _features(self, value: float) -> Callable[[float], tuple[Feature, ...]]:
        known = self._parameters(value)
        stated = self._facts.get("features", ())
        made = [[_formula(f[word], known) for word in ("at", "width")] for f in stated]
        # Those that have become one count once.
        return lambda t: tuple(
            dict.fromkeys(Feature(float(place(t)), float(width(t))) for place, width in made)
        )

    def _in_space(self, domain: Domain, value: float, per_axis: int | None) -> FloatArray:
        known, facts = self._parameters(value), self._facts
        curves = [f for f in facts["features"] if "along" in f]
        box = domain.is_box and domain.dimension < 4
        usual = _PER_AXIS.get(domain.dimension, 6)
        count = per_axis or (usual if box else min(usual, 150))
        if curves:
            near = [_beside(domain, f, known, count) for f in curves]
            points = [np.array([p]) for p in facts.get("points", ())]
            return np.concatenate([cloud(domain, 40 * count), *near, *points])
        if not box:
            return cloud(domain, count**domain.dimension)
        axes = [
            graded_axis(float(low), float(high), _along(facts["features"], known, c), count)
            for c, low, high in zip(domain.coordinates, *domain.bounds, strict=True)
        ]
        return tensor_points(*axes)


def _formula(text: float | str, known: Mapping[str, float]) -> Formula:
    """Return a text of the catalogue as a function of t."""
    return Formula(parse(str(text), Symbols((), ("t",)), known), ("t",))


def _along(features: Sequence[Mapping[str, Any]], known: Mapping[str, float], axis: str) -> Any:
    """Return the features along one axis of a box."""
    mine = [(f[axis], f["width"]) for f in features if axis in f]
    return [Feature(*(float(_formula(text, known)(0.0)) for text in pair)) for pair in mine]


def _beside(
    domain: Domain, feature: Mapping[str, Any], known: Mapping[str, float], count: int
) -> FloatArray:
    """Return points on and beside a curve."""
    t = (np.arange(count) + 0.5) / count
    both = ([_formula(text, known)(t) for text in feature[word]] for word in ("along", "normal"))
    feet, normals = (np.stack(columns, axis=1) for columns in both)
    normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    width = float(_formula(feature["width"], known)(0.0))
    return front_points(domain, feet, normals, width, count // 4)


@functools.cache
def listing() -> Mapping[str, Entry]:
    """Return all problems of the catalogue by name."""
    folder = resources.files("sharpfront.catalog") / "problems"
    texts = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()}
    found = [Entry(name.removesuffix(".toml"), text) for name, text in texts.items()]
    return {entry.name: entry for entry in sorted(found, key=lambda e: (e.dimension, e.name))}


def named(name: str) -> Entry:
    """Return one problem of the catalogue."""
    found = listing().get(name)
    if found is None:
        raise ProblemError(
            f"The catalogue has no {name!r}.{did_you_mean(name, listing())} "
            "`sharpfront catalog` lists all names."
        )
    return found
