"""``sharpfront check``: what a problem file is understood to say, without solving it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sharpfront.cli import options, terminal
from sharpfront.cli.solve import stated

if TYPE_CHECKING:
    from sharpfront.problem import Problem
    from sharpfront.problem_file import Statement

# Solutions that decay within this share of the domain beside its boundary are called layers.
THIN = 0.1


def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A problem file, in TOML.")],
    set_: options.Changes = None,
    json: options.Json = False,
) -> None:
    """Say what a problem file states, without solving it.

    Exit codes: 0 understood, 2 bad input.
    """
    statement = stated(file, set_, json=json)
    rows = understood(statement)
    if json:
        facts = {name.lower().replace(" ", "_"): words for name, words in rows}
        typer.echo(terminal.as_json({"title": statement.title, **facts}))
        return
    screen = terminal.console()
    screen.print(statement.title, style="bold", markup=False)
    terminal.show_rows(screen, [(f"  {name}", words) for name, words in rows])
    screen.print("Nothing was solved.", markup=False)


def understood(statement: Statement) -> list[tuple[str, str]]:
    """Return what a file states as names with words."""
    from sharpfront.equation.text import to_text

    problem = statement.problem
    rows = [
        ("Kind", _kind(problem)),
        ("Unknowns", ", ".join(problem.unknowns)),
        ("Domain", repr(problem.domain)),
        ("Equation", "; ".join(f"{to_text(e)} = 0" for e in problem.equations)),
    ]
    for part in problem.domain.parts:
        found = [to_text(r) for c in problem.conditions if c.part == part for r in c.residuals]
        rows.append((f"On {part}", "; ".join(f"{r} = 0" for r in found) or "no condition"))
    if problem.further:
        words = f"{len(problem.further)} more, at points or on integrals"
        rows.append(("Conditions", words))
    if statement.parameters:
        named = ", ".join(f"{k} = {v:g}" for k, v in statement.parameters.items())
        rows.append(("Parameters", named))
    rows.append(("Features", "; ".join(features(problem)) or "none that the statement shows"))
    return rows


def _kind(problem: Problem) -> str:
    from sharpfront.equation.graph import derivatives_in

    orders = [sum(d.orders) for e in problem.equations for d in derivatives_in(e)]
    words = "linear" if problem.is_linear else "nonlinear"
    count = len(problem.equations)
    what = "equation" if count == 1 else f"system of {count} equations"
    dimension = problem.domain.dimension
    places = {1: "on a line", 2: "in the plane", 3: "in space"}
    where = places.get(dimension, f"in {dimension} dimensions")
    span = f", t from {problem.time[0]:g} to {problem.time[1]:g}" if problem.time else ""
    return f"{words} {what} of order {max(orders)} {where}{span}"


def features(problem: Problem) -> list[str]:
    """Return where the statement alone shows that a solution is rough."""
    import numpy as np

    from sharpfront.equation.edges import places_along

    out = []
    for name, low, high in zip(problem.domain.coordinates, *problem.domain.bounds, strict=True):
        found = [places_along(e, name, float(low), float(high)) for e in problem.equations]
        out += [f"data jump or bend at {name} = {x:.6g}" for x in np.unique(np.concatenate(found))]
    return out + _layers(problem)


def _layers(problem: Problem) -> list[str]:
    if problem.time is not None or not problem.is_linear:
        return ["fronts and layers are looked for while solving"]
    import numpy as np

    from sharpfront.errors import SharpfrontError
    from sharpfront.place.strips.decay_rates import decay_rates

    domain, out = problem.domain, []
    for part in domain.parts:
        found = domain.boundary(part, 5)
        axis = int(np.argmax(np.abs(found.normals).sum(axis=0)))
        extent = float(np.ptp(domain.bounds[:, axis]))
        if np.abs(found.normals[:, axis]).min() < 1.0 - 1e-9:
            continue
        end = int(found.normals[0, axis] > 0)
        inside = found.points - 1e-9 * extent * found.normals
        try:
            rates = np.concatenate(decay_rates(problem, inside, axis, end))
        except SharpfrontError:
            # Coefficients that are not finite there are refused in words when it is solved.
            continue
        if len(rates) and rates.max() * extent * THIN > 1.0:
            out.append(f"room for a layer of width {1.0 / rates.max():.2g} at {part}")
    return out
