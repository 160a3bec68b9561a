"""``sf.compare``: methods raced on one problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sharpfront.catalog import listing, named
from sharpfront.checks import explained, listed, positive, refusal, whole
from sharpfront.problem import Problem
from sharpfront.problem_file import Statement, read
from sharpfront.rivals.comparison import Comparison
from sharpfront.rivals.contract import Subject
from sharpfront.rivals.racing import Lane, race
from sharpfront.rivals.table import chosen
from sharpfront.rivals.true_error import judge_of

FIRST_SEED = 42


@explained('sf.compare("twin-layer", seconds=5)')
def compare(
    problem: Problem | str | Path | Any,
    *,
    exact: Callable[..., Any] | Mapping[str, Callable[..., Any]] | None = None,
    guess: Any = None,
    nu: float | None = None,
    methods: Sequence[str] | None = None,
    seconds: float = 5.0,
    seeds: int = 3,
    on_run: Callable[[str], None] | None = None,
) -> Comparison:
    """Race methods on a problem: true error against seconds.

    Every method gets the same seconds of the processor to find its best settings, its own tuning
    included, on one BLAS thread. Settings that no faster one is as good as are run again, with
    other seeds where something is drawn, and three times for the timing where nothing is. Errors
    are the largest at points graded into the features, relative to max(1, max|u|).

    Parameters
    ----------
    problem
        A problem, the name of one of the catalogue, or a problem file: a path that ends in
        ``.toml``, or what `sharpfront.problem_file.read` returns.
    exact
        The exact solution of a problem of your own as a vectorised function of the coordinates; a
        mapping by names for several unknowns. Without it our own solution at a tolerance a hundred
        times tighter takes its place, and no error is given below its estimate.
    guess
        What a nonlinear problem starts from, for all methods.
    nu
        The stiff parameter of a problem of the catalogue, whatever its own name.
    methods
        Names of those to race; all that apply by default. Ours is always among them.
    seconds
        Of the processor for each method to look for its settings.
    seeds
        How many, where a method draws; 42 and the following.
    on_run
        Called with a few words before each run.

    Returns
    -------
    Comparison
        Prints as a table, with `plot`, `report` and `as_dict`. A method that does not apply, or
        that is not installed, says why in its row.

    Examples
    --------
    >>> import sharpfront as sf
    >>> found = sf.compare("single-layer", methods=["chebyshev"], seconds=0.2)
    >>> found.lane("ours").best.error < 1e-6
    True
    """
    rivals = chosen(None if methods is None else listed(methods))
    budget = positive(seconds, "seconds", "seconds=5")
    drawn = tuple(FIRST_SEED + i for i in range(whole(seeds, "seeds", 1, "seeds=3")))
    statement, subject = _stated(problem, exact, guess, nu)
    say = on_run or (lambda words: None)
    say("the exact solution at test points" if statement.exact else "a reference of our own")
    judge = judge_of(statement, subject(), budget)
    lanes: tuple[Lane, ...] = ()
    for rival in rivals:
        ours = lanes[0] if lanes else None  # ours is the first
        lanes += (race(rival, subject, judge, seconds=budget, seeds=drawn, ours=ours, say=say),)
    entry = listing().get(statement.name)
    return Comparison(
        name=statement.name,
        title=statement.title,
        statement=statement.text,
        truth=judge.words,
        lanes=lanes,
        seconds=budget,
        seeds=drawn,
        published=() if entry is None else entry.published,
    )


def _stated(
    problem: Any, exact: Any, guess: Any, nu: float | None
) -> tuple[Statement, Callable[[], Subject]]:
    """Return what is raced in words and numbers, and what makes it anew for each run."""
    if isinstance(problem, str) and not problem.endswith(".toml"):
        entry = named(problem)
        own = entry.stated(nu)
        value = entry.value if nu is None else nu
        start = entry.guess if guess is None else guess
        return own, lambda: Subject(entry.problem(value), start)
    if nu is not None:
        raise refusal("nu", "None for a problem that is not of the catalogue", nu)
    if isinstance(problem, str | Path):
        problem = read(problem)
    if isinstance(problem, Problem):
        unknowns = problem.unknowns
        known = exact if isinstance(exact, Mapping) or exact is None else {unknowns[0]: exact}
        problem = Statement("problem", "A problem", repr(problem), problem, {}, known or {})
    if not isinstance(problem, Statement):
        expected = "a Problem, the name of one of the catalogue, or a problem file"
        raise refusal("problem", expected, problem, 'sf.compare("twin-layer")')
    statement = problem
    start = statement.options.get("guess") if guess is None else guess
    steps = statement.options.get("continuation")
    return statement, lambda: Subject(statement.problem, start, statement.family, steps)
