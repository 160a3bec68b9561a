"""Modes on a line: pieces are made finer until all that are wanted are resolved, then compared."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sharpfront.arrays import Flags, FloatArray, Ints
from sharpfront.bases.legendre import gauss, norms, projection
from sharpfront.equation.edges import places_along
from sharpfront.equation.narrow_features import foci
from sharpfront.spectrum.line import LinePencil
from sharpfront.spectrum.modes import ALIKE, Candidate, Modes, compared, nearest, polished
from sharpfront.spectrum.settings import MODES
from sharpfront.spectrum.statement import Across, Complex, SpectralProblem
from sharpfront.spectrum.sturm import gaps_in


def line_modes(statement: SpectralProblem, k: int, near: complex, tol: float, most: int) -> Modes:
    """Return the k modes in one dimension whose eigenvalues are nearest to a number.

    The tolerance is of the values' errors, relative to the largest; there are `most` columns at
    most.
    """
    pencil, aim, best = _first(statement, most), tol, None
    for _ in range(MODES.rounds):
        found = _found(pencil, near, k)
        finer = _refined(pencil, found[:k], aim)
        if finer is not None and finer.size <= most:
            pencil = finer
            continue
        richer = pencil.richer(MODES.more)
        checked = _compared(pencil, found, richer, _found(richer, near, k), k, near)
        if best is None or checked.worst < best.worst:
            best = checked
        if finer is not None or richer.size > most:
            return replace(best, full=best.worst > tol)
        if checked.worst <= tol and not checked.doubt:
            return checked
        lacking = checked.worst / tol
        if checked.doubt or lacking <= 1.0:
            pencil = _halved(pencil)
        else:
            aim = max(1e-15, aim * min(MODES.lowered, 1.0 / lacking))
            pencil = richer
        if pencil.size > most or aim <= 1e-15:
            break
    assert best is not None
    return best


def _found(pencil: LinePencil, near: complex, k: int) -> list[Candidate]:
    """Return the eigenvalues nearest to a number, nearest first."""
    matrices, shift = pencil.matrices, _shift(pencil, near, k)
    rough = sorted(nearest(matrices, shift, k), key=lambda f: abs(f.value - near))
    out = [_parted(f, twins) or polished(matrices, f) for f, twins in _with_twins(rough)]
    fixed = [_real_again(f, g) for f, g in zip(rough, out, strict=True)]
    return sorted(fixed, key=lambda f: abs(f.value - near))


def _with_twins(found: list[Candidate]) -> list[tuple[Candidate, list[Candidate]]]:
    """Return modes, each with the others whose values are as good as the same."""
    near = [(f, ALIKE * max(1e-300, abs(f.value))) for f in found]
    return [(f, [g for g in found if g is not f and abs(g.value - f.value) <= r]) for f, r in near]


def _parted(mode: Candidate, twins: Sequence[Candidate]) -> Candidate | None:
    """Return one of several modes of a value, None where there are no others.

    Where two have the same shape there is one in truth, and rounding parted its value by the root
    of what it is elsewhere: by how much they are apart is not known better.
    """
    if not twins:
        return None
    same = [
        abs(t.value - mode.value) for t in twins if _angle(t.weights, mode.weights) < MODES.parallel
    ]
    return replace(mode, rounding=max(same)) if same else mode


def _angle(one: Complex, other: Complex) -> float:
    """Return the sine of the angle between vectors."""
    a, b = one / np.linalg.norm(one), other / np.linalg.norm(other)
    return float(np.linalg.norm(a - np.vdot(b, a) * b))


def _real_again(before: Candidate, after: Candidate) -> Candidate:
    """Return a value as a real one if it was: of real matrices it stays one."""
    rounding = after.rounding if np.isfinite(after.rounding) else 1e-13 * abs(after.value)
    value = after.value.real + 0j if not before.value.imag else after.value
    return Candidate(value, after.weights, rounding)


def _shift(pencil: LinePencil, near: complex, k: int) -> complex:
    """Return a number close to the one given that is no eigenvalue itself."""
    number = near.real if not near.imag else near
    for offset in (0.0, 1e-5, 1e-3):
        tried = number + offset * max(1.0, abs(number))
        try:
            found = nearest(pencil.matrices, tried, k)
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
    edges = np.unique(np.concatenate([even, Across(statement).places, *inner]))
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


def _sizes(pencil: LinePencil, weights: Sequence[Sequence[Complex]]) -> FloatArray:
    """Return the largest value of each unknown of a mode, (unknowns,)."""
    values = pencil.sampled(weights, np.linspace(-1.0, 1.0, MODES.along))
    return np.asarray(np.abs(values).max(axis=(1, 2)))


def _refined(pencil: LinePencil, found: Sequence[Candidate], aim: float) -> LinePencil | None:
    """Return finer pieces where the weights of a mode do not fall below an aim; None if all do."""
    pieces = len(pencil.points)
    wanted = np.array(pencil.points)
    split = np.zeros(pieces, dtype=bool)
    for mode in found:
        weights = pencil.weights(mode.weights)
        size = max(float(_sizes(pencil, weights).max()), 1e-300)
        for i, own in itertools.product(range(pieces), weights):
            sizes = np.abs(own[i]) * norms(len(own[i])) / size
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


def _halved(pencil: LinePencil) -> LinePencil:
    every = np.ones(len(pencil.points), dtype=bool)
    return _cut(pencil, every, np.array(pencil.points))


def _compared(
    pencil: LinePencil,
    rough: Sequence[Candidate],
    richer: LinePencil,
    fine: Sequence[Candidate],
    k: int,
    near: complex,
) -> Modes:
    """Return modes on richer pieces, with errors from what they were on poorer ones."""
    statement = richer.statement
    found, doubt, more = compared(_shapes(pencil, rough), _shapes(richer, fine), None, k, near)
    doubt = doubt or gaps_in(statement, [m.value for m in found], richer.edges)
    bases = {name: richer.basis(u) for u, name in enumerate(statement.problem.unknowns)}
    modes = tuple(m.mode(statement.problem, bases) for m in found)
    return Modes(modes, doubt, more=more)


def _shapes(pencil: LinePencil, found: Sequence[Candidate]) -> list[tuple[Candidate, Complex]]:
    """Return eigenvalues with weights by name and values at the same places of all pieces."""
    z, names = np.linspace(-1.0, 1.0, MODES.along), pencil.statement.problem.unknowns
    out = []
    for each in found:
        weights = pencil.weights(each.weights)
        named = {n: np.concatenate(own) for n, own in zip(names, weights, strict=True)}
        shape = pencil.sampled(weights, z).ravel()
        out.append((replace(each, weights=named), shape))
    return out
