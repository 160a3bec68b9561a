"""Python code under way: what has to stand before a problem, and what a page cannot hold."""

from __future__ import annotations

import base64
import contextlib
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation import to_text
from sharpfront.equation.expression import (
    Apply,
    Constant,
    Coordinate,
    Derivative,
    Expression,
    Normal,
)
from sharpfront.equation.graph import ordered
from sharpfront.equation.opaque import OpaqueFunction
from sharpfront.equation.weak import WeakDerivative, is_delta
from sharpfront.show.statement.recorded import (
    NotRecordedError,
    Recorded,
    agrees,
    free_name,
    number,
    recorded,
    source_of,
)
from sharpfront.show.statement.terms import NormalDerivative, terms_of, traced

# Arrays of more numbers are packed, and those of more bytes, packed, left out.
_WRITTEN, _MOST_BYTES = 60, 400_000
# What is used twice and longer than this gets a name.
_NAMED_FROM = 40
# Beyond so many characters nobody reads or runs an equation.
_LONGEST = 100_000


@dataclass(eq=False)
class Code:
    """Statements before a problem."""

    taken: list[str]  # names that mean something else
    setup: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    _named: dict[int, str] = field(default_factory=dict)
    _kept: list[Any] = field(default_factory=list)

    def name(self, wanted: str) -> str:
        """Return a free name, which is then taken."""
        found = free_name(wanted, self.taken)
        self.taken.append(found)
        return found

    def function(
        self, f: Callable[..., Any], names: Sequence[str], points: FloatArray, what: str
    ) -> str:
        """Return a function of the coordinates as code: a lambda, or the name of one to supply."""
        code = source_of(f, names, points)
        expression = None if code else traced(f, tuple(names))
        if expression is not None:
            with contextlib.suppress(NotRecordedError):
                found = _Writer(Code([]), list(names)).written(expression)
                written = f"lambda {', '.join(names)}: {found.code}"
                code = written if agrees(written, f, names, points) else None
        return code or self.supplied(getattr(f, "__name__", "<lambda>"), names, what)

    def supplied(self, wanted: str, names: Sequence[str], what: str) -> str:
        """Return the name of a function that has to be supplied."""
        name = self.name(what if wanted == "<lambda>" else wanted)
        call = f"{name}({', '.join(names)})"
        self.missing.append(f"{call}, {what}")
        self.setup.append(
            f"def {call}:\n"
            f'    """Return {what}: supply it, for this page cannot hold it."""\n'
            f'    raise NotImplementedError("{call} has to be supplied")\n'
        )
        return name

    def array(self, values: Any, wanted: str) -> str:
        """Return an array as code; a large one gets a name, and a very large one is missing."""
        values = np.asarray(values)
        if values.size <= _WRITTEN:
            if values.dtype.kind == "f":
                rows = [tuple(number(v) for v in row) for row in values.tolist()]
                return f"[{', '.join('(' + ', '.join(row) + ')' for row in rows)}]"
            return repr(values.tolist())
        kind = values.dtype.newbyteorder("<").str
        packed = base64.b64encode(zlib.compress(values.astype(kind).tobytes(), 9)).decode("ascii")
        name = self.name(wanted)
        if len(packed) > _MOST_BYTES:
            self.missing.append(f"{name}, an array of shape {values.shape}")
            self.setup.append(
                f"{name} = None  # too large for this page: supply the array {values.shape}\n"
            )
            return name
        if "unpacked" not in self.taken:
            self.taken.append("unpacked")
            self.setup.append(_UNPACKED)
        self.setup.append(f'{name} = unpacked("{packed}", "{kind}", {values.shape})\n')
        return name

    def residuals(self, expressions: Sequence[Expression], unknowns: Sequence[str]) -> str:
        """Return residuals as a function of unknowns and coordinates, or as texts."""
        nodes = (node for e in expressions for node in ordered(e))
        placed = (n.coordinates for n in nodes if isinstance(n, Coordinate | Derivative))
        names = (*unknowns, *next(placed, ()))
        try:
            return self._lambda(expressions, names)
        except NotRecordedError:
            # Components of the normal have names in texts only.
            texts = [repr(f"{to_text(e)} = 0") for e in expressions]
            return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"

    def _lambda(self, expressions: Sequence[Expression], names: Sequence[str]) -> str:
        writer = _Writer(self, list(names))
        codes = [writer.written(e).code for e in expressions]
        value = codes[0] if len(codes) == 1 else f"({', '.join(codes)})"
        if sum(map(len, (value, *writer.lines))) > _LONGEST:
            raise NotRecordedError
        if not writer.lines:
            return f"lambda {', '.join(names)}: {value}"
        name = self.name("residual")
        body = "".join(f"    {line}\n" for line in writer.lines)
        self.setup.append(f"def {name}({', '.join(names)}):\n{body}    return {value}\n")
        return name

    def opaque(self, function: OpaqueFunction, arguments: int) -> str:
        """Return the name of a function that the equation does not look into."""
        if id(function) not in self._named:
            inner = [self.opaque(d, arguments) for d in function.derivatives]
            names = ("x", "y", "z", "t")[:arguments] if arguments <= 4 else ("*arguments",)
            # A nameless one is called f, as in the formulas.
            wanted = function.name.replace("<lambda>", "f")
            name = self.supplied(wanted, names, "a function in the equation")
            given = f", ({', '.join(inner)},)" if inner else ""
            given += f", breaks={function.breaks!r}" if any(function.breaks) else ""
            self.setup.append(f"{name} = sf.function({name}{given})\n")
            self._named[id(function)] = name
            self._kept.append(function)
        return self._named[id(function)]


