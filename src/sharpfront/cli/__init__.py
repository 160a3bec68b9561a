"""The command line: ``sharpfront solve`` and friends.

Exit codes: 0 done, 1 not converged, or an experiment or self-test failed (what is finished is still
written), 2 bad input, 130 interrupted (nothing half-written).

Every module here imports what it needs when its command runs: the library takes longer to load
than ``sharpfront --help`` should.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from sharpfront.cli.catalog import catalogue as _catalog
from sharpfront.cli.check import check as _check
from sharpfront.cli.compare import compare as _compare
from sharpfront.cli.doctor import doctor as _doctor
from sharpfront.cli.explore import explore as _explore
from sharpfront.cli.fit import fit as _fit
from sharpfront.cli.init import init as _init
from sharpfront.cli.paper import paper as _paper
from sharpfront.cli.shown import plot as _plot
from sharpfront.cli.shown import report as _report
from sharpfront.cli.solve import solve as _solve
from sharpfront.cli.sweep import sweep as _sweep
from sharpfront.cli.terminal import INTERRUPTED

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Stiff differential equations without a mesh, by adaptive-kernel least squares.",
)
app.command()(_solve)
app.command()(_check)
app.command()(_plot)
app.command()(_report)
app.command()(_fit)
app.command()(_sweep)
app.command()(_init)
app.command()(_explore)
app.add_typer(_catalog, name="catalog")
app.command()(_compare)
app.command()(_doctor)
app.command()(_paper)


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        app()
    except (KeyboardInterrupt, SystemExit) as end:
        if isinstance(end, SystemExit) and end.code != INTERRUPTED:
            raise
        # An interrupt inside exec of a text, as while dataclasses are loaded, is remembered by
        # Python, which then ends itself by the signal whatever was caught since, until the next.
        exec("")
        sys.exit(INTERRUPTED)


def _show_version(wanted: bool) -> None:
    if wanted:
        from sharpfront import __version__

        typer.echo(f"sharpfront {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass
