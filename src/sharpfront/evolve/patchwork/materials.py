"""Materials in time: which are known, patches along their edges, and functions of their corners.

At the stages of a step traces of u and fluxes go on as they do without time. The trees of a step
are made about its middle, so conditions across edges must be the same at all times.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sharpfront.adapt.patchwork.applicability import suits
from sharpfront.adapt.patchwork.decoupled_unknowns import decoupled, is_decoupled
from sharpfront.adapt.patchwork.interface_vertices import Point, cuts_for, interface_vertices
from sharpfront.adapt.patchwork.material_corners import material_functions
from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import CornerFunctions
from sharpfront.equation.edges import jumps_along, switches, torn_at_seam
from sharpfront.equation.expression import TIME, Coordinate, Expression
from sharpfront.equation.graph import derivatives_in, ordered
from sharpfront.equation.linearise import is_linear, linear_form, nonlinear_part
from sharpfront.equation.weak import is_delta, is_singular, is_weak
from sharpfront.errors import ProblemError
from sharpfront.evolve.patchwork.run import PatchRun
from sharpfront.evolve.patchwork.run_start import first_tangents
from sharpfront.evolve.patchwork.settings import MARCH
from sharpfront.place.patches.first_patches import cut_for_data
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.problem import Problem
from sharpfront.rounding import SAME
from sharpfront.rows.interfaces import interface_lines
from sharpfront.rows.neighbours import faces_of
from sharpfront.rows.patch_rows import PatchRows

# Moments at which conditions across edges are compared.
MOMENTS = 9
_FLUXES = (
    "With time= a coefficient that jumps inside a derivative is known in the plane as in "
    "sf.div(k(x, y) * sf.grad(u)), in terms that are linear; where k depends on t, all of it has "
    "to do so by one factor, as in (1 + t) * np.where(x < 0.5, 1, 5)"
)


class Materials(NamedTuple):
    """What is made of a domain with materials."""

    tiling: Tiling  # with charts or strips along their edges
    functions: tuple[CornerFunctions, ...]  # of their corners
    # How often patches are halved towards corners that have no functions.
    cuts: dict[Point, int]


def require_known(problem: Problem) -> None:
    """Refuse loads, stated jumps, and fluxes of which conditions at stages do not hold."""
    if problem.jumps or any(is_delta(n) for e in problem.equations for n in ordered(e)):
        raise ProblemError(
            "sf.delta and sf.jump are not known with time=. Write a load as a narrow band, "
            "np.where(abs(x - a) < h, 1 / (2 * h), 0), h as wide as the tolerance allows: u is off "
            "by h / 4 times the load over the diffusivity where it acts, by less elsewhere."
        )
    if any(is_singular(nonlinear_part(e)) for e in problem.equations):
        raise ProblemError(f"{_FLUXES}; got one in a term that is not linear: {problem!r}.")
    for flux in fluxes(problem):
        form = linear_form(flux)
        torn = any(jumps_along(form.source, name) for name in problem.coordinates)
        if any(switch.moves for t in form.terms for switch in switches(t.coefficient)):
            raise ProblemError(f"{_FLUXES}, at places that stay; got the flux {flux!r}.")
        rings = [n for n in ordered(flux) if isinstance(n, Coordinate) and n.seam]
        if any(torn_at_seam(flux, ring) for ring in rings):
            raise ProblemError(
                f"{_FLUXES}, with the same value at both ends of a periodic axis; got the flux "
                f"{flux!r}."
            )
        if torn or any(t.orders[-1] for t in form.terms):
            raise ProblemError(
                f"{_FLUXES}, with nothing else that jumps and no rate in the derivative; got the "
                f"flux {flux!r}."
            )


def fluxes(problem: Problem) -> Iterator[Expression]:
    """Yield what stands inside derivatives across jumps."""
    for node in (n for e in problem.equations for n in ordered(e)):
        if is_weak(node) and derivatives_in(node) and is_linear(node.arguments[1]):
            yield node.arguments[1]


def along_materials(run: PatchRun) -> Materials:
    """Return what a domain with materials is to a run."""
    # Without rates: patches must be the same for a run that goes on to a later end.
    problem, meshing = first_tangents(run).problem(0.0), run.meshing
    if not suits(problem):
        raise ProblemError(f"{_FLUXES}, on boxes and shapes on which that is known without time.")
    tiling = cut_for_data(problem, meshing.tiling, SETTINGS, run.tol, meshing.most)
    functions = _singular_functions(run, problem, tiling)
    held = {tuple(own.place) for own in functions}
    found = _exponents(problem, tiling)
    cuts = {p: cuts_for(a, 1.0 / run.tol) for p, a in found.items() if p not in held}
    return Materials(tiling, functions, cuts)


def _exponents(problem: Problem, tiling: Tiling) -> dict[Point, float]:
    """Return how singular solutions are at corners of materials, at most of all unknowns."""
    alone = [problem]
    if len(problem.unknowns) > 1:
        alone = [decoupled(problem, u) for u in problem.unknowns if is_decoupled(problem, u)]
    out: dict[Point, float] = {}
    for own in alone:
        for point, exponent in interface_vertices(own, tiling, interface_lines(problem)).items():
            out[point] = min(exponent, out.get(point, exponent))
    return out


def _singular_functions(
    run: PatchRun, problem: Problem, tiling: Tiling
) -> tuple[CornerFunctions, ...]:
    """Return functions of corners at which slopes are infinite, where something damps weights."""
    single = len(problem.unknowns) == 1 and problem.forms[0].order == 2
    if not single or not run.system.diffuses:
        return ()
    found = material_functions(problem, tiling, MARCH.powers)
    return tuple(own for own in found if min(t.order for t in own.terms) < MARCH.singular)


def require_same_at_all_times(run: PatchRun) -> None:
    """Refuse fluxes whose conditions across edges change with time, on the patches of a run."""
    if not any(_has_time(flux) for flux in fluxes(run.system.problem)):
        return
    start, stop = run.span
    first = _conditions_at(run, start)
    for t in np.linspace(start, stop, MOMENTS)[1:].tolist():
        now = _conditions_at(run, t)
        alike = first.shape == now.shape and np.abs(first - now).max(initial=0.0) <= SAME
        if not alike:
            raise ProblemError(
                f"{_FLUXES}; what goes on where it jumps is another at t = {t:.3g} than at first."
            )


def _has_time(flux: Expression) -> bool:
    return any(isinstance(n, Coordinate) and n.name == TIME for n in ordered(flux))


def _conditions_at(run: PatchRun, t: float) -> FloatArray:
    """Return the rows of what goes on across faces at a moment, those of both sides of size one."""
    rows = PatchRows(first_tangents(run, t).problem(0.0))
    patches = [c.patch for c in run.meshing.first()]
    found: list[FloatArray] = []
    faces, _ = faces_of(patches, run.meshing.tiling.periods)
    for below, above in rows.conditions_across(patches, faces):
        both = np.concatenate([below, above], axis=1)
        sizes = np.maximum(np.linalg.norm(both, axis=1), 1e-300)
        found.append((both / sizes[:, None]).ravel())
    return np.concatenate(found) if found else np.zeros(0)
