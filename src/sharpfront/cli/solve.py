"""``sharpfront solve``: a problem file in, a solution out; pictures and pages of saved ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from sharpfront.cli import options, terminal

if TYPE_CHECKING:
    from sharpfront.cli.results import Facts
    from sharpfront.problem_file import Statement
    from sharpfront.solution import Solution


def solve(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A problem file, in TOML.")],
    set_: options.Changes = None,
    tol: options.Tolerance = None,
    max_kernels: options.Kernels = None,
    out: options.Out = Path(),
    json: options.Json = False,
    quiet: options.Quiet = False,
    plot: options.Plot = False,
    report: options.Report = False,
) -> None:
    """Solve the problem in a file and write the solution, NAME.npz.

    Exit codes: 0 converged, 1 solved but not converged, 2 bad input, 130 interrupted.
    """
    wanted = options.Wanted(out, tol, max_kernels, json, quiet, plot, report)
    carry_out(stated(file, set_, json=json), wanted)


def stated(file: Path, set_: list[str] | None, *, json: bool) -> Statement:
    """Return what a problem file states with some of its values changed, or say what is wrong."""
    changed = options.changes(set_)
    from sharpfront.problem_file import StatementError, read

    try:
        return read(file, changed)
    except StatementError as error:
        count = len(error.mistakes)
        words = "1 mistake" if count == 1 else f"{count} mistakes"
        paragraphs = "\n".join([*error.paragraphs(), f"{words}; nothing was solved."])
        found = {"file": error.name, "mistakes": [m.as_dict() for m in error.mistakes]}
        _refuse(found, paragraphs, json=json)


def _refuse(facts: Mapping[str, Any], words: str, *, json: bool) -> NoReturn:
    """Say what is wrong with a problem, and leave."""
    if json:
        typer.echo(terminal.as_json(facts))
        raise typer.Exit(terminal.BAD_INPUT)
    terminal.refuse(words)


@contextmanager
def refusals() -> Iterator[None]:
    """Leave with words where what was asked for cannot be done."""
    from sharpfront.errors import SharpfrontError

    try:
        yield
    except (SharpfrontError, ValueError) as error:
        terminal.refuse(str(error))


def carry_out(statement: Statement, wanted: options.Wanted) -> None:
    """Solve, write, print, and leave with the code that says how it went."""
    from sharpfront.errors import SharpfrontError

    with terminal.folder_to_fill(wanted.out, quiet=wanted.quiet):
        try:
            facts = _solved(statement, wanted)
        except SharpfrontError as error:
            # Seen only while solving, as a coefficient that is not finite somewhere.
            late = {"mistakes": [{"message": str(error)}]}
            _refuse(late, str(error), json=wanted.json)
        except OSError as error:
            words = f"Cannot write to {wanted.out}: {error.strerror or error}."
            terminal.refuse(words, terminal.FAILED)
    facts.show(wanted)
    if facts.solution.outcome.kind == "interrupted":
        raise typer.Exit(terminal.INTERRUPTED)
    if not facts.solution.converged:
        raise typer.Exit(terminal.FAILED)


def _solved(statement: Statement, wanted: options.Wanted) -> Facts:
    from sharpfront.cli.results import Facts, measured, written

    span, quiet = statement.problem.time, wanted.quiet or wanted.json
    length = span[1] - span[0] if span else None
    started = time.perf_counter()
    with terminal.progress(
        "looking for where the solution is sharp", quiet=quiet, total=length
    ) as say:

        def on_step(record: Any) -> None:
            say(record.words, record.time - span[0] if span else None)

        solution: Solution = statement.solve(
            tol=wanted.tol, max_kernels=wanted.max_kernels, on_step=on_step
        )
        seconds = time.perf_counter() - started
        say("measuring the error" if statement.exact else "writing")
        errors, unmeasured = measured(statement, solution)
        say("writing")
        files, notes = written(statement, solution, wanted)
    return Facts(statement, solution, seconds, errors, files, (*unmeasured, *notes))


Saved = Annotated[
    Path, typer.Argument(metavar="SOLUTION", help="A solution file, NAME.npz.", show_default=False)
]
Target = Annotated[Path | None, typer.Option("--out", help="The file to write.  [NAME.png]")]
Page = Annotated[Path | None, typer.Option("--out", help="The file to write.  [NAME.html]")]


def plot(
    solution: Saved,
    out: Target = None,
    what: Annotated[
        str, typer.Option("--what", help="solution, close-up, kernels, estimate, film, ...")
    ] = "close-up",
    unknown: Annotated[str | None, typer.Option("--unknown", help="The one to draw.")] = None,
) -> None:
    """Draw a solution that was saved.

    Exit codes: 0 done, 1 could not be written, 2 bad input.
    """
    from sharpfront.cli.results import draw

    _written(solution, out, ".png", lambda found, target: draw(found, target, what, unknown))


def report(solution: Saved, out: Page = None) -> None:
    """Write a page about a solution that was saved.

    Exit codes: 0 done, 1 could not be written, 2 bad input.
    """
    title = solution.stem
    _written(solution, out, ".html", lambda found, target: found.report(target, title=title))


def _written(
    saved: Path, out: Path | None, suffix: str, write: Callable[[Solution, Path], object]
) -> None:
    target = saved.with_suffix(suffix).name if out is None else out
    with refusals():
        from sharpfront.solution import load

        found = load(saved)
        terminal.checked_folder(Path(target).parent)
        try:
            write(found, Path(target))
        except OSError as error:
            words = f"Cannot write {target}: {error.strerror or error}."
            terminal.refuse(words, terminal.FAILED)
    from sharpfront.checks import visible

    typer.echo(visible(f"Wrote {target}"))
