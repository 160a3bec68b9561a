"""Tables of accuracy and cost as they were measured, and how near to them a solve has to be.

``python benchmarks/freeze.py`` measures rows anew and writes them down.
"""

import csv
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
SIZES = ("relative", "error", "estimate")
# The arithmetic of older processors (OPENBLAS_CORETYPE=Nehalem) moved nothing in space; in time it
# moved functions by 15 %, steps by one, or of 205 by 18, errors and estimates up to 2.7 times. That
# of newer ones (Haswell) and NumPy without AVX moved nothing.
FACTOR = 3.0
# The largest shares of functions and of solves or steps that may be missing or too many.
SLACK = {"solves": (0.05, 0.0), "steps": (0.2, 0.1)}
# Below this errors and estimates are rounding's.
ROUNDING = 1e-12


def path(name):
    """Return where a table lies."""
    return FOLDER / f"{name}_table.csv"


def table(name):
    """Return the rows of a table."""
    with path(name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def params(name):
    """Return the rows for a test."""
    return [
        pytest.param(row, id=label(row), marks=pytest.mark.slow if row["slow"] else ())
        for row in table(name)
    ]


def label(row):
    return f"{row['problem']} {row['value']} {row['tol']}"


def assert_as_frozen(row, found):
    """A solve costs what it did and is as exact, and its estimate says the same."""
    told = f"{label(row)}: {found}, frozen {row}; benchmarks/freeze.py writes what is meant"
    known = {word: float(row[word]) for word in found}
    counted = "steps" if "steps" in found else "solves"
    for word, share in zip(("functions", counted), SLACK[counted], strict=True):
        most = max(share * known[word], 1.0 if share else 0.0)
        assert abs(found[word] - known[word]) <= most, f"{word}: {told}"
    for word in (word for word in SIZES if word in found):
        before, now = (max(each[word], ROUNDING) for each in (known, found))
        assert before / FACTOR <= now <= before * FACTOR, f"{word}: {told}"
