"""What comes out of a solve: files, a summary, or one JSON object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from sharpfront.cli import options, terminal
from sharpfront.errors import SharpfrontError
from sharpfront.files import replacing, write_text
from sharpfront.problem_file import Statement
from sharpfront.solution import Solution

# Of estimate, tolerance and true error alike.
_SCALE = "relative to max(1, max|u|)"
_COLOURS = {"converged": "green", "interrupted": "yellow"}


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known after a solve."""

    # What was asked and what came out.
    statement: Statement
    solution: Solution
    seconds: float  # wall time of the solve alone
    errors: Mapping[str, float]  # the true errors of the unknowns whose exact solutions are known
    files: Mapping[str, Path]  # what was written: "solution", "figure", "report"
    notes: tuple[str, ...] = ()  # what else there is to say

    def show(self, wanted: options.Wanted) -> None:
        """Print them as asked for."""
        if wanted.json:
            typer.echo(terminal.as_json(self.as_dict()))
        elif not wanted.quiet:
            screen = terminal.console()
            screen.print(self.statement.title, style="bold", markup=False)
            style = _COLOURS.get(self.solution.outcome.kind, "red")
            terminal.show_rows(screen, self._rows(), {"  Outcome": style})
            for note in self.notes:
                screen.print(f"  {note}", markup=False)
            for path in self.files.values():
                screen.print(f"  Wrote {path}", markup=False, soft_wrap=True)

    def as_dict(self) -> dict[str, Any]:
        """Return the facts as words and numbers."""
        solution, outcome = self.solution, self.solution.outcome
        return {
            "title": self.statement.title,
            "parameters": dict(self.statement.parameters),
            "unknowns": list(solution.unknowns),
            "outcome": outcome.kind.value,
            "converged": solution.converged,
            "detail": outcome.detail,
            "advice": outcome.advice,
            "error_estimate": solution.error_estimate,
            "estimate_meaning": solution.estimate.meaning,
            "error_estimate_since": solution.error_estimate_since,
            "tol": solution.tol,
            "true_error": dict(self.errors) or None,
            "relative_to": "max(1, max|u|)",
            "kernels": solution.kernels,
            "solves": len(solution.history),
            "seconds": self.seconds,
            "time": list(solution.domain.bounds[:, -1]) if self.statement.problem.time else None,
            "files": {kind: str(path) for kind, path in self.files.items()},
            "notes": list(self.notes),
        }

    def _rows(self) -> list[tuple[str, str]]:
        solution, span = self.solution, self.statement.problem.time
        named = ", ".join(f"{k} = {v:g}" for k, v in self.statement.parameters.items())
        rows = [("Parameters", named)] if named else []
        rows.append(("Outcome", str(solution.outcome)))
        since = solution.error_estimate_since
        held = f", from t = {since:.3g} on" if since is not None else ""
        asked = f"asked for {solution.tol:.1e}, {_SCALE}"
        rows += [("Estimate", f"{solution.error_estimate:.1e}{held}, {asked}")]
        for unknown, error in self.errors.items():
            what = f"the largest |{unknown} - exact|, {_SCALE}"
            rows.append(("True error", f"{error:.1e}, {what}"))
        rounds = len(solution.history)
        what = "step" if span else "solve"
        rows.append(("Kernels", f"{solution.kernels}, after {rounds} {what}{'s' * (rounds != 1)}"))
        if span:
            rows.append(("Time", f"t = {solution.domain.bounds[1, -1]:g} of {span[1]:g}"))
        rows.append(("Seconds", f"{self.seconds:.2f}"))
        return [(f"  {name}", words) for name, words in rows]


def written(
    statement: Statement, solution: Solution, wanted: options.Wanted
) -> tuple[dict[str, Path], tuple[str, ...]]:
    """Write what is asked for; return the files, and notes on what could not be drawn."""
    files = {"solution": solution.save(wanted.out / f"{statement.name}.npz")}
    bare = ", ".join(statement.bare_parts)
    notes = [f"Note: there is no condition on {bare}."] if bare else []
    asked = {"figure": (wanted.plot, ".png"), "report": (wanted.report, ".html")}
    for kind, suffix in ((kind, suffix) for kind, (wish, suffix) in asked.items() if wish):
        path = wanted.out / f"{statement.name}{suffix}"
        try:
            if kind == "figure":
                draw(solution, path)
            else:
                write_text(path, statement.page(solution))
            files[kind] = path
        except Exception as error:
            # The solution is there and its verdict stands, whatever becomes of its picture.
            notes.append(f"No {kind} was written: {error or type(error).__name__}")
    return files, tuple(notes)


def measured(statement: Statement, solution: Solution) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return the true errors, and a note where they cannot be measured."""
    try:
        return statement.true_errors(solution), ()
    except (SharpfrontError, ArithmeticError, ValueError) as error:
        return {}, (f"The true error was not measured: {error}",)


def draw(
    solution: Solution, path: Path, what: str = "close-up", unknown: str | None = None
) -> None:
    """Write a picture of a solution."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np

    figure = np.ravel(np.asarray(solution.plot(what, unknown=unknown), dtype=object))[0].figure
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150, bbox_inches="tight")
    plt.close(figure)
