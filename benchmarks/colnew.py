"""Problems on the line against COLNEW, compiled Fortran, at an equal true error.

The peer (Bader and Ascher: collocation at Gaussian points on a mesh that follows an estimate of the
error) is Fortran 77 from the source distribution of scikits.bvp1lg 0.2.5 on PyPI; later ones fetch
the same file from netlib. It is compiled here by gfortran and called through ctypes, once with
equation and Jacobian as compiled Fortran, once with vectorised functions of Python, as that package
does::

    pip download --no-deps --no-binary :all: --no-build-isolation scikits.bvp1lg==0.2.5
    tar xzf scikits.bvp1lg-0.2.5.tar.gz
    export SHARPFRONT_COLNEW=scikits.bvp1lg-0.2.5/lib
    python benchmarks/colnew.py

Where pip wants to build the package before it gives the file, take the file from its page on PyPI.
The peer gets the loosest quarter-decade tolerance on u that meets the error, the best of four
numbers of points in an interval and of three starting meshes, and no guess. Its own estimate is
part of its time, as ours is. One more column has what it takes, and how far off it is, when it is
asked for the error with its own points and mesh, since nobody knows which tolerance is enough.
``--peers`` adds the other peers of the line: BVP_SOLVER where SHARPFRONT_BVP_SOLVER names its
sources, `solve_bvp`, and the small spectral solver on what it takes.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import ultraspherical
from bvp import TARGETS, median_ms, ours
from bvp import peer as scipy_peer
from bvp_solver import CASES as MILD
from bvp_solver import SOURCES as BVP_SOURCES
from bvp_solver import compiled_peer

from sharpfront import catalog
from sharpfront.arrays import FloatArray, blas_threads
from sharpfront.catalog import Entry
from sharpfront.equation.expression import Expression
from sharpfront.measure import graded_points
from sharpfront.rivals.bacoli import assigned
from sharpfront.rivals.contract import Subject
from sharpfront.rivals.scipy_bvp import FirstOrder

SOURCES = "SHARPFRONT_COLNEW"
COMPILE = ("gfortran", "-std=legacy", "-O3", "-w", "-fPIC", "-ffree-line-length-none")
POINTS, MESHES, LARGEST = (4, 5, 6, 7), (5, 20, 80), 20_000
# What COLNEW takes where it is told neither points nor a mesh.
DEFAULT_POINTS, DEFAULT_MESH = 3, 5
ROUNDS = 21
# From here on `solve_bvp` takes minutes, and BVP_SOLVER fails on what is narrower.
THINNEST = 1e-6
THIN = (catalog.SINGLE_LAYER, catalog.REACTION, catalog.TURNING_POINT)
CASES = (*MILD, *((entry, 1e-8) for entry in THIN))
CALLBACKS = """
subroutine fsub(ncomp, mstar, nx, x, z, f)
  integer :: ncomp, mstar, nx, i
  double precision :: x(nx), z(2, nx), f(nx), t, y(2)
  do i = 1, nx
    t = x(i)
    y = z(:, i)
{right}
  end do
end subroutine fsub
subroutine dfsub(ncomp, mstar, nx, x, z, df)
  integer :: ncomp, mstar, nx, i
  double precision :: x(nx), z(2, nx), df(2, nx), t, y(2)
  do i = 1, nx
    t = x(i)
    y = z(:, i)
{jacobian}
  end do
end subroutine dfsub
subroutine gsub(ncomp, mstar, z, g)
  integer :: ncomp, mstar
  double precision :: z(2, 2), g(2)
{ends}
end subroutine gsub
subroutine dgsub(ncomp, mstar, z, dg)
  integer :: ncomp, mstar
  double precision :: z(2, 2), dg(2, 2)
{slopes}
end subroutine dgsub
subroutine guess(ncomp, mstar, nx, x, z, d)
  integer :: ncomp, mstar, nx
  double precision :: x(nx), z(2, nx), d(nx)
  z = 0d0
  d = 0d0
end subroutine guess
"""
# What LINPACK calls of BLAS, with increments of one as it does here.
BLAS = """
subroutine daxpy(n, a, x, incx, y, incy)
  integer :: n, incx, incy
  double precision :: a, x(n), y(n)
  y = y + a * x
end subroutine daxpy
subroutine dscal(n, a, x, incx)
  integer :: n, incx
  double precision :: a, x(n)
  x = a * x
end subroutine dscal
double precision function ddot(n, x, incx, y, incy)
  integer :: n, incx, incy
  double precision :: x(n), y(n)
  ddot = dot_product(x, y)
end function ddot
integer function idamax(n, x, incx)
  integer :: n, incx
  double precision :: x(n)
  idamax = maxloc(abs(x), 1)
