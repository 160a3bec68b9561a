"""Observations that no claim of the paper covers: what the scores hide, and why."""

from __future__ import annotations

from sharpfront.paper.cases import COLLOCATION, NEAR, NU, Case
from sharpfront.paper.experiments import Results
from sharpfront.paper.findings.finding import (
    Finding,
    Verdict,
    paper_runs,
    so_many,
    within,
)
from sharpfront.paper.summary import count, sci, seconds, settings, spread_of, zero_scores

# Width of the baseline's kernels in units of the mean distance of their centres.
_OVERLAP = 2.5


def random_centres(results: Results, case: Case) -> Finding | None:
    """Say what the baseline gives if its centres are drawn independently."""
    runs = results.select("table", case.name, "rbf-random")
    even = results.select("table", case.name, "rbf")
    if not runs or not even:
        return None
    half = count(runs, lambda run: within(run.rmse, 0.5, 0.02))
    levels = spread_of(runs, lambda run: run.level)
    error = spread_of(runs, lambda run: run.max_error)
    flat = count(runs, lambda run: run.unevenness < 0.01)
    evidence = [
        "“Uniformly sampled” centres can be read in two ways. Evenly spread random ones give the "
        f"figure above. Independent draws give it for {half} of {len(runs)} seeds; for the others "
        f"the score lies anywhere from {sci(min(run.rmse for run in runs))} to "
        f"{sci(max(run.rmse for run in runs))}. A lower score is no better solution: the largest "
        f"error is never below {sci(error.low)}.",
        f"In {flat} of {len(runs)} runs the solution is still flat, at a level between "
        f"{sci(levels.low)} and {sci(levels.high)}, and the score is that level. "
        + _gap_words(results, case),
    ]
    title = "Independent random centres make the baseline's score a matter of luck"
    return Finding("random-centres", title, Verdict.NOTE, tuple(evidence))


def _gap_words(results: Results, case: Case) -> str:
    runs = results.select("table", case.name, "rbf-random")
    even = results.select("table", case.name, "rbf")
    width = _OVERLAP / case.kernels
    wide, narrow = (
        spread_of(some, lambda run: run.widest_gap).median / width for some in (runs, even)
    )
    known = [run for run in runs if run.expected_level is not None]
    close = count(known, lambda run: abs(run.level - (run.expected_level or 0)) < 0.1)
    return (
        f"The widest gap between neighbouring centres is {wide:.1f} kernel widths in the median "
        f"run, against {narrow:.1f} with evenly spread ones. Across a gap even a constant c costs "
        "a residual, A c² in all, and the best compromise between this and the boundary rows is "
        "c = 1/(2 + A). Computed from the kernels alone, this level is right to 0.1 in "
        f"{close} of {len(known)} runs."
    )


def measure(results: Results) -> Finding | None:
    """Say what the paper's measure sees of the layer."""
    runs = paper_runs(results)
    if not runs:
        return None
    fooled = count(runs, lambda run: run.rmse < 1e-2 and run.max_error > 0.2)
    best = min(runs, key=lambda run: run.rmse)
    zeros = " and ".join(
        f"{sci(zero_scores(case).rmse)} ({case.label.lower()})" for case in results.plan.cases
    )
    evidence = (
        f"{fooled} of {len(runs)} runs score below 1.0e-2 on {COLLOCATION} uniform points while "
        "they are wrong by more than 2.0e-1 somewhere. The best score of all, "
        f"{sci(best.rmse)}, belongs to a solution that is wrong by {sci(best.max_error)}.",
        f"Uniform points are {sci(1 / COLLOCATION)} apart and the layer is {sci(NU)} wide, so no "
        "test point falls into it. The function u = 0, which ignores the layer, scores "
        f"{zeros}. A small score on a uniform grid is no evidence that a layer was found.",
    )
    title = "A uniform test grid does not see the layer"
    return Finding("measure", title, Verdict.NOTE, evidence, ("scatter",))


