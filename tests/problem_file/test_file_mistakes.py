"""Every mistake in a problem file is reported with its line, its text and what to write instead."""

import pytest
from tests.problem_file.layer_file import LAYER

from sharpfront.problem_file import StatementError, read, read_text

GOOD = f'{LAYER}[exact]\nu = "x"\n[solve]\ntol = 1e-6\n'

# What to replace in the good file, by what; the line, the text and the words of the mistake.
ONE_BY_ONE = {
    "unknown name": ("-nu*", "-nuu*", 1, "nuu", "Did you mean 'nu'?"),
    "unknown function": ("u_x =", "expp(x)*u_x =", 1, "expp", "Did you mean 'exp'?"),
    "several texts for an equation": (
        *('"-nu*u_xx + u_x = 0"', '["-nu*u_xx + u_x = 0"]', 1, None),
        "several equations stand under `equations`",
    ),
    "caret": ("u_x =", "u_x^2 =", 1, "^", "Write ** for a power"),
    "syntax": ("u_x =", "u_x + =", 1, "-nu*u_xx + u_x +", "Cannot read"),
    "two equals signs": ("= 0", "= 0 = 1", 1, "=", "one `=`"),
    "foreign coordinate": ("u_x =", "u_x + y =", 1, "y", "Known: u, x, nu"),
    "not finite": ("u_x =", "u_x + log(0) =", 1, "log(0)", "finite"),
    "line of a long text": (
        *('"-nu*u_xx + u_x = 0"', '"""\n-nu*u_xx\n + qq*u_x = 0"""', 3, "qq", "'qq' is not known"),
    ),
    "coordinate as unknown": (
        *("[domain]", 'unknowns = ["u",\n"x"]\n[domain]', 3, "x", "meaning of its own"),
    ),
    "no derivative": ("-nu*u_xx + u_x", "u", 1, None, "u_x makes u an unknown"),
    "more unknowns": ("u_x =", "v_x =", 1, None, "1 equation(s) for 2 unknown(s) (u, v)"),
    "condition alone": ("= 0", "> 0", 1, None, "comparison"),
    "wrong word": ("interval", "intervall", 3, "intervall", "Did you mean 'interval'?"),
    "number for a pair": ("[0, 1]", "3", 3, "3", "two numbers such as [0, 1], got 3"),
    "three for a pair": ("[0, 1]", "[0, 1, 2]", 3, None, "two numbers"),
    "word for a number": ("[0, 1]", '[0, "one"]', 3, "one", "'one' is not known"),
    "inverted": ("[0, 1]", "[1, 0]", 3, None, "lower end must come first"),
    "two kinds": ("interval", "box = [[0, 1]]\ninterval", 2, None, "got interval and box"),
    "option of another": ("[0, 1]", "[0, 1]\nholes = []", 4, "holes", "does not go with interval"),
    "top word in a table": ("[0, 1]", "[0, 1]\ntime = [0, 1]", 4, "time", "above all tables"),
    "word of another table": ("nu = 1e-4", "", 1, "nu", "in [parameters]"),
    "true for a number": ("1e-4", "true", 5, "true", "Expected a number such as 1e-4"),
    "list for a number": ("1e-4", "[1]", 5, None, "Expected a number"),
    "coordinate as parameter": ("nu = 1e-4", "nu = 1e-4\nx = 1", 6, "x", "meaning of its own"),
    "function as parameter": ("nu = 1e-4", "nu = 1e-4\nexp = 1", 6, "exp", "meaning of its own"),
    "phrase as parameter": ("nu = 1e-4", 'nu = 1e-4\n"a b" = 1', 6, "a b", "letters, digits"),
    "parameter in terms of x": ("1e-4", '"2*x"', 5, "x", "'x' is not known"),
    "infinite parameter": ("1e-4", "inf", 5, "inf", "finite number"),
    "unknown part": ("left", "lefft", 7, "lefft", "Did you mean 'left'?"),
    "unknown in a condition": ('"u = 0"', '"w = 0"', 7, "w", "'w' is not known"),
    "nothing about u": ('"u = 0"', '"x = 0"', 7, "x = 0", "says nothing about u"),
    "number for a condition": ('"u = 0"', "0", 7, "0", "Expected a text in quotes, got 0"),
    "second of a list": ('"u = 0"', '[\n"u = 0",\n"q = 0"]', 9, "q", "'q' is not known"),
    "empty text": ('"u = 0"', '""', 7, None, "Expected a text"),
    "point outside": (
        '"u = 1"',
        '"u = 1"\nat = {point = 2, condition = "u = 1"}',
        9,
        None,
        "outside",
    ),
    "point in the plane": (
        *('"u = 1"', '"u = 1"\nat = {point = [0, 0], condition = "u = 1"}'),
        *(9, None, "1 coordinate(s), got 2"),
    ),
    "point without condition": (
        *('"u = 1"', '"u = 1"\nat = {point = 2}', 9, "at", "needs 'condition', which is missing"),
    ),
    "at as a table": (
        *("[exact]", '[conditions.at]\npoint = 0.5\ncondition = "q = 1"\n[exact]'),
        *(11, "q", "'q' is not known"),
    ),
    "number that varies": (
        *(
            "[exact]",
            '[definitions]\ns = "2*x"\n[conditions.at]\npoint = "s"\ncondition = "u = 1"\n[exact]',
        ),
        *(12, "s", "Expected a finite number"),
    ),
    "wrong word in at": (
        *('"u = 1"', '"u = 1"\nat = {pont = 0.5, condition = "u = 1"}'),
        *(9, "pont", "Did you mean 'point'?"),
    ),
    "integral of nothing": ('"u = 1"', '"u = 1"\nintegral = {of = "x"}', 9, "x", "nothing about u"),
    "integral as a text": (
        '"u = 1"',
        '"u = 1"\nintegral = "u = 1"',
        9,
        "u = 1",
        "Expected a table",
    ),
    "exact for a stranger": ('u = "x"', 'v = "x"', 10, "v", "'v' is not one of u"),
    "exact as an equation": ('u = "x"', 'u = "u = x"', 10, "=", "without `=`"),
    "exact with the unknown": ('u = "x"', 'u = "u_x"', 10, "u_x", "'u_x' is not known"),
    "tol too large": ("1e-6", "3", 12, "tol", "between 0 and 1"),
    "wrong setting": ("tol =", "toll =", 12, "toll", "Did you mean 'tol'?"),
    "fraction of a kernel": ("tol = 1e-6", "max_kernels = 1.5", 12, "1.5", "whole number"),
    "guess for a stranger": ("tol = 1e-6", 'guess = {w = "x"}', 12, "w", "'w' is not one of u"),
    "guess misspelt": ("tol = 1e-6", 'guess = "sn(x)"', 12, "sn", "Did you mean 'sin'?"),
    "continuation of a stranger": (
        *("tol = 1e-6", 'continuation = {parameter = "nuu", values = [1]}'),
        *(12, "nuu", "Did you mean 'nu'?"),
    ),
    "continuation without values": (
        *("tol = 1e-6", 'continuation = {parameter = "nu"}', 12, "continuation", "needs 'values'"),
    ),
    "table as a number": ("[solve]\ntol = 1e-6", "[solve.tol]", 11, None, "Expected a number"),
    "definition in a circle": (
        *("[exact]", '[definitions]\na = "b"\nb = "a"\n[exact]', 10, "b", "'b' is not known"),
    ),
    "definition of a parameter": (
        *("[exact]", '[definitions]\nnu = "x"\n[exact]', 10, "nu", "already"),
    ),
    "initial without time": ("[exact]", '[initial]\nu = "x"\n[exact]', 9, None, "time = [0, 1]"),
    "equations too": ("[domain]", 'equations = ["u_x = 0"]\n[domain]', 2, "equations", "not both"),
    "text for equations": ('equation = "', 'equations = "', 1, None, "a list of texts"),
    "list for an equation": (
        'equation = "-nu*u_xx + u_x = 0"',
        "equation = [1]",
        1,
        None,
        "a text",
    ),
    "not toml": ('"u = 0"', "u = 0", 7, None, "This is not TOML"),
    "twice": ('left = "u = 0"', 'left = "u = 0"\nleft = "u = 1"', 8, None, "This is not TOML"),
}


