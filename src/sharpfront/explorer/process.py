"""The process that solves: it reads what is asked from a pipe and writes answers to it.

What the page asks, and the marks of what goes between the server and its workers.
"""

from __future__ import annotations

import contextlib
import json
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Annotated, Any

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


# Seconds between two lines of progress: readers of screens read all of them out.
_PAUSE = 0.4


class CancelledError(BaseException):
    """The server no longer wants the answer; no code that catches exceptions may keep it."""


def serve(pipe: Connection, megabytes: int) -> None:
    """Answer one question after the other until the pipe is closed."""
    # Ctrl-C goes to the whole group of processes; the server ends its workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    from sharpfront.explorer.answers import Answers

    answers, line = Answers(), _Line(pipe)
    _limit_memory(megabytes)
    with contextlib.suppress(EOFError, OSError):
        pipe.send_bytes(READY)
        while True:
            message = pipe.recv_bytes()
            # The answer was there before it was cancelled.
            if message == CANCEL:
                pipe.send_bytes(CANCELLED)
                continue
            try:
                with line.open():
                    found = answered(answers, json.loads(message), line.tell, megabytes)
            except CancelledError:
                # At the end of the pipe this raises, and the process ends.
                pipe.recv_bytes()
                pipe.send_bytes(CANCELLED)
                continue
            pipe.send_bytes(FINAL + found.encode())


class _Line:
    """Says how a solve goes, and leaves it when it is cancelled: nothing else comes meanwhile."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._last = 0.0
        # Whether a signal may leave what is being done; never half of a message.
        self._free = False
        if hasattr(signal, "SIGUSR1"):
            signal.signal(signal.SIGUSR1, self._called)

    def _called(self, *_: Any) -> None:
        if self._free:
            self._look()

    def _look(self) -> None:
        if self._pipe.poll():
            self._free = False
            raise CancelledError

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Let what is done within be cancelled."""
        self._free = True
        try:
            yield
        finally:
            self._free = False

    def tell(self, words: str) -> None:
        """Say how far it is, if nothing was said for a while."""
        self._look()
        if time.monotonic() - self._last < _PAUSE:
            return
        self._last = time.monotonic()
        self._free = False
        self._pipe.send_bytes(PROGRESS + json.dumps({"progress": words}).encode())
        self._free = True
        self._look()


def answered(answers: Any, job: dict[str, Any], tell: Callable[[str], None], limit: int) -> str:
    """Return an answer or what is wrong, as JSON; whatever happens, the process goes on."""
    from sharpfront.errors import SharpfrontError
    from sharpfront.problem_file import StatementError
    from sharpfront.show.pages.drawn_data import to_json

    try:
        return to_json({"answer": answers.answer(job, tell)})
    except StatementError as error:
        mistakes = [m.as_dict() for m in error.mistakes]
        return to_json({"error": "\n".join(error.paragraphs()), "mistakes": mistakes})
    except SharpfrontError as error:
        return to_json({"error": str(error)})
    except (MemoryError, ImportError) as error:
        # Libraries are loaded when they are first needed, and may find no room any more.
        if isinstance(error, ImportError) and "map segment" not in str(error):
            return to_json({"error": str(error)})
        answers.forget()
        words = (
            f"The solve wanted more memory than the {limit} MB it is allowed. Ask for a larger "
            "tolerance or a milder parameter, or start with "
            f"`sharpfront explore --memory {2 * limit}`."
        )
        return to_json({"error": words})
    except RecursionError:
        return to_json({"error": "The text is nested too deeply to be read. Write it flatter."})
    except Exception as error:
        words = f"This should not happen: {type(error).__name__}: {error}."
        return to_json({"error": f"{words} Please report it with the problem file."})


def _limit_memory(megabytes: int) -> None:
    """Allow so much memory beyond what the libraries take; nothing where that cannot be said."""
    with contextlib.suppress(ValueError, OSError, ImportError):
        import resource

        # Pages of address space in use, where the system tells, as on Linux.
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        most = taken + megabytes * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
