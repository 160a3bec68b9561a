"""scikit-fem: elements of second or fourth order on a mesh refined where gradients change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse.linalg import splu

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Expression
from sharpfront.equation.graph import derivatives_in, evaluate
from sharpfront.equation.linearise import tangent_terms
from sharpfront.problem import Problem
from sharpfront.rivals.contract import Found, Rival, Setting, Subject, only_values, tried

_STEPS, _SETTLED = 20, 1e-11
# Unknowns at which refining ends.
SIZES = (300, 1000, 3000, 10_000, 30_000, 100_000)
# The part of the cells that is refined: fewer need more passes than they save.
_MARKED_SHARE = 0.3


def weak_refusal(problem: Problem, most: int) -> str:
    """Return why elements with values on the boundary cannot take a problem; nothing if they can.

    There are `most` coordinates at most.
    """
    if problem.time is not None:
        return "it is written for problems without time"
    if problem.domain.dimension > most:
        return f"more than {most} coordinates"
    if any(problem.domain.periodic_axes) or not only_values(problem):
        return "it is written for one unknown whose values are given on the boundary"
    if problem.is_singular or problem.jumps:
        return "loads or fluxes that jump are not written for it"
    terms = tangent_terms(problem.equations[0])
    if max(t.order for t in terms) != 2:
        return "it is written for equations of second order"
    if any(t.order == 2 and derivatives_in(t.coefficient) for t in terms):
        return "a second derivative has a factor that depends on u"
    return ""


class WeakForm:
    """The tangent of an equation about a state, by parts: c u_ij -> -u_i (c v)_j."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.equation = problem.equations[0]
        terms = tangent_terms(self.equation)
        self.lower = [t for t in terms if t.order < 2]
        self.slopes = []
        for term in (t for t in terms if t.order == 2):
            i, j = (i for i, n in enumerate(term.orders) for _ in range(n))
            # The derivative of a factor goes with the test function's.
            slope = term.coefficient.d(problem.coordinates[j])
            self.slopes.append((i, j, term.coefficient, slope))

    def leaves(self, w: Any) -> dict[Any, Any]:
        """Return the leaves at quadrature points for a state; second derivatives are zero."""
        names, state = self.problem.coordinates, w["state"]
        found: dict[Any, Any] = {("coordinate", n): x for n, x in zip(names, w.x, strict=True)}
        for leaf in derivatives_in(self.equation):
            zero = np.zeros_like(w.x[0])
            first = state.grad[leaf.orders.index(1)] if 1 in leaf.orders else np.asarray(state)
            found[leaf.key] = zero if sum(leaf.orders) == 2 else first
        return found

    def bilinear(self, u: Any, v: Any, w: Any) -> Any:
        """Return the integrand of the tangent about a state, for functions with value and grad."""
        leaves = self.leaves(w)
        total: Any = 0.0
        for i, j, c, slope in self.slopes:
            total = total - u.grad[i] * (
                evaluate(c, leaves) * v.grad[j] + evaluate(slope, leaves) * v
            )
        for term in self.lower:
            first = u.grad[term.orders.index(1)] if term.order else u
            total = total + evaluate(term.coefficient, leaves) * first * v
        return total

    def load(self, v: Any, w: Any) -> Any:
        """Return what the tangent is to equal: lower terms about the state less the residual."""
        leaves, state = self.leaves(w), w["state"]
        total = -evaluate(self.equation, leaves)
        for term in self.lower:
            first = state.grad[term.orders.index(1)] if term.order else np.asarray(state)
            total = total + evaluate(term.coefficient, leaves) * first
        return total * v


def boundary_values(problem: Problem) -> Callable[[FloatArray], FloatArray]:
    """Return the given values as a function of points of the boundary (m, d), (m,).

    On a box by its sides; on other shapes the parts' conditions are the same.
    """
    low, high = problem.domain.bounds
    leaves_of = [("coordinate", n) for n in problem.coordinates]

    def value(residual: Expression, points: FloatArray) -> FloatArray:
        leaves: dict[Any, Any] = dict(zip(leaves_of, points.T, strict=True))
        unknown = ("derivative", problem.unknowns[0], (0,) * len(low))
        zero, one = (
            evaluate(residual, {**leaves, unknown: np.full(len(points), v)}) for v in (0.0, 1.0)
        )
        return np.asarray(-zero / (one - zero))

    def at(points: FloatArray) -> FloatArray:
        if not problem.domain.is_box:
            return value(problem.conditions[0].residuals[0], points)
        found = np.zeros(len(points))
        for condition in problem.conditions:
            face = problem.domain.boundary(condition.part, 1)
            axis = int(np.argmax(np.abs(face.normals[0])))
            level = low[axis] if face.normals[0, axis] < 0 else high[axis]
            on = np.abs(points[:, axis] - level) < 1e-9 * (high[axis] - low[axis])
            if on.any():
                found[on] = value(condition.residuals[0], points[on])
        return found

    return at


