"""What is shown of a solution: figures, films, pages, tables and files; loaded when asked for.

`data` holds what pictures are made of; `figures` (matplotlib) and `pages` (HTML) draw it, each in
its own way, and `statement` writes the problem as mathematics and as Python.
"""

from typing import TYPE_CHECKING

from sharpfront.loading import fetcher

if TYPE_CHECKING:
    from sharpfront.show.figures.animation import animate
    from sharpfront.show.figures.figure import plot_solution
    from sharpfront.show.pages.page import HtmlPage, inline
    from sharpfront.show.pages.solved import solve_report

__all__ = ["HtmlPage", "animate", "inline", "plot_solution", "solve_report"]

__getattr__ = fetcher(
    __name__,
    {
        "figures.animation": "animate",
        "figures.figure": "plot_solution",
        "pages.page": "HtmlPage inline",
        "pages.solved": "solve_report",
    },
)
