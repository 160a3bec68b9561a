"""Is what is called converged right? Hostile problems of five kinds, drawn from seeds.

Run by hand: ``python benchmarks/honesty.py [--kind line,plane] [--count 200] [--seed 1]
[--seconds 60] [--jobs 2] [--index 3,17] [--json FILE] [--markdown]``. Each problem is drawn from
its kind, the seed and its index, and solved in a process of its own with one thread of BLAS.
``--index`` repeats single problems; with ``--json`` a run that was cut short is taken up again.
Seeds 1 to 9 are for development; take others, once, for a fair answer.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import signal
import sys
from pathlib import Path

# This folder has a file named like a module of the standard library; it must come last.
sys.path.sort(key=str(Path(__file__).resolve().parent).__eq__)
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import multiprocessing
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
from hostile import KINDS, draw
from hostile.drawn import Drawn, Truth

import sharpfront as sf
from sharpfront.measure import max_error

DEFINITIONS = """\
True errors are the largest on points graded into the features, of each unknown relative to
max(1, max|u|). With `tol` what was asked for:

- converged: `solution.converged`
- right: true error at most tol, in time up to the end of the span
- right, not sure: right and not converged
- rightly refused: not converged, where there is no solution or more than one
- above tol: converged and true error above tol; above 3 tol likewise
- silently wrong: converged and true error above 10 tol, or where no single solution exists
- under-estimated: estimate below a third of the true error, whatever the verdict (not counted below
  1e-12, where both are rounding)
- out of time: no answer within the limit; crash: an exception; no truth: the reference's own error,
  known from two resolutions, is above a third of tol, so nothing is said
"""
COLUMNS = (
    "problems",
    "converged",
    "right",
    "right, not sure",
    "rightly refused",
    "above tol",
    "above 3 tol",
    "silently wrong",
    "under-estimated",
    "out of time",
    "crash",
    "no truth",
)
LISTED = ("above 3 tol", "silently wrong", "under-estimated", "crash", "no truth")
ROUNDING = 1e-12
# A reference by spectral elements takes seconds; one that runs on has lost its way.
REFERENCE_SECONDS = 300


def measured(case: Drawn, solution: sf.Solution, truth: Truth) -> float:
    """Return the largest error of an answer, over the time it reached."""
    points = np.stack(case.points, axis=1)
    if case.statement.time:
        points = points[points[:, -1] <= solution.domain.time[1]]
    exact = dict(zip(case.statement.unknowns, truth.values, strict=True))
    return max_error(solution, exact, points)


def judged(case: Drawn, solution: sf.Solution, truth: Truth | None) -> dict[str, Any]:
    """Return what is said of an answer, and what is so."""
    found: dict[str, Any] = {
        "outcome": str(solution.outcome.kind),
        "estimate": float(solution.error_estimate),
        "kernels": int(solution.kernels),
    }
    marks = ["converged"] if solution.converged else []
    if truth is None:
        marks += ["silently wrong"] if solution.converged else ["rightly refused"]
        return found | {"marks": marks, "error": None}
    if truth.error > case.tol / 3:
        return found | {"marks": ["no truth"], "error": None, "reference": truth.error}
    error = measured(case, solution, truth)
    whole = not case.statement.time or solution.domain.time[1] >= case.statement.time[1]
    for name, factor in (("above tol", 1), ("above 3 tol", 3), ("silently wrong", 10)):
        if solution.converged and error > factor * case.tol + truth.error:
            marks.append(name)
    if error <= case.tol and whole:
        marks += ["right"] if solution.converged else ["right", "right, not sure"]
    if error - truth.error > 3 * solution.error_estimate and error > ROUNDING + truth.error:
        marks.append("under-estimated")
    return found | {"marks": marks, "error": error}


def solved(case: Drawn, seconds: float, tell: Callable[[dict[str, Any]], None]) -> None:
    """Solve and judge one problem, here and now, and tell what is known as soon as it is."""
    try:
        with limit(seconds):
            started = time.process_time()
            solution = sf.solve(case.statement.problem(), tol=case.tol)
        tell({"seconds": time.process_time() - started})
    except Exception as error:
        words = f"{type(error).__name__}: {error}"[:300]
        tell({"marks": ["crash"], "outcome": words, "trace": _trace()})
        return
    try:
        with limit(REFERENCE_SECONDS):
            tell(judged(case, solution, case.truth() if case.truth else None))
    except Exception as error:
        words = f"no reference: {type(error).__name__}: {error}"[:300]
        tell({"marks": ["no truth"], "outcome": words, "trace": _trace()})


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """End this process with SIGXCPU when what is inside takes longer, on any busy machine."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    spent = math.ceil(time.process_time() + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (spent, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))


