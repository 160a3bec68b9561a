"""Pages that need nothing but themselves: of one solution, and of the paper's experiments."""

from sharpfront.report.page import HtmlPage, inline
from sharpfront.report.solved import solve_report

__all__ = ["HtmlPage", "inline", "solve_report"]
