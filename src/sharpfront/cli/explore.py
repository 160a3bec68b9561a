"""``sharpfront explore``: a page in the browser with sliders for a problem's parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sharpfront.cli import terminal
from sharpfront.cli.solve import refusals


def explore(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A problem file to begin with.")
    ] = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Where to serve; 0 for any free port.")
    ] = 8765,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address.")
    ] = False,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.1, help="The most that one solve may take.")
    ] = 60.0,
    memory: Annotated[
        int, typer.Option("--memory", min=100, help="The most that one solve may take, in MB.")
    ] = 2000,
) -> None:
    """Explore problems in the browser: move parameters, watch the solution respond.

    The page is served to this machine alone. Ctrl-C ends it.
    """
    try:
        from sharpfront.explorer.app import address, bound, serve_explorer
        from sharpfront.explorer.pool import Pool
    except ImportError as error:
        terminal.refuse(f"The explorer needs {error.name}: pip install 'sharpfront[web]'")
    from sharpfront.files import text_of

    with refusals():
        start = None if file is None else text_of(file)
        listener = bound(port)
    typer.echo(f"The explorer is at {address(listener)} (Ctrl-C ends it)")
    pool = Pool(seconds=seconds, megabytes=memory)
    serve_explorer(listener, pool, start=start, browser=not no_browser)
