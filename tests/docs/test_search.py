"""The site's search, in pages that are read from a folder: no server, no network."""

import re
import shutil
from pathlib import Path

import pytest
from tests.show.chromium import Chromium, find_chromium

ROOT = Path(__file__).resolve().parents[2]
PATH = find_chromium()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Two pages, built as the whole site is."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("site")
    pages = folder / "docs"
    for name in ("javascripts", "stylesheets", "images"):
        (pages / name).mkdir(parents=True)
    for name in ("javascripts/iframe-worker.js", "stylesheets/site.css", "images/favicon.svg"):
        shutil.copy(ROOT / "docs" / name, pages / name)
    (pages / "index.md").write_text("# Start\n\nWords about quince and $u_x$.\n")
    (pages / "deep").mkdir()
    (pages / "deep" / "page.md").write_text("# Below\n\nWords about medlar jelly.\n")
    out = folder / "site"
    build(
        load_config(
            str(ROOT / "mkdocs.yml"), docs_dir=str(pages), site_dir=str(out), nav=None, strict=False
        )
    )
    return out


@pytest.fixture(scope="module")
def browser():
    browser = Chromium(PATH)
    yield browser
    browser.close()


def test_the_index_is_a_script_and_nothing_comes_from_elsewhere(site):
    assert (site / "search" / "search_index.js").read_text().startswith("var __index = {")
    for page in ("index.html", "deep/page.html"):
        sources = re.findall(r'<script[^>]*\bsrc="([^"]*)"', (site / page).read_text())
        assert len(sources) == 2
        # The stand-in for workers has to be there before what makes one.
        assert sources[0].endswith("javascripts/iframe-worker.js")
        for source in sources:
            assert (site / page).parent.joinpath(source).is_file()


@pytest.mark.skipif(PATH is None, reason="there is no chromium on the path")
@pytest.mark.parametrize("page", ["index.html", "deep/page.html"])
@pytest.mark.parametrize(
    ("words", "found"), [("medlar", "deep/page.html"), ("quince", "index.html"), ("rhubarb", None)]
)
def test_a_folder_is_searched(browser, site, page, words, found):
    browser.open(site / page, 1280)
    browser.run("document.querySelector('[data-md-component=search-query]').focus()")
    browser.send("Input.insertText", text=words)
    links = browser.run(
        """new Promise((resolve) => {
        const told = (left) => {
          const meta = document.querySelector(".md-search-result__meta")?.textContent ?? "";
          if (!/matching/.test(meta) && left) return setTimeout(told, 20, left - 1);
          const links = document.querySelectorAll(".md-search-result__link");
          resolve(left ? [...links].map((a) => a.href) : ["nothing was searched"]);
        };
        told(500); })"""
    )
    places = {link.partition("?")[0].partition("#")[0] for link in links}
    assert places == ({(site / found).resolve().as_uri()} if found else set())
    assert browser.complaints() == []
