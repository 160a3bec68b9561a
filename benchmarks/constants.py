"""What the numbers in the source do: each halved and doubled on drawn problems.

Run by hand: ``python benchmarks/constants.py FILE [--room adapt,place] [--kind line,time]
[--count 6]``; with ``--share 3/16`` every sixteenth number from the third on, for a run on many
cores, and with ``--factors 0.01,100`` by other factors: what these do not change has no say. A
number is a constant at the top of a module of the solver, or a field of a settings record.
Problems are those of `honesty.py`, and of `random_plane.py` as the kinds `plane-time` and `fronts`
(seed 5), that are solved within `--seconds`, `count` of each kind. A number is tried on those that
run a function in which it stands. FILE gets a line for each number and factor, and a run that was
cut short is taken up again; ``--markdown`` prints what FILE holds.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import functools
import gc
import importlib
import itertools
import json
import math
import os
import pkgutil
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"
# This folder has a file named like a module of the standard library; it must come last.
sys.path.sort(key=str(Path(__file__).resolve().parent).__eq__)

import numpy as np
import random_plane
from honesty import limit, measured
from hostile import KINDS, draw

import sharpfront as sf

ROOMS = (
    "adapt", "bases", "equation", "estimate", "evolve", "geometry", "leastsquares", "maps",
    "mixture", "newton", "pieces", "place", "rows", "solve", "trust",
)  # fmt: skip
SEED, FACTORS, MOST_DRAWS = 5, (0.5, 2.0), 100
MOVING = ("plane-time", "fronts")  # in time in the plane
# A changed number may take so many times as long as a problem is allowed.
LONGER = 8.0


@dataclass(frozen=True)
class Number:
    """A constant of a module, or a field of a settings record there."""

    module: str
    name: str
    value: float
    record: str = ""

    @property
    def label(self) -> str:
        """Where it stands: room, module and name."""
        own = self.module.removeprefix("sharpfront.")
        return f"{own}.{self.record}.{self.name}" if self.record else f"{own}.{self.name}"


@dataclass(frozen=True)
class Subject:
    """A drawn problem."""

    problem: Callable[[], sf.Problem]
    tol: float
    error: Callable[[sf.Solution], float]


@dataclass(frozen=True)
class Result:
    """What one problem gave."""

    functions: int
    steps: int  # or solves
    outcome: str
    estimate: float
    error: float
    seconds: float
    tol: float


def modules() -> dict[str, ModuleType]:
    """Return the solver's modules by name, all imported."""
    found = {}
    for room in ROOMS:
        package = importlib.import_module(f"sharpfront.{room}")
        found[package.__name__] = package
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            with contextlib.suppress(ImportError):
                found[info.name] = importlib.import_module(info.name)
    return found


