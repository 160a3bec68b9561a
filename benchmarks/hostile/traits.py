"""Where functions of the plane vary fast, and points graded into those places."""

from __future__ import annotations

from typing import Any

import numpy as np

from hostile.drawn import Drawn, Function, Rng, Statement, offsets, pick


class Trait:
    """Where a function of the plane varies fast: on a curve or at a point, with a width.

    Parameters
    ----------
    distance
        From the curve or point, a function of x and y.
    on
        From numbers in [0, 1] to points of it and normals, each (m, 2).
    width
        Of the layer, front or peak.
    """

    def __init__(self, distance: Function, on: Function, width: float) -> None:
        self.distance, self.on, self.width = distance, on, width


def straight(point: Any, angle: float, width: float, reach: float = 1.5) -> Trait:
    """Return a straight trait through a point; the angle is that of its normal."""
    normal = np.array([np.cos(angle), np.sin(angle)])
    along = np.array([-normal[1], normal[0]])
    point = np.asarray(point, dtype=float)

    def on(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        places = point + reach * (2 * s[:, None] - 1) * along
        return places, np.broadcast_to(normal, places.shape)

    return Trait(lambda x, y: (x - point[0]) * normal[0] + (y - point[1]) * normal[1], on, width)


def circular(centre: Any, radius: float, width: float) -> Trait:
    """Return a trait along a circle; of radius zero around a point."""

    def on(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        normals = np.stack([np.cos(2 * np.pi * s), np.sin(2 * np.pi * s)], axis=1)
        return np.asarray(centre) + radius * normals, normals

    return Trait(lambda x, y: np.hypot(x - centre[0], y - centre[1]) - radius, on, width)


def along_axis(place: float, axis: int, width: float) -> Trait:
    """Return the line x = place or y = place."""
    point = (place, 0.5) if axis == 0 else (0.5, place)
    return straight(point, 0.0 if axis == 0 else np.pi / 2, width, 3.0)


def points_of(domain: Any, traits: list[Trait]) -> tuple[np.ndarray, np.ndarray]:
    """Return points of a domain: even ones, its boundary, and others graded into the traits."""
    parts = [domain.sample(1500)]
    parts += [domain.boundary(part, 150).points for part in domain.parts]
    low, high = domain.bounds
    for trait in traits:
        places, normals = trait.on((np.arange(40) + 0.5) / 40)
        away = offsets(trait.width, 0.3 * float(np.max(high - low)), 20)
        parts.append((places[:, None] + away[:, None] * normals[:, None]).reshape(-1, 2))
    points = np.concatenate(parts)
    points = points[np.all((points >= low) & (points <= high), axis=1)]
    points = points[domain.contains(points)]
    return points[:, 0], points[:, 1]


def plane_scale(domain: Any, traits: list[Trait]) -> Function:
    """Return how fast functions with these traits vary."""
    whole = 0.2 * float(np.max(domain.bounds[1] - domain.bounds[0]))

    def scale(x: Any, y: Any) -> Any:
        result = np.full(np.shape(x), whole)
        for trait in traits:
            result = np.minimum(result, np.hypot(trait.width, 0.3 * trait.distance(x, y)))
        return result

    return scale


def drawn(words: str, stated: Statement, traits: list[Trait], truth: Any, tol: float) -> Drawn:
    """Return a problem with points graded into its traits."""
    points = points_of(stated.domain, traits)
    return Drawn(words, stated, truth, points, tol, plane_scale(stated.domain, traits))


def tolerance(rng: Rng) -> float:
    """Return what is asked for of systems and of fourth order in the plane."""
    return float(pick(rng, 1e-3, 1e-4, 1e-5))
