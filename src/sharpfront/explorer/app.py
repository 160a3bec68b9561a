"""The server: a page, its scripts, and four questions that workers answer."""

from __future__ import annotations

import contextlib
import socket
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable
from importlib.resources import files

import uvicorn
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sharpfront.errors import ProblemError
from sharpfront.explorer.pool import Pool
from sharpfront.explorer.process import ACTIONS, MOST_BYTES, Asked, words_of
from sharpfront.show.pages.page import asset
from sharpfront.show.pages.solved import viewer_script

_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
# The browser itself sees to it that the page fetches nothing from elsewhere and is framed nowhere.
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
# Not to be reached from elsewhere.
LOOPBACK = "127.0.0.1"


def explorer(pool: Pool, port: int, start: str | None = None) -> Starlette:
    """Return the application; requests for another host or port are refused.

    It starts and ends the workers. `start` is the text of a problem file to begin with.
    """

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        pool.start()
        try:
            yield
        finally:
            await pool.stop()

    async def asked(request: Request) -> Response:
        action = request.path_params["action"]
        if action not in ACTIONS:
            return _refused(404, f"There is nothing at {request.url.path}.")
        try:
            question = Asked.model_validate_json(await _body(request))
        except ValidationError as error:
            return _refused(400, words_of(error))
        except OverflowError:
            words = f"The request is larger than {MOST_BYTES // 1000} kB, more than is read here."
            return _refused(413, words)
        job = {"action": action, **question.model_dump()}
        lines = (line + b"\n" async for line in pool.lines(question.view, job))
        return StreamingResponse(lines, media_type="application/x-ndjson")

    async def begin(_: Request) -> Response:
        return JSONResponse({"text": start, "seconds": pool.seconds, "memory": pool.megabytes})

    return Starlette(
        routes=[
            Route("/", _page),
            Route("/static/{name}", _file),
            Route("/api/start", begin),
            Route("/api/{action}", asked, methods=["POST"]),
        ],
        middleware=[Middleware(Guard, port=port)],
        lifespan=lifespan,
    )


def _refused(status: int, words: str) -> JSONResponse:
    return JSONResponse({"error": words}, status)


async def _body(request: Request) -> bytes:
    """Return the body, of which no more is read than is allowed."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise OverflowError
    return body


async def _page(_: Request) -> Response:
    return Response(_own("index.html"), media_type=_TYPES["html"])


async def _file(request: Request) -> Response:
    """Return a style or a script: those of reports, and what the explorer adds to them."""
    name = request.path_params["name"]
    made: dict[str, Callable[[], str]] = {
        "report.css": lambda: asset("page.css") + asset("report.css"),
        "viewer.js": lambda: f'"use strict";\n{viewer_script()}',
        "theme.js": lambda: asset("page.js"),
        "explorer.css": lambda: _own("explorer.css"),
        "explorer.js": lambda: _own("explorer.js"),
    }
    if name not in made:
        return _refused(404, f"There is no file {name}.")
    return Response(made[name](), media_type=_TYPES[name.rpartition(".")[2]])


def _own(name: str) -> str:
    return (files("sharpfront.explorer") / "static" / name).read_text(encoding="utf-8")


class Guard:
    """Lets through what this server's own page asks.

    A page of another site can reach a port of this machine; its requests carry its origin, or the
    name under which it reached this port. Questions must be JSON, which no form can send.
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        self.app = app
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        words = self._objection(scope["method"], Headers(scope=scope))
        answer = PlainTextResponse(f"{words}\n", 403) if words else self.app
        await answer(scope, receive, guarded)

    def _objection(self, method: str, headers: Headers) -> str:
        """Return what speaks against a request; nothing for one of our page."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if host not in self.hosts:
            return f"This server answers to {' and '.join(sorted(self.hosts))} only."
        if origin is not None and origin != f"http://{host}":
            return "Requests of other sites are refused."
        if method in ("GET", "HEAD"):
            return ""
        if headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return "Requests of other sites are refused."
        kind = headers.get("content-type", "").partition(";")[0].strip()
        return "" if kind == "application/json" else "Questions are JSON: application/json."


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
