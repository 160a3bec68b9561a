"""``sharpfront init``: a commented problem file to start from."""

from __future__ import annotations

import shlex
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from sharpfront.cli import terminal


class Kind(StrEnum):
    """What a new file states."""

    LAYER = "layer"
    PLANE = "plane"
    TIME = "time"
    SYSTEM = "system"


def init(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Where to write.  [KIND.toml]")
    ] = None,
    kind: Annotated[Kind, typer.Option(help="What it states.")] = Kind.LAYER,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file.")] = False,
) -> None:
    """Write a commented problem file that can be solved as it is."""
    from sharpfront.files import write_text

    path = Path(f"{kind}.toml") if file is None else file
    if path.exists() and not force:
        terminal.refuse(
            f"{path} is there already. Choose another name, or overwrite it with --force."
        )
    template = resources.files("sharpfront.problem_file") / "templates" / f"{kind}.toml"
    try:
        write_text(path, template.read_text(encoding="utf-8"))
    except OSError as error:
        terminal.refuse(f"Cannot write {path}: {error.strerror}.")
    from sharpfront.checks import visible

    typer.echo(visible(f"Wrote {path}. Solve it with: sharpfront solve {shlex.quote(str(path))}"))