def own_names(module: ModuleType) -> set[str]:
    """Return the names in capitals that a module assigns at its top."""
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    names: set[str] = set()
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets += [node.target] if isinstance(node, ast.AnnAssign) else []
        for target in targets:
            names |= {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
    return {name for name in names if name.strip("_").isupper()}


def numbers(known: dict[str, ModuleType], rooms: list[str]) -> Iterator[Number]:
    """Yield what is halved and doubled."""
    for name, module in known.items():
        if not any(f"{name}.".startswith(f"sharpfront.{room}.") for room in rooms):
            continue
        for constant in sorted(own_names(module)):
            value = getattr(module, constant, None)
            if isinstance(value, int | float) and not isinstance(value, bool) and value:
                yield Number(name, constant, value)
            elif name.endswith(".settings") and is_dataclass(value):
                for field in fields(value):
                    inner = getattr(value, field.name)
                    if isinstance(inner, int | float) and not isinstance(inner, bool) and inner:
                        yield Number(name, field.name, inner, constant)


@contextlib.contextmanager
def changed(number: Number, factor: float, known: dict[str, ModuleType]) -> Iterator[None]:
    """Set a number to that many times itself wherever it was imported, and back."""
    value = number.value * factor
    new = math.ceil(value) if isinstance(number.value, int) else value
    if number.record:
        record = getattr(known[number.module], number.record)
        object.__setattr__(record, number.name, new)  # frozen for all but this study
        places: list[ModuleType] = []
    else:
        places = [
            m
            for m in known.values()
            if vars(m).get(number.name) is number.value
            and (m.__name__ == number.module or number.name not in own_names(m))
        ]
    for module in places:
        setattr(module, number.name, new)
    forget()
    try:
        yield
    finally:
        for module in places:
            setattr(module, number.name, number.value)
        if number.record:
            object.__setattr__(record, number.name, number.value)
        forget()


@functools.cache
def _caches() -> list[Any]:
    return [o for o in gc.get_objects() if isinstance(o, functools._lru_cache_wrapper)]


def forget() -> None:
    """Empty the caches of the package: they may hold what a number made."""
    for cache in _caches():
        if getattr(cache, "__module__", "").startswith("sharpfront"):
            cache.cache_clear()


def subject(kind: str, index: int) -> Subject | None:
    """Return a drawn problem, none where nothing is known of its solution."""
    if kind in MOVING:
        own = random_plane.case(SEED, index, thin=kind == "fronts")
        return Subject(lambda: own.problem, own.tol, lambda s: random_plane.errors(own, s))
    case = draw(kind, SEED, index)
    if case.truth is None:
        return None
    truth = functools.cache(case.truth)
    return Subject(case.statement.problem, case.tol, lambda s: measured(case, s, truth()))


def solved(case: Subject) -> Result:
    """Solve a problem and measure its true error."""
    started = time.process_time()
    try:
        solution = sf.solve(case.problem(), tol=case.tol)
    except Exception as error:
        return Result(0, 0, type(error).__name__, math.nan, math.nan, 0.0, case.tol)
    seconds = time.process_time() - started
    error = case.error(solution) if solution.history else math.nan
    estimate = solution.error_estimate
    counts = solution.kernels, len(solution.history)
    return Result(*counts, solution.outcome.kind, estimate, error, seconds, case.tol)


def limited(case: Subject, seconds: float) -> Result:
    """Solve a problem within a limit: a changed number may make it endless."""

    def end(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        return solved(case)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)


def names_in(code: CodeType) -> set[str]:
    """Return the global and attribute names that a function uses, those inside it counted in."""
    inner = (c for c in code.co_consts if isinstance(c, CodeType))
    return set(code.co_names).union(*(names_in(c) for c in inner))


def used(case: Subject) -> tuple[Result, set[tuple[str, str]]]:
    """Return what a problem gives, and the names that its functions use, by module."""
    codes: set[CodeType] = set()

    def seen(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            codes.add(frame.f_code)

    sys.setprofile(seen)
    try:
        result = solved(case)
    finally:
        sys.setprofile(None)
    return result, {
        (code.co_filename, name) for code in codes if "sharpfront" in code.co_filename
        for name in names_in(code)
    }  # fmt: skip


def problems(kinds: list[str], count: int, seconds: float) -> Iterator[tuple[str, Subject]]:
    """Yield drawn problems that are solved soon, with their names."""
    for kind in kinds:
        found = 0
        for index in range(MOST_DRAWS):
            if found == count:
                break
            case = subject(kind, index)
            if case is None:
                continue
            child = os.fork()
            if not child:
                with limit(3 * seconds):
                    quick = solved(case).seconds <= seconds
                os._exit(0 if quick else 1)
            if os.waitpid(child, 0)[1] == 0:
                found += 1
                yield f"{kind} {index}", case


def compared(usual: Result, own: Result) -> dict[str, Any]:
    """Return what a number changed on one problem."""
    return {
        "functions": [usual.functions, own.functions],
        "steps": [usual.steps, own.steps],
        "seconds": [usual.seconds, own.seconds],
        "outcome": [usual.outcome, own.outcome],
        "error in tolerances": own.error / own.tol,
        "estimate by error": own.estimate / own.error if own.error else math.nan,
        "same": (usual.functions, usual.steps) == (own.functions, own.steps)
        and usual.estimate == own.estimate,
    }


def study(path: Path, options: argparse.Namespace) -> None:
    """Measure all numbers that FILE does not have yet."""
    seconds = options.seconds
    done = {(r["number"], r["factor"]) for r in read(path)}
    known = modules()
    cases = dict(problems(options.kind, options.count, seconds))
    usual, names = {}, {}
    for name, case in cases.items():
        solved(case)
        forget()
        usual[name], _ = solved(case), forget()
        _, names[name] = used(case)
    first, step = options.share
    for number in itertools.islice(numbers(known, options.room), first - 1, None, step):
        files = {str(m.__file__) for m in known.values() if number.record or number.name in vars(m)}
        own = [n for n in cases if any((f, number.name) in names[n] for f in files)]
        for factor in options.factors:
            if (number.label, factor) in done:
                continue
            with changed(number, factor, known):
                found = {n: compared(usual[n], limited(cases[n], LONGER * seconds)) for n in own}
            row = {"number": number.label, "value": number.value, "factor": factor, "on": found}
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


def read(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def effect(row: dict[str, Any]) -> str:
    """Return what a number and factor did, in one cell."""
    on = list(row["on"].values())
    if not on:
        return "not met"
    if all(o["same"] for o in on):
        return "none"
    counts = [[sum(o[what][k] for o in on) for k in (0, 1)] for what in ("functions", "steps")]
    worse = [o for o in on if o["outcome"][0] == "converged" != o["outcome"][1]]
    right = [o for o in on if o["outcome"][1] == "converged"]
    wrong = sum(o["error in tolerances"] > 1 for o in right)
    words = " ".join(f"{after / before:.2f}" if before else "-" for before, after in counts)
    return (
        words
        + (f", {len(worse)} not converged" if worse else "")
        + (f", {wrong} above tol" if wrong else "")
    )


def markdown(rows: list[dict[str, Any]]) -> str:
    """Return the table."""
    cells: dict[str, dict[float, str]] = {}
    for row in rows:
        cells.setdefault(f"`{row['number']}` {row['value']:g}", {})[row["factor"]] = effect(row)
    factors = sorted({row["factor"] for row in rows})
    lines = ["| number | " + " | ".join(f"times {f:g}" for f in factors) + " |"]
    lines += ["| --- |" + " --- |" * len(factors)]
    lines += [
        f"| {k} | " + " | ".join(v.get(f, "") for f in factors) + " |" for k, v in cells.items()
    ]
    return "\n".join(lines)


def main() -> None:
    """Run or print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--room", type=lambda t: t.split(","), default=list(ROOMS))
    parser.add_argument("--kind", type=lambda t: t.split(","), default=list(KINDS))
    parser.add_argument("--count", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--share", type=lambda t: tuple(map(int, t.split("/"))), default=(1, 1))
    parser.add_argument(
        "--factors", type=lambda t: tuple(map(float, t.split(","))), default=FACTORS
    )
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    if not options.markdown:
        study(options.file, options)
    print(markdown(read(options.file)))


if __name__ == "__main__":
    main()
