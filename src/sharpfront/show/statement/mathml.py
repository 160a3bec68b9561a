"""Expressions as MathML, which browsers typeset by themselves.

A residual is shown as an equation: its terms in the unknowns on the left, all others on the right.
Derivatives are subscripts, the normal derivative is a fraction, numbers such as 1e-4 are powers of
ten, and names of Greek letters become these letters.
"""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections.abc import Mapping
from functools import partial

from sharpfront.equation.expression import (
    Apply,
    Constant,
    Coordinate,
    Derivative,
    Expression,
    Normal,
)
from sharpfront.equation.graph import derivatives_in, folded
from sharpfront.equation.weak import WeakDerivative, is_delta
from sharpfront.show.statement.terms import NormalDerivative, factors_of, terms_of

# Parts that are used twice are written twice; beyond so many signs nobody reads on.
LONGEST = 400
_LETTERS = {unicodedata.name(c).split()[-1].lower(): c for c in "αβγδεζηθικλμνξοπρστυφχψω"}
# Unicode spells it differently.
_LETTERS["lambda"] = _LETTERS.pop("lamda")
_LETTERS |= {name.title(): letter.upper() for name, letter in _LETTERS.items()}
_LETTERS |= {"eps": "ε", "lam": "λ"}
_RELATIONS = {
    "less": "&lt;",
    "less_equal": "≤",
    "greater": "&gt;",
    "greater_equal": "≥",
    "equal": "=",
    "not_equal": "≠",
    "logical_and": "∧",
    "logical_or": "∨",
    "logical_xor": "⊕",
}
_WORDS = {"arcsin": "arcsin", "arctan2": "atan2", "maximum": "max", "minimum": "min", "log": "ln"}
_AS_SUM, _AS_PRODUCT, _AS_POWER, _AS_ATOM = range(4)
Names = Mapping[float, str]
Piece = tuple[str, int]


def name_to_mathml(name: str) -> str:
    """Return a name with its Greek letters and indices: ``nu_1`` is ν with the subscript 1."""
    head, _, tail = name.partition("_")
    indexed = re.fullmatch(r"([A-Za-z]+)(\d+)", head)
    if indexed and not tail:
        head, tail = indexed.groups()
    letter = html.escape(_LETTERS.get(head, head))
    # Words stand upright, single letters slant; <mi> does both by itself.
    word = f"<mi>{letter}</mi>"
    return f"<msub>{word}<mi>{html.escape(_LETTERS.get(tail, tail))}</mi></msub>" if tail else word


def number_to_mathml(value: float) -> str:
    """Return a number without its sign, with a power of ten where the number is long."""
    size = abs(value)
    if not math.isfinite(size):
        return "<mi>∞</mi>" if math.isinf(size) else "<mtext>NaN</mtext>"
    square = "<msup><mi>π</mi><mn>2</mn></msup>"
    for unit, letter in ((math.pi, "<mi>π</mi>"), (math.pi**2, square)):
        times = round(size / unit)
        if 1 <= times <= 64 and abs(size - times * unit) <= 4e-16 * size:
            return letter if times == 1 else f"<mrow><mn>{times}</mn>{letter}</mrow>"
    if size == 0 or 1e-2 <= size < 1e5:
        return f"<mn>{size:.6g}</mn>"
    digits, power = f"{size:.5e}".split("e")
    digits = digits.rstrip("0").rstrip(".")
    minus = "<mo>−</mo>" if int(power) < 0 else ""
    ten = f"<msup><mn>10</mn><mrow>{minus}<mn>{abs(int(power))}</mn></mrow></msup>"
    return ten if digits == "1" else f"<mrow><mn>{digits}</mn><mo>×</mo>{ten}</mrow>"


def to_mathml(expression: Expression, names: Names | None = None) -> str:
    """Return the MathML of an expression, without the ``<math>`` around it.

    `names` are words for constants, {1e-4: "nu"}: a constant of that size is shown by its name.
    """
    if _signs(expression) > LONGEST:
        return "<mtext>(a long expression)</mtext>"
    return _row(_writer(names)(expression)[0])


def equation_terms(residual: Expression, names: Names | None = None) -> list[str]:
    """Return "residual = 0" as terms with their signs, which may go on separate lines.

    Terms without an unknown are on the right.
    """
    if _signs(residual) > LONGEST:
        return ["<mtext>(a long expression)</mtext>", "<mo form='infix'>=</mo><mn>0</mn>"]
    terms = terms_of(residual)
    left = [(s, t) for s, t in terms if _has_unknown(t)]
    right = [(-s, t) for s, t in terms if not _has_unknown(t)]
    if left and all(sign < 0 for sign, _ in left) and right:
        left, right = [(-s, t) for s, t in left], [(-s, t) for s, t in right]
    write = _writer(names)
    shown = [_signed(i, s, write(t)) for i, (s, t) in enumerate(left)]
    others = [_signed(i, s, write(t)) for i, (s, t) in enumerate(right)] or ["<mn>0</mn>"]
    return [*shown, f"<mo form='infix'>=</mo>{others[0]}", *others[1:]]


def _has_unknown(node: Expression) -> bool:
    return isinstance(node, NormalDerivative) or bool(derivatives_in(node))


def _signs(expression: Expression) -> int:
    """Return how many signs the expression has when everything is written out."""
    return folded(expression, lambda node: 1, lambda node, own: min(1 + sum(own), LONGEST + 1))


def _writer(names: Names | None) -> partial[Piece]:
    return partial(_piece, names=names or {})


def _row(inner: str) -> str:
    return f"<mrow>{inner}</mrow>"


