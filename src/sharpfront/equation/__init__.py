"""What the user wrote, as a graph: tracing, text, calculus and linear forms."""

from sharpfront.equation.calculus import Vector, div, grad, laplacian
from sharpfront.equation.expression import Expression
from sharpfront.equation.formula import from_sympy
from sharpfront.equation.linearise import LinearForm, Term, is_linear, linear_form
from sharpfront.equation.opaque import function
from sharpfront.equation.text import parse, to_text
from sharpfront.equation.trace import Symbols, trace
from sharpfront.equation.weak import delta

__all__ = [
    "Expression",
    "LinearForm",
    "Symbols",
    "Term",
    "Vector",
    "delta",
    "div",
    "from_sympy",
    "function",
    "grad",
    "is_linear",
    "laplacian",
    "linear_form",
    "parse",
    "to_text",
    "trace",
]
