from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pytest

from sharpfront.adapt import Paper, Uniform
from sharpfront.errors import ProblemError
from sharpfront.measure import Feature
from sharpfront.mixture import Mixture
from sharpfront.paper import Plan, Results, Task, execute, quick_plan, sci, table1, write_all
from sharpfront.paper.cases import CASES, METHODS, Method, gmm
from sharpfront.paper.figures import draw_profile
from sharpfront.paper.findings import Verdict, find
from sharpfront.paper.output import as_json
from sharpfront.paper.runs import Failure, Run, perform
from sharpfront.paper.scores import count_near, effective_length, mixture_length
from sharpfront.paper.summary import spread, zero_scores
from sharpfront.show import HtmlPage

SINGLE, DOUBLE = CASES


class Broken:
    """An adaptor that cannot start."""

    leastsquares = None

    def start(self, problem, tol, seed):
        raise ProblemError("out of order")


def small(case):
    return Paper(kernels=40, components=3, collocation=200)


SMALL = Method("small", "Small", "Few kernels.", small, "#000000", "adaptive")
OURS = Method("ours", "Ours", "No row.", lambda case: Uniform(kernels=30), "#00aa00", None)
DRAWN = Method(
    "drawn",
    "Drawn",
    "Random centres.",
    lambda case: Uniform(kernels=40, collocation=200, centres="random"),
    "#000000",
    "baseline",
)
BROKEN = Method("broken", "Broken", "Raises.", lambda case: Broken(), "#aa0000", "baseline")


@dataclasses.dataclass(frozen=True, eq=False)
class TinyPlan(Plan):
    """Only the runs of Table 1, which small methods make fast."""

    def tasks(self):
        return list(self._table())


def measured(case, method: Method, seed: int = 42, keep: bool = False):
    done = perform(Task("table", case, method.name, method.adaptor(case), seed, keep=keep))
    assert isinstance(done.run, Run), done.run
    return done


def bits(runs):
    return [dataclasses.replace(run, seconds=0.0) for run in runs]


# --- numbers and words -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5, "5.0e-1"), (2.73e-8, "2.7e-8"), (1234.0, "1.2e3"), (1.0, "1.0e0"), (0.0, "0.0e0")],
)
def test_numbers_are_written_one_way(value, text):
    assert sci(value) == text


def test_numbers_that_are_not_there():
    assert sci(None) == "–"
    assert sci(math.inf) == "∞"


def test_quartiles_are_those_that_a_reader_computes():
    box = spread([4.0, 1.0, 2.0, 3.0])
    assert (box.low, box.first, box.median, box.third, box.high) == (1, 1.75, 2.5, 3.25, 4)


def test_quartiles_survive_infinity():
    box = spread([1e-8, 1.0, 1e4, math.inf, 2.0])
    assert (box.low, box.first, box.median, box.third, box.high) == (1e-8, 1, 2, 1e4, math.inf)
    assert spread([None, None]) is None


def test_count_near_counts_a_point_once():
    features = (Feature(0.0, 0.01), Feature(0.05, 0.01))
    assert count_near(np.array([0.0, 0.04, 0.1, 0.2]), features) == 3


def test_effective_length_of_known_densities():
    assert effective_length(np.ones(10)) == 1
    assert effective_length(np.repeat([10.0, 0.0], [1, 9])) == pytest.approx(0.1)


def test_mixture_length_agrees_with_quadrature():
    mixture = Mixture(np.array([0.3, 0.7]), np.array([0.2, 0.6]), np.array([1e-3, 4e-3]))
    x = np.linspace(-1, 2, 30_001)
    assert mixture_length(mixture) == pytest.approx(1 / np.trapezoid(mixture.density(x) ** 2, x))


# --- the problems and the measures -----------------------------------------------------------


def test_settings_are_those_of_the_paper():
    assert [(c.kernels, c.settings["components"], c.settings["scaling"]) for c in CASES] == [
        (300, 8, 1.1),
        (500, 16, 1.5),
    ]
    for case in CASES:
        adaptor = gmm(case)
        assert (adaptor.ratio, adaptor.iterations, adaptor.collocation) == (0.7, 3, 1500)
        assert (adaptor.neighbours, adaptor.overlap) == (2, 2.5)


def test_exact_solutions_satisfy_their_equations():
    nu, h = 0.1, 1e-4
    x = np.linspace(0.1, 0.9, 9)
    for case in CASES:
        u = case.entry.exact(nu)
        du, ddu = (u(x + h) - u(x - h)) / (2 * h), (u(x + h) - 2 * u(x) + u(x - h)) / h**2
        rest = -nu * ddu + (du if case is SINGLE else 2 * (2 * x - 1) * du + 4 * u(x))
        assert np.max(np.abs(rest)) < 1e-5
        assert u(np.array([1.0]))[0] == pytest.approx(1)


