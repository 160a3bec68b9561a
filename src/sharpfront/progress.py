"""What a solve says while it runs: lines for the log, and a bar on a terminal or in a notebook.

Nothing is shown by default. The logger is called ``sharpfront``: one line for each solve or step at
INFO, its details at DEBUG.
"""

from __future__ import annotations

import contextlib
import html
import logging
import math
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

LOGGER = logging.getLogger("sharpfront")
LOGGER.addHandler(logging.NullHandler())

Tell = Callable[[Any], None]


def log_step(record: Any) -> None:
    """Log one `Record` or `TimeStep`."""
    if not LOGGER.isEnabledFor(logging.INFO):
        return
    LOGGER.info("%s", record.words)
    if not LOGGER.isEnabledFor(logging.DEBUG):
        return
    details = {k: v for k, v in vars(record).items() if isinstance(v, int | float)}
    LOGGER.debug("details: %s", ", ".join(f"{k} {v:.6g}" for k, v in details.items()))
    if record.mixture is not None:
        means = [", ".join(f"{x:.6g}" for x in mean) for mean in record.mixture.means]
        LOGGER.debug("mixture: %d components at %s", len(means), "; ".join(means))


@contextlib.contextmanager
def told(
    on_step: Tell | None,
    *,
    shown: bool,
    tol: float,
    span: tuple[float, float] | None = None,
    console: Console | None = None,
) -> Iterator[Tell]:
    """Yield the function that every record is given to: it logs, shows and passes on.

    If `shown`, a bar on standard error, if that is a terminal: over the span of a problem in time;
    else it is full when the estimate is below the tolerance.
    """
    with _bar(shown, tol, span, console) as advance:

        def tell(record: Any) -> None:
            log_step(record)
            advance(record)
            if on_step is not None:
                on_step(record)

        yield tell


@contextlib.contextmanager
def _bar(
    shown: bool, tol: float, span: tuple[float, float] | None, console: Console | None
) -> Iterator[Tell]:
    if not shown:
        yield lambda record: None
        return
    with _shown_bar(console) as update:
        first: list[float] = []

        def advance(record: Any) -> None:
            first.append(record.error_estimate)
            share = _time_share(record, span) if span else _share(first[0], first[-1], tol)
            update(share, record.words)

        yield advance


@contextlib.contextmanager
def _shown_bar(console: Console | None) -> Iterator[Callable[[float, str], None]]:
    """Yield what to call with the share that is done and a line: a bar shows both."""
    notebook = _notebook() if console is None else None
    if notebook is not None:
        yield _html_bar(notebook)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    screen = console or Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=screen, disable=not screen.is_terminal) as progress:
        bar = progress.add_task("solving", total=1.0)
        yield lambda share, words: progress.update(bar, completed=share, description=words)


def _notebook() -> Any:
    """Return IPython's module of displays where a notebook runs this; None elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    import importlib

    return importlib.import_module("IPython.display")


def _html_bar(display: Any) -> Callable[[float, str], None]:
    """Return what draws a bar as plain HTML, in the place of the one before."""
    handle = display.display(display.HTML(_bar_html(0.0, "solving")), display_id=True)

    def update(share: float, words: str) -> None:
        if handle is not None:
            handle.update(display.HTML(_bar_html(share, words)))

    return update


def _bar_html(share: float, words: str) -> str:
    done = min(max(share, 0.0), 1.0)
    return (
        f'<div><progress max="1" value="{done:.3f}" style="vertical-align: middle"></progress> '
        f"<code>{html.escape(words)}</code></div>"
    )


@contextlib.contextmanager
def counted(total: int, *, shown: bool) -> Iterator[Callable[[str], None]]:
    """Yield what to call with a line after each of so many things; a bar shows them if wanted."""
    if not shown:
        yield lambda words: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    screen = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    words = TextColumn("{task.description}", markup=False)
    with Progress(*columns, words, console=screen, disable=not screen.is_terminal) as progress:
        bar = progress.add_task("", total=total)
        yield lambda line: progress.update(bar, advance=1, description=line)


def _time_share(record: Any, span: tuple[float, float]) -> float:
    return float((record.time - span[0]) / (span[1] - span[0]))


def _share(first: float, now: float, tol: float) -> float:
    """Return how far the estimate has come from the first one to the tolerance, in digits."""
    if not (math.isfinite(now) and now > tol):
        return 1.0 if now <= tol else 0.0
    if not (math.isfinite(first) and first > now):
        return 0.0
    return math.log(first / now) / math.log(first / tol)
