"""The report: its words, its tables and its figures; verdicts are decided in `findings`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sharpfront.paper.cases import COLLOCATION, FIRST_SEED, NEAR, NU
from sharpfront.paper.experiments import Results
from sharpfront.paper.findings import Finding, Verdict, paper_runs
from sharpfront.paper.summary import (
    Cell,
    Spread,
    percent,
    said,
    sci,
    seconds,
    settings,
    table1,
    zero_scores,
)
from sharpfront.show.pages.page import HtmlPage

_COUNTED = {
    Verdict.HOLDS: "reproduce",
    Verdict.PARTLY: "do so in part",
    Verdict.FAILS: "do not",
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
    # Claims before notes.
    ordered = sorted(findings, key=lambda f: f.verdict is Verdict.NOTE)
    page.verdicts([(f.verdict.value, f.title, f.key) for f in ordered])
    page.text(said("page", "explained", nu=NU, rows=COLLOCATION, apart=1 / COLLOCATION))
    page.section("Table 1")
    scores_table(page, results)
    page.section("Findings")
    shown: set[str] = set()
    for finding in findings:
        page.finding(finding.key, finding.verdict.value, finding.title, finding.evidence)
        for name in finding.figures:
            if name in pictures and name not in shown:
                shown.add(name)
                caption = said("captions", name, seed=f"seed {FIRST_SEED}")
                files = f" Files: `figures/{name}.png`, `figures/{name}.svg`."
                page.figure(pictures[name], caption + files, caption)
    page.section("Sensitivity to what the text leaves open")
    sensitivity_table(page, results)
    page.section("Where the mixtures went")
    shares_table(page, results)
    page.section("Settings and how to repeat this")
    settings_table(page, results)
    seeds, last = results.plan.seeds, FIRST_SEED + results.plan.seeds - 1
    listed = ", ".join(f"{k} {v}" for k, v in versions.items())
    facts = {"seeds": seeds, "first": FIRST_SEED, "last": last, "near": NEAR, "versions": listed}
    page.text(said("page", "repeat", **facts))
    if results.failures:
        page.section("Runs that failed")
        failures_table(page, results)


def _lead(findings: Sequence[Finding], results: Results) -> str:
    runs = paper_runs(results)
    claims = [f.verdict for f in findings if f.verdict is not Verdict.NOTE]
    parts = [f"{claims.count(v)} {words}" for v, words in _COUNTED.items() if v in claims]
    facts = {
        "seeds": results.plan.seeds,
        "claims": len(claims),
        "verdicts": ", ".join(parts),
        "resolved": sum(run.max_error < 0.01 for run in runs) or "none",
        "runs": len(runs),
    }
    return said("page", "lead", **facts)


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
        scores = ("0", "–", sci(zero.rmse), sci(zero.max_error), "–", "–")
        rows.append([_short(case.label), "u = 0, no computing", *scores])
    notes = " ".join(f"*{method.title}:* {method.note}" for method in results.plan.methods)
    caption = said("tables", "scores", seeds=results.plan.seeds, near=NEAR, notes=notes)
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
    rows = []
    for setting in settings(results):
        both = [
            f"{sci(values.median)}\n[{sci(values.low)} … {sci(values.high)}]"
            for values in (setting.rmse, setting.max_error)
        ]
        words = [value for _, value in setting.words]
        rows.append([_short(labels[setting.case]), *words, *both])
    seeds = max((setting.runs for setting in settings(results)), default=0)
    head = ("Problem", "ε", "λ", "Rows", "Uniform RMSE", "Largest error")
    page.table(head, rows, said("tables", "sensitivity", seeds=seeds), cards=False)


def shares_table(page: HtmlPage, results: Results) -> None:
    """Write, for every method and seed, how much of the mixture lies near a layer."""
    columns = [(case, method) for case in results.plan.cases for method in results.plan.methods]
    runs = {(run.case, run.method, run.seed): run for run in results.select("table")}
    seeds = sorted({seed for _, _, seed in runs})
    rows = []
    for seed in seeds:
        found = [runs.get((case.name, method.name, seed)) for case, method in columns]
        shares = [percent(run.mixture_share) if run else "failed" for run in found]
        rows.append([str(seed), *shares])
    head = ("Seed", *(f"{case.label}: {method.title}" for case, method in columns))
    page.table(head, rows, said("tables", "shares", near=NEAR), cards=False)


def settings_table(page: HtmlPage, results: Results) -> None:
    """Write the paper's settings."""
    columns = {
        "Kernels N": "kernels",
        "Components K": "components",
        "Ratio α": "ratio",
        "Adaptations T": "iterations",
        "Scaling β": "scaling",
    }
    rows = []
    for case in results.plan.cases:
        values = (f"{case.settings[name]:g}" for name in columns.values())
        rows.append([case.label, *values, sci(NU), str(COLLOCATION)])
    page.table(("Problem", *columns, "ν", "Rows"), rows, said("tables", "settings"))


def failures_table(page: HtmlPage, results: Results) -> None:
    """Write which runs raised an exception."""
    rows = [[f.group, f.case, f.method, str(f.seed), f.message] for f in results.failures]
    head = ("Experiment", "Problem", "Method", "Seed", "What happened")
    page.table(head, rows, said("tables", "failures"), words=5)
