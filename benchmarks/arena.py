"""Every problem of the catalogue raced by `sharpfront.compare`, and the tables of docs/arena.md.

Run by hand, in an environment with the extra ``bench``:
``python benchmarks/arena.py results --seconds 0.5 --seeds 2 [NAME ...]`` writes one JSON file for
each problem into the folder, leaves out those that are there, and prints the table of all of them.
``--pictures docs/images/arena burgers outflow`` draws races that are there.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sharpfront as sf
from sharpfront.catalog import listing
from sharpfront.cli.results import as_json
from sharpfront.rivals.apart import Run
from sharpfront.rivals.comparison import Comparison
from sharpfront.rivals.racing import Lane, Mark
from sharpfront.rivals.table import RIVALS

# The table's errors: for each problem the smallest that ours reached.
TARGETS = (1e-8, 1e-6, 1e-4, 1e-2)


def raced(name: str, folder: Path, seconds: float, seeds: int) -> None:
    """Race on one problem and write what came out, or why nothing did."""
    try:
        facts = sf.compare(name, seconds=seconds, seeds=seeds).as_dict()
    except sf.SharpfrontError as error:
        facts = {"problem": name, "failed": str(error)}
    (folder / f"{name}.json").write_text(as_json(facts))
    print(name, flush=True)


def table(folder: Path) -> str:
    """Return the Markdown table of all results."""
    rivals = list(RIVALS.values())
    head = ["problem", "error", *(r.title.split(",")[0] for r in rivals)]
    lines = [f"| {' | '.join(head)} |", f"| --- |{' ---: |' * (len(head) - 1)}"]
    for name in listing():
        path = folder / f"{name}.json"
        if path.is_file():
            facts = json.loads(path.read_text())
            lines.append(row(facts) if "failed" not in facts else f"| {name} | no reference |")
    return "\n".join(lines)


def row(facts: Mapping[str, Any]) -> str:
    """Return one problem: seconds to an error, or in brackets the error reached."""
    lanes = {lane["name"]: lane for lane in facts["methods"]}
    target = next((t for t in TARGETS if to(lanes["ours"], t) < math.inf), TARGETS[-1])
    own = to(lanes["ours"], target)
    cells = [cell(lanes[name], target, own) for name in RIVALS]
    return f"| {facts['problem']} | {target:.0e} | {' | '.join(cells)} |"


def to(lane: Mapping[str, Any], target: float) -> float:
    """Return the fewest seconds to an error."""
    marks = [m for m in lane["marks"] if m["error"] is not None and m["error"] <= target]
    return min((m["seconds"] for m in marks), default=math.inf)


def cell(lane: Mapping[str, Any], target: float, own: float) -> str:
    """Return what stands for a method: bold where it is faster than ours."""
    if lane["skipped"]:
        return "" if "not apply" in lane["skipped"] else "-"
    seconds = to(lane, target)
    if math.isfinite(seconds):
        words = f"{seconds:.2g}"
        return f"**{words}**" if seconds < own else words
    errors = [m["error"] for m in lane["marks"] if m["error"] is not None]
    return f"({min(errors):.0e})" if errors else "(none)"


def losses(folder: Path) -> str:
    """Return in how many races each method was faster than ours at some error, or got further."""
    counts: dict[str, list[int]] = {name: [0, 0] for name in RIVALS if name != "ours"}
    for path in sorted(folder.glob("*.json")):
        facts = json.loads(path.read_text())
        for lane in facts.get("methods", ()):
            if lane["name"] != "ours" and not lane["skipped"]:
                counts[lane["name"]][0] += 1
                counts[lane["name"]][1] += lane["name"] in facts["losses"]
    lines = ["| method | races | ours lost |", "| --- | ---: | ---: |"]
    lines += [f"| {RIVALS[n].title} | {a} | {b} |" for n, (a, b) in counts.items()]
    return "\n".join(lines)


def drawn(facts: Mapping[str, Any], folder: Path) -> None:
    """Draw a race from its file."""

    def runs(found: list[dict[str, Any]]) -> tuple[Run, ...]:
        return tuple(Run(**(r | {"error": number(r["error"])})) for r in found)

    lanes = tuple(
        Lane(
            lane["name"],
            lane["title"],
            lane["citation"],
            marks=tuple(Mark(m["setting"], runs(m["runs"])) for m in lane["marks"]),
        )
        for name in RIVALS
        for lane in facts["methods"]
        if lane["name"] == name
    )
    found = Comparison(facts["problem"], facts["title"], "", "", lanes, facts["seconds"], ())
    folder.mkdir(parents=True, exist_ok=True)
    figure: Any = found.plot().figure
    figure.savefig(folder / f"{facts['problem']}.png", dpi=110, bbox_inches="tight")


def number(value: float | None) -> float:
    """Return a number of a file, in which infinity is null."""
    return math.inf if value is None else value


def main() -> None:
    """Race what is missing, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--pictures", type=Path)
    options = parser.parse_intermixed_args()
    if options.pictures:
        for name in options.names:
            drawn(json.loads((options.folder / f"{name}.json").read_text()), options.pictures)
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.names or listing():
        if not (options.folder / f"{name}.json").is_file():
            raced(name, options.folder, options.seconds, options.seeds)
    print(f"\n{table(options.folder)}\n\n{losses(options.folder)}")


if __name__ == "__main__":
    main()
