"""Hostile problems in time: data that switch, pulses, growth, ignition, fronts, waves."""

from __future__ import annotations

import itertools
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
    words = f"stimulus {kind}, {wide:.0e} x {long:.0e} at ({place:.2f}, {at:.2f}), nu {nu:.0e}"
    truth: Any = lambda: reference.marched(  # noqa: E731
        stated, (2,), features, moments, breaks
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
    thin = float(np.sqrt(nu * 1e-5))
    words = f"{kind} at the left end, {words}, nu {nu:.0e}, flow {flow:.1f}"
    return drawn(
        words,
        stated,
        lambda: reference.marched(stated, (2,), [(0.0, thin)], moments, first=1e-8),
        tolerance(rng),
        [(lambda t: 0 * t, 1e-2)],
        moments,
        10,
    )


def growth(rng: Rng) -> Drawn:
    """Draw growth from small starts by factors up to 1e9, linear and up to saturation."""
    small = log_uniform(rng, 1e-9, 1e-3)
    factor = log_uniform(rng, 1e3, 1e9)
    nu = log_uniform(rng, 1e-3, 0.1)
    kind = pick(rng, "linear", "logistic", "cubic", "late start")
    rate = np.log(factor) + nu * np.pi**2
    mode = 1
    if kind == "linear":

        def exact(x: Any, t: Any) -> Any:
            return small * np.exp((rate - nu * np.pi**2 * mode) * t) * np.sin(np.pi * x)

        equation: Function = lambda u, x, t: u.dt - nu * u.dxx - rate * u  # noqa: E731
        truth: Any = known([exact])
        moments: list[float] = []
    else:
        begin = rng.uniform(0.1, 0.5) if kind == "late start" else 0.0
        moments = [begin] if begin else []
        pace = rate / (1 - begin)

        def equation(u: Any, x: Any, t: Any) -> Any:
            now = np.where(t < begin, 0.0, pace) if begin else pace
            held = u * (1 - u) if kind != "cubic" else u - u**3
            return u.dt - nu * u.dxx - now * held

        truth = lambda: reference.marched(  # noqa: E731
            stated, (2,), [(0.0, 0.05), (1.0, 0.05)], moments, steps=40, first=1e-4
        )
    stated = Statement(
        sf.Interval(0, 1),
        ("u",),
        equation,
        {"boundary": lambda u, x, t: u},
        initial=(lambda x: small * np.sin(np.pi * x),),
        time=(0.0, 1.0),
    )
    words = f"growth {kind} from {small:.0e} by {factor:.0e}, nu {nu:.0e}"
    return drawn(words, stated, truth, tolerance(rng), (), moments, rate)


def ignition(rng: Rng) -> Drawn:
    """Draw reactions that start slowly and then run: bistable, Arrhenius, with a stimulus."""
    nu = log_uniform(rng, 1e-3, 1e-1)
    kind = pick(rng, "arrhenius", "bistable", "fisher", "stimulated")
    k = rng.uniform(5, 40)
    theta, at = rng.uniform(0.15, 0.35), rng.uniform(0.05, 0.4)
    size = rng.uniform(0.05, 1)

    def equation(u: Any, x: Any, t: Any) -> Any:
        base = u.dt - nu * u.dxx
        if kind == "arrhenius":
            return base - 0.05 * k * (1 - u) * np.exp(3 * u)
        if kind == "fisher":
            return base - k * u * (1 - u)
        jolt = np.where((t > at) & (t < at + 0.05), 20.0, 0.0) * np.exp(-(((x - 0.3) / 0.1) ** 2))
        return base - k * u * (1 - u) * (u - theta) - (jolt if kind == "stimulated" else 0.0)

    moments = [at, at + 0.05] if kind == "stimulated" else []
    width = float(np.sqrt(nu / k))
    start: Function = lambda x: size * np.exp(-(((x - 0.3) / 0.1) ** 2))  # noqa: E731
    if kind in ("arrhenius", "stimulated"):
        start = lambda x: 0.02 * (1 + np.cos(np.pi * x))  # noqa: E731
    stated = Statement(
        sf.Interval(0, 1),
        ("u",),
        equation,
        {"boundary": lambda u, x, t: u.dn},
        initial=(start,),
        time=(0.0, 1.0),
    )
    # The front may be anywhere, so that the reference is even and fine enough for its width.
    breaks = np.linspace(0, 1, max(8, int(np.ceil(0.35 / width))))[1:-1]
    words = f"ignition {kind}, nu {nu:.0e}, rate {k:.0f}, size {size:.2f}"
    return drawn(
        words,
        stated,
        lambda: reference.marched(stated, (2,), [], moments, breaks, steps=30, first=1e-4),
        tolerance(rng),
        (),
        moments,
        k,
    )


def burgers(rng: Rng) -> Drawn:
    """Draw shocks that form, run or merge: Cole and Hopf's solutions."""
    nu = log_uniform(rng, 2e-3, 0.1)
    kind = pick(rng, "running", "merging")
    states = np.sort(rng.uniform(-1, 1.5, 3))[::-1]
    if kind == "running":
        states = states[[0, 2]]
    places = rng.uniform(0.15, 0.4), rng.uniform(0.5, 0.8)
    # Sums of exponentials solve the heat equation; their logarithmic slope is u. Each pair of
    # neighbours meets at its place at time zero.
    shifts = np.cumsum([0.0, *(np.diff(states) * places[: len(states) - 1] / (-2 * nu))])

    def exact(x: Any, t: Any) -> Any:
        powers = [
            -c * x / (2 * nu) + c**2 * t / (4 * nu) - s for c, s in zip(states, shifts, strict=True)
        ]
        top = powers[0]
        for p in powers[1:]:
            top = np.maximum(top, p)
        weights = [np.exp(p - top) for p in powers]
        return sum(c * w for c, w in zip(states, weights, strict=True)) / sum(weights)

    stated = Statement(
        sf.Interval(0, 1),
        ("u",),
        lambda u, x, t: u.dt + u * u.dx - nu * u.dxx,
        {"boundary": lambda u, x, t: u - exact(x, t)},
        initial=(lambda x: exact(x, 0.0),),
        time=(0.0, float(pick(rng, 0.3, 1.0))),
    )
    gaps = [a - b for a, b in itertools.pairwise(states)]
    tracks = [
        (lambda t, p=p, c=(a + b) / 2: p + c * t, 4 * nu / max(g, 0.05))
        for p, a, b, g in zip(places, states[:-1], states[1:], gaps, strict=False)
    ]
    words = f"burgers {kind}, nu {nu:.0e}, states {np.round(states, 2)}"
    return drawn(words, stated, known([exact]), tolerance(rng), tracks, (), 2.0)


def waves(rng: Rng) -> Drawn:
    """Draw u_tt: strings with damping, Klein and Gordon, a driven end, manufactured pulses."""
    kind = pick(rng, "modes", "pulse", "switched")
    c = rng.uniform(0.5, 2)
    change, moments, _, words = switch(rng)
    if kind == "modes":
        modes = np.arange(1, 4)
        sizes = rng.normal(size=3)
        mass = rng.uniform(0, 10)

        def exact(x: Any, t: Any) -> Any:
            return sum(
                s * np.cos(np.sqrt((c * np.pi * m) ** 2 + mass) * t) * np.sin(np.pi * m * x)
                for s, m in zip(sizes, modes, strict=True)
            )

        stated = Statement(
            sf.Interval(0, 1),
            ("u",),
            lambda u, x, t: u.dtt - c**2 * u.dxx + mass * u,
            {"boundary": lambda u, x, t: u},
            initial=(lambda x: exact(x, 0.0), lambda x: 0 * x),
            time=(0.0, 1.0),
        )
        text = f"wave modes, speed {c:.1f}, mass {mass:.1f}"
        return drawn(text, stated, known([exact]), tolerance(rng), (), (), 10)
    width, first = log_uniform(rng, 0.01, 0.2), rng.uniform(0.2, 0.5)
    if kind == "pulse":

        def pulse(x: Any, t: Any) -> Any:
            return np.exp(-(((x - first - c * t / 4) / width) ** 2))

        def rate(x: Any) -> Any:
            z = (x - first) / width
            return 2 * z * (c / 4 / width) * np.exp(-(z**2))

        stated = Statement(
            sf.Interval(0, 1),
            ("u",),
            made(lambda u, x, t: u.dtt - c**2 / 4 * u.dxx + change(t) * u.dt, [pulse]),
            {"boundary": made(lambda u, x, t: u, [pulse])},
            initial=(lambda x: pulse(x, 0.0), rate),
            time=(0.0, 1.0),
        )
        tracks = [(lambda t: first + c * t / 4, width)]
        text = f"wave pulse of {width:.0e}, damping {words}"
        return drawn(text, stated, known([pulse]), tolerance(rng), tracks, moments, c)
    stated = Statement(
        sf.Interval(0, 1),
        ("u",),
        lambda u, x, t: u.dtt - c**2 * u.dxx + u.dt - change(t) * np.sin(np.pi * x),
        {"boundary": lambda u, x, t: u},
        initial=(lambda x: 0 * x, lambda x: 0 * x),
        time=(0.0, 1.0),
    )
    text = f"wave driven by {words}, speed {c:.1f}"
    truth = lambda: reference.marched(stated, (2,), [], moments, first=1e-3)  # noqa: E731
    return drawn(text, stated, truth, tolerance(rng), (), moments, 10)


def systems(rng: Rng) -> Drawn:
    """Draw pairs: exchange that switches, prey and predator, a front with a slow companion."""
    change, moments, integral, words = switch(rng)
    nu = log_uniform(rng, 1e-3, 0.1)
    kind = pick(rng, "exchange", "made")
    if kind == "exchange":
        # The sum obeys the heat equation; the difference fades with twice the exchange.
        a, b = rng.normal(size=2)

        def both(x: Any, t: Any, turn: float) -> Any:
            whole = a * np.exp(-nu * np.pi**2 * t) * np.cos(np.pi * x)
            apart = b * np.exp(-4 * nu * np.pi**2 * t - 2 * integral(t)) * np.cos(2 * np.pi * x)
            return (whole + turn * apart) / 2

        exact = [lambda x, t: both(x, t, 1.0), lambda x, t: both(x, t, -1.0)]
        equation: Function = lambda u, v, x, t: (  # noqa: E731
            u.dt - nu * u.dxx + change(t) * (u - v),
            v.dt - nu * v.dxx + change(t) * (v - u),
        )
        parts: dict[str, Function] = {"boundary": lambda u, v, x, t: (u.dn, v.dn)}
        tracks: list[Track] = []
    else:
        width, speed = log_uniform(rng, 5e-3, 0.2), rng.uniform(-0.3, 0.5)
        exact = [
            lambda x, t: np.tanh((x - 0.4 - speed * t) / width),
            lambda x, t: np.cos(3 * x) * np.exp(-t),
        ]
        operator: Function = lambda u, v, x, t: (  # noqa: E731
            u.dt - max(nu, width**2) * u.dxx + change(t) * u * v**2,
            v.dt - nu * v.dxx + 0.3 * v * u,
        )
        equation = made(operator, exact)
        parts = {"boundary": made(lambda u, v, x, t: (u, v), exact)}
        tracks = [(lambda t: 0.4 + speed * t, width)]
    stated = Statement(
        sf.Interval(0, 1),
        ("u", "v"),
        equation,
        parts,
        initial=tuple(lambda x, e=e: e(x, 0.0) for e in exact),
        time=(0.0, 1.0),
    )
    text = f"pair {kind}, {words}, nu {nu:.0e}"
    return drawn(text, stated, known(exact), tolerance(rng), tracks, moments, 2)


def in_plane(rng: Rng) -> Drawn:
    """Draw heat in a square with a diffusivity or a source that switches, and a pulse carried."""
    change, moments, integral, words = switch(rng)
    nu = log_uniform(rng, 3e-3, 0.1)
    kind = pick(rng, "diffusion", "source", "carried")
    k = 2 * np.pi**2 * nu
    size = rng.uniform(0.1, 0.2)
    centre = rng.uniform(0.3, 0.5, 2)

    def exact(x: Any, y: Any, t: Any) -> Any:
        if kind == "carried":
            away = (x - centre[0] - 0.2 * t) ** 2 + (y - centre[1]) ** 2
            return np.exp(-away / size**2)
        mode = np.sin(np.pi * x) * np.sin(np.pi * y)
        return mode * np.exp(-k * integral(t)) if kind == "diffusion" else mode * (1 + integral(t))

    carried = made(lambda u, x, y, t: u.dt + 0.2 * change(t) * u.dx - nu * (u.dxx + u.dyy), [exact])
    equation: Function = {
        "diffusion": lambda u, x, y, t: u.dt - nu * change(t) * (u.dxx + u.dyy),
        "source": lambda u, x, y, t: (
            u.dt
            - nu * (u.dxx + u.dyy)
            - (change(t) + k * (1 + integral(t))) * np.sin(np.pi * x) * np.sin(np.pi * y)
        ),
        "carried": carried,
    }[kind]
    stated = Statement(
        sf.Box((0, 1), (0, 1)),
        ("u",),
        equation,
        {"boundary": made(lambda u, x, y, t: u, [exact])},
        initial=(lambda x, y: exact(x, y, 0.0),),
        time=(0.0, 1.0),
    )
    s = np.linspace(0, 1, 21)
    times = np.unique(
        np.concatenate([np.linspace(0, 1, 11), [m + d for m in moments for d in (1e-3, 1e-2)]])
    )
    x, y, t = (a.ravel() for a in np.meshgrid(s, s, times[times <= 1], indexing="ij"))

    def scale(x: Any, y: Any, t: Any) -> Any:
        near = np.full(np.shape(x), size / 2)
        return near, 0.2 * near

    text = f"plane {kind}, {words}, nu {nu:.0e}"
    tol = float(pick(rng, 1e-2, 1e-3))
    return Drawn(text, stated, known([exact]), (x, y, t), tol, scale)


FAMILIES = (
    heat,
    travelling,
    stimulus,
    boundary_data,
    growth,
    ignition,
    burgers,
    waves,
    systems,
    heat,
    travelling,
    in_plane,
)
