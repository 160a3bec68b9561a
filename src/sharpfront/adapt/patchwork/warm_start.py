"""Problems on the patches of a neighbour, which differs from them in numbers.

The stability of both is nearly the same, and so is the ratio of the error to what weights leave
out: the neighbour's certificate holds in units of the tails of its weights.
"""

from __future__ import annotations

from dataclasses import replace

from sharpfront.adapt.patchwork.certify import Certificate, noise_in
from sharpfront.adapt.patchwork.settings import ADAPT
from sharpfront.adapt.patchwork.soft_modes import probes_of
from sharpfront.adapt.patchwork.state import Neighbour, PatchState
from sharpfront.leastsquares.traces import Tree
from sharpfront.place.patches.tails import Tails
from sharpfront.problem import Problem
from sharpfront.problem.family import same_but_numbers
from sharpfront.trust.overdetermined import crowded


def neighbour_of(state: PatchState, problem: Problem) -> Neighbour | None:
    """Return whose patches a solve left, if another problem is so near that they pay for it.

    They do not where functions of corners take the place of patches for one of the two, nor where
    functions of layers have a width of their own.
    """
    found, best = state.near, state.best
    if found is None and best is not None and best.certificate is not None:
        found = Neighbour(state.problem, best.certificate, best.tails)
    if found is None or state.layers or not same_but_numbers(found.problem, problem, ADAPT.reach):
        return None
    if problem.domain.dimension == 2 and len(problem.unknowns) == 1 and state.rows.order > 1:
        pair = (replace(state.wedges, problem=each) for each in (found.problem, problem))
        one, other = (corners.stiffness_allows for corners in pair)
        return found if one == other else None
    return found


def carried(state: PatchState, tails: Tails, method: Tree) -> Certificate | None:
    """Return the certificate of the neighbour in units of both tails; None where it does not hold.

    It does for one equation of second order in the plane whose solutions do not oscillate, and if
    noise grows as it does for the neighbour: so nothing resonates.
    """
    near = state.near
    if near is None or not _is_plain(state):
        return None
    known, probes = near.certificate, probes_of(state, method)
    if max(known.contradiction, known.beside, known.moved, known.held) or not probes:
        return None
    grown = noise_in(probes[0], state.rows)
    if not grown <= ADAPT.reach * known.amplification:
        return None
    # Not less than the neighbour's: where tails are shorter, what else it counts need not be. On a
    # disk an estimate that went down with them was a ninth of the error.
    longer = max(1.0, float(tails.rest.max()) / max(float(near.tails.rest.max()), 1e-300))
    return replace(
        known,
        change=longer * known.change,
        norm=longer * known.norm,
        vertices=longer * known.vertices,
        singular=tails.singular,
        amplification=grown,
        corners=None,
        carried=True,
    )


def _is_plain(state: PatchState) -> bool:
    if not state.rows.is_simple or state.problem.domain.dimension != 2 or state.soft:
        return False
    waves = any(any(each) for each in state.waves.largest.values())
    bound = bool(state.rows.integrals.forms) or bool(crowded(state.problem))
    return not (waves or bound or state.jumps.places)
