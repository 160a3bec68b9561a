"""The paper's experiments: Table 1, its figures, its ablations, with many seeds and two measures.

    results = execute(quick_plan(), jobs=2)
    write_all(results, Path("paper-report"), page)

`METHODS` lists what is compared; a further method is one further entry.
"""

from sharpfront.paper.cases import CASES, METHODS, Case, Method, gmm
from sharpfront.paper.experiments import Plan, Results, default_jobs, execute, full_plan, quick_plan
from sharpfront.paper.findings import Finding, Verdict, find
from sharpfront.paper.output import as_json, write_all
from sharpfront.paper.runs import Failure, Run, Task, perform
from sharpfront.paper.summary import Cell, Spread, percent, sci, seconds, spread, table1

__all__ = [
    "CASES",
    "METHODS",
    "Case",
    "Cell",
    "Failure",
    "Finding",
    "Method",
    "Plan",
    "Results",
    "Run",
    "Spread",
    "Task",
    "Verdict",
    "as_json",
    "default_jobs",
    "execute",
    "find",
    "full_plan",
    "gmm",
    "percent",
    "perform",
    "quick_plan",
    "sci",
    "seconds",
    "spread",
    "table1",
    "write_all",
]
