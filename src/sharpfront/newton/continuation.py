"""Values of a parameter on the way from an easy problem to the one that is meant."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence

from sharpfront.errors import ProblemError
from sharpfront.newton.settings import NEWTON


def values_on_the_way(values: Sequence[float]) -> Generator[float | None, bool, None]:
    """Yield one value after the other; sent whether its solve failed, go halfway then.

    None at the end: when the last value is solved, the first one fails, or no value in between
    helps.
    """
    ahead = [float(v) for v in values]
    if not ahead:
        raise ProblemError("continuation= needs one value of the parameter or more.")
    behind, between = None, 0
    while ahead:
        failed = yield ahead[0]
        if not failed:
            behind = ahead.pop(0)
        elif behind is None or between >= NEWTON.most_between:
            break
        else:
            between += 1
            a, b = behind, ahead[0]
            same = a * b > 0
            ahead.insert(0, math.copysign(math.sqrt(a * b), a) if same else 0.5 * (a + b))
    yield None
