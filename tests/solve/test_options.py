"""Every kind of problem against every option of solve: taken, or refused with the reason."""

import functools
import inspect

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt import OnePatch
from sharpfront.errors import SharpfrontError

LINE, SQUARE = sf.Interval(0, 1), sf.Box((0, 1), (0, 1))


def wave(x, y):
    return np.sin(np.pi * x) * np.sin(np.pi * y)


PROBLEMS = {
    "line": lambda: sf.Problem(LINE, lambda u, x: -0.1 * u.dxx + u.dx - 1, boundary=lambda u, x: u),
    "curved line": lambda: sf.Problem(LINE, lambda u, x: u.dxx - u**2 + 1, boundary=lambda u, x: u),
    "system": lambda: sf.Problem(
        LINE, lambda u, v, x: (u.dxx - v, v.dxx - 1), boundary=lambda u, v, x: (u, v)
    ),
    "plane": lambda: sf.Problem(
        SQUARE, lambda u, x, y: sf.laplacian(u) + 1, boundary=lambda u, x, y: u
    ),
    "curved plane": lambda: sf.Problem(
        SQUARE, lambda u, x, y: sf.laplacian(u) + 1 - u**2, boundary=lambda u, x, y: u
    ),
    "flow": lambda: sf.Problem(
        SQUARE,
        lambda u, v, p, x, y: (
            -sf.laplacian(u) + p.dx,
            -sf.laplacian(v) + p.dy,
            u.dx + v.dy,
        ),
        boundary=lambda u, v, p, x, y: (u - y, v - x),
        conditions=[sf.at((0.5, 0.5), lambda u, v, p, x, y: p - 1)],
    ),
    "space": lambda: sf.Problem(
        sf.Box(*[(0, 1)] * 3),
        lambda u, x, y, z: sf.laplacian(u),
        boundary=lambda u, x, y, z: u - x * y,
    ),
    "four": lambda: sf.Problem(
        sf.Box(*[(0, 1)] * 4),
        lambda u, x1, x2, x3, x4: sf.laplacian(u),
        boundary=lambda u, x1, x2, x3, x4: u - x1 * x2,
    ),
    "time": lambda: sf.Problem(
        LINE,
        lambda u, x, t: u.dt - u.dxx,
        boundary=lambda u, x, t: u,
        initial=lambda x: np.sin(np.pi * x),
        time=(0, 0.02),
    ),
    "time, plane": lambda: sf.Problem(
        SQUARE,
        lambda u, x, y, t: u.dt - sf.laplacian(u),
        boundary=lambda u, x, y, t: u,
        initial=wave,
        time=(0, 0.01),
    ),
    "time, system": lambda: sf.Problem(
        SQUARE,
        lambda u, v, x, y, t: (u.dt - sf.laplacian(u) + v, v.dt - sf.laplacian(v)),
        boundary=lambda u, v, x, y, t: (u, v),
        initial=(wave, lambda x, y: 0 * x),
        time=(0, 0.01),
    ),
}
# What is said where an option is refused.
IN_TIME = "has no meaning for a problem in time"
STEADY = "this one has no time="
CURVED = "kernel= has no meaning for a nonlinear problem"
NO_PATCHES = "not solved on patches"
STEADY_KINDS = (
    *("line", "curved line", "system", "plane", "curved plane"),
    *("flow", "space", "four"),
)
MARCHED_KINDS = ("time", "time, plane", "time, system")
EVERYWHERE = dict.fromkeys(PROBLEMS, "")
UNTIMED = dict.fromkeys(STEADY_KINDS, "") | dict.fromkeys(MARCHED_KINDS, IN_TIME)
ON_PATCHES = UNTIMED | dict.fromkeys(("line", "curved line", "four"), NO_PATCHES)
# Of every option, for every kind of problem: the words of its refusal, none where it is taken.
TABLE = {
    "tol": EVERYWHERE,
    "max_kernels": EVERYWHERE,
    "components": EVERYWHERE,
    "seed": EVERYWHERE,
    "on_step": EVERYWHERE,
    "progress": EVERYWHERE,
    "guess": UNTIMED,
    "continuation": UNTIMED,
    "adaptor": EVERYWHERE,
    "kernel": UNTIMED | dict.fromkeys(("curved line", "curved plane"), CURVED),
    "resume": dict.fromkeys(STEADY_KINDS, STEADY) | dict.fromkeys(MARCHED_KINDS, ""),
    "device": ON_PATCHES,
    "cluster": ON_PATCHES,
}
# Those that can be given together.
TOGETHER = ("tol", "max_kernels", "components", "seed", "on_step", "progress", "guess")
ADAPTORS = {"line": sf.Resolve(), "curved line": sf.Resolve(), "four": OnePatch()}


