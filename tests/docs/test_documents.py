"""Every block of the documentation runs, and the README's commands are the ones in use."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.lazy import Lazy

import sharpfront
from sharpfront.problem_file import read_text

plt = Lazy("matplotlib.pyplot")
ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# A block of text that follows at once is what the code prints.
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
STATEMENT = re.compile(r"```toml\n(.*?)```", re.DOTALL)
# Those of these two pages are solved in tests/problem_file.
STATED = [
    page
    for page in PAGES
    if page.name not in ("problem-files.md", "command-line.md")
    and STATEMENT.search(page.read_text())
]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_python_blocks_run_in_order_and_print_what_they_say(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text, names = page.read_text(), {}
    for block in BLOCK.finditer(text):
        above = text.count("\n", 0, block.start(1))  # so that a failure names the page's line
        exec(compile("\n" * above + block[1], str(page), "exec"), names)
        printed = capsys.readouterr().out
        if block[2]:
            assert printed.split() == block[2].split()
    plt.close("all")


@pytest.mark.parametrize("page", STATED, ids=lambda p: str(p.relative_to(ROOT)))
def test_problem_files_of_a_page_are_solved(page):
    for block in STATEMENT.findall(page.read_text()):
        assert read_text(block).solve().converged


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_pictures_and_links_exist(page):
    text = re.sub(r"```.*?```|^    .*$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} points to {target}"


def test_the_readme_has_exactly_two_commands_and_ci_runs_the_second():
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines() if "venv" in line]
    assert len(commands) == 2
    assert commands[0].endswith("sharpfront paper")
    assert commands[1].endswith("scripts/check.py")
    script = (ROOT / ".ci" / "run").read_text()
    assert "grep -m 1 'scripts/check.py' README.md" in script


def test_versions_agree():
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text())
    place = ROOT / metadata["tool"]["hatch"]["version"]["path"]
    assert place.samefile(sharpfront.__file__)
    assert f"version: {sharpfront.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f"## {sharpfront.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_package_is_typed_and_its_names_exist():
    assert (Path(sharpfront.__file__).parent / "py.typed").exists()
    for name in sharpfront.__all__:
        assert getattr(sharpfront, name) is not None


def test_importing_the_package_does_not_import_what_it_may_not_need():
    heavy = ("matplotlib", "sklearn", "pydantic", "typer", "scipy.stats")
    code = f"import sys, sharpfront; print([m for m in {heavy} if m in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


def test_the_map_for_contributors_is_the_one_that_is_held():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = [line.replace("sharpfront.", "") for line in contracts["contracts"][0]["layers"]]
    text = (ROOT / "docs" / "architecture.md").read_text()
    shown = re.search(r"```\n(cli .*?)```", text, re.DOTALL)[1].splitlines()
    # What a room is for stands at some distance.
    assert [re.split(r" {2,}", line)[0] for line in shown] == layers


def test_what_the_map_for_contributors_names_is_there():
    text = (ROOT / "docs" / "architecture.md").read_text()
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)+(?:\.py)?)`", text))
    roots = (ROOT, ROOT / "src" / "sharpfront")
    there = {n for n in named for r in roots for end in ("", ".py") if (r / f"{n}{end}").exists()}
    assert named and named - there == set()
