"""Merges that are alike: equal leaves make equal merges, each of which is made once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sharpfront.leastsquares.dissection import Ints
from sharpfront.leastsquares.merges import Node, united


class Merge(NamedTuple):
    """The kinds that are merged, how many moments they share, where their open ones go."""

    first: int
    second: int
    shared: int
    at_first: Ints
    at_second: Ints


@dataclass(frozen=True, eq=False)
class Kinds:
    """What is to be made, and where it is used."""

    merges: dict[int, Merge]  # how each kind of node is made of two others, those first
    of: list[int]  # the kind of each leaf and node
    opens: list[Ints]  # the moments of each leaf and node that are left in it
    users: dict[int, int]  # how many kinds are made of each

    @classmethod
    def among(
        cls, leaves: Sequence[Hashable], index: Sequence[Ints], nodes: Sequence[Node]
    ) -> Kinds:
        """Return the kinds of a tree's nodes, children first.

        Given is what tells the matrix of one leaf from another's, and the moments of each.
        """
        numbers: dict[Hashable, int] = {}
        merges: dict[int, Merge] = {}
        of = [numbers.setdefault(("leaf", leaf), len(numbers)) for leaf in leaves]
        users = dict.fromkeys(of, 0)
        opens = list(index)
        for node in nodes:
            a, b = of[node.first], of[node.second]
            left, right = opens[node.first][node.shared :], opens[node.second][node.shared :]
            union, at_a, at_b = united(left, right)
            key = (a, b, node.shared, at_a.tobytes(), at_b.tobytes())
            number = numbers.setdefault(key, len(numbers))
            if number not in merges:
                merges[number] = Merge(a, b, node.shared, at_a, at_b)
                users[number] = 0
                users[a] += 1
                users[b] += 1
            of.append(number)
            opens.append(union)
        return cls(merges, of, opens, users)

    @property
    def levels(self) -> list[list[int]]:
        """Kinds of nodes that do not need each other together, those that need no others first."""
        level: dict[int, int] = {}
        for number, merge in self.merges.items():
            level[number] = 1 + max(level.get(merge.first, 0), level.get(merge.second, 0))
        out: list[list[int]] = [[] for _ in range(max(level.values(), default=0))]
        for number, k in level.items():
            out[k - 1].append(number)
        return out
