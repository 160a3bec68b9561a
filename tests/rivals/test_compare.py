"""Races: settings are sought within the time, errors are true, losses stand first."""

import json
import math
import os
import time

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.rivals import table
from sharpfront.rivals.comparison import Comparison
from sharpfront.rivals.contract import Rival, Setting, Subject
from sharpfront.rivals.racing import FrontierPoint, Lane, Run, race


def layer(nu=1e-2):
    return sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -nu * u.dxx + u.dx,
        left=lambda u, x: u,
        right=lambda u, x: u - 1,
    )


def layer_exact(x, nu=1e-2):
    return np.expm1(x / nu) / np.expm1(1 / nu)


class Fake(Rival):
    """Answers with a given error after a given number of seconds."""

    plan = ((1e-1, 0.0), (1e-3, 0.02), (1e-2, 0.04), (math.nan, 0.0))

    def applies(self, subject):
        return ""

    def settings(self, subject):
        return tuple(Setting(str(i), {"i": i}) for i in range(len(self.plan)))

    def solve(self, subject, setting, seed, seconds):
        off, spend = self.plan[setting.values["i"]]
        stop = time.thread_time() + spend
        while time.thread_time() < stop:
            pass
        if math.isnan(off):
            raise ArithmeticError("no answer")
        return lambda x: off


def raced(rival, seconds=1.0, seeds=(1,)):
    return race(
        rival,
        lambda: Subject(layer()),
        lambda found: abs(float(found(0.0))),
        seconds=seconds,
        seeds=seeds,
    )


def test_marks_are_settings_that_no_faster_one_is_as_good_as():
    lane = raced(Fake("fake", "Fake", "nobody"))
    assert [m.setting for m in lane.marks] == ["0", "1"]
    assert lane.best.error == 1e-3 and len(lane.best.runs) == 3
    assert len(lane.tried) == 4 and "no answer" in lane.tried[-1].note
    assert lane.seconds_to(1e-2) == lane.best.seconds and math.isinf(lane.seconds_to(1e-4))


def test_seeds_are_the_runs_of_what_draws():
    lane = raced(Fake("fake", "Fake", "nobody", drawn=True), seeds=(5, 6))
    assert all([r.seed for r in m.runs] == [5, 6] for m in lane.marks)


def test_what_takes_too_long_is_cut_off():
    class Slow(Fake):
        plan = ((1e-1, 0.0), (1e-9, 30.0))

    lane = raced(Slow("slow", "Slow", "nobody"), seconds=0.1)
    assert [m.error for m in lane.marks] == [0.1]
    assert "not within" in lane.tried[1].note


def test_what_ends_its_process_does_not_end_the_race():
    class Crash(Fake):
        def solve(self, subject, setting, seed, seconds):
            if setting.values["i"] == 1:
                os._exit(3)
            return super().solve(subject, setting, seed, seconds)

    lane = raced(Crash("crash", "Crash", "nobody"))
    assert lane.tried[1].note == "its process ended with 3" and lane.tried[2].error == 1e-2


def test_what_is_not_installed_says_how_to_install_it():
    lane = raced(Fake("fake", "Fake", "nobody", needs=("no_such_module",)))
    assert lane.skipped == "needs no_such_module: pip install 'sharpfront[bench]'"


def comparison(*lanes):
    return Comparison("p", "P", "", "the exact solution", lanes, 1.0, (1,))


def lane(name, *marks):
    made = (FrontierPoint(f"{e}", (Run(f"{e}", 1, s, e),)) for s, e in marks)
    return Lane(name, name, "nobody", marks=tuple(made))


