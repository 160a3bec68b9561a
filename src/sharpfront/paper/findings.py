"""What reproduces and what does not: each verdict is decided by the numbers of this very run.

Claims of the paper come first, then what the scores hide and no claim covers.

What a finding is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeVar

from sharpfront.paper.cases import COLLOCATION, NEAR, NU, Case
from sharpfront.paper.experiments import Results
from sharpfront.paper.runs import Run
from sharpfront.paper.summary import WORDS, count, said, sci, settings, spread_of, zero_scores

T = TypeVar("T")


class Verdict(StrEnum):
    """What became of a claim."""

    HOLDS = "reproduces"
    PARTLY = "partly"
    FAILS = "does not reproduce"
    NOTE = "observation"


@dataclass(frozen=True)
class Finding:
    """A claim or a question, its verdict, and the numbers behind it."""

    key: str  # a word for tests and links
    title: str  # what was looked at, one line
    verdict: Verdict  # what came out
    # Paragraphs with the numbers; those that begin with a dash are items of a list.
    evidence: tuple[str, ...]
    figures: tuple[str, ...] = ()  # names of the figures that show it


def finding(
    key: str,
    verdict: Verdict,
    parts: Sequence[str],
    facts: Mapping[str, Any],
    items: Sequence[str] = (),
) -> Finding:
    """Return a finding with the texts of its parts; where one is ``"items"`` the items stand."""
    each = (items if part == "items" else (said(key, part, **facts),) for part in parts)
    evidence = tuple(paragraph for paragraphs in each for paragraph in paragraphs)
    figures = tuple(WORDS.texts[key].get("figures", ()))
    return Finding(key, said(key, "title", **facts), verdict, evidence, figures)


class NoRunsError(Exception):
    """There is nothing to say: what a finding looks at was not run."""


def known(found: list[T]) -> list[T]:
    """Return what was found, if there is any."""
    if not found:
        raise NoRunsError
    return found


def within(value: float, target: float, part: float) -> bool:
    """Tell whether a value is the target to a part of it."""
    return abs(value - target) <= part * abs(target)


def adaptive_runs(results: Results, case: str | None = None) -> list[Run]:
    """Return the runs of Table 1 beside the paper's adaptive row."""
    names = [method.name for method in results.plan.methods if method.row == "adaptive"]
    return known([run for run in results.select("table", case) if run.method in names])


def paper_runs(results: Results) -> list[Run]:
    """Return the runs of Table 1 whose method is the paper's."""
    names = {method.name for method in results.plan.methods if method.row}
    return [run for run in results.select("table") if run.method in names]


def agreed(holds: Sequence[bool]) -> Verdict:
    """Return the verdict on a claim that was looked at in several places."""
    if all(holds):
        return Verdict.HOLDS
    return Verdict.PARTLY if any(holds) else Verdict.FAILS


# Width of the baseline's kernels in units of the mean distance of their centres.
_OVERLAP = 2.5


def find(results: Results) -> list[Finding]:
    """Return every finding that the results allow, in the order of reading."""
    single, double = results.plan.cases
    asked: tuple[tuple[Callable[..., Finding], *tuple[Case, ...]], ...] = (
        *((single_baseline, single), (random_centres, single), (double_baseline, double)),
        *((adaptive, single), (adaptive, double), (measure,), (rows,), (mixture,), (floor,)),
        *((conditioning,), (collapse,), (sensitivity,), (own_opinion,), (own_methods,)),
    )
    found = []
    for ask, *cases in asked:
        with suppress(NoRunsError):
            found.append(ask(results, *cases))
    return found


def single_baseline(results: Results, case: Case) -> Finding:
    """Compare the baseline's error on the single layer with the paper's, and say what it is."""
    runs = known(results.select("table", case.name, "rbf"))
    paper, rmse = case.published["baseline"].rmse, spread_of(runs, "rmse")
    close = count(runs, lambda run: within(run.rmse, paper, 0.02))
    half = count(runs, lambda run: within(run.level, 0.5, 0.02) and run.unevenness < 0.01)
    parts = ["score", "origin"] if half > len(runs) / 2 else ["score"]
    verdict = Verdict.HOLDS if within(rmse.median, paper, 0.02) else Verdict.FAILS
    facts = {"paper": paper, "rmse": rmse, "close": close, "half": half, "rows": COLLOCATION}
    return finding("single-baseline", verdict, parts, {"runs": len(runs), **facts})


