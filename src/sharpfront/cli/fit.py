"""``sharpfront fit``: a problem file and measurements in, parameters with intervals out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sharpfront.cli.options import Changes, Json, Out, Quiet, Report, Tolerance, changes
from sharpfront.cli.solve import refuse
from sharpfront.cli.terminal import BAD_INPUT, FAILED, checked_folder, complain

if TYPE_CHECKING:
    from sharpfront.fit import Fit


def fit(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A problem file, in TOML.")],
    data: Annotated[
        Path | None, typer.Argument(metavar="[DATA]", help="A table of measurements, in CSV.")
    ] = None,
    set_: Changes = None,
    tol: Tolerance = None,
    out: Out = Path(),
    json: Json = False,
    quiet: Quiet = False,
    report: Report = False,
) -> None:
    """Fit the parameters under [free] of a problem file to measurements.

    The table has a line of names: coordinates, unknowns, and perhaps sigma.

    Exit codes: 0 fitted, 1 fitted but something speaks against it, 2 bad input.
    """
    changed = changes(set_)
    from sharpfront.errors import SharpfrontError
    from sharpfront.fit import fit as fitted
    from sharpfront.problem_file import StatementError, read

    try:
        statement = read(file, changed)
    except StatementError as error:
        refuse(error, as_json=json)
        raise typer.Exit(BAD_INPUT) from None
    options = {k: v for k, v in statement.options.items() if k in ("max_kernels", "seed", "guess")}
    assert statement.members is not None
    try:
        if not statement.free:
            raise SharpfrontError("The file frees no parameter. Add [free] with nu = 0.05.")
        values: dict[str, Any] = {k: float(v) for k, v in changed.items()}
        values |= statement.free
        found = fitted(
            statement.members,
            data=statement.data.read(data),
            tol=tol,
            options=options,
            **values,
        )
        if report:
            checked_folder(out)
            found.report(out / f"{statement.name}-fit.html", title=statement.title)
    except (SharpfrontError, ValueError) as error:
        complain(str(error))
        raise typer.Exit(BAD_INPUT) from None
    if json:
        from sharpfront.cli.results import as_json

        typer.echo(as_json(_facts(found)))
    elif not quiet:
        typer.echo(str(found))
    if found.notes or not found.converged:
        raise typer.Exit(FAILED)


def _facts(found: Fit) -> dict[str, Any]:
    return {
        "parameters": {
            n: {
                "value": found.values[n],
                "stderr": found.stderr[n],
                "interval": list(found.interval(n)),
            }
            for n in found.names
        },
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
