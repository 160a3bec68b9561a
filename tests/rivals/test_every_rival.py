"""Every rival keeps the contract: words, refusals with reasons, settings, answers that hold."""

import math

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.rivals.contract import Setting, Subject
from sharpfront.rivals.table import RIVALS, chosen


def line():
    return sf.Problem(
        sf.Interval(-1, 2),
        lambda u, x: u.dxx - u - x,
        left=lambda u, x: u - np.exp(-1) - 1,
        right=lambda u, x: u.dn - np.exp(2) + 1,
    ), lambda x: np.exp(x) - x


def bent():
    """u = log(x + 2): nonlinear."""
    return sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: u.dxx + u.dx**2,
        left=lambda u, x: u - np.log(2),
        right=lambda u, x: u - np.log(3),
    ), lambda x: np.log(x + 2)


def plane():
    return sf.Problem(
        sf.Box((0, 1), (-1, 1)),
        lambda u, x, y: sf.laplacian(u) + (1 + x) * u.dx - (1 + x) * np.exp(x) * y - np.exp(x) * y,
        boundary=lambda u, x, y: u - np.exp(x) * y,
    ), lambda x, y: np.exp(x) * y


def front():
    """A wave that decays: time is a coordinate."""
    return sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - 0.1 * u.dxx,
        boundary=lambda u, x, t: u,
        initial=lambda x: np.sin(np.pi * x),
        time=(0, 0.5),
    ), lambda x, t: np.exp(-0.1 * np.pi**2 * t) * np.sin(np.pi * x)


CASES = {"line": line, "bent": bent, "plane": plane, "front": front}
# The setting that a cheap test can afford, where it is not the first; and what it reaches.
GOOD = {
    "ours": ({"tol": 1e-6}, 1e-5),
    "gmm-pielm": (
        {"kernels": 60, "scaling": 9.0, "iterations": 1, "collocation": 200, "penalty": 100.0},
        0.05,
    ),
    "rbf-pielm": ({"kernels": 60, "collocation": 200, "penalty": 100.0}, 0.05),
    "pielm": ({"count": 60, "scale": 1.0, "unit_rows": True}, 1e-3),
    "kapi-elm": ({"count": 40}, 0.1),
    "rad": ({"count": 80, "rounds": 1, "overlap": 6.0}, 0.05),
    "pinn": ({"width": 10, "scale": 1.0, "weight": 10.0}, 0.5),
    "solve_bvp": ({"tol": 1e-6, "nodes": 10}, 1e-5),
    "chebyshev": ({"degree": 8}, 1e-4),
    "scikit-fem": ({"order": 2, "most": 200}, 1e-3),
    "ngsolve": ({"order": 3, "most": 200}, 1e-3),
    "bacoli": ({"tol": 1e-6, "way": "BACOLRI", "kcol": 4, "elements": 10}, 1e-5),
    "lines": ({"count": 32, "tol": 1e-6, "way": "Radau"}, 1e-4),
}


def test_the_table_of_this_test_is_whole():
    assert set(GOOD) == set(RIVALS)


@pytest.mark.parametrize("rival", RIVALS.values(), ids=lambda r: r.name)
def test_words_and_settings(rival):
    assert rival.title and rival.citation
    assert rival.name == rival.name.lower() and " " not in rival.name
    if rival.missing():
        return
    applied = 0
    for case in CASES.values():
        subject = Subject(case()[0])
        reason = rival.applies(subject)
        assert isinstance(reason, str)
        if reason:
            continue
        applied += 1
        settings = rival.settings(subject)
        assert all(isinstance(s, Setting) and 0 < s.share <= 1 for s in settings)
        assert len({s.words for s in settings}) == len(settings) > 1
    assert applied


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("rival", RIVALS.values(), ids=lambda r: r.name)
def test_what_a_rival_takes_it_solves(rival, case):
    if rival.missing():
        pytest.skip(rival.missing())
    problem, exact = CASES[case]()
    subject = Subject(problem)
    if rival.applies(subject):
        pytest.skip(rival.applies(subject))
    values, bound = GOOD[rival.name]
    # A network learns little in the time in which optuna makes a few trials.
    found = rival.solve(subject, Setting("test", values), 7, 4.0 if rival.name == "pinn" else 0.5)
    points = problem.domain.sample(50, "quasi")
    points = np.vstack([points, problem.domain.bounds])
    columns = list(points.T) + ([np.linspace(0, 0.5, len(points))] if problem.time else [])
    gap = np.max(np.abs(found["u"](*columns) - exact(*columns)))
    assert math.isfinite(gap) and gap < bound * max(1.0, np.max(np.abs(exact(*columns))))


@pytest.mark.parametrize("rival", [r for r in RIVALS.values() if r.drawn], ids=lambda r: r.name)
def test_the_same_seed_gives_the_same_bits(rival):
    if rival.missing() or rival.name in ("kapi-elm", "pinn"):
        pytest.skip("as many trials or steps as the time allows")
    subject, x = Subject(line()[0]), np.linspace(-1, 2, 20)
    setting = Setting("test", GOOD[rival.name][0])
    one, same, other = (rival.solve(subject, setting, seed, 1.0)["u"](x) for seed in (3, 3, 4))
    assert np.array_equal(one, same) and not np.array_equal(one, other)


def test_a_name_that_is_not_there_is_suggested():
    with pytest.raises(sf.SharpfrontError, match="Did you mean 'chebyshev'"):
        chosen(["chebychev"])
    assert [r.name for r in chosen(["rad"])] == ["ours", "rad"]


@pytest.mark.parametrize("nu", [1e-2, 1e-3])
def test_elements_are_refined_at_both_ends(nu):
    pytest.importorskip("skfem")
    problem = sf.Problem(
        sf.Interval(0, 1), lambda u, x: -nu * u.dxx + u - 1, boundary=lambda u, x: u
    )
    setting = Setting("test", {"order": 2, "most": 400})
    found = RIVALS["scikit-fem"].solve(Subject(problem), setting, 0, 1.0)
    x, w = np.linspace(0, 1, 500), np.sqrt(nu)
    exact = 1 - np.cosh((x - 0.5) / w) / np.cosh(0.5 / w)
    assert np.max(np.abs(found["u"](x) - exact)) < 1e-4
