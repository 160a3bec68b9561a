"""Random problems in time in the plane: how the default does on them.

Run by hand: ``python benchmarks/random_plane.py SEED [SEED ...] [--count 30] [--limit 40]
[--only SEED:NUMBER ...] [--thin]``. Heat, winds, reactions, fronts of Allen and Cahn, Burgers'
shocks, two species, waves and plates of fourth order on boxes, periodic boxes, disks, ellipses, Ls
and triangles, with exact solutions whose source follows, and starts that miss the value on the
boundary of disks and squares, with their series. With ``--thin`` straight fronts in a square, of
widths 1e-5 to 2e-3: Burgers' shocks, an erfc that a wind carries, Nagumo's waves, and fronts that a
source drives. Prints a row for each problem and the counts. A run that is out of time, in seconds
of the processor, is interrupted and keeps what it has.
"""

from __future__ import annotations

import argparse
import signal
import sys

# This folder has a file named like a module of the standard library; it must not come first.
sys.path.append(sys.path.pop(0))

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hostile.drawn import Function, Rng, log_uniform, made, pick
from scipy.special import erf, j0, j1, jn_zeros

import sharpfront as sf
from sharpfront.measure import max_error

# Places and moments at which errors are measured.
PLACES, MOMENTS = 3000, 12


@dataclass(frozen=True)
class Case:
    """A problem, its exact solutions, and from which share of the span on they are compared."""

    words: str
    problem: sf.Problem
    exact: tuple[Function, ...]
    tol: float
    since: float = 0.0
    near: Callable[[float], np.ndarray] | None = None  # points about a front at a moment


def shape(rng: Rng, *, periodic: bool = False) -> tuple[str, Any]:
    """Draw a domain about the unit square, and its name."""
    name = pick(rng, "box", "box", "disk", "ellipse", "L", "triangle", *["periodic"] * periodic)
    a, b = rng.uniform(0.3, 0.7, 2)
    domains: dict[str, Callable[[], Any]] = {
        "box": lambda: sf.Box((0, 1), (0, 1)),
        "periodic": lambda: sf.Box((0, 1), (0, 1), periodic=("x", "y")),
        "disk": lambda: sf.Disk((0.5, 0.5), 0.5),
        "ellipse": lambda: sf.Ellipse((0.5, 0.5), (0.6, 0.4)),
        "L": lambda: sf.Polygon([(0, 0), (1, 0), (1, b), (a, b), (a, 1), (0, 1)]),
        "triangle": lambda: sf.Polygon([(0, 0), (1, 0.1), (a, 1)]),
    }
    return name, domains[name]()


def smooth(rng: Rng, *, periodic: bool = False) -> Function:
    """Draw a sum of waves that swing and fade."""
    if periodic:
        k = 2 * np.pi * rng.integers(-2, 3, (2, 2)).astype(float)
    else:
        k = rng.uniform(-4, 4, (2, 2))
    size, phase, fade = rng.uniform(0.2, 1, 2), rng.uniform(0, 6, 2), rng.uniform(-1, 2, 2)
    swing = rng.uniform(-3, 3, 2)

    def exact(x: Any, y: Any, t: Any) -> Any:
        return sum(
            s * np.exp(-f * t) * np.cos(a * x + b * y + p + w * t)
            for s, f, (a, b), p, w in zip(size, fade, k, phase, swing, strict=True)
        )

    return exact


def bump(rng: Rng) -> Function:
    """Draw a pulse that goes straight on."""
    width, place = log_uniform(rng, 0.06, 0.3), rng.uniform(0.35, 0.6, 2)
    speed = rng.uniform(-0.5, 0.5, 2)
    return lambda x, y, t: np.exp(
        -((x - place[0] - speed[0] * t) ** 2 + (y - place[1] - speed[1] * t) ** 2) / width**2
    )


def front(rng: Rng, low: float = 0.03) -> Function:
    """Draw a straight front that goes on."""
    width, angle = log_uniform(rng, low, 0.3), rng.uniform(0, 2 * np.pi)
    c, s, speed = np.cos(angle), np.sin(angle), rng.uniform(-0.5, 0.5)
    return lambda x, y, t: np.tanh((c * (x - 0.5) + s * (y - 0.5) - speed * t) / width)


