"""Problems on the line against BVP_SOLVER, compiled Fortran, at an equal true error.

The peer (Shampine, Muir and Xu: Runge-Kutta formulas of order 4 and 6 on a mesh that follows the
defect) is Fortran 90 from the source distribution of scikits.bvp_solver on PyPI. Right sides and
Jacobians are written as Fortran and compiled with it by gfortran::

    pip download --no-deps --no-binary :all: scikits.bvp_solver
    tar xzf scikits.bvp_solver-1.1.tar.gz
    export SHARPFRONT_BVP_SOLVER=scikits.bvp_solver-1.1/scikits/bvp_solver/lib
    python benchmarks/bvp_solver.py

The peer gets the loosest quarter-decade tolerance that meets the error, the better order and the
best of three starting meshes; its time holds no estimate of the error.
"""

from __future__ import annotations

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
from bvp import TARGETS, median_ms, ours

from sharpfront import catalog
from sharpfront.arrays import FloatArray, blas_threads
from sharpfront.catalog import Entry
from sharpfront.equation.expression import Expression
from sharpfront.measure import graded_points
from sharpfront.rivals.bacoli import assigned
from sharpfront.rivals.contract import Subject
from sharpfront.rivals.scipy_bvp import FirstOrder

CASES: tuple[tuple[Entry, float], ...] = (
    *((catalog.SINGLE_LAYER, nu) for nu in (1e-2, 1e-4, 1e-6)),
    *((e, 1e-4) for e in (catalog.TWIN_LAYER, catalog.REACTION, catalog.TURNING_POINT)),
    (catalog.SPIKE, 1e-3),
    (catalog.OSCILLATION, 50.0),
    (catalog.BRATU, 1.0),
    (catalog.TROESCH, 10.0),
)
SOURCES = "SHARPFRONT_BVP_SOLVER"
COMPILE = ("gfortran", "-std=legacy", "-O2", "-w", "-fPIC", "-ffree-line-length-none")
DRIVER = """
subroutine f(t, y, n, fty)
  integer :: n
  double precision :: t, y(n), fty(n)
  fty(1) = y(2)
{right}
end subroutine f
subroutine df(t, y, n, pd)
  integer :: n
  double precision :: t, y(n), pd(n, n)
  pd(1, 1) = 0d0
  pd(1, 2) = 1d0
{jacobian}
end subroutine df
subroutine bc(ya, n, yb, m, bca, bcb)
  integer :: n, m
  double precision :: ya(n), yb(m), bca(1), bcb(1)
{ends}
end subroutine bc
subroutine run(nodes, x, start, order, tol, count, t, u, info) bind(c, name="run")
  use iso_c_binding
  use bvp_m
  integer(c_int), value :: nodes, order, count
  real(c_double), value :: tol
  real(c_double) :: x(nodes), start(2, nodes), t(count), u(count)
  integer(c_int) :: info
  double precision :: z(2, count)
  type(bvp_sol) :: guess, sol
  external :: f, df, bc
  guess = bvp_init(2, 0, 1, x, start, max_num_subintervals=100000)
  sol = bvp_solver(guess, f, f, bc, bc, .false., method=order, tol=tol, hasdfdy=.true., dfdy=df, &
    dfdyp=df, hasdbcdy=.false., dbcdy=bc, dbcdyp=bc, trace=-1, stop_on_fail=.false.)
  info = sol%info
  if (info == 0) then
    if (count > 0) then
      call bvp_eval(sol, t, z)
      u = z(1, :)
    end if
    call bvp_terminate(sol)
  end if
end subroutine run
"""


