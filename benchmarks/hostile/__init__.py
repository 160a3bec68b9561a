"""Families of hostile problems, drawn from a kind, a seed and an index."""

from __future__ import annotations

import numpy as np

from hostile import fourth, line, moving, plane, systems
from hostile.drawn import Drawn, RoundNumbers

FAMILIES = {
    "line": line.FAMILIES,
    "plane": plane.FAMILIES,
    "systems": systems.FAMILIES,
    "fourth": fourth.FAMILIES,
    "time": moving.FAMILIES,
}
KINDS = tuple(FAMILIES)


def draw(kind: str, seed: int, index: int) -> Drawn:
    """Return one problem; the same arguments give the same one.

    Every second one of a family has round numbers.
    """
    families = FAMILIES[kind]
    rng = np.random.default_rng([KINDS.index(kind), seed, index])
    if index // len(families) % 2:
        rng = RoundNumbers(rng.bit_generator)
    return families[index % len(families)](rng)