def stated(
    words: str,
    domain: Any,
    operator: Function,
    exact: Sequence[Function],
    tol: float,
    span: float,
    *,
    slopes: bool = False,
    rates: bool = False,
) -> Case:
    """Return a problem with exact solutions, with slopes given on the boundary if asked for."""
    count = len(exact)

    def values(*a: Any) -> Any:
        return (
            tuple(u.dn + u if slopes else u for u in a[:count])
            if count > 1
            else (a[0].dn if slopes else a[0])
        )

    def given(*a: Any) -> Any:
        where = a[count:]
        if not slopes:
            own = tuple(u - e(*where) for u, e in zip(a[:count], exact, strict=True))
            return own if count > 1 else own[0]
        return values(*a)

    def start(e: Function) -> Function:
        return lambda x, y: e(x, y, 0.0)

    initial: Any = tuple(start(e) for e in exact)
    if rates:
        h = 1e-5
        initial = (
            initial[0],
            lambda x, y: (exact[0](x, y, h) - exact[0](x, y, -h)) / (2 * h),
        )
    parts = {} if any(domain.periodic_axes) else {"boundary": given}
    unknowns = ("u", "v")[:count]
    equation = made(operator, exact)
    if count == 1:
        problem = sf.Problem(
            domain,
            lambda u, x, y, t: equation(u, x, y, t),
            initial=initial if rates else initial[0],
            time=(0, span),
            **({"boundary": lambda u, x, y, t: given(u, x, y, t)} if parts else {}),
        )
    else:
        problem = sf.Problem(
            domain,
            lambda u, v, x, y, t: equation(u, v, x, y, t),
            initial=dict(zip(unknowns, initial, strict=True)),
            time=(0, span),
            **({"boundary": lambda u, v, x, y, t: given(u, v, x, y, t)} if parts else {}),
        )
    return Case(words, problem, tuple(exact), tol)


def heat(rng: Rng, tol: float) -> Case:
    """Draw heat, with waves or a pulse."""
    name, domain = shape(rng)
    kind, nu = pick(rng, "smooth", "bump"), log_uniform(rng, 1e-2, 1)
    exact = smooth(rng) if kind == "smooth" else bump(rng)
    operator: Function = lambda u, x, y, t: u.dt - nu * sf.laplacian(u)  # noqa: E731
    return stated(f"heat {kind} {name} nu {nu:.0e}", domain, operator, [exact], tol, 1.0)


def wind(rng: Rng, tol: float) -> Case:
    """Draw what a wind carries."""
    name, domain = shape(rng, periodic=True)
    nu, (a, b) = log_uniform(rng, 1e-3, 0.1), rng.uniform(-1, 1, 2)
    joined = name == "periodic"
    kind = "smooth" if joined else pick(rng, "smooth", "bump", "front")
    exact = {
        "smooth": lambda: smooth(rng, periodic=joined),
        "bump": lambda: bump(rng),
        "front": lambda: front(rng),
    }[kind]()
    turning = bool(rng.integers(2)) and not joined

    def operator(u: Any, x: Any, y: Any, t: Any) -> Any:
        vx, vy = (a * (0.5 - y), a * (x - 0.5)) if turning else (a, b)
        return u.dt + vx * u.dx + vy * u.dy - nu * sf.laplacian(u)

    return stated(f"wind {kind} {name} nu {nu:.0e}", domain, operator, [exact], tol, 0.5)


def reaction(rng: Rng, tol: float) -> Case:
    """Draw fronts of Allen and Cahn, and of Fisher's equation."""
    name, domain = shape(rng)
    width, angle = log_uniform(rng, 0.03, 0.3), rng.uniform(0, 2 * np.pi)
    c, s, at = np.cos(angle), np.sin(angle), rng.uniform(0.0, 0.5)
    eps, speed = width**2 / 8, rng.uniform(-0.5, 0.5)
    # u_t = eps lap u + r u (1 - u) (u - h), whose wave is as wide as sqrt(8 eps / r), with r = 1.
    h = 0.5 - speed / np.sqrt(2)
    pace = speed * np.sqrt(eps)

    def exact(x: Any, y: Any, t: Any) -> Any:
        z = c * (x - 0.5) + s * (y - 0.5) - pace * t - 0.2 * at
        return 0.5 - 0.5 * np.tanh(z / np.sqrt(8 * eps))

    def operator(u: Any, x: Any, y: Any, t: Any) -> Any:
        return u.dt - eps * sf.laplacian(u) - u * (1 - u) * (u - h)

    return stated(f"reaction {name} width {width:.0e}", domain, operator, [exact], tol, 1.0)


