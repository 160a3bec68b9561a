"""Modes in the plane: patches are made finer until all that are wanted are resolved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.adapt import Patches
from sharpfront.adapt.patchwork.state import PatchState, tails_in
from sharpfront.arrays import FloatArray
from sharpfront.errors import ProblemError
from sharpfront.place.patches.cuts import Cell, is_shortest
from sharpfront.place.patches.refine import functions_of, richer
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.patches.tails import Tails
from sharpfront.rows.pencil_rows import PencilRows
from sharpfront.solution.approximation import Approximation
from sharpfront.spectrum.modes import Candidate, Level, Modes, along, compared
from sharpfront.spectrum.plane import PlanePencil, ritz, smooth_start
from sharpfront.spectrum.result import IMAG, REAL
from sharpfront.spectrum.settings import MODES
from sharpfront.spectrum.shifted import shifted, size_of_values
from sharpfront.spectrum.statement import Complex, SpectralProblem
from sharpfront.trust.free_corners import free_corners, words

SEED = 42
# Positions along each axis of a patch at which the largest value of a mode is looked for.
SAMPLED = 7


@dataclass(frozen=True, eq=False)
class _PlaneLevel(Level):
    """Modes on some patches, and the vectors they came from."""

    pencil: PlanePencil
    vectors: FloatArray


def plane_modes(
    statement: SpectralProblem, k: int, near: complex, tol: float, most: int | None
) -> Modes:
    """Return the k modes in the plane whose eigenvalues are nearest to a number.

    The tolerance is of the values' errors, relative to the largest; there are `most` functions at
    most.
    """
    if statement.further:
        raise ProblemError(
            "In the plane sf.eigs does not take conditions at points or on integrals yet; on an "
            "interval it does."
        )
    for corner in free_corners(statement.problem):
        raise ProblemError(f"{words(statement.problem, corner)} sf.eigs does not take that yet.")
    adaptor = Patches() if most is None else Patches(max_kernels=most)
    return _Search(statement, k, near, tol, adaptor).modes()


class _Search:
    """The loop: modes on patches, finer patches by an adaptor, modes again."""

    def __init__(
        self, statement: SpectralProblem, k: int, near: complex, tol: float, adaptor: Patches
    ) -> None:
        self.statement, self.k, self.near, self.tol = statement, k, near, tol
        self.adaptor = adaptor
        # At an eigenvalue itself nothing is right: look from some way off whether one is there.
        self.scale = size_of_values(statement)
        self._set(near - self.scale)
        self.level = self._level(self.state, None, MODES.loose)
        gaps = np.array([abs(c.value - near) for c in self.level.candidates[: k + 1]])
        on_it = len(gaps) < 2 or gaps.min() < 1e-3 * gaps.max()
        self._set(near - 0.137 * float(gaps.max()) if on_it else near)
        self.level = self._level(self.state, None, MODES.loose)

    def _set(self, shift: complex) -> None:
        """Take another shift."""
        self.shift, stated = shift, shifted(self.statement, shift, self.scale)
        # Of a real problem in pairs every value comes with its conjugate.
        self.pairs = stated.pairs
        self.state: PatchState = self.adaptor.start(stated.problem, self.tol, SEED)
        self.rows = PencilRows(stated.problem, stated.equations, stated.conditions, SEED)

    def modes(self) -> Modes:
        """Return what is found."""
        best: Modes | None = None
        aim, idle = self.tol, 0
        for _ in range(MODES.rounds):
            tails = self._tails(self.level, aim)
            cells, changed = self.adaptor.finer(self.state, tails, aim)
            if changed and not self._too_many(cells):
                self._go(cells)
                continue
            checked = self._checked()
            better = best is None or checked.worst < 0.7 * best.worst
            idle = 0 if better else idle + 1
            best = checked if best is None or checked.worst < best.worst else best
            if best.worst <= self.tol and not best.doubt:
                return best
            if changed or idle >= MODES.patience:
                return replace(best, full=changed)
            aim *= min(
                MODES.lacked,
                max(MODES.least, MODES.lacked * self.tol / max(checked.worst, 1e-300)),
            )
            cells, changed = self.adaptor.finer(self.state, self._tails(self.level, aim), aim)
            cells = cells if changed else richer(self.state.cells)
            if self._too_many(cells):
                return replace(best, full=True)
            self._go(cells)
        assert best is not None
        return best

    def _too_many(self, cells: Sequence[Cell]) -> bool:
        count = functions_of(cells) * len(self.rows.unknowns)
        # A level of more functions is made for the check.
        return 1.3 * count > self.adaptor.max_kernels or any(is_shortest(c.patch) for c in cells)

    def _go(self, cells: Sequence[Cell]) -> None:
        self.state = replace(self.state, cells=tuple(cells))
        self.level = self._level(self.state, self.level, MODES.loose)

    def _level(
        self, state: PatchState, before: _PlaneLevel | None, miss: float, weight: float = 1.0
    ) -> _PlaneLevel:
        """Return the modes on a state's patches."""
        patches = tuple(c.patch for c in state.cells)
        pencil = PlanePencil(self.rows, state.tiling, patches, weight, self.scale)
        count = (self.k + MODES.spare_modes) * (1 + self.pairs)
        if before is None:
            start = smooth_start(pencil, count, SEED)
        elif before.pencil.patches == patches:
            start = before.vectors
        else:
            start = pencil.taken(before.vectors, before.pencil)
        found = ritz(pencil, start, self.k * (1 + self.pairs), miss)
        candidates: list[Candidate] = []
        for value, vector, missed in zip(found.values, found.vectors.T, found.misses, strict=True):
            if len(candidates) == count + 2 or abs(value) <= 1e-12 * abs(found.values[0]):
                break
            real, imaginary = (
                pencil.weights(pencil.halves(v)[0]) for v in (vector.real, vector.imag)
            )
            weights = {u: real[u] + 1j * imaginary[u] for u in real}
            away = 1.0 / value
            candidates.append(Candidate(complex(self.shift + away), weights, missed * abs(away)))
        candidates = _own(candidates) if self.pairs else candidates
        candidates.sort(key=lambda c: abs(c.value - self.near))
        bases = dict.fromkeys(self.statement.problem.unknowns, pencil.basis)
        vectors = found.vectors[:, :count]
        kept = np.ascontiguousarray(vectors.real + vectors.imag)
        return _PlaneLevel(bases, candidates, pencil, kept)

    def _tails(self, level: _PlaneLevel, aim: float) -> Tails:
        """Return the longest tails of all modes that are wanted."""
        found, names = [], self.rows.unknowns
        bases = dict.fromkeys(names, level.pencil.basis)
        for candidate in level.candidates[: self.k]:
            values = level.values(candidate, along(SAMPLED))
            scale = values[int(np.argmax(np.abs(values)))]
            scaled = [w / scale for w in candidate.weights.values()]
            parts = [[part(w) for w in scaled] for part in (np.real, np.imag)]
            for own in [[*parts[0], *parts[1]]] if self.pairs else parts:
                if max(float(np.abs(w).max()) for w in own) > 1e-12:
                    plain = dict(zip(names, map(np.ascontiguousarray, own), strict=True))
                    whole = Approximation(self.statement.problem.coordinates, bases, plain)
                    found.append(tails_in(whole, self.state, [1.0] * len(names), aim))
        return Tails.worst_of(found)

    def _checked(self) -> Modes:
        """Return modes on richer patches, with errors from the others and from another norm."""
        miss = MODES.tight * self.tol
        self.level = self._level(self.state, self.level, miss)
        finer = replace(self.state, cells=tuple(richer(self.state.cells)))
        fine = self._level(finer, self.level, miss)
        other = self._level(finer, fine, miss, SETTINGS.heavier)
        problem, base = self.statement.problem, self.level.pencil.basis
        points = base.centres[:: max(1, base.size // MODES.most_points)]
        points = points[problem.domain.contains(points)]
        others = [c.value for c in other.candidates]
        found = compared(
            problem,
            (self.level, fine),
            others,
            lambda basis, weights: basis.values(weights, points, (0, 0)),
            self.k,
            self.near,
        )
        # What patches at corners leave is seen only in part by more functions on them.
        factor = 1.0 if self._tails(self.level, self.tol).analytic.all() else MODES.singular
        modes = tuple(replace(m, error=factor * m.error) for m in found.modes)
        return replace(found, modes=modes)


def _own(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the modes among those of pairs (a, b), of which a + ib is one, or nothing.

    Of a pair of complex operators every other mode is the conjugate of one, with a + ib = 0, and
    where values are real what is found are mixtures of both.
    """
    kept: list[tuple[Candidate, Complex]] = []
    for candidate in candidates:
        pairs = candidate.weights
        names = [name.removesuffix(REAL) for name in pairs if name.endswith(REAL)]
        weights = {u: pairs[u + REAL] + 1j * pairs[u + IMAG] for u in names}
        whole = np.concatenate(list(weights.values()))
        size = np.sqrt(sum(np.linalg.norm(w) ** 2 for w in pairs.values()))
        alike = [
            w
            for c, w in kept
            if abs(c.value - candidate.value) <= MODES.close_values * abs(candidate.value)
        ]
        rest = whole
        if alike:
            columns = np.stack(alike, axis=1)
            rest = whole - columns @ np.linalg.lstsq(columns, whole, rcond=None)[0]
        if np.linalg.norm(rest) > MODES.mixed * size:
            kept.append((replace(candidate, weights=weights), whole))
    return [candidate for candidate, _ in kept]
