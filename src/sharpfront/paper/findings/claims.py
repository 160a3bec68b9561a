"""Claims of the paper, each with a verdict that the numbers decide."""

from __future__ import annotations

def single_baseline(results: Results, case: Case) -> Finding | None:
    runs = results.select("table", case.name, "rbf")
    rmse = spread(run.rmse for run in runs)
    if rmse is None:
        return None
    paper = case.published["baseline"].rmse
    close = count(runs, lambda run: within(run.rmse, paper, 0.02))
    evidence = [
        f"The paper gives {sci(paper)}. Here the median is {rmse}, and {close} of {len(runs)} seeds "
        "lie within 2 % of the paper's figure."
    ]
    if _is_half(results, case):
        evidence.append(
            "The number has a simple origin: the computed solution is the constant 1/2. A constant "
            f"satisfies u′ = 0 exactly at all {COLLOCATION} rows of the equation. What is left are "
            "two boundary rows of weight one that ask for 0 and for 1, and the least-squares "
            "compromise between them is 1/2, whose root mean square error is 1/2."
        )
    verdict = Verdict.HOLDS if within(rmse.median, paper, 0.02) else Verdict.FAILS
    title = f"Single layer, RBF-PIELM: a root mean square error of {sci(paper)}"
    return Finding("single-baseline", title, verdict, tuple(evidence), ("profile-single",))


def double_baseline(results: Results, case: Case) -> Finding | None:
    runs = results.select("table", case.name, "rbf")
    rmse, error = spread(run.rmse for run in runs), spread(run.max_error for run in runs)
    if rmse is None or error is None:
        return None
    paper, zero = case.published["baseline"].rmse, zero_scores(case)
    factor = max(rmse.median / paper, paper / rmse.median)
    evidence = [
        f"The paper gives {sci(paper)}; here the median is {rmse}, a factor {factor:.0f} apart, "
        f"with a largest error of {sci(error.median)}."
    ]
    if zero.rmse < min(paper, rmse.median):
        evidence.append(
            f"Neither figure says anything about the layers: the function u = 0 scores "
            f"{sci(zero.rmse)} under the same measure, better than both, and misses the layers "
            f"completely (largest error {sci(zero.max_error)})."
        )
    verdict = Verdict.HOLDS if factor < 3 else Verdict.PARTLY if factor < 100 else Verdict.FAILS
    title = f"Double layer, RBF-PIELM: a root mean square error of {sci(paper)}"
    return Finding("double-baseline", title, verdict, tuple(evidence), ("profile-double",))


def adaptive(results: Results, case: Case) -> Finding | None:
    runs = [
        run for m in adaptive_methods(results) for run in results.select("table", case.name, m)
    ]
    rmse, error = spread(run.rmse for run in runs), spread(run.max_error for run in runs)
    if rmse is None or error is None:
        return None
    paper = case.published["adaptive"].rmse
    reached = count(runs, lambda run: run.rmse <= 2 * paper)
    resolved = count(runs, lambda run: run.max_error < 0.01)
    verdict = (
        Verdict.HOLDS
        if rmse.median <= 2 * paper and resolved > len(runs) / 2
        else Verdict.PARTLY
        if reached and resolved
        else Verdict.FAILS
    )
    evidence = (
        f"The paper gives {sci(paper)} from one seed. Over {len(runs)} runs (both ways of fitting "
        f"the mixture) the median is {rmse}; the best run has {sci(rmse.low)}, the worst "
        f"{sci(rmse.high)}. {so_many(reached)} within a factor of two of the paper's figure.",
        f"The largest error on a grid that enters the layer has the median {error} and is never "
        f"below {sci(error.low)}. {so_many(resolved)} below 1 %: "
        + ("the layer is resolved there." if resolved else "the layer is not resolved by any."),
    )
    title = f"{case.label}, GMM-PIELM: a root mean square error of {sci(paper)}"
    return Finding(f"{case.name}-adaptive", title, verdict, evidence, (f"profile-{case.name}",))


def mixture(results: Results) -> Finding | None:
    parts, verdicts = [], []
    for case in results.plan.cases:
        for name in adaptive_methods(results):
            share = spread(run.mixture_share for run in results.select("table", case.name, name))
            if share is None:
                continue
            title = next(m.title for m in results.plan.methods if m.name == name)
            even = sum(min(NEAR * f.width, 1.0) for f in case.features)
            verdicts.append(share.median > 0.5)
            parts.append(
                f"{case.label}, {title}: {percent(share.median)} "
                f"({percent(share.first)} to {percent(share.third)}; best {percent(share.high)}; "
                f"an even density has {percent(even)})."
            )
    if not parts:
        return None
    verdict = Verdict.HOLDS if all(verdicts) else Verdict.PARTLY if any(verdicts) else Verdict.FAILS
    evidence = (
        f"Part of the last mixture within {NEAR:.0f} layer widths of a layer, median and quartiles "
        "over the seeds. " + " ".join(parts),
        "The mixture is fitted to the residual that the rows show. Where no row lies, the residual "
        "is not seen, and the residual of an unresolved solution need not be large at the layer.",
    )
    title = "The mixture concentrates on the layer"
    return Finding("mixture", title, verdict, evidence, ("density-single", "density-double"))


def conditioning(results: Results) -> Finding | None:
    runs = [run for m in adaptive_methods(results) for run in results.select("table", method=m)]
    first, last = spread(r.condition_first for r in runs), spread(r.condition_last for r in runs)
    if first is None or last is None:
        return None
    better = count(runs, lambda run: run.condition_last < run.condition_first)
    verdict = (
        Verdict.HOLDS
        if better > 0.75 * len(runs)
        else Verdict.PARTLY
        if better > 0.25 * len(runs)
        else Verdict.FAILS
    )
    evidence = (
        f"Condition number of H with the first, even kernels: {first}. With the last, adapted "
        f"ones: {last}. It fell in {better} of {len(runs)} runs.",
        "Beyond 4.5e15, one over the rounding of double precision, a condition number only says "
        "that the matrix is singular to rounding; how large the figure is then means little.",
    )
    title = "Adapting the kernels improves the conditioning of the least-squares system"
    return Finding("conditioning", title, verdict, evidence, ("condition",))


def collapse(results: Results) -> Finding | None:
    parts, holds = [], []
    for case in results.plan.cases:
        squared = results.select("collapse", case.name)
        seeds = {run.seed for run in squared}
        log = [run for run in results.select("table", case.name, "gmm") if run.seed in seeds]
        narrow, wide = (spread(run.mixture_length_first for run in runs) for runs in (squared, log))
        fields = (spread(r.length_squared for r in log), spread(r.length_log for r in log))
        if narrow is None or wide is None or fields[0] is None or fields[1] is None:
            continue
        holds.append(narrow.median < wide.median and fields[0].median < fields[1].median)
        parts.append(
            f"{case.label}: the density itself covers {percent(fields[1].median)} of the domain "
            f"with the logarithm and {percent(fields[0].median)} with the square; the mixture "
            f"fitted to it {percent(wide.median)} and {percent(narrow.median)}."
        )
    if not parts:
        return None
    verdict = Verdict.HOLDS if all(holds) else Verdict.PARTLY if any(holds) else Verdict.FAILS
    evidence = (
        "Both densities were formed from the same residual, that of the first solve, and the "
        "effective length 1/∫p² says how much of the domain a density covers (100 % for an even "
        "one). " + " ".join(parts),
    )
    title = "log(1 + |R|) keeps the density from collapsing, the raw square does not"
    return Finding("collapse", title, verdict, evidence, ("collapse-single", "collapse-double"))