def _trace() -> str:
    return traceback.format_exc(limit=-4)


def _work(pipe: Any, kind: str, seed: int, index: int, seconds: float) -> None:
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    case = draw(kind, seed, index)
    pipe.send({"words": case.words, "tol": case.tol})
    solved(case, seconds, pipe.send)


def limited(kind: str, seed: int, index: int, seconds: float) -> dict[str, Any]:
    """Solve one problem in a process of its own, which ends when its time is over."""
    context = multiprocessing.get_context("forkserver")
    mine, its = context.Pipe(duplex=False)
    worker = context.Process(target=_work, args=(its, kind, seed, index, seconds))
    worker.start()
    its.close()
    result: dict[str, Any] = {"kind": kind, "seed": seed, "index": index}
    try:
        while "marks" not in result:
            result |= mine.recv()
        worker.join()
    except EOFError:
        worker.join()
        late = worker.exitcode == -signal.SIGXCPU
        mark = "no truth" if late and "seconds" in result else "out of time" if late else "crash"
        result |= {"marks": [mark], "outcome": mark if late else f"exit status {worker.exitcode}"}
    return result


def row(result: dict[str, Any]) -> str:
    """Return one problem in words."""
    marks = ", ".join(result["marks"]) or "not converged, not right"
    numbers = " ".join(
        f"{name} {result[name]:.1e}"
        for name in ("tol", "estimate", "error", "reference", "seconds")
        if result.get(name) is not None
    )
    return (
        f"{result['kind']} --index {result['index']}: {marks}; {numbers}; "
        f"{result.get('outcome', '')}; {result.get('words', '')}"
    )


def table(results: list[dict[str, Any]]) -> str:
    """Return the counts of each kind as a table of Markdown."""
    lines = [f"| kind | {' | '.join(COLUMNS)} |", f"| --- |{' ---: |' * len(COLUMNS)}"]
    for kind in dict.fromkeys(r["kind"] for r in results):
        those = [r for r in results if r["kind"] == kind]
        counts = Counter(mark for r in those for mark in r["marks"])
        counts["problems"] = len(those)
        lines.append(f"| {kind} | {' | '.join(str(counts[c]) for c in COLUMNS)} |")
    return "\n".join(lines)


def main() -> int:
    """Print the table and what is listed; return 1 where something is silently wrong."""
    options = _options()
    # Index by index through the kinds: a run that is cut short has something of each.
    indices = options.index or range(options.count)
    wanted = [(kind, options.seed, index) for index in indices for kind in options.kind]
    kept = {(r["kind"], r["seed"], r["index"]): r for r in _read(options.json)}

    def one(job: tuple[str, int, int]) -> dict[str, Any]:
        if job in kept:
            return kept[job]
        result = limited(*job, options.seconds)
        if options.json:
            with options.json.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")
        if options.all or options.index or set(result["marks"]) & set(LISTED):
            print(row(result), flush=True)
            if options.index and "trace" in result:
                print(result["trace"])
        return result

    # What every problem imports is imported once; each is then solved in a fresh copy of that.
    multiprocessing.get_context("forkserver").set_forkserver_preload(["sharpfront", "hostile"])
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(one, wanted))
    results.sort(key=lambda r: (KINDS.index(r["kind"]), r["index"]))
    spent = f"Seed {options.seed}, at most {options.seconds:.0f} s of a processor for a problem."
    print(f"\n{DEFINITIONS if options.markdown else ''}\n{spent}\n\n{table(results)}")
    return int(any("silently wrong" in r["marks"] for r in results))


def _read(path: Path | None) -> list[dict[str, Any]]:
    """Return the results that an earlier run left in a file, one on each line."""
    if path is None or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _options() -> argparse.Namespace:
    def kinds(text: str) -> list[str]:
        chosen = text.split(",")
        if not set(chosen) <= set(KINDS):
            raise argparse.ArgumentTypeError(f"kinds are {', '.join(KINDS)}; got {text!r}")
        return chosen

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", type=kinds, default=list(KINDS), help="separated by commas")
    parser.add_argument("--count", type=int, default=200, help="problems of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="of the processor, for each problem"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--index", type=lambda t: [int(i) for i in t.split(",")], default=[])
    parser.add_argument(
        "--json", type=Path, help="results, a line each; what it has is not solved again"
    )
    parser.add_argument("--all", action="store_true", help="print every problem")
    parser.add_argument(
        "--markdown", action="store_true", help="print the definitions too, for docs/trust.md"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
