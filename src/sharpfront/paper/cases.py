"""What is compared: the paper's two problems with its settings, and the methods.

A method is an entry of `METHODS`: a name, words, and a function from a case to an adaptor. Tables,
figures and findings go through that list, so a further method is one further entry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sharpfront.adapt import Adaptor, Paper, Resolve, Uniform
from sharpfront.catalog import Entry, named
from sharpfront.measure import Feature
from sharpfront.problem import Problem

Row = Literal["baseline", "adaptive"]

NU = 1e-4
COLLOCATION = 1500
FIRST_SEED = 42
# A point lies near a layer if it is within this many layer widths of it.
NEAR = 10.0


@dataclass(frozen=True)
class Published:
    """A line of the paper's Table 1."""

    rmse: float
    seconds: float


@dataclass(frozen=True, eq=False)
class Case:
    """One of the paper's problems with its row of Table 2 and its rows of Table 1."""

    # A word for files, and a few for readers.
    name: str
    label: str
    entry_name: str  # the problem's name in the catalogue
    # N, K, alpha, T, beta as the adaptor calls them.
    settings: Mapping[str, Any]
    published: Mapping[Row, Published]  # the paper's figures
    constants: bool = False  # whether constants satisfy the equation

    @property
    def entry(self) -> Entry:
        """The problem in the catalogue."""
        return named(self.entry_name)

    @property
    def kernels(self) -> int:
        """N."""
        return int(self.settings["kernels"])

    @property
    def problem(self) -> Problem:
        """The problem at the paper's nu."""
        return self.entry.problem(NU)

    @property
    def exact(self) -> Callable[..., Any]:
        """The exact solution at the paper's nu."""
        return self.entry.exact(NU)  # type: ignore[no-any-return]

    @property
    def features(self) -> tuple[Feature, ...]:
        """The layers at the paper's nu; used to measure, never to solve."""
        return self.entry.features(NU)  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Method:
    """A named way to solve both problems."""

    # A word for files, and a few for readers.
    name: str
    title: str
    note: str  # one sentence: what it does
    # The adaptor for a case; it must pickle, because runs are spread over processes.
    adaptor: Callable[[Case], Adaptor]
    colour: str  # its colour in every figure
    # The row of the paper's Table 1 that it stands beside; None for a method of our own.
    row: Row | None = None


def gmm(case: Case, **changes: Any) -> Paper:
    """Return the paper's Algorithm 1 with the settings of the case's column of Table 2."""
    return Paper(**{**case.settings, "collocation": COLLOCATION, **changes})


CASES = (
    Case(
        "single",
        "Single layer",
        "single-layer",
        {"kernels": 300, "components": 8, "ratio": 0.7, "iterations": 3, "scaling": 1.1},
        published={"baseline": Published(5.00e-1, 0.071), "adaptive": Published(2.73e-8, 0.696)},
        constants=True,
    ),
    Case(
        "double",
        "Double layer",
        "twin-layer",
        {"kernels": 500, "components": 16, "ratio": 0.7, "iterations": 3, "scaling": 1.5},
        published={"baseline": Published(1.01e-5, 0.312), "adaptive": Published(1.04e-9, 1.776)},
    ),
)

METHODS = (
    Method(
        "rbf",
        "RBF-PIELM",
        "One solve with kernels of one width; centres random and evenly spread (Sobol points).",
        lambda case: Uniform(kernels=case.kernels, collocation=COLLOCATION),
        "#4c72b0",
        "baseline",
    ),
    Method(
        "rbf-random",
        "RBF-PIELM, random",
        "The same with every centre drawn independently of the others.",
        lambda case: Uniform(kernels=case.kernels, collocation=COLLOCATION, centres="random"),
        "#56a3c9",
        "baseline",
    ),
    Method(
        "gmm",
        "GMM-PIELM",
        "Algorithm 1: the mixture is fitted by scikit-learn to samples of the residual density.",
        gmm,
        "#c44e52",
        "adaptive",
    ),
    Method(
        "gmm-em",
        "GMM-PIELM, weighted",
        "Algorithm 1 with the weighted EM of the paper's derivation instead of samples.",
        lambda case: gmm(case, fit="weighted"),
        "#dd8452",
        "adaptive",
    ),
    Method(
        "sharpfront",
        "sharpfront (default)",
        "What this library does by default: features found first, kernels and rows even in the "
        "coordinate of the mixture, the error estimated by the error equation. No seed enters.",
        lambda case: Resolve(),
        "#2a9d5c",
        None,
    ),
)
