"""Patches on which sources and coefficients are resolved, before anything is solved."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.place.patches.cuts import Cell
from sharpfront.place.patches.data_probes import DataProbe, DataProbes, gaps_along, parts_watched
from sharpfront.place.patches.refine import Limits, functions_of, refined
from sharpfront.place.patches.settings import SETTINGS, PatchSettings
from sharpfront.place.patches.tails import Tails
from sharpfront.place.tiling.blocks import Tiling


def with_resolved_data(
    looks: DataProbes,
    tiling: Tiling,
    cells: list[Cell],
    settings: PatchSettings,
    tol: float,
    most: int,
) -> list[Cell]:
    """Return cells on which sources and coefficients are resolved, as far as that is allowed."""
    base = settings.functions(tol)
    limits = Limits(base, settings.most(tol, looks.problem.domain.dimension), base)
    cells = _cut_where_missed(looks, cells)
    for _ in range(SETTINGS.halvings):
        tails = data_tails(looks, [c.patch for c in cells])
        # Where there is no room for all, for what is missed most: a front's end in a corner of a
        # chart takes few patches, and has all the weight of the front.
        tries = (refined(cells, tails, 1.0, s, limits, tiling.periods) for s in SETTINGS.worst)
        new = next((n for n, changed in tries if not changed or functions_of(n) <= most), cells)
        if new is cells or (len(new) == len(cells) and functions_of(new) == functions_of(cells)):
            break
        cells = new
    # How data fell with each cut says nothing of how the solution will.
    return [Cell(c.patch) for c in cells]


def with_seen_data(
    looks: DataProbes, tiling: Tiling, cells: Sequence[Cell], limits: Limits, tol: float, most: int
) -> list[Cell]:
    """Return cells cut where their points miss data that count, until these are too many."""
    out = list(cells)
    for _ in range(SETTINGS.halvings):
        if functions_of(out) > most:
            break
        patches = [c.patch for c in out]
        tails = data_tails(looks, patches)
        tail = np.where(missed_in(looks, patches)[:, None] > tol, tails.tail, 0.0)
        own = Tails(tail, tails.wanted, tails.analytic, tail, tail)
        out, changed = refined(out, own, 1.0, 0.0, limits, tiling.periods)
        if not changed:
            break
    return out


def missed_in(looks: DataProbes, patches: Sequence[Patch]) -> FloatArray:
    """Return what the points of each patch miss of its data, about, in units of u, (n,).

    On the way to its sides and corners: what stands out there counts by the part of the patch that
    is as close to a corner. Data that go on growing are infinite, and enter by their means.
    """
    out = np.zeros(len(patches))
    for i, patch in enumerate(patches):
        if patch.cut is not None:
            continue
        look, part = looks(patch), parts_watched(patch.dimension)
        for (tail, _), gap in zip(look.seen, look.gaps, strict=True):
            ways = gap[-part.size :].reshape(part.shape)
            finite = ways[:, -1:] < SETTINGS.growing * ways[:, -2:-1]
            beside = finite & (ways > SETTINGS.missed * max(1.0, float(tail.max())))
            out[i] = max(out[i], np.max(part * ways, where=beside, initial=0.0))
    return SETTINGS.source * looks.tol * out


def _cut_where_missed(looks: DataProbes, cells: list[Cell]) -> list[Cell]:
    """Return the cells cut at places at which data are not what the cells' points say."""
    nowhere = np.empty((0, cells[0].patch.dimension))
    missed = [_misfit(looks(c.patch)) if c.patch.cut is None else nowhere for c in cells]
    out = []
    for cell, places in zip(cells, missed, strict=True):
        if not len(places):
            out.append(cell)
            continue
        sides, at = [], cell.patch.in_chart(places)
        narrow = [gaps_along(looks, cell.patch, place, np.inf) > 1.0 for place in places]
        for a, m in enumerate(cell.patch.maps):
            own = [x for x, along in zip(at[:, a].tolist(), narrow, strict=True) if along[a]]
            ends = _kept_apart([m.low, m.high], own, SETTINGS.apart * m.length)
            sides.append(m.cut(ends[1:-1]))
        out += cell.cut_into(sides)
    return out


def _kept_apart(ends: list[float], places: Sequence[float], gap: float) -> list[float]:
    """Return ends and places between them in order, without those too close to earlier ones."""
    chosen = list(ends)
    for place in places:
        if min(abs(place - c) for c in chosen) > gap:
            chosen.append(place)
    return sorted(chosen)


def _misfit(look: DataProbe) -> FloatArray:
    """Return the told place at which a patch's points miss most, if any, (0 or 1, d).

    None where they miss something beside a side: then it is that side that is cut along.
    """
    if not look.seen:
        return look.places[:0]
    gap = np.zeros(len(look.places))
    for (tail, _), own in zip(look.seen, look.gaps, strict=True):
        gap = np.maximum(gap, np.where(own > SETTINGS.missed * float(tail.max()), own, 0.0))
    told, spread_out = look.told
    gap[told : told + spread_out] = 0.0
    worst = int(np.argmax(gap))
    inside = gap[worst] > 1.0 and not np.any(gap[told:] > 1.0)
    return look.places[worst : worst + 1] if inside else look.places[:0]


def data_tails(looks: DataProbes, patches: Sequence[Patch]) -> Tails:
    """Return what of the data each patch's functions cannot hold, in units of what is allowed."""
    tail = np.zeros((len(patches), patches[0].dimension))
    wanted = np.zeros_like(tail)
    for i, patch in enumerate(patches):
        look = looks(patch)
        for (t, w), gap in zip(look.seen, look.gaps, strict=True):
            missed = np.ones_like(t)
            if gap.max(initial=0.0) > max(1.0, SETTINGS.missed * t.max()):
                missed = np.full_like(t, gap.max())
                if patch.cut is None:
                    worst = int(np.argmax(gap))
                    missed = gaps_along(looks, patch, look.places[worst], float(gap[worst]))
            t, w = np.where(missed > 1.0, missed, t), np.where(missed > 1.0, np.inf, w)
            tail[i], wanted[i] = np.maximum(tail[i], t), np.maximum(wanted[i], w)
    return Tails(tail, wanted, np.ones_like(tail, dtype=bool), tail, tail)
