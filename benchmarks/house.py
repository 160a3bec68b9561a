"""How large the house is, and what four solves share.

    python benchmarks/house.py            # both tables
    python benchmarks/house.py --lines    # lines of code of every room
    python benchmarks/house.py --names    # names that two modules of one room define

Lines of code are lines with something other than blanks, comments and docstrings. Functions are
those of the package that a profiler sees at the second solve of a layer on the line, a layer in the
plane, Bratu's equation and Burgers' equation; comprehensions and lambdas are not counted.
"""

from __future__ import annotations

import argparse
import ast
import cProfile
import io
import itertools
import pstats
import tokenize
from collections import Counter
from pathlib import Path

import numpy as np

import sharpfront as sf

PACKAGE = Path(sf.__file__).parent
# What a line is not counted for.
NOTHING = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def code_lines(text: str) -> int:
    """Count the lines of a module without blanks, comments and docstrings."""
    said: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if documented and ast.get_docstring(node) is not None:
            first = node.body[0]
            said |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NOTHING:
            found |= set(range(token.start[0], token.end[0] + 1))
    return len(found - said)


def lines_of_rooms() -> dict[str, tuple[int, int]]:
    """Return lines and lines of code of every room."""
    found: Counter[str] = Counter()
    code: Counter[str] = Counter()
    for module in PACKAGE.rglob("*.py"):
        parts, text = module.relative_to(PACKAGE).parts, module.read_text(encoding="utf-8")
        room = parts[0] if len(parts) > 1 else "at the top"
        found[room] += len(text.splitlines())
        code[room] += code_lines(text)
    return {room: (found[room], code[room]) for room, _ in code.most_common()}


def names_defined(text: str) -> set[str]:
    """Return the classes, functions and constants at the top of a module."""
    found = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return {name for name in found if not name.startswith("__")}


def defined_twice() -> dict[str, dict[str, list[str]]]:
    """Return by room the names that two of its modules or more define, with these modules."""
    rooms: dict[str, dict[str, list[str]]] = {}
    for module in sorted(PACKAGE.rglob("*.py")):
        room, *rest = module.relative_to(PACKAGE).with_suffix("").parts
        for name in names_defined(module.read_text(encoding="utf-8")) if rest else ():
            rooms.setdefault(room, {}).setdefault(name, []).append("/".join(rest))
    return {
        room: {name: own for name, own in sorted(names.items()) if len(own) > 1}
        for room, names in rooms.items()
    }


def layer() -> sf.Problem:
    return sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -1e-4 * u.dxx + u.dx,
        left=lambda u, x: u,
        right=lambda u, x: u - 1,
    )


def plane() -> sf.Problem:
    return sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -1e-2 * sf.laplacian(u) + u.dx - 1,
        boundary=lambda u, x, y: u,
    )


def bratu() -> sf.Problem:
    return sf.Problem(sf.Interval(0, 1), lambda u, x: u.dxx + np.exp(u), boundary=lambda u, x: u)


def burgers() -> sf.Problem:
    return sf.Problem(
        sf.Interval(-1, 1),
        lambda u, x, t: u.dt + u * u.dx - 1e-2 * u.dxx,
        boundary=lambda u, x, t: u,
        initial=lambda x: -np.sin(np.pi * x),
        time=(0, 0.5),
    )


def called(problem: sf.Problem) -> set[tuple[str, int, str]]:
    """Return the package's functions that a second solve calls, by module, line and name."""
    sf.solve(problem)
    profile = cProfile.Profile()
    profile.runcall(sf.solve, problem)
    return {
        (str(Path(module).relative_to(PACKAGE)), line, name)
        for module, line, name in pstats.Stats(profile).stats
        if module.startswith(str(PACKAGE)) and not name.startswith("<")
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", action="store_true", help="lines of code only")
    parser.add_argument("--names", action="store_true", help="names of two modules only")
    asked = parser.parse_args()
    if asked.names:
        for room, names in defined_twice().items():
            for name, modules in names.items():
                print(f"{room}: {name} in {', '.join(modules)}")
        return
    rooms = lines_of_rooms()
    for room, (every, code) in rooms.items():
        print(f"{room:14} {every:7} {code:7}")
    print(
        f"{'in all':14} {sum(a for a, _ in rooms.values()):7} {sum(c for _, c in rooms.values()):7}"
    )
    if asked.lines:
        return
    found = {f.__name__: called(f()) for f in (layer, plane, bratu, burgers)}
    print({name: len(own) for name, own in found.items()})
    for one, two in itertools.combinations(found, 2):
        print(f"{one} and {two}: {len(found[one] & found[two])}")
    shared = set.intersection(*found.values())
    print(f"all four: {len(shared)}", dict(Counter(Path(m).parts[0] for m, _, _ in shared)))


if __name__ == "__main__":
    main()
