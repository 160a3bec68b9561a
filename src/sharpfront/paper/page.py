"""The words and tables of the report; verdicts, which numbers decide, are in `findings`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sharpfront.paper.cases import COLLOCATION, FIRST_SEED, NEAR, NU
from sharpfront.paper.experiments import Results
from sharpfront.paper.findings import Finding, Verdict
from sharpfront.paper.findings.finding import paper_runs
from sharpfront.paper.summary import (
    Cell,
    Spread,
    percent,
    sci,
    seconds,
    settings,
    table1,
    zero_scores,
)
from sharpfront.show.pages.page import HtmlPage

CAPTIONS = {
    "profile-single": "Solutions of the single-layer problem, {seed}. The lower panel shows the "
    "same curves towards the layer, on a logarithmic scale of distance; the shaded part is the "
    "layer itself. The strokes are the places where the equation is imposed.",
    "profile-double": "The same for the double layer; the lower panel shows the right one.",
    "density-single": "Single layer, {seed}: the residual density that the last mixture was "
    "fitted to, and that mixture. Dots are the density at the rows, all that the fit sees; the "
    "grey area is the density on a grid fine enough to look between the rows.",
    "density-double": "The same for the double layer, towards its right end.",
    "collapse-single": "Single layer, {seed}: the densities log(1 + |R|) and R² of the same first "
    "residual, the mixtures fitted to them, and the kernels drawn.",
    "collapse-double": "The same for the double layer.",
    "scatter": "Every run of Table 1 as a dot. A method that works would be at the lower left. "
    "The dotted line is an error of one, the height of the layer.",
    "condition": "Condition number of the least-squares matrix H: each run a dot, the bar from "
    "quartile to quartile, the stroke the median. Grey: the same runs before the first adaptation. "
    "Dotted: one over the rounding of double precision.",
    "sensitivity": "GMM-PIELM with other values of what the text leaves open; dots are seeds, red "
    "the single layer, blue the double one. The dotted line is an error of one.",
}


def write_page(
    page: HtmlPage,
    results: Results,
    findings: Sequence[Finding],
    pictures: Mapping[str, bytes],
    versions: Mapping[str, str],
) -> None:
    """Write the whole report."""
    page.lead(_lead(findings, results))
    page.contents()
    claims = [f for f in findings if f.verdict is not Verdict.NOTE]
    notes = [f for f in findings if f.verdict is Verdict.NOTE]
    page.verdicts([(f.verdict.value, f.title, f.key) for f in (*claims, *notes)])
    _explain(page)
    page.section("Table 1")
    scores_table(page, results)
    _write_findings(page, findings, pictures)
    page.section("Sensitivity to what the text leaves open")
    sensitivity_table(page, results)
    page.section("Where the mixtures went")
    shares_table(page, results)
    page.section("Settings and how to repeat this")
    settings_table(page, results)
    _repeat(page, results, versions)
    if results.failures:
        page.section("Runs that failed")
        failures_table(page, results)


def _lead(findings: Sequence[Finding], results: Results) -> str:
    runs = paper_runs(results)
    resolved = sum(run.max_error < 0.01 for run in runs)
    return (
        "GMM-PIELM (arXiv 2603.06287) solves stiff differential equations with Gaussian kernels "
        "whose places are learned from where the equation is violated. This page repeats its "
        f"experiments with {results.plan.seeds} random seeds instead of one, and measures the "
        "error also inside the boundary layer, where the paper's measure does not look. "
        f"{_counted(findings)} The layer is resolved to 1 % in "
        f"{resolved or 'none'} of the {len(runs)} runs of the paper's methods."
    )


def _counted(findings: Sequence[Finding]) -> str:
    verdicts = [f.verdict for f in findings if f.verdict is not Verdict.NOTE]
    parts = [
        f"{verdicts.count(verdict)} {words}"
        for verdict, words in (
            (Verdict.HOLDS, "reproduce"),
            (Verdict.PARTLY, "do so in part"),
            (Verdict.FAILS, "do not"),
        )
        if verdict in verdicts
    ]
    return f"Of {len(verdicts)} claims looked at, {', '.join(parts)}."


def _explain(page: HtmlPage) -> None:
    page.section("The method in plain words")
    page.paragraph(
        "The unknown function is written as a sum of Gaussian bumps. If their places and widths "
        "are fixed, the equation at a set of points (the *rows*) and the boundary conditions are "
        "linear in the weights of the bumps, and one least-squares solve gives them. That is the "
        "baseline, RBF-PIELM: bumps spread over the domain, all of one width."
    )
    page.paragraph(
        "GMM-PIELM repeats the solve. After each one it looks at the residual R, what the computed "
        "function leaves of the equation, and reads p_res = log(1 + |R|) / Z as a probability "
        "density, Z being its integral. A Gaussian mixture is fitted to that density; 70 % of the "
        "next bumps are drawn from the mixture, the rest evenly; each bump's width follows from "
        "the distance to its second neighbour. After three such adaptations it stops."
    )
    _problems(page)
    _measures(page)


def _problems(page: HtmlPage) -> None:
    page.section("The two problems")
    page.points(
        [
            "*Single layer:* −ν u″ + u′ = 0 on (0, 1), u(0) = 0, u(1) = 1. The solution is almost "
            "zero and rises to one within about ν of the right end.",
            "*Double layer:* −ν u″ + 2(2x − 1) u′ + 4u = 0 on (0, 1), u(0) = u(1) = 1, with the "
            "solution exp(−2x(1 − x)/ν): a layer of width ν/2 at either end.",
        ]
    )
    page.paragraph(
        f"ν is {sci(NU)} throughout. The paper prints only the first equation, and that equation "
        "cannot have two layers: its solutions are a + b exp(x/ν), which rise at the right end "
        "only, whatever the boundary values. For its exact solutions the paper refers to the "
        "article on KAPI-ELM (arXiv 2507.10241), where the problem with layers at both ends is the "
        "“twin” problem above. Table 1 agrees with this choice: a baseline that misses both layers "
        "scores small there, because the term 4u holds the interior at zero, while in the single "
        "problem nothing does."
    )


def _measures(page: HtmlPage) -> None:
    page.section("Two measures of error")
    page.points(
        [
            f"*Uniform RMSE*, the paper's measure: the root mean square error on {COLLOCATION} "
            f"evenly spaced points. They are {sci(1 / COLLOCATION)} apart, more than six times the "
            "width of the layer.",
            "*Largest error*: the maximum over a grid that is graded into the layer, with points "
            "from a thousandth of its width to the size of the domain. An error of one means that "
            "the layer is missed altogether.",
        ]
    )
    page.paragraph(
        "Every number below is the median over the seeds, with the first and the third quartile in "
        "brackets."
    )


def _write_findings(
    page: HtmlPage, findings: Sequence[Finding], pictures: Mapping[str, bytes]
) -> None:
    page.section("Findings")
    shown: set[str] = set()
    for finding in findings:
        page.finding(finding.key, finding.verdict.value, finding.title, finding.evidence)
        for name in finding.figures:
            if name in pictures and name not in shown:
                shown.add(name)
                caption = CAPTIONS[name].format(seed=f"seed {FIRST_SEED}")
                files = f" Files: `figures/{name}.png`, `figures/{name}.svg`."
                page.figure(pictures[name], caption + files, caption)


def _repeat(page: HtmlPage, results: Results, versions: Mapping[str, str]) -> None:
    seeds = results.plan.seeds
    page.paragraph(
        f"`sharpfront paper --seeds {seeds}` repeats all of it; `--quick` does so with fewer seeds "
        f"and settings. Seeds are {FIRST_SEED} to {FIRST_SEED + seeds - 1}; the first is the "
        "paper's. The same seed gives the same numbers, whatever the number of processes. Times "
        "are wall times of one solve with one BLAS thread on the machine at hand: they are for "
        "orientation and do not compare with those of the paper's machine."
    )
    page.paragraph(
        "Beside this page: `table1.csv`, `runs.csv` (every run with all its measurements), "
        "`sensitivity.csv`, `results.json` (all of these and the findings), and `figures/`. "
        f"“Near a layer” means within {NEAR:.0f} of its widths."
    )
    page.paragraph("Versions: " + ", ".join(f"{k} {v}" for k, v in versions.items()) + ".")


SCORES_HEAD = (
    "Problem",
    "Method",
    "N",
    "Paper: RMSE",
    "Ours: uniform RMSE",
    "Ours: largest error",
    "Seconds (paper)",
    "Mixture near the layer",
)


def scores_table(page: HtmlPage, results: Results) -> None:
    """Write Table 1 beside the paper's, with the zero function for comparison."""
    rows: list[list[str]] = []
    for case in results.plan.cases:
        rows += [_scores(cell) for cell in table1(results) if cell.case is case]
        zero = zero_scores(case)
        rows.append(
            [
                _short(case.label),
                "u = 0, no computing",
                "0",
                "–",
                sci(zero.rmse),
                sci(zero.max_error),
                "–",
                "–",
            ]
        )
    notes = " ".join(f"*{method.title}:* {method.note}" for method in results.plan.methods)
    caption = (
        f"Median [quartiles] over {results.plan.seeds} seeds. N: kernels. The last column is the "
        f"part of the learned mixture that lies within {NEAR:.0f} layer widths of a layer. {notes}"
    )
    page.table(SCORES_HEAD, rows, caption, words=2)


