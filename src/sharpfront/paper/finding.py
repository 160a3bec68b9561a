"""What a finding is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sharpfront.paper.experiments import Results
from sharpfront.paper.runs import Run
from sharpfront.paper.summary import WORDS, said


class Verdict(StrEnum):
    """What became of a claim."""

    HOLDS = "reproduces"
    PARTLY = "partly"
    FAILS = "does not reproduce"
    NOTE = "observation"


@dataclass(frozen=True)
class Finding:
    """A claim or a question, its verdict, and the numbers behind it."""

    key: str  # a word for tests and links
    title: str  # what was looked at, one line
    verdict: Verdict  # what came out
    # Paragraphs with the numbers; those that begin with a dash are items of a list.
    evidence: tuple[str, ...]
    figures: tuple[str, ...] = ()  # names of the figures that show it


def finding(
    key: str,
    verdict: Verdict,
    parts: Sequence[str],
    facts: Mapping[str, Any],
    items: Sequence[str] = (),
) -> Finding:
    """Return a finding with the texts of its parts; where one is ``"items"`` the items stand."""
    each = (items if part == "items" else (said(key, part, **facts),) for part in parts)
    evidence = tuple(paragraph for paragraphs in each for paragraph in paragraphs)
    figures = tuple(WORDS.texts[key].get("figures", ()))
    return Finding(key, said(key, "title", **facts), verdict, evidence, figures)


def within(value: float, target: float, part: float) -> bool:
    """Tell whether a value is the target to a part of it."""
    return abs(value - target) <= part * abs(target)


def adaptive_runs(results: Results, case: str | None = None) -> list[Run]:
    """Return the runs of Table 1 beside the paper's adaptive row."""
    names = [method.name for method in results.plan.methods if method.row == "adaptive"]
    return [run for run in results.select("table", case) if run.method in names]


def paper_runs(results: Results) -> list[Run]:
    """Return the runs of Table 1 whose method is the paper's."""
    names = {method.name for method in results.plan.methods if method.row}
    return [run for run in results.select("table") if run.method in names]


def agreed(holds: Sequence[bool]) -> Verdict:
    """Return the verdict on a claim that was looked at in several places."""
    if all(holds):
        return Verdict.HOLDS
    return Verdict.PARTLY if any(holds) else Verdict.FAILS
