"""Ways: which are tried, what the fault says if there is none, and other protocols."""

from __future__ import annotations

import pytest

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.requests import Transfer
from condor_pydagman.data_requests.settings import WAYS
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.placement.rules import ways


def transfer(source: str, destination: str, *protocols: tuple[str, str]) -> Transfer:
    return Transfer(parse_url(source), parse_url(destination), alt_protocols=protocols)


PLAIN = transfer("http://bob:pw@h/a", "/b")


def test_the_request_goes_before_the_configuration() -> None:
    assert ways.names_in_order(PLAIN, WAYS) == WAYS
    assert ways.names_in_order(PLAIN._replace(ways=("plugin", "plugin")), WAYS) == ("plugin",)
    with pytest.raises(Fault, match="no way 'carrier'; the ways are module, direct") as caught:
        ways.names_in_order(PLAIN, ("carrier",))
    assert caught.value.kind is FaultKind.REQUEST


def test_the_fault_tells_of_each_way_why_not() -> None:
    fault = ways.no_way(PLAIN, [("module", "none in /m"), ("plugin", "no http")])
    assert fault.kind is FaultKind.NO_WAY
    assert not fault.transient
    assert fault.reason == ("no way from http://***@h/a to /b: module: none in /m; plugin: no http")
    assert ways.obstacle_lines(fault.reason) == ["module: none in /m", "plugin: no http"]
    assert ways.no_way(PLAIN, []).reason.endswith("all ways are switched off")


def test_other_protocols_keep_host_and_path() -> None:
    asked = transfer("https://h:8443/a%20b?x=1", "/c", ("http", "file"), ("davs", "file"))
    found = [other.source.with_secrets() for other in ways.alternatives(asked)]
    assert found == ["https://h:8443/a%20b?x=1", "http://h/a%20b?x=1", "davs://h:8443/a%20b?x=1"]
    asked = transfer("http://u@h/a?x=1", "/c", ("http", "file"), ("FTP", "file"), ("file", "file"))
    found = [str(other.source) for other in ways.alternatives(asked)]
    assert found == ["http://***@h/a?x=1", "ftp://***@h/a", "/a"]


def test_another_protocol_may_name_its_port() -> None:
    protocols = ("ftp:2121", "file"), ("http:8080", "file"), ("https", "file")
    asked = transfer("https://h:8443/a?x=1", "/c", *protocols)
    found = [other.source.with_secrets() for other in ways.alternatives(asked)]
    assert found == ["https://h:8443/a?x=1", "ftp://h:2121/a", "http://h:8080/a?x=1"]
    asked = transfer("https://h:8443/a", "/c", ("https:9443", "file"))
    assert [other.source.port for other in ways.alternatives(asked)] == [8443, 9443]


def test_a_protocol_that_needs_a_host_is_refused_beforehand() -> None:
    with pytest.raises(Fault, match="ftp needs a host, which /c does not have") as caught:
        ways.alternatives(transfer("http://h/a", "/c", ("http", "ftp")))
    assert caught.value.kind is FaultKind.REQUEST


def test_why_there_is_no_way_has_a_line_for_each() -> None:
    seen = [("direct", "fsspec does not know a: it has b; nor c"), ("cache", "it is switched off")]
    assert ways.obstacle_lines(ways.no_way(PLAIN, seen).reason) == [
        "direct: fsspec does not know a: it has b; nor c",
        "cache: it is switched off",
    ]
    assert ways.obstacle_lines("another reason") == ["another reason"]
