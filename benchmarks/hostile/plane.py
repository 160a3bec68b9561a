"""Hostile problems in the plane with one unknown, of second order."""

from __future__ import annotations

from typing import Any

import numpy as np

import sharpfront as sf
from hostile import reference
from hostile.drawn import (
    Drawn,
    Function,
    Rng,
    Statement,
    Truth,
    known,
    log_uniform,
    made,
    pick,
    sign,
    silent,
)
from hostile.shapes1d import Profile, layer, profile, wave
from hostile.traits import Trait, along_axis, circular, drawn, straight

UNIT = ((0.0, 1.0), (0.0, 1.0))


def tolerance(rng: Rng) -> float:
    """Return what is asked for."""
    return float(pick(rng, 1e-3, 1e-4, 1e-5, 1e-6))


def laplacian(u: Any) -> Any:
    """Return u_xx + u_yy; also of what is no symbol."""
    return u.dxx + u.dyy


def traits_of(factor: Profile, axis: int) -> list[Trait]:
    """Return the traits of a function of one coordinate."""
    return [along_axis(place, axis, width) for place, width in factor.features]


def conditions(
    rng: Rng, domain: Any, exact: Function, free: tuple[str, ...]
) -> dict[str, Function]:
    """Return values on the boundary, on some of the free parts slopes or Robin's condition."""
    found: dict[str, Function] = {"boundary": made(lambda u, x, y: u, [exact])}
    for part in free:
        if rng.uniform() < 0.35:
            beta = float(pick(rng, 0.0, 1.0, rng.uniform(0.1, 10)))
            found[part] = made(lambda u, x, y, b=beta: u.dn + b * u, [exact])
    if all(part in found for part in domain.parts):
        del found["boundary"]
        found[domain.parts[0]] = made(lambda u, x, y: u, [exact])
    return found


def layers(rng: Rng) -> Drawn:
    """Draw layers along the sides: outflow, corners, reaction, parabolic; and fronts inside."""
    eps = log_uniform(rng, 1e-5, 1e-1)
    kind = pick(rng, "outflow", "corner", "reaction", "parabolic", "steps")
    a, b = rng.uniform(0.5, 2, 2)
    root = float(np.sqrt(eps))
    smooth = [wave(rng, (0, 1)) for _ in range(2)]
    thin = {
        "outflow": (layer(rng, (0, 1), eps / a, 1.0), smooth[1]),
        "corner": (layer(rng, (0, 1), eps / a, 1.0), layer(rng, (0, 1), eps / b, 1.0)),
        "reaction": (layer(rng, (0, 1), root), layer(rng, (0, 1), root)),
        "parabolic": (smooth[0], layer(rng, (0, 1), root)),
        "steps": (profile(rng, (0, 1), min(max(root, 1e-3), 0.1), 1), smooth[1]),
    }[kind]
    c, d = rng.normal(size=2)

    def exact(x: Any, y: Any) -> Any:
        return c * thin[0].value(x) * thin[1].value(y) + d * smooth[0].value(x) * smooth[1].value(y)

    def operator(u: Any, x: Any, y: Any) -> Any:
        if kind == "outflow":
            return -eps * laplacian(u) + a * u.dx
        if kind == "corner":
            return -eps * laplacian(u) + a * u.dx + b * u.dy
        if kind == "parabolic":
            return -eps * laplacian(u) + a * u.dx + 0.5 * u
        return -eps * laplacian(u) + (1 + 0.5 * np.sin(2 * x + y)) * u

    domain = sf.Box(*UNIT)
    free = ("bottom", "top") if kind in ("outflow", "parabolic") else ()
    free = domain.parts if kind in ("reaction", "steps") else free
    stated = Statement(
        domain, ("u",), made(operator, [exact]), conditions(rng, domain, exact, free)
    )
    traits = traits_of(thin[0], 0) + traits_of(thin[1], 1)
    words = f"layers {kind}, eps {eps:.0e}, {thin[0].words} | {thin[1].words}"
    return drawn(words, stated, traits, known([exact]), tolerance(rng))


