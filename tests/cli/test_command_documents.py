"""What the documentation shows of the command line is what it prints."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sharpfront.cli import app

PAGES = Path(__file__).resolve().parents[2] / "docs" / "how-to"


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", (PAGES / page).read_text(), re.DOTALL)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_summary():
    Path("layer.toml").write_text(blocks("command-line.md", "toml")[0])
    shown = next(b for b in blocks("command-line.md", "text") if "solve layer.toml --plot" in b)
    command, *lines = shown.splitlines()
    result = CliRunner().invoke(app, command.split()[2:])
    assert result.exit_code == 0
    printed = result.output.splitlines()
    # Numbers may differ in their last digits from one machine to another.
    assert [line[:13] for line in printed] == [line[:13] for line in lines]


def test_the_mistakes():
    source = blocks("problem-files.md", "toml")[0]
    Path("layer.toml").write_text(source.replace("-nu*", "-nuu*").replace("left", "lefft"))
    result = CliRunner().invoke(app, ["solve", "layer.toml"])
    printed = " ".join(result.stderr.split())
    shown = blocks("problem-files.md", "text")[0]
    pieces = [piece for line in shown.splitlines() for piece in line.split(" ...")]
    for piece in filter(None, pieces):
        assert " ".join(piece.split()) in printed


def test_every_option_is_named():
    text = (PAGES / "command-line.md").read_text()
    listed = CliRunner().invoke(app, ["solve", "--help"]).output
    options = set(re.findall(r"--[a-z-]+", listed)) - {"--help"}
    assert options == {option for option in options if f"`{option}" in text}
    commands = CliRunner().invoke(app, ["--help"]).output.partition("Commands:")[2]
    for line in commands.strip().splitlines():
        assert f"sharpfront {line.split()[0]}" in text
