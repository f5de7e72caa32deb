"""Who may ask the server of the page, what every answer says to browsers, and connections that
nobody may keep open: silent ones, too many, those of other users."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
from pathlib import Path

import pytest

from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.web import access as access_module
from condor_pydagman.web import application
from condor_pydagman.web.access import (
    GONE,
    Access,
    Connections,
    Refused,
    check_peer,
    owner_of_connection,
)
from condor_pydagman.web.steering import Answer, Controls, Request, Steering
from tests.unit.web.page_client import Page, a_page

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Steered(Steering):
    """That keeps what it is asked for."""

    def __init__(self) -> None:
        self.commands: list[str] = []

    def controls(self, dag: FoundDag) -> Controls:
        return Controls(True)

    def steer(self, dag: FoundDag, request: Request) -> Answer:
        self.commands.append(request.command)
        return Answer(1)


async def status_of(page: Page, method: str, path: str, **headers: str) -> int:
    async with page.client.request(
        method, path, headers=headers, data="{}" if method == "POST" else None
    ) as answer:
        for name, value in {
            "Content-Security-Policy": POLICY,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
        }.items():
            assert answer.headers[name] == value
        assert answer.headers["Cache-Control"] in ("no-store", "no-cache")
        assert not [name for name in answer.headers if name.startswith("Access-Control")]
        return int(answer.status)


async def test_the_token_buys_a_cookie_and_leaves_the_address(dag_file: Path) -> None:
    async with a_page(dag_file) as page:
        url = f"/?token={page.access.token}"
        async with page.client.get(url, allow_redirects=False) as answer:
            assert (answer.status, answer.headers["Location"]) == (303, "/")
            cookie = answer.headers["Set-Cookie"]
        assert cookie.startswith(f"pydagman-{page.access.port}=")
        assert {"HttpOnly", "Path=/", "SameSite=Strict"} <= set(cookie.split("; "))
        assert "Domain" not in cookie
        assert page.access.token not in cookie
        assert await status_of(page, "GET", "/") == 200


async def test_a_browser_that_another_site_sent_goes_on_by_itself(dag_file: Path) -> None:
    """It would not show a strict cookie to what a redirection leads to."""
    async with a_page(dag_file) as page:
        url, headers = f"/?token={page.access.token}", {"Sec-Fetch-Site": "cross-site"}
        async with page.client.get(url, headers=headers, allow_redirects=False) as answer:
            assert answer.status == 200
            assert 'http-equiv="refresh" content="0;url=/"' in await answer.text()
            assert "Set-Cookie" in answer.headers


@pytest.mark.parametrize("token", ["", "x", "ü", "\udcff", "x" * 10000])
def test_a_wrong_token(token: str) -> None:
    with pytest.raises(Refused, match="an earlier start of the server"):
        Access().session_for(token)


@pytest.mark.parametrize(
    "path", ["/", "/app.js", "/api/dags", "/api/dags/0123456789abcdef", "/nowhere"]
)
async def test_nothing_without_the_cookie(dag_file: Path, path: str) -> None:
    async with a_page(dag_file) as page:
        page.client.session.cookie_jar.clear()
        assert await status_of(page, "GET", path) == 403
        page.client.session.cookie_jar.update_cookies({page.access.cookie_name: "guess"})
        assert await status_of(page, "GET", path) == 403
        async with page.client.get(path) as answer:
            text = await answer.text()
        assert "open the whole address that `condor_pydagman web` printed" in text
        assert text.startswith("{") is path.startswith("/api/")


async def test_names_of_the_host(dag_file: Path) -> None:
    async with a_page(dag_file) as page:
        port = page.access.port
        for host, status in {
            page.access.host: 200,
            f"127.0.0.1:{port}": 403,
            f"localhost:{port}": 403,
            f"x.{page.access.host}": 403,
            page.access.name: 403,
            f"evil.example.org:{port}": 403,
            "127.0.0.1": 403,
            f"127.0.0.1:{port + 1}": 403,
        }.items():
            cookie = {"Cookie": f"{page.access.cookie_name}={page.access._session}"}
            assert await status_of(page, "GET", "/", Host=host, **cookie) == status
        url = f"/?token={page.access.token}"
        assert await status_of(page, "GET", url, Host="evil.example.org") == 403


async def test_only_the_page_itself_may_command(dag_file: Path) -> None:
    async with a_page(dag_file) as page:
        path, own = f"{page.dag}/commands", f"http://{page.host}"
        json = {"Content-Type": "application/json"}
        assert await status_of(page, "POST", path, **json) == 403
        for origin in ("http://evil.example.org", "null", "http://127.0.0.1:1", f"{own}.org"):
            assert await status_of(page, "POST", path, **json, Origin=origin) == 403
        localhost = f"http://localhost:{page.access.port}"
        assert await status_of(page, "POST", path, **json, Origin=localhost) == 403
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            headers = {"Content-Type": kind, "Origin": own}
            assert await status_of(page, "POST", path, **headers) == 400
        # what is wrong now is the command only
        assert await status_of(page, "POST", path, **json, Origin=own) == 400
        headers = {**json, "Origin": own, "Sec-Fetch-Site": "same-site"}
        assert await status_of(page, "POST", path, **headers) == 403


async def test_what_another_page_asks_for(dag_file: Path) -> None:
    async with a_page(dag_file) as page:
        for site, status in {"same-origin": 200, "none": 200, "cross-site": 403}.items():
            headers = {"Sec-Fetch-Site": site}
            assert await status_of(page, "GET", "/api/dags", **headers) == status


async def test_other_methods_and_addresses(dag_file: Path) -> None:
    async with a_page(dag_file) as page:
        for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "HEAD"):
            assert await status_of(page, method, "/api/dags") == 404
        for path in ("/nowhere", "/..%2fsecret", "/page%00.js", "/api/dags/../x"):
            assert await status_of(page, "GET", path) == 404
        (dag_file.parent / "page" / "link.js").symlink_to("/nowhere")
        assert await status_of(page, "GET", "/link.js") == 404


async def test_files_of_the_page_are_cached_by_their_tags(dag_file: Path) -> None:
    async with a_page(dag_file) as page:
        async with page.client.get("/app.js") as answer:
            assert await answer.text() == "export {}"
            assert answer.headers["Content-Type"].partition(";")[0].endswith("javascript")
            tag = answer.headers["ETag"]
        assert await status_of(page, "GET", "/app.js", **{"If-None-Match": tag}) == 304


async def test_more_requests_than_can_be_served(
    dag_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_page(dag_file) as page:
        monkeypatch.setattr(application, "MAX_AT_ONCE", 0)
        assert (await page.get("/api/dags", 503))["error"].startswith("the server is busy")
        monkeypatch.setattr(application, "MAX_AT_ONCE", 1)
        await page.get("/api/dags")


async def test_a_body_that_is_too_large(dag_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(application, "MAX_BODY_BYTES", 1000)
    async with a_page(dag_file) as page:
        await page.command("x" * 1001, 400)


def test_whose_connection_it_is() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        peer, own = client.getsockname(), server.getsockname()
        assert owner_of_connection(peer, own) == os.getuid()
        check_peer(peer, own)
    nowhere = ("127.0.0.1", 1)
    assert owner_of_connection(peer, nowhere) is None  # nothing is told of that server
    check_peer(peer, nowhere)


def test_a_connection_that_was_closed_at_once() -> None:
    """Nobody can tell any more whose it was; a request may have come by it all the same."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as client:
            peer = client.getsockname()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        assert owner_of_connection(peer, server.getsockname()) == GONE
        with pytest.raises(Refused, match="can't find out any more"):
            check_peer(peer, server.getsockname())


