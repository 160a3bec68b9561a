"""What a finding is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What became of a claim."""

    HOLDS = "reproduces"
    PARTLY = "partly"
    FAILS = "does not reproduce"
    NOTE = "observation"


@dataclass(frozen=True)
class Finding:
    """A claim or a question, its verdict, and the numbers behind it."""

    key: str  # a word for tests and links
    title: str  # what was looked at, one line
    verdict: Verdict  # what came out
    # Paragraphs with the numbers; those that begin with a dash are items of a list.
    evidence: tuple[str, ...]
    figures: tuple[str, ...] = ()  # names of the figures that show it