def outflow_known(rng: Rng) -> Drawn:
    """Draw outflow layers whose source is smooth, so that the data say nothing of the layer."""
    eps, mode = log_uniform(rng, 1e-5, 1e-1), int(rng.integers(1, 4))
    axis = int(rng.integers(2))
    turn = sign(rng)
    k = (np.pi * mode) ** 2
    kind = pick(rng, "transport", "reaction", "robin")
    speed = 0.0 if kind == "reaction" else turn
    line = Statement(
        sf.Interval(0, 1),
        ("u",),
        lambda u, s: -eps * u.dxx + eps * k * u + speed * u.dx + (1 - abs(speed)) * u - 1,
        {
            "left": lambda u, s: u,
            "right": (lambda u, s: u.dn + u) if kind == "robin" else (lambda u, s: u),
        },
    )
    width = eps if speed else float(np.sqrt(eps))

    def truth() -> Truth:
        found = reference.steady(line, (2,), ((0.0, width), (1.0, width)))
        profile = found.values[0]

        def exact(x: Any, y: Any) -> Any:
            s, r = (x, y) if axis == 0 else (y, x)
            return profile(s) * np.sin(np.pi * mode * r)

        return Truth((exact,), found.error)

    def equation(u: Any, x: Any, y: Any) -> Any:
        flow, r = (u.dx, y) if axis == 0 else (u.dy, x)
        source = np.sin(np.pi * mode * r)
        return -eps * laplacian(u) + speed * flow + (1 - abs(speed)) * u - source

    parts: dict[str, Function] = {"boundary": lambda u, x, y: u}
    if kind == "robin":
        parts["right" if axis == 0 else "top"] = lambda u, x, y: u.dn + u
    stated = Statement(sf.Box(*UNIT), ("u",), equation, parts)
    traits = [along_axis(end, axis, width) for end in (0.0, 1.0)]
    words = f"smooth source, layer {kind} of {width:.0e} along axis {axis}, mode {mode}"
    return drawn(words, stated, traits, truth, tolerance(rng))


def fronts(rng: Rng) -> Drawn:
    """Draw fronts that are oblique, circular or wavy, and peaks, under variable coefficients."""
    kind = pick(rng, "oblique", "circle", "wavy", "peak", "two peaks", "ridge")
    width = log_uniform(rng, 3e-3, 0.2)
    centre = rng.uniform(0.2, 0.8, 2)
    angle, radius = rng.uniform(0, 2 * np.pi), rng.uniform(0.15, 0.5)
    second = rng.uniform(0.1, 0.9, 2)
    size = sign(rng) * rng.uniform(0.5, 2)
    across, along = np.cos(angle), np.sin(angle)
    shape: dict[str, Function] = {
        "oblique": lambda x, y: np.tanh(
            ((x - centre[0]) * across + (y - centre[1]) * along) / width
        ),
        "circle": lambda x, y: np.tanh(
            ((x - centre[0]) ** 2 + (y - centre[1]) ** 2 - radius**2) / (2 * radius * width)
        ),
        "wavy": lambda x, y: np.tanh((y - centre[1] - 0.1 * np.sin(6 * x)) / width),
        "peak": lambda x, y: np.exp(-((x - centre[0]) ** 2 + (y - centre[1]) ** 2) / width**2),
        "two peaks": lambda x, y: (
            np.exp(-((x - centre[0]) ** 2 + (y - centre[1]) ** 2) / width**2)
            + 0.5 / (1 + ((x - second[0]) ** 2 + (y - second[1]) ** 2) / (4 * width**2))
        ),
        "ridge": lambda x, y: np.exp(
            -((((x - centre[0]) * across + (y - centre[1]) * along) / width) ** 2)
        ),
    }
    traits = {
        "oblique": [straight(centre, angle, width)],
        "ridge": [straight(centre, angle, width)],
        "circle": [circular(centre, radius, width)],
        "wavy": [straight(centre, np.pi / 2, width / 2)],
        "peak": [circular(centre, 0.0, width)],
        "two peaks": [circular(centre, 0.0, width), circular(second, 0.0, 2 * width)],
    }[kind]
    rate = rng.uniform(0.5, 4, 2)

    def exact(x: Any, y: Any) -> Any:
        return size * shape[kind](x, y) + 0.5 * np.sin(rate[0] * x + rate[1] * y)

    eps = float(pick(rng, 1.0, width, width**2))
    flow = float(pick(rng, 0.0, 1.0))

    def operator(u: Any, x: Any, y: Any) -> Any:
        turned = np.cos(rate[0] * y) * u.dx + np.sin(rate[1] * x) * u.dy
        return -eps * (1 + 0.3 * x) * laplacian(u) + flow * turned + (1 + y) * u

    box = sf.Box(*UNIT)
    domain = pick(rng, box, box, box - sf.Disk((0.5, 0.5), 0.15), sf.Disk((0.5, 0.5), 0.5))
    stated = Statement(
        domain, ("u",), made(operator, [exact]), {"boundary": made(lambda u, x, y: u, [exact])}
    )
    words = f"{kind} of {width:.0e}, eps {eps:.0e}, flow {flow:.0f}, {type(domain).__name__}"
    tol = float(pick(rng, 1e-2, 1e-3, 1e-4))
    return drawn(words, stated, traits, known([exact]), tol)