def _scores(cell: Cell) -> list[str]:
    paper = "" if cell.published_seconds is None else f"\n({seconds(cell.published_seconds)})"
    return [
        _short(cell.case.label),
        cell.method.title,
        "–" if cell.kernels is None else str(cell.kernels),
        sci(cell.published_rmse),
        two_lines(cell.rmse),
        two_lines(cell.max_error),
        "–" if cell.seconds is None else seconds(cell.seconds.median) + paper,
        "–" if cell.share is None else _percents(cell.share),
    ]


def _short(label: str) -> str:
    return label.split()[0]


def two_lines(values: Spread | None) -> str:
    """Return the median, and below it the quartiles."""
    return "–" if values is None else f"{sci(values.median)}\n{values.quartiles}"


def _percents(values: Spread) -> str:
    return f"{percent(values.median)}\n[{percent(values.first)}, {percent(values.third)}]"


def sensitivity_table(page: HtmlPage, results: Results) -> None:
    """Write the scan of settings under both measures."""
    labels = {case.name: case.label for case in results.plan.cases}
    rows = [
        [
            _short(labels[setting.case]),
            *(value for _, value in setting.words),
            _extremes(setting.rmse),
            _extremes(setting.max_error),
        ]
        for setting in settings(results)
    ]
    seeds = max((setting.runs for setting in settings(results)), default=0)
    page.table(
        ("Problem", "ε", "λ", "Rows", "Uniform RMSE", "Largest error"),
        rows,
        f"GMM-PIELM by Algorithm 1; median [extremes] over {seeds} seed(s). ε is added to every "
        "width, λ weighs the boundary rows, and the rows of the equation are random or a grid. "
        "Elsewhere in this report: ε = 1.0e-8, λ = 1, random rows.",
        cards=False,
    )


