"""Observations that no claim of the paper covers: what the scores hide, and why."""

from __future__ import annotations

from sharpfront.paper.cases import COLLOCATION, NEAR, NU, Case
from sharpfront.paper.experiments import Results
from sharpfront.paper.findings.finding import Finding, Verdict, finding, paper_runs, within
from sharpfront.paper.summary import count, sci, settings, spread_of, zero_scores
from sharpfront.paper.words import said

# Width of the baseline's kernels in units of the mean distance of their centres.
_OVERLAP = 2.5


def random_centres(results: Results, case: Case) -> Finding | None:
    """Say what the baseline gives if its centres are drawn independently."""
    runs = results.select("table", case.name, "rbf-random")
    even = results.select("table", case.name, "rbf")
    if not runs or not even:
        return None
    half = count(runs, lambda run: within(run.rmse, 0.5, 0.02))
    flat = count(runs, lambda run: run.unevenness < 0.01)
    width = _OVERLAP / case.kernels
    wide, narrow = (spread_of(some, "widest_gap").median / width for some in (runs, even))
    known = [run for run in runs if run.expected_level is not None]
    close = count(known, lambda run: abs(run.level - (run.expected_level or 0)) < 0.1)
    counts = {"half": half, "flat": flat, "close": close, "known": len(known), "runs": len(runs)}
    facts = {
        "rmse": spread_of(runs, "rmse"),
        "levels": spread_of(runs, "level"),
        "error": spread_of(runs, "max_error"),
        "wide": wide,
        "narrow": narrow,
        **counts,
    }
    return finding("random-centres", Verdict.NOTE, ["score", "gaps"], facts)


def measure(results: Results) -> Finding | None:
    """Say what the paper's measure sees of the layer."""
    runs = paper_runs(results)
    if not runs:
        return None
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


def rows(results: Results) -> Finding | None:
    """Count the rows of the equation that see the layer."""
    runs = paper_runs(results)
    if not runs:
        return None
    near, dead = spread_of(runs, "rows_near"), spread_of(runs, "dead_columns")
    inside = count(runs, lambda run: bool(run.rows_inside))
    some = count(runs, lambda run: run.dead_columns > 0)
    facts = {"near": near, "dead": dead, "inside": inside, "some": some, "runs": len(runs)}
    parts = ["few", "dead"] if some else ["few"]
    return finding("rows", Verdict.NOTE, parts, {"rows": COLLOCATION, "widths": NEAR, **facts})


def floor(results: Results) -> Finding | None:
    """Say how narrow a component of the sampled fit can be."""
    runs = [run for run in results.select("table", method="gmm") if run.narrowest is not None]
    if not runs:
        return None
    narrowest = min(run.narrowest or 0.0 for run in runs)
    at_limit = count(runs, lambda run: (run.narrowest or 0.0) < 1.1e-3)
    limit = 1e-3
    facts = {"limit": limit, "single": limit / NU, "double": 2 * limit / NU, "runs": len(runs)}
    found = {"narrowest": narrowest, "at_limit": at_limit}
    return finding("floor", Verdict.NOTE, ["limit"], {**facts, **found})


def sensitivity(results: Results) -> Finding | None:
    """Say what the settings change that the text leaves open."""
    scan, runs = settings(results), results.select("sensitivity")
    if not runs:
        return None
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


def own_opinion(results: Results) -> Finding | None:
    """Say what the library knew without the exact solution."""
    runs = results.select("table")
    wrong = [run for run in runs if run.max_error > 0.01]
    if not wrong:
        return None
    silent = count(wrong, lambda run: run.converged)
    low = count(wrong, lambda run: run.error_estimate < 0.1)
    facts = {"wrong": len(wrong), "runs": len(runs), "silent": silent, "low": low}
    return finding("own-opinion", Verdict.NOTE, ["calls"], facts)


def own_methods(results: Results) -> Finding | None:
    """Say what methods of this library reach on the same problems."""
    items = []
    for method in (m for m in results.plan.methods if m.row is None):
        for case in results.plan.cases:
            runs = results.select("table", case.name, method.name)
            if runs:
                error, time = spread_of(runs, "max_error"), spread_of(runs, "seconds")
                facts = {"error": error, "kernels": runs[0].kernels, "time": time}
                items.append(said("own-methods", "item", case=case, method=method, **facts))
    if not items:
        return None
    return finding("own-methods", Verdict.NOTE, ["items"], {}, [" ".join(items)])
