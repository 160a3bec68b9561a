"""``sharpfront doctor``: what is installed, and whether it works."""

from __future__ import annotations

import importlib
import os
import platform
import re
import time
from collections.abc import Iterator
from importlib import metadata
from typing import TYPE_CHECKING

import typer

from sharpfront.cli import terminal

if TYPE_CHECKING:
    from sharpfront.catalog import Entry

_LIBRARIES = ("numpy", "scipy", "matplotlib", "scikit-learn", "pydantic", "rich", "typer")
# For the developers of the package only.
_HIDDEN = ("dev", "bench")
# Problems of the self-test with their tolerances: together a second or two.
_TESTS = (("single-layer", 1e-8), ("pinned-shock", 1e-8), ("outflow", 1e-5))


def doctor() -> None:
    """Show what is installed, and run a self-test against exact solutions."""
    screen = terminal.console()
    terminal.show_rows(screen, [*_versions(), *_machine(), *_extras()])
    good = True
    for name, tol in _TESTS:
        words, passed = _tested(name, tol)
        good &= passed
        screen.print(words, markup=False)
    if not good:
        screen.print("The self-test failed: results cannot be trusted on this machine.")
        raise typer.Exit(terminal.FAILED)
    screen.print("The self-test passed.")


def _versions() -> Iterator[tuple[str, str]]:
    from sharpfront import __version__

    yield "sharpfront", __version__
    yield "Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    for name in _LIBRARIES:
        yield name, _version(name) or "not installed"


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _machine() -> Iterator[tuple[str, str]]:
    from threadpoolctl import threadpool_info

    from sharpfront.leastsquares.threads import cores

    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    found = {f"{p['internal_api']} {p.get('version') or ''}".strip() for p in pools}
    yield "BLAS", ", ".join(sorted(found)) or "not recognised"
    threads = max((pool["num_threads"] for pool in pools), default=1)
    used = f"the solver uses 1 of these, and {cores()} of its own for many patches"
    yield "Threads", f"{os.cpu_count()} cores, {threads} for BLAS; {used}"
    yield "GPU", _gpu()


def _gpu() -> str:
    """Return what array libraries with a device see; none is needed."""
    found = []
    for library in ("torch", "cupy"):
        if _version(library) is None:
            continue
        try:
            found.append(f"{library}: {_device(library)}")
        except Exception as error:
            # A broken driver raises what it likes; that is what there is to report.
            found.append(f"{library}: {type(error).__name__}: {error}")
    return "; ".join(found) or "not used (neither torch nor cupy is installed)"


def _device(library: str) -> str:
    module = importlib.import_module(library)
    if library == "torch":
        there = module.cuda.is_available()
        return str(module.cuda.get_device_name(0)) if there else "no device"
    return f"{module.cuda.runtime.getDeviceCount()} device(s)"


def _extras() -> Iterator[tuple[str, str]]:
    """Yield each extra of the package with the versions of its parts, or how to install it."""
    extras: dict[str, list[str]] = {}
    for line in metadata.requires("sharpfront") or ():
        found = re.match(r"([\w.-]+).*extra\s*==\s*['\"]([\w-]+)['\"]", line)
        if found and found.group(2) not in _HIDDEN:
            extras.setdefault(found.group(2), []).append(found.group(1))
    for extra, parts in sorted(extras.items()):
        missing = [part for part in parts if _version(part) is None]
        have = ", ".join(f"{part} {_version(part)}" for part in parts if part not in missing)
        lacking = f"no {', '.join(missing)}: pip install 'sharpfront[{extra}]'" if missing else ""
        yield f"extra {extra}", "; ".join(filter(None, (have, lacking)))


def _tested(name: str, tol: float) -> tuple[str, bool]:
    """Solve one problem; passed if it says so and the measured error bears it out."""
    from sharpfront.catalog import named

    listed: Entry = named(name)
    started = time.perf_counter()
    statement = listed.stated()
    solution = statement.solve(tol=tol)
    error = max(statement.true_errors(solution).values())
    # Errors are below the estimate or not far above it; ten times the tolerance is wrong.
    passed = solution.converged and error < 10 * tol
    return (
        f"Self-test {'passed' if passed else 'FAILED'}: {listed.title.lower()}, "
        f"{listed.parameter} = {listed.value:g}: measured error {error:.1e} for a tolerance of "
        f"{tol:.0e} in {time.perf_counter() - started:.1f} s",
        passed,
    )
