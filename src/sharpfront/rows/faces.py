"""The faces that carry traces between patches, and the sides of patches on the boundary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np

from sharpfront.arrays import Flags, FloatArray, Ints
from sharpfront.bases.boxes import Boxes
from sharpfront.bases.partial_faces import Part, ShellFace
from sharpfront.maps import Strip


@dataclass(frozen=True)
class Contact:
    """A face as part of a side of one of its two patches."""

    # The side: normal axis, 0 for the lower and 1 for the upper end.
    patch: int
    axis: int
    end: int
    # The face along the other axes; where two charts run against each other low is above high.
    low: tuple[float, ...]
    high: tuple[float, ...]

    @cached_property
    def rest(self) -> list[int]:
        """The axes along the face."""
        return [a for a in range(len(self.low) + 1) if a != self.axis]

    @property
    def lengths(self) -> FloatArray:
        """How long the face is along these."""
        return np.abs(np.subtract(self.high, self.low))


@dataclass(frozen=True)
class Face:
    """Where two patches meet: the largest piece that is part of a side of both."""

    # The side of the one and of the other, in one chart the upper and the lower.
    below: Contact
    above: Contact
    # In space, where two charts meet; None inside one, whose axes both patches have.
    normal: tuple[float, ...] | None = None
    # Where given, a side of a strip meets boxes that it cuts: `below` has the stretch along the
    # side, `above` about where it lies in the box.
    strip: Strip | None = None
    # In space where only a part of it lies inside, and on sides of shells.
    part: Part | None = None
    # Whether it lies on a line that charts on one side or both have parts of.
    shared: bool = False

    @property
    def contacts(self) -> tuple[Contact, Contact]:
        """Both sides."""
        return self.below, self.above

    @property
    def is_oblique(self) -> bool:
        """Whether sizes along it differ: a strip or frame meets what lies inside of it."""
        inside_shell = self.normal is None and isinstance(self.part, ShellFace)
        return self.strip is not None or self.shared or inside_shell


@dataclass(frozen=True)
class Side:
    """A side of a patch on the boundary: normal axis, 0 for the lower and 1 for the upper end."""

    patch: int
    axis: int
    end: int


class Faces(Sequence[Face]):
    """Faces as arrays, f of them; each is made an object when it is asked for.

    Parameters
    ----------
    boxes
        Those of the patches.
    pairs
        The patches below and above, (f, 2).
    axis
        Across each face, of the patch below, (f,).
    low, high
        Its extent along the other axes of that patch, (f, d - 1).
    special
        By number those that are more than that: between charts, along strips, or in part inside.
    """

    def __init__(
        self,
        boxes: Boxes,
        pairs: Ints,
        axis: Ints,
        low: FloatArray,
        high: FloatArray,
        special: Mapping[int, Face] | None = None,
    ) -> None:
        self.boxes, self.pairs, self.axis, self.low, self.high = boxes, pairs, axis, low, high
        self.special = special or {}

    @classmethod
    def of(cls, boxes: Boxes, faces: Sequence[Face]) -> Faces:
        """Return faces that are objects already."""
        below = [face.below for face in faces]
        pairs = [(f.below.patch, f.above.patch) for f in faces]
        shape = len(faces), boxes.maps.shape[1] - 1
        return cls(
            boxes,
            np.array(pairs, dtype=np.int64).reshape(-1, 2),
            np.array([c.axis for c in below], dtype=np.int64),
            np.array([c.low for c in below], dtype=float).reshape(shape),
            np.array([c.high for c in below], dtype=float).reshape(shape),
            dict(enumerate(faces)),
        )

    def __len__(self) -> int:
        """Return their number."""
        return len(self.pairs)

    @overload
    def __getitem__(self, number: int) -> Face: ...
    @overload
    def __getitem__(self, number: slice) -> list[Face]: ...
    def __getitem__(self, number: int | slice) -> Face | list[Face]:
        """Return a face."""
        if isinstance(number, slice):
            return [self[k] for k in range(*number.indices(len(self)))]
        if number >= len(self):
            raise IndexError(number)
        if number in self.special:
            return self.special[number]
        axis, (one, other) = int(self.axis[number]), self.pairs[number].tolist()
        place = tuple(self.low[number].tolist()), tuple(self.high[number].tolist())
        return Face(Contact(one, axis, 1, *place), Contact(other, axis, 0, *place))

    def __iter__(self) -> Iterator[Face]:
        """Yield all of them."""
        every = (self.pairs.tolist(), self.axis.tolist(), self.low.tolist(), self.high.tolist())
        for k, ((one, other), axis, *ends) in enumerate(zip(*every, strict=True)):
            place = tuple(ends[0]), tuple(ends[1])
            yield self.special.get(k) or Face(
                Contact(one, axis, 1, *place), Contact(other, axis, 0, *place)
            )

    def __add__(self, other: Faces) -> Faces:
        """Return these and then others of the same patches."""
        pairs, axis, low, high = (
            np.concatenate([getattr(own, name) for own in (self, other)])
            for name in ("pairs", "axis", "low", "high")
        )
        further = {len(self) + k: face for k, face in other.special.items()}
        return Faces(self.boxes, pairs, axis, low, high, {**self.special, **further})

    @cached_property
    def plain(self) -> Flags:
        """Which of them are no more than their arrays say."""
        out = np.ones(len(self), dtype=bool)
        out[[*self.special]] = False
        return out

    @cached_property
    def covered(self) -> Flags:
        """Which sides of patches have a face, (n, d, 2)."""
        out = np.zeros((*self.boxes.maps.shape, 2), dtype=bool)
        (below, above), axis = self.pairs[self.plain].T, self.axis[self.plain]
        out[below, axis, 1] = out[above, axis, 0] = True
        for face in self.special.values():
            for c in face.contacts:
                out[c.patch, c.axis, c.end] = True
        return out


def others(d: int) -> Ints:
    """Return the other axes of each axis, (d, d - 1)."""
    return np.array([[a for a in range(d) if a != axis] for axis in range(d)], dtype=np.int64)
