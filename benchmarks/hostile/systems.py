"""Hostile systems: layers of different widths, elasticity, flows, corners, resonances."""

from __future__ import annotations

from typing import Any

import numpy as np

import sharpfront as sf
from hostile.drawn import (
    Drawn,
    Function,
    Rng,
    Statement,
    known,
    log_uniform,
    made,
    pick,
    sign,
)
from hostile.line import drawn as on_line
from hostile.line import referenced
from hostile.line import tolerance as line_tolerance
from hostile.plane import UNIT, laplacian, traits_of
from hostile.shapes1d import layer, profile, summed, wave
from hostile.traits import along_axis, circular, tolerance
from hostile.traits import drawn as in_plane


def pair_on_line(rng: Rng) -> Drawn:
    """Draw reaction and diffusion of two unknowns with layers of different widths."""
    e1, e2 = log_uniform(rng, 1e-8, 1e-1), log_uniform(rng, 1e-4, 1)
    c, d = rng.uniform(-0.4, 0.4, 2)
    kind = pick(rng, "plain", "np.where", "transport", "nonlinear")
    place = rng.uniform(0.1, 0.9)
    width = log_uniform(rng, 1e-5, 1e-1)

    def equation(u: Any, v: Any, x: Any) -> Any:
        one = -e1 * u.dxx + u + c * v - np.cos(2 * x)
        two = -e2 * v.dxx + v + d * u - 1
        if kind == "np.where":
            two = two - np.where((x > place) & (x < place + width), 0.1 / width, 0.0)
        if kind == "transport":
            two = two + v.dx
        if kind == "nonlinear":
            # Weak enough to leave one solution.
            one, two = one + 0.3 * u * v**2, two + 0.3 * v * u**2
        return one, two

    parts: dict[str, Function] = {
        "left": lambda u, v, x: (u, v),
        "right": pick(rng, lambda u, v, x: (u - 1, v.dn), lambda u, v, x: (u, v + 1)),
    }
    stated = Statement(sf.Interval(0, 1), ("u", "v"), equation, parts)
    breaks = (place, min(place + width, 1.0)) if kind == "np.where" else ()
    features = [(end, w) for end in (0.0, 1.0) for w in (e1**0.5, e2**0.5, min(e2, 1.0))]
    features += [(b, min(width, e1**0.5, e2**0.5)) for b in breaks]
    words = f"pair on the line, {kind}, e1 {e1:.0e}, e2 {e2:.0e}, window {width:.0e}"
    return referenced(rng, words, stated, tuple(features), (2, 2), breaks)


def made_on_line(rng: Rng) -> Drawn:
    """Draw manufactured pairs: fronts of different places and widths, orders two and four."""
    first, second = profile(rng, (0, 1), 1e-4, 2), profile(rng, (0, 1), 1e-3, 2)
    w1 = min(w for _, w in first.features)
    w2 = min(w for _, w in second.features)
    k = rng.uniform(-0.5, 0.5)
    exact = [first.value, second.value]
    kind = pick(rng, "second", "fourth", "mixed")
    operator: Function = {
        "second": lambda u, v, x: (
            -(w1**2) * u.dxx + u + k * v,
            -(w2**2) * v.dxx + v + k * x * u,
        ),
        "fourth": lambda u, v, x: (
            w1**2 * u.dxxxx - u.dxx + k * v,
            -(w2**2) * v.dxx + v + k * u,
        ),
        "mixed": lambda u, v, x: (w1 * u.dx + u + k * v, -(w2**2) * v.dxx + v + k * u),
    }[kind]
    sides: dict[str, dict[str, Function]] = {
        "second": {"boundary": lambda u, v, x: (u, v)},
        "fourth": {"boundary": lambda u, v, x: (u, u.dx, v)},
        "mixed": {"left": lambda u, v, x: (u, v), "right": lambda u, v, x: v},
    }
    parts = {name: made(f, exact) for name, f in sides[kind].items()}
    stated = Statement(sf.Interval(0, 1), ("u", "v"), made(operator, exact), parts)
    words = f"made pair on the line, {kind}, {first.words} | {second.words}"
    features = first.features + second.features
    return on_line(words, stated, features, known(exact), line_tolerance(rng), (0.0, 1.0))


