"""Domains from what their `state` returned."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sharpfront.errors import DomainError
from sharpfront.geometry.box import Box, Interval
from sharpfront.geometry.cloud import Cloud
from sharpfront.geometry.combine import Combination
from sharpfront.geometry.domain import Domain, SpaceTime, State
from sharpfront.geometry.parts import Marked, Named, Nearest
from sharpfront.geometry.polygon import Polygon
from sharpfront.geometry.registry import SHAPES
from sharpfront.geometry.shape import Shape
from sharpfront.geometry.solid import Solid


def restore_domain(state: State) -> Domain:
    """Return the domain from whose `state` the given words, numbers and arrays came.

    Implicit regions come back as a `Cloud` of their boundary points, and parts that were cut out
    by a function follow the nearest of dense boundary points; all others come back as they were.
    """
    kind = state.get("kind")
    if kind == "spacetime":
        return SpaceTime(_shape(state["space"]), (state["time"][0], state["time"][1]))
    return _shape(state)


def _shape(state: State) -> Shape:
    # As saved by earlier versions.
    kind = {"halfspace": "half-space"}.get(str(state.get("kind")), state.get("kind"))
    if kind in SHAPES:
        return SHAPES[kind](**{name: state[name] for name in SHAPES[kind].example})
    if kind not in _MAKERS:
        known = ", ".join([*SHAPES, *_MAKERS])
        raise DomainError(f"There is no domain of the kind {kind!r}; known: {known}.")
    return _MAKERS[kind](state)


def _box(state: State) -> Shape:
    if state.get("called"):
        named = dict(zip(state["called"], state["sides"], strict=True))
        return Box(periodic=state["periodic"], **named)
    return Box(*state["sides"], periodic=state["periodic"])


def _marked(state: State) -> Shape:
    where = Nearest(np.asarray(state["points"]), np.asarray(state["marks"], dtype=bool))
    return Marked(_shape(state["shape"]), state["name"], where)


_MAKERS: dict[str, Callable[[State], Shape]] = {
    "interval": lambda s: Interval(
        *s["ends"], periodic=s["periodic"], coordinate=s.get("called", "x")
    ),
    "box": _box,
    "polygon": lambda s: Polygon(s["rings"][0], s["rings"][1:]),
    "solid": lambda s: Solid.from_triangles(s["vertices"], s["faces"]),
    "cloud": lambda s: Cloud(s["points"], s["normals"]),
    "named": lambda s: Named(_shape(s["shape"]), s["name"]),
    "marked": _marked,
    "combination": lambda s: Combination(s["operation"], _shape(s["first"]), _shape(s["second"])),
}
