"""What a terminal shows while a problem is being solved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sharpfront.cli.options import Wanted
from sharpfront.cli.terminal import console
from sharpfront.history import TimeStep
from sharpfront.problem_file import Statement

Say = Callable[[str], None]
OnStep = Callable[[Any], None]


@contextmanager
def progress(statement: Statement, wanted: Wanted) -> Iterator[tuple[Say, OnStep | None]]:
    """Show a line on a terminal while the block runs; yields what to call with news.

    Nothing is shown in a pipe, with --quiet and with --json.
    """
    screen = console(stderr=True)
    if not screen.is_terminal or wanted.quiet or wanted.json:
        yield (lambda words: None), None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    span = statement.problem.time
    bar = (BarColumn(bar_width=12),) if span else ()
    words = TextColumn("{task.description}", markup=False)
    columns = (SpinnerColumn(), *bar, words, TimeElapsedColumn())
    with Progress(*columns, console=screen, transient=True) as shown:
        length = span[1] - span[0] if span else None
        task = shown.add_task("looking for where the solution is sharp", total=length)

        def on_step(record: Any) -> None:
            done = {"completed": record.time - span[0]} if span else {}
            shown.update(task, description=news(record), **done)

        yield (lambda words: shown.update(task, description=words)), on_step


def news(record: Any) -> str:
    """Return one line about a record of a solve, in space or in time."""
    facts = f"{record.kernels} kernels, estimate {record.error_estimate:.1e}"
    if isinstance(record, TimeStep):
        return f"t = {record.time:.4g}, dt = {record.dt:.1e}, {facts}"
    return f"solve {record.iteration + 1}: {facts}"