def test_zero_scores_well_under_the_papers_measure_and_misses_the_layer():
    single, double = zero_scores(SINGLE), zero_scores(DOUBLE)
    assert single.rmse == pytest.approx(3.3e-5, rel=0.05)
    assert double.rmse == pytest.approx(6e-8, rel=0.05)
    assert single.max_error == double.max_error == pytest.approx(1)


# --- single runs -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [42, 43, 47])
def test_single_baseline_is_the_constant_one_half(seed):
    run = measured(SINGLE, METHODS[0], seed).run
    assert run.rmse == pytest.approx(0.5, rel=0.02)
    assert run.max_error == pytest.approx(0.5, rel=0.02)
    assert run.level == pytest.approx(0.5, rel=0.02)
    assert run.unevenness < 1e-2
    assert run.expected_level == pytest.approx(0.5, rel=0.02)
    assert not run.converged
    assert run.mixture_share is None


def test_gaps_between_random_centres_explain_the_level():
    run = measured(SINGLE, METHODS[1]).run
    assert run.widest_gap > 2 * 2.5 / 300
    assert run.level < 0.1
    assert run.level == pytest.approx(run.expected_level, rel=0.1)
    assert run.max_error > 0.9


def test_adaptive_run_is_measured_and_does_not_resolve_the_layer():
    done = measured(SINGLE, METHODS[2], keep=True)
    run, view = done.run, done.view
    assert (run.kernels, run.solves, len(view.steps)) == (300, 4, 4)
    assert run.max_error > 0.1
    assert run.error_estimate > 0.1
    assert 0 <= run.mixture_share < 0.5
    assert run.narrowest >= 1e-3 * (1 - 1e-9)
    assert run.rows_near < 10
    assert run.density_integral == pytest.approx(1, abs=1e-12)
    for step in view.steps:
        assert np.sum(step.density * step.volumes) == pytest.approx(1, abs=1e-12)
        assert np.mean(step.rows_density) == pytest.approx(1, abs=1e-12)
        assert np.mean(step.rows_squared) == pytest.approx(1, abs=1e-12)
        assert len(step.rows) == 1500


def test_density_integrates_to_one_by_another_rule_too():
    steps = measured(SINGLE, OURS, keep=True).view.steps
    assert np.trapezoid(steps[0].density, steps[0].points) == pytest.approx(1, rel=0.02)


def test_an_exception_becomes_a_failure():
    failed = perform(Task("table", SINGLE, "broken", Broken(), 42)).run
    assert isinstance(failed, Failure)
    assert "out of order" in failed.message


# --- whole plans -----------------------------------------------------------------------------


def test_plan_has_every_part_and_the_papers_seed_first():
    tasks = quick_plan().tasks()
    assert {task.group for task in tasks} == {"table", "sensitivity", "collapse"}
    assert min(task.seed for task in tasks) == 42
    cells = {(t.case.name, t.method) for t in tasks if t.group == "table"}
    assert len(cells) == len(CASES) * len(METHODS)
    full = Plan().tasks()
    assert len({t.seed for t in full if t.group == "table"}) == 20
    assert len({(t.case.name, t.setting) for t in full if t.group == "sensitivity"}) == 24


def test_results_do_not_depend_on_the_number_of_processes():
    plan = TinyPlan(seeds=2, methods=(DRAWN,))
    noted = []
    alone, spread_out = execute(plan, 1, noted.append), execute(plan, 2, noted.append)
    assert bits(alone.runs) == bits(spread_out.runs)
    assert len(noted) == 2 * len(plan.tasks())
    assert alone.views.keys() == spread_out.views.keys()


@pytest.fixture(scope="module")
def mixed(tmp_path_factory) -> tuple[Results, Path]:
    """Results with a method that fails and one that the paper does not have, written out."""
    folder = tmp_path_factory.mktemp("report")
    results = execute(TinyPlan(seeds=2, methods=(SMALL, OURS, BROKEN)))
    with pytest.MonkeyPatch.context() as patch:
        # The command line's tests have all figures, which take longer than all else.
        patch.setattr("sharpfront.paper.output.draw_all", lambda results: iter(()))
        write_all(results, folder, HtmlPage("Test"))
    return results, folder