class ScikitFem(Rival):
    """Told nothing of where features are; solves, marks cells, refines."""

    def applies(self, subject: Subject) -> str:
        """Return why not."""
        problem = subject.problem
        if not problem.domain.is_box:
            return "it is written for boxes"
        return weak_refusal(problem, 3)

    def settings(self, subject: Subject) -> tuple[Setting, ...]:
        """Return orders and unknowns."""
        orders = (2, 4) if subject.problem.domain.dimension == 2 else (2,)
        return tried("order {order}, {most} unknowns", most=SIZES, order=orders)

    def solve(self, subject: Subject, setting: Setting, seed: int, seconds: float) -> Found:
        """Return the elements on the last mesh."""
        import logging

        logging.getLogger("skfem").setLevel(logging.ERROR)
        problem, weak = subject.problem, WeakForm(subject.problem)
        values = boundary_values(problem)
        mesh, element = _coarse(problem, setting.values["order"])
        state = None
        while True:
            basis, u = _solved(subject, weak, values, mesh, element, state)
            if setting.values["most"] <= basis.N:
                break
            state, mesh = (basis, u), _refined(basis, u)
        find = basis.interpolator(u)
        (name,) = problem.unknowns
        return {name: lambda *x: find(np.stack([np.asarray(c, dtype=float) for c in x]))}


def _coarse(problem: Problem, order: int) -> tuple[Any, Any]:
    import skfem

    axes = [np.linspace(a, b, 5) for a, b in problem.domain.bounds.T]
    if len(axes) == 1:
        return skfem.MeshLine(axes[0]), skfem.ElementLineP2()
    if len(axes) == 2:
        element = skfem.ElementTriP2() if order == 2 else skfem.ElementTriP4()
        return skfem.MeshTri.init_tensor(*axes), element
    return skfem.MeshTet.init_tensor(*axes), skfem.ElementTetP2()


def _solved(
    subject: Subject,
    weak: WeakForm,
    values: Callable[[FloatArray], FloatArray],
    mesh: Any,
    element: Any,
    state: tuple[Any, FloatArray] | None,
) -> tuple[Any, FloatArray]:
    from skfem import Basis, BilinearForm, LinearForm, condense

    basis = Basis(mesh, element)
    edge = basis.get_dofs().all()
    u = basis.zeros()
    if not subject.problem.is_linear:
        start = state[0].interpolator(state[1]) if state else None
        here = basis.doflocs
        u = start(here) if start else subject.start(here.T)[subject.problem.unknowns[0]]

    for _ in range(1 if subject.problem.is_linear else _STEPS):
        about = basis.interpolate(u)
        matrix = BilinearForm(weak.bilinear).assemble(basis, state=about)
        right = LinearForm(weak.load).assemble(basis, state=about)
        new = basis.zeros()
        new[edge] = values(basis.doflocs[:, edge].T)
        inner, rest, new, free = condense(matrix, right, x=new, D=edge)
        new[free] = splu(inner.tocsc()).solve(rest)
        change, u = float(np.max(np.abs(new - u))), new
        if change <= _SETTLED * max(1.0, float(np.max(np.abs(u)))):
            break
    return basis, u


def _refined(basis: Any, u: FloatArray) -> Any:
    """Return the mesh with the cells divided in which gradients differ most from recovered ones.

    What Zienkiewicz and Zhu estimate errors by, with means over cells and about their corners.
    """
    cells, volumes = basis.mesh.t, np.sum(basis.dx, axis=1)
    slope = np.sum(basis.interpolate(u).grad * basis.dx, axis=2) / volumes
    count = np.zeros(basis.mesh.p.shape[1])
    recovered = np.zeros((len(slope), len(count)))
    for corner in cells:
        # Weighed by volume, a large cell beside small ones would be compared with itself.
        np.add.at(count, corner, 1.0)
        for i, along in enumerate(slope):
            np.add.at(recovered[i], corner, along)
    recovered /= count
    gaps = sum(np.sum((recovered[:, corner] - slope) ** 2, axis=0) for corner in cells)
    marked = np.argsort(gaps * volumes)[-max(1, round(_MARKED_SHARE * len(volumes))) :]
    return basis.mesh.refined(marked)


SCIKIT_FEM = ScikitFem(
    "scikit-fem",
    "scikit-fem, refined",
    "Gustafsson and McBain, scikit-fem, JOSS 5 (2020)",
    needs=("skfem",),
)
