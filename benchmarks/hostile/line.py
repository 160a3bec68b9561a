"""Hostile problems on an interval, orders one to six."""

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
    Truth,
    graded,
    known,
    line_scale,
    log_uniform,
    made,
    pick,
    sign,
    silent,
)
from hostile.shapes1d import NARROWEST_SPIKE, Ends, Profile, ends_of, profile, summed, wave
from hostile.spectral import Mesh, edges_of

# Nobody can see what happens between the points at which a function is called: one that cannot be
# read has no window below this, and smooth spikes are not below NARROWEST_SPIKE of the interval.
OPAQUE = 1e-3
Features = tuple[tuple[float, float], ...]


def drawn(
    words: str, stated: Statement, features: Features, truth: Any, tol: float, ends: Ends
) -> Drawn:
    """Return a problem with points graded into its features."""
    scale = line_scale(ends[1] - ends[0], features)
    return Drawn(words, stated, truth, (graded(ends, features),), tol, scale)


def referenced(
    rng: Rng,
    words: str,
    stated: Statement,
    features: Features,
    orders: tuple[int, ...],
    breaks: Sequence[float] = (),
    ends: Ends = (0.0, 1.0),
) -> Drawn:
    """Return a problem whose truth is a reference that is told where its features are."""

    def truth() -> Truth:
        return reference.steady(stated, orders, features, breaks)

    return drawn(words, stated, features, truth, tolerance(rng), ends)


def tolerance(rng: Rng) -> float:
    """Return what is asked for."""
    return float(pick(rng, 1e-8, 1e-8, 1e-6, 1e-4))


def ends_conditions(rng: Rng, exact: Profile, kinds: tuple[str, ...]) -> dict[str, Function]:
    """Return a condition of second-order equations at each end."""
    found: dict[str, Function] = {}
    for part in ("left", "right"):
        beta = rng.uniform(0.3, 3)
        operator = {
            "value": lambda u, x: u,
            "slope": lambda u, x: u.dn,
            "robin": lambda u, x, b=beta: u.dn + b * u,
        }[pick(rng, *kinds)]
        found[part] = made(operator, [exact.value])
    return found


def second_order(rng: Rng) -> Drawn:
    """Draw layers and fronts under transport, reaction or a turning point; values and slopes."""
    ends = ends_of(rng)
    low, length = ends[0], ends[1] - ends[0]
    exact = profile(rng, ends)
    w = min(width for _, width in exact.features)
    rate = rng.uniform(0.5, 4) / length
    kind = pick(rng, "reaction", "transport", "against", "turning", "poisson", "both")
    middle = low + length * rng.uniform(0.2, 0.8)
    equations: dict[str, Function] = {
        "reaction": lambda u, x: -(w**2) * u.dxx + (1.5 + np.sin(rate * x)) * u,
        "transport": lambda u, x: -w * u.dxx + (1.5 + np.cos(rate * x)) * u.dx,
        "against": lambda u, x: -w * u.dxx - u.dx + 0.3 / length * u,
        "turning": lambda u, x: -(w**2) * u.dxx - (x - middle) * u.dx + 0.5 * u,
        "poisson": lambda u, x: -(length**2) * u.dxx,
        "both": lambda u, x: (
            -w * length * u.dxx + length * np.exp(rate * (x - low)) * u.dx + (1 + x**2) * u
        ),
    }
    conditions = ends_conditions(rng, exact, ("value", "value", "value", "robin", "slope"))
    if kind in ("poisson", "transport", "against"):
        conditions["left"] = made(lambda u, x: u, [exact.value])
        conditions["right"] = made(lambda u, x: u, [exact.value])
    stated = Statement(sf.Interval(*ends), ("u",), made(equations[kind], [exact.value]), conditions)
    words = f"second order, {kind}, {exact.words}"
    return drawn(words, stated, exact.features, known([exact.value]), tolerance(rng), ends)


