"""The site is complete: public names, the catalogue, pictures, and warnings that stop the build."""

import importlib.util
import re
from pathlib import Path

import pytest

import sharpfront
from sharpfront.catalog import listing
from sharpfront.errors import OutcomeKind

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FAMILIES = (
    *("layers", "nonlinear", "plane", "fronts", "shapes", "space", "flows"),
    *("time", "time-plane"),
)


def pages(folder):
    return "\n".join(page.read_text() for page in sorted((DOCS / folder).glob("*.md")))


def test_the_reference_has_every_public_name():
    described = set(re.findall(r"^::: [\w.]+\.(\w+)$", pages("reference"), re.MULTILINE))
    described |= set(re.findall(r"^        - (\w+)$", pages("reference"), re.MULTILINE))
    missing = set(sharpfront.__all__) - described - {"__version__"}
    assert not missing


def test_every_problem_of_the_catalogue_is_named_in_the_gallery_and_no_other():
    named = set()
    for family in FAMILIES:
        text = (DOCS / "gallery" / f"{family}.md").read_text()
        named |= set(re.findall(r"`([a-z-]+)`", text[text.index("In the catalogue") :]))
    assert set(listing()) == named


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_has_a_picture_code_and_a_place_in_the_grid(family):
    text = (DOCS / "gallery" / f"{family}.md").read_text()
    assert f"(../images/gallery/{family}.png)" in text
    assert "sf.solve(" in text and "assert" in text
    grid = (DOCS / "gallery" / "index.md").read_text()
    assert f"gallery/{family}-small.png" in grid and f"]({family}.md)" in grid


def test_every_outcome_is_explained():
    text = (DOCS / "how-to" / "trust.md").read_text()
    for kind in OutcomeKind:
        assert f"| {kind.value} |" in text


def test_the_checks_build_the_site_with_warnings_as_errors():
    spec = importlib.util.spec_from_file_location("check", ROOT / "scripts" / "check.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # With --quiet mkdocs counts no warnings, and --strict has nothing to stop at.
    assert module.CHECKS["docs"][1:] == ["-m", "mkdocs", "build", "--strict"]
