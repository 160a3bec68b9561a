"""The shape of a problem file: which words may stand where, and of which kind their values are.

Whether the words fit together (equations, parts of the boundary, names) is looked at afterwards.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError

from sharpfront.geometry.registry import SHAPES


def _wrong(expected: str, got: object) -> PydanticCustomError:
    # As context: braces in a template would be read as places to fill in.
    words = f"Expected {expected}, got {got!r}."
    return PydanticCustomError("kind", "{words}", {"words": words})


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _wrong("a text in quotes", value)
    return value


def _equation(value: object) -> str:
    if isinstance(value, list | dict):
        raise _wrong("a text in quotes; several equations stand under `equations`", value)
    return _text(value)


def _number(value: object) -> float | str:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _wrong('a number such as 1e-4, or a text such as "pi/2"', value)
    return value if isinstance(value, str) else float(value)


def _pair(value: object) -> tuple[float | str, float | str]:
    if not isinstance(value, list) or len(value) != 2:
        raise _wrong("two numbers such as [0, 1]", value)
    first, second = (_number(v) for v in value)
    return first, second


def _point(value: object) -> tuple[float | str, ...]:
    numbers = value if isinstance(value, list) else [value]
    return tuple(_number(v) for v in numbers)


def _flag_or_names(value: object) -> bool | tuple[str, ...]:
    if isinstance(value, bool):
        return value
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise _wrong('true, or the names of coordinates such as ["x"]', value)
    return tuple(value)


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _wrong("a whole number", value)
    return value


def _by_place(value: object) -> object:
    """Return a list as a mapping from places, so that both can be read alike."""
    if isinstance(value, str):
        raise _wrong('a list of texts, ["...", "..."]', value)
    return dict(enumerate(value)) if isinstance(value, list) else value


def _by_name(value: object) -> object:
    """Return a single value under an empty name: it belongs to the only unknown."""
    return value if isinstance(value, dict) else {"": value}


def _listed(value: object) -> object:
    return value if isinstance(value, list) else [value]


Text = Annotated[str, PlainValidator(_text)]
Number = Annotated[float | str, PlainValidator(_number)]
Pair = Annotated[tuple[float | str, float | str], PlainValidator(_pair)]
Point = Annotated[tuple[float | str, ...], PlainValidator(_point)]
Count = Annotated[int, PlainValidator(_count)]
Flag = Annotated[bool | tuple[str, ...], PlainValidator(_flag_or_names)]
Texts = Annotated[list[Text], BeforeValidator(_listed)]
Named = Annotated[dict[str, Number], BeforeValidator(_by_name)]


class Section(BaseModel):
    """A table of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _stated(kind: str) -> type[Section]:
    """Return the table of a shape that a few numbers state."""
    shape = SHAPES[kind]
    fields: dict[str, Any] = {}
    for name, value in shape.example.items():
        default = 0.0 if name in shape.optional else ...
        fields[name] = (Point if isinstance(value, tuple) else Number, default)
    return create_model(shape.__name__, __base__=Section, **fields)


STATED: dict[str, type[Section]] = {kind: _stated(kind) for kind in SHAPES}


class RegionWords(Section):
    """A domain: one kind, with its options."""

    KINDS: ClassVar[dict[str, tuple[str, ...]]] = {
        "interval": ("periodic", "coordinates"),
        "box": ("periodic", "coordinates"),
        **dict.fromkeys(SHAPES, ()),
        "polygon": ("holes",),
        "solid": (),
        "implicit": ("bounds",),
        **dict.fromkeys(("union", "difference", "intersection"), ()),
    }

    interval: Pair | None = None
    box: list[Pair] | None = None
    polygon: list[Pair] | None = None
    solid: Text | None = None
    implicit: Text | None = None
    union: list[Region] | None = None
    difference: list[Region] | None = None
    intersection: list[Region] | None = None
    periodic: Flag | None = None
    coordinates: list[Text] | None = None
    holes: list[list[Pair]] | None = None
    bounds: list[Pair] | None = None
    name: Text | None = None
    parts: dict[str, Text] = {}

    @property
    def kind(self) -> str:
        """The one kind of region that is given."""
        return self.kinds[0]

    @property
    def kinds(self) -> list[str]:
        """The kinds that are given."""
        return [k for k in self.KINDS if getattr(self, k.replace("-", "_")) is not None]

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = self.kinds
        if len(kinds) != 1:
            got = " and ".join(kinds) or "none"
            raise PydanticCustomError(
                "kinds",
                "A domain is one of {known}; got {got}. Several are joined by union, difference "
                "or intersection.",
                {"known": ", ".join(self.KINDS), "got": got},
            )
        for option in ("periodic", "coordinates", "holes", "bounds"):
            if getattr(self, option) is not None and option not in self.KINDS[kinds[0]]:
                raise PydanticCustomError(
                    "option",
                    "'{option}' does not go with {kind}.",
                    {"option": option, "kind": kinds[0]},
                )
        if self.implicit and self.bounds is None:
            raise PydanticCustomError(
                "bounds", "implicit needs bounds, a box around the region: [[0, 1], [0, 1]]."
            )
        return self


