"""Who may ask: pages of this server, on this machine. All else is refused before it is read."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
