"""Numbers from runs: medians and quartiles, Table 1, the scan of settings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sharpfront.measure import graded_points, max_error
from sharpfront.paper.cases import CASES, Case, Method
from sharpfront.paper.experiments import Results
from sharpfront.paper.runs import Run
from sharpfront.paper.scores import uniform_rmse
from sharpfront.show.pages.page import Words


@dataclass(frozen=True)
class Spread:
    """Smallest, first quartile, median, third quartile and largest of a sample."""

    low: float
    first: float
    median: float
    third: float
    high: float

    def __str__(self) -> str:
        return f"{sci(self.median)} {self.quartiles}"

    @property
    def quartiles(self) -> str:
        """The quartiles as text."""
        return f"[{sci(self.first)}, {sci(self.third)}]"


def spread(values: Iterable[float | None]) -> Spread | None:
    """Return the spread of the values that are there; None of none.

    Quantiles are interpolated as NumPy does it; beside infinity there is nothing to interpolate,
    and the nearest value is taken.
    """
    known = [value for value in values if value is not None]
    if not known:
        return None
    method: Literal["linear", "nearest"] = "linear" if np.all(np.isfinite(known)) else "nearest"
    quantiles = np.quantile(known, (0, 0.25, 0.5, 0.75, 1), method=method)
    return Spread(*(float(quantile) for quantile in quantiles))


def sci(value: float | None) -> str:
    """Return a number as 5.0e-1; a dash for one that is not there."""
    if value is None:
        return "–"
    if not math.isfinite(value):
        return "∞" if value > 0 else "–"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def percent(value: float | None) -> str:
    """Return a part as per cent."""
    return "–" if value is None else f"{100 * value:.1f} %"


def seconds(value: float | None) -> str:
    """Return a time with two digits."""
    return "–" if value is None else f"{value:.2g}" if value < 10 else f"{value:.0f}"


@dataclass(frozen=True, eq=False)
class Cell:
    """A row of our Table 1: one method on one problem."""

    # Which.
    case: Case
    method: Method
    runs: int  # how many seeds went in
    kernels: int | None  # kernels of the last iterate, the median
    # Spreads over the seeds; None where there is nothing.
    rmse: Spread | None
    max_error: Spread | None
    seconds: Spread | None
    share: Spread | None

    @property
    def published_rmse(self) -> float | None:
        """The paper's figure beside it."""
        return self.case.published[self.method.row].rmse if self.method.row else None

    @property
    def published_seconds(self) -> float | None:
        """The paper's time beside it."""
        return self.case.published[self.method.row].seconds if self.method.row else None


def table1(results: Results) -> list[Cell]:
    """Return Table 1, problem by problem and method by method."""
    return [_cell(results, case, method) for case in CASES for method in results.plan.methods]


def _cell(results: Results, case: Case, method: Method) -> Cell:
    runs = results.select("table", case.name, method.name)
    kernels = spread(float(run.kernels) for run in runs)
    return Cell(
        case,
        method,
        len(runs),
        int(kernels.median) if kernels else None,
        spread(run.rmse for run in runs),
        spread(run.max_error for run in runs),
        spread(run.seconds for run in runs),
        spread(run.mixture_share for run in runs),
    )


@dataclass(frozen=True)
class Zero:
    """What the zero function scores on a problem, under both measures."""

    rmse: float
    max_error: float


def zero_scores(case: Case) -> Zero:
    """Return the scores of u = 0, for which nothing has to be computed."""
    domain, nothing = case.problem.domain, np.zeros_like
    points = graded_points(domain, case.features)
    return Zero(uniform_rmse(nothing, case.exact, domain), max_error(nothing, case.exact, points))


@dataclass(frozen=True)
class Setting:
    """One setting of the sensitivity scan: words, and spreads over its seeds."""

    case: str
    words: tuple[tuple[str, str], ...]
    runs: int
    rmse: Spread
    max_error: Spread


def settings(results: Results) -> list[Setting]:
    """Return the scan, one entry per problem and setting, in the order of the plan."""
    found: dict[tuple[str, tuple[tuple[str, str], ...]], list[Run]] = {}
    for run in results.select("sensitivity"):
        found.setdefault((run.case, run.setting), []).append(run)
    return [
        Setting(case, words, len(runs), spread_of(runs, "rmse"), spread_of(runs, "max_error"))
        for (case, words), runs in found.items()
    ]


def spread_of(runs: Iterable[Run], name: str) -> Spread:
    """Return the spread of a measurement over runs of which there is at least one."""
    result = spread(getattr(run, name) for run in runs)
    assert result is not None, "asked for the spread of nothing"
    return result


def count(runs: Iterable[Run], holds: Callable[[Run], bool]) -> int:
    """Return for how many runs something holds."""
    return sum(1 for run in runs if holds(run))


def _many(number: int) -> str:
    """Return the beginning of a sentence on that many runs."""
    return {0: "No run is", 1: "One run is"}.get(number, f"{number} runs are")


_FORMS = {"sci": sci, "percent": percent, "seconds": seconds, "many": _many}
WORDS = Words("sharpfront.paper", _FORMS)
said = WORDS.said
