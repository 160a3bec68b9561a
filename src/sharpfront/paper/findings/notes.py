"""Observations that no claim of the paper covers: what the scores hide, and why."""

from __future__ import annotations

def random_centres(results: Results, case: Case) -> Finding | None:
    runs = results.select("table", case.name, "rbf-random")
    if not runs:
        return None
    half = count(runs, lambda run: within(run.rmse, 0.5, 0.02))
    zero = count(runs, lambda run: run.rmse < 0.05)
    between = len(runs) - half - zero
    evidence = (
        "The text asks for centres drawn uniformly, which can be read in two ways. With evenly "
        "spread random centres the figure above comes out. With independent draws "
        f"{half} of {len(runs)} seeds give 1/2, {zero} give nearly 0 in the interior, and {between} "
        "something else.",
        "Independent points leave gaps; where a gap is wider than the kernels reach, the equation "
        "no longer ties the two sides together. The side that hangs on u(0) = 0 then follows it, "
        "and the other side u(1) = 1. The score falls the more of the domain lies on the left of "
        "the gap, and no layer has been resolved: the largest error over these runs is never "
        f"below {sci(min(run.max_error for run in runs))}.",
    )
    title = "Single layer, RBF-PIELM with independent random centres: the score is a lottery"
    return Finding(
        "random-centres", title, Verdict.HOLDS if half == len(runs) else Verdict.PARTLY, evidence
    )


def measure(results: Results) -> Finding | None:
    runs = of_paper(results)
    fooled = [run for run in runs if run.rmse < 1e-2 and run.max_error > 0.2]
    if not runs:
        return None
    zeros = ", ".join(
        f"{sci(zero_scores(case).rmse)} ({case.label.lower()})" for case in results.plan.cases
    )
    evidence = [
        f"{len(fooled)} of {len(runs)} runs score below 1.0e-2 on {COLLOCATION} uniform points "
        "while they are wrong by more than 2.0e-1 somewhere.",
        f"Uniform points are {sci(1 / COLLOCATION)} apart, and the layer is {sci(NU)} wide: no "
        "test point falls into it. So the function u = 0, which ignores the layer, scores "
        f"{zeros}. A small score on a uniform grid is no evidence that a layer was found.",
    ]
    title = "A uniform test grid does not see the layer"
    return Finding("measure", title, Verdict.NOTE, tuple(evidence), ("scatter",))


def rows(results: Results) -> Finding | None:
    runs = of_paper(results)
    if not runs:
        return None
    near, dead = (
        spread(run.rows_near for run in runs),
        spread(run.dead_columns for run in runs if run.solves > 1),
    )
    assert near is not None, "there are runs"
    evidence = [
        f"The {COLLOCATION} rows of the equation are drawn once and stay where they are. Within "
        f"{NEAR:.0f} layer widths of a layer there are {near.median:.0f} of them in the median "
        f"run ({near.low:.0f} to {near.high:.0f}); inside a layer width hardly ever one. However "
        "well kernels are placed, nothing there tells the solver what the equation says.",
    ]
    if dead is not None and dead.high > 0:
        evidence.append(
            "Kernels narrower than the gaps between rows touch no row at all: "
            f"{dead.median:.0f} of the kernels in the median adaptive run, up to {dead.high:.0f}. "
            "Their weights are free, so the equation is met at the rows and broken between them, "
            "which is where errors far above one come from."
        )
    title = "Why: fixed rows do not enter the layer"
    return Finding("rows", title, Verdict.NOTE, tuple(evidence))


def floor(results: Results) -> Finding | None:
    runs = [run for run in results.select("table", method="gmm") if run.narrowest is not None]
    if not runs:
        return None
    narrowest, widths = min(run.narrowest or 0.0 for run in runs), 1e-3 / NU
    evidence = (
        "scikit-learn adds 1e-6 to every variance unless told otherwise (`reg_covar`), so no "
        f"component can have a standard deviation below 1.0e-3. That is {widths:.0f} widths of the "
        f"single layer and {2 * widths:.0f} of the double one. The narrowest component of all runs "
        f"has {sci(narrowest)}"
        + (", at that limit." if narrowest < 1.1e-3 else ", above that limit."),
    )
    title = "The library used for the fit limits how narrow a component can be"
    return Finding("floor", title, Verdict.NOTE, evidence)


def sensitivity(results: Results) -> Finding | None:
    scan, runs = settings(results), results.select("sensitivity")
    if not runs:
        return None
    rmse, error = [run.rmse for run in runs], [run.max_error for run in runs]
    best = min(scan, key=lambda setting: setting.max_error.median)
    evidence = (
        f"ε (added to every width), λ (weight of the boundary rows) and how rows are drawn are not "
        f"given in the text. Over {len(runs)} runs with {len(scan)} settings the uniform error of "
        f"the last iterate lies between {sci(min(rmse))} and {sci(max(rmse))}, and the largest "
        f"error between {sci(min(error))} and {sci(max(error))}. "
        f"{so_many(count(runs, lambda run: run.max_error < 0.01))} below 1 %.",
        f"The best setting by the largest error ({best.case}: "
        + ", ".join(f"{name} {value}" for name, value in best.words)
        + f") has a median of {sci(best.max_error.median)}.",
    )
    title = "What the paper leaves open decides the score, and not the layer"
    if min(error) < 0.01:
        title = "What the paper leaves open decides the score, and whether the layer is found"
    return Finding("sensitivity", title, Verdict.NOTE, evidence, ("sensitivity",))


def own_opinion(results: Results) -> Finding | None:
    runs = results.select("table")
    wrong = [run for run in runs if run.max_error > 0.01]
    if not wrong:
        return None
    silent = count(wrong, lambda run: run.converged)
    low = count(wrong, lambda run: run.error_estimate < run.max_error / 10)
    evidence = (
        f"{len(wrong)} of {len(runs)} runs are wrong by more than 1 %. sharpfront, which ran them, "
        f"calls {silent} of these converged. Its estimate, made without the exact solution, is "
        f"more than ten times too small in {low} of them; the others are seen for what they are "
        "without knowing the answer.",
    )
    title = "Could one have known without the exact solution?"
    return Finding("own-opinion", title, Verdict.NOTE, evidence)


def own_methods(results: Results) -> Finding | None:
    parts = []
    for method in (m for m in results.plan.methods if m.row is None):
        for case in results.plan.cases:
            runs = results.select("table", case.name, method.name)
            error, seconds = spread(r.max_error for r in runs), spread(r.seconds for r in runs)
            if error is not None and seconds is not None:
                parts.append(
                    f"{case.label}, {method.title}: largest error {error} with {runs[0].kernels} "
                    f"kernels in {seconds.median:.3f} s."
                )
    if not parts:
        return None
    title = "With rows and widths that follow the mixture, the same idea works"
    return Finding("own-methods", title, Verdict.NOTE, (" ".join(parts),))
