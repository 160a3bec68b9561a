"""Problems in time against BACOLI and BACOLRI, compiled, at an equal true error.

The peer is Fortran 77 from the source distribution of bacoli_py on PyPI, built with gfortran; its
right-hand sides are compiled too, its Jacobians are its own differences. To build and run::

    curl -LO https://files.pythonhosted.org/packages/source/b/bacoli_py/bacoli_py-1.0.31.0.3.tar.gz
    tar xzf bacoli_py-1.0.31.0.3.tar.gz
    python benchmarks/bacoli.py --sources bacoli_py-1.0.31.0.3/bacoli_py/lib

Errors are the largest at twelve moments and 2001 even places, relative to max(1, max|u|), against
an exact solution or our own one that is a hundred times stricter. The peer gets the cheapest of its
orders, both ways in time and tolerances whose error is not above ours. Seconds are of the
processor, the least of some runs, the peer's measured inside of it; ours hold the estimate.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

# This folder has a file named like a module of the standard library; it must not come first.
sys.path.append(sys.path.pop(0))

from dataclasses import dataclass
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
from bacoli_problems import PROBLEMS, Race

import sharpfront as sf
from sharpfront.arrays import FloatArray, blas_threads

SHARES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
PLACES = 2001
SOURCES = ("d1mach_i1mach.f95", "bacoli.f", "bacoli-aux.f", "bacolri.f", "bacolri-aux.f")
FLAGS = ("-std=legacy", "-fallow-argument-mismatch", "-O2", "-w")
ORDERS = (6,)
# Even elements of the first mesh: one made from the start by the library's own routine is refused.
MESHES = (20, 200)
LIMIT = 10
# Tolerances of the peer, in units of our error.
STRICTER = (1.0, 0.1, 0.01, 0.001)

DRIVER = """
module stated
  implicit none
  double precision, parameter :: pi = 3.14159265358979323846d0
contains
  {module}
end module stated
subroutine f(t, x, u, ux, uxx, fval, npde)
  use stated
  implicit none
  integer :: npde
  double precision :: t, x, u(npde), ux(npde), uxx(npde), fval(npde)
  {locals}
  {f}
end subroutine f
subroutine fvec(t, x, u, ux, uxx, fval, vnpts, npde)
  integer :: vnpts, npde
  double precision :: t, x(vnpts), u(vnpts*npde), ux(*), uxx(*), fval(*)
end subroutine fvec
subroutine bndxa(t, u, ux, bval, npde)
  use stated
  implicit none
  integer :: npde
  double precision :: t, u(npde), ux(npde), bval(npde)
  {left}
end subroutine bndxa
subroutine bndxb(t, u, ux, bval, npde)
  use stated
  implicit none
  integer :: npde
  double precision :: t, u(npde), ux(npde), bval(npde)
  {right}
end subroutine bndxb
subroutine uinit(x, u, npde)
  use stated
  implicit none
  integer :: npde
  double precision :: x, u(npde)
  {initial}
end subroutine uinit
subroutine none()
end subroutine none
program race
  use bacoli_interface
  implicit none
  external f, fvec, bndxa, bndxb, uinit, none
  integer, parameter :: npde = {npde}, places = {places}, moments = {moments}
  double precision :: tol(npde), ends(2), mesh(2001), xspan(places)
  double precision :: u(npde, places), ux(npde, places)
  double precision :: shares(moments), began, now, best, tout
  integer :: kcol, t_est, idid, i, j, k, repeats, first
  character(len=32) :: word
  call get_command_argument(1, word)
  read (word, *) tol(1)
  call get_command_argument(2, word)
  read (word, *) kcol
  call get_command_argument(3, word)
  read (word, *) t_est
  call get_command_argument(4, word)
  read (word, *) repeats
  call get_command_argument(5, word)
  read (word, *) first
  tol = tol(1)
  ends = (/ {low}d0, {high}d0 /)
  shares = (/ {shares} /)
  do i = 1, places
    xspan(i) = ends(1) + (ends(2) - ends(1)) * dble(i - 1) / dble(places - 1)
  end do
  do i = 0, first
    mesh(i + 1) = ends(1) + (ends(2) - ends(1)) * dble(i) / dble(first)
  end do
  best = 1d300
  do k = 1, repeats
    call cpu_time(began)
    call initialize(npde, 2000, kcol, 1, t_est, 0, .false., tol, npde, tol, npde, 0d0, mesh, &
      first + 1, xspan, places, {dirichlet}, 0d0, .false., 0d0, .false., idid)
    do j = 1, moments
      tout = {stop}d0 * shares(j)
      call solve(tout, f, fvec, bndxa, bndxb, uinit, none, .false., none, .false., none, .false., &
        idid, .false.)
      if (idid <= 0) then
        print *, 'failed', idid, tout
        stop 1
      end if
      call vals(u, ux, npde, places, 0)
      if (k == 1) then
        do i = 1, places
          write (7) u(:, i)
        end do
      end if
    end do
    call cpu_time(now)
    best = min(best, now - began)
    call sol_teardown()
  end do
  print *, best
