"""A family of problems: a function of named parameters that returns a `Problem`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sharpfront.checks import did_you_mean, finite, is_number, refusal
from sharpfront.equation.expression import Parameter
from sharpfront.errors import ArgumentError, ProblemError
from sharpfront.problem import Problem
from sharpfront.problem.family.alike import alike, moves, residuals_of, same_domain
from sharpfront.problem.family.forcing import (
    Along,
    Bundle,
    Forcing,
    at_value,
    forcing_between,
    initial_rates,
)

# Step of central differences as part of a parameter: the best one for a smooth function.
STEP = float(np.finfo(float).eps) ** (1 / 3)


@dataclass(frozen=True, eq=False)
class Family:
    """A function of named parameters that returns a problem, with its signature read."""

    factory: Callable[..., Problem]  # the function
    names: tuple[str, ...]  # its parameters
    defaults: Mapping[str, Any]  # values of those that have one
    bundle: Bundle | None = None  # those that stand for a function

    @classmethod
    def of(cls, factory: Any) -> Family:
        """Return the family that a function is, or say why it is none."""
        if isinstance(factory, cls):
            return factory
        attempt = "a function such as def layer(nu): return sf.Problem(...)"
        if isinstance(factory, Problem) or not callable(factory):
            raise refusal("A family of problems", attempt, factory)
        try:
            read = inspect.signature(factory).parameters.values()
        except (TypeError, ValueError):
            raise refusal("A family of problems", attempt, factory) from None
        named = [p for p in read if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        defaults = {p.name: p.default for p in named if p.default is not p.empty}
        bundle = getattr(factory, "bundle", None)
        bundle = bundle if isinstance(bundle, Bundle) else None
        return cls(factory, tuple(p.name for p in named), defaults, bundle)

    def values(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of all parameters, with defaults where nothing is given."""
        for name in given:
            if name not in self.names:
                raise ArgumentError(
                    f"{name!r} is neither an option nor a parameter of the family, which has "
                    f"{', '.join(self.names) or 'none'}.{did_you_mean(name, self.names)}"
                )
        values = {**self.defaults, **given}
        missing = [n for n in self.names if n not in values]
        if missing:
            raise ProblemError(
                f"The family needs {', '.join(missing)}; write for example {missing[0]}=1.0. Give "
                "continuation= to lead a parameter from an easy value to the one that is meant."
            )
        return values

    def __call__(self, **values: Any) -> Problem:
        """Return the problem for values of the parameters."""
        problem = self.factory(**values)
        if not isinstance(problem, Problem):
            raise refusal("What the family returns", "a Problem", problem)
        return problem

    def forcing(self, problem: Problem, values: Mapping[str, Any], name: str) -> Forcing | None:
        """Return the derivatives of all residuals of a member with respect to a parameter.

        From the graph where the function can be called with a symbol for the parameter, else by
        central differences of the residuals. None where they have none: the parameter moves the
        domain, the start of time, or a place at which something jumps.
        """
        value = finite(values[name], name, attempt=f"{name}=1.0")
        traced = self._traced(values, name)
        if traced is not None and (
            not same_domain(problem, traced)
            or traced.is_singular
            or any(map(moves, residuals_of(traced)))
        ):
            return None
        step = STEP * (abs(value) or 1.0)
        if traced is not None and traced.time is None:
            return forcing_between(traced, traced, at_value(name, value), 2.0 * step)
        above, below = (self(**{**values, name: value + h}) for h in (step, -step))
        if not alike(above, below):
            return None
        if traced is not None:
            found = forcing_between(traced, traced, at_value(name, value), 2.0 * step)
            return replace(found, initial=initial_rates(above, below, 2.0 * step))
        return forcing_between(above, below, lambda r, s: (r - s) * (0.5 / step), 2.0 * step)

    def along(self, problem: Problem, values: Mapping[str, Any]) -> list[Along] | None:
        """Return what the functions of its bundle do to all residuals; None if it has none."""
        return None if self.bundle is None else self.bundle.along(problem, values)

    def _traced(self, values: Mapping[str, Any], name: str) -> Problem | None:
        """Return the problem with a symbol in the place of a parameter; None if that fails."""
        try:
            return self(**{**values, name: Parameter(name)})
        except Exception:
            # Whatever the user's function makes of a symbol: with numbers it has worked.
            return None


def require_numbers(values: Mapping[str, Any], names: Sequence[str]) -> None:
    """Refuse derivatives with respect to what is not a number of the family."""
    for name in names:
        if name not in values:
            known = [n for n, v in values.items() if is_number(v)]
            raise ProblemError(
                f"The family has no parameter {name!r}; it has {', '.join(known)}."
                f"{did_you_mean(name, known)}"
            )
        if not is_number(values[name]):
            raise refusal(f"The parameter {name!r}", "a number", values[name])
