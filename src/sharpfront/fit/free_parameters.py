"""Parameters that a fit may change, and what is known of them beforehand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sharpfront.checks import (
    explained,
    explained_fields,
    finite,
    flag,
    is_number,
    positive,
    refusal,
)


@explained_fields("sf.Prior(mean=1.0, sd=0.1)")
@dataclass(frozen=True)
class Prior:
    """What is known of a parameter without the data: a mean and a standard deviation.

    Of a positive parameter the logarithm is taken to be normal, with the same relative deviation.
    """

    mean: float
    sd: float

    def __post_init__(self) -> None:
        finite(self.mean, "mean", attempt="sf.Prior(1.0, 0.1)")
        positive(self.sd, "sd", "sf.Prior(1.0, 0.1)")


@explained_fields("sf.Free(0.05, positive=True)")
@dataclass(frozen=True)
class Free:
    """A parameter that a fit may change.

    Parameters
    ----------
    value
        Where to start.
    low, high
        Bounds; none by default.
    positive
        Whether it is fitted as a logarithm, which keeps it above zero.
    prior
        What is known of it beside the data.
    """

    value: float
    low: float = -math.inf
    high: float = math.inf
    positive: bool = False
    prior: Prior | None = None

    def __post_init__(self) -> None:
        attempt = "sf.Free(1.0, low=0, high=10)"
        finite(self.value, "The start of a free parameter", attempt=attempt)
        flag(self.positive, "positive")
        for name in ("low", "high"):
            bound = getattr(self, name)
            if not is_number(bound) or math.isnan(bound):
                raise refusal(name, "a number", bound, attempt)
        low = max(self.low, 0.0) if self.positive else self.low
        inside = low < self.value if self.positive else low <= self.value
        if not (inside and self.value <= self.high and low < self.high):
            raise refusal(
                "The start of a free parameter", f"a number in ({low:g}, {self.high:g})", self.value
            )
        if self.prior is not None and not isinstance(self.prior, Prior):
            raise refusal("prior", "sf.Prior(mean, sd)", self.prior, "prior=sf.Prior(1.0, 0.1)")
        if self.positive and self.prior and self.prior.mean <= 0:
            raise refusal("The prior of a positive parameter", "a positive mean", self.prior.mean)

    @property
    def scale(self) -> float:
        """What a change of one means for the parameter that is fitted: itself, or its bounds."""
        if self.positive:
            return 1.0
        width, known = self.high - self.low, self.prior.sd if self.prior else 0.0
        usual = 0.5 * width if math.isfinite(width) else 1.0
        return max(abs(self.value), known) or usual

    def inner(self, value: float) -> float:
        """Return the fitted parameter: the logarithm, or a multiple of the scale."""
        if self.positive:
            return math.log(value) if value > 0 else -math.inf
        return value / self.scale

    def outer(self, z: float) -> float:
        """Return the parameter from the fitted one."""
        return math.exp(min(z, 700.0)) if self.positive else z * self.scale

    def slope(self, value: float) -> float:
        """Return d(parameter)/d(fitted one) at a value."""
        return value if self.positive else self.scale

    @property
    def bounds(self) -> tuple[float, float]:
        """Bounds of the fitted parameter."""
        if self.positive:
            return self.inner(max(self.low, 0.0)), self.inner(self.high)
        return self.low / self.scale, self.high / self.scale

    def known(self) -> tuple[float, float] | None:
        """Return mean and deviation of the fitted parameter before the data."""
        if self.prior is None:
            return None
        spread = self.prior.sd / (self.prior.mean if self.positive else self.scale)
        return self.inner(self.prior.mean), spread


@explained("sf.Free(0.05, positive=True)")
def as_free(given: Any) -> Free | None:
    """Return a free parameter as it was given, also as (value, low, high); None of a number."""
    if isinstance(given, Free):
        return given
    if isinstance(given, tuple):
        if len(given) != 3:
            raise refusal("A free parameter", "sf.Free(value, low, high)", given, "sf.Free(1.0)")
        return Free(*given)
    return None
