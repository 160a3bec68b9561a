"""Hostile problems in time: data that switch, pulses, growth, ignition, fronts, waves."""

from __future__ import annotations

import itertools
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
    pick,
)
from hostile.switching import (
    Track,
    boundary_data,
    drawn,
    heat,
    stimulus,
    switch,
    tolerance,
    travelling,
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
