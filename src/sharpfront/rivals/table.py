"""All rivals by name. A new one is a file beside this, a line here, and passes the table's test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sharpfront.checks import did_you_mean
from sharpfront.errors import ProblemError
from sharpfront.rivals.bacoli import BACOLI
from sharpfront.rivals.chebyshev import CHEBYSHEV
from sharpfront.rivals.contract import Rival
from sharpfront.rivals.kapi_elm import KAPI_ELM
from sharpfront.rivals.method_of_lines import LINES
from sharpfront.rivals.ngsolve_refined import NGSOLVE
from sharpfront.rivals.ours import GMM_PIELM, OURS, RBF_PIELM
from sharpfront.rivals.pielm import PIELM
from sharpfront.rivals.pinn import PINN
from sharpfront.rivals.rad import RAD
from sharpfront.rivals.scikit_fem import SCIKIT_FEM
from sharpfront.rivals.scipy_bvp import SOLVE_BVP

_ALL: tuple[Rival, ...] = (
    *(OURS, GMM_PIELM, RBF_PIELM, PIELM, KAPI_ELM, RAD, PINN),
    *(SOLVE_BVP, CHEBYSHEV, SCIKIT_FEM, NGSOLVE, LINES, BACOLI),
)
RIVALS: Mapping[str, Rival] = {rival.name: rival for rival in _ALL}


def chosen(names: Iterable[str] | None) -> tuple[Rival, ...]:
    """Return the rivals of these names, ours among them; all without names."""
    if names is None:
        return _ALL
    wanted = list(dict.fromkeys(names))
    for name in wanted:
        if name not in RIVALS:
            raise ProblemError(
                f"There is no method {name!r}.{did_you_mean(name, RIVALS)} "
                f"Methods: {', '.join(RIVALS)}."
            )
    if not wanted:
        raise ProblemError(f"methods= is empty. Methods: {', '.join(RIVALS)}.")
    return tuple(RIVALS[name] for name in dict.fromkeys(["ours", *wanted]))