def pair_in_plane(rng: Rng) -> Drawn:
    """Draw two unknowns in the plane with layers of different widths along different sides."""
    e1, e2 = log_uniform(rng, 1e-6, 1e-1), log_uniform(rng, 1e-4, 1)
    axes = rng.integers(2, size=2)
    w = (e1**0.5, e2**0.5)
    thin = [layer(rng, (0, 1), w[i]) for i in range(2)]
    smooth = [wave(rng, (0, 1)) for _ in range(4)]
    k = rng.uniform(-0.4, 0.4)

    def one(i: int) -> Function:
        def exact(x: Any, y: Any) -> Any:
            s, r = (x, y) if axes[i] == 0 else (y, x)
            return thin[i].value(s) * np.cos(r) + smooth[2 * i].value(s) * smooth[2 * i + 1].value(
                r
            )

        return exact

    exact = [one(0), one(1)]
    flow = float(pick(rng, 0.0, 0.0, 1.0))
    operator: Function = lambda u, v, x, y: (  # noqa: E731
        -e1 * laplacian(u) + u + k * v,
        -e2 * laplacian(v) + (1 + x) * v + k * u + flow * e2**0.5 * v.dy,
    )
    side: Function = pick(rng, lambda u, v, x, y: (u, v), lambda u, v, x, y: (u, w[1] * v.dn + v))
    domain = pick(rng, sf.Box(*UNIT), sf.Box(*UNIT), sf.Box(*UNIT) - sf.Disk((0.5, 0.4), 0.2))
    stated = Statement(domain, ("u", "v"), made(operator, exact), {"boundary": made(side, exact)})
    traits = [t for i in range(2) for t in traits_of(thin[i], int(axes[i]))]
    words = f"pair in the plane, {thin[0].words} ({axes[0]}) | {thin[1].words} ({axes[1]})"
    return in_plane(words, stated, traits, known(exact), tolerance(rng))


def elastic(lam: float, mu: float) -> tuple[Function, Function]:
    """Return the operator of plane elasticity, and the tractions on a part with a normal."""

    def operator(u: Any, v: Any, x: Any, y: Any) -> Any:
        return (
            -(lam + 2 * mu) * u.dxx - mu * u.dyy - (lam + mu) * v.dxy,
            -(lam + 2 * mu) * v.dyy - mu * v.dxx - (lam + mu) * u.dxy,
        )

    def traction(normal: tuple[float, float]) -> Function:
        def side(u: Any, v: Any, x: Any, y: Any) -> Any:
            along = lam * (u.dx + v.dy)
            shear = mu * (u.dy + v.dx)
            nx, ny = normal
            return (
                nx * (along + 2 * mu * u.dx) + ny * shear,
                nx * shear + ny * (along + 2 * mu * v.dy),
            )

        return side

    return operator, traction


NORMALS = {"left": (-1.0, 0.0), "right": (1.0, 0.0), "bottom": (0.0, -1.0), "top": (0.0, 1.0)}


def elasticity(rng: Rng) -> Drawn:
    """Draw elastic plates: cantilevers, patches, manufactured ones, and bodies that are free."""
    ratio = float(pick(rng, 0.0, 0.25, 0.3, 0.45, 0.49))
    lam, mu = ratio / ((1 + ratio) * (1 - 2 * ratio)), 0.5 / (1 + ratio)
    operator, traction = elastic(lam, mu)
    kind = pick(rng, "cantilever", "patch", "made", "free", "pinned")
    long, deep = (log_uniform(rng, 1, 10), 1.0) if kind == "cantilever" else (1.0, 1.0)
    domain = sf.Box((0.0, long), (-deep / 2, deep / 2))
    a = rng.normal(size=6)
    # Timoshenko's beam under an end load, in plane strain.
    young, poisson = 1 / (1 - ratio**2), ratio / (1 - ratio)
    load = 0.3 * young / long**2 * deep**2

    def beam_u(x: Any, y: Any) -> Any:
        bent = (6 * long - 3 * x) * x + (2 + poisson) * (y**2 - deep**2 / 4)
        return -2 * load * y / (young * deep**3) * bent

    def beam_v(x: Any, y: Any) -> Any:
        bent = 3 * poisson * y**2 * (long - x) + (4 + 5 * poisson) * deep**2 * x / 4
        return 2 * load / (young * deep**3) * (bent + (3 * long - x) * x**2)

    fields: dict[str, list[Function]] = {
        "cantilever": [beam_u, beam_v],
        "patch": [lambda x, y: a[0] + a[1] * x + a[2] * y, lambda x, y: a[3] + a[4] * x + a[5] * y],
    }
    waves = [
        lambda x, y: np.sin(a[0] + 2 * x) * np.cos(a[1] * y),
        lambda x, y: np.cos(a[2] * x + 3 * y) + 0.2 * x * y,
    ]
    exact = fields.get(kind, waves)
    parts = {name: made(traction(normal), exact) for name, normal in NORMALS.items()}
    further: dict[str, Any] = {}
    if kind == "pinned":
        fixed = made(lambda u, v, x, y: (u, v), exact)
        turned = made(lambda u, v, x, y: v, exact)
        further["inside"] = (((0.2, 0.1), fixed), ((0.8, 0.1), turned))
    elif kind != "free":
        parts["left"] = made(lambda u, v, x, y: (u, v), exact)
    if kind == "made" and rng.uniform() < 0.5:
        parts["top"] = made(lambda u, v, x, y: (u, v), exact)
    stated = Statement(domain, ("u", "v"), made(operator, exact), parts, **further)
    words = f"elastic {kind}, Poisson {ratio}, length {long:.1f}"
    truth = None if kind == "free" else known(exact)
    traits = [circular((x, y), 0.0, 0.05) for x in (0.0, long) for y in (-deep / 2, deep / 2)]
    return in_plane(words, stated, traits, truth, tolerance(rng))


