"""Claims of the paper, each with a verdict that the numbers decide."""

from __future__ import annotations

from sharpfront.paper.cases import COLLOCATION, NEAR, Case
from sharpfront.paper.experiments import Results
from sharpfront.paper.findings.finding import (
    Finding,
    Verdict,
    adaptive_methods,
    adaptive_runs,
    agreed,
    so_many,
    within,
)
from sharpfront.paper.summary import count, percent, sci, spread_of, zero_scores


def single_baseline(results: Results, case: Case) -> Finding | None:
    """Compare the baseline's error on the single layer with the paper's, and say what it is."""
    runs = results.select("table", case.name, "rbf")
    if not runs:
        return None
    paper, rmse = case.published["baseline"].rmse, spread_of(runs, lambda run: run.rmse)
    close = count(runs, lambda run: within(run.rmse, paper, 0.02))
    evidence = [
        f"The paper gives {sci(paper)}. Here the median is {rmse}, and {close} of {len(runs)} "
        "seeds lie within 2 % of the paper's figure."
    ]
    half = count(runs, lambda run: within(run.level, 0.5, 0.02) and run.unevenness < 0.01)
    if half > len(runs) / 2:
        evidence.append(
            f"The number has a simple origin: in {half} of {len(runs)} runs the computed solution "
            f"is the constant 1/2. A constant meets the equation exactly at all {COLLOCATION} "
            "rows. What is left are two boundary rows of weight one that ask for 0 and for 1; the "
            "least-squares compromise between them is 1/2, and its root mean square error is 1/2."
        )
    verdict = Verdict.HOLDS if within(rmse.median, paper, 0.02) else Verdict.FAILS
    title = f"Single layer, RBF-PIELM: a root mean square error of {sci(paper)}"
    return Finding("single-baseline", title, verdict, tuple(evidence), ("profile-single",))


def double_baseline(results: Results, case: Case) -> Finding | None:
    """Compare the baseline's error on the double layer with the paper's and with u = 0."""
    runs = results.select("table", case.name, "rbf")
    if not runs:
        return None
    rmse, error = (
        spread_of(runs, lambda run: run.rmse),
        spread_of(runs, lambda run: run.max_error),
    )
    paper, zero = case.published["baseline"].rmse, zero_scores(case)
    factor = max(rmse.median / paper, paper / rmse.median)
    evidence = [
        f"The paper gives {sci(paper)}; here the median is {rmse}, a factor {factor:.0f} apart, "
        f"with a largest error of {sci(error.median)}."
    ]
    if zero.rmse < min(paper, rmse.median):
        evidence.append(
            "Neither figure says anything about the layers: the function u = 0 scores "
            f"{sci(zero.rmse)} under the same measure, better than both, and misses the layers "
            f"completely (largest error {sci(zero.max_error)})."
        )
    verdict = Verdict.HOLDS if factor < 3 else Verdict.PARTLY if factor < 10 else Verdict.FAILS
    title = f"Double layer, RBF-PIELM: a root mean square error of {sci(paper)}"
    return Finding("double-baseline", title, verdict, tuple(evidence), ("profile-double",))


def adaptive(results: Results, case: Case) -> Finding | None:
    """Compare the adaptive method's error with the paper's, and look into the layer."""
    runs = adaptive_runs(results, case.name)
    if not runs:
        return None
    rmse, error = (
        spread_of(runs, lambda run: run.rmse),
        spread_of(runs, lambda run: run.max_error),
    )
    paper = case.published["adaptive"].rmse
    reached = count(runs, lambda run: run.rmse <= 2 * paper)
    resolved = count(runs, lambda run: run.max_error < 0.01)
    usual = rmse.median <= 2 * paper and resolved > len(runs) / 2
    verdict = Verdict.HOLDS if usual else Verdict.PARTLY if reached else Verdict.FAILS
    tail = "the layer is resolved there." if resolved else "the layer is not resolved by any."
    evidence = (
        f"The paper gives {sci(paper)} from one seed. Over {len(runs)} runs (both ways of fitting "
        f"the mixture) the median is {rmse}; the best run has {sci(rmse.low)}, the worst "
        f"{sci(rmse.high)}. {so_many(reached)} as good as twice the paper's figure.",
        f"The largest error on a grid that enters the layer has the median {error} and is never "
        f"below {sci(error.low)}. {so_many(resolved)} below 1 %: {tail}",
    )
    title = f"{case.label}, GMM-PIELM: a root mean square error of {sci(paper)}"
    return Finding(f"{case.name}-adaptive", title, verdict, evidence, (f"profile-{case.name}",))