def _extremes(values: Spread) -> str:
    return f"{sci(values.median)}\n[{sci(values.low)} … {sci(values.high)}]"


def shares_table(page: HtmlPage, results: Results) -> None:
    """Write, for every method and seed, how much of the mixture lies near a layer."""
    columns = [(case, method) for case in results.plan.cases for method in results.plan.methods]
    runs = {(run.case, run.method, run.seed): run for run in results.select("table")}
    seeds = sorted({seed for _, _, seed in runs})
    rows = []
    for seed in seeds:
        found = [runs.get((case.name, method.name, seed)) for case, method in columns]
        rows.append(
            [str(seed), *(percent(run.mixture_share) if run else "failed" for run in found)]
        )
    page.table(
        ("Seed", *(f"{case.label}: {method.title}" for case, method in columns)),
        rows,
        f"Part of the last mixture within {NEAR:.0f} layer widths of a layer, for every method and "
        "seed. The baselines have no mixture (–).",
        cards=False,
    )


def settings_table(page: HtmlPage, results: Results) -> None:
    """Write the paper's settings."""
    rows = [
        [
            case.label,
            str(case.kernels),
            str(case.components),
            f"{case.ratio:g}",
            str(case.iterations),
            f"{case.scaling:g}",
            sci(NU),
            str(COLLOCATION),
        ]
        for case in results.plan.cases
    ]
    page.table(
        (
            "Problem",
            "Kernels N",
            "Components K",
            "Ratio α",
            "Adaptations T",
            "Scaling β",
            "ν",
            "Rows",
        ),
        rows,
        "The settings of the paper's Table 2, used for every figure of Table 1.",
    )


def failures_table(page: HtmlPage, results: Results) -> None:
    """Write which runs raised an exception."""
    rows = [[f.group, f.case, f.method, str(f.seed), f.message] for f in results.failures]
    head = ("Experiment", "Problem", "Method", "Seed", "What happened")
    page.table(head, rows, "These runs are missing from every number above.", words=5)