def flows(rng: Rng) -> Drawn:
    """Draw flows: Stokes with a stream function, Kovasznay, with and without a pin."""
    kind = pick(rng, "stokes", "kovasznay", "oseen", "no pin", "heated")
    if kind == "heated":
        return heated(rng)
    re = log_uniform(rng, 5, 80)
    rate = re / 2 - np.sqrt(re**2 / 4 + 4 * np.pi**2)
    a, b = rng.uniform(1, 5, 2)
    exact: list[Function] = [
        lambda x, y: np.sin(a * x) * np.cos(b * y) * b,
        lambda x, y: -np.cos(a * x) * np.sin(b * y) * a,
        lambda x, y: np.sin(a * x - b * y),
    ]
    if kind == "kovasznay":
        exact = [
            lambda x, y: 1 - np.exp(rate * x) * np.cos(2 * np.pi * y),
            lambda x, y: rate / (2 * np.pi) * np.exp(rate * x) * np.sin(2 * np.pi * y),
            lambda x, y: -0.5 * np.exp(2 * rate * x),
        ]
    nu = 1 / re if kind in ("kovasznay", "oseen") else 1.0

    def operator(u: Any, v: Any, p: Any, x: Any, y: Any) -> Any:
        one, two = -nu * laplacian(u) + p.dx, -nu * laplacian(v) + p.dy
        if kind == "kovasznay":
            one, two = one + u * u.dx + v * u.dy, two + u * v.dx + v * v.dy
        if kind == "oseen":
            one, two = one + u.dx, two + v.dx
        return one, two, u.dx + v.dy

    inside = () if kind == "no pin" else (((0.0, 0.3), made(lambda u, v, p, x, y: p, exact)),)
    domain = sf.Box((0, 1.0), (0, 1.0)) if kind != "kovasznay" else sf.Box((-0.5, 1), (-0.5, 0.5))
    side = made(lambda u, v, p, x, y: (u, v), exact)
    stated = Statement(
        domain, ("u", "v", "p"), made(operator, exact), {"boundary": side}, inside=inside
    )
    words = f"flow {kind}, Re {re:.0f}"
    truth = None if kind == "no pin" else known(exact)
    traits = [along_axis(float(domain.bounds[0][0]), 0, min(0.3, 1 / abs(rate)))]
    return in_plane(words, stated, traits, truth, tolerance(rng))


def heated(rng: Rng) -> Drawn:
    """Draw a flow that a temperature drives and that carries it, manufactured."""
    strength, nu = log_uniform(rng, 1, 50), log_uniform(rng, 0.05, 1)
    a, b = rng.uniform(1, 3, 2)
    exact: list[Function] = [
        lambda x, y: 0.3 * np.sin(a * x) * np.cos(b * y) * b,
        lambda x, y: -0.3 * np.cos(a * x) * np.sin(b * y) * a,
        lambda x, y: np.cos(a * x) * y,
        lambda x, y: x + 0.2 * np.sin(b * x) * np.cos(a * y),
    ]

    def operator(u: Any, v: Any, p: Any, w: Any, x: Any, y: Any) -> Any:
        return (
            -nu * laplacian(u) + u * u.dx + v * u.dy + p.dx,
            -nu * laplacian(v) + u * v.dx + v * v.dy + p.dy - strength * w,
            u.dx + v.dy,
            -laplacian(w) + u * w.dx + v * w.dy,
        )

    value: Function = lambda u, v, p, w, x, y: (u, v, w)  # noqa: E731
    insulated: Function = lambda u, v, p, w, x, y: (u, v, w.dn)  # noqa: E731
    parts = {"boundary": made(value, exact), "top": made(insulated, exact)}
    pin = made(lambda u, v, p, w, x, y: p, exact)
    stated = Statement(
        sf.Box(*UNIT),
        ("u", "v", "p", "w"),
        made(operator, exact),
        parts,
        inside=(((0.0, 0.0), pin),),
    )
    words = f"heated flow, strength {strength:.0f}, nu {nu:.2f}"
    return in_plane(words, stated, [], known(exact), tolerance(rng))


