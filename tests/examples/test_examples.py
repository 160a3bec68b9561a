"""Every example runs, and its number is right."""

import importlib.util
import math
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(name, *arguments):
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main(*arguments)


def test_every_example_has_a_test():
    names = {path.stem for path in EXAMPLES.glob("*.py")}
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert names <= tested


def test_layer():
    assert run("layer") < 1e-8


def test_rod():
    leaving, entering = run("rod")
    assert leaving == pytest.approx(entering, rel=1e-9)


def test_trust():
    assert run("trust") == {
        "a resonance": "near-singular",
        "a condition forgotten": "ill-posed",
        "more digits than there are": "stalled",
    }


def test_compare():
    results = run("compare")
    estimate, error = results["default"]
    assert error < 1e-8
    assert error <= 3 * estimate <= 3e-8
    assert min(results["paper"]) > 0.1


def test_layer2d():
    assert run("layer2d") < 1e-6


def test_shape():
    leaving, entering = run("shape")
    assert entering == pytest.approx(1 - 0.04 * math.pi, rel=1e-12)
    assert leaving == pytest.approx(entering, rel=2e-3)


def test_front():
    # The gallery draws the same picture.
    error, functions = run("front")
    assert error < 1e-4
    # A front takes strips along it, not boxes: these are 37 000.
    assert functions < 8000


def test_shock():
    assert run("shock") < 1e-5


def test_bratu():
    assert max(run("bratu").values()) < 4e-8


def test_exchange():
    assert run("exchange") < 1e-8


def test_wall():
    passing, expected = run("wall")
    assert passing == pytest.approx(expected, rel=1e-12)


def test_thickness():
    nu, (low, high) = run("thickness")
    assert low < nu < high
    assert low < 0.01 < high < 0.0105