def burgers(rng: Rng, tol: float) -> Case:
    """Draw a shock across the axes."""
    name, domain = shape(rng)
    nu = log_uniform(rng, 5e-3, 0.1)
    exact = lambda x, y, t: 1 / (1 + np.exp((x + y - t - 0.4) / (2 * nu)))  # noqa: E731
    operator: Function = lambda u, x, y, t: (  # noqa: E731
        u.dt + u * u.dx + u * u.dy - nu * sf.laplacian(u)
    )
    return stated(f"burgers {name} nu {nu:.0e}", domain, operator, [exact], tol, 0.3)


def species(rng: Rng, tol: float) -> Case:
    """Draw two species that react."""
    name, domain = shape(rng, periodic=True)
    joined = name == "periodic"
    first = smooth(rng, periodic=joined) if joined or rng.integers(2) else bump(rng)
    second = smooth(rng, periodic=joined)
    nu, mu = log_uniform(rng, 1e-2, 1), log_uniform(rng, 1e-2, 1)
    operator: Function = lambda u, v, x, y, t: (  # noqa: E731
        u.dt - nu * sf.laplacian(u) + u * v**2,
        v.dt - mu * sf.laplacian(v) - u * v**2 + v,
    )
    return stated(f"species {name}", domain, operator, [first, second], tol, 0.5)


def wave(rng: Rng, tol: float) -> Case:
    """Draw waves."""
    name, domain = shape(rng, periodic=True)
    joined = name == "periodic"
    exact = smooth(rng, periodic=joined) if joined or rng.integers(2) else bump(rng)
    speed = rng.uniform(0.5, 1.5)
    operator: Function = lambda u, x, y, t: u.dtt - speed**2 * sf.laplacian(u)  # noqa: E731
    return stated(f"wave {name}", domain, operator, [exact], tol, 0.5, rates=True)


def sudden(rng: Rng, tol: float) -> Case:
    """Draw plates of temperature one that are held at zero from the start on."""
    name = pick(rng, "disk", "box")
    nu = log_uniform(rng, 0.1, 1)
    if name == "disk":
        zeros = jn_zeros(0, 400)

        def exact(x: Any, y: Any, t: Any) -> Any:
            r = np.hypot(x, y)
            return sum(
                2 / (z * j1(z)) * j0(z * r) * np.exp(-nu * z**2 * t)
                for z in zeros
                if nu * z**2 * np.min(t) < 40
            )

        domain: Any = sf.Disk((0, 0), 1)
    else:

        def line(x: Any, t: Any) -> Any:
            return sum(
                4 / (np.pi * k) * np.sin(k * np.pi * x) * np.exp(-nu * (k * np.pi) ** 2 * t)
                for k in range(1, 800, 2)
                if nu * (k * np.pi) ** 2 * np.min(t) < 40
            )

        exact = lambda x, y, t: line(x, t) * line(y, t)  # noqa: E731
        domain = sf.Box((0, 1), (0, 1))
    problem = sf.Problem(
        domain,
        lambda u, x, y, t: u.dt - nu * sf.laplacian(u),
        boundary=lambda u, x, y, t: u,
        initial=1.0,
        time=(0, 0.2),
    )
    return Case(f"sudden {name} nu {nu:.1e}", problem, (exact,), tol, 0.01)


def plate(rng: Rng, tol: float) -> Case:
    """Draw an equation of fourth order in a periodic box."""
    nu = log_uniform(rng, 1e-4, 1e-2)
    exact = smooth(rng, periodic=True)

    def operator(u: Any, x: Any, y: Any, t: Any) -> Any:
        return u.dt + nu * sf.laplacian(sf.laplacian(u)) - u + u**3

    domain = sf.Box((0, 1), (0, 1), periodic=("x", "y"))
    return stated(f"plate nu {nu:.0e}", domain, operator, [exact], tol, 0.3)


FAMILIES = (heat, wind, reaction, burgers, species, wave, sudden, heat, wind, species, plate)