def double_baseline(results: Results, case: Case) -> Finding:
    """Compare the baseline's error on the double layer with the paper's and with u = 0."""
    runs = known(results.select("table", case.name, "rbf"))
    rmse, error = spread_of(runs, "rmse"), spread_of(runs, "max_error")
    paper, zero = case.published["baseline"].rmse, zero_scores(case)
    factor = max(rmse.median / paper, paper / rmse.median)
    parts = ["score", "zero"] if zero.rmse < min(paper, rmse.median) else ["score"]
    verdict = Verdict.HOLDS if factor < 3 else Verdict.PARTLY if factor < 10 else Verdict.FAILS
    facts = {"paper": paper, "rmse": rmse, "error": error, "factor": factor, "zero": zero}
    return finding("double-baseline", verdict, parts, facts)


def adaptive(results: Results, case: Case) -> Finding:
    """Compare the adaptive method's error with the paper's, and look into the layer."""
    runs = adaptive_runs(results, case.name)
    rmse, error = spread_of(runs, "rmse"), spread_of(runs, "max_error")
    paper = case.published["adaptive"].rmse
    reached = count(runs, lambda run: run.rmse <= 2 * paper)
    resolved = count(runs, lambda run: run.max_error < 0.01)
    usual = rmse.median <= 2 * paper and resolved > len(runs) / 2
    verdict = Verdict.HOLDS if usual else Verdict.PARTLY if reached else Verdict.FAILS
    parts = ["score", "resolved" if resolved else "unresolved"]
    counts = {"runs": len(runs), "reached": reached, "resolved": resolved}
    facts = {"case": case, "paper": paper, "rmse": rmse, "error": error, **counts}
    found = finding("adaptive", verdict, parts, facts)
    return replace(found, key=f"{case.name}-adaptive", figures=(f"profile-{case.name}",))


def mixture(results: Results) -> Finding:
    """Say how much of the learned mixture lies where the layer is."""
    items, holds = [], []
    for case in results.plan.cases:
        even = sum(NEAR * feature.width for feature in case.features)
        for method in (m for m in results.plan.methods if m.row == "adaptive"):
            runs = results.select("table", case.name, method.name)
            if runs:
                share = spread_of(runs, "mixture_share")
                holds.append(share.median > 0.5)
                facts = {"case": case, "method": method, "share": share, "even": even}
                items.append(said("mixture", "item", **facts))
    return finding("mixture", agreed(holds), ["what", "items", "why"], {"near": NEAR}, known(items))


def conditioning(results: Results) -> Finding:
    """Compare the conditioning with even and with adapted kernels."""
    runs = adaptive_runs(results)
    first, last = spread_of(runs, "condition_first"), spread_of(runs, "condition_last")
    better = count(runs, lambda run: run.condition_last < run.condition_first)
    verdict = Verdict.PARTLY if better > len(runs) / 4 else Verdict.FAILS
    verdict = Verdict.HOLDS if better > 3 * len(runs) / 4 else verdict
    parts = ["change", "singular"] if last.median > 4.5e15 else ["change"]
    facts = {"first": first, "last": last, "better": better, "runs": len(runs)}
    return finding("conditioning", verdict, parts, facts)


def collapse(results: Results) -> Finding:
    """Compare how far the squared residual and its logarithm concentrate."""
    items, holds, narrowest = [], [], 1.0
    for case in results.plan.cases:
        squared = results.select("collapse", case.name)
        seeds = {run.seed for run in squared}
        log = [run for run in results.select("table", case.name, "gmm") if run.seed in seeds]
        if not squared or not log:
            continue
        wide, narrow = (spread_of(runs, "mixture_length_first").median for runs in (log, squared))
        tame, raw = (spread_of(log, name).median for name in ("length_log", "length_squared"))
        holds.append(narrow < wide / 2 and raw < tame / 2)
        narrowest = min(narrowest, narrow)
        facts = {"case": case, "tame": tame, "raw": raw, "wide": wide, "narrow": narrow}
        items.append(said("collapse", "item", **facts))
    known(items)
    parts = ["what", "items", "mild"] if narrowest > 0.05 else ["what", "items"]
    return finding("collapse", agreed(holds), parts, {}, items)


