"""The two boundary-layer problems of the paper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sharpfront.catalog.entry import Entry, Feature
from sharpfront.geometry import Interval
from sharpfront.problem import Problem


def _single(nu: float) -> Problem:
    return Problem(
        Interval(0, 1),
        lambda u, x: -nu * u.dxx + u.dx,
        left=lambda u, x: u,
        right=lambda u, x: u - 1,
    )


def _single_exact(nu: float) -> Callable[..., Any]:
    # expm1(x/nu) / expm1(1/nu), written so that nothing overflows.
    return lambda x: np.exp((x - 1) / nu) * np.expm1(-x / nu) / np.expm1(-1 / nu)


def _twin(nu: float) -> Problem:
    return Problem(
        Interval(0, 1),
        lambda u, x: -nu * u.dxx + 2 * (2 * x - 1) * u.dx + 4 * u,
        boundary=lambda u, x: u - 1,
    )


def _twin_exact(nu: float) -> Callable[..., Any]:
    return lambda x: np.exp(-2 * x * (1 - x) / nu)


SINGLE_LAYER = Entry(
    "single-layer",
    "Single boundary layer",
    "-nu u'' + u' = 0 on (0, 1), u(0) = 0, u(1) = 1",
    _single,
    _single_exact,
    lambda nu: (Feature(1.0, nu),),
)

TWIN_LAYER = Entry(
    "twin-layer",
    "Twin boundary layers",
    "-nu u'' + 2 (2x - 1) u' + 4 u = 0 on (0, 1), u(0) = u(1) = 1",
    _twin,
    _twin_exact,
    lambda nu: (Feature(0.0, nu / 2), Feature(1.0, nu / 2)),
)
