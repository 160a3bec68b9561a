"""The paper's experiments: Table 1, its figures, its ablations, with many seeds and two measures.

    results = execute(quick_plan(), jobs=2)
    write_all(results, Path("paper-report"), page)

`cases.METHODS` lists what is compared; a further method is one further entry.
"""

from sharpfront.paper.experiments import Plan, Results, default_jobs, execute, full_plan, quick_plan
from sharpfront.paper.output import write_all
from sharpfront.paper.runs import Task
from sharpfront.paper.summary import percent, sci, seconds, table1

__all__ = [
    "Plan",
    "Results",
    "Task",
    "default_jobs",
    "execute",
    "full_plan",
    "percent",
    "quick_plan",
    "sci",
    "seconds",
    "table1",
    "write_all",
]
