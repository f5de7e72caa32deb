"""Data go through proxies of every kind: libcurl's, and what we tell it."""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from condor_pydagman.data_requests.faults import Fault
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.placement.endpoints.choose import endpoint_for
from condor_pydagman.placement.way import Surroundings
from tests.contract.test_endpoints import get, put
from tests.servers import real
from tests.servers.certificates import Authority
from tests.servers.faulty_http import faulty_http
from tests.servers.relay import relay
from tests.waiting import LIMIT_S

DATA = os.urandom(1_500_000)
# What a proxy is asked for, by the way it is written: socks4 and socks5 are told addresses.
KINDS = {
    "http": "CONNECT",
    "https": "CONNECT",
    "socks4": "socks4",
    "socks4a": "socks4a",
    "socks5": "socks5",
    "socks5h": "socks5h",
}
# But for ftp: the end of a file would need a proxy that closes TLS in one direction.
PAIRS = [(protocol, kind) for protocol in ("http", "https") for kind in KINDS]
PAIRS += [("ftp", kind) for kind in KINDS if kind != "https"]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def roots(authority: Authority) -> Iterator[dict[str, str]]:
    """URLs of servers by protocol; `HOST` stands for what they are called."""
    with (
        faulty_http() as plain,
        faulty_http() as known,
        faulty_http() as unknown,
        tempfile.TemporaryDirectory(dir="/var/tmp") as directory,
        real.ftp(Path(directory)) as ftp,
    ):
        known.encrypt(_context(authority, "localhost"))
        unknown.encrypt(_context(authority, "data.example"))
        yield {
            "http": plain.url("/").replace("127.0.0.1", "HOST"),
            "https localhost": known.url("/", "https").replace("127.0.0.1", "HOST"),
            "https data.example": unknown.url("/", "https").replace("127.0.0.1", "HOST"),
            "ftp": ftp.url.replace("127.0.0.1", "HOST"),
        }


def _context(authority: Authority, name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.signed(name))
    return context


def _around(authority: Authority, **variables: str) -> Surroundings:
    settings = Settings(connect_timeout_s=LIMIT_S, stall_timeout_s=LIMIT_S)
    environment = {"SSL_CERT_FILE": str(authority.file), **variables}
    return Surroundings(settings, environment, "/", lambda text: None)


@pytest.mark.parametrize(("protocol", "kind"), PAIRS)
def test_data_go_both_ways(
    roots: dict[str, str], authority: Authority, protocol: str, kind: str
) -> None:
    looks_up = kind in ("socks4", "socks5")  # the client does, so it must be a name that it knows
    host = "localhost" if looks_up else "data.example"
    root = roots.get(f"{protocol} {host}") or roots[protocol]
    tls = _context(authority, "127.0.0.1") if kind == "https" else None
    with relay(tls) as proxy:
        variables = {f"{protocol}_proxy": f"{kind}://me:geheim@{proxy.place}"}
        url = parse_url(root.replace("HOST", host)).child("a b")
        with endpoint_for(url, _around(authority, **variables)) as endpoint:
            put(endpoint, url, DATA)
            assert get(endpoint, url) == DATA
            assert get(endpoint, url, 1_000_000) == DATA[1_000_000:]
            found = endpoint.look(url)
            assert found is not None
            assert found.size == len(DATA)
    if KINDS[kind] == "CONNECT" and protocol == "http":
        assert {one.kind for one in proxy.asked} <= {"PUT", "GET", "HEAD"}
    else:
        assert {one.kind for one in proxy.asked} == {KINDS[kind]}
    if not looks_up:
        assert {one.host for one in proxy.asked} == {host}
    assert all(one.user for one in proxy.asked)


def test_data_of_ftp_take_the_proxy_as_well(roots: dict[str, str], authority: Authority) -> None:
    with relay() as proxy:
        url = parse_url(roots["ftp"].replace("HOST", "data.example")).child("c")
        around = _around(authority, ftp_proxy=f"http://{proxy.place}")
        with endpoint_for(url, around) as endpoint:
            put(endpoint, url, DATA)
    ports = [one.port for one in proxy.asked]
    assert ports[0] == url.port
    assert set(ports[1:]) - {url.port}


def test_a_proxy_that_is_not_trusted_gets_nothing(
    roots: dict[str, str], authority: Authority, tmp_path: Path
) -> None:
    stranger = Authority(tmp_path, "stranger")
    with relay(_context(stranger, "127.0.0.1")) as proxy:
        url = parse_url(roots["http"].replace("HOST", "data.example")).child("a")
        around = _around(authority, http_proxy=f"https://{proxy.place}")
        with endpoint_for(url, around) as endpoint, pytest.raises(Fault, match="certificate"):
            endpoint.look(url)
    assert proxy.asked == []
