"""Who solves what: the adaptor of a problem, with the profile, device or cluster asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sharpfront.adapt.contract import Adaptor
from sharpfront.adapt.resolve import Resolve
from sharpfront.budget import Budget
from sharpfront.equation.graph import derivatives_in
from sharpfront.errors import ProblemError
from sharpfront.kernels import Kernel, kernel_named
from sharpfront.leastsquares.cluster import connected
from sharpfront.leastsquares.device import device_named
from sharpfront.problem import Problem

if TYPE_CHECKING:
    from sharpfront.adapt.patchwork.jump_lifting import JumpLifting


def chosen(problem: Problem, adaptor: Adaptor | None, budget: Budget) -> Adaptor:
    """Return the adaptor given, or the default one for this kind of problem with its settings."""
    given = settings_given(budget)
    if adaptor is not None:
        if given:
            raise ProblemError(
                f"{' and '.join(given)} cannot be combined with an adaptor: set it there."
            )
        return adaptor
    if is_line(problem):
        return Resolve(**given)
    from sharpfront.adapt import OnePatch, Patches
    from sharpfront.adapt.patchwork import needs_patches

    if problem.domain.dimension == 1 and len(problem.unknowns) == 1 and not needs_patches(problem):
        return Resolve(**given)
    given.pop("components", None)
    return Patches(**given) if needs_patches(problem) else OnePatch(**given)


def with_kernel(
    kernel: Kernel | str, adaptor: Adaptor | None, budget: Budget
) -> tuple[Adaptor, Budget]:
    """Return the adaptor with another profile, and what is left of the budget."""
    from sharpfront.adapt import Uniform

    if isinstance(kernel, str):
        kernel = kernel_named(kernel)
    if adaptor is None:
        # Broad, because a profile with long tails needs neighbours beyond the nearest; conditions
        # weigh more than in the paper, whose choice leaves them open by a fifth of u.
        count = budget.max_kernels or Uniform.kernels
        adaptor = Uniform(kernels=count, overlap=10.0, penalty=100.0)
        budget = replace(budget, max_kernels=None)
    if not isinstance(adaptor, Uniform):
        raise ProblemError(
            f"kernel= goes with sf.Uniform and sf.Paper; {type(adaptor).__name__} makes its "
            "functions from Gaussians. Leave one of the two out."
        )
    return replace(adaptor, kernel=kernel), budget


def is_line(problem: Problem) -> bool:
    """Tell whether one equation on a line is plainly none for patches: order two or less."""
    if problem.domain.dimension > 1 or len(problem.unknowns) > 1 or problem.is_singular:
        return False
    if problem.has_poles_at_ends:
        return False
    return all(sum(leaf.orders) <= 2 for e in problem.equations for leaf in derivatives_in(e))


def with_device(adaptor: Adaptor, device: str | None, cluster: Any) -> Adaptor:
    """Return the adaptor with the cluster or device that was asked for."""
    if not isinstance(adaptor, Resolve):
        from sharpfront.adapt import Patches

        if isinstance(adaptor, Patches):
            tree = adaptor.leastsquares
            if cluster is not None:
                refuse("together with cluster=", device=device)
                tree = replace(tree, cluster=connected(cluster, "cluster"))
            elif (card := device_named(device)) is not None:
                tree = replace(tree, device=card)
            return adaptor if tree is adaptor.leastsquares else replace(adaptor, leastsquares=tree)
    away = {"device": device, "cluster": cluster}
    refuse("for a problem that is not solved on patches", **away)
    return adaptor


def settings_given(budget: Budget) -> dict[str, Any]:
    """Return the settings of adaptors that were given."""
    settings = {"max_kernels": budget.max_kernels, "components": budget.components}
    return {k: v for k, v in settings.items() if v is not None}


def refuse(where: str, **options: object) -> None:
    """Refuse what has no meaning for a kind of problem."""
    for name, value in options.items():
        if value is not None:
            raise ProblemError(f"{name}= has no meaning {where}; leave it out.")


def takes_units(adaptor: Adaptor | None) -> bool:
    """Tell whether a strategy is one of ours: others, and the paper's, see what was stated."""
    if adaptor is None:
        return True
    from sharpfront.adapt import Patches

    return isinstance(adaptor, Patches | Resolve)


def lifting(problem: Problem, tol: float, adaptor: Adaptor) -> JumpLifting | None:
    """Return what jumps in a system that is solved on patches in the plane."""
    if len(problem.unknowns) == 1 or problem.domain.dimension != 2:
        return None
    from sharpfront.adapt import Patches
    from sharpfront.adapt.patchwork.jump_lifting import JumpLifting

    return JumpLifting.of(problem, tol) if isinstance(adaptor, Patches) else None
