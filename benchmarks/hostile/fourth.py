"""Hostile problems of fourth order: beams, plates on boxes and shapes, layers and corners."""

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
)
from hostile.line import drawn as on_line
from hostile.line import referenced, window
from hostile.line import tolerance as line_tolerance
from hostile.plane import UNIT, traits_of
from hostile.shapes1d import layer, profile, wave
from hostile.traits import along_axis, circular, tolerance
from hostile.traits import drawn as in_plane


def bilaplacian(u: Any) -> Any:
    """Return the Laplacian of the Laplacian."""
    return u.dxxxx + 2 * u.dxxyy + u.dyyyy


def beam_made(rng: Rng) -> Drawn:
    """Draw beams with layers and fronts under tension, on a bed, of varying stiffness."""
    ends = (0.0, 1.0)
    exact = profile(rng, ends, 1e-4, 2)
    w = min(width for _, width in exact.features)
    k = rng.uniform(0, 10)
    kind = pick(rng, "tension", "bed", "stiffness", "plain")
    operator: Function = {
        "tension": lambda u, x: w**2 * u.dxxxx - (1 + x) * u.dxx + k * u,
        "bed": lambda u, x: w**4 * u.dxxxx + (1 + k * x) * u,
        "stiffness": lambda u, x: w**4 * ((2 + np.sin(3 * x)) * u.dxx).dxx + u,
        "plain": lambda u, x: u.dxxxx,
    }[kind]
    if kind == "stiffness":
        # (s u'')'' by hand, so that it can be read of any stand-in.
        operator = lambda u, x: (  # noqa: E731
            w**4
            * (
                (2 + np.sin(3 * x)) * u.dxxxx
                + 6 * np.cos(3 * x) * u.dxxx
                - 9 * np.sin(3 * x) * u.dxx
            )
            + u
        )
    clamped: Function = lambda u, x: (u, w * u.dx)  # noqa: E731
    supported: Function = lambda u, x: (u, w**2 * u.dxx)  # noqa: E731
    loose: Function = lambda u, x: (w**2 * u.dxx, w**3 * u.dxxx)  # noqa: E731
    right = loose if kind in ("bed", "plain") and rng.uniform() < 0.3 else supported
    parts = {
        "left": made(clamped, [exact.value]),
        "right": made(pick(rng, clamped, right), [exact.value]),
    }
    stated = Statement(sf.Interval(*ends), ("u",), made(operator, [exact.value]), parts)
    words = f"beam {kind}, {exact.words}"
    return on_line(words, stated, exact.features, known([exact.value]), line_tolerance(rng), ends)


def beam_loaded(rng: Rng) -> Drawn:
    """Draw beams under loads that act on a short piece, with layers at the ends."""
    ends, place = (0.0, 1.0), rng.uniform(0.05, 0.95)
    width, eps = log_uniform(rng, 1e-6, 1e-1), log_uniform(rng, 1e-8, 1)
    place = min(max(place, width), 1 - width)
    height = sign(rng) * float(pick(rng, 1.0, 1 / width, 0.1 / width))
    load = window(place, width, height, 0.0)
    kind = pick(rng, "tension", "bed", "softened")
    soft = window(place, width, 0.1, 1.0)
    equation: Function = {
        "tension": lambda u, x: eps * u.dxxxx - u.dxx - load(x),
        "bed": lambda u, x: eps * u.dxxxx + u - load(x),
        "softened": lambda u, x: eps * u.dxxxx - soft(x) * u.dxx - np.cos(x),
    }[kind]
    parts: dict[str, Function] = {
        "left": lambda u, x: (u, u.dx),
        "right": pick(rng, lambda u, x: (u, u.dx), lambda u, x: (u, u.dxx)),
    }
    thin = eps**0.25 if kind == "bed" else eps**0.5
    breaks = (place - width / 2, place + width / 2)
    features = ((0.0, thin), (1.0, thin), *((b, min(width, thin)) for b in breaks))
    stated = Statement(sf.Interval(*ends), ("u",), equation, parts)
    words = f"beam {kind} with a window of {width:.0e} at {place:.3f}, eps {eps:.0e}"
    return referenced(rng, words, stated, features, (4,), breaks, ends)


def plate(rng: Rng) -> Drawn:
    """Draw manufactured plates on boxes and shapes, smooth ones and with a front or a peak."""
    kind = pick(rng, "box", "box", "disk", "petal", "L", "pierced")
    petals = int(rng.integers(3, 6))
    domain: Any = {
        "box": lambda: sf.Box(*UNIT),
        "disk": lambda: sf.Disk((0.5, 0.5), 0.5),
        "petal": lambda: sf.Implicit(
            lambda x, y: (
                np.hypot(x - 0.5, y - 0.5)
                - 0.38
                - 0.08 * np.cos(petals * np.arctan2(y - 0.5, x - 0.5))
            ),
            ((0, 1), (0, 1)),
        ),
        "L": lambda: sf.Polygon([(0, 0), (1, 0), (1, 0.5), (0.5, 0.5), (0.5, 1), (0, 1)]),
        "pierced": lambda: sf.Box(*UNIT) - sf.Disk((0.5, 0.5), 0.2),
    }[kind]()
    a, b = rng.uniform(1, 6, 2)
    size = float(pick(rng, 0.0, 1.0))
    width, centre = log_uniform(rng, 0.05, 0.5), rng.uniform(0.25, 0.75, 2)

    def exact(x: Any, y: Any) -> Any:
        peak = np.exp(-((x - centre[0]) ** 2 + (y - centre[1]) ** 2) / width**2)
        return np.sin(a * x) * np.cos(b * y) + size * peak

    c, d = float(pick(rng, 0.0, 1.0, 50.0)), float(pick(rng, 0.0, 1.0))
    operator: Function = lambda u, x, y: (  # noqa: E731
        bilaplacian(u) - c * (u.dxx + u.dyy) + d * (1 + x) * u
    )
    clamped = made(lambda u, x, y: (u, u.dn), [exact])
    supported = made(lambda u, x, y: (u, u.dxx + u.dyy), [exact])
    parts = {"boundary": clamped}
    if kind == "box" and rng.uniform() < 0.5:
        parts |= {"right": supported, "top": supported}
    stated = Statement(domain, ("u",), made(operator, [exact]), parts)
    words = f"plate {kind}, peak {size * width:.2f}, tension {c:.0f}"
    traits = [circular(centre, 0.0, width)] if size else []
    return in_plane(words, stated, traits, known([exact]), tolerance(rng))


