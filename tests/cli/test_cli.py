from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import sharpfront
import sharpfront.paper
from sharpfront.adapt import Uniform
from sharpfront.cli import app
from sharpfront.paper import Plan, sci
from sharpfront.paper.cases import CASES, METHODS, Method

COMMAND = [sys.executable, "-m", "sharpfront.cli"]
FIGURES = [
    *(f"{kind}-{case.name}" for kind in ("profile", "density", "collapse") for case in CASES),
    "scatter",
    "condition",
    "sensitivity",
]


class Broken:
    leastsquares = None

    def start(self, problem, tol, seed):
        raise ValueError("out of order")


class TinyPlan(Plan):
    def tasks(self):
        return list(self._table())


def tiny(*methods):
    return lambda seeds=None: TinyPlan(seeds=seeds or 1, methods=methods)


GOOD = Method("good", "Good", "Small.", lambda case: Uniform(kernels=20), "#000000", "baseline")
BAD = Method("bad", "Bad", "Raises.", lambda case: Broken(), "#aa0000", "baseline")


@pytest.fixture(scope="module")
def quick(tmp_path_factory) -> SimpleNamespace:
    """One quick run with few kernels and rows; others below work in more processes."""
    out = tmp_path_factory.mktemp("quick") / "report"
    options = ["paper", "--quick", "--seeds", "1", "--jobs", "1", "--out", str(out)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sharpfront.paper.cases, "COLLOCATION", 200)
        for case in CASES:
            patch.setitem(vars(case), "kernels", case.kernels // 10)
        done = CliRunner().invoke(app, options)
    return SimpleNamespace(
        out=out, code=done.exit_code, printed=done.stdout, complaints=done.stderr
    )


@pytest.fixture(scope="module")
def data(quick):
    return json.loads((quick.out / "results.json").read_text())


def test_quick_run_succeeds_and_is_quiet_in_a_pipe(quick):
    assert quick.code == 0, quick.complaints
    assert quick.complaints == ""
    assert "\x1b" not in quick.printed
    assert str(quick.out / "report.html") in quick.printed


def test_quick_run_writes_every_file_whole(quick):
    names = {str(path.relative_to(quick.out)) for path in quick.out.rglob("*") if path.is_file()}
    assert names == {
        "results.json",
        "table1.csv",
        "runs.csv",
        "sensitivity.csv",
        "report.html",
        *(f"figures/{name}.{ending}" for name in FIGURES for ending in ("png", "svg")),
    }
    for name in FIGURES:
        assert (quick.out / f"figures/{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (quick.out / f"figures/{name}.svg").read_text().rstrip().endswith("</svg>")


def test_printed_table_is_that_of_the_files(quick, data):
    with (quick.out / "table1.csv").open() as file:
        rows = list(csv.DictReader(file))
    lines = [line for line in quick.printed.splitlines() if "layer  " in line]
    assert len(rows) == len(data["table1"]) == len(lines) == len(CASES) * len(METHODS)
    for line, row, cell in zip(lines, rows, data["table1"], strict=True):
        for name in ("rmse", "max_error"):
            assert float(row[f"{name}_median"]) == cell[f"{name}_median"]
            parts = [sci(cell[f"{name}_{part}"]) for part in ("median", "first", "third")]
            assert "{} [{}, {}]".format(*parts) in line
        assert sci(cell["paper_rmse"]) in line


def test_density_integrates_to_one_in_every_run(data):
    for run in data["runs"]:
        assert run["density_integral"] == pytest.approx(1, abs=1e-9)


def test_page_needs_nothing_from_elsewhere(quick):
    text = (quick.out / "report.html").read_text()
    reader = _Reader()
    reader.feed(text)
    assert not reader.outside
    assert reader.images == len(FIGURES)
    assert "url(" not in re.sub(r"base64,[A-Za-z0-9+/=]*", "", text)


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.outside, self.images = [], 0

    def handle_starttag(self, tag, attrs):
        self.images += tag == "img"
        for name, value in attrs:
            wants = name in {"src", "href", "srcset", "data", "action", "background", "poster"}
            if wants and not (value or "").startswith(("#", "data:")):
                self.outside.append((tag, name, value))
        if tag in {"link", "iframe"}:
            self.outside.append((tag, "", ""))


def test_page_gives_the_mixture_share_of_every_method_and_seed(quick, data):
    text = (quick.out / "report.html").read_text()
    shares = text[text.index('id="where-the-mixtures-went"') :]
    shares = shares[: shares.index("</table>")]
    with_mixture = [
        run for run in data["runs"] if run["group"] == "table" and run["method"].startswith("gmm")
    ]
    assert len(with_mixture) == 2 * 2
    for run in with_mixture:
        assert f">{100 * run['mixture_share']:.1f}\u00a0%<" in shares
    assert "<span>42</span>" in shares


def test_page_tells_of_the_twin_problem_and_every_finding(quick, data):
    text = (quick.out / "report.html").read_text()
    assert "twin" in text
    assert "KAPI-ELM" in text
    for finding in data["findings"]:
        assert f'id="{finding["key"]}"' in text
        for name in finding["figures"]:
            assert f"figures/{name}.svg" in text


@pytest.mark.parametrize("seconds", [0.0, 1.5])
def test_interrupt_gives_130_and_leaves_nothing(tmp_path, seconds):
    """While it loads what it needs, and while others work for it."""
    out = tmp_path / "report"
    process = subprocess.Popen(
        [*COMMAND, "paper", "--quick", "--seeds", "1", "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Under nohup or in the background of a script, where the tests may run, it is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while not out.exists() and time.monotonic() < deadline:
        time.sleep(0.005)
    time.sleep(seconds)
    # As a terminal does it: to the workers as well.
    os.killpg(process.pid, signal.SIGINT)
    printed, complaints = process.communicate(timeout=120)
    assert process.returncode == 130
    assert printed == ""
    assert "Interrupted" in complaints
    assert "Traceback" not in complaints
    assert not out.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["paper", "--seeds", "0"],
        ["paper", "--seeds", "many"],
        ["paper", "--jobs", "0"],
        ["paper", "--colour"],
        ["nonsense"],
    ],
)
def test_bad_input_gives_2(arguments):
    assert CliRunner().invoke(app, arguments).exit_code == 2


@pytest.mark.parametrize("below", ["", "folder"])
def test_a_file_in_the_place_of_the_folder_gives_2(tmp_path, below):
    taken = tmp_path / "taken"
    taken.write_text("mine")
    result = CliRunner().invoke(app, ["paper", "--out", str(taken / below)])
    assert result.exit_code == 2
    assert "wants a folder" in result.output
    assert taken.read_text() == "mine"


@pytest.fixture
def no_figures(monkeypatch):
    """Leave out the figures, which take longer than all else."""
    monkeypatch.setattr("sharpfront.paper.output.draw_all", lambda results: iter(()))


@pytest.mark.usefixtures("no_figures")
def test_a_failed_experiment_gives_1_and_the_rest_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(sharpfront.paper, "quick_plan", tiny(GOOD, BAD))
    result = _invoke(tmp_path, "--quick")
    assert result.exit_code == 1
    assert "out of order" in result.output
    assert "Good" in result.output
    assert "Runs that failed" in (tmp_path / "report.html").read_text()


@pytest.mark.usefixtures("no_figures")
def test_quiet_prints_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(sharpfront.paper, "full_plan", tiny(GOOD))
    result = _invoke(tmp_path, "--quiet", "--seeds", "2")
    assert (result.exit_code, result.output) == (0, "")
    assert json.loads((tmp_path / "results.json").read_text())["seeds"] == 2


def _invoke(out: Path, *arguments: str):
    return CliRunner().invoke(app, ["paper", "--jobs", "1", "--out", str(out), *arguments])


def test_version():
    result = CliRunner().invoke(app, ["--version"])
    assert (result.exit_code, result.output) == (0, f"sharpfront {sharpfront.__version__}\n")


def test_importing_the_command_line_is_light():
    check = (
        "import sys, sharpfront.cli;"
        "print([m for m in ('matplotlib', 'sklearn', 'sharpfront.paper') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
