"""What ``sf.compare`` makes of races: a table with our losses first, a picture, a page, JSON."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sharpfront.catalog import listing, named
from sharpfront.catalog.entry import Published
from sharpfront.checks import explained, listed, positive, refusal, whole
from sharpfront.files import write_text
from sharpfront.problem import Problem
from sharpfront.problem_file import Statement, read
from sharpfront.rivals.contract import Subject
from sharpfront.rivals.racing import FrontierPoint, Lane, race
from sharpfront.rivals.table import chosen
from sharpfront.rivals.true_error import judge_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Errors to which times are given.
TARGETS = (1e-2, 1e-4, 1e-6, 1e-8)
# Errors at which methods are set beside ours; below the last one rounding decides, not the method.
POWERS = tuple(float(f"1e-{k}") for k in range(1, 11))
HEAD = ("Method", "Beside ours", "Error", "Seconds", *(f"to 1e-{k}" for k in (2, 4, 6, 8)))


@dataclass(frozen=True)
class BestRival:
    """A method beside ours, where it does best."""

    target: float  # a power of ten that it reaches
    # Its seconds over ours to that error; 0 if ours does not get there, infinite if it reaches no
    # power of ten.
    ratio: float

    def __str__(self) -> str:
        if math.isinf(self.ratio):
            return "misses it"
        if self.ratio == 0:
            return f"ours does not reach {self.target:.0e}"
        if self.ratio < 1:
            return f"{1 / self.ratio:.2g} times faster at {self.target:.0e}"
        return f"{self.ratio:.2g} times slower at {self.target:.0e}"


@dataclass(frozen=True, eq=False)
class Comparison:
    """Methods on one problem.

    Parameters
    ----------
    name, title, statement
        Of the problem.
    truth
        What errors were measured against.
    lanes
        The methods in the order of the race, ours among them.
    seconds, seeds
        What each was given.
    published
        Figures from elsewhere.
    """

    name: str
    title: str
    statement: str
    truth: str
    lanes: tuple[Lane, ...]
    seconds: float
    seeds: tuple[int, ...]
    published: tuple[Published, ...] = ()

    def lane(self, name: str) -> Lane:
        """Return what the method of that name did."""
        return next(lane for lane in self.lanes if lane.name == name)

    def beside_ours(self, lane: Lane) -> BestRival:
        """Return where a method does best beside ours."""
        reached = [p for p in POWERS if lane.best is not None and lane.best.error <= p]
        own = self.lane("ours").seconds_to
        # What ours does not reach takes it for ever.
        found = [BestRival(p, lane.seconds_to(p) / own(p)) for p in reached]
        return min(found, key=lambda b: (b.ratio, b.target), default=BestRival(math.nan, math.inf))

    @property
    def losses(self) -> tuple[tuple[Lane, BestRival], ...]:
        """The methods that were faster than ours to some error, or got further; worst first."""
        found = [(x, self.beside_ours(x)) for x in self.lanes if x.name != "ours"]
        lost = [f for f in found if f[1].ratio < 1]
        return tuple(sorted(lost, key=lambda f: (f[1].ratio, f[1].target)))

    def ordered(self) -> list[Lane]:
        """Return the methods with our losses first, then ours, then the others by how near."""
        lost = [lane for lane, _ in self.losses]
        ran = [x for x in self.lanes if x.marks and x.name != "ours" and x not in lost]
        ran.sort(key=lambda x: (self.beside_ours(x).ratio, x.best.error if x.best else math.inf))
        without = [x for x in self.lanes if not x.marks and x.name != "ours"]
        return [*lost, self.lane("ours"), *ran, *without]

    def rows(self) -> list[list[str]]:
        """Return the table as texts, under `HEAD`."""
        rows = []
        for lane in self.ordered():
            if lane.best is None:
                rows.append([lane.title, lane.failure, *[""] * (len(HEAD) - 2)])
                continue
            beside = "" if lane.name == "ours" else str(self.beside_ours(lane))
            times = [lane.best.seconds, *(lane.seconds_to(target) for target in TARGETS)]
            written = ["–" if math.isinf(t) else f"{t:.2g}" for t in times]
            rows.append([lane.title, beside, _spread(lane.best), *written])
        return rows

    def __str__(self) -> str:
        rows = [list(HEAD), *self.rows()]
        # What a method that did not run says may be longer than all else.
        ran = [row for row in rows if row[2]]
        widths = [max(len(row[i]) for row in (ran if i else rows)) for i in range(len(HEAD))]
        padded = [[c.ljust(w) for c, w in zip(row, widths, strict=True)] for row in rows]
        lines = ["  ".join(row).rstrip() for row in padded]
        return "\n".join([self.title, *lines, f"Errors against {self.truth}."])

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return {
            "problem": self.name,
            "title": self.title,
            "statement": self.statement,
            "errors_against": self.truth,
            "relative_to": "max(1, max|u|)",
            "seconds": self.seconds,
            "seeds": list(self.seeds),
            "machine": f"{platform.machine()}, Python {platform.python_version()}",
            "methods": [self._lane_dict(lane) for lane in self.ordered()],
            "losses": [lane.name for lane, _ in self.losses],
            "published": [vars(p) for p in self.published],
        }

    def _lane_dict(self, lane: Lane) -> dict[str, Any]:
        beside = self.beside_ours(lane)
        ran = lane.name != "ours" and lane.marks
        return {
            "name": lane.name,
            "title": lane.title,
            "citation": lane.citation,
            "skipped": lane.skipped or None,
            "failure": lane.failure or None,
            "beside_ours": {**vars(beside), "words": str(beside)} if ran else None,
            "seconds_to": {f"{t:.0e}": lane.seconds_to(t) for t in TARGETS},
            "spent": lane.spent,
            "marks": [
                {
                    "setting": mark.setting,
                    "error": mark.error,
                    "seconds": mark.seconds,
                    "runs": [vars(run) for run in mark.runs],
                }
                for mark in lane.marks
            ],
            "tried": [vars(run) for run in lane.tried],
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw true error against seconds, and return the axes; seeds are the spread."""
        from sharpfront.rivals.page import draw

        return draw(self, ax)

    def report(self, path: str | Path, title: str | None = None) -> Path:
        """Write a page that needs nothing but a browser, and return its path."""
        from sharpfront.rivals.page import page

        file = Path(path)
        write_text(file, page(self, title))
        return file


def _spread(mark: FrontierPoint) -> str:
    """Return the median error, and the extremes where they differ."""
    errors = sorted(run.error for run in mark.runs)
    words = f"{mark.error:.1e}"
    if errors[-1] > 1.5 * errors[0]:
        short = (
            "∞" if math.isinf(error) else f"{error:.0e}" for error in errors[:: len(errors) - 1]
        )
        words += f" [{', '.join(short)}]"
    return words


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