def other_orders(rng: Rng) -> Drawn:
    """Draw equations of order one, three, four, five and six."""
    ends = ends_of(rng)
    n = ends[1] - ends[0]
    order = int(pick(rng, 1, 1, 3, 3, 4, 4, 5, 6))
    exact = profile(rng, ends, {1: 1e-5, 3: 1e-3, 4: 1e-4, 5: 0.03, 6: 0.03}[order], 2)
    w = min(width for _, width in exact.features) / n
    k = rng.uniform(0, 5)
    equations: dict[int, Function] = {
        1: lambda u, x: n * w * u.dx + (1.2 + np.cos(k * x / n)) * u,
        3: lambda u, x: w * n**3 * u.dxxx - n**2 * u.dxx - n * k * u.dx,
        4: lambda u, x: w**2 * n**4 * u.dxxxx - n**2 * u.dxx + k * u,
        5: lambda u, x: n**5 * u.d("x", 5) + k * n * u.dx,
        6: lambda u, x: -(n**6) * u.d("x", 6) + k * u,
    }
    sides: dict[int, tuple[Function, Function | None]] = {
        1: (lambda u, x: u, None),
        3: (lambda u, x: u, lambda u, x: (u, n * u.dx)),
        4: (lambda u, x: (u, n * u.dx), lambda u, x: (u, n**2 * u.dxx)),
        5: (lambda u, x: (u, n * u.dx, n**2 * u.dxx), lambda u, x: (u, n * u.dx)),
        6: (
            lambda u, x: (u, n * u.dx, n**2 * u.dxx),
            lambda u, x: (u, n * u.dx, n**2 * u.dxx),
        ),
    }
    parts = {
        name: made(f, [exact.value])
        for name, f in zip(("left", "right"), sides[order], strict=True)
        if f is not None
    }
    stated = Statement(sf.Interval(*ends), ("u",), made(equations[order], [exact.value]), parts)
    words = f"order {order}, {exact.words}"
    return drawn(words, stated, exact.features, known([exact.value]), tolerance(rng), ends)


def window(place: float, width: float, inside: Any, outside: Any) -> Function:
    """Return a function of x that has another value in a narrow window, written with np.where."""
    return lambda x: np.where((x > place - width / 2) & (x < place + width / 2), inside, outside)


def switched(rng: Rng) -> Drawn:
    """Draw sources and coefficients that jump: steps, and windows of widths 1e-1 to 1e-7."""
    ends = (0.0, 1.0)
    place, width = rng.uniform(0.05, 0.95), log_uniform(rng, 1e-7, 1e-1)
    place = min(max(place, width), 1 - width)
    breaks = (place - width / 2, place + width / 2)
    eps = log_uniform(rng, 1e-6, 1)
    # The answer to a window is felt: its integral is of order one, or its height is.
    height = sign(rng) * float(pick(rng, 1.0, 10.0, 1 / width, 0.1 / width))
    kind = pick(rng, "source", "source", "source", "reaction", "transport", "beam", "first")
    source = window(place, width, height, rng.uniform(0, 1))
    if rng.uniform() < 0.3 and width > OPAQUE:
        source = sf.function(source)
        kind += " opaque"
    deep = log_uniform(rng, 10, 1e4)
    hole = window(place, width, deep, 1.0)
    turn = float(pick(rng, 1.0, -1.0))
    drift = window(place, width, rng.uniform(0.2, 5), 1.0)
    equations: dict[str, Function] = {
        "source": lambda u, x: -eps * u.dxx + u - source(x),
        "reaction": lambda u, x: -eps * u.dxx + hole(x) * u - np.cos(3 * x),
        "transport": lambda u, x: -eps * u.dxx + turn * drift(x) * u.dx - source(x),
        "beam": lambda u, x: eps * u.dxxxx - u.dxx - source(x),
        "first": lambda u, x: u.dx + hole(x) * u - source(x),
    }
    word = kind.split()[0]
    order = {"beam": 4, "first": 1}.get(word, 2)
    parts: dict[str, Function] = {"boundary": lambda u, x: u}
    if order == 4:
        parts = {"boundary": lambda u, x: (u, u.dx)}
    if order == 1:
        parts = {"left": lambda u, x: u - 1}
    if order == 2 and word == "source" and rng.uniform() < 0.4:
        parts = {"left": lambda u, x: u.dn, "right": lambda u, x: u.dn + u - 1}
    thin = eps if word == "transport" else float(np.sqrt(eps))
    inner = min(thin, float(np.sqrt(eps / deep))) if word == "reaction" else thin
    inner = min(inner, 1 / deep) if word == "first" else inner
    features = ((0.0, thin), (1.0, thin), *((b, min(width, inner)) for b in breaks))
    stated = Statement(sf.Interval(*ends), ("u",), equations[word], parts)
    words = f"np.where {kind} of {width:.0e} at {place:.3f}, height {height:.0e}, eps {eps:.0e}"
    return referenced(rng, words, stated, features, (order,), breaks, ends)


