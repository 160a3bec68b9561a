"""``sharpfront solve``: what it prints and writes, and with which code it leaves."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.lazy import Lazy
from tests.problem_file import layer_file
from typer.testing import CliRunner

import sharpfront as sf
from sharpfront.cli import app
from sharpfront.cli.terminal import as_json

drawing = Lazy("matplotlib.figure")

COMMAND = [sys.executable, "-m", "sharpfront.cli"]
LAYER = f"""\
title = "A layer"
{layer_file.LAYER}[exact]
u = "exp((x - 1)/nu)*expm1(-x/nu)/expm1(-1/nu)"
"""
# A jump in the conditions at two points of a curved boundary.
LONG = """\
equation = "-laplacian(u) = 0"
[domain]
disk = { centre = [0, 0], radius = 1 }
parts = { east = "x > 0.1" }
[conditions]
surface = "u = 0"
east = "u = 1"
[solve]
tol = 1e-9
"""
LONG_IN_TIME = """\
equation = "u_t + u*u_x - 1e-3*u_xx = sin(7*t)*sin(pi*x)"
time = [0, 100]
[domain]
interval = [-1, 1]
[conditions]
boundary = "u = 0"
[initial]
u = "-sin(pi*x)"
[solve]
tol = 1e-9
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("layer.toml").write_text(LAYER)
    return tmp_path


def invoke(*arguments):
    return CliRunner().invoke(app, ["solve", *arguments])


def names(folder):
    return sorted(path.name for path in folder.iterdir())


class TestConverged:
    def test_summary_and_solution(self, folder):
        result = invoke("layer.toml")
        assert result.exit_code == 0, result.output
        words = " ".join(result.output.split())
        for part in ("A layer", "nu = 0.0001", "converged.", "Kernels", "Seconds", "layer.npz"):
            assert part in words
        assert "\x1b" not in result.output
        assert all(line == line.rstrip() for line in result.output.splitlines())
        assert names(folder) == ["layer.npz", "layer.toml"]
        solution = sf.load("layer.npz")
        assert solution(1.0) == pytest.approx(1.0, abs=1e-8)

    def test_json_holds_the_facts(self, folder):
        result = invoke("layer.toml", "--json", "--set", "nu=1e-2", "--tol", "1e-9")
        facts = json.loads(result.stdout)
        solution = sf.load("layer.npz")
        assert facts["outcome"] == "converged"
        assert facts["converged"] is True
        assert facts["parameters"] == {"nu": 1e-2}
        assert facts["tol"] == solution.tol == 1e-9
        assert facts["error_estimate"] == solution.error_estimate
        assert facts["kernels"] == solution.kernels
        assert facts["files"] == {"solution": "layer.npz"}
        assert facts["seconds"] > 0
        x = np.linspace(0, 1, 2001)
        exact = np.exp((x - 1) / 1e-2) * np.expm1(-x / 1e-2) / np.expm1(-1 / 1e-2)
        true = np.max(np.abs(solution(x) - exact))
        assert 0.99 * true <= facts["true_error"]["u"] < 1e-9

    def test_quiet_prints_nothing(self, folder):
        result = invoke("layer.toml", "--quiet")
        assert (result.exit_code, result.output) == (0, "")
        assert "layer.npz" in names(folder)

    def test_figure_and_folder(self, folder):
        result = invoke("layer.toml", "--plot", "--out", "a/b")
        assert result.exit_code == 0
        assert names(folder / "a" / "b") == ["layer.npz", "layer.png"]
        assert (folder / "a/b/layer.png").read_bytes().startswith(b"\x89PNG")
        assert "Wrote a/b/layer.png" in result.output

    @pytest.mark.parametrize(("nu", "panels"), [("1e-4", 2), ("1e-7", 2), ("1", 1)])
    def test_the_figure_magnifies_a_layer_beside_the_whole(self, folder, monkeypatch, nu, panels):
        (folder / "layer.toml").write_text(LAYER.replace("1e-4", nu))
        shown = []
        save = drawing.Figure.savefig
        monkeypatch.setattr(
            drawing.Figure,
            "savefig",
            lambda self, *a, **k: (shown.append(self), save(self, *a, **k)),
        )
        assert invoke("layer.toml", "--plot").exit_code == 0
        axes = shown[0].axes
        assert len(axes) == panels
        assert axes[0].get_xlim() == (0, 1)
        assert panels == 1 or "near x = 1, magnified" in axes[1].get_title()

    def test_report(self, folder):
        result = invoke("layer.toml", "--report")
        assert result.exit_code == 0, result.output
        page = (folder / "layer.html").read_text()
        assert page.startswith("<!DOCTYPE html>")
        assert "A layer" in page
        assert names(folder) == ["layer.html", "layer.npz", "layer.toml"]

    def test_max_kernels_reaches_the_solver(self, folder):
        assert json.loads(invoke("layer.toml", "--json").stdout)["kernels"] > 20
        result = invoke("layer.toml", "--json", "--max-kernels", "20")
        facts = json.loads(result.stdout)
        assert result.exit_code == 1
        assert facts["kernels"] <= 20