def refused(source, **options):
    with pytest.raises(StatementError) as caught:
        read_text(source, "layer.toml", **options)
    return caught.value


def test_the_good_file_is_good():
    assert read_text(GOOD).problem.unknowns == ("u",)


@pytest.mark.parametrize("kind", ONE_BY_ONE)
def test_one_mistake(kind):
    old, new, line, text, words = ONE_BY_ONE[kind]
    assert GOOD.count(old) >= 1
    error = refused(GOOD.replace(old, new, 1))
    assert len(error.mistakes) == 1, str(error)
    (mistake,) = error.mistakes
    assert words in mistake.message
    assert mistake.line == line
    assert f"layer.toml:{line}: " in str(error)
    if text is not None:
        assert mistake.text == text
        row = error.source.splitlines()[line - 1]
        assert row[mistake.column - 1 :].startswith(text)
        # The mark stands under the text.
        shown, mark = str(error).splitlines()[-2:]
        assert shown[mark.index("^") :].startswith(text)
        assert mark.count("^") == len(text)


def test_all_mistakes_at_once_in_the_order_of_the_file():
    source = """\
titel = "Layer"
equation = "-nuu*u_xx + expp(x) = 0"
[domain]
interval = [0, 1]
[parameters]
nu = "one"
[conditions]
lefft = "u = 0"
right = ["u = 1", "w = 0"]
[solve]
tol = 2
"""
    error = refused(source, changed={"mu": 1})
    expected = [
        *((None, "mu"), (1, "titel"), (2, "nuu"), (2, "expp"), (6, "one")),
        *((8, "lefft"), (9, "w"), (11, "tol")),
    ]
    assert [(m.line, m.text) for m in error.mistakes] == expected
    assert "--set mu" in str(error)


