"""What the user wrote, as a graph: tracing, text, calculus and linear forms."""

from sharpfront.equation.calculus import div, grad, laplacian
from sharpfront.equation.expression import Expression
from sharpfront.equation.formula import from_sympy
from sharpfront.equation.opaque import function
from sharpfront.equation.text import to_text
from sharpfront.equation.weak import delta

__all__ = ["Expression", "delta", "div", "from_sympy", "function", "grad", "laplacian", "to_text"]
