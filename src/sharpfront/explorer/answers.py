"""What a worker answers: the catalogue, what a text states, a solution as the page shows it."""

from __future__ import annotations

import math
import time
import tomllib
from collections.abc import Callable
from typing import Any

from sharpfront.catalog import listing, named
from sharpfront.errors import ProblemError
from sharpfront.problem_file import Statement
from sharpfront.problem_file.rewrite import with_values
from sharpfront.problem_file.statement import read_text
from sharpfront.show.pages.page import HtmlPage
from sharpfront.show.pages.sections import figures, history, trust, verdict
from sharpfront.show.pages.solved import solution_data, viewer_markup
from sharpfront.show.statement.script import script
from sharpfront.show.statement.typeset import problem_markup
from sharpfront.solution import Solution

Tell = Callable[[str], None]
# Solutions kept for their reports: those of two settings side by side.
_KEPT = 2


class Answers:
    """Answers questions of the page; keeps the last solutions."""

    def __init__(self) -> None:
        self._solved: dict[str, tuple[Statement, Solution, float]] = {}

    def answer(self, job: dict[str, Any], tell: Tell) -> dict[str, Any]:
        """Return the answer to a question; `tell` is called while it is worked out."""
        if job["action"] == "catalog":
            names = ("name", "title", "statement", "dimension", "file")
            every = listing().values()
            return {"problems": [{name: getattr(one, name) for name in names} for one in every]}
        if job["action"] == "read":
            return _facts(_stated(job))
        statement, solution, seconds = self._solution(job, tell)
        tell("drawing")
        if job["action"] == "report":
            return {"page": statement.page(solution), "name": statement.name}
        return _shown(statement, solution, seconds, job)

    def forget(self) -> None:
        """Give back the memory of the solutions that are kept."""
        self._solved.clear()

    def _solution(self, job: dict[str, Any], tell: Tell) -> tuple[Statement, Solution, float]:
        key = repr([job[name] for name in ("name", "text", "parameters", "tol")])
        if key not in self._solved:
            statement = _stated(job)
            tell("looking for where the solution is sharp")
            started = time.perf_counter()
            solution = statement.solve(tol=job["tol"], on_step=lambda record: tell(record.words))
            self._solved[key] = (statement, solution, time.perf_counter() - started)
            while len(self._solved) > _KEPT:
                del self._solved[next(iter(self._solved))]
        return self._solved[key]


def _stated(job: dict[str, Any]) -> Statement:
    """Return what is asked for: a text, or a problem of the catalogue.

    Exact solutions that stand in no file, integrals and series, take too long for a slider.
    """
    if job["text"] is not None:
        return read_text(job["text"], folder=None, changed=job["parameters"])
    if job["name"] is None:
        raise ProblemError("Name a problem of the catalogue, or give the text of a problem file.")
    listed, changed = named(job["name"]), job["parameters"]
    # A file that needs another one, such as a solid's, is not read here.
    if listed.file is None or "solid" in tomllib.loads(listed.file)["domain"]:
        own = listed.parameter
        for name, value in changed.items():
            if name != own:
                words = f"has no parameter {name!r}; its parameter is {own!r}."
                raise ProblemError(f"{listed.name} {words}")
            if isinstance(value, str):
                raise ProblemError(f"{own} is a number here, got {value!r}.")
        return listed.stated(changed.get(own))
    return read_text(listed.file, f"{listed.name}.toml", None, changed)


def _facts(statement: Statement) -> dict[str, Any]:
    """Return what can be moved, and the problem as mathematics."""
    return {
        "title": statement.title,
        "parameters": {n: v for n, v in statement.parameters.items() if math.isfinite(v)},
        "tol": statement.options.get("tol"),
        "problem": problem_markup(statement.problem),
    }


def _shown(
    statement: Statement, solution: Solution, seconds: float, job: dict[str, Any]
) -> dict[str, Any]:
    """Return a solution as the page shows it, with the same words and pictures as its report."""
    started = time.perf_counter()
    data, error = solution_data(solution, statement.exact or None)
    code, missing = script(solution, {})
    parts: dict[str, Callable[[HtmlPage], None]] = {
        "verdict": lambda page: verdict(page, solution),
        "viewer": lambda page: page.markup(viewer_markup(data)),
        "figures": lambda page: figures(page, solution, error),
        "trust": lambda page: trust(page, solution, error),
        "history": lambda page: history(page, solution),
    }
    markup = {}
    for key, write in parts.items():
        page = HtmlPage("")
        write(page)
        markup[key] = page.body()
    return {
        "name": statement.name,
        "tol": solution.tol,
        "problem": problem_markup(statement.problem),
        "markup": markup,
        "data": data,
        "python": code,
        "missing": missing,
        **_with_file(statement, job),
        "seconds": {"solve": seconds, "picture": time.perf_counter() - started},
    }


def _with_file(statement: Statement, job: dict[str, Any]) -> dict[str, Any]:
    """Return the problem file of what was solved, or why there is none."""
    source = job["text"] if job["text"] is not None else named(job["name"]).file
    if source is None:
        return {"file": None, "without": f"{statement.title} cannot be written as a problem file."}
    try:
        return {"file": with_values(source, job["parameters"], job["tol"]), "without": ""}
    except ProblemError as error:
        return {"file": None, "without": str(error)}