def spiked(rng: Rng) -> Drawn:
    """Draw smooth spikes of the source or a coefficient, alone or on a busy background."""
    ends = (0.0, 1.0)
    place, width = rng.uniform(0.02, 0.98), log_uniform(rng, NARROWEST_SPIKE, 1e-1)
    eps = log_uniform(rng, 1e-5, 1)
    height = sign(rng) * float(pick(rng, 1.0, 1 / width, 0.1 / width))
    busy = float(pick(rng, 0.0, 0.0, 5.0, 40.0))
    shape = pick(rng, "gauss", "lorentz", "sech")

    def spike(x: Any) -> Any:
        z = (x - place) / width
        if shape == "lorentz":
            return height / (1 + z**2)
        return height * (np.exp(-(z**2)) if shape == "gauss" else 2 / (np.exp(z) + np.exp(-z)))

    spike = silent(spike)
    inside = pick(rng, "source", "source", "reaction")
    equation: Function = lambda u, x: -eps * u.dxx + u - spike(x) - np.sin(busy * x)  # noqa: E731
    if inside == "reaction":
        size = abs(height)
        equation = lambda u, x: (  # noqa: E731
            -eps * u.dxx + (1 + size / height * spike(x)) * u - np.cos(busy * x)
        )
    thin = float(np.sqrt(eps))
    near = min(width, float(np.sqrt(eps / (1 + abs(height)))))
    features = ((0.0, thin), (1.0, thin), (place, near), (place, width))
    parts = {"left": lambda u, x: u - 1, "right": lambda u, x: u.dn}
    stated = Statement(sf.Interval(*ends), ("u",), equation, parts)
    words = f"spike {shape} in the {inside} of {width:.0e} at {place:.3f}, height {height:.0e}"
    return referenced(rng, words, stated, features, (2,), np.linspace(0, 1, 12)[1:-1], ends)


def oscillating(rng: Rng) -> Drawn:
    """Draw Helmholtz problems close to a resonance, or on one: then no answer is right."""
    mode = int(rng.integers(1, 40))
    near = float(pick(rng, 0.0, log_uniform(rng, 1e-9, 1e-1), log_uniform(rng, 1e-4, 1e-1)))
    kind = pick(rng, "values", "slopes", "mixed")
    k = np.pi * (mode - 0.5 if kind == "mixed" else mode) * (1 + near)
    exact = summed([wave(rng, (0, 1)), profile(rng, (0, 1), 1e-3, 1)])
    # On a resonance the data of an exact solution are those of infinitely many; of others, none.
    shift = float(pick(rng, 0.0, 1.0)) if near == 0 else 0.0
    vary = float(pick(rng, 0.0, 0.3)) if near else 0.0

    def operator(u: Any, x: Any) -> Any:
        return u.dxx / k + k * (1 + vary * np.cos(x)) * u

    sides = {
        "values": (lambda u, x: u, lambda u, x: u),
        "slopes": (lambda u, x: u.dn, lambda u, x: u.dn),
        "mixed": (lambda u, x: u, lambda u, x: u.dn),
    }[kind]
    parts = {name: made(f, [exact.value]) for name, f in zip(("left", "right"), sides, strict=True)}
    residual = made(operator, [exact.value])
    stated = Statement(sf.Interval(0, 1), ("u",), lambda u, x: residual(u, x) - shift, parts)
    words = f"resonance {kind}, mode {mode}, away by {near:.0e}, {exact.words}"
    truth = known([exact.value]) if near else None
    return drawn(words, stated, exact.features, truth, tolerance(rng), (0.0, 1.0))


def unusual(rng: Rng) -> Drawn:
    """Draw periodic problems, integral conditions and conditions inside."""
    ends = ends_of(rng)
    low, length = ends[0], ends[1] - ends[0]
    kind = pick(rng, "periodic", "integral", "inside", "initial")
    if kind == "periodic":
        turns, sharp = 2 * np.pi / length * int(rng.integers(1, 4)), log_uniform(rng, 1, 200)
        place = rng.uniform(0, 6)
        width = 1 / (turns * np.sqrt(sharp))

        def bump(x: Any) -> Any:
            return np.exp(sharp * (np.cos(turns * (x - low) - place) - 1)) + np.sin(turns * x)

        count = int(np.rint(turns * length / (2 * np.pi)))
        places = low + (place / turns + length / count * np.arange(count)) % length
        exact = Profile(bump, tuple((float(p), width) for p in places), f"bumps {width:.0e}")
        k = rng.uniform(0.5, 30)
        equation: Function = pick(
            rng,
            lambda u, x: -(width**2) * u.dxx + (1.5 + np.sin(turns * x)) * u,
            lambda u, x: -(length**2) * u.dxx + k * length * u.dx + u,
            lambda u, x: width * u.dx + (1.2 + np.cos(turns * x)) * u,
        )
        stated = Statement(sf.Interval(*ends, periodic=True), ("u",), made(equation, [exact.value]))
        words = f"periodic, {exact.words}"
        return drawn(words, stated, exact.features, known([exact.value]), tolerance(rng), ends)
    exact = profile(rng, ends, 1e-4, 2)
    w = min(width for _, width in exact.features)
    operator: Function = lambda u, x: -(w**2) * u.dxx + u  # noqa: E731
    parts: dict[str, Function] = {"left": made(lambda u, x: u, [exact.value])}
    options: dict[str, Any] = {}
    if kind == "integral":
        x, weights = Mesh(edges_of(ends, exact.features, ()), 24).integral()
        options["integrals"] = (
            (lambda u, x: u / length, float(weights @ exact.value(x)) / length),
        )
    if kind == "inside":
        operator = lambda u, x: length**2 * u.dxx + u  # noqa: E731
        place = low + length * rng.uniform(0.3, 0.9)
        options["inside"] = ((place, made(lambda u, x: u, [exact.value])),)
    if kind == "initial":
        operator = lambda u, x: length**2 * u.dxx + 2 * length * u.dx + 20 * u  # noqa: E731
        parts = {"left": made(lambda u, x: (u, length * u.dx), [exact.value])}
    stated = Statement(sf.Interval(*ends), ("u",), made(operator, [exact.value]), parts, **options)
    words = f"{kind}, {exact.words}"
    return drawn(words, stated, exact.features, known([exact.value]), tolerance(rng), ends)