@functools.cache
def problem(kind):
    return PROBLEMS[kind]()


@functools.cache
def solved(kind):
    return sf.solve(problem(kind), tol=1e-2)


def value(option, kind):
    return {
        "tol": 1e-2,
        "max_kernels": 2500,
        "components": 3,
        "seed": 3,
        "on_step": lambda record: None,
        "progress": False,
        "guess": 0.1,
        "continuation": [1.0, 2.0],
        "adaptor": ADAPTORS.get(kind, sf.Patches()),
        "kernel": "inverse-multiquadric",
        "resume": solved(kind) if option == "resume" else None,
        "device": "cpu",
        "cluster": "tcp://nowhere",
    }[option]


def given(kind, options):
    stated = (lambda a: problem(kind)) if "continuation" in options else problem(kind)
    return sf.solve(stated, **({"tol": 1e-2} | {o: value(o, kind) for o in options}))


def test_the_table_has_every_option():
    known = set(inspect.signature(sf.solve).parameters) - {"problem", "parameters"}
    assert set(TABLE) == known
    assert all(set(row) == set(PROBLEMS) for row in TABLE.values())


@pytest.mark.parametrize("kind", PROBLEMS)
def test_options_that_go_together_are_taken(kind):
    solution = given(kind, [o for o in TOGETHER if not TABLE[o][kind]])
    assert solution.converged and solution.error_estimate <= 1e-2


# Each step in time is a problem in the plane of its own, many times as slow as steps of a march; a
# flow without polynomials takes seconds.
LONG = [("adaptor", "time, plane"), ("adaptor", "time, system"), ("kernel", "flow")]
TAKEN_ALONE = [
    pytest.param(o, kind, marks=pytest.mark.slow if (o, kind) in LONG else ())
    for o in ("continuation", "adaptor", "kernel", "resume")
    for kind in PROBLEMS
    if not TABLE[o][kind]
]


@pytest.mark.parametrize(("option", "kind"), TAKEN_ALONE)
def test_an_option_is_taken(option, kind):
    solution = given(kind, [option])
    # Another profile is solved with once, however far it comes.
    assert solution.converged or (option, kind) == ("kernel", "four")


@pytest.mark.parametrize(
    ("option", "kind"), [(o, kind) for o, row in TABLE.items() for kind in PROBLEMS if row[kind]]
)
def test_an_option_is_refused_with_the_reason(option, kind):
    with pytest.raises(SharpfrontError, match=TABLE[option][kind]):
        given(kind, [option])


@pytest.mark.parametrize(
    ("term", "equation", "more"),
    [
        (r"\(1 \+ u\)\*u_x", lambda u, x: (np.where(x < 0.4, 1, 3) * (1 + u) * u.dx).dx + 1, ()),
        (r"u_x\*\*2\*delta", lambda u, x: u.dxx - u.dx**2 * sf.delta(x - 0.4), ()),
        (
            r"u\*\*3",
            lambda u, x: u.dxx - 1,
            sf.jump(lambda u, x: u.dx, x=0.4, equals=lambda u, x: u**3),
        ),
    ],
)
def test_what_is_not_linear_where_something_jumps_is_named(term, equation, more):
    problem = sf.Problem(sf.Interval(0, 1), equation, boundary=lambda u, x: u, conditions=more)
    with pytest.raises(SharpfrontError, match=rf"Not linear here is .*{term}"):
        sf.solve(problem)
