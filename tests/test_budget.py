"""One checked budget for every kind of problem and every adaptor."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.budget import Budget
from sharpfront.errors import ProblemError

LINE, SQUARE = sf.Interval(0, 1), sf.Box((0, 1), (0, 1))
PROBLEMS = {
    "line": sf.Problem(LINE, "-u_xx = 1", boundary="u = 0"),
    "nonlinear line": sf.Problem(LINE, "-u_xx + u**3 = 1", boundary="u = 0"),
    "system": sf.Problem(LINE, ("-u_xx + v = 1", "-v_xx + u = 1"), boundary=("u = 0", "v = 0")),
    "plane": sf.Problem(SQUARE, "-u_xx - u_yy = 1", boundary="u = 0"),
    "time on a line": sf.Problem(
        LINE, "u_t = u_xx", boundary="u = 0", initial="sin(pi*x)", time=(0, 0.1)
    ),
    "time in the plane": sf.Problem(
        SQUARE, "u_t = u_xx + u_yy", boundary="u = 0", initial="0", time=(0, 0.1)
    ),
}
NOT_COUNTS = (0, -1, -5, 2.5, 300.0, np.nan, np.inf, True, np.True_, "10", "many", [10], 1 + 0j)
NOT_TOLERANCES = (0, 1, -1e-3, 2, np.nan, np.inf, True, False, "1e-3", [1e-3], 1e-3 + 0j)


def refused(name, value, what):
    """Return the message, which must say the name, what was got and what to try."""
    with pytest.raises(ProblemError) as caught:
        what()
    message = str(caught.value)
    assert message.startswith(f"{name}: expected ")
    assert "got " in message
    if not isinstance(value, np.bool_):
        assert repr(value) in message
    return message


@pytest.mark.parametrize("value", NOT_COUNTS, ids=repr)
@pytest.mark.parametrize("name", ["max_kernels", "components"])
class TestCounts:
    @pytest.mark.parametrize("kind", PROBLEMS)
    def test_every_solver_refuses_what_is_no_count(self, kind, name, value):
        refused(name, value, lambda: sf.solve(PROBLEMS[kind], **{name: value}))

    @pytest.mark.parametrize("adaptor", [sf.Resolve, Budget])
    def test_so_does_every_adaptor(self, adaptor, name, value):
        refused(name, value, lambda: adaptor(**{name: value}))


@pytest.mark.parametrize("kind", PROBLEMS)
class TestSolvers:
    @pytest.mark.parametrize("value", NOT_TOLERANCES, ids=repr)
    def test_a_tolerance_lies_between_zero_and_one(self, kind, value):
        assert "Try tol=1e-6" in refused("tol", value, lambda: sf.solve(PROBLEMS[kind], tol=value))

    @pytest.mark.parametrize("value", [-1, 1.5, 7.0, np.nan, True, "42", None, (1,)], ids=repr)
    def test_a_seed_is_a_whole_number(self, kind, value):
        refused("seed", value, lambda: sf.solve(PROBLEMS[kind], seed=value))

    @pytest.mark.parametrize(
        ("option", "value"),
        [
            ("on_step", "print"),
            ("progress", "yes"),
            ("progress", 1),
            ("adaptor", sf.Resolve),
            ("adaptor", "paper"),
            ("resume", "solution.npz"),
            ("resume", True),
        ],
    )
    def test_options_of_the_wrong_kind_are_refused(self, kind, option, value):
        refused(option, value, lambda: sf.solve(PROBLEMS[kind], **{option: value}))


@pytest.mark.parametrize("kind", ["system", "plane", "time on a line", "time in the plane"])
def test_too_few_kernels_to_begin_with_say_how_many_it_takes(kind):
    with pytest.raises(ProblemError, match=r"max_kernels: expected a whole number, \d+ or more"):
        sf.solve(PROBLEMS[kind], max_kernels=1)


@pytest.mark.parametrize("kind", ["line", "time in the plane"])
def test_numpy_integers_are_whole_numbers(kind):
    options = {"max_kernels": np.int64(400), "components": np.int8(2), "seed": np.uint8(3)}
    found = sf.solve(PROBLEMS[kind], tol=1e-3, **options)
    assert found.converged
    assert found.kernels <= 400


def test_a_whole_float_is_shown_as_the_number_that_is_meant():
    with pytest.raises(ProblemError, match=r"Try max_kernels=1000\."):
        sf.solve(PROBLEMS["line"], max_kernels=1e3)


@pytest.mark.parametrize("values", ["1e-2", 0.1, [], ["a"], [0.1, None], [np.nan], {0.1: 1}, None])
def test_a_continuation_needs_numbers(values):
    if values is None:
        with pytest.raises(ProblemError, match="Give continuation="):
            sf.solve(lambda nu: PROBLEMS["line"])
        return
    with pytest.raises(ProblemError, match="continuation: expected values"):
        sf.solve(lambda nu: PROBLEMS["line"], continuation=values)


def test_a_continuation_leads_no_problem_in_time():
    with pytest.raises(ProblemError, match="continuation= has no meaning for a problem in time"):
        sf.solve(lambda nu: PROBLEMS["time on a line"], continuation=[1, 2])


@pytest.mark.parametrize(
    ("adaptor", "name", "value"),
    [
        *((a, n, v) for a in (sf.Paper, sf.Uniform) for n in ("kernels",) for v in (0, -3, 2.5)),
        *((a, "collocation", "1500") for a in (sf.Paper, sf.Uniform)),
        *((a, n, v) for a in (sf.Paper, sf.Uniform) for n in ("overlap", "penalty") for v in (0,)),
        *((a, n, "even") for a in (sf.Paper, sf.Uniform) for n in ("centres", "sampling")),
        *((sf.Paper, n, v) for n in ("ratio", "scaling") for v in (-0.1, np.nan, "1")),
        *((sf.Paper, n, "none") for n in ("fit", "density", "outside")),
        *((sf.Paper, n, -1) for n in ("iterations", "neighbours", "samples", "epsilon")),
    ],
)
def test_settings_of_the_paper_are_checked(adaptor, name, value):
    refused(name, value, lambda: adaptor(**{name: value}))
