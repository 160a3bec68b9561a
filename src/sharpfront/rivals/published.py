"""What others have published for problems of the catalogue.

Their measures of error differ from ours and are named; times are those of other machines.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """A figure from elsewhere."""

    method: str  # what reached it
    figure: str  # the error, its measure, and the time where that is known
    source: str  # where it stands


_PAPER, _KAPI, _SOFT = "arXiv 2603.06287", "arXiv 2507.10241", "arXiv 2601.08719"
_FIGURES: dict[str, tuple[Published, ...]] = {
    "single-layer": (
        Published("GMM-PIELM", "RMSE on even points 2.7e-8 in 0.70 s, nu = 1e-4", _PAPER),
        Published("KAPI-ELM", "1e-5 to 2e-4 with 1275 kernels, nu = 1e-4", f"{_KAPI}, re-run"),
        Published("KAPI-ELM", "relative L2 2e-4 in 440 s, nu = 1e-4", f"{_KAPI}, replicated"),
    ),
    "twin-layer": (
        Published("GMM-PIELM", "RMSE on even points 1.0e-9 in 1.8 s, nu = 1e-4", _PAPER),
        Published("KAPI-ELM", "6e-10 to 2.4e-5 over three seeds, 2250 kernels", f"{_KAPI}, re-run"),
    ),
    "sharp-source": (
        Published("KAPI-ELM", "MSE 5e-8, the error of its reference, w = 1e-2", _KAPI),
    ),
    "square-waves": (Published("KAPI-ELM", "MSE 8.9e-9, k = 6", _SOFT),),
    "petal": (Published("KAPI-ELM", "MSE 3.5e-13, k = 4", _SOFT),),
    "biharmonic-petal": (Published("KAPI-ELM", "MSE 5e-6, k = 5", _SOFT),),
    "burgers": (
        Published("frozen PINN", "relative L2 2.3e-7 in 5.3 s", "as collected"),
        Published("PINN, second-order training on a GPU", "relative L2 8.3e-9", "as collected"),
    ),
    "allen-cahn-in-time": (Published("PirateNet", "relative L2 2.2e-5", "as collected"),),
    "fast-advection": (Published("frozen PINN", "relative L2 8.4e-9 in 0.7 s", "as collected"),),
    "korteweg-de-vries": (
        Published("PINN variants", "relative L2 4.3e-4, 2.2e-6", "as collected"),
    ),
}


def published(name: str) -> tuple[Published, ...]:
    """Return the figures for a problem of the catalogue."""
    return _FIGURES.get(name, ())