def test_a_broken_domain_does_not_hide_the_other_mistakes():
    error = refused(GOOD.replace("interval", "disk").replace("-nu*", "-mu*"))
    assert [m.line for m in error.mistakes] == [1, 3]


def test_what_is_missing_altogether():
    error = refused("title = 'nothing'\n")
    words = " ".join(m.message for m in error.mistakes)
    assert "needs a [domain]" in words
    assert "no equation" in words
    assert {m.line for m in error.mistakes} == {1}
    error = refused('equation = "u_xx = 0"\n[domain]\ninterval = [0, 1]\n')
    assert "State one for boundary, or for parts of it (left, right)" in str(error)


@pytest.mark.parametrize(
    ("domain", "line", "words"),
    [
        ("disk = {centre = [0, 0]}", 3, "needs 'radius'"),
        ("disk = {centre = [0, 0], radius = -1}", 3, "positive"),
        ("disk = {center = [0, 0], radius = 1}", 3, "Did you mean 'centre'?"),
        ("box = [[0, 1], [0]]", 3, "two numbers"),
        ("polygon = [[0, 0], [1, 0]]", 3, "corner"),
        ('solid = "no.stl"', 3, "no.stl. It is looked for beside the problem file"),
        ('implicit = "x**2 - 1"', 2, "needs bounds"),
        ('implicit = "q**2"\nbounds = [[0, 1], [0, 1]]', 3, "'q' is not known"),
        ("half-space = {point = [0, 0], normal = [0, 1]}", 2, "unbounded"),
        ("union = [{disk = {centre = [0, 0], radius = 1}}]", 3, "two regions or more, got 1"),
        (
            "difference = [\n{disk = {centre = [0, 0], radius = 1}},\n{box = [[0, 1], [1, 0]]}]",
            5,
            "lower end must come first",
        ),
        ("disk = {centre = [0, 0], radius = 1}\nname = 'a b'", 3, "'a b'"),
        ("disk = {centre = [0, 0], radius = 1}\nparts.rim = 'x >'", 4, "Cannot read"),
        ("disk = {centre = [0, 0], radius = 1}\nparts.rim = 'x + 1'", 4, "not a comparison"),
        ("disk = {centre = [0, 0], radius = 1}\nparts.rim = 'x > 5'", 4, "true nowhere"),
        ("box = [[0, 1], [0, 1]]\nperiodic = ['w']", 3, "'w'"),
        ("box = [[0, 1], [0, 1]]\nperiodic = 3", 4, "names of coordinates"),
    ],
)
def test_domains(domain, line, words):
    error = refused(f'equation = "u_xx + u_yy = 0"\n[domain]\n{domain}\n[conditions]\n')
    mistake = next(m for m in error.mistakes if m.path[0] == "domain")
    assert words in mistake.message, str(error)
    assert mistake.line == line


TIME = """\
equation = "u_t - u_xx = 0"
time = [0, 1]
[domain]
interval = [0, 1]
[conditions]
boundary = "u = 0"
[initial]
u = "sin(pi*x)"
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("[0, 1]", "[1, 0]", 2, "t0 < t1"),
        ("[0, 1]", "3", 2, "two numbers"),
        ("u_t -", "u -", 2, "no equation has a derivative in time"),
        ("time = [0, 1]\n", "", 1, "'u_t' is not known"),
        ('[initial]\nu = "sin(pi*x)"', "", 2, "needs [initial]: u at the start"),
        ("sin(pi*x)", "sin(pi*t)", 8, "'t' is not known"),
        ('u = "sin', 'v = "sin', 8, "'v' is not one of u"),
        ("u_t -", "u_tt -", 7, "lacks u_t"),
    ],
)
def test_time(old, new, line, words):
    error = refused(TIME.replace(old, new, 1))
    assert [m.line for m in error.mistakes if words in m.message] == [line], str(error)


def test_periodic_domains_have_no_boundary():
    source = TIME.replace("interval = [0, 1]", "interval = [0, 1]\nperiodic = true")
    assert "no boundary" in str(refused(source))


def test_a_system_needs_names_for_its_functions():
    source = """\
equations = ["u_x = v", "v_x = -u"]
[domain]
interval = [0, 1]
[conditions]
left = ["u = 0", "v = 1"]
[exact]
u = "sin(x)"
[solve]
guess = "x"
"""
    error = refused(source)
    assert [m.line for m in error.mistakes] == [9]
    assert "u, v = ..." in str(error)


def test_a_long_line_is_cut_so_that_the_mark_stays_under_its_text():
    long = " + ".join(f"{i}*u" for i in range(60))
    error = refused(GOOD.replace("u_x =", f"u_x + {long} + qq + {long} ="))
    shown, mark = str(error).splitlines()[-2:]
    assert len(shown) < 80
    assert shown[mark.index("^") :].startswith("qq")


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(StatementError, match="Cannot read the file: No such file"):
        read(tmp_path / "nothing.toml")
    (tmp_path / "latin.toml").write_bytes(b"title = '\xe9'")
    with pytest.raises(StatementError, match="UTF-8"):
        read(tmp_path / "latin.toml")
