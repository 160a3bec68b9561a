"""Problem files with what people write at first: all mistakes at once, each with a suggestion."""

import pytest

from sharpfront.problem_file import StatementError, read
from sharpfront.problem_file.statement import read_text

LAYER = """title = "Layer"
equation = "-nu*u_xx + u_x = 0"
[domain]
interval = [0, 1]
[parameters]
nu = 1e-2
[conditions]
left = "u = 0"
right = "u = 1"
[solve]
tol = 1e-6
"""
ESCAPES = ("\x1b[31m", "\x1b]0;title\x07", "\x9b2J", "\x7f", "\u202e", "\r", "\x00", "\u200b")


def mistakes(source, **options):
    with pytest.raises(StatementError) as caught:
        read_text(source, **options)
    return caught.value


@pytest.mark.parametrize(
    ("right", "wrong", "suggestion"),
    [
        ('"-nu*u_xx + u_x = 0"', '"-nu u_xx + u_x = 0"', "'-nu*u_xx + u_x'"),
        ('"-nu*u_xx + u_x = 0"', '"-2u_xx + u_x = 0"', "'-2*u_xx + u_x'"),
        ('"-nu*u_xx + u_x = 0"', "\"-nu*u'' + u' = 0\"", "'-nu*u_xx + u_x'"),
        ('"-nu*u_xx + u_x = 0"', '"-nu*u_xx + u_x = sin x"', "'sin(x)'"),
        ('"-nu*u_xx + u_x = 0"', '"-nu*u_xx + u_x == 0"', "'-nu*u_xx + u_x = 0'"),
        ('"-nu*u_xx + u_x = 0"', '"−nu·u_xx + u² = 0"', "'-nu*u_xx + u**2'"),
        ('left = "u = 0"', "left = 0", 'left = "u = 0"'),
        ('right = "u = 1"', "right = 1.5", 'right = "u = 1.5"'),
        ('right = "u = 1"', "right = [1, 2]", 'right = "u = 1"'),
        ('right = "u = 1"', 'right = "u = 1"\ntolerance = 1e-3', "[solve]: tol = 0.001"),
        ('right = "u = 1"', 'right = "u = 1"\nmax_kernels = 30', "[solve]: max_kernels = 30"),
        ('right = "u = 1"', 'right = "u = 1"\ntop = 3', 'top = "u = 3"'),
        ('"-nu*u_xx + u_x = 0"', '{text = "u_xx = 1"}', "got {'text': 'u_xx = 1'}"),
        ("tol = ", "tolerance = ", "'tol'"),
        ('equation = "-nu', 'tolerance = 1e-6\nequation = "-nu', "in [solve], as tol"),
        ('equation = "-nu', 'left = "u"\nequation = "-nu', 'in [conditions]: left = "u = 0"'),
        ("interval = ", 'kind = "line"\ninterval = ', "interval = [0, 1]"),
        ("interval = ", "low = 0\ninterval = ", "interval = [0, 1]"),
        ("tol = ", "accuracy = ", "'tol'"),
        ("[solve]", "[solver]", "'solve'"),
        ("[conditions]", "[boundary]", "'conditions'"),
        ("[conditions]", "[bc]", "'conditions'"),
        ("[conditions]", "[boundary_conditions]", "'conditions'"),
        ("[parameters]", "[params]", "'parameters'"),
        ("[parameters]", "[Parameters]", "'parameters'"),
        ("[domain]", "[geometry]", "'domain'"),
        ("[domain]", "[domian]", "'domain'"),
        ("interval", "line", "'interval'"),
        ("equation", "eq", "'equation'"),
        ("equation", "pde", "'equation'"),
    ],
)
def test_the_suggestion_is_the_one_a_person_would_make(right, wrong, suggestion):
    assert LAYER.count(right) == 1
    assert suggestion in str(mistakes(LAYER.replace(right, wrong)))


@pytest.mark.parametrize("wrong", ['"-nu u_xx + u_x = 0"', "3", '"u_xx ="', "[1]", "true"])
def test_one_wrong_equation_is_no_mistake_elsewhere(wrong):
    found = mistakes(LAYER.replace('"-nu*u_xx + u_x = 0"', wrong)).mistakes
    assert {m.path[0] for m in found} == {"equation"}
    assert len(found) == 1


def test_all_mistakes_at_once_whatever_their_kind():
    source = """title = 3
equation = "-nu u_xx + u_x = f"
time = 1
[domain]
interval = "0, 1"
[parameters]
nu = true
[conditions]
left = 0
right = "u = 1"
[initial]
u = [1]
[exact]
w = "1"
[solve]
tol = "x"
guess = "sin x"
max_kernels = -3
seed = 1.5
continuation = {parameter = "mu", values = [1, "two"]}
"""
    places = {m.where for m in mistakes(source).mistakes}
    assert {"title", "equation", "time", "domain.interval", "parameters.nu"} <= places
    assert {"conditions.left", "initial.u", "exact.w", "solve.tol", "solve.guess"} <= places
    assert {"solve.max_kernels", "solve.seed", "solve.continuation.values"} <= places


def test_a_mark_of_the_byte_order_is_accepted(tmp_path):
    path = tmp_path / "layer.toml"
    path.write_bytes(b"\xef\xbb\xbf" + LAYER.encode())
    assert read(path).title == "Layer"
    assert read_text("\ufeff" + LAYER).title == "Layer"


@pytest.mark.parametrize("value", ["abc", "1/0", "2 3", "nan", "inf", "x", "sin 1"])
def test_what_is_set_names_the_option(value):
    try:
        number = float(value)
    except ValueError:
        number = value
    found = mistakes(LAYER, changed={"nu": number}).mistakes
    assert [m.message.startswith(f"--set nu={value}") for m in found] == [True]
    assert found[0].line is None


@pytest.mark.parametrize("escape", ESCAPES, ids=ascii)
@pytest.mark.parametrize("place", ["title", "equation", "key", "condition", "name", "domain"])
def test_control_characters_are_written_out(place, escape):
    wanted = "".join(f"\\u{ord(c):04x}" for c in escape)
    source = {
        "title": f'title = 1\nnote = "{wanted}"\n',
        "equation": f'equation = "u_xx = {wanted}"\n',
        "key": f'"{wanted}" = 1\n',
        "condition": f'equation = "u_xx = 1"\n[conditions]\n"{wanted}" = "u = {wanted}"\n',
        "name": 'equation = "u_xx ="\n',
        "domain": f'equation = "u_xx = 1"\n[domain]\nsolid = "{wanted}.stl"\n',
    }[place]
    name = f"{escape}.toml" if place == "name" else "problem.toml"
    words = str(mistakes(source, name=name))
    assert not set(escape) & set(words) - set("[0123456789;titleJm]")
