"""The server: a page, its scripts, and four questions that workers answer."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from importlib.resources import files

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from sharpfront.explorer.guard import Guard
from sharpfront.explorer.messages import ACTIONS, MOST_BYTES, Asked, words_of
from sharpfront.explorer.pool import Pool
from sharpfront.show.pages.page import asset
from sharpfront.show.pages.solved import viewer_script

_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}


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