def fortran(system: FirstOrder) -> str:
    """Return a problem as subroutines of Fortran."""

    def leaves(place: str, array: str) -> dict[Any, str]:
        found: dict[Any, str] = {("coordinate", system.problem.coordinates[0]): place}
        for k, value in enumerate((f"{array}(1)", f"{array}(2)", "0d0")):
            found["derivative", system.unknown, (k,)] = value
        return found

    inside = leaves("t", "y")
    leading = next(t.coefficient for t in system.terms if t.orders[0] == 2)
    # What does not occur has no tangent.
    rows = dict.fromkeys((0, 1), "0d0")
    jacobian = [f"  pd(2, {k + 1}) = {zero}" for k, zero in rows.items()]
    for term in system.terms:
        if term.orders[0] < 2:
            slope: Expression = -term.coefficient / leading
            jacobian.append(assigned(f"pd(2, {term.orders[0] + 1})", slope, inside))
    low, high = (f"{end:.17e}".replace("e", "d") for end in system.problem.domain.bounds[:, 0])
    ends = [
        assigned("bca(1)", r, leaves(low, "ya"))
        if left
        else assigned("bcb(1)", r, leaves(high, "yb"))
        for left, r, _ in system.ends
    ]
    right = assigned("fty(2)", -system.equation / leading, inside)
    return DRIVER.format(right=right, jacobian="\n".join(jacobian), ends="\n".join(ends))


def compiled(text: str, folder: Path) -> Callable[..., None]:
    """Return the library with a problem in it."""
    sources = Path(os.environ[SOURCES]).resolve()
    library = [str(sources / name) for name in ("BVP_LA.f", "lampak.f")]
    if not (folder / "bvp.o").exists():
        command = [*COMPILE, "-c", str(sources / "BVP_M.f90"), "-o", "bvp.o"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    name = f"race{abs(hash(text))}"
    (folder / f"{name}.f90").write_text(text)
    command = [*COMPILE, "-shared", f"{name}.f90", "bvp.o", *library, "-o", f"{name}.so"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    run: Callable[..., None] = ctypes.CDLL(str(folder / f"{name}.so")).run
    return run


def call(
    run: Callable[..., None], x: FloatArray, order: int, tol: float, t: FloatArray
) -> FloatArray | None:
    """Return u at places, None where the peer fails."""
    start, u, info = np.zeros((len(x), 2)), np.empty(len(t)), ctypes.c_int()
    at = [array.ctypes.data_as(ctypes.c_void_p) for array in (x, start, t, u)]
    run(len(x), *at[:2], order, ctypes.c_double(tol), len(t), *at[2:], ctypes.byref(info))
    return u if info.value == 0 else None


def compiled_peer(entry: Entry, parameter: float, target: float, folder: Path) -> tuple[float, str]:
    """Return the best time of BVP_SOLVER that meets the target, and how it was set."""
    problem, exact = entry.problem(parameter), entry.exact(parameter)
    points = graded_points(problem.domain, entry.features(parameter))
    run = compiled(fortran(FirstOrder(Subject(problem))), folder)
    t = np.ascontiguousarray(points[:, 0] if points.ndim > 1 else points)
    truth, nothing = np.ravel(exact(t)), np.zeros(0)
    best = (np.inf, "not reached")
    for nodes in (10, 50, 200):
        x = np.linspace(*problem.domain.bounds[:, 0], nodes)
        for order in (4, 6):
            for tol in 10.0 ** -np.arange(2, 12.01, 0.25):
                u = call(run, x, order, tol, t)
                if u is not None and np.abs(u - truth).max() <= target:
                    ms = median_ms(lambda o=order, tol=tol, x=x: call(run, x, o, tol, nothing), 21)
                    best = min(best, (ms, f"order {order}, {nodes} nodes, tol {tol:.0e}"))
                    break
    return best


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    print("| problem | true error | ours | BVP_SOLVER | how |")
    print("| --- | ---: | ---: | ---: | --- |")
    with blas_threads(1), TemporaryDirectory() as folder:
        for entry, parameter in CASES:
            for target in TARGETS:
                mine = ours(entry, parameter, target)[0]
                ms, how = compiled_peer(entry, parameter, target, Path(folder))
                print(
                    f"| {entry.name} {parameter:g} | {target:.0e} | {mine:.2f} | {ms:.2f} "
                    f"| {how} |",
                    flush=True,
                )


if __name__ == "__main__":
    sys.exit(main())
