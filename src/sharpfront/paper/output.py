"""The folder that is left behind: CSV, JSON, figures and the page."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sharpfront.files import plain, replacing, write_text
from sharpfront.paper.experiments import Results
from sharpfront.paper.figures import draw_all
from sharpfront.paper.findings import find
from sharpfront.paper.page import write_page
from sharpfront.paper.summary import Spread, settings, table1, zero_scores
from sharpfront.show.pages.page import HtmlPage
from sharpfront.show.statement.script import versions


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