def plate_layers(rng: Rng) -> Drawn:
    """Draw e^2 lap^2 u - lap u = f with layers of width e along one side or two."""
    e = log_uniform(rng, 1e-3, 0.2)
    axis = int(rng.integers(2))
    thin = layer(rng, (0, 1), e)
    smooth = [wave(rng, (0, 1)) for _ in range(2)]

    def exact(x: Any, y: Any) -> Any:
        s, r = (x, y) if axis == 0 else (y, x)
        return e * thin.value(s) * np.cos(r) + smooth[0].value(s) * smooth[1].value(r)

    operator: Function = lambda u, x, y: e**2 * bilaplacian(u) - u.dxx - u.dyy  # noqa: E731
    stated = Statement(
        sf.Box(*UNIT),
        ("u",),
        made(operator, [exact]),
        {"boundary": made(lambda u, x, y: (u, u.dn), [exact])},
    )
    words = f"plate with a made layer of {e:.0e} along axis {axis}"
    return in_plane(words, stated, traits_of(thin, axis), known([exact]), tolerance(rng))


def plate_strip(rng: Rng) -> Drawn:
    """Draw plates supported on two sides: a beam across times a sine, with layers or a window."""
    e, mode = log_uniform(rng, 1e-3, 1), int(rng.integers(1, 3))
    width, place = log_uniform(rng, 1e-4, 0.3), rng.uniform(0.2, 0.8)
    loaded = rng.uniform() < 0.5
    height = float(pick(rng, 1.0, 1 / width))
    k = (np.pi * mode) ** 2

    def load(s: Any) -> Any:
        if not loaded:
            return 1.0 + 0 * s
        return np.where((s > place - width / 2) & (s < place + width / 2), height, 0.0)

    line = Statement(
        sf.Interval(0, 1),
        ("u",),
        lambda u, x: e**2 * (u.dxxxx - 2 * k * u.dxx + k**2 * u) - u.dxx + k * u - load(x),
        {"boundary": lambda u, x: (u, u.dx)},
    )
    breaks = (place - width / 2, place + width / 2) if loaded else ()
    features = [(0.0, e), (1.0, e), *((b, min(width, e)) for b in breaks)]

    def truth() -> Truth:
        found = reference.steady(line, (4,), features, breaks)
        profile = found.values[0]
        return Truth((lambda x, y: profile(x) * np.sin(np.pi * mode * y),), found.error)

    stated = Statement(
        sf.Box(*UNIT),
        ("u",),
        lambda u, x, y: e**2 * bilaplacian(u) - u.dxx - u.dyy - load(x) * np.sin(np.pi * mode * y),
        {
            "left": lambda u, x, y: (u, u.dn),
            "right": lambda u, x, y: (u, u.dn),
            "bottom": lambda u, x, y: (u, u.dyy),
            "top": lambda u, x, y: (u, u.dyy),
        },
    )
    words = f"plate, e {e:.0e}, " + (f"strip of {width:.0e} at {place:.2f}" if loaded else "even")
    traits = [along_axis(p, 0, w) for p, w in features]
    return in_plane(words, stated, traits, truth, tolerance(rng))


def plate_corner(rng: Rng) -> Drawn:
    """Draw r^a corner functions of the biharmonic equation on an L, a = 1.544 and others."""
    power = float(pick(rng, 1.5444837, 1.5444837, 1.9085292, 2.5))
    a = rng.uniform(-1, 1, 4)
    smooth = rng.uniform(0, 1)

    def exact(x: Any, y: Any) -> Any:
        angle = np.arctan2(-x - y, y - x) + 0.75 * np.pi
        turned = a[0] * np.cos(power * angle) + a[1] * np.sin(power * angle)
        turned = turned + a[2] * np.cos((power - 2) * angle) + a[3] * np.sin((power - 2) * angle)
        return (x * x + y * y) ** (power / 2) * turned + smooth * (x**3 - 3 * x * y**2 + x * x)

    domain = sf.Polygon([(0, 0), (1, 0), (1, 1), (-1, 1), (-1, -1), (0, -1)])
    stated = Statement(
        domain,
        ("u",),
        lambda u, x, y: bilaplacian(u),
        {"boundary": made(lambda u, x, y: (u, u.dn), [exact])},
    )
    words = f"plate on an L, r^{power:.3f}"
    traits = [circular((0.0, 0.0), 0.0, 1e-3)]
    return in_plane(words, stated, traits, known([exact]), tolerance(rng))


FAMILIES = (beam_made, beam_loaded, plate, plate_layers, plate_strip, beam_loaded, plate_corner)
