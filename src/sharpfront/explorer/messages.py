"""What the page asks, and the marks of what goes between the server and its workers."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

# A problem file of this size has thousands of lines.
MOST_BYTES = 256_000
ACTIONS = ("catalog", "read", "solve", "report")

# The first byte of what a worker says.
READY, PROGRESS, FINAL, CANCELLED = b"R", b"P", b"F", b"C"
# What a worker is told, beside work.
CANCEL = b"cancel"


class Asked(BaseModel):
    """What the page asks for.

    Parameters
    ----------
    view
        Who asks: a newer question of the same view cancels an older one.
    name, text
        A problem of the catalogue as it is, or the text of a problem file.
    parameters
        Values in place of those in the file.
    tol
        The tolerance; that of the file if None.
    """

    model_config = ConfigDict(extra="forbid")

    view: Annotated[str, Field(pattern=r"^[\w:-]{1,60}$")] = "page"
    name: Annotated[str, Field(max_length=100)] | None = None
    text: str | None = None
    parameters: Annotated[dict[str, float | str], Field(max_length=100)] = {}
    tol: Annotated[float, Field(gt=0, lt=1)] | None = None


def words_of(error: ValidationError) -> str:
    """Return what is wrong with a question."""
    return " ".join(
        f"{'.'.join(map(str, detail['loc'])) or 'The request'}: {detail['msg']}."
        for detail in error.errors(include_url=False)
    )