def mixture(results: Results) -> Finding | None:
    """Say how much of the learned mixture lies where the layer is."""
    titles = {method.name: method.title for method in results.plan.methods}
    parts, holds = [], []
    for case in results.plan.cases:
        even = percent(sum(NEAR * feature.width for feature in case.features))
        for name in adaptive_methods(results):
            runs = results.select("table", case.name, name)
            if not runs:
                continue
            share = spread_of(runs, lambda run: run.mixture_share)
            holds.append(share.median > 0.5)
            parts.append(
                f"- {case.label}, {titles[name]}: {percent(share.median)} "
                f"[{percent(share.first)}, {percent(share.third)}], at best {percent(share.high)}; "
                f"an even density has {even}."
            )
    if not parts:
        return None
    evidence = (
        f"Part of the last mixture within {NEAR:.0f} layer widths of a layer, median and quartiles "
        "over the seeds:",
        *parts,
        "The mixture is fitted to the residual at the rows. Where no row lies the residual is not "
        "seen, as the grey areas in the figures show.",
    )
    title = "The mixture concentrates on the layer"
    pictures = tuple(f"density-{case.name}" for case in results.plan.cases)
    return Finding("mixture", title, agreed(holds), evidence, pictures)


def conditioning(results: Results) -> Finding | None:
    """Compare the conditioning with even and with adapted kernels."""
    runs = adaptive_runs(results)
    if not runs:
        return None
    first = spread_of(runs, lambda run: run.condition_first)
    last = spread_of(runs, lambda run: run.condition_last)
    better = count(runs, lambda run: run.condition_last < run.condition_first)
    verdict = Verdict.PARTLY if better > len(runs) / 4 else Verdict.FAILS
    verdict = Verdict.HOLDS if better > 3 * len(runs) / 4 else verdict
    evidence = [
        f"Condition number of H with the first, even kernels: {first}. With the last, adapted "
        f"ones: {last}. It fell in {better} of {len(runs)} runs."
    ]
    if last.median > 4.5e15:
        evidence.append(
            "Beyond 4.5e15, one over the rounding of double precision, a condition number only "
            "says that the matrix is singular to rounding; how large it is then means little."
        )
    title = "Adapting the kernels improves the conditioning of the least-squares system"
    return Finding("conditioning", title, verdict, tuple(evidence), ("condition",))


def collapse(results: Results) -> Finding | None:
    """Compare how far the squared residual and its logarithm concentrate."""
    parts, holds, narrowest = [], [], 1.0
    for case in results.plan.cases:
        squared = results.select("collapse", case.name)
        seeds = {run.seed for run in squared}
        log = [run for run in results.select("table", case.name, "gmm") if run.seed in seeds]
        if not squared or not log:
            continue
        wide, narrow = (
            spread_of(runs, lambda run: run.mixture_length_first).median for runs in (log, squared)
        )
        tame = spread_of(log, lambda run: run.length_log).median
        raw = spread_of(log, lambda run: run.length_squared).median
        holds.append(narrow < wide / 2 and raw < tame / 2)
        narrowest = min(narrowest, narrow)
        parts.append(
            f"- {case.label}: the density covers {percent(tame)} of the domain with the logarithm "
            f"and {percent(raw)} with the square; the mixture fitted to it {percent(wide)} and "
            f"{percent(narrow)}."
        )
    if not parts:
        return None
    evidence = [
        "Both densities were formed from the same residual, that of the first solve. The length "
        "1/∫p² says how much of the domain a density covers: 100 % if it is even.",
        *parts,
    ]
    if narrowest > 0.05:
        evidence.append(
            "Here the square concentrates the mixture; it does not collapse it onto a point."
        )
    title = "The raw squared residual makes the mixture collapse, log(1 + |R|) does not"
    pictures = tuple(f"collapse-{case.name}" for case in results.plan.cases)
    return Finding("collapse", title, agreed(holds), tuple(evidence), pictures)