def test_medians_are_those_of_the_runs(mixed):
    data = json.loads((mixed[1] / "results.json").read_text())
    whole = [cell for cell in data["table1"] if cell["method"] != "broken"]
    assert len(whole) == 2 * len(CASES)
    for cell in whole:
        runs = [
            run
            for run in data["runs"]
            if (run["group"], run["case"], run["method"]) == ("table", cell["case"], cell["method"])
        ]
        assert len(runs) == cell["seeds"] == 2
        for name in ("rmse", "max_error"):
            median = np.median([run[name] for run in runs])
            assert median == pytest.approx(cell[f"{name}_median"], rel=1e-12)


def test_what_finished_is_written_although_a_method_fails(mixed):
    results, folder = mixed
    assert {failure.method for failure in results.failures} == {"broken"}
    assert {run.method for run in results.runs} == {"small", "ours"}
    html = (folder / "report.html").read_text()
    assert "Runs that failed" in html
    assert "out of order" in html
    assert not list(folder.rglob(".*"))


def test_a_further_method_is_one_entry(mixed):
    results, folder = mixed
    assert [cell.method.name for cell in table1(results)] == ["small", "ours", "broken"] * 2
    assert table1(results)[1].published_rmse is None
    assert table1(results)[2].rmse is None
    assert "own-methods" in {finding.key for finding in find(results)}
    assert "Ours" in (folder / "report.html").read_text()
    legend = draw_profile(results, SINGLE).legends[0]
    assert "Ours" in [text.get_text() for text in legend.get_texts()]


def test_json_holds_every_run_and_no_infinity(mixed):
    data = as_json(mixed[0])
    assert len(data["runs"]) == len(mixed[0].runs)
    assert data["failures"][0]["message"].endswith("out of order")


# --- verdicts follow the numbers -------------------------------------------------------------


def synthetic(**changes) -> Results:
    """Results in which every method is perfect, except for the changes."""
    plan = quick_plan()
    runs = [_perfect(task) for task in plan.tasks()]
    return Results(plan, tuple(dataclasses.replace(run, **changes) for run in runs), (), {})


def _perfect(task) -> Run:
    squared = task.group == "collapse"
    return Run(
        group=task.group,
        case=task.case.name,
        method=task.method,
        seed=task.seed,
        setting=task.setting,
        rmse=task.case.published["baseline" if task.method.startswith("rbf") else "adaptive"].rmse,
        max_error=1e-7,
        seconds=0.1,
        kernels=task.case.kernels,
        solves=4,
        condition_first=1e12,
        condition_last=1e8,
        rank=300,
        dead_columns=0,
        rows_near=500,
        rows_inside=100,
        centres_near=100,
        widest_gap=0.01,
        level=0.5,
        unevenness=0.0,
        expected_level=0.5,
        mixture_share=0.9,
        narrowest=1e-4,
        density_integral=1.0,
        length_log=0.8,
        length_squared=0.01,
        mixture_length_first=0.02 if squared else 0.8,
        mixture_length_last=0.8,
        error_estimate=1e-7,
        outcome="converged",
    )


def verdicts(results: Results) -> dict[str, Verdict]:
    return {finding.key: finding.verdict for finding in find(results)}


def test_perfect_numbers_reproduce_everything():
    found = verdicts(synthetic())
    claims = {key: verdict for key, verdict in found.items() if verdict is not Verdict.NOTE}
    assert len(claims) == 7
    assert set(claims.values()) == {Verdict.HOLDS}


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"rmse": 0.4}, "single-baseline"),
        ({"rmse": 0.4}, "double-baseline"),
        ({"rmse": 0.4}, "single-adaptive"),
        ({"mixture_share": 0.1}, "mixture"),
        ({"condition_last": 1e16}, "conditioning"),
        ({"mixture_length_first": 0.5}, "collapse"),
        ({"length_squared": 0.5}, "collapse"),
    ],
)
def test_a_bad_number_turns_its_verdict(changes, key):
    assert verdicts(synthetic(**changes))[key] is Verdict.FAILS


def test_a_small_score_without_the_layer_is_not_enough():
    assert verdicts(synthetic(max_error=1.0))["double-adaptive"] is Verdict.PARTLY


def test_conditioning_that_improves_for_some_seeds_holds_in_part():
    results = synthetic()
    runs = [
        dataclasses.replace(run, condition_last=1e16 if run.seed > 42 else 1e8)
        for run in results.runs
    ]
    mixed = dataclasses.replace(results, runs=tuple(runs))
    assert verdicts(mixed)["conditioning"] is Verdict.PARTLY


def test_no_runs_no_findings():
    assert find(Results(quick_plan(), (), (), {})) == []
