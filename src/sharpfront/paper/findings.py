"""What reproduces and what does not: each verdict is decided by the numbers of this very run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from sharpfront.paper.cases import COLLOCATION, NEAR, NU, Case
from sharpfront.paper.experiments import Results
from sharpfront.paper.runs import Run
from sharpfront.paper.summary import count, percent, sci, settings, spread, zero_scores


class Verdict(StrEnum):
    """What became of a claim."""

    HOLDS = "reproduces"
    PARTLY = "partly"
    FAILS = "does not reproduce"
    NOTE = "observation"


@dataclass(frozen=True)
class Finding:
    """A claim or a question, its verdict, and the numbers behind it.

    Parameters
    ----------
    key
        A word for tests and links.
    title
        What was looked at, one line.
    verdict
        What came out.
    evidence
        Paragraphs with the numbers.
    figures
        Names of the figures that show it.
    """

    key: str
    title: str
    verdict: Verdict
    evidence: tuple[str, ...]
    figures: tuple[str, ...] = ()


def find(results: Results) -> list[Finding]:
    """Return every finding that the results allow, in the order of reading."""
    single, double = results.plan.cases
    found = [
        _single_baseline(results, single),
        _random_centres(results, single),
        _double_baseline(results, double),
        _adaptive(results, single),
        _adaptive(results, double),
        _measure(results),
        _rows(results),
        _mixture(results),
        _floor(results),
        _conditioning(results),
        _collapse(results),
        _sensitivity(results),
        _own_opinion(results),
        _own_methods(results),
    ]
    return [finding for finding in found if finding is not None]


def _within(value: float, target: float, part: float) -> bool:
    return abs(value - target) <= part * abs(target)


def _single_baseline(results: Results, case: Case) -> Finding | None:
    runs = results.select("table", case.name, "rbf")
    rmse = spread(run.rmse for run in runs)
    if rmse is None:
        return None
    paper = case.published["baseline"].rmse
    close = count(runs, lambda run: _within(run.rmse, paper, 0.02))
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
    verdict = Verdict.HOLDS if _within(rmse.median, paper, 0.02) else Verdict.FAILS
    title = f"Single layer, RBF-PIELM: a root mean square error of {sci(paper)}"
    return Finding("single-baseline", title, verdict, tuple(evidence), ("profile-single",))


def _is_half(results: Results, case: Case) -> bool:
    """Tell whether the drawn baseline is 1/2 to one per cent away from the ends."""
    view = results.views.get(("table", case.name, "rbf"))
    if view is None:
        return False
    inside = (view.points > 0.05) & (view.points < 0.95)
    return bool((abs(view.values[inside] - 0.5) < 0.01).all())


def _random_centres(results: Results, case: Case) -> Finding | None:
    runs = results.select("table", case.name, "rbf-random")
    if not runs:
        return None
    half = count(runs, lambda run: _within(run.rmse, 0.5, 0.02))
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


def _double_baseline(results: Results, case: Case) -> Finding | None:
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


def _adaptive(results: Results, case: Case) -> Finding | None:
    runs = [
        run for m in _adaptive_methods(results) for run in results.select("table", case.name, m)
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
        f"{sci(rmse.high)}. {_so_many(reached)} within a factor of two of the paper's figure.",
        f"The largest error on a grid that enters the layer has the median {error} and is never "
        f"below {sci(error.low)}. {_so_many(resolved)} below 1 %: "
        + ("the layer is resolved there." if resolved else "the layer is not resolved by any."),
    )
    title = f"{case.label}, GMM-PIELM: a root mean square error of {sci(paper)}"
    return Finding(f"{case.name}-adaptive", title, verdict, evidence, (f"profile-{case.name}",))


def _so_many(number: int) -> str:
    return {0: "No run is", 1: "One run is"}.get(number, f"{number} runs are")


def _adaptive_methods(results: Results) -> list[str]:
    return [method.name for method in results.plan.methods if method.row == "adaptive"]


def _of_paper(results: Results) -> list[Run]:
    """Return the runs of Table 1 whose method is the paper's."""
    names = {method.name for method in results.plan.methods if method.row}
    return [run for run in results.select("table") if run.method in names]


def _measure(results: Results) -> Finding | None:
    runs = _of_paper(results)
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


def _rows(results: Results) -> Finding | None:
    runs = _of_paper(results)
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


def _mixture(results: Results) -> Finding | None:
    parts, verdicts = [], []
    for case in results.plan.cases:
        for name in _adaptive_methods(results):
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


def _floor(results: Results) -> Finding | None:
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


def _conditioning(results: Results) -> Finding | None:
    runs = [run for m in _adaptive_methods(results) for run in results.select("table", method=m)]
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


def _collapse(results: Results) -> Finding | None:
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


def _sensitivity(results: Results) -> Finding | None:
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
        f"{_so_many(count(runs, lambda run: run.max_error < 0.01))} below 1 %.",
        f"The best setting by the largest error ({best.case}: "
        + ", ".join(f"{name} {value}" for name, value in best.words)
        + f") has a median of {sci(best.max_error.median)}.",
    )
    title = "What the paper leaves open decides the score, and not the layer"
    if min(error) < 0.01:
        title = "What the paper leaves open decides the score, and whether the layer is found"
    return Finding("sensitivity", title, Verdict.NOTE, evidence, ("sensitivity",))


def _own_opinion(results: Results) -> Finding | None:
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


def _own_methods(results: Results) -> Finding | None:
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
