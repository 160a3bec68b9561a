"""Modes on a line: pieces are made finer until all that are wanted are resolved, then compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sharpfront.arrays import Flags, FloatArray, Ints
from sharpfront.bases.legendre import gauss, norms, projection
from sharpfront.equation.edges import places_along
from sharpfront.equation.narrow_features import foci
from sharpfront.spectrum.line import LinePencil
from sharpfront.spectrum.modes import (
    ALIKE,
    Candidate,
    Level,
    Modes,
    along,
    compared,
    nearest,
    polished,
)
from sharpfront.spectrum.settings import MODES
from sharpfront.spectrum.statement import SpectralProblem
from sharpfront.spectrum.sturm import gaps_in


def line_modes(statement: SpectralProblem, k: int, near: complex, tol: float, most: int) -> Modes:
    """Return the k modes in one dimension whose eigenvalues are nearest to a number.

    The tolerance is of the values' errors, relative to the largest; there are `most` columns at
    most.
    """
    pencil, aim, best = _first(statement, most), tol, None
    for _ in range(MODES.rounds):
        found = _found(pencil, near, k)
        finer = _refined(pencil, replace(found, candidates=found.candidates[:k]), aim)
        if finer is not None and finer.size <= most:
            pencil = finer
            continue
        richer = replace(pencil, points=tuple(p + MODES.more for p in pencil.points))
        levels = (found, _found(richer, near, k))
        checked = compared(statement.problem, levels, None, along(MODES.along), k, near)
        values = [m.value for m in checked.modes]
        checked = replace(checked, doubt=checked.doubt or gaps_in(statement, values, richer.edges))
        if best is None or checked.worst < best.worst:
            best = checked
        if finer is not None or richer.size > most:
            return replace(best, full=best.worst > tol)
        if checked.worst <= tol and not checked.doubt:
            return checked
        lacking = checked.worst / tol
        if checked.doubt or lacking <= 1.0:
            pencil = _cut(pencil, np.ones(len(pencil.points), dtype=bool), np.array(pencil.points))
        else:
            aim = max(1e-15, aim * min(MODES.lowered, 1.0 / lacking))
            pencil = richer
        if pencil.size > most or aim <= 1e-15:
            break
    assert best is not None
    return best


def _found(pencil: LinePencil, near: complex, k: int) -> Level:
    """Return the eigenvalues nearest to a number, nearest first."""
    matrices, out = pencil.matrices, []
    rough = sorted(
        nearest(matrices, _shift(matrices, near, k), k), key=lambda f: abs(f.value - near)
    )
    for before in rough:
        close = ALIKE * max(1e-300, abs(before.value))
        twins = [f for f in rough if f is not before and abs(f.value - before.value) <= close]
        after = _parted(before, twins) if twins else polished(matrices, before)
        rounding = after.rounding if np.isfinite(after.rounding) else 1e-13 * abs(after.value)
        # Of real matrices a real value stays one.
        value = after.value if before.value.imag else after.value.real + 0j
        out.append(Candidate(value, pencil.weights(after.weights), rounding))
    return Level(pencil.bases, sorted(out, key=lambda f: abs(f.value - near)))


def _parted(mode: Candidate, twins: Sequence[Candidate]) -> Candidate:
    """Return one of several modes of a value.

    Where two have the same shape there is one in truth, and rounding parted its value by the root
    of what it is elsewhere: by how much they are apart is not known better.
    """
    one, same = mode.weights / np.linalg.norm(mode.weights), []
    for twin in twins:
        other = twin.weights / np.linalg.norm(twin.weights)
        if np.linalg.norm(one - np.vdot(other, one) * other) < MODES.parallel:
            same.append(abs(twin.value - mode.value))
    return replace(mode, rounding=max(same)) if same else mode


def _shift(matrices: Sequence[Any], near: complex, k: int) -> complex:
    """Return a number close to the one given that is no eigenvalue itself."""
    number = near.real if not near.imag else near
    for offset in (0.0, 1e-5, 1e-3):
        tried = number + offset * max(1.0, abs(number))
        try:
            found = nearest(matrices, tried, k)
        except (np.linalg.LinAlgError, RuntimeError):
            continue
        gaps = np.array([abs(f.value - number) for f in found[: k + 1]])
        if len(gaps) > 1 and np.isfinite(gaps).all():
            # Beside an eigenvalue all others drown in its rounding.
            on_it = gaps.min() < 1e-6 * gaps.max()
            return number - 0.0137 * float(gaps.max()) if on_it else tried
    return number + 1e-2 * max(1.0, abs(number))


def _first(statement: SpectralProblem, most: int) -> LinePencil:
    """Return pieces on which the coefficients are resolved."""
    problem = statement.problem
    (name,) = problem.coordinates
    low, high = (float(x) for x in problem.domain.bounds[:, 0])
    terms = [t for form in statement.equations for t in form.terms]
    graphs = [c for t in terms for c in t.powers]
    inner = [np.asarray(f(g, name, low, high)) for g in graphs for f in (places_along, foci)]
    even = np.linspace(low, high, _pieces(statement, low, high) + 1)
    edges = np.unique(np.concatenate([even, statement.interfaces.lines[0], *inner]))
    edges = edges[(edges >= low) & (edges <= high)]
    far = np.diff(edges, prepend=-np.inf) > 1e-12 * (high - low)
    edges = edges[far]
    edges[-1] = high
    per_piece = len(problem.unknowns) * MODES.first + 8
    for _ in range(40):
        rough = _rough(statement, edges)
        if not rough.any() or (len(edges) + rough.sum()) * per_piece > most // 2:
            break
        middles = 0.5 * (edges[1:] + edges[:-1])
        edges = np.sort(np.concatenate([edges, middles[rough]]))
    return LinePencil(statement, edges, (MODES.first,) * (len(edges) - 1))


def _pieces(statement: SpectralProblem, low: float, high: float) -> int:
    """Return how many even pieces to begin with, from how fast solutions without lam vary."""
    x = np.linspace(low, high, 66)[1:-1, None]
    fastest = 0.0
    for form in statement.equations:
        order = max(t.order for t in form.terms)
        values = form.values(x)
        top = [np.abs(v[0]) for t, v in zip(form.terms, values, strict=True) if t.order == order]
        lead = np.maximum(np.sum(top, axis=0), 1e-300)
        for term, c in zip(form.terms, values, strict=True):
            if term.order < order:
                rate = (np.abs(c[0]) / lead) ** (1.0 / (order - term.order))
                fastest = max(fastest, float(np.median(rate)))
    return int(np.clip(np.ceil(fastest * (high - low) / MODES.lengths), MODES.fewest, MODES.narrow))


def _rough(statement: SpectralProblem, edges: FloatArray) -> Flags:
    """Tell on which pieces coefficients are not resolved."""
    z, w = gauss(MODES.first)
    take = projection(MODES.first, MODES.first) * np.sqrt(w)
    x = 0.5 * (edges[:-1, None] * (1 - z) + edges[1:, None] * (1 + z))
    out = np.zeros(len(x), dtype=bool)
    for form in statement.equations:
        for c in form.values(x.reshape(-1, 1)):
            for power in c.reshape(len(c), len(x), -1):
                weights = np.abs(power @ take.T)
                out |= weights[:, -MODES.last :].max(axis=1) > MODES.rough * max(
                    weights.max(), 1e-300
                )
    short = np.diff(edges) < 1e-10 * (edges[-1] - edges[0])
    return np.asarray(out & ~short)


def _refined(pencil: LinePencil, found: Level, aim: float) -> LinePencil | None:
    """Return finer pieces where the weights of a mode do not fall below an aim; None if all do."""
    wanted = np.array(pencil.points)
    split = np.zeros(len(wanted), dtype=bool)
    for mode in found.candidates:
        size = max(float(np.abs(found.values(mode, along(MODES.along))).max()), 1e-300)
        pieces = [
            (i, np.abs(own) * norms(len(own)) / size)
            for name, weights in mode.weights.items()
            for i, own in enumerate(np.split(weights, found.bases[name].starts[1:-1]))
        ]
        for i, sizes in pieces:
            last = float(sizes[-MODES.last :].max())
            if last <= aim:
                continue
            third = max(MODES.last, len(sizes) // 3)
            before = float(sizes[-third - MODES.last : -third].max())
            rate = np.log(max(before / last, 1.0 + 1e-12)) / third
            points = pencil.points[i] + int(np.ceil(np.log(last / aim) / rate)) + 1
            if before < MODES.steep * last or points > MODES.most:
                split[i] = True
            else:
                wanted[i] = max(wanted[i], points)
    if not split.any() and np.all(wanted == pencil.points):
        return None
    return _cut(pencil, split, wanted)


def _cut(pencil: LinePencil, split: Flags, points: Ints) -> LinePencil:
    middles = 0.5 * (pencil.edges[1:] + pencil.edges[:-1])
    edges = np.sort(np.concatenate([pencil.edges, middles[split]]))
    counts = np.repeat(
        np.where(split, np.minimum(points, MODES.first), points), np.where(split, 2, 1)
    )
    return LinePencil(pencil.statement, edges, tuple(int(c) for c in counts))