def test_losses_stand_first():
    found = comparison(
        lane("ours", (1.0, 1e-4), (3.0, 1e-8)),
        lane("slow", (10.0, 1e-9)),
        lane("far", (50.0, 1e-11)),
        lane("quick", (0.1, 1e-3)),
        Lane("away", "away", "nobody", skipped="does not apply: no"),
        lane("never", (0.1, 2.0)),
    )
    order = [x.name for x in found.ordered()]
    # Both get further than ours does.
    assert order[:2] == ["far", "slow"] and order[2:4] == ["quick", "ours"]
    assert order[-1] == "away"
    assert str(found.beside_ours(found.lane("far"))) == "ours does not reach 1e-10"
    assert str(found.beside_ours(found.lane("quick"))) == "10 times faster at 1e-03"
    assert str(found.beside_ours(found.lane("never"))) == "misses it"
    assert json.dumps(found.as_dict())


@pytest.fixture(scope="module")
def own():
    methods = ["chebyshev", "solve_bvp", "lines", "rbf-pielm"]
    return sf.compare(layer(), exact=layer_exact, methods=methods, seconds=0.1, seeds=2)


def test_a_problem_of_ones_own(own):
    assert [x.name for x in own.lanes] == ["ours", "chebyshev", "solve_bvp", "lines", "rbf-pielm"]
    for name in ("ours", "chebyshev", "solve_bvp"):
        assert own.lane(name).best.error < 1e-6
    assert "has no time" in own.lane("lines").skipped
    for mark in own.lane("rbf-pielm").marks:
        # What misses the solution is not run with other seeds.
        assert len(mark.runs) == (2 if mark.runs[0].error <= 0.1 else 1)
    assert "method of lines" in str(own) and "the exact solution" in str(own)


def test_the_page_needs_nothing_but_itself(own, tmp_path):
    path = own.report(tmp_path / "race.html")
    text = path.read_text()
    assert "data:image/svg+xml" in text and "http" not in text.replace("http-equiv", "")
    assert ("Chebyshev collocation" in text and "Ours loses to" in text) or "None was" in text


def test_the_picture_has_a_line_for_each_method_that_ran(own):
    axes = own.plot()
    labels = axes.get_legend_handles_labels()[1]
    assert set(labels) == {x.title for x in own.lanes if x.marks}
    assert axes.get_xscale() == axes.get_yscale() == "log"


def test_without_an_exact_solution_ours_is_the_reference_and_its_estimate_the_floor():
    found = sf.compare(layer(), methods=["chebyshev"], seconds=0.1)
    assert "our own solution" in found.truth
    floor = min(r.error for x in found.lanes for r in x.tried)
    assert 0 < floor < 1e-9
    # Nobody is told to be better than the reference is known to be, not even ours.
    assert sum(r.error == floor for r in found.lane("ours").tried) >= 1


def test_a_wrong_answer_has_its_true_error_inside_the_layer(monkeypatch):
    class Zero(Fake):
        def solve(self, subject, setting, seed, seconds):
            return {"u": lambda x: 0 * x}

    monkeypatch.setattr(table, "RIVALS", table.RIVALS | {"zero": Zero("zero", "Zero", "nobody")})
    found = sf.compare("twin-layer", methods=["zero"], seconds=0.05)
    assert found.lane("zero").best.error == pytest.approx(1.0)
    assert found.published and found.published[0].method == "GMM-PIELM"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("twin-lyer",), "Did you mean 'twin-layer'"),
        ((3,), "expected a Problem, the name"),
    ],
)
def test_wrong_problems_are_refused_with_words(arguments, words):
    with pytest.raises(sf.SharpfrontError, match=words):
        sf.compare(*arguments)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"methods": ["kapi"]}, "Did you mean 'kapi-elm'"),
        ({"methods": []}, "methods= is empty"),
        ({"seconds": 0}, "seconds"),
        ({"seeds": 0}, "seeds"),
        ({"second": 1}, "Did you mean 'seconds'"),
    ],
)
def test_wrong_options_are_refused_with_words(options, words):
    with pytest.raises(sf.SharpfrontError, match=words):
        sf.compare("twin-layer", **options)
