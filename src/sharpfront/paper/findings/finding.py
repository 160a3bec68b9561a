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
    """A claim or a question, its verdict, and the numbers behind it.

    Parameters
    ----------
    key
        A word for tests and links.
    title
        What was looked at, one line.
    verdict
        What came out.
    evidence
        Paragraphs with the numbers; those that begin with a dash are items of a list.
    figures
        Names of the figures that show it.
    """

    key: str
    title: str
    verdict: Verdict
    evidence: tuple[str, ...]
    figures: tuple[str, ...] = ()
