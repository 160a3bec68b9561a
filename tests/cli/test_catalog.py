"""``sharpfront catalog``: list, show and run."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sharpfront.catalog import listing
from sharpfront.cli import app


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_the_list_has_a_line_for_every_problem():
    result = invoke("catalog")
    assert result.exit_code == 0
    lines = result.output.splitlines()[1:]
    assert [line.split()[0] for line in lines] == list(listing())
    (layer,) = (line for line in lines if line.startswith("single-layer "))
    for part in (" 1 ", "nu = 0.0001", "-nu u'' + u' = 0 on (0, 1), u(0) = 0, u(1) = 1"):
        assert part in layer


@pytest.mark.parametrize("name", ["single-layer", "pinned-shock", "channel", "travelling-shock"])
def test_what_is_shown_can_be_solved(name):
    shown = invoke("catalog", "show", name)
    assert shown.exit_code == 0
    Path("shown.toml").write_text(shown.output)
    solved = invoke("solve", "shown.toml", "--json", "--tol", "1e-4")
    assert solved.exit_code == 0, solved.output
    assert max(json.loads(solved.stdout)["true_error"].values()) < 1e-3


def test_run_measures_against_the_exact_solution():
    result = invoke("catalog", "run", "single-layer", "--nu", "1e-6", "--json")
    facts = json.loads(result.stdout)
    assert result.exit_code == 0
    assert facts["parameters"] == {"nu": 1e-6}
    assert 0 < facts["true_error"]["u"] < 1e-8
    assert Path("single-layer.npz").exists()


def test_run_takes_the_parameter_by_its_own_name_and_the_options_of_solve():
    result = invoke("catalog", "run", "oscillation", "--set", "k=10", "--tol", "1e-6", "--plot")
    assert result.exit_code == 0
    assert "k = 10" in result.output
    assert "asked for 1.0e-06" in result.output
    assert Path("oscillation.png").exists()


def test_run_starts_from_the_guess_of_the_entry():
    facts = json.loads(invoke("catalog", "run", "bratu-upper", "--json").stdout)
    assert facts["true_error"]["u"] < 1e-6


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["show", "single-lair"], "Did you mean 'single-layer'?"),
        (["run", "single-lair"], "Did you mean 'single-layer'?"),
        (["show", "hump"], "cannot be written as a problem file"),
        (["run", "single-layer", "--set", "eps=1"], "the parameter of single-layer is 'nu'"),
        (["run", "single-layer", "--set", "nu=pi"], "wants a number"),
        (["run", "bratu", "--nu", "4"], "cannot be stated for k = 4"),
        (["run", "single-layer", "--tol", "1"], "between 0 and 1"),
    ],
)
def test_refused(arguments, words, folder):
    result = invoke("catalog", *arguments)
    assert result.exit_code == 2, result.output
    assert words in " ".join(result.output.split())
    assert list(folder.iterdir()) == []
