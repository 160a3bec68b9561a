"""Hostile problems in time whose data depend on it: steps, pulses, swings and ramps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import sharpfront as sf
from hostile import reference
from hostile.drawn import (
    Drawn,
    Function,
    Rng,
    Statement,
    known,
    log_uniform,
    made,
    offsets,
    pick,
    sign,
    silent,
)

Track = tuple[Function, float]


def points_of(
    ends: tuple[float, float],
    span: tuple[float, float],
    tracks: Sequence[Track],
    moments: Sequence[float],
) -> tuple[np.ndarray, np.ndarray]:
    """Return places and times: even ones, close to the tracks of features and after switches."""
    length, while_ = ends[1] - ends[0], span[1] - span[0]
    times = [np.linspace(*span, 33)]
    times += [m + while_ * np.array([1e-4, 1e-3, 1e-2, 3e-2]) for m in (span[0], *moments)]
    t = np.unique(np.concatenate(times))
    t = t[(t >= span[0]) & (t <= span[1])]
    x = np.broadcast_to(np.linspace(*ends, 201), (len(t), 201))
    parts = [x] + [place(t)[:, None] + offsets(w, 0.3 * length, 20) for place, w in tracks]
    near = length * np.geomspace(1e-5, 1e-2, 12)
    parts.append(np.broadcast_to(np.concatenate([ends[0] + near, ends[1] - near]), (len(t), 24)))
    x = np.clip(np.concatenate(parts, axis=1), *ends)
    return x.ravel(), np.repeat(t, x.shape[1])


def drawn(
    words: str,
    stated: Statement,
    truth: Any,
    tol: float,
    tracks: Sequence[Track] = (),
    moments: Sequence[float] = (),
    rate: float = 1.0,
) -> Drawn:
    """Return a problem of the line in time, measured close to its features and switches.

    `rate` is how fast the solution changes, at most, for finite differences in time.
    """
    ends = (float(stated.domain.bounds[0][0]), float(stated.domain.bounds[1][0]))
    assert stated.time is not None
    span = stated.time[1] - stated.time[0]

    def scale(x: Any, t: Any) -> Any:
        result = np.full(np.shape(x), 0.1 * (ends[1] - ends[0]))
        for place, width in tracks:
            result = np.minimum(result, np.hypot(width, 0.3 * (x - place(t))))
        return result, np.minimum(0.1 * span, result / rate)

    points = points_of(ends, stated.time, tracks, moments)
    return Drawn(words, stated, truth, points, tol, scale)


def tolerance(rng: Rng) -> float:
    """Return what is asked for."""
    return float(pick(rng, 1e-3, 1e-4, 1e-5, 1e-6))


def switch(rng: Rng, span: float = 1.0) -> tuple[Function, list[float], Function, str]:
    """Return a positive function of time, when it switches, its integral from 0, and words."""
    kind = pick(rng, "step", "pulse", "swing", "ramp", "short pulse")
    first, second = rng.uniform(0.05, 0.9), log_uniform(rng, 1e-3, 0.1)
    at = first * span
    width = span * (log_uniform(rng, 1e-5, 1e-3) if kind == "short pulse" else second)
    low, high = rng.uniform(0.2, 1), rng.uniform(1, 10)
    if kind == "short pulse":
        high = 0.3 * span / width
    turns = rng.uniform(3, 40) / span
    if kind == "step":
        return (
            lambda t: np.where(t < at, low, high),
            [at],
            lambda t: low * np.minimum(t, at) + high * np.maximum(t - at, 0),
            f"step at {at:.3f}",
        )
    if kind in ("pulse", "short pulse"):
        return (
            lambda t: np.where((t > at) & (t < at + width), high, low),
            [at, at + width],
            lambda t: low * t + (high - low) * np.clip(t - at, 0, width),
            f"{kind} of {width:.0e} at {at:.3f}",
        )
    if kind == "swing":
        return (
            lambda t: low + 0.2 * (1 + np.sin(turns * t)),
            [],
            lambda t: low * t + 0.2 * (t + (1 - np.cos(turns * t)) / turns),
            f"swing {turns:.0f}",
        )
    return (
        lambda t: low + high * np.maximum(t - at, 0),
        [at],
        lambda t: low * t + high * np.maximum(t - at, 0) ** 2 / 2,
        f"ramp from {at:.3f}",
    )


def heat(rng: Rng) -> Drawn:
    """Draw heat with a diffusivity, a drift or a rate that switches; the answer is a series."""
    change, moments, integral, words = switch(rng)
    nu = log_uniform(rng, 1e-3, 0.2)
    modes = np.arange(1, int(rng.integers(2, 5)))
    sizes = rng.normal(size=len(modes))
    kind = pick(rng, "diffusion", "rate", "drift")
    if kind == "drift":
        turn = rng.uniform(-1, 1)
        k = 2 * np.pi * modes

        def exact(x: Any, t: Any) -> Any:
            s = x - turn * integral(t)
            return sum(
                c * np.exp(-nu * r**2 * t) * np.sin(r * s + c)
                for c, r in zip(sizes, k, strict=True)
            )

        domain = sf.Interval(0, 1, periodic=True)
        equation: Function = lambda u, x, t: u.dt + turn * change(t) * u.dx - nu * u.dxx  # noqa: E731
        parts: dict[str, Function] = {}
        start: Function = lambda x: sum(  # noqa: E731
            c * np.sin(r * x + c) for c, r in zip(sizes, k, strict=True)
        )
    else:
        k = np.pi * modes
        spread, fade = (
            (integral, lambda t: 0 * t) if kind == "diffusion" else (lambda t: t, integral)
        )

        def exact(x: Any, t: Any) -> Any:
            return sum(
                c * np.exp(-nu * r**2 * spread(t) - fade(t)) * np.sin(r * x)
                for c, r in zip(sizes, k, strict=True)
            )

        domain = sf.Interval(0, 1)
        equation = (
            (lambda u, x, t: u.dt - nu * change(t) * u.dxx)
            if kind == "diffusion"
            else (lambda u, x, t: u.dt - nu * u.dxx + change(t) * u)
        )
        parts = {"boundary": lambda u, x, t: u}
        start = lambda x: sum(c * np.sin(r * x) for c, r in zip(sizes, k, strict=True))  # noqa: E731
    stated = Statement(domain, ("u",), equation, parts, initial=(start,), time=(0.0, 1.0))
    text = f"heat, {kind} with {words}, nu {nu:.0e}"
    return drawn(text, stated, known([exact]), tolerance(rng), (), moments, 30)


def travelling(rng: Rng) -> Drawn:
    """Draw manufactured fronts and pulses that move with the data of an equation that switches."""
    change, moments, _, words = switch(rng)
    width = log_uniform(rng, 3e-3, 0.2)
    first, speed = rng.uniform(0.1, 0.5), rng.uniform(-0.3, 0.6)
    swing = float(pick(rng, 0.0, 0.1))
    shape = pick(rng, "tanh", "gauss", "sech")
    size = sign(rng) * rng.uniform(0.5, 2)

    def place(t: Any) -> Any:
        return first + speed * t + swing * np.sin(6 * t)

    def exact(x: Any, t: Any) -> Any:
        z = (x - place(t)) / width
        profile = {
            "tanh": np.tanh(z),
            "gauss": np.exp(-(z**2)),
            "sech": 2 * np.exp(-np.sqrt(z**2 + 0.25)),
        }[shape]
        return size * profile + 0.3 * np.sin(3 * x + t)

    nu = log_uniform(rng, max(1e-4, width**2), 0.1)
    kind = pick(rng, "transport", "burgers", "reaction", "cubic", "where in x", "where in x - vt")
    turn = rng.uniform(0.2, 1)

    def operator(u: Any, x: Any, t: Any) -> Any:
        base = u.dt - nu * u.dxx
        if kind == "transport":
            return base + change(t) * u.dx
        if kind == "burgers":
            return u.dt + u * u.dx - max(nu, width * abs(size)) * u.dxx
        if kind == "reaction":
            return base + change(t) * u
        if kind == "cubic":
            return base + change(t) * u**3
        edge = turn if kind == "where in x" else 0.2 + turn * t
        return base + np.where(x < edge, 1.0, 5.0) * u + turn * u.dx

    ends = pick(rng, "values", "values", "slopes")
    side: Function = (lambda u, x, t: u) if ends == "values" else (lambda u, x, t: u.dn + u)
    if kind in ("transport", "where in x", "where in x - vt", "burgers"):
        side = lambda u, x, t: u  # noqa: E731
    stated = Statement(
        sf.Interval(0, 1),
        ("u",),
        made(operator, [exact]),
        {"boundary": made(side, [exact])},
        initial=(lambda x: exact(x, 0.0),),
        time=(0.0, 1.0),
    )
    text = f"made {shape} of {width:.0e}, {kind}, {words}, nu {nu:.0e}"
    rate = abs(speed) + 6 * swing + 0.1
    return drawn(
        text, stated, known([silent(exact)]), tolerance(rng), [(place, width)], moments, rate
    )


def stimulus(rng: Rng) -> Drawn:
    """Draw sources that are narrow in x and t, fixed or moving, hard (np.where) or smooth."""
    place, at = rng.uniform(0.1, 0.9), rng.uniform(0.05, 0.8)
    wide, long = log_uniform(rng, 1e-3, 0.2), log_uniform(rng, 1e-4, 0.2)
    nu, k = log_uniform(rng, 1e-3, 0.1), float(pick(rng, 0.0, 1.0, 10.0))
    amount = float(pick(rng, 0.03, 0.3, 1.0))
    height = sign(rng) * amount / (wide * long)
    kind = pick(rng, "hard", "smooth in x", "whole line")
    low, high = max(place - wide / 2, 0.01), min(place + wide / 2, 0.99)

    def source(x: Any, t: Any) -> Any:
        now = np.where((t > at) & (t < at + long), 1.0, 0.0)
        if kind == "hard":
            return height * now * np.where((x > low) & (x < high), 1.0, 0.0)
        if kind == "smooth in x":
            return height * now * np.exp(-(((x - place) / wide) ** 2))
        return amount / long * now * np.sin(np.pi * x)

    start = pick(rng, lambda x: 0 * x, lambda x: np.sin(np.pi * x))
    stated = Statement(
        sf.Interval(0, 1),
        ("u",),
        lambda u, x, t: u.dt - nu * u.dxx + k * u - source(x, t),
        {"boundary": lambda u, x, t: u},
        initial=(start,),
        time=(0.0, 1.0),
    )
    moments = [at, min(at + long, 1.0)]
    breaks = (low, high) if kind == "hard" else ()
    thin = min(wide, float(np.sqrt(nu * min(long, 0.1))))
    features = [(b, thin) for b in breaks] or [(place, wide)]
    # Where the source does not vanish at an end, a layer grows there while it lasts.
    ends = [(end, 0.1 * thin) for end in (0.0, 1.0)]
    words = f"stimulus {kind}, {wide:.0e} x {long:.0e} at ({place:.2f}, {at:.2f}), nu {nu:.0e}"
    truth: Any = lambda: reference.marched(  # noqa: E731
        stated, (2,), [*features, *ends], moments, breaks
    )
    if kind == "whole line":
        rate = nu * np.pi**2 + k
        begun = float(start(np.array([0.5]))[0])

        def exact(x: Any, t: Any) -> Any:
            on, off = np.maximum(t - at, 0), np.maximum(t - at - long, 0)
            driven = amount / long * (np.exp(-rate * off) - np.exp(-rate * on)) / rate
            return (begun * np.exp(-rate * t) + driven) * np.sin(np.pi * x)

        truth = known([exact])
    tracks = [(lambda t, b=b: b + 0 * t, w) for b, w in features]
    return drawn(words, stated, truth, tolerance(rng), tracks, moments, 10)


def boundary_data(rng: Rng) -> Drawn:
    """Draw data at the ends that switch in time: values, slopes, exchange that is turned on."""
    change, moments, _, words = switch(rng)
    nu = log_uniform(rng, 3e-3, 0.3)
    kind = pick(rng, "value", "flux", "exchange")
    flow = float(pick(rng, 0.0, 0.5))
    side: Function = {
        "value": lambda u, x, t: u - change(t),
        "flux": lambda u, x, t: u.dn - change(t),
        "exchange": lambda u, x, t: u.dn + change(t) * (u - 1),
    }[kind]
    low = float(change(np.array([0.0]))[0]) if kind == "value" else 0.0
    stated = Statement(
        sf.Interval(0, 1),
        ("u",),
        lambda u, x, t: u.dt + flow * u.dx - nu * u.dxx,
        {"left": side, "right": lambda u, x, t: u},
        initial=(lambda x: low * (1 - x) + 0 * x,),
        time=(0.0, 1.0),
    )
    features = [(0.0, float(np.sqrt(nu * 1e-5))), (1.0, nu / max(flow, nu))]
    words = f"{kind} at the left end, {words}, nu {nu:.0e}, flow {flow:.1f}"
    return drawn(
        words,
        stated,
        lambda: reference.marched(stated, (2,), features, moments, first=1e-8),
        tolerance(rng),
        [(lambda t: 0 * t, 1e-2)],
        moments,
        10,
    )
