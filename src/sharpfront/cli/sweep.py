"""``sharpfront sweep``: a problem file solved for many values of its parameters."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sharpfront.cli import options, terminal
from sharpfront.cli.solve import refusals, stated

if TYPE_CHECKING:
    from sharpfront.solution import Solution


@dataclass(frozen=True)
class Probe:
    """The unknowns of a solution at points, one number after the other."""

    points: tuple[tuple[float, ...], ...]

    def __call__(self, solution: Solution) -> list[float]:
        """Return the values, unknown by unknown at each point."""
        unknowns = solution.unknowns
        return [float(getattr(solution, u)(*p)) for p in self.points for u in unknowns]


def sweep(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A problem file, in TOML.")],
    over: Annotated[
        list[str],
        typer.Option(
            "--over",
            metavar="NAME=LOW:HIGH:COUNT[log]",
            help="Values of a parameter, or a list such as nu=1,2,5; may be repeated.",
        ),
    ],
    at: Annotated[
        list[str] | None,
        typer.Option("--at", metavar="X[,Y]", help="A point to look at; may be repeated."),
    ] = None,
    set_: options.Changes = None,
    tol: options.Tolerance = None,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes.")] = 1,
    out: options.Out = Path(),
    resume: Annotated[bool, typer.Option("--resume", help="Go on with rows on disk.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Solve a problem file for many values of its parameters and write a table, NAME-sweep.csv.

    Rows are kept in the folder NAME-sweep as they are finished; without --at every solution is
    saved there. Exit codes: 0 all converged, 1 some did not, 2 bad input.
    """
    axes, points = dict(map(_axis, over)), tuple(map(_point, at or ()))
    statement = stated(file, set_, json=False)
    terminal.checked_folder(out)
    with refusals():
        table = statement.sweep(
            tol=tol,
            observe=Probe(points) if points else None,
            workers=workers,
            into=out / f"{statement.name}-sweep",
            resume=resume,
            keep=None if points else "solutions",
            progress=not quiet,
            **axes,
        )
    names = [
        f"{u}({', '.join(f'{c:g}' for c in p)})" for p in points for u in statement.problem.unknowns
    ]
    from sharpfront.files import write_text
    from sharpfront.fit.table import points_of

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*table.axes, *names, "error_estimate", "converged"])
    for point, row in zip(points_of(table.axes, table.listed), table.rows, strict=True):
        blank = [""] * len(names)
        values = blank if row.failed or not names else row.value
        writer.writerow([*point.values(), *values, row.error_estimate, row.converged])
    write_text(out / f"{statement.name}-sweep.csv", text.getvalue())
    if not quiet:
        typer.echo(f"{table}. Wrote {out / f'{statement.name}-sweep.csv'}.")
        for words in sorted(set(table.failed.values())):
            typer.echo(f"Failed: {words}")
    if not table.converged.all():
        raise typer.Exit(terminal.FAILED)


def _axis(text: str) -> tuple[str, Any]:
    """Return ``nu=1e-4:1e-1:100log`` as a name and values."""
    import numpy as np

    name, _, values = (part.strip() for part in text.partition("="))
    try:
        if ":" not in values:
            return name, np.array([float(v) for v in values.split(",")])
        low, high, count = values.split(":")
        ends, logarithmic = (float(low), float(high)), count.endswith("log")
        if logarithmic and min(ends) <= 0.0:
            raise typer.BadParameter(f"--over: logarithms want numbers above zero, got {text!r}.")
        space = np.geomspace if logarithmic else np.linspace
        return name, space(*ends, int(count.removesuffix("log")))
    except ValueError:
        raise typer.BadParameter(
            f"--over wants NAME=LOW:HIGH:COUNT such as nu=1e-4:1e-1:100log, or nu=1,2,5; got "
            f"{text!r}."
        ) from None


def _point(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(c) for c in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"--at wants numbers such as 0.5,0.3; got {text!r}.") from None
