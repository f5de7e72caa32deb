"""`condor_pydagman web`: a page on which running DAGs are seen and steered."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import errno
import logging
import os
import signal
import socket
import tempfile
import webbrowser

from condor_pydagman.adapters.installation import to_install
from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand, integer
from condor_pydagman.errors import PydagmanError, UsageError
from condor_pydagman.monitor.found_dag import FoundDag, find_dag, started_in

_DESCRIPTION = """\
Serve a web page on which you watch and steer your DAGs. The server listens only on 127.0.0.1 and
::1, and answers only requests that use the address that it prints, which contains a secret and
changes at each start. To open the page from another computer, forward the port:
ssh -L PORT:127.0.0.1:PORT HOST. Ctrl-C stops the server; the DAGs continue."""
# A browser takes a name below .localhost for either.
_ADDRESSES = (socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")
_NO_IPV6 = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
_TRIES = 20  # to find a port that is free at both addresses


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand to those of `condor_pydagman`."""
    parser = add_subcommand(
        subparsers, "web", "watch and steer DAGs in a browser", _DESCRIPTION, run
    )
    parser.add_argument(
        "dags",
        nargs="*",
        metavar="DAG",
        help="DAGs to show besides all of yours in the queue and those that ended lately: the first"
        " DAG file of each submission, or the cluster of DAGMan's job (default: those running in"
        " this directory); if you name one, the page opens with it",
    )
    parser.add_argument(
        "--port",
        type=integer(0, 65535),
        default=0,
        metavar="N",
        help="port to listen on (default: any free one)",
    )
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")


def run(arguments: argparse.Namespace) -> int:
    """Serve until Ctrl-C; returns the exit code.

    Raises:
        PydagmanError: there is no such DAG, aiohttp is missing, or the port is taken.
    """
    try:
        import aiohttp  # noqa: F401  # to tell it from errors in our own modules
    except ImportError:
        raise PydagmanError(
            f"the page needs the Python package aiohttp: {to_install('aiohttp')}"
        ) from None
    named = [find_dag(dag) for dag in arguments.dags]
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(named, arguments.port, browser=not arguments.no_browser))
    return 0


def _running_here() -> list[FoundDag]:
    found = []
    for name in started_in("."):
        with contextlib.suppress(PydagmanError):
            found.append(find_dag(name, ask=False))
    return [dag for dag in found if dag.is_live]


async def _serve(named: list[FoundDag], port: int, *, browser: bool) -> None:
    from aiohttp import web

    from condor_pydagman.web.access import Access, Connections
    from condor_pydagman.web.application import PageServer
    from condor_pydagman.web.dags_list import DagsList, id_of
    from condor_pydagman.web.steering import Steering
    from condor_pydagman.web.threads import Threads

    threads, access = Threads(), Access()
    dags = DagsList(named or _running_here(), threads)
    server = PageServer(dags, access, threads, Steering())
    runner = web.AppRunner(
        server.application, access_log=None, handle_signals=False, shutdown_timeout=1.0
    )
    await runner.setup()
    assert runner.server is not None
    logging.getLogger("aiohttp.server").addFilter(_is_our_error)
    try:
        bound = _bound(port)
        access.port = bound[0].getsockname()[1]
        loop, connections = asyncio.get_running_loop(), Connections(runner.server, server.has_asked)
        listeners = [await loop.create_server(connections, sock=one) for one in bound]
        url = access.url + (f"#/{id_of(named[0])}" if len(named) == 1 else "")
        say(url, flush=True)
        with _opened(url) if browser else contextlib.nullcontext():
            await _until_signal()
        for listener in listeners:
            listener.close()
    finally:
        await runner.cleanup()


def _bound(port: int) -> list[socket.socket]:
    """Sockets on the same port of all loopback addresses: whoever had one of them would get some
    requests of the browser.

    Raises:
        UsageError: somebody else has it.
    """
    tries = 1 if port else _TRIES
    while True:
        tries -= 1
        bound: list[socket.socket] = []
        for family, address in _ADDRESSES:
            try:
                wanted = bound[0].getsockname()[1] if bound else port
                bound.append(socket.create_server((address, wanted), family=family))
            except OSError as error:
                if bound and error.errno in _NO_IPV6:
                    continue
                for one in bound:
                    one.close()
                if tries:
                    break
                raise UsageError(
                    f"can't listen on port {wanted} of {address}: {os.strerror(error.errno or 0)};"
                    " choose another --port, or omit it"
                ) from None
        else:
            return bound


def _is_our_error(record: logging.LogRecord) -> bool:
    """Not what strangers send that is no HTTP: they could fill the terminal with it."""
    from aiohttp.http_exceptions import HttpProcessingError

    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


async def _until_signal() -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(one, ended.set)
    await ended.wait()


class _opened:
    """Within, a file that leads a browser to the page: in its command line, other users could read
    the secret."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._path = ""

    def __enter__(self) -> None:
        has_display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
        if not has_display or os.environ.get("SSH_CONNECTION"):
            return
        with tempfile.NamedTemporaryFile(
            "w", prefix="pydagman-", suffix=".html", delete=False
        ) as file:
            file.write(f'<meta http-equiv="refresh" content="0;url={self._url}">\n')
        self._path = file.name
        with contextlib.suppress(webbrowser.Error):
            webbrowser.open(f"file://{self._path}")

    def __exit__(self, *error: object) -> None:
        if self._path:
            with contextlib.suppress(OSError):
                os.unlink(self._path)