if TYPE_CHECKING:
    Region = RegionWords
else:
    _SHAPES = {
        kind.replace("-", "_"): (table | None, Field(None, alias=kind))
        for kind, table in STATED.items()
    }
    Region = create_model("Region", __base__=RegionWords, **_SHAPES)


class AtPoint(Section):
    """A condition at a point inside the domain."""

    point: Point
    condition: Texts


class Integral(Section):
    """A condition on an integral over the domain."""

    of: Text
    equals: Number = 0.0


class Conditions(Section):
    """Conditions: on parts of the boundary, at points, on integrals."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, Texts]

    boundary: Texts | None = None
    at: Annotated[list[AtPoint], BeforeValidator(_listed)] = []
    integral: Annotated[list[Integral], BeforeValidator(_listed)] = []

    @property
    def parts(self) -> dict[str, list[str]]:
        """The conditions on named parts."""
        return dict(self.__pydantic_extra__)


class Continuation(Section):
    """A parameter that is led from easy values to its own."""

    parameter: Text
    values: list[Number]


class Settings(Section):
    """How to solve."""

    tol: Number | None = None
    max_kernels: Count | None = None
    seed: Count | None = None
    guess: Named | None = None
    continuation: Continuation | None = None


def _start(value: object) -> object:
    """Return a single number as the start of a free parameter."""
    return value if isinstance(value, dict) else {"start": value}


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise _wrong("true or false", value)
    return value


class FreeParameter(Section):
    """A parameter that a fit may change."""

    start: Number
    low: Number | None = None
    high: Number | None = None
    positive: Annotated[bool, PlainValidator(_truth)] = False
    prior: Pair | None = None


class DataFile(Section):
    """Measurements, a table with a line of names."""

    file: Text | None = None
    sigma: Number | None = None


class File(Section):
    """A whole problem file; what must be there is checked where it is used."""

    title: Text | None = None
    equation: Annotated[str, PlainValidator(_equation)] | None = None
    equations: Annotated[dict[str | int, Text] | None, BeforeValidator(_by_place)] = None
    unknowns: list[Text] | None = None
    time: Pair | None = None
    domain: Region | None = None
    parameters: dict[str, Number] = {}
    definitions: dict[str, Text] = {}
    conditions: Conditions = Field(default_factory=lambda: Conditions.model_validate({}))
    initial: Named | None = None
    exact: Named | None = None
    solve: Settings = Settings()
    free: dict[str, Annotated[FreeParameter, BeforeValidator(_start)]] = {}
    data: DataFile = DataFile()


# The words of each table, by the name of the table; "" is the file itself.
SECTIONS: dict[str, type[Section]] = {
    "": File,
    **dict.fromkeys(("domain", "union", "difference", "intersection"), Region),
    **STATED,
    "at": AtPoint,
    "integral": Integral,
    "solve": Settings,
    "continuation": Continuation,
    "free": FreeParameter,
    "data": DataFile,
}


# What people write for the words of a file, whichever table they stand in.
_SYNONYMS = files("sharpfront.problem_file") / "synonyms.toml"
SYNONYMS: dict[str, str] = {
    word: meant
    for meant, words in tomllib.loads(_SYNONYMS.read_text(encoding="utf-8")).items()
    for word in words
}


def words_of(section: type[Section]) -> list[str]:
    """Return the words that may stand in a table."""
    return [field.alias or name for name, field in section.model_fields.items()]


def section_of(path: tuple[Any, ...]) -> str:
    """Return the name of the table that a path leads into."""
    return next((str(p) for p in reversed(path) if str(p) in SECTIONS), "")