@pytest.mark.parametrize(("uid", "inode", "owner"), [(0, 0, GONE), (0, 7, 0), (1000, 0, 1000)])
def test_a_socket_without_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uid: int, inode: int, owner: int
) -> None:
    """Some kernels say that it is root's."""
    (tmp_path / "tcp").write_text(
        "  sl  local_address rem_address   st\n"
        f"   0: 0100007F:0001 0100007F:0002 05 0:0 00:0 0 {uid} 0 {inode} 1 0\n"
    )
    monkeypatch.setattr(access_module, "_CONNECTIONS", {str(tmp_path / "tcp"): ""})
    assert owner_of_connection(("127.0.0.1", 1), ("127.0.0.1", 2)) == owner


async def test_a_command_of_somebody_who_has_left_is_not_obeyed(dag_file: Path) -> None:
    """The connection is reset right behind it."""
    steering = Steered()
    async with a_page(dag_file, steering=steering) as page:
        cookie = f"{page.access.cookie_name}={page.access._session}"
        body = '{"command": "resume"}'
        sent = (
            f"POST {page.dag}/commands HTTP/1.1\r\nHost: {page.host}\r\nCookie: {cookie}\r\n"
            f"Origin: http://{page.host}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}"
        )
        with socket.create_connection(("127.0.0.1", page.access.port)) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.sendall(sent.encode())
        await page.command({"command": "halt"})  # came later: the other has been seen
        await asyncio.sleep(0.1)
        assert steering.commands == ["halt"]