def rows(results: Results) -> Finding | None:
    """Count the rows of the equation that see the layer."""
    runs = paper_runs(results)
    if not runs:
        return None
    near, inside = (
        spread_of(runs, lambda run: run.rows_near),
        count(runs, lambda run: bool(run.rows_inside)),
    )
    dead = spread_of(runs, lambda run: run.dead_columns)
    evidence = [
        f"The {COLLOCATION} rows of the equation are drawn once and stay where they are. Within "
        f"{NEAR:.0f} layer widths of a layer there are {near.median:.0f} of them in the median "
        f"run ({near.low:.0f} to {near.high:.0f}); within one width there is a row in {inside} of "
        f"{len(runs)} runs. However well kernels are placed, little or nothing there tells the "
        "solver what the equation says."
    ]
    if dead.high > 0:
        some = [run for run in runs if run.dead_columns > 0]
        evidence.append(
            f"Kernels narrower than the gaps between rows touch no row at all. {len(some)} of "
            f"{len(runs)} runs have such kernels, up to {dead.high:.0f} of them. Kernels that "
            "touch hardly any row are as good as free: the equation is met at the rows and broken "
            "between them, which is where errors far above one come from."
        )
    title = "Why it fails: the fixed rows do not enter the layer"
    return Finding("rows", title, Verdict.NOTE, tuple(evidence))


def floor(results: Results) -> Finding | None:
    """Say how narrow a component of the sampled fit can be."""
    runs = [run for run in results.select("table", method="gmm") if run.narrowest is not None]
    if not runs:
        return None
    narrowest = min(run.narrowest or 0.0 for run in runs)
    at_limit = count(runs, lambda run: (run.narrowest or 0.0) < 1.1e-3)
    limit = 1e-3
    evidence = (
        "scikit-learn adds 1e-6 to every variance unless told otherwise (`reg_covar`), so no "
        f"component can have a standard deviation below {sci(limit)}: {limit / NU:.0f} widths of "
        f"the single layer, {2 * limit / NU:.0f} of the double ones. The narrowest component of "
        f"the sampled fits has {sci(narrowest)}; in {at_limit} of {len(runs)} runs one is within "
        "10 % of that limit.",
    )
    title = "The library used for the fit limits how narrow a component can be"
    return Finding("floor", title, Verdict.NOTE, evidence)


def sensitivity(results: Results) -> Finding | None:
    """Say what the settings change that the text leaves open."""
    scan, runs = settings(results), results.select("sensitivity")
    if not runs:
        return None
    rmse, error = (
        spread_of(runs, lambda run: run.rmse),
        spread_of(runs, lambda run: run.max_error),
    )
    resolved = count(runs, lambda run: run.max_error < 0.01)
    best = min(scan, key=lambda setting: setting.max_error.median)
    words = ", ".join(f"{name} {value}" for name, value in best.words)
    evidence = (
        "ε (added to every width), λ (weight of the boundary rows) and how rows are drawn are not "
        f"given in the text. Over {len(runs)} runs with {len(scan)} settings the uniform error "
        f"lies between {sci(rmse.low)} and {sci(rmse.high)}, the largest error between "
        f"{sci(error.low)} and {sci(error.high)}. {so_many(resolved)} below 1 %.",
        f"By the largest error the best setting is, for the {best.case} layer, {words}, with a "
        f"median of {sci(best.max_error.median)}. The table with every setting is further down.",
    )
    title = "What the text leaves open decides the score, and does not resolve the layer"
    if resolved:
        title = "What the text leaves open decides the score, and whether the layer is resolved"
    return Finding("sensitivity", title, Verdict.NOTE, evidence, ("sensitivity",))


def own_opinion(results: Results) -> Finding | None:
    """Say what the library knew without the exact solution."""
    runs = results.select("table")
    wrong = [run for run in runs if run.max_error > 0.01]
    if not wrong:
        return None
    silent = count(wrong, lambda run: run.converged)
    low = count(wrong, lambda run: run.error_estimate < 0.1)
    evidence = (
        f"{len(wrong)} of {len(runs)} runs are wrong by more than 1 %. sharpfront, which ran them, "
        f"calls {silent} of these converged. Its own estimate of the error, made without the exact "
        f"solution, is below 10 % for {low} of them.",
    )
    title = "Could one have known without the exact solution?"
    return Finding("own-opinion", title, Verdict.NOTE, evidence)


def own_methods(results: Results) -> Finding | None:
    """Say what methods of this library reach on the same problems."""
    parts = []
    for method in (m for m in results.plan.methods if m.row is None):
        for case in results.plan.cases:
            runs = results.select("table", case.name, method.name)
            if runs:
                error = spread_of(runs, lambda run: run.max_error)
                time = spread_of(runs, lambda run: run.seconds)
                parts.append(
                    f"{case.label}, {method.title}: largest error {error} with {runs[0].kernels} "
                    f"kernels in {seconds(time.median)} s."
                )
    if not parts:
        return None
    title = "What this library's own method reaches on the same problems"
    return Finding("own-methods", title, Verdict.NOTE, (" ".join(parts),))
