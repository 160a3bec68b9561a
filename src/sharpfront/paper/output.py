"""The folder that is left behind: CSV, JSON, figures and the page.

The report: its words, its tables and its figures; verdicts are decided in `findings`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sharpfront.files import plain, replacing, write_text
from sharpfront.paper.cases import COLLOCATION, FIRST_SEED, NEAR, NU
from sharpfront.paper.experiments import Results
from sharpfront.paper.figures import draw_all
from sharpfront.paper.findings import Finding, Verdict, find, paper_runs
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
from sharpfront.show.statement.script import versions

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


def write_all(
    results: Results, folder: Path, page: HtmlPage, on_file: Callable[[Path], None] | None = None
) -> list[Path]:
    """Write all into a folder, each file whole or not at all, the report to an empty page."""
    written: list[Path] = []

    def note(path: Path) -> None:
        written.append(path)
        if on_file:
            on_file(path)

    for name, text in _texts(results).items():
        write_text(folder / name, text)
        note(folder / name)
    pictures = {}
    for name, figure in draw_all(results):
        for path in _save(figure, folder / "figures" / name):
            note(path)
        pictures[name] = (folder / "figures" / f"{name}.svg").read_bytes()
    write_page(page, results, find(results), pictures, versions())
    write_text(folder / "report.html", page.render())
    note(folder / "report.html")
    return written


def _texts(results: Results) -> dict[str, str]:
    return {
        "results.json": json.dumps(as_json(results), indent=1, allow_nan=False) + "\n",
        "table1.csv": _csv(_table1_rows(results)),
        "runs.csv": _csv(
            asdict(run)
            | {"setting": "; ".join(f"{name}={value}" for name, value in run.setting)}
            | {"converged": run.converged}
            for run in results.runs
        ),
        "sensitivity.csv": _csv(
            {"case": setting.case, **dict(setting.words), "seeds": setting.runs}
            | _quartiles("rmse", setting.rmse)
            | _quartiles("max_error", setting.max_error)
            for setting in settings(results)
        ),
    }


def _save(figure: Any, stem: Path) -> Sequence[Path]:
    paths = (stem.with_suffix(".png"), stem.with_suffix(".svg"))
    for path in paths:
        with replacing(path) as temporary:
            # Without a date in it, the same figure gives the same file.
            metadata = {"Date": None} if path.suffix == ".svg" else None
            figure.savefig(temporary, format=path.suffix[1:], metadata=metadata)
        # The layout stands after the first file; finding it again takes as long as drawing, and
        # so does asking an engine called "none".
        figure.set_layout_engine(None)
    return paths


def as_json(results: Results) -> dict[str, Any]:
    """Return everything measured as plain data; infinite numbers become null."""
    plan = results.plan
    data = {
        "seeds": plan.seeds,
        "environment": versions(),
        "methods": {m.name: {"title": m.title, "note": m.note} for m in plan.methods},
        "zero_function": {case.name: asdict(zero_scores(case)) for case in plan.cases},
        "table1": list(_table1_rows(results)),
        "findings": [asdict(finding) for finding in find(results)],
        "runs": [asdict(run) | {"setting": dict(run.setting)} for run in results.runs],
        "failures": [asdict(f) | {"setting": dict(f.setting)} for f in results.failures],
    }
    return plain(data)  # type: ignore[no-any-return]


def _table1_rows(results: Results) -> Iterable[dict[str, Any]]:
    for cell in table1(results):
        yield {
            "case": cell.case.name,
            "method": cell.method.name,
            "seeds": cell.runs,
            "kernels": cell.kernels,
            "paper_rmse": cell.published_rmse,
            "paper_seconds": cell.published_seconds,
            **_quartiles("rmse", cell.rmse),
            **_quartiles("max_error", cell.max_error),
            **_quartiles("mixture_share", cell.share),
            "seconds": cell.seconds.median if cell.seconds else None,
        }


def _quartiles(name: str, values: Spread | None) -> dict[str, float | None]:
    return {
        f"{name}_{part}": getattr(values, part) if values else None
        for part in ("median", "first", "third", "low", "high")
    }


def _csv(rows: Iterable[dict[str, Any]]) -> str:
    lines, buffer = list(rows), io.StringIO()
    if lines:
        writer = csv.DictWriter(buffer, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    return buffer.getvalue()