end program race
"""


@dataclass(frozen=True)
class Run:
    """A run of the peer."""

    seconds: float
    error: float
    words: str


def built(race: Race, sources: Path, folder: Path) -> Path:
    """Return the program of a problem."""
    text = DRIVER.format(
        module=race.module,
        locals=race.locals,
        f=race.f,
        left=race.left,
        right=race.right,
        initial=race.initial,
        npde=race.npde,
        places=PLACES,
        moments=len(SHARES),
        low=race.low,
        high=race.high,
        stop=race.stop,
        dirichlet=int(race.dirichlet),
        shares=", ".join(f"{s}d0" for s in SHARES),
    )
    (folder / "race.f90").write_text(text)
    compiled = folder / "race"
    library = folder.parent / "library"
    if not library.exists():
        library.mkdir()
        every = [str((sources / name).resolve()) for name in (*SOURCES, "bacoli_interface.f95")]
        subprocess.run(["gfortran", *FLAGS, "-c", *every], cwd=library, check=True)
    objects = [str(path) for path in library.glob("*.o")]
    command = ["gfortran", *FLAGS, "-I", str(library), "race.f90", *objects, "-o", str(compiled)]
    subprocess.run(command, cwd=folder, check=True)
    return compiled


def peer(
    program: Path, race: Race, tol: float, ways: tuple[int, int, int], true: FloatArray
) -> Run:
    """Return a run of the peer with its error; infinite where it failed or ran too long."""
    order, runge, first = ways
    name = f"{('BACOLI', 'BACOLRI')[runge]} {order} points, tol {tol:.0e}"
    words = f"{program} {tol:.3e} {order} {runge} 2 {first}".replace("e-", "d-")
    # Seconds of the processor: the machine may be busy.
    limited = ["bash", "-c", f"ulimit -t {LIMIT}; exec {words}"]
    ended = subprocess.run(limited, cwd=program.parent, capture_output=True, text=True, check=False)
    if ended.returncode:
        return Run(np.inf, np.inf, name)
    # A record of a Fortran file has its length before and after it.
    raw = np.fromfile(program.parent / "fort.7", dtype=np.uint8).reshape(-1, 8 * race.npde + 8)
    values = raw[:, 4:-4].copy().view(np.float64)
    found = values.reshape(len(SHARES), PLACES, race.npde).transpose(2, 0, 1)
    return Run(float(ended.stdout.split()[-1]), error_of(found, true), name)


def tried(
    program: Path, race: Race, error: float, way: tuple[int, int, int], true: FloatArray
) -> list[Run]:
    """Return runs of the peer, stricter and stricter until its error is not above one."""
    runs: list[Run] = []
    for factor in STRICTER:
        runs.append(peer(program, race, error * factor, way, true))
        if runs[-1].error <= error or not np.isfinite(runs[-1].seconds):
            break
    return runs


def error_of(values: FloatArray, true: FloatArray) -> float:
    """Return the largest error, of each unknown relative to max(1, max|u|)."""
    size = np.maximum(1.0, np.abs(true).max(axis=(1, 2), keepdims=True))
    return float((np.abs(values - true) / size).max())


def sampled(race: Race, solution: Any) -> FloatArray:
    """Return a solution where errors are taken, (unknowns, moments, places)."""
    x = np.linspace(race.low, race.high, PLACES)
    t = race.stop * np.array(SHARES)
    at = np.tile(x, len(t)), np.repeat(t, len(x))
    each = [solution(*at)] if race.npde == 1 else [getattr(solution, n)(*at) for n in race.unknowns]
    return np.stack([np.asarray(u).reshape(len(t), len(x)) for u in each])


def row(race: Race, tol: float, program: Path, repeats: int) -> tuple[float, str]:
    """Return how many times faster we are, and the row of the table."""
    spent = []
    for _ in range(repeats):
        began = process_time()
        solution = sf.solve(race.problem(), tol=tol)
        spent.append(process_time() - began)
    seconds = min(spent)
    if solution.domain.time[1] < race.stop:
        return 0.0, f"| {race.name} | {tol:.0e} | {solution.outcome.kind.value} | | | | |"
    mine = sampled(race, solution)
    true = sampled(race, race.exact or sf.solve(race.problem(), tol=1e-2 * tol))
    error = error_of(mine, true)
    ways = [(order, runge, first) for order in ORDERS for runge in (0, 1) for first in MESHES]
    runs = [r for way in ways for r in tried(program, race, error, way, true)]
    good = [r for r in runs if r.error <= error]
    best = min(good or runs, key=lambda r: r.seconds if good else r.error)
    mark = "" if good else f" (best error {best.error:.0e})"
    ratio = best.seconds / seconds if good else np.inf
    kind = "" if solution.converged else f" ({solution.outcome.kind.value})"
    cells = (race.name, f"{tol:.0e}", f"{error:.1e}{kind}", f"{solution.error_estimate:.1e}")
    theirs = f"{1e3 * best.seconds:.0f}{mark}"
    return ratio, f"| {' | '.join(cells)} | {1e3 * seconds:.0f} | {theirs} | {best.words} |"


def main() -> None:
    """Print the table, losses first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=Path, required=True, help="folder of bacoli.f")
    parser.add_argument("--only", nargs="*", default=[""], help="parts of the problems' names")
    parser.add_argument("--tol", nargs="*", type=float, default=[1e-4, 1e-6])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    rows = []
    with blas_threads(1), TemporaryDirectory() as place:
        for i, race in enumerate(PROBLEMS):
            if not any(part in race.name for part in options.only):
                continue
            folder = Path(place) / f"{i}"
            folder.mkdir()
            program = built(race, options.sources, folder)
            for tol in options.tol:
                rows.append(row(race, tol, program, options.repeats))
                print(rows[-1][1], file=sys.stderr, flush=True)
    print("| problem | tol | error | estimate | ours, ms | BACOLI, ms | which |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- |")
    for _, words in sorted(rows, key=lambda r: r[0]):
        print(words)


if __name__ == "__main__":
    main()