def spots(rng: Rng) -> Drawn:
    """Draw sources that act on a small disk or in a narrow strip, written with np.where."""
    if rng.uniform() < 0.5:
        radius = log_uniform(rng, 1e-3, 0.3)
        centre = rng.uniform(0.05 + min(radius, 0.3), 0.95 - min(radius, 0.3), 2)
        strength = sign(rng) * float(pick(rng, 1.0, 1 / radius**2, 0.1 / radius**2))

        def exact(x: Any, y: Any) -> Any:
            square = (x - centre[0]) ** 2 + (y - centre[1]) ** 2
            outside = -strength * radius**2 / 4 * np.log(np.maximum(square, radius**2) / radius**2)
            return np.where(square < radius**2, strength * (radius**2 - square) / 4, outside)

        def equation(u: Any, x: Any, y: Any) -> Any:
            square = (x - centre[0]) ** 2 + (y - centre[1]) ** 2
            return -laplacian(u) - np.where(square < radius**2, strength, 0.0)

        def value(u: Any, x: Any, y: Any) -> Any:
            square = (x - centre[0]) ** 2 + (y - centre[1]) ** 2
            return u + strength * radius**2 / 4 * np.log(square / radius**2)

        stated = Statement(sf.Box(*UNIT), ("u",), equation, {"boundary": value})
        words = f"np.where disk of {radius:.0e}, strength {strength:.0e}"
        traits = [circular(centre, radius, radius), circular(centre, 0.0, radius)]
        return drawn(words, stated, traits, known([exact]), tolerance(rng))
    width, place = log_uniform(rng, 1e-5, 1e-1), rng.uniform(0.1, 0.9)
    height = sign(rng) * float(pick(rng, 1.0, 1 / width, 0.1 / width))
    eps, k = log_uniform(rng, 1e-4, 1), np.pi**2

    def strip(s: Any) -> Any:
        return np.where((s > place - width / 2) & (s < place + width / 2), height, 0.0)

    line = Statement(
        sf.Interval(0, 1),
        ("u",),
        lambda u, s: -eps * u.dxx + (eps * k + 1) * u - strip(s),
        {"boundary": lambda u, s: u},
    )
    edges = (place - width / 2, place + width / 2)
    features = tuple((e, min(width, eps**0.5)) for e in edges)

    def truth() -> Truth:
        found = reference.steady(line, (2,), features, edges)
        return Truth((lambda x, y: found.values[0](x) * np.sin(np.pi * y),), found.error)

    stated = Statement(
        sf.Box(*UNIT),
        ("u",),
        lambda u, x, y: -eps * laplacian(u) + u - strip(x) * np.sin(np.pi * y),
        {"boundary": lambda u, x, y: u},
    )
    words = f"np.where strip of {width:.0e} at {place:.2f}, height {height:.0e}, eps {eps:.0e}"
    return drawn(words, stated, [along_axis(e, 0, width) for e in edges], truth, tolerance(rng))