class TestNotConverged:
    def test_code_1_with_advice_and_files(self, folder):
        Path("free.toml").write_text(
            'equation = "u_xx + 4*exp(u) = 0"\n[domain]\ninterval = [0, 1]\n'
            '[conditions]\nboundary = "u = 0"\n'
        )
        result = invoke("free.toml", "--plot")
        assert result.exit_code == 1
        words = " ".join(result.output.split())
        assert "newton did not converge" in words
        assert "Give a guess=" in words
        assert {"free.npz", "free.png"} <= set(names(folder))

    def test_a_part_without_condition_is_noted(self, folder):
        Path("bare.toml").write_text(
            'equation = "-u_xx = 1"\n[domain]\ninterval = [0, 1]\n[conditions]\nleft = "u = 0"\n'
        )
        result = invoke("bare.toml")
        assert result.exit_code == 1
        assert "no condition on right" in result.output


class TestRefused:
    def test_all_mistakes_with_lines_and_code_2(self, folder):
        Path("bad.toml").write_text(
            LAYER.replace("-nu*", "-nuu*").replace("left", "lefft").replace("[exact]", "[exakt]")
        )
        result = invoke("bad.toml")
        assert result.exit_code == 2
        assert result.stdout == ""
        for place in ("bad.toml:2: equation", "bad.toml:8: conditions.lefft", "bad.toml:10: exakt"):
            assert place in result.stderr
        for word in ("'nu'", "'left'", "'exact'"):
            assert f"Did you mean {word}?" in result.stderr
        assert "3 mistakes" in result.stderr
        assert names(folder) == ["bad.toml", "layer.toml"]

    def test_json_lists_the_mistakes(self, folder):
        Path("bad.toml").write_text(LAYER.replace("-nu*", "-nuu*"))
        result = invoke("bad.toml", "--json")
        assert result.exit_code == 2
        (mistake,) = json.loads(result.stdout)["mistakes"]
        assert (mistake["line"], mistake["column"], mistake["text"]) == (2, 14, "nuu")

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["layer.toml", "--set", "mu=1"], "no parameter 'mu'"),
            (["layer.toml", "--set", "nu"], "NAME=VALUE"),
            (["layer.toml", "--set", "nu=q"], "'q' is not known"),
            (["layer.toml", "--tol", "2"], "between 0 and 1"),
            (["layer.toml", "--max-kernels", "0"], "'--max-kernels'"),
            (["nothing.toml"], "No such file"),
            (["layer.toml", "--out", "layer.toml"], "wants a folder"),
            (["layer.toml", "--colour"], "No such option"),
            ([], "FILE"),
        ],
    )
    def test_bad_options(self, folder, arguments, words):
        result = invoke(*arguments)
        assert result.exit_code == 2
        assert words in " ".join(result.stderr.split())
        assert names(folder) == ["layer.toml"]

    def test_what_shows_only_while_solving(self, folder):
        Path("pole.toml").write_text(LAYER.replace("u_x =", "u_x/(x - 0.5) ="))
        result = invoke("pole.toml", "--out", "new")
        assert result.exit_code == 2
        assert "finite" in result.stderr
        assert not Path("new").exists()


