"""``sharpfront catalog``: problems with known solutions, to look at and to run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sharpfront.cli import options, terminal
from sharpfront.cli.solve import carry_out, refusals

if TYPE_CHECKING:
    from sharpfront.catalog import Entry

catalogue = typer.Typer(
    rich_markup_mode=None, pretty_exceptions_enable=False, help="Problems with known solutions."
)
Name = Annotated[str, typer.Argument(help="The name of a problem of the catalogue.")]


@catalogue.callback(invoke_without_command=True)
def overview(context: typer.Context) -> None:
    """List problems with known solutions; `show` prints one as a file, `run` solves it."""
    if context.invoked_subcommand is not None:
        return
    from sharpfront.catalog import listing

    screen = terminal.console()
    rows = [("Name", "Dim.", "Stiffness", "Statement")]
    rows += [
        (one.name, one.dimension, f"{one.parameter} = {one.value:.4g}", one.statement)
        for one in listing().values()
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        line = "  ".join((*cells, row[3]))
        # In a pipe nothing is cut off.
        cut = screen.is_terminal and len(line) > screen.width
        screen.out(f"{line[: screen.width - 1]}…" if cut else line, highlight=False)


@catalogue.command()
def show(name: Name) -> None:
    """Print a problem as a complete problem file."""
    listed = _found(name)
    if listed.file is None:
        terminal.refuse(
            f"{name} cannot be written as a problem file: its data are integrals that are worked "
            f"out in Python. `sharpfront catalog run {name}` solves it. It states: "
            f"{listed.statement}."
        )
    typer.echo(f"# {listed.statement}.\n{listed.file}", nl=False)


@catalogue.command()
def run(
    name: Name,
    nu: Annotated[
        float | None,
        typer.Option("--nu", help="The parameter that makes it stiff, whatever its name."),
    ] = None,
    set_: options.Changes = None,
    tol: options.Tolerance = None,
    max_kernels: options.Kernels = None,
    out: options.Out = Path(),
    json: options.Json = False,
    quiet: options.Quiet = False,
    plot: options.Plot = False,
    report: options.Report = False,
) -> None:
    """Solve a problem of the catalogue and compare with its exact solution."""
    wanted = options.Wanted(out, tol, max_kernels, json, quiet, plot, report)
    listed = _found(name)
    value = _value(listed, nu, options.changes(set_))
    from sharpfront.errors import SharpfrontError

    try:
        statement = listed.stated(value)
    except SharpfrontError as error:
        stated = listed.value if value is None else value
        terminal.refuse(
            f"{name} cannot be stated for {listed.parameter} = {stated:g}: {error} "
            f"Try --nu {listed.value:g}."
        )
    carry_out(statement, wanted)


def _found(name: str) -> Entry:
    with refusals():
        from sharpfront.catalog import named

        return named(name)


def _value(listed: Entry, nu: float | None, changed: dict[str, float | str]) -> float | None:
    """Return the value of the parameter that the options give; None for its own."""
    for name, value in changed.items():
        if name != listed.parameter:
            raise typer.BadParameter(
                f"--set {name}: the parameter of {listed.name} is {listed.parameter!r}. For more "
                f"changes take its file: sharpfront catalog show {listed.name} > problem.toml"
            )
        if isinstance(value, str):
            raise typer.BadParameter(f"--set {name} wants a number here, got {value!r}.")
        nu = value if nu is None else nu
    return nu
