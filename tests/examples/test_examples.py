"""Every example runs, and its number is right."""

import importlib.util
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main()


def test_every_example_has_a_test():
    names = {path.stem for path in EXAMPLES.glob("*.py")}
    assert names == {"layer", "rod", "trust", "compare"}


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
