"""What a person meant who wrote an equation as on paper: 2u, u'', sin x, u², 3·x, u^2."""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Collection, Iterator

# Signs of a typeset formula, and what stands for them in a text.
_PLAIN_SIGNS = {
    **dict.fromkeys("−–—﹣-", "-"),
    **dict.fromkeys("·⋅∙×∗•", "*"),
    **{"÷": "/", "∕": "/", "⁄": "/", "≤": "<=", "≥": ">=", "≠": "!=", "^": "**", "π": "pi"},
    **{"＝": "=", "＋": "+", "（": "(", "）": ")", "∞": "inf"},
}
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+")
_PRIMES = {"'": 1, "’": 1, "′": 1, '"': 2, "″": 2, "”": 2, "‴": 3}
_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    rf"|(?P<name>[^\W\d]\w*)(?P<primes>[{''.join(_PRIMES)}]*)"
    r"|(?P<other>\*\*|<=|>=|!=|==|\S)"
)
_WORDS = ("and", "or", "not")
_BRACES = re.compile(r"_\{(\w+)\}")


def repaired(text: str, coordinates: Collection[str], functions: Collection[str]) -> str | None:
    """Return the text as it would have to be written; None if that is not known.

    A prime is a derivative along the first coordinate.
    """
    raised = _RAISED.sub(lambda m: f"**{_exponent(m.group())}", text)
    plain = _BRACES.sub(r"_\1", "".join(_PLAIN_SIGNS.get(c, c) for c in raised)).replace("==", "=")
    tokens = list(_tokens(plain, next(iter(coordinates), "x")))
    found = _spaced("".join(_joined(tokens, frozenset(functions))))
    if not found or "".join(found.split()) == "".join(text.split()) or not _reads(found):
        return None
    return found


def _exponent(raised: str) -> str:
    digits = raised.translate(_SUPERSCRIPTS)
    return digits if digits.isdigit() else f"({digits})"


def _tokens(text: str, along: str) -> Iterator[tuple[str, str]]:
    for found in _TOKEN.finditer(text):
        if found["number"]:
            yield "number", found["number"]
        elif found["name"] in _WORDS:
            yield "other", f" {found['name']} "
        elif found["name"]:
            order = sum(_PRIMES[p] for p in found["primes"])
            name = unicodedata.normalize("NFKC", found["name"])
            yield "name", f"{name}_{along * order}" if order else name
        else:
            yield "other", found["other"]


def _joined(tokens: list[tuple[str, str]], functions: frozenset[str]) -> Iterator[str]:
    """Yield the tokens with the signs and parentheses that are left out on paper."""
    before, closing = ("other", ""), 0
    for i, (kind, word) in enumerate(tokens):
        called = before[0] == "name" and before[1] in functions
        starts = kind != "other" or word == "("
        ends = before[0] != "other" or before[1] == ")"
        follows = tokens[i + 1][0] if i + 1 < len(tokens) else "other"
        if closing and word in functions:
            yield ")" * closing
            closing = 0
        if called and (kind != "other" or (word == "-" and follows != "other")):
            yield "("
            closing += 1
        elif ends and starts and not (called or _is_call(before, word, functions)):
            yield "*"
        elif closing and kind == "other" and word != "(":
            yield ")" * closing
            closing = 0
        yield word
        before = kind, word
    yield ")" * closing


def _is_call(before: tuple[str, str], word: str, functions: frozenset[str]) -> bool:
    """Tell whether a parenthesis calls what stands before it: x(1 - x) is a product."""
    single = len(before[1]) == 1 or "_" in before[1] or before[1] in functions
    return word == "(" and before[0] == "name" and (before[1] in functions or not single)


def _spaced(text: str) -> str:
    """Return a sum with spaces about its signs, as it is written in examples."""
    spaced = re.sub(r"(?<=[\w)])\s*(?<![eE])(<=|>=|[=<>+-])\s*(?=[\w(.-])", r" \1 ", text)
    return re.sub(r",(?=\S)", ", ", spaced).strip()


def _reads(text: str) -> bool:
    try:
        for side in re.split(r"(?<![<>!=])=(?!=)", text):
            ast.parse(side.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