def corners(rng: Rng) -> Drawn:
    """Draw re-entrant corners with r^a sin(a theta), and data that jump at a point."""
    smooth = rng.uniform(0, 1)
    if rng.uniform() < 0.3:
        place = rng.uniform(0.2, 0.8)

        def exact(x: Any, y: Any) -> Any:
            return np.arctan2(y, x - place) / np.pi + smooth * (x * x - y * y)

        def limit(x: Any, y: Any) -> Any:
            # Where data jump there is no value; the limit along the normal stands for one.
            return exact(x, np.where((x == place) & (y == 0), 1e-300, y))

        def bottom(u: Any, x: Any, y: Any) -> Any:
            return u - np.where(x < place, 1.0, 0.0) - smooth * x * x

        domain: Any = sf.Box(*UNIT)
        stated = Statement(
            domain,
            ("u",),
            lambda u, x, y: -laplacian(u),
            {"boundary": made(lambda u, x, y: u, [exact]), "bottom": bottom},
        )
        words = f"data that jump at {place:.2f}"
        return drawn(
            words, stated, [circular((place, 0.0), 0.0, 1e-3)], known([limit]), tolerance(rng)
        )
    kind = pick(rng, "L", "wedge", "hexagon")
    opening = {"L": 1.5 * np.pi, "hexagon": 4 * np.pi / 3}.get(kind) or rng.uniform(
        1.1, 1.9
    ) * np.pi
    outline = [(0.0, 0.0)]
    if kind == "L":
        outline += [(1, 0), (1, 1), (-1, 1), (-1, -1), (0, -1)]
    else:
        turns = np.linspace(0, opening, 9)
        outline += [(float(np.cos(t)), float(np.sin(t))) for t in turns]
    domain = sf.Polygon(outline)
    order = int(pick(rng, 1, 1, 2, 3))
    power = order * np.pi / opening
    size = rng.uniform(0.2, 1)
    # The angle is measured from the middle of the corner, so that it does not jump inside.
    middle = opening / 2

    def exact(x: Any, y: Any) -> Any:
        across = x * np.cos(middle) + y * np.sin(middle)
        along = y * np.cos(middle) - x * np.sin(middle)
        angle = np.arctan2(along, across) + middle
        radius = (x * x + y * y) ** (power / 2)
        return size * radius * np.sin(power * angle) + smooth * np.exp(x) * np.sin(y)

    stated = Statement(
        domain,
        ("u",),
        lambda u, x, y: -laplacian(u),
        {"boundary": lambda u, x, y: u - exact(x, y)},
    )
    words = f"corner {kind} of {opening / np.pi:.2f} pi, r^{power:.2f}"
    return drawn(words, stated, [circular((0.0, 0.0), 0.0, 1e-3)], known([exact]), tolerance(rng))


def waves(rng: Rng) -> Drawn:
    """Draw Helmholtz problems, close to a resonance or on one, and slopes all around."""
    k = rng.uniform(2, 20)
    kind = pick(rng, "away", "near", "on", "slopes")
    modes = rng.integers(1, 4, 2)
    near = log_uniform(rng, 1e-6, 1e-2)
    if kind in ("near", "on"):
        k = float(np.pi * np.hypot(*modes) * (1 + (near if kind == "near" else 0.0)))
    a, b = rng.uniform(0.5, 6, 2)

    def exact(x: Any, y: Any) -> Any:
        return np.sin(a * x + b * y) + 0.3 * np.cos(b * x) * np.exp(-y)

    side: Function = lambda u, x, y: u  # noqa: E731
    square = k**2
    if kind == "slopes":
        side, square = (lambda u, x, y: u.dn), 0.0
    operator: Function = lambda u, x, y: laplacian(u) + square * u  # noqa: E731
    stated = Statement(
        sf.Box(*UNIT), ("u",), made(operator, [exact]), {"boundary": made(side, [exact])}
    )
    words = f"Helmholtz {kind}, k {k:.3f}, modes {modes}, by {near:.0e}"
    truth = None if kind in ("on", "slopes") else known([exact])
    return drawn(words, stated, [], truth, tolerance(rng))


def holes(rng: Rng) -> Drawn:
    """Draw shapes with holes of any size, with logarithms and dipoles in them."""
    radius = log_uniform(rng, 3e-3, 0.3)
    centre = rng.uniform(0.35, 0.65, 2)
    hole = sf.Disk(tuple(centre), radius).named("hole")
    outer = pick(rng, sf.Box(*UNIT), sf.Disk((0.5, 0.5), 0.7))
    domain = outer.named("outside") - hole
    kind = pick(rng, "log", "dipole", "smooth")
    a, b = rng.uniform(0.5, 4, 2)

    def exact(x: Any, y: Any) -> Any:
        square = (x - centre[0]) ** 2 + (y - centre[1]) ** 2
        extra = {
            "log": np.log(square / radius**2) / np.log(1 / radius),
            "dipole": (x - centre[0]) * radius / square,
            "smooth": 0.0,
        }[kind]
        return extra + np.sin(a * x) * np.cos(b * y)

    c = float(pick(rng, 0.0, 1.0, 20.0))
    operator: Function = lambda u, x, y: -laplacian(u) + c * (1 + x) * u + u.dx  # noqa: E731
    parts = conditions(rng, domain, exact, ("hole",))
    stated = Statement(domain, ("u",), made(operator, [exact]), parts)
    words = f"hole of {radius:.0e} in {type(outer).__name__}, {kind}, slopes {'hole' in parts}"
    traits = [circular(centre, radius, radius)]
    return drawn(words, stated, traits, known([exact]), tolerance(rng))


