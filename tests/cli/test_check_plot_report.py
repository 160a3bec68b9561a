"""``sharpfront check``, ``plot`` and ``report``: what they print and write."""

import json

import pytest
from tests.problem_file.layer_file import LAYER
from typer.testing import CliRunner

import sharpfront as sf
from sharpfront.cli import app

FILE = LAYER.replace("u_x = 0", "u_x = where(x < 0.3, 0, 1)")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "layer.toml").write_text(FILE)
    return tmp_path


class TestCheck:
    @pytest.mark.parametrize(("nu", "width"), [(1e-4, "0.0001"), (2e-3, "0.002")])
    def test_what_was_understood(self, folder, nu, width):
        done = CliRunner().invoke(app, ["check", "layer.toml", "--json", "--set", f"nu={nu}"])
        assert done.exit_code == 0
        facts = json.loads(done.stdout)
        assert facts["kind"] == "linear equation of order 2 on a line"
        assert facts["on_left"] == "u = 0"
        assert "x = 0.3" in facts["features"]
        assert f"width {width} at right" in facts["features"]
        assert not list(folder.glob("*.npz"))

    def test_mistakes(self, folder):
        (folder / "layer.toml").write_text(FILE.replace("u_x ", "u_y "))
        done = CliRunner().invoke(app, ["check", "layer.toml"])
        assert done.exit_code == 2
        assert "u_y" in done.stderr

    def test_a_part_without_a_condition(self, folder):
        (folder / "layer.toml").write_text(FILE.replace('left = "u = 0"\n', ""))
        done = CliRunner().invoke(app, ["check", "layer.toml"])
        assert "no condition" in done.stdout
        assert "Nothing was solved." in done.stdout


class TestOfASavedSolution:
    def test_picture_and_page(self, folder):
        problem = sf.Problem(sf.Interval(0, 1), "u_xx + 2 = 0", boundary="u = 0")
        sf.solve(problem).save("bump")
        assert CliRunner().invoke(app, ["plot", "bump.npz"]).exit_code == 0
        assert (folder / "bump.png").read_bytes().startswith(b"\x89PNG")
        assert CliRunner().invoke(app, ["report", "bump.npz", "--out", "a/b.html"]).exit_code == 0
        assert "<html" in (folder / "a" / "b.html").read_text()

    @pytest.mark.parametrize("command", ["plot", "report"])
    def test_no_solution(self, folder, command):
        done = CliRunner().invoke(app, [command, "layer.toml"])
        assert done.exit_code == 2
        assert "not a solution file" in done.stderr