# Interrupts itself as soon as there is something to interrupt, inside exec, where modules may be
# while they are loaded: Python then ends by the signal, whoever catches it, unless kept from it.
INTERRUPTED = """
import signal, sys
from sharpfront.cli import main
from sharpfront.problem_file import Statement
solve = Statement.solve
def on_step(record):
    if getattr(record, "time", 1.0) > 0.01:
        exec("signal.raise_signal(signal.SIGINT)", {"signal": signal})
Statement.solve = lambda self, **options: solve(self, **options | {"on_step": on_step})
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""


def interrupted(source, folder):
    """Return how a solve ended that was interrupted after a step."""
    (folder / "long.toml").write_text(source)
    (folder / "stopped.py").write_text(INTERRUPTED)
    done = subprocess.run(
        [sys.executable, "-m", "stopped", "solve", "long.toml", "--out", "out", "--plot"],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


def test_interrupt_gives_130_and_leaves_nothing(tmp_path):
    printed, complaints = interrupted(LONG, tmp_path)
    assert printed == ""
    assert "Interrupted" in complaints
    assert names(tmp_path) == ["long.toml", "stopped.py"]


def test_an_interrupted_problem_in_time_keeps_what_it_has(tmp_path):
    printed, _ = interrupted(LONG_IN_TIME, tmp_path)
    assert "interrupted" in printed
    assert names(tmp_path / "out") == ["long.npz", "long.png"]
    solution = sf.load(tmp_path / "out" / "long.npz")
    reached = solution.domain.time[1]
    assert 0.01 < reached < 100
    assert solution(0.0, reached) == pytest.approx(0.0, abs=1e-6)


def on_a_terminal(arguments, folder):
    """Run the command on a terminal of 80 columns; return all that it shows."""
    pty = pytest.importorskip("pty", reason="a terminal to look at is needed")
    screen, terminal = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdout=terminal,
        stderr=terminal,
        cwd=folder,
        env=os.environ | {"COLUMNS": "80", "TERM": "xterm", "OPENBLAS_NUM_THREADS": "1"},
    )
    os.close(terminal)
    seen = b""
    while True:
        try:
            piece = os.read(screen, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.close(screen)
    return process.wait(timeout=60), seen.decode()


def test_a_terminal_shows_progress_and_colours(folder):
    # Many steps: what ends between two frames of the display is not seen.
    Path("forced.toml").write_text(
        'equation = "u_t = 0.01*u_xx + x*sin(100*t)"\ntime = [0, 2]\n'
        "[domain]\ninterval = [0, 1]\n"
        '[conditions]\nboundary = "u = 0"\n[initial]\nu = "0"\n[solve]\ntol = 1e-6\n'
    )
    code, seen = on_a_terminal(["solve", "forced.toml"], folder)
    assert code == 0
    assert "t = " in seen
    assert "kernels, estimate" in seen
    assert "\x1b[32mconverged." in seen
    code, seen = on_a_terminal(["solve", "layer.toml", "--quiet"], folder)
    assert (code, seen) == (0, "")


def test_the_command_line_is_light():
    heavy = ("matplotlib", "sklearn", "pydantic", "sharpfront.problem_file", "sharpfront.catalog")
    check = f"import sys, sharpfront.cli;print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError("disk full")])
def test_a_figure_is_whole_or_not_there(folder, monkeypatch, error):
    def broken(self, path, **options):
        Path(path).write_bytes(b"half")
        raise error

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", broken)
    result = invoke("layer.toml", "--plot")
    assert result.exit_code == (130 if error is KeyboardInterrupt else 0)
    assert ("Interrupted" if error is KeyboardInterrupt else "disk full") in result.output
    assert names(folder) == ["layer.npz", "layer.toml"]
    assert sf.load("layer.npz").converged


@pytest.mark.parametrize("options", [(), ("--tol", "1e-14")], ids=["converged", "stalled"])
@pytest.mark.parametrize("failure", [ValueError("no"), KeyError("x"), sf.SharpfrontError("odd")])
def test_a_report_that_fails_changes_no_verdict(folder, monkeypatch, failure, options):
    def broken(*args, **named):
        raise failure

    before = invoke("layer.toml", "--json", *options)
    monkeypatch.setattr("sharpfront.problem_file.statement.solve_report", broken)
    after = invoke("layer.toml", "--json", "--report", *options)
    facts = [json.loads(r.stdout) for r in (before, after)]
    assert before.exit_code == after.exit_code
    assert facts[0]["outcome"] == facts[1]["outcome"]
    assert facts[0]["converged"] == facts[1]["converged"]
    assert "No report was written" in facts[1]["notes"][0]


def test_an_exact_solution_that_cannot_be_evaluated_is_a_note(folder):
    source = Path("layer.toml").read_text().replace("expm1(-1/nu)", "0*x")
    Path("broken.toml").write_text(source)
    done = invoke("broken.toml", "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["true_error"] in (None, {"u": None})


@pytest.mark.parametrize(
    "escape", ["\x1b[31m", "\x1b]0;t\x07", "\x9b2J", "\x7f", "\u202e"], ids=ascii
)
def test_no_control_character_reaches_the_terminal(folder, escape):
    wanted = "".join(f"\\u{ord(c):04x}" for c in escape)
    good = LAYER.replace("A layer", f"A {wanted} layer")
    Path("good.toml").write_text(good)
    Path("bad.toml").write_text(good.replace("u_xx", f"{wanted}u_xx"))
    Path(f"{escape}.toml").write_text("equation =")
    for arguments in (("good.toml",), ("bad.toml",), (f"{escape}.toml",), ("no" + escape,)):
        for more in ((), ("--json",)):
            shown = invoke(*arguments, *more)
            assert not set(escape) & set(shown.output) & set("\x1b\x07\x9b\x7f\u202e")


def test_json_has_no_number_that_is_none():
    assert json.loads(as_json({"a": [np.inf, float("nan"), 1.5], "b": None})) == {
        "a": [None, None, 1.5],
        "b": None,
    }
