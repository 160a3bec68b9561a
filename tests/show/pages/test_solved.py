"""The page of a solution, without a browser."""

import base64
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from tests.show import solutions
from tests.show.markup import read

import sharpfront as sf
from sharpfront.errors import ProblemError
from sharpfront.show import solve_report
from sharpfront.show.pages.drawn_data import doubles, levels, singles, to_json
from sharpfront.show.pages.sections import sci

LARGEST = 3_000_000


@pytest.fixture(scope="module", params=solutions.ALL)
def made(request):
    solution = solutions.ALL[request.param]()
    return request.param, solution, solve_report(solution, title="A <title>")


def data_of(page):
    return json.loads(re.search(r'id="report-data">(.*?)</script>', page, re.DOTALL).group(1))


def unpacked(packed):
    kind = next(k for k in ("f8", "f4", "u2") if k in packed)
    return np.frombuffer(base64.b64decode(packed[kind]), f"<{kind}")


def test_every_kind_is_one_small_page_that_needs_nothing(made):
    _, _, page = made
    assert len(page.encode()) < LARGEST
    body = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    for tag, attributes in read(re.sub(r"<wbr>|<input[^>]*>", "", body)).tags:
        assert tag not in {"link", "iframe", "object", "img"}
        for name in ("src", "href", "srcset", "data"):
            assert attributes.get(name, "#").startswith("#")
    assert not re.search(r"https?://|url\(|@import|fetch\(|XMLHttpRequest", page)


def test_words_of_every_kind(made):
    name, solution, page = made
    assert "<h1>A &lt;title&gt;</h1>" in page
    assert f">{str(solution.outcome.kind).capitalize()}</p>" in page
    assert solution.estimate.meaning.split()[0] in page
    assert f"tol={solution.tol!r}" in page
    assert ("<math>" in page) == (name != "loaded")
    data = data_of(page)
    assert len(data["notes"]) == len(
        data["states"] if data["kind"] == "line" else data["planes"][0]["states"]
    )


def test_the_numbers_are_those_of_the_solution():
    solution = solutions.layer()
    data = data_of(solve_report(solution, title="t"))
    frame = data["frames"][0]
    x, u = unpacked(frame["x"]), unpacked(frame["values"]["u"])
    assert x[0] == 0
    assert x[-1] == 1
    assert np.all(np.diff(x) > 0)
    assert np.max(np.abs(u - solution(x))) < 1e-6
    centres = unpacked(data["states"][-1]["kernels"]["u"]["c"])
    assert np.allclose(centres, np.sort(solution.approximation.bases["u"].centres[:, 0]))


def test_points_follow_the_layer():
    x = unpacked(data_of(solve_report(solutions.shock(), title="t"))["frames"][0]["x"])
    assert np.sum(np.abs(x - 0.5) < 0.01) > 0.1 * len(x)


def test_steps_have_their_own_kernels():
    solution = solutions.shock()
    states = data_of(solve_report(solution, title="t"))["states"]
    counts = [len(unpacked(s["kernels"]["u"]["c"])) for s in states]
    assert counts == [r.kernels for r in solution.history]
    assert len(set(counts)) > 1


def test_maps_hold_the_plane():
    solution = solutions.plane()
    plane = data_of(solve_report(solution, title="t"))["planes"][0]
    x, y = unpacked(plane["x"]), unpacked(plane["y"])
    u = unpacked(plane["frames"][0]["u"]).reshape(len(y), len(x))
    assert np.max(np.abs(u - solution(x[None, :], y[:, None]))) < 1e-6


def test_several_unknowns_share_a_fine_grid():
    plane = data_of(solve_report(solutions.pair(), title="t"))["planes"][0]
    assert len(unpacked(plane["x"])) == len(unpacked(plane["y"])) >= 60
    assert {"u", "v"} <= set(plane["frames"][0])


def test_shapes_are_missing_outside():
    plane = data_of(solve_report(solutions.pierced(), title="t"))["planes"][0]
    x, y = unpacked(plane["x"]), unpacked(plane["y"])
    u = unpacked(plane["frames"][0]["u"]).reshape(len(y), len(x))
    away = np.hypot(x[None, :] - 0.5, y[:, None] - 0.5)
    assert np.isnan(u[away < 0.1]).all()
    assert np.isfinite(u[away > 0.2]).all()
    assert len(plane["outline"]) == 2


def test_three_planes_in_space():
    planes = data_of(solve_report(solutions.cube(), title="t"))["planes"]
    assert [p["title"] for p in planes] == ["z = 0.5", "y = 0.5", "x = 0.5"]
    assert [p["axes"] for p in planes] == [["x", "y"], ["x", "z"], ["y", "z"]]


def test_moments_follow_the_front():
    solution = solutions.line_in_time()
    data = data_of(solve_report(solution, title="t"))
    assert data["inTime"]
    assert len(data["frames"]) == len(data["states"]) == 61
    middles = [unpacked(s["mixture"]["c"])[0] for s in data["states"]]
    assert np.allclose(middles[6:], 0.2 + 0.5 * np.linspace(0, 1, 61)[6:])
    last = data["frames"][-1]
    x = unpacked(last["x"])
    assert np.max(np.abs(unpacked(last["values"]["u"]) - solution(x, 1.0))) < 1e-6


