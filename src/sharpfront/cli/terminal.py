"""What all commands share: exit codes, consoles, and folders that can be written to."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

if TYPE_CHECKING:
    from rich.console import Console

Say = Callable[..., None]
FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
# Where there is no terminal to ask.
_PIPE_WIDTH = 100


def console(*, stderr: bool = False, pipe_width: int = _PIPE_WIDTH) -> Console:
    """Return a console: coloured on a terminal, plain and of a fixed width elsewhere."""
    from rich.console import Console

    from sharpfront.checks import visible

    class Plain(Console):
        """Writes out control characters of texts: titles and names come from files of others."""

        def print(self, *objects: Any, **options: Any) -> None:
            super().print(*(visible(o) if isinstance(o, str) else o for o in objects), **options)

        def out(self, *objects: Any, **options: Any) -> None:
            super().out(*(visible(str(o)) for o in objects), **options)

    found = Plain(stderr=stderr, highlight=False)
    if found.is_terminal:
        return found
    return Plain(stderr=stderr, highlight=False, width=pipe_width, no_color=True)


def show_rows(
    screen: Console, rows: Sequence[tuple[str, str]], styles: Mapping[str, str] | None = None
) -> None:
    """Print names with what is said of them, wrapped beside them.

    `styles` has the style of the first words of a row, up to its first full stop.
    """
    from rich.text import Text

    from sharpfront.checks import visible

    room = max(len(name) for name, _ in rows) + 2
    for name, words in rows:
        width = max(20, screen.width - room)
        lines = textwrap.wrap(visible(words), width, break_on_hyphens=False) or [""]
        text = Text(visible(name).ljust(room) + ("\n" + " " * room).join(lines))
        if styles and name in styles:
            text.stylize(styles[name], room, room + len(words.partition(".")[0]) + 1)
        screen.print(text, soft_wrap=True)


@contextmanager
def progress(words: str, *, quiet: bool, total: float | None = None) -> Iterator[Say]:
    """Show a line on a terminal while the block runs; yields what to call with news.

    With a total it has a bar, and news may come with what is completed of it. Nothing is shown in a
    pipe, nor if `quiet`.
    """
    screen = console(stderr=True)
    if quiet or not screen.is_terminal:
        yield lambda words, completed=None: None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    bar = (BarColumn(bar_width=12),) if total else ()
    line = TextColumn("{task.description}", markup=False)
    columns = (SpinnerColumn(), *bar, line, TimeElapsedColumn())
    with Progress(*columns, console=screen, transient=True) as shown:
        task = shown.add_task(words, total=total)
        yield lambda words, completed=None: shown.update(
            task, description=words, completed=completed
        )


def as_json(facts: Mapping[str, Any]) -> str:
    """Return facts as one JSON object; what is not a finite number becomes null."""
    import json

    from sharpfront.checks import visible
    from sharpfront.files import plain

    text = json.dumps(plain(facts), indent=2, ensure_ascii=False, allow_nan=False)
    # JSON itself writes out the first 32 control characters only.
    return "".join(c if c == "\n" or c == visible(c) else f"\\u{ord(c):04x}" for c in text)


def complain(words: str) -> None:
    """Print words on the error channel, wrapped at the width of the terminal."""
    console(stderr=True).print(words, markup=False)


def refuse(words: str, code: int = BAD_INPUT) -> NoReturn:
    """Complain and leave."""
    complain(words)
    raise typer.Exit(code)


@contextmanager
def folder_to_fill(out: Path, *, quiet: bool) -> Iterator[None]:
    """Make a folder for what the block writes; what fails or is interrupted leaves no empty one."""
    # Known before they are made: whoever interrupts may do so as soon as he sees them.
    new = [path for path in (out, *out.parents) if not path.exists()]
    try:
        checked_folder(out)
        yield
    except KeyboardInterrupt:
        _without_empty(new)
        if not quiet:
            # Plainly: where NumPy was being loaded, what wraps words cannot load it again.
            typer.echo("Interrupted; no half-written files are left.", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except BaseException:
        _without_empty(new)
        raise


def checked_folder(out: Path) -> None:
    """Refuse early what could not be written after minutes of work."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        # A file in the place of the folder, or of one above it, or no right to write there.
        raise typer.BadParameter(
            f"cannot make the folder {str(out)!r} ({error.strerror}); --out wants a folder."
        ) from None
    if not os.access(out, os.W_OK):
        raise typer.BadParameter(f"cannot write to the folder {str(out)!r}.")


def _without_empty(folders: list[Path]) -> None:
    """Remove folders, the innermost first, as long as there is nothing in them."""
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:
            return