def ipv6_socket() -> socket.socket:
    try:
        return socket.socket(socket.AF_INET6)
    except OSError:
        pytest.skip("no IPv6 here")


def test_a_connection_to_the_newer_address() -> None:
    with ipv6_socket() as server, ipv6_socket() as client:
        try:
            server.bind(("::1", 0))
        except OSError:
            pytest.skip("no IPv6 address here")
        server.listen()
        client.connect(server.getsockname())
        peer, own = client.getsockname()[:2], server.getsockname()[:2]
        assert owner_of_connection(peer, own) == os.getuid()


def test_the_names_of_two_servers_differ() -> None:
    one, other = Access(1), Access(1)
    assert one.name != other.name
    assert one.url.startswith(f"http://{one.name}:1/?token=")
    assert one.name.endswith(".localhost")


def test_a_connection_by_the_newer_protocol() -> None:
    """A browser may reach 127.0.0.1 by a socket that speaks both."""
    client = ipv6_socket()
    with socket.create_server(("127.0.0.1", 0)) as server, client:
        client.connect(("::ffff:127.0.0.1", server.getsockname()[1]))
        peer = ("127.0.0.1", client.getsockname()[1])
        assert owner_of_connection(peer, server.getsockname()) == os.getuid()


async def test_another_users_connection(dag_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_module, "owner_of_connection", lambda peer, own: os.getuid() + 1)
    with pytest.raises(AssertionError):  # not even the token helps
        async with a_page(dag_file) as page:
            await page.get("/api/dags", 403)


class Echo(asyncio.Protocol):
    """What a server would be: it returns what it gets."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._transport.write(data)


class Echoing:
    """A server, and connections to it."""

    def __init__(self) -> None:
        self.writers: list[asyncio.StreamWriter] = []
        self.have_asked = False

    def has_asked(self, transport: asyncio.BaseTransport) -> bool:
        return self.have_asked

    async def connect(self) -> asyncio.StreamReader:
        """A new connection, the last of `writers`."""
        reader, writer = await asyncio.open_connection(*self.address)
        self.writers.append(writer)
        return reader

    async def echo(self) -> asyncio.StreamReader:
        """A connection that is served."""
        reader = await self.connect()
        self.writers[-1].write(b"x")
        assert await reader.readexactly(1) == b"x"
        return reader

    async def __aenter__(self) -> Echoing:
        factory = Connections(Echo, self.has_asked)
        self._server = await asyncio.get_running_loop().create_server(factory, "127.0.0.1", 0)
        self.address = self._server.sockets[0].getsockname()[:2]
        return self

    async def __aexit__(self, *error: object) -> None:
        self._server.close()
        for writer in self.writers:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()


async def is_ended(reader: asyncio.StreamReader) -> bool:
    """Waits for it."""
    try:
        return await reader.read() == b""
    except ConnectionError:
        return True


async def test_a_silent_connection_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_module, "FIRST_REQUEST_S", 0.0)
    async with Echoing() as server:
        assert await is_ended(await server.connect())
        server.have_asked = True
        await server.echo()
        await server.echo()


async def test_more_connections_than_are_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_module, "MAX_CONNECTIONS", 2)
    async with Echoing() as server:
        first = await server.echo()
        await server.echo()
        assert await is_ended(await server.connect())
        server.writers[0].write_eof()
        assert await is_ended(first)
        await server.echo()


async def test_another_users_connection_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_module, "owner_of_connection", lambda peer, own: os.getuid() + 1)
    async with Echoing() as server:
        assert await is_ended(await server.connect())


async def test_connections_that_are_reset_at_once() -> None:
    """They are none when the server looks at them; the next one is served."""
    async with Echoing() as server:
        for _ in range(20):
            with socket.create_connection(server.address) as client:
                linger = struct.pack("ii", 1, 0)
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        await server.echo()