end function idamax
"""


def leaves(system: FirstOrder, place: str, array: str) -> dict[Any, str]:
    """Return what coordinate and derivatives are called; `array` has a place for the order."""
    found: dict[Any, str] = {("coordinate", system.problem.coordinates[0]): place}
    for k, value in enumerate((array.format(1), array.format(2), "0d0")):
        found["derivative", system.unknown, (k,)] = value
    return found


def ordered_ends(system: FirstOrder) -> list[Any]:
    """Return conditions from left to right."""
    return sorted(system.ends, key=lambda end: not end[0])


def fortran(system: FirstOrder) -> str:
    """Return a problem as the subroutines that COLNEW calls."""
    inside = leaves(system, "t", "y({})")
    leading = next(t.coefficient for t in system.terms if t.orders[0] == 2)
    jacobian = ["    df(1, i) = 0d0", "    df(2, i) = 0d0"]
    for term in system.terms:
        if term.orders[0] < 2:
            slope: Expression = -term.coefficient / leading
            jacobian.append(assigned(f"df({term.orders[0] + 1}, i)", slope, inside))
    ends, slopes = [], ["  dg = 0d0"]
    for i, (left, residual, terms) in enumerate(ordered_ends(system), 1):
        x = f"{system.problem.domain.bounds[0 if left else 1, 0]:.17e}".replace("e", "d")
        own = leaves(system, x, f"z({{}}, {i})")
        ends.append(assigned(f"g({i})", residual, own))
        slopes += [assigned(f"dg({t.orders[0] + 1}, {i})", t.coefficient, own) for t in terms]
    return CALLBACKS.format(
        right=assigned("f(i)", -system.equation / leading, inside),
        jacobian="\n".join(jacobian),
        ends="\n".join(ends),
        slopes="\n".join(slopes),
    )


def compiled(text: str, folder: Path) -> ctypes.CDLL:
    """Return COLNEW with the subroutines of a problem."""
    sources = Path(os.environ[SOURCES]).resolve()
    if not (folder / "colnew.o").exists():
        for name in ("colnew", "dgesl", "dgefa"):
            command = [*COMPILE, "-c", str(sources / f"{name}.f"), "-o", f"{name}.o"]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
    name = f"race{abs(hash(text))}"
    (folder / f"{name}.f90").write_text(text + BLAS)
    objects = ["colnew.o", "dgesl.o", "dgefa.o"]
    command = [*COMPILE, "-shared", f"{name}.f90", *objects, "-o", f"{name}.so"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return ctypes.CDLL(str(folder / f"{name}.so"))


def python_callbacks(system: FirstOrder) -> list[Any]:
    """Return the subroutines as functions of Python that take all points of a mesh at once."""

    def array(address: int, *shape: int) -> FloatArray:
        count = int(np.prod(shape))
        flat = np.frombuffer((ctypes.c_double * count).from_address(address))
        return flat.reshape(shape)

    def size(address: int) -> int:
        return ctypes.c_int.from_address(address).value

    def fsub(_c: int, _m: int, nx: int, x: int, z: int, f: int) -> None:
        n = size(nx)
        array(f, n)[:] = system.right(array(x, n), array(z, n, 2).T)[1]

    def dfsub(_c: int, _m: int, nx: int, x: int, z: int, df: int) -> None:
        n = size(nx)
        array(df, n, 2)[:] = system.right_jacobian(array(x, n), array(z, n, 2).T)[1].T

    order = sorted(range(2), key=lambda i: not system.ends[i][0])

    def gsub(_c: int, _m: int, z: int, g: int) -> None:
        at = array(z, 2, 2)
        array(g, 2)[:] = system.ends_missed(at[0], at[1])[order]

    def dgsub(_c: int, _m: int, z: int, dg: int) -> None:
        at = array(z, 2, 2)
        array(dg, 2, 2)[:] = sum(system.ends_jacobian(at[0], at[1]))[order]

    def guess(*_: int) -> None:
        raise NotImplementedError

    counts = {fsub: 6, dfsub: 6, gsub: 4, dgsub: 4, guess: 6}
    kinds = [ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * n) for n in counts.values()]
    return [kind(f) for kind, f in zip(kinds, counts, strict=True)]


class Colnew:
    """A problem, ready to be solved by COLNEW."""

    def __init__(self, system: FirstOrder, library: ctypes.CDLL, python: bool) -> None:
        self.library = library
        names = ("fsub_", "dfsub_", "gsub_", "dgsub_", "guess_")
        own = [getattr(library, name) for name in names]
        self.callbacks = python_callbacks(system) if python else own
        self.ends = system.problem.domain.bounds[:, 0]
        self.linear = system.problem.is_linear
        at = [self.ends[0 if left else 1] for left, *_ in ordered_ends(system)]
        self.zeta = np.array(at, dtype=float)

    def solve(self, points: int, mesh: int, tol: float) -> tuple[FloatArray, Any] | None:
        """Return what `values` needs, None where it fails."""
        width = points + 2
        real = LARGEST * (4 + 6 + (5 + points) * width + 4 * 4)
        whole = LARGEST * (3 + width)
        fspace, ispace = np.empty(real), np.zeros(whole, dtype=np.int32)
        ipar = np.zeros(11, dtype=np.int32)
        ipar[:7] = int(not self.linear), points, mesh, 1, real, whole, 1
        flag = ctypes.c_int()
        one, two = np.array([1], dtype=np.int32), np.array([2], dtype=np.int32)
        tols, ends = np.array([tol]), self.ends.astype(float)
        given = (one, two, ends[:1], ends[1:], self.zeta, ipar, one, tols, tols, ispace, fspace)
        addresses = [ctypes.c_void_p(a.ctypes.data) for a in given]
        self.library.colnew_(*addresses, ctypes.byref(flag), *self.callbacks)
        return (fspace, ispace) if flag.value == 1 else None

    def values(self, found: tuple[FloatArray, Any], x: FloatArray) -> FloatArray:
        """Return u at places."""
        z, n = np.empty((len(x), 2)), np.array([len(x)], dtype=np.int32)
        given = (n, x, z, *found)
        self.library.appsln_many_(*[ctypes.c_void_p(a.ctypes.data) for a in given])
        return z[:, 0]


class Race:
    """A problem for COLNEW, with places where the truth is known."""

    def __init__(self, entry: Entry, parameter: float, folder: Path) -> None:
        problem, exact = entry.problem(parameter), entry.exact(parameter)
        points = graded_points(problem.domain, entry.features(parameter))
        self.x = np.ascontiguousarray(points[:, 0] if points.ndim > 1 else points)
        self.truth = np.ravel(exact(self.x))
        self.system = FirstOrder(Subject(problem))
        self.library = compiled(fortran(self.system), folder)

    def error(self, solver: Colnew, found: tuple[FloatArray, Any]) -> float:
        """Return the largest error."""
        return float(np.abs(solver.values(found, self.x) - self.truth).max())


def asked(race: Race, target: float) -> str:
    """Return time and error of COLNEW when it is asked for an error, with its own settings."""
    solver, setting = Colnew(race.system, race.library, False), (DEFAULT_POINTS, DEFAULT_MESH)
    found = solver.solve(*setting, target)
    if found is None:
        return "fails"
    ms = median_ms(lambda: solver.solve(*setting, target), ROUNDS)
    return f"{ms:.2f} ({race.error(solver, found):.0e})"


def peer(race: Race, target: float, python: bool) -> tuple[float, str]:
    """Return the best time of COLNEW that meets the target, and how it was set."""
    solver, best = Colnew(race.system, race.library, python), (np.inf, "not reached")
    for stages in POINTS:
        for mesh in MESHES:
            for tol in 10.0 ** -np.arange(2, 13.01, 0.25):
                found = solver.solve(stages, mesh, tol)
                if found is None:
                    continue
                if race.error(solver, found) <= target:
                    call: Callable[[], Any] = lambda s=stages, m=mesh, t=tol: solver.solve(s, m, t)  # noqa: E731
                    best = min(best, (median_ms(call, ROUNDS), _how(stages, mesh, tol)))
                    break
    return best


def _how(stages: int, mesh: int, tol: float) -> str:
    return f"{stages} points, {mesh} intervals, tol {tol:.0e}"


def others(entry: Entry, parameter: float, target: float, folder: Path) -> list[str]:
    """Return the times of BVP_SOLVER, `solve_bvp` and the spectral solver."""
    found = [np.nan, np.nan, np.nan]
    if BVP_SOURCES in os.environ and parameter >= THINNEST:
        found[0] = compiled_peer(entry, parameter, target, folder)[0]
    if parameter > THINNEST:
        found[1] = scipy_peer(entry, parameter, target)[0]
    if (entry, parameter) in ultraspherical.RACES:
        found[2] = ultraspherical.fastest(entry, parameter, target)[0]
    return ["" if np.isnan(ms) else "none" if np.isinf(ms) else f"{ms:.2f}" for ms in found]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", action="store_true", help="the other peers too")
    names = ["BVP_SOLVER", "`solve_bvp`", "spectral"] if parser.parse_args().peers else []
    warnings.simplefilter("ignore")
    heads = ["problem", "true error", "ours", "compiled", "from Python", "asked for it (error)"]
    print(f"| {' | '.join([*heads, *names, 'how'])} |")
    print(f"| --- |{' ---: |' * (len(heads) - 1 + len(names))} --- |")
    with blas_threads(1), TemporaryDirectory() as folder:
        for entry, parameter in CASES:
            race = Race(entry, parameter, Path(folder))
            for target in TARGETS:
                mine = ours(entry, parameter, target)[0]
                ms, how = peer(race, target, python=False)
                slow, _ = peer(race, target, python=True)
                row = [f"{entry.name} {parameter:g}", f"{target:.0e}"]
                row += [f"{t:.2f}" for t in (mine, ms, slow)]
                row.append(asked(race, target))
                row += others(entry, parameter, target, Path(folder)) if names else []
                print(f"| {' | '.join([*row, how])} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