def corner(rng: Rng) -> Drawn:
    """Draw two unknowns on an L, each with its share of r^(2/3) sin(2/3 theta)."""
    shares, k = rng.uniform(0, 1, 2), rng.uniform(-1, 1)
    shares[int(rng.integers(2))] *= float(pick(rng, 0.0, 1.0))
    domain = sf.Polygon([(0, 0), (1, 0), (1, 1), (-1, 1), (-1, -1), (0, -1)])

    def singular(x: Any, y: Any) -> Any:
        angle = np.arctan2(-x - y, y - x) + 0.75 * np.pi
        return (x * x + y * y) ** (1 / 3) * np.sin(2 / 3 * angle)

    def one(i: int) -> Function:
        return lambda x, y: shares[i] * singular(x, y) + np.cos((i + 1) * x) * np.sin(y)

    exact = [one(0), one(1)]

    def equation(u: Any, v: Any, x: Any, y: Any) -> Any:
        # The singular part is harmonic, so that only the smooth part leaves a source.
        smooth = [np.cos((i + 1) * x) * np.sin(y) for i in range(2)]
        whole = [f(x, y) for f in exact]
        return (
            -laplacian(u) + k * v - (2 * smooth[0] + k * whole[1]),
            -laplacian(v) + v - k * u - (5 * smooth[1] + whole[1] - k * whole[0]),
        )

    stated = Statement(
        domain,
        ("u", "v"),
        equation,
        {"boundary": lambda u, v, x, y: (u - exact[0](x, y), v - exact[1](x, y))},
    )
    words = f"two unknowns on an L, shares {shares[0]:.2f} and {shares[1]:.2f}"
    traits = [circular((0.0, 0.0), 0.0, 1e-3)]
    return in_plane(words, stated, traits, known(exact), tolerance(rng))


def resonance(rng: Rng) -> Drawn:
    """Draw coupled oscillators near a resonance of the pair, or on one."""
    mode = int(rng.integers(1, 8))
    near = float(pick(rng, 0.0, log_uniform(rng, 1e-7, 1e-1)))
    k = rng.uniform(0.5, 5)
    # u'' + a u + k v and v'' + a v + k u: the sum has the frequency a + k.
    a = (np.pi * mode) ** 2 * (1 + near) - k
    one = summed([wave(rng, (0, 1)), profile(rng, (0, 1), 1e-2, 1)])
    two = wave(rng, (0, 1))
    exact = [one.value, two.value]
    size = abs(a) + 1
    operator: Function = lambda u, v, x: (  # noqa: E731
        (u.dxx + a * u + k * v) / size,
        (v.dxx + a * v + k * u) / size,
    )
    stated = Statement(
        sf.Interval(0, 1),
        ("u", "v"),
        made(operator, exact),
        {"boundary": made(lambda u, v, x: (u, v), exact)},
    )
    words = f"coupled resonance, mode {mode}, away by {near:.0e}"
    truth = known(exact) if near else None
    return on_line(words, stated, one.features, truth, line_tolerance(rng), (0.0, 1.0))


def first_order(rng: Rng) -> Drawn:
    """Draw two equations of first order with a growing and a decaying part."""
    rate, place = log_uniform(rng, 1, 1e4), rng.uniform(0.1, 0.9)
    width = log_uniform(rng, 1e-4, 0.2)
    turn = sign(rng)

    def equation(u: Any, v: Any, x: Any) -> Any:
        pulse = np.exp(-(((x - place) / width) ** 2))
        return u.dx / rate - v, v.dx / rate - u - turn * pulse

    stated = Statement(
        sf.Interval(0, 1),
        ("u", "v"),
        equation,
        {"left": lambda u, v, x: u - 1, "right": lambda u, v, x: u},
    )
    features = ((0.0, 1 / rate), (1.0, 1 / rate), (place, width), (place, 1 / rate))
    words = f"first-order pair, rate {rate:.0e}, pulse {width:.0e} at {place:.2f}"
    return referenced(rng, words, stated, features, (1, 1))


FAMILIES = (
    pair_on_line,
    elasticity,
    pair_in_plane,
    made_on_line,
    flows,
    corner,
    elasticity,
    resonance,
    first_order,
    pair_in_plane,
)