def nonlinear(rng: Rng) -> Drawn:
    """Draw nonlinear equations with one solution, and nonlinear conditions."""
    ends = (0.0, 1.0)
    exact = profile(rng, ends, 1e-4, 2)
    w = min(width for _, width in exact.features)
    k = rng.uniform(0.3, 3)
    kind = pick(rng, "cubic", "burgers", "exp", "friction", "beam")
    operator: Function = {
        "cubic": lambda u, x: -(w**2) * u.dxx + k * u**3 + u,
        "burgers": lambda u, x: -w * u.dxx + u * u.dx + k * u,
        "exp": lambda u, x: -(w**2) * u.dxx + np.exp(u),
        "friction": lambda u, x: -(w**2) * u.dxx + u + k * u * u**2 * (1 + x),
        "beam": lambda u, x: w**2 * u.dxxxx - u.dxx + k * u**3,
    }[kind]
    condition: Function = lambda u, x: u  # noqa: E731
    if kind == "beam":
        condition = lambda u, x: (u, u.dx)  # noqa: E731
    elif kind != "burgers" and rng.uniform() < 0.5:
        condition = pick(rng, lambda u, x: w * u.dn + u**3 + u, lambda u, x: w * u.dn + np.exp(u))
        kind += " with nonlinear conditions"
    stated = Statement(
        sf.Interval(*ends),
        ("u",),
        made(operator, [exact.value]),
        {"boundary": made(condition, [exact.value])},
    )
    words = f"nonlinear {kind}, {exact.words}"
    return drawn(words, stated, exact.features, known([exact.value]), tolerance(rng), ends)


def turning(rng: Rng) -> Drawn:
    """Draw turning points, interior layers and coefficients that nearly vanish or blow up."""
    ends = (-1.0, 1.0)
    eps, place = log_uniform(rng, 1e-6, 1e-1), rng.uniform(-0.7, 0.7)
    near = log_uniform(rng, 1e-4, 0.3)
    kind = pick(rng, "inner layer", "cubic", "airy", "repelling", "small coefficient", "pole")
    equation: Function = {
        "inner layer": lambda u, x: -eps * u.dxx - (x - place) * u.dx - 0 * u + 0.2 * u,
        "cubic": lambda u, x: -eps * u.dxx - (x - place) ** 3 * u.dx + u - np.sin(x),
        "airy": lambda u, x: -eps * u.dxx + np.abs(x - place) * u - np.cos(2 * x),
        "repelling": lambda u, x: -eps * u.dxx + (x - place) * u.dx + u - x**2,
        "small coefficient": lambda u, x: (
            -(eps + near**2 + (x - place) ** 2) * u.dxx + 0.5 * u - np.exp(x)
        ),
        "pole": lambda u, x: -u.dxx + u / ((x - place) ** 2 + near**2) - 1,
    }[kind]
    width = {
        "airy": eps ** (1 / 3),
        "cubic": eps**0.25,
        "pole": near,
        "small coefficient": float(np.sqrt(eps + near**2)),
    }.get(kind, float(np.sqrt(eps)))
    a, b = rng.normal(size=2)
    parts: dict[str, Function] = {"left": lambda u, x: u - a, "right": lambda u, x: u - b}
    features = ((-1.0, eps), (1.0, eps), (-1.0, eps**0.5), (1.0, eps**0.5), (place, width))
    breaks = (place,) if kind == "airy" else ()
    stated = Statement(sf.Interval(*ends), ("u",), equation, parts)
    words = f"{kind} at {place:.3f}, eps {eps:.0e}, near {near:.0e}"
    return referenced(rng, words, stated, features, (2,), breaks, ends)


FAMILIES = (
    second_order,
    other_orders,
    switched,
    switched,
    spiked,
    oscillating,
    unusual,
    nonlinear,
    turning,
)
