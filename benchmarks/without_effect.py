"""Which numbers in the source have no say: a hundredth and a hundred times of each, by problems.

Run by hand: ``python benchmarks/without_effect.py FOLDER [--share 3/16] [--seconds 500] [--tests
place,trust] [--room place]``. Problems are what the quick tests solve in less than half a second,
refusals among them. A number is tried on two of a share, on 16 of all, that run a function in which
it stands. It has a say if one of them gives another number of functions or steps, another outcome,
or another digit of an estimate; that is noted in FOLDER, so that shares that run beside each other
leave it out. ``--print`` lists the others, with the number of problems on which they were tried.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import os
import random
import re
import signal
import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# This folder has a file named like a module of the standard library; it must come last.
sys.path.sort(key=str(Path(__file__).resolve().parent).__eq__)

import numpy as np
import pytest
from constants import ROOMS, Number, changed, forget, modules, names_in, numbers

import sharpfront as sf

FACTORS, DEAREST, LONGER = (0.01, 100.0), 0.5, 8.0
# Options of a solve that reach outside it.
OUTSIDE = {"checkpoint", "resume", "cluster", "device", "progress", "callback"}
ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Case:
    """A call of `sf.solve` by a test."""

    test: str
    problem: Any
    options: dict[str, Any]
    seconds: float
    usual: tuple[Any, ...] = ()
    names: frozenset[tuple[str, str]] = frozenset()


def outcome(problem: Any, options: dict[str, Any]) -> tuple[Any, ...]:
    """Solve, and return what is compared."""
    try:
        found = sf.solve(problem, **options)
    except Exception as error:
        return type(error).__name__, str(error)[:60]
    if not isinstance(found, sf.Solution):
        return (type(found).__name__,)
    return found.kernels, len(found.history), found.outcome.kind, found.error_estimate


class Watch:
    """Remembers what tests solve."""

    def __init__(self) -> None:
        self.cases: list[Case] = []
        self.solve, self.test, self.inside = sf.solve, "", False
        sf.solve = self

    def pytest_runtest_setup(self, item: Any) -> None:
        """Note which test it is."""
        self.test = item.nodeid

    def __call__(self, problem: Any, *more: Any, **options: Any) -> Any:
        """Solve as usual."""
        started, outer = time.process_time(), not self.inside
        self.inside = True
        try:
            return self.solve(problem, *more, **options)
        finally:
            seconds = time.process_time() - started
            self.inside = not outer
            plain = isinstance(problem, sf.Problem) and not more and not OUTSIDE & options.keys()
            if outer and plain and seconds < DEAREST:
                self.cases.append(Case(self.test, problem, options, seconds))


def in_child(task: Any, seconds: float) -> Any:
    """Return what a function returns in a process of its own, None where it takes too long."""
    there, here = os.pipe()
    child = os.fork()
    if not child:
        os.close(there)
        signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        warnings.simplefilter("ignore")
        try:
            os.write(here, json.dumps(task(), default=str).encode()[:2_000_000])
        finally:
            os._exit(0)
    os.close(here)
    with os.fdopen(there, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def seen_names(case: Case) -> list[tuple[str, str]]:
    """Return the names that the functions use that a case runs, by file."""
    codes: set[Any] = set()

    def seen(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            codes.add(frame.f_code)

    sys.setprofile(seen)
    try:
        outcome(case.problem, case.options)
    finally:
        sys.setprofile(None)
    own = [code for code in codes if "sharpfront" in code.co_filename]
    return sorted({(code.co_filename, name) for code in own for name in names_in(code)})


def read_in(number: Number, known: dict[str, Any]) -> set[str]:
    """Return the files in which a number is read by its name, or as a field of its record."""
    if not number.record:
        return {str(m.__file__) for m in known.values() if number.name in vars(m)}
    outside = re.compile(rf"\b({number.record}|settings)\.{number.name}\b")
    inside = re.compile(rf"\bself\.{number.name}\b")
    own = str(known[number.module].__file__)
    texts = {str(m.__file__): Path(str(m.__file__)).read_text("utf-8") for m in known.values()}
    return {f for f, text in texts.items() if (inside if f == own else outside).search(text)}


def captured(share: tuple[int, int], tests: list[str]) -> list[Case]:
    """Run a share of the tests and return what they solve."""
    files = sorted(f for room in tests for f in (ROOT / "tests" / room).rglob("test_*.py"))
    own = [str(f) for f in files if "docs" not in f.parts and "show" not in f.parts]
    random.Random(1).shuffle(own)
    own = own[share[0] - 1 :: share[1]]
    watch = Watch()
    options = ["-q", "--no-header", "--tb=no", "--continue-on-collection-errors"]
    pytest.main([*options, "-p", "no:cacheprovider", *own], plugins=[watch])
    sf.solve = watch.solve
    return watch.cases


def prepared(cases: list[Case], end: float) -> list[Case]:
    """Return the cases that give the same twice, with what they run, the cheapest first."""
    good: list[Case] = []
    known: set[tuple[str, str]] = set()
    each: Counter[str] = Counter()
    gc.collect()
    gc.freeze()
    for case in random.Random(2).sample(cases, len(cases)):
        if time.time() > end:
            break
        forget()
        first = in_child(lambda c=case: outcome(c.problem, c.options), 20.0)
        test = case.test.split("[")[0]
        if first is None or (test, str(first)) in known or each[test] >= 3:
            continue
        names = in_child(lambda c=case: seen_names(c), 60.0)
        if names is not None:
            known.add((test, str(first)))
            each[test] += 1
            case.usual, case.names = tuple(first), frozenset(map(tuple, names))
            good.append(case)
    return sorted(good, key=lambda c: c.seconds)


def differs(case: Case, number: Number, factor: float, known: Any) -> bool:
    """Tell whether a case comes out otherwise with another number."""

    def task() -> Any:
        with changed(number, factor, known):
            return outcome(case.problem, case.options)

    limit = LONGER * max(case.seconds, 0.02) + 0.2
    found = in_child(task, limit)
    return found is None or json.dumps(found) != json.dumps(list(case.usual))


def study(
    folder: Path, share: tuple[int, int], seconds: float, tests: list[str], rooms: list[str]
) -> None:
    """Try all numbers on the problems of a share."""
    end = time.time() + seconds
    known = modules()
    cases = prepared(captured(share, tests), end - 0.66 * seconds)
    print(f"{len(cases)} problems, {end - time.time():.0f} s left", flush=True)
    order = list(numbers(known, rooms))
    random.Random(share[0]).shuffle(order)
    folder.mkdir(exist_ok=True)
    tried: Counter[str] = Counter()
    for number in order:
        mark = folder / f"{number.label}.effect"
        files = read_in(number, known)
        own = [c for c in cases if any((f, number.name) in c.names for f in files)]
        few = random.Random(0).sample(own, min(max(2, 16 // share[1]), len(own)))
        factors = itertools.cycle(FACTORS[:: -1 if share[0] % 2 else 1])
        for case, factor in zip(few, factors, strict=False):
            if mark.exists() or time.time() > end:
                break
            if differs(case, number, factor, known):
                mark.write_text(f"{number.value} {factor} {case.test}\n")
            tried[number.label] += 1
    (folder / f"share{share[0]}.json").write_text(json.dumps([tried, time.time() > end]))


def told(folder: Path) -> None:
    """Print the numbers without effect."""
    shares = [json.loads(f.read_text()) for f in sorted(folder.glob("share*.json"))]
    print(f"{sum(late for _, late in shares)} of {len(shares)} shares were cut short")
    every = list(numbers(modules(), list(ROOMS)))
    for number in every:
        if not (folder / f"{number.label}.effect").exists():
            count = sum(tried.get(number.label, 0) for tried, _ in shares)
            print(f"{number.label} {number.value:g} {count}")


def main() -> None:
    """Run or print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--share", type=lambda t: tuple(map(int, t.split("/"))), default=(1, 1))
    parser.add_argument("--seconds", type=float, default=500.0)
    parser.add_argument("--tests", type=lambda t: t.split(","), default=[""])
    parser.add_argument("--room", type=lambda t: t.split(","), default=list(ROOMS))
    parser.add_argument("--print", action="store_true")
    options = parser.parse_args()
    np.seterr(all="ignore")
    if options.print:
        told(options.folder)
    else:
        study(options.folder, options.share, options.seconds, options.tests, options.room)


if __name__ == "__main__":
    main()
