"""The command line: ``sharpfront solve`` and friends.

Exit codes: 0 done, 1 not converged, or an experiment or self-test failed (what is finished is still
written), 2 bad input, 130 interrupted (nothing half-written).

Every module here imports what it needs when its command runs: the library takes longer to load
than ``sharpfront --help`` should.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from sharpfront.cli import catalog as _catalog
from sharpfront.cli import check as _check
from sharpfront.cli import compare as _compare
from sharpfront.cli import doctor as _doctor
from sharpfront.cli import explore as _explore
from sharpfront.cli import fit as _fit
from sharpfront.cli import init as _init
from sharpfront.cli import paper as _paper
from sharpfront.cli import solve as _solve
from sharpfront.cli import sweep as _sweep
from sharpfront.cli import terminal

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Stiff differential equations without a mesh, by adaptive-kernel least squares.",
)
_command: Callable[..., None]
for _command in (_solve.solve, _check.check, _solve.plot, _solve.report, _fit.fit, _sweep.sweep):
    app.command()(_command)
for _command in (_init.init, _explore.explore, _compare.compare, _doctor.doctor, _paper.paper):
    app.command()(_command)
app.add_typer(_catalog.catalogue, name="catalog")


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        app()
    except (KeyboardInterrupt, SystemExit) as end:
        if isinstance(end, SystemExit) and end.code != terminal.INTERRUPTED:
            raise
        # An interrupt inside exec of a text, as while dataclasses are loaded, is remembered by
        # Python, which then ends itself by the signal whatever was caught since, until the next.
        exec("")
        sys.exit(terminal.INTERRUPTED)


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
