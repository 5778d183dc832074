"""``holter serve DIR``: all runs below a folder in the browser, live."""

from __future__ import annotations

import errno
import os
import secrets
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holter.cli import _options as options
from holter.cli._speaking import Command
from holter.errors import HolterError
from holter.language import said, told

if TYPE_CHECKING:
    from types import FrameType

TOKEN_VARIABLE = "HOLTER_TOKEN"


@click.command(cls=Command)
@click.argument(
    "folder",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    required=False,
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on. Any but this machine's asks for a token.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0: any free one.")
@click.option(
    "--allow-host",
    "names",
    multiple=True,
    metavar="NAME",
    help="A further name under which browsers may ask, as behind a proxy.",
)
@click.option(
    "--token",
    is_flag=True,
    help=f"Ask for a token on this machine too. It is taken from {TOKEN_VARIABLE}, or made and printed.",
)
@options.config
def command(
    folder: Path,
    host: str,
    port: int,
    names: tuple[str, ...],
    token: bool,  # noqa: FBT001 - click passes flags by name
    config: Path | None,
) -> None:
    """Show all runs below DIR in the browser: what is wrong with which, live. Read-only.

    The page is served to this machine only, unless --host says otherwise.
    """
    try:
        import uvicorn

        from holter.dashboard.server import application
    except ModuleNotFoundError as error:
        raise HolterError(said("the dashboard needs its extra: pip install 'holter[dashboard]'")) from error
    from holter.dashboard.assets import assets
    from holter.dashboard.fleet import Fleet
    from holter.dashboard.safety import LOCAL_NAMES, PARAMETER, is_local
    from holter.dashboard.work import Crew

    settings = options.settings_from(config)
    secret = None if is_local(host) and not token else os.environ.get(TOKEN_VARIABLE) or secrets.token_urlsafe(24)
    files = assets()
    bound = _bind(host, port)
    everywhere = host in ("0.0.0.0", "::")
    own = {socket.gethostname(), socket.getfqdn()} if everywhere else set()
    fleet = Fleet(folder, crew=Crew.apart(settings))
    app = application(fleet, files, hosts={*LOCAL_NAMES, host, *own, *names}, token=secret, by_address=everywhere)

    class Server(uvicorn.Server):
        """Ends the open streams first, for which it would wait otherwise."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            fleet.close()
            super().handle_exit(sig, frame)

    server = Server(uvicorn.Config(app, log_level="warning", server_header=False, timeout_graceful_shutdown=1))
    shown = socket.gethostname() if everywhere else "localhost" if host == "127.0.0.1" else host
    shown = f"[{shown}]" if ":" in shown else shown
    address = f"http://{shown}:{bound.getsockname()[1]}/" + (f"?{PARAMETER}={secret}" if secret else "")
    click.echo(told("Runs below {folder}: {address}", folder=folder.resolve(), address=address))
    click.echo(told("Ctrl+C ends it."))
    try:
        fleet.start()
        server.run(sockets=[bound])
    except KeyboardInterrupt:
        pass
    finally:
        fleet.close()


def _bind(host: str, port: int) -> socket.socket:
    """A listening socket.

    Raises:
        HolterError: When the address is taken, or none of this machine's.
    """
    try:
        family, _, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server((where[0], where[1]), family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            way = said(
                "something listens there already. --port {port} asks for another, --port 0 for any free one",
                port=port + 1,
            )
        elif error.errno == errno.EACCES:
            way = said("ports below 1024 are the administrator's. Ask for another with --port")
        else:
            way = said("{why}. --host takes an address of this machine", why=error.strerror)
        raise HolterError(
            said("cannot listen on {host}, port {port}: {way}.", host=host, port=port, way=way)
        ) from error
