"""Whether patches cover their domain: what lies on none of them would be solved by nobody."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.errors import DomainError
from sharpfront.geometry import Domain
from sharpfront.maps import Chart
from sharpfront.rounding import SLIGHT
from sharpfront.trust.settings import TRUST


def refuse_gaps(domain: Domain, patches: Sequence[Patch]) -> None:
    """Raise an error where a point of the domain, or of its boundary, lies on no patch."""
    if domain.is_box:
        return
    around = [
        domain.boundary(part, TRUST.on_piece * len(domain.smooth_pieces(part))).points
        for part in domain.parts
    ]
    points = np.concatenate([domain.sample(TRUST.places), *around])
    size = float(np.max(np.ptp(domain.bounds, axis=0)))
    left = points[~_on_patches(points, patches, SLIGHT * size)]
    if len(left):
        place = ", ".join(f"{x:.4g}" for x in left[0])
        raise DomainError(
            f"{domain!r} could not be divided into patches: nothing covers ({place}). This is a "
            "mistake of sharpfront's. State the domain in another way, by a union of other pieces "
            "or as a polygon, and please report it."
        )


def _on_patches(points: FloatArray, patches: Sequence[Patch], near: float) -> NDArray[np.bool_]:
    """Tell which points lie on a patch, (m,)."""
    out = np.zeros(len(points), dtype=bool)
    groups: dict[Chart | None, list[Patch]] = {}
    for patch in patches:
        groups.setdefault(patch.chart, []).append(patch)
    for own in groups.values():
        rest = np.flatnonzero(~out)
        at = own[0].in_chart(points[rest])[:, None]
        low, high = (np.stack(ends) for ends in ([p.low for p in own], [p.high for p in own]))
        out[rest] = np.any(np.all((at >= low - near) & (at <= high + near), axis=2), axis=1)
    return out
