"""Servers that are reached encrypted: whom to trust, and who the user is."""

from __future__ import annotations

import os
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.placement.direct_way import DirectWay
from condor_pydagman.placement.endpoints.http_credentials import bearer_token
from condor_pydagman.placement.endpoints.libcurl import authorities
from condor_pydagman.placement.way import Progress, Surroundings
from tests.placement.helpers import transfer
from tests.servers.certificates import Authority
from tests.servers.faulty_http import FaultyServer, Wrong, faulty_http
from tests.servers.scripted import scripted

DATA = os.urandom(300_000)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def encrypted(authority: Authority) -> Iterator[FaultyServer]:
    """A server that looks at the user's certificate if there is one."""
    with faulty_http() as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(authority.signed("127.0.0.1"))
        context.load_verify_locations(authority.file)
        context.verify_mode = ssl.CERT_OPTIONAL
        server.encrypt(context)
        yield server


@pytest.fixture
def server(encrypted: FaultyServer) -> FaultyServer:
    encrypted.requests.clear()
    encrypted.files.clear()
    encrypted.files["/a"] = DATA
    return encrypted


@pytest.fixture
def move(surroundings: Surroundings, authority: Authority) -> Iterator[Moves]:
    moves = Moves(surroundings, authority)
    yield moves
    moves.way.thread_ends()


class Moves:
    """Makes transfers; the environment trusts the authority."""

    def __init__(self, around: Surroundings, authority: Authority) -> None:
        self._around = around
        self._trusts = {"SSL_CERT_FILE": str(authority.file)}
        self.way = DirectWay()

    def __call__(self, source: str, destination: Path, proxy: str = "", **variables: str) -> None:
        around = self._around._replace(environment={**self._trusts, **variables})
        wish = transfer(source, destination, proxy=proxy)
        try:
            self.way.perform(wish, around, Progress(threading.Event()))
        finally:
            self.way.thread_ends()

    def up(self, source: Path, destination: str) -> None:
        self(str(source), destination)  # type: ignore[arg-type]


