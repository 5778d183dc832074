"""Who may ask the dashboard, and what its pages may do.

A log is hostile, and so is every other page in the same browser: a rebound name, a form, a frame. So the Host header is checked
against the names the dashboard was given, a token is asked for wherever the socket is not this machine's alone, nothing but
reading is answered, and no page may load, send or embed anything from elsewhere.
"""

from __future__ import annotations

import hmac
import ipaddress
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from holter.language import told

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "holter_token"
PARAMETER = "token"
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def is_local(host: str) -> bool:
    """Whether an address to listen on is reachable from this machine only."""
    if host in LOCAL_NAMES:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """ASGI middleware: refuses whom it does not know, and sends the headers that keep pages in their place."""

    def __init__(self, app: ASGIApp, *, hosts: Collection[str], token: str | None, by_address: bool = False) -> None:
        """Guard `app`.

        Args:
            app: What answers those who may ask.
            hosts: Names and addresses, without port, under which the dashboard may be asked for.
            token: What must be shown, once in the address and from then on as a cookie; None where anybody on this machine
                may look.
            by_address: Whether it may be asked for by any address in numbers. A name can be rebound to this machine, a
                number cannot.
        """
        self._app, self._hosts, self._token = app, {h.lower() for h in hosts}, token
        self._by_address = by_address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or hand it on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        refusal = self._refusal(scope)
        await (refusal or self._app)(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if not self._knows(_name(headers.get("host", ""))):
            return PlainTextResponse(told("This name is not the dashboard's. Start it with --allow-host NAME."), 421)
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse(told("The dashboard is read-only."), 405, {"allow": "GET, HEAD"})
        if self._token is None or self._shown(headers.get("cookie", "")):
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if any(name == PARAMETER and self._matches(value) for name, value in query):
            return self._remember(scope, [(n, v) for n, v in query if n != PARAMETER])
        return PlainTextResponse(told("Open the address that `holter serve` printed; it carries the token."), 401)

    def _knows(self, name: str) -> bool:
        if name in self._hosts or not self._by_address:
            return name in self._hosts
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def _remember(self, scope: Scope, query: list[tuple[str, str]]) -> Response:
        """Take the token out of the address, where it would stay in the browser's history."""
        rest = f"?{urlencode(query)}" if query else ""
        # One slash: two would make the rest of the path the name of another host.
        answer = RedirectResponse(f"/{scope['path'].lstrip('/')}{rest}", 303)
        answer.set_cookie(COOKIE, self._token or "", httponly=True, samesite="strict")
        return answer

    def _shown(self, cookie: str) -> bool:
        try:
            found = SimpleCookie(cookie).get(COOKIE)
        except CookieError:
            return False
        return found is not None and self._matches(found.value)

    def _matches(self, value: str) -> bool:
        return hmac.compare_digest(value.encode("utf-8", "replace"), (self._token or "").encode())


def _name(host: str) -> str:
    """A Host header without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.rpartition(":")[0].lower() if host.count(":") == 1 else host.lower()
