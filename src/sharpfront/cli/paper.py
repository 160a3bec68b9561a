"""``sharpfront paper``: the experiments of the paper, again."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sharpfront.cli import terminal

if TYPE_CHECKING:
    from rich.table import Table

    from sharpfront.paper import Plan, Results, Task

# Wide enough for Table 1.
_REPORT_WIDTH = 144


def paper(
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1, help="Seeds per cell of Table 1: 42 and the following.  [20; quick: 3]"
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = Path("paper-report"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Few seeds and settings, in half a minute.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; the results do not depend on it.  [2]")
    ] = None,
) -> None:
    """Repeat the experiments of the GMM-PIELM paper and write a report."""
    with terminal.folder_to_fill(out, quiet=quiet):
        from sharpfront.paper import default_jobs, full_plan, quick_plan

        plan = (quick_plan if quick else full_plan)(seeds)
        results = _run(plan, jobs or default_jobs(), out, quiet=quiet)
    if not quiet:
        screen = terminal.console(pipe_width=_REPORT_WIDTH)
        screen.print(_scores(results))
        for failure in results.failures:
            where = f"{failure.group}, {failure.case}, {failure.method}, seed {failure.seed}"
            screen.print(f"Failed: {where}: {failure.message}", markup=False)
        screen.print(f"Report: {out / 'report.html'}", markup=False, soft_wrap=True)
        screen.print(f"Tables, data and figures: {out}", markup=False, soft_wrap=True)
    if results.failures:
        raise typer.Exit(terminal.FAILED)


def _run(plan: Plan, jobs: int, out: Path, *, quiet: bool) -> Results:
    from sharpfront.paper import execute, write_all
    from sharpfront.show import HtmlPage

    done = itertools.count(1)
    with terminal.progress("starting", quiet=quiet, total=len(plan.tasks())) as say:

        def tell(task: Task) -> None:
            say(f"{task.group}: {task.case.label}, seed {task.seed}", next(done))

        results = execute(plan, jobs, tell)
        say("writing")
        page = HtmlPage("GMM-PIELM: what reproduces and what does not")
        write_all(results, out, page, lambda path: say(f"wrote {path.name}"))
    return results


def _scores(results: Results) -> Table:
    from rich import box
    from rich.table import Table

    from sharpfront.paper import percent, sci, seconds, table1

    table = Table(
        title=f"Table 1: median \\[quartiles] over {results.plan.seeds} seeds",
        box=box.SIMPLE,
        padding=(0, 1, 0, 0),
    )
    for words in ("Problem", "Method"):
        table.add_column(words)
    for words in ("N", "Paper RMSE", "Our RMSE", "Our largest error", "Seconds", "Mixture near"):
        table.add_column(words, justify="right")
    for cell in table1(results):
        table.add_row(
            cell.case.label,
            cell.method.title,
            "–" if cell.kernels is None else str(cell.kernels),
            sci(cell.published_rmse),
            str(cell.rmse or "–"),
            str(cell.max_error or "–"),
            seconds(cell.seconds.median if cell.seconds else None),
            percent(cell.share.median if cell.share else None),
        )
    return table
