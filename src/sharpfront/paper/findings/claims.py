"""Claims of the paper, each with a verdict that the numbers decide."""

from __future__ import annotations

from dataclasses import replace

from sharpfront.paper.cases import COLLOCATION, NEAR, Case
from sharpfront.paper.experiments import Results
from sharpfront.paper.findings.finding import (
    Finding,
    Verdict,
    adaptive_runs,
    agreed,
    finding,
    within,
)
from sharpfront.paper.summary import count, spread_of, zero_scores
from sharpfront.paper.words import said


def single_baseline(results: Results, case: Case) -> Finding | None:
    """Compare the baseline's error on the single layer with the paper's, and say what it is."""
    runs = results.select("table", case.name, "rbf")
    if not runs:
        return None
    paper, rmse = case.published["baseline"].rmse, spread_of(runs, "rmse")
    close = count(runs, lambda run: within(run.rmse, paper, 0.02))
    half = count(runs, lambda run: within(run.level, 0.5, 0.02) and run.unevenness < 0.01)
    parts = ["score", "origin"] if half > len(runs) / 2 else ["score"]
    verdict = Verdict.HOLDS if within(rmse.median, paper, 0.02) else Verdict.FAILS
    facts = {"paper": paper, "rmse": rmse, "close": close, "half": half, "rows": COLLOCATION}
    return finding("single-baseline", verdict, parts, {"runs": len(runs), **facts})


def double_baseline(results: Results, case: Case) -> Finding | None:
    """Compare the baseline's error on the double layer with the paper's and with u = 0."""
    runs = results.select("table", case.name, "rbf")
    if not runs:
        return None
    rmse, error = spread_of(runs, "rmse"), spread_of(runs, "max_error")
    paper, zero = case.published["baseline"].rmse, zero_scores(case)
    factor = max(rmse.median / paper, paper / rmse.median)
    parts = ["score", "zero"] if zero.rmse < min(paper, rmse.median) else ["score"]
    verdict = Verdict.HOLDS if factor < 3 else Verdict.PARTLY if factor < 10 else Verdict.FAILS
    facts = {"paper": paper, "rmse": rmse, "error": error, "factor": factor, "zero": zero}
    return finding("double-baseline", verdict, parts, facts)


def adaptive(results: Results, case: Case) -> Finding | None:
    """Compare the adaptive method's error with the paper's, and look into the layer."""
    runs = adaptive_runs(results, case.name)
    if not runs:
        return None
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


def mixture(results: Results) -> Finding | None:
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
    if not items:
        return None
    return finding("mixture", agreed(holds), ["what", "items", "why"], {"near": NEAR}, items)


def conditioning(results: Results) -> Finding | None:
    """Compare the conditioning with even and with adapted kernels."""
    runs = adaptive_runs(results)
    if not runs:
        return None
    first, last = spread_of(runs, "condition_first"), spread_of(runs, "condition_last")
    better = count(runs, lambda run: run.condition_last < run.condition_first)
    verdict = Verdict.PARTLY if better > len(runs) / 4 else Verdict.FAILS
    verdict = Verdict.HOLDS if better > 3 * len(runs) / 4 else verdict
    parts = ["change", "singular"] if last.median > 4.5e15 else ["change"]
    facts = {"first": first, "last": last, "better": better, "runs": len(runs)}
    return finding("conditioning", verdict, parts, facts)


def collapse(results: Results) -> Finding | None:
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
    if not items:
        return None
    parts = ["what", "items", "mild"] if narrowest > 0.05 else ["what", "items"]
    return finding("collapse", agreed(holds), parts, {}, items)