def _signed(place: int, sign: int, piece: Piece) -> str:
    text = _fenced(piece, _AS_PRODUCT)
    if place == 0:
        return f"<mo form='prefix'>−</mo>{text}" if sign < 0 else text
    return f"<mo form='infix'>{'−' if sign < 0 else '+'}</mo>{text}"


def _fenced(piece: Piece, least: int) -> str:
    text, rank = piece
    return text if rank >= least else f"<mrow><mo>(</mo>{text}<mo>)</mo></mrow>"


def _piece(node: Expression, names: Names) -> Piece:
    """Return the text of a node, and how strongly its outermost operation binds."""
    if isinstance(node, Apply):
        return _apply(node, names)
    if isinstance(node, Constant):
        word = names.get(abs(node.value))
        text = name_to_mathml(word) if word else number_to_mathml(node.value)
        return (f"<mo form='prefix'>−</mo>{text}", _AS_SUM) if node.value < 0 else (text, _AS_ATOM)
    return _sign(node), _AS_ATOM


def _sign(node: Expression) -> str:
    if isinstance(node, Coordinate):
        return name_to_mathml(node.name)
    if isinstance(node, Normal):
        return f"<msub><mi>n</mi>{name_to_mathml(node.name)}</msub>"
    if isinstance(node, NormalDerivative):
        above, below = (f"<mrow><mo>∂</mo>{part}</mrow>" for part in (_sign(node.of), "<mi>n</mi>"))
        return f"<mfrac>{above}{below}</mfrac>"
    assert isinstance(node, Derivative)
    along = [c for c, n in zip(node.coordinates, node.orders, strict=True) for _ in range(n)]
    if not along:
        return name_to_mathml(node.unknown)
    letters = "".join(map(name_to_mathml, along))
    return f"<msub>{name_to_mathml(node.unknown)}<mrow>{letters}</mrow></msub>"


def _apply(node: Apply, names: Names) -> Piece:
    name, arguments = node.function.name, node.arguments
    write = _writer(names)
    if name in ("add", "subtract", "negative"):
        terms = terms_of(node)
        rank = _AS_SUM if len(terms) > 1 or terms[0][0] < 0 else _AS_PRODUCT
        return "".join(_signed(i, s, write(t)) for i, (s, t) in enumerate(terms)), rank
    if name == "multiply":
        return _product(node, names)
    if name in ("divide", "reciprocal"):
        above, below = (_row(write(a)[0]) for a in (Constant(1.0), *arguments)[-2:])
        return f"<mfrac>{above}{below}</mfrac>", _AS_PRODUCT
    if name in ("power", "square"):
        base, exponent = (*arguments, Constant(2.0))[:2]
        inner = _row(write(exponent)[0])
        return f"<msup>{_row(_fenced(write(base), _AS_ATOM))}{inner}</msup>", _AS_POWER
    if name in _RELATIONS:
        a, b = (_fenced(write(argument), _AS_SUM) for argument in arguments)
        return f"{a}<mo form='infix'>{_RELATIONS[name]}</mo>{b}", _AS_SUM
    if isinstance(node.function, WeakDerivative):
        above = f"<mo>∂</mo>{_fenced(write(arguments[1]), _AS_ATOM)}"
        below = f"<mo>∂</mo>{name_to_mathml(node.function.coordinate)}"
        return f"<mfrac>{_row(above)}{_row(below)}</mfrac>", _AS_PRODUCT
    return _function("δ" if is_delta(node) else name, [write(a)[0] for a in arguments]), _AS_ATOM


def _function(name: str, arguments: list[str]) -> str:
    if name == "exp":
        return f"<msup><mi>e</mi><mrow>{arguments[0]}</mrow></msup>"
    if name == "sqrt":
        return f"<msqrt>{arguments[0]}</msqrt>"
    if name in ("absolute", "fabs"):
        return f"<mrow><mo>|</mo>{arguments[0]}<mo>|</mo></mrow>"
    if name == "where":
        rows = (
            (arguments[1], f"<mtext>if\u00a0</mtext>{arguments[0]}"),
            (arguments[2], "<mtext>otherwise</mtext>"),
        )
        cells = "".join(f"<mtr><mtd>{a}</mtd><mtd>{b}</mtd></mtr>" for a, b in rows)
        table = f"<mtable columnalign='left'>{cells}</mtable>"
        return f"<mrow><mo stretchy='true'>{{</mo>{table}</mrow>"
    # Names such as <lambda> have no meaning for a reader.
    word = _WORDS.get(name, name) if re.fullmatch(r"\w+'*", name) else "f"
    inner = "<mo>,</mo>".join(arguments)
    return f"<mrow><mi>{html.escape(word)}</mi><mo>&#x2061;</mo><mo>(</mo>{inner}<mo>)</mo></mrow>"


def _product(node: Apply, names: Names) -> Piece:
    """Return factors side by side, numbers first; between two numbers there is a cross."""
    sign, factors = factors_of(node)
    factors.sort(key=lambda f: not isinstance(f, Constant))
    write = _writer(names)
    text = ""
    for i, factor in enumerate(factors):
        shown = _fenced(write(factor), _AS_PRODUCT)
        plain = isinstance(factor, Constant) and abs(factor.value) not in names
        # A thin space is how a product of symbols is told from a long name.
        between = "<mo>×</mo>" if plain else "<mspace width='0.17em'/>"
        text += (between if i else "") + shown
    return (f"<mo form='prefix'>−</mo>{text}", _AS_SUM) if sign < 0 else (text, _AS_PRODUCT)
