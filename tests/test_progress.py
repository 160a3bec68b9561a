"""What a solve says while it runs: nothing, lines in a log, or a bar."""

import io
import logging
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

import sharpfront as sf
from sharpfront.history import Known, TimeStep
from sharpfront.mixture import Mixture
from sharpfront.progress import _share, log_step, told

PROBLEM = """
import sharpfront as sf
problem = sf.Problem(sf.Interval(0, 1), "-0.01*u_xx + u_x = 0", left="u = 0", right="u = 1")
"""


def problem():
    return sf.Problem(sf.Interval(0, 1), "-0.01*u_xx + u_x = 0", left="u = 0", right="u = 1")


def step(time):
    mixture = Mixture(np.ones(1), np.array([[0.25]]), np.array([[[1e-4]]]))
    return TimeStep(3, time, 0.01, 40, 1e-6, 4, 0.1, Known(mixture, np.zeros(1)))


def test_solving_says_nothing_by_default(capfd):
    code = f"{PROBLEM}sf.solve(problem)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


def test_a_bar_stays_away_from_pipes():
    code = f"{PROBLEM}sf.solve(problem, progress=True)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert (done.stdout.strip(), done.stderr.strip()) == (b"", b"")


def test_one_line_for_each_solve(caplog):
    with caplog.at_level(logging.INFO, logger="sharpfront"):
        solution = sf.solve(problem())
    lines = [r.getMessage() for r in caplog.records]
    assert lines == [record.words for record in solution.history]
    assert lines[0].startswith(f"solve 0: {solution.history[0].kernels} kernels, estimated error")


def test_details_on_request(caplog):
    with caplog.at_level(logging.DEBUG, logger="sharpfront"):
        log_step(step(0.5))
    levels = [r.levelname for r in caplog.records]
    assert levels == ["INFO", "DEBUG", "DEBUG"]
    words = [r.getMessage() for r in caplog.records]
    assert words[0] == "step 3: t = 0.5, dt = 1.00e-02, 40 kernels, estimated error 1.00e-06"
    assert "iterations 4" in words[1]
    assert words[2] == "mixture: 1 components at 0.25"


def test_the_users_own_function_is_called_too():
    seen = []
    solution = sf.solve(problem(), on_step=seen.append, progress=True)
    assert tuple(seen) == solution.history


def test_a_bar_on_a_terminal():
    screen = Console(file=io.StringIO(), force_terminal=True, width=120)
    with told(None, shown=True, tol=1e-8, span=(0, 2), console=screen) as tell:
        tell(step(1.0))
        tell(step(2.0))
    text = screen.file.getvalue()
    assert "step 3: t = 2" in text


def test_a_notebook_has_one_bar_that_changes(monkeypatch):
    shown = []
    handle = SimpleNamespace(update=shown.append)
    display = SimpleNamespace(
        HTML=str, display=lambda first, display_id: shown.append(first) or handle
    )
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    solution = sf.solve(problem(), progress=True)
    assert len(shown) == 1 + len(solution.history)
    assert 'value="0.000"' in shown[0]
    assert 'value="1.000"' in shown[-1]
    assert f"{solution.kernels} kernels" in shown[-1]


def test_a_failing_solve_takes_its_bar_down():
    screen = Console(file=io.StringIO(), force_terminal=True, width=120)
    with pytest.raises(KeyboardInterrupt), told(None, shown=True, tol=0.1, console=screen):
        raise KeyboardInterrupt
    # The cursor is back.
    assert screen.file.getvalue().endswith("\x1b[?25h")


@pytest.mark.parametrize(
    ("first", "now", "share"),
    [(1, 1e-4, 0.5), (1, 1e-8, 1), (1, 1e-9, 1), (1e-3, 1, 0), (np.nan, 1, 0), (1, np.inf, 0)],
)
def test_the_bar_counts_digits(first, now, share):
    assert _share(first, now, 1e-8) == pytest.approx(share)


def test_every_solve_of_a_continuation_is_told():
    seen = []
    solution = sf.solve(
        lambda nu: sf.Problem(
            sf.Interval(0, 1),
            lambda u, x: -nu * u.dxx + u * u.dx,
            left=lambda u, x: u - 1,
            right=lambda u, x: u,
        ),
        continuation=[1.0, 0.1],
        on_step=seen.append,
        progress=True,
    )
    assert len(seen) == len(solution.history)
