"""One fingerprint for problems on the line and in the plane: a run goes on with its own only."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.errors import ProblemError
from sharpfront.evolve.fingerprint import fingerprint, require_same


def line(place=0.3, k=lambda x: 1 + x, end=1.0, begin=0.0, data=0.0, bump=0.0):
    conductivity = sf.function(k, derivative=lambda x: 0 * x)
    return sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - conductivity(x) * u.dxx,
        boundary=lambda u, x, t: u - data * np.sin(t),
        initial=lambda x: (
            np.exp(-(((x - place) / 0.1) ** 2)) + bump * np.exp(-(((x - 0.8) / 0.003) ** 2))
        ),
        time=(begin, end),
    )


def plane(rate=1.0, side=1.0, end=0.1, place=0.3, slope=0.0, shape=None):
    return sf.Problem(
        shape or sf.Box((0, side), (0, 1)),
        lambda u, x, y, t: u.dt - 0.1 * rate * sf.laplacian(u),
        boundary=lambda u, x, y, t: u.dn - slope,
        initial=lambda x, y: np.cos(np.pi * x) + place * np.cos(np.pi * y),
        time=(0, end),
    )


OTHERS = {
    "initial place": (line, {"place": 0.31}),
    "narrow bump in the initial state": (line, {"bump": 1e-3}),
    "inside of a captured function": (line, {"k": lambda x: 1 + x + 1e-3 * np.maximum(x - 0.9, 0)}),
    "start of time": (line, {"begin": 0.1}),
    "data of a condition": (line, {"data": 1.0}),
    "rate": (plane, {"rate": 1.1}),
    "domain": (plane, {"side": 1.1}),
    "shape": (plane, {"shape": sf.Disk((0.5, 0.5), 0.5)}),
    "state in the plane": (plane, {"place": 0.2}),
    "condition in the plane": (plane, {"slope": 0.1}),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_problem_is_seen(name):
    problem, changed = OTHERS[name]
    saved = {"problem": fingerprint(problem(), 0.05)}
    require_same(problem(), saved)
    with pytest.raises(ProblemError, match="belongs to another problem"):
        require_same(problem(**changed), saved)


@pytest.mark.parametrize("problem", [line, plane])
def test_the_end_of_time_and_what_comes_later_may_differ(problem):
    require_same(problem(end=7.0), {"problem": fingerprint(problem(), 0.05)})


def test_the_plane_refuses_another_equation_and_goes_on_with_its_own(tmp_path):
    def impatient(step):
        if step.step == 1:
            raise KeyboardInterrupt

    cut = sf.solve(plane(), tol=1e-2, on_step=impatient)
    loaded = sf.load(cut.save(tmp_path / "cut"))
    with pytest.raises(ProblemError, match="belongs to another problem"):
        sf.solve(plane(rate=2.0), tol=1e-2, resume=loaded)
    assert sf.solve(plane(), tol=1e-2, resume=loaded).converged
    still = sf.Problem(sf.Interval(0, 1), lambda u, x: u.dxx, boundary=lambda u, x: u)
    with pytest.raises(ProblemError, match="resume= takes a solution of the same problem"):
        sf.solve(plane(), tol=1e-2, resume=sf.solve(still))
