"""What several findings need: which runs, and words for numbers."""

from __future__ import annotations

from sharpfront.paper.experiments import Results
from sharpfront.paper.runs import Run


def within(value: float, target: float, part: float) -> bool:
    return abs(value - target) <= part * abs(target)


def so_many(number: int) -> str:
    return {0: "No run is", 1: "One run is"}.get(number, f"{number} runs are")


def adaptive_methods(results: Results) -> list[str]:
    return [method.name for method in results.plan.methods if method.row == "adaptive"]


def of_paper(results: Results) -> list[Run]:
    """Return the runs of Table 1 whose method is the paper's."""
    names = {method.name for method in results.plan.methods if method.row}
    return [run for run in results.select("table") if run.method in names]
