"""Exceptions and outcomes: each is what it says and comes with advice."""

from __future__ import annotations

import inspect

import pytest

from sharpfront import errors
from sharpfront.errors import (
    ArgumentError,
    ClusterError,
    DeviceError,
    DeviceMemoryError,
    MissingExtraError,
    Outcome,
    OutcomeKind,
    SharpfrontError,
)

EXCEPTIONS = [
    value
    for _, value in inspect.getmembers(errors, inspect.isclass)
    if issubclass(value, Exception) and value.__module__ == errors.__name__
]


@pytest.mark.parametrize("kind", EXCEPTIONS)
def test_every_exception_has_the_same_root(kind):
    assert issubclass(kind, SharpfrontError)
    assert kind.__doc__


@pytest.mark.parametrize("kind", [k for k in EXCEPTIONS if k is not SharpfrontError])
def test_every_exception_is_also_one_of_pythons(kind):
    others = {
        MissingExtraError: ImportError,
        ArgumentError: TypeError,
        DeviceError: RuntimeError,
        ClusterError: RuntimeError,
        DeviceMemoryError: MemoryError,
    }
    assert issubclass(kind, others.get(kind, ValueError))


def test_a_missing_extra_says_how_to_get_it():
    text = str(MissingExtraError("SymPy", "symbolic"))
    assert "SymPy" in text
    assert "pip install 'sharpfront[symbolic]'" in text


@pytest.mark.parametrize("kind", OutcomeKind)
def test_every_outcome_gives_advice(kind):
    outcome = Outcome(kind)
    assert len(outcome.advice) > 20
    assert outcome.advice.endswith(".")
    assert str(outcome) == f"{kind.value}. {outcome.advice}"


def test_advice_differs_between_outcomes():
    assert len({Outcome(kind).advice for kind in OutcomeKind}) == len(OutcomeKind)


def test_a_run_that_stops_at_once_says_what_helps_a_start_that_jumps():
    assert "jumps" in Outcome(OutcomeKind.STOPPED).advice
    assert "round it" in Outcome(OutcomeKind.STOPPED).advice


def test_detail_stands_between_kind_and_advice():
    outcome = Outcome(OutcomeKind.STALLED, "The estimate stays at 1e-9.")
    assert str(outcome).startswith("stalled. The estimate stays at 1e-9. More kernels no longer")


def test_kinds_compare_equal_to_their_text():
    assert Outcome(OutcomeKind.CONVERGED).kind == "converged"
    assert OutcomeKind("ill-posed") is OutcomeKind.ILL_POSED


def test_outcomes_are_values():
    one = Outcome(OutcomeKind.CONVERGED, "a")
    assert one == Outcome(OutcomeKind.CONVERGED, "a")
    with pytest.raises(AttributeError):
        one.detail = "b"
