"""NGSolve: elements of high order, refined where recovered gradients differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sharpfront.equation.expression import Apply, Constant, Coordinate, Expression
from sharpfront.equation.graph import derivatives_in, folded, ordered
from sharpfront.geometry import Polygon
from sharpfront.problem import Problem
from sharpfront.rivals.contract import Found, Rival, Setting, Subject, tried
from sharpfront.rivals.scikit_fem import SIZES, WeakForm, weak_refusal

# Cells whose recovered gradient differs by more than this share of the largest are refined.
_MARKED_FROM = 0.25
# NumPy's functions by NGSolve's names; what is not here NGSolve does not have.
_KNOWN = {
    **{n: n for n in ("exp", "sin", "cos", "tan", "sqrt", "log", "cosh", "sinh")},
    **{"arctan": "atan", "arcsin": "asin", "arccos": "acos"},
}
_ARITHMETIC = ("add", "subtract", "multiply", "divide", "negative", "power", "square")
_OWN = ("tanh", "absolute", "expm1", "hypot")


def _translates(expression: Expression) -> bool:
    names = {n.function.name for n in ordered(expression) if isinstance(n, Apply)}
    return names <= {*_KNOWN, *_ARITHMETIC, *_OWN}


class _Translator:
    """Expressions of the coordinates as coefficient functions."""

    def __init__(self, names: tuple[str, ...]) -> None:
        import ngsolve

        self.ng = ngsolve
        self.axes = dict(zip(names, (ngsolve.x, ngsolve.y), strict=True))

    def of(self, expression: Expression, unknowns: Mapping[Any, Any] | None = None) -> Any:
        def leaf(node: Expression) -> Any:
            if isinstance(node, Constant):
                return self.ng.CF(float(node.value))
            if isinstance(node, Coordinate):
                return self.axes[node.name]
            return (unknowns or {}).get(getattr(node, "key", None), self.ng.CF(0.0))

        return folded(expression, leaf, self._applied)

    def _applied(self, node: Apply, arguments: list[Any]) -> Any:
        ng, first, name = self.ng, arguments[0], node.function.name
        second = arguments[-1]
        table: dict[str, Any] = {
            "add": lambda: first + second,
            "subtract": lambda: first - second,
            "multiply": lambda: first * second,
            "divide": lambda: first / second,
            "negative": lambda: -first,
            "power": lambda: first**second,
            "square": lambda: first * first,
            "tanh": lambda: 1 - 2 / (1 + ng.exp(2 * first)),
            "absolute": lambda: ng.IfPos(first, first, -first),
            "expm1": lambda: ng.exp(first) - 1,
            "hypot": lambda: ng.sqrt(first * first + second * second),
        }
        return table[name]() if name in table else getattr(ng, _KNOWN[name])(first)


class NgSolve(Rival):
    """Told nothing of where features are; linear problems on boxes and polygons."""

    def applies(self, subject: Subject) -> str:
        """Return why not."""
        problem = subject.problem
        if (
            not (problem.domain.is_box or isinstance(problem.domain, Polygon))
            or problem.domain.dimension != 2
        ):
            return "it is written for boxes and polygons in the plane"
        if not problem.is_linear:
            return "it is written for linear problems"
        reason = weak_refusal(problem, 2)
        parts = [problem.equations[0], *(c.residuals[0] for c in problem.conditions)]
        if not reason and not all(map(_translates, parts)):
            return "a function of the problem is not one of NGSolve's"
        return reason

    def settings(self, subject: Subject) -> tuple[Setting, ...]:
        """Return orders and unknowns."""
        return tried("order {order}, {most} unknowns", most=SIZES, order=(3, 6))

    def solve(self, subject: Subject, setting: Setting, seed: int, seconds: float) -> Found:
        """Return the elements on the last mesh."""
        import ngsolve as ng

        ng.SetNumThreads(1)
        ng.ngsglobals.msg_level = 0
        problem, weak = subject.problem, WeakForm(subject.problem)
        mesh, translator = _first_mesh(problem), _Translator(problem.coordinates)
        space = ng.H1(mesh, order=setting.values["order"], dirichlet=".*", autoupdate=True)
        recovered = ng.GridFunction(
            ng.VectorH1(mesh, order=setting.values["order"], autoupdate=True), autoupdate=True
        )
        found = ng.GridFunction(space, autoupdate=True)
        a, f = _forms(weak, translator, space)
        given = {c.part: _given(c.residuals[0], problem, translator) for c in problem.conditions}
        while True:
            a.Assemble()
            f.Assemble()
            found.Set(mesh.BoundaryCF(given), definedon=mesh.Boundaries(".*"))
            rest = f.vec - a.mat * found.vec
            found.vec.data += a.mat.Inverse(space.FreeDofs(), inverse="umfpack") * rest
            if space.ndof >= setting.values["most"]:
                break
            recovered.Set(ng.grad(found))
            gap = recovered - ng.grad(found)
            marks = np.asarray(ng.Integrate(gap * gap, mesh, ng.VOL, element_wise=True))
            mesh.ngmesh.Elements2D().NumPy()["refine"] = marks > _MARKED_FROM * marks.max()
            mesh.Refine()

        def at(x: Any, y: Any) -> Any:
            return np.asarray(found(mesh(np.ravel(x), np.ravel(y)))).reshape(np.shape(x))

        return {problem.unknowns[0]: at}


def _first_mesh(problem: Problem) -> Any:
    """Return a mesh whose edges carry the names of the parts."""
    import ngsolve as ng
    from netgen.geom2d import SplineGeometry

    geometry, domain = SplineGeometry(), problem.domain
    if domain.is_box:
        (a, c), (b, d) = domain.bounds.tolist()
        corners = [(a, c), (b, c), (b, d), (a, d)]
    else:
        assert isinstance(domain, Polygon)
        corners = [(float(x), float(y)) for x, y in domain.corners]
    own = [geometry.AppendPoint(*p) for p in corners]
    for i, p in enumerate(own):
        after = corners[(i + 1) % len(own)]
        middle = 0.5 * (np.array(corners[i]) + after)
        geometry.Append(["line", p, own[(i + 1) % len(own)]], bc=_part_at(problem, middle))
    size = float(np.max(np.ptp(domain.bounds, axis=0)))
    return ng.Mesh(geometry.GenerateMesh(maxh=0.25 * size))


def _part_at(problem: Problem, point: Any) -> str:
    """Return the part of the boundary nearest to a point."""

    def away(part: str) -> float:
        points = problem.domain.boundary(part, 400).points
        return float(np.min(np.linalg.norm(points - point, axis=1)))

    return min(problem.domain.parts, key=away)


def _forms(weak: WeakForm, translator: _Translator, space: Any) -> tuple[Any, Any]:
    import ngsolve as ng

    u, v = space.TnT()
    a, f = ng.BilinearForm(space), ng.LinearForm(space)
    bonus = ng.dx(bonus_intorder=6)
    for i, j, c, slope in weak.slopes:
        a += -ng.grad(u)[i] * (translator.of(c) * ng.grad(v)[j] + translator.of(slope) * v) * bonus
    for term in weak.lower:
        first = ng.grad(u)[term.orders.index(1)] if term.order else u
        a += translator.of(term.coefficient) * first * v * bonus
    f += -translator.of(weak.equation) * v * bonus
    return a, f


def _given(residual: Expression, problem: Problem, translator: _Translator) -> Any:
    (leaf,) = derivatives_in(residual)
    zero, one = (translator.of(residual, {leaf.key: translator.ng.CF(v)}) for v in (0.0, 1.0))
    return -zero / (one - zero)


NGSOLVE = NgSolve(
    "ngsolve",
    "NGSolve, refined",
    "Schoeberl, C++11 implementation of finite elements in NGSolve, ASC Report 30 (2014)",
    needs=("ngsolve",),
)
