"""The options that ``solve`` and ``catalog run`` share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter's value; may be repeated."),
]
Tolerance = Annotated[
    float | None,
    typer.Option("--tol", help="Estimated error to reach, relative to max(1, max|u|)."),
]
Kernels = Annotated[
    int | None, typer.Option("--max-kernels", min=1, help="Stop rather than use more kernels.")
]
Out = Annotated[Path, typer.Option("--out", help="Folder to write to.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of words.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")]
Plot = Annotated[bool, typer.Option("--plot", help="Write a figure, NAME.png.")]
Report = Annotated[bool, typer.Option("--report", help="Write a page about it, NAME.html.")]


@dataclass(frozen=True)
class Wanted:
    """What is to come out of a solve, and where it goes."""

    out: Path
    tol: float | None = None
    max_kernels: int | None = None
    json: bool = False
    quiet: bool = False
    plot: bool = False
    report: bool = False

    def __post_init__(self) -> None:
        if self.tol is not None and not 0 < self.tol < 1:
            raise typer.BadParameter(f"--tol lies between 0 and 1, got {self.tol:g}. Try 1e-8.")


def changes(texts: list[str] | None) -> dict[str, float | str]:
    """Return ``nu=1e-5`` as names with numbers, or with texts such as ``pi/2``."""
    found: dict[str, float | str] = {}
    for text in texts or ():
        name, sign, value = (part.strip() for part in text.partition("="))
        if not (name and sign and value):
            raise typer.BadParameter(f"--set wants NAME=VALUE such as nu=1e-5, got {text!r}.")
        try:
            found[name] = float(value)
        except ValueError:
            found[name] = value
    return found
