"""Processes kept warm that solve, and the one of each view whose answer is awaited."""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import os
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from multiprocessing import resource_tracker
from typing import Any

from sharpfront.explorer.process import CANCEL, CANCELLED, PROGRESS, serve

# Seconds that a cancelled solve has to end by itself before its process is killed. A new process
# takes longer than this to load the library.
_GRACE = 1.0
_STALE = json.dumps({"stale": True}).encode()


class DiedError(Exception):
    """A process ended while its answer was awaited."""


class Worker:
    """One process, with a limit of memory beyond what the libraries take, and its listener."""

    def __init__(self, megabytes: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._said: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._ready = False
        self.busy = False
        self.process = context.Process(target=serve, args=(theirs, megabytes), daemon=True)
        with _undisturbed():
            self.process.start()
        theirs.close()
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._listen, args=(loop,), daemon=True).start()

    def _listen(self, loop: asyncio.AbstractEventLoop) -> None:
        message: bytes | None = b""
        # The loop may be closed by the time that the last word arrives.
        with contextlib.suppress(RuntimeError):
            while message is not None:
                try:
                    message = self._pipe.recv_bytes()
                except (EOFError, OSError):
                    message = None
                loop.call_soon_threadsafe(self._said.put_nowait, message)

    async def _next(self) -> bytes:
        message = await self._said.get()
        if message is None:
            self._said.put_nowait(None)
            raise DiedError
        return message

    async def ready(self) -> None:
        """Wait until the process has loaded the library."""
        if not self._ready:
            await self._next()
            self._ready = True

    async def ask(self, job: dict[str, Any]) -> AsyncIterator[bytes]:
        """Yield what the process says to a question: lines of progress, and the answer."""
        self.busy = True
        self._send(json.dumps(job).encode())
        while self.busy:
            message = await self._next()
            self.busy = message[:1] == PROGRESS
            yield message[1:]

    async def cancel(self) -> bool:
        """End what the process is doing; returns whether it can be asked again."""
        try:
            self._send(CANCEL)
            # So that it looks now, where the system has signals, and not after its next step.
            if hasattr(signal, "SIGUSR1") and self.process.pid and self.process.is_alive():
                os.kill(self.process.pid, signal.SIGUSR1)
            async with asyncio.timeout(_GRACE):
                while (await self._next())[:1] != CANCELLED:
                    pass
        except (DiedError, TimeoutError):
            return False
        self.busy = False
        return True

    def _send(self, message: bytes) -> None:
        try:
            self._pipe.send_bytes(message)
        except OSError:
            raise DiedError from None

    def kill(self) -> None:
        """End the process at once."""
        self.process.kill()
        self.process.join()
        self._pipe.close()


class Pool:
    """Workers, and the questions that are open: so many solves at a time, each within limits."""

    def __init__(self, size: int = 2, seconds: float = 60.0, megabytes: int = 2000) -> None:
        self.size = size
        self.seconds = seconds
        self.megabytes = megabytes
        self.workers: set[Worker] = set()
        # The last that was used comes first: it may still know the solution that is asked for.
        self._idle: asyncio.LifoQueue[Worker] = asyncio.LifoQueue()
        self._open: dict[str, asyncio.Task[None]] = {}
        self._aside: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Start the workers; they load the library while the page is opened."""
        for _ in range(self.size):
            self._idle.put_nowait(self._hired())

    def _hired(self) -> Worker:
        worker = Worker(self.megabytes)
        self.workers.add(worker)
        return worker

    async def stop(self) -> None:
        """End every question and every worker."""
        tasks = [*self._open.values(), *self._aside]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for worker in self.workers:
            worker.kill()
        self.workers.clear()

    async def lines(self, view: str, job: dict[str, Any]) -> AsyncIterator[bytes]:
        """Yield lines of JSON on a question; an older one of the same view is cancelled."""
        older = self._open.pop(view, None)
        if older is not None:
            older.cancel()
        said: asyncio.Queue[bytes | None] = asyncio.Queue()
        # A task of its own: leaving a worker takes a moment also when the page has gone away.
        task = asyncio.create_task(self._work(job, said))
        self._open[view] = task
        try:
            while (line := await said.get()) is not None:
                yield line
        finally:
            task.cancel()
            if self._open.get(view) is task:
                del self._open[view]

    async def _work(self, job: dict[str, Any], said: asyncio.Queue[bytes | None]) -> None:
        last = ""
        try:
            worker = self._alive(await self._idle.get())
            try:
                await worker.ready()
                async with asyncio.timeout(self.seconds):
                    async for line in worker.ask(job):
                        last = line.decode()
                        said.put_nowait(line)
            finally:
                self._leave(worker)
        except TimeoutError:
            said.put_nowait(self._too_long(last))
        except DiedError:
            said.put_nowait(self._died())
        except asyncio.CancelledError:
            said.put_nowait(_STALE)
        finally:
            said.put_nowait(None)

    def _leave(self, worker: Worker) -> None:
        """Give a worker back; one that still works is cancelled, or replaced if it goes on."""
        if worker.process.is_alive() and not worker.busy:
            self._idle.put_nowait(worker)
            return
        task = asyncio.create_task(self._recovered(worker))
        self._aside.add(task)
        task.add_done_callback(self._aside.discard)

    async def _recovered(self, worker: Worker) -> None:
        if await worker.cancel():
            self._idle.put_nowait(self._alive(worker))
            return
        worker.kill()
        self._idle.put_nowait(self._successor(worker))

    def _alive(self, worker: Worker) -> Worker:
        """Return a worker, or another one in its place if its process has ended."""
        return worker if worker.process.is_alive() else self._successor(worker)

    def _successor(self, worker: Worker) -> Worker:
        self.workers.discard(worker)
        return self._hired()

    def _too_long(self, last: str) -> bytes:
        reached = json.loads(last).get("progress", "") if last else ""
        words = (
            f"The solve was ended after {self.seconds:g} s, the limit of this explorer. "
            + (f"It had come to {reached}. " if reached else "")
            + "Ask for a larger tolerance or a milder parameter, or start with "
            f"`sharpfront explore --seconds {4 * self.seconds:g}`. On the command line "
            "`sharpfront solve` has no limit."
        )
        return json.dumps({"error": words}).encode()

    def _died(self) -> bytes:
        words = (
            "The process that solved this ended, most likely for want of memory: it is allowed "
            f"{self.megabytes} MB. Ask for a larger tolerance or a milder parameter, or start with "
            f"`sharpfront explore --memory {2 * self.megabytes}`."
        )
        return json.dumps({"error": words}).encode()


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Hold back Ctrl-C while a process is started, which then never sees it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Starting this one would let Ctrl-C through again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
