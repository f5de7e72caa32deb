"""Which certificates of servers are taken, whatever the Python."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from condor_pydagman.monitor.tls import client_context
from tests.servers.certificates import Authority


def greet(client: ssl.SSLContext, server: ssl.SSLContext, host: str) -> None:
    """The handshake of TLS, without a network."""
    ways = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(ways[0], ways[1], server_hostname=host),
        server.wrap_bio(ways[1], ways[0], server_side=True),
    ]
    while ends:
        for end in list(ends):
            try:
                end.do_handshake()
                ends.remove(end)
            except ssl.SSLWantReadError:
                pass


@pytest.fixture(params=[True, False], ids=["identified", "not identified"])
def authority(tmp_path: Path, request: pytest.FixtureRequest) -> Authority:
    """With Authority Key Identifiers, and without, as old ones of sites."""
    return Authority(tmp_path, identifies=request.param)


def trusting(authority: Authority) -> ssl.SSLContext:
    context = client_context()
    context.load_verify_locations(authority.file)
    return context


def serving(authority: Authority, name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.signed(name))
    return context


def test_a_certificate_needs_no_authority_key_identifier(authority: Authority) -> None:
    client = trusting(authority)
    greet(client, serving(authority, "host.example"), "host.example")


@pytest.mark.parametrize("host", ["other.example", "host.example.org"])
def test_the_name_is_checked(authority: Authority, host: str) -> None:
    client = trusting(authority)
    with pytest.raises(ssl.SSLCertVerificationError, match="ostname mismatch"):
        greet(client, serving(authority, "host.example"), host)


def test_the_authority_is_checked(authority: Authority) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        greet(client_context(), serving(authority, "host.example"), "host.example")


def test_all_pythons_check_alike() -> None:
    context = client_context()
    assert context.verify_flags == ssl.VERIFY_X509_TRUSTED_FIRST
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname
