"""The tables of the report."""

from __future__ import annotations

from sharpfront.paper.cases import COLLOCATION, NEAR, NU
from sharpfront.paper.experiments import Results
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