def test_kernels_at_a_moment_are_those_of_the_basis():
    solution = solutions.burgers()
    states = data_of(solve_report(solution, title="t"))["states"]
    slab = solution.approximation.bases["u"].slabs[-1]
    centres = unpacked(states[-1]["kernels"]["u"]["c"])
    assert np.allclose(centres, np.sort(slab.at(0.5).positions[0], axis=None))
    assert np.array_equal(
        unpacked(states[-1]["mixture"]["c"]), np.sort(solution.history[-1].mixture.means[:, 0])
    )


def test_components_that_went_round_come_back():
    states = data_of(solve_report(solutions.ring(), title="t"))["states"]
    for state in states:
        for each in (state["mixture"], *state["kernels"].values()):
            assert np.all(np.abs(unpacked(each["c"])) <= 1)


def test_maps_of_moments_are_rougher():
    solution = solutions.plane_in_time()
    plane = data_of(solve_report(solution, title="t"))["planes"][0]
    x, y, packed = unpacked(plane["x"]), unpacked(plane["y"]), plane["frames"][15]["u"]
    u = packed["low"] + unpacked(packed) * (packed["high"] - packed["low"]) / 65534
    expected = solution(x[None, :], y[:, None], 0.5)
    assert np.max(np.abs(u.reshape(len(y), len(x)) - expected)) < 1e-4


def test_the_true_error_is_measured():
    solution = solutions.layer()
    page = solve_report(
        solution, title="t", exact=lambda x: solutions.exact_layer(x) + 1e-3, statement="*Words*."
    )
    assert "<dt>True error</dt><dd>10<sup>−3</sup>" in page
    assert "<em>Words</em>." in page
    error = unpacked(data_of(page)["frames"][0]["values"]["error u"])
    assert np.allclose(error, -3, atol=1e-3)
    assert "True error" not in solve_report(solution, title="t")


@pytest.mark.parametrize("since", [0.1, 0.5])
def test_the_true_error_is_measured_from_when_on_the_estimate_holds(since):
    solution = solutions.line_in_time()

    def exact(x, t):
        # Wrong by much before, and by little from then on.
        return solution(x, t) + np.where(t < since, 0.7, 1e-3)

    late = replace(solution, estimate=replace(solution.estimate, since=since))
    assert "<dt>True error</dt><dd>10<sup>−3</sup>" in solve_report(late, title="t", exact=exact)
    assert "<dt>True error</dt><dd>0.41" in solve_report(solution, title="t", exact=exact)


def test_the_true_error_of_several_unknowns():
    pair = solutions.pair()
    both = solve_report(pair, title="t", exact=lambda x, y: (0 * x, 0 * y))
    one = solve_report(pair, title="t", exact={"v": lambda x, y: 0 * x})
    kinds = [[q["key"] for q in data_of(p)["quantities"]] for p in (both, one)]
    assert kinds == [
        ["u", "v", "residual", "error u", "error v"],
        ["u", "v", "residual", "error v"],
    ]
    with pytest.raises(ProblemError, match="exact= names w; the unknowns are u, v"):
        solve_report(pair, title="t", exact={"w": lambda x, y: x})


def test_nothing_breaks_out_of_the_page():
    evil = "</script><script>alert(1)</script>"
    solution = solutions.layer()
    page = solve_report(
        replace(solution, estimate=replace(solution.estimate, meaning=evil)),
        title=evil,
        statement=evil,
        settings={evil: evil},
    )
    assert "<script>alert" not in page
    assert to_json({"a": "</script>"}) == '{"a":"\\u003c/script>"}'


def test_a_problem_file_is_shown_as_it_is():
    page = solve_report(solutions.layer(), title="t", statement='a = "*b*"\n[domain]\n')
    assert "<pre><code>a = &quot;*b*&quot;\n[domain]</code></pre>" in page


def test_settings_are_shown():
    page = solve_report(solutions.layer(), title="t", settings={"seed": 7, "file": "layer.toml"})
    assert "seed=7" in page
    assert "layer.toml" in page


def test_numbers_of_the_page():
    assert [sci(v) for v in (0, 0.5, 1e-4, 2.5e-7, np.inf, np.nan)] == [
        *("0", "0.5", "10<sup>−4</sup>", "2.5 × 10<sup>−7</sup>", "∞", "unknown"),
    ]
    assert to_json([np.nan, np.float64(1.5), np.int64(2), True, None]) == "[null,1.5,2,true,null]"
    assert len(base64.b64decode(doubles([1, 2])["f8"])) == 16
    assert len(base64.b64decode(singles([1, 1e300])["f4"])) == 8
    packed = levels([0.0, np.nan, 2.0])
    assert list(unpacked(packed)) == [0, 65535, 65534]
    assert list(unpacked(levels([3.0, 3.0]))) == [0, 0]


def test_a_solution_writes_its_page(tmp_path):
    path = solutions.layer().report(tmp_path / "layer.html")
    assert "<title>layer</title>" in path.read_text(encoding="utf-8")
    assert list(tmp_path.iterdir()) == [path]


def test_solutions_without_history_or_kernels_known():
    bare = replace(solutions.layer(), history=())
    assert "No history was kept" in solve_report(bare, title="t")


def test_round_domains():
    problem = sf.Problem(
        sf.Disk((0, 0), 1), lambda u, x, y: -sf.laplacian(u) - 1, boundary=lambda u, x, y: u
    )
    (plane,) = data_of(solve_report(sf.solve(problem, tol=0.5), title="t"))["planes"]
    corners = unpacked(plane["outline"][0]).reshape(-1, 2)
    assert np.allclose(np.hypot(*corners.T), 1, atol=1e-3)
