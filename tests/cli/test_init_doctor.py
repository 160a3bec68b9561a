"""``sharpfront init`` and ``sharpfront doctor``."""

import json
import re
import time
from importlib import metadata
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sharpfront
from sharpfront.cli import app
from sharpfront.cli import doctor as doctor_module
from sharpfront.cli.init import Kind


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(*arguments):
    return CliRunner().invoke(app, list(arguments))


@pytest.mark.parametrize("kind", list(Kind))
def test_a_new_file_is_solved_as_it_is(kind):
    made = invoke("init", "--kind", kind)
    assert made.exit_code == 0
    assert made.output == f"Wrote {kind}.toml. Solve it with: sharpfront solve {kind}.toml\n"
    assert Path(f"{kind}.toml").read_text().startswith("# ")
    result = invoke("solve", f"{kind}.toml", "--json")
    facts = json.loads(result.stdout)
    assert result.exit_code == 0, facts
    for error in (facts["true_error"] or {}).values():
        assert error < 10 * facts["tol"]


def test_commented_lines_of_the_layer_are_settings_that_work():
    invoke("init", "mine.toml")
    text = Path("mine.toml").read_text()
    for line in ("max_kernels = 5000", 'guess = "1 - x"', "continuation = {"):
        assert f"# {line}" in text
        Path("try.toml").write_text(text.replace(f"# {line}", line))
        assert invoke("solve", "try.toml").exit_code == 0
    for line in ('right = "u_x = 1"', 'left = ["u = 0", "u_x = 0"]'):
        other = line.split()[0]
        changed = re.sub(rf'^{other} = "u = \d"$', "", text, flags=re.MULTILINE)
        Path("try.toml").write_text(changed.replace(f"# {line}", line))
        assert invoke("solve", "try.toml").exit_code in (0, 1)


def test_a_file_is_overwritten_only_by_force():
    Path("layer.toml").write_text("mine")
    refused = invoke("init")
    assert refused.exit_code == 2
    assert "--force" in refused.stderr
    assert Path("layer.toml").read_text() == "mine"
    assert invoke("init", "--force").exit_code == 0
    assert Path("layer.toml").read_text() != "mine"


def test_bad_input():
    assert invoke("init", "--kind", "cake").exit_code == 2
    Path("file").write_text("")
    assert invoke("init", "file/layer.toml").exit_code == 2


class TestDoctor:
    def test_shows_what_is_there_and_measures(self):
        started = time.monotonic()
        result = invoke("doctor")
        assert time.monotonic() - started < 10
        assert result.exit_code == 0, result.output
        words = " ".join(result.output.split())
        for part in (
            f"sharpfront {sharpfront.__version__}",
            f"numpy {metadata.version('numpy')}",
            "BLAS",
            "GPU",
            "cores",
            "The self-test passed.",
        ):
            assert part in words
        errors = [float(e) for e in re.findall(r"measured error (\S+)", words)]
        assert len(errors) == 3
        assert all(0 < e < 1e-4 for e in errors)

    def test_a_wrong_result_gives_1(self, monkeypatch):
        class Wrong:
            converged = True

        class Claimed:
            def solve(self, tol):
                return Wrong()

            def true_errors(self, solution):
                return {"u": 1e-3}

        class Listed:
            title, parameter, value = "Layer", "nu", 1.0

            def stated(self):
                return Claimed()

        monkeypatch.setattr("sharpfront.catalog.named", lambda name: Listed())
        result = invoke("doctor")
        assert result.exit_code == 1
        assert "FAILED" in result.output

    def test_extras(self, monkeypatch):
        lines = [
            "numpy>=2",
            "sympy>=1.12; extra == 'symbolic'",
            'numpy>=2; extra == "geometry"',
            'no-such-thing>=1; extra == "geometry"',
            "pytest; extra == 'dev'",
        ]
        monkeypatch.setattr(metadata, "requires", lambda name: lines)
        found = dict(doctor_module._extras())
        assert set(found) == {"extra symbolic", "extra geometry"}
        assert "pip install 'sharpfront[geometry]'" in found["extra geometry"]
        assert f"numpy {metadata.version('numpy')}" in found["extra geometry"]

    def test_a_broken_device_is_told_and_not_fatal(self, monkeypatch):
        monkeypatch.setattr(doctor_module, "_version", lambda name: "1.0")

        def broken(library):
            raise RuntimeError("no driver")

        monkeypatch.setattr(doctor_module, "_device", broken)
        assert (
            doctor_module._gpu() == "torch: RuntimeError: no driver; cupy: RuntimeError: no driver"
        )
