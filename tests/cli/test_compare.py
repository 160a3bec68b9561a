"""``sharpfront compare``: a table, a page, a picture, JSON, and refusals with words."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sharpfront.cli import app
from sharpfront.rivals.table import RIVALS

QUICK = ("--methods", "chebyshev,lines", "--seconds", "0.05")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(*arguments):
    return CliRunner().invoke(app, ["compare", *arguments])


def test_the_table_says_who_ran_and_who_did_not():
    result = invoke("single-layer", "--nu", "1e-2", *QUICK, "--html", "--plot", "--out", "found")
    assert result.exit_code == 0, result.output
    for words in ("sharpfront", "Chebyshev collocation", "does not apply", "Published: KAPI-ELM"):
        assert words in result.output
    assert Path("found/single-layer-compare.html").read_text().startswith("<!DOCTYPE html>")
    assert Path("found/single-layer-compare.png").stat().st_size > 10_000


def test_json_of_a_file_has_every_run():
    Path("own.toml").write_text(
        'equation = "-nu*u_xx + u = 0"\n[domain]\ninterval = [0, 1]\n[parameters]\nnu = 1e-2\n'
        '[conditions]\nboundary = "u = 1"\n'
    )
    result = invoke("own.toml", "--set", "nu=1e-3", *QUICK, "--json")
    facts = json.loads(result.stdout)
    assert result.exit_code == 0 and facts["problem"] == "own"
    assert "our own solution" in facts["errors_against"]
    ours = next(m for m in facts["methods"] if m["name"] == "ours")
    assert ours["tried"] and ours["marks"][-1]["error"] < 1e-6


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("single-lyer",), "Did you mean 'single-layer'"),
        (("single-layer", "--methods", "pin"), "Did you mean 'pinn'"),
        (("single-layer", "--seconds", "0"), "above zero"),
        (("single-layer", "--set", "nu=1"), "takes --nu"),
        (("nowhere.toml",), "Cannot read"),
        (("nowhere.toml", "--nu", "1"), "--set nu=1e-5"),
    ],
)
def test_bad_input_is_refused_with_words(arguments, words):
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.output.replace("│", " ").split())


def test_the_help_names_every_method():
    words = invoke("--help").output
    assert all(name in words for name in RIVALS)
