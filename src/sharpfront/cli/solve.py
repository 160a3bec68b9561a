"""``sharpfront solve``: a problem file in, a solution out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sharpfront.cli import terminal
from sharpfront.cli.terminal import (
    BAD_INPUT,
    FAILED,
    INTERRUPTED,
    as_json,
    complain,
    folder_to_fill,
    progress,
)

if TYPE_CHECKING:
    from sharpfront.cli.results import Facts
    from sharpfront.problem_file import Statement, StatementError
    from sharpfront.solution import Solution


def solve(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A problem file, in TOML.")],
    set_: terminal.Changes = None,
    tol: terminal.Tolerance = None,
    max_kernels: terminal.Kernels = None,
    out: terminal.Out = Path(),
    json: terminal.Json = False,
    quiet: terminal.Quiet = False,
    plot: terminal.Plot = False,
    report: terminal.Report = False,
) -> None:
    """Solve the problem in a file and write the solution, NAME.npz.

    Exit codes: 0 converged, 1 solved but not converged, 2 bad input, 130 interrupted.
    """
    wanted = terminal.Wanted(out, tol, max_kernels, json, quiet, plot, report)
    carry_out(stated(file, set_, json=json), wanted)


def stated(file: Path, set_: list[str] | None, *, json: bool) -> Statement:
    """Return what a problem file states with some of its values changed, or say what is wrong."""
    changed = terminal.changes(set_)
    from sharpfront.problem_file import StatementError, read

    try:
        return read(file, changed)
    except StatementError as error:
        _refuse(error, json=json)
        raise typer.Exit(BAD_INPUT) from None


@contextmanager
def refusals() -> Iterator[None]:
    """Leave with words where what was asked for cannot be done."""
    from sharpfront.errors import SharpfrontError

    try:
        yield
    except (SharpfrontError, ValueError) as error:
        complain(str(error))
        raise typer.Exit(BAD_INPUT) from None


def carry_out(statement: Statement, wanted: terminal.Wanted) -> None:
    """Solve, write, print, and leave with the code that says how it went."""
    from sharpfront.errors import SharpfrontError

    with folder_to_fill(wanted.out, quiet=wanted.quiet):
        try:
            facts = _solved(statement, wanted)
        except SharpfrontError as error:
            # Seen only while solving, as a coefficient that is not finite somewhere.
            _refuse_late(str(error), wanted)
            raise typer.Exit(BAD_INPUT) from None
        except OSError as error:
            complain(f"Cannot write to {wanted.out}: {error.strerror or error}.")
            raise typer.Exit(FAILED) from None
    facts.show(wanted)
    kind = facts.solution.outcome.kind
    if kind == "interrupted":
        raise typer.Exit(INTERRUPTED)
    if not facts.solution.converged:
        raise typer.Exit(FAILED)


def _solved(statement: Statement, wanted: terminal.Wanted) -> Facts:
    from sharpfront.cli.results import Facts, measured, written
    from sharpfront.progress import line_of

    span, quiet = statement.problem.time, wanted.quiet or wanted.json
    length = span[1] - span[0] if span else None
    started = time.perf_counter()
    with progress("looking for where the solution is sharp", quiet=quiet, total=length) as say:

        def on_step(record: Any) -> None:
            say(line_of(record), record.time - span[0] if span else None)

        solution: Solution = statement.solve(
            tol=wanted.tol, max_kernels=wanted.max_kernels, on_step=on_step
        )
        seconds = time.perf_counter() - started
        say("measuring the error" if statement.exact else "writing")
        errors, unmeasured = measured(statement, solution)
        say("writing")
        files, notes = written(statement, solution, wanted)
    return Facts(statement, solution, seconds, errors, files, (*unmeasured, *notes))


def _refuse(error: StatementError, *, json: bool) -> None:
    """Say what is wrong with a problem file."""
    if json:
        found = [mistake.as_dict() for mistake in error.mistakes]
        typer.echo(as_json({"file": error.name, "mistakes": found}))
        return
    count = len(error.mistakes)
    words = "1 mistake" if count == 1 else f"{count} mistakes"
    complain("\n".join([*error.paragraphs(), f"{words}; nothing was solved."]))


def _refuse_late(message: str, wanted: terminal.Wanted) -> None:
    if wanted.json:
        typer.echo(as_json({"mistakes": [{"message": message}]}))
    else:
        complain(message)
