"""Chats, pagers, e-mail, webhooks: whatever apprise can reach.

Their addresses hold secrets, so they are taken from the environment or from a file, never from an argument,
and are kept in no attribute that is printed, in no log line and in no error. apprise's own log lines and those of the HTTP
library below it quote addresses; what they would say of our sending is dropped.
"""

from __future__ import annotations

import logging
import os
import re
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holter.alerts.alert import Alert, Notice
from holter.errors import SettingsError
from holter.findings.finding import Severity
from holter.language import Said, said, told
from holter.reports.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

URLS = "HOLTER_NOTIFY"
"""Environment variable that holds addresses, separated by white space."""
FILE = "HOLTER_NOTIFY_FILE"
"""Environment variable that names a file of addresses: one a line, or any configuration file of apprise."""
TALKERS = ("apprise", "urllib3.connectionpool", "requests", "httpx", "httpcore", "smtplib", "paho")
"""Loggers that quote what is sent where."""
KINDS = {"ERROR": "failure", "WARN": "warning", "INFO": "info"}
"""What apprise calls the level of a `Notice`."""


class NotSentError(ConnectionError):
    """A service did not take an alert."""


class Service:
    """One address. A channel of an `Audience`."""

    def __init__(self, name: str, server: Any) -> None:  # noqa: ANN401 - apprise is not typed
        """A server that apprise made."""
        self.name = name
        self._server = server

    def __repr__(self) -> str:
        return f"Service({self.name!r})"

    def __call__(self, news: object) -> None:
        """Send.

        Raises:
            NotSentError: When the service did not take it; says nothing of the address.
        """
        title, body, kind = _worded(news)
        with _Hushed():
            try:
                taken = self._server.notify(body=body, title=title, notify_type=kind)
            except Exception as error:
                raise NotSentError(type(error).__name__) from None
        if not taken:
            raise NotSentError(told("{name} refused it", name=self.name))


def services(environment: Mapping[str, str] = os.environ, file: Path | None = None) -> list[Service]:
    """The services that the environment, and `file`, name; none where nothing is named.

    Raises:
        SettingsError: When something is named that apprise does not know, or apprise is not installed. Names variable or
            file and the place in it, never what stands there.
    """
    urls = environment.get(URLS, "").split()
    named = [Path(environment[FILE]).expanduser()] if environment.get(FILE) else []
    files = named if file is None else [*named, file]
    if not urls and not files:
        return []
    if find_spec("apprise") is None:
        where = URLS if urls else FILE if named else str(file)
        raise SettingsError(said("{where}: sending alerts needs apprise: pip install 'holter[notify]'", where=where))
    found = [
        *_known(
            [
                (said("{variable}: address {n} of {all}", variable=URLS, n=n, all=len(urls)), url)
                for n, url in enumerate(urls, start=1)
            ]
        ),
        *(server for each in files for server in _in_file(each)),
    ]
    return [Service(f"{_kind(server)} {number}", server) for number, server in enumerate(found, start=1)]


def _known(addresses: Iterable[tuple[Said, str]]) -> Iterator[Any]:
    """What apprise makes of addresses, each given with the place where it stands."""
    import apprise

    for place, url in addresses:
        with _Hushed():
            server = apprise.Apprise.instantiate(url)
        if server is None:
            raise SettingsError(said("{place} is none that apprise knows", place=place))
        yield server


def _in_file(file: Path) -> list[Any]:
    """The servers in a file: one address a line, or apprise's YAML."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or said("it is not UTF-8")
        raise SettingsError(said("{file}: addresses cannot be read: {why}", file=file, why=why)) from None
    if file.suffix.lower() in (".yml", ".yaml"):
        found = _in_yaml(file)
    else:
        # apprise's text form has tags before the address: "family, friends = mailto://...".
        bare = [re.sub(r"^[\w ,-]+=\s*(?=[\w+-]+://)", "", line.strip()) for line in lines]
        addresses = [
            (said("{file}:{n}: the address", file=file, n=n), line)
            for n, line in enumerate(bare, start=1)
            if line and line[0] not in "#;"
        ]
        found = list(_known(addresses))
    if not found:
        raise SettingsError(said("{file}: it holds no address that apprise knows", file=file))
    return found


def _in_yaml(file: Path) -> list[Any]:
    import apprise

    with _Hushed():
        config = apprise.AppriseConfig()
        config.add(str(file))
        return list((getattr(config, "services", None) or config.servers)())


def _kind(server: Any) -> str:  # noqa: ANN401 - apprise is not typed
    """What kind of service it is: ``Slack``."""
    return safe(str(getattr(server, "service_name", None) or "service"))


def _worded(news: object) -> tuple[str, str, str]:
    """Title, body and apprise's kind."""
    if isinstance(news, Notice):
        return safe(news.title), safe(news.text or news.title), KINDS.get(news.level, "info")
    if not isinstance(news, Alert):
        return "holter", safe(str(news)), "info"
    f = news.finding
    kinds = {Severity.CRITICAL: "failure", Severity.WARNING: "warning", Severity.INFO: "info"}
    kind = "success" if news.kind == "resolved" else kinds[f.severity]
    headline = told(news.headline)
    title = f"{news.run}: {headline}" if news.run else headline
    advice = [f"- {told(line)}" for line in f.advice[:3]] if news.kind != "resolved" else []
    return safe(title), "\n".join(safe(line) for line in (str(news), *advice)), kind


class _Hushed(logging.Filter):
    """Drops what the talkers log in this thread."""

    def __init__(self) -> None:
        super().__init__()
        self._thread = threading.get_ident()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether it is somebody else's record."""
        return record.thread != self._thread

    def __enter__(self) -> _Hushed:
        for logger in _loggers():
            logger.addFilter(self)
        return self

    def __exit__(self, *_: object) -> None:
        for logger in _loggers():
            logger.removeFilter(self)


def _loggers() -> Iterator[logging.Logger]:
    return (logging.getLogger(name) for name in TALKERS)