def shapes(rng: Rng) -> Drawn:
    """Draw disks, petals and polygons with layers along an axis, along the rim, or none."""
    kind = pick(rng, "disk", "petal", "polygon", "rim")
    a, b = rng.uniform(0.5, 8, 2)
    width = log_uniform(rng, 1e-3, 0.3)
    place = rng.uniform(-0.5, 0.5)
    petals = int(rng.integers(3, 7))
    domain: Any = {
        "disk": lambda: sf.Disk((0, 0), 1),
        "rim": lambda: sf.Disk((0, 0), 1),
        "petal": lambda: sf.Implicit(
            lambda x, y: np.hypot(x, y) - 0.7 - 0.2 * np.cos(petals * np.arctan2(y, x)),
            ((-1, 1), (-1, 1)),
        ),
        "polygon": lambda: sf.Polygon([(-1, -0.8), (0.9, -1), (1, 0.6), (0, 1), (-0.8, 0.7)]),
    }[kind]()
    size = rng.uniform(0.3, 1.5)

    def exact(x: Any, y: Any) -> Any:
        if kind == "rim":
            return np.exp((x * x + y * y - 1) / (2 * width)) * size + np.sin(x + y)
        return size * np.tanh((x - place) / width) + np.sin(a * x + 1) * np.cos(b * y)

    eps = float(pick(rng, width**2, width, 1.0))
    operator: Function = lambda u, x, y: -eps * laplacian(u) + (1 + x * x) * u  # noqa: E731
    parts = {"boundary": made(lambda u, x, y: u, [exact])}
    if kind == "disk" and rng.uniform() < 0.4:
        parts = {"boundary": made(lambda u, x, y: u.dn + u, [exact])}
    stated = Statement(domain, ("u",), made(operator, [exact]), parts)
    traits = [circular((0, 0), 1.0, width)] if kind == "rim" else [along_axis(place, 0, width)]
    words = f"{kind}, width {width:.0e}, eps {eps:.0e}"
    tol = float(pick(rng, 1e-2, 1e-3, 1e-5))
    return drawn(words, stated, traits, known([silent(exact)]), tol)


def nonlinear(rng: Rng) -> Drawn:
    """Draw nonlinear equations with one solution."""
    width = log_uniform(rng, 5e-3, 0.3)
    axis, place = int(rng.integers(2)), rng.uniform(0.2, 0.8)
    kind = pick(rng, "cubic", "exp", "burgers")

    def exact(x: Any, y: Any) -> Any:
        s, r = (x, y) if axis == 0 else (y, x)
        return np.tanh((s - place) / width) * np.cos(r) + 0.3 * np.sin(3 * r)

    def operator(u: Any, x: Any, y: Any) -> Any:
        return {
            "cubic": -(width**2) * laplacian(u) + u**3 + u,
            "exp": -(width**2) * laplacian(u) + np.exp(u),
            "burgers": -width * laplacian(u) + u * (u.dx + u.dy) + u,
        }[kind]

    stated = Statement(
        sf.Box(*UNIT),
        ("u",),
        made(operator, [exact]),
        {"boundary": made(lambda u, x, y: u, [exact])},
    )
    words = f"nonlinear {kind}, front of {width:.0e} along axis {axis}"
    tol = float(pick(rng, 1e-3, 1e-4, 1e-5))
    return drawn(words, stated, [along_axis(place, axis, width)], known([exact]), tol)


FAMILIES = (
    layers,
    outflow_known,
    fronts,
    spots,
    corners,
    waves,
    holes,
    shapes,
    nonlinear,
)
