"""Modes in the plane: patches are made finer until all that are wanted are resolved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.adapt import Patches
from sharpfront.adapt.patchwork.cuts import Cell, is_shortest
from sharpfront.adapt.patchwork.refine import functions_of, richer
from sharpfront.adapt.patchwork.state import PatchState, tails_in
from sharpfront.adapt.patchwork.tails import WORST, Tails
from sharpfront.approximation import Approximation
from sharpfront.arrays import FloatArray
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.equation.expression import is_zero
from sharpfront.errors import ProblemError
from sharpfront.rows.pencil_rows import PencilRows
from sharpfront.spectrum.modes import (
    Candidate,
    Mode,
    Modes,
    approximation_of,
    compared,
)
from sharpfront.spectrum.plane import (
    PlanePencil,
    at_value,
    basis_of,
    of_lam,
    ritz,
    smooth_start,
)
from sharpfront.spectrum.statement import Complex, SpectralProblem

SEED = 42
# Vectors beside those that are wanted.
BESIDE = 3
# How well values satisfy the operator while patches change, and at last as a share of tol.
LOOSE, TIGHT = 1e-5, 1e-2
# Rounds of refinement, and certified errors in a row that brought nothing before it ends.
ROUNDS, PATIENCE = 40, 3
# Tails are asked to be smaller by what an error lacks and the first factor, but at once by no less
# than the second: errors of values fall faster than those of modes.
LOWERED, LEAST = 0.3, 0.03
# Errors are larger than differences by this factor where modes are singular: on an L 9e-10 was told
# as 5.5e-10.
SINGULAR = 3.0
# Places at which modes are compared.
COMPARED = 4000


@dataclass(frozen=True, eq=False)
class _Level:
    """Modes on some patches: candidates, the nearest first, and the vectors they came from."""

    pencil: PlanePencil
    candidates: list[Candidate]
    vectors: FloatArray


def plane_modes(
    statement: SpectralProblem, k: int, near: complex, tol: float, most: int | None
) -> Modes:
    """Return the modes whose eigenvalues are nearest to a number.

    Parameters
    ----------
    statement
        The problem, in the plane.
    k
        How many.
    near
        The number.
    tol
        What errors of values are to become, relative to the largest of them.
    most
        The most functions.
    """
    _refuse(statement, near)
    adaptor = Patches() if most is None else Patches(max_kernels=most)
    search = _Search(statement, k, near.real, tol, adaptor)
    return search.modes()


def _refuse(statement: SpectralProblem, near: complex) -> None:
    forms = [f for _, own in (*statement.conditions, *statement.further) for f in own]
    with_lam = any(not is_zero(c) for f in forms for t in f.terms for c in t.powers[1:])
    reasons = {
        "complex coefficients": statement.is_complex,
        "powers of lam": statement.degree > 1,
        "lam in a condition": with_lam,
        "conditions at points or on integrals": bool(statement.further),
        "a complex near=": bool(near.imag),
    }
    found = [words for words, there in reasons.items() if there]
    if found:
        raise ProblemError(
            f"In the plane sf.eigs does not take {found[0]} yet; on an interval it takes more."
        )


class _Search:
    """The loop: modes on patches, finer patches, modes again.

    Parameters
    ----------
    statement, k, near, tol
        What is looked for.
    adaptor
        Who makes patches finer.
    """

    def __init__(
        self, statement: SpectralProblem, k: int, near: float, tol: float, adaptor: Patches
    ) -> None:
        self.statement, self.k, self.near, self.tol = statement, k, near, tol
        self.adaptor = adaptor
        # At an eigenvalue itself nothing is right: look from some way off whether one is there.
        self._set(near - _size(statement))
        self.level = self._level(self.state, None, LOOSE)
        gaps = self._gaps
        on_it = len(gaps) < 2 or gaps.min() < 1e-3 * gaps.max()
        self._set(near - 0.137 * float(gaps.max()) if on_it else near)
        self.level = self._level(self.state, None, LOOSE)

    @property
    def _gaps(self) -> FloatArray:
        return np.array([abs(c.value - self.near) for c in self.level.candidates[: self.k + 1]])

    def _set(self, shift: float) -> None:
        """Take another shift."""
        self.shift = shift
        problem = at_value(self.statement.problem, shift)
        self.state: PatchState = self.adaptor.start(problem, self.tol, SEED)
        self.rows = PencilRows(problem, of_lam(self.statement), SEED)

    def modes(self) -> Modes:
        """Return what is found."""
        best: Modes | None = None
        aim, idle = self.tol, 0
        for _ in range(ROUNDS):
            tails = self._tails(self.level, aim)
            cells, changed = self.adaptor.finer(self.state, tails, aim)
            if changed and not self._too_many(cells):
                self._go(cells, LOOSE)
                continue
            checked = self._checked()
            better = best is None or checked.worst < 0.7 * best.worst
            idle = 0 if better else idle + 1
            best = checked if best is None or checked.worst < best.worst else best
            if best.worst <= self.tol and not best.doubt:
                return best
            if changed or idle >= PATIENCE:
                return replace(best, full=changed)
            aim *= min(LOWERED, max(LEAST, LOWERED * self.tol / max(checked.worst, 1e-300)))
            cells, changed = self.adaptor.finer(self.state, self._tails(self.level, aim), aim)
            cells = cells if changed else richer(self.state.cells)
            if self._too_many(cells):
                return replace(best, full=True)
            self._go(cells, LOOSE)
        assert best is not None
        return best

    def _too_many(self, cells: Sequence[Cell]) -> bool:
        count = functions_of(cells) * len(self.rows.unknowns)
        # A level of more functions is made for the check.
        return 1.3 * count > self.adaptor.max_kernels or any(is_shortest(c.patch) for c in cells)

    def _go(self, cells: Sequence[Cell], miss: float) -> None:
        self.state = replace(self.state, cells=tuple(cells))
        self.level = self._level(self.state, self.level, miss)

    def _level(
        self, state: PatchState, before: _Level | None, miss: float, weight: float = 1.0
    ) -> _Level:
        """Return the modes on a state's patches."""
        patches = tuple(c.patch for c in state.cells)
        pencil = PlanePencil(self.rows, state.tiling, patches, weight)
        count = self.k + BESIDE
        if before is None:
            start = smooth_start(pencil, count, SEED)
        elif before.pencil.patches == patches:
            start = before.vectors
        else:
            basis = basis_of(before.pencil.patches)
            start = pencil.taken(basis, before.vectors, before.pencil)
        found = ritz(pencil, start, self.k, miss)
        keep = np.flatnonzero(np.abs(found.values) > 1e-12 * np.abs(found.values[0]))[: count + 2]
        candidates = [
            Candidate(
                complex(self.shift + 1.0 / found.values[i]),
                self._weights(pencil, found.vectors[:, i]),
                float(found.misses[i] * abs(1.0 / found.values[i])),
            )
            for i in keep
        ]
        candidates.sort(key=lambda c: abs(c.value - self.near))
        vectors = found.vectors[:, :count]
        return _Level(pencil, candidates, np.ascontiguousarray(vectors.real + vectors.imag))

    def _weights(self, pencil: PlanePencil, vector: Complex) -> dict[str, Complex]:
        real, imaginary = pencil.weights(vector.real), pencil.weights(vector.imag)
        return {u: real[u] + 1j * imaginary[u] for u in real}

    def _tails(self, level: _Level, aim: float) -> Tails:
        """Return the longest tails of all modes that are wanted."""
        basis = basis_of(level.pencil.patches)
        names, found = self.statement.problem.unknowns, []
        for candidate in level.candidates[: self.k]:
            scale = _largest(basis, candidate.weights)
            for part in (np.real, np.imag):
                own = {
                    u: np.ascontiguousarray(part(w / scale)) for u, w in candidate.weights.items()
                }
                if max(float(np.abs(w).max()) for w in own.values()) > 1e-12:
                    whole = Approximation(
                        self.statement.problem.coordinates, dict.fromkeys(names, basis), own
                    )
                    found.append(tails_in(whole, self.state, [1.0] * len(names), aim))
        tail, wanted, last = (np.max([getattr(f, n) for f in found], axis=0) for n in WORST)
        return Tails(tail, wanted, np.all([f.analytic for f in found], axis=0), last)

    def _checked(self) -> Modes:
        """Return modes on richer patches, with errors from the others and from another norm."""
        miss = TIGHT * self.tol
        self.level = self._level(self.state, self.level, miss)
        finer = replace(self.state, cells=tuple(richer(self.state.cells)))
        fine = self._level(finer, self.level, miss)
        other = self._level(finer, fine, miss, self.adaptor.settings.heavier)
        basis, base = basis_of(fine.pencil.patches), basis_of(self.level.pencil.patches)
        points = base.centres[:: max(1, base.size // COMPARED)]
        points = points[self.statement.problem.domain.contains(points)]
        zero = (0, 0)

        def values(own: PatchworkBasis, weights: dict[str, Complex]) -> Complex:
            return np.concatenate(
                [
                    own.values(w.real, points, zero) + 1j * own.values(w.imag, points, zero)
                    for w in weights.values()
                ]
            )

        shapes = [values(basis, c.weights) for c in fine.candidates]
        before = [values(base, c.weights) for c in self.level.candidates]
        found, doubt, more = compared(
            list(zip(self.level.candidates, before, strict=True)),
            list(zip(fine.candidates, shapes, strict=True)),
            [c.value for c in other.candidates],
            self.k,
            self.near,
        )
        # What patches at corners leave is seen only in part by more functions on them.
        factor = 1.0 if self._tails(self.level, self.tol).analytic.all() else SINGULAR
        modes = [
            Mode(
                m.value,
                factor * m.error,
                m.missed,
                self._approximation(basis, m.weights, m.scale, m.missed),
            )
            for m in found
        ]
        return Modes(tuple(modes), doubt, more=more)

    def _approximation(
        self, basis: PatchworkBasis, weights: dict[str, Complex], scale: complex, missed: float
    ) -> Approximation:
        problem = self.statement.problem
        bases = dict.fromkeys(problem.unknowns, basis)
        return approximation_of(problem, bases, weights, scale, missed)


def _size(statement: SpectralProblem) -> float:
    """Return about how large values are: terms without lam over terms with it, on the domain."""
    domain = statement.problem.domain
    length = float(np.ptp(domain.bounds, axis=0).max())
    points = domain.sample(64)
    sizes = np.zeros(2)
    for form in statement.equations:
        for term, c in zip(form.terms, form.values(points), strict=True):
            sizes += np.abs(c[:2]).mean(axis=1) / length**term.order
    return float(sizes[0] / max(sizes[1], 1e-300))


def _largest(basis: PatchworkBasis, weights: dict[str, Complex]) -> complex:
    """Return the value of largest size of a mode on its patches."""
    z = tuple(np.linspace(-1.0, 1.0, 7).tolist())
    values = [
        basis.on_patches(w.real, z) + 1j * basis.on_patches(w.imag, z) for w in weights.values()
    ]
    every = np.concatenate(values)
    return complex(every[int(np.argmax(np.abs(every)))])
