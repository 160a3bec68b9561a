"""From what the user states, a family with data, to a model that can be fitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sharpfront.checks import listed, refusal
from sharpfront.errors import ProblemError
from sharpfront.fit.data import Data, Observed
from sharpfront.fit.free_parameters import Free, as_free
from sharpfront.fit.model import Model
from sharpfront.fit.result import Fit
from sharpfront.problem import Problem
from sharpfront.problem.family import Family, require_numbers


def stated_model(
    family: Any, data: Any, parameters: Mapping[str, Any], options: dict[str, Any]
) -> Model:
    """Return the model of a family and its data, or say what is missing."""
    read = Family.of(family)
    free = {n: f for n, v in parameters.items() if (f := as_free(v)) is not None}
    if not free:
        raise ProblemError(
            "Nothing is free to be fitted. Give a start for a parameter: nu=sf.Free(0.05)."
        )
    values = read.values({**parameters, **{n: f.value for n, f in free.items()}})
    require_numbers(values, list(free))
    problem = read(**values)
    fixed = {n: v for n, v in values.items() if n not in free}
    model = Model(read, fixed, free, _observed(data, problem, free), options)
    if model.spare < (0 if model.noise_known else 1):
        raise ProblemError(
            f"{len(model.data)} measurements and {len(model.priors)} priors do not determine "
            f"{len(free)} parameters{'' if model.noise_known else ' and the noise'}. Fix some, or "
            "give priors: sf.Free(..., prior=sf.Prior(mean, sd))."
        )
    together = read.bundle.names if read.bundle and read.along(problem, values) else ()
    for name in free:
        if name not in together:
            _require_effect(model, problem, values, name)
    return model


def _observed(data: Any, problem: Problem, free: Mapping[str, Free]) -> list[Observed]:
    """Return the measurements, checked against the problem and what else is known."""
    if not isinstance(data, Data) and (hasattr(data, "columns") or hasattr(data, "dims")):
        # Of tables that are looked through like lists only names would be told.
        kind = f"{type(data).__module__.split('.')[0]} {type(data).__name__}"
        raise ProblemError(
            f"data: expected sf.Data, or a list of them, got a table ({kind}). Try "
            "sf.Data(table, sigma=0.02)."
        )
    sets = listed(data)
    if not len(sets):
        raise refusal("data", "sf.Data, or a list of them", data, "sf.Data(x=xs, u=us)")
    for each in sets:
        if not isinstance(each, Data):
            raise refusal("data", "sf.Data, or a list of them", each, "sf.Data(x=xs, u=us)")
    observed = [o for each in sets for o in each.read(problem)]
    known = [o.sigma is not None for o in observed]
    if not all(known) and any(f.prior is not None for f in free.values()):
        raise ProblemError(
            "What is known beforehand is weighed against the noise of the data: give sigma= with "
            "priors and unknown functions."
        )
    if any(known) and not all(known):
        raise ProblemError("Some data have sigma= and others not; give it for all or for none.")
    return observed


def _require_effect(model: Model, problem: Problem, values: Mapping[str, Any], name: str) -> None:
    """Refuse a parameter that changes nothing, or that data cannot follow."""
    if name in {*dir(Fit), *(f.name for f in fields(Fit))}:
        raise ProblemError(f"A fit has an attribute {name!r} of its own; rename the parameter.")
    forcing = model.family.forcing(problem, values, name)
    if forcing is None and any(o.whole for o in model.observed):
        raise ProblemError(
            f"The parameter {name!r} moves the domain or a place at which something jumps; "
            "integrals cannot be observed then."
        )
    if forcing is not None and forcing.is_absent:
        raise ProblemError(
            f"No residual contains the parameter {name!r}: it has no effect and cannot be "
            "fitted. Does the family use it?"
        )
