"""``sharpfront plot`` and ``sharpfront report``: pictures and pages of a saved solution."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sharpfront.cli.solve import refusals
from sharpfront.cli.terminal import FAILED, checked_folder, complain

if TYPE_CHECKING:
    from sharpfront.solution import Solution

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
        checked_folder(Path(target).parent)
        try:
            write(found, Path(target))
        except OSError as error:
            complain(f"Cannot write {target}: {error.strerror or error}.")
            raise typer.Exit(FAILED) from None
    from sharpfront.checks import visible

    typer.echo(visible(f"Wrote {target}"))
