"""In which language the dashboard answers: the one asked for in the address, else the server's, else the browser's."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.datastructures import Headers

from holter.language import SOURCE, language_of, speaking, spoken

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

PARAMETER = "lang"


class Interpreter:
    """ASGI middleware: every request is answered in its language."""

    def __init__(self, app: ASGIApp) -> None:
        """Answer with `app`; what is spoken now is the server's language."""
        self._app, self._own = app, spoken()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with speaking(self._language(scope)):
            await self._app(scope, receive, send)

    def _language(self, scope: Scope) -> str:
        asked = parse_qs(scope["query_string"].decode("latin-1")).get(PARAMETER, [""])[0]
        if (code := language_of(asked)) is not None:
            return code
        if self._own != SOURCE:
            return self._own
        return _preferred(Headers(scope=scope).get("accept-language", ""))


def _preferred(accepted: str) -> str:
    """The first language of an ``Accept-Language`` header that is spoken, the best liked first; English where there is none."""
    liked: list[tuple[float, str]] = []
    for each in accepted.split(","):
        name, _, quality = each.partition(";")
        try:
            weight = float(quality.partition("=")[2] or 1)
        except ValueError:
            continue
        if (code := language_of(name.strip())) is not None and weight > 0:
            liked.append((-weight, code))
    return min(liked, key=lambda each: each[0], default=(0.0, SOURCE))[1]