@dataclass(frozen=True)
class Line:
    """A straight front: its normal, its place along that at zero, speed and width."""

    normal: tuple[float, float]
    place: float
    speed: float
    width: float

    def away(self, x: Any, y: Any, t: Any) -> Any:
        """Return the distance from the front in widths."""
        a, b = self.normal
        return (a * x + b * y - self.place - self.speed * t) / self.width

    def near(self, t: float) -> Any:
        """Return points about the front in the unit square, most of them within a few widths."""
        rng = np.random.default_rng(1)
        normal = np.array(self.normal)
        away = self.width * rng.standard_t(2, PLACES) + self.place + self.speed * t
        along = rng.uniform(-1.5, 1.5, PLACES)
        points = away[:, None] * normal + along[:, None] * np.array([-normal[1], normal[0]])
        return points[np.all((points >= 0) & (points <= 1), axis=1)]


def line(rng: Rng) -> Line:
    """Draw a thin front that crosses the unit square about its middle."""
    angle, width = rng.uniform(0, 2 * np.pi), log_uniform(rng, 1e-5, 2e-3)
    normal = float(np.cos(angle)), float(np.sin(angle))
    x, y = rng.uniform(0.2, 0.8, 2)
    return Line(normal, normal[0] * x + normal[1] * y, rng.uniform(-1, 1), width)


def of_line(words: str, own: Line, operator: Function, exact: Function, tol: float) -> Case:
    """Return a problem with a thin front; if the source is zero exactly, it is left out."""
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y, t: operator(u, x, y, t),
        boundary=lambda u, x, y, t: u - exact(x, y, t),
        initial=lambda x, y: exact(x, y, 0.0),
        time=(0, 0.3),
    )
    return Case(f"{words} width {own.width:.0e}", problem, (exact,), tol, near=own.near)


def thin_shock(rng: Rng, tol: float) -> Case:
    """Draw an oblique shock of Burgers' equation."""
    own, half = line(rng), rng.uniform(0.3, 1)
    turn = rng.uniform(-0.7, 0.7)
    c, s = np.cos(turn), np.sin(turn)
    a, b = own.normal[0] * c - own.normal[1] * s, own.normal[0] * s + own.normal[1] * c
    nu, middle = 0.5 * half * own.width * c, own.speed / c

    def exact(x: Any, y: Any, t: Any) -> Any:
        return middle - half * np.tanh(own.away(x, y, t))

    def operator(u: Any, x: Any, y: Any, t: Any) -> Any:
        return u.dt + u * (a * u.dx + b * u.dy) - nu * sf.laplacian(u)

    return of_line("shock", own, operator, exact, tol)


def thin_carried(rng: Rng, tol: float) -> Case:
    """Draw a step that has spread for a while and is carried by a wind."""
    own, along = line(rng), rng.uniform(-1, 1)
    a = own.normal[0] * own.speed - own.normal[1] * along
    b = own.normal[1] * own.speed + own.normal[0] * along
    nu = own.width**2 / log_uniform(rng, 0.1, 10)

    def exact(x: Any, y: Any, t: Any) -> Any:
        return 0.5 - 0.5 * erf(own.away(x, y, t) / np.sqrt(1 + 4 * nu * t / own.width**2))

    def operator(u: Any, x: Any, y: Any, t: Any) -> Any:
        return u.dt + a * u.dx + b * u.dy - nu * sf.laplacian(u)

    return of_line("carried", own, operator, exact, tol)


def thin_nagumo(rng: Rng, tol: float) -> Case:
    """Draw a wave of Nagumo's equation."""
    own, low = line(rng), rng.uniform(0.1, 0.4)
    own = Line(own.normal, own.place, abs(own.speed), own.width)
    # u_t = nu lap u + r u (1 - u) (u - low) has a width of 2 sqrt(2 nu / r) and a speed of
    # sqrt(r nu / 2) (1 - 2 low).
    pace = own.speed / (1 - 2 * low)
    nu, r = 0.5 * pace * own.width, 4 * pace / own.width

    def exact(x: Any, y: Any, t: Any) -> Any:
        return 0.5 - 0.5 * np.tanh(own.away(x, y, t))

    def operator(u: Any, x: Any, y: Any, t: Any) -> Any:
        return u.dt - nu * sf.laplacian(u) - r * u * (1 - u) * (u - low)

    return of_line("Nagumo", own, operator, exact, tol)