def random_centres(results: Results, case: Case) -> Finding:
    """Say what the baseline gives if its centres are drawn independently."""
    runs = known(results.select("table", case.name, "rbf-random"))
    even = known(results.select("table", case.name, "rbf"))
    half = count(runs, lambda run: within(run.rmse, 0.5, 0.02))
    flat = count(runs, lambda run: run.unevenness < 0.01)
    width = _OVERLAP / case.kernels
    wide, narrow = (spread_of(some, "widest_gap").median / width for some in (runs, even))
    told = [run for run in runs if run.expected_level is not None]
    close = count(told, lambda run: abs(run.level - (run.expected_level or 0)) < 0.1)
    counts = {"half": half, "flat": flat, "close": close, "known": len(told), "runs": len(runs)}
    facts = {
        "rmse": spread_of(runs, "rmse"),
        "levels": spread_of(runs, "level"),
        "error": spread_of(runs, "max_error"),
        "wide": wide,
        "narrow": narrow,
        **counts,
    }
    return finding("random-centres", Verdict.NOTE, ["score", "gaps"], facts)


def measure(results: Results) -> Finding:
    """Say what the paper's measure sees of the layer."""
    runs = known(paper_runs(results))
    facts = {
        "fooled": count(runs, lambda run: run.rmse < 1e-2 and run.max_error > 0.2),
        "runs": len(runs),
        "best": min(runs, key=lambda run: run.rmse),
        "rows": COLLOCATION,
        "apart": 1 / COLLOCATION,
        "nu": NU,
        "zeros": " and ".join(
            f"{sci(zero_scores(case).rmse)} ({case.label.lower()})" for case in results.plan.cases
        ),
    }
    return finding("measure", Verdict.NOTE, ["fooled", "grid"], facts)


def rows(results: Results) -> Finding:
    """Count the rows of the equation that see the layer."""
    runs = known(paper_runs(results))
    near, dead = spread_of(runs, "rows_near"), spread_of(runs, "dead_columns")
    inside = count(runs, lambda run: bool(run.rows_inside))
    some = count(runs, lambda run: run.dead_columns > 0)
    facts = {"near": near, "dead": dead, "inside": inside, "some": some, "runs": len(runs)}
    parts = ["few", "dead"] if some else ["few"]
    return finding("rows", Verdict.NOTE, parts, {"rows": COLLOCATION, "widths": NEAR, **facts})


def floor(results: Results) -> Finding:
    """Say how narrow a component of the sampled fit can be."""
    runs = known(results.select("table", method="gmm"))
    widths = known([run.narrowest for run in runs if run.narrowest is not None])
    at_limit = sum(width < 1.1e-3 for width in widths)
    limit = 1e-3
    facts = {"limit": limit, "single": limit / NU, "double": 2 * limit / NU, "runs": len(widths)}
    found = {"narrowest": min(widths), "at_limit": at_limit}
    return finding("floor", Verdict.NOTE, ["limit"], {**facts, **found})


def sensitivity(results: Results) -> Finding:
    """Say what the settings change that the text leaves open."""
    scan, runs = settings(results), known(results.select("sensitivity"))
    resolved = count(runs, lambda run: run.max_error < 0.01)
    best = min(scan, key=lambda setting: setting.max_error.median)
    facts = {
        "rmse": spread_of(runs, "rmse"),
        "error": spread_of(runs, "max_error"),
        "resolved": resolved,
        "what": "whether the layer is resolved" if resolved else "does not resolve the layer",
        "best": best,
        "words": ", ".join(f"{name} {value}" for name, value in best.words),
        "runs": len(runs),
        "scan": len(scan),
    }
    return finding("sensitivity", Verdict.NOTE, ["range", "best"], facts)


def own_opinion(results: Results) -> Finding:
    """Say what the library knew without the exact solution."""
    runs = results.select("table")
    wrong = known([run for run in runs if run.max_error > 0.01])
    silent = count(wrong, lambda run: run.converged)
    low = count(wrong, lambda run: run.error_estimate < 0.1)
    facts = {"wrong": len(wrong), "runs": len(runs), "silent": silent, "low": low}
    return finding("own-opinion", Verdict.NOTE, ["calls"], facts)


def own_methods(results: Results) -> Finding:
    """Say what methods of this library reach on the same problems."""
    items = []
    for method in (m for m in results.plan.methods if m.row is None):
        for case in results.plan.cases:
            runs = results.select("table", case.name, method.name)
            if runs:
                error, time = spread_of(runs, "max_error"), spread_of(runs, "seconds")
                facts = {"error": error, "kernels": runs[0].kernels, "time": time}
                items.append(said("own-methods", "item", case=case, method=method, **facts))
    return finding("own-methods", Verdict.NOTE, ["items"], {}, [" ".join(known(items))])
