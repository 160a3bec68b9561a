"""``sharpfront fit``: a problem file and measurements in, parameters with intervals out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sharpfront.cli import options, terminal
from sharpfront.cli.solve import refusals, stated

if TYPE_CHECKING:
    from sharpfront.fit import Fit


def fit(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A problem file, in TOML.")],
    data: Annotated[
        Path | None, typer.Argument(metavar="[DATA]", help="A table of measurements, in CSV.")
    ] = None,
    set_: options.Changes = None,
    tol: options.Tolerance = None,
    starts: Annotated[int, typer.Option("--starts", min=1, help="Starts to fit from.")] = 1,
    out: options.Out = Path(),
    json: options.Json = False,
    quiet: options.Quiet = False,
    report: options.Report = False,
) -> None:
    """Fit the parameters under [free] of a problem file to measurements.

    The table has a line of names: coordinates, unknowns, and perhaps sigma.

    Exit codes: 0 fitted, 1 fitted but something speaks against it, 2 bad input.
    """
    statement = stated(file, set_, json=json)
    with refusals():
        found = statement.fit(data, tol=tol, starts=starts)
        if report:
            terminal.checked_folder(out)
            found.report(out / f"{statement.name}-fit.html", title=statement.title)
    if json:
        typer.echo(terminal.as_json(_facts(found)))
    elif not quiet:
        typer.echo(str(found))
    if found.notes or not found.converged:
        raise typer.Exit(terminal.FAILED)


def _facts(found: Fit) -> dict[str, Any]:
    parameters = {
        n: {"value": found.values[n], "stderr": found.stderr[n], "interval": [*found.interval(n)]}
        for n in found.names
    }
    return {
        "parameters": parameters,
        "covariance": found.covariance.tolist(),
        "chi2": found.chi2,
        "dof": found.dof,
        "sigma": found.sigma,
        "converged": found.converged,
        "identifiable": found.identifiable,
        "solves": found.solves,
        "solver_share": found.share,
        "notes": list(found.notes),
    }