def test_moving_both_ways(move: Moves, server: FaultyServer, tmp_path: Path) -> None:
    move(server.url("/a", "https"), tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == DATA
    for scheme in ("https", "davs"):
        move.up(tmp_path / "b", server.url(f"/d/{scheme}", scheme))
        assert server.files[f"/d/{scheme}"] == DATA


def test_whoever_is_not_trusted_is_not_asked_again(
    move: Moves, server: FaultyServer, tmp_path: Path
) -> None:
    stranger = Authority(tmp_path, "stranger").file
    with pytest.raises(Fault, match="certificate") as error:
        move(server.url("/a", "https"), tmp_path / "b", SSL_CERT_FILE=str(stranger))
    assert (error.value.kind, error.value.transient) == (FaultKind.DENIED, False)
    with pytest.raises(Fault, match="certificate") as error:
        move(server.url("/a", "https").replace("127.0.0.1", "localhost"), tmp_path / "b")
    assert error.value.kind is FaultKind.DENIED
    assert server.requests == []


def test_the_bundle_of_curl_goes_before_what_openssl_knows(
    move: Moves, server: FaultyServer, authority: Authority, tmp_path: Path
) -> None:
    stranger = str(Authority(tmp_path, "stranger").file)
    bundle = str(authority.file)
    move(server.url("/a", "https"), tmp_path / "b", SSL_CERT_FILE=stranger, CURL_CA_BUNDLE=bundle)
    with pytest.raises(Fault, match="certificate"):
        move(server.url("/a", "https"), tmp_path / "c", CURL_CA_BUNDLE=stranger)
    with pytest.raises(Fault, match="certificate") as error:
        move(server.url("/a", "https"), tmp_path / "c", CURL_CA_BUNDLE="/nonexistent")
    assert error.value.kind is FaultKind.DENIED
    move(server.url("/a", "https"), tmp_path / "c", CURL_CA_BUNDLE="")


def test_directories_of_authorities(tmp_path: Path) -> None:
    usual = authorities({}).get("CAINFO")
    of_openssl, of_the_grid = str(tmp_path / "a"), str(tmp_path / "b")
    for path in (of_openssl, of_the_grid):
        os.mkdir(path)
    both = {"SSL_CERT_DIR": of_openssl, "X509_CERT_DIR": of_the_grid}
    assert authorities({"SSL_CERT_DIR": of_openssl}).get("CAPATH") == of_openssl
    assert authorities({"SSL_CERT_DIR": of_openssl}).get("CAINFO") == usual
    assert authorities(both)["CAPATH"] == of_the_grid
    assert authorities({"SSL_CERT_DIR": of_openssl, "CURL_CA_BUNDLE": "/x"}) == {"CAINFO": "/x"}
    assert authorities({**both, "CURL_CA_BUNDLE": "/x"})["CAPATH"] == of_the_grid


def test_a_certificate_that_can_not_be_used(
    move: Moves, server: FaultyServer, tmp_path: Path
) -> None:
    for proxy in (str(tmp_path / "nothing"), str(tmp_path)):
        with pytest.raises(Fault, match="can't be used") as error:
            move(server.url("/a", "https"), tmp_path / "b", proxy=proxy)
        assert error.value.kind is FaultKind.DENIED


def test_the_proxy_of_a_request_goes_before_that_of_the_environment(
    move: Moves, server: FaultyServer, authority: Authority, tmp_path: Path
) -> None:
    first, second = str(authority.signed("first")), str(authority.signed("second"))
    move(server.url("/a", "https"), tmp_path / "b", X509_USER_PROXY=first)
    move(server.url("/a", "https"), tmp_path / "b", proxy=second, X509_USER_PROXY=first)
    move(server.url("/a", "https"), tmp_path / "b", proxy="default", X509_USER_PROXY=first)
    assert server.people == ["first", "second", "first"]


def test_a_token_is_not_sent_where_all_can_read_it(
    move: Moves, server: FaultyServer, tmp_path: Path
) -> None:
    with scripted(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx") as plain:
        server.fail("/a", Wrong(status=302, headers=(("Location", plain.url("/b")),)))
        with pytest.raises(Fault, match="not encrypted") as error:
            move(server.url("/a", "https"), tmp_path / "b", BEARER_TOKEN="geheim")
        server.fail("/a", Wrong(status=302, headers=(("Location", plain.url("/b")),)))
        with pytest.raises(Fault, match="not encrypted"):
            move(server.url("/a", "https"), tmp_path / "b")
        assert error.value.kind is FaultKind.DENIED
        assert plain.asked == []
    assert server.requests[0][2]["Authorization"] == "Bearer geheim"


def test_a_server_that_speaks_no_tls(move: Moves, tmp_path: Path) -> None:
    with scripted(b"HTTP/1.1 400 No\r\n\r\n") as plain, pytest.raises(Fault) as error:
        move(plain.url("/a", "https"), tmp_path / "b")
    assert error.value.kind is FaultKind.SERVER


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_a_link_of_somebody_else_leads_to_no_token(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("private")
    link = tmp_path / f"bt_u{os.geteuid()}"
    link.symlink_to(tmp_path / "key")
    assert bearer_token({"XDG_RUNTIME_DIR": str(tmp_path)}) == "private", "his own link"
    os.lchown(link, 65534, 65534)
    assert bearer_token({"XDG_RUNTIME_DIR": str(tmp_path)}) == ""


def test_where_tokens_are_looked_for(tmp_path: Path) -> None:
    credentials, run = tmp_path / "credentials", tmp_path / "run"
    credentials.mkdir()
    run.mkdir()
    environment = {"_CONDOR_CREDS": str(credentials)}
    (credentials / "site.use").write_text('{"access_token": "of condor", "expires_in": 9}')
    (credentials / "other.top").write_text("no token")
    assert bearer_token(environment) == "of condor"
    environment["XDG_RUNTIME_DIR"] = str(run)
    (run / f"bt_u{os.geteuid()}").write_text(" of the session\n")
    assert bearer_token(environment) == "of the session"
    (tmp_path / "named").write_text("named")
    environment["BEARER_TOKEN_FILE"] = str(tmp_path / "named")
    assert bearer_token(environment) == "named"
    environment["BEARER_TOKEN"] = "itself"
    assert bearer_token(environment) == "itself"
    with pytest.raises(Fault, match="BEARER_TOKEN_FILE names"):
        bearer_token({"BEARER_TOKEN_FILE": str(tmp_path / "nothing")})
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(Fault):
        bearer_token({"BEARER_TOKEN_FILE": str(tmp_path / "fifo")})
