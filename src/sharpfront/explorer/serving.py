"""Serves the explorer to this machine until it is interrupted."""

from __future__ import annotations

import contextlib
import socket
import threading
import webbrowser

import uvicorn

from sharpfront.errors import ProblemError
from sharpfront.explorer.app import explorer
from sharpfront.explorer.pool import Pool

# Not to be reached from elsewhere.
LOOPBACK = "127.0.0.1"


def bound(port: int) -> socket.socket:
    """Return a socket at a port of this machine; 0 is any that is free."""
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((LOOPBACK, port))
        found.listen()
    except OSError as error:
        found.close()
        raise ProblemError(
            f"Port {port} cannot be used: {error.strerror}. Perhaps another explorer runs there. "
            "Choose another one with --port, or --port 0 for any that is free."
        ) from None
    return found


def serve_explorer(
    listener: socket.socket, pool: Pool, *, start: str | None = None, browser: bool = True
) -> None:
    """Serve the page, beginning with a problem file's text, until Ctrl-C; workers end with it."""
    if browser:
        threading.Timer(0.5, webbrowser.open, [address(listener)]).start()
    # The server ends in good order, and then raises what it was interrupted by.
    with contextlib.suppress(KeyboardInterrupt), listener:
        server(listener, pool, start).run(sockets=[listener])


def server(listener: socket.socket, pool: Pool, start: str | None = None) -> uvicorn.Server:
    """Return the server of the page at a socket; see `serve_explorer`."""
    config = uvicorn.Config(
        explorer(pool, listener.getsockname()[1], start),
        log_level="critical",
        access_log=False,
        ws="none",
        # Streams that are open when it is interrupted.
        timeout_graceful_shutdown=1,
        server_header=False,
    )
    return uvicorn.Server(config)


def address(listener: socket.socket) -> str:
    """Return where the page is."""
    return f"http://{LOOPBACK}:{listener.getsockname()[1]}/"