def thin_driven(rng: Rng, tol: float) -> Case:
    """Draw a front on waves that a source and a wind of another speed drive."""
    own, waves = line(rng), smooth(rng)
    wind, nu = rng.uniform(-1, 1, 2), own.width * log_uniform(rng, 0.1, 10)

    def exact(x: Any, y: Any, t: Any) -> Any:
        return np.tanh(own.away(x, y, t)) + 0.3 * waves(x, y, t)

    def operator(u: Any, x: Any, y: Any, t: Any) -> Any:
        return u.dt + wind[0] * u.dx + wind[1] * u.dy - nu * sf.laplacian(u)

    equation = made(operator, [exact])
    return of_line("driven", own, lambda *a: equation(*a), exact, tol)


THIN = (thin_shock, thin_carried, thin_nagumo, thin_driven)


def case(seed: int, number: int, *, thin: bool = False) -> Case:
    """Return a drawn problem."""
    rng = np.random.default_rng((seed, number))
    tol = float(pick(rng, 1e-2, 1e-3, 1e-4, *[1e-5] * thin))
    families = THIN if thin else FAMILIES
    return families[number % len(families)](rng, tol)


def out_of_time(*_: Any) -> None:
    """Interrupt a run."""
    raise KeyboardInterrupt


def errors(own: Case, solution: sf.Solution) -> float:
    """Return the largest error relative to max(1, max|u|)."""
    evenly = own.problem.domain.sample(PLACES)
    start, stop = solution.domain.time
    since = max(solution.error_estimate_since or start, start + own.since * (stop - start))
    points = []
    for t in np.linspace(since, stop, MOMENTS):
        places = np.concatenate([evenly, own.near(float(t))]) if own.near else evenly
        points.append(np.column_stack([places, np.full(len(places), t)]))
    exact = dict(zip(own.problem.unknowns, own.exact, strict=True))
    return max_error(solution, exact, np.concatenate(points))


def row(number: str, own: Case, limit: float) -> tuple[str, float, float]:
    """Solve a problem and return what is printed of it."""
    began = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        solution = sf.solve(own.problem, tol=own.tol)
    except (KeyboardInterrupt, sf.SharpfrontError) as error:
        text = f"{type(error).__name__} {str(error)[:60]}"
        return f"{number} {own.words:34} {own.tol:.0e} {text}", np.nan, np.nan
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    seconds = time.process_time() - began
    off = errors(own, solution) if solution.history else np.nan
    last = solution.history[-1] if solution.history else None
    text = (
        f"{number:9} {own.words:34} {own.tol:.0e} {solution.outcome.kind.name:12} err {off:.1e} "
        f"est {solution.error_estimate:.1e} ratio {solution.error_estimate / off:6.2f} "
        f"steps {len(solution.history):3} functions "
        f"{max((s.kernels for s in solution.history), default=0):6} "
        f"to {last.time if last else 0:.3g} {seconds:6.1f} s"
    )
    return text, solution.error_estimate / off if solution.converged else np.nan, seconds


def numbers(options: argparse.Namespace) -> Iterator[tuple[int, int]]:
    """Yield seeds and numbers of the problems to be solved."""
    if options.only:
        for word in options.only:
            seed, number = word.split(":")
            yield int(seed), int(number)
        return
    for seed in options.seeds:
        yield from ((seed, number) for number in range(options.count))


def main() -> None:
    """Print a row for each problem, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", type=int, nargs="*")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--limit", type=float, default=40.0)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--thin", action="store_true", help="thin straight fronts in a square")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, out_of_time)
    ratios, times = [], []
    for seed, number in numbers(options):
        text, ratio, seconds = row(
            f"{seed}:{number}", case(seed, number, thin=options.thin), options.limit
        )
        print(text, flush=True)
        ratios.append(ratio)
        times.append(seconds)
    good = np.array([r for r in ratios if np.isfinite(r)])
    print(
        f"{len(good)} of {len(ratios)} converged, {np.sum(good < 1)} of them with estimates below "
        f"their errors, {np.nansum(times):.0f} s"
    )


if __name__ == "__main__":
    main()
