"""``sharpfront compare``: methods raced on one problem."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sharpfront.cli import options, terminal
from sharpfront.cli.solve import refusals, stated

if TYPE_CHECKING:
    from sharpfront.rivals.comparison import Comparison

# Wide enough for the table.
_TABLE_WIDTH = 150


def compare(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A problem of the catalogue, or a problem file.")
    ],
    nu: Annotated[
        float | None,
        typer.Option("--nu", help="The stiff parameter of a problem of the catalogue."),
    ] = None,
    set_: options.Changes = None,
    methods: Annotated[
        str | None,
        typer.Option("--methods", metavar="A,B", help="Methods to race with ours.  [all]"),
    ] = None,
    seconds: Annotated[
        float, typer.Option("--seconds", help="Of the processor for each method.")
    ] = 5.0,
    seeds: Annotated[
        int, typer.Option("--seeds", min=1, help="Where a method draws: 42 and the following.")
    ] = 3,
    out: options.Out = Path(),
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    html: Annotated[
        bool, typer.Option("--html", help="Write a page about it, NAME-compare.html.")
    ] = False,
    plot: Annotated[
        bool, typer.Option("--plot", help="Write error against time, NAME-compare.png.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Race methods on a problem: true error against seconds, what beats ours first.

    Methods: ours, gmm-pielm, rbf-pielm, pielm, kapi-elm, rad, pinn, solve_bvp, chebyshev,
    scikit-fem, ngsolve, lines, bacoli. One that does not apply or is not installed says so in its
    row.

    Exit codes: 0 raced, 2 bad input.
    """
    if not seconds > 0:
        raise typer.BadParameter(f"--seconds is above zero, got {seconds:g}. Try 5.")
    problem = _problem(name, nu, set_, json=json)
    terminal.checked_folder(out)
    with refusals(), terminal.progress("starting", quiet=quiet or json) as say:
        from sharpfront.rivals import compare as race

        chosen = None if methods is None else [m.strip() for m in methods.split(",")]
        found = race(problem, nu=nu, methods=chosen, seconds=seconds, seeds=seeds, on_run=say)
    files = _saved(found, out, html=html, plot=plot)
    if json:
        typer.echo(
            terminal.as_json(found.as_dict() | {"files": {k: str(v) for k, v in files.items()}})
        )
    elif not quiet:
        _show(found, files)


def _problem(name: str, nu: float | None, set_: list[str] | None, *, json: bool) -> Any:
    """Return the name of a problem of the catalogue, or what a file states."""
    if name.endswith(".toml") or Path(name).is_file():
        if nu is not None:
            raise typer.BadParameter("--nu goes with a name of the catalogue; try --set nu=1e-5.")
        return stated(Path(name), set_, json=json)
    if set_:
        terminal.refuse("--set goes with a problem file; a problem of the catalogue takes --nu.")
    return name


def _saved(found: Comparison, out: Path, *, html: bool, plot: bool) -> dict[str, Path]:
    files: dict[str, Path] = {}
    if html:
        files["page"] = found.report(out / f"{found.name}-compare.html")
    if plot:
        from sharpfront.files import replacing

        files["figure"] = out / f"{found.name}-compare.png"
        figure: Any = found.plot().figure
        with replacing(files["figure"]) as temporary:
            figure.savefig(temporary, bbox_inches="tight")
    return files


def _show(found: Comparison, files: dict[str, Path]) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from sharpfront.rivals.comparison import HEAD

    screen = terminal.console(pipe_width=_TABLE_WIDTH)
    table = Table(title=Text(found.title), box=box.SIMPLE, padding=(0, 1, 0, 0))
    for i, words in enumerate(HEAD):
        right = i > 1
        table.add_column(words, justify="right" if right else "left", no_wrap=right)
    lost = {lane.name for lane, _ in found.losses}
    for lane, row in zip(found.ordered(), found.rows(), strict=True):
        style = "red" if lane.name in lost else "bold" if lane.name == "ours" else ""
        table.add_row(*(Text(cell) for cell in row), style=style)
    screen.print(table)
    screen.print(f"Errors against {found.truth}, relative to max(1, max|u|).", markup=False)
    for each in found.published:
        words = f"Published: {each.method}: {each.figure} ({each.source})."
        screen.print(words, markup=False)
    for path in files.values():
        screen.print(f"Wrote {path}", markup=False, soft_wrap=True)