_UNPACKED = '''def unpacked(text, kind, shape):
    """Return an array that was packed into a text."""
    data = zlib.decompress(base64.b64decode(text))
    return np.frombuffer(data, kind).reshape(shape)
'''


@dataclass(eq=False)
class _Writer:
    """Writes expressions; parts that are used twice get names, or texts would grow without end."""

    code: Code
    taken: list[str]
    lines: list[str] = field(default_factory=list)
    done: dict[int, Recorded] = field(default_factory=dict)

    def written(self, expression: Expression) -> Recorded:
        uses: dict[int, int] = {}
        for node in ordered(expression):
            for part in node.arguments if isinstance(node, Apply) else ():
                uses[id(part)] = uses.get(id(part), 0) + 1
        for node in ordered(expression):
            if id(node) in self.done:
                continue
            found = self._node(node)
            if found is not None and uses.get(id(node), 0) > 1 and len(found.code) > _NAMED_FROM:
                name = free_name("part", (*self.taken, *self.code.taken))
                self.taken.append(name)
                self.lines.append(f"{name} = {found.code}")
                found = Recorded(name)
            if found is not None:
                self.done[id(node)] = found
        if id(expression) not in self.done:
            raise NotRecordedError
        return self.done[id(expression)]

    def _node(self, node: Expression) -> Recorded | None:
        """Return a node as code; None for one that makes sense in a larger one only."""
        slope = normal_derivative(node)
        if slope is not None:
            return Recorded(f"{_derivative(slope)}.dn")
        if isinstance(node, Constant):
            return recorded(node.value)
        if isinstance(node, Coordinate):
            return Recorded(node.name)
        if isinstance(node, Derivative):
            return Recorded(_derivative(node))
        if not isinstance(node, Apply) or isinstance(node, Normal):
            return None
        arguments = [self.done.get(id(a)) for a in node.arguments]
        if any(a is None for a in arguments):
            return None
        if isinstance(node.function, WeakDerivative) and arguments[1] is not None:
            return Recorded(f"({arguments[1].code}).d{node.function.coordinate}")
        if is_delta(node) and arguments[0] is not None:
            return Recorded(f"sf.delta({arguments[0].code})")
        if isinstance(node.function, OpaqueFunction):
            name = self.code.opaque(node.function, len(arguments))
            return Recorded(f"{name}({', '.join(a.code for a in arguments if a is not None)})")
        found: Recorded = node.function.evaluate(*arguments)
        return found


def normal_derivative(node: Expression) -> Derivative | None:
    """Return u for a node that ``u.dn`` made: normal_x u_x + normal_y u_y."""
    if not isinstance(node, Apply) or node.function.name not in ("add", "multiply"):
        return None
    (sign, first), *others = terms_of(node)
    return first.of if isinstance(first, NormalDerivative) and sign > 0 and not others else None


def _derivative(node: Derivative) -> str:
    letters = "".join(c * n for c, n in zip(node.coordinates, node.orders, strict=True))
    return f"{node.unknown}.d{letters}" if letters else node.unknown
