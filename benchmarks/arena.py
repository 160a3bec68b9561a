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
from sharpfront.cli.terminal import as_json
from sharpfront.rivals.comparison import POWERS, Comparison
from sharpfront.rivals.racing import FrontierPoint, Lane, Run
from sharpfront.rivals.table import RIVALS


def raced(name: str, folder: Path, seconds: float, seeds: int) -> None:
    """Race on one problem and write what came out, or why nothing did."""
    try:
        facts = sf.compare(name, seconds=seconds, seeds=seeds).as_dict()
    except sf.SharpfrontError as error:
        facts = {"problem": name, "failed": str(error)}
    (folder / f"{name}.json").write_text(as_json(facts))
    print(name, flush=True)


def table(folder: Path) -> str:
    """Return the Markdown table of all results, our worst losses first."""
    every = [facts for facts in results(folder) if "failed" not in facts]
    every.sort(key=lambda facts: min((ratio(lane) for lane in others(facts)), default=math.inf))
    head = "| problem | ours: error | s | faster | slower | misses it |"
    return "\n".join([head, "| --- | ---: | ---: | --- | --- | --- |", *map(row, every)])


def results(folder: Path) -> list[dict[str, Any]]:
    """Return what was raced, in the order of the catalogue."""
    paths = [folder / f"{name}.json" for name in listing()]
    return [json.loads(path.read_text()) for path in paths if path.is_file()]


def others(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the lanes of the rivals that ran."""
    return [m for m in facts["methods"] if m["name"] != "ours" and not m["skipped"]]


def ratio(lane: Mapping[str, Any]) -> float:
    """Return a method's seconds over ours where it does best."""
    return number((lane["beside_ours"] or {"ratio": None})["ratio"])


def row(facts: Mapping[str, Any]) -> str:
    """Return one problem: who was faster than ours to some error, who slower, who misses it."""
    ours = next(lane for lane in facts["methods"] if lane["name"] == "ours")
    best = min(ours["marks"], key=lambda m: number(m["error"]), default=None)
    own = f"{best['error']:.0e} | {best['seconds']:.2g}" if best else "none | "
    lanes = sorted(others(facts), key=ratio)
    faster = ", ".join(f"{short(x)} {beside(x, ours)}" for x in lanes if ratio(x) < 1)
    slower = ", ".join(f"{short(x)} {beside(x, ours)}" for x in lanes if 1 <= ratio(x) < math.inf)
    misses = ", ".join(short(x) for x in lanes if math.isinf(ratio(x)))
    return f"| {facts['problem']} | {own} | {faster} | {slower} | {misses} |"


def short(lane: Mapping[str, Any]) -> str:
    """Return the name of a method for the table."""
    return RIVALS[lane["name"]].title.removeprefix("scipy ").split(",")[0].split(" (")[0]


def to(lane: Mapping[str, Any], target: float) -> float:
    """Return the fewest seconds to an error."""
    marks = [m for m in lane["marks"] if number(m["error"]) <= target]
    return min((m["seconds"] for m in marks), default=math.inf)


def beside(lane: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    """Return how much faster or slower a method is, at which error, and where it is alone."""
    both = [(to(lane, p) / to(ours, p), p) for p in POWERS if math.isfinite(to(ours, p))]
    times, target = min(both, default=(math.inf, 0.0))
    words = f"{max(times, 1 / times):.2g}x at {target:.0e}" if math.isfinite(times) else ""
    if ratio(lane) > 0:
        return words
    alone = f"alone at {lane['beside_ours']['target']:.0e}"
    kind = "faster" if times < 1 else "slower"
    return f"{alone} ({words} {kind})" if words else alone


def losses(folder: Path) -> str:
    """Return in how many races each method was faster than ours at some error, or got further."""
    counts = {name: [0, 0, 0, 0] for name in RIVALS if name != "ours"}
    for facts in results(folder):
        for lane in others(facts) if "failed" not in facts else ():
            own, times = counts[lane["name"]], ratio(lane)
            for i, true in enumerate((True, times < 1, 1 <= times < math.inf, math.isinf(times))):
                own[i] += true
    lines = ["| method | races | faster | slower | misses it |", "| --- |" + " ---: |" * 4]
    ranked = sorted(counts.items(), key=lambda each: -each[1][1])
    lines += [f"| {RIVALS[n].title} | {' | '.join(map(str, c))} |" for n, c in ranked]
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
            marks=tuple(FrontierPoint(m["setting"], runs(m["runs"])) for m in lane["marks"]),
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
