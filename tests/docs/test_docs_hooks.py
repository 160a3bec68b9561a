"""Formulas become MathML, and nothing is loaded from elsewhere."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import pytest
from mkdocs.exceptions import PluginError

ROOT = Path(__file__).resolve().parents[2]
PAGE = SimpleNamespace(file=SimpleNamespace(src_path="page.md"))


@pytest.fixture(scope="module")
def hooks():
    spec = importlib.util.spec_from_file_location("docs_hooks", ROOT / "scripts" / "docs_hooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_formulas_are_drawn_by_the_browser(hooks):
    page = r'<p>As <span class="arithmatex">\(u_x &lt; \tanh x\)</span> says.</p>'
    drawn = hooks.on_page_content(page)
    assert drawn.startswith("<p>As <math") and drawn.endswith("</math> says.</p>")
    assert "<msub>" in drawn and "&#x0003C;" in drawn  # less than
    assert '<mi mathvariant="normal">tanh</mi>' in drawn and "<mi>x</mi>" in drawn
    assert "arithmatex" not in drawn


def test_formulas_between_two_dollars_are_blocks_that_scroll(hooks):
    drawn = hooks.on_page_content('<div class="arithmatex">\\[\nu\n= 1\\]</div>')
    assert drawn.startswith('<div class="formula"><math') and 'display="block"' in drawn


def test_a_command_that_is_not_known_stops_the_build(hooks):
    with pytest.raises(PluginError, match="nosuch"):
        hooks.on_page_content(r'<span class="arithmatex">\(\nosuch x\)</span>')


def test_numbers_in_cells_stay_whole_and_paths_break_but_not_in_addresses(hooks):
    drawn = hooks.on_page_content('<p>1e-6</p><td>16 777 <a href="a/1e-6.html">2e-6 a/b</a></td>')
    whole = '<span class="number">{}</span>'.format
    cell = f'<td>{whole("16 777")} <a href="a/1e-6.html">{whole("2e-6")} a/<wbr>b</a></td>'
    assert drawn == f"<p>1e-6</p>{cell}"


@pytest.mark.parametrize(
    "tag",
    [
        '<script src="https://unpkg.com/some.js">',
        '<link rel="stylesheet" href="//fonts.example.org/a.css">',
        '<img alt="" src="http://example.org/a.png">',
    ],
)
def test_a_page_that_loads_from_elsewhere_stops_the_build(hooks, tag):
    with pytest.raises(PluginError, match=r"page\.md"):
        hooks.on_post_page(f"<p>words</p>{tag}", PAGE)


def test_links_to_elsewhere_and_files_of_the_site_are_fine(hooks):
    page = '<a href="https://example.org">there</a><img src="../images/a.png"><script src="a.js">'
    assert hooks.on_post_page(page, PAGE) == page
