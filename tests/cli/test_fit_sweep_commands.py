"""``sharpfront fit`` and ``sharpfront sweep``."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from sharpfront.cli import app

FILE = """
equation = "-nu*u_xx + c*u_x = 0"
[domain]
interval = [0, 1]
[parameters]
nu = 0.1
c = 1
[conditions]
left = "u = 0"
right = "u = 1"
[solve]
tol = 1e-6
[free]
nu = {start = 0.2, positive = true}
[data]
file = "measured.csv"
sigma = 0.01
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "layer.toml").write_text(FILE)
    x = np.linspace(0.3, 0.95, 12)
    u = np.expm1(x / 0.08) / np.expm1(1 / 0.08)
    u += 0.01 * np.random.default_rng(0).standard_normal(12)
    lines = ["x,u", *(f"{a},{b}" for a, b in zip(x, u, strict=True))]
    (tmp_path / "measured.csv").write_text("\n".join(lines))
    return tmp_path


def invoke(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_a_fit_from_files(folder):
    result = invoke("fit", "layer.toml", "--json", "--report")
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    nu = found["parameters"]["nu"]
    assert abs(nu["value"] - 0.08) < 4 * nu["stderr"] and found["identifiable"]
    assert (folder / "layer-fit.html").exists()
    again = invoke("fit", "layer.toml", "measured.csv", "--set", "c=2*0.5", "--starts", "2")
    assert again.output.startswith(f"nu = {nu['value']:.6g} +-") and "starts" in again.output
    twice = json.loads(invoke("fit", "layer.toml", "--set", "c=4/2", "--json").output)
    assert twice["parameters"]["nu"]["value"] == pytest.approx(2 * nu["value"], rel=1e-3)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("nu = {start", "mu = {start", "'mu' is not a parameter of the file"),
        ("positive = true", "positive = 3", "Expected true or false"),
        ("start = 0.2", "begin = 0.2", "'begin' is not a word of"),
        ("start = 0.2", "start = -0.2", "start of a free parameter"),
        ("measured.csv", "nothing.csv", "Cannot read"),
    ],
)
def test_mistakes_are_named(folder, old, new, words):
    (folder / "layer.toml").write_text(FILE.replace(old, new))
    result = invoke("fit", "layer.toml")
    assert result.exit_code == 2 and words in " ".join(result.output.split())


def test_a_table_with_a_word_in_it_names_the_line(folder):
    (folder / "measured.csv").write_text("x,u\n0.5,0.1\n0.6,none\n")
    result = invoke("fit", "layer.toml")
    assert result.exit_code == 2 and "line 3" in result.output


def test_a_sweep_writes_a_table_and_goes_on(folder):
    asked = ("sweep", "layer.toml", "--over", "nu=0.05:0.2:3log", "--over", "c=1,2", "--at", "0.9")
    result = invoke(*asked)
    assert result.exit_code == 0, result.output
    lines = (folder / "layer-sweep.csv").read_text().splitlines()
    assert lines[0] == "nu,c,u(0.9),error_estimate,converged" and len(lines) == 7
    nu, c, u = map(float, lines[4].split(",")[:3])
    assert (nu, c) == (pytest.approx(0.1), 2.0)
    assert u == pytest.approx(np.expm1(18.0) / np.expm1(20.0), abs=1e-6)
    assert invoke(*asked).exit_code == 2
    assert invoke(*asked, "--resume").exit_code == 0
    assert invoke("sweep", "layer.toml", "--over", "nu=1:2").exit_code == 2


def test_a_sweep_that_fails_says_why(folder):
    result = invoke("sweep", "layer.toml", "--over", "nu=0.1,0.2", "--at", "2", "--quiet")
    assert result.exit_code == 1 and not result.output
    result = invoke("sweep", "layer.toml", "--over", "nu=0.1,0.2", "--at", "2", "--resume")
    assert result.exit_code == 1 and result.output.count("outside the domain") == 1
    result = invoke("sweep", "layer.toml", "--over", "nu=0:1:3log", "--at", "0.5")
    assert result.exit_code == 2 and "above zero" in result.output
