"""A solution as one line and as a cell of a notebook."""

import pytest
from tests.lazy import Lazy
from tests.show import solutions
from tests.show.markup import read

import sharpfront as sf
from sharpfront.show import notebook

plt = Lazy("matplotlib.pyplot")


@pytest.mark.parametrize("name", solutions.ALL)
def test_every_kind_has_a_line_and_a_picture(name):
    solution = solutions.ALL[name]()
    line = repr(solution)
    assert "\n" not in line
    assert str(solution.outcome.kind) in line
    assert f"{solution.kernels} kernels" in line
    page = solution._repr_html_()
    tags = [tag for tag, _ in read(page).tags]
    assert tags.count("img") == 1
    assert tags.count("table") == 1
    assert not plt.get_fignums()


def test_the_line_counts_and_names():
    assert repr(solutions.layer()).endswith(", 1 solve")
    assert "u, v of (x, y)" in repr(solutions.pair())
    line = repr(solutions.line_in_time())
    assert "t from 0 to 1" in line
    assert line.endswith(", 10 steps")


def test_a_loaded_solution_shows_the_same(tmp_path):
    solution = solutions.layer()
    loaded = sf.load(solution.save(tmp_path / "a.npz"))
    assert loaded._repr_html_() == solution._repr_html_()


def test_what_failed_says_what_to_try():
    assert "Leave adaptor= out" in solutions.failed()._repr_html_()


def test_the_table_stays_where_nothing_can_be_drawn(monkeypatch):
    def fail(solution):
        raise RuntimeError("no <fonts>")

    monkeypatch.setattr(notebook, "thumbnail", fail)
    page = solutions.layer()._repr_html_()
    assert "No picture: no &lt;fonts&gt;" in page
    assert "estimated error" in page
